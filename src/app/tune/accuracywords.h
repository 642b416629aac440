/* SPDX-License-Identifier: MIT */
/* A search for the best model in words, translated.  Strings are to be freed unless they are
 * const. */
#pragma once
#include "accuracyview.h"

G_BEGIN_DECLS

/* The title of a choice: "AdamW", "0.99". */
char *dyno_accuracy_words_choice (const char *value);
const char *dyno_accuracy_words_state (DynoAccuracyState state);
/* The title of an axis or a column: "Accuracy (%)", "Mean error (°)". */
char *dyno_accuracy_words_metric (const DynoMetricInfo *metric);
/* A parameter's value: "0.02", "AdamW"; "–": it has no effect. */
char *dyno_accuracy_words_param (const DynoParamSpace *space, guint param,
                                 const DynoSettings *settings);
/* The parameters that differ from the job's own settings: "Learning rate 0.02, Optimizer AdamW";
 * "Your settings" where none differs. */
char *dyno_accuracy_words_settings (const DynoParamSpace *space, const DynoSettings *settings);
/* The same parameters with the values of the user's settings. */
char *dyno_accuracy_words_own (const DynoParamSpace *space, const DynoSettings *settings);
/* Describes a whole row in a sentence for screen readers and tooltips. */
char *dyno_accuracy_words_row (const DynoParamSpace *space, const DynoMetricInfo *metric,
                               const DynoAccuracyRow *row);

G_END_DECLS
