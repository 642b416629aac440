/* SPDX-License-Identifier: MIT */
/* The rows of the list of trials, whose columns ui/tunepage.ui has: in the order in which the trials
 * ended; none is taken back but all together. */
#pragma once
#include "tune.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Scrolls there.  All bars are shares of the fastest so far. */
void dyno_trial_table_add (GtkTreeView *list, const DynoTrial *trial);
/* The rows that were measured with these settings; result: has the same trials. */
void dyno_trial_table_mark (GtkTreeView *list, const DynoTuneResult *result,
                            const DynoSettings *chosen);
/* By what the tuner chooses among; the learning rate of a choice is advised, not tried. */
gboolean dyno_trial_is_like (const DynoSettings *a, const DynoSettings *b);

G_END_DECLS
