/* SPDX-License-Identifier: MIT */
/* The series of a run and of sensors, drawn in the terminal. */
#pragma once
#include "watchframe.h"

G_BEGIN_DECLS

#define DYNO_WATCH_PLOT_LEAST 3 /* lines that a plot needs, with its title */

/* Adds as many plots as there is room for, side by side on wide terminals. */
void dyno_watch_add_plots (const DynoWatchView *view, guint height, GPtrArray *lines);

G_END_DECLS
