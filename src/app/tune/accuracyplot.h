/* SPDX-License-Identifier: MIT */
/* The trials of a search for the best model as parallel coordinates: an axis a parameter, a curve a
 * trial.  Pointer and keys single out a trial. */
#pragma once
#include "accuracyview.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_ACCURACY_PLOT (dyno_accuracy_plot_get_type ())
G_DECLARE_FINAL_TYPE (DynoAccuracyPlot, dyno_accuracy_plot, DYNO, ACCURACY_PLOT, GtkDrawingArea)

/* Signal "pointed" (int trial): the user singles out a trial; -1: none any more. */
/* best: trial; -1: none so far.  All is copied.  rows NULL: nothing is shown. */
void dyno_accuracy_plot_set_rows (DynoAccuracyPlot *self, const DynoParamSpace *space,
                                  const DynoMetricInfo *metric, const GArray *rows, int best);
/* Singles out a trial without the signal; -1: none. */
void dyno_accuracy_plot_point (DynoAccuracyPlot *self, int trial);

G_END_DECLS
