/* SPDX-License-Identifier: MIT */
/* The tabs of the selected runs: curves and settings, diagnosis, evaluation, predictions, exports.
 * Several runs have only curves, settings and exports. */
#pragma once
#include "runcurves.h"
#include "setup.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_RUN_DETAILS (dyno_run_details_get_type ())
G_DECLARE_FINAL_TYPE (DynoRunDetails, dyno_run_details, DYNO, RUN_DETAILS, GtkBox)

#define DYNO_RUN_DETAILS_KEPT 6 /* runs whose evaluations, and predictions, are kept */

/* Signals: "failed" (GError), "exported" (const char *): a file could not be written, or was. */
GtkWidget *dyno_run_details_new (DynoRunCurves *curves);
/* setup: takes advice, and has the device to evaluate and predict on. */
void dyno_run_details_set_setup (DynoRunDetails *self, DynoSetup *setup);
/* runs must live until the next call; n 0: hides the widget.  The tab stays the one that was chosen
 * last wherever the runs have it. */
void dyno_run_details_show (DynoRunDetails *self, const DynoStoredRun *const *runs, guint n);
/* Forgets the runs, which may be freed then; what is shown stays until the next _show. */
void dyno_run_details_forget (DynoRunDetails *self);
/* Predicts these images with the weights of the only run, and shows the tab; NULL: asks for images.
 * FALSE: not exactly one run with weights is shown. */
gboolean dyno_run_details_predict (DynoRunDetails *self, const char *const *paths);

G_END_DECLS
