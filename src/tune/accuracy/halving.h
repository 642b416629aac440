/* SPDX-License-Identifier: MIT */
/* Asynchronous successive halving (Li et al. 2020, "A System for Massively Parallel Hyperparameter
 * Tuning", ASHA) decides which trial is trained longer: of the trials that have come to a rung, the
 * best third goes on to the next one.  It is asynchronous: no rung waits until it is full.
 *
 * Pure decisions from what has been measured: a search that is resumed decides the same. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

#define DYNO_HALVING_ETA        3
#define DYNO_HALVING_MOST_RUNGS 4 /* the first one is a 27th of the last */

/* The epochs up to which a trial trains in each rung, rising; the last is all of them: a third each
 * time, rounded, and at least 1.  epochs[DYNO_HALVING_MOST_RUNGS]; gives the number of rungs, 0 for
 * 0 epochs. */
guint dyno_halving_list_rungs (guint64 n_epochs, guint64 *epochs);

typedef struct {
  guint n_done;    /* rungs that it has come through, the one in which it failed counted */
  gboolean failed; /* in the last of these: it is never promoted, and is the worst there */
  double losses[DYNO_HALVING_MOST_RUNGS]; /* of rungs that are done; less is better; NaN: worst */
} DynoHalvingTrial;

typedef struct {
  int trial;  /* index of the one that is promoted; -1: a new one begins */
  guint rung; /* to which it goes; 0 of a new one */
} DynoHalvingStep;

/* TRUE: the trial has come through the rung, did not fail in it, and is among the best third of those
 * that came to it; of equal losses the earlier trial is the better one. */
gboolean dyno_halving_is_best_third (const DynoHalvingTrial *trials, guint n, guint rung,
                                     guint trial);

/* Looks from the highest rung down for a trial that is among the best third of its rung and has not
 * been promoted; of several the best, of equal losses the earliest. */
DynoHalvingStep dyno_halving_next (const DynoHalvingTrial *trials, guint n, guint n_rungs);

G_END_DECLS
