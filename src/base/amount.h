/* SPDX-License-Identifier: MIT */
/* Amounts as text for people, with three digits.  Decimals follow LC_NUMERIC: a program that sets
 * no locale prints a point.  gap stands between a number and its unit: " ", or a no-break space.
 * The caller frees each text with g_free. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

char *dyno_amount_bytes (guint64 bytes, const char *gap); /* "812 MiB", "1.25 GiB" */
char *dyno_amount_count (double count, const char *gap);  /* "640", "11.2 M" */
/* "0.52", "61.4", "16,740": a rate, whole from 100 on, with the locale's separator between
 * thousands. */
char *dyno_amount_rate (double per_s);
/* The separator between thousands: the locale's; where it has none but its decimal point is ".", a
 * comma; empty: none. */
const char *dyno_amount_separator (void);
char *dyno_amount_duration (double seconds); /* "0:42", "12:05", "1:02:03" */

G_END_DECLS
