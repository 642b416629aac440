/* SPDX-License-Identifier: MIT */
/* The cost of drawing a plot: plot-frame [POINTS [WIDTH HEIGHT]] draws a smoothed line of POINTS
 * points with the raw line below it, whole and zoomed, and prints the CPU time in milliseconds.
 * Run by hand. */
#include "draw.h"
#include "span.h"
#include <math.h>
#include <stdlib.h>
#include <time.h>

#define FRAMES 50

/* CPU time of this process only, without other load on the machine. */
static double
get_ms (void)
{
  struct timespec t;

  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double) t.tv_sec * 1e3 + (double) t.tv_nsec / 1e6;
}

static void
measure (const char *what, DynoPlot *plot, int width, int height)
{
  cairo_surface_t *surface = cairo_image_surface_create (CAIRO_FORMAT_RGB24, width, height);
  cairo_t *cr = cairo_create (surface);
  double least = INFINITY, sum = 0;

  for (guint i = 0; i < FRAMES; i++)
    {
      double begin = get_ms (), ms;

      plot->label_width = dyno_plot_label_width (plot, &dyno_plot_theme_light, width, height);
      dyno_plot_draw (cr, plot, &dyno_plot_theme_light, width, height, 1.0);
      cairo_surface_flush (surface);
      ms = get_ms () - begin;
      least = MIN (least, ms);
      sum += ms;
    }
  g_print ("%-24s %5d x %-5d  mean %6.2f ms  least %6.2f ms\n", what, width, height, sum / FRAMES,
           least);
  cairo_destroy (cr);
  cairo_surface_destroy (surface);
}

int
main (int argc, char **argv)
{
  guint64 n = argc > 1 ? g_ascii_strtoull (argv[1], NULL, 10) : 1000000;
  int width = argc > 3 ? atoi (argv[2]) : 900, height = argc > 3 ? atoi (argv[3]) : 260;
  g_autoptr (DynoSeries) loss = dyno_series_new ("Training", ""),
                         seconds = dyno_series_new ("Time", "s");
  DynoPlotLine line = { .series = loss, .mark_gaps = TRUE };
  DynoPlot plot = { .title = "Loss",
                    .x_label = "Step",
                    .y_label = "",
                    .lines = &line,
                    .n_lines = 1,
                    .robust = TRUE,
                    .smoothing = 0.8,
                    .x_whole = TRUE,
                    .y_limit = NAN,
                    .cursor_x = NAN };
  guint32 random = 1;

  for (guint64 i = 0; i < n; i++)
    {
      random = random * 1664525 + 1013904223;
      dyno_series_append (loss, (double) i,
                          0.1 + 2 * exp (-(double) i / (double) n * 8)
                              + 0.2 * ((double) random / G_MAXUINT32 - 0.5));
      dyno_series_append (seconds, (double) i, (double) i * 0.01);
    }
  measure ("whole", &plot, width, height);
  plot.cursor_x = (double) n / 3;
  measure ("with read-out", &plot, width, height);
  plot.x0 = (double) n * 0.4;
  plot.x1 = (double) n * 0.6;
  measure ("a fifth of it", &plot, width, height);
  plot.smoothing = 0;
  measure ("the same, not smoothed", &plot, width, height);
  plot.x1 = (double) n * 0.42;
  measure ("a fiftieth of it", &plot, width, height);
  plot.smoothing = 0.8;
  measure ("the same, smoothed", &plot, width, height);
  plot.x0 = plot.x1 = 0;
  line.x_map = seconds;
  plot.x_time = TRUE;
  measure ("over time", &plot, width, height);
  plot.y_log = TRUE;
  measure ("logarithmic", &plot, width, height);
  return 0;
}
