/* SPDX-License-Identifier: MIT */
#include "searchfolder.h"
#include "file.h"
#include <errno.h>
#include <glib/gi18n.h>
#include <glib/gstdio.h>

static char *
fail_folder (const char *path, int problem, GError **error)
{
  g_autofree char *shown = g_filename_display_name (path);
  g_set_error (error, G_FILE_ERROR, g_file_error_from_errno (problem),
               _ ("Cannot write into “%s”: %s.  Dyno keeps its searches elsewhere when it is "
                  "started with --state-dir"),
               shown, g_strerror (problem));
  return NULL;
}

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

char *
dyno_search_folder_make (GError **error)
{
  g_autofree char *searches = dyno_data_dir ("searches");
  g_autoptr (GDateTime) now = g_date_time_new_now_local ();
  g_autofree char *stamp = g_date_time_format (now, "%Y-%m-%dT%H-%M-%S"),
                  *path = g_build_filename (searches, stamp, NULL);
  if (!dyno_dir_make (searches))
    return fail_folder (searches, errno, error);
  for (guint i = 2; g_mkdir (path, 0755) != 0; i++)
    {
      if (errno != EEXIST)
        return fail_folder (searches, errno, error);
      g_autofree char *name = g_strdup_printf ("%s_%u", stamp, i);
      g_free (path);
      path = g_build_filename (searches, name, NULL);
    }
  prune (searches);
  return g_steal_pointer (&path);
}
