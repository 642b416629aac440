/* SPDX-License-Identifier: MIT */
/* Cards with a row for each setting of the table: first the settings that decide speed and memory,
 * the rest in an expander. */
#pragma once
#include "setup.h"
#include "state.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_SETTINGS_PANEL (dyno_settings_panel_get_type ())
G_DECLARE_FINAL_TYPE (DynoSettingsPanel, dyno_settings_panel, DYNO, SETTINGS_PANEL, GtkBox)

void dyno_settings_panel_set_setup (DynoSettingsPanel *self, DynoSetup *setup);
void dyno_settings_panel_find (DynoSettingsPanel *self); /* moves the focus to the search */
typedef enum {
  DYNO_SETTINGS_PLACE_MODEL,
  DYNO_SETTINGS_PLACE_WEIGHTS,
  DYNO_SETTINGS_PLACE_DEVICE,
} DynoSettingsPlace;

/* Unfolds this part of the form and moves the focus there; ends a search. */
void dyno_settings_panel_show_place (DynoSettingsPanel *self, DynoSettingsPlace place);
/* Undo (TRUE) or redo; live settings are applied to the run, as when they are changed by hand. */
void dyno_settings_panel_step (DynoSettingsPanel *self, gboolean undo);

/* state stores which groups are unfolded; NULL: this is not stored. */
void dyno_settings_panel_set_state (DynoSettingsPanel *self, DynoState *state);

G_END_DECLS
