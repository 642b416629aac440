/* SPDX-License-Identifier: MIT */
/* Invariants: a late entry gets its name once it is whole.  Taking an entry in twice, also by two
 * processes at once, makes one entry, since it has the uid of the run. */
#include "lateentry.h"
#include "file.h"
#include "store-private.h"
#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>

#define DIGITS 16

static gboolean
is_late_entry (const char *name, const char *prefix)
{
  const char *digits = name + strlen (prefix);

  return g_str_has_prefix (name, prefix) && strlen (digits) == DIGITS
         && strspn (digits, "0123456789abcdef") == DIGITS;
}

gboolean
dyno_late_entry_write (const char *history, DynoStoredRun *run, const DynoEpochMetrics *epochs,
                       guint n_epochs, GError **error)
{
  g_autofree char *path = g_strdup_printf ("%s.late-%08x%08x", history, g_random_int (),
                                           g_random_int ()),
                  *growing = g_strconcat (path, ".new", NULL);
  DynoStore *store = dyno_store_open (growing, error);
  gboolean good = store && dyno_store_put_run (store, run, epochs, n_epochs, error);

  dyno_store_free (store);
  if (good && g_rename (growing, path) != 0)
    good = dyno_file_set_error (error, errno, path);
  if (!good)
    g_unlink (growing);
  return good;
}

/* The folder belongs to the run that began in it last. */
static void
check_folder (DynoStore *store, DynoStoredRun *run)
{
  DynoRunFilter filter = { .folder = run->folder };
  g_autoptr (GPtrArray) others = run->folder ? dyno_store_list_runs (store, &filter, NULL) : NULL;

  for (guint i = 0; others && i < others->len; i++)
    {
      const DynoStoredRun *other = g_ptr_array_index (others, i);

      if (other->uid != run->uid && other->begin_us > run->begin_us)
        g_clear_pointer (&run->folder, g_free);
    }
}

static gboolean
take_run (DynoStore *store, DynoStore *late, DynoStoredRun *run)
{
  g_autoptr (GArray) epochs = dyno_store_list_epochs (late, run->id, NULL);

  if (!epochs)
    return FALSE;
  check_folder (store, run);
  return dyno_store_put_run (store, run, (const DynoEpochMetrics *) (gconstpointer) epochs->data,
                             epochs->len, NULL)
         && (run->steps == 0 || dyno_store_claim_folder (store, run, NULL));
}

static gboolean
take_file (DynoStore *store, const char *path)
{
  g_autoptr (DynoStore) late = dyno_store_open (path, NULL);
  g_autoptr (GPtrArray) runs = late ? dyno_store_list_runs (late, NULL, NULL) : NULL;
  gboolean good = runs != NULL;

  for (guint i = 0; good && i < runs->len; i++)
    good = take_run (store, late, g_ptr_array_index (runs, i));
  return good;
}

void
dyno_late_entries_take (DynoStore *store)
{
  static const gint at_once = TRUE;
  const char *history = dyno_store_get_path (store);
  g_autofree char *folder = g_path_get_dirname (history), *base = g_path_get_basename (history),
                  *prefix = g_strconcat (base, ".late-", NULL);
  const gint *hurry = dyno_database_set_hurry (store->db, &at_once);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  while (dir && (name = g_dir_read_name (dir)))
    if (is_late_entry (name, prefix))
      {
        g_autofree char *path = g_build_filename (folder, name, NULL);

        if (take_file (store, path))
          g_unlink (path);
      }
  dyno_database_set_hurry (store->db, hurry);
}
