/* SPDX-License-Identifier: MIT */
/* The health of a run with recurring troubles, and the loss of a constant answer. */
#include "health.h"
#include "npyfile.h"
#include "train-error.h"
#include <glib/gstdio.h>
#include <math.h>

static void
take (DynoHealth *health, double loss, guint times)
{
  for (guint i = 0; i < times; i++)
    dyno_health_take_step (health, loss, isfinite (loss), TRUE);
}

/* Asserts that exactly n bad steps have followed each other. */
static void
assert_row (const DynoHealth *health, guint n)
{
  g_autoptr (GError) error = NULL;

  g_assert_false (dyno_health_has_diverged (health, n + 1, 99, "", NULL));
  g_assert_cmpuint (health->bad_row, ==, n);
  if (n == 0)
    return;
  g_assert_true (dyno_health_has_diverged (health, n, 99, "", &error));
  g_assert_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DIVERGED);
}

/* A good step ends a row of bad ones, and the next row counts from 1. */
static void
test_rows (void)
{
  const double bad[] = { (double) NAN, (double) INFINITY, 2001 };

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      DynoHealth health = { .guess = 2 };

      take (&health, 1, 3);
      for (guint row = 4; row > 1; row--)
        {
          take (&health, bad[i], row);
          assert_row (&health, row);
          g_assert_cmpuint (health.lost_row, ==, isfinite (bad[i]) ? 0 : row);
          take (&health, 1, 1);
          assert_row (&health, 0);
          g_assert_cmpuint (health.lost_row, ==, 0);
        }
    }
}

/* For values that are not finite, the last bad step decides whether the gradient is named. */
static void
test_gradient (void)
{
  DynoHealth health = { 0 };

  for (guint i = 0; i < 2; i++)
    {
      dyno_health_take_step (&health, 1, TRUE, FALSE);
      g_assert_true (health.gradient);
      assert_row (&health, 1);
      g_assert_cmpuint (health.lost_row, ==, 0);
      take (&health, (double) NAN, 1);
      g_assert_false (health.gradient);
      assert_row (&health, 2);
      take (&health, 1, 1);
      g_assert_false (health.gradient);
    }
}

/* A loss is compared with the first finite loss, or with that of a guess where this is larger,
 * whatever the later losses are. */
static void
test_reference (void)
{
  DynoHealth health = { .guess = 2 };

  take (&health, (double) NAN, 1);
  g_assert_cmpfloat (health.first, ==, 0);
  take (&health, 5, 1);
  take (&health, 50, 1);
  take (&health, 0.01, 1);
  g_assert_cmpfloat (health.first, ==, 5);
  g_assert_false (dyno_health_is_bad (&health, 5000));
  g_assert_true (dyno_health_is_bad (&health, 5001));
  health.guess = 6;
  g_assert_false (dyno_health_is_bad (&health, 6000));
  g_assert_true (dyno_health_is_bad (&health, 6001));
  g_assert_true (dyno_health_is_bad (&(DynoHealth){ 0 }, (double) NAN));
  g_assert_false (dyno_health_is_bad (&(DynoHealth){ 0 }, 1e30));
}

/* Only epochs without learning that follow each other count, and they are reported once. */
static void
test_idle (void)
{
  static const struct {
    double loss;
    gboolean told;
  } epochs[] = { { 2, FALSE },    { 1.97, FALSE }, { 1, FALSE }, { 1.96, FALSE }, { 2, FALSE },
                 { 1.95, FALSE }, { 2, FALSE },    { 3, FALSE }, { 2, TRUE },     { 2, FALSE },
                 { 1, FALSE },    { 2, FALSE },    { 2, FALSE }, { 2, FALSE },    { 2, FALSE } };
  DynoHealth health = { .guess = 2 }, unknown = { 0 };

  for (guint i = 0; i < G_N_ELEMENTS (epochs); i++)
    {
      g_assert_cmpint (dyno_health_take_epoch (&health, epochs[i].loss, 100 * (i + 1)), ==,
                       epochs[i].told);
      g_assert_false (dyno_health_take_epoch (&unknown, epochs[i].loss, 100 * (i + 1)));
    }
}

/* Epochs of few steps are reported later, and all of them count. */
static void
test_idle_steps (void)
{
  DynoHealth health = { .guess = 2 };

  for (guint i = 1; i <= 12; i++)
    g_assert_cmpint (dyno_health_take_epoch (&health, 2, 5 * i), ==, i == 6);
}

/* --- the loss of the best constant answer ----------------------------------------------------- */

/* A data set of n samples, all equal, with targets of an array. */
static DynoDataset *
open_targets (DynoTask task, const char *type, guint n_dims, const guint64 *shape,
              gconstpointer targets)
{
  g_autofree char *folder = g_dir_make_tmp ("dyno-XXXXXX", NULL),
                  *x = g_build_filename (folder, "X.npy", NULL),
                  *y = g_build_filename (folder, "y.npy", NULL);
  const DynoDatasetParams params = { .task = task };
  g_autoptr (GError) error = NULL;
  float zeros[64] = { 0 };
  DynoDataset *dataset;

  g_assert_true (dyno_npy_write (x, "f4", 2, (guint64[]){ shape[0], 2 }, zeros, NULL));
  g_assert_true (dyno_npy_write (y, type, n_dims, shape, targets, NULL));
  dataset = dyno_dataset_open (x, &params, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  g_remove (x);
  g_remove (y);
  g_rmdir (folder);
  return dataset;
}

static GArray *
list_samples (const guint32 *samples, guint n)
{
  GArray *list = g_array_new (FALSE, FALSE, sizeof (guint32));

  return g_array_append_vals (list, samples, n);
}

/* The entropy of the classes, of which one has no sample. */
static void
test_guess_of_classes (void)
{
  static const gint64 classes[8] = { 0, 0, 0, 0, 3, 3, 1, 1 };
  static const guint32 samples[] = { 0, 4 };
  g_autoptr (DynoDataset) dataset =
      open_targets (DYNO_TASK_AUTO, "i8", 1, (guint64[]){ 8 }, classes);
  g_autoptr (GArray) train = list_samples (samples, 2), none = list_samples (samples, 0);

  for (guint weighted = 0; weighted < 2; weighted++)
    g_assert_cmpfloat_with_epsilon (dyno_health_guess (dataset, train, TRUE, weighted),
                                    1.5 * log (2), 1e-9);
  g_assert_cmpfloat (dyno_health_guess (dataset, none, TRUE, FALSE), ==, 0);
  g_assert_cmpfloat (dyno_health_guess (dataset, NULL, TRUE, FALSE), ==, 0);
}

/* The mean over the values of their mean square, around their means or around 0, in the samples that
 * are trained with. */
static void
test_guess_of_values (void)
{
  static const float values[8] = { 100, 100, 1, 5, 3, 9, -50, 7 };
  static const guint32 samples[] = { 1, 2 };
  g_autoptr (DynoDataset) dataset =
      open_targets (DYNO_TASK_AUTO, "f4", 2, (guint64[]){ 4, 2 }, values);
  g_autoptr (GArray) train = list_samples (samples, 2);

  g_assert_cmpfloat_with_epsilon (dyno_health_guess (dataset, train, TRUE, FALSE), (1 + 4) / 2.0,
                                  1e-6);
  g_assert_cmpfloat_with_epsilon (dyno_health_guess (dataset, train, FALSE, FALSE),
                                  (1 + 9 + 25 + 81) / 4.0, 1e-5);
  /* A constant value is guessed exactly, also where it is one of several. */
  {
    static const float constant[8] = { 3, 1, 3, 5, 3, 5, 3, 1 };
    g_autoptr (DynoDataset) other =
        open_targets (DYNO_TASK_AUTO, "f4", 2, (guint64[]){ 4, 2 }, constant);

    g_assert_cmpfloat_with_epsilon (dyno_health_guess (other, train, TRUE, FALSE), 0, 1e-6);
    g_array_append_vals (train, (guint32[]){ 0, 3 }, 2);
    g_assert_cmpfloat_with_epsilon (dyno_health_guess (other, train, TRUE, FALSE), 4 / 2.0, 1e-6);
  }
}

/* The mean over samples and labels of the entropy: one label is known of two samples of three, one
 * is there always.  With weights its scale is another. */
static void
test_guess_of_labels (void)
{
  static const float labels[12] = { 1, NAN, 1, 0, 1, 1, 0, 0, 1, 0, 1, 0 };
  static const guint32 samples[] = { 0, 1, 2 };
  const double even = log (2), third = log (3) - 2.0 / 3 * log (2);
  g_autoptr (DynoDataset) dataset =
      open_targets (DYNO_TASK_LABELS, "f4", 2, (guint64[]){ 4, 3 }, labels);
  g_autoptr (GArray) train = list_samples (samples, 3);

  g_assert_cmpfloat_with_epsilon (dyno_health_guess (dataset, train, TRUE, FALSE),
                                  (3 * third + 2 * even) / 9, 1e-9);
  g_assert_cmpfloat (dyno_health_guess (dataset, train, TRUE, TRUE), ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/train/health/rows-of-bad-steps-count-apart", test_rows);
  g_test_add_func ("/train/health/gradient-or-loss", test_gradient);
  g_test_add_func ("/train/health/measured-against-the-first-loss", test_reference);
  g_test_add_func ("/train/health/idle-epochs-in-a-row-alone", test_idle);
  g_test_add_func ("/train/health/idle-after-some-steps", test_idle_steps);
  g_test_add_func ("/train/health/guess-of-classes", test_guess_of_classes);
  g_test_add_func ("/train/health/guess-of-values", test_guess_of_values);
  g_test_add_func ("/train/health/guess-of-labels", test_guess_of_labels);
  return g_test_run ();
}
