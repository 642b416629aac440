/* SPDX-License-Identifier: MIT */
/* The page of runs: the queue of those that are to come, and a list of those that were, out of the
 * history; go on with one, take its settings again, open its folder, rename, tag, delete; the curves
 * of those that are selected, and what differs between them. */
#pragma once
#include "setup.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_RUNS_PAGE (dyno_runs_page_get_type ())
G_DECLARE_FINAL_TYPE (DynoRunsPage, dyno_runs_page, DYNO, RUNS_PAGE, GtkBox)

/* Signals: "failed" (GError), "taken": a run's job was put into the setup; "start" (const DynoJob *):
 * it is to be run now, to go on with a run; "queued" (guint): so many jobs wait or run; "exported"
 * (const char *): a file was written; "report-failed" (GError): a search's cannot be shown. */
void dyno_runs_page_set_setup (DynoRunsPage *self, DynoSetup *setup);
/* What the weights of the selected run say of these images; FALSE: not exactly one run with weights
 * is selected. */
gboolean dyno_runs_page_predict (DynoRunsPage *self, const char *const *paths);
/* Reads the history and the queue anew, in a thread. */
void dyno_runs_page_refresh (DynoRunsPage *self);
/* The job as it is now, behind those that wait, with a folder of its own among runs. */
void dyno_runs_page_add_to_queue (DynoRunsPage *self, const DynoJob *job, const char *runs);

G_END_DECLS
