/* SPDX-License-Identifier: MIT */
/* The progress of a search for the best model, in words and as stages. */
#pragma once
#include "accuracytune.h"
#include "stagecells.h"

G_BEGIN_DECLS

/* The present work: "Trial 3, epoch 2 of 9: 81.20 %"; NULL: the event does not concern it.
 * g_free. */
char *dyno_accuracy_status_describe (const DynoAccuracyEvent *event);
/* The text of a WARNING event: "Trial 3: …".  g_free. */
char *dyno_accuracy_status_describe_warning (const DynoAccuracyEvent *event);
/* Describes the step that follows a run; translated. */
const char *dyno_accuracy_status_describe_next (const DynoAccuracyRun *run);
/* Shows the stages: your settings, search, final, verdict. */
void dyno_accuracy_status_show_stages (DynoStageCells *cells, const DynoAccuracyResult *result);

G_END_DECLS
