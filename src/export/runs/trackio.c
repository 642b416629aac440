/* SPDX-License-Identifier: MIT */
/* Writes a run into the database of trackio, in trackio's own schema: one SQLite file for each
 * project, here "dyno", in TRACKIO_DIR.  A row of `metrics` is a step with a JSON object of its
 * numbers, a row of `configs` is a run with its settings.  Columns that later versions have added
 * are left NULL.
 *
 * Invariant: the rows of a run are written in one transaction, so that an open dashboard never
 * reads a part of them.  Source: trackio/sqlite_storage.py, init_db and bulk_log. */
#include "formats.h"
#include "file.h"
#include "intl.h"
#include "runlog.h"
#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <string.h>

#define PROJECT "dyno.db"
#define WAIT_MS 10000 /* longest wait for a dashboard or another run that is writing */

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS metrics (id INTEGER PRIMARY KEY AUTOINCREMENT, "
    "timestamp TEXT NOT NULL, run_name TEXT NOT NULL, step INTEGER NOT NULL, "
    "metrics TEXT NOT NULL);"
    "CREATE TABLE IF NOT EXISTS configs (id INTEGER PRIMARY KEY AUTOINCREMENT, "
    "run_name TEXT NOT NULL, config TEXT NOT NULL, created_at TEXT NOT NULL, UNIQUE(run_name));"
    "CREATE INDEX IF NOT EXISTS idx_metrics_run_step ON metrics(run_name, step);"
    "CREATE INDEX IF NOT EXISTS idx_configs_run_name ON configs(run_name);";

typedef struct {
  sqlite3 *db;
  const char *path;
  sqlite3_stmt *insert;
  DynoJson json;
} Writer;

static gboolean
fail (const Writer *w, GError **error)
{
  int code = sqlite3_errcode (w->db) & 0xff;
  g_autofree char *shown = g_filename_display_name (w->path);

  if (code == SQLITE_FULL)
    return dyno_file_set_error (error, ENOSPC, w->path);
  if (code == SQLITE_CANTOPEN || code == SQLITE_READONLY || code == SQLITE_PERM)
    return dyno_file_set_error (error, EACCES, w->path);
  if (code == SQLITE_IOERR)
    return dyno_file_set_error (error, EIO, w->path);
  g_set_error (error, DYNO_EXPORT_ERROR, DYNO_EXPORT_ERROR_READ,
               _ ("The run cannot be written to “%s” (%s): this must be a database of trackio that "
                  "no other program keeps locked; name another file"),
               shown, sqlite3_errmsg (w->db));
  return FALSE;
}

static gboolean
execute (const Writer *w, const char *sql, GError **error)
{
  return sqlite3_exec (w->db, sql, NULL, NULL, NULL) == SQLITE_OK || fail (w, error);
}

/* Runs a statement with texts bound; *found (may be NULL) becomes the first number of its first
 * row, or `none`. */
static gboolean
query (const Writer *w, const char *sql, const char *const *texts, guint n, gint64 none,
       gint64 *found, GError **error)
{
  sqlite3_stmt *statement = NULL;
  gboolean ok = sqlite3_prepare_v2 (w->db, sql, -1, &statement, NULL) == SQLITE_OK;
  int code = SQLITE_ERROR;

  for (guint i = 0; ok && i < n; i++)
    ok = sqlite3_bind_text (statement, (int) i + 1, texts[i], -1, SQLITE_TRANSIENT) == SQLITE_OK;
  if (ok)
    code = sqlite3_step (statement);
  ok = ok && (code == SQLITE_ROW || code == SQLITE_DONE);
  if (ok && found)
    *found = code == SQLITE_ROW && sqlite3_column_type (statement, 0) != SQLITE_NULL
                 ? sqlite3_column_int64 (statement, 0)
                 : none;
  if (!ok)
    fail (w, error);
  sqlite3_finalize (statement);
  return ok;
}

/* The time in UTC, in the form of Python's isoformat. */
static char *
format_time (double time)
{
  g_autoptr (GDateTime) whole = g_date_time_new_from_unix_utc ((gint64) floor (time));
  g_autofree char *seconds =
      whole ? g_date_time_format (whole, "%Y-%m-%dT%H:%M:%S") : g_strdup ("1970-01-01T00:00:00");

  return g_strdup_printf ("%s.%06d+00:00", seconds, (int) (fmod (MAX (time, 0), 1) * 1e6));
}

static gboolean
insert_row (const DynoRunLog *log, const DynoStepMetrics *step, const DynoEpochMetrics *epoch,
            double time, gpointer data)
{
  Writer *w = data;
  g_autofree char *when = format_time (time), *text = NULL;

  dyno_json_begin_object (&w->json, NULL);
  for (guint i = 0; i < log->columns->len; i++)
    {
      double value = dyno_run_log_get (log, i, step, epoch);
      if (!isnan (value))
        dyno_json_double (&w->json, log->names->pdata[i], value);
    }
  dyno_json_end_object (&w->json);
  text = dyno_json_steal (&w->json);
  sqlite3_reset (w->insert);
  return sqlite3_bind_text (w->insert, 1, when, -1, SQLITE_TRANSIENT) == SQLITE_OK
         && sqlite3_bind_text (w->insert, 2, log->name, -1, SQLITE_TRANSIENT) == SQLITE_OK
         && sqlite3_bind_int64 (w->insert, 3, (sqlite3_int64) step->step) == SQLITE_OK
         && sqlite3_bind_text (w->insert, 4, text, -1, SQLITE_TRANSIENT) == SQLITE_OK
         && sqlite3_step (w->insert) == SQLITE_DONE;
}

static gboolean
write_config (Writer *w, const DynoRunLog *log, GError **error)
{
  g_autofree char *when = format_time (log->begin), *text = NULL;

  dyno_json_begin_object (&w->json, NULL);
  dyno_json_string (&w->json, "dyno", DYNO_VERSION);
  dyno_json_string (&w->json, "model", log->job->model);
  dyno_json_string (&w->json, "data", log->job->data);
  dyno_json_string (&w->json, "preset", log->job->preset);
  dyno_json_string (&w->json, "device", *log->facts->device ? log->facts->device : NULL);
  dyno_json_string (&w->json, "folder", log->folder);
  dyno_export_json_settings (&w->json, &log->job->settings);
  dyno_json_end_object (&w->json);
  text = dyno_json_steal (&w->json);
  return query (w, "INSERT OR REPLACE INTO configs (run_name, config, created_at) VALUES (?, ?, ?)",
                (const char *[]){ log->name, text, when }, 3, 0, NULL, error);
}

static gboolean
write_rows (Writer *w, const DynoRunLog *log, gint64 after, GError **error)
{
  gboolean ok = sqlite3_prepare_v2 (w->db,
                                    "INSERT INTO metrics (timestamp, run_name, step, metrics) "
                                    "VALUES (?, ?, ?, ?)",
                                    -1, &w->insert, NULL)
                    == SQLITE_OK
                && dyno_run_log_each (log, (guint64) MAX (after, 0), insert_row, w);

  if (!ok)
    fail (w, error);
  sqlite3_finalize (w->insert);
  return ok;
}

static gboolean
write_run (Writer *w, const DynoRunLog *log, DynoLogMode mode, GError **error)
{
  const char *const name[] = { log->name };
  gint64 last = -1;

  if (!execute (w, schema, error)
      || !query (w, "SELECT MAX(step) FROM metrics WHERE run_name = ?", name, 1, -1, &last, error))
    return FALSE;
  if (last >= 0 && mode == DYNO_LOG_ADD)
    {
      g_autofree char *shown = g_filename_display_name (w->path);
      g_set_error (error, DYNO_EXPORT_ERROR, DYNO_EXPORT_ERROR_EXISTS,
                   _ ("“%s” has a run “%s” already; --force replaces it"), shown, log->name);
      return FALSE;
    }
  if (mode == DYNO_LOG_REPLACE
      && !query (w, "DELETE FROM metrics WHERE run_name = ?", name, 1, 0, NULL, error))
    return FALSE;
  return write_config (w, log, error)
         && write_rows (w, log, mode == DYNO_LOG_FOLLOW ? last : -1, error);
}

gboolean
dyno_trackio_write (const DynoRunLog *log, const char *path, DynoLogMode mode, char **written,
                    GError **error)
{
  g_autofree char *file = g_file_test (path, G_FILE_TEST_IS_DIR)
                              ? g_build_filename (path, PROJECT, NULL)
                              : g_strdup (path),
                  *folder = g_path_get_dirname (file);
  Writer w = { .path = file };
  gboolean ok;

  if (g_mkdir_with_parents (folder, 0755) != 0)
    return dyno_file_set_error (error, errno, folder);
  dyno_json_init (&w.json, 0);
  ok = sqlite3_open_v2 (file, &w.db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) == SQLITE_OK
       || fail (&w, error);
  sqlite3_busy_timeout (w.db, WAIT_MS);
  ok = ok && execute (&w, "BEGIN IMMEDIATE", error);
  if (ok)
    {
      ok = write_run (&w, log, mode, error) && execute (&w, "COMMIT", error);
      if (!ok)
        sqlite3_exec (w.db, "ROLLBACK", NULL, NULL, NULL);
    }
  sqlite3_close (w.db);
  dyno_json_clear (&w.json);
  if (ok && written)
    *written = g_steal_pointer (&file);
  return ok;
}

char *
dyno_trackio_find_place (void)
{
  const char *own = g_getenv ("TRACKIO_DIR"), *home = g_getenv ("HF_HOME");

  if (own && *own)
    return g_build_filename (own, PROJECT, NULL);
  return home && *home
             ? g_build_filename (home, "trackio", PROJECT, NULL)
             : g_build_filename (g_get_user_cache_dir (), "huggingface", "trackio", PROJECT, NULL);
}

static gboolean
add (const char *folder, const char *place, gboolean force, char **written, GError **error)
{
  g_auto (DynoRunLog) log = { 0 };

  return dyno_run_log_open (&log, folder, NULL, error)
         && dyno_trackio_write (&log, place, force ? DYNO_LOG_REPLACE : DYNO_LOG_ADD, written,
                                error);
}

const DynoRunExporter dyno_run_exporter_trackio = { .id = "trackio",
                                                    .title = N_ ("Run in trackio"),
                                                    .extension = "db",
                                                    .find_place = dyno_trackio_find_place,
                                                    .add = add };
