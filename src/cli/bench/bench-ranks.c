/* SPDX-License-Identifier: MIT */
/* dynoctl bench under mpirun: a row for all ranks together, beside rank 0 by itself in the same
 * call.
 *
 * Steps are those of a training, including the sum of their results: DynoStepper with the exchange.
 * All ranks make the same number of steps; where it depends on time, rank 0 decides it. */
#include "bench.h"
#include "exchangerate.h"
#include "median.h"
#include "stepper.h"
#include "train-error.h"
#include <math.h>

#define WARM_UP_STEPS 8
#define WARM_UP_US    (300 * G_TIME_SPAN_MILLISECOND)
#define RUNS          3

typedef struct {
  DynoBench *bench;
  DynoSettings settings;
  DynoExchange *exchange;
  gboolean peers; /* whether gradients go from device to device */
  DynoPipe *pipe;
  DynoStepper *alone, *together;
  guint64 last_use[DYNO_PIPE_SLOTS];
  guint64 steps;
  double loss;
} Ranks;

static void
ranks_clear (Ranks *r)
{
  g_clear_pointer (&r->alone, dyno_stepper_free);
  g_clear_pointer (&r->together, dyno_stepper_free);
  g_clear_pointer (&r->pipe, dyno_pipe_free);
  g_clear_pointer (&r->exchange, dyno_exchange_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Ranks, ranks_clear)

static gboolean
ranks_init (Ranks *r, DynoBench *bench, GError **error)
{
  DynoProgram *program = dyno_build_get_program (bench->build);

  r->bench = bench;
  dyno_settings_init (&r->settings);
  r->settings.optimizer = DYNO_OPTIMIZER_SGD;
  r->settings.momentum = 0.9;
  r->settings.weight_decay = 1e-4;
  r->settings.seed = 1;
  r->exchange = dyno_exchange_new (program, dyno_build_get_plan (bench->build), bench->comm,
                                   bench->half && bench->amp, error);
  if (!r->exchange)
    return FALSE;
  dyno_exchange_convert_on_device (r->exchange);
  if (!dyno_exchange_use_peers (r->exchange, dyno_build_get_plan (bench->build), NULL, &r->peers,
                                error))
    return FALSE;
  r->pipe = dyno_pipe_new (bench->device, program, NULL, bench->batch, r->last_use);
  dyno_pipe_set_exchange (r->pipe, r->exchange);
  r->alone = dyno_stepper_new (r->pipe);
  r->together = dyno_stepper_new (r->pipe);
  dyno_stepper_set_comm (r->together, bench->comm, 1);
  return TRUE;
}

static gboolean
run_steps (Ranks *r, DynoStepper *stepper, guint n, GError **error)
{
  guint batches = stepper == r->together ? dyno_comm_get_size (r->bench->comm) : 1;
  DynoStepResult result = { 0 };
  gboolean has_result, unfinished;

  for (guint i = 0; i < n; i++)
    {
      DynoStepOrder order = { .step = r->steps++, .batches = batches, .lr = 0.01 };
      if (!dyno_stepper_run (stepper, &order, &r->settings, NULL, NULL, &result, &has_result,
                             error))
        return FALSE;
    }
  if (!dyno_stepper_drain (stepper, &result, &has_result, &unfinished, error))
    return FALSE;
  r->loss = result.loss_sum;
  return TRUE;
}

/* Runs steps until the card has reached its clock; with other ranks, until rank 0's card has. */
static gboolean
warm_up (Ranks *r, DynoStepper *stepper, GError **error)
{
  gint64 begin = g_get_monotonic_time ();
  guint32 more;

  do
    {
      if (!run_steps (r, stepper, WARM_UP_STEPS, error))
        return FALSE;
      more = g_get_monotonic_time () - begin < WARM_UP_US;
      if (stepper == r->together
          && !dyno_comm_broadcast (r->bench->comm, &more, sizeof more, 0, error))
        return FALSE;
    }
  while (more);
  return TRUE;
}

static gboolean
measure (Ranks *r, DynoStepper *stepper, guint steps, double *step_ms, GError **error)
{
  double times[RUNS];

  for (guint run = 0; run < RUNS; run++)
    {
      gint64 begin = g_get_monotonic_time ();
      if (!run_steps (r, stepper, steps, error))
        return FALSE;
      times[run] = (double) (g_get_monotonic_time () - begin) / 1e3 / steps;
    }
  *step_ms = dyno_median (times, RUNS);
  if (isfinite (r->loss))
    return TRUE;
  g_set_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DIVERGED,
               "The loss became %g: the measured steps are not valid", r->loss);
  return FALSE;
}

/* Measures rank 0 while the other ranks wait, so that ranks which share a device or a link do not
 * slow it down.  From then on the weights of rank 0 differ from those of the other ranks, which
 * does not affect the time of a step. */
static gboolean
measure_alone (Ranks *r, guint steps, double *step_ms, GError **error)
{
  DynoComm *comm = r->bench->comm;

  *step_ms = 0;
  if (dyno_comm_get_rank (comm) == 0
      && (!warm_up (r, r->alone, error) || !measure (r, r->alone, steps, step_ms, error)))
    return FALSE;
  return dyno_comm_broadcast (comm, step_ms, sizeof *step_ms, 0, error);
}

static gboolean
measure_both (DynoBench *bench, guint steps, DynoBenchRanks *row, GError **error)
{
  g_auto (Ranks) r = { 0 };
  DynoExchangeTimes before, after;
  double n;

  if (!ranks_init (&r, bench, error) || !measure_alone (&r, steps, &row->alone_ms, error)
      || !warm_up (&r, r.together, error))
    return FALSE;
  dyno_exchange_get_times (r.exchange, &before);
  if (!measure (&r, r.together, steps, &row->step_ms, error))
    return FALSE;
  dyno_exchange_get_times (r.exchange, &after);
  n = (double) (after.steps - before.steps);
  row->ranks = dyno_comm_get_size (bench->comm);
  row->hosts = dyno_comm_count_hosts (bench->comm);
  row->images_per_s = row->ranks * bench->batch * 1e3 / row->step_ms;
  row->alone_images_per_s = bench->batch * 1e3 / row->alone_ms;
  row->peers = r.peers;
  row->exchange_bytes = after.bytes;
  row->exchange_buckets = after.buckets;
  row->exchange_ms = (double) (after.total_us - before.total_us) / 1e3 / n;
  row->exposed_ms = (double) (after.exposed_us - before.exposed_us) / 1e3 / n;
  return TRUE;
}

gboolean
dyno_bench_ranks (DynoBench *bench, guint steps, DynoBenchRanks *row, GError **error)
{
  g_autoptr (GError) problem = NULL;

  *row = (DynoBenchRanks){ 0 };
  if (measure_both (bench, steps, row, &problem))
    return TRUE;
  if (problem->domain != DYNO_COMM_ERROR)
    dyno_comm_abort (bench->comm, problem->message);
  g_propagate_error (error, g_steal_pointer (&problem));
  return FALSE;
}
