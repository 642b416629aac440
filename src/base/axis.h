/* SPDX-License-Identifier: MIT */
/* Axis ticks: round values (1, 2, 5 times a power of ten; decades on a logarithmic axis) and their
 * texts. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

#define DYNO_AXIS_MAX_TICKS 24

typedef struct {
  double low, high; /* the ends of the axis; with round_out they are ticks */
  double ticks[DYNO_AXIS_MAX_TICKS];
  guint n_ticks;
  gboolean log;
  double step;   /* linear axes */
  gboolean time; /* in seconds, shown as 1:30 */
} DynoAxis;

/* An axis over [low, high] with at most about max_ticks ticks, not closer than least_step (linear
 * axes; 0: no limit).  round_out: the ends of a linear axis become ticks.  Never degenerate: equal
 * ends are widened, but not below 0 where they are not below it; non-finite ends, or low <= 0 on a
 * logarithmic axis, are replaced by 0 (0.1) and 1. */
void dyno_axis_init (DynoAxis *axis, double low, double high, guint max_ticks, gboolean log,
                     gboolean round_out, double least_step);

/* The same for seconds: ticks lie at round numbers of seconds, minutes, hours or days. */
void dyno_axis_init_time (DynoAxis *axis, double low, double high, guint max_ticks);

/* The position of a value on the axis, 0 at its low and 1 at its high end; and the reverse. */
double dyno_axis_position (const DynoAxis *axis, double value);
double dyno_axis_value (const DynoAxis *axis, double position);

/* "0.05", "2,000", "12k", "3M", "1e15": as many digits as the step needs.  g_free. */
char *dyno_axis_format (const DynoAxis *axis, double value);
/* Seconds as "0:05", "1:30", "2:05:00", "1d 2:05"; step: the distance between two ticks.
 * g_free. */
char *dyno_axis_format_time (double seconds, double step);
/* A single value for a read-out: four significant digits, with k, M or G from 10,000 on. */
char *dyno_axis_format_value (double value);
/* The same for a value in a unit, which may be NULL: a rate ("samples/s") has three digits, since
 * its further digits only fluctuate. */
char *dyno_axis_format_measure (double value, const char *unit);

G_END_DECLS
