/* SPDX-License-Identifier: MIT */
/* Colours of plots.  Successive colours differ in lightness as well as in hue, so that people with
 * colour blindness can distinguish them; red is the colour of the limit. */
#include "draw.h"

const DynoPlotTheme dyno_plot_theme_light = {
  .background = { 1.0, 1.0, 1.0, 1.0 },
  .foreground = { 0.12, 0.13, 0.15, 1.0 },
  .grid = { 0.0, 0.0, 0.0, 0.09 },
  .muted = { 0.38, 0.40, 0.44, 1.0 },
  .lines = { { 0.11, 0.44, 0.85, 1.0 },
             { 0.88, 0.42, 0.00, 1.0 },
             { 0.00, 0.58, 0.42, 1.0 },
             { 0.52, 0.20, 0.62, 1.0 },
             { 0.76, 0.11, 0.16, 1.0 },
             { 0.45, 0.30, 0.10, 1.0 },
             { 0.25, 0.65, 0.90, 1.0 },
             { 0.45, 0.47, 0.50, 1.0 } },
  .font_size = 11.0,
  .font = "sans-serif",
};

const DynoPlotTheme dyno_plot_theme_dark = {
  .background = { 0.14, 0.14, 0.15, 1.0 },
  .foreground = { 0.95, 0.95, 0.96, 1.0 },
  .grid = { 1.0, 1.0, 1.0, 0.10 },
  .muted = { 0.68, 0.69, 0.72, 1.0 },
  .lines = { { 0.47, 0.73, 1.00, 1.0 },
             { 1.00, 0.66, 0.30, 1.0 },
             { 0.45, 0.85, 0.53, 1.0 },
             { 0.83, 0.60, 0.93, 1.0 },
             { 1.00, 0.50, 0.48, 1.0 },
             { 0.80, 0.67, 0.52, 1.0 },
             { 0.35, 0.83, 0.86, 1.0 },
             { 0.70, 0.72, 0.75, 1.0 } },
  .font_size = 11.0,
  .font = "sans-serif",
};
