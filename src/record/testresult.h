/* SPDX-License-Identifier: MIT */
/* The result of a run on its test part, which no training and no validation has seen: measured
 * once, at the end of the run, with the weights that the run keeps as the best.  It is kept in the
 * run's folder as test.ini. */
#pragma once
#include "metrictable.h"

G_BEGIN_DECLS

#define DYNO_TEST_RESULT_NAME "test.ini"

typedef struct {
  guint64 n_samples; /* 0: nothing was measured, and the other members have no meaning */
  guint64 epoch;     /* the epoch whose weights were measured, from 1; 0: the last weights */
  guint64 step;      /* the updates of the run when it was measured */
  double loss;
  double metrics[DYNO_MAX_RUN_METRICS]; /* in the order of the run's table; NaN: undefined */
} DynoTestResult;

/* Writes the result into the folder, atomically.  Errors: DYNO_BASE_ERROR_DISK and _IO. */
gboolean dyno_test_result_write (const char *folder, const DynoMetricTable *table,
                                 const DynoTestResult *result, GError **error);
/* Reads the metrics of the table; others are NaN.  FALSE: there is no result that can be read, and
 * result has no samples. */
gboolean dyno_test_result_read (const char *folder, const DynoMetricTable *table,
                                DynoTestResult *result);

G_END_DECLS
