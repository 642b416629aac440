/* SPDX-License-Identifier: MIT */
/* The estimator on known functions, compared with random points. */
#include "tpe.h"
#include <math.h>
#include <string.h>

#define SEEDS       20
#define EVALUATIONS 40
#define MOST        4

typedef struct {
  const char *name;
  guint n;
  DynoTpeDimension dimensions[MOST];
  double (*measure) (const double *point);
  gboolean (*counts) (const double *point, guint dimension, gpointer data);
} Function;

/* The best learning rate is 0.03. */
static double
measure_rate (const double *x)
{
  return (x[0] - log (0.03)) * (x[0] - log (0.03));
}

/* Dixon and Szegö 1978: three minima of 0.397887. */
static double
measure_branin (const double *x)
{
  double a = x[1] - 5.1 / (4 * G_PI * G_PI) * x[0] * x[0] + 5 / G_PI * x[0] - 6;

  return a * a + 10 * (1 - 1 / (8 * G_PI)) * cos (x[0]) + 10;
}

/* The second choice is the best; only with it the second number matters, and is best at 0.7. */
static double
measure_choice (const double *x)
{
  static const double of[] = { 1, 0.2, 0.8, 1.5 };

  return of[(guint) x[0]] + (x[1] - 0.3) * (x[1] - 0.3)
         + (isnan (x[2]) ? 0 : (x[2] - 0.7) * (x[2] - 0.7));
}

static gboolean
counts_choice (const double *point, guint dimension, gpointer data)
{
  return dimension != 2 || point[0] == 1;
}

static const Function functions[] = {
  { "rate", 1, { { -11.5, 0.7, 0 } }, measure_rate, NULL },
  { "branin", 2, { { -5, 10, 0 }, { 0, 15, 0 } }, measure_branin, NULL },
  { "choice", 3, { { .n_choices = 4 }, { 0, 1, 0 }, { 0, 1, 0 } }, measure_choice, counts_choice },
};

/* Returns the best value of a search; best_point may be NULL. */
static double
search (const Function *f, guint64 seed, gboolean at_random, guint n, double *best_point)
{
  DynoTpe tpe = { f->n, f->dimensions, f->counts, NULL, seed };
  double points[EVALUATIONS * MOST], losses[EVALUATIONS], best = INFINITY;

  for (guint i = 0; i < n; i++)
    {
      double *point = points + (gsize) i * f->n;

      if (at_random)
        dyno_tpe_draw (&tpe, i, point);
      else
        dyno_tpe_propose (&tpe, points, losses, i, i, point);
      losses[i] = f->measure (point);
      if (losses[i] < best)
        {
          best = losses[i];
          if (best_point)
            memcpy (best_point, point, f->n * sizeof *point);
        }
    }
  return best;
}

static int
compare (gconstpointer a, gconstpointer b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

static double
median_best (const Function *f, gboolean at_random)
{
  double best[SEEDS];

  for (guint seed = 0; seed < SEEDS; seed++)
    best[seed] = search (f, seed + 1, at_random, EVALUATIONS, NULL);
  qsort (best, SEEDS, sizeof *best, compare);
  return (best[SEEDS / 2 - 1] + best[SEEDS / 2]) / 2;
}

static void
test_better_than_random (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (functions); i++)
    {
      double tpe = median_best (&functions[i], FALSE), drawn = median_best (&functions[i], TRUE);

      g_test_message ("%s: %g, at random %g", functions[i].name, tpe, drawn);
      g_assert_cmpfloat (tpe, <, drawn);
    }
}

static void
test_rate_is_found (void)
{
  for (guint seed = 1; seed <= SEEDS; seed++)
    {
      double point[MOST];

      search (&functions[0], seed, FALSE, EVALUATIONS, point);
      g_test_message ("seed %u: %g", seed, exp (point[0]));
      g_assert_cmpfloat (fabs (point[0] - log (0.03)), <, log (1.5));
    }
}

static void
test_same_seed (void)
{
  double a[MOST], b[MOST];

  for (guint i = 0; i < G_N_ELEMENTS (functions); i++)
    {
      search (&functions[i], 7, FALSE, EVALUATIONS, a);
      search (&functions[i], 7, FALSE, EVALUATIONS, b);
      g_assert_cmpmem (a, functions[i].n * sizeof *a, b, functions[i].n * sizeof *b);
      search (&functions[i], 8, FALSE, EVALUATIONS, b);
      g_assert_cmpint (memcmp (a, b, functions[i].n * sizeof *a), !=, 0);
    }
}

/* The first points are spread: in one dimension no two are closer than a third of an even spacing,
 * and no gap is wider than twice that spacing; random points are not spread like this. */
static void
test_start (void)
{
  DynoTpeDimension dimension = { 0, 1, 0 };
  guint wide = 0;

  for (guint64 seed = 0; seed < 20; seed++)
    {
      DynoTpe tpe = { 1, &dimension, NULL, NULL, seed };
      double spread[DYNO_TPE_START], drawn[DYNO_TPE_START], losses[DYNO_TPE_START] = { 0 };

      for (guint i = 0; i < DYNO_TPE_START; i++)
        {
          dyno_tpe_propose (&tpe, spread, losses, i, i, &spread[i]);
          dyno_tpe_draw (&tpe, i, &drawn[i]);
        }
      qsort (spread, DYNO_TPE_START, sizeof *spread, compare);
      qsort (drawn, DYNO_TPE_START, sizeof *drawn, compare);
      for (guint i = 1; i < DYNO_TPE_START; i++)
        {
          g_assert_cmpfloat (spread[i] - spread[i - 1], <, 2.0 / DYNO_TPE_START);
          g_assert_cmpfloat (spread[i] - spread[i - 1], >, 1.0 / 3 / DYNO_TPE_START);
          wide += drawn[i] - drawn[i - 1] >= 2.0 / DYNO_TPE_START;
        }
    }
  g_assert_cmpuint (wide, >, 5);
}

/* Each value is within its range, and only parameters that have an effect have values. */
static void
test_range (void)
{
  DynoTpeDimension dimensions[] = { { .n_choices = 3 }, { 2, 2.5, 0 }, { 0, 1, 0 } };
  DynoTpe tpe = { 3, dimensions, counts_choice, NULL, 1 };
  double points[200 * 3], losses[200];
  guint chosen[3] = { 0 };

  for (guint i = 0; i < 200; i++)
    {
      double *point = points + (gsize) i * 3;

      dyno_tpe_propose (&tpe, points, losses, i, i, point);
      losses[i] = -point[1]; /* the best is at the end of the range */
      g_assert_true (point[0] == 0 || point[0] == 1 || point[0] == 2);
      chosen[(guint) point[0]]++;
      g_assert_true (point[1] >= 2 && point[1] <= 2.5);
      g_assert_true (point[0] == 1 ? point[2] >= 0 && point[2] <= 1 : isnan (point[2]));
    }
  for (guint c = 0; c < 3; c++)
    g_assert_cmpuint (chosen[c], >, 0);
}

/* All failures are in the worse part, so no later point comes near them. */
static void
test_failures_are_left (void)
{
  DynoTpeDimension dimension = { 0, 1, 0 };
  DynoTpe tpe = { 1, &dimension, NULL, NULL, 5 };
  double points[60], losses[60];
  guint failed = 0;

  for (guint i = 0; i < 60; i++)
    {
      dyno_tpe_propose (&tpe, points, losses, i, i, &points[i]);
      losses[i] = points[i] > 0.5 ? INFINITY : fabs (points[i] - 0.2);
      failed += i >= 30 && points[i] > 0.5;
    }
  g_assert_cmpuint (failed, <=, 3);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tune/tpe/is-better-than-points-at-random", test_better_than_random);
  g_test_add_func ("/tune/tpe/finds-a-learning-rate-within-a-half", test_rate_is_found);
  g_test_add_func ("/tune/tpe/follows-from-the-seed", test_same_seed);
  g_test_add_func ("/tune/tpe/first-points-are-spread", test_start);
  g_test_add_func ("/tune/tpe/stays-in-the-range", test_range);
  g_test_add_func ("/tune/tpe/leaves-what-fails", test_failures_are_left);
  return g_test_run ();
}
