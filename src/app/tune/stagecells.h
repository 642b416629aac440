/* SPDX-License-Identifier: MIT */
/* The cells of a search's stages: a sign and a title each, and a value below. */
#pragma once
#include "stageorder.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_STAGE_CELLS 4

typedef struct {
  GtkWidget *cells[DYNO_STAGE_CELLS], *titles[DYNO_STAGE_CELLS], *values[DYNO_STAGE_CELLS];
} DynoStageCells;

/* Fills the box, which then owns the widgets. */
void dyno_stage_cells_init (DynoStageCells *self, GtkBox *box);
/* title: translated. */
void dyno_stage_cells_show (DynoStageCells *self, guint stage, DynoStand stand, const char *title);
void dyno_stage_cells_set_value (DynoStageCells *self, guint stage, const char *text);

G_END_DECLS
