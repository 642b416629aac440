/* SPDX-License-Identifier: MIT */
/* Prints the trials when they end and the best ones, and writes the chosen settings into files.  A
 * trial is written to accuracy.csv before the next one begins. */
#include "tune-accuracy.h"
#include "accuracyrunner.h"
#include "bestfiles.h"
#include "formats.h"
#include "outfolder.h"
#include "output.h"
#include "progress.h"
#include "runwriter.h"
#include "signals.h"
#include <math.h>
#include <string.h>

#define RUNS_FOLDER "runs"
#define MOST_SHOWN  5

static const char *const file_names[] = { "best.ini", "best.json", "report.html",
                                          DYNO_ACCURACY_FILE, NULL };
static const DynoOutFiles search_files = { file_names, "an earlier search",
                                           ", resume it by --resume" };

typedef struct {
  const DynoTuneAccuracy *tune;
  const char *folder;
  DynoParamSpace space;
  DynoMetricInfo metric;
  DynoAccuracyFile *file;
  DynoProgress progress;
  GHashTable *warned; /* texts already printed: each trial may repeat a warning */
  gboolean headed, stop_printed;
} Search;

/* --- lines ------------------------------------------------------------------------------------ */

/* The stage of a run: "1/3" for a rung, or "final". */
static char *
describe_stage (const DynoAccuracyResult *result, const DynoAccuracyRun *run)
{
  return run->final ? g_strdup ("final")
                    : g_strdup_printf ("%u/%u", dyno_accuracy_result_find_rung (result, run) + 1,
                                       result->n_rungs);
}

static char *
value_cell (const DynoMetricInfo *metric, double value)
{
  return isfinite (value) ? dyno_accuracy_format (metric, value) : g_strdup ("-");
}

static void
print_run (Search *search, const DynoAccuracyResult *result, const DynoAccuracyRun *run)
{
  g_autofree char *value = value_cell (&result->metric, run->value),
                  *best = value_cell (&result->metric, dyno_accuracy_result_find_best (result)),
                  *seconds = dyno_text_duration (run->seconds),
                  *stage = describe_stage (result, run),
                  *settings = dyno_param_space_describe (&search->space, &run->settings);

  if (!search->headed)
    dyno_progress_print (&search->progress, "%5s  %-5s  %6s  %6s  %9s  %9s  %8s  %s", "trial",
                         "rung", "epochs", "seed", result->metric.name, "best", "time", "settings");
  search->headed = TRUE;
  dyno_progress_print (
      &search->progress,
      "%5u  %-5s  %6" G_GUINT64_FORMAT "  %6" G_GUINT64_FORMAT "  %9s  %9s  %8s  %s%s%s",
      run->trial, stage, run->epochs, run->seed, value, best, seconds,
      run->trial == 0 ? "yours" : settings, run->text ? ": " : "", run->text ? run->text : "");
}

static void
print_run_json (const DynoAccuracyResult *result, const DynoAccuracyRun *run)
{
  DynoJson json;

  dyno_json_init (&json, 0);
  dyno_json_begin_object (&json, NULL);
  dyno_json_string (&json, "event", "trial");
  dyno_json_uint (&json, "trial", run->trial);
  dyno_json_string (&json, "stage", run->final ? "final" : "search");
  dyno_json_uint (&json, "seed", run->seed);
  dyno_json_uint (&json, "from_epochs", run->from_epochs);
  dyno_json_uint (&json, "epochs", run->epochs);
  dyno_json_string (&json, "outcome", dyno_trial_outcome_class (run->outcome));
  dyno_json_double (&json, "value", run->value);
  dyno_json_double (&json, "best", dyno_accuracy_result_find_best (result));
  dyno_json_double (&json, "seconds", run->seconds);
  dyno_json_uint (&json, "at_once", run->at_once);
  dyno_json_string (&json, "text", run->text);
  dyno_export_json_settings (&json, &run->settings);
  dyno_json_end_object (&json);
  dyno_out_json (&json);
  dyno_json_clear (&json);
}

static const char *
name_verdict (DynoAccuracyVerdict verdict)
{
  static const char *const names[] = { "proven", "not-proven", "no-final", "keep" };

  return names[verdict];
}

/* Adds a trial of the final.  gain: null without a common seed with the job's own settings; low and
 * high: null with fewer than two. */
static void
print_contender (DynoJson *json, const DynoAccuracyContender *c, gboolean own)
{
  dyno_json_begin_object (json, NULL);
  dyno_json_uint (json, "trial", c->trial);
  dyno_json_bool (json, "failed", c->failed);
  dyno_json_begin_array (json, "values");
  for (guint i = 0; i < DYNO_ACCURACY_MOST_SEEDS; i++)
    if (isfinite (c->values[i]))
      dyno_json_double (json, NULL, c->values[i]);
  dyno_json_end_array (json);
  dyno_json_uint (json, "pairs", own ? 0 : c->gain.n);
  dyno_json_double (json, "gain", own ? (double) NAN : c->gain.mean);
  dyno_json_double (json, "low", own ? (double) NAN : c->gain.low);
  dyno_json_double (json, "high", own ? (double) NAN : c->gain.high);
  dyno_json_end_object (json);
}

static void
print_importance_json (DynoJson *json, const Search *search, const DynoAccuracyResult *r)
{
  dyno_json_begin_object (json, "importance");
  for (guint i = 0; i < search->space.n; i++)
    dyno_json_double (json, search->space.params[i].key, r->importance[i]);
  dyno_json_end_object (json);
}

static void
print_best_json (const Search *search, const DynoAccuracyResult *r)
{
  guint ranked[MOST_SHOWN], n = dyno_accuracy_result_rank (r, ranked, MOST_SHOWN);
  DynoJson json;

  dyno_json_init (&json, 0);
  dyno_json_begin_object (&json, NULL);
  dyno_json_string (&json, "event", "best");
  dyno_json_string (&json, "metric", r->metric.name);
  dyno_json_bool (&json, "higher_is_better", r->metric.higher_is_better);
  dyno_json_uint (&json, "trial", r->best);
  dyno_json_bool (&json, "proven", r->verdict == DYNO_ACCURACY_PROVEN);
  dyno_json_string (&json, "verdict", name_verdict (r->verdict));
  dyno_json_bool (&json, "stopped", r->stopped);
  dyno_json_string (&json, "text", r->text);
  dyno_json_begin_array (&json, "rungs");
  for (guint i = 0; i < r->n_rungs; i++)
    dyno_json_uint (&json, NULL, r->rungs[i]);
  dyno_json_end_array (&json);
  dyno_json_begin_array (&json, "best_trials");
  for (guint i = 0; i < n; i++)
    dyno_json_uint (&json, NULL, ranked[i]);
  dyno_json_end_array (&json);
  dyno_json_begin_array (&json, "final");
  print_contender (&json, &r->own, TRUE);
  for (guint i = 0; i < r->n_contenders; i++)
    print_contender (&json, &r->contenders[i], FALSE);
  dyno_json_end_array (&json);
  print_importance_json (&json, search, r);
  dyno_json_uint (&json, "trials", r->trials->len);
  dyno_json_uint (&json, "known", r->n_known);
  dyno_json_string (&json, "out", search->folder);
  dyno_export_json_settings (&json,
                             &g_array_index (r->trials, DynoAccuracyTrial, r->best).settings);
  dyno_json_end_object (&json);
  dyno_out_json (&json);
  dyno_json_clear (&json);
}

/* "lr 62 %, optimizer 20 %": the parameters that each explain much of the variance of the values,
 * largest first; NULL: there is none.  g_free. */
static char *
describe_importance (const Search *search, const DynoAccuracyResult *r)
{
  g_autoptr (GString) text = g_string_new (NULL);
  guint params[DYNO_PARAMS_MOST], n = dyno_accuracy_result_list_important (r, params);

  for (guint i = 0; i < n; i++)
    g_string_append_printf (text, "%s%s %.0f %%", i > 0 ? ", " : "",
                            search->space.params[params[i]].key, 100 * r->importance[params[i]]);
  return text->len > 0 ? g_strdup (text->str) : NULL;
}

/* Prints the best trials, with the settings in which they differ from the job's own. */
static void
print_best (Search *search, const DynoAccuracyResult *r)
{
  guint ranked[MOST_SHOWN], n = dyno_accuracy_result_rank (r, ranked, MOST_SHOWN);
  g_autofree char *importance = describe_importance (search, r);
  g_autoptr (DynoTable) table =
      dyno_table_new ("trial", "epochs", r->metric.name, "settings", NULL);

  for (guint i = 0; i < n; i++)
    {
      const DynoAccuracyTrial *t = &g_array_index (r->trials, DynoAccuracyTrial, ranked[i]);
      guint rung = t->halving.n_done - 1;

      dyno_table_add (table, g_strdup_printf ("%u", ranked[i]),
                      g_strdup_printf ("%" G_GUINT64_FORMAT, r->rungs[rung]),
                      dyno_accuracy_format (&r->metric, t->values[rung]),
                      ranked[i] == 0 ? g_strdup ("yours")
                                     : dyno_param_space_describe (&search->space, &t->settings),
                      NULL);
    }
  dyno_progress_print (&search->progress, "%s", "");
  dyno_table_print (table);
  if (importance)
    dyno_progress_print (&search->progress, "the values go along with: %s", importance);
  dyno_progress_print (&search->progress, "%s", r->text);
}

/* --- what the search reports ------------------------------------------------------------------ */

static void
on_warning (Search *search, guint trial, const char *text)
{
  if (!g_hash_table_add (search->warned, g_strdup (text)))
    return;
  dyno_progress_clear (&search->progress);
  dyno_error_line ("%s: warning: trial %u: %s", search->tune->command, trial, text);
  if (search->tune->options->json)
    dyno_out_warning_event (text);
}

static void
show_epoch (Search *search, const DynoEvent *event, const DynoAccuracyRun *run)
{
  g_autofree char *head = NULL, *tail = NULL;
  guint64 trained = run->epochs - run->from_epochs;

  head = g_strdup_printf ("trial %u, epoch %" G_GUINT64_FORMAT "/%" G_GUINT64_FORMAT, run->trial,
                          event->epoch.epoch, run->epochs);
  tail = g_strdup_printf ("validation loss %.4g", event->epoch.val_loss);
  dyno_progress_show (&search->progress, head,
                      (double) (event->epoch.epoch - MIN (event->epoch.epoch, run->from_epochs))
                          / (double) MAX (trained, 1),
                      tail);
}

/* The events of runs at the same time come one at a time, while the search waits. */
static void
on_event (const DynoEvent *event, const DynoAccuracyRun *run, gpointer data)
{
  Search *search = data;

  if (dyno_signals_get () && !search->stop_printed)
    {
      search->stop_printed = TRUE;
      dyno_progress_clear (&search->progress);
      dyno_error_line ("%s: finishing the step and saving; what was measured is kept; once more "
                       "ends at once",
                       search->tune->command);
    }
  if (event->type == DYNO_EVENT_WARNING)
    on_warning (search, run->trial, event->text);
  else if (event->type == DYNO_EVENT_PROGRESS && !search->tune->options->json)
    dyno_progress_preparing (&search->progress, event);
  else if (event->type == DYNO_EVENT_EPOCH)
    show_epoch (search, event, run);
  dyno_progress_tick (&search->progress);
}

static gboolean
on_end (const DynoAccuracyResult *result, const DynoAccuracyRun *run, gpointer data, GError **error)
{
  Search *search = data;

  if (search->tune->options->json)
    print_run_json (result, run);
  else
    print_run (search, result, run);
  return dyno_accuracy_file_add (search->file, run, error);
}

/* --- the search ------------------------------------------------------------------------------- */

static int
finish (Search *search, const DynoAccuracyResult *result)
{
  const DynoTuneAccuracy *tune = search->tune;
  g_autoptr (GError) error = NULL;
  g_autofree char *shown = g_filename_display_name (search->folder);

  dyno_progress_clear (&search->progress);
  if (result->trials->len > 0)
    {
      if (!dyno_best_files_write_accuracy (search->folder, tune->cli_job->job,
                                           tune->cli_job->device.name, result, &error))
        return dyno_cli_fail (g_steal_pointer (&error), tune->options->json);
      if (tune->options->json)
        print_best_json (search, result);
      else if (!tune->quiet)
        print_best (search, result);
      if (!tune->options->json && !tune->quiet)
        dyno_out_line ("in %s: best.ini, best.json, report.html, %s, trials", shown,
                       DYNO_ACCURACY_FILE);
    }
  dyno_out_flush ();
  if (!dyno_signals_get ())
    return DYNO_EXIT_OK;
  if (result->runs->len > 0)
    dyno_error_line ("%s: to resume: dynoctl tune --resume %s", tune->command, shown);
  else
    dyno_error_line ("%s: stopped before a trial ended: nothing was kept", tune->command);
  return (int) dyno_signals_exit_code (dyno_signals_get ());
}

static int
run (Search *search)
{
  const DynoTuneAccuracy *tune = search->tune;
  const DynoAccuracyRunnerParams runner_params = { .job = tune->cli_job->job,
                                                   .dataset = tune->cli_job->dataset,
                                                   .folder = search->folder,
                                                   .metric = search->metric,
                                                   .writer = &dyno_run_writer,
                                                   .at_once = tune->at_once,
                                                   .event = on_event,
                                                   .data = search };
  const DynoAccuracyParams params = { .seconds = tune->minutes * 60,
                                      .most_trials = tune->n_trials,
                                      .most_seeds = tune->n_seeds,
                                      .at_once = tune->at_once,
                                      .known = tune->record ? tune->record->runs : NULL };
  const DynoAccuracyWatch watch = { NULL, on_end, search };
  g_autoptr (DynoAccuracyTrainer) trainer = NULL;
  g_autoptr (DynoAccuracyResult) result = NULL;
  g_autoptr (GError) error = NULL;
  DynoAccuracyRunner runner;

  trainer = dyno_accuracy_trainer_new (&runner_params, &error);
  if (!trainer)
    return dyno_cli_fail (g_steal_pointer (&error), tune->options->json);
  runner = dyno_accuracy_trainer_get_runner (trainer);
  result = dyno_accuracy_search (&search->space, &search->metric, &params, &runner, &watch,
                                 dyno_signals_get_cancellable (), &error);
  dyno_progress_clear (&search->progress);
  if (!result)
    return dyno_cli_fail (g_steal_pointer (&error), tune->options->json);
  return finish (search, result);
}

/* Finds the folder: that of --out, or a new one. */
static int
find_folder (const DynoTuneAccuracy *tune, char **folder)
{
  g_autoptr (GError) error = NULL;

  if (tune->out)
    {
      *folder = g_strdup (tune->out);
      return dyno_out_folder_prepare (tune->command, tune->out, &search_files,
                                      tune->force || tune->resume);
    }
  *folder = dyno_run_writer_claim_folder (RUNS_FOLDER, tune->cli_job->job, &error);
  return *folder ? DYNO_EXIT_OK : dyno_cli_fail (g_steal_pointer (&error), tune->options->json);
}

int
dyno_tune_accuracy (const DynoTuneAccuracy *tune)
{
  g_autoptr (GHashTable) warned = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  const DynoDatasetInfo *info = dyno_dataset_get_info (tune->cli_job->dataset);
  g_autofree char *folder = NULL, *path = NULL;
  const char *const *over = tune->record ? (const char *const *) tune->record->over : tune->over;
  Search search = { .tune = tune, .warned = warned };
  g_autoptr (GError) error = NULL;
  int code;

  if (!dyno_accuracy_check (tune->cli_job->job, info, tune->metric, &search.metric, &error)
      || (tune->record
          && !dyno_accuracy_record_check (tune->record, tune->cli_job->job, tune->metric,
                                          tune->resume, &error)))
    return dyno_cli_fail (g_steal_pointer (&error), tune->options->json);
  dyno_param_space_init (&search.space, tune->cli_job->job, info);
  if (over && !dyno_param_space_choose (&search.space, tune->cli_job->job, info, over, &error))
    return dyno_cli_fail (g_steal_pointer (&error), tune->options->json);
  code = find_folder (tune, &folder);
  if (code != DYNO_EXIT_OK)
    return code;
  search.folder = folder;
  path = g_build_filename (folder, DYNO_ACCURACY_FILE, NULL);
  search.file = dyno_accuracy_file_new (path, tune->cli_job->job, search.metric.name,
                                        tune->cli_job->device.name, over, tune->record != NULL);
  if (!tune->quiet)
    dyno_cli_job_print_preset (tune->command, tune->cli_job);
  dyno_progress_init (&search.progress, NULL, tune->quiet || tune->options->json);
  code = run (&search);
  dyno_accuracy_file_free (search.file);
  return code;
}
