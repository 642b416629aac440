/* SPDX-License-Identifier: MIT */
/* The balance of classes: a tiny chart with one column per class, or per label. */
#pragma once
#include "dataset.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_BALANCE_BAR (dyno_balance_bar_get_type ())
G_DECLARE_FINAL_TYPE (DynoBalanceBar, dyno_balance_bar, DYNO, BALANCE_BAR, GtkDrawingArea)

/* copied; NULL empties */
void dyno_balance_bar_set_info (DynoBalanceBar *self, const DynoDatasetInfo *info);

G_END_DECLS
