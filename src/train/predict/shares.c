/* SPDX-License-Identifier: MIT */
/* Probabilities of classes. */
#include "shares.h"
#include "areas.h"
#include <math.h>

double
dyno_shares_sum_logits (const float *logits, guint32 n)
{
  double most = -INFINITY, sum = 0;

  for (guint32 i = 0; i < n; i++)
    most = MAX (most, (double) logits[i]);
  for (guint32 i = 0; i < n; i++)
    sum += exp ((double) logits[i] - most);
  return most + log (sum);
}

void
dyno_shares_fill (float *shares, const float *logits, guint32 n)
{
  double sum = dyno_shares_sum_logits (logits, n);

  for (guint32 i = 0; i < n; i++)
    shares[i] = (float) exp ((double) logits[i] - sum);
}

void
dyno_shares_get_areas (const float *shares, const guint64 *truths, gsize n, guint32 n_classes,
                       double *roc_auc, double *average_precision)
{
  g_autofree DynoRanked *ranked = g_new (DynoRanked, n);
  guint n_defined = 0;
  double last = (double) NAN;

  *roc_auc = *average_precision = 0;
  for (guint32 k = 0; k < n_classes; k++)
    {
      double precision;

      for (gsize i = 0; i < n; i++)
        ranked[i] = (DynoRanked){ shares[i * n_classes + k], truths[i] == k };
      if (!dyno_areas_get (ranked, n, &last, &precision))
        continue;
      n_defined++;
      *roc_auc += last;
      *average_precision += precision;
    }
  *average_precision = n_defined > 0 ? *average_precision / n_defined : (double) NAN;
  if (n_classes == 2)
    *roc_auc = last;
  else
    *roc_auc = n_defined > 0 ? *roc_auc / n_defined : (double) NAN;
}

void
dyno_calibration_bins_add (DynoCalibrationBins *bins, double probability, gboolean is_right)
{
  int bin;

  bins->n++;
  if (isnan (probability))
    {
      bins->off[0] = (double) NAN;
      return;
    }
  bin = (int) ceil (CLAMP (probability, 0, 1) * DYNO_CALIBRATION_BINS) - 1;
  bins->off[MAX (bin, 0)] += probability - is_right;
}

double
dyno_calibration_bins_get_error (const DynoCalibrationBins *bins)
{
  double sum = 0;

  for (guint i = 0; i < DYNO_CALIBRATION_BINS; i++)
    sum += fabs (bins->off[i]);
  return bins->n > 0 ? sum / (double) bins->n : (double) NAN;
}
