/* SPDX-License-Identifier: MIT */
/* Jobs in the history's file.  A job that is marked as running belongs to a process that lives, or
 * it was left there when its process died. */
#include "jobqueue.h"
#include "file.h"
#include "process.h"
#include "store-private.h"
#include <string.h>

#define JOB_COLUMNS                                                                            \
  "id, model, data, targets, preset, weights_in, settings, max_steps, device, folder, state, " \
  "attempts, exit_code, process, add_us, begin_us, end_us, name, "                             \
  "devices"

static const char *const state_names[] = { "waiting", "running", "finished", "stopped", "failed" };

const char *
dyno_queued_state_name (DynoQueuedState state)
{
  return (guint) state < G_N_ELEMENTS (state_names) ? state_names[state] : "failed";
}

char *
dyno_queued_job_get_error_path (gint64 id)
{
  g_autofree char *folder = dyno_data_dir ("queue"),
                  *name = g_strdup_printf ("job-%" G_GINT64_FORMAT ".error", id);

  return g_build_filename (folder, name, NULL);
}

char *
dyno_queued_job_read_error (const DynoQueuedJob *job)
{
  g_autofree char *path = dyno_queued_job_get_error_path (job->id), *text = NULL;

  if (job->state != DYNO_QUEUED_FAILED || !g_file_get_contents (path, &text, NULL, NULL)
      || !g_utf8_validate (text, -1, NULL) || *g_strstrip (text) == '\0')
    return NULL;
  return g_steal_pointer (&text);
}

static DynoQueuedState
find_state (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (state_names); i++)
    if (g_strcmp0 (name, state_names[i]) == 0)
      return (DynoQueuedState) i;
  return DYNO_QUEUED_FAILED;
}

void
dyno_queued_job_free (DynoQueuedJob *job)
{
  if (!job)
    return;
  dyno_job_unref (job->job);
  g_free (job->process);
  g_free (job->bad_setting);
  g_free (job);
}

gboolean
dyno_queued_job_is_open (const DynoQueuedJob *job)
{
  return job->state != DYNO_QUEUED_FINISHED && job->state != DYNO_QUEUED_FAILED;
}

static DynoQueuedJob *
read_job (sqlite3_stmt *s)
{
  DynoQueuedJob *queued = g_new0 (DynoQueuedJob, 1);
  g_autofree char *settings = dyno_column_text (s, 6), *state = dyno_column_text (s, 10);
  DynoJob *job = queued->job = dyno_job_new ();

  queued->id = sqlite3_column_int64 (s, 0);
  g_free (job->model);
  job->model = dyno_column_text (s, 1);
  job->data = dyno_column_text (s, 2);
  job->targets = dyno_column_text (s, 3);
  job->preset = dyno_column_text (s, 4);
  job->weights_in = dyno_column_text (s, 5);
  dyno_settings_from_lines (&job->settings, settings, &queued->bad_setting);
  job->max_steps = sqlite3_column_int64 (s, 7);
  job->device = sqlite3_column_int (s, 8);
  job->out_dir = dyno_column_text (s, 9);
  queued->state = find_state (state);
  queued->attempts = (guint) sqlite3_column_int (s, 11);
  queued->exit_code = sqlite3_column_type (s, 12) == SQLITE_NULL ? -1 : sqlite3_column_int (s, 12);
  queued->process = dyno_column_text (s, 13);
  queued->add_us = sqlite3_column_int64 (s, 14);
  queued->begin_us = sqlite3_column_int64 (s, 15);
  queued->end_us = sqlite3_column_int64 (s, 16);
  job->name = dyno_column_text (s, 17);
  job->devices = dyno_column_text (s, 18);
  return queued;
}

/* Whether the job is marked as running, but its process has died. */
static gboolean
has_died (const DynoQueuedJob *job)
{
  return job->state == DYNO_QUEUED_RUNNING && dyno_process_find (job->process) == DYNO_PROCESS_GONE
         && !dyno_process_locks_folder (job->job->out_dir);
}

GPtrArray *
dyno_store_list_jobs (DynoStore *store, GError **error)
{
  g_autoptr (GPtrArray) jobs =
      g_ptr_array_new_with_free_func ((GDestroyNotify) dyno_queued_job_free);
  sqlite3_stmt *s;
  gboolean row = FALSE, good;

  dyno_database_lock (store->db);
  s = dyno_database_prepare (
      store->db, error, "SELECT " JOB_COLUMNS " FROM jobs ORDER BY ifnull (place, id), id", "");
  good = s != NULL;
  while (good && (good = dyno_database_step (store->db, s, &row, error)) && row)
    g_ptr_array_add (jobs, read_job (s));
  dyno_database_unlock (store->db);
  for (guint i = 0; i < jobs->len; i++)
    {
      DynoQueuedJob *job = jobs->pdata[i];

      if (has_died (job))
        job->state = DYNO_QUEUED_STOPPED;
    }
  return good ? g_steal_pointer (&jobs) : NULL;
}

static DynoQueuedJob *
find_job (DynoStore *store, gint64 id, GError **error)
{
  g_autoptr (GPtrArray) jobs = dyno_store_list_jobs (store, error);

  for (guint i = 0; jobs && i < jobs->len; i++)
    if (((DynoQueuedJob *) jobs->pdata[i])->id == id)
      return g_ptr_array_steal_index (jobs, i);
  if (jobs)
    g_set_error (error, DYNO_RUNS_ERROR, DYNO_RUNS_ERROR_NOT_FOUND,
                 "There is no job %" G_GINT64_FORMAT " in the queue; 'dynoctl queue list' lists "
                 "them",
                 id);
  return NULL;
}

static gboolean
is_alive (const DynoQueuedJob *job)
{
  return job->state == DYNO_QUEUED_RUNNING
         && (dyno_process_find (job->process) == DYNO_PROCESS_ALIVE
             || dyno_process_locks_folder (job->job->out_dir));
}

/* FALSE: an unfinished job has the folder; or another error. */
static gboolean
check_folder (DynoStore *store, const char *folder, GError **error)
{
  g_autoptr (GPtrArray) jobs = dyno_store_list_jobs (store, error);
  g_autofree char *shown = g_filename_display_name (folder);

  for (guint i = 0; jobs && i < jobs->len; i++)
    {
      const DynoQueuedJob *job = g_ptr_array_index (jobs, i);

      if (!dyno_queued_job_is_open (job) || g_strcmp0 (job->job->out_dir, folder) != 0)
        continue;
      g_set_error (error, DYNO_RUNS_ERROR, DYNO_RUNS_ERROR_ACTIVE,
                   "Job %" G_GINT64_FORMAT " of the queue has the folder “%s”; choose another one",
                   job->id, shown);
      return FALSE;
    }
  return jobs != NULL;
}

gint64
dyno_store_add_job (DynoStore *store, const DynoJob *job, GError **error)
{
  g_autofree char *settings = dyno_settings_to_lines (&job->settings),
                  *data = dyno_store_absolute (job->data),
                  *targets = dyno_store_absolute (job->targets),
                  *weights = dyno_store_absolute (job->weights_in),
                  *folder = g_canonicalize_filename (job->out_dir, NULL);
  gint64 id = 0;
  gboolean good;

  if (!dyno_database_begin (store->db, error))
    return 0;
  good = check_folder (store, folder, error)
         && dyno_database_run (store->db, error,
                               "INSERT INTO jobs (model, data, targets, preset, weights_in, "
                               "settings, max_steps, device, folder, state, add_us, name, devices) "
                               "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'waiting', ?, ?, ?)",
                               "sbbbbsiibiss", job->model, data, targets, job->preset, weights,
                               settings, job->max_steps, (gint64) job->device, folder,
                               g_get_real_time (), job->name, job->devices);
  if (good)
    id = dyno_database_get_last_id (store->db);
  return dyno_database_end (store->db, good, error) ? id : 0;
}

/* All jobs get new places, from 1.  A job that is added later has no place and is sorted by its
 * number, which no place exceeds. */
gboolean
dyno_store_move_job (DynoStore *store, gint64 id, gint64 before, GError **error)
{
  g_autoptr (GPtrArray) jobs = NULL;
  g_autoptr (DynoQueuedJob) moved = NULL;
  gint64 place = 0;
  gboolean good, put = FALSE;

  if (!dyno_database_begin (store->db, error))
    return FALSE;
  moved = find_job (store, id, error);
  jobs = moved ? dyno_store_list_jobs (store, error) : NULL;
  good = jobs != NULL;
  for (guint i = 0; good && i <= jobs->len; i++)
    {
      const DynoQueuedJob *job = i < jobs->len ? jobs->pdata[i] : NULL;

      if (!put && (!job || job->id == before))
        {
          put = TRUE;
          good = dyno_database_run (store->db, error, "UPDATE jobs SET place = ? WHERE id = ?",
                                    "ii", ++place, id);
        }
      if (good && job && job->id != id)
        good = dyno_database_run (store->db, error, "UPDATE jobs SET place = ? WHERE id = ?", "ii",
                                  ++place, job->id);
    }
  return dyno_database_end (store->db, good, error);
}

gboolean
dyno_store_remove_job (DynoStore *store, gint64 id, GError **error)
{
  g_autoptr (DynoQueuedJob) job = NULL;
  gboolean good;

  if (!dyno_database_begin (store->db, error))
    return FALSE;
  job = find_job (store, id, error);
  good = job != NULL;
  if (job && is_alive (job))
    {
      good = FALSE;
      g_set_error (error, DYNO_RUNS_ERROR, DYNO_RUNS_ERROR_ACTIVE,
                   "Job %" G_GINT64_FORMAT " is running; stop it before it is removed", id);
    }
  good = good && dyno_database_run (store->db, error, "DELETE FROM jobs WHERE id = ?", "i", id);
  return dyno_database_end (store->db, good, error);
}

gboolean
dyno_store_retry_job (DynoStore *store, gint64 id, GError **error)
{
  g_autoptr (DynoQueuedJob) job = NULL;
  gboolean good;

  if (!dyno_database_begin (store->db, error))
    return FALSE;
  job = find_job (store, id, error);
  good = job != NULL;
  if (job && job->state == DYNO_QUEUED_RUNNING)
    {
      good = FALSE;
      g_set_error (error, DYNO_RUNS_ERROR, DYNO_RUNS_ERROR_ACTIVE,
                   "Job %" G_GINT64_FORMAT " is running; it can be tried again once it has failed",
                   id);
    }
  else if (job && job->state == DYNO_QUEUED_FINISHED)
    {
      good = FALSE;
      g_set_error (error, DYNO_RUNS_ERROR, DYNO_RUNS_ERROR_NOT_FOUND,
                   "Job %" G_GINT64_FORMAT " has finished; add it again to repeat it", id);
    }
  else if (job && job->state == DYNO_QUEUED_FAILED)
    good = check_folder (store, job->job->out_dir, error)
           && dyno_database_run (store->db, error,
                                 "UPDATE jobs SET state = 'waiting', exit_code = NULL, "
                                 "end_us = NULL WHERE id = ?",
                                 "i", id);
  return dyno_database_end (store->db, good, error);
}

/* The folder of the attempts so far stays with the run that they have left in the history. */
static gboolean
begin_anew (DynoStore *store, gint64 id, const char *out_dir, GError **error)
{
  g_autofree char *folder = g_canonicalize_filename (out_dir, NULL);

  return check_folder (store, folder, error)
         && dyno_database_run (store->db, error,
                               "UPDATE jobs SET state = 'waiting', attempts = 0, exit_code = NULL, "
                               "process = NULL, begin_us = NULL, end_us = NULL, folder = ? "
                               "WHERE id = ?",
                               "bi", folder, id);
}

gboolean
dyno_store_change_job (DynoStore *store, gint64 id, const DynoJob *job, GError **error)
{
  g_autofree char *settings = dyno_settings_to_lines (&job->settings),
                  *data = dyno_store_absolute (job->data),
                  *targets = dyno_store_absolute (job->targets),
                  *weights = dyno_store_absolute (job->weights_in);
  g_autoptr (DynoQueuedJob) before = NULL;
  gboolean good;

  if (!dyno_database_begin (store->db, error))
    return FALSE;
  before = find_job (store, id, error);
  good = before != NULL;
  if (before
      && ((before->state != DYNO_QUEUED_WAITING && before->state != DYNO_QUEUED_FAILED)
          || (before->attempts > 0 && !job->out_dir)))
    {
      good = FALSE;
      g_set_error (error, DYNO_RUNS_ERROR, DYNO_RUNS_ERROR_ACTIVE,
                   "Job %" G_GINT64_FORMAT
                   " has been begun, and its settings cannot be changed any "
                   "more; add another job",
                   id);
    }
  else if (before && before->attempts > 0)
    good = begin_anew (store, id, job->out_dir, error);
  good = good
         && dyno_database_run (store->db, error,
                               "UPDATE jobs SET model = ?, data = ?, targets = ?, preset = ?, "
                               "weights_in = ?, settings = ?, max_steps = ?, device = ?, "
                               "name = ?, devices = ? WHERE id = ?",
                               "sbbbbsiissi", job->model, data, targets, job->preset, weights,
                               settings, job->max_steps, (gint64) job->device, job->name,
                               job->devices, id);
  return dyno_database_end (store->db, good, error);
}

/* --- working it off --------------------------------------------------------------------------- */

/* The process that runs the queue, if it is alive; g_free. */
static char *
find_runner (DynoStore *store, GError **error)
{
  sqlite3_stmt *s =
      dyno_database_prepare (store->db, error, "SELECT process, seen_us FROM queue_runner", "");
  g_autofree char *process = NULL;
  gboolean row = FALSE;
  gint64 seen_us = 0;

  if (s && dyno_database_step (store->db, s, &row, error) && row)
    {
      process = dyno_column_text (s, 0);
      seen_us = sqlite3_column_int64 (s, 1);
      sqlite3_reset (s);
    }
  return process
                 && dyno_run_state_find ("running", process, NULL, seen_us)
                        == DYNO_RUN_STATE_RUNNING
             ? g_steal_pointer (&process)
             : NULL;
}

gboolean
dyno_store_claim_queue (DynoStore *store, GError **error)
{
  g_autofree char *own = dyno_process_describe (), *other = NULL;
  g_autoptr (GError) problem = NULL;
  gboolean good;

  if (!dyno_database_begin (store->db, error))
    return FALSE;
  other = find_runner (store, &problem);
  if (other)
    g_set_error (&problem, DYNO_RUNS_ERROR, DYNO_RUNS_ERROR_ACTIVE,
                 "The queue is already run by process %d, which also runs jobs that are added",
                 atoi (other));
  good = !problem
         && dyno_database_run (store->db, &problem,
                               "INSERT OR REPLACE INTO queue_runner (id, process, seen_us) "
                               "VALUES (1, ?, ?)",
                               "si", own, g_get_real_time ());
  if (problem)
    g_propagate_error (error, g_steal_pointer (&problem));
  return dyno_database_end (store->db, good, error);
}

gboolean
dyno_store_touch_queue (DynoStore *store, GError **error)
{
  gboolean good;

  if (!dyno_database_begin (store->db, error))
    return FALSE;
  good = dyno_database_run (store->db, error, "UPDATE queue_runner SET seen_us = ?", "i",
                            g_get_real_time ());
  return dyno_database_end (store->db, good, error);
}

void
dyno_store_release_queue (DynoStore *store)
{
  if (!dyno_database_begin (store->db, NULL))
    return;
  dyno_database_end (store->db, dyno_database_run (store->db, NULL, "DELETE FROM queue_runner", ""),
                     NULL);
}

static gboolean
was_tried (const GArray *tried, gint64 id)
{
  for (guint i = 0; tried && i < tried->len; i++)
    if (g_array_index (tried, gint64, i) == id)
      return TRUE;
  return FALSE;
}

DynoQueuedJob *
dyno_store_next_job (DynoStore *store, const GArray *tried, GError **error)
{
  g_autoptr (GPtrArray) jobs = dyno_store_list_jobs (store, error);

  for (guint i = 0; jobs && i < jobs->len; i++)
    {
      const DynoQueuedJob *job = g_ptr_array_index (jobs, i);

      if (!was_tried (tried, job->id) && dyno_queued_job_is_open (job))
        return g_ptr_array_steal_index (jobs, i);
    }
  return NULL;
}

/* FALSE: the last statement has changed no row, since the job was removed. */
static gboolean
check_changed (DynoStore *store, gint64 id, GError **error)
{
  if (dyno_database_get_changes (store->db) > 0)
    return TRUE;
  g_set_error (error, DYNO_RUNS_ERROR, DYNO_RUNS_ERROR_NOT_FOUND,
               "Job %" G_GINT64_FORMAT " is not in the queue any more; 'dynoctl queue list' lists "
               "the jobs",
               id);
  return FALSE;
}

gboolean
dyno_store_begin_job (DynoStore *store, gint64 id, const char *process, GError **error)
{
  gboolean good;

  if (!dyno_database_begin (store->db, error))
    return FALSE;
  good = dyno_database_run (store->db, error,
                            "UPDATE jobs SET state = 'running', attempts = attempts + 1, "
                            "process = ?, begin_us = ?, end_us = NULL, exit_code = NULL "
                            "WHERE id = ?",
                            "sii", process, g_get_real_time (), id)
         && check_changed (store, id, error);
  return dyno_database_end (store->db, good, error);
}

gboolean
dyno_store_end_job (DynoStore *store, gint64 id, DynoQueuedState state, int exit_code,
                    GError **error)
{
  gboolean good;

  if (!dyno_database_begin (store->db, error))
    return FALSE;
  good = dyno_database_run (
             store->db, error, "UPDATE jobs SET state = ?, exit_code = ?, end_us = ? WHERE id = ?",
             "siii", dyno_queued_state_name (state), (gint64) exit_code, g_get_real_time (), id)
         && check_changed (store, id, error);
  return dyno_database_end (store->db, good, error);
}
