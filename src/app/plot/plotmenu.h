/* SPDX-License-Identifier: MIT */
/* The context menu of a plot: copy as a picture, save, reset the zoom. */
#pragma once
#include "view.h"

G_BEGIN_DECLS

/* From now on the view has the menu; main thread. */
void dyno_plot_menu_attach (DynoPlotView *view);

G_END_DECLS
