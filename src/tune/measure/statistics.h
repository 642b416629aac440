/* SPDX-License-Identifier: MIT */
/* What windows of a measurement say: the median that a machine has settled to, how sure that is,
 * and whether one measurement is above another.  No clock and no device: numbers alone. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/* 95 % interval of the median: order statistics; Student's t where there are fewer than six
 * windows.  Never narrower than what a clock and a scheduler allow. */
typedef struct {
  double median, low, high; /* NaN: nothing was measured */
  guint n;                  /* windows that count */
  gboolean stationary; /* no trend is left in them; FALSE also where they are too few to tell */
} DynoEstimate;

/* windows: rates of successive short windows, oldest first.  The warm-up (clocks that rise,
 * kernels that load, caches that fill) is dropped: as much of the beginning as is not stationary,
 * half of the windows at most.  One window alone says nothing of its spread: half to twice of it.
 * Values that are not finite do not count. */
void dyno_estimate (const double *windows, guint n, DynoEstimate *e);

/* One estimate of several measurements of the same thing, which differ by more than their own
 * windows tell. */
void dyno_estimate_combine (const DynoEstimate *estimates, guint n, DynoEstimate *e);

/* TRUE where the intervals say that a is more than b times factor; FALSE inside the noise. */
gboolean dyno_estimate_is_above (const DynoEstimate *a, const DynoEstimate *b, double factor);

/* Windows as they are made: samples that ended at a time, in seconds of any clock.  A window ends
 * with the first sample past its length; where there are many, two become one and the length
 * doubles, so that a measurement of any duration has DYNO_WINDOWS_MOST / 2 to _MOST windows. */
#define DYNO_WINDOWS_MOST 64
typedef struct {
  double length_s; /* of a window at the least; 0: each sample is one */
  guint n;
  double samples[DYNO_WINDOWS_MOST], seconds[DYNO_WINDOWS_MOST];
  gboolean begun;
  double last_s;                     /* end of what was added last */
  double open_samples, open_seconds; /* of the window that has not ended */
} DynoWindows;

/* The clock begins to count at time_s; before the first sample, and after time that does not
 * count. */
void dyno_windows_begin (DynoWindows *w, double time_s);
/* Samples that took from the last begin or sample to time_s. */
void dyno_windows_add (DynoWindows *w, double time_s, double samples);
/* Ends the window that has not, however short, where nothing more will come. */
void dyno_windows_end (DynoWindows *w);
/* The window that has not ended does not count. */
void dyno_windows_estimate (const DynoWindows *w, DynoEstimate *e);
/* Of all windows that ended. */
double dyno_windows_get_seconds (const DynoWindows *w);

G_END_DECLS
