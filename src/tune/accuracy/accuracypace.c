/* SPDX-License-Identifier: MIT */
#include "accuracypace.h"
#include <math.h>

#define MARGIN 1.1 /* a run may take this many times as long as the runs before predict */
/* A level is taken if it makes this many times as many runs in a time as the one below. */
#define PAYS 1.15
/* groups of each level that are measured: the first one may compile kernels */
#define GROUPS 2
/* Runs alone before several are tried: the first rungs of the job's own settings, which are compiled
 * already, take less time than new trials. */
#define ALONE 8

void
dyno_accuracy_pace_add_run (DynoAccuracyPace *pace, guint64 epochs, double seconds,
                            double train_seconds)
{
  double in_epochs = CLAMP (train_seconds, 0, MAX (seconds, 0));

  if (!(seconds > 0) || !(train_seconds >= 0) || epochs == 0)
    return;
  pace->start_seconds =
      pace->n_alone < 2 ? seconds - in_epochs : (pace->start_seconds + seconds - in_epochs) / 2;
  pace->n_alone++;
  pace->seconds += in_epochs;
  pace->epochs += epochs;
}

double
dyno_accuracy_pace_get_epoch (const DynoAccuracyPace *pace)
{
  return pace->epochs > 0 ? pace->seconds / (double) pace->epochs : 0;
}

/* The first level of at least n runs at once. */
static guint
find_level (guint n)
{
  guint level = 0;

  while (level + 1 < DYNO_ACCURACY_PACE_LEVELS && (1u << level) < n)
    level++;
  return level;
}

/* How many times as long n runs at once take as one alone. */
static double
get_slowdown (const DynoAccuracyPace *pace, guint n)
{
  double measured = n > 1 ? pace->slowdown[find_level (n)] : 1;

  return measured > 0 ? MIN (measured, n) : n;
}

void
dyno_accuracy_pace_add_group (DynoAccuracyPace *pace, guint n, guint64 epochs, double seconds)
{
  double alone = pace->start_seconds + dyno_accuracy_pace_get_epoch (pace) * (double) epochs;
  guint level = find_level (n);

  if (n < 2 || (1u << level) != n || !(alone > 0))
    return;
  if (pace->n_groups[level] == 0 || seconds / alone < pace->slowdown[level])
    pace->slowdown[level] = MAX (seconds / alone, 1);
  pace->n_groups[level]++;
}

double
dyno_accuracy_pace_expect (const DynoAccuracyPace *pace, guint64 epochs, guint n, guint at_once)
{
  double alone =
      pace->start_seconds + MARGIN * dyno_accuracy_pace_get_epoch (pace) * (double) epochs;
  guint whole, rest;

  at_once = MAX (at_once, 1);
  whole = n / at_once;
  rest = n % at_once;
  return alone
         * (whole * get_slowdown (pace, at_once) + (rest > 0 ? get_slowdown (pace, rest) : 0));
}

guint
dyno_accuracy_pace_choose (const DynoAccuracyPace *pace, guint most)
{
  guint n = 1;

  if (pace->n_alone < ALONE)
    return 1;
  for (guint level = 1; level < DYNO_ACCURACY_PACE_LEVELS && 2 * n <= most; level++)
    {
      if (pace->n_groups[level] < GROUPS)
        return 2 * n;
      if (2 * n / get_slowdown (pace, 2 * n) < PAYS * n / get_slowdown (pace, n))
        break;
      n *= 2;
    }
  return n;
}
