/* SPDX-License-Identifier: MIT */
/* The cards of model and GPU: model, device, preset with its level, advice, and what an emulation
 * means. */
#pragma once
#include "setup.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_PRESET_PANEL (dyno_preset_panel_get_type ())
G_DECLARE_FINAL_TYPE (DynoPresetPanel, dyno_preset_panel, DYNO, PRESET_PANEL, GtkBox)

void dyno_preset_panel_set_setup (DynoPresetPanel *self, DynoSetup *setup);

G_END_DECLS
