/* SPDX-License-Identifier: MIT */
/* dynoctl tune: the tuner's trials as they come, the best one, and its settings as files. */
#include "tune.h"
#include "job-options.h"
#include "file.h"
#include "formats.h"
#include "amount.h"
#include "output.h"
#include "progress.h"
#include "runwriter.h"
#include "signals.h"
#include "space.h"
#include <errno.h>
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

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
  GString *csv; /* every trial */
} Search;

static void
print_trial_members (DynoJson *json, const DynoTrial *trial, const char *text)
{
  dyno_json_uint (json, "number", trial->number);
  dyno_json_string (json, "stage", trial->stage);
  dyno_export_json_settings (json, &trial->settings);
  dyno_json_double (json, "samples_per_s", trial->samples_per_s);
  dyno_json_uint (json, "vram_bytes", trial->vram_bytes);
  dyno_json_string (json, "outcome", dyno_trial_outcome_name (trial->outcome));
  dyno_json_double (json, "step_ms", trial->step_ms);
  dyno_json_double (json, "wait_data_ms", trial->wait_data_ms);
  dyno_json_uint (json, "steps", trial->steps);
  dyno_json_string (json, "text", text);
}

/* As it ran: a batch of 16 may have been too many. */
static void
print_baseline (DynoJson *json, const DynoTrial *baseline)
{
  dyno_json_begin_object (json, "baseline");
  dyno_json_string (json, "stage", baseline->stage);
  for (const DynoSettingInfo *row = dyno_space_next (NULL); row; row = dyno_space_next (row))
    dyno_export_json_setting (json, &baseline->settings, row);
  dyno_json_string (json, "outcome", dyno_trial_outcome_name (baseline->outcome));
  dyno_json_end_object (json);
}

static void
print_json (const DynoTuneEvent *event)
{
  DynoJson json;

  dyno_json_init (&json, 0);
  dyno_json_begin_object (&json, NULL);
  switch (event->type)
    {
    case DYNO_TUNE_EVENT_TRIAL:
      dyno_json_string (&json, "event", "trial");
      print_trial_members (&json, &event->trial, event->trial.text);
      break;
    case DYNO_TUNE_EVENT_BEST:
      dyno_json_string (&json, "event", "best");
      dyno_json_bool (&json, "proven", event->proven);
      dyno_json_bool (&json, "keep_today", event->keep_today);
      print_trial_members (&json, &event->trial, event->text);
      print_baseline (&json, &event->baseline);
      dyno_json_double (&json, "baseline_samples_per_s", event->baseline.samples_per_s);
      dyno_json_double (&json, "speedup", event->speedup);
      dyno_json_double (&json, "gain", event->gain);
      break;
    case DYNO_TUNE_EVENT_PROGRESS:
      dyno_json_string (&json, "event", "progress");
      dyno_json_string (&json, "text", event->text);
      dyno_json_double (&json, "fraction", event->fraction);
      break;
    case DYNO_TUNE_EVENT_CEILING:
    case DYNO_TUNE_EVENT_ERROR:
    case DYNO_TUNE_EVENT_DONE:
    default:
      dyno_json_clear (&json);
      return;
    }
  dyno_json_end_object (&json);
  dyno_out_json (&json);
  dyno_json_clear (&json);
  dyno_out_flush ();
}

static void
print_trial (Search *search, const DynoTrial *trial)
{
  g_autofree char *vram = dyno_amount_bytes (trial->vram_bytes, " ");

  if (!search->headed)
    dyno_progress_say (&search->progress, "%3s  %-9s %6s  %-4s %7s  %10s  %8s  %8s  %9s  %s", "",
                       "stage", "batch", "AMP", "workers", "samples/s", "step ms", "data ms",
                       "VRAM", "outcome");
  search->headed = TRUE;
  dyno_progress_say (&search->progress,
                     "%3u  %-9s %6" G_GINT64_FORMAT "  %-4s %7" G_GINT64_FORMAT
                     "  %10.1f  %8.2f  %8.2f  %9s  %s%s%s",
                     trial->number, trial->stage, trial->settings.batch_size,
                     trial->settings.amp ? "on" : "off", trial->settings.workers,
                     trial->samples_per_s, trial->step_ms, trial->wait_data_ms, vram,
                     dyno_trial_outcome_name (trial->outcome), trial->text ? ": " : "",
                     trial->text ? trial->text : "");
}

/* The settings that are searched, between what is known of each trial. */
static GString *
begin_csv (void)
{
  GString *csv = g_string_new ("number,stage");

  for (const DynoSettingInfo *row = dyno_space_next (NULL); row; row = dyno_space_next (row))
    g_string_append_printf (csv, ",%s", row->key);
  return g_string_append (csv, ",samples_per_s,step_ms,wait_data_ms,vram_bytes,outcome\n");
}

static void
record_trial (Search *search, const DynoTrial *trial)
{
  g_autofree char *rate = dyno_double_to_text (trial->samples_per_s),
                  *step = dyno_double_to_text (trial->step_ms);
  g_autofree char *wait = dyno_double_to_text (trial->wait_data_ms);

  g_string_append_printf (search->csv, "%u,%s", trial->number, trial->stage);
  for (const DynoSettingInfo *row = dyno_space_next (NULL); row; row = dyno_space_next (row))
    {
      g_autofree char *value =
          dyno_double_to_text (dyno_settings_get_number (&trial->settings, row->key));
      g_string_append_printf (search->csv, ",%s", value);
    }
  g_string_append_printf (search->csv, ",%s,%s,%s,%" G_GUINT64_FORMAT ",%s\n", rate, step, wait,
                          trial->vram_bytes, dyno_trial_outcome_name (trial->outcome));
}

static void
keep_error (Search *search, GError *error)
{
  if (!search->error)
    search->error = error;
  else
    g_error_free (error);
}

/* The choice as a settings file, and JSON beside it. */
static void
write_files (Search *search, const DynoTrial *trial)
{
  g_autoptr (DynoJob) job = dyno_job_copy (search->cli_job->job);
  DynoExportContext context = { job, search->cli_job->device.name, trial->samples_per_s,
                                trial->vram_bytes };
  const char *const formats[] = { "keyfile", "json" };
  GError *error = NULL;

  job->settings = trial->settings;
  for (guint i = 0; i < G_N_ELEMENTS (formats) && !error; i++)
    {
      const DynoExporter *exporter = dyno_exporter_find (formats[i]);
      g_autofree char *name = g_strconcat ("settings.", exporter->extension, NULL);
      g_autofree char *path = g_build_filename (search->out, name, NULL);

      dyno_export_file (exporter, &context, path, TRUE, &error);
    }
  if (error)
    keep_error (search, error);
}

static void
on_best (Search *search, const DynoTuneEvent *event)
{
  const DynoTrial *best = &event->trial;
  g_autofree char *settings = NULL, *base = NULL;

  search->found = TRUE;
  if (search->out)
    write_files (search, best);
  if (search->options->json)
    return;
  settings = dyno_trial_describe (&best->settings);
  base = dyno_trial_describe (&event->baseline.settings);
  dyno_progress_say (&search->progress, "%s", "");
  dyno_progress_say (&search->progress, "%s: %s: %.1f samples/s",
                     event->keep_today ? "best, as today's settings are"
                     : event->proven   ? "best, proven"
                                       : "best so far, not proven",
                     settings, best->samples_per_s);
  if (event->baseline.outcome == DYNO_TRIAL_OK)
    dyno_progress_say (&search->progress, "base line (%s): %.1f samples/s; %.2fx", base,
                       event->baseline.samples_per_s, event->speedup);
  else
    dyno_progress_say (&search->progress, "base line (%s): %s", base,
                       dyno_trial_outcome_name (event->baseline.outcome));
  if (event->text)
    dyno_progress_say (&search->progress, "%s", event->text);
}

static void
on_event (Search *search, const DynoTuneEvent *event)
{
  if (search->options->json)
    print_json (event);
  switch (event->type)
    {
    case DYNO_TUNE_EVENT_TRIAL:
      record_trial (search, &event->trial);
      if (!search->options->json)
        print_trial (search, &event->trial);
      break;
    case DYNO_TUNE_EVENT_BEST:
      on_best (search, event);
      break;
    case DYNO_TUNE_EVENT_ERROR:
      keep_error (search, g_error_copy (event->error));
      break;
    case DYNO_TUNE_EVENT_PROGRESS:
      if (!search->options->json && event->text)
        dyno_progress_show (&search->progress, event->text, event->fraction, "");
      break;
    case DYNO_TUNE_EVENT_CEILING:
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
              "%s: ending the trial; what was measured is kept; once more ends at once",
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

static int
tune (Search *search, double minutes)
{
  g_autoptr (DynoTune) one = dyno_tune_new (search->cli_job->job, minutes);
  int code = DYNO_EXIT_OK;

  search->tune = one;
  search->csv = begin_csv ();
  dyno_progress_init (&search->progress, NULL, search->quiet || search->options->json);
  dyno_tune_set_dataset (one, search->cli_job->dataset);
  dyno_tune_start (one);
  follow (search);
  if (search->out)
    {
      g_autofree char *path = g_build_filename (search->out, "trials.csv", NULL);
      GError *error = NULL;

      if (!dyno_file_write_atomic (path, search->csv->str, search->csv->len, &error))
        keep_error (search, error);
      else if (!search->options->json && !search->quiet)
        dyno_out_line ("in %s: %strials.csv", search->out,
                       search->found ? "settings.ini, settings.json, " : "");
    }
  g_string_free (search->csv, TRUE);
  if (dyno_signals_get ())
    code = dyno_signals_exit_code (dyno_signals_get ());
  if (search->error)
    code = dyno_cli_fail (g_steal_pointer (&search->error), search->options->json);
  else if (!search->found && code == DYNO_EXIT_OK)
    {
      dyno_error_line ("%s: no trial worked", search->command);
      code = DYNO_EXIT_FAILURE;
    }
  dyno_out_flush ();
  return code;
}

/* Makes the folder when it is missing, and tries every file that will be written there.  One that
 * holds files of an earlier run is refused (USAGE) but for force: no run is ever written over
 * unasked.  Other people's files in it are left alone.
 * Returns an exit code. */
static int
prepare_folder (const char *command, const char *folder, gboolean force)
{
  static const char *const files[] = { "settings.ini", "settings.json", "trials.csv" };
  g_autofree char *shown = g_filename_display_name (folder);
  g_autoptr (GError) error = NULL;
  int problem;

  if (g_mkdir_with_parents (folder, 0755) != 0 || !g_file_test (folder, G_FILE_TEST_IS_DIR))
    {
      problem = errno;
      dyno_error_line ("%s: cannot make the folder “%s”: %s; choose another with --out", command,
                       shown, g_strerror (problem));
      return DYNO_EXIT_DISK;
    }
  if (g_access (folder, W_OK | X_OK) != 0)
    {
      problem = errno;
      dyno_error_line ("%s: cannot write into “%s”: %s; choose another folder with --out", command,
                       shown, g_strerror (problem));
      return DYNO_EXIT_DISK;
    }
  if (!force && !dyno_run_writer_check_folder (folder, NULL, &error))
    {
      dyno_error_line ("%s: %s", command, error->message);
      return DYNO_EXIT_USAGE;
    }
  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    {
      g_autofree char *path = g_build_filename (folder, files[i], NULL);

      if (dyno_file_test_writable (path, &error))
        continue;
      dyno_error_line ("%s: %s; make room, or choose another folder with --out", command,
                       error->message);
      return dyno_exit_code (error);
    }
  return DYNO_EXIT_OK;
}

int
dyno_verb_tune (int argc, char **argv)
{
  g_auto (DynoJobOptions) options = { 0 };
  g_auto (DynoCliJob) cli_job = { 0 };
  g_autofree GOptionEntry *entries = NULL;
  g_autofree char *out = NULL;
  gboolean quiet = FALSE, force = FALSE;
  double minutes = 3;
  int code;
  Search search;
  const GOptionEntry own[] = {
    { "minutes", 0, 0, G_OPTION_ARG_DOUBLE, &minutes, "How long to search in all (default: 3)",
      "N" },
    { "out", 'o', 0, G_OPTION_ARG_FILENAME, &out,
      "Folder for settings.ini, settings.json and trials.csv", "DIR" },
    { "force", 'f', 0, G_OPTION_ARG_NONE, &force, "Write over an earlier run in --out", NULL },
    { "quiet", 'q', 0, G_OPTION_ARG_NONE, &quiet, "Only errors and warnings", NULL },
    { NULL },
  };

  dyno_job_options_init (&options);
  entries = dyno_job_options_entries (&options, own);
  if (!dyno_cli_parse (argc, argv, "--data DATA --model MODEL",
                       "Finds the settings that train fastest within the memory.", entries,
                       "Runs real training steps; every trial is listed, and the best is run once "
                       "more before it is called best.\n"
                       "Train with what it found: dynoctl train --settings DIR/settings.ini",
                       NULL, 0, &code))
    return code;
  if (!(minutes > 0) || minutes > 10000)
    return dyno_cli_usage (argv[0], "--minutes %g: it is above 0 and at most 10000", minutes);
  dyno_signals_get_cancellable ();
  dyno_signals_catch ();
  options.quiet = quiet;
  if (!dyno_job_options_resolve (argv[0], &options, &cli_job, &code))
    return code;
  if (out)
    {
      code = prepare_folder (argv[0], out, force);
      if (code != DYNO_EXIT_OK)
        return code;
    }
  if (cli_job.preset_note && !quiet)
    dyno_error_line ("%s: %s", argv[0], cli_job.preset_note);
  search = (Search){
    .command = argv[0], .options = &options, .cli_job = &cli_job, .out = out, .quiet = quiet
  };
  return tune (&search, minutes);
}
