/* SPDX-License-Identifier: MIT */
/* How much of the processor other programs took while something was measured. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/* Seconds since some start, summed over all cores; known FALSE where the system does not say. */
typedef struct {
  gboolean known;
  double all_s, busy_s; /* of the whole machine */
  double own_s;         /* of this process */
} DynoCpuTimes;

void dyno_cpu_times_read (DynoCpuTimes *times);
/* The first line of /proc/stat, in ticks of so many a second; own_s is left. */
gboolean dyno_cpu_times_parse (DynoCpuTimes *times, const char *line, double ticks_per_s);

/* The share of all cores that others took between two readings, 0..1; NaN where it is not known,
 * or the time between them is shorter than the ticks can tell. */
double dyno_cpu_times_get_outside (const DynoCpuTimes *begin, const DynoCpuTimes *end);

G_END_DECLS
