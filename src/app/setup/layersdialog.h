/* SPDX-License-Identifier: MIT */
/* What the chosen model is made of, layer by layer: shapes, parameters, work, memory. */
#pragma once
#include "setup.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Of the setup's job as it is now; or a sentence where its network cannot be built. */
void dyno_layers_dialog_show (GtkWindow *parent, DynoSetup *setup);

G_END_DECLS
