/* SPDX-License-Identifier: MIT */
/* Predictions of several labels and their truth. */
#include "labelsums.h"
#include "areas.h"
#include <math.h>

void
dyno_label_sums_init (DynoLabelSums *sums, guint32 n)
{
  *sums = (DynoLabelSums){ .n = n };
  dyno_class_counts_init (&sums->counts, n);
  sums->logits = g_array_new (FALSE, FALSE, sizeof (float));
  sums->truth = g_array_new (FALSE, FALSE, sizeof (float));
}

void
dyno_label_sums_clear (DynoLabelSums *sums)
{
  dyno_class_counts_clear (&sums->counts);
  g_clear_pointer (&sums->limits, g_free);
  g_clear_pointer (&sums->logits, g_array_unref);
  g_clear_pointer (&sums->truth, g_array_unref);
}

void
dyno_label_sums_reset (DynoLabelSums *sums)
{
  dyno_class_counts_reset (&sums->counts);
  g_array_set_size (sums->logits, 0);
  g_array_set_size (sums->truth, 0);
  sums->n_samples = sums->n_exact = 0;
  sums->shares = 0;
}

double
dyno_label_sums_add (DynoLabelSums *sums, const float *logits, const float *truth, guint32 *n_known,
                     guint32 *n_wrong)
{
  guint32 known = 0, right = 0;
  double loss = 0;

  for (guint32 i = 0; i < sums->n; i++)
    {
      gboolean there = truth[i] > 0.5f,
               predicted = logits[i] >= (sums->limits ? sums->limits[i] : 0);
      double wrong = there ? -(double) logits[i] : (double) logits[i];

      if (isnan (truth[i]))
        continue;
      known++;
      right += there == predicted;
      sums->counts.there[i] += there;
      sums->counts.predicted[i] += predicted;
      sums->counts.right[i] += there && predicted;
      loss += MAX (wrong, 0) + log1p (exp (-fabs (wrong)));
    }
  sums->n_samples++;
  sums->shares += known > 0 ? (double) right / known : 1;
  sums->n_exact += known == right;
  g_array_append_vals (sums->logits, logits, sums->n);
  g_array_append_vals (sums->truth, truth, sums->n);
  if (n_known)
    {
      *n_known = known;
      *n_wrong = known - right;
    }
  return loss / sums->n;
}

gboolean
dyno_label_sums_get_areas (const DynoLabelSums *sums, guint32 label, double *roc_auc,
                           double *average_precision)
{
  g_autofree DynoRanked *ranked = g_new (DynoRanked, sums->n_samples + 1);
  gsize n = 0;

  for (guint64 i = 0; i < sums->n_samples; i++)
    {
      gsize at = (gsize) i * sums->n + label;
      float truth = g_array_index (sums->truth, float, at);

      if (!isnan (truth))
        ranked[n++] = (DynoRanked){ g_array_index (sums->logits, float, at), truth > 0.5f };
    }
  return dyno_areas_get (ranked, n, roc_auc, average_precision);
}

static double
share (guint64 part, guint64 all)
{
  return all > 0 ? (double) part / (double) all : (double) NAN;
}

void
dyno_label_sums_get_figures (const DynoLabelSums *sums, DynoLabelFigures *figures)
{
  guint64 there = 0, predicted = 0, right = 0;
  guint32 n_areas = 0;
  DynoClassMeans means;

  *figures = (DynoLabelFigures){ 0 };
  for (guint32 i = 0; i < sums->n; i++)
    {
      double roc_auc, average_precision;

      there += sums->counts.there[i];
      predicted += sums->counts.predicted[i];
      right += sums->counts.right[i];
      if (!dyno_label_sums_get_areas (sums, i, &roc_auc, &average_precision))
        continue;
      n_areas++;
      figures->roc_auc += roc_auc;
      figures->mean_average_precision += average_precision;
    }
  figures->roc_auc = n_areas > 0 ? figures->roc_auc / n_areas : (double) NAN;
  figures->mean_average_precision =
      n_areas > 0 ? figures->mean_average_precision / n_areas : (double) NAN;
  figures->precision_micro = share (right, predicted);
  figures->recall_micro = share (right, there);
  figures->f1_micro = share (2 * right, there + predicted);
  dyno_class_counts_get_means (&sums->counts, &means);
  figures->precision_macro = means.precision;
  figures->recall_macro = means.recall;
  figures->f1_macro = means.f1;
  figures->label_accuracy =
      sums->n_samples > 0 ? sums->shares / (double) sums->n_samples : (double) NAN;
  figures->exact_match = share (sums->n_exact, sums->n_samples);
}
