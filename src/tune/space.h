/* SPDX-License-Identifier: MIT */
/* The space that the tuner searches: the rows of the table of settings that are tunable, with the
 * values that the table allows. */
#pragma once
#include "settings.h"

G_BEGIN_DECLS

/* The tunable settings in the table's order: the row after `before` (NULL: the first), or NULL. */
const DynoSettingInfo *dyno_space_next (const DynoSettingInfo *before);

/* The value after *value among those that may be tried, in their order; FALSE: it was the last.  A
 * value between two of them is followed by the next larger. */
gboolean dyno_space_step (const DynoSettingInfo *info, double *value);

/* Puts the base line into settings, what a first script does; all else stays. */
void dyno_space_set_baseline (DynoSettings *settings);

/* -1, 0, 1: whether a asks less of the machine than b, as much or more, by the first setting that
 * is tried by doubling and differs. */
int dyno_space_compare (const DynoSettings *a, const DynoSettings *b);

G_END_DECLS
