/* SPDX-License-Identifier: MIT */
/* Validation: only the forward pass, in file order, without augmentation.  Sums are in double,
 * so that they do not depend on the batch size. */
#include "evaluate.h"
#include "ranks.h"
#include <math.h>

static gboolean
retire (const DynoEvaluateParams *params, DynoEvaluation *sum, GError **error)
{
  DynoPipeResult done;

  if (!dyno_pipe_retire (params->pipe, &done, error))
    return FALSE;
  sum->n_samples += done.output.n_valid;
  sum->loss += done.output.loss_sum;
  for (guint i = 0; i < DYNO_MAX_METRICS; i++)
    sum->metrics[i] += done.output.metric_sums[i];
  if (params->figures)
    dyno_figures_add (params->figures, done.slot, done.n_taken);
  if (params->watch)
    dyno_mask_watch_take (params->watch, params->loader, done.slot, done.n_taken);
  return TRUE;
}

/* TRUE: a batch is decoded, so that submitting it will not wait. */
static gboolean
is_ready (DynoLoader *loader)
{
  DynoLoaderStats stats;

  dyno_loader_get_stats (loader, &stats);
  return stats.ready > 0;
}

static gboolean
sum_batches (const DynoEvaluateParams *params, GCancellable *cancellable, DynoEvaluation *all,
             GError **error)
{
  struct DynoStepInput input = { .seed_low = (guint32) params->seed,
                                 .seed_high = (guint32) (params->seed >> 32),
                                 .loss_divisor = 1 };
  gboolean reported = FALSE;
  guint32 n_valid = 1;
  guint64 n_queued = 0;
  gint64 wait_us = 0;

  while (n_valid > 0)
    {
      if (!reported && (n_queued > 0 || !is_ready (params->loader)))
        {
          reported = TRUE;
          if (!params->begun (params->data, error))
            return FALSE;
        }
      if (params->most_batches > 0 && n_queued >= params->most_batches)
        n_valid = 0;
      else if (!dyno_pipe_submit (params->pipe, DYNO_COMMAND_FORWARD, &input, cancellable, &n_valid,
                                  &wait_us, error))
        return FALSE;
      if (n_valid > 0 && params->watch
          && !dyno_mask_watch_follow (params->watch, params->pipe, n_valid, error))
        return FALSE;
      n_queued++;
      while (dyno_pipe_get_pending (params->pipe) >= (n_valid > 0 ? DYNO_PIPE_SLOTS : 1))
        if (!retire (params, all, error))
          return FALSE;
    }
  return TRUE;
}

gboolean
dyno_evaluate (const DynoEvaluateParams *params, GCancellable *cancellable,
               DynoEvaluation *evaluation, GError **error)
{
  DynoFigures *figures = params->figures;
  DynoEvaluation sum = { 0 };
  DynoPipeResult unused;
  double scale = 1;

  if (figures)
    dyno_figures_reset (figures);
  if (params->watch)
    dyno_mask_watch_begin (params->watch);
  if (!sum_batches (params, cancellable, &sum, error))
    {
      while (dyno_pipe_get_pending (params->pipe) > 0
             && dyno_pipe_retire (params->pipe, &unused, NULL))
        ;
      return FALSE;
    }
  if (params->comm
      && (!dyno_ranks_sum_evaluation (params->comm, &sum, error)
          || (figures && !dyno_figures_sum (figures, params->comm, error))))
    return FALSE;
  if (figures)
    scale = dyno_figures_get_scale (figures, sum.n_samples);
  evaluation->n_samples = sum.n_samples;
  evaluation->loss = sum.n_samples ? sum.loss / (double) sum.n_samples * scale : NAN;
  for (guint i = 0; i < DYNO_MAX_RUN_METRICS; i++)
    evaluation->metrics[i] = sum.n_samples ? sum.metrics[i] / (double) sum.n_samples * scale : NAN;
  if (figures)
    dyno_figures_get (figures, evaluation->metrics);
  return TRUE;
}
