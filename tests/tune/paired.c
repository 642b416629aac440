/* SPDX-License-Identifier: MIT */
/* Intervals of paired differences. */
#include "paired.h"
#include "rng.h"
#include <math.h>

/* Values from printed tables: two-sided 95 % and 99 %. */
static void
test_quantiles (void)
{
  const struct {
    guint freedom;
    double confidence, t;
  } cases[] = { { 1, 0.95, 12.7062 }, { 2, 0.95, 4.3027 },  { 3, 0.95, 3.1824 },
                { 4, 0.95, 2.7764 },  { 9, 0.95, 2.2622 },  { 30, 0.95, 2.0423 },
                { 1, 0.99, 63.6567 }, { 10, 0.99, 3.1693 }, { 5, 0.975, 3.1634 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    g_assert_cmpfloat_with_epsilon (dyno_student_quantile (cases[i].freedom, cases[i].confidence),
                                    cases[i].t, 1e-4);
}

static void
test_interval (void)
{
  const double a[] = { 5, 7, (double) NAN, 9, 1 }, b[] = { 4, 5, 1, 6, INFINITY };
  DynoPaired p;

  dyno_paired_compare (a, b, 5, 1, &p); /* differences 1, 2, 3 */
  g_assert_cmpuint (p.n, ==, 3);
  g_assert_cmpfloat (p.mean, ==, 2);
  g_assert_cmpfloat_with_epsilon (p.half, 4.3027 / sqrt (3), 1e-4);
  g_assert_cmpfloat (p.low, ==, p.mean - p.half);
  g_assert_cmpfloat (p.high, ==, p.mean + p.half);
  dyno_paired_compare (a, b, 1, 1, &p);
  g_assert_true (p.n == 1 && p.mean == 1 && isinf (p.half) && p.low < 0);
  dyno_paired_compare (a, b, 0, 1, &p);
  g_assert_true (p.n == 0 && isnan (p.mean) && p.low < 0);
}

/* Each seed classifies one more sample correctly, which may be chance. */
static void
test_equal_differences (void)
{
  const double a[] = { 0.84, 0.9, 0.88, 0.82, 0.92, 0.86, 0.94 },
               b[] = { 0.82, 0.88, 0.86, 0.8, 0.9, 0.84, 0.92 };
  DynoPaired p;

  for (guint n = 2; n <= 7; n++)
    {
      dyno_paired_compare (a, b, n, 1, &p);
      g_assert_cmpfloat_with_epsilon (p.mean, 0.02, 1e-12);
      g_assert_true ((p.low > 0) == (n == 7));
    }
  dyno_paired_compare (a, a, 7, 1, &p);
  g_assert_true (p.mean == 0 && p.low == 0 && p.high == 0);
}

/* Two equal settings: the intervals of both comparisons exclude 0 together in at most 5 % of the
 * searches. */
static void
test_false_proofs (void)
{
  const guint searches = 4000, seeds = 4;
  DynoRng rng = dyno_rng_init (3, 0);
  guint wrong = 0;

  for (guint i = 0; i < searches; i++)
    {
      double x[3][4];
      DynoPaired p[2];

      for (guint k = 0; k < 3 * seeds; k++)
        x[k / seeds][k % seeds] = dyno_rng_normal (&rng);
      for (guint k = 0; k < 2; k++)
        dyno_paired_compare (x[k], x[2], seeds, 2, &p[k]);
      wrong += p[0].low > 0 || p[0].high < 0 || p[1].low > 0 || p[1].high < 0;
    }
  g_assert_cmpuint (wrong, <=, searches * 6 / 100);
  g_assert_cmpuint (wrong, >=, searches * 2 / 100);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tune/paired/quantiles-are-those-of-tables", test_quantiles);
  g_test_add_func ("/tune/paired/interval-of-pairs-that-are-finite", test_interval);
  g_test_add_func ("/tune/paired/equal-differences-prove-little", test_equal_differences);
  g_test_add_func ("/tune/paired/both-intervals-hold-together", test_false_proofs);
  return g_test_run ();
}
