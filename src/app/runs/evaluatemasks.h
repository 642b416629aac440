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

/* Draws the worst samples overall, and the worst of each of the first n_classes, at most `pixels` a
 * side.  Returns DynoMaskPair by sample index (GUINT_TO_POINTER).  The samples are predicted once
 * more; to be called in the predictor's thread.  Errors: those of dyno_predictor_run. */
GHashTable *dyno_mask_pairs_draw (DynoPredictor *predictor, DynoDataset *dataset,
                                  const DynoMaskScores *scores, guint n_classes, guint pixels,
                                  GCancellable *cancellable, GError **error);
/* The samples with the lowest IoU of a class (DynoMaskScored, with the IoU of this class): the same
 * ones that dyno_mask_pairs_draw draws. */
GArray *dyno_mask_pairs_list_worst (const DynoMaskScores *scores, guint32 class_id);
/* Both pictures beside each other; pair NULL: nothing. */
GtkWidget *dyno_mask_pair_new (const DynoMaskPair *pair, int scale);

G_END_DECLS
