/* SPDX-License-Identifier: MIT */
/* Numbers as people read them: with the locale's decimals and groups.  For the window only, never
 * for files.  Every function returns a new string (g_free). */
#pragma once
#include "metric.h"
#include "store.h"

G_BEGIN_DECLS

char *dyno_format_bytes (guint64 bytes); /* "1.93 GiB" */
char *dyno_format_count (guint64 count); /* "60,000" */
char *dyno_format_large (double value);  /* "11.2 M", "512 k": parameters, operations */
char *dyno_format_rate (double per_s);   /* "16,740", "35.4", "0.52"; "–" for nothing measured */
char *dyno_format_throughput (double samples_per_s); /* "16,740 samples/s" */
char *dyno_format_ms (double ms);                    /* "12.4 ms", "3.1 s" */
char *dyno_format_percent (double fraction);         /* "97.4 %"; "–" for NaN */
char *dyno_format_share (double fraction);           /* "97 %" */
char *dyno_format_value (double value); /* four significant digits: losses, errors; "–" for NaN */
/* "97.4 %", "2.310°"; "–" for NaN */
char *dyno_format_metric (const DynoMetricInfo *metric, double value);
char *dyno_format_best (const DynoStoredRun *run); /* best metric of the run, in the same form */
/* A date and time: "Today 09:12", "Yesterday 17:40", "11/02/26 08:15". */
char *dyno_format_when (gint64 time_us);
char *dyno_format_span (double seconds); /* "0:42", "12:05", "1:02:03"; "–" when unknown */
char *dyno_format_size (guint32 width, guint32 height, guint32 channels); /* "64 × 64 × 3" */
/* Takes a number with its unit, and isolates them so that they keep their order in right-to-left
 * text. */
char *dyno_format_isolate (char *text);

G_END_DECLS
