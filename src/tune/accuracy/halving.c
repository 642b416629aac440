/* SPDX-License-Identifier: MIT */
#include "halving.h"
#include <math.h>

guint
dyno_halving_list_rungs (guint64 n_epochs, guint64 *epochs)
{
  guint64 down[DYNO_HALVING_MOST_RUNGS];
  double at = (double) n_epochs;
  guint n = 0;

  while (n_epochs > 0 && n < DYNO_HALVING_MOST_RUNGS)
    {
      guint64 rung = n == 0 ? n_epochs : MAX ((guint64) round (at), 1);

      if (n > 0 && rung >= down[n - 1])
        break;
      down[n++] = rung;
      at /= DYNO_HALVING_ETA;
    }
  for (guint i = 0; i < n; i++)
    epochs[i] = down[n - 1 - i];
  return n;
}

static double
loss_at (const DynoHalvingTrial *trial, guint rung)
{
  gboolean failed = trial->failed && trial->n_done == rung + 1;

  return failed || isnan (trial->losses[rung]) ? INFINITY : trial->losses[rung];
}

/* Number of trials that are better than trial `one` at the rung. */
static guint
count_better (const DynoHalvingTrial *trials, guint n, guint rung, guint one)
{
  double loss = loss_at (&trials[one], rung);
  guint better = 0;

  for (guint i = 0; i < n; i++)
    if (i != one && trials[i].n_done > rung)
      better +=
          loss_at (&trials[i], rung) < loss || (loss_at (&trials[i], rung) == loss && i < one);
  return better;
}

gboolean
dyno_halving_is_best_third (const DynoHalvingTrial *trials, guint n, guint rung, guint trial)
{
  guint n_here = 0;

  if (trials[trial].n_done <= rung || !isfinite (loss_at (&trials[trial], rung)))
    return FALSE;
  for (guint i = 0; i < n; i++)
    n_here += trials[i].n_done > rung;
  return count_better (trials, n, rung, trial) < n_here / DYNO_HALVING_ETA;
}

/* TRUE: the trial goes on to the rung unless it failed. */
static gboolean
is_hedge (const DynoHalvingTrial *trials, guint trial, guint rung)
{
  guint each = 1;

  for (guint i = 0; i < rung; i++)
    each *= DYNO_HALVING_HEDGE;
  return (trial + 1) % each == 0 && isfinite (loss_at (&trials[trial], rung - 1));
}

static gboolean
is_promoted (const DynoHalvingTrial *trials, guint n, guint rung, guint trial)
{
  return !trials[trial].busy && trials[trial].n_done == rung
         && (dyno_halving_is_best_third (trials, n, rung - 1, trial)
             || is_hedge (trials, trial, rung));
}

guint
dyno_halving_count_promoted (const DynoHalvingTrial *trials, guint n, guint rung)
{
  guint n_promoted = 0;

  for (guint i = 0; i < n; i++)
    n_promoted += is_promoted (trials, n, rung, i);
  return n_promoted;
}

int
dyno_halving_find_promoted (const DynoHalvingTrial *trials, guint n, guint rung)
{
  guint best_rank = G_MAXUINT;
  int best = -1;

  for (guint i = 0; i < n; i++)
    {
      guint rank;

      if (!is_promoted (trials, n, rung, i))
        continue;
      rank = count_better (trials, n, rung - 1, i);
      if (rank < best_rank)
        {
          best_rank = rank;
          best = (int) i;
        }
    }
  return best;
}
