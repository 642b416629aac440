/* SPDX-License-Identifier: MIT */
/* dynoctl tune: prints the tuner's trials when they end and the best one, and writes its settings
 * into files. */
#include "tune.h"
#include "accuracyfile.h"
#include "bestfiles.h"
#include "cores.h"
#include "job-options.h"
#include "file.h"
#include "amount.h"
#include "outfolder.h"
#include "output.h"
#include "progress.h"
#include "reporthtml.h"
#include "signals.h"
#include "text.h"
#include "trialsfile.h"
#include "tune-accuracy.h"
#include "tune-json.h"
#include "verdict.h"
#include <string.h>

#define UNSET_MINUTES (-G_MAXDOUBLE)

static const char *const file_names[] = { "best.ini", "best.json", "report.html", DYNO_TRIALS_FILE,
                                          NULL };
static const DynoOutFiles search_files = { file_names, "an earlier search",
                                           ", resume it by --resume" };

typedef struct {
  const char *command;
  const DynoJobOptions *options;
  DynoCliJob *cli_job;
  const char *out;
  gboolean quiet;
  DynoTune *tune;
  DynoProgress progress;
  GError *error;
  gboolean found, headed;
  gboolean measured; /* whether anything was measured since the search began */
  guint ranks, hosts;
} Search;

static void
print_head (Search *search)
{
  if (!search->headed)
    dyno_progress_print (&search->progress, "%3s  %-9s  %10s  %10s  %8s  %9s  %-9s  %s", "",
                         "stage", "samples/s", "predicted", "data ms", "VRAM", "outcome",
                         "settings");
  search->headed = TRUE;
}

/* "-" where there is no value. */
static char *
cell (double value)
{
  return value > 0 ? dyno_amount_rate (value) : g_strdup ("-");
}

static char *
memory_cell (guint64 bytes)
{
  return bytes > 0 ? dyno_amount_bytes (bytes, " ") : g_strdup ("-");
}

static void
print_trial (Search *search, const DynoTrial *trial)
{
  g_autofree char *vram = memory_cell (trial->vram_bytes), *rate = cell (trial->samples_per_s),
                  *predicted = cell (trial->predicted),
                  *wait = trial->step_ms > 0 ? g_strdup_printf ("%.2f", trial->wait_data_ms)
                                             : g_strdup ("-"),
                  *settings = dyno_trial_describe (&trial->settings);

  print_head (search);
  dyno_progress_print (&search->progress, "%3u  %-9s  %10s  %10s  %8s  %9s  %-9s  %s%s%s",
                       trial->number, dyno_trial_stage_text (trial->stage), rate, predicted, wait,
                       vram, dyno_trial_outcome_class (trial->outcome), settings,
                       trial->text ? ": " : "", trial->text ? trial->text : "");
}

static void
print_ceiling (Search *search, const DynoCeiling *ceiling)
{
  g_autofree char *vram = memory_cell (ceiling->vram_bytes), *rate = cell (ceiling->samples_per_s),
                  *settings = dyno_trial_describe (&ceiling->settings);

  print_head (search);
  dyno_progress_print (&search->progress, "%3s  %-9s  %10s  %10s  %8s  %9s  %-9s  %s%s%s", "",
                       dyno_ceiling_name (ceiling->of), rate, "", "", vram,
                       dyno_trial_outcome_class (ceiling->outcome), settings,
                       ceiling->text ? ": " : "", ceiling->text ? ceiling->text : "");
}

static void
keep_error (Search *search, GError *error)
{
  if (!search->error)
    search->error = error;
  else
    g_error_free (error);
}

/* Explains why the result is not proven. */
static const char *
find_doubt (const DynoTuneResult *result)
{
  for (guint i = 0; result->reasons[i]; i++)
    if (g_str_has_prefix (result->reasons[i], "Not proven"))
      return result->reasons[i];
  return "Not proven.";
}

/* Writes the best settings as a file, with the facts about them as comments, and as JSON beside
 * it. */
static void
write_files (Search *search, const DynoTuneResult *result)
{
  g_autoptr (DynoJob) job = dyno_job_copy (search->cli_job->job);
  DynoExportContext context = { .job = job,
                                .device = search->cli_job->device.name,
                                .samples_per_s = result->best.samples_per_s,
                                .vram_bytes = result->best.vram_bytes,
                                .note = result->goal ? result->reasons[0] : NULL,
                                .reasons = (const char *const *) result->reasons,
                                .proven = result->proven };
  const char *sentences[4] = { 0 };
  guint n = 0;
  GError *error = NULL;

  job->settings = result->best.settings;
  if (!result->proven)
    sentences[n++] = find_doubt (result);
  if (context.note)
    sentences[n++] = context.note;
  if (result->lr_advice)
    sentences[n++] = result->lr_advice;
  if (!dyno_best_files_write (search->out, &context, sentences, &error))
    keep_error (search, error);
}

/* Writes the report of the whole result into one file. */
static void
write_report (Search *search, const DynoTuneResult *result)
{
  g_autofree char *path = g_build_filename (search->out, "report.html", NULL), *html = NULL;
  DynoReportContext context;
  GError *error = NULL;

  dyno_report_context_init (&context);
  context.device = &search->cli_job->device;
  context.data = dyno_dataset_get_info (search->cli_job->dataset);
  context.limit_bytes = result->best.vram_bytes + result->margin_bytes;
  html = dyno_report_html (result, &context);
  if (!dyno_file_write_atomic (path, html, strlen (html), &error))
    keep_error (search, error);
}

/* If the search was stopped before it measured anything, the files of the search that it resumed
 * are kept: this search has no new result, and has not proven the earlier one. */
static gboolean
keeps_files (const Search *search, const DynoTuneResult *result)
{
  g_autofree char *path = g_build_filename (search->out, "best.ini", NULL);

  return result->stopped && !search->measured && g_file_test (path, G_FILE_TEST_EXISTS);
}

static void
print_best (Search *search, const DynoTuneResult *result)
{
  g_autofree char *settings = dyno_trial_describe (&result->best.settings),
                  *gains = dyno_verdict_explain_gains (result),
                  *rate = dyno_amount_rate (result->best.samples_per_s),
                  *low = dyno_amount_rate (result->best.low),
                  *high = dyno_amount_rate (result->best.high);

  dyno_progress_print (&search->progress, "%s", "");
  dyno_progress_print (&search->progress, "%s: %s: %s samples/s (%s to %s)",
                       !result->proven && result->keep_today
                           ? "your present settings stay, not proven"
                       : !result->proven    ? "best so far, not proven"
                       : result->keep_today ? "best, proven: your present settings"
                                            : "best, proven",
                       settings, rate, low, high);
  for (guint i = 0; result->reasons[i]; i++)
    dyno_progress_print (&search->progress, "%s", result->reasons[i]);
  if (gains)
    dyno_progress_print (&search->progress, "%s", gains);
}

static void
on_event (Search *search, const DynoTuneEvent *event)
{
  gboolean json = search->options->json;

  if (json)
    dyno_tune_print_json (event);
  switch (event->type)
    {
    case DYNO_TUNE_EVENT_CEILING:
      search->measured = TRUE;
      if (!json)
        print_ceiling (search, &event->ceiling);
      break;
    case DYNO_TUNE_EVENT_TRIAL:
      search->measured = TRUE;
      if (!json)
        print_trial (search, &event->trial);
      break;
    case DYNO_TUNE_EVENT_BEST:
      search->found = TRUE;
      if (search->out && !keeps_files (search, event->result))
        {
          write_files (search, event->result);
          write_report (search, event->result);
        }
      if (!json)
        print_best (search, event->result);
      break;
    case DYNO_TUNE_EVENT_NOTE:
      if (!json)
        dyno_progress_print (&search->progress, "%s", event->text);
      break;
    case DYNO_TUNE_EVENT_ERROR:
      keep_error (search, g_error_copy (event->error));
      break;
    case DYNO_TUNE_EVENT_PROGRESS:
      if (!json && event->text)
        dyno_progress_show (&search->progress, event->text, event->fraction, "");
      break;
    case DYNO_TUNE_EVENT_WARNING: /* concerns only files that are not essential */
    case DYNO_TUNE_EVENT_DONE:
    default:
      break;
    }
}

static void
follow (Search *search)
{
  gboolean over = FALSE, stopping = FALSE;

  while (!over)
    {
      g_autoptr (DynoTuneEvent) event = dyno_tune_pop (search->tune, 100000);

      if (dyno_signals_get () && !stopping)
        {
          stopping = TRUE;
          dyno_progress_clear (&search->progress);
          dyno_error_line (
              "%s: ending the measurement; what was measured is kept; once more ends at once",
              search->command);
          dyno_tune_stop (search->tune);
        }
      dyno_progress_tick (&search->progress);
      if (!event)
        continue;
      on_event (search, event);
      over = event->type == DYNO_TUNE_EVENT_DONE;
    }
  dyno_progress_clear (&search->progress);
}

/* A requested stop is no failure. */
static gboolean
is_stop (const GError *error)
{
  return g_error_matches (error, DYNO_TUNE_ERROR, DYNO_TUNE_ERROR_STOPPED)
         || g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

static int
tune (Search *search, double minutes, const DynoLearningGoal *goal, const char *resume)
{
  g_autoptr (DynoTune) one = dyno_tune_new (search->cli_job->job, minutes);
  g_autoptr (GError) error = NULL;
  int code = DYNO_EXIT_OK;

  if (search->ranks > 1)
    dyno_tune_set_ranks (one, search->ranks, search->hosts);
  if (resume && !dyno_tune_resume (one, resume, &error))
    return dyno_cli_fail (g_steal_pointer (&error), search->options->json);
  search->tune = one;
  dyno_progress_init (&search->progress, NULL, search->quiet || search->options->json);
  dyno_tune_set_dataset (one, search->cli_job->dataset);
  if (goal)
    dyno_tune_set_goal (one, goal);
  if (search->out)
    dyno_tune_set_folder (one, search->out);
  dyno_tune_start (one);
  follow (search);
  if (search->out && !search->error && !search->options->json && !search->quiet)
    dyno_out_line ("in %s: %strials.csv", search->out,
                   search->found ? "best.ini, best.json, report.html, " : "");
  if (search->out && search->measured && !search->quiet && dyno_signals_get ())
    dyno_error_line ("%s: to resume: dynoctl tune --resume %s", search->command, search->out);
  if (dyno_signals_get ())
    code = dyno_signals_exit_code (dyno_signals_get ());
  if (dyno_signals_get () && is_stop (search->error))
    {
      dyno_error_line ("%s: %s", search->command, search->error->message);
      g_clear_error (&search->error);
    }
  else if (search->error)
    code = dyno_cli_fail (g_steal_pointer (&search->error), search->options->json);
  else if (!search->found && code == DYNO_EXIT_OK)
    {
      dyno_error_line ("%s: no trial worked", search->command);
      code = DYNO_EXIT_FAILURE;
    }
  dyno_out_flush ();
  return code;
}

/* Copies options that the command does not set from the earlier search; settings of the command
 * take precedence. */
static void
take_job (const DynoJob *job, DynoJobOptions *options)
{
  g_autoptr (GStrvBuilder) set = g_strv_builder_new ();
  guint n;
  const DynoSettingInfo *table = dyno_setting_list (&n);

  if (!options->data)
    options->data = g_strdup (job->data);
  if (!options->model)
    options->model = g_strdup (job->model);
  if (options->settings_file || options->preset)
    return;
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *value = dyno_settings_get (&job->settings, table[i].key),
                      *pair = g_strconcat (table[i].key, "=", value, NULL);

      g_strv_builder_add (set, pair);
    }
  for (guint i = 0; options->set && options->set[i]; i++)
    g_strv_builder_add (set, options->set[i]);
  g_strfreev (options->set);
  options->set = g_strv_builder_end (set);
}

static gboolean
take_earlier_search (const char *folder, DynoJobOptions *options, gint64 *ranks, GError **error)
{
  g_autofree char *path = g_build_filename (folder, DYNO_TRIALS_FILE, NULL);
  g_autoptr (DynoJob) job = dyno_trials_file_read_job (path, error);

  if (!job)
    return FALSE;
  if (*ranks == 1)
    *ranks = MAX (job->ranks, 1);
  take_job (job, options);
  return TRUE;
}

/* The purpose of --for: as on the command line, else the metric of the search for the best model in
 * the resumed folder, else speed.  *record is set to the record of that search, if it is
 * continued. */
static gboolean
find_purpose (char **purpose, const char *resume, DynoAccuracyRecord **record, GError **error)
{
  g_autofree char *path = resume ? g_build_filename (resume, DYNO_ACCURACY_FILE, NULL) : NULL;
  gboolean there = path && g_file_test (path, G_FILE_TEST_EXISTS);

  if (!*purpose && !there)
    *purpose = g_strdup ("speed");
  if (!path || g_strcmp0 (*purpose, "speed") == 0)
    return TRUE;
  *record = dyno_accuracy_file_read (path, error);
  if (*record && !*purpose)
    *purpose = g_strdup ((*record)->metric);
  return *record != NULL;
}

/* Limits the process to one rank's share of the cores, so that the rest remains for the other ranks
 * of the host. */
static void
become_rank (const char *command, guint ranks, guint hosts, gboolean quiet)
{
  guint all = dyno_cores_count (), own = dyno_cores_keep_part ((ranks + hosts - 1) / hosts);

  if (quiet)
    return;
  if (own == 0)
    dyno_error_line ("%s: all cores are measured, not one rank's share: the system does not let a "
                     "process leave some",
                     command);
  else
    dyno_error_line ("%s: note: measured as one of %u ranks, on %u of %u %s; rates are those of "
                     "each rank",
                     command, ranks, own, all, dyno_plural (all, "core", "cores"));
}

int
dyno_verb_tune (int argc, char **argv)
{
  g_auto (DynoJobOptions) options = { 0 };
  g_auto (DynoCliJob) cli_job = { 0 };
  g_autofree GOptionEntry *entries = NULL;
  g_autofree char *out = NULL, *resume = NULL, *goal_text = NULL, *purpose = NULL;
  g_auto (GStrv) over = NULL;
  g_autoptr (DynoAccuracyRecord) record = NULL;
  gint64 ranks = 1, hosts = 1, trials = DYNO_OPTION_UNSET, seeds = DYNO_OPTION_UNSET,
         at_once = DYNO_OPTION_UNSET;
  g_autoptr (GError) error = NULL;
  DynoLearningGoal goal;
  gboolean quiet = FALSE, force = FALSE, speed;
  double minutes = UNSET_MINUTES;
  int code;
  Search search;
  const GOptionEntry own[] = {
    { "for", 0, 0, G_OPTION_ARG_STRING, &purpose,
      "The goal of the search: speed (default), or a metric of the validation, such as accuracy or "
      "loss",
      "METRIC" },
    { "minutes", 0, 0, G_OPTION_ARG_DOUBLE, &minutes,
      "How long to search in all (default: 3, with --for METRIC 60)", "N" },
    { "trials", 0, 0, G_OPTION_ARG_INT64, &trials,
      "With --for METRIC: trials at most, your settings counted (default: as many as fit)", "N" },
    { "seeds", 0, 0, G_OPTION_ARG_INT64, &seeds,
      "With --for METRIC: seeds of the final comparison (default: as many as fit, at most 10)",
      "N" },
    { "over", 0, 0, G_OPTION_ARG_STRING_ARRAY, &over,
      "With --for METRIC: a setting to search, instead of the usual ones, over its usual values, "
      "KEY=LOW..HIGH or KEY=VALUE|VALUE; once for each",
      "KEY" },
    { "at-once", 0, 0, G_OPTION_ARG_INT64, &at_once,
      "With --for METRIC: trials to train at the same time, as far as the memory allows (default: "
      "as many as it pays; with --trials one)",
      "N" },
    { "goal", 0, 0, G_OPTION_ARG_STRING, &goal_text,
      "The best is what reaches this in validation first, such as accuracy=0.9", "METRIC=VALUE" },
    { "out", 'o', 0, G_OPTION_ARG_FILENAME, &out,
      "Folder for best.ini, best.json, report.html and trials.csv; with --for METRIC for "
      "accuracy.csv and the runs (default there: a new one, runs/MODEL-DATA-N)",
      "DIR" },
    { "resume", 0, 0, G_OPTION_ARG_FILENAME, &resume,
      "Resume the search of this folder, for speed also with another --out; data, model and "
      "settings that are not given are its own",
      "DIR" },
    { "ranks", 0, 0, G_OPTION_ARG_INT64, &ranks,
      "Tune for N processes that train together, a device each: measured as one of them, with its "
      "share of the cores; the exchange comes from a model",
      "N" },
    { "hosts", 0, 0, G_OPTION_ARG_INT64, &hosts, "With --ranks: the machines that they are on",
      "N" },
    { "force", 'f', 0, G_OPTION_ARG_NONE, &force, "Write over an earlier run in --out", NULL },
    { "quiet", 'q', 0, G_OPTION_ARG_NONE, &quiet, "Only errors and warnings", NULL },
    { NULL },
  };

  dyno_job_options_init (&options);
  entries = dyno_job_options_entries (&options, own);
  if (!dyno_cli_parse (
          argc, argv, "--data DATA --model MODEL",
          "Finds the settings that train fastest, or learn best, within the memory.", entries,
          "Measures data pipeline and device apart, then both together with real training; "
          "the best is run again, in turn with the base line and your settings, "
          "before it is called best.\n"
          "With --for METRIC it finds the settings that learn best: learning rate, optimizer, "
          "augmentation and others; the best is compared with your settings on further seeds.\n"
          "Train with what it found: dynoctl train --settings DIR/best.ini",
          NULL, 0, &code))
    return code;
  if (minutes != UNSET_MINUTES && (!(minutes > 0) || minutes > 10000))
    return dyno_cli_usage (argv[0], "--minutes %g: it is above 0 and at most 10000", minutes);
  if (ranks < 1 || ranks > DYNO_CLI_MOST_RANKS || hosts < 1 || hosts > ranks)
    return dyno_cli_usage (argv[0], "--ranks is 1 to %d, and --hosts 1 to as many as --ranks",
                           DYNO_CLI_MOST_RANKS);
  if (!find_purpose (&purpose, resume, &record, &error))
    return dyno_cli_fail (g_steal_pointer (&error), options.json);
  speed = strcmp (purpose, "speed") == 0;
  if (minutes == UNSET_MINUTES)
    minutes = speed ? 3 : 60;
  if (speed
      && (trials != DYNO_OPTION_UNSET || seeds != DYNO_OPTION_UNSET || at_once != DYNO_OPTION_UNSET
          || over))
    return dyno_cli_usage (argv[0], "--trials, --seeds, --at-once and --over are of a search for "
                                    "the best validation: add --for accuracy, or leave them out");
  if (record && over)
    return dyno_cli_usage (argv[0], "--resume searches over the settings of the search before: "
                                    "leave out --over");
  if (!speed && resume && out && strcmp (resume, out) != 0)
    return dyno_cli_usage (argv[0], "--for %s resumes in the folder of its trials: leave out --out",
                           purpose);
  if (!speed && goal_text)
    return dyno_cli_usage (argv[0],
                           "--goal is the shortest time to a value, and --for %s the "
                           "best value: leave out one of them",
                           purpose);
  if (!speed && ranks > 1)
    return dyno_cli_usage (argv[0], "--for %s trains on one device: leave out --ranks", purpose);
  if ((trials != DYNO_OPTION_UNSET && (trials < 1 || trials > DYNO_CLI_MOST_TRIALS))
      || (seeds != DYNO_OPTION_UNSET && (seeds < 1 || seeds > DYNO_ACCURACY_MOST_SEEDS))
      || (at_once != DYNO_OPTION_UNSET && (at_once < 1 || at_once > DYNO_ACCURACY_MOST_AT_ONCE)))
    return dyno_cli_usage (argv[0], "--trials is 1 to %d, --seeds 1 to %d, and --at-once 1 to %d",
                           DYNO_CLI_MOST_TRIALS, DYNO_ACCURACY_MOST_SEEDS,
                           DYNO_ACCURACY_MOST_AT_ONCE);
  if (ranks > 1 && goal_text)
    return dyno_cli_usage (argv[0], "--goal is for one process: what several learn depends on the "
                                    "samples of all; leave out --ranks or --goal");
  if (goal_text && !dyno_learning_goal_parse (goal_text, &goal, &error))
    return dyno_cli_usage (argv[0], "--goal: %s", error->message);
  dyno_signals_get_cancellable ();
  dyno_signals_catch ();
  options.quiet = quiet;
  if (record && !(options.data && options.model))
    take_job (record->job, &options);
  else if (resume && !record && !(options.data && options.model)
           && !take_earlier_search (resume, &options, &ranks, &error))
    return dyno_cli_fail (g_steal_pointer (&error), options.json);
  if (ranks > 1)
    become_rank (argv[0], (guint) ranks, (guint) hosts, quiet);
  if (!dyno_job_options_resolve (argv[0], &options, &cli_job, &code))
    return code;
  if (resume && !out)
    out = g_strdup (resume);
  if (!speed)
    return dyno_tune_accuracy (
        &(DynoTuneAccuracy){ .command = argv[0],
                             .options = &options,
                             .cli_job = &cli_job,
                             .metric = purpose,
                             .out = out,
                             .resume = resume,
                             .record = record,
                             .minutes = minutes,
                             .n_trials = trials == DYNO_OPTION_UNSET ? 0 : (guint) trials,
                             .n_seeds = seeds == DYNO_OPTION_UNSET ? 0 : (guint) seeds,
                             .at_once = at_once == DYNO_OPTION_UNSET ? 0 : (guint) at_once,
                             .over = (const char *const *) over,
                             .force = force,
                             .quiet = quiet });
  if (out)
    {
      code = dyno_out_folder_prepare (argv[0], out, &search_files, force || resume);
      if (code != DYNO_EXIT_OK)
        return code;
    }
  if (!quiet)
    dyno_cli_job_print_preset (argv[0], &cli_job);
  search = (Search){ .command = argv[0],
                     .options = &options,
                     .cli_job = &cli_job,
                     .out = out,
                     .quiet = quiet,
                     .ranks = (guint) ranks,
                     .hosts = (guint) hosts };
  return tune (&search, minutes, goal_text ? &goal : NULL, resume);
}
