/* SPDX-License-Identifier: MIT */
/* The dialog with the layers of the chosen model: shapes, parameters, operations, memory. */
#pragma once
#include "setup.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Shows the layers of the setup's present job, or a sentence where its network cannot be built. */
void dyno_layers_dialog_show (GtkWindow *parent, DynoSetup *setup);

G_END_DECLS
