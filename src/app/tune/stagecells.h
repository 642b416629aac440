/* SPDX-License-Identifier: MIT */
/* One cell for each stage of a search, with a sign, a title, and a value below them. */
#pragma once
#include "stageorder.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_STAGE_CELLS 4

typedef struct {
  GtkWidget *cells[DYNO_STAGE_CELLS], *titles[DYNO_STAGE_CELLS], *values[DYNO_STAGE_CELLS];
} DynoStageCells;

/* Fills the box with the cells; the box then owns the widgets. */
void dyno_stage_cells_init (DynoStageCells *self, GtkBox *box);
/* title: translated. */
void dyno_stage_cells_show (DynoStageCells *self, guint stage, DynoCheckState stand,
                            const char *title);
void dyno_stage_cells_set_value (DynoStageCells *self, guint stage, const char *text);

G_END_DECLS
