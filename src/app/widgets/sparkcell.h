/* SPDX-License-Identifier: MIT */
/* A cell of a list with a small curve in it. */
#pragma once
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_SPARK_CELL (dyno_spark_cell_get_type ())
G_DECLARE_FINAL_TYPE (DynoSparkCell, dyno_spark_cell, DYNO, SPARK_CELL, GtkCellRenderer)

GtkCellRenderer *dyno_spark_cell_new (void);
/* Sets the values that are drawn until the next call; they stay the caller's.  n 0: nothing is
 * drawn. */
void dyno_spark_cell_set_values (DynoSparkCell *self, const float *values, guint n);

G_END_DECLS
