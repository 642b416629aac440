/* SPDX-License-Identifier: MIT */
/* The clock of a run, and the times and rates measured with it.
 *
 * The clock stops in pauses, while the run is prepared again, and while the whole process is
 * stopped.  Its times are microseconds since the beginning of this part of the run.  Members belong
 * to runclock.c; one thread, the session's.  Private to the train layer. */
#pragma once
#include "pulse.h"
#include "rate.h"

G_BEGIN_DECLS

typedef struct {
  gint64 (*monotonic) (void);
  DynoPulse *pulse;           /* time without stops of the process */
  gint64 base_us;             /* pulse time at which this part of the run began */
  gint64 paused_us;           /* total of pauses and preparations since then */
  double base_seconds;        /* training time of earlier parts */
  double preparation_seconds; /* preparation time of this part */
  gint64 last_end_us;         /* end of the last step, or of later work that is not training */
  gint64 epoch_us;            /* end of the last step of the epoch that ends */
  gint64 saving_us;           /* time of saving since the last epoch was reported */
  DynoRate rate;
  double first_seconds; /* duration of the first step after a start, until its epoch ends; else 0 */
  guint64 first_samples;
} DynoRunClock;

/* monotonic: g_get_monotonic_time except in tests; any thread calls it. */
void dyno_run_clock_init (DynoRunClock *clock, gint64 (*monotonic) (void));
void dyno_run_clock_clear (DynoRunClock *clock);

/* Begins this part of the run, after so many seconds of training in earlier parts. */
void dyno_run_clock_begin (DynoRunClock *clock, double seconds);

gint64 dyno_run_clock_now (const DynoRunClock *clock);

/* Count the time since began_us as a pause, or as preparation. */
void dyno_run_clock_end_pause (DynoRunClock *clock, gint64 began_us);
void dyno_run_clock_end_preparation (DynoRunClock *clock, gint64 began_us);
/* Adds preparation time from before this part began. */
void dyno_run_clock_add_preparation (DynoRunClock *clock, double seconds);
double dyno_run_clock_get_preparation (const DynoRunClock *clock);

/* Begins to measure steps: time before this call belongs to no step, and the next step is a first
 * step (rate.h). */
void dyno_run_clock_begin_steps (DynoRunClock *clock);

typedef struct {
  double samples_per_s; /* see dyno_rate_add */
  double step_ms;       /* time since the end of the step before */
  double seconds;       /* total training time, see dyno_run_clock_get_seconds */
} DynoStepTimes;

/* A step of so many samples ended at a time of the monotonic clock.  _measure_step, to be called
 * first, returns its seconds, at least 0; _end_step adds it. */
double dyno_run_clock_measure_step (DynoRunClock *clock, gint64 end_us, guint64 samples);
void dyno_run_clock_end_step (DynoRunClock *clock, gint64 end_us, guint64 samples,
                              DynoStepTimes *times);

/* Seconds of training, including earlier parts, up to the end of the last step or of later work
 * such as validation. */
double dyno_run_clock_get_seconds (const DynoRunClock *clock);

/* Counts the time since the last step as saving, not as training. */
void dyno_run_clock_end_save (DynoRunClock *clock);

/* The rate of an epoch without the first step of this part, unless it is the epoch's only step. */
double dyno_run_clock_take_epoch_rate (DynoRunClock *clock, guint64 samples, double seconds);

/* The epoch was validated.  validation_s: time since its last step; saving_s: time of saves since
 * the epoch before was reported. */
void dyno_run_clock_end_validation (DynoRunClock *clock, double *validation_s, double *saving_s);
/* The epoch was saved: the next step belongs to the next epoch. */
void dyno_run_clock_end_epoch (DynoRunClock *clock);

G_END_DECLS
