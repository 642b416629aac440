/* SPDX-License-Identifier: MIT */
/* Scores of predicted masks where the truth is known: the number of pixels for each pair of true
 * and predicted class, from which accuracy, IoU and Dice follow; and the samples with the lowest
 * mean IoU. */
#pragma once
#include "predictor.h"
#include "truthsums.h"

G_BEGIN_DECLS

typedef struct {
  guint64 index; /* index of the sample in the data set */
  double iou; /* mean over the classes in the sample's mask or prediction; NaN: no pixel counts */
  double accuracy; /* share of the counted pixels that are right; NaN: none counts */
  guint64 n_ignored;
} DynoMaskScored;

typedef struct {
  guint32 n_outputs, width, height; /* of the masks */
  guint64 n_samples, n_unreadable;
  guint64 n_ignored;      /* pixels that do not count */
  guint64 *confusion;     /* [truth][predicted] */
  DynoClassCounts counts; /* row and column sums of confusion, and its diagonal */
  GArray *samples;        /* DynoMaskScored: all that could be read, in the order of processing */
  double *ious;  /* n_outputs per sample: NaN where a class is neither in the mask nor predicted */
  GArray *worst; /* DynoMaskScored, the worst first */
} DynoMaskScores;

/* Scores the samples that indices (guint32) names, NULL: all; keeps the n_worst worst samples.  The
 * predictor's weights must be of_pixels.  A mask is scaled to the size of the prediction by nearest
 * pixels.  n_done (may be NULL): the number of processed samples, which other threads may read by
 * g_atomic_int_get.  Blocks the predictor's thread; any thread may cancel it.  Errors: those of
 * dyno_scores_match_classes and dyno_predictor_run; DATA: the data have no masks. */
DynoMaskScores *dyno_mask_scores_measure (DynoPredictor *predictor, DynoDataset *dataset,
                                          const GArray *indices, guint n_worst, int *n_done,
                                          GCancellable *cancellable, GError **error);
void dyno_mask_scores_free (DynoMaskScores *scores);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoMaskScores, dyno_mask_scores_free)

/* Share of the counted pixels whose class is right; NaN: none counts. */
double dyno_mask_scores_get_accuracy (const DynoMaskScores *scores);

/* Writes a CSV file with a line for each sample that could be read: sample, index, mean IoU, pixel
 * accuracy, pixels that do not count, and the IoU of each class.  dataset: that of the scores.
 * Errors: those of dyno_file_write_atomic. */
gboolean dyno_mask_scores_write_table (const DynoMaskScores *scores, const DynoWeightsInfo *info,
                                       DynoDataset *dataset, const char *path, GError **error);

G_END_DECLS
