/* SPDX-License-Identifier: MIT */
/* Writes plots into files: PNG, SVG and PDF by Cairo's surfaces, and the values as CSV.  The
 * contents are made in memory, and then replace the file atomically. */
#include "csvcell.h"
#include "draw.h"
#include "file.h"
#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <math.h>

static cairo_status_t
collect (void *closure, const unsigned char *data, unsigned int length)
{
  g_byte_array_append (closure, data, length);
  return CAIRO_STATUS_SUCCESS;
}

gboolean
dyno_plot_write (const DynoPlot *plots, guint n_plots, const DynoPlotTheme *theme, double width,
                 double height, double scale, const char *path, GError **error)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  g_autofree char *lower = g_ascii_strdown (path, -1);
  gboolean png = g_str_has_suffix (lower, ".png");
  double total = 0, labels = 0, top = 0;
  cairo_surface_t *surface;
  cairo_status_t status;
  cairo_t *cr;

  for (guint i = 0; i < n_plots; i++)
    total += height + dyno_plot_names_height (&plots[i], theme, width);
  if (png)
    surface = cairo_image_surface_create (CAIRO_FORMAT_RGB24, (int) ceil (width * scale),
                                          (int) ceil (total * scale));
  else if (g_str_has_suffix (lower, ".svg"))
    surface = cairo_svg_surface_create_for_stream (collect, bytes, width, total);
  else if (g_str_has_suffix (lower, ".pdf"))
    surface = cairo_pdf_surface_create_for_stream (collect, bytes, width, total);
  else
    {
      g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
                   "Cannot write “%s”: a plot is saved as .png, .svg or .pdf; choose a name with "
                   "one of these endings",
                   path);
      return FALSE;
    }

  for (guint i = 0; i < n_plots; i++)
    labels = MAX (labels, dyno_plot_label_width (&plots[i], theme, width, height));
  cr = cairo_create (surface);
  if (png)
    cairo_scale (cr, scale, scale);
  for (guint i = 0; i < n_plots; i++)
    {
      DynoPlot plot = plots[i];
      double tall = height + dyno_plot_names_height (&plot, theme, width);
      plot.label_width = labels;
      cairo_save (cr);
      cairo_translate (cr, 0.0, top);
      cairo_rectangle (cr, 0.0, 0.0, width, tall);
      cairo_clip (cr);
      dyno_plot_draw (cr, &plot, theme, width, tall, png ? scale : 1.0);
      cairo_restore (cr);
      top += tall;
    }
  if (png)
    cairo_surface_write_to_png_stream (surface, collect, bytes);
  status = cairo_status (cr);
  cairo_destroy (cr);
  cairo_surface_finish (surface);
  if (status == CAIRO_STATUS_SUCCESS)
    status = cairo_surface_status (surface);
  cairo_surface_destroy (surface);
  if (status != CAIRO_STATUS_SUCCESS)
    {
      g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_FAILED, "Cannot draw “%s”: %s", path,
                   cairo_status_to_string (status));
      return FALSE;
    }
  return dyno_file_write_atomic (path, bytes->data, bytes->len, error);
}

static void
append_number (GString *text, double value)
{
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];

  if (isfinite (value))
    g_string_append (text, g_ascii_formatd (buffer, sizeof buffer, "%.9g", value));
}

gboolean
dyno_plot_write_csv (const DynoPlot *plots, guint n_plots, const char *path, GError **error)
{
  g_autoptr (GString) text = g_string_new ("x");
  g_autoptr (GPtrArray) series = g_ptr_array_new ();
  g_autofree guint64 *next = NULL;

  for (guint i = 0; i < n_plots; i++)
    for (guint j = 0; j < plots[i].n_lines; j++)
      {
        DynoSeries *s = plots[i].lines[j].series;
        const char *unit = dyno_series_get_unit (s);
        g_autofree char *name =
            g_strconcat (dyno_plot_line_name (&plots[i].lines[j]), unit && *unit ? " (" : "",
                         unit ? unit : "", unit && *unit ? ")" : "", NULL);
        g_ptr_array_add (series, s);
        dyno_csv_add_cell (text, name);
      }
  g_string_append_c (text, '\n');

  /* The x of all series are rising: there is one row for each x that occurs in any of them. */
  next = g_new0 (guint64, series->len);
  for (;;)
    {
      double x = INFINITY;
      for (guint i = 0; i < series->len; i++)
        {
          double px, py;
          if (next[i] == dyno_series_get_length (series->pdata[i]))
            continue;
          dyno_series_get (series->pdata[i], next[i], &px, &py);
          x = MIN (x, px);
        }
      if (!isfinite (x))
        break;
      append_number (text, x);
      for (guint i = 0; i < series->len; i++)
        {
          double px, py = NAN;
          gboolean here = FALSE;
          if (next[i] < dyno_series_get_length (series->pdata[i]))
            {
              dyno_series_get (series->pdata[i], next[i], &px, &py);
              here = px == x;
            }
          g_string_append_c (text, ',');
          if (here)
            {
              append_number (text, py);
              next[i]++;
            }
        }
      g_string_append_c (text, '\n');
    }
  return dyno_file_write_atomic (path, text->str, text->len, error);
}
