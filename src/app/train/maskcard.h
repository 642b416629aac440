/* SPDX-License-Identifier: MIT */
/* A card with a few validation samples, each with its true mask beside the mask that the network
 * predicted after the last epoch.  It is shown for segmentation runs with a validation. */
#pragma once
#include "runmonitor.h"
#include "state.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_MASK_CARD (dyno_mask_card_get_type ())
G_DECLARE_FINAL_TYPE (DynoMaskCard, dyno_mask_card, DYNO, MASK_CARD, GtkBox)

void dyno_mask_card_set_run (DynoMaskCard *self, DynoRunMonitor *monitor);
/* state stores whether the card is unfolded; NULL: this is not stored. */
void dyno_mask_card_set_state (DynoMaskCard *self, DynoState *state);

G_END_DECLS
