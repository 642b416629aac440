/* SPDX-License-Identifier: MIT */
/* The targets of each record, out of an array of targets: classes or values, and what of
 * it is a guess.  Data sets of arrays and of sequences share it. */
#pragma once
#include "array.h"

G_BEGIN_DECLS

typedef struct {
  guint64 n;        /* records */
  guint32 n_values; /* of a record; 0: it has a class */
  gint32 *classes;  /* (n) */
  float *values;    /* (n, n_values) */
  guint32 n_classes;
  gboolean one_hot; /* each record was a row with one 1 */
} DynoTargets;

/* Whether an array can be the targets of n_records records of `of`, by its header alone.  Errors:
 * UNSUPPORTED, CORRUPT. */
gboolean dyno_targets_check (const DynoArray *y, guint64 n_records, const char *of, GError **error);

/* Reads the targets of one more part, which _check has passed, into targets, zeroed before the
 * first, and adds their bytes to hash, which may be NULL.  Whole numbers are classes, floats are
 * values, rows with one 1 each are classes, unless what was asked for says otherwise; all parts are of one kind.
 * Errors: CORRUPT, TOO_LARGE, UNSUPPORTED, READ, NO_MEMORY; those of dyno_array_load. */
gboolean dyno_targets_load (DynoTargets *targets, DynoArray *y, DynoTask asked, guint64 *hash,
                            const DynoOpenContext *context, GError **error);

/* After all parts: names the data set's classes, where there are any, not their counts, and says what
 * was guessed and why; shown: name of the targets. */
void dyno_targets_finish (const DynoTargets *targets, const char *shown, DynoTask asked,
                          DynoDatasetInfo *info);
void dyno_targets_clear (DynoTargets *targets);

G_END_DECLS
