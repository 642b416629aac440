/* SPDX-License-Identifier: MIT */
/* The targets of each record, from an array of targets: classes, values or labels, and whether
 * this decision is a guess.  Shared by data sets of arrays and of sequences. */
#pragma once
#include "array.h"

G_BEGIN_DECLS

typedef struct {
  guint64 n;        /* records */
  guint32 n_values; /* values or labels of a record; 0: it has a class */
  gint32 *classes;  /* (n) */
  float *values;    /* (n, n_values) */
  guint32 n_classes;
  gboolean one_hot; /* each record was a row with a single 1 */
  gboolean labels;  /* the values are labels: 1, 0 or NaN (schema.h) */
} DynoTargets;

/* Checks, only by its header, whether y can be the targets of n_records records; of: the name of
 * the samples, for messages.  Errors: UNSUPPORTED, CORRUPT. */
gboolean dyno_targets_check (const DynoArray *y, guint64 n_records, const char *of, GError **error);

/* Reads the targets of one more part, which _check has passed, into targets, zeroed before the
 * first, and adds their bytes to hash, which may be NULL.  Whole numbers are classes, floats are
 * values, rows with one 1 each are classes, other rows of whole numbers that are 0 or 1 are labels,
 * unless another task is requested.  Where labels are requested, NaN and -1 are labels that are not
 * known; a record without a known label is refused.  All parts are of one kind.  Errors: CORRUPT,
 * TOO_LARGE, UNSUPPORTED, READ, NO_MEMORY; those of dyno_array_load. */
gboolean dyno_targets_load (DynoTargets *targets, DynoArray *y, DynoTask asked, guint64 *hash,
                            const DynoOpenContext *context, GError **error);

/* To be called after all parts: names the data set's classes, where there are any, "0", "1", ...,
 * without their counts, and records the guess and its reason; shown: name of the targets. */
void dyno_targets_finish (const DynoTargets *targets, const char *shown, DynoTask asked,
                          DynoDatasetInfo *info);
void dyno_targets_clear (DynoTargets *targets);

G_END_DECLS
