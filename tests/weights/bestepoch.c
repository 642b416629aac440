/* SPDX-License-Identifier: MIT */
/* The best epoch and the early stop: ties, and epochs after the best one. */
#include "bestepoch.h"
#include <math.h>

#define NOTHING (double) NAN

static const DynoMetricInfo higher = { .name = "accuracy", .higher_is_better = TRUE },
                            lower = { .name = "mean_abs_error" };

static DynoPosition
fresh (void)
{
  return (DynoPosition){ .best_val_metric = NOTHING, .best_val_loss = NOTHING };
}

typedef struct {
  double value, loss;
  gboolean best;
} Epoch;

static void
check_epochs (const Epoch *epochs, guint n, const DynoMetricInfo *selecting)
{
  DynoPosition position = fresh ();
  guint best = 0;

  for (guint i = 0; i < n; i++)
    {
      DynoValidated validated = { i + 1, epochs[i].loss, selecting, epochs[i].value };

      g_assert_cmpint (dyno_position_take_validation (&position, &validated), ==, epochs[i].best);
      best = epochs[i].best ? i : best;
      g_assert_cmpuint (position.best_epoch, ==, best + 1);
      g_assert_cmpfloat (position.best_val_loss, ==, epochs[best].loss);
      if (selecting && !isnan (epochs[best].value))
        g_assert_cmpfloat (position.best_val_metric, ==, epochs[best].value);
      else
        g_assert_true (isnan (position.best_val_metric));
    }
}

static void
test_loss (void)
{
  const Epoch epochs[] = { { NOTHING, 3, TRUE }, { NOTHING, 4, FALSE }, { NOTHING, 3, FALSE },
                           { NOTHING, 2, TRUE }, { NOTHING, 3, FALSE }, { NOTHING, 2, FALSE },
                           { NOTHING, 1, TRUE } };

  check_epochs (epochs, G_N_ELEMENTS (epochs), NULL);
}

/* The metric decides first; for equal values the loss, compared with that of the best epoch and not
 * of the first. */
static void
test_metric (void)
{
  Epoch epochs[] = { { 0.5, 3, TRUE },  { 0.5, 2, TRUE }, { 0.5, 2.5, FALSE }, { 0.4, 1, FALSE },
                     { 0.5, 2, FALSE }, { 0.6, 5, TRUE }, { 0.6, 6, FALSE },   { 0.6, 4, TRUE },
                     { 0.5, 1, FALSE }, { 0.7, 4, TRUE } };

  check_epochs (epochs, G_N_ELEMENTS (epochs), &higher);
  for (guint i = 0; i < G_N_ELEMENTS (epochs); i++)
    epochs[i].value = 1 - epochs[i].value;
  check_epochs (epochs, G_N_ELEMENTS (epochs), &lower);
}

/* A NaN metric is never better, and the first finite one is. */
static void
test_metric_without_a_number (void)
{
  const Epoch epochs[] = {
    { NOTHING, 3, TRUE }, { 0.2, 4, TRUE }, { NOTHING, 1, FALSE }, { 0.3, 4, TRUE }
  };

  check_epochs (epochs, G_N_ELEMENTS (epochs), &higher);
}

/* The weights of the best epoch are lost: later epochs are compared with each other only. */
static void
test_forgotten (void)
{
  static const DynoMetricInfo *const selecting[] = { NULL, &higher, &lower };
  const struct {
    double value, loss;
    gboolean forget, best;
  } epochs[] = { { 0.9, 1, FALSE, TRUE },  { 0.5, 5, TRUE, TRUE },  { 0.6, 4, FALSE, TRUE },
                 { 0.4, 6, FALSE, FALSE }, { 0.2, 8, TRUE, TRUE },  { 0.1, 9, FALSE, FALSE },
                 { 0.3, 7, FALSE, TRUE },  { 0.3, 7, FALSE, FALSE } };

  for (guint m = 0; m < G_N_ELEMENTS (selecting); m++)
    {
      DynoPosition position = fresh ();

      for (guint i = 0; i < G_N_ELEMENTS (epochs); i++)
        {
          DynoValidated validated = { i + 1, epochs[i].loss, selecting[m],
                                      m == 2 ? 1 - epochs[i].value : epochs[i].value };

          if (epochs[i].forget)
            dyno_position_forget_best (&position);
          g_assert_cmpint (dyno_position_take_validation (&position, &validated), ==,
                           epochs[i].best);
          if (epochs[i].best && selecting[m])
            g_assert_cmpfloat (position.best_val_metric, ==, validated.value);
        }
    }
}

/* --- early stop ------------------------------------------------------------------------------- */

typedef struct {
  double value;
  gboolean gain, stalled; /* after this epoch, with patience 2 */
} Gain;

static void
check_gains (const Gain *gains, guint n, const DynoMetricInfo *selecting, double sign)
{
  DynoPosition position = fresh ();
  double best = 0;
  guint last = 0;

  for (guint i = 0; i < n; i++)
    {
      double value = sign * gains[i].value;
      DynoValidated validated = { .epoch = i + 1, .selecting = selecting };

      *(selecting ? &validated.value : &validated.loss) = value;
      g_assert_cmpint (dyno_position_take_gain (&position, &validated, 0.5), ==, gains[i].gain);
      position.epoch = i + 1;
      best = gains[i].gain ? value : best;
      last = gains[i].gain ? i + 1 : last;
      g_assert_cmpfloat (position.early_best, ==, best);
      g_assert_cmpuint (position.early_epoch, ==, last);
      g_assert_cmpint (dyno_position_has_stalled (&position, 2), ==, gains[i].stalled);
      g_assert_false (dyno_position_has_stalled (&position, 0));
    }
}

/* Small gains add up relative to the last real gain; each real gain restarts the patience. */
static void
test_gains (void)
{
  const Gain gains[] = { { NOTHING, FALSE, FALSE }, { -1, TRUE, FALSE },
                         { -1.25, FALSE, FALSE },   { -1.5, FALSE, TRUE },
                         { -1.75, TRUE, FALSE },    { -2, FALSE, FALSE },
                         { -2.5, TRUE, FALSE },     { -2, FALSE, FALSE },
                         { NOTHING, FALSE, TRUE },  { -2.75, FALSE, TRUE },
                         { -4, TRUE, FALSE } };

  check_gains (gains, G_N_ELEMENTS (gains), &higher, -1);
  check_gains (gains, G_N_ELEMENTS (gains), &lower, 1);
  check_gains (gains, G_N_ELEMENTS (gains), NULL, 1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/weights/bestepoch/lowest-loss-the-first-of-equals", test_loss);
  g_test_add_func ("/weights/bestepoch/of-equal-metrics-the-lower-loss", test_metric);
  g_test_add_func ("/weights/bestepoch/metric-without-a-number", test_metric_without_a_number);
  g_test_add_func ("/weights/bestepoch/after-one-whose-weights-are-gone", test_forgotten);
  g_test_add_func ("/weights/bestepoch/patience-counts-from-the-last-gain", test_gains);
  return g_test_run ();
}
