/* SPDX-License-Identifier: MIT */
/* Names and units of the values to predict, from a text file beside them: y.names beside y.npy.
 *
 * A line per value, in their order: its name, and its unit in parentheses where it has one:
 * "yaw (degrees)".  Empty lines, and those that begin with #, are left out. */
#pragma once
#include "dataset.h"

G_BEGIN_DECLS

/* Fills in target_names and target_units of an info, of n_values values, where there is such a
 * file beside `targets`; none is no error.  Errors: CORRUPT (not as many lines as values, a name
 * that is empty, twice there or no text), TOO_LARGE, READ. */
gboolean dyno_target_names_load (DynoDatasetInfo *info, guint32 n_values, const char *targets,
                                 GError **error);

/* Names of n values that a file has given, "yaw (degrees)" each; left out where they cannot be
 * shown or are not different. */
void dyno_target_names_take (DynoDatasetInfo *info, const char *const *names, guint32 n);

G_END_DECLS
