/* SPDX-License-Identifier: MIT */
/* The cards of model and GPU: model, device, preset with its level, advice, and the meaning of an
 * emulation. */
#pragma once
#include "fold.h"
#include "setup.h"

G_BEGIN_DECLS

#define DYNO_TYPE_PRESET_PANEL (dyno_preset_panel_get_type ())
G_DECLARE_FINAL_TYPE (DynoPresetPanel, dyno_preset_panel, DYNO, PRESET_PANEL, DynoFold)

GtkWidget *dyno_preset_panel_new (DynoSetup *setup);
GtkWidget *dyno_preset_panel_get_device_row (DynoPresetPanel *self); /* the first one */

G_END_DECLS
