/* SPDX-License-Identifier: MIT */
/* The curves of one or several runs in common plots, and the settings in which the runs differ; of
 * one run its results and all settings that have not their default values. */
#pragma once
#include "runcurves.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_RUN_COMPARE (dyno_run_compare_get_type ())
G_DECLARE_FINAL_TYPE (DynoRunCompare, dyno_run_compare, DYNO, RUN_COMPARE, GtkBox)

#define DYNO_RUN_COMPARE_MOST 8 /* runs; more are left out */

/* Signal "failed" (GError): a file could not be written. */
GtkWidget *dyno_run_compare_new (void);
/* runs must live until the next call.  The view keeps its span where they are the same runs as
 * before.  Their curves are requested, and drawn once they are read. */
void dyno_run_compare_show (DynoRunCompare *self, DynoRunCurves *curves,
                            const DynoStoredRun *const *runs, guint n);
/* Forgets the runs, which may be freed then; what is shown stays until the next _show. */
void dyno_run_compare_forget (DynoRunCompare *self);
/* Reads the curves of the runs in progress anew.  Called every two seconds while the widget is
 * mapped. */
void dyno_run_compare_follow (DynoRunCompare *self);

G_END_DECLS
