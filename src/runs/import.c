/* SPDX-License-Identifier: MIT */
/* A folder's files are read as far as they go: missing values are not known.  The settings are
 * taken from the key file by name, as dyno_settings_set takes them. */
#include "import.h"
#include "runfacts.h"
#include "runrate.h"
#include "store-private.h"
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#define MAX_SETTINGS_BYTES (1 << 20)

/* A value of [run], which is escaped where it is not UTF-8. */
static char *
get_name (GKeyFile *file, const char *key)
{
  g_autofree char *other = g_strconcat (key, "_escaped", NULL),
                  *escaped = g_key_file_get_string (file, "run", other, NULL);

  return escaped ? g_strcompress (escaped) : g_key_file_get_string (file, "run", key, NULL);
}

static void
read_settings (DynoStoredRun *run)
{
  g_autofree char *path = g_build_filename (run->folder, "settings.ini", NULL);
  g_autoptr (GKeyFile) file = g_key_file_new ();
  g_auto (GStrv) keys = NULL;
  GStatBuf status;

  if (g_stat (path, &status) != 0 || !S_ISREG (status.st_mode)
      || status.st_size > MAX_SETTINGS_BYTES
      || !g_key_file_load_from_file (file, path, G_KEY_FILE_NONE, NULL))
    return;
  run->begin_us = (gint64) status.st_mtime * G_USEC_PER_SEC;
  run->model = get_name (file, "model");
  run->data = get_name (file, "data");
  run->targets = get_name (file, "targets");
  run->preset = get_name (file, "preset");
  keys = g_key_file_get_keys (file, "settings", NULL, NULL);
  for (guint i = 0; keys && keys[i]; i++)
    {
      g_autofree char *value = g_key_file_get_string (file, "settings", keys[i], NULL);
      if (value)
        dyno_settings_set (&run->settings, keys[i], g_strstrip (value), NULL);
    }
}

static void
take_facts (DynoStoredRun *run, DynoMetrics *log)
{
  g_autofree DynoRunFacts *facts = g_new0 (DynoRunFacts, 1);
  g_autofree DynoStretches *stretches = g_new (DynoStretches, 1);
  gboolean reported = dyno_run_facts_read (run->folder, facts);

  dyno_stretches_init (stretches);
  dyno_stretches_add_log (stretches, log);
  run->samples_per_s = dyno_run_rate_find (facts, stretches);
  if (!reported)
    return;
  run->device = *facts->device ? g_strdup (facts->device) : NULL;
  run->software_device = facts->software;
  run->n_train = facts->n_train;
  run->n_validation = facts->n_validation;
  run->n_test = facts->n_test;
  run->planned_bytes = facts->planned_bytes;
  run->max_steps = (gint64) MIN (facts->max_steps, (guint64) G_MAXINT64);
  run->parts = (guint) MAX (1, facts->parts);
  run->error = *facts->problem ? g_strdup (facts->problem) : NULL;
  if (facts->state == DYNO_SESSION_FINISHED)
    run->state = DYNO_RUN_STATE_FINISHED;
  else if (facts->state == DYNO_SESSION_STOPPED)
    run->state = DYNO_RUN_STATE_STOPPED;
  else if (facts->state == DYNO_SESSION_FAILED)
    run->state = DYNO_RUN_STATE_FAILED;
  else if (facts->state != DYNO_SESSION_NEW)
    run->state = DYNO_RUN_STATE_RUNNING; /* or it was killed: the lock of its folder decides */
}

/* The best epoch is selected by the metric that the setting names, else by the first metric of the
 * log, since the log does not state the selecting metric. */
static GArray *
take_epochs (DynoStoredRun *run, DynoMetrics *log)
{
  guint64 n = dyno_metrics_get_epochs (log);
  GArray *epochs = g_array_sized_new (FALSE, TRUE, sizeof (DynoEpochMetrics), (guint) n);
  const char *name = g_quark_to_string (run->settings.best_metric);
  DynoMetricTable table;
  DynoTestResult test;
  guint at;

  dyno_metrics_get_table (log, &table);
  at = (guint) MAX (0, name ? dyno_metric_table_find_best (&table, name) : 0);
  g_array_set_size (epochs, (guint) n);
  dyno_metrics_copy_epochs (log, 0, n, (DynoEpochMetrics *) (gpointer) epochs->data);
  for (guint i = 0; i < epochs->len; i++)
    {
      DynoEpochMetrics *e = &g_array_index (epochs, DynoEpochMetrics, i);

      e->train_metrics[0] = e->train_metrics[at];
      e->val_metrics[0] = e->val_metrics[at];
      dyno_stored_run_take_best (run, table.n > 0 ? &table.infos[at] : NULL,
                                 table.n > 0 ? e->val_metrics[0] : (double) NAN, e);
      run->epochs = e->epoch;
    }
  if (table.n > 0)
    {
      run->metric = g_strdup (table.infos[at].name);
      run->metric_unit = g_strdup (table.infos[at].unit);
      run->metric_is_fraction = table.infos[at].format == DYNO_METRIC_FRACTION;
    }
  if (dyno_test_result_read (run->folder, &table, &test))
    {
      run->test_loss = test.loss;
      run->test_metric = table.n > 0 ? test.metrics[at] : (double) NAN;
    }
  return epochs;
}

static void
take_steps (DynoStoredRun *run, DynoMetrics *log)
{
  guint64 n = dyno_metrics_get_steps (log);
  DynoStepMetrics last;

  if (n == 0 || dyno_metrics_copy_steps (log, n - 1, 1, &last) != 1)
    return;
  run->steps = last.step;
  run->seconds = last.seconds;
  run->loss = last.loss;
  run->vram_bytes = last.vram_bytes;
}

static DynoStoredRun *
find_entry (DynoStore *store, const char *folder, GError **error)
{
  DynoRunFilter filter = { .folder = folder, .limit = 1 };
  g_autoptr (GPtrArray) found = dyno_store_list_runs (store, &filter, error);

  return found && found->len > 0 ? g_ptr_array_steal_index (found, 0) : NULL;
}

DynoStoredRun *
dyno_store_import_run (DynoStore *store, const char *folder, gboolean *added, GError **error)
{
  g_autoptr (DynoStoredRun) run = dyno_stored_run_new ();
  g_autofree char *path = g_canonicalize_filename (folder, NULL),
                  *csv = g_build_filename (path, "metrics.csv", NULL);
  g_autoptr (DynoMetrics) log = NULL;
  g_autoptr (GArray) epochs = NULL;
  g_autoptr (GError) problem = NULL;
  DynoStoredRun *old = find_entry (store, path, &problem);
  GStatBuf status;

  *added = FALSE;
  if (old)
    return old;
  log = problem ? NULL : dyno_metrics_read (csv, &problem);
  if (!log)
    {
      g_set_error (error, DYNO_RUNS_ERROR, DYNO_RUNS_ERROR_NOT_FOUND, "No run is in there: %s",
                   problem->message);
      return NULL;
    }
  run->folder = g_steal_pointer (&path);
  if (g_stat (csv, &status) == 0)
    run->begin_us = run->end_us = run->seen_us = (gint64) status.st_mtime * G_USEC_PER_SEC;
  read_settings (run);
  epochs = take_epochs (run, log);
  take_steps (run, log);
  run->state = run->epochs >= (guint64) run->settings.epochs ? DYNO_RUN_STATE_FINISHED
                                                             : DYNO_RUN_STATE_STOPPED;
  take_facts (run, log);
  if (!isnan (run->seconds))
    run->begin_us = MIN (run->begin_us, run->end_us - (gint64) (run->seconds * 1e6));
  if (!dyno_store_put_run (store, run, (DynoEpochMetrics *) (gpointer) epochs->data, epochs->len,
                           error))
    return NULL;
  *added = TRUE;
  return g_steal_pointer (&run);
}

guint
dyno_store_import_runs (DynoStore *store, const char *parent, guint *n_found)
{
  g_autoptr (GDir) dir = g_dir_open (parent, 0, NULL);
  const char *name;
  guint n = 0, found = 0;

  while (dir && (name = g_dir_read_name (dir)))
    {
      g_autofree char *folder = g_build_filename (parent, name, NULL);
      g_autoptr (DynoStoredRun) run = NULL;
      gboolean added = FALSE;

      if (g_file_test (folder, G_FILE_TEST_IS_DIR))
        run = dyno_store_import_run (store, folder, &added, NULL);
      n += added;
      found += run != NULL;
    }
  if (n_found)
    *n_found = found;
  return n;
}
