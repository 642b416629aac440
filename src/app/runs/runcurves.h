/* SPDX-License-Identifier: MIT */
/* The curves of past runs, read from their folders in a thread, one run at a time, the one that was
 * asked for last first; kept for those that are looked at. */
#pragma once
#include "series.h"
#include "store.h"
#include <gio/gio.h>

G_BEGIN_DECLS

#define DYNO_TYPE_RUN_CURVES (dyno_run_curves_get_type ())
G_DECLARE_FINAL_TYPE (DynoRunCurves, dyno_run_curves, DYNO, RUN_CURVES, GObject)

#define DYNO_SPARK_POINTS 64

typedef struct {
  guint n_spark;                  /* 0: no curve is known */
  float spark[DYNO_SPARK_POINTS]; /* the loss, smoothed, from its first step to its last */
  /* of a run that was asked for whole, else NULL; x in steps; for x axes seconds and epochs */
  DynoSeries *loss, *val_loss, *seconds, *epochs;
} DynoRunCurve;

/* Signal "read": another one was. */
DynoRunCurves *dyno_run_curves_new (void);
/* NULL: it is not read yet, which this asks for.  whole: with its series, under the run's title.
 * Valid until the next call that asks for another one, series until _forget. */
const DynoRunCurve *dyno_run_curves_get (DynoRunCurves *self, const DynoStoredRun *run,
                                         gboolean whole);
/* Series are freed; those that draw them have let go. */
void dyno_run_curves_forget (DynoRunCurves *self);

G_END_DECLS
