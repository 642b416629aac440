/* SPDX-License-Identifier: MIT */
/* Results of a cross-validation: the validation of each fold in its best epoch, the result of its
 * weights on the test part, and mean and deviation over the folds.  One thread at a time. */
#pragma once
#include "metrics.h"
#include "testresult.h"

G_BEGIN_DECLS

/* The parts of the data on which the folds have results. */
typedef enum { DYNO_FOLD_VALIDATION, DYNO_FOLD_TEST, DYNO_FOLD_N_PARTS } DynoFoldPart;

typedef struct {
  guint fold;    /* from 1 */
  guint64 epoch; /* the best epoch */
  /* on each part the loss, and the metrics of the table; NaN: the run does not have it */
  double values[DYNO_FOLD_N_PARTS][1 + DYNO_MAX_RUN_METRICS];
} DynoFoldResult;

typedef struct {
  DynoMetricTable metrics;
  guint n_parts;   /* DYNO_FOLD_N_PARTS where a fold has a test part, else 1 */
  GArray *results; /* DynoFoldResult, in the order of completion */
} DynoFoldTable;

DynoFoldTable *dyno_fold_table_new (void);
void dyno_fold_table_free (DynoFoldTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoFoldTable, dyno_fold_table_free)

/* Adds the result of a fold whose run has ended.  best_epoch: from 1; FALSE: its log has no such
 * epoch.  test: see DynoTestResult. */
gboolean dyno_fold_table_take (DynoFoldTable *table, guint fold, DynoMetrics *log,
                               guint64 best_epoch, const DynoTestResult *test);
/* "val_" or "test_": before the names of the part's values in files. */
const char *dyno_fold_part_get_prefix (DynoFoldPart part);

/* For value 0, the loss, or 1 + i, metric i: the mean over the folds, and the square root of the
 * unbiased variance; NaN where a fold has no value, and the deviation also with fewer than two
 * folds. */
void dyno_fold_table_get (const DynoFoldTable *table, DynoFoldPart part, guint value, double *mean,
                          double *deviation);

/* Writes a CSV file with a line for each fold: fold, epoch, val_loss, val_<metric>, and where there
 * is a test part test_loss, test_<metric>.  Errors: those
 * of dyno_file_write_atomic. */
gboolean dyno_fold_table_write (const DynoFoldTable *table, const char *path, GError **error);

G_END_DECLS
