/* SPDX-License-Identifier: MIT */
/* Statistics of the windows of a measurement: the median after the machine has settled, its
 * uncertainty, and the comparison of two measurements.  No clock and no device: only numbers. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/* 95 % interval of the median: order statistics; Student's t with fewer than six windows.  Never
 * narrower than a clock and a scheduler allow. */
typedef struct {
  double median, low, high; /* NaN: nothing was measured */
  guint n;                  /* number of windows that count */
  gboolean stationary; /* no trend is left; FALSE also where the windows are too few to decide */
} DynoEstimate;

/* windows: rates of successive short windows, oldest first.  The warm-up (clocks that rise, kernels
 * that load, caches that fill) is dropped: the part of the beginning that is not stationary, at
 * most half of the windows.  A single window shows no spread: its interval is half to twice its
 * value.  Values that are not finite do not count. */
void dyno_estimate (const double *windows, guint n, DynoEstimate *e);

/* Combines the estimates of several measurements of the same quantity, which differ by more than
 * the spread of their windows. */
void dyno_estimate_combine (const DynoEstimate *estimates, guint n, DynoEstimate *e);

/* TRUE where a is more than b times factor, by the intervals; FALSE inside the noise. */
gboolean dyno_estimate_is_above (const DynoEstimate *a, const DynoEstimate *b, double factor);

/* Collects windows from samples that ended at a time, in seconds of any clock.  A window ends with
 * the first sample past its length; where there are too many windows, two become one and the length
 * doubles, so that a measurement of any duration has DYNO_WINDOWS_MOST / 2 to _MOST windows. */
#define DYNO_WINDOWS_MOST 64
typedef struct {
  double length_s; /* least length of a window; 0: each sample is a window */
  guint n;
  double samples[DYNO_WINDOWS_MOST], seconds[DYNO_WINDOWS_MOST];
  gboolean begun;
  double last_s;                     /* end of the last sample that was added */
  double open_samples, open_seconds; /* of the open window */
} DynoWindows;

/* Starts the clock at time_s; called before the first sample, and after a time that does not
 * count. */
void dyno_windows_begin (DynoWindows *w, double time_s);
/* Adds the samples processed between the last begin or sample and time_s. */
void dyno_windows_add (DynoWindows *w, double time_s, double samples);
/* Ends the open window, however short, where no sample follows. */
void dyno_windows_end (DynoWindows *w);
/* The estimate from the windows that ended; the open window does not count. */
void dyno_windows_estimate (const DynoWindows *w, DynoEstimate *e);
/* The seconds of all windows that ended. */
double dyno_windows_get_seconds (const DynoWindows *w);

G_END_DECLS
