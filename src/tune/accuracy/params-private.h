/* SPDX-License-Identifier: MIT */
/* Shared by params.c and paramchoice.c. */
#pragma once
#include "params.h"

G_BEGIN_DECLS

/* A parameter that is searched unless others are chosen; choices: with commas between, or NULL. */
typedef struct {
  const char *key;
  DynoParamKind kind;
  double low, high;
  const char *choices;
} DynoParamRow;

const DynoParamRow *dyno_param_find_row (const char *key); /* NULL: there is none */
/* FALSE: it has no effect with this model and data set, or they do not accept it. */
gboolean dyno_param_is_searched (const DynoParamSpace *space, const DynoParamRow *row,
                                 const DynoJob *job, const DynoDatasetInfo *info);
/* The parameter of a row, with its usual range or choices. */
DynoParam dyno_param_make (const DynoParamRow *row, const DynoSettings *own);
/* Fills the choices, and adds the job's own value where it is not among them. */
void dyno_param_fill_choices (DynoParam *param, const char *const *names, const DynoSettings *own);
void dyno_param_add (DynoParamSpace *space, const DynoParam *param);
/* The learning rate at factor 1 with an optimizer. */
double dyno_param_base_rate (const DynoParamSpace *space, gint optimizer);

G_END_DECLS
