/* SPDX-License-Identifier: MIT */
/* Measures the share of the processor that other programs took during a measurement. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/* Seconds since some start, summed over all cores; known is FALSE where the system does not report
 * them. */
typedef struct {
  gboolean known;
  double all_s, busy_s; /* of the whole machine */
  double own_s;         /* of this process */
} DynoCpuTimes;

void dyno_cpu_times_read (DynoCpuTimes *times);
/* Parses the first line of /proc/stat, in ticks of this many a second; own_s is left unchanged. */
gboolean dyno_cpu_times_parse (DynoCpuTimes *times, const char *line, double ticks_per_s);

/* The share of all cores that other programs took between two readings, 0..1; NaN where it is not
 * known, or where the time between the readings is too short for the resolution of the ticks. */
double dyno_cpu_times_get_outside (const DynoCpuTimes *begin, const DynoCpuTimes *end);

G_END_DECLS
