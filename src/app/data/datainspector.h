/* SPDX-License-Identifier: MIT */
/* The inspector of the open data set: how it is divided into training and validation, and its
 * likely faults (notes.c, survey.c of the data layer), in sentences that name settings by their
 * titles.
 *
 * The inspector follows the setup.  The division is computed anew at each change that it depends
 * on; the samples are compared once for each data set that is opened, but not during a run or a
 * measurement, which the comparison would slow down.  Both run in threads; results for an earlier
 * data set are dropped.  Signal: "changed".  Main thread only. */
#pragma once
#include "setup.h"
#include "survey.h"

G_BEGIN_DECLS

#define DYNO_TYPE_DATA_INSPECTOR (dyno_data_inspector_get_type ())
G_DECLARE_FINAL_TYPE (DynoDataInspector, dyno_data_inspector, DYNO, DATA_INSPECTOR, GObject)

DynoDataInspector *dyno_data_inspector_new (DynoSetup *setup);

/* Returns FALSE while the division is not known, or where there is no data set. */
gboolean dyno_data_inspector_get_split (DynoDataInspector *self, guint64 *n_train,
                                        guint64 *n_validation, guint64 *n_test);
/* The sentences (char *) known so far: warnings name what makes the training worse, remarks what is
 * done with the samples.  Owned by the inspector; valid until the next "changed". */
const GPtrArray *dyno_data_inspector_get_warnings (DynoDataInspector *self);
const GPtrArray *dyno_data_inspector_get_remarks (DynoDataInspector *self);
/* Whether a thread is at work that may add sentences. */
gboolean dyno_data_inspector_is_busy (DynoDataInspector *self);
/* Whether the samples were not compared because they are large; _compare can then be called. */
gboolean dyno_data_inspector_can_compare (DynoDataInspector *self);
/* Compares the samples, however large they are. */
void dyno_data_inspector_compare (DynoDataInspector *self);
/* Takes the result of a comparison of the open data set, as from its thread: the survey, which the
 * inspector owns from then on, or NULL and an error. */
void dyno_data_inspector_take_survey (DynoDataInspector *self, DynoSurvey *survey,
                                      const GError *error);

G_END_DECLS
