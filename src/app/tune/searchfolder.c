/* SPDX-License-Identifier: MIT */
#include "searchfolder.h"
#include "file.h"
#include "keepfolder.h"
#include <errno.h>
#include <glib/gstdio.h>

static int
compare_newest_first (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) b, *(const char *const *) a);
}

/* Names are times, so the order by name is the order by age. */
static void
prune (const char *searches)
{
  static const char *const files[] = { "report.html", "trials.csv" };
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GDir) dir = g_dir_open (searches, 0, NULL);
  for (const char *name; dir && (name = g_dir_read_name (dir));)
    if (g_ascii_isdigit (*name))
      g_ptr_array_add (names, g_strdup (name));
  g_ptr_array_sort (names, compare_newest_first);
  for (guint i = DYNO_SEARCH_FOLDERS; i < names->len; i++)
    {
      g_autofree char *folder = g_build_filename (searches, names->pdata[i], NULL);
      for (guint k = 0; k < G_N_ELEMENTS (files); k++)
        {
          g_autofree char *path = g_build_filename (folder, files[k], NULL);
          g_unlink (path);
        }
      g_rmdir (folder);
    }
}

/* The folder in which searches are kept; NULL: there is none. */
static char *
find_place (const char *runs, GError **error)
{
  g_autofree char *own = dyno_data_dir ("searches"),
                  *beside = runs ? g_build_filename (runs, "searches", NULL) : NULL;
  if (dyno_folder_can_keep (own, beside ? NULL : error))
    return g_steal_pointer (&own);
  return beside && dyno_folder_can_keep (beside, error) ? g_steal_pointer (&beside) : NULL;
}

char *
dyno_search_folder_make (const char *runs, GError **error)
{
  g_autofree char *searches = find_place (runs, error);
  if (!searches)
    return NULL;
  g_autoptr (GDateTime) now = g_date_time_new_now_local ();
  g_autofree char *stamp = g_date_time_format (now, "%Y-%m-%dT%H-%M-%S"),
                  *path = g_build_filename (searches, stamp, NULL);
  for (guint i = 2; g_mkdir (path, 0755) != 0; i++)
    {
      if (errno != EEXIST)
        {
          dyno_file_set_error (error, errno, path);
          return NULL;
        }
      g_autofree char *name = g_strdup_printf ("%s_%u", stamp, i);
      g_free (path);
      path = g_build_filename (searches, name, NULL);
    }
  prune (searches);
  return g_steal_pointer (&path);
}
