/* SPDX-License-Identifier: MIT */
/* The page of a run: its state, its numbers, the masks of some samples, and live plots. */
#pragma once
#include "runmonitor.h"
#include "setup.h"
#include "state.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_RUN_PAGE (dyno_run_page_get_type ())
G_DECLARE_FINAL_TYPE (DynoRunPage, dyno_run_page, DYNO, RUN_PAGE, GtkBox)

void dyno_run_page_set_run (DynoRunPage *self, DynoRunMonitor *monitor, DynoSetup *setup);
/* See dyno_run_plots_set_state. */
void dyno_run_page_set_state (DynoRunPage *self, DynoState *state);
void dyno_run_page_set_log (DynoRunPage *self, gboolean log);
/* See dyno_stats_bar_set_tight. */
void dyno_run_page_set_tight (DynoRunPage *self, gboolean tight);
void dyno_run_page_set_held (DynoRunPage *self, gboolean held);
/* Writes the plots, as they are shown, into a file: PNG, SVG or PDF by the extension of its
 * name. */
gboolean dyno_run_page_export (DynoRunPage *self, const char *path, GError **error);

/* Predicts these images (NULL: the user is asked for images) with the weights of the run that has
 * ended; FALSE: there are no weights. */
gboolean dyno_run_page_predict (DynoRunPage *self, const char *const *paths);

/* The job that resumes the run in its folder; NULL: it goes on, was trained to its end, or left no
 * checkpoint.  dyno_job_unref. */
DynoJob *dyno_run_page_get_resuming_job (DynoRunPage *self);

G_END_DECLS
