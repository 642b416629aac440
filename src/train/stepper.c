/* SPDX-License-Identifier: MIT */
/* Steps.  Invariants: a submission is followed by the retirement of the submission before it, so
 * that the device always has the next one queued while the host waits; the batches of a step give
 * one result, with the last batch. */
#include "stepper.h"
#include "data-error.h"
#include "ranks.h"

/* Loss scaling.  PyTorch waits 2000 steps before it doubles the scale; here the scale of the first
 * steps starts lower, so that no step is lost to an overflow, and grows faster. */
#define SCALE_CLIMB_STEPS  2000
#define SCALE_CLIMB_GROWTH 100
#define SCALE_GROWTH       2000
#define SCALE_MOST         16777216.0f

struct _DynoStepper {
  DynoPipe *pipe;
  DynoComm *comm; /* NULL: this is the only rank */
  guint turn;
  gint64 wait_us;                        /* time of waiting since the last result */
  DynoStepOrder orders[DYNO_PIPE_SLOTS]; /* of the submissions in flight, oldest first */
  gboolean last[DYNO_PIPE_SLOTS];        /* TRUE: it is the last batch of its step */
  DynoStepResult sum;                    /* sums of the step that is being retired */
  guint n_begun;                         /* batches of a step that was not submitted completely */
  DynoRankStep *ranks;                   /* of the last result; NULL: this is the only rank */
  gint64 others_us;          /* time of waiting for the other ranks since the last result */
  gint64 exposed_us, sum_us; /* totals of the exchange, up to the last result */
};

DynoStepper *
dyno_stepper_new (DynoPipe *pipe)
{
  DynoStepper *stepper = g_new0 (DynoStepper, 1);

  stepper->pipe = pipe;
  return stepper;
}

void
dyno_stepper_set_comm (DynoStepper *stepper, DynoComm *comm, guint turn)
{
  stepper->comm = comm;
  stepper->turn = turn;
  g_free (stepper->ranks);
  stepper->ranks = comm ? g_new0 (DynoRankStep, dyno_comm_get_size (comm)) : NULL;
}

void
dyno_stepper_add_wait (DynoStepper *stepper, gint64 wait_us)
{
  stepper->others_us += wait_us;
}

void
dyno_stepper_free (DynoStepper *stepper)
{
  if (!stepper)
    return;
  g_free (stepper->ranks);
  g_free (stepper);
}

void
dyno_step_fill_input (struct DynoStepInput *input, const DynoStepOrder *order,
                      const DynoSettings *settings)
{
  const DynoOptimizerInfo *optimizer =
      dyno_optimizer_get_info ((DynoOptimizer) settings->optimizer);
  guint64 seed = (guint64) settings->seed;

  *input = (struct DynoStepInput){
    .step = (guint32) order->step,
    .seed_low = (guint32) seed,
    .seed_high = (guint32) (seed >> 32),
    .loss_divisor = (float) order->batches,
    .lr = (float) order->lr,
    .momentum = (float) (optimizer->has_momentum ? settings->momentum : optimizer->beta1),
    .beta2 = (float) optimizer->beta2,
    .weight_decay = (float) settings->weight_decay,
    .epsilon = (float) optimizer->epsilon,
    .clip_norm = (float) settings->clip_norm,
    .clip_value = (float) settings->clip_value,
    .first_update = order->step == 0,
    .loss_scale_min = DYNO_STEP_SCALE_LEAST,
    .loss_scale_max = SCALE_MOST,
    .scale_growth_interval = order->step < SCALE_CLIMB_STEPS ? SCALE_CLIMB_GROWTH : SCALE_GROWTH,
  };
}

/* Sums the result over all ranks, and exchanges how each rank used its time since the result
 * before.  The time of this sum itself counts for the next step, since it is known only
 * afterwards. */
static gboolean
share (DynoStepper *s, DynoStepResult *result, GError **error)
{
  gint64 exposed_us = dyno_pipe_get_exposed (s->pipe), begin_us = g_get_monotonic_time (),
         sum_us = dyno_comm_get_sum_time (s->comm);
  DynoRankStep mine = { .samples = (double) result->n_samples,
                        .wait_ms = (double) (s->others_us + exposed_us - s->exposed_us) / 1000.0,
                        .data_ms = result->wait_ms,
                        .sum_ms = (double) (sum_us - s->sum_us) / 1000.0 };

  for (guint i = 0; i < 3; i++)
    mine.device_ms += result->stage_ms[i];
  if (!dyno_ranks_sum_step (s->comm, result, &mine, s->ranks, error))
    return FALSE;
  s->exposed_us = exposed_us;
  s->sum_us = sum_us;
  s->others_us = g_get_monotonic_time () - begin_us;
  result->ranks = s->ranks;
  return TRUE;
}

/* Adds the oldest submission to its step's sums; *has_result is set when it was the step's last. */
static gboolean
retire (DynoStepper *s, DynoStepResult *result, gboolean *has_result, GError **error)
{
  DynoStepResult *sum = &s->sum;
  DynoPipeResult done;
  gboolean last = s->last[0];

  if (!dyno_pipe_retire (s->pipe, &done, error))
    return FALSE;
  sum->order = s->orders[0];
  for (guint i = 1; i < DYNO_PIPE_SLOTS; i++)
    {
      s->orders[i - 1] = s->orders[i];
      s->last[i - 1] = s->last[i];
    }
  sum->n_samples += done.output.n_valid;
  sum->loss_sum += done.output.loss_sum;
  for (guint i = 0; i < DYNO_MAX_METRICS; i++)
    sum->metric_sums[i] += done.output.metric_sums[i];
  sum->nonfinite_loss |= done.output.nonfinite_loss != 0;
  sum->upload_ms += done.upload_ms;
  sum->host_copy_ms += done.host_copy_ms;
  for (guint i = 0; i < 3; i++)
    sum->stage_ms[i] += done.stage_us[i] / 1000.0;
  if (!last)
    return TRUE;
  sum->grad_norm = done.output.grad_norm;
  sum->overflow = done.output.overflow != 0;
  sum->loss_scale = done.output.loss_scale;
  sum->end_us = done.end_us;
  sum->wait_ms = (double) s->wait_us / 1000.0;
  s->wait_us = 0;
  *result = *sum;
  *sum = (DynoStepResult){ 0 };
  if (s->comm && !share (s, result, error))
    return FALSE;
  *has_result = TRUE;
  return TRUE;
}

/* The index of a rank's batch among the batches of the step over all ranks, from which the step's
 * random numbers follow. */
static guint32
find_place (const DynoStepper *s, guint batch)
{
  guint ranks = s->comm ? dyno_comm_get_size (s->comm) : 1;
  guint rank = s->comm ? dyno_comm_get_rank (s->comm) : 0, turn = MAX (s->turn, 1);

  return (batch / turn * ranks + rank) * turn + batch % turn;
}

/* The number of this rank's batches of a step, which are distributed by turns. */
static guint
count_own (const DynoStepper *s, guint batches)
{
  guint ranks = s->comm ? dyno_comm_get_size (s->comm) : 1;
  guint rank = s->comm ? dyno_comm_get_rank (s->comm) : 0, turn = MAX (s->turn, 1);
  guint rest = batches % (ranks * turn);

  return batches / (ranks * turn) * turn + MIN (rest - MIN (rest, rank * turn), turn);
}

gboolean
dyno_stepper_run (DynoStepper *s, const DynoStepOrder *order, const DynoSettings *settings,
                  GCancellable *soft, GCancellable *hard, DynoStepResult *result,
                  gboolean *has_result, GError **error)
{
  DynoCommandKind whole = s->comm ? DYNO_COMMAND_PIECES : DYNO_COMMAND_FULL;
  guint own = count_own (s, order->batches);
  struct DynoStepInput input;

  *has_result = FALSE;
  dyno_step_fill_input (&input, order, settings);
  for (guint batch = 0; batch < MAX (own, 1); batch++)
    {
      gboolean last = batch + 1 >= own;
      guint pending = dyno_pipe_get_pending (s->pipe);
      guint32 n_valid = 0;

      input.micro_step = find_place (s, batch);
      if (own == 0 ? !dyno_pipe_submit_blank (s->pipe, &input, hard, error)
                   : !dyno_pipe_submit (s->pipe, last ? whole : DYNO_COMMAND_ACCUMULATE, &input,
                                        batch == 0 && !s->comm ? soft : hard, &n_valid, &s->wait_us,
                                        error))
        return FALSE;
      if (own > 0 && n_valid == 0)
        {
          g_set_error (
              error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT,
              "The epoch ended before its last step; the data set changed while it was read");
          return FALSE;
        }
      s->n_begun = last ? 0 : batch + 1;
      s->orders[pending] = *order;
      s->last[pending] = last;
      while (dyno_pipe_get_pending (s->pipe) >= DYNO_PIPE_SLOTS)
        if (!retire (s, result, has_result, error))
          return FALSE;
    }
  return TRUE;
}

gboolean
dyno_stepper_drain (DynoStepper *s, DynoStepResult *result, gboolean *has_result,
                    gboolean *unfinished, GError **error)
{
  *has_result = FALSE;
  *unfinished = s->n_begun > 0;
  while (dyno_pipe_get_pending (s->pipe) > 0)
    if (!retire (s, result, has_result, error))
      return FALSE;
  if (*unfinished)
    s->sum = (DynoStepResult){ 0 };
  s->n_begun = 0;
  return TRUE;
}
