/* SPDX-License-Identifier: MIT */
/* Areas are sums over groups of samples with equal probabilities, so that the order of samples
 * within a group does not matter. */
#include "classfigures.h"
#include <math.h>

#define BINS 15

/* --- from the probabilities ------------------------------------------------------------------- */

typedef struct {
  float share;
  gboolean is_class;
} Ranked;

static int
compare (gconstpointer a, gconstpointer b)
{
  float x = ((const Ranked *) a)->share, y = ((const Ranked *) b)->share;

  return (x < y) - (x > y);
}

/* Computes the areas of one class; ranked: the most probable first.  FALSE: all samples are of the
 * class, or none. */
static gboolean
get_areas (const Ranked *ranked, guint n, double *roc_auc, double *average_precision)
{
  double n_class = 0, n_others, pairs = 0, precision = 0, classes = 0, others = 0;

  for (guint i = 0; i < n; i++)
    n_class += ranked[i].is_class;
  n_others = n - n_class;
  if (!(n_class > 0) || !(n_others > 0))
    return FALSE;
  for (guint i = 0, end; i < n; i = end)
    {
      double of_class = 0, of_others;

      for (end = i; end < n && ranked[end].share == ranked[i].share; end++)
        of_class += ranked[end].is_class;
      of_others = end - i - of_class;
      /* Number of pairs of a sample of the class and another sample in which the first is more
       * probable; a tie counts as half a pair. */
      pairs += of_class * (n_others - others - of_others / 2);
      classes += of_class;
      others += of_others;
      precision += of_class / n_class * classes / (classes + others);
    }
  *roc_auc = pairs / (n_class * n_others);
  *average_precision = precision;
  return TRUE;
}

static void
add_areas (const DynoScores *scores, DynoClassFigures *figures)
{
  const DynoScored *samples = (const DynoScored *) (gpointer) scores->samples->data;
  guint n = scores->samples->len, n_classes = 0;
  g_autofree Ranked *ranked = g_new (Ranked, n);

  figures->roc_auc = figures->average_precision = 0;
  for (guint32 k = 0; k < scores->n_outputs; k++)
    {
      double roc_auc, average_precision;

      for (guint i = 0; i < n; i++)
        ranked[i] =
            (Ranked){ g_array_index (scores->outputs, float, (gsize) i * scores->n_outputs + k),
                      samples[i].truth == k };
      qsort (ranked, n, sizeof *ranked, compare);
      if (!get_areas (ranked, n, &roc_auc, &average_precision))
        continue;
      n_classes++;
      figures->roc_auc += roc_auc;
      figures->average_precision += average_precision;
    }
  figures->roc_auc = n_classes ? figures->roc_auc / n_classes : (double) NAN;
  figures->average_precision = n_classes ? figures->average_precision / n_classes : (double) NAN;
}

static void
add_calibration (const DynoScores *scores, DynoClassFigures *figures)
{
  double off[BINS] = { 0 };

  for (guint i = 0; i < scores->samples->len; i++)
    {
      const DynoScored *one = &g_array_index (scores->samples, DynoScored, i);
      int bin = (int) ceil (CLAMP ((double) one->share, 0, 1) * BINS) - 1;

      off[MAX (bin, 0)] += (double) one->share - (one->predicted == one->truth);
    }
  for (guint i = 0; i < BINS; i++)
    figures->calibration_error += fabs (off[i]) / (double) scores->n_samples;
}

void
dyno_class_figures_get (const DynoScores *scores, DynoClassFigures *figures)
{
  *figures = (DynoClassFigures){ .roc_auc = (double) NAN, .average_precision = (double) NAN };
  dyno_class_counts_get_means (&scores->counts, &figures->means);
  add_calibration (scores, figures);
  if (scores->outputs && scores->n_samples > 0)
    add_areas (scores, figures);
}
