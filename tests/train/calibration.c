/* SPDX-License-Identifier: MIT */
/* Temperatures compared with closed forms, and thresholds with a search over all of them. */
#include "calibration.h"
#include "train-error.h"
#include <math.h>
#include <string.h>

/* --- classes ---------------------------------------------------------------------------------- */

static void
add_class (DynoScores *scores, const float *logits, guint32 truth)
{
  guint32 n = scores->n_outputs;
  g_autofree float *shares = g_new (float, n);
  DynoPrediction prediction = { .index = scores->n_samples, .logits = logits, .shares = shares };
  double sum = 0;

  for (guint32 i = 0; i < n; i++)
    sum += exp ((double) logits[i]);
  for (guint32 i = 0; i < n; i++)
    shares[i] = (float) (exp ((double) logits[i]) / sum);
  dyno_scores_add_class (scores, &prediction, truth);
}

/* Of two classes, n_right of n samples are predicted right, all with the same logits. */
static DynoScores *
score_two (DynoWeightsInfo *info, float logit, guint n, guint n_right)
{
  DynoScores *scores;

  *info = (DynoWeightsInfo){ .n_outputs = 2, .temperature = 1 };
  scores = dyno_scores_new (info, 0);
  for (guint i = 0; i < n; i++)
    add_class (scores, (float[]){ 0, logit }, i < n_right);
  return scores;
}

/* With the best temperature the probability is the share of right predictions. */
static void
test_temperature_gives_the_share (void)
{
  DynoWeightsInfo info;
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoScores) scores = score_two (&info, 3, 40, 30);
  DynoCalibration c;

  g_assert_true (dyno_calibrate (scores, &info, &c, &error));
  g_assert_no_error (error);
  g_assert_cmpfloat_with_epsilon (info.temperature, 3 / log (3), 1e-6);
  g_assert_cmpuint (c.n_samples, ==, 40);
  g_assert_cmpfloat_with_epsilon (c.loss_before, 0.25 * 3 + log1p (exp (-3)), 1e-6);
  g_assert_cmpfloat_with_epsilon (c.loss_after, -0.75 * log (0.75) - 0.25 * log (0.25), 1e-6);
  g_assert_cmpfloat_with_epsilon (c.calibration_error_before, 1 / (1 + exp (-3)) - 0.75, 1e-6);
  g_assert_cmpfloat_with_epsilon (c.calibration_error_after, 0, 1e-6);
  g_assert_null (info.thresholds);
}

/* Scores of weights that are calibrated already add to that, and find nothing on the same
 * samples. */
static void
test_second_calibration_multiplies (void)
{
  DynoWeightsInfo info;
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoScores) scores = NULL;
  DynoCalibration c;

  scores = score_two (&info, 1.5f, 40, 30);
  info.temperature = 2;
  g_assert_true (dyno_calibrate (scores, &info, &c, &error));
  g_assert_cmpfloat_with_epsilon (info.temperature, 2 * 1.5 / log (3), 1e-6);
  dyno_scores_free (g_steal_pointer (&scores));

  scores = score_two (&info, (float) log (3), 40, 30);
  info.temperature = 5;
  g_assert_true (dyno_calibrate (scores, &info, &c, &error));
  g_assert_cmpfloat_with_epsilon (info.temperature, 5, 1e-5);
}

/* Of many classes: the loss is greater at both sides, and the temperature by which the truth was
 * drawn is found, also where it is far from 1. */
static void
test_temperature_of_many_classes (void)
{
  const double drawn[] = { 0.2, 1, 7 };

  for (guint t = 0; t < G_N_ELEMENTS (drawn); t++)
    {
      DynoWeightsInfo info = { .n_outputs = 6, .temperature = 1 };
      g_autoptr (GRand) random = g_rand_new_with_seed (t + 1);
      g_autoptr (DynoScores) scores = dyno_scores_new (&info, 0);
      g_autoptr (GError) error = NULL;
      DynoCalibration c;

      for (guint i = 0; i < 6000; i++)
        {
          float logits[6];
          double weights[6], sum = 0, rest;
          guint32 truth = 0;

          for (guint k = 0; k < 6; k++)
            {
              logits[k] = (float) (g_rand_double_range (random, -2, 2) * drawn[t]);
              sum += weights[k] = exp ((double) logits[k] / drawn[t]);
            }
          rest = g_rand_double (random) * sum;
          while (truth < 5 && (rest -= weights[truth]) > 0)
            truth++;
          add_class (scores, logits, truth);
        }
      g_assert_true (dyno_calibrate (scores, &info, &c, &error));
      g_assert_cmpfloat_with_epsilon (info.temperature / drawn[t], 1, 0.06);
      g_assert_cmpfloat (c.loss_after, <=, c.loss_before);
      g_assert_cmpfloat (c.calibration_error_after, <, 0.03);
    }
}

static void
assert_refused (DynoScores *scores, DynoWeightsInfo *info, const char *reason)
{
  g_autoptr (GError) error = NULL;
  DynoCalibration c;

  g_assert_false (dyno_calibrate (scores, info, &c, &error));
  g_assert_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DATA);
  g_assert_nonnull (strstr (error->message, reason));
  g_assert_cmpfloat (info->temperature, ==, 1);
  g_assert_null (info->thresholds);
}

static void
test_no_best_temperature (void)
{
  DynoWeightsInfo info;
  g_autoptr (DynoScores) right = score_two (&info, 3, 40, 40);
  g_autoptr (DynoScores) chance = score_two (&info, 3, 40, 20);
  g_autoptr (DynoScores) wrong = score_two (&info, 3, 40, 0);
  g_autoptr (DynoScores) none = score_two (&info, 3, 0, 0);
  g_autoptr (DynoScores) many = score_two (&info, 3, 40, 30);
  DynoWeightsInfo of_values = { .n_outputs = 2, .temperature = 1, .is_values = TRUE };
  g_autoptr (DynoScores) values = dyno_scores_new (&of_values, 0);

  assert_refused (right, &info, "right for all samples");
  assert_refused (chance, &info, "no better than chance");
  assert_refused (wrong, &info, "no better than chance");
  assert_refused (none, &info, "no samples");
  g_clear_pointer (&many->outputs, g_array_unref);
  assert_refused (many, &info, "too many samples");
  assert_refused (values, &of_values, "predict values");
}

/* --- labels ----------------------------------------------------------------------------------- */

#define LABELS  5
#define SAMPLES 120

/* Label 0 is predicted with too low logits, 1 with too high ones, label 2 is known in half of the
 * samples, 3 is rare, and all samples but 4 have the last. */
static DynoScores *
draw_labels (DynoWeightsInfo *info)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (11);
  DynoScores *scores = dyno_scores_new (info, 0);

  for (guint i = 0; i < SAMPLES; i++)
    {
      static const double shift[LABELS] = { -2, 2, 0, 0, 0 };
      float logits[LABELS], truth[LABELS], shares[LABELS];
      DynoPrediction prediction = { .index = i, .logits = logits, .shares = shares };

      for (guint k = 0; k < LABELS; k++)
        {
          gboolean there = k == 3 ? i < 4 : k == 4 ? i >= 4 : g_rand_boolean (random);

          truth[k] = there;
          /* Few different logits, so that there are ties. */
          logits[k] =
              (float) (g_rand_int_range (random, -3, 4) * 0.5 + (there ? 1 : -1) + shift[k]);
          shares[k] = (float) (1 / (1 + exp (-(double) logits[k])));
          if (k == 2 && i % 2)
            truth[k] = NAN;
        }
      dyno_scores_add_labels (scores, &prediction, truth);
    }
  return scores;
}

/* The F1 of a label whose logit over the temperature has at least this probability. */
static double
measure_f1 (const DynoScores *scores, guint label, double temperature, float threshold)
{
  guint right = 0, there = 0, predicted = 0;

  for (guint i = 0; i < SAMPLES; i++)
    {
      float truth = g_array_index (scores->labels.truth, float, i *LABELS + label);
      double logit = (double) g_array_index (scores->labels.logits, float, i *LABELS + label);
      gboolean is = (float) (1 / (1 + exp (-logit / temperature))) >= threshold;

      if (isnan (truth))
        continue;
      there += truth > 0.5f;
      predicted += is;
      right += is && truth > 0.5f;
    }
  return 2.0 * right / (there + predicted);
}

/* The mean of the cross entropies of all labels, of which those that are not known have none. */
static double
measure_loss (const DynoScores *scores, double temperature)
{
  double loss = 0;

  for (guint i = 0; i < SAMPLES * LABELS; i++)
    {
      float truth = g_array_index (scores->labels.truth, float, i);
      double logit = (double) g_array_index (scores->labels.logits, float, i) / temperature;

      if (!isnan (truth))
        loss += log1p (exp (truth > 0.5f ? -logit : logit));
    }
  return loss / (SAMPLES * LABELS);
}

static void
test_thresholds (void)
{
  DynoWeightsInfo info = { .n_outputs = LABELS, .temperature = 1, .is_labels = TRUE };
  g_autoptr (DynoScores) scores = draw_labels (&info);
  g_autofree float *thresholds = NULL;
  g_autoptr (GError) error = NULL;
  DynoCalibration c;
  double mean = 0;

  g_assert_true (dyno_calibrate (scores, &info, &c, &error));
  g_assert_no_error (error);
  thresholds = info.thresholds;
  for (guint k = 0; k < LABELS; k++)
    {
      double best = 0, found = measure_f1 (scores, k, info.temperature, thresholds[k]);

      mean += found / LABELS;
      for (guint i = 0; i <= 1000; i++)
        best = MAX (best, measure_f1 (scores, k, info.temperature, (float) i / 1000));
      if (k < 3)
        g_assert_cmpfloat_with_epsilon (found, best, 1e-12);
    }
  g_assert_cmpfloat (thresholds[0], <, 0.4f);
  g_assert_cmpfloat (thresholds[1], >, 0.6f);
  g_assert_cmpfloat (thresholds[3], ==, 0.5f);
  g_assert_cmpfloat (thresholds[4], ==, 0.5f);
  g_assert_cmpuint (c.n_kept, ==, 2);
  g_assert_cmpfloat_with_epsilon (c.f1_macro_after, mean, 1e-12);
  g_assert_cmpfloat (c.f1_macro_after, >, c.f1_macro_before + 0.05);
  g_assert_cmpfloat (c.loss_after, <, c.loss_before);
  g_assert_cmpfloat_with_epsilon (c.loss_before, measure_loss (scores, 1), 1e-9);
  g_assert_cmpfloat_with_epsilon (c.loss_after, measure_loss (scores, info.temperature), 1e-9);
}

/* The thresholds that a file has are those of its scores, and a label that keeps its threshold
 * keeps it at the same logit. */
static void
test_thresholds_of_a_file (void)
{
  DynoWeightsInfo info = { .n_outputs = LABELS, .temperature = 1, .is_labels = TRUE };
  float *thresholds = g_new (float, LABELS);
  g_autoptr (DynoScores) scores = NULL;
  g_autoptr (GError) error = NULL;
  DynoCalibration c;
  double logit = log (0.3 / 0.7);

  for (guint k = 0; k < LABELS; k++)
    thresholds[k] = 0.3f;
  info.thresholds = thresholds;
  scores = draw_labels (&info);
  for (guint k = 0; k < LABELS; k++)
    g_assert_cmpfloat_with_epsilon (dyno_class_counts_get_f1 (&scores->labels.counts, k),
                                    measure_f1 (scores, k, 1, 0.3f), 1e-12);
  g_assert_true (dyno_calibrate (scores, &info, &c, &error));
  g_assert_cmpfloat_with_epsilon ((double) info.thresholds[3],
                                  1 / (1 + exp (-logit / info.temperature)), 1e-6);
  g_free (info.thresholds);
}

/* Calibrates one label with these logits, the largest first.  Returns the logit, before the
 * calibration, that reaches the threshold; *f1: its F1; *temperature: the new one. */
static double
find_limit (const float *logits, const float *truth, guint n, double *f1, double *temperature)
{
  DynoWeightsInfo info = { .n_outputs = 1, .temperature = 1, .is_labels = TRUE };
  g_autoptr (DynoScores) scores = dyno_scores_new (&info, 0);
  g_autoptr (GError) error = NULL;
  DynoCalibration c;
  double threshold;

  for (guint i = 0; i < n; i++)
    {
      float share = (float) (1 / (1 + exp (-(double) logits[i])));
      DynoPrediction prediction = { .index = i, .logits = logits + i, .shares = &share };

      dyno_scores_add_labels (scores, &prediction, truth + i);
    }
  g_assert_true (dyno_calibrate (scores, &info, &c, &error));
  g_assert_no_error (error);
  *f1 = c.f1_macro_after;
  *temperature = info.temperature;
  threshold = (double) info.thresholds[0];
  g_free (info.thresholds);
  return (log (threshold) - log1p (-threshold)) * info.temperature;
}

/* Of equally good thresholds, the nearest to 1/2. */
static void
test_tie_is_nearest_to_half (void)
{
  /* Of six samples with the label, the first two, six, and ten have an F1 of 1/2. */
  static const float logits[] = {
    3,     2.5f,  2,     1.5f,  1,  0.4f,  -0.2f, -0.3f, -0.4f, -0.5f,
    -0.6f, -0.7f, -0.8f, -0.9f, -1, -1.1f, -1.2f, -1.3f, -1.4f, -1.5f
  };
  static const float truth[] = { 1, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1 };
  double f1, unused, limit = find_limit (logits, truth, G_N_ELEMENTS (logits), &f1, &unused);

  g_assert_cmpfloat_with_epsilon (f1, 0.5, 1e-12);
  g_assert_cmpfloat (limit, <, 0.4);
  g_assert_cmpfloat (limit, >, -0.2);
}

/* Just as many samples with the label, or without it, as a threshold needs; and where all samples
 * should be chosen, the threshold is half the lowest probability. */
static void
test_just_enough_samples (void)
{
  static const float few[] = { 3, 2.5f, 2, 1, -0.2f, -1, -1.5f, -2, -2.5f, -3, -3.5f },
                     few_truth[] = { 1, 1, 1, 1, 0, 1, 0, 0, 0, 0, 0 },
                     all[] = { 3, 2.5f,  2,  1.5f,  1,     0.9f,  0.8f, 0.7f,
                               0, -0.5f, -1, -1.1f, -1.2f, -1.3f, -1.4f },
                     all_truth[] = { 1, 1, 1, 0, 1, 1, 0, 1, 0, 1, 0, 1, 0, 1, 1 };
  double f1, temperature, limit;

  limit = find_limit (few, few_truth, G_N_ELEMENTS (few), &f1, &temperature);
  g_assert_cmpfloat_with_epsilon (f1, 10.0 / 11, 1e-12);
  g_assert_cmpfloat (limit, <, -1);
  g_assert_cmpfloat (limit, >, -1.5);
  limit = find_limit (all, all_truth, G_N_ELEMENTS (all), &f1, &temperature);
  g_assert_cmpfloat_with_epsilon (f1, 20.0 / 25, 1e-12);
  g_assert_cmpfloat_with_epsilon (1 / (1 + exp (-limit / temperature)),
                                  1 / (1 + exp (1.4 / temperature)) / 2, 1e-6);
}

/* The first eleven have an F1 of 14/18, little more than the 10/13 of the first six.  The threshold is
 * in the middle between the probabilities of the eleventh and the next one. */
static void
test_best_is_little_better (void)
{
  static const float logits[] = { 3,     2.5f, 2,     1.5f, 1,     0.5f, 0,
                                  -0.5f, -1,   -1.5f, -2,   -2.5f, -3,   -3.5f };
  static const float truth[] = { 1, 1, 1, 1, 0, 1, 0, 0, 0, 1, 1, 0, 0, 0 };
  double f1, temperature,
      limit = find_limit (logits, truth, G_N_ELEMENTS (logits), &f1, &temperature);

  g_assert_cmpfloat_with_epsilon (f1, 14.0 / 18, 1e-12);
  g_assert_cmpfloat_with_epsilon (
      1 / (1 + exp (-limit / temperature)),
      (1 / (1 + exp (2 / temperature)) + 1 / (1 + exp (2.5 / temperature))) / 2, 1e-6);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/train/calibration/share", test_temperature_gives_the_share);
  g_test_add_func ("/train/calibration/second", test_second_calibration_multiplies);
  g_test_add_func ("/train/calibration/many", test_temperature_of_many_classes);
  g_test_add_func ("/train/calibration/refused", test_no_best_temperature);
  g_test_add_func ("/train/calibration/thresholds", test_thresholds);
  g_test_add_func ("/train/calibration/thresholds-of-file", test_thresholds_of_a_file);
  g_test_add_func ("/train/calibration/little-better", test_best_is_little_better);
  g_test_add_func ("/train/calibration/tie", test_tie_is_nearest_to_half);
  g_test_add_func ("/train/calibration/just-enough", test_just_enough_samples);
  return g_test_run ();
}
