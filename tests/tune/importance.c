/* SPDX-License-Identifier: MIT */
/* The importance of parameters with known effects. */
#include "importance.h"
#include "rng.h"
#include <math.h>

#define N 60

static const DynoTpeDimension dimensions[] = {
  { -4, 4, 0 }, { 0, 1, 0 }, { .n_choices = 3 }, { 0, 1, 0 }
};

static void
fill (double *points, guint64 seed)
{
  DynoTpe tpe = { 4, dimensions, NULL, NULL, seed };

  for (guint i = 0; i < N; i++)
    dyno_tpe_draw (&tpe, i, points + (gsize) i * 4);
}

/* The first parameter explains most, the choice some, the two others nothing, in each of ten
 * draws. */
static void
test_order (void)
{
  for (guint64 seed = 0; seed < 10; seed++)
    {
      double points[N * 4], losses[N], shares[4];

      fill (points, seed);
      for (guint i = 0; i < N; i++)
        losses[i] = points[i * 4] * points[i * 4] + 3 * (points[i * 4 + 2] == 1);
      dyno_importance (dimensions, 4, points, losses, N, shares);
      g_test_message ("%g %g %g %g", shares[0], shares[1], shares[2], shares[3]);
      g_assert_cmpfloat (shares[0], >, 0.5);
      g_assert_cmpfloat (shares[0], >, shares[2]);
      g_assert_cmpfloat (shares[1], <, 0.15);
      g_assert_cmpfloat (shares[3], <, 0.15);
    }
}

static void
test_choice (void)
{
  double points[N * 4], losses[N], shares[4];

  fill (points, 3);
  for (guint i = 0; i < N; i++)
    losses[i] = points[i * 4 + 2] == 1 ? INFINITY : 1 + 0.001 * points[i * 4 + 1];
  dyno_importance (dimensions, 4, points, losses, N, shares);
  g_assert_cmpfloat (shares[2], >, 0.6);
  g_assert_cmpfloat (shares[2], >, shares[1]);
}

/* Half of the points have no value of the parameter; the other half shows its importance. */
static void
test_without_effect (void)
{
  double points[N * 4], losses[N], shares[4];

  fill (points, 4);
  for (guint i = 0; i < N; i++)
    {
      if (i % 2)
        points[i * 4 + 1] = (double) NAN;
      losses[i] = i % 2 ? 5 : points[i * 4 + 1];
    }
  dyno_importance (dimensions, 4, points, losses, N, shares);
  g_assert_cmpfloat (shares[1], >, 0.8);
}

static void
test_nothing_to_say (void)
{
  double points[N * 4], losses[N], shares[4];

  fill (points, 5);
  for (guint i = 0; i < N; i++)
    losses[i] = 1;
  dyno_importance (dimensions, 4, points, losses, N, shares);
  g_assert_true (isnan (shares[0]) && isnan (shares[3]));
  for (guint i = 0; i < N; i++)
    losses[i] = points[i * 4];
  dyno_importance (dimensions, 4, points, losses, DYNO_IMPORTANCE_LEAST - 1, shares);
  g_assert_true (isnan (shares[0]));
  dyno_importance (dimensions, 4, points, losses, DYNO_IMPORTANCE_LEAST, shares);
  g_assert_cmpfloat (shares[0], >, 0.3);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tune/importance/what-explains-the-losses", test_order);
  g_test_add_func ("/tune/importance/a-choice-and-failures", test_choice);
  g_test_add_func ("/tune/importance/values-without-effect", test_without_effect);
  g_test_add_func ("/tune/importance/nothing-to-say", test_nothing_to_say);
  return g_test_run ();
}
