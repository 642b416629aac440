/* SPDX-License-Identifier: MIT */
/* Each dimension has densities of its own, as in the paper: a tree of independent nodes.  A density
 * over numbers is the mean of normal kernels, one at each point and one as wide as the range, all
 * truncated to the range; the width of a kernel is the distance to the farther neighbour.  A
 * density over choices is their relative counts, with 1 added to each count. */
#include "tpe.h"
#include "rng.h"
#include <math.h>

#define GOOD_SHARE 0.2 /* share of the points that form the good part */
#define MOST_GOOD  25  /* Bergstra's implementation (hyperopt) has the same limit */
/* the least width of a kernel is the range over this, or over n + 1 where n + 1 is less */
#define WIDEST_PART 100.0

typedef struct {
  double low, high;
  guint n; /* kernels */
  double *at, *width, *weight;
} Density;

static double
normal_cdf (double z)
{
  return 0.5 * erfc (-z / G_SQRT2);
}

/* The part of a kernel that lies in the range. */
static double
part_inside (const Density *d, guint i)
{
  return normal_cdf ((d->high - d->at[i]) / d->width[i])
         - normal_cdf ((d->low - d->at[i]) / d->width[i]);
}

static int
compare_numbers (gconstpointer a, gconstpointer b, gpointer unused)
{
  double x = *(const double *) a, y = *(const double *) b;

  (void) unused;
  return (x > y) - (x < y);
}

/* Makes the density of n values, which are clamped to the range. */
static void
density_init (Density *d, const DynoTpeDimension *dimension, const double *values, guint n)
{
  double range = dimension->high - dimension->low, middle = dimension->low + range / 2,
         least = range / MIN (WIDEST_PART, 1.0 + n);

  *d = (Density){ .low = dimension->low, .high = dimension->high, .n = n + 1 };
  d->at = g_new (double, n + 1);
  d->width = g_new (double, n + 1);
  d->weight = g_new (double, n + 1);
  for (guint i = 0; i < n; i++)
    d->at[i] = CLAMP (values[i], d->low, d->high);
  g_qsort_with_data (d->at, (gint) n, sizeof *d->at, compare_numbers, NULL);
  for (guint i = 0; i < n; i++)
    {
      double left = d->at[i] - (i > 0 ? d->at[i - 1] : d->low),
             right = (i + 1 < n ? d->at[i + 1] : d->high) - d->at[i];

      d->width[i] = CLAMP (MAX (left, right), least, range);
    }
  d->at[n] = middle;
  d->width[n] = range;
  for (guint i = 0; i <= n; i++)
    d->weight[i] = 1.0 / (n + 1);
}

static void
density_clear (Density *d)
{
  g_free (d->at);
  g_free (d->width);
  g_free (d->weight);
}

static double
density_get_log (const Density *d, double x)
{
  double sum = 0;

  for (guint i = 0; i < d->n; i++)
    {
      double z = (x - d->at[i]) / d->width[i];

      sum += d->weight[i] * exp (-z * z / 2) / (d->width[i] * part_inside (d, i));
    }
  return log (MAX (sum, 1e-300));
}

/* Draws from one kernel until the value lies in the range.  As the kernel's middle is in the range,
 * few draws are rejected. */
static double
density_draw (const Density *d, DynoRng *rng)
{
  guint i = (guint) dyno_rng_below (rng, d->n);

  for (guint tries = 0; tries < 100; tries++)
    {
      double x = d->at[i] + d->width[i] * dyno_rng_normal (rng);

      if (x >= d->low && x <= d->high)
        return x;
    }
  return d->at[i];
}

/* --- the two parts ---------------------------------------------------------------------------- */

typedef struct {
  double loss;
  guint index;
} Ranked;

static int
compare_ranked (gconstpointer a, gconstpointer b, gpointer unused)
{
  const Ranked *x = a, *y = b;

  (void) unused;
  if (x->loss != y->loss)
    return x->loss < y->loss ? -1 : 1;
  return x->index < y->index ? -1 : x->index > y->index;
}

/* The points sorted by their losses; NaN ranks last. */
static Ranked *
rank_points (const double *losses, guint n)
{
  Ranked *ranked = g_new (Ranked, MAX (n, 1));

  for (guint i = 0; i < n; i++)
    ranked[i] = (Ranked){ isnan (losses[i]) ? INFINITY : losses[i], i };
  g_qsort_with_data (ranked, (gint) n, sizeof *ranked, compare_ranked, NULL);
  return ranked;
}

typedef struct {
  const DynoTpe *tpe;
  const double *points;
  const Ranked *ranked;
  guint n, n_good;
} Parts;

/* Collects the values of one dimension in the good part or in the rest; returns the number of
 * finite values. */
static guint
collect (const Parts *parts, guint dimension, gboolean good, double *values)
{
  guint n = 0, first = good ? 0 : parts->n_good, end = good ? parts->n_good : parts->n;

  for (guint i = first; i < end; i++)
    {
      double value = parts->points[(gsize) parts->ranked[i].index * parts->tpe->n + dimension];

      if (isfinite (value))
        values[n++] = value;
    }
  return n;
}

static double
propose_number (const Parts *parts, guint dimension, DynoRng *rng)
{
  const DynoTpeDimension *of = &parts->tpe->dimensions[dimension];
  g_autofree double *values = g_new (double, MAX (parts->n, 1));
  double best = of->low, best_ratio = -INFINITY;
  Density l, g;

  density_init (&l, of, values, collect (parts, dimension, TRUE, values));
  density_init (&g, of, values, collect (parts, dimension, FALSE, values));
  for (guint i = 0; i < DYNO_TPE_CANDIDATES; i++)
    {
      double x = density_draw (&l, rng), ratio = density_get_log (&l, x) - density_get_log (&g, x);

      if (ratio > best_ratio)
        {
          best_ratio = ratio;
          best = x;
        }
    }
  density_clear (&l);
  density_clear (&g);
  return best;
}

/* Smoothed relative counts of the choices, which add up to 1. */
static void
count_choices (const Parts *parts, guint dimension, gboolean good, double *shares)
{
  guint n_choices = parts->tpe->dimensions[dimension].n_choices;
  g_autofree double *values = g_new (double, MAX (parts->n, 1));
  guint n = collect (parts, dimension, good, values);

  for (guint c = 0; c < n_choices; c++)
    shares[c] = 1.0 / (n + n_choices);
  for (guint i = 0; i < n; i++)
    if (values[i] >= 0 && values[i] < n_choices)
      shares[(guint) values[i]] += 1.0 / (n + n_choices);
}

static guint
draw_choice (const double *shares, guint n, DynoRng *rng)
{
  double left = dyno_rng_uniform (rng);

  for (guint c = 0; c + 1 < n; c++)
    {
      left -= shares[c];
      if (left < 0)
        return c;
    }
  return n - 1;
}

static double
propose_choice (const Parts *parts, guint dimension, DynoRng *rng)
{
  guint n_choices = parts->tpe->dimensions[dimension].n_choices, best = 0;
  g_autofree double *l = g_new (double, n_choices), *g = g_new (double, n_choices);
  double best_ratio = -INFINITY;

  count_choices (parts, dimension, TRUE, l);
  count_choices (parts, dimension, FALSE, g);
  /* Takes one of the choices drawn from l, so that a good choice with a low count in g is not
   * always taken. */
  for (guint i = 0; i < MIN (DYNO_TPE_CANDIDATES, n_choices); i++)
    {
      guint c = draw_choice (l, n_choices, rng);

      if (l[c] / g[c] > best_ratio)
        {
          best_ratio = l[c] / g[c];
          best = c;
        }
    }
  return best;
}

/* --- proposals -------------------------------------------------------------------------------- */

static gboolean
counts (const DynoTpe *tpe, const double *point, guint dimension)
{
  return !tpe->counts || tpe->counts (point, dimension, tpe->data);
}

/* The value at a share (0..1) of the dimension's range. */
static double
get_value (const DynoTpeDimension *of, double at)
{
  return of->n_choices > 0 ? MIN (floor (at * of->n_choices), of->n_choices - 1.0)
                           : of->low + at * (of->high - of->low);
}

void
dyno_tpe_draw (const DynoTpe *tpe, guint64 number, double *point)
{
  DynoRng rng = dyno_rng_init (tpe->seed, number);

  for (guint d = 0; d < tpe->n; d++)
    {
      point[d] = get_value (&tpe->dimensions[d], dyno_rng_uniform (&rng));
      if (!counts (tpe, point, d))
        point[d] = (double) NAN;
    }
}

void
dyno_tpe_spread (const DynoTpe *tpe, guint64 number, double *point)
{
  DynoRng rng = dyno_rng_init (tpe->seed, G_MAXUINT64);
  double ratio = 2, step = 1;

  for (guint i = 0; i < 50; i++) /* the root of x^(n + 1) = x + 1 */
    ratio = pow (1 + ratio, 1.0 / (tpe->n + 1));
  for (guint d = 0; d < tpe->n; d++)
    {
      double at = dyno_rng_uniform (&rng);

      step /= ratio;
      at = fmod (at + (double) (number % 1000000) * step, 1);
      point[d] = get_value (&tpe->dimensions[d], at);
      if (!counts (tpe, point, d))
        point[d] = (double) NAN;
    }
}

void
dyno_tpe_propose (const DynoTpe *tpe, const double *points, const double *losses, guint n_points,
                  guint64 number, double *point)
{
  g_autofree Ranked *ranked = NULL;
  DynoRng rng = dyno_rng_init (tpe->seed, number);
  Parts parts = { .tpe = tpe, .points = points, .n = n_points };

  if (n_points < DYNO_TPE_START)
    {
      dyno_tpe_spread (tpe, number, point);
      return;
    }
  parts.ranked = ranked = rank_points (losses, n_points);
  parts.n_good = MIN ((guint) ceil (GOOD_SHARE * n_points), MOST_GOOD);
  for (guint d = 0; d < tpe->n; d++)
    if (!counts (tpe, point, d))
      point[d] = (double) NAN;
    else if (tpe->dimensions[d].n_choices > 0)
      point[d] = propose_choice (&parts, d, &rng);
    else
      point[d] = propose_number (&parts, d, &rng);
}
