/* SPDX-License-Identifier: MIT */
/* The pill in the middle of the header bar shows the model, the data set, and the progress of the
 * run.  A click opens the page Train.  Before the first run the pill shows the program's name. */
#pragma once
#include "runview.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_RUN_PILL (dyno_run_pill_get_type ())
G_DECLARE_FINAL_TYPE (DynoRunPill, dyno_run_pill, DYNO, RUN_PILL, GtkStack)

void dyno_run_pill_show (DynoRunPill *self, const DynoRunStatus *status);
/* "43 %, MNIST" for the window's title while a run is active; else NULL.  g_free. */
char *dyno_run_pill_describe (const DynoRunStatus *status);

G_END_DECLS
