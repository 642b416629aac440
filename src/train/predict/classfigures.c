/* SPDX-License-Identifier: MIT */
/* Figures over all classes of an evaluation. */
#include "classfigures.h"
#include "areas.h"
#include <math.h>

/* --- from the probabilities ------------------------------------------------------------------- */

static void
add_areas (const DynoScores *scores, DynoClassFigures *figures)
{
  const DynoScored *samples = (const DynoScored *) (gpointer) scores->samples->data;
  guint n = scores->samples->len, n_classes = 0;
  g_autofree DynoRanked *ranked = g_new (DynoRanked, n);

  figures->roc_auc = figures->average_precision = 0;
  for (guint32 k = 0; k < scores->n_outputs; k++)
    {
      double roc_auc, average_precision;

      for (guint i = 0; i < n; i++)
        ranked[i] =
            (DynoRanked){ g_array_index (scores->outputs, float, (gsize) i * scores->n_outputs + k),
                          samples[i].truth == k };
      if (!dyno_areas_get (ranked, n, &roc_auc, &average_precision))
        continue;
      n_classes++;
      figures->roc_auc += roc_auc;
      figures->average_precision += average_precision;
    }
  figures->roc_auc = n_classes ? figures->roc_auc / n_classes : (double) NAN;
  figures->average_precision = n_classes ? figures->average_precision / n_classes : (double) NAN;
}

void
dyno_calibration_bins_add (DynoCalibrationBins *bins, double probability, gboolean is_right)
{
  int bin = (int) ceil (CLAMP (probability, 0, 1) * DYNO_CALIBRATION_BINS) - 1;

  bins->off[MAX (bin, 0)] += probability - is_right;
  bins->n++;
}

double
dyno_calibration_bins_get_error (const DynoCalibrationBins *bins)
{
  double sum = 0;

  for (guint i = 0; i < DYNO_CALIBRATION_BINS; i++)
    sum += fabs (bins->off[i]);
  return bins->n > 0 ? sum / (double) bins->n : (double) NAN;
}

static double
get_calibration_error (const DynoScores *scores)
{
  DynoCalibrationBins bins = { 0 };

  for (guint i = 0; i < scores->samples->len; i++)
    {
      const DynoScored *one = &g_array_index (scores->samples, DynoScored, i);

      dyno_calibration_bins_add (&bins, (double) one->share, one->predicted == one->truth);
    }
  return dyno_calibration_bins_get_error (&bins);
}

void
dyno_class_figures_get (const DynoScores *scores, DynoClassFigures *figures)
{
  *figures = (DynoClassFigures){ .roc_auc = (double) NAN, .average_precision = (double) NAN };
  dyno_class_counts_get_means (&scores->counts, &figures->means);
  figures->calibration_error = get_calibration_error (scores);
  if (scores->outputs && scores->n_samples > 0)
    add_areas (scores, figures);
}
