/* SPDX-License-Identifier: MIT */
/* Results of a cross-validation: the validation of each fold in its best epoch, and mean and
 * deviation over the folds.  One thread at a time. */
#pragma once
#include "metrics.h"

G_BEGIN_DECLS

typedef struct {
  guint fold;                              /* from 1 */
  guint64 epoch;                           /* the best epoch */
  double values[1 + DYNO_MAX_RUN_METRICS]; /* the loss, and the metrics of the table; NaN: the run
                                              does not have it */
} DynoFoldResult;

typedef struct {
  DynoMetricTable metrics;
  GArray *results; /* DynoFoldResult, in the order of completion */
} DynoFoldTable;

DynoFoldTable *dyno_fold_table_new (void);
void dyno_fold_table_free (DynoFoldTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoFoldTable, dyno_fold_table_free)

/* Adds the result of a fold whose run has ended.  best_epoch: from 1; FALSE: its log has no such
 * epoch. */
gboolean dyno_fold_table_take (DynoFoldTable *table, guint fold, DynoMetrics *log,
                               guint64 best_epoch);

/* For value 0, the loss, or 1 + i, metric i: the mean over the folds, and the square root of the
 * unbiased variance; NaN where a fold has no value, and the deviation also with fewer than two
 * folds. */
void dyno_fold_table_get (const DynoFoldTable *table, guint value, double *mean, double *deviation);

/* Writes a CSV file with a line for each fold: fold, epoch, val_loss, val_<metric>.  Errors: those
 * of dyno_file_write_atomic. */
gboolean dyno_fold_table_write (const DynoFoldTable *table, const char *path, GError **error);

G_END_DECLS
