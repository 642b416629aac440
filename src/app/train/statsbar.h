/* SPDX-License-Identifier: MIT */
/* The numbers of a run, large: rate, step time, wait for data, epoch, time left, accuracy, loss,
 * memory. */
#pragma once
#include "runmonitor.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_STATS_BAR (dyno_stats_bar_get_type ())
G_DECLARE_FINAL_TYPE (DynoStatsBar, dyno_stats_bar, DYNO, STATS_BAR, GtkBox)

void dyno_stats_bar_show (DynoStatsBar *self, const DynoRunStatus *status);

G_END_DECLS
