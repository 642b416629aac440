/* SPDX-License-Identifier: MIT */
/* Names and units of the values to predict, or names of labels, from a text file beside them:
 * y.names beside y.npy.
 *
 * There is a line per value, in the order of the values: its name, and its unit in parentheses
 * where it has one: "yaw (degrees)"; a line of a label is its name as a whole.  Empty lines, and
 * lines that begin with #, are left out. */
#pragma once
#include "dataset.h"

G_BEGIN_DECLS

/* Fills in target_names and target_units of an info, of n_values values, where there is such a file
 * beside `targets`; a missing file is no error.  Errors: CORRUPT (the number of lines is not the
 * number of values, or a name is empty, repeated or no text), TOO_LARGE, READ. */
gboolean dyno_target_names_load (DynoDatasetInfo *info, guint32 n_values, const char *targets,
                                 GError **error);

/* The same for labels: the names of the n_classes classes of an info, which has names already. */
gboolean dyno_target_names_load_labels (DynoDatasetInfo *info, const char *targets, GError **error);

/* Takes the names of n values from a file, "yaw (degrees)" each; no names are set where one cannot
 * be shown or two are equal. */
void dyno_target_names_take (DynoDatasetInfo *info, const char *const *names, guint32 n);

G_END_DECLS
