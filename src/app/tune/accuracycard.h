/* SPDX-License-Identifier: MIT */
/* The best trial of a search for the best model beside the user's settings; once the search has ended,
 * with the verdict and what may be done with it. */
#pragma once
#include "accuracyview.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_ACCURACY_CARD (dyno_accuracy_card_get_type ())
G_DECLARE_FINAL_TYPE (DynoAccuracyCard, dyno_accuracy_card, DYNO, ACCURACY_CARD, GtkBox)

/* Signal "report": the user asks for the report.  It is offered once there is a verdict. */
/* best: trial; -1: none so far, and the card is hidden. */
void dyno_accuracy_card_show (DynoAccuracyCard *self, const DynoParamSpace *space,
                              const DynoAccuracyResult *result, int best);
/* The gain stands above the settings, not beside them. */
void dyno_accuracy_card_set_narrow (DynoAccuracyCard *self, gboolean narrow);
/* The best is other than the user's settings: it may be used. */
gboolean dyno_accuracy_result_is_usable (const DynoAccuracyResult *result);

G_END_DECLS
