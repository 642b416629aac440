/* SPDX-License-Identifier: MIT */
/* The cost of int8 weights, measured on data beside the weights that they were made from. */
#pragma once
#include "cli.h"
#include "jsontext.h"
#include "maskscores.h"
#include "scores.h"

G_BEGIN_DECLS

typedef struct {
  DynoScores *fp32, *int8;
  char **names; /* of values, with units; NULL: classes */
  /* of weights with a class for each pixel, in place of the scores above */
  DynoMaskScores *fp32_masks, *int8_masks;
} DynoSaveCost;

/* Measures both files on all of data (a DATA).  command: for the predictors' notes.  Errors: those
 * of opening the data, and of dyno_cli_measure. */
gboolean dyno_save_cost_measure (DynoSaveCost *cost, const char *command, const char *fp32,
                                 const char *int8, const char *data, GError **error);
void dyno_save_cost_clear (DynoSaveCost *cost);

/* Prints a table: accuracy, or the mean absolute error of each value, and the loss; or mean IoU and
 * pixel accuracy.  A row that loses more than a point of accuracy or IoU, or a hundredth of the error,
 * says so. */
void dyno_save_cost_print (const DynoSaveCost *cost);
/* Members "fp32", "int8" and "cost" of the object that is open. */
void dyno_save_cost_print_json (const DynoSaveCost *cost, DynoJson *json);

G_END_DECLS
