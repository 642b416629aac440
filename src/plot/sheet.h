/* SPDX-License-Identifier: MIT */
/* Sheets of small pictures in rows, each with a caption: the inputs of a network.  Drawn with
 * Cairo, into a window as well as into a file. */
#pragma once
#include "curves-module.h"
#include <cairo.h>

G_BEGIN_DECLS

/* The size of a sheet of n tiles, in user-space units. */
void dyno_sheet_measure (guint n, gboolean titled, double *width, double *height);

/* Draws into (0, 0, width, height) as measured; each tile is scaled to fit its square, small ones
 * without smoothing. */
void dyno_sheet_draw (cairo_t *cr, const char *title, const DynoSheetTile *tiles, guint n);

/* Writes the sheet as PNG, with two pixels per unit.  Errors: G_FILE_ERROR; base's IO, DISK. */
gboolean dyno_sheet_write (const char *title, const DynoSheetTile *tiles, guint n, const char *path,
                           GError **error);

G_END_DECLS
