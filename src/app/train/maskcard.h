/* SPDX-License-Identifier: MIT */
/* A card with a few samples of the validation, the true mask beside the one that the network had
 * after the last epoch.  It is shown for runs of models with a class for each pixel that validate. */
#pragma once
#include "runmonitor.h"
#include "state.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_MASK_CARD (dyno_mask_card_get_type ())
G_DECLARE_FINAL_TYPE (DynoMaskCard, dyno_mask_card, DYNO, MASK_CARD, GtkBox)

void dyno_mask_card_set_run (DynoMaskCard *self, DynoRunMonitor *monitor);
/* Whether it is unfolded is loaded from state, which also keeps changes; NULL: neither. */
void dyno_mask_card_set_state (DynoMaskCard *self, DynoState *state);

G_END_DECLS
