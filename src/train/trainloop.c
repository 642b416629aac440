/* SPDX-License-Identifier: MIT */
/* Epochs and steps of a run.  Invariants:
 * - Commands are obeyed only between two steps; commands that need the device idle drain it first.
 * - The position moves when a step's result is known.
 * - Validation is submitted after the epoch's last step, and its first batches are decoded before
 *   that step ends. */
#include "intl.h"
#include "ranks.h"
#include "run.h"
#include "schedule.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

#define BAD_STEPS_AMP  10 /* bad steps in a row after which the run has diverged */
#define BAD_STEPS_FP32 5  /* the same, where no loss scale can help */
#define BAD_STEPS_LAST 3  /* the same, at the end of a run */

#define RANKS_PAUSE_US (G_USEC_PER_SEC / 10) /* interval of checks for the end of a pause */

typedef struct {
  DynoRun *run;
  guint64 steps_per_epoch;
  guint64 last_step;          /* last step of this epoch: steps_per_epoch, unless it ends early */
  guint64 validation_batches; /* most batches of this epoch's validation; 0: all */
  guint64 step, epoch_step;   /* submitted so far: ahead of the position by the steps in flight */
  gboolean validation_begun;  /* the validation's loader decodes */
} Loop;

/* The run only looks for a learning rate: see dyno_session_sweep_lr. */
static gboolean
is_sweep (const DynoRun *run)
{
  return run->session->sweep.steps > 0;
}

/* --- results ---------------------------------------------------------------------------------- */

static gboolean
has_diverged (DynoRun *run, guint limit, GError **error)
{
  gboolean kept = dyno_run_get_checkpoint (run) || dyno_run_has_saved (run);

  if (is_sweep (run))
    return FALSE;
  return dyno_health_has_diverged (&run->health, limit, run->position.step,
                                   kept ? _ ("the last good checkpoint is kept; ") : "", error);
}

/* TRUE: the next step's loss scale is lower, as after most overflows of AMP. */
static gboolean
can_scale_down (const DynoRun *run, const DynoStepResult *r)
{
  return run->engine->job->settings.amp && r->loss_scale > (double) DYNO_STEP_SCALE_LEAST;
}

static gboolean
take_result (Loop *loop, const DynoStepResult *r, GError **error)
{
  DynoRun *run = loop->run;
  DynoPosition *p = &run->position;
  guint limit = run->engine->job->settings.amp ? BAD_STEPS_AMP : BAD_STEPS_FP32;

  p->step = r->order.step + 1;
  p->epoch_step++;
  if (!r->overflow) /* else the running statistics are as if these had not been */
    p->batches_tracked += r->order.batches;
  /* A loss that is not finite would spoil the epoch's mean. */
  if (!r->nonfinite_loss && isfinite (r->loss_sum))
    {
      p->epoch_samples += r->n_samples;
      p->epoch_loss_sum += r->loss_sum;
      for (guint i = 0; i < DYNO_MAX_METRICS; i++)
        p->epoch_metric_sums[i] += r->metric_sums[i];
    }
  p->epoch_seconds += dyno_run_clock_measure_step (&run->clock, r->end_us, r->n_samples);
  dyno_health_take_step (&run->health, r->loss_sum / (double) MAX (r->n_samples, 1),
                         !r->nonfinite_loss, !r->overflow || can_scale_down (run, r));
  dyno_run_report_step (run, r);
  p->seconds = dyno_run_clock_get_seconds (&run->clock);
  dyno_run_save_known (run);
  return !has_diverged (run, limit, error);
}

static gboolean
drain (Loop *loop, GError **error)
{
  DynoEngine *engine = loop->run->engine;
  DynoStepResult result;
  gboolean has_result, unfinished;

  return dyno_stepper_drain (engine->stepper, &result, &has_result, &unfinished, error)
         && (!unfinished || dyno_program_abandon_step (dyno_engine_get_program (engine), error))
         && (!has_result || take_result (loop, &result, error));
}

/* --- commands --------------------------------------------------------------------------------- */

/* See schedule.h; the job's max_steps counts from the run's first update. */
static double
find_rate (const Loop *loop, const DynoSettings *s)
{
  guint64 place = loop->run->position.epoch * loop->steps_per_epoch + loop->epoch_step,
          total = (guint64) s->epochs * loop->steps_per_epoch,
          most = (guint64) loop->run->job->max_steps;

  if (is_sweep (loop->run))
    return dyno_lr_sweep_get (&loop->run->session->sweep, loop->step);
  if (most > loop->step)
    total = MAX (total, place + (most - loop->step));
  return dyno_schedule_lr (s, place, loop->steps_per_epoch, total);
}

/* Warns where another number of epochs changes the rate that the schedule gives now. */
static void
report_rate_change (const Loop *loop, const DynoSettings *before)
{
  const DynoSettings *now = &loop->run->engine->job->settings;
  g_autofree char *change =
      dyno_schedule_describe_change (before, find_rate (loop, before), now, find_rate (loop, now));

  if (change && loop->run->job->rank == 0)
    dyno_run_warn (loop->run, "%s", change);
}

/* Takes over a job of the session, and the caller's reference to it.  The engine's settings follow
 * the differences from the job obeyed so far, each in the way that the table defines; settings that
 * the engine adapted stay. */
static void
follow_job (Loop *loop, const DynoJob *job)
{
  DynoRun *run = loop->run;
  DynoSettings *s = &run->engine->job->settings, before = *s;
  guint ways = dyno_settings_follow (s, &run->job->settings, &job->settings);

  if (ways & (1u << DYNO_SETTING_LIVE_STEP))
    report_rate_change (loop, &before);
  if (ways & (1u << DYNO_SETTING_LIVE_LOADER))
    {
      gint64 asked = s->prefetch;

      dyno_engine_renew_loaders (run->engine);
      if (s->prefetch < asked)
        dyno_run_warn (run,
                       _ ("Prefetch is %u: this run's page-locked memory has no room for more"),
                       (guint) s->prefetch);
    }
  dyno_job_unref (run->job);
  run->job = job;
  dyno_run_write_settings (run);
}

/* Waits for a command; with several ranks only for a short time, since they have to find out about
 * commands together. */
static void
wait_in_pause (DynoRun *run)
{
  DynoSession *session = run->session;
  gint64 began = dyno_run_clock_now (&run->clock), until = g_get_monotonic_time () + RANKS_PAUSE_US;

  if (!session->comm || dyno_session_get_state (session) != DYNO_SESSION_PAUSED)
    dyno_session_set_state (session, DYNO_SESSION_PAUSED);
  g_mutex_lock (&session->lock);
  while (session->pause && !session->stop && !session->checkpoint && !session->release)
    if (!session->comm)
      g_cond_wait (&session->wake, &session->lock);
    else if (!g_cond_wait_until (&session->wake, &session->lock, until))
      break;
  g_mutex_unlock (&session->lock);
  dyno_run_clock_end_pause (&run->clock, began);
}

/* Ends the epoch once the first batches of its validation can have been decoded, as in a whole
 * epoch; an epoch that ends before that stays whole. */
static void
end_early (Loop *loop, guint validation_batches)
{
  DynoEngine *engine = loop->run->engine;
  guint64 micro = dyno_engine_count_micro (engine),
          ahead = (guint64) engine->job->settings.prefetch + DYNO_PIPE_SLOTS;

  if (loop->epoch_step + ahead / micro + 1 >= loop->last_step)
    return;
  loop->last_step = loop->epoch_step + ahead / micro + 1;
  loop->validation_batches = validation_batches;
}

typedef struct {
  const DynoJob *changed; /* NULL: the job is unchanged */
  gboolean pause, checkpoint, end_epoch, release;
  guint validation_batches;
  DynoStop stop;
} Orders;

/* Takes the commands that this session received. */
static void
take_orders (DynoRun *run, Orders *orders)
{
  DynoSession *session = run->session;

  g_mutex_lock (&session->lock);
  *orders = (Orders){ .changed = session->job != run->job ? dyno_job_ref (session->job) : NULL,
                      .pause = session->pause,
                      .checkpoint = session->checkpoint,
                      .stop = session->stop,
                      .end_epoch = session->end_epoch,
                      .validation_batches = session->validation_batches,
                      .release = session->release };
  session->checkpoint = session->end_epoch = session->release = FALSE;
  g_mutex_unlock (&session->lock);
}

/* Replaces the orders by those of all ranks.  Orders for a single process are left out: memory is
 * not freed in a pause, and epochs do not end early. */
static gboolean
share_orders (DynoRun *run, Orders *orders, GError **error)
{
  DynoSession *session = run->session;
  DynoRankOrders all = { orders->stop, orders->checkpoint, orders->pause, orders->changed != NULL };
  g_autoptr (DynoJob) mine = (DynoJob *) g_steal_pointer (&orders->changed);

  gint64 begin_us = g_get_monotonic_time ();

  if (!dyno_ranks_agree (session->comm, &all, error))
    return FALSE;
  dyno_stepper_add_wait (run->engine->stepper, g_get_monotonic_time () - begin_us);
  *orders = (Orders){ .pause = all.pause != 0,
                      .checkpoint = all.checkpoint != 0,
                      .stop = (DynoStop) all.stop };
  if (!all.changed)
    return TRUE;
  orders->changed = dyno_ranks_share_job (session->comm, mine ? mine : run->job, error);
  if (!orders->changed || run->job->rank == 0)
    return orders->changed != NULL;
  g_mutex_lock (&session->lock);
  dyno_job_unref (session->job);
  session->job = dyno_job_ref (orders->changed);
  g_mutex_unlock (&session->lock);
  return TRUE;
}

/* Obeys the commands that have arrived; a stop is an outcome. */
static DynoRunOutcome
obey (Loop *loop, GError **error)
{
  DynoRun *run = loop->run;
  DynoSession *session = run->session;
  gboolean paused = FALSE;

  for (;;)
    {
      gboolean release;
      Orders orders;

      take_orders (run, &orders);
      if (session->comm && !share_orders (run, &orders, error))
        return DYNO_RUN_FAILED;
      release = orders.release;
      if (orders.changed)
        follow_job (loop, orders.changed);
      if (orders.end_epoch)
        end_early (loop, orders.validation_batches);
      if (orders.stop)
        return orders.stop == DYNO_STOP_NOW ? DYNO_RUN_ENDED : DYNO_RUN_STOPPED;
      if (orders.checkpoint && !dyno_run_get_folder (run) && run->job->rank == 0)
        dyno_run_warn (run, _ ("The run has no folder to save a checkpoint in"));
      if (orders.checkpoint)
        dyno_run_ask_save (run);
      if (!orders.pause)
        break;
      if (!drain (loop, error) || (dyno_run_is_save_asked (run) && !dyno_run_save_last (run, error))
          || (release && !dyno_run_save_all (run, &release, error)))
        return DYNO_RUN_FAILED;
      if (release)
        return DYNO_RUN_RELEASE;
      wait_in_pause (run);
      paused = TRUE;
    }
  if (paused)
    {
      dyno_session_set_state (session, DYNO_SESSION_RUNNING);
      dyno_run_skip_ranks (run);
    }
  return DYNO_RUN_GOES_ON;
}

static DynoRunOutcome
stop_asked (DynoRun *run)
{
  DynoStop stop;

  g_mutex_lock (&run->session->lock);
  stop = run->session->stop;
  g_mutex_unlock (&run->session->lock);
  return stop == DYNO_STOP_NOW ? DYNO_RUN_ENDED : stop ? DYNO_RUN_STOPPED : DYNO_RUN_GOES_ON;
}

/* --- steps ------------------------------------------------------------------------------------ */

static gboolean
is_last_step (const Loop *loop)
{
  gint64 most = loop->run->job->max_steps;

  return most > 0 && loop->step >= (guint64) most;
}

static DynoStepOrder
next_order (const Loop *loop)
{
  const DynoEngine *engine = loop->run->engine;
  const DynoSettings *s = &engine->job->settings;
  guint64 batches = engine->training.n_samples / (guint64) s->batch_size * engine->parts,
          each = dyno_engine_count_micro (engine) * MAX (engine->job->ranks, 1);

  return (DynoStepOrder){ .step = loop->step,
                          .epoch = loop->run->position.epoch,
                          .batches = (guint) MIN (each, batches - loop->epoch_step * each),
                          .lr = find_rate (loop, s) };
}

/* When a checkpoint is due, takes the state after the submitted steps.  Without a snapshot this
 * waits, which does not count as time of a step.  With several ranks, the rank that saves takes the
 * last result here, the others after they have submitted their next step; no other sum over the
 * ranks may be in between. */
static gboolean
save_if_due (Loop *loop, GError **error)
{
  DynoRun *run = loop->run;

  if (!dyno_run_save_is_due (run, loop->step))
    return TRUE;
  if (run->engine->snapshot)
    return dyno_pipe_settle (run->engine->training.pipe, run->session->hard, error)
           && dyno_run_save (run, loop->step, FALSE, error);
  if (!drain (loop, error) || !dyno_run_save (run, loop->step, FALSE, error))
    return FALSE;
  dyno_run_clock_end_save (&run->clock);
  dyno_run_skip_ranks (run);
  return TRUE;
}

/* Starts the validation's loader once the training's loader has nothing more to decode in this
 * epoch. */
static void
begin_validation (Loop *loop)
{
  DynoEngine *engine = loop->run->engine;
  guint64 left = loop->last_step - loop->epoch_step;
  const DynoSettings *s = &engine->job->settings;

  if (loop->validation_begun || !engine->validation.uploader || is_sweep (loop->run)
      || left * dyno_engine_count_micro (engine) > (guint64) s->prefetch + DYNO_PIPE_SLOTS)
    return;
  dyno_loader_start_epoch (dyno_uploader_get_loader (engine->validation.uploader), 0, 0);
  loop->validation_begun = TRUE;
}

static void
start_loader (Loop *loop, guint64 epoch, guint64 epoch_step)
{
  DynoEngine *engine = loop->run->engine;

  if (engine->training.uploader)
    dyno_loader_start_epoch (dyno_uploader_get_loader (engine->training.uploader), epoch,
                             epoch_step * dyno_engine_count_micro (engine));
}

static DynoLoader *
try_training (gpointer data)
{
  Loop *loop = data;

  start_loader (loop, loop->run->position.epoch, loop->epoch_step);
  return dyno_uploader_get_loader (loop->run->engine->training.uploader);
}

static void
restart_validation_ahead (gpointer data)
{
  Loop *loop = data;

  if (loop->validation_begun)
    dyno_loader_start_epoch (dyno_uploader_get_loader (loop->run->engine->validation.uploader), 0,
                             0);
}

static const DynoRunRestart restart_training = { try_training, restart_validation_ahead };

/* Pauses for a disk or server that does not respond; any other problem fails the run. */
static DynoRunOutcome
reconnect (Loop *loop, const DynoRunRestart *restart, GError *problem, GError **error)
{
  if (!g_error_matches (problem, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNREACHABLE)
      || loop->run->session->comm) /* the other ranks are in the middle of a step */
    {
      g_propagate_error (error, g_error_copy (problem));
      return DYNO_RUN_FAILED;
    }
  return drain (loop, error) ? dyno_run_reconnect (loop->run, restart, loop, problem, error)
                             : DYNO_RUN_FAILED;
}

/* Submits the steps up to the end of the epoch; the last one may still be in flight. */
static DynoRunOutcome
run_steps (Loop *loop, GError **error)
{
  DynoRun *run = loop->run;
  DynoSession *session = run->session;

  while (loop->epoch_step < loop->last_step && !is_last_step (loop))
    {
      DynoRunOutcome outcome = obey (loop, error);
      g_autoptr (GError) problem = NULL;
      DynoStepResult result;
      gboolean has_result, ran;

      if (outcome == DYNO_RUN_STOPPED && !drain (loop, error))
        return DYNO_RUN_FAILED;
      if (outcome != DYNO_RUN_GOES_ON)
        return outcome;
      if (!save_if_due (loop, error))
        return DYNO_RUN_FAILED;
      begin_validation (loop);
      DynoStepOrder order = next_order (loop);
      ran = dyno_stepper_run (run->engine->stepper, &order, &run->engine->job->settings,
                              session->soft, session->hard, &result, &has_result, &problem);
      if (has_result && !take_result (loop, &result, error))
        return DYNO_RUN_FAILED;
      if (!ran && g_error_matches (problem, G_IO_ERROR, G_IO_ERROR_CANCELLED) && session->comm)
        return DYNO_RUN_ENDED; /* the other ranks are in the middle of this step */
      if (!ran && g_error_matches (problem, G_IO_ERROR, G_IO_ERROR_CANCELLED))
        continue; /* a stop, which obey handles */
      if (!ran
          && (outcome = reconnect (loop, &restart_training, problem, error)) != DYNO_RUN_GOES_ON)
        return outcome;
      if (!ran)
        continue;
      loop->step++;
      loop->epoch_step++;
    }
  return DYNO_RUN_GOES_ON;
}

/* --- epochs ----------------------------------------------------------------------------------- */

static gboolean
drain_steps (gpointer data, GError **error)
{
  return drain (data, error);
}

/* Validates.  The epoch's last step is in flight when this begins, and has finished when it
 * ends. */
static gboolean
evaluate (Loop *loop, DynoEpochMetrics *metrics, GError **error)
{
  DynoRun *run = loop->run;
  DynoSession *session = run->session;
  DynoEngine *engine = run->engine;
  DynoEvaluateParams params = { .pipe = engine->validation.pipe,
                                .figures = engine->figures,
                                .watch = engine->watch,
                                .comm = session->comm,
                                .seed = (guint64) engine->job->settings.seed,
                                .most_batches = loop->validation_batches,
                                .begun = drain_steps,
                                .data = loop };
  DynoEvaluation evaluation;
  DynoLoader *loader =
      engine->validation.uploader ? dyno_uploader_get_loader (engine->validation.uploader) : NULL;

  metrics->val_loss = (double) NAN;
  for (guint i = 0; i < DYNO_MAX_RUN_METRICS; i++)
    metrics->val_metrics[i] = (double) NAN;
  if (!engine->validation.pipe || !loader || is_sweep (run))
    return drain (loop, error);
  if (!loop->validation_begun)
    dyno_loader_start_epoch (loader, 0, 0);
  loop->validation_begun = FALSE;
  params.loader = loader;
  if (!dyno_pipe_settle (engine->training.pipe, session->hard, error)
      || !dyno_evaluate (&params, session->comm ? session->hard : session->soft, &evaluation,
                         error))
    return FALSE;
  metrics->val_loss = evaluation.loss;
  memcpy (metrics->val_metrics, evaluation.metrics, sizeof evaluation.metrics);
  return TRUE;
}

static DynoLoader *
try_validation (gpointer data)
{
  Loop *loop = data;
  DynoLoader *loader = dyno_uploader_get_loader (loop->run->engine->validation.uploader);

  dyno_loader_start_epoch (loader, 0, 0);
  loop->validation_begun = TRUE;
  return loader;
}

static void
restart_training_ahead (gpointer data)
{
  Loop *loop = data;

  start_loader (loop, loop->run->position.epoch + 1, 0);
}

static const DynoRunRestart restart_validation = { try_validation, restart_training_ahead };

static void
describe_epoch (DynoRun *run, DynoEpochMetrics *metrics)
{
  const DynoPosition *p = &run->position;
  const DynoMetricInfo *infos;
  guint n_of_loss = dyno_network_get_metrics (dyno_engine_get_graph (run->engine), &infos);
  double n = (double) p->epoch_samples;

  metrics->epoch = p->epoch + 1;
  metrics->step = p->step;
  metrics->train_loss = p->epoch_samples ? p->epoch_loss_sum / n : (double) NAN;
  for (guint i = 0; i < DYNO_MAX_RUN_METRICS; i++)
    metrics->train_metrics[i] = (double) NAN;
  for (guint i = 0; i < MIN (n_of_loss, DYNO_MAX_METRICS) && p->epoch_samples; i++)
    metrics->train_metrics[i] = p->epoch_metric_sums[i] / n;
  metrics->samples_per_s =
      dyno_run_clock_take_epoch_rate (&run->clock, p->epoch_samples, p->epoch_seconds);
}

/* Warns of a validation loss that is not finite, once until it is finite again; not where the
 * training loss already shows the problem. */
static void
check_validation (DynoRun *run, const DynoEpochMetrics *metrics)
{
  gboolean validated = run->engine->validation.n_samples > 0,
           finite = isfinite (metrics->val_loss) || run->health.bad_row > 0;

  if (validated && !finite && !run->validation_warned)
    dyno_run_warn (run,
                   _ ("The validation loss of epoch %" PRIu64
                      " is not finite: a sample of the validation part is too "
                      "large for the network%s; remove outliers or scale the data"),
                   metrics->epoch,
                   run->engine->job->settings.amp ? _ (" in fp16 (amp=false holds larger ones)")
                                                  : "");
  run->validation_warned = validated && !finite;
}

static void
check_learning (DynoRun *run, const DynoEpochMetrics *metrics)
{
  const DynoSettings *s = &run->engine->job->settings;
  DynoTask task = dyno_dataset_get_task (dyno_dataset_get_info (run->dataset));
  gboolean classes = task == DYNO_TASK_CLASSES || task == DYNO_TASK_PIXELS;
  g_autofree char *advice = NULL;

  advice = s->lr == 0 ? g_strdup (_ ("lr is 0, so no step changes the weights: set one"))
                      : g_strdup_printf (_ ("try another lr than %g (a tenth, or ten times as "
                                            "much), and look whether the targets belong to the "
                                            "samples"),
                                         s->lr);
  if (dyno_health_take_epoch (&run->health, metrics->train_loss, metrics->step))
    dyno_run_warn (run,
                   ngettext ("Nothing is learned: after %" PRIu64
                             " epoch the training loss of %.4g is no better than %.4g, that of a "
                             "constant prediction%s; %s",
                             "Nothing is learned: after %" PRIu64
                             " epochs the training loss of %.4g is no better than %.4g, that of a "
                             "constant prediction%s; %s",
                             (gulong) metrics->epoch),
                   metrics->epoch, metrics->train_loss, run->health.guess,
                   !classes ? "" : _ (" (ln of the number of classes, where these are even)"),
                   advice);
}

/* Ends an epoch whose last step is in flight: validation, log, checkpoint; the position moves to
 * the next epoch. */
static DynoRunOutcome
end_epoch (Loop *loop, GError **error)
{
  DynoRun *run = loop->run;
  DynoPosition *p = &run->position;
  g_autoptr (GError) problem = NULL;
  DynoEpochMetrics metrics = { 0 };
  gboolean best;

  while (!evaluate (loop, &metrics, &problem))
    {
      DynoRunOutcome outcome;

      if (g_error_matches (problem, G_IO_ERROR, G_IO_ERROR_CANCELLED))
        return stop_asked (run);
      outcome = reconnect (loop, &restart_validation, problem, error);
      if (outcome != DYNO_RUN_GOES_ON)
        return outcome;
      g_clear_error (&problem);
    }
  if (!dyno_run_share_unreadable (run, error))
    return DYNO_RUN_FAILED;
  describe_epoch (run, &metrics);
  dyno_run_clock_end_validation (&run->clock, &metrics.validation_seconds, &metrics.saving_seconds);
  metrics.seconds = p->epoch_seconds + metrics.validation_seconds;
  p->seconds = dyno_run_clock_get_seconds (&run->clock);
  best = dyno_run_take_validation (run, &metrics);
  dyno_run_report_epoch (run, &metrics);
  if (!is_sweep (run))
    {
      check_validation (run, &metrics);
      check_learning (run, &metrics);
    }
  p->epoch++;
  p->epoch_step = p->epoch_samples = 0;
  p->epoch_loss_sum = p->epoch_seconds = 0;
  memset (p->epoch_metric_sums, 0, sizeof p->epoch_metric_sums);
  loop->epoch_step = loop->validation_batches = 0;
  loop->last_step = loop->steps_per_epoch;
  if (!dyno_run_save (run, p->step, best, error))
    return DYNO_RUN_FAILED;
  dyno_run_clock_end_epoch (&run->clock);
  return DYNO_RUN_GOES_ON;
}

/* Trains from the run's position to its end, or until it is stopped. */
static DynoRunOutcome
run_epochs (Loop *loop, GError **error)
{
  DynoRun *run = loop->run;
  DynoEngine *engine = run->engine;
  gboolean started = FALSE;

  while (run->position.epoch < (guint64) engine->job->settings.epochs || run->job->max_steps > 0)
    {
      DynoRunOutcome outcome;

      if (is_last_step (loop) || (loop->epoch_step == 0 && dyno_run_stops_early (run)))
        break;
      if (!started)
        start_loader (loop, run->position.epoch, loop->epoch_step);
      started = FALSE;
      outcome = run_steps (loop, error);
      if (outcome == DYNO_RUN_GOES_ON && loop->epoch_step >= loop->last_step)
        {
          /* Workers decode for the next epoch during the validation. */
          start_loader (loop, run->position.epoch + 1, 0);
          started = TRUE;
          outcome = end_epoch (loop, error);
        }
      if (outcome != DYNO_RUN_GOES_ON)
        return outcome;
    }
  return drain (loop, error) && !has_diverged (run, BAD_STEPS_LAST, error) ? DYNO_RUN_FINISHED
                                                                           : DYNO_RUN_FAILED;
}

/* Saves a run that fails for a reason such as unreadable data; the reported error stays the
 * original one.  A run without a step is not saved. */
static void
rescue (Loop *loop, const GError *reason)
{
  g_autoptr (GError) problem = NULL;

  if (loop->run->session->comm /* the other ranks do not finish the step */
      || g_error_matches (reason, DYNO_GPU_ERROR, DYNO_GPU_ERROR_DEVICE_LOST)
      || g_error_matches (reason, DYNO_GPU_ERROR, DYNO_GPU_ERROR_TIMEOUT)
      || g_error_matches (reason, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DIVERGED))
    return;
  if (!drain (loop, &problem)
      || (dyno_run_has_begun (loop->run) && !dyno_run_save_last (loop->run, &problem)))
    g_info ("The checkpoint at the end was not saved: %s", problem->message);
}

static gboolean
has_all_epochs (const DynoRun *run)
{
  return run->position.epoch >= (guint64) run->engine->job->settings.epochs;
}

DynoRunOutcome
dyno_run_loop (DynoRun *run, GError **error)
{
  Loop loop = { .run = run, .step = run->position.step, .epoch_step = run->position.epoch_step };
  g_autoptr (GError) problem = NULL;
  DynoRunOutcome outcome;
  gboolean saved = TRUE;

  loop.steps_per_epoch = dyno_job_count_steps (
      &run->engine->job->settings, run->engine->training.n_samples, run->engine->job->ranks);
  loop.last_step = loop.steps_per_epoch;
  dyno_run_clock_begin_steps (&run->clock);
  run->health.guess =
      dyno_health_guess (run->dataset, run->engine->training.indices,
                         dyno_network_get_n_scaled (dyno_engine_get_graph (run->engine)) > 0,
                         dyno_network_get_n_weighted (dyno_engine_get_graph (run->engine)) > 0);
  dyno_run_report_facts (run);
  outcome = run_epochs (&loop, &problem);
  if (outcome == DYNO_RUN_FAILED)
    rescue (&loop, problem);
  else if (outcome == DYNO_RUN_STOPPED
           || (outcome == DYNO_RUN_FINISHED
               && (run->position.epoch_step > 0 || dyno_run_is_save_asked (run)
                   || (run->job->saves_at_end
                       && !(run->job->no_last_checkpoint && has_all_epochs (run))))))
    saved = drain (&loop, &problem) && dyno_run_save_last (run, &problem);
  else if (outcome == DYNO_RUN_FINISHED)
    saved = dyno_run_flush_saves (run, &problem);
  if (problem)
    g_propagate_error (error, g_steal_pointer (&problem));
  return saved ? outcome : DYNO_RUN_FAILED;
}
