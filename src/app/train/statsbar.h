/* SPDX-License-Identifier: MIT */
/* The main numbers of a run: rate, step time, wait for data, epoch, time left, accuracy, loss,
 * memory. */
#pragma once
#include "runmonitor.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_STATS_BAR (dyno_stats_bar_get_type ())
G_DECLARE_FINAL_TYPE (DynoStatsBar, dyno_stats_bar, DYNO, STATS_BAR, GtkBox)

/* For a window as narrow as a telephone: limits each tile to the width of its words. */
void dyno_stats_bar_set_tight (DynoStatsBar *self, gboolean tight);
void dyno_stats_bar_show (DynoStatsBar *self, const DynoRunStatus *status);

G_END_DECLS
