/* SPDX-License-Identifier: MIT */
#include "outsidecpu.h"
#include <math.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

/* least time of all cores between two readings, in 1/100 s: a shorter time is mostly rounding */
#define LEAST_TICKS 20

gboolean
dyno_cpu_times_parse (DynoCpuTimes *times, const char *line, double ticks_per_s)
{
  guint64 t[8] = { 0 }; /* user nice system idle iowait irq softirq steal; guest is in user */
  double all = 0;

  times->known = FALSE;
  if (ticks_per_s <= 0 || !g_str_has_prefix (line, "cpu ")
      || sscanf (line,
                 "cpu %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT
                 " %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT
                 " %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT,
                 &t[0], &t[1], &t[2], &t[3], &t[4], &t[5], &t[6], &t[7])
             < 4)
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (t); i++)
    all += (double) t[i];
  times->all_s = all / ticks_per_s;
  times->busy_s = (all - (double) t[3] - (double) t[4]) / ticks_per_s;
  times->known = TRUE;
  return TRUE;
}

void
dyno_cpu_times_read (DynoCpuTimes *times)
{
  char line[512];
  FILE *file = fopen ("/proc/stat", "re");
  struct rusage usage;

  *times = (DynoCpuTimes){ 0 };
  if (!file)
    return;
  if (fgets (line, sizeof line, file))
    dyno_cpu_times_parse (times, line, (double) sysconf (_SC_CLK_TCK));
  fclose (file);
  if (getrusage (RUSAGE_SELF, &usage) != 0)
    times->known = FALSE;
  else
    times->own_s = (double) (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
                   + (double) (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

double
dyno_cpu_times_get_outside (const DynoCpuTimes *begin, const DynoCpuTimes *end)
{
  double all = end->all_s - begin->all_s,
         outside = end->busy_s - begin->busy_s - (end->own_s - begin->own_s);

  if (!begin->known || !end->known || all * 100 < LEAST_TICKS)
    return (double) NAN;
  return CLAMP (outside / all, 0.0, 1.0);
}
