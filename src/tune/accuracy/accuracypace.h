/* SPDX-License-Identifier: MIT */
/* The time that the runs of a search take, alone and several at the same time, and the number of
 * runs at once that makes most runs in a time.
 *
 * A run alone takes its start, in which nothing is trained, and a time for each epoch.  Several at
 * once take the same times a factor, the slowdown: 1 where each is as fast as alone, n where they
 * are no faster than one after the other.  The number at once is doubled as long as the runs that
 * are made in a time rise enough. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

#define DYNO_ACCURACY_PACE_LEVELS  4 /* 1, 2, 4 and 8 runs at once */
#define DYNO_ACCURACY_MOST_AT_ONCE 8

typedef struct {
  guint n_alone;
  double
      start_seconds; /* of runs alone, later ones count more; without the first, which compiles */
  double seconds;    /* sum of the times of runs alone, without their starts */
  guint64 epochs;    /* sum over the same runs */
  /* by level; slowdown: the least of its groups, 0 where there is none */
  guint n_groups[DYNO_ACCURACY_PACE_LEVELS];
  double slowdown[DYNO_ACCURACY_PACE_LEVELS];
} DynoAccuracyPace; /* all 0: nothing was measured */

/* Adds a run alone of this many epochs; train_seconds: the part of its time that epochs took. */
void dyno_accuracy_pace_add_run (DynoAccuracyPace *pace, guint64 epochs, double seconds,
                                 double train_seconds);
/* Adds n runs at once of this many epochs each; seconds: from the first one's begin to the last
 * one's end.  A number that is no level, and a group before any run alone, count nothing. */
void dyno_accuracy_pace_add_group (DynoAccuracyPace *pace, guint n, guint64 epochs, double seconds);

/* The seconds that an epoch takes alone; 0: not known. */
double dyno_accuracy_pace_get_epoch (const DynoAccuracyPace *pace);
/* The expected seconds of n runs of this many epochs each, at_once of them at the same time; 0: not
 * known.  Where this number was not measured they are expected to take as long as one after the
 * other. */
double dyno_accuracy_pace_expect (const DynoAccuracyPace *pace, guint64 epochs, guint n,
                                  guint at_once);

/* The number of runs to train at once, at most `most`: the next level that is to be measured, or
 * the best one; 1 before enough runs alone were measured. */
guint dyno_accuracy_pace_choose (const DynoAccuracyPace *pace, guint most);

G_END_DECLS
