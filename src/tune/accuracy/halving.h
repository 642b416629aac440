/* SPDX-License-Identifier: MIT */
/* Asynchronous successive halving (Li et al. 2020, "A System for Massively Parallel Hyperparameter
 * Tuning", ASHA) decides which trial is trained longer: of the trials that have finished a rung,
 * the best third is promoted to the next one.  It is asynchronous: no rung waits until it is full.
 *
 * A rung may rank trials otherwise than later ones: with a high learning rate, a few epochs may be
 * worse than with a low one, and all epochs better.  So every DYNO_HALVING_HEDGE-th trial goes on to
 * the second rung whatever its loss, of these every DYNO_HALVING_HEDGE-th to the third one, and so
 * on, as in the brackets of Hyperband (Li et al. 2018).
 *
 * The decisions follow from the measured values only: a resumed search decides the same. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

#define DYNO_HALVING_ETA        3
#define DYNO_HALVING_HEDGE      4
#define DYNO_HALVING_MOST_RUNGS 4 /* the first rung has a 27th of the last one's epochs */

/* Lists the epochs up to which a trial trains in each rung, rising: the last rung has all epochs,
 * each rung before it a third of the next one's, rounded, and at least 1.  epochs has room for
 * DYNO_HALVING_MOST_RUNGS.  Returns the number of rungs; 0 for 0 epochs. */
guint dyno_halving_list_rungs (guint64 n_epochs, guint64 *epochs);

typedef struct {
  guint n_done;    /* finished rungs, including the one in which the trial failed */
  gboolean failed; /* in its last rung: it is never promoted, and ranks last there */
  gboolean busy;   /* it is being trained for its next rung: it is not promoted once more */
  double losses[DYNO_HALVING_MOST_RUNGS]; /* of finished rungs; less is better; NaN ranks last */
} DynoHalvingTrial;

/* TRUE: the trial has finished the rung without failing, and is among the best third of the trials
 * that finished it; of equal losses the earlier trial ranks first. */
gboolean dyno_halving_is_best_third (const DynoHalvingTrial *trials, guint n, guint rung,
                                     guint trial);

/* The number of trials that would be promoted to this rung, 1 or above: they are among the best
 * third of the rung below, or are promoted whatever their loss, and have not been promoted. */
guint dyno_halving_count_promoted (const DynoHalvingTrial *trials, guint n, guint rung);
/* The best of them, of equal losses the earliest; -1: there is none. */
int dyno_halving_find_promoted (const DynoHalvingTrial *trials, guint n, guint rung);

G_END_DECLS
