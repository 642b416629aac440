/* SPDX-License-Identifier: MIT */
/* The past searches of the history, newest first: the result of each, its settings for the next
 * run, its report.  Hidden while there are none. */
#pragma once
#include "store.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_SEARCH_CARD (dyno_search_card_get_type ())
G_DECLARE_FINAL_TYPE (DynoSearchCard, dyno_search_card, DYNO, SEARCH_CARD, GtkBox)

/* "failed" (const GError*): the history cannot be used; "report-failed" (const GError*): a report
 * cannot be shown.  "taken" (const DynoStoredSearch*): the user takes the best settings of the
 * search. */
GtkWidget *dyno_search_card_new (void);
/* Reads the history in a thread. */
void dyno_search_card_refresh (DynoSearchCard *self);
/* ready: whether settings can be taken now. */
void dyno_search_card_set_ready (DynoSearchCard *self, gboolean ready);

G_END_DECLS
