/* SPDX-License-Identifier: MIT */
/* The page of runs: the queue of jobs, and the list of past runs from the history.  A run can be
 * continued, its settings taken again, its folder opened; it can be renamed, tagged, deleted.
 * Selected runs are shown with their curves and their differences. */
#pragma once
#include "joblist.h"
#include "setup.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_RUNS_PAGE (dyno_runs_page_get_type ())
G_DECLARE_FINAL_TYPE (DynoRunsPage, dyno_runs_page, DYNO, RUNS_PAGE, GtkBox)

/* Signals: "failed" (GError), "taken": a run's job was put into the setup; "start" (const DynoJob
 * *): the job is to be started now, to continue a run; "edit" (const DynoQueuedJob *): the settings
 * of this job are to be edited; "exported" (const char *): a file was written; "report-failed"
 * (GError): the report of a search cannot be shown. */
void dyno_runs_page_set_setup (DynoRunsPage *self, DynoSetup *setup);
/* To be called once. */
void dyno_runs_page_set_jobs (DynoRunsPage *self, DynoJobList *jobs);
/* Predicts these images with the weights of the selected run; FALSE: not exactly one run with
 * weights is selected. */
gboolean dyno_runs_page_predict (DynoRunsPage *self, const char *const *paths);
/* Reads the history and the queue anew, in a thread. */
void dyno_runs_page_refresh (DynoRunsPage *self);
/* Selects the run in this folder, once the history has it. */
void dyno_runs_page_select (DynoRunsPage *self, const char *folder);
/* Opens the search field of the list of runs; FALSE: the list has no runs. */
gboolean dyno_runs_page_find (DynoRunsPage *self);
/* Gives the focus to the list of runs, once it has been read, or without runs to the first
 * control. */
void dyno_runs_page_focus (DynoRunsPage *self);

G_END_DECLS
