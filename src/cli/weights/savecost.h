/* SPDX-License-Identifier: MIT */
/* Measures the loss of accuracy by int8 weights, compared with the original weights on the same
 * data. */
#pragma once
#include "cli.h"
#include "jsontext.h"
#include "maskscores.h"
#include "scores.h"

G_BEGIN_DECLS

typedef struct {
  DynoScores *fp32, *int8;
  char **names; /* names of values, with units; NULL: classes */
  /* for weights with a class for each pixel, instead of the scores above */
  DynoMaskScores *fp32_masks, *int8_masks;
} DynoSaveCost;

/* Measures both files on all samples of data (a DATA argument).  command: prefix of the predictors'
 * notes.  Errors: those of opening the data, dyno_predictor_new, dyno_scores_measure and
 * dyno_mask_scores_measure. */
gboolean dyno_save_cost_measure (DynoSaveCost *cost, const char *command, const char *fp32,
                                 const char *int8, const char *data, GError **error);
void dyno_save_cost_clear (DynoSaveCost *cost);

/* Prints a table: accuracy, or the mean absolute error of each value, and the loss; or mean IoU and
 * pixel accuracy.  A row with a loss of more than a point of accuracy or IoU, or with an error more
 * than a hundredth larger, is marked. */
void dyno_save_cost_print (const DynoSaveCost *cost);
/* Adds the members "fp32", "int8" and "cost" to the open object. */
void dyno_save_cost_print_json (const DynoSaveCost *cost, DynoJson *json);

G_END_DECLS
