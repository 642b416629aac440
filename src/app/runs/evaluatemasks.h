/* SPDX-License-Identifier: MIT */
/* Samples of an evaluation of masks: the worst, with their true and their predicted masks. */
#pragma once
#include "maskscores.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_MASK_WORST_OF_CLASS 8 /* samples of a class that have pictures */

/* Pictures of a sample, either NULL where it could not be drawn. */
typedef struct {
  GdkPixbuf *truth, *predicted;
} DynoMaskPair;

/* Draws the worst samples of the whole, and the worst of each of the first n_classes, at most pixels
 * a side: DynoMaskPair by index (GUINT_TO_POINTER).  Predicts them once more, in the predictor's
 * thread.  Errors: those of dyno_predictor_run. */
GHashTable *dyno_mask_pairs_draw (DynoPredictor *predictor, DynoDataset *dataset,
                                  const DynoMaskScores *scores, guint n_classes, guint pixels,
                                  GCancellable *cancellable, GError **error);
/* The samples with the lowest IoU of a class, which are those with pictures: DynoMaskScored, whose
 * iou is that of the class. */
GArray *dyno_mask_pairs_list_worst (const DynoMaskScores *scores, guint32 class_id);
/* Both pictures beside each other; pair NULL: nothing. */
GtkWidget *dyno_mask_pair_new (const DynoMaskPair *pair, int scale);

G_END_DECLS
