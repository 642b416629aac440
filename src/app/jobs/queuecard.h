/* SPDX-License-Identifier: MIT */
/* The jobs of the queue as a list with the button that starts it.  The card is visible while there
 * are jobs that are not finished, and while one that was taken out can be put back. */
#pragma once
#include "joblist.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_QUEUE_CARD (dyno_queue_card_get_type ())
G_DECLARE_FINAL_TYPE (DynoQueueCard, dyno_queue_card, DYNO, QUEUE_CARD, GtkBox)

/* Signals: "failed" (GError): the queue was not started; "edit" (gpointer job): the settings of
 * this job (const DynoQueuedJob) are to be edited; "show-run" (gpointer job): its run is to be
 * shown. */
GtkWidget *dyno_queue_card_new (DynoJobList *jobs);
/* Whether settings of jobs can be edited at present. */
void dyno_queue_card_set_editable (DynoQueueCard *self, gboolean editable);

G_END_DECLS
