/* SPDX-License-Identifier: MIT */
/* The bar above the run of the window that shows the job which the queue trains meanwhile, and leads
 * to its curves.  Hidden while the queue trains nothing.  Signal "show-run" (const DynoQueuedJob *):
 * the job's curves are to be shown. */
#pragma once
#include "joblist.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_QUEUE_BAR (dyno_queue_bar_get_type ())
G_DECLARE_FINAL_TYPE (DynoQueueBar, dyno_queue_bar, DYNO, QUEUE_BAR, GtkInfoBar)

void dyno_queue_bar_set_jobs (DynoQueueBar *self, DynoJobList *jobs);

G_END_DECLS
