/* SPDX-License-Identifier: MIT */
/* A run as the history holds it: from a job, to a job, from a row. */
#include "process.h"
#include "store-private.h"
#include <math.h>
#include <string.h>

/* One that cannot be asked for (another machine, a container) is gone when it has been silent for
 * so long: it tells of itself every minute. */
#define SILENCE_US (10 * 60 * G_USEC_PER_SEC)

static const char *const state_names[] = { "running", "finished", "stopped", "failed", "killed" };

const char *
dyno_run_state_name (DynoRunState state)
{
  return (guint) state < G_N_ELEMENTS (state_names) ? state_names[state] : "failed";
}

DynoRunState
dyno_run_state_find (const char *name, const char *process, const char *folder, gint64 seen_us)
{
  DynoRunState state = DYNO_RUN_STATE_FAILED;
  DynoProcessState found;

  for (guint i = 0; i < G_N_ELEMENTS (state_names); i++)
    if (g_strcmp0 (name, state_names[i]) == 0)
      state = (DynoRunState) i;
  if (state != DYNO_RUN_STATE_RUNNING)
    return state;
  found = dyno_process_find (process);
  if (found == DYNO_PROCESS_ALIVE || dyno_process_locks_folder (folder)
      || (found == DYNO_PROCESS_UNKNOWN && g_get_real_time () - seen_us < SILENCE_US))
    return DYNO_RUN_STATE_RUNNING;
  return DYNO_RUN_STATE_KILLED;
}

/* --- settings --------------------------------------------------------------------------------- */

char *
dyno_settings_to_lines (const DynoSettings *settings)
{
  g_autoptr (GString) text = g_string_new (NULL);
  guint n;
  const DynoSettingInfo *table = dyno_setting_list (&n);

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *value = dyno_settings_get (settings, table[i].key);
      g_string_append_printf (text, "%s=%s\n", table[i].key, value);
    }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

void
dyno_settings_from_lines (DynoSettings *settings, const char *lines, char **bad)
{
  g_auto (GStrv) list = g_strsplit (lines ? lines : "", "\n", -1);
  const char *refused = NULL;
  guint n = 0;

  dyno_settings_init (settings);
  for (guint i = 0; list[i]; i++)
    {
      char *value = strchr (list[i], '=');
      g_autofree char *key = value ? g_strndup (list[i], (gsize) (value - list[i])) : NULL;

      if (key && dyno_setting_find (key) && dyno_settings_set (settings, key, value + 1, NULL))
        n++;
      else if (*list[i] && !refused)
        refused = list[i];
    }
  if (bad)
    *bad = g_strdup (refused ? refused : n == 0 ? "" : NULL);
}

const DynoSettingInfo **
dyno_store_compare_settings (const DynoSettings *a, const DynoSettings *b, guint *n)
{
  guint n_table;
  const DynoSettingInfo *table = dyno_setting_list (&n_table);
  const DynoSettingInfo **found = g_new0 (const DynoSettingInfo *, n_table + 1);

  *n = 0;
  for (guint i = 0; i < n_table; i++)
    {
      g_autofree char *one = dyno_settings_get (a, table[i].key),
                      *other = dyno_settings_get (b, table[i].key);
      if (strcmp (one, other) != 0)
        found[(*n)++] = &table[i];
    }
  return found;
}

/* --- the struct ------------------------------------------------------------------------------- */

DynoStoredRun *
dyno_stored_run_new (void)
{
  DynoStoredRun *run = g_new0 (DynoStoredRun, 1);

  dyno_settings_init (&run->settings);
  run->seconds = run->preparation_seconds = run->loss = (double) NAN;
  run->best_metric = run->best_val_loss = (double) NAN;
  run->samples_per_s = run->epoch_overhead_seconds = (double) NAN;
  run->parts = 1;
  return run;
}

void
dyno_stored_run_free (DynoStoredRun *run)
{
  if (!run)
    return;
  g_free (run->name);
  g_free (run->tags);
  g_free (run->model);
  g_free (run->data);
  g_free (run->targets);
  g_free (run->preset);
  g_free (run->weights_in);
  g_free (run->device);
  g_free (run->driver);
  g_free (run->version);
  g_free (run->folder);
  g_free (run->error);
  g_free (run->process);
  g_free (run->metric);
  g_free (run->metric_unit);
  g_free (run);
}

char *
dyno_store_absolute (const char *name)
{
  return name && g_file_test (name, G_FILE_TEST_EXISTS) ? g_canonicalize_filename (name, NULL)
                                                        : g_strdup (name);
}

static void
set_string (char **field, char *value)
{
  g_free (*field);
  *field = value;
}

void
dyno_stored_run_set_job (DynoStoredRun *run, const DynoJob *job)
{
  set_string (&run->model, g_strdup (job->model));
  set_string (&run->data, dyno_store_absolute (job->data));
  set_string (&run->targets, dyno_store_absolute (job->targets));
  set_string (&run->preset, g_strdup (job->preset));
  set_string (&run->weights_in, dyno_store_absolute (job->weights_in));
  set_string (&run->folder, job->out_dir ? g_canonicalize_filename (job->out_dir, NULL) : NULL);
  run->settings = job->settings;
  run->max_steps = job->max_steps;
}

DynoJob *
dyno_stored_run_get_job (const DynoStoredRun *run)
{
  DynoJob *job = dyno_job_new ();

  set_string (&job->model, g_strdup (run->model));
  set_string (&job->data, g_strdup (run->data));
  set_string (&job->targets, g_strdup (run->targets));
  set_string (&job->preset, g_strdup (run->preset));
  set_string (&job->weights_in, g_strdup (run->weights_in));
  job->settings = run->settings;
  job->max_steps = run->max_steps;
  return job;
}

gboolean
dyno_stored_run_stopped_as_asked (const DynoStoredRun *run)
{
  return run->state == DYNO_RUN_STATE_FINISHED && run->max_steps > 0
         && run->steps >= (guint64) run->max_steps
         && run->epochs < (guint64) MAX (run->settings.epochs, 0);
}

char *
dyno_stored_run_get_title (const DynoStoredRun *run)
{
  g_autofree char *base = NULL;

  if (run->name)
    return g_strdup (run->name);
  base = g_path_get_basename (run->folder ? run->folder : run->data ? run->data : "");
  if (run->folder)
    return g_filename_display_name (base);
  *strchrnul (base, '?') = '\0';
  set_string (&base, g_filename_display_name (base));
  return g_strdup_printf ("%s on %s", run->model, base);
}

void
dyno_stored_run_take_best (DynoStoredRun *run, const DynoMetricInfo *metric, double value,
                           const DynoEpochMetrics *epoch)
{
  gboolean better = run->best_epoch == 0 || epoch->val_loss < run->best_val_loss;

  if (!isfinite (epoch->val_loss))
    return;
  if (metric && run->best_epoch > 0 && value != run->best_metric)
    better = dyno_metric_is_better (metric, value, run->best_metric);
  if (!better)
    return;
  run->best_epoch = epoch->epoch;
  run->best_val_loss = epoch->val_loss;
  run->best_metric = value;
}

DynoStoredRun *
dyno_stored_run_read (sqlite3_stmt *s)
{
  DynoStoredRun *run = dyno_stored_run_new ();
  g_autofree char *settings = dyno_column_text (s, 7), *state = dyno_column_text (s, 20);

  run->id = sqlite3_column_int64 (s, 0);
  run->name = dyno_column_text (s, 1);
  run->model = dyno_column_text (s, 2);
  run->data = dyno_column_text (s, 3);
  run->targets = dyno_column_text (s, 4);
  run->preset = dyno_column_text (s, 5);
  run->weights_in = dyno_column_text (s, 6);
  dyno_settings_from_lines (&run->settings, settings, NULL);
  run->max_steps = sqlite3_column_int64 (s, 8);
  run->fingerprint = (guint64) sqlite3_column_int64 (s, 9);
  run->n_train = (guint64) sqlite3_column_int64 (s, 10);
  run->n_validation = (guint64) sqlite3_column_int64 (s, 11);
  run->device = dyno_column_text (s, 12);
  run->driver = dyno_column_text (s, 13);
  run->software_device = sqlite3_column_int (s, 14) != 0;
  run->version = dyno_column_text (s, 15);
  run->folder = dyno_column_text (s, 16);
  run->begin_us = sqlite3_column_int64 (s, 17);
  run->end_us = sqlite3_column_int64 (s, 18);
  run->seen_us = sqlite3_column_int64 (s, 19);
  run->error = dyno_column_text (s, 21);
  run->process = dyno_column_text (s, 22);
  run->state = dyno_run_state_find (state, run->process, run->folder, run->seen_us);
  run->steps = (guint64) sqlite3_column_int64 (s, 23);
  run->epochs = (guint64) sqlite3_column_int64 (s, 24);
  run->seconds = dyno_column_double (s, 25);
  run->preparation_seconds = dyno_column_double (s, 26);
  run->loss = dyno_column_double (s, 27);
  run->metric = dyno_column_text (s, 28);
  run->metric_unit = dyno_column_text (s, 29);
  run->metric_is_fraction = sqlite3_column_int (s, 30) != 0;
  run->best_metric = dyno_column_double (s, 31);
  run->best_val_loss = dyno_column_double (s, 32);
  run->best_epoch = (guint64) sqlite3_column_int64 (s, 33);
  run->samples_per_s = dyno_column_double (s, 34);
  run->epoch_overhead_seconds = dyno_column_double (s, 35);
  run->planned_bytes = (guint64) sqlite3_column_int64 (s, 36);
  run->vram_bytes = (guint64) sqlite3_column_int64 (s, 37);
  run->n_parameters = (guint64) sqlite3_column_int64 (s, 38);
  run->parts = (guint) MAX (1, sqlite3_column_int (s, 39));
  run->uid = (guint64) sqlite3_column_int64 (s, 40);
  run->tags = dyno_column_text (s, 41);
  return run;
}
