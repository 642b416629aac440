/* SPDX-License-Identifier: MIT */
/* The trials of a search for the best model in parallel coordinates: one axis for each parameter,
 * one curve for each trial.  Pointer and keys highlight a trial. */
#pragma once
#include "accuracyview.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_ACCURACY_PLOT (dyno_accuracy_plot_get_type ())
G_DECLARE_FINAL_TYPE (DynoAccuracyPlot, dyno_accuracy_plot, DYNO, ACCURACY_PLOT, GtkDrawingArea)

/* Signal "pointed" (int trial): the user highlights a trial; -1: no longer any. */
/* best: index of the best trial; -1: none so far.  All arguments are copied.  rows: NULL to show
 * nothing. */
void dyno_accuracy_plot_set_rows (DynoAccuracyPlot *self, const DynoParamSpace *space,
                                  const DynoMetricInfo *metric, const GArray *rows, int best);
/* Highlights a trial without emitting the signal; -1: none. */
void dyno_accuracy_plot_point (DynoAccuracyPlot *self, int trial);

G_END_DECLS
