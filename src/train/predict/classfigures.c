/* SPDX-License-Identifier: MIT */
/* Figures over all classes of an evaluation. */
#include "classfigures.h"
#include "shares.h"
#include <math.h>

static void
add_areas (const DynoScores *scores, DynoClassFigures *figures)
{
  guint n = scores->samples->len;
  g_autofree guint64 *truths = g_new (guint64, n);

  for (guint i = 0; i < n; i++)
    truths[i] = g_array_index (scores->samples, DynoScored, i).truth;
  dyno_shares_get_areas ((const float *) (gpointer) scores->outputs->data, truths, n,
                         scores->n_outputs, &figures->roc_auc, &figures->average_precision);
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
