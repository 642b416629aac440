/* SPDX-License-Identifier: MIT */
/* All jobs in one place, below the pill of the header bar: the run of this window, and the jobs of
 * the queue. */
#pragma once
#include "joblist.h"
#include "state.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_JOBS_POPOVER (dyno_jobs_popover_get_type ())
G_DECLARE_FINAL_TYPE (DynoJobsPopover, dyno_jobs_popover, DYNO, JOBS_POPOVER, GtkPopover)

/* Signals: see DynoQueueCard. */
GtkWidget *dyno_jobs_popover_new (DynoJobList *jobs);
/* Saves in the state whether the queue goes on; state may be NULL. */
void dyno_jobs_popover_set_state (DynoJobsPopover *self, DynoState *state);
/* The run of this window: "SimpleCNN on Shapes", "43 %", 0 to 1; what NULL: there is none.
 * active: it has not ended. */
void dyno_jobs_popover_show_run (DynoJobsPopover *self, const char *what, const char *progress,
                                 double fraction, gboolean active);
/* Whether settings of jobs can be edited at present. */
void dyno_jobs_popover_set_editable (DynoJobsPopover *self, gboolean editable);
/* Whether the queue is to be started when the run of this window has ended. */
gboolean dyno_jobs_popover_goes_on (DynoJobsPopover *self);

G_END_DECLS
