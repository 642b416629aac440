/* SPDX-License-Identifier: MIT */
/* Figures from sums over predictions and their truth. */
#include "truthsums.h"
#include <math.h>
#include <string.h>

/* --- classes ---------------------------------------------------------------------------------- */

guint32
dyno_class_of_logits (const float *logits, guint32 n)
{
  guint32 best = 0;

  for (guint32 i = 1; i < n; i++)
    if (logits[i] > logits[best])
      best = i;
  return best;
}

void
dyno_class_counts_init (DynoClassCounts *counts, guint32 n)
{
  counts->n = n;
  counts->there = g_new0 (guint64, 3 * (gsize) n);
  counts->predicted = counts->there + n;
  counts->right = counts->predicted + n;
}

void
dyno_class_counts_clear (DynoClassCounts *counts)
{
  g_free (counts->there);
  *counts = (DynoClassCounts){ 0 };
}

void
dyno_class_counts_reset (DynoClassCounts *counts)
{
  memset (counts->there, 0, 3 * (gsize) counts->n * sizeof *counts->there);
}

void
dyno_class_counts_add (DynoClassCounts *counts, guint32 truth, guint32 predicted)
{
  counts->there[truth]++;
  counts->predicted[predicted]++;
  counts->right[truth] += truth == predicted;
}

void
dyno_class_counts_add_table (DynoClassCounts *counts, const guint32 *table)
{
  for (guint32 truth = 0; truth < counts->n; truth++)
    for (guint32 predicted = 0; predicted < counts->n; predicted++)
      {
        guint32 n = table[(gsize) truth * counts->n + predicted];

        counts->there[truth] += n;
        counts->predicted[predicted] += n;
        counts->right[truth] += truth == predicted ? n : 0;
      }
}

/* The share of right samples of a class among `n` samples. */
static double
share_of_right (const DynoClassCounts *counts, guint32 class_id, double n)
{
  return n > 0 ? (double) counts->right[class_id] / n : (double) NAN;
}

double
dyno_class_counts_get_precision (const DynoClassCounts *counts, guint32 class_id)
{
  return share_of_right (counts, class_id, (double) counts->predicted[class_id]);
}

double
dyno_class_counts_get_recall (const DynoClassCounts *counts, guint32 class_id)
{
  return share_of_right (counts, class_id, (double) counts->there[class_id]);
}

double
dyno_class_counts_get_f1 (const DynoClassCounts *counts, guint32 class_id)
{
  return share_of_right (counts, class_id,
                         ((double) counts->predicted[class_id] + (double) counts->there[class_id])
                             / 2);
}

double
dyno_class_counts_get_iou (const DynoClassCounts *counts, guint32 class_id)
{
  return share_of_right (counts, class_id,
                         (double) counts->predicted[class_id] + (double) counts->there[class_id]
                             - (double) counts->right[class_id]);
}

static double
or_zero (double share)
{
  return isnan (share) ? 0 : share;
}

void
dyno_class_counts_get_means (const DynoClassCounts *counts, DynoClassMeans *means)
{
  guint32 n = 0, n_there = 0;
  guint64 n_samples = 0;

  *means = (DynoClassMeans){ 0 };
  for (guint32 i = 0; i < counts->n; i++)
    n_samples += counts->there[i];
  for (guint32 i = 0; i < counts->n; i++)
    {
      double f1 = dyno_class_counts_get_f1 (counts, i);

      if (isnan (f1))
        continue;
      n++;
      n_there += counts->there[i] > 0;
      means->precision += or_zero (dyno_class_counts_get_precision (counts, i));
      means->recall += or_zero (dyno_class_counts_get_recall (counts, i));
      means->f1 += f1;
      means->iou += dyno_class_counts_get_iou (counts, i);
      means->weighted_f1 += f1 * (double) counts->there[i] / (double) n_samples;
    }
  means->balanced_accuracy = means->recall / n_there;
  means->precision /= n;
  means->recall /= n;
  means->f1 /= n;
  means->iou /= n;
}

/* --- values ----------------------------------------------------------------------------------- */

void
dyno_value_sums_init (DynoValueSums *sums, guint32 n)
{
  sums->n = n;
  sums->n_samples = 0;
  sums->absolute = g_new0 (double, 4 * (gsize) n);
  sums->square = sums->absolute + n;
  sums->truth = sums->square + n;
  sums->truth_square = sums->truth + n;
}

void
dyno_value_sums_clear (DynoValueSums *sums)
{
  g_free (sums->absolute);
  *sums = (DynoValueSums){ 0 };
}

void
dyno_value_sums_reset (DynoValueSums *sums)
{
  sums->n_samples = 0;
  for (gsize i = 0; i < 4 * (gsize) sums->n; i++)
    sums->absolute[i] = 0;
}

double
dyno_value_sums_add (DynoValueSums *sums, const float *predicted, const float *truth)
{
  double mean = 0;

  sums->n_samples++;
  for (guint32 i = 0; i < sums->n; i++)
    {
      double t = (double) truth[i], d = (double) predicted[i] - t;

      sums->absolute[i] += fabs (d);
      sums->square[i] += d * d;
      sums->truth[i] += t;
      sums->truth_square[i] += t * t;
      mean += d * d / sums->n;
    }
  return mean;
}

double
dyno_value_sums_get_rms_error (const DynoValueSums *sums, guint32 value)
{
  return sqrt (sums->square[value] / (double) sums->n_samples);
}

double
dyno_value_sums_get_r2 (const DynoValueSums *sums, guint32 value)
{
  double n = (double) sums->n_samples, mean = sums->truth[value] / n;
  double spread = sums->truth_square[value] - n * mean * mean;

  /* Where all values are equal, rounding leaves a spread in the last digits. */
  return spread > 1e-12 * sums->truth_square[value] ? 1 - sums->square[value] / spread
                                                    : (double) NAN;
}

double
dyno_value_sums_get_whole_rms_error (const DynoValueSums *sums)
{
  double square = 0;

  for (guint32 i = 0; i < sums->n; i++)
    square += sums->square[i] / sums->n;
  return sqrt (square / (double) sums->n_samples);
}

double
dyno_value_sums_get_whole_r2 (const DynoValueSums *sums)
{
  double sum = 0;
  guint32 n = 0;

  for (guint32 i = 0; i < sums->n; i++)
    {
      double r2 = dyno_value_sums_get_r2 (sums, i);

      n += !isnan (r2);
      sum += or_zero (r2);
    }
  return n > 0 ? sum / n : (double) NAN;
}
