/* SPDX-License-Identifier: MIT */
/* The row of the form in which the model is chosen: one that Dyno brings along, a network that was
 * opened before, or another file; with its layers below. */
#pragma once
#include "setup.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

GtkWidget *dyno_model_row_new (DynoSetup *setup);  /* a DynoRow */
GtkWidget *dyno_layers_row_new (DynoSetup *setup); /* below it: opens the table of its layers */

G_END_DECLS
