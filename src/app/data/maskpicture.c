/* SPDX-License-Identifier: MIT */
#include "maskpicture.h"
#include "palette.h"
#include "schema.h"

#define SWATCH 12  /* pixels */
#define SHARE  140 /* weight of the class's colour, of 256 */
#define LINES  10  /* lines of a hatch along the longer side */

/* The picture keeps its brightness but loses its colour, so that a covered pixel has the hue of its
 * class on any picture. */
static void
mix (guchar *pixel, const guint8 rgb[3])
{
  guint grey = (77u * pixel[0] + 150u * pixel[1] + 29u * pixel[2]) >> 8;
  for (guint k = 0; k < 3; k++)
    pixel[k] = (guchar) ((grey * (256 - SHARE) + (guint) rgb[k] * SHARE) >> 8);
}

/* The lines are light and dark, so that the hatch is visible on any picture. */
static void
hatch (guchar *pixel, guint at, guint period)
{
  static const guint8 light[3] = { 255, 255, 255 }, dark[3] = { 0, 0, 0 };
  mix (pixel, at % period < (period + 1) / 2 ? light : dark);
}

void
dyno_mask_picture_cover (GdkPixbuf *picture, const guint8 *mask)
{
  guint width = (guint) gdk_pixbuf_get_width (picture),
        height = (guint) gdk_pixbuf_get_height (picture),
        period = MAX (MAX (width, height) / LINES, 4);
  guint8 rgb[256][3];
  for (guint i = 0; i < 256; i++)
    dyno_palette_get ((guint8) i, rgb[i]);
  for (guint y = 0; y < height; y++)
    {
      guchar *pixel =
          gdk_pixbuf_get_pixels (picture) + (gsize) y * (gsize) gdk_pixbuf_get_rowstride (picture);
      for (guint x = 0; x < width; x++, pixel += 3, mask++)
        if (*mask == DYNO_MASK_IGNORED)
          hatch (pixel, x + y, period);
        else if (*mask > 0)
          mix (pixel, rgb[*mask]);
    }
}

/* --- the colour of a class -------------------------------------------------------------------- */

/* A grey border separates dark colours from a dark background. */
static void
paint (cairo_t *cr, guint8 class_id, double size)
{
  guint8 rgb[3];
  dyno_palette_get (class_id, rgb);
  cairo_rectangle (cr, 0.5, 0.5, size - 1, size - 1);
  if (class_id > 0)
    {
      cairo_set_source_rgb (cr, rgb[0] / 255.0, rgb[1] / 255.0, rgb[2] / 255.0);
      cairo_fill_preserve (cr);
    }
  cairo_set_source_rgb (cr, 0.55, 0.55, 0.55);
  cairo_set_line_width (cr, 1);
  cairo_stroke (cr);
}

static gboolean
draw (GtkWidget *widget, cairo_t *cr, gpointer class_id)
{
  paint (cr, (guint8) GPOINTER_TO_UINT (class_id), SWATCH);
  return GDK_EVENT_PROPAGATE;
}

GtkWidget *
dyno_mask_swatch_new (guint8 class_id)
{
  GtkWidget *swatch = gtk_drawing_area_new ();
  gtk_widget_set_size_request (swatch, SWATCH, SWATCH);
  gtk_widget_set_valign (swatch, GTK_ALIGN_CENTER);
  gtk_widget_set_halign (swatch, GTK_ALIGN_START);
  g_signal_connect (swatch, "draw", G_CALLBACK (draw), GUINT_TO_POINTER (class_id));
  return swatch;
}

GdkPixbuf *
dyno_mask_swatch_draw (guint8 class_id, int pixels)
{
  cairo_surface_t *surface = cairo_image_surface_create (CAIRO_FORMAT_ARGB32, pixels, pixels);
  cairo_t *cr = cairo_create (surface);
  GdkPixbuf *pixbuf;
  paint (cr, class_id, pixels);
  cairo_destroy (cr);
  pixbuf = gdk_pixbuf_get_from_surface (surface, 0, 0, pixels, pixels);
  cairo_surface_destroy (surface);
  return pixbuf;
}
