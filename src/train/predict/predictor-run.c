/* SPDX-License-Identifier: MIT */
/* Prediction of the samples of a data set.  Invariant: a batch is reported when it has finished,
 * before its slot is submitted again. */
#include "predictor-private.h"
#include "shares.h"
#include <math.h>
#include <string.h>

#define PREFETCH 2

/* One run over the samples. */
typedef struct {
  DynoPredictor *predictor;
  DynoLoader *loader;
  DynoPipe *pipe;
  const GArray *indices; /* of the samples */
  DynoPredictorFunc func;
  gpointer data;
  guint64 taken;  /* rows of indices */
  gboolean ended; /* func has returned FALSE */
} Run;

static double
add_logs (double a, double b)
{
  return MAX (a, b) + log1p (exp (-fabs (a - b)));
}

/* The logarithm of a label's probability, which is that of its absence for the negative logit. */
static double
log_probability (double logit)
{
  return logit >= 0 ? -log1p (exp (-logit)) : logit - log1p (exp (logit));
}

/* Replaces logits by those of the mean of the probabilities of both, and values by their mean. */
static void
join_mirrored (DynoPredictor *p)
{
  guint32 n = p->info->n_outputs;
  double sum = dyno_shares_sum_logits (p->logits, n),
         sum_before = dyno_shares_sum_logits (p->logits_before, n);

  for (guint32 i = 0; i < n; i++)
    {
      double a = (double) p->logits_before[i], b = (double) p->logits[i];

      if (p->info->is_values)
        p->logits[i] = (float) ((a + b) / 2);
      else if (p->info->is_labels)
        p->logits[i] = (float) (add_logs (log_probability (a), log_probability (b))
                                - add_logs (log_probability (-a), log_probability (-b)));
      else
        p->logits[i] = (float) (add_logs (a - sum_before, b - sum) - log (2));
    }
}

/* The probabilities of the logits. */
static void
fill_shares (DynoPredictor *p)
{
  guint32 n = p->info->n_outputs;

  if (!p->info->is_labels && !p->info->is_values)
    dyno_shares_fill (p->shares, p->logits, n);
  for (guint32 i = 0; i < n && p->info->is_labels; i++)
    p->shares[i] = (float) (1 / (1 + exp (-(double) p->logits[i])));
}

static void
take_logits (DynoPredictor *p, guint build, guint slot, guint32 row)
{
  dyno_readback_get_outputs (p->readbacks[build], slot, row, p->logits);
  for (guint32 i = 0; i < p->info->n_outputs && !p->info->is_values; i++)
    p->logits[i] = (float) ((double) p->logits[i] / p->info->temperature);
}

void
dyno_predictor_take_row (DynoPredictor *p, guint build, guint slot, guint32 row)
{
  take_logits (p, build, slot, row);
  fill_shares (p);
}

/* Takes the mirror image of a sample, whose image was taken before. */
static void
take_mirrored (DynoPredictor *p, guint slot, guint32 row)
{
  take_logits (p, 0, slot, row);
  join_mirrored (p);
  fill_shares (p);
}

/* Why a sample could not be read, or its image where this is the mirror image; g_free. */
static char *
find_problem (Run *run, guint32 place)
{
  char *problem = dyno_loader_find_bad (run->loader, place);

  return problem || !run->predictor->mirrored || place % 2 == 0
             ? problem
             : dyno_loader_find_bad (run->loader, place - 1);
}

/* Reports a sample, or keeps its logits until its mirror image is there. */
static void
report_row (Run *run, guint slot, guint32 row)
{
  DynoPredictor *p = run->predictor;
  guint32 place = (guint32) run->taken++, each = p->mirrored ? 2 : 1;
  g_autofree char *problem = find_problem (run, place);
  DynoPrediction prediction = { .index = g_array_index (run->indices, guint32, place) / each,
                                .problem = problem };

  if (p->mirrored && place % 2 == 0)
    {
      take_logits (p, 0, slot, row);
      memcpy (p->logits_before, p->logits, p->info->n_outputs * sizeof *p->logits);
      return;
    }
  if (!problem && p->info->of_pixels)
    prediction.mask = dyno_readback_get_mask (p->readbacks[0], slot, row);
  else if (!problem)
    {
      if (p->mirrored)
        take_mirrored (p, slot, row);
      else
        dyno_predictor_take_row (p, 0, slot, row);
      prediction.logits = p->logits;
      prediction.shares = p->info->is_values ? NULL : p->shares;
    }
  run->ended = !run->func (&prediction, run->data);
}

static gboolean
retire (Run *run, GError **error)
{
  DynoPipeResult done;

  if (!dyno_pipe_retire (run->pipe, &done, error))
    return FALSE;
  for (guint32 row = 0; row < done.n_taken && !run->ended; row++)
    report_row (run, done.slot, row);
  return TRUE;
}

/* *n_valid becomes 0 where there are no more samples. */
static gboolean
submit (Run *run, guint32 *n_valid, GCancellable *cancellable, GError **error)
{
  static const struct DynoStepInput input = { .loss_divisor = 1 };
  gint64 wait_us = 0;

  return dyno_pipe_submit (run->pipe, DYNO_COMMAND_FORWARD, &input, cancellable, n_valid, &wait_us,
                           error);
}

/* Batches that were submitted before the run was cancelled are reported all the same. */
static gboolean
run_batches (Run *run, GCancellable *cancellable, GError **error)
{
  g_autoptr (GError) problem = NULL;
  guint32 n_valid = 1;

  while (!run->ended && (n_valid > 0 || dyno_pipe_get_pending (run->pipe) > 0))
    {
      if (n_valid > 0
          && (g_cancellable_set_error_if_cancelled (cancellable, &problem)
              || !submit (run, &n_valid, cancellable, &problem)))
        {
          if (!g_error_matches (problem, G_IO_ERROR, G_IO_ERROR_CANCELLED))
            break;
          n_valid = 0;
        }
      while (!run->ended
             && dyno_pipe_get_pending (run->pipe) >= (n_valid > 0 ? DYNO_PIPE_SLOTS : 1))
        if (!retire (run, error))
          return FALSE;
    }
  if (!problem)
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&problem));
  return FALSE;
}

/* The samples that are read: those of indices, NULL: all, and their mirror images. */
static GArray *
list_samples (DynoPredictor *p, const GArray *indices)
{
  GArray *list = g_array_new (FALSE, FALSE, sizeof (guint32));
  guint32 n = indices ? indices->len : (guint32) dyno_dataset_get_info (p->dataset)->n_samples,
          each = p->mirrored ? 2 : 1;

  for (guint32 i = 0; i < n; i++)
    for (guint32 k = 0; k < each; k++)
      {
        guint32 sample = each * (indices ? g_array_index (indices, guint32, i) : i) + k;
        g_array_append_val (list, sample);
      }
  return list;
}

gboolean
dyno_predictor_run (DynoPredictor *p, const GArray *indices, DynoPredictorFunc func, gpointer data,
                    GCancellable *cancellable, GError **error)
{
  g_autoptr (GArray) samples = list_samples (p, indices);
  Run run = { .predictor = p, .indices = samples, .func = func, .data = data };
  DynoLoaderParams params = { .batch = p->params.batch,
                              .width = p->width,
                              .height = p->height,
                              .workers = p->params.workers,
                              .prefetch = PREFETCH,
                              .persistent = TRUE,
                              .blank_bad = TRUE };
  g_autoptr (DynoUploader) uploader = NULL;
  g_autoptr (DynoPipe) pipe = NULL;

  if (run.indices->len == 0)
    return TRUE;
  uploader = dyno_uploader_new (
      p->device, dyno_build_get_memory (p->builds[0]), dyno_build_get_graph (p->builds[0]),
      p->mirrored ? p->mirrored : p->dataset, run.indices, &params, DYNO_PIPE_SLOTS, TRUE, error);
  if (!uploader)
    return FALSE;
  pipe = dyno_pipe_new (p->device, dyno_build_get_program (p->builds[0]), uploader, p->params.batch,
                        p->slot_use);
  dyno_pipe_set_readback (pipe, p->readbacks[0]);
  run.pipe = pipe;
  run.loader = dyno_uploader_get_loader (uploader);
  dyno_loader_start_epoch (run.loader, 0, 0);
  return run_batches (&run, cancellable, error);
}
