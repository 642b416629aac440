/* SPDX-License-Identifier: MIT */
/* A search for the best validation for display: a row for each trial, and an axis for each
 * parameter, on which each trial has a position from 0 to 1.  Values only; no widget and no
 * drawing. */
#pragma once
#include "accuracy.h"
#include "axis.h"

G_BEGIN_DECLS

typedef enum {
  DYNO_ACCURACY_STATE_RUNNING,
  DYNO_ACCURACY_STATE_PROMISING, /* among the best third of its rung: promoted if time allows */
  DYNO_ACCURACY_STATE_HALVED,    /* not among them: stopped, unless worse trials reach its rung */
  DYNO_ACCURACY_STATE_WHOLE,     /* it has trained all epochs */
  DYNO_ACCURACY_STATE_DIVERGED,
  DYNO_ACCURACY_STATE_FAILED,   /* failed for another reason */
  DYNO_ACCURACY_STATE_FINALIST, /* compared on further seeds, as the job's own settings are */
  DYNO_ACCURACY_STATE_CHOSEN,   /* chosen by the verdict */
} DynoAccuracyState;

typedef struct {
  guint trial;
  guint64 epochs; /* epochs that are trained */
  double value;   /* best value of the metric in these epochs; NaN: none */
  DynoAccuracyState state;
  double
      goodness; /* 0..1: share of the other trials that are worse, equal ones half; NaN: no value */
  const DynoSettings *settings; /* owned by the result or the run */
} DynoAccuracyRow;

/* The rows (DynoAccuracyRow) in the order of the trials, those of new trials that are trained now
 * last.  The rows are valid as long as the result. */
GArray *dyno_accuracy_list_rows (const DynoAccuracyResult *result);

/* The rank of a row (DynoAccuracyRow) by its value: 0 for the best.  Equal rows have ranks in their
 * order, and rows without a value come last: each rank has exactly one row. */
guint dyno_accuracy_get_rank (const GArray *rows, guint row);
/* The row of a rank; -1: there is none. */
int dyno_accuracy_find_rank (const GArray *rows, guint rank);

#define DYNO_ACCURACY_MOST_TICKS DYNO_AXIS_MAX_TICKS

typedef struct {
  double at; /* 0..1 */
  char label[32];
} DynoAccuracyTick;

typedef struct {
  const DynoParam *param; /* of the space; NULL: the metric's value, in percent for a fraction */
  guint n_ticks;          /* for a choice parameter: one for each choice, with its name */
  DynoAccuracyTick ticks[DYNO_ACCURACY_MOST_TICKS];
  gboolean has_none; /* a row has no position: the parameter has no effect there, or no value */
  /* private, for axes of numbers */
  DynoAxis axis;
  gboolean has_zero; /* 0 has a position of its own below the logarithmic range */
  gboolean turned;   /* low values are at 1: less is better, or the value is a share near 1 */
} DynoAccuracyAxis;

/* Fills space->n + 1 axes: one for each parameter of the space, and one for the metric's value, on
 * which better values are nearer to 1.  axes has room for DYNO_PARAMS_MOST + 1. */
void dyno_accuracy_fill_axes (DynoAccuracyAxis *axes, const DynoParamSpace *space,
                              const DynoMetricInfo *metric, const GArray *rows);

/* places: the position of the row on each axis; NaN: none. */
void dyno_accuracy_place_row (const DynoAccuracyAxis *axes, const DynoParamSpace *space,
                              const DynoMetricInfo *metric, const DynoAccuracyRow *row,
                              double *places);

/* The title of a parameter, translated: "Learning rate". */
const char *dyno_accuracy_get_title (const DynoParam *param);
/* The parameter's value in words: "0.02", "adamw"; "": it has no effect.  g_free. */
char *dyno_accuracy_describe_param (const DynoParamSpace *space, guint param,
                                    const DynoSettings *settings);

G_END_DECLS
