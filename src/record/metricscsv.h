/* SPDX-License-Identifier: MIT */
/* metrics.csv.  Private to the layers up to train.
 *
 * A line per step; the columns of an epoch are empty except in the row of its last step.  For each
 * metric of the table there are three columns: its name (of the step's batch), train_<name> and
 * val_<name> (of the epoch).  NaN and infinite values are written as nan, inf or -inf.  The same
 * bytes in any locale. */
#pragma once
#include "metrics.h"

G_BEGIN_DECLS

/* Appends the head line. */
void dyno_metrics_csv_append_head (GString *text, const DynoMetricTable *table);

/* Appends one line; epoch may be NULL. */
void dyno_metrics_csv_append (GString *text, const DynoMetricTable *table,
                              const DynoStepMetrics *step, const DynoEpochMetrics *epoch);

/* Reading a file back, by the names of its columns: unknown ones are ignored, missing ones are NaN
 * (numbers) or 0 (counts). */
typedef struct _DynoMetricsCsv DynoMetricsCsv;

/* head: the first line, without the newline.  NULL: the file is no metrics.csv. */
DynoMetricsCsv *dyno_metrics_csv_new (const char *head, const DynoMetricTable *table);
void dyno_metrics_csv_free (DynoMetricsCsv *csv);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoMetricsCsv, dyno_metrics_csv_free)

/* Parses a line, without the newline.  FALSE: it is incomplete or not valid.  Numbers have only the
 * digits that were written. */
gboolean dyno_metrics_csv_parse (const DynoMetricsCsv *csv, const char *line, DynoStepMetrics *step,
                                 DynoEpochMetrics *epoch, gboolean *has_epoch);

G_END_DECLS
