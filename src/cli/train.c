/* SPDX-License-Identifier: MIT */
/* dynoctl train: runs a session, prints its events as lines, and keeps its files in a folder. */
#include "diagnose.h"
#include "expected.h"
#include "folds.h"
#include "job-options.h"
#include "joinranks.h"
#include "output.h"
#include "progress.h"
#include "runrecorder.h"
#include "runwriter.h"
#include "signals.h"
#include "text.h"
#include "train-json.h"
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#define RUNS_FOLDER "runs"

#define MAX_NAMED   20 /* unreadable samples that are listed on standard error */
#define LEAST_STEPS 20 /* steps from which on the end of a run has a diagnosis */

typedef struct {
  DynoJobOptions options;
  gint64 steps, folds; /* DYNO_OPTION_UNSET: not given */
  char *out, *weights, *save_weights, *devices, *name;
  gboolean quiet, force, no_out;
} TrainOptions;

static void
train_options_clear (TrainOptions *options)
{
  dyno_job_options_clear (&options->options);
  g_free (options->out);
  g_free (options->devices);
  g_free (options->name);
  g_free (options->weights);
  g_free (options->save_weights);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (TrainOptions, train_options_clear)

/* A run in progress. */
typedef struct {
  const char *command;
  const TrainOptions *options;
  const DynoCliJob *cli_job;
  DynoComm *comm;     /* NULL: this process trains by itself */
  const char *folder; /* of the run or NULL; of several ranks, only rank 0 writes it */
  const char *whole;  /* argument for --resume: the folder of all folds, or the run's own */
  guint64 best_epoch;
  DynoSession *session;
  DynoEventQueue *events;
  DynoProgress progress;
  DynoRunView *view;
  DynoDiagnosisInput *input; /* values of sensors, where no folder stores them */
  GError *error;             /* the first error that the session reported */
  int error_code;            /* exit code of an error that was printed already; 0: none */
  char *checkpoint;          /* path of the checkpoint that was saved last */
  int signal_number;         /* the signal that stopped the run */
  gboolean place_printed;
  gboolean is_idle; /* all steps had been done before this run began */
  DynoSessionState end;
} Run;

static void
on_plan (Run *run, const DynoEvent *event)
{
  if (run->options->options.json)
    dyno_plan_print_json (run->cli_job, &event->plan.plan, event->plan.software_device, NULL, NULL);
  else
    {
      const char *folder = run->cli_job->job->out_dir;
      g_autofree char *shown = folder ? g_filename_display_name (folder) : NULL;

      dyno_progress_plan (&run->progress, run->cli_job->job,
                          run->comm ? dyno_comm_get_size (run->comm) : 1, event);
      if (!run->place_printed && folder)
        dyno_progress_print (&run->progress, "kept in %s", shown);
      else if (!run->place_printed)
        dyno_progress_print (&run->progress, "nothing is kept (--no-out)");
      run->place_printed = TRUE;
    }
}

static void
on_warning (Run *run, const char *text)
{
  if (run->options->options.json)
    dyno_train_print_text ("warning", "text", text);
  dyno_progress_clear (&run->progress);
  dyno_error_line ("%s: warning: %s", run->command, text);
}

static void
on_checkpoint (Run *run, const char *path)
{
  g_free (run->checkpoint);
  run->checkpoint = g_strdup (path);
  if (run->options->options.json)
    dyno_train_print_text ("checkpoint", "path", path);
}

static void
list_unreadable (Run *run, const DynoEvent *event)
{
  guint shown = MIN (g_strv_length (event->done.unreadable), MAX_NAMED);

  if (event->done.n_unreadable == 0)
    return;
  dyno_progress_clear (&run->progress);
  dyno_error_line (
      "%s: %" G_GUINT64_FORMAT " %s could not be read, and others took their place:", run->command,
      event->done.n_unreadable, event->done.n_unreadable == 1 ? "sample" : "samples");
  for (guint i = 0; i < shown; i++)
    dyno_error_line ("  %s", event->done.unreadable[i]);
  if (event->done.n_unreadable > shown)
    dyno_error_line ("  and %" G_GUINT64_FORMAT " more; 'dynoctl inspect --deep' finds all",
                     event->done.n_unreadable - shown);
}

/* Repeats, at the end, the warning that was printed when batches were split. */
static void
print_parts (Run *run, const DynoEvent *event)
{
  if (event->done.parts > 1)
    dyno_progress_print (&run->progress,
                         "for want of device memory each batch of %" G_GUINT64_FORMAT
                         " went through in %u micro-batches",
                         event->done.batch_size, event->done.parts);
}

/* "test: accuracy 97.10 %, loss 0.0912 on 300 samples that the training has not seen". */
static void
print_test (Run *run, const DynoMetricTable *table, int selecting, const DynoTestResult *test)
{
  g_autoptr (GString) text = g_string_new ("test: ");
  gboolean has_metric = selecting >= 0 && !isnan (test->metrics[selecting]);

  if (test->n_samples == 0)
    return;
  if (has_metric)
    {
      g_autofree char *metric =
          dyno_text_metric (&table->infos[selecting], test->metrics[selecting]);

      g_string_append_printf (text, "%s, ", metric);
    }
  dyno_progress_print (
      &run->progress, "%sloss %.4f on %" G_GUINT64_FORMAT " %s that the training has not seen",
      text->str, test->loss, test->n_samples, dyno_plural (test->n_samples, "sample", "samples"));
}

static void
on_done (Run *run, const DynoEvent *event)
{
  const DynoRunStatus *status = dyno_run_view_get_status (run->view);
  const DynoMetricTable *table = &status->metrics;
  GQuark name = run->cli_job->job->settings.best_metric;
  int selecting = dyno_metric_table_find_best (table, g_quark_to_string (name));

  list_unreadable (run, event);
  run->end = event->done.state;
  run->is_idle = event->done.is_idle;
  run->best_epoch = event->done.best_epoch;
  if (run->options->options.json)
    dyno_train_print_done (table, selecting, status->run_rate, event);
  else if (run->is_idle)
    {
      dyno_progress_print (&run->progress, "already done: nothing was changed");
      print_test (run, table, selecting, &event->done.test);
    }
  else if (event->done.state == DYNO_SESSION_FINISHED)
    {
      g_autofree char *best =
          selecting >= 0 && !isnan (event->done.best_val_metric)
              ? dyno_text_metric (&table->infos[selecting], event->done.best_val_metric)
              : NULL;
      g_autofree char *words =
          dyno_progress_describe_end (event, best, status->run_rate, run->whole);

      dyno_progress_print (&run->progress, "%s", words);
      print_parts (run, event);
      print_test (run, table, selecting, &event->done.test);
    }
}

/* With several ranks, no rank saves after a rank or its device was lost. */
static void
name_checkpoint (Run *run)
{
  g_autofree char *stands = NULL;

  if (!run->comm || (run->error->domain != DYNO_COMM_ERROR && run->error->domain != DYNO_GPU_ERROR))
    return;
  stands = dyno_ranks_describe_checkpoint (run->comm, run->folder);
  if (stands)
    g_prefix_error (&run->error, "the run ends, and %s: ", stands);
}

/* Adds rank 0 and its host to the error if its device failed; the error from another rank names
 * that rank already. */
static void
name_rank (Run *run)
{
  if (run->comm && dyno_comm_get_rank (run->comm) == 0
      && (g_error_matches (run->error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_DEVICE_LOST)
          || g_error_matches (run->error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_TIMEOUT)))
    g_prefix_error (&run->error, "rank 0 on %s: ", dyno_comm_get_host (run->comm, 0));
}

static int
print_error_text (Run *run)
{
  dyno_ranks_choose_speaker (run->comm);
  dyno_progress_clear (&run->progress);
  name_rank (run);
  name_checkpoint (run);
  return dyno_cli_fail (g_steal_pointer (&run->error), run->options->options.json);
}

/* Reports at once that a rank was lost, since mpirun ends the others after a second. */
static void
on_error (Run *run, const GError *error)
{
  if (run->error || run->error_code)
    return;
  run->error = g_error_copy (error);
  if (error->domain == DYNO_COMM_ERROR)
    run->error_code = print_error_text (run);
  dyno_out_flush ();
}

static void
on_event (Run *run, DynoEvent *event)
{
  gboolean as_json = run->options->options.json;
  const DynoRunStatus *status = dyno_run_view_get_status (run->view);

  dyno_run_view_take_event (run->view, event);
  switch (event->type)
    {
    case DYNO_EVENT_PLAN:
      on_plan (run, event);
      break;
    case DYNO_EVENT_PROGRESS:
      if (as_json)
        dyno_train_print_preparing (event);
      else
        dyno_progress_preparing (&run->progress, event);
      break;
    case DYNO_EVENT_STEP:
      dyno_run_view_take_step (run->view, &event->step);
      if (as_json)
        dyno_train_print_step (&status->metrics, &event->step);
      else
        dyno_progress_step (&run->progress);
      break;
    case DYNO_EVENT_EPOCH:
      dyno_run_view_take_epoch (run->view, &event->epoch);
      if (as_json)
        dyno_train_print_epoch (&status->metrics, &event->epoch);
      else
        dyno_progress_epoch (&run->progress);
      break;
    case DYNO_EVENT_RANKS:
      if (as_json)
        dyno_train_print_ranks (event);
      break;
    case DYNO_EVENT_CHECKPOINT:
      on_checkpoint (run, event->text);
      break;
    case DYNO_EVENT_SENSORS:
      if (!run->cli_job->job->out_dir)
        dyno_diagnosis_input_add_sensors (run->input, event->sensors->values,
                                          event->sensors->throttle_reasons);
      break;
    case DYNO_EVENT_WARNING:
      on_warning (run, event->text);
      break;
    case DYNO_EVENT_ERROR:
      on_error (run, event->error);
      break;
    case DYNO_EVENT_DONE:
      on_done (run, event);
      break;
    case DYNO_EVENT_STATE:
      /* the driver compiles during the first step */
      if (event->state == DYNO_SESSION_RUNNING && status->n_steps == 0)
        dyno_progress_show (&run->progress, "first step", 0, "");
      break;
    default:
      break;
    }
}

/* Turns a signal into a request to stop.  This is not reported where mpirun sends the signal
 * because another rank was lost: the session detects and reports the loss. */
static void
take_signal (Run *run)
{
  if (!dyno_signals_get () || run->signal_number != 0)
    return;
  run->signal_number = dyno_signals_get ();
  dyno_progress_clear (&run->progress);
  if (!run->comm || dyno_comm_check (run->comm, DYNO_COMM_NEWS_US, NULL))
    dyno_error_line ("%s: finishing the step%s; once more ends at once", run->command,
                     run->folder ? " and saving" : "");
  dyno_session_stop (run->session, FALSE);
}

/* Handles events up to the last one. */
static void
follow (Run *run)
{
  gboolean over = FALSE;

  while (!over)
    {
      g_autoptr (DynoEvent) event = dyno_event_queue_pop (run->events, 0);

      take_signal (run);
      if (dyno_signals_take_hangup ())
        {
          dyno_error_line (
              "%s: the terminal is gone, the run continues; SIGTERM (kill %d) ends and saves it",
              run->command, (int) getpid ());
          if (run->cli_job->job->out_dir)
            dyno_session_checkpoint (run->session);
        }
      if (!event)
        {
          dyno_out_flush ();
          event = dyno_event_queue_pop (run->events, 100000);
        }
      dyno_progress_tick (&run->progress);
      if (!event)
        continue;
      on_event (run, event);
      over = event->type == DYNO_EVENT_DONE;
    }
  dyno_progress_clear (&run->progress);
  dyno_out_flush ();
}

/* Reports the end, and returns the exit code. */
static int
finish (Run *run)
{
  const char *folder = run->folder;
  gboolean as_json = run->options->options.json;

  if (run->error_code)
    return run->error_code;
  if (run->error)
    return print_error_text (run);
  dyno_ranks_choose_speaker (run->comm);
  if (run->end == DYNO_SESSION_FAILED)
    return DYNO_EXIT_FAILURE;
  if (run->end == DYNO_SESSION_STOPPED)
    {
      if (run->checkpoint)
        dyno_error_line ("%s: stopped; saved in “%s”, resume with: dynoctl train --resume %s",
                         run->command, run->checkpoint, run->whole ? run->whole : run->checkpoint);
      else
        dyno_error_line ("%s: stopped; nothing was saved%s", run->command,
                         folder ? "" : " (--no-out)");
      return run->signal_number ? (int) dyno_signals_exit_code (run->signal_number)
                                : DYNO_EXIT_RESUMABLE;
    }
  if (folder && !as_json && !run->options->quiet && !run->is_idle)
    dyno_out_line ("in %s: weights.safetensors, metrics.csv, settings.ini, curves, log", folder);
  return DYNO_EXIT_OK;
}

/* Diagnoses a run that has ended and has done at least one step. */
static DynoDiagnosis *
diagnose (Run *run)
{
  const DynoRunFacts *facts = dyno_run_view_get_facts (run->view);

  if (run->is_idle || dyno_metrics_get_steps (dyno_session_get_metrics (run->session)) == 0)
    return NULL;
  dyno_diagnosis_input_take_session (run->input, run->session, facts, run->cli_job->job->out_dir);
  dyno_diagnosis_input_find_ceilings (run->input, NULL);
  return dyno_diagnose (run->input);
}

static gboolean
is_worth_a_line (const DynoDiagnosisInput *input, const DynoDiagnosis *d)
{
  return input->log.n_steps > LEAST_STEPS || dyno_diagnosis_find (d, "not-a-number");
}

/* results: of all folds, if this run is one of them; else NULL. */
static int
train (const char *command, const TrainOptions *options, const DynoCliJob *cli_job, DynoComm *comm,
       const char *folder, const char *whole, DynoFoldTable *results)
{
  DynoJob *job = cli_job->job;
  Run run = { .command = command,
              .options = options,
              .cli_job = cli_job,
              .comm = comm,
              .folder = folder,
              .whole = whole };
  g_autoptr (DynoSession) session = NULL;
  g_autoptr (DynoRunRecorder) recorder = NULL;
  g_autoptr (DynoDiagnosis) diagnosis = NULL;
  g_autofree DynoDiagnosisInput *input = g_new (DynoDiagnosisInput, 1);
  int code;

  if (!options->quiet)
    dyno_cli_job_print_preset (command, cli_job);
  run.view = dyno_run_view_new (FALSE);
  run.input = input;
  dyno_diagnosis_input_init (input);
  dyno_run_view_begin (run.view, job);
  dyno_progress_init (&run.progress, run.view, options->quiet || options->options.json);
  run.session = session = dyno_session_new (job);
  run.events = dyno_session_add_queue (session, 0, options->options.json);
  dyno_session_set_dataset (session, cli_job->dataset);
  dyno_session_set_writer (session, &dyno_run_writer);
  if (comm)
    dyno_session_set_comm (session, comm);
  if (!comm || dyno_comm_get_rank (comm) == 0)
    recorder = dyno_run_recorder_new (NULL, session);
  dyno_session_start (session);
  follow (&run);
  dyno_session_join (session);
  diagnosis = diagnose (&run);
  if (diagnosis && options->options.json)
    {
      dyno_diagnosis_print_event (diagnosis);
      dyno_expected_print_event (cli_job, dyno_run_view_get_status (run.view), input);
    }
  code = finish (&run);
  if (results && code == DYNO_EXIT_OK)
    dyno_fold_table_take (results, (guint) job->settings.data_fold,
                          dyno_session_get_metrics (session), run.best_epoch,
                          &dyno_run_view_get_status (run.view)->test);
  if (diagnosis && !options->options.json && !options->quiet)
    dyno_expected_print (cli_job, dyno_run_view_get_status (run.view), input);
  if (diagnosis && !options->options.json && !options->quiet && is_worth_a_line (input, diagnosis))
    dyno_diagnosis_print (diagnosis);
  dyno_run_view_free (run.view);
  g_clear_error (&run.error);
  g_free (run.checkpoint);
  dyno_out_flush ();
  return code;
}

/* Finds the run's folder: that of --out, the resumed one, or else a new one below "runs" in the
 * current folder, for which *claimed is set to TRUE. */
static int
find_folder (const char *command, const TrainOptions *o, DynoJob *job, gboolean *claimed)
{
  g_autofree char *resumed = NULL, *settings = NULL;
  g_autoptr (GError) error = NULL;

  *claimed = FALSE;
  if (o->no_out)
    return DYNO_EXIT_OK;
  if (o->options.resume && g_file_test (o->options.resume, G_FILE_TEST_IS_DIR))
    resumed = g_strdup (o->options.resume);
  else if (o->options.resume)
    {
      resumed = g_path_get_dirname (o->options.resume);
      settings = g_build_filename (resumed, "settings.ini", NULL);
      if (!g_file_test (settings, G_FILE_TEST_EXISTS))
        g_clear_pointer (&resumed, g_free);
    }
  job->out_dir = g_strdup (o->out ? o->out : resumed);
  if (job->out_dir && !o->force
      && !dyno_run_writer_check_folder (job->out_dir, o->options.resume, &error))
    return dyno_cli_fail (g_steal_pointer (&error), o->options.json);
  if (job->out_dir)
    return DYNO_EXIT_OK;
  job->out_dir = dyno_run_writer_claim_folder (RUNS_FOLDER, job, &error);
  *claimed = job->out_dir != NULL;
  if (*claimed)
    return DYNO_EXIT_OK;
  g_prefix_error (&error, "No folder for the run: ");
  dyno_error_line ("%s: choose one with --out, or keep nothing with --no-out", command);
  return dyno_cli_fail (g_steal_pointer (&error), o->options.json);
}

/* An existing file is replaced only if this is allowed, or if the user at the terminal agrees. */
static int
check_weights_out (const char *command, const TrainOptions *o)
{
  g_autofree char *shown = o->save_weights ? g_filename_display_name (o->save_weights) : NULL;
  GStatBuf status;

  if (!o->save_weights || o->force || g_lstat (o->save_weights, &status) != 0
      || S_ISDIR (status.st_mode))
    return DYNO_EXIT_OK;
  if (dyno_cli_ask ("“%s” exists%s. Replace it?", shown,
                    S_ISLNK (status.st_mode) ? " (a link, not followed)" : ""))
    return DYNO_EXIT_OK;
  return dyno_cli_usage (
      command, "--save-weights: “%s” exists; name another file, or replace it by --force", shown);
}

/* Coordinates the ranks before the run: rank 0 writes the job's files and owns the folder, whose
 * path all ranks get. */
static int
prepare (const char *command, TrainOptions *o, DynoCliJob *cli_job, DynoComm *comm,
         gboolean *claimed, char **folder)
{
  g_autoptr (GError) error = NULL;
  gboolean first = !comm || dyno_comm_get_rank (comm) == 0;
  int code = first ? find_folder (command, o, cli_job->job, claimed) : DYNO_EXIT_OK;

  if (code != DYNO_EXIT_OK)
    return code;
  dyno_cli_set_weights (cli_job->job, o->weights);
  cli_job->job->weights_out = g_strdup (o->save_weights);
  cli_job->job->resume = g_strdup (o->options.resume);
  cli_job->job->max_steps = o->steps != DYNO_OPTION_UNSET ? o->steps : 0;
  dyno_cli_set_name (cli_job->job, o->name);
  *folder = g_strdup (cli_job->job->out_dir);
  if (!comm
      || (dyno_ranks_compare (comm, cli_job, &error)
          && dyno_ranks_share_folder (comm, folder, &error)))
    return DYNO_EXIT_OK;
  dyno_ranks_choose_speaker (comm);
  return dyno_cli_fail (g_steal_pointer (&error), o->options.json);
}

/* Chooses the device of this rank; if this process is no rank, it starts one rank for each device
 * of --devices. */
static int
choose_devices (const char *command, TrainOptions *o, DynoComm *comm)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GArray) devices = o->devices ? dyno_ranks_parse_devices (o->devices, &error) : NULL;

  if (o->devices && !devices && error->domain == G_OPTION_ERROR)
    return dyno_cli_usage (command, "%s", error->message);
  if (o->devices && !devices)
    return dyno_cli_fail (g_steal_pointer (&error), o->options.json);
  if (comm && o->options.device < 0)
    dyno_ranks_choose_device (comm, devices, &o->options.device, &error);
  else if (!comm && devices && devices->len == 1)
    o->options.device = (int) g_array_index (devices, guint, 0);
  else if (!comm && devices)
    dyno_ranks_start (devices->len, &error);
  return error ? dyno_cli_fail (g_steal_pointer (&error), o->options.json) : DYNO_EXIT_OK;
}

typedef struct {
  const char *command;
  const TrainOptions *options;
  const char *whole;
} Folds;

static int
train_fold (const DynoCliJob *cli_job, DynoFoldTable *results, gpointer data)
{
  const Folds *folds = data;

  return train (folds->command, folds->options, cli_job, NULL, cli_job->job->out_dir, folds->whole,
                results);
}

/* Whether all folds are to be trained: by --folds, which is entered into settings, or since a
 * cross-validation is resumed.  FALSE with *code set: an error was printed. */
static gboolean
asks_folds (const char *command, const TrainOptions *o, DynoSettings *settings, int *code)
{
  gboolean resumed = o->options.resume && dyno_folds_are_in (o->options.resume);

  *code = DYNO_EXIT_OK;
  if (o->folds == DYNO_OPTION_UNSET)
    return resumed;
  if (o->options.resume && !resumed)
    *code = dyno_cli_usage (command, "--folds: “%s” is one run, and has no folds to resume",
                            o->options.resume);
  else if (resumed && o->folds != settings->data_folds)
    *code = dyno_cli_usage (command,
                            "--folds %" G_GINT64_FORMAT ": “%s” has %" G_GINT64_FORMAT " folds",
                            o->folds, o->options.resume, settings->data_folds);
  settings->data_folds = o->folds;
  return *code == DYNO_EXIT_OK;
}

static int
train_resolved (const char *command, TrainOptions *o, DynoComm *comm)
{
  g_auto (DynoCliJob) cli_job = { 0 };
  gboolean folds;
  g_autofree char *folder = NULL;
  gboolean claimed = FALSE;
  int code;

  if (!dyno_job_options_resolve (command, &o->options, &cli_job, &code))
    {
      if (comm && code >= DYNO_EXIT_RESUMABLE)
        dyno_comm_stop (comm);
      return code;
    }
  folds = asks_folds (command, o, &cli_job.job->settings, &code);
  if (code == DYNO_EXIT_OK)
    code = prepare (command, o, &cli_job, comm, &claimed, &folder);
  if (comm && code >= DYNO_EXIT_RESUMABLE)
    dyno_comm_stop (comm);
  if (code == DYNO_EXIT_OK && folds)
    code = dyno_folds_train (command, &cli_job, o->options.json, o->quiet, train_fold,
                             &(Folds){ command, o, folder });
  else if (code == DYNO_EXIT_OK)
    code = train (command, o, &cli_job, comm, folder, folder, NULL);
  if (claimed && g_rmdir (cli_job.job->out_dir) == 0) /* succeeds only if nothing was written */
    g_rmdir (RUNS_FOLDER);
  return code;
}

static gboolean
check_folds (const char *command, const TrainOptions *o, DynoComm *comm, int *code)
{
  gboolean resumed = o->options.resume && dyno_folds_are_in (o->options.resume);

  if (o->folds == DYNO_OPTION_UNSET && !resumed)
    return TRUE;
  if (o->folds != DYNO_OPTION_UNSET && (o->folds < 2 || o->folds > DYNO_MOST_FOLDS))
    *code = dyno_cli_usage (command, "--folds %" G_GINT64_FORMAT ": it is 2 to %d", o->folds,
                            DYNO_MOST_FOLDS);
  else if (comm || o->devices)
    *code = dyno_cli_usage (command, "folds are trained by one process on one device");
  else if (o->save_weights)
    *code = dyno_cli_usage (command, "--save-weights: each fold has weights of its own, which are "
                                     "in its folder");
  else
    return TRUE;
  return FALSE;
}

static int
train_as_rank (int argc, char **argv, DynoComm *comm)
{
  g_auto (TrainOptions) o = { 0 };
  g_autofree GOptionEntry *entries = NULL;
  int code;
  const GOptionEntry own[] = {
    { "steps", 0, 0, G_OPTION_ARG_INT64, &o.steps,
      "Stop once the run has N steps, whatever the epochs", "N" },
    { "out", 'o', 0, G_OPTION_ARG_FILENAME, &o.out,
      "Folder for settings, metrics, weights, checkpoint, curves and log "
      "(default: a new one, runs/MODEL-DATA-N)",
      "DIR" },
    { "no-out", 0, 0, G_OPTION_ARG_NONE, &o.no_out, "Keep nothing", NULL },
    { "force", 'f', 0, G_OPTION_ARG_NONE, &o.force,
      "Write over an earlier run in --out, or the file of --save-weights", NULL },
    { "folds", 0, 0, G_OPTION_ARG_INT64, &o.folds,
      "Cross-validate: train N times, each time validating on another of N parts of the data",
      "N" },
    { "weights", 0, 0, G_OPTION_ARG_FILENAME, &o.weights,
      "Start from these weights (safetensors, .pth or .onnx, torchvision's names), or from none",
      "FILE" },
    { "save-weights", 0, 0, G_OPTION_ARG_FILENAME, &o.save_weights,
      "Write the weights here at the end", "FILE" },
    { "resume", 0, 0, G_OPTION_ARG_FILENAME, &o.options.resume,
      "Resume a stopped run: its folder or its checkpoint", "PATH" },
    { "devices", 0, 0, G_OPTION_ARG_STRING, &o.devices,
      "Train on several devices, a process each: all, or their numbers in 'dynoctl devices'",
      "N,N" },
    { "name", 0, 0, G_OPTION_ARG_STRING, &o.name,
      "Name of the run in the history (default: its folder's)", "TEXT" },
    { "quiet", 'q', 0, G_OPTION_ARG_NONE, &o.quiet, "Only errors and warnings", NULL },
    { NULL },
  };

  dyno_job_options_init (&o.options);
  o.steps = o.folds = DYNO_OPTION_UNSET;
  entries = dyno_job_options_entries (&o.options, own);
  if (!dyno_cli_parse (
          argc, argv, "--data DATA --model MODEL", "Trains a model on a data set.", entries,
          "Ctrl-C finishes the step, saves and says where; a second one ends at once.  Closing the "
          "terminal does not end the run.\n"
          "Settings: defaults, then the preset, the settings file, --set, --epochs and --seed.",
          NULL, 0, &code))
    return code;
  if (o.steps != DYNO_OPTION_UNSET && o.steps < 1)
    return dyno_cli_usage (argv[0], "--steps %" G_GINT64_FORMAT ": it is 1 or more", o.steps);
  if (!check_folds (argv[0], &o, comm, &code))
    return code;
  if (o.out && o.no_out)
    return dyno_cli_usage (argv[0], "--out and --no-out exclude each other");
  if (o.name && o.options.resume && !dyno_folds_are_in (o.options.resume))
    return dyno_cli_usage (argv[0], "--name: a run that is resumed keeps its name; 'dynoctl runs "
                                    "rename' gives it another one");
  if (o.devices && o.options.device >= 0)
    return dyno_cli_usage (argv[0], "--device and --devices exclude each other");
  o.quiet = o.quiet || (comm && dyno_comm_get_rank (comm) > 0);
  code = comm && dyno_comm_get_rank (comm) > 0 ? DYNO_EXIT_OK : check_weights_out (argv[0], &o);
  if (code != DYNO_EXIT_OK)
    return code;
  code = choose_devices (argv[0], &o, comm);
  if (code != DYNO_EXIT_OK)
    return code;
  dyno_signals_get_cancellable ();
  dyno_signals_catch ();
  dyno_signals_survive_hangup ();
  o.options.quiet = o.quiet;
  return train_resolved (argv[0], &o, comm);
}

int
dyno_verb_train (int argc, char **argv)
{
  DynoComm *comm = NULL;
  int code;

  if (!dyno_ranks_join (argv[0], FALSE, &comm, &code))
    return code;
  return dyno_ranks_leave (comm, train_as_rank (argc, argv, comm));
}
