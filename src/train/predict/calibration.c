/* SPDX-License-Identifier: MIT */
/* Calibration.  The mean cross entropy of logits times a factor is convex in the factor, so that a
 * bracketed Newton iteration finds its only minimum.  The classes' logits are the logarithms of
 * their probabilities, which differ from the network's by a number for each sample. */
#include "calibration.h"
#include "shares.h"
#include "train-error.h"
#include <float.h>
#include <math.h>
#include <string.h>

/* Bounds of the factor: with the best factor outside of them the predictions are all right, or no
 * better than chance. */
#define LEAST_FACTOR 1e-3
#define MOST_FACTOR  1e3
#define MOST_STEPS   100
#define TOLERANCE    1e-10

static gboolean
refuse (GError **error, const char *text)
{
  g_set_error_literal (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DATA, text);
  return FALSE;
}

/* --- temperature ------------------------------------------------------------------------------ */

/* Mean loss at a factor, and its first two derivatives. */
typedef struct {
  double loss, slope, curvature;
} Point;

static double
get_logit (const float *shares, guint32 i)
{
  return log ((double) MAX (shares[i], FLT_TRUE_MIN));
}

static void
add_classes (const float *shares, guint32 n, guint32 truth, double factor, Point *point)
{
  double most = -INFINITY, sum = 0, mean = 0, square = 0;

  for (guint32 i = 0; i < n; i++)
    most = MAX (most, get_logit (shares, i));
  for (guint32 i = 0; i < n; i++)
    {
      double logit = get_logit (shares, i) - most, weight = exp (factor * logit);

      sum += weight;
      mean += weight * logit;
      square += weight * logit * logit;
    }
  mean /= sum;
  point->loss += log (sum) - factor * (get_logit (shares, truth) - most);
  point->slope += mean - (get_logit (shares, truth) - most);
  point->curvature += square / sum - mean * mean;
}

static double
to_probability (double logit)
{
  return 1 / (1 + exp (-logit));
}

static void
add_labels (const float *logits, const float *truth, guint32 n, double factor, Point *point)
{
  for (guint32 i = 0; i < n; i++)
    {
      double logit = (double) logits[i], p = to_probability (factor * logit),
             wrong = truth[i] > 0.5f ? -factor * logit : factor * logit;

      if (isnan (truth[i]))
        continue;
      point->loss += (MAX (wrong, 0) + log1p (exp (-fabs (wrong)))) / n;
      point->slope += (p - (truth[i] > 0.5f)) * logit / n;
      point->curvature += p * (1 - p) * logit * logit / n;
    }
}

static const float *
get_row (const GArray *values, guint64 sample, guint32 n)
{
  return &g_array_index (values, float, (gsize) sample *n);
}

static Point
measure (const DynoScores *scores, double factor)
{
  double n_samples = (double) scores->n_samples;
  guint32 n = scores->n_outputs;
  Point point = { 0 };

  for (guint64 i = 0; i < scores->n_samples; i++)
    if (scores->is_labels)
      add_labels (get_row (scores->labels.logits, i, n), get_row (scores->labels.truth, i, n), n,
                  factor, &point);
    else
      add_classes (get_row (scores->outputs, i, n), n,
                   g_array_index (scores->samples, DynoScored, i).truth, factor, &point);
  return (Point){ point.loss / n_samples, point.slope / n_samples, point.curvature / n_samples };
}

static gboolean
find_factor (const DynoScores *scores, double *factor, GError **error)
{
  double low = LEAST_FACTOR, high = MOST_FACTOR;

  if (!(measure (scores, low).slope < 0))
    return refuse (error, "The predictions are no better than chance, so that no temperature makes "
                          "their probabilities right: train longer, or calibrate on other samples");
  if (!(measure (scores, high).slope > 0))
    return refuse (error, "The predictions are right for all samples, so that no temperature is "
                          "the best: calibrate on more samples, some of which are predicted wrong");
  *factor = 1;
  for (guint i = 0; i < MOST_STEPS; i++)
    {
      Point point = measure (scores, *factor);
      double next = *factor - point.slope / point.curvature;

      if (point.slope < 0)
        low = *factor;
      else
        high = *factor;
      if (!(next > low && next < high))
        next = sqrt (low * high);
      if (fabs (next - *factor) <= TOLERANCE * next)
        break;
      *factor = next;
    }
  return TRUE;
}

/* --- thresholds ------------------------------------------------------------------------------- */

/* A sample of a label. */
typedef struct {
  float probability;
  gboolean there;
} Sample;

static int
compare_samples (const void *a, const void *b)
{
  float x = ((const Sample *) a)->probability, y = ((const Sample *) b)->probability;

  return x > y ? -1 : x < y;
}

/* The threshold between two neighbouring probabilities: the larger one reaches it. */
static float
get_between (float above, float below)
{
  float between = (float) (((double) above + (double) below) / 2);

  return between > below ? between : above;
}

/* The threshold with the greatest F1; samples: the largest probabilities first. */
static float
find_threshold (const Sample *samples, guint64 n, guint64 n_there)
{
  guint64 right = 0;
  double best = -1;
  float found = 0.5f;

  for (guint64 i = 0; i < n; i++)
    {
      double f1;
      float threshold;

      right += samples[i].there;
      if (i + 1 < n && samples[i + 1].probability == samples[i].probability)
        continue;
      f1 = 2 * (double) right / (double) (i + 1 + n_there);
      threshold = get_between (samples[i].probability, i + 1 < n ? samples[i + 1].probability : 0);
      if (f1 < best || (f1 == best && fabsf (threshold - 0.5f) >= fabsf (found - 0.5f)))
        continue;
      best = f1;
      found = threshold;
    }
  return found;
}

static float
get_probability (const DynoScores *scores, guint64 sample, guint32 label, double factor)
{
  const float *logits = get_row (scores->labels.logits, sample, scores->n_outputs);

  return (float) to_probability (factor * (double) logits[label]);
}

/* The new threshold of a label, whose predictions are added to counts. */
static float
calibrate_label (const DynoScores *scores, guint32 label, double factor, float kept,
                 DynoClassCounts *counts, guint32 *n_kept)
{
  g_autofree Sample *samples = g_new (Sample, scores->n_samples);
  guint64 n = 0, n_there = 0;
  float threshold = kept;

  for (guint64 i = 0; i < scores->n_samples; i++)
    {
      float truth = get_row (scores->labels.truth, i, scores->n_outputs)[label];

      if (isnan (truth))
        continue;
      samples[n] = (Sample){ get_probability (scores, i, label, factor), truth > 0.5f };
      n_there += samples[n++].there;
    }
  qsort (samples, n, sizeof *samples, compare_samples);
  if (n_there < DYNO_CALIBRATION_LEAST_SAMPLES || n - n_there < DYNO_CALIBRATION_LEAST_SAMPLES)
    ++*n_kept;
  else
    threshold = find_threshold (samples, n, n_there);
  counts->there[label] = n_there;
  for (guint64 i = 0; i < n && samples[i].probability >= threshold; i++)
    {
      counts->predicted[label]++;
      counts->right[label] += samples[i].there;
    }
  return threshold;
}

/* A threshold that is kept stays at the same logit of the network. */
static float
move_threshold (float threshold, double factor)
{
  double logit = log ((double) threshold) - log1p (-(double) threshold);

  return (float) to_probability (factor * logit);
}

static float *
calibrate_labels (const DynoScores *scores, const DynoWeightsInfo *info, double factor,
                  DynoCalibration *calibration)
{
  float *thresholds = g_new (float, scores->n_outputs);
  DynoClassCounts counts;
  DynoClassMeans means;

  dyno_class_counts_get_means (&scores->labels.counts, &means);
  calibration->f1_macro_before = means.f1;
  dyno_class_counts_init (&counts, scores->n_outputs);
  for (guint32 k = 0; k < scores->n_outputs; k++)
    thresholds[k] = calibrate_label (
        scores, k, factor, info->thresholds ? move_threshold (info->thresholds[k], factor) : 0.5f,
        &counts, &calibration->n_kept);
  dyno_class_counts_get_means (&counts, &means);
  calibration->f1_macro_after = means.f1;
  dyno_class_counts_clear (&counts);
  return thresholds;
}

/* --- both ------------------------------------------------------------------------------------- */

static double
get_calibration_error (const DynoScores *scores, double factor)
{
  DynoCalibrationBins bins = { 0 };

  for (guint64 i = 0; i < scores->n_samples; i++)
    {
      const DynoScored *one = &g_array_index (scores->samples, DynoScored, i);
      const float *shares = get_row (scores->outputs, i, scores->n_outputs);
      double most = get_logit (shares, one->predicted), sum = 0;

      for (guint32 k = 0; k < scores->n_outputs; k++)
        sum += exp (factor * (get_logit (shares, k) - most));
      dyno_calibration_bins_add (&bins, 1 / sum, one->predicted == one->truth);
    }
  return dyno_calibration_bins_get_error (&bins);
}

gboolean
dyno_calibrate (const DynoScores *scores, DynoWeightsInfo *info, DynoCalibration *calibration,
                GError **error)
{
  double factor;

  *calibration = (DynoCalibration){ .n_samples = scores->n_samples };
  if (scores->is_values)
    return refuse (error, "The weights predict values, which have no probabilities to calibrate");
  if (scores->n_samples == 0)
    return refuse (error, "There are no samples to calibrate on");
  if (!scores->is_labels && !scores->outputs)
    return refuse (error, "There are too many samples and classes to keep all probabilities: "
                          "calibrate on fewer samples");
  if (!find_factor (scores, &factor, error))
    return FALSE;
  calibration->loss_before = measure (scores, 1).loss;
  calibration->loss_after = measure (scores, factor).loss;
  if (scores->is_labels)
    {
      float *thresholds = calibrate_labels (scores, info, factor, calibration);

      g_free (info->thresholds);
      info->thresholds = thresholds;
    }
  else
    {
      calibration->calibration_error_before = get_calibration_error (scores, 1);
      calibration->calibration_error_after = get_calibration_error (scores, factor);
    }
  info->temperature /= factor;
  return TRUE;
}
