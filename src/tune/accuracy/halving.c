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

/* The trial to be promoted from the rung; -1: none. */
static int
find_promoted (const DynoHalvingTrial *trials, guint n, guint rung)
{
  guint best_rank = G_MAXUINT;
  int best = -1;

  for (guint i = 0; i < n; i++)
    {
      guint rank;

      if (trials[i].n_done != rung + 1 || !dyno_halving_is_best_third (trials, n, rung, i))
        continue;
      rank = count_better (trials, n, rung, i);
      if (rank < best_rank)
        {
          best_rank = rank;
          best = (int) i;
        }
    }
  return best;
}

DynoHalvingStep
dyno_halving_next (const DynoHalvingTrial *trials, guint n, guint n_rungs)
{
  for (guint rung = n_rungs > 0 ? n_rungs - 1 : 0; rung > 0; rung--)
    {
      int trial = find_promoted (trials, n, rung - 1);

      if (trial >= 0)
        return (DynoHalvingStep){ trial, rung };
    }
  return (DynoHalvingStep){ -1, 0 };
}
