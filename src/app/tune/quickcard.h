/* SPDX-License-Identifier: MIT */
/* The quick test (quick.h) in the window: its progress, then the measurements, with good and bad
 * signs.  It measures in a thread, which uses the device meanwhile. */
#pragma once
#include "quick.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_QUICK_CARD (dyno_quick_card_get_type ())
G_DECLARE_FINAL_TYPE (DynoQuickCard, dyno_quick_card, DYNO, QUICK_CARD, GtkBox)

/* Signals: "active-changed"; "failed" (GError).  device: index, -1: the best. */
void dyno_quick_card_start (DynoQuickCard *self, int device);
void dyno_quick_card_stop (DynoQuickCard *self);
/* TRUE from the start until the thread has ended. */
gboolean dyno_quick_card_is_active (DynoQuickCard *self);
/* Shows a result in place of the one before, as a test does at its end. */
void dyno_quick_card_show (DynoQuickCard *self, const DynoQuick *quick);

G_END_DECLS
