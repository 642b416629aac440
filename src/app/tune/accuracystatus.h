/* SPDX-License-Identifier: MIT */
/* How far a search for the best model is, in words and as stages. */
#pragma once
#include "accuracytune.h"
#include "stagecells.h"

G_BEGIN_DECLS

/* The present work: "Trial 3, epoch 2 of 9: 81.20 %"; NULL: the event says nothing of it.  g_free. */
char *dyno_accuracy_status_describe (const DynoAccuracyEvent *event);
/* "Trial 3: …": of a WARNING.  g_free. */
char *dyno_accuracy_status_describe_warning (const DynoAccuracyEvent *event);
/* The step that follows a run; translated. */
const char *dyno_accuracy_status_describe_next (const DynoAccuracyRun *run);
/* Your settings, search, final, verdict.  run: the one that goes on, or NULL. */
void dyno_accuracy_status_show_stages (DynoStageCells *cells, const DynoAccuracyResult *result,
                                       const DynoAccuracyRun *run);

G_END_DECLS
