/* SPDX-License-Identifier: MIT */
/* Data sets of arrays: samples X with their targets y in one to three parts: training, validation
 * and test; with the functions of a DynoDatasetClass for them. */
#pragma once
#include "array.h"

G_BEGIN_DECLS

/* Adds the samples of a part; takes ownership of x, also on error.  The first part trains, the
 * second, if there is one, validates, the third tests.  Errors: UNSUPPORTED, TOO_LARGE, CORRUPT,
 * EMPTY. */
gboolean dyno_array_set_take (DynoDataset *dataset, DynoArray *x, const DynoOpenContext *context,
                              GError **error);
/* Like _take, for any number of parts without targets, and loads the part.  rests: its file is
 * closed between reads.  A part whose samples differ from the other parts' is left out. */
gboolean dyno_array_set_take_unlabelled (DynoDataset *dataset, DynoArray *x, gboolean rests,
                                         const DynoOpenContext *context, GError **error);
/* Adds the targets of the part that was added last; takes ownership of y, also on error.  Errors:
 * UNSUPPORTED, CORRUPT. */
gboolean dyno_array_set_learn (DynoDataset *dataset, DynoArray *y, GError **error);
/* To be called after all parts, of which at least one was taken: loads the targets and the samples.
 * targets: NULL: there are none; else the path of a .npy whose .names, where there are any, name
 * the values.  Errors: those of dyno_array_load; CORRUPT, TOO_LARGE, READ. */
gboolean dyno_array_set_finish (DynoDataset *dataset, const char *targets,
                                const DynoOpenContext *context, GError **error);

/* The functions of a DynoDatasetClass. */
void dyno_array_set_close (DynoDataset *dataset);
gboolean dyno_array_set_fetch (DynoDataset *dataset, guint64 index, GByteArray *scratch,
                               gsize *fetched, GError **error);
gboolean dyno_array_set_decode (DynoDataset *dataset, guint64 index, guint32 width, guint32 height,
                                gpointer const *fields, GByteArray *scratch, gsize fetched,
                                GError **error);
gboolean dyno_array_set_decode_at_once (DynoDataset *dataset, guint64 index,
                                        gpointer const *fields);
char *dyno_array_set_describe (DynoDataset *dataset, guint64 index);
gint32 dyno_array_set_label (DynoDataset *dataset, guint64 index);
const float *dyno_array_set_values (DynoDataset *dataset, guint64 index);
gboolean dyno_array_set_probe (DynoDataset *dataset, guint64 index, GError **error);
DynoPart dyno_array_set_part (DynoDataset *dataset, guint64 index);

G_END_DECLS
