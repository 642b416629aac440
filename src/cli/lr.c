/* SPDX-License-Identifier: MIT */
/* dynoctl lr: a learning-rate range test, its curve as files, and the rate that it suggests. */
#include "file.h"
#include "job-options.h"
#include "lrfiles.h"
#include "lrtest.h"
#include "outfolder.h"
#include "output.h"
#include "preset.h"
#include "progress.h"
#include "signals.h"
#include "text.h"
#include <math.h>

static const char *const file_names[] = { DYNO_LR_CSV, DYNO_LR_SVG, NULL };
static const DynoOutFiles test_files = { file_names, "an earlier test", "" };

typedef struct {
  const char *command;
  const DynoJobOptions *options;
  const DynoCliJob *cli_job;
  const char *out;
  gboolean quiet, planned;
  GHashTable *warned; /* texts already printed: a second sweep repeats its warnings */
  DynoProgress progress;
} Test;

static void
print_warning (const Test *test, const char *text)
{
  dyno_error_line ("%s: warning: %s", test->command, text);
  if (test->options->json)
    dyno_out_warning_event (text);
}

static void
print_point (const DynoLrPoint *point)
{
  guint n;
  const DynoRecordField *fields = dyno_lr_point_list_fields (&n);
  DynoJson json;

  dyno_json_init (&json, 0);
  dyno_json_begin_object (&json, NULL);
  dyno_json_string (&json, "event", "point");
  dyno_json_record (&json, fields, n, point);
  dyno_json_end_object (&json);
  dyno_out_json (&json);
  dyno_json_clear (&json);
}

static void
print_suggestion (const Test *test, const DynoLrCurve *curve, const DynoLrSuggestion *s)
{
  DynoJson json;

  dyno_json_init (&json, 0);
  dyno_json_begin_object (&json, NULL);
  dyno_json_string (&json, "event", "suggestion");
  dyno_json_double (&json, "lr", s->lr);
  dyno_json_string (&json, "verdict", dyno_lr_verdict_name (s->verdict));
  dyno_json_double (&json, "steepest", s->steepest);
  dyno_json_double (&json, "minimum", s->minimum);
  dyno_json_double (&json, "tenth", s->tenth);
  dyno_json_double (&json, "fall", s->fall);
  dyno_json_double (&json, "noise", s->noise);
  dyno_json_string (&json, "text", s->text);
  dyno_json_string (&json, "note", s->note);
  dyno_json_string (&json, "end", dyno_lr_end_name (curve->end));
  dyno_json_uint (&json, "steps", curve->points->len);
  dyno_json_uint (&json, "steps_asked", curve->steps);
  dyno_json_double (&json, "seconds", curve->seconds);
  dyno_json_string (&json, "out", test->out);
  dyno_json_end_object (&json);
  dyno_out_json (&json);
  dyno_json_clear (&json);
}

/* The plan is emitted again where it changes while the engine is built. */
static void
on_plan (Test *test, const DynoEvent *event)
{
  if (test->options->json)
    dyno_plan_print_json (test->cli_job, &event->plan.plan, event->plan.software_device, NULL,
                          NULL);
  else if (!test->planned)
    dyno_progress_plan (&test->progress, test->cli_job->job, 1, event);
  test->planned = TRUE;
}

static void
on_event (const DynoEvent *event, gpointer data)
{
  Test *test = data;

  if (event->type == DYNO_EVENT_PLAN)
    on_plan (test, event);
  else if (event->type == DYNO_EVENT_PROGRESS && !test->options->json)
    dyno_progress_preparing (&test->progress, event);
  else if (event->type == DYNO_EVENT_WARNING
           && g_hash_table_add (test->warned, g_strdup (event->text)))
    {
      dyno_progress_clear (&test->progress);
      print_warning (test, event->text);
    }
  dyno_progress_tick (&test->progress);
}

static void
on_point (const DynoLrCurve *curve, const DynoLrPoint *point, gpointer data)
{
  Test *test = data;
  g_autofree char *head = g_strdup_printf ("step %u/%u", point->step, curve->steps),
                  *tail = g_strdup_printf ("lr %.2e  loss %.4g", point->lr, point->smoothed);

  if (test->options->json)
    print_point (point);
  else
    dyno_progress_show (&test->progress, head, (double) point->step / curve->steps, tail);
}

/* A curve that cannot be drawn because the module is missing is no failure. */
static gboolean
write_files (const Test *test, const DynoLrCurve *curve, const DynoLrSuggestion *s, GError **error)
{
  g_autofree char *csv = g_build_filename (test->out, DYNO_LR_CSV, NULL),
                  *svg = g_build_filename (test->out, DYNO_LR_SVG, NULL);
  g_autoptr (GError) problem = NULL;

  if (!dyno_lr_write_csv (curve, csv, error))
    return FALSE;
  if (dyno_lr_draw (curve, s, svg, &problem))
    return TRUE;
  if (problem->domain == G_FILE_ERROR)
    {
      g_autofree char *text = g_strdup_printf ("the curve was not drawn: %s", problem->message);

      print_warning (test, text);
      return TRUE;
    }
  g_propagate_error (error, g_steal_pointer (&problem));
  return FALSE;
}

static void
print_result (Test *test, const DynoLrCurve *curve, const DynoLrSuggestion *s)
{
  DynoProgress *progress = &test->progress;
  guint n = curve->points->len;
  g_autofree char *seconds = dyno_text_duration (curve->seconds);

  if (curve->end == DYNO_LR_END_DIVERGED)
    dyno_progress_print (progress, "diverged at %.2g, step %u of %u, in %s",
                         g_array_index (curve->points, DynoLrPoint, n - 1).lr, n, curve->steps,
                         seconds);
  else
    dyno_progress_print (progress, "step %u of %u in %s", n, curve->steps, seconds);
  if (curve->fewer)
    dyno_progress_print (progress,
                         "as many steps as fit into the time (%u); --minutes makes room for %d",
                         curve->steps, DYNO_LR_TEST_STEPS);
  if (s->note)
    dyno_progress_print (progress, "%s", s->note);
  if (test->out && n > 0)
    dyno_progress_print (progress, "in %s: %s, %s", test->out, DYNO_LR_CSV, DYNO_LR_SVG);
  if (isfinite (s->lr))
    dyno_progress_print (progress, "%s", s->text);
}

/* Writes and prints the measurements, however the test ended. */
static int
finish (Test *test, const DynoLrCurve *curve)
{
  g_auto (DynoLrSuggestion) s = { 0 };
  g_autoptr (GError) error = NULL;
  int signal_number = dyno_signals_get ();

  dyno_lr_suggest (curve, &s);
  dyno_progress_clear (&test->progress);
  if (test->out && curve->points->len > 0 && !write_files (test, curve, &s, &error))
    return dyno_cli_fail (g_steal_pointer (&error), test->options->json);
  if (test->options->json)
    print_suggestion (test, curve, &s);
  print_result (test, curve, &s);
  dyno_out_flush ();
  if (signal_number)
    {
      if (!isfinite (s.lr))
        dyno_error_line ("%s: %s", test->command, s.text);
      return (int) dyno_signals_exit_code (signal_number);
    }
  if (isfinite (s.lr))
    return DYNO_EXIT_OK;
  return dyno_cli_fail (g_error_new_literal (DYNO_TUNE_ERROR, DYNO_TUNE_ERROR_NOTHING, s.text),
                        test->options->json);
}

static int
run (Test *test, const DynoLrTestParams *params)
{
  const DynoLrTestWatch watch = { on_event, on_point, test };
  g_autoptr (DynoLrCurve) curve = NULL;
  g_autoptr (GError) error = NULL;

  dyno_progress_init (&test->progress, NULL, test->quiet || test->options->json);
  curve = dyno_lr_test_run (test->cli_job->job, test->cli_job->dataset, NULL, params, &watch,
                            dyno_signals_get_cancellable (), &error);
  dyno_progress_clear (&test->progress);
  if (!curve)
    return dyno_cli_fail (g_steal_pointer (&error), test->options->json);
  return finish (test, curve);
}

int
dyno_verb_lr (int argc, char **argv)
{
  g_auto (DynoJobOptions) options = { 0 };
  g_auto (DynoCliJob) cli_job = { 0 };
  g_autofree GOptionEntry *entries = NULL;
  g_autofree char *out = NULL, *weights = NULL;
  g_autoptr (GError) error = NULL;
  DynoLrTestParams params = { .from = DYNO_LR_TEST_FROM, .to = DYNO_LR_TEST_TO };
  gint64 steps = DYNO_OPTION_UNSET;
  double minutes = 1;
  gboolean quiet = FALSE, force = FALSE;
  g_autoptr (GHashTable) warned = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  int code;
  const GOptionEntry own[] = {
    { "from", 0, 0, G_OPTION_ARG_DOUBLE, &params.from,
      "Learning rate of the first step (default: 1e-6)", "LR" },
    { "to", 0, 0, G_OPTION_ARG_DOUBLE, &params.to, "And of the last (default: 10)", "LR" },
    { "steps", 0, 0, G_OPTION_ARG_INT64, &steps,
      "Steps from one to the other (default: 100, or as many as fit into the time)", "N" },
    { "minutes", 0, 0, G_OPTION_ARG_DOUBLE, &minutes, "How long to test at most (default: 1)",
      "N" },
    { "weights", 0, 0, G_OPTION_ARG_FILENAME, &weights,
      "Start from these weights, as train would; they stay as they are", "FILE" },
    { "out", 'o', 0, G_OPTION_ARG_FILENAME, &out, "Folder for lr.csv and lr.svg", "DIR" },
    { "force", 'f', 0, G_OPTION_ARG_NONE, &force, "Write over an earlier test in --out", NULL },
    { "quiet", 'q', 0, G_OPTION_ARG_NONE, &quiet, "Only errors and warnings", NULL },
    { NULL },
  };

  dyno_job_options_init (&options);
  entries = dyno_job_options_entries (&options, own);
  if (!dyno_cli_parse (
          argc, argv, "--data DATA --model MODEL",
          "Suggests a learning rate, by some steps with a rate that grows.", entries,
          "Ends early where the loss diverges.  No weights and no run are kept.  Exit code 1: the "
          "loss never fell, and no rate is suggested.\n"
          "Train with the rate: dynoctl train --set lr=RATE",
          NULL, 0, &code))
    return code;
  if (!(minutes > 0) || minutes > 10000)
    return dyno_cli_usage (argv[0], "--minutes %g: it is above 0 and at most 10000", minutes);
  if (steps != DYNO_OPTION_UNSET
      && (steps < DYNO_LR_LEAST_STEPS || steps > DYNO_LR_TEST_MOST_STEPS))
    return dyno_cli_usage (argv[0], "--steps %" G_GINT64_FORMAT ": it is between %d and %d", steps,
                           DYNO_LR_LEAST_STEPS, DYNO_LR_TEST_MOST_STEPS);
  if (!(params.from > 0) || !(params.to > 0) || !(params.from < params.to))
    return dyno_cli_usage (argv[0], "--from %g --to %g: both are above 0, and --to is the greater",
                           params.from, params.to);
  params.steps = steps == DYNO_OPTION_UNSET ? 0 : (guint) steps;
  params.seconds = minutes * 60;
  if (!dyno_lr_test_check (&params, &error))
    return dyno_cli_usage (argv[0], "%s", error->message);
  dyno_signals_get_cancellable ();
  dyno_signals_catch ();
  options.quiet = quiet;
  if (!dyno_job_options_resolve (argv[0], &options, &cli_job, &code))
    return code;
  dyno_cli_set_weights (cli_job.job, weights);
  code = out ? dyno_out_folder_prepare (argv[0], out, &test_files, force) : DYNO_EXIT_OK;
  if (code != DYNO_EXIT_OK)
    return code;
  if (!quiet)
    dyno_cli_job_print_preset (argv[0], &cli_job);
  return run (&(Test){ .command = argv[0],
                       .options = &options,
                       .cli_job = &cli_job,
                       .out = out,
                       .quiet = quiet,
                       .warned = warned },
              &params);
}
