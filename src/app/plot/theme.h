/* SPDX-License-Identifier: MIT */
/* The plot theme that suits a widget: light or dark by the luminance of the GTK theme's background,
 * with its colours and font; with wide and dashed lines where it is of high contrast. */
#pragma once
#include "draw.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Valid until the next call from the main thread. */
const DynoPlotTheme *dyno_plot_theme_for_widget (GtkWidget *widget);
/* The light theme for files, with the widget's font. */
const DynoPlotTheme *dyno_plot_theme_for_files (GtkWidget *widget);

G_END_DECLS
