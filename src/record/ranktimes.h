/* SPDX-License-Identifier: MIT */
/* How the ranks of a run use their time, from the times that each rank reports for each step, and
 * which rank the others wait for.  No clock, no device.
 *
 * A rank is slow when its own time of a step (the step's time less its wait for the others) is at
 * least 1.25 times the median of the other ranks' in five consecutive windows, each of at least a
 * second and eight steps.  The median hardly depends on other slow ranks; consecutive windows
 * exclude temporary causes such as a checkpoint or a page cache that fills.  The first step of an
 * epoch does not count: ranks come to it from validating and saving at different times. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/* A step of one rank. */
typedef struct {
  double samples;
  double wait_ms;   /* waiting for the exchange with the others after its own part was done; at
                     * most the time of the step counts */
  double data_ms;   /* waiting for its loader, also where the device computed meanwhile */
  double device_ms; /* computing of its device; 0: not measured */
  double sum_ms;    /* time in which sums over the ranks were in progress, after its own part */
} DynoRankStep;

/* Means over a rank's steps; NaN: no step has counted. */
typedef struct {
  double samples_per_s; /* rate without waiting for other ranks; NaN also where it only waited */
  double own_ms;        /* time of a step without wait_ms */
  double wait_ms, data_ms, device_ms;
} DynoRankRate;

typedef enum {
  DYNO_SLOW_DATA,   /* its data pipeline */
  DYNO_SLOW_DEVICE, /* its device */
  DYNO_SLOW_OTHER,  /* neither of them, for instance its processor */
} DynoSlowReason;

typedef struct {
  guint rank;
  DynoSlowReason reason; /* the cause of at least half of the difference */
  DynoRankRate own;      /* over the last window */
  DynoRankRate others;   /* each member is the median over the other ranks */
} DynoSlowRank;

typedef struct _DynoRankTimes DynoRankTimes;

DynoRankTimes *dyno_rank_times_new (guint ranks);
void dyno_rank_times_free (DynoRankTimes *times);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoRankTimes, dyno_rank_times_free)

/* Adds a step of epoch `epoch` that took all ranks step_ms; steps: one for each rank.  TRUE: a
 * window is full, and stays available until the next call. */
gboolean dyno_rank_times_add (DynoRankTimes *times, guint64 epoch, double step_ms,
                              const DynoRankStep *steps);

/* Leaves out the next step, before which some rank did other work. */
void dyno_rank_times_skip (DynoRankTimes *times);

/* The rates of each rank, over the last full window, or over all steps. */
void dyno_rank_times_get_window (const DynoRankTimes *times, DynoRankRate *rates);
void dyno_rank_times_get_all (const DynoRankTimes *times, DynoRankRate *rates);

/* The time of a step that the exchange itself takes, without waiting for late ranks: the least wait
 * of any rank, and the least time of sums in progress on any rank.  Means over all steps; NaN:
 * none. */
void dyno_rank_times_get_exchange (const DynoRankTimes *times, double *wait_ms, double *sum_ms);

/* After a full window: the next slow rank that was not returned before. */
gboolean dyno_rank_times_find_slow (DynoRankTimes *times, DynoSlowRank *slow);

G_END_DECLS
