/* SPDX-License-Identifier: MIT */
/* A run as the history holds it: from a job, to a job, from a row. */
#include "process.h"
#include "store-private.h"
#include <math.h>
#include <string.h>

/* A process that cannot be queried (on another machine, in a container) counts as gone when its
 * run's entry was not updated for this long; a running process updates it every minute. */
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

#define MEMBER(member) G_STRUCT_OFFSET (DynoStoredRun, member)

static const DynoRecordField fields[] = {
  { "id", DYNO_RECORD_INT, MEMBER (id), NULL },
  { "uid", DYNO_RECORD_COUNT, MEMBER (uid), NULL },
  { "name", DYNO_RECORD_TEXT, MEMBER (name), NULL },
  { "tags", DYNO_RECORD_TEXT, MEMBER (tags), NULL },
  { "begin_us", DYNO_RECORD_TIME, MEMBER (begin_us), NULL },
  { "model", DYNO_RECORD_TEXT, MEMBER (model), "model" },
  { "data", DYNO_RECORD_PATH, MEMBER (data), "data" },
  { "targets", DYNO_RECORD_PATH, MEMBER (targets), "targets" },
  { "preset", DYNO_RECORD_PATH, MEMBER (preset), "preset" },
  { "weights_in", DYNO_RECORD_PATH, MEMBER (weights_in), NULL },
  { "settings", DYNO_RECORD_OTHER, 0, NULL },
  { "max_steps", DYNO_RECORD_INT, MEMBER (max_steps), NULL },
  { "fingerprint", DYNO_RECORD_COUNT, MEMBER (fingerprint), NULL },
  { "n_train", DYNO_RECORD_COUNT, MEMBER (n_train), "n_train" },
  { "n_validation", DYNO_RECORD_COUNT, MEMBER (n_validation), "n_validation" },
  { "n_test", DYNO_RECORD_COUNT, MEMBER (n_test), "n_test" },
  { "device", DYNO_RECORD_TEXT, MEMBER (device), "device" },
  { "driver", DYNO_RECORD_TEXT, MEMBER (driver), "driver" },
  { "software", DYNO_RECORD_FLAG, MEMBER (software_device), NULL },
  { "version", DYNO_RECORD_TEXT, MEMBER (version), "dyno" },
  { "folder", DYNO_RECORD_PATH, MEMBER (folder), "folder" },
  { "end_us", DYNO_RECORD_TIME, MEMBER (end_us), NULL },
  { "seen_us", DYNO_RECORD_INT, MEMBER (seen_us), NULL },
  { "state", DYNO_RECORD_OTHER, 0, NULL },
  { "error", DYNO_RECORD_TEXT, MEMBER (error), "error" },
  { "process", DYNO_RECORD_TEXT, MEMBER (process), NULL },
  { "steps", DYNO_RECORD_COUNT, MEMBER (steps), "steps" },
  { "epochs", DYNO_RECORD_COUNT, MEMBER (epochs), "epochs" },
  { "seconds", DYNO_RECORD_NUMBER, MEMBER (seconds), "seconds" },
  { "preparation_s", DYNO_RECORD_NUMBER, MEMBER (preparation_seconds), "preparation_seconds" },
  { "loss", DYNO_RECORD_NUMBER, MEMBER (loss), "loss" },
  { "metric", DYNO_RECORD_TEXT, MEMBER (metric), "metric" },
  { "metric_unit", DYNO_RECORD_TEXT, MEMBER (metric_unit), NULL },
  { "metric_is_fraction", DYNO_RECORD_FLAG, MEMBER (metric_is_fraction), NULL },
  { "best_metric", DYNO_RECORD_NUMBER, MEMBER (best_metric), "best_metric" },
  { "best_val_loss", DYNO_RECORD_NUMBER, MEMBER (best_val_loss), "best_val_loss" },
  { "best_epoch", DYNO_RECORD_COUNT, MEMBER (best_epoch), "best_epoch" },
  { "test_metric", DYNO_RECORD_NUMBER, MEMBER (test_metric), "test_metric" },
  { "test_loss", DYNO_RECORD_NUMBER, MEMBER (test_loss), "test_loss" },
  { "samples_per_s", DYNO_RECORD_NUMBER, MEMBER (samples_per_s), "samples_per_s" },
  { "epoch_overhead_s", DYNO_RECORD_NUMBER, MEMBER (epoch_overhead_seconds),
    "epoch_overhead_seconds" },
  { "planned_bytes", DYNO_RECORD_COUNT, MEMBER (planned_bytes), "planned_bytes" },
  { "vram_bytes", DYNO_RECORD_COUNT, MEMBER (vram_bytes), "vram_bytes" },
  { "parameters", DYNO_RECORD_COUNT, MEMBER (n_parameters), "parameters" },
  { "parts", DYNO_RECORD_UINT, MEMBER (parts), "micro_batches" },
};

const DynoRecordField *
dyno_stored_run_list_fields (guint *n)
{
  *n = G_N_ELEMENTS (fields);
  return fields;
}

DynoStoredRun *
dyno_stored_run_new (void)
{
  DynoStoredRun *run = g_new0 (DynoStoredRun, 1);

  dyno_settings_init (&run->settings);
  run->seconds = run->preparation_seconds = run->loss = (double) NAN;
  run->best_metric = run->best_val_loss = (double) NAN;
  run->test_metric = run->test_loss = (double) NAN;
  run->samples_per_s = run->epoch_overhead_seconds = (double) NAN;
  run->parts = 1;
  return run;
}

void
dyno_stored_run_free (DynoStoredRun *run)
{
  if (run)
    dyno_row_clear (fields, G_N_ELEMENTS (fields), run);
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
  if (job->name)
    set_string (&run->name, g_strdup (job->name));
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
  g_autofree char *settings = dyno_row_read_other (s, fields, G_N_ELEMENTS (fields), "settings"),
                  *state = dyno_row_read_other (s, fields, G_N_ELEMENTS (fields), "state");

  dyno_row_read (s, fields, G_N_ELEMENTS (fields), run);
  dyno_settings_from_lines (&run->settings, settings, NULL);
  run->state = dyno_run_state_find (state, run->process, run->folder, run->seen_us);
  run->parts = MAX (1, run->parts);
  return run;
}
