/* SPDX-License-Identifier: MIT */
/* The lines of a learning-rate range test as it is drawn: its losses, and the smoothed losses, over
 * the learning rate.  No widget. */
#pragma once
#include "lrcurve.h"
#include "series.h"

G_BEGIN_DECLS

typedef struct {
  DynoSeries *loss, *smoothed;
} DynoLrLines;

void dyno_lr_lines_init (DynoLrLines *lines);
void dyno_lr_lines_clear (DynoLrLines *lines);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (DynoLrLines, dyno_lr_lines_clear)

/* Appends the points (DynoLrPoint) that the lines do not have yet. */
void dyno_lr_lines_take (DynoLrLines *lines, const GArray *points);

G_END_DECLS
