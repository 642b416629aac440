/* SPDX-License-Identifier: MIT */
/* Figures of several labels compared with their definitions, with the values of scikit-learn, and
 * where they are undefined. */
#include "labelsums.h"
#include <math.h>

#define SAMPLES 60
#define LABELS  5

typedef struct {
  float logits[SAMPLES][LABELS], truth[SAMPLES][LABELS]; /* truth NaN: not known */
} Drawn;

/* Few different logits, so that there are ties, some of them at the threshold.  The last label is
 * absent everywhere, and the last but one is known in half of the samples. */
static void
draw (Drawn *d, DynoLabelSums *sums)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (5);

  dyno_label_sums_init (sums, LABELS);
  for (guint i = 0; i < SAMPLES; i++)
    {
      for (guint k = 0; k < LABELS; k++)
        {
          gboolean there = k + 1 < LABELS && g_rand_double (random) < 0.2 + 0.15 * k;

          d->truth[i][k] = there;
          d->logits[i][k] = (float) ((g_rand_int_range (random, -4, 5) + (there ? 1 : 0)) * 0.5);
          if (k + 2 == LABELS && i % 2)
            d->truth[i][k] = NAN;
        }
      dyno_label_sums_add (sums, d->logits[i], d->truth[i], NULL, NULL);
    }
}

/* Mann and Whitney's U: the share of pairs in the right order, ties count half. */
static double
define_area (const Drawn *d, guint k)
{
  double pairs = 0, right = 0;

  for (guint i = 0; i < SAMPLES; i++)
    for (guint j = 0; j < SAMPLES; j++)
      if (d->truth[i][k] == 1 && d->truth[j][k] == 0)
        {
          pairs++;
          right += d->logits[i][k] > d->logits[j][k]    ? 1
                   : d->logits[i][k] == d->logits[j][k] ? 0.5
                                                        : 0;
        }
  return right / pairs;
}

/* The sum over all thresholds of the rise of the recall times the precision. */
static double
define_precision (const Drawn *d, guint k)
{
  double area = 0, recall = 0, all = 0;

  for (guint i = 0; i < SAMPLES; i++)
    all += d->truth[i][k] == 1;
  for (int step = 10; step >= -10; step--)
    {
      double right = 0, chosen = 0;

      for (guint i = 0; i < SAMPLES; i++)
        if (!isnan (d->truth[i][k]) && d->logits[i][k] >= (float) step * 0.5f)
          {
            chosen++;
            right += d->truth[i][k] == 1;
          }
      area += chosen > 0 ? (right / all - recall) * right / chosen : 0;
      recall = right / all;
    }
  return area;
}

static void
test_definitions (void)
{
  double area = 0, precision = 0, tp = 0, fp = 0, fn = 0, shares = 0, exact = 0;
  DynoLabelFigures figures;
  DynoLabelSums sums;
  Drawn d;

  draw (&d, &sums);
  for (guint k = 0; k < LABELS; k++)
    {
      double one, other;

      if (!dyno_label_sums_get_areas (&sums, k, &one, &other))
        {
          g_assert_cmpuint (k, ==, LABELS - 1);
          continue;
        }
      g_assert_cmpfloat_with_epsilon (one, define_area (&d, k), 1e-12);
      g_assert_cmpfloat_with_epsilon (other, define_precision (&d, k), 1e-12);
      area += one / (LABELS - 1);
      precision += other / (LABELS - 1);
    }
  for (guint i = 0; i < SAMPLES; i++)
    {
      double known = 0, right = 0;

      for (guint k = 0; k < LABELS; k++)
        if (!isnan (d.truth[i][k]))
          {
            gboolean there = d.truth[i][k] == 1, chosen = d.logits[i][k] >= 0;

            known++;
            tp += there && chosen;
            fp += !there && chosen;
            fn += there && !chosen;
            right += there == chosen;
          }
      exact += right == known;
      shares += right / known;
    }
  dyno_label_sums_get_figures (&sums, &figures);
  g_assert_cmpfloat_with_epsilon (figures.roc_auc, area, 1e-12);
  g_assert_cmpfloat_with_epsilon (figures.mean_average_precision, precision, 1e-12);
  g_assert_cmpfloat_with_epsilon (figures.f1_micro, 2 * tp / (2 * tp + fp + fn), 1e-12);
  g_assert_cmpfloat_with_epsilon (figures.precision_micro, tp / (tp + fp), 1e-12);
  g_assert_cmpfloat_with_epsilon (figures.recall_micro, tp / (tp + fn), 1e-12);
  g_assert_cmpfloat_with_epsilon (figures.label_accuracy, shares / SAMPLES, 1e-12);
  g_assert_cmpfloat_with_epsilon (figures.exact_match, exact / SAMPLES, 1e-12);
  dyno_label_sums_clear (&sums);
}

/* scikit-learn 1.2 of these four samples: average_precision_score, roc_auc_score, f1_score (micro
 * and macro), accuracy_score; the loss is BCEWithLogitsLoss. */
static void
test_known_values (void)
{
  static const float logits[4][3] = { { 2, -1, 0.5f }, { -1, 1, -2 }, { 1, 1, 1 }, { -3, 0, 2 } },
                     truth[4][3] = { { 1, 0, 1 }, { 1, 1, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
  DynoLabelFigures figures;
  DynoLabelSums sums;
  double loss = 0;

  dyno_label_sums_init (&sums, 3);
  for (guint i = 0; i < 4; i++)
    loss += dyno_label_sums_add (&sums, logits[i], truth[i], NULL, NULL) / 4;
  dyno_label_sums_get_figures (&sums, &figures);
  g_assert_cmpfloat_with_epsilon (figures.mean_average_precision, 0.8888888888888888, 1e-12);
  g_assert_cmpfloat_with_epsilon (figures.roc_auc, 0.8333333333333334, 1e-12);
  g_assert_cmpfloat_with_epsilon (figures.f1_micro, 0.7142857142857143, 1e-12);
  g_assert_cmpfloat_with_epsilon (figures.f1_macro, 0.7000000000000001, 1e-12);
  g_assert_cmpfloat_with_epsilon (figures.exact_match, 0.25, 1e-12);
  g_assert_cmpfloat_with_epsilon (figures.label_accuracy, 8.0 / 12, 1e-12);
  g_assert_cmpfloat_with_epsilon (loss, 0.5396804728793373, 1e-9);
  dyno_label_sums_clear (&sums);
}

/* Other logits for the same truth: those of the samples from the last to the first. */
static void
add_others (const Drawn *d, DynoLabelSums *sums)
{
  for (guint i = 0; i < SAMPLES; i++)
    dyno_label_sums_add (sums, d->logits[SAMPLES - 1 - i], d->truth[i], NULL, NULL);
}

/* Nothing is left of the samples before a reset, also where those after it are others. */
static void
test_second_use (void)
{
  DynoLabelFigures first, second;
  DynoLabelSums sums;
  Drawn d;

  draw (&d, &sums);
  dyno_label_sums_reset (&sums);
  dyno_label_sums_get_figures (&sums, &first);
  g_assert_true (isnan (first.mean_average_precision) && isnan (first.f1_micro)
                 && isnan (first.exact_match) && isnan (first.label_accuracy));
  add_others (&d, &sums);
  dyno_label_sums_get_figures (&sums, &first);
  dyno_label_sums_clear (&sums);
  dyno_label_sums_init (&sums, LABELS);
  add_others (&d, &sums);
  dyno_label_sums_get_figures (&sums, &second);
  g_assert_cmpfloat (first.roc_auc, ==, second.roc_auc);
  g_assert_cmpfloat (first.mean_average_precision, ==, second.mean_average_precision);
  g_assert_cmpfloat (first.f1_micro, ==, second.f1_micro);
  g_assert_cmpfloat (first.exact_match, ==, second.exact_match);
  dyno_label_sums_clear (&sums);
}

/* A label that all have, one that none has and was never predicted, and no sample at all. */
static void
test_undefined (void)
{
  static const float logits[2][3] = { { 2, -1, -1 }, { 1, 1, -1 } },
                     truth[2][3] = { { 1, 0, 0 }, { 1, 1, 0 } };
  double area, precision;
  DynoLabelFigures figures;
  DynoLabelSums sums;

  dyno_label_sums_init (&sums, 3);
  dyno_label_sums_add (&sums, logits[0], truth[0], NULL, NULL);
  dyno_label_sums_add (&sums, logits[1], truth[1], NULL, NULL);
  g_assert_false (dyno_label_sums_get_areas (&sums, 0, &area, &precision));
  g_assert_true (dyno_label_sums_get_areas (&sums, 1, &area, &precision));
  g_assert_false (dyno_label_sums_get_areas (&sums, 2, &area, &precision));
  dyno_label_sums_get_figures (&sums, &figures);
  g_assert_cmpfloat (figures.mean_average_precision, ==, 1);
  g_assert_cmpfloat (figures.f1_macro, ==, 1); /* the third label is left out */
  dyno_label_sums_clear (&sums);
}

/* A logit that is NaN, as after an overflow, leaves the areas of its label undefined. */
static void
test_not_a_number (void)
{
  const float logits[3][2] = { { 2, -1 }, { (float) NAN, 1 }, { -1, 0.5f } },
              truth[3][2] = { { 1, 0 }, { 0, 1 }, { 0, 0 } };
  double area, precision;
  DynoLabelFigures figures;
  DynoLabelSums sums;

  dyno_label_sums_init (&sums, 2);
  for (guint i = 0; i < 3; i++)
    dyno_label_sums_add (&sums, logits[i], truth[i], NULL, NULL);
  g_assert_false (dyno_label_sums_get_areas (&sums, 0, &area, &precision));
  dyno_label_sums_get_figures (&sums, &figures);
  g_assert_cmpfloat (figures.mean_average_precision, ==, 1);
  dyno_label_sums_clear (&sums);
}

/* Sums that are reset have the figures of new ones. */
static void
test_again (void)
{
  static const float logits[3][LABELS] = { { 1, -1, 1, -1, 1 },
                                           { 0, 2, -2, 1, -3 },
                                           { 1, 1, 1, 1, 1 } },
                     truth[3][LABELS] = { { 1, 1, 0, 0, 1 },
                                          { 0, 1, 1, NAN, 0 },
                                          { 0, 0, 1, 1, 0 } };
  DynoLabelFigures figures[2];
  DynoLabelSums sums[2];
  Drawn d;

  draw (&d, &sums[0]);
  dyno_label_sums_reset (&sums[0]);
  dyno_label_sums_init (&sums[1], LABELS);
  for (guint k = 0; k < 2; k++)
    {
      for (guint i = 0; i < 3; i++)
        dyno_label_sums_add (&sums[k], logits[i], truth[i], NULL, NULL);
      dyno_label_sums_get_figures (&sums[k], &figures[k]);
    }
  g_assert_cmpuint (sums[0].truth->len, ==, 3 * LABELS);
  g_assert_cmpmem (&figures[0], sizeof *figures, &figures[1], sizeof *figures);
  for (guint k = 0; k < 2; k++)
    dyno_label_sums_clear (&sums[k]);
}

/* Labels that are not known are neither right nor wrong; a sample of which none is known is right. */
static void
test_counts_of_a_sample (void)
{
  static const float logits[4] = { 2, -1, 0, 3 };
  static const struct {
    float truth[4];
    guint32 n_known, n_wrong;
  } cases[] = {
    { { 1, 0, 1, 1 }, 4, 0 },
    { { 1, 1, 0, NAN }, 3, 2 },
    { { NAN, NAN, NAN, 0 }, 1, 1 },
    { { NAN, NAN, NAN, NAN }, 0, 0 },
  };
  DynoLabelFigures figures;
  DynoLabelSums sums;

  dyno_label_sums_init (&sums, 4);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      guint32 n_known = 99, n_wrong = 99;

      dyno_label_sums_add (&sums, logits, cases[i].truth, &n_known, &n_wrong);
      g_assert_cmpuint (n_known, ==, cases[i].n_known);
      g_assert_cmpuint (n_wrong, ==, cases[i].n_wrong);
    }
  dyno_label_sums_get_figures (&sums, &figures);
  g_assert_cmpfloat_with_epsilon (figures.label_accuracy, (1 + 1.0 / 3 + 0 + 1) / 4, 1e-12);
  g_assert_cmpfloat_with_epsilon (figures.exact_match, 0.5, 1e-12);
  dyno_label_sums_clear (&sums);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/train/labelsums/definitions", test_definitions);
  g_test_add_func ("/train/labelsums/known-values", test_known_values);
  g_test_add_func ("/train/labelsums/second-use", test_second_use);
  g_test_add_func ("/train/labelsums/undefined", test_undefined);
  g_test_add_func ("/train/labelsums/not-a-number", test_not_a_number);
  g_test_add_func ("/train/labelsums/again", test_again);
  g_test_add_func ("/train/labelsums/counts-of-a-sample", test_counts_of_a_sample);
  return g_test_run ();
}
