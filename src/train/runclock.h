/* SPDX-License-Identifier: MIT */
/* The clock of a run, and the times and rates that are taken by it.
 *
 * The clock stands still in pauses, while the run is prepared again, and while the whole process is
 * stopped.  Its moments are microseconds from the beginning of this part of the run on.  Members
 * belong to runclock.c; one thread, the session's.  Private to the train layer. */
#pragma once
#include "pulse.h"
#include "rate.h"

G_BEGIN_DECLS

typedef struct {
  gint64 (*monotonic) (void);
  DynoPulse *pulse;           /* the time that the process had */
  gint64 base_us;             /* of that time, where this part of the run began */
  gint64 paused_us;           /* left out since */
  double base_seconds;        /* of earlier parts */
  double preparation_seconds; /* of this part */
  gint64 last_end_us;         /* of the last step, or of what came after it and is not training */
  gint64 epoch_us;            /* the end of the last step of the epoch that ends */
  gint64 saving_us;           /* training stood still for it since the last epoch was reported */
  DynoRate rate;
  double first_seconds; /* of the first step after a start, while its epoch goes on; else 0 */
  guint64 first_samples;
} DynoRunClock;

/* monotonic: g_get_monotonic_time but in tests; any thread calls it. */
void dyno_run_clock_init (DynoRunClock *clock, gint64 (*monotonic) (void));
void dyno_run_clock_clear (DynoRunClock *clock);

/* This part of the run begins, after so many seconds of training in earlier parts. */
void dyno_run_clock_begin (DynoRunClock *clock, double seconds);

gint64 dyno_run_clock_now (const DynoRunClock *clock);

/* The time since a moment was a pause; or went into preparing. */
void dyno_run_clock_end_pause (DynoRunClock *clock, gint64 began_us);
void dyno_run_clock_end_preparation (DynoRunClock *clock, gint64 began_us);
/* The run was prepared for so long before this part began. */
void dyno_run_clock_add_preparation (DynoRunClock *clock, double seconds);
double dyno_run_clock_get_preparation (const DynoRunClock *clock);

/* Steps follow each other from now on; what comes next is a first step (rate.h). */
void dyno_run_clock_begin_steps (DynoRunClock *clock);

typedef struct {
  double samples_per_s; /* see dyno_rate_add */
  double step_ms;       /* since the end of the step before */
  double seconds;       /* of training in all, see dyno_run_clock_get_seconds */
} DynoStepTimes;

/* A step of so many samples ended at a moment of the monotonic clock.  _measure_step gives its
 * seconds, at least 0, before _end_step takes it. */
double dyno_run_clock_measure_step (DynoRunClock *clock, gint64 end_us, guint64 samples);
void dyno_run_clock_end_step (DynoRunClock *clock, gint64 end_us, guint64 samples,
                              DynoStepTimes *times);

/* Seconds of training up to the end of the last step, or of what came after it; earlier parts
 * counted. */
double dyno_run_clock_get_seconds (const DynoRunClock *clock);

/* Training stood still for a save since the last step. */
void dyno_run_clock_end_save (DynoRunClock *clock);

/* The rate of an epoch without the first step of this part, unless the epoch has no other. */
double dyno_run_clock_take_epoch_rate (DynoRunClock *clock, guint64 samples, double seconds);

/* The epoch is validated.  validation_s: since its last step; saving_s: saves since the epoch
 * before was reported. */
void dyno_run_clock_end_validation (DynoRunClock *clock, double *validation_s, double *saving_s);
/* It is saved: the next step is of the next epoch. */
void dyno_run_clock_end_epoch (DynoRunClock *clock);

G_END_DECLS
