/* SPDX-License-Identifier: MIT */
/* See ranktimes.h.  A step takes all ranks the same time, since each ends with a sum over all: only
 * the part in which a rank waits differs. */
#include "ranktimes.h"
#include "median.h"
#include <math.h>

#define WINDOW_MS    1000.0
#define WINDOW_STEPS 8
#define SLOW_FACTOR  1.25
#define SLOW_WINDOWS 5
#define REASON_SHARE 0.5 /* of the difference */

typedef struct {
  guint64 steps;
  double step_ms;
  double least_wait_ms, least_sum_ms; /* sums over steps of the least value of any rank */
  DynoRankStep *ranks;                /* sums over steps */
} Sums;

struct _DynoRankTimes {
  guint n;
  guint64 epoch; /* of the last step; G_MAXUINT64: there was none, or it does not count */
  Sums open, window, all;
  guint *windows; /* for each rank: number of consecutive windows in which it was slow */
  gboolean *reported;
  double *scratch;
};

DynoRankTimes *
dyno_rank_times_new (guint ranks)
{
  DynoRankTimes *t = g_new0 (DynoRankTimes, 1);

  t->n = ranks;
  t->epoch = G_MAXUINT64;
  t->open.ranks = g_new0 (DynoRankStep, ranks);
  t->window.ranks = g_new0 (DynoRankStep, ranks);
  t->all.ranks = g_new0 (DynoRankStep, ranks);
  t->windows = g_new0 (guint, ranks);
  t->reported = g_new0 (gboolean, ranks);
  t->scratch = g_new0 (double, ranks);
  return t;
}

void
dyno_rank_times_free (DynoRankTimes *t)
{
  if (!t)
    return;
  g_free (t->open.ranks);
  g_free (t->window.ranks);
  g_free (t->all.ranks);
  g_free (t->windows);
  g_free (t->reported);
  g_free (t->scratch);
  g_free (t);
}

/* A rank measures its wait with its own clock, and may have begun the step before rank 0: a wait
 * beyond the step's time does not belong to the step, and would make the rank's own time
 * negative. */
static double
wait_of_step (const DynoRankStep *step, double step_ms)
{
  return CLAMP (step->wait_ms, 0, MAX (step_ms, 0));
}

static void
add_sums (const DynoRankTimes *t, Sums *sums, double step_ms, const DynoRankStep *steps)
{
  double wait_ms = wait_of_step (&steps[0], step_ms), sum_ms = steps[0].sum_ms;

  for (guint r = 1; r < t->n; r++)
    {
      wait_ms = MIN (wait_ms, wait_of_step (&steps[r], step_ms));
      sum_ms = MIN (sum_ms, steps[r].sum_ms);
    }
  sums->steps++;
  sums->step_ms += step_ms;
  sums->least_wait_ms += wait_ms;
  sums->least_sum_ms += sum_ms;
  for (guint r = 0; r < t->n; r++)
    {
      sums->ranks[r].samples += steps[r].samples;
      sums->ranks[r].wait_ms += wait_of_step (&steps[r], step_ms);
      sums->ranks[r].data_ms += steps[r].data_ms;
      sums->ranks[r].device_ms += steps[r].device_ms;
    }
}

static DynoRankRate
get_rate (const Sums *sums, guint rank)
{
  const DynoRankStep *sum = &sums->ranks[rank];
  double n = sums->steps > 0 ? (double) sums->steps : (double) NAN,
         own_ms = MAX (0, sums->step_ms - sum->wait_ms);

  return (DynoRankRate){ .samples_per_s = own_ms > 0 ? sum->samples * 1e3 / own_ms : (double) NAN,
                         .own_ms = own_ms / n,
                         .wait_ms = sum->wait_ms / n,
                         .data_ms = sum->data_ms / n,
                         .device_ms = sum->device_ms / n };
}

/* The median of a member of DynoRankRate over all ranks except one. */
static double
median_others (DynoRankTimes *t, guint rank, gsize member)
{
  guint n = 0;

  for (guint r = 0; r < t->n; r++)
    {
      DynoRankRate rate = get_rate (&t->window, r);

      if (r != rank)
        t->scratch[n++] = G_STRUCT_MEMBER (double, &rate, member);
    }
  return dyno_median (t->scratch, n);
}

static gboolean
is_slow (DynoRankTimes *t, guint rank)
{
  double others = median_others (t, rank, G_STRUCT_OFFSET (DynoRankRate, own_ms)),
         own = get_rate (&t->window, rank).own_ms;

  return own > 0 && own >= SLOW_FACTOR * others;
}

static void
close_window (DynoRankTimes *t)
{
  Sums full = t->open;

  t->open = t->window;
  t->window = full;
  t->open.steps = 0;
  t->open.step_ms = t->open.least_wait_ms = t->open.least_sum_ms = 0;
  for (guint r = 0; r < t->n; r++)
    t->open.ranks[r] = (DynoRankStep){ 0 };
  for (guint r = 0; r < t->n && t->n > 1; r++)
    t->windows[r] = is_slow (t, r) ? t->windows[r] + 1 : 0;
}

gboolean
dyno_rank_times_add (DynoRankTimes *t, guint64 epoch, double step_ms, const DynoRankStep *steps)
{
  gboolean counts = epoch == t->epoch;

  t->epoch = epoch;
  if (!counts)
    return FALSE;
  add_sums (t, &t->open, step_ms, steps);
  add_sums (t, &t->all, step_ms, steps);
  if (t->open.step_ms < WINDOW_MS || t->open.steps < WINDOW_STEPS)
    return FALSE;
  close_window (t);
  return TRUE;
}

void
dyno_rank_times_skip (DynoRankTimes *t)
{
  t->epoch = G_MAXUINT64;
}

void
dyno_rank_times_get_window (const DynoRankTimes *t, DynoRankRate *rates)
{
  for (guint r = 0; r < t->n; r++)
    rates[r] = get_rate (&t->window, r);
}

void
dyno_rank_times_get_all (const DynoRankTimes *t, DynoRankRate *rates)
{
  for (guint r = 0; r < t->n; r++)
    rates[r] = get_rate (&t->all, r);
}

void
dyno_rank_times_get_exchange (const DynoRankTimes *t, double *wait_ms, double *sum_ms)
{
  double n = t->all.steps > 0 ? (double) t->all.steps : (double) NAN;

  *wait_ms = t->all.least_wait_ms / n;
  *sum_ms = t->all.least_sum_ms / n;
}

static void
explain (DynoRankTimes *t, guint rank, DynoSlowRank *slow)
{
  const DynoRankRate own = get_rate (&t->window, rank);
  DynoRankRate others = {
    .samples_per_s = median_others (t, rank, G_STRUCT_OFFSET (DynoRankRate, samples_per_s)),
    .own_ms = median_others (t, rank, G_STRUCT_OFFSET (DynoRankRate, own_ms)),
    .wait_ms = median_others (t, rank, G_STRUCT_OFFSET (DynoRankRate, wait_ms)),
    .data_ms = median_others (t, rank, G_STRUCT_OFFSET (DynoRankRate, data_ms)),
    .device_ms = median_others (t, rank, G_STRUCT_OFFSET (DynoRankRate, device_ms)),
  };
  double least = REASON_SHARE * (own.own_ms - others.own_ms);

  *slow = (DynoSlowRank){ .rank = rank, .own = own, .others = others };
  slow->reason = own.data_ms - others.data_ms >= least       ? DYNO_SLOW_DATA
                 : own.device_ms - others.device_ms >= least ? DYNO_SLOW_DEVICE
                                                             : DYNO_SLOW_OTHER;
}

gboolean
dyno_rank_times_find_slow (DynoRankTimes *t, DynoSlowRank *slow)
{
  for (guint r = 0; r < t->n; r++)
    if (t->windows[r] >= SLOW_WINDOWS && !t->reported[r])
      {
        t->reported[r] = TRUE;
        explain (t, r, slow);
        return TRUE;
      }
  return FALSE;
}
