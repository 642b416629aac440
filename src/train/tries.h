/* SPDX-License-Identifier: MIT */
/* How often, and at which intervals, a data set that does not respond is tried again; no clock and
 * no thread.  Private to the train layer. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/* Tries are counted until a step is done, so that repeated outages without progress end the run
 * too; tries of an outage at another step do not count. */
typedef struct {
  guint n;      /* number of tries since the last step */
  guint64 step; /* number of updates at the outage */
} DynoTries;

/* The data set cannot be read after so many updates.  TRUE: this is a new outage. */
gboolean dyno_tries_begin (DynoTries *tries, guint64 step);
/* The interval until the next try, where the first interval is first_us; and the sum of all
 * intervals. */
gint64 dyno_tries_get_interval_us (const DynoTries *tries, gint64 first_us);
gint64 dyno_tries_sum_intervals_us (gint64 first_us);
/* An interval is over.  resumed: the user asked to try at once, which resets the number of
 * tries. */
void dyno_tries_take (DynoTries *tries, gboolean resumed);
gboolean dyno_tries_are_spent (const DynoTries *tries);

G_END_DECLS
