/* SPDX-License-Identifier: MIT */
/* The card of the data set: choosing one, and its facts. */
#pragma once
#include "setup.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_DATA_PANEL (dyno_data_panel_get_type ())
G_DECLARE_FINAL_TYPE (DynoDataPanel, dyno_data_panel, DYNO, DATA_PANEL, GtkBox)

void dyno_data_panel_set_setup (DynoDataPanel *self, DynoSetup *setup);
void dyno_data_panel_focus (DynoDataPanel *self); /* focuses the button that chooses a data set */

G_END_DECLS
