/* SPDX-License-Identifier: MIT */
/* A learning-rate range test of the setup's job, in a dialog: the curve as it grows, the suggestion
 * and a button that takes it. */
#pragma once
#include "setup.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Begins at once, with the job as it is now, which must be one that can start; closing the dialog
 * ends the test. */
void dyno_lr_dialog_show (GtkWindow *parent, DynoSetup *setup);

G_END_DECLS
