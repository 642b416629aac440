/* SPDX-License-Identifier: MIT */
/* What int8 weights cost, measured on data beside the weights that they were made of. */
#pragma once
#include "cli.h"
#include "jsontext.h"
#include "scores.h"

G_BEGIN_DECLS

typedef struct {
  DynoScores *fp32, *int8;
  char **names; /* of values, with units; NULL: classes */
} DynoSaveCost;

/* Both files on all of data (a DATA).  command: for what the predictors note.  Errors: those of
 * opening it, and of dyno_cli_measure. */
gboolean dyno_save_cost_measure (DynoSaveCost *cost, const char *command, const char *fp32,
                                 const char *int8, const char *data, GError **error);
void dyno_save_cost_clear (DynoSaveCost *cost);

/* A table: accuracy, or the mean absolute error of each value; loss.  A row that costs more than a
 * point, of accuracy or a hundredth of the error, says so. */
void dyno_save_cost_print (const DynoSaveCost *cost);
/* Members "fp32", "int8" and "cost" of the object that is open. */
void dyno_save_cost_print_json (const DynoSaveCost *cost, DynoJson *json);

G_END_DECLS
