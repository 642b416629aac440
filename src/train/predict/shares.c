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

/* --- sums ------------------------------------------------------------------------------------- */

void
dyno_share_sums_init (DynoShareSums *sums, guint32 n, gboolean keeps_all)
{
  *sums = (DynoShareSums){ .n = n, .one = g_new (float, n) };
  if (!keeps_all)
    return;
  sums->shares = g_array_new (FALSE, FALSE, sizeof (float));
  sums->truths = g_array_new (FALSE, FALSE, sizeof (guint64));
}

void
dyno_share_sums_clear (DynoShareSums *sums)
{
  g_clear_pointer (&sums->one, g_free);
  g_clear_pointer (&sums->shares, g_array_unref);
  g_clear_pointer (&sums->truths, g_array_unref);
}

void
dyno_share_sums_reset (DynoShareSums *sums)
{
  sums->bins = (DynoCalibrationBins){ 0 };
  if (!sums->shares)
    return;
  g_array_set_size (sums->shares, 0);
  g_array_set_size (sums->truths, 0);
}

void
dyno_share_sums_add (DynoShareSums *sums, const float *logits, guint32 truth, guint32 predicted)
{
  guint64 class_id = truth;

  dyno_shares_fill (sums->one, logits, sums->n);
  if (sums->shares)
    {
      g_array_append_vals (sums->shares, sums->one, sums->n);
      g_array_append_val (sums->truths, class_id);
    }
  else
    dyno_calibration_bins_add (&sums->bins, (double) sums->one[predicted], predicted == truth);
}

double
dyno_share_sums_get_roc_auc (const DynoShareSums *sums)
{
  double roc_auc, average_precision;

  if (!sums->shares || sums->truths->len == 0)
    return (double) NAN;
  dyno_shares_get_areas ((const float *) (gpointer) sums->shares->data,
                         (const guint64 *) (gpointer) sums->truths->data, sums->truths->len,
                         sums->n, &roc_auc, &average_precision);
  return roc_auc;
}

double
dyno_share_sums_get_calibration_error (const DynoShareSums *sums)
{
  return dyno_calibration_bins_get_error (&sums->bins);
}
