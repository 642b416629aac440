/* SPDX-License-Identifier: MIT */
/* The output of predict and evaluate for weights with a class for each pixel. */
#pragma once
#include "maskscores.h"
#include "maskwriter.h"

G_BEGIN_DECLS

/* Prints scores as text, or as one JSON object. */
void dyno_mask_scores_print (const DynoMaskScores *scores, const DynoWeightsInfo *info,
                             DynoDataset *dataset, const char *part, double seconds, gboolean json);

G_END_DECLS
