/* SPDX-License-Identifier: MIT */
/* The use that the ranks of a run make of their time, from what each reports of each step, and
 * which of them the others wait for.  No clock, no device.
 *
 * A rank is slow when its own time of a step (the step's less what it waited for the others)
 * is 1.25 times the median of the other ranks' or more in five windows in a row, each of a
 * second and eight steps at least.  The median leaves other slow ranks out; windows in a row,
 * what passes: a checkpoint, a page cache that fills.  The first step of an epoch does not
 * count: ranks come to it from validating and saving at different times. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/* A step of one rank. */
typedef struct {
  double samples;
  double wait_ms;   /* for the exchange with the others, once its own part was done; what is
                     * longer than the step does not count */
  double data_ms;   /* for its loader, also where the device computed meanwhile */
  double device_ms; /* its device computed; 0: not measured */
  double sum_ms;    /* sums over the ranks were under way, from its own part on */
} DynoRankStep;

/* Means of a rank's steps; NaN: none has counted. */
typedef struct {
  double samples_per_s; /* that it would make if it waited for nobody; NaN also: it only waited */
  double own_ms;        /* a step without wait_ms */
  double wait_ms, data_ms, device_ms;
} DynoRankRate;

typedef enum {
  DYNO_SLOW_DATA,   /* its data pipeline */
  DYNO_SLOW_DEVICE, /* its device */
  DYNO_SLOW_OTHER,  /* neither; its processor, say */
} DynoSlowReason;

typedef struct {
  guint rank;
  DynoSlowReason reason; /* what makes up half of the difference at least */
  DynoRankRate own;      /* over the last window */
  DynoRankRate others;   /* each the median of the other ranks' */
} DynoSlowRank;

typedef struct _DynoRankTimes DynoRankTimes;

DynoRankTimes *dyno_rank_times_new (guint ranks);
void dyno_rank_times_free (DynoRankTimes *times);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoRankTimes, dyno_rank_times_free)

/* A step of epoch `epoch` that took all ranks step_ms; steps: of each rank.  TRUE: a window is full,
 * and stands until the next call. */
gboolean dyno_rank_times_add (DynoRankTimes *times, guint64 epoch, double step_ms,
                              const DynoRankStep *steps);

/* The next step does not count: some rank did something else before it. */
void dyno_rank_times_skip (DynoRankTimes *times);

/* Of each rank, over the last full window, or over all steps. */
void dyno_rank_times_get_window (const DynoRankTimes *times, DynoRankRate *rates);
void dyno_rank_times_get_all (const DynoRankTimes *times, DynoRankRate *rates);

/* The time of a step that the exchange itself takes, not the ranks' being late: the least that
 * one of them waited, and the least for which sums were under way on one.  Means over all steps;
 * NaN: none. */
void dyno_rank_times_get_exchange (const DynoRankTimes *times, double *wait_ms, double *sum_ms);

/* After a full window: the next rank that is slow and was not given before. */
gboolean dyno_rank_times_find_slow (DynoRankTimes *times, DynoSlowRank *slow);

G_END_DECLS
