/* SPDX-License-Identifier: MIT */
/* The memory that the next run will take, by component, against the budget; follows the setup. */
#pragma once
#include "setup.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_VRAM_BAR (dyno_vram_bar_get_type ())
G_DECLARE_FINAL_TYPE (DynoVramBar, dyno_vram_bar, DYNO, VRAM_BAR, GtkBox)

void dyno_vram_bar_set_setup (DynoVramBar *self, DynoSetup *setup);

G_END_DECLS
