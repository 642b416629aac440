/* SPDX-License-Identifier: MIT */
/* Areas under the curves of a ranking. */
#include "areas.h"
#include <math.h>
#include <stdlib.h>

static int
compare (gconstpointer a, gconstpointer b)
{
  float x = ((const DynoRanked *) a)->score, y = ((const DynoRanked *) b)->score;

  return (x < y) - (x > y);
}

gboolean
dyno_areas_get (DynoRanked *ranked, gsize n, double *roc_auc, double *average_precision)
{
  double n_positive = 0, n_negative, pairs = 0, precision = 0, positive = 0, negative = 0;

  for (gsize i = 0; i < n; i++)
    {
      if (isnan (ranked[i].score))
        return FALSE;
      n_positive += ranked[i].is_positive;
    }
  n_negative = (double) n - n_positive;
  if (!(n_positive > 0) || !(n_negative > 0))
    return FALSE;
  qsort (ranked, n, sizeof *ranked, compare);
  for (gsize i = 0, end; i < n; i = end)
    {
      double of_positive = 0, of_negative;

      for (end = i; end < n && ranked[end].score == ranked[i].score; end++)
        of_positive += ranked[end].is_positive;
      of_negative = (double) (end - i) - of_positive;
      /* Number of pairs of a positive and a negative sample in which the first has the higher
       * score; a tie counts as half a pair. */
      pairs += of_positive * (n_negative - negative - of_negative / 2);
      positive += of_positive;
      negative += of_negative;
      precision += of_positive / n_positive * positive / (positive + negative);
    }
  *roc_auc = pairs / (n_positive * n_negative);
  *average_precision = precision;
  return TRUE;
}
