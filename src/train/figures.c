/* SPDX-License-Identifier: MIT */
/* Figures of a validation. */
#include "figures.h"
#include "gpu-error.h"
#include "labelsums.h"
#include "metric.h"

struct _DynoFigures {
  DynoReadback *readback;
  DynoGraph *trained;
  guint n_of_loss; /* number of metrics before the figures */
  guint32 n_outputs;
  gboolean is_values, is_labels;
  guint64 n_pixels; /* pixels of a sample, each with a class; 0: a sample has one answer */
  DynoClassCounts counts;
  DynoValueSums sums;
  DynoLabelSums labels;
  float *outputs; /* values of one sample */
};

DynoFigures *
dyno_figures_new (DynoGraph *graph, DynoGraph *trained, DynoReadback *readback)
{
  DynoFigures *figures = g_new0 (DynoFigures, 1);
  const DynoTensor *logits = dyno_network_get_logits (graph);
  const DynoMetricInfo *unused, *metrics = dyno_network_get_validation_metrics (graph);

  figures->readback = readback;
  figures->trained = trained;
  figures->n_of_loss = dyno_network_get_metrics (graph, &unused);
  figures->n_outputs = logits->c;
  figures->is_values = metrics == dyno_value_validation_metrics;
  figures->is_labels = metrics == dyno_label_validation_metrics;
  if (metrics == dyno_pixel_validation_metrics)
    figures->n_pixels = (guint64) logits->h * logits->w;
  figures->outputs = g_new0 (float, figures->n_outputs);
  if (figures->is_values)
    dyno_value_sums_init (&figures->sums, figures->n_outputs);
  else if (figures->is_labels)
    dyno_label_sums_init (&figures->labels, figures->n_outputs);
  else
    dyno_class_counts_init (&figures->counts, figures->n_outputs);
  return figures;
}

void
dyno_figures_free (DynoFigures *figures)
{
  if (!figures)
    return;
  dyno_class_counts_clear (&figures->counts);
  dyno_value_sums_clear (&figures->sums);
  dyno_label_sums_clear (&figures->labels);
  g_free (figures->outputs);
  g_free (figures);
}

void
dyno_figures_reset (DynoFigures *figures)
{
  if (figures->is_values)
    dyno_value_sums_reset (&figures->sums);
  else if (figures->is_labels)
    dyno_label_sums_reset (&figures->labels);
  else
    dyno_class_counts_reset (&figures->counts);
}

static void
add_class (DynoFigures *figures, guint slot, guint32 row)
{
  gint32 truth = dyno_readback_get_class (figures->readback, slot, row);

  if (truth < 0 || (guint32) truth >= figures->n_outputs)
    return;
  dyno_class_counts_add (&figures->counts, (guint32) truth,
                         dyno_class_of_logits (figures->outputs, figures->n_outputs));
}

/* The outputs are scaled by mean and deviation, which become a part of the weights when these are
 * saved. */
static void
add_values (DynoFigures *figures, guint slot, guint32 row)
{
  const float *scale = dyno_network_get_target_scale (figures->trained);
  guint32 n = figures->n_outputs;

  for (guint32 i = 0; scale && i < n; i++)
    figures->outputs[i] = figures->outputs[i] * scale[n + i] + scale[i];
  dyno_value_sums_add (&figures->sums, figures->outputs,
                       dyno_readback_get_values (figures->readback, slot, row));
}

void
dyno_figures_add (DynoFigures *figures, guint slot, guint32 n_samples)
{
  if (figures->n_pixels > 0)
    {
      dyno_class_counts_add_table (&figures->counts,
                                   dyno_readback_get_counts (figures->readback, slot));
      return;
    }
  for (guint32 row = 0; row < n_samples; row++)
    {
      dyno_readback_get_outputs (figures->readback, slot, row, figures->outputs);
      if (figures->is_values)
        add_values (figures, slot, row);
      else if (figures->is_labels)
        dyno_label_sums_add (&figures->labels, figures->outputs,
                             dyno_readback_get_values (figures->readback, slot, row), NULL, NULL);
      else
        add_class (figures, slot, row);
    }
}

/* Replaces the samples of this rank by those of all ranks, in the order of the ranks: each adds its
 * own to zeros, at a place of its own. */
static gboolean
gather_labels (DynoLabelSums *labels, DynoComm *comm, GError **error)
{
  guint n_ranks = dyno_comm_get_size (comm), rank = dyno_comm_get_rank (comm);
  g_autofree guint64 *samples = g_new0 (guint64, n_ranks);
  g_autofree double *all = NULL;
  g_autofree float *logits = g_new (float, labels->n), *truth = g_new (float, labels->n);
  guint64 n_all = 0, before = 0, n = labels->n;

  samples[rank] = labels->n_samples;
  if (!dyno_comm_sum (comm, samples, n_ranks, DYNO_COMM_UINT64, error))
    return FALSE;
  for (guint i = 0; i < n_ranks; i++)
    {
      before += i < rank ? samples[i] : 0;
      n_all += samples[i];
    }
  all = g_try_new0 (double, 2 * n_all * n + 1);
  if (!all)
    {
      g_set_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_OUT_OF_HOST_MEMORY,
                   "No memory for the labels of the validation; validate on fewer samples "
                   "(data.val_split)");
      return FALSE;
    }
  for (guint64 i = 0; i < labels->n_samples * n; i++)
    {
      all[2 * (before * n + i)] = (double) g_array_index (labels->logits, float, i);
      all[2 * (before * n + i) + 1] = (double) g_array_index (labels->truth, float, i);
    }
  if (!dyno_comm_sum (comm, all, 2 * n_all * n, DYNO_COMM_FLOAT64, error))
    return FALSE;
  dyno_label_sums_reset (labels);
  for (guint64 i = 0; i < n_all; i++)
    {
      for (guint64 k = 0; k < n; k++)
        {
          logits[k] = (float) all[2 * (i * n + k)];
          truth[k] = (float) all[2 * (i * n + k) + 1];
        }
      dyno_label_sums_add (labels, logits, truth, NULL, NULL);
    }
  return TRUE;
}

gboolean
dyno_figures_sum (DynoFigures *figures, DynoComm *comm, GError **error)
{
  DynoClassCounts *counts = &figures->counts;
  DynoValueSums *sums = &figures->sums;

  if (figures->is_labels)
    return gather_labels (&figures->labels, comm, error);
  if (!figures->is_values)
    return dyno_comm_sum (comm, counts->there, 3 * (gsize) counts->n, DYNO_COMM_UINT64, error);
  return dyno_comm_sum (comm, &sums->n_samples, 1, DYNO_COMM_UINT64, error)
         && dyno_comm_sum (comm, sums->absolute, 4 * (gsize) sums->n, DYNO_COMM_FLOAT64, error);
}

double
dyno_figures_get_scale (const DynoFigures *figures, guint64 n_samples)
{
  guint64 counted = 0;

  if (figures->n_pixels == 0)
    return 1;
  for (guint32 i = 0; i < figures->n_outputs; i++)
    counted += figures->counts.there[i];
  return (double) n_samples * (double) figures->n_pixels / (double) counted;
}

void
dyno_figures_get (const DynoFigures *figures, double *metrics)
{
  DynoLabelFigures labels;
  DynoClassMeans means;

  metrics += figures->n_of_loss;
  if (figures->is_values)
    {
      metrics[0] = dyno_value_sums_get_whole_rms_error (&figures->sums);
      metrics[1] = dyno_value_sums_get_whole_r2 (&figures->sums);
      return;
    }
  if (figures->is_labels)
    {
      dyno_label_sums_get_figures (&figures->labels, &labels);
      metrics[0] = labels.mean_average_precision;
      metrics[1] = labels.f1_micro;
      return;
    }
  dyno_class_counts_get_means (&figures->counts, &means);
  if (figures->n_pixels > 0)
    {
      metrics[0] = means.iou;
      metrics[1] = means.f1;
      return;
    }
  metrics[0] = means.balanced_accuracy;
  metrics[1] = means.f1;
}
