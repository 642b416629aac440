/* SPDX-License-Identifier: MIT */
/* How far the results of runs that repeat one training lie apart. */
#pragma once
#include "store.h"

G_BEGIN_DECLS

/* Mean and standard deviation (that of a sample, with n - 1) of the best metric, in a sentence;
 * NULL where the runs are fewer than two, differ in more than the fold and the seed, or have no
 * result of one metric each.  g_free. */
char *dyno_run_spread_describe (const DynoStoredRun *const *runs, guint n);

G_END_DECLS
