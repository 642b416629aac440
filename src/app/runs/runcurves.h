/* SPDX-License-Identifier: MIT */
/* The curves of past runs, read from their folders in a thread, one run at a time, the latest
 * request first, and kept for the runs that are shown. */
#pragma once
#include "metric.h"
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
  /* NULL unless the run was requested with `whole`.  All are over steps; seconds and epochs map
   * steps to the other x axes.  metric and val_metric: of `info`, fractions in percent; rate:
   * samples per second; memory: of the device, in MiB. */
  DynoSeries *loss, *val_loss, *metric, *val_metric, *rate, *memory, *seconds, *epochs;
  DynoMetricInfo info; /* the metric that selects the best epoch, or the first; name NULL: none */
} DynoRunCurve;

/* Signal "read": a further curve was read. */
DynoRunCurves *dyno_run_curves_new (void);
/* Returns NULL while the curve is not read; the call then requests it.  whole: with the series,
 * which are labelled with the run's title.  The result is valid until the main loop goes on,
 * its series until _forget. */
const DynoRunCurve *dyno_run_curves_get (DynoRunCurves *self, const DynoStoredRun *run,
                                         gboolean whole);
/* Reads the series of a run in progress anew, if the run has them and its log has grown; "read" is
 * emitted then, after which the former series may be freed. */
void dyno_run_curves_follow (DynoRunCurves *self, const DynoStoredRun *run);
/* Frees the series; no plot may draw them any more. */
void dyno_run_curves_forget (DynoRunCurves *self);

G_END_DECLS
