/* SPDX-License-Identifier: MIT */
/* A search for the best validation as people look at it: a row a trial, and an axis a parameter, on
 * which each trial has a place from 0 to 1.  Values only; no widget and no drawing. */
#pragma once
#include "accuracy.h"
#include "axis.h"

G_BEGIN_DECLS

typedef enum {
  DYNO_ACCURACY_STATE_RUNNING,
  DYNO_ACCURACY_STATE_PROMISING, /* among the best third of its rung: it goes on, if there is time */
  DYNO_ACCURACY_STATE_HALVED, /* not among them: it is stopped, unless the rung fills with worse */
  DYNO_ACCURACY_STATE_WHOLE,  /* it has all epochs */
  DYNO_ACCURACY_STATE_DIVERGED,
  DYNO_ACCURACY_STATE_FAILED,   /* for another reason */
  DYNO_ACCURACY_STATE_FINALIST, /* compared on further seeds, as the job's own settings are */
  DYNO_ACCURACY_STATE_CHOSEN,   /* by the verdict */
} DynoAccuracyState;

typedef struct {
  guint trial;
  guint64 epochs; /* that are trained */
  double value;   /* best of the metric in them; NaN: none */
  DynoAccuracyState state;
  double
      goodness; /* 0..1: the share of the other trials that are worse; equal ones count half; NaN: no value */
  const DynoSettings *settings; /* of result or run */
} DynoAccuracyRow;

/* DynoAccuracyRow, by the numbers of the trials.  run: the one that goes on, or NULL.  The rows last as
 * long as both. */
GArray *dyno_accuracy_list_rows (const DynoAccuracyResult *result, const DynoAccuracyRun *run);

#define DYNO_ACCURACY_MOST_TICKS DYNO_AXIS_MAX_TICKS

typedef struct {
  double at; /* 0..1 */
  char label[32];
} DynoAccuracyTick;

typedef struct {
  const DynoParam *param; /* of the space; NULL: the metric's value, in percent of a fraction */
  guint n_ticks;          /* of a choice one for each, with its name */
  DynoAccuracyTick ticks[DYNO_ACCURACY_MOST_TICKS];
  gboolean has_none; /* a row has no place: the parameter has no effect there, or it has no value */
  /* private: of numbers */
  DynoAxis axis;
  gboolean has_zero; /* on a logarithm */
  gboolean turned;   /* low values are at 1: less is better, or it is a share that comes near 1 */
} DynoAccuracyAxis;

/* One for each parameter of the space, and the last for the value, on which the better of two is nearer
 * to 1: space->n + 1 of them; axes has room for DYNO_PARAMS_MOST + 1. */
void dyno_accuracy_fill_axes (DynoAccuracyAxis *axes, const DynoParamSpace *space,
                              const DynoMetricInfo *metric, const GArray *rows);

/* places: of a row on each of these axes; NaN: it has none. */
void dyno_accuracy_place_row (const DynoAccuracyAxis *axes, const DynoParamSpace *space,
                              const DynoMetricInfo *metric, const DynoAccuracyRow *row,
                              double *places);

/* "Learning rate": of a parameter; translated. */
const char *dyno_accuracy_get_title (const DynoParam *param);
/* "0.02", "adamw"; "": it has no effect.  g_free. */
char *dyno_accuracy_describe_param (const DynoParamSpace *space, guint param,
                                    const DynoSettings *settings);

G_END_DECLS
