/* SPDX-License-Identifier: MIT */
/* Findings on the open data set beyond its facts: its division, and its likely faults (notes.c,
 * survey.c of the data layer), in sentences that name settings by their titles.
 *
 * Follows the setup.  The division is found anew with each change that it depends on; the samples
 * are compared once for each data set that is opened, and not while a run or a measurement is at
 * work, whose speed that would change.  Both happen in threads, whose results for an earlier data
 * set are dropped.  Signal: "changed".  Main thread only. */
#pragma once
#include "setup.h"

G_BEGIN_DECLS

#define DYNO_TYPE_DATA_INSPECTOR (dyno_data_inspector_get_type ())
G_DECLARE_FINAL_TYPE (DynoDataInspector, dyno_data_inspector, DYNO, DATA_INSPECTOR, GObject)

DynoDataInspector *dyno_data_inspector_new (DynoSetup *setup);

/* FALSE: not known yet, or there is no data set. */
gboolean dyno_data_inspector_get_split (DynoDataInspector *self, guint64 *n_train,
                                        guint64 *n_validation);
/* Sentences (char *) on what makes a training worse, and on what is done with the samples, as far
 * as they are known; owned by the inspector, until the next "changed". */
const GPtrArray *dyno_data_inspector_get_warnings (DynoDataInspector *self);
const GPtrArray *dyno_data_inspector_get_remarks (DynoDataInspector *self);
/* Whether more may become known, by itself. */
gboolean dyno_data_inspector_is_busy (DynoDataInspector *self);
/* Whether the samples were left uncompared since they are large. */
gboolean dyno_data_inspector_can_compare (DynoDataInspector *self);
/* Compares them, however large they are. */
void dyno_data_inspector_compare (DynoDataInspector *self);

G_END_DECLS
