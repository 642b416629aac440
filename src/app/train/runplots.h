/* SPDX-License-Identifier: MIT */
/* The plots of a run, which share x axis, view and read-out, and the choices for them: smoothing, x
 * axis, which plots are shown. */
#pragma once
#include "runmonitor.h"
#include "state.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_RUN_PLOTS (dyno_run_plots_get_type ())
G_DECLARE_FINAL_TYPE (DynoRunPlots, dyno_run_plots, DYNO, RUN_PLOTS, GtkBox)

void dyno_run_plots_set_run (DynoRunPlots *self, DynoRunMonitor *monitor);
/* Loads the choices from state and stores their changes in it; NULL: neither. */
void dyno_run_plots_set_state (DynoRunPlots *self, DynoState *state);
void dyno_run_plots_set_log (DynoRunPlots *self, gboolean log);
/* Keeps the plots' span as it is while the run goes on. */
void dyno_run_plots_set_held (DynoRunPlots *self, gboolean held);
/* Writes the plots, as they are shown, into a file: PNG, SVG or PDF by the extension of its
 * name. */
gboolean dyno_run_plots_write (DynoRunPlots *self, const char *path, GError **error);

G_END_DECLS
