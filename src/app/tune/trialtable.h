/* SPDX-License-Identifier: MIT */
/* The rows of the list of trials, whose columns are in ui/speedpage.ui, in the order in which the
 * trials ended; rows are only removed all together. */
#pragma once
#include "tune.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Adds a row and scrolls to it.  All bars are shares of the fastest trial so far. */
void dyno_trial_table_add (GtkTreeView *list, const DynoTrial *trial);
/* Marks the rows that were measured with these settings; result has the same trials. */
void dyno_trial_table_mark (GtkTreeView *list, const DynoTuneResult *result,
                            const DynoSettings *chosen);
/* Whether both are equal in the settings that the tuner varies.  The learning rate is not compared:
 * the tuner only advises one. */
gboolean dyno_trial_is_like (const DynoSettings *a, const DynoSettings *b);

G_END_DECLS
