/* SPDX-License-Identifier: MIT */
/* Validation: only the forward pass, in file order, without augmentation.  Sums are in double,
 * so that they do not depend on the batch size. */
#include "evaluate.h"
#include "ranks.h"
#include <math.h>

static gboolean
retire (DynoPipe *pipe, DynoEvaluation *sum, GError **error)
{
  DynoPipeResult done;

  if (!dyno_pipe_retire (pipe, &done, error))
    return FALSE;
  sum->n_samples += done.output.n_valid;
  sum->loss += done.output.loss_sum;
  for (guint i = 0; i < DYNO_MAX_METRICS; i++)
    sum->metrics[i] += done.output.metric_sums[i];
  return TRUE;
}

/* A batch is decoded: submitting it will not wait. */
static gboolean
is_ready (DynoLoader *loader)
{
  DynoLoaderStats stats;

  dyno_loader_get_stats (loader, &stats);
  return stats.ready > 0;
}

static gboolean
sum_batches (DynoPipe *pipe, DynoLoader *loader, guint64 seed, guint64 most_batches,
             DynoEvaluateBegun begun, gpointer data, GCancellable *cancellable, DynoEvaluation *all,
             GError **error)
{
  struct DynoStepInput input = { .seed_low = (guint32) seed,
                                 .seed_high = (guint32) (seed >> 32),
                                 .loss_divisor = 1 };
  gboolean told = FALSE;
  guint32 n_valid = 1;
  guint64 n_queued = 0;
  gint64 wait_us = 0;

  while (n_valid > 0)
    {
      if (!told && (n_queued > 0 || !is_ready (loader)))
        {
          told = TRUE;
          if (!begun (data, error))
            return FALSE;
        }
      if (most_batches > 0 && n_queued >= most_batches)
        n_valid = 0;
      else if (!dyno_pipe_submit (pipe, DYNO_COMMAND_FORWARD, &input, cancellable, &n_valid,
                                  &wait_us, error))
        return FALSE;
      n_queued++;
      while (dyno_pipe_get_pending (pipe) >= (n_valid > 0 ? DYNO_PIPE_SLOTS : 1))
        if (!retire (pipe, all, error))
          return FALSE;
    }
  return TRUE;
}

gboolean
dyno_evaluate (DynoPipe *pipe, DynoLoader *loader, DynoComm *comm, guint64 seed,
               guint64 most_batches, DynoEvaluateBegun begun, gpointer data,
               GCancellable *cancellable, DynoEvaluation *evaluation, GError **error)
{
  DynoEvaluation sum = { 0 };
  DynoPipeResult unused;

  if (!sum_batches (pipe, loader, seed, most_batches, begun, data, cancellable, &sum, error))
    {
      while (dyno_pipe_get_pending (pipe) > 0 && dyno_pipe_retire (pipe, &unused, NULL))
        ;
      return FALSE;
    }
  if (comm && !dyno_ranks_sum_evaluation (comm, &sum, error))
    return FALSE;
  evaluation->n_samples = sum.n_samples;
  evaluation->loss = sum.n_samples ? sum.loss / (double) sum.n_samples : NAN;
  for (guint i = 0; i < DYNO_MAX_METRICS; i++)
    evaluation->metrics[i] = sum.n_samples ? sum.metrics[i] / (double) sum.n_samples : NAN;
  return TRUE;
}
