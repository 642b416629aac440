/* SPDX-License-Identifier: MIT */
/* How often, and at which intervals, a data set that does not answer is tried again; no clock, and
 * no thread.  Private to the train layer. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/* Tries count until a step is done, so that a disk that comes and goes ends the run too; those of an
 * outage at another step do not count. */
typedef struct {
  guint n;      /* since the last step */
  guint64 step; /* updates when that was */
} DynoTries;

/* The data set cannot be read after so many updates.  TRUE: this outage is a new one. */
gboolean dyno_tries_begin (DynoTries *tries, guint64 step);
/* Until the next try, where the first interval is first_us; and of all tries together. */
gint64 dyno_tries_get_interval_us (const DynoTries *tries, gint64 first_us);
gint64 dyno_tries_sum_intervals_us (gint64 first_us);
/* An interval is over.  resumed: someone asked to try at once, and all tries are there again. */
void dyno_tries_take (DynoTries *tries, gboolean resumed);
gboolean dyno_tries_are_spent (const DynoTries *tries);

G_END_DECLS
