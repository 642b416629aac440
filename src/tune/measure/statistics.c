/* SPDX-License-Identifier: MIT */
/* Rank statistics throughout: a window that another program has disturbed moves a median little,
 * and no shape of the noise is assumed. */
#include "statistics.h"
#include "median.h"
#include <math.h>
#include <string.h>

#define LEAST_STATIONARY 4    /* least number of windows that can show a trend */
#define TREND_Z          1.96 /* 5 % of the series without a trend are judged to have a trend */
/* share of the rate: a smaller change from the first to the last third is ignored */
#define TREND_SHARE   0.01
#define FLOOR_SHARE   0.005 /* precision of timing, as a share of a window's rate */
#define SINGLE_FACTOR 2.0

/* Student's t for 97.5 % by degrees of freedom, from 1. */
static const double student[] = { 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
                                  2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120 };

static double
student_t (guint freedom)
{
  return freedom == 0 ? INFINITY : freedom <= G_N_ELEMENTS (student) ? student[freedom - 1] : 2.1;
}

static double
median_of (const double *x, guint n)
{
  g_autofree double *sorted = g_memdup2 (x, n * sizeof *x);

  return dyno_median (sorted, n);
}

/* Mann and Kendall's test: rising pairs less falling pairs, relative to chance. */
static double
trend_z (const double *x, guint n)
{
  double score = 0, variance = (double) n * (n - 1) * (2.0 * n + 5) / 18.0;

  for (guint i = 0; i < n; i++)
    for (guint j = i + 1; j < n; j++)
      score += (x[j] > x[i]) - (x[j] < x[i]);
  return score == 0 ? 0 : (fabs (score) - 1) / sqrt (variance);
}

static gboolean
has_trend (const double *x, guint n)
{
  guint third = n / 3;
  double first = median_of (x, MAX (third, 1)),
         last = median_of (x + n - MAX (third, 1), MAX (third, 1));

  return trend_z (x, n) >= TREND_Z && fabs (last - first) > TREND_SHARE * MAX (first, last);
}

/* The first window, at most half of the windows in, from which on there is no trend; *stationary is
 * FALSE where there is still a trend. */
static guint
find_start (const double *x, guint n, gboolean *stationary)
{
  guint start = 0;

  *stationary = FALSE;
  for (start = 0; start <= n / 2 && n - start >= LEAST_STATIONARY; start++)
    if (!has_trend (x + start, n - start))
      {
        *stationary = TRUE;
        return start;
      }
  return n < LEAST_STATIONARY ? 0 : n / 2;
}

/* A series without a trend may still begin with a window or two below all others: the windows that
 * load and compile. */
static guint
skip_low_start (const double *x, guint n)
{
  guint start = 0;

  while (start < n / 3)
    {
      double least = INFINITY;

      for (guint i = start + 1; i < n; i++)
        least = MIN (least, x[i]);
      if (x[start] >= least)
        break;
      start++;
    }
  return start;
}

/* The rank, from 0, of the lower end of the median's 95 % interval: the largest rank whose tail of
 * the binomial distribution is within 2.5 %. */
static guint
median_rank (guint n)
{
  double probability = pow (0.5, n), tail = probability;
  guint rank = 0;

  while (rank + 1 < (n + 1) / 2)
    {
      probability *= (double) (n - rank) / (rank + 1);
      if (tail + probability > 0.025)
        break;
      tail += probability;
      rank++;
    }
  return rank;
}

static double
deviation (const double *x, guint n)
{
  double mean = 0, sum = 0;

  for (guint i = 0; i < n; i++)
    mean += x[i] / n;
  for (guint i = 0; i < n; i++)
    sum += (x[i] - mean) * (x[i] - mean);
  return n > 1 ? sqrt (sum / (n - 1)) : 0;
}

/* Fills all members but stationary; sorts x. */
static void
fill_interval (double *x, guint n, DynoEstimate *e)
{
  double floor_half, half;

  dyno_median (x, n); /* sorts */
  e->n = n;
  e->median = n % 2 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
  if (n == 1)
    {
      e->low = e->median / SINGLE_FACTOR;
      e->high = e->median * SINGLE_FACTOR;
      return;
    }
  floor_half = FLOOR_SHARE * fabs (e->median) / sqrt (n);
  if (n < 6)
    {
      half = student_t (n - 1) * deviation (x, n) / sqrt (n);
      e->low = e->median - MAX (half, floor_half);
      e->high = e->median + MAX (half, floor_half);
    }
  else
    {
      guint rank = median_rank (n);

      e->low = MIN (x[rank], e->median - floor_half);
      e->high = MAX (x[n - 1 - rank], e->median + floor_half);
    }
  e->low = MAX (e->low, 0);
}

void
dyno_estimate (const double *windows, guint n, DynoEstimate *e)
{
  g_autofree double *x = g_new (double, MAX (n, 1));
  guint count = 0, start;

  for (guint i = 0; i < n; i++)
    if (isfinite (windows[i]))
      x[count++] = windows[i];
  *e = (DynoEstimate){ (double) NAN, (double) NAN, (double) NAN, 0, FALSE };
  if (count == 0)
    return;
  start = find_start (x, count, &e->stationary);
  start += skip_low_start (x + start, count - start);
  fill_interval (x + start, count - start, e);
}

void
dyno_estimate_combine (const DynoEstimate *estimates, guint n, DynoEstimate *e)
{
  g_autofree double *medians = g_new (double, MAX (n, 1));
  double half = 0;
  guint count = 0, windows = 0;
  gboolean stationary = TRUE;

  for (guint i = 0; i < n; i++)
    if (isfinite (estimates[i].median))
      {
        medians[count++] = estimates[i].median;
        half += (estimates[i].high - estimates[i].low) / 2;
        windows += estimates[i].n;
        stationary &= estimates[i].stationary;
        *e = estimates[i];
      }
  if (count == 0)
    *e = (DynoEstimate){ (double) NAN, (double) NAN, (double) NAN, 0, FALSE };
  if (count < 2)
    return;
  half /= count * sqrt (count); /* as if the windows were of one measurement */
  fill_interval (medians, count, e);
  e->low = MAX (MIN (e->low, e->median - half), 0);
  e->high = MAX (e->high, e->median + half);
  e->n = windows;
  e->stationary = stationary;
}

gboolean
dyno_estimate_is_above (const DynoEstimate *a, const DynoEstimate *b, double factor)
{
  return a->low > b->high * factor; /* FALSE with a NaN */
}

/* --- windows ---------------------------------------------------------------------------------- */

void
dyno_windows_begin (DynoWindows *w, double time_s)
{
  w->begun = TRUE;
  w->last_s = time_s;
}

static void
merge_pairs (DynoWindows *w)
{
  for (guint i = 0; i < w->n / 2; i++)
    {
      w->samples[i] = w->samples[2 * i] + w->samples[2 * i + 1];
      w->seconds[i] = w->seconds[2 * i] + w->seconds[2 * i + 1];
    }
  w->n /= 2;
  w->length_s = MAX (2 * w->length_s, w->seconds[0]);
}

void
dyno_windows_end (DynoWindows *w)
{
  if (w->open_seconds <= 0)
    return;
  if (w->n == DYNO_WINDOWS_MOST)
    merge_pairs (w);
  w->samples[w->n] = w->open_samples;
  w->seconds[w->n++] = w->open_seconds;
  w->open_samples = w->open_seconds = 0;
}

void
dyno_windows_add (DynoWindows *w, double time_s, double samples)
{
  g_return_if_fail (w->begun);
  w->open_samples += samples;
  w->open_seconds += MAX (time_s - w->last_s, 0);
  w->last_s = time_s;
  if (w->open_seconds >= w->length_s)
    dyno_windows_end (w);
}

void
dyno_windows_estimate (const DynoWindows *w, DynoEstimate *e)
{
  double rates[DYNO_WINDOWS_MOST];

  for (guint i = 0; i < w->n; i++)
    rates[i] = w->samples[i] / w->seconds[i];
  dyno_estimate (rates, w->n, e);
}

double
dyno_windows_get_seconds (const DynoWindows *w)
{
  double seconds = 0;

  for (guint i = 0; i < w->n; i++)
    seconds += w->seconds[i];
  return seconds;
}
