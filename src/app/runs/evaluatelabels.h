/* SPDX-License-Identifier: MIT */
/* The part of an evaluation that only labels have: their figures, for which all samples are sorted
 * once for each label, and the wrong labels of the worst samples. */
#pragma once
#include "scores.h"
#include <gio/gio.h>

G_BEGIN_DECLS

/* Areas of a label; NaN where they are undefined (labelsums.h). */
typedef struct {
  double roc_auc, average_precision;
} DynoLabelAreas;

typedef struct {
  DynoLabelFigures figures;
  DynoLabelAreas *areas; /* one for each label */
  GHashTable *places;    /* of the worst samples: the place in DynoScores.samples by sample index */
} DynoLabelDetails;

/* To be called in the thread of the evaluation.  NULL: it was cancelled. */
DynoLabelDetails *dyno_label_details_new (const DynoScores *scores, GCancellable *cancellable);
void dyno_label_details_free (DynoLabelDetails *details); /* NULL: nothing */

/* How many labels of one of the worst samples are wrong, and which: those that were missed and
 * those that were wrongly predicted, a line each; g_free. */
char *dyno_label_details_describe (const DynoLabelDetails *details, const DynoScores *scores,
                                   const DynoWeightsInfo *info, const DynoScored *one);

G_END_DECLS
