/* SPDX-License-Identifier: MIT */
/* Tables of ceilings, the fit of the overlap's cost, and the Gaussian process that corrects
 * both. */
#include "ratemodel.h"
#include <math.h>
#include <string.h>

#define N_KEYS     3
#define N_FEATURES 8

/* A measured point of a ceiling: the log rate at x, which is log2 of the batch or of 1 + workers,
 * and at a key: the values of the other settings on which the ceiling depends. */
typedef struct {
  double x;
  int key[N_KEYS];
  double log_rate;
} Point;

typedef struct {
  GArray *points;  /* Point */
  double below;    /* slope of log rate over log 2 of the size, below the measured points */
  gboolean affine; /* beyond the last point a batch takes a constant and a time per sample */
  double unmeasured[N_KEYS]; /* effect on the log rate of a switch that was not measured */
} Table;

typedef struct {
  DynoSettings settings;
  double log_rate, sd;
  double features[N_FEATURES], residual;
} Trial;

struct _DynoRateModel {
  Table loader, gpu;
  GArray *trials; /* Trial */
  /* share of the shorter time that does not overlap: without workers, with workers */
  double overlap_cost[2];
  double step_s; /* time of each step that no ceiling includes */
  gboolean fitted;
  double *cholesky, *alpha; /* of the Gaussian process, over the trials */
};

/* The standard deviations of the log rate that the process may correct; reach: the length scale of
 * each feature. */
#define SD_OVERALL 0.06
#define SD_LOCAL   0.07
#define DOUBT      0.7 /* standard deviation of the overlap's cost, before any trial */
/* least standard deviation of a measurement: repeated ones differ by this much */
#define SD_LEAST 0.01
static const double reach[N_FEATURES] = { 2.5, 1.5, 2.0, 1.0, 1.5, 3.0, 2.0, 1.0 };

DynoRateModel *
dyno_rate_model_new (void)
{
  DynoRateModel *model = g_new0 (DynoRateModel, 1);

  model->loader = (Table){ g_array_new (FALSE, FALSE, sizeof (Point)), 1.0, FALSE, { 0, 0, 0 } };
  model->gpu =
      (Table){ g_array_new (FALSE, FALSE, sizeof (Point)), 0.7, TRUE, { 0, log (0.8), 0 } };
  model->trials = g_array_new (FALSE, FALSE, sizeof (Trial));
  return model;
}

void
dyno_rate_model_free (DynoRateModel *model)
{
  if (!model)
    return;
  g_array_unref (model->loader.points);
  g_array_unref (model->gpu.points);
  g_array_unref (model->trials);
  g_free (model->cholesky);
  g_free (model->alpha);
  g_free (model);
}

/* --- ceilings --------------------------------------------------------------------------------- */

static Point
loader_point (const DynoSettings *s)
{
  return (Point){ .x = log2 (1 + (double) s->workers),
                  .key = { s->cache, (int) lrint (log2 ((double) s->prefetch)), 0 } };
}

static Point
gpu_point (const DynoSettings *s)
{
  return (
      Point){ .x = log2 ((double) s->batch_size),
              .key = { s->amp, s->checkpointing, (int) lrint (log2 ((double) s->accumulate)) } };
}

static void
add_point (Table *table, Point point, double rate)
{
  point.log_rate = log (rate);
  for (guint i = 0; i < table->points->len; i++)
    {
      Point *other = &g_array_index (table->points, Point, i);

      if (other->x == point.x && memcmp (other->key, point.key, sizeof point.key) == 0)
        {
          *other = point;
          return;
        }
    }
  g_array_append_val (table->points, point);
}

static guint
count_points (const Table *table, const int *key)
{
  guint n = 0;

  for (guint i = 0; i < table->points->len; i++)
    n += memcmp (g_array_index (table->points, Point, i).key, key, N_KEYS * sizeof *key) == 0;
  return n;
}

static double series_at (const Table *table, const int *key, double x);

/* The value that is interpolated at a point: its rate, or, with a reference, its distance from the
 * reference. */
static double
value_of (const Table *table, const Point *point, const int *reference)
{
  return point->log_rate - (reference ? series_at (table, reference, point->x) : 0);
}

/* The distance at x between the precision of `from` and that of the reference.  Where a sample
 * takes longer with the former, the added time of a sample is constant, and the fixed time of a
 * batch (launches) is the same for both, so the factor between the rates depends on the batch.
 * Where a sample takes less time, a part of the saved time may be launches, so the factor is
 * kept. */
static double
carry_distance (const Table *table, const Point *from, double x, const int *reference)
{
  double there_s = exp (-series_at (table, reference, from->x)),
         here_s = exp (-series_at (table, reference, x)), more_s = exp (-from->log_rate) - there_s;

  return more_s > 0 ? -log ((here_s + more_s) / here_s) : value_of (table, from, reference);
}

/* Interpolates linearly over x between the neighbours; past the last point the value is the last
 * one; below the first it follows the table's slope, except for a distance from a reference. */
static double
interpolate (const Table *table, const int *key, double x, const int *reference)
{
  const Point *left = NULL, *right = NULL;

  for (guint i = 0; i < table->points->len; i++)
    {
      const Point *p = &g_array_index (table->points, Point, i);

      if (memcmp (p->key, key, sizeof p->key) != 0)
        continue;
      if (p->x <= x && (!left || p->x > left->x))
        left = p;
      if (p->x >= x && (!right || p->x < right->x))
        right = p;
    }
  if (left && right && right->x > left->x)
    {
      double share = (x - left->x) / (right->x - left->x);

      return (1 - share) * value_of (table, left, reference)
             + share * value_of (table, right, reference);
    }
  if (reference && table->affine && key[0] != reference[0])
    return carry_distance (table, left ? left : right, x, reference);
  if (left)
    return value_of (table, left, reference);
  return value_of (table, right, reference)
         - (reference ? 0 : table->below * G_LN2 * (right->x - x));
}

/* Past the last point the time of a batch follows the line through the last two points. */
static double
extrapolate (const Table *table, const int *key, double x, const Point *last)
{
  const Point *before = NULL;
  double seconds[2], batch[2], slope, constant;

  for (guint i = 0; i < table->points->len; i++)
    {
      const Point *p = &g_array_index (table->points, Point, i);

      if (memcmp (p->key, key, sizeof p->key) == 0 && p->x <= last->x - 0.9
          && (!before || p->x > before->x))
        before = p;
    }
  if (!before || !table->affine)
    return last->log_rate;
  batch[0] = exp2 (before->x);
  batch[1] = exp2 (last->x);
  seconds[0] = batch[0] * exp (-before->log_rate);
  seconds[1] = batch[1] * exp (-last->log_rate);
  slope = MIN ((seconds[1] - seconds[0]) / (batch[1] - batch[0]), seconds[1] / batch[1]);
  constant = seconds[1] - slope * batch[1];
  return x * G_LN2 - log (constant + slope * exp2 (x));
}

static double
series_at (const Table *table, const int *key, double x)
{
  const Point *last = NULL;

  for (guint i = 0; i < table->points->len; i++)
    {
      const Point *p = &g_array_index (table->points, Point, i);

      if (memcmp (p->key, key, sizeof p->key) == 0 && (!last || p->x > last->x))
        last = p;
    }
  return x > last->x ? extrapolate (table, key, x, last) : interpolate (table, key, x, NULL);
}

/* The series with the most measurements. */
static const int *
find_reference (const Table *table)
{
  const int *key = NULL;
  guint most = 0;

  for (guint i = 0; i < table->points->len; i++)
    {
      const Point *p = &g_array_index (table->points, Point, i);
      guint n = count_points (table, p->key);

      if (n > most)
        {
          most = n;
          key = p->key;
        }
    }
  return key;
}

/* A series without measurements is the reference plus the effects of the switches that differ. */
static double
table_at (const Table *table, const Point *at)
{
  const int *reference = find_reference (table);
  double value;

  if (!reference)
    return INFINITY;
  if (memcmp (reference, at->key, sizeof at->key) == 0)
    return series_at (table, reference, at->x);
  value = series_at (table, reference, at->x);
  if (count_points (table, at->key) > 0)
    return value + interpolate (table, at->key, at->x, reference);
  for (guint k = 0; k < N_KEYS; k++)
    {
      int key[N_KEYS];

      if (at->key[k] == reference[k])
        continue;
      memcpy (key, reference, sizeof key);
      key[k] = at->key[k];
      value += count_points (table, key) > 0 ? interpolate (table, key, at->x, reference)
               : at->key[k] > reference[k]   ? table->unmeasured[k]
                                             : -table->unmeasured[k];
    }
  return value;
}

void
dyno_rate_model_add_loader (DynoRateModel *model, const DynoSettings *settings, double rate)
{
  add_point (&model->loader, loader_point (settings), rate);
  model->fitted = FALSE;
}

void
dyno_rate_model_add_gpu (DynoRateModel *model, const DynoSettings *settings, double rate)
{
  add_point (&model->gpu, gpu_point (settings), rate);
  model->fitted = FALSE;
}

double
dyno_rate_model_loader (const DynoRateModel *model, const DynoSettings *settings)
{
  Point at = loader_point (settings);

  return exp (table_at (&model->loader, &at));
}

double
dyno_rate_model_gpu (const DynoRateModel *model, const DynoSettings *settings)
{
  Point at = gpu_point (settings);

  return exp (table_at (&model->gpu, &at));
}

/* --- overlap ---------------------------------------------------------------------------------- */

/* Seconds of a sample: by the loader, by the device. */
static void
get_times (const DynoRateModel *model, const DynoSettings *s, double *loader_s, double *gpu_s)
{
  *loader_s = 1 / dyno_rate_model_loader (model, s);
  *gpu_s = 1 / dyno_rate_model_gpu (model, s);
}

static double
physics (const double *overlap_cost, double step_s, const DynoSettings *s, double loader_s,
         double gpu_s)
{
  double cost = overlap_cost[s->workers > 0];

  return -log (MAX (loader_s, gpu_s) + cost * MIN (loader_s, gpu_s)
               + step_s / (double) (s->batch_size * s->accumulate));
}

/* Without a ceiling only the trials are known: the result is their mean, with the full
 * uncertainty. */
static double
prior (const DynoRateModel *model, const DynoSettings *s)
{
  double loader_s, gpu_s, sum = 0;

  get_times (model, s, &loader_s, &gpu_s);
  if (loader_s > 0 || gpu_s > 0)
    return physics (model->overlap_cost, model->step_s, s, loader_s, gpu_s);
  for (guint i = 0; i < model->trials->len; i++)
    sum += g_array_index (model->trials, Trial, i).log_rate / model->trials->len;
  return sum;
}

/* Takes, from all combinations of a few values, the combination that explains the trials best; each
 * value stays at its default until the trials contradict it. */
static void
fit_overlap (DynoRateModel *model)
{
  static const double costs[] = { 0, 0.03, 0.1, 0.2, 0.35, 0.5, 0.75, 1 },
                      steps_s[] = { 0, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3 };
  static const double usual[2] = { 0.35, 0.03 };
  double best = INFINITY;
  guint n = model->trials->len;
  g_autofree double *loader_s = g_new (double, n + 1), *gpu_s = g_new (double, n + 1);

  for (guint i = 0; i < n; i++)
    get_times (model, &g_array_index (model->trials, Trial, i).settings, &loader_s[i], &gpu_s[i]);
  for (guint a = 0; a < G_N_ELEMENTS (costs); a++)
    for (guint b = 0; b < G_N_ELEMENTS (costs); b++)
      for (guint c = 0; c < G_N_ELEMENTS (steps_s); c++)
        {
          double cost[2] = { costs[a], costs[b] }, sum = (double) c / 8;

          for (guint k = 0; k < 2; k++)
            sum += (cost[k] - usual[k]) * (cost[k] - usual[k]) / (DOUBT * DOUBT);
          for (guint i = 0; i < n; i++)
            {
              const Trial *t = &g_array_index (model->trials, Trial, i);
              double off =
                  t->log_rate - physics (cost, steps_s[c], &t->settings, loader_s[i], gpu_s[i]);

              sum += MIN (off * off / (0.04 * 0.04 + t->sd * t->sd), 100);
            }
          if (sum < best)
            {
              best = sum;
              memcpy (model->overlap_cost, cost, sizeof cost);
              model->step_s = steps_s[c];
            }
        }
}

/* --- the process ------------------------------------------------------------------------------ */

static void
fill_features (const DynoRateModel *model, const DynoSettings *s, double *f)
{
  double loader_s, gpu_s;

  get_times (model, s, &loader_s, &gpu_s);
  f[0] = log2 ((double) s->batch_size);
  f[1] = log2 (1 + (double) s->workers);
  f[2] = s->amp;
  f[3] = s->cache;
  f[4] = s->checkpointing;
  f[5] = log2 ((double) s->prefetch);
  f[6] = log2 ((double) s->accumulate);
  f[7] = loader_s > 0 && gpu_s > 0 ? CLAMP (log (loader_s / gpu_s), -1.5, 1.5) : 0;
}

static double
covariance (const double *a, const double *b)
{
  double distance = 0;

  for (guint i = 0; i < N_FEATURES; i++)
    distance += (a[i] - b[i]) * (a[i] - b[i]) / (reach[i] * reach[i]);
  return SD_OVERALL * SD_OVERALL + SD_LOCAL * SD_LOCAL * exp (-0.5 * distance);
}

/* Solves L y = b in place. */
static void
solve_lower (const double *l, guint n, double *b)
{
  for (guint i = 0; i < n; i++)
    {
      for (guint j = 0; j < i; j++)
        b[i] -= l[i * n + j] * b[j];
      b[i] /= l[i * n + i];
    }
}

static void
factorise (double *m, guint n)
{
  for (guint j = 0; j < n; j++)
    for (guint i = j; i < n; i++)
      {
        double sum = m[i * n + j];

        for (guint k = 0; k < j; k++)
          sum -= m[i * n + k] * m[j * n + k];
        m[i * n + j] = i == j ? sqrt (MAX (sum, 1e-12)) : sum / m[j * n + j];
      }
}

static void
fit (DynoRateModel *model)
{
  guint n = model->trials->len;

  if (model->fitted)
    return;
  fit_overlap (model);
  g_free (model->cholesky);
  g_free (model->alpha);
  model->cholesky = g_new0 (double, (gsize) n *n + 1);
  model->alpha = g_new0 (double, n + 1);
  for (guint i = 0; i < n; i++)
    {
      Trial *t = &g_array_index (model->trials, Trial, i);

      fill_features (model, &t->settings, t->features);
      t->residual = t->log_rate - prior (model, &t->settings);
      model->alpha[i] = t->residual;
    }
  for (guint i = 0; i < n; i++)
    for (guint j = 0; j <= i; j++)
      {
        const Trial *a = &g_array_index (model->trials, Trial, i),
                    *b = &g_array_index (model->trials, Trial, j);

        model->cholesky[i * n + j] =
            covariance (a->features, b->features) + (i == j ? a->sd * a->sd : 0);
      }
  factorise (model->cholesky, n);
  solve_lower (model->cholesky, n, model->alpha);
  for (guint i = n; i-- > 0;) /* solves with the transpose */
    {
      for (guint j = i + 1; j < n; j++)
        model->alpha[i] -= model->cholesky[j * n + i] * model->alpha[j];
      model->alpha[i] /= model->cholesky[i * n + i];
    }
  model->fitted = TRUE;
}

void
dyno_rate_model_add_trial (DynoRateModel *model, const DynoSettings *settings, double rate,
                           double sd)
{
  Trial trial = { .settings = *settings, .log_rate = log (rate), .sd = MAX (sd, SD_LEAST) };

  g_array_append_val (model->trials, trial);
  model->fitted = FALSE;
}

void
dyno_rate_model_forget_trials (DynoRateModel *model)
{
  g_array_set_size (model->trials, 0);
  model->fitted = FALSE;
}

double
dyno_rate_model_predict (DynoRateModel *model, const DynoSettings *settings, double *sd)
{
  guint n = model->trials->len;
  g_autofree double *k = g_new (double, n + 1);
  double features[N_FEATURES], mean, variance = 0;

  if (n == 0 && model->loader.points->len == 0 && model->gpu.points->len == 0)
    return 0;
  fit (model);
  fill_features (model, settings, features);
  mean = prior (model, settings);
  for (guint i = 0; i < n; i++)
    {
      k[i] = covariance (g_array_index (model->trials, Trial, i).features, features);
      mean += k[i] * model->alpha[i];
    }
  if (sd)
    {
      solve_lower (model->cholesky, n, k);
      variance = covariance (features, features);
      for (guint i = 0; i < n; i++)
        variance -= k[i] * k[i];
      *sd = sqrt (MAX (variance, 0));
    }
  return exp (mean);
}
