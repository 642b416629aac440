/* SPDX-License-Identifier: MIT */
/* A card that compares the user's settings with the best trial of a search for the most accurate
 * model; once the search has ended, the card also has the verdict and buttons for the best settings
 * and the report. */
#pragma once
#include "accuracyview.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_ACCURACY_CARD (dyno_accuracy_card_get_type ())
G_DECLARE_FINAL_TYPE (DynoAccuracyCard, dyno_accuracy_card, DYNO, ACCURACY_CARD, GtkBox)

/* Signal "report": the user requests the report, which is offered once there is a verdict. */
/* best: index of the best trial; -1: none so far, which hides the card. */
void dyno_accuracy_card_show (DynoAccuracyCard *self, const DynoParamSpace *space,
                              const DynoAccuracyResult *result, int best);
/* Places the gain above the settings instead of beside them. */
void dyno_accuracy_card_set_narrow (DynoAccuracyCard *self, gboolean narrow);
/* Whether the best settings differ from the user's, so that they can be used. */
gboolean dyno_accuracy_result_is_usable (const DynoAccuracyResult *result);

G_END_DECLS
