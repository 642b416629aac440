/* SPDX-License-Identifier: MIT */
/* The confusion matrix of an evaluation: a row for each true class, a column for each predicted
 * one, cells tinted by their share of the row.  A cell is chosen by a click, or with the arrow keys
 * and Return.  Emits chosen (truth, predicted: guint). */
#pragma once
#include "weightsinfo.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_CONFUSION_VIEW (dyno_confusion_view_get_type ())
G_DECLARE_FINAL_TYPE (DynoConfusionView, dyno_confusion_view, DYNO, CONFUSION_VIEW, GtkDrawingArea)

GtkWidget *dyno_confusion_view_new (void);
/* counts: [truth][predicted] of the info's classes, at least one; borrowed until the next call.
 * NULL: nothing is drawn.  of_pixels: counts are pixels, and are shown as percentages of their
 * row. */
void dyno_confusion_view_set_counts (DynoConfusionView *self, const guint64 *counts,
                                     const DynoWeightsInfo *info, gboolean of_pixels);
/* Removes the mark of the chosen cell. */
void dyno_confusion_view_unchoose (DynoConfusionView *self);

G_END_DECLS
