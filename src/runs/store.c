/* SPDX-License-Identifier: MIT */
/* Runs in the history.  Every change is one transaction. */
#include "file.h"
#include "import.h"
#include "lateentry.h"
#include "process.h"
#include "store-private.h"
#include <math.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* --- life ------------------------------------------------------------------------------------- */

DynoStore *
dyno_store_open (const char *path, GError **error)
{
  return dyno_store_open_in_hurry (path, NULL, error);
}

DynoStore *
dyno_store_open_in_hurry (const char *path, const gint *hurry, GError **error)
{
  g_autofree char *own = path ? NULL : dyno_data_dir ("history.sqlite");
  DynoDatabase *db = dyno_database_open (path ? path : own, hurry, error);
  DynoStore *store;

  if (!db)
    return NULL;
  store = g_new0 (DynoStore, 1);
  g_atomic_ref_count_init (&store->references);
  store->db = db;
  /* Entries that could not be recovered may still exist as the folders of the window's runs. */
  if (dyno_database_get_aside (db))
    {
      g_autofree char *runs = dyno_data_dir ("runs");
      dyno_store_import_runs (store, runs, NULL);
    }
  if (!dyno_database_get_read_only (db))
    dyno_late_entries_take (store);
  return store;
}

DynoStore *
dyno_store_ref (DynoStore *store)
{
  g_atomic_ref_count_inc (&store->references);
  return store;
}

void
dyno_store_free (DynoStore *store)
{
  if (!store || !g_atomic_ref_count_dec (&store->references))
    return;
  dyno_database_free (store->db);
  g_free (store);
}

const char *
dyno_store_get_path (DynoStore *store)
{
  return dyno_database_get_path (store->db);
}

const char *
dyno_store_get_read_only (DynoStore *store)
{
  return dyno_database_get_read_only (store->db);
}

const char *
dyno_store_get_aside (DynoStore *store)
{
  return dyno_database_get_aside (store->db);
}

/* --- reading ---------------------------------------------------------------------------------- */

static gboolean
suits (const DynoStoredRun *run, const DynoRunFilter *filter)
{
  return !filter
         || ((!filter->model || g_strcmp0 (run->model, filter->model) == 0)
             && (!filter->data || (run->data && strstr (run->data, filter->data)))
             && (!filter->folder || g_strcmp0 (run->folder, filter->folder) == 0));
}

static const char *
select_runs (const char *pattern)
{
  guint n;
  const DynoRecordField *fields = dyno_stored_run_list_fields (&n);

  return dyno_row_sql (pattern, fields, n, 1);
}

GPtrArray *
dyno_store_list_runs (DynoStore *store, const DynoRunFilter *filter, GError **error)
{
  g_autoptr (GPtrArray) runs =
      g_ptr_array_new_with_free_func ((GDestroyNotify) dyno_stored_run_free);
  guint limit = filter && filter->limit ? filter->limit : G_MAXUINT;
  sqlite3_stmt *statement;
  gboolean row = FALSE, good;

  dyno_database_lock (store->db);
  /* Not by id: a run whose deletion was undone has a new one. */
  statement = dyno_database_prepare (
      store->db, error, select_runs ("SELECT {names} FROM runs ORDER BY begin_us DESC, id DESC"),
      "");
  good = statement != NULL;
  while (good && runs->len < limit
         && (good = dyno_database_step (store->db, statement, &row, error)) && row)
    {
      DynoStoredRun *run = dyno_stored_run_read (statement);

      if (suits (run, filter))
        g_ptr_array_add (runs, run);
      else
        dyno_stored_run_free (run);
    }
  if (statement)
    sqlite3_reset (statement);
  dyno_database_unlock (store->db);
  return good ? g_steal_pointer (&runs) : NULL;
}

static gboolean
fail_to_find (gint64 id, GError **error)
{
  g_set_error (error, DYNO_RUNS_ERROR, DYNO_RUNS_ERROR_NOT_FOUND,
               "There is no run %" G_GINT64_FORMAT " in the history; 'dynoctl runs' lists them",
               id);
  return FALSE;
}

DynoStoredRun *
dyno_store_find_run (DynoStore *store, gint64 id, GError **error)
{
  DynoStoredRun *run = NULL;
  sqlite3_stmt *statement;
  gboolean row = FALSE, good;

  dyno_database_lock (store->db);
  statement = dyno_database_prepare (
      store->db, error, select_runs ("SELECT {names} FROM runs WHERE id = ?"), "i", id);
  good = statement && dyno_database_step (store->db, statement, &row, error);
  if (row)
    {
      run = dyno_stored_run_read (statement);
      sqlite3_reset (statement);
    }
  dyno_database_unlock (store->db);
  if (good && !run)
    fail_to_find (id, error);
  return run;
}

GArray *
dyno_store_list_epochs (DynoStore *store, gint64 id, GError **error)
{
  g_autoptr (GArray) epochs = g_array_new (FALSE, TRUE, sizeof (DynoEpochMetrics));
  sqlite3_stmt *s;
  gboolean row = FALSE, good;

  dyno_database_lock (store->db);
  s = dyno_database_prepare (
      store->db, error,
      "SELECT epoch, step, train_loss, val_loss, train_metric, val_metric, samples_per_s, seconds "
      "FROM epochs WHERE run = ? ORDER BY epoch",
      "i", id);
  good = s != NULL;
  while (good && (good = dyno_database_step (store->db, s, &row, error)) && row)
    {
      DynoEpochMetrics epoch = { 0 };

      epoch.epoch = (guint64) sqlite3_column_int64 (s, 0);
      epoch.step = (guint64) sqlite3_column_int64 (s, 1);
      epoch.train_loss = dyno_column_double (s, 2);
      epoch.val_loss = dyno_column_double (s, 3);
      epoch.train_metrics[0] = dyno_column_double (s, 4);
      epoch.val_metrics[0] = dyno_column_double (s, 5);
      epoch.samples_per_s = dyno_column_double (s, 6);
      epoch.seconds = dyno_column_double (s, 7);
      g_array_append_val (epochs, epoch);
    }
  dyno_database_unlock (store->db);
  return good ? g_steal_pointer (&epochs) : NULL;
}

/* --- writing ---------------------------------------------------------------------------------- */

gboolean
dyno_store_rename_run (DynoStore *store, gint64 id, const char *name, GError **error)
{
  gboolean good = FALSE;

  if (!dyno_database_begin (store->db, error))
    return FALSE;
  good = dyno_database_run (store->db, error, "UPDATE runs SET name = ? WHERE id = ?", "si",
                            name && *name ? name : NULL, id)
         && (dyno_database_get_changes (store->db) > 0 || fail_to_find (id, error));
  return dyno_database_end (store->db, good, error);
}

/* Normalises tags; NULL: none are left.  g_free. */
static char *
tidy_tags (const char *tags)
{
  g_auto (GStrv) list = g_strsplit (tags ? tags : "", ",", -1);
  g_autoptr (GPtrArray) kept = g_ptr_array_new ();

  for (guint i = 0; list[i]; i++)
    if (*g_strstrip (list[i])
        && !g_ptr_array_find_with_equal_func (kept, list[i], g_str_equal, NULL))
      g_ptr_array_add (kept, list[i]);
  if (kept->len == 0)
    return NULL;
  g_ptr_array_add (kept, NULL);
  return g_strjoinv (", ", (char **) kept->pdata);
}

gboolean
dyno_store_tag_run (DynoStore *store, gint64 id, const char *tags, GError **error)
{
  g_autofree char *tidy = tidy_tags (tags);
  gboolean good = FALSE;

  if (!dyno_database_begin (store->db, error))
    return FALSE;
  good =
      dyno_database_run (store->db, error, "UPDATE runs SET tags = ? WHERE id = ?", "si", tidy, id)
      && (dyno_database_get_changes (store->db) > 0 || fail_to_find (id, error));
  return dyno_database_end (store->db, good, error);
}

gboolean
dyno_store_delete_run (DynoStore *store, gint64 id, GError **error)
{
  g_autoptr (DynoStoredRun) run = NULL;
  gboolean good;

  if (!dyno_database_begin (store->db, error))
    return FALSE;
  run = dyno_store_find_run (store, id, error);
  good = run != NULL;
  if (run && run->state == DYNO_RUN_STATE_RUNNING)
    {
      good = FALSE;
      g_set_error (error, DYNO_RUNS_ERROR, DYNO_RUNS_ERROR_ACTIVE,
                   "Run %" G_GINT64_FORMAT " is in progress; stop it before it is deleted", id);
    }
  good = good && dyno_database_run (store->db, error, "DELETE FROM epochs WHERE run = ?", "i", id)
         && dyno_database_run (store->db, error, "DELETE FROM runs WHERE id = ?", "i", id);
  return dyno_database_end (store->db, good, error);
}

/* A random number from the kernel, since a forked process must not have its parent's number;
 * positive, since the column is a signed integer. */
static guint64
make_uid (void)
{
  guint64 uid = 0;

  if (getrandom (&uid, sizeof uid, 0) != sizeof uid)
    uid = (guint64) g_get_real_time () << 16 ^ (guint64) getpid ();
  return MAX (1, uid & G_MAXINT64);
}

/* The number of the entry with this uid; 0: there is none, or an error is set. */
static gint64
find_id (DynoStore *store, guint64 uid, GError **error)
{
  sqlite3_stmt *statement =
      dyno_database_prepare (store->db, error, "SELECT id FROM runs WHERE uid = ?", "u", uid);
  gboolean row = FALSE;
  gint64 id = 0;

  if (statement && dyno_database_step (store->db, statement, &row, error) && row)
    {
      id = sqlite3_column_int64 (statement, 0);
      sqlite3_reset (statement);
    }
  return id;
}

/* Inserts an entry with only its number; put_row sets the other fields. */
static gboolean
insert_row (DynoStore *store, const DynoStoredRun *r, GError **error)
{
  return dyno_database_run (store->db, error,
                            "INSERT INTO runs (uid, name, tags, model, settings, begin_us, "
                            "seen_us, state) VALUES (?, ?, ?, '', '', ?, 0, '')",
                            "ussi", r->uid, r->name, r->tags, r->begin_us);
}

static gboolean
update_row (DynoStore *store, const DynoStoredRun *r, GError **error)
{
  g_autofree char *settings = dyno_settings_to_lines (&r->settings);
  const char *const others[] = { settings, dyno_run_state_name (r->state) };
  DynoStoredRun row = *r;
  guint n;
  const DynoRecordField *fields = dyno_stored_run_list_fields (&n) + DYNO_RUN_WRITTEN_ONCE;
  sqlite3_stmt *s;
  gboolean more;

  n -= DYNO_RUN_WRITTEN_ONCE;
  row.model = r->model ? r->model : (char *) "";
  s = dyno_database_prepare (store->db, error,
                             dyno_row_sql ("UPDATE runs SET {sets} WHERE id = ?1", fields, n, 2),
                             "i", r->id);
  return s && dyno_row_bind (store->db, s, fields, n, 2, &row, others, error)
         && dyno_database_step (store->db, s, &more, error);
}

static gboolean
put_row (DynoStore *store, DynoStoredRun *r, GError **error)
{
  g_autoptr (GError) problem = NULL;

  if (r->uid == 0)
    r->uid = make_uid ();
  r->id = find_id (store, r->uid, &problem);
  if (!problem && r->id == 0 && insert_row (store, r, &problem))
    r->id = dyno_database_get_last_id (store->db);
  if (problem)
    {
      g_propagate_error (error, g_steal_pointer (&problem));
      return FALSE;
    }
  return update_row (store, r, error);
}

gboolean
dyno_store_put_run (DynoStore *store, DynoStoredRun *run, const DynoEpochMetrics *epochs,
                    guint n_epochs, GError **error)
{
  gint64 id = run->id;
  gboolean good;

  if (!dyno_database_begin (store->db, error))
    return FALSE;
  good = put_row (store, run, error);
  for (guint i = 0; good && i < n_epochs; i++)
    {
      const DynoEpochMetrics *e = &epochs[i];
      good =
          dyno_database_run (store->db, error,
                             "INSERT OR REPLACE INTO epochs (run, epoch, step, train_loss, "
                             "val_loss, train_metric, val_metric, samples_per_s, seconds) "
                             "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                             "iuudddddd", run->id, e->epoch, e->step, e->train_loss, e->val_loss,
                             e->train_metrics[0], e->val_metrics[0], e->samples_per_s, e->seconds);
    }
  good = dyno_database_end (store->db, good, error);
  if (!good)
    run->id = id;
  return good;
}

gboolean
dyno_store_claim_folder (DynoStore *store, const DynoStoredRun *run, GError **error)
{
  gboolean good;

  if (!run->folder)
    return TRUE;
  if (!dyno_database_begin (store->db, error))
    return FALSE;
  good = dyno_database_run (store->db, error,
                            "UPDATE runs SET folder = NULL WHERE folder = ? AND id <> ?", "bi",
                            run->folder, run->id);
  return dyno_database_end (store->db, good, error);
}
