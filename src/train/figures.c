/* SPDX-License-Identifier: MIT */
/* Figures of a validation. */
#include "figures.h"
#include "gpu-error.h"
#include "labelsums.h"
#include "metrictable.h"
#include "shares.h"
#include <string.h>

struct _DynoFigures {
  DynoReadback *readback;
  DynoGraph *trained;
  guint n_of_loss; /* number of metrics before the figures */
  const DynoMetricInfo *metrics;
  gboolean measured[DYNO_MOST_VALIDATION_METRICS]; /* of metrics */
  guint32 n_outputs;
  gboolean is_values, is_labels;
  guint64 n_pixels; /* pixels of a sample, each with a class; 0: a sample has one answer */
  DynoClassCounts counts;
  DynoShareSums shares; /* n is 0: none of its figures is measured */
  DynoValueSums sums;
  DynoLabelSums labels;
  float *outputs; /* values of one sample */
};

static void
init_classes (DynoFigures *figures)
{
  guint32 n = figures->n_outputs;

  dyno_class_counts_init (&figures->counts, n);
  if (figures->n_pixels > 0)
    return;
  if (figures->measured[DYNO_CLASS_METRIC_ROC_AUC]
      || figures->measured[DYNO_CLASS_METRIC_CALIBRATION_ERROR])
    dyno_share_sums_init (&figures->shares, n, figures->measured[DYNO_CLASS_METRIC_ROC_AUC]);
}

DynoFigures *
dyno_figures_new (DynoGraph *graph, const char *best_metric, DynoGraph *trained,
                  DynoReadback *readback)
{
  DynoFigures *figures = g_new0 (DynoFigures, 1);
  const DynoTensor *logits = dyno_network_get_logits (graph);
  const DynoMetricInfo *unused, *metrics = dyno_network_get_validation_metrics (graph);

  figures->readback = readback;
  figures->trained = trained;
  figures->n_of_loss = dyno_network_get_metrics (graph, &unused);
  figures->metrics = metrics;
  for (guint i = 0; metrics[i].name; i++)
    figures->measured[i] = dyno_metric_is_measured (&metrics[i], best_metric);
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
    init_classes (figures);
  return figures;
}

void
dyno_figures_free (DynoFigures *figures)
{
  if (!figures)
    return;
  dyno_class_counts_clear (&figures->counts);
  dyno_share_sums_clear (&figures->shares);
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
    {
      dyno_class_counts_reset (&figures->counts);
      dyno_share_sums_reset (&figures->shares);
    }
}

static void
add_class (DynoFigures *figures, guint slot, guint32 row)
{
  gint32 truth = dyno_readback_get_class (figures->readback, slot, row);
  guint32 predicted = dyno_class_of_logits (figures->outputs, figures->n_outputs);

  if (truth < 0 || (guint32) truth >= figures->n_outputs)
    return;
  dyno_class_counts_add (&figures->counts, (guint32) truth, predicted);
  if (figures->shares.n > 0)
    dyno_share_sums_add (&figures->shares, figures->outputs, (guint32) truth, predicted);
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

/* Replaces the values of this rank by those of all ranks, in the order of the ranks: each adds its
 * own to zeros, at a place of its own. */
static gboolean
gather (GArray *values, DynoCommType type, DynoComm *comm, GError **error)
{
  guint n_ranks = dyno_comm_get_size (comm), rank = dyno_comm_get_rank (comm);
  g_autofree guint64 *n = g_new0 (guint64, n_ranks);
  gsize size_bytes = dyno_comm_type_size (type);
  g_autofree char *all = NULL;
  guint64 n_all = 0, before = 0;

  n[rank] = values->len;
  if (!dyno_comm_sum (comm, n, n_ranks, DYNO_COMM_UINT64, error))
    return FALSE;
  for (guint i = 0; i < n_ranks; i++)
    {
      before += i < rank ? n[i] : 0;
      n_all += n[i];
    }
  all = n_all <= G_MAXUINT32 / size_bytes ? g_try_malloc0 (n_all * size_bytes + 1) : NULL;
  if (!all)
    {
      g_set_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_OUT_OF_HOST_MEMORY,
                   "No memory for the predictions of the validation; validate on fewer samples "
                   "(data.val_split)");
      return FALSE;
    }
  if (values->len > 0)
    memcpy (all + before * size_bytes, values->data, values->len * size_bytes);
  if (!dyno_comm_sum (comm, all, n_all, type, error))
    return FALSE;
  g_array_set_size (values, 0);
  g_array_append_vals (values, all, (guint) n_all);
  return TRUE;
}

static gboolean
sum_counts (DynoClassCounts *counts, DynoComm *comm, GError **error)
{
  return dyno_comm_sum (comm, counts->there, 3 * (gsize) counts->n, DYNO_COMM_UINT64, error);
}

static gboolean
sum_labels (DynoLabelSums *labels, DynoComm *comm, GError **error)
{
  return sum_counts (&labels->counts, comm, error)
         && dyno_comm_sum (comm, &labels->n_samples, 1, DYNO_COMM_UINT64, error)
         && dyno_comm_sum (comm, &labels->n_exact, 1, DYNO_COMM_UINT64, error)
         && dyno_comm_sum (comm, &labels->shares, 1, DYNO_COMM_FLOAT64, error)
         && gather (labels->logits, DYNO_COMM_FLOAT32, comm, error)
         && gather (labels->truth, DYNO_COMM_FLOAT32, comm, error);
}

static gboolean
sum_shares (DynoShareSums *shares, DynoComm *comm, GError **error)
{
  DynoCalibrationBins *bins = &shares->bins;

  if (shares->shares)
    return gather (shares->shares, DYNO_COMM_FLOAT32, comm, error)
           && gather (shares->truths, DYNO_COMM_UINT64, comm, error);
  return dyno_comm_sum (comm, &bins->n, 1, DYNO_COMM_UINT64, error)
         && dyno_comm_sum (comm, bins->off, DYNO_CALIBRATION_BINS, DYNO_COMM_FLOAT64, error);
}

gboolean
dyno_figures_sum (DynoFigures *figures, DynoComm *comm, GError **error)
{
  DynoValueSums *sums = &figures->sums;

  if (figures->is_labels)
    return sum_labels (&figures->labels, comm, error);
  if (!figures->is_values)
    return sum_counts (&figures->counts, comm, error)
           && (figures->shares.n == 0 || sum_shares (&figures->shares, comm, error));
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

/* The figures of classes in the order of DynoClassMetric, or of pixels. */
static void
get_classes (const DynoFigures *figures, double *all)
{
  DynoClassMeans means;

  dyno_class_counts_get_means (&figures->counts, &means);
  if (figures->n_pixels > 0)
    {
      all[0] = means.iou;
      all[1] = means.f1;
      return;
    }
  all[DYNO_CLASS_METRIC_BALANCED_ACCURACY] = means.balanced_accuracy;
  all[DYNO_CLASS_METRIC_F1] = means.f1;
  all[DYNO_CLASS_METRIC_PRECISION] = means.precision;
  all[DYNO_CLASS_METRIC_ROC_AUC] = dyno_share_sums_get_roc_auc (&figures->shares);
  all[DYNO_CLASS_METRIC_CALIBRATION_ERROR] =
      dyno_share_sums_get_calibration_error (&figures->shares);
}

void
dyno_figures_get (const DynoFigures *figures, double *metrics)
{
  double all[DYNO_MOST_VALIDATION_METRICS];
  DynoLabelFigures labels;

  if (figures->is_values)
    {
      all[0] = dyno_value_sums_get_whole_rms_error (&figures->sums);
      all[1] = dyno_value_sums_get_whole_r2 (&figures->sums);
    }
  else if (figures->is_labels)
    {
      dyno_label_sums_get_figures (&figures->labels, &labels);
      all[0] = labels.mean_average_precision;
      all[1] = labels.f1_micro;
    }
  else
    get_classes (figures, all);
  metrics += figures->n_of_loss;
  for (guint i = 0; figures->metrics[i].name; i++)
    if (figures->measured[i])
      *metrics++ = all[i];
}
