/* SPDX-License-Identifier: MIT */
/* The job queue that is also used by `dynoctl queue`: the order and the results of its jobs, whose
 * settings are frozen, and the process that runs them. */
#pragma once
#include "job.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_QUEUE_CARD (dyno_queue_card_get_type ())
G_DECLARE_FINAL_TYPE (DynoQueueCard, dyno_queue_card, DYNO, QUEUE_CARD, GtkBox)

/* Signals: "failed" (GError); "changed" (guint n): the number of jobs that wait or run.  The card
 * is visible while there are such jobs. */
GtkWidget *dyno_queue_card_new (void);
/* Reads the queue anew, in a thread. */
void dyno_queue_card_refresh (DynoQueueCard *self);
/* Appends the job, as it is now, to the queue, with a folder of its own below `runs`. */
void dyno_queue_card_add (DynoQueueCard *self, const DynoJob *job, const char *runs);

G_END_DECLS
