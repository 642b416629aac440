/* SPDX-License-Identifier: MIT */
/* The session's thread: it prepares, trains, starts again once after a lost device, and ends.  DONE
 * is emitted on every path. */
#include "run.h"
#include "badlayer.h"
#include "cores.h"
#include "file.h"
#include "idlesettings.h"
#include "intl.h"
#include "normalisation.h"
#include "ranks.h"
#include "scores.h"
#include "text.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

static void
report_progress (const char *what, guint done, guint total, gpointer data)
{
  DynoRun *run = data;
  DynoEvent *event = dyno_event_new (DYNO_EVENT_PROGRESS);

  event->progress.what = g_strdup (what);
  event->progress.done = done;
  event->progress.total = total;
  dyno_session_emit (run->session, event);
}

static void
report_warning (const char *text, gpointer data)
{
  dyno_run_warn (data, "%s", text);
}

static void
on_scanned (guint64 found, gpointer data)
{
  report_progress ("scan", (guint) MIN (found, G_MAXUINT), 0, data);
}

static gboolean
open_dataset (DynoRun *run, GError **error)
{
  DynoSession *session = run->session;
  DynoDatasetParams params;

  dyno_job_get_dataset_params (run->job, &params);
  if (session->dataset)
    run->dataset = dyno_dataset_ref (session->dataset);
  else if (run->job->data)
    run->dataset =
        dyno_dataset_open (run->job->data, &params, on_scanned, run, session->soft, error);
  else
    g_set_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DATA, _ ("The job names no data set"));
  if (!run->dataset)
    return FALSE;
  run->content_hash = dyno_dataset_get_info (run->dataset)->content_hash;
  return TRUE;
}

/* --- state: from a checkpoint, a weights file, or the seed ------------------------------------ */

static gboolean
load_state (DynoRun *run, const char *checkpoint, const DynoEngineWatch *watch, GError **error)
{
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func (g_free);

  report_progress ("weights", 0, 0, run);
  memset (&run->position, 0, sizeof run->position);
  run->position.best_val_metric = (double) NAN;
  run->position.best_val_loss = (double) NAN;
  dyno_run_forget_best (run);
  run->position.run_id = dyno_checkpoint_identify (run->engine->job, run->content_hash);
  if (!checkpoint)
    return dyno_engine_initialise (run->engine, watch, &run->position.batches_tracked, error);
  if (!dyno_checkpoint_load (checkpoint, dyno_engine_get_program (run->engine), run->engine->job,
                             run->engine->training.n_samples, run->content_hash, &run->position,
                             warnings, error))
    return FALSE;
  for (guint i = 0; i < warnings->len; i++)
    dyno_run_warn (run, "%s", (char *) g_ptr_array_index (warnings, i));
  dyno_run_recall_log (run, checkpoint);
  dyno_run_recall_test (run, checkpoint);
  dyno_run_set_checkpoint (run, checkpoint);
  return dyno_run_adopt_best (run, checkpoint, error);
}

/* Takes the newest job of the session, so that a new engine has all changes so far. */
static void
take_job (DynoRun *run)
{
  dyno_job_unref (run->job);
  run->job = dyno_session_get_job (run->session);
}

/* With data.normalise=weights: finds the normalisation, which everything that is built later
 * uses. */
static gboolean
find_normalisation (DynoRun *run, const char *checkpoint, GError **error)
{
  DynoSession *session = run->session;
  DynoNormalisation found = { 0 };
  DynoJob *job;

  if (run->job->settings.data_normalise != DYNO_NORMALISE_WEIGHTS)
    return TRUE;
  if (run->job->rank == 0
      && !dyno_job_find_normalisation (run->job, checkpoint, dyno_dataset_get_info (run->dataset),
                                       &found, error))
    return FALSE;
  if (session->comm && !dyno_comm_broadcast (session->comm, &found, sizeof found, 0, error))
    return FALSE;
  g_mutex_lock (&session->lock);
  job = dyno_job_copy (session->job);
  job->normalisation = found;
  job->knows_normalisation = TRUE;
  dyno_job_unref (session->job);
  session->job = job;
  g_mutex_unlock (&session->lock);
  return TRUE;
}

/* Checks best_metric, since the names of the metrics are only known with the data set. */
static gboolean
check_best_metric (DynoRun *run, GError **error)
{
  const char *name = g_quark_to_string (run->engine->job->settings.best_metric);
  g_autofree char *names = NULL, *shown = NULL;
  DynoEngine *engine = run->engine;
  DynoMetricTable table;
  int best;

  dyno_metrics_get_table (run->session->metrics, &table);
  best = dyno_metric_table_find_best (&table, name);
  if (best >= 0)
    return dyno_scores_check_metric (&table.infos[best], engine->validation.n_samples,
                                     dyno_network_get_logits (dyno_engine_get_graph (engine))->c,
                                     error);
  if (best != -2)
    return TRUE;
  names = dyno_metric_table_list_names (&table, dyno_engine_get_graph (engine));
  shown = dyno_text_visible (name);
  g_set_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_SETTING,
               _ ("best_metric cannot be “%s”: what this run measures is %s"), shown, names);
  return FALSE;
}

/* Gives all ranks the state of rank 0. */
static gboolean
share_state (DynoRun *run, GError **error)
{
  if (!dyno_ranks_share_state (run->session->comm,
                               dyno_program_get_memory (dyno_engine_get_program (run->engine)),
                               &run->position, error))
    return FALSE;
  dyno_run_skip_logged (run);
  return dyno_run_begin_ranks (run, error);
}

/* Builds everything on the device, and loads the state of checkpoint (may be NULL).  refused: the
 * error when the device had no memory for the engine before; or NULL. */
static gboolean
build (DynoRun *run, const char *checkpoint, const GError *refused, GError **error)
{
  DynoSession *session = run->session;
  DynoEngineWatch watch = { report_progress, report_warning, run };

  take_job (run);
  run->engine = dyno_engine_open_split (session->device, run->job, run->dataset, &watch, error);
  if (!run->engine)
    return FALSE;
  run->engine->comm = session->comm;
  dyno_run_begin_sensors (run);
  if (run->parts > 1 && !dyno_engine_set_parts (run->engine, run->parts, refused, error))
    return FALSE;
  if (!dyno_engine_shrink (run->engine, error))
    return FALSE;
  dyno_run_report_plan (run);
  if (run->engine->plan.fits && !dyno_engine_autotune (run->engine, &watch, session->soft, error))
    return FALSE;
  dyno_run_report_plan (run);
  if (!dyno_engine_build (run->engine, &watch, session->soft, error))
    return FALSE;
  dyno_run_report_plan (run); /* a snapshot may not have found room */
  dyno_run_report_metrics (run);
  if (!check_best_metric (run, error))
    return FALSE;
  return load_state (run, checkpoint, &watch, error)
         && (!session->comm || share_state (run, error));
}

/* --- a lost device, or one without memory ----------------------------------------------------- */

static gboolean
is_loss (const GError *error)
{
  return g_error_matches (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_DEVICE_LOST)
         || g_error_matches (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_TIMEOUT);
}

/* TRUE: the run can continue with another engine: after a lost device once in a run; after refused
 * memory as long as a batch can be divided into smaller parts. */
static gboolean
can_recover (DynoRun *run, const GError *problem)
{
  guint parts = run->engine ? dyno_engine_next_parts (run->engine, problem) : 0;

  if (parts > 0)
    run->parts = parts;
  else if (is_loss (problem) && !run->recovered)
    {
      run->recovered = TRUE;
      g_clear_pointer (&run->session->device, dyno_device_unref);
      run->parts = run->engine ? run->engine->parts : run->parts;
      dyno_run_warn (
          run, _ ("%s; everything is set up anew, and the run continues from its last checkpoint"),
          problem->message);
    }
  else
    return FALSE;
  return TRUE;
}

/* Builds everything again, with the state of the last checkpoint that the run saved or began with,
 * else from its start.  FALSE: *problem is the old error, or a new one. */
static gboolean
recover (DynoRun *run, GError **problem)
{
  while (can_recover (run, *problem))
    {
      g_autoptr (GError) reason = g_steal_pointer (problem);
      g_autofree char *checkpoint = NULL;

      dyno_session_set_state (run->session, DYNO_SESSION_PREPARING);
      dyno_run_end_saving (run);
      checkpoint = g_strdup (dyno_run_get_checkpoint (run));
      dyno_run_collect_unreadable (run);
      g_clear_pointer (&run->engine, dyno_engine_free);
      run->health = (DynoHealth){ .idle_reported = run->health.idle_reported };
      if (!build (run, checkpoint, is_loss (reason) ? NULL : reason, problem))
        continue;
      dyno_run_write_settings (run); /* with the changes since the engine before */
      return TRUE;
    }
  return FALSE;
}

/* --- the run ---------------------------------------------------------------------------------- */

/* Warns where another number of ranks than in the facts beside the checkpoint changes the number of
 * samples in a step. */
static void
warn_of_ranks (DynoRun *run, const char *checkpoint)
{
  const DynoSettings *s = &run->job->settings;
  g_autofree char *folder = g_path_get_dirname (checkpoint);
  guint64 ranks = MAX (run->job->ranks, 1), before, now;
  DynoRunFacts facts;

  if (!dyno_run_facts_read (folder, &facts) || MAX (facts.ranks, 1) == ranks)
    return;
  before = facts.batch_size * facts.accumulate * MAX (facts.ranks, 1);
  now = (guint64) s->batch_size * (guint64) s->accumulate * ranks;
  if (before != now)
    dyno_run_warn (
        run,
        ngettext ("Before, this run had %" PRIu64 " process, now %" PRIu64 ": a step has %" PRIu64
                  " samples in place of %" PRIu64
                  "; keep their number by batch_size or accumulate, or scale lr by the same factor",
                  "Before, this run had %" PRIu64 " processes, now %" PRIu64 ": a step has %" PRIu64
                  " samples in place of %" PRIu64
                  "; keep their number by batch_size or accumulate, or scale lr by the same factor",
                  (gulong) MAX (facts.ranks, 1)),
        MAX (facts.ranks, 1), ranks, now, before);
}

static gboolean
prepare (DynoRun *run, GError **error)
{
  const DynoJob *job = run->job;
  g_autofree char *checkpoint = NULL;
  g_autoptr (GError) problem = NULL;

  if (!dyno_run_open_folder (run, error))
    return FALSE;
  if (job->weights_out && !dyno_file_test_writable (job->weights_out, error))
    return FALSE;
  if (job->resume && !(checkpoint = dyno_checkpoint_find (job->resume, error)))
    return FALSE;
  dyno_run_set_checkpoint (run, checkpoint);
  if (checkpoint)
    warn_of_ranks (run, checkpoint);
  if (!open_dataset (run, error) || !find_normalisation (run, checkpoint, error))
    return FALSE;
  if (build (run, checkpoint, NULL, &problem) || recover (run, &problem))
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&problem));
  return FALSE;
}

/* --- a finished run, settings without an effect ----------------------------------------------- */

/* TRUE, and reports it: the resumed run has already done all that its settings ask for. */
static gboolean
is_over (DynoRun *run)
{
  const DynoPosition *p = &run->position;
  const DynoSettings *s = &run->engine->job->settings;
  guint64 most = (guint64) run->job->max_steps;
  gboolean tells = run->job->rank == 0;

  if (p->step == 0)
    return FALSE;
  if (most > 0 && p->step >= most)
    {
      if (tells)
        dyno_run_warn (run,
                       ngettext ("Nothing is left to do: the run has made %" PRIu64
                                 " step, and ends after %" PRIu64 "; --steps gives it more",
                                 "Nothing is left to do: the run has made %" PRIu64
                                 " steps, and ends after %" PRIu64 "; --steps gives it more",
                                 (gulong) p->step),
                       p->step, most);
      return TRUE;
    }
  if (most == 0 && p->epoch >= (guint64) s->epochs)
    {
      if (tells)
        dyno_run_warn (
            run,
            ngettext ("Nothing is left to do: the run has gone through %" PRIu64
                      " epoch, and ends after %" PRId64 "; more epochs (--epochs) make it "
                      "longer",
                      "Nothing is left to do: the run has gone through %" PRIu64
                      " epochs, and ends after %" PRId64 "; more epochs (--epochs) make it "
                      "longer",
                      (gulong) p->epoch),
            p->epoch, s->epochs);
      return TRUE;
    }
  return p->epoch_step == 0 && dyno_run_stops_early (run);
}

/* TRUE: the folder holds all results of the run: it did not fail and was not killed. */
static gboolean
has_left_all (DynoRun *run)
{
  DynoRunFacts facts;

  return !dyno_run_get_folder (run)
         || (dyno_run_facts_read (run->job->out_dir, &facts)
             && (facts.state == DYNO_SESSION_FINISHED || facts.state == DYNO_SESSION_STOPPED));
}

/* A finished run with all its results is left unchanged: only weights that were requested elsewhere
 * are written.  *over FALSE: the run continues, or has to be completed.  All ranks do the same as
 * rank 0. */
static gboolean
leave_if_over (DynoRun *run, gboolean *over, GError **error)
{
  DynoComm *comm = run->session->comm;

  *over = run->job->rank == 0 && !dyno_run_lacks_test (run) && is_over (run) && has_left_all (run);
  if (comm && !dyno_comm_broadcast (comm, over, sizeof *over, 0, error))
    return FALSE;
  if (!*over)
    return TRUE;
  dyno_run_end_sensors (run); /* before the folder is closed, since their rows are written to it */
  dyno_run_close_folder (run);
  run->is_idle = TRUE;
  if (!run->job->weights_out)
    return TRUE;
  if (!dyno_run_adopt_best (run, dyno_run_get_checkpoint (run), error))
    return FALSE;
  dyno_run_begin_saving (run);
  return dyno_run_save_weights (run, TRUE, error);
}

static void
report_idle_settings (DynoRun *run)
{
  const DynoEngine *engine = run->engine;
  g_autoptr (GPtrArray) idle = NULL;

  if (run->job->rank > 0)
    return;
  idle = dyno_settings_list_idle (engine->job, dyno_dataset_get_info (run->dataset),
                                  engine->training.n_samples, engine->validation.n_samples);
  for (guint i = 0; i < idle->len; i++)
    dyno_run_warn (run, "%s", (const char *) g_ptr_array_index (idle, i));
}

/* As recover, for a run that has begun. */
static gboolean
recover_running (DynoRun *run, GError **problem)
{
  gint64 began = dyno_run_clock_now (&run->clock);

  /* The other ranks are in the middle of a step: the run has to be started again from the last
   * checkpoint. */
  if (run->session->comm || !recover (run, problem))
    return FALSE;
  dyno_run_clock_end_preparation (&run->clock, began);
  return TRUE;
}

/* --- a pause without the device --------------------------------------------------------------- */

static void
drop_engine (DynoRun *run)
{
  dyno_run_end_saving (run);
  dyno_run_collect_unreadable (run);
  run->parts = run->engine->parts;
  run->batch_size = (guint64) run->engine->job->settings.batch_size;
  g_clear_pointer (&run->engine, dyno_engine_free);
}

/* Waits until the run is resumed or stopped. */
static DynoStop
wait_released (DynoRun *run)
{
  DynoSession *session = run->session;
  gint64 began = dyno_run_clock_now (&run->clock);
  DynoStop stop;

  dyno_session_set_state (session, DYNO_SESSION_PAUSED);
  dyno_session_emit (session, dyno_event_new (DYNO_EVENT_RELEASED));
  g_mutex_lock (&session->lock);
  while (session->pause && !session->stop)
    g_cond_wait (&session->wake, &session->lock);
  session->release = session->checkpoint = FALSE; /* both requests are fulfilled */
  stop = session->stop;
  g_mutex_unlock (&session->lock);
  dyno_run_clock_end_pause (&run->clock, began);
  return stop;
}

static gboolean
build_again (DynoRun *run, GError **error)
{
  gint64 began = dyno_run_clock_now (&run->clock);
  g_autofree char *checkpoint = g_strdup (dyno_run_get_checkpoint (run));
  gboolean built;

  dyno_session_set_state (run->session, DYNO_SESSION_PREPARING);
  built = build (run, checkpoint, NULL, error);
  if (!built)
    g_clear_pointer (&run->engine, dyno_engine_free);
  dyno_run_clock_end_preparation (&run->clock, began);
  return built;
}

/* Where the device cannot be opened again, for instance because another program has its memory, the
 * run stays paused. */
static DynoRunOutcome
pause_released (DynoRun *run)
{
  DynoSession *session = run->session;

  drop_engine (run);
  dyno_run_clear_memory (run);
  for (;;)
    {
      g_autoptr (GError) problem = NULL;
      DynoStop stop = wait_released (run);

      if (stop)
        return stop == DYNO_STOP_NOW ? DYNO_RUN_ENDED : DYNO_RUN_STOPPED;
      if (build_again (run, &problem))
        break;
      if (g_error_matches (problem, G_IO_ERROR, G_IO_ERROR_CANCELLED))
        continue; /* a stop was requested */
      dyno_run_warn (run,
                     _ ("%s; the run stays paused, all of it saved: resume to try again, or stop"),
                     problem->message);
      g_mutex_lock (&session->lock);
      session->pause = TRUE;
      g_mutex_unlock (&session->lock);
    }
  dyno_run_write_settings (run); /* with the changes since the pause */
  return DYNO_RUN_GOES_ON;
}

/* Trains to the end, writes the weights, and measures the best ones on the test part. */
static DynoRunOutcome
train (DynoRun *run, GError **error)
{
  DynoRunOutcome outcome;
  g_autoptr (GError) problem = NULL;

  dyno_run_clock_begin (&run->clock, run->position.seconds);
  do
    {
      dyno_session_set_state (run->session, DYNO_SESSION_RUNNING);
      dyno_run_begin_saving (run);
      outcome = dyno_run_loop (run, &problem);
      if (outcome == DYNO_RUN_RELEASE)
        outcome = pause_released (run);
      if (outcome == DYNO_RUN_FINISHED || outcome == DYNO_RUN_STOPPED)
        {
          dyno_session_set_state (run->session, DYNO_SESSION_STOPPING);
          dyno_run_begin_folder (run);
          if (!dyno_run_save_weights (run, TRUE, &problem)
              || !dyno_run_share_unreadable (run, &problem))
            outcome = DYNO_RUN_FAILED;
        }
      if (outcome == DYNO_RUN_FINISHED)
        outcome = dyno_run_test (run, &problem);
    }
  while (outcome == DYNO_RUN_GOES_ON
         || (outcome == DYNO_RUN_FAILED && recover_running (run, &problem)));
  if (problem)
    g_propagate_error (error, g_steal_pointer (&problem));
  return outcome;
}

/* --- the end ---------------------------------------------------------------------------------- */

/* A run that fails leaves its best weights. */
static DynoSessionState
end_state (DynoRun *run, DynoRunOutcome outcome)
{
  g_autoptr (GError) other = NULL;

  if (outcome == DYNO_RUN_FAILED && !dyno_run_save_weights (run, FALSE, &other))
    dyno_run_warn (run, "%s", other->message);
  return outcome == DYNO_RUN_FINISHED ? DYNO_SESSION_FINISHED
         : outcome == DYNO_RUN_FAILED ? DYNO_SESSION_FAILED
                                      : DYNO_SESSION_STOPPED;
}

/* Finds the layer in which the loss becomes not finite, for the facts and the log. */
static void
find_bad_layer (DynoRun *run)
{
  g_autoptr (GError) problem = NULL;
  g_autofree char *name = NULL;

  if (!run->engine || (isfinite (run->health.loss) && !run->health.gradient))
    return;
  name = dyno_engine_find_bad_layer (run->engine, &problem);
  if (name && run->health.gradient)
    dyno_run_warn (run, _ ("The first value that is not finite is in “%s”"), name);
  else if (name)
    g_info ("The first layer whose output is not finite is “%s”", name);
  else if (problem)
    g_info ("The layer whose output is not finite was not found: %s", problem->message);
  dyno_run_set_bad_layer (run, name);
}

/* Ends the other ranks too, with the reason. */
static void
abort_ranks (DynoRun *run, DynoRunOutcome outcome, const GError *problem)
{
  DynoComm *comm = run->session->comm;

  if (!comm || outcome == DYNO_RUN_FINISHED || outcome == DYNO_RUN_STOPPED
      || (problem && problem->domain == DYNO_COMM_ERROR))
    return;
  if (problem)
    dyno_comm_abort (comm, problem->message);
  else
    dyno_comm_stop (comm);
}

static void
report_problem (DynoRun *run, const GError *problem)
{
  DynoEvent *event = dyno_event_new (DYNO_EVENT_ERROR);

  event->error = g_error_copy (problem);
  dyno_session_emit (run->session, event);
}

/* A stop while preparing, of this rank or another, is not a failure, unless mpirun requests it
 * because another rank has ended. */
static void
take_stop (DynoRun *run, DynoRunOutcome *outcome, GError **problem)
{
  DynoComm *comm = run->session->comm;

  if (g_error_matches (*problem, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    {
      g_clear_error (problem);
      if (!comm || dyno_comm_check (comm, DYNO_COMM_NEWS_US, problem))
        *outcome = DYNO_RUN_ENDED;
    }
  if (g_error_matches (*problem, DYNO_COMM_ERROR, DYNO_COMM_ERROR_STOPPED))
    {
      g_clear_error (problem);
      *outcome = DYNO_RUN_ENDED;
    }
}

static void
print_end (DynoRun *run, DynoSessionState state)
{
  DynoSession *session = run->session;
  DynoEvent *event;

  dyno_session_set_state (session, state);
  event = dyno_event_new (DYNO_EVENT_DONE);
  event->done.state = state;
  event->done.seconds = run->position.seconds;
  event->done.preparation_seconds = dyno_run_clock_get_preparation (&run->clock);
  event->done.steps = run->position.step;
  event->done.is_idle = run->is_idle;
  event->done.begin_steps = run->begin.step;
  event->done.begin_seconds = run->begin.seconds;
  event->done.whole_steps = run->whole_steps;
  event->done.best_val_metric = run->position.best_val_metric;
  event->done.best_epoch = run->position.best_epoch;
  event->done.test = dyno_run_get_test (run);
  event->done.out_dir = g_strdup (run->job->out_dir);
  event->done.parts = MAX (run->parts, 1);
  event->done.batch_size = run->batch_size;
  dyno_run_end_unreadable (run, event);
  dyno_run_end_ranks (run, event);
  dyno_session_emit (session, event);
}

gpointer
dyno_session_run (gpointer data)
{
  DynoRun run = { .session = data,
                  .position = { .best_val_metric = (double) NAN, .best_val_loss = (double) NAN } };
  DynoRunOutcome outcome = DYNO_RUN_FAILED;
  g_autoptr (GError) problem = NULL;
  gint64 began = g_get_monotonic_time ();
  gboolean prepared, ranks_failed, over;
  DynoSessionState state;

  take_job (&run);
  (void) dyno_cores_keep ((guint) run.job->settings.threads); /* for all that the run starts */
  dyno_run_clock_init (&run.clock, g_get_monotonic_time);
  run.log = dyno_run_log_new ();
  run.saving = dyno_run_saving_new ();
  dyno_session_add_observer (run.session, &dyno_run_row_writer, &run);
  dyno_session_set_state (run.session, DYNO_SESSION_PREPARING);
  prepared = prepare (&run, &problem);
  dyno_run_clock_add_preparation (&run.clock, (double) (g_get_monotonic_time () - began) / 1e6);
  run.begin = run.position;
  if (prepared && leave_if_over (&run, &over, &problem))
    {
      if (!over)
        report_idle_settings (&run);
      outcome = over ? DYNO_RUN_FINISHED : train (&run, &problem);
    }
  take_stop (&run, &outcome, &problem);
  abort_ranks (&run, outcome, problem);
  /* A failure of the ranks is reported at once: mpirun does not wait for the curves. */
  ranks_failed = problem && problem->domain == DYNO_COMM_ERROR;
  if (ranks_failed)
    report_problem (&run, problem);
  state = end_state (&run, outcome);
  dyno_run_end_sensors (&run);
  if (g_error_matches (problem, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DIVERGED))
    find_bad_layer (&run);
  dyno_run_report_last_facts (&run, state, problem);
  dyno_run_finish_folder (&run);
  /* A run that was ended at once drops waiting saves. */
  g_clear_pointer (&run.saving, dyno_run_saving_free);
  /* Several ranks have shared their names in train (), unless nothing was left to do; a loader that
   * still reads would add one that only this rank knows. */
  if (!run.session->comm || !run.unreadable.names
      || (outcome != DYNO_RUN_FINISHED && outcome != DYNO_RUN_STOPPED))
    dyno_run_collect_unreadable (&run);
  if (problem)
    g_info ("Failed: %s", problem->message);
  dyno_session_remove_observer (run.session, &dyno_run_row_writer, &run);
  if (run.engine)
    {
      run.parts = run.engine->parts;
      run.batch_size = (guint64) run.engine->job->settings.batch_size;
      if (outcome == DYNO_RUN_FINISHED && !run.is_idle)
        run.whole_steps = dyno_run_find_whole (&run);
    }
  dyno_engine_free (run.engine);
  dyno_dataset_unref (run.dataset);
  dyno_run_log_free (run.log);
  if (problem && !ranks_failed)
    report_problem (&run, problem);
  print_end (&run, state);
  dyno_run_clock_clear (&run.clock);
  dyno_job_unref (run.job);
  return NULL;
}
