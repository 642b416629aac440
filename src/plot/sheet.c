/* SPDX-License-Identifier: MIT */
/* Draws a sheet of tiles: rows of COLUMNS tiles, each in a square with one line of text below
 * it. */
#include "sheet.h"
#include "draw.h"
#include "file.h"
#include <math.h>
#include <string.h>

#define COLUMNS 6
#define SIDE    112.0 /* side of a tile's square */
#define GAP     12.0
#define LINE    18.0 /* height of a caption */
#define TITLE   26.0
#define PIXELS  2 /* of a PNG, per unit */

void
dyno_sheet_measure (guint n, gboolean titled, double *width, double *height)
{
  guint columns = CLAMP (n, 1, COLUMNS), rows = MAX (1, (n + COLUMNS - 1) / COLUMNS);

  *width = GAP + columns * (SIDE + GAP);
  *height = GAP + (titled ? TITLE : 0) + rows * (SIDE + LINE + GAP);
}

/* Returns NULL where there is no memory. */
static cairo_surface_t *
make_surface (const DynoSheetTile *tile)
{
  cairo_surface_t *surface =
      cairo_image_surface_create (CAIRO_FORMAT_RGB24, (int) tile->width, (int) tile->height);
  guint8 *to = cairo_image_surface_get_data (surface);
  gsize stride = (gsize) cairo_image_surface_get_stride (surface);

  if (!to)
    {
      cairo_surface_destroy (surface);
      return NULL;
    }
  for (gsize y = 0; y < tile->height; y++)
    for (gsize x = 0; x < tile->width; x++)
      {
        const guint8 *rgb = tile->rgb + (y * tile->width + x) * 3;
        guint32 pixel = (guint32) rgb[0] << 16 | (guint32) rgb[1] << 8 | rgb[2];

        memcpy (to + y * stride + x * 4, &pixel, 4);
      }
  cairo_surface_mark_dirty (surface);
  return surface;
}

static void
set_colour (cairo_t *cr, const DynoColour *colour)
{
  cairo_set_source_rgba (cr, colour->red, colour->green, colour->blue, colour->alpha);
}

/* Draws one line of text of at most `width`, which is cut between characters, with an ellipsis. */
static void
draw_text (cairo_t *cr, const char *text, double x, double y, double width)
{
  g_autoptr (GString) shown = g_string_new (text);
  cairo_text_extents_t extents;

  cairo_text_extents (cr, shown->str, &extents);
  while (extents.x_advance > width && g_utf8_strlen (shown->str, -1) > 2)
    {
      const char *end = shown->str + shown->len;

      if (g_str_has_suffix (shown->str, "…"))
        end -= strlen ("…");
      g_string_truncate (shown, (gsize) (g_utf8_prev_char (end) - shown->str));
      g_string_append (shown, "…");
      cairo_text_extents (cr, shown->str, &extents);
    }
  cairo_move_to (cr, x, y);
  cairo_show_text (cr, shown->str);
}

static void
draw_tile (cairo_t *cr, const DynoSheetTile *tile, double x, double y)
{
  double scale = SIDE / MAX (tile->width, tile->height);
  cairo_surface_t *surface = make_surface (tile);

  if (!surface)
    return;
  cairo_save (cr);
  cairo_translate (cr, x + (SIDE - tile->width * scale) / 2, y + (SIDE - tile->height * scale) / 2);
  cairo_scale (cr, scale, scale);
  cairo_set_source_surface (cr, surface, 0, 0);
  cairo_pattern_set_filter (cairo_get_source (cr),
                            scale > 1 ? CAIRO_FILTER_NEAREST : CAIRO_FILTER_GOOD);
  cairo_rectangle (cr, 0, 0, tile->width, tile->height);
  cairo_fill (cr);
  cairo_restore (cr);
  cairo_surface_destroy (surface);
}

void
dyno_sheet_draw (cairo_t *cr, const char *title, const DynoSheetTile *tiles, guint n)
{
  const DynoPlotTheme *theme = &dyno_plot_theme_light;
  double width, height, top = GAP + (title ? TITLE : 0);

  dyno_sheet_measure (n, title != NULL, &width, &height);
  set_colour (cr, &theme->background);
  cairo_rectangle (cr, 0, 0, width, height);
  cairo_fill (cr);
  cairo_select_font_face (cr, theme->font, CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
  cairo_set_font_size (cr, theme->font_size + 2);
  set_colour (cr, &theme->foreground);
  if (title)
    draw_text (cr, title, GAP, GAP + LINE - 4, width - 2 * GAP);
  cairo_set_font_size (cr, theme->font_size);
  for (guint i = 0; i < n; i++)
    {
      double x = GAP + i % COLUMNS * (SIDE + GAP);
      double y = top + i / COLUMNS * (SIDE + LINE + GAP);

      if (tiles[i].rgb && tiles[i].width > 0 && tiles[i].height > 0)
        draw_tile (cr, &tiles[i], x, y);
      set_colour (cr, &theme->foreground);
      if (tiles[i].caption)
        draw_text (cr, tiles[i].caption, x, y + SIDE + LINE - 4, SIDE);
    }
}

static cairo_status_t
collect (void *closure, const unsigned char *data, unsigned int length)
{
  g_byte_array_append (closure, data, length);
  return CAIRO_STATUS_SUCCESS;
}

gboolean
dyno_sheet_write (const char *title, const DynoSheetTile *tiles, guint n, const char *path,
                  GError **error)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  g_autofree char *lower = g_ascii_strdown (path, -1);
  cairo_surface_t *surface;
  cairo_status_t status;
  double width, height;
  cairo_t *cr;

  if (!g_str_has_suffix (lower, ".png"))
    {
      g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
                   "Cannot write “%s”: a preview is saved as .png; choose a name with this ending",
                   path);
      return FALSE;
    }
  dyno_sheet_measure (n, title != NULL, &width, &height);
  surface = cairo_image_surface_create (CAIRO_FORMAT_RGB24, (int) ceil (width * PIXELS),
                                        (int) ceil (height * PIXELS));
  cr = cairo_create (surface);
  cairo_scale (cr, PIXELS, PIXELS);
  dyno_sheet_draw (cr, title, tiles, n);
  status = cairo_status (cr);
  cairo_destroy (cr);
  if (status == CAIRO_STATUS_SUCCESS)
    status = cairo_surface_write_to_png_stream (surface, collect, bytes);
  cairo_surface_destroy (surface);
  if (status != CAIRO_STATUS_SUCCESS)
    {
      g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_FAILED, "Cannot draw “%s”: %s", path,
                   cairo_status_to_string (status));
      return FALSE;
    }
  return dyno_file_write_atomic (path, bytes->data, bytes->len, error);
}
