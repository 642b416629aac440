/* SPDX-License-Identifier: MIT */
/* The row of the form in which the model is chosen: a built-in one, a network that was opened
 * before, or another file; with a row for its layers below. */
#pragma once
#include "setup.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

GtkWidget *dyno_model_row_new (DynoSetup *setup);  /* a DynoRow */
GtkWidget *dyno_layers_row_new (DynoSetup *setup); /* below it: opens the table of the model's
                                                    * layers */

G_END_DECLS
