/* SPDX-License-Identifier: MIT */
/* A learning-rate range test of the setup's job, in a dialog: the curve as it grows, the suggestion
 * and a button that takes it. */
#pragma once
#include "lrcurve.h"
#include "setup.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Begins at once, with the job as it is now, which must be one that can start; closing the dialog
 * ends the test. */
void dyno_lr_dialog_show (GtkWindow *parent, DynoSetup *setup);
/* The dialog before its test, which is not shown yet. */
GtkWidget *dyno_lr_dialog_new (GtkWindow *parent, DynoSetup *setup);
/* Shows the result of a test that is over; curve NULL: error says why there is none. */
void dyno_lr_dialog_show_result (GtkWidget *dialog, const DynoLrCurve *curve, const GError *error);

G_END_DECLS
