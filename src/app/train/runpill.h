/* SPDX-License-Identifier: MIT */
/* The pill in the middle of the header bar shows the model, the data set, and the progress of the
 * run: of this window, or else of the queue; and how many jobs wait.  A click opens the list of all
 * jobs.  Where there is neither run nor job, the pill shows the program's name. */
#pragma once
#include "jobspopover.h"
#include "runview.h"

G_BEGIN_DECLS

#define DYNO_TYPE_RUN_PILL (dyno_run_pill_get_type ())
G_DECLARE_FINAL_TYPE (DynoRunPill, dyno_run_pill, DYNO, RUN_PILL, GtkStack)

void dyno_run_pill_set_jobs (DynoRunPill *self, DynoJobList *jobs, DynoJobsPopover *popover);
/* Shows the run of this window, or the jobs; also in the popover. */
void dyno_run_pill_show (DynoRunPill *self, const DynoRunStatus *status);
/* "43 %, MNIST" for the window's title while a run is active; else NULL.  g_free. */
char *dyno_run_pill_describe (const DynoRunStatus *status);

G_END_DECLS
