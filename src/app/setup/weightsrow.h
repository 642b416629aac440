/* SPDX-License-Identifier: MIT */
/* The row of the form with the weights that the next run starts from. */
#pragma once
#include "setup.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

GtkWidget *dyno_weights_row_new (DynoSetup *setup); /* a DynoRow */

G_END_DECLS
