/* SPDX-License-Identifier: MIT */
/* Figures of the probabilities of classes: they equal those of scikit-learn, and are undefined
 * where they have to be. */
#include "shares.h"
#include "truthsums.h"
#include <math.h>

#define SAMPLES 300
#define MOST    7

typedef struct {
  float shares[SAMPLES * MOST]; /* (SAMPLES, n) */
  guint64 truths[SAMPLES];
} Drawn;

/* Multiples of 1/16, so that there are many ties and no rounding; a class with the number n - 1 may
 * have no samples. */
static void
draw (Drawn *d, guint32 n, guint32 absent)
{
  guint64 x = 5;

  *d = (Drawn){ 0 };
  for (guint i = 0; i < SAMPLES; i++)
    for (guint token = 0; token < 17; token++)
      {
        guint64 k;

        x = (x * 1103515245 + 12345) % 2147483648u;
        k = (x >> 16) % (n + 1);
        if (token == 0)
          d->truths[i] = k % (n - absent);
        else
          d->shares[i * n + (k < n ? k : d->truths[i])] += 1.0f / 16;
      }
}

/* The expected values are of scikit-learn 1.2.1, by /usr/bin/python3:
 *
 *   import numpy as np
 *   from sklearn.metrics import *
 *   def draw(n, c, absent):
 *       x, share, truth = 5, np.zeros((n, c)), np.zeros(n, int)
 *       for i in range(n):
 *           for t in range(17):
 *               x = (x * 1103515245 + 12345) % 2**31
 *               k = (x >> 16) % (c + 1)
 *               if t == 0: truth[i] = k % (c - absent)
 *               else: share[i, k if k < c else truth[i]] += 1 / 16
 *       return share, truth
 *   for n, c, absent in (300, 4, 0), (300, 2, 0), (300, 7, 1):
 *       p, t = draw(n, c, absent); y = p.argmax(1); hit = y == t; top = p.max(1)
 *       b = np.ceil(top * 15) - 1
 *       ece = sum(abs(top[b == k].sum() - hit[b == k].sum()) for k in range(15)) / n
 *       auc = (roc_auc_score(t, p[:, 1]) if c == 2
 *              else roc_auc_score(t, p, multi_class='ovr') if not absent
 *              else np.mean([roc_auc_score(t == k, p[:, k]) for k in range(c - absent)]))
 *       print(precision_score(t, y, average='macro', zero_division=0),
 *             balanced_accuracy_score(t, y), f1_score(t, y, average='macro'), auc, ece)
 */
static void
test_equal_scikit_learn (void)
{
  static const struct {
    guint32 n, absent;
    double precision, balanced_accuracy, f1, roc_auc, calibration_error;
  } cases[] = {
    { 4, 0, 0.6912670063939234, 0.7033294288439567, 0.6964036309917296, 0.8825513340214594,
      0.2864583333333333 },
    { 2, 0, 0.9343171296296297, 0.9292864292864293, 0.9316866213641102, 0.9806949806949806,
      0.25895833333333335 },
    { 7, 1, 0.4686501716674131, 0.5285798320722156, 0.45612925839124047, 0.8323816910177365, 0.22 },
  };

  for (guint c = 0; c < G_N_ELEMENTS (cases); c++)
    {
      DynoCalibrationBins bins = { 0 };
      double roc_auc, average_precision;
      guint32 n = cases[c].n;
      DynoClassCounts counts;
      DynoClassMeans means;
      Drawn d;

      draw (&d, n, cases[c].absent);
      dyno_class_counts_init (&counts, n);
      for (guint i = 0; i < SAMPLES; i++)
        {
          const float *shares = d.shares + (gsize) i * n;
          guint32 predicted = dyno_class_of_logits (shares, n);

          dyno_class_counts_add (&counts, (guint32) d.truths[i], predicted);
          dyno_calibration_bins_add (&bins, (double) shares[predicted], predicted == d.truths[i]);
        }
      dyno_class_counts_get_means (&counts, &means);
      dyno_shares_get_areas (d.shares, d.truths, SAMPLES, n, &roc_auc, &average_precision);
      g_assert_cmpfloat_with_epsilon (means.precision, cases[c].precision, 1e-9);
      g_assert_cmpfloat_with_epsilon (means.balanced_accuracy, cases[c].balanced_accuracy, 1e-9);
      g_assert_cmpfloat_with_epsilon (means.f1, cases[c].f1, 1e-9);
      g_assert_cmpfloat_with_epsilon (roc_auc, cases[c].roc_auc, 1e-9);
      g_assert_cmpfloat_with_epsilon (dyno_calibration_bins_get_error (&bins),
                                      cases[c].calibration_error, 1e-9);
      dyno_class_counts_clear (&counts);
    }
}

/* Of two classes the area is that of the second one.  A probability of nearly one is 1 in single
 * precision, so that its samples are tied, while the small rest still differs. */
static void
test_two_classes (void)
{
  const float logits[][2] = { { 0, 20 }, { 0, 30 }, { 0, 0 }, { 0, 25 } };
  const guint64 truths[] = { 0, 1, 0, 1 };
  float shares[4][2];
  double roc_auc, average_precision;

  for (guint i = 0; i < 4; i++)
    dyno_shares_fill (shares[i], logits[i], 2);
  g_assert_true (shares[0][1] == 1 && shares[1][1] == 1 && shares[0][0] != shares[1][0]);
  dyno_shares_get_areas (shares[0], truths, 4, 2, &roc_auc, &average_precision);
  g_assert_cmpfloat (roc_auc, ==, 0.75); /* two of the four pairs are ties */
}

/* A network that has diverged has no probabilities: no figure is made from the other samples. */
static void
test_not_a_number (void)
{
  const float logits[][3] = { { 1, 2, 3 }, { NAN, 2, 3 }, { INFINITY, INFINITY, 3 }, { 3, 2, 1 } };
  const guint64 truths[] = { 0, 1, 2, 1 };
  DynoCalibrationBins bins = { 0 };
  float shares[4][3];
  double roc_auc, average_precision;

  for (guint i = 0; i < 4; i++)
    {
      dyno_shares_fill (shares[i], logits[i], 3);
      g_assert_true (!isnan (dyno_calibration_bins_get_error (&bins)) == (i == 1));
      dyno_calibration_bins_add (&bins, (double) shares[i][0], FALSE);
    }
  g_assert_true (isnan (dyno_calibration_bins_get_error (&bins)));
  dyno_shares_get_areas (shares[0], truths, 4, 3, &roc_auc, &average_precision);
  g_assert_true (isnan (roc_auc) && isnan (average_precision));
}

/* Without samples, and with those of one class only, no area is defined. */
static void
test_undefined (void)
{
  const float shares[] = { 0.25f, 0.75f, 0.5f, 0.5f };
  const guint64 truths[] = { 1, 1 };
  double roc_auc, average_precision;

  for (gsize n = 0; n <= 2; n += 2)
    {
      dyno_shares_get_areas (shares, truths, n, 2, &roc_auc, &average_precision);
      g_assert_true (isnan (roc_auc) && isnan (average_precision));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/train/shares/equal-scikit-learn", test_equal_scikit_learn);
  g_test_add_func ("/train/shares/two-classes", test_two_classes);
  g_test_add_func ("/train/shares/not-a-number", test_not_a_number);
  g_test_add_func ("/train/shares/undefined", test_undefined);
  return g_test_run ();
}
