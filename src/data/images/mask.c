/* SPDX-License-Identifier: MIT */
/* Decodes masks and resamples them by their nearest pixel. */
#include "mask.h"
#include "datafile.h"
#include "image-codec.h"
#include "imagesource.h"
#include "schema.h"
#include <math.h>
#include <string.h>

/* Places in a PNG's header. */
enum { AT_DEPTH = 24, AT_COLOUR_TYPE = 25 };

#define GREY_16_WHITE 0xffff

static gboolean
probe (const guint8 *file, gsize size, DynoMaskFacts *facts, GError **error)
{
  DynoImageFacts image;

  if (!dyno_image_probe (file, size, &image, error))
    return FALSE;
  if (image.type != DYNO_IMAGE_PNG)
    {
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED,
                   "a mask that is no PNG%s; save masks as PNG",
                   image.type == DYNO_IMAGE_JPEG
                       ? ": JPEG changes the numbers of pixels, so that classes are lost"
                       : "");
      return FALSE;
    }
  *facts = (DynoMaskFacts){ .width = image.width,
                            .height = image.height,
                            .palette = file[AT_COLOUR_TYPE] == 3,
                            .colours = file[AT_COLOUR_TYPE] == 2 || file[AT_COLOUR_TYPE] == 6,
                            .bits = file[AT_DEPTH] };
  return TRUE;
}

/* Numbers of 16 bits become bytes, in place. */
static gboolean
narrow (guint8 *pixels, gsize count, GError **error)
{
  for (gsize i = 0; i < count; i++)
    {
      guint32 number = dyno_be16 (pixels + 2 * i);

      if (number > G_MAXUINT8 && number != GREY_16_WHITE)
        {
          g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED,
                       "a mask of 16 bits with the class id %u; ids are 0 to 254, and 255 is "
                       "ignored: number the classes anew and save masks with 8 bits",
                       number);
          return FALSE;
        }
      pixels[i] = (guint8) MIN (number, G_MAXUINT8);
    }
  return TRUE;
}

gboolean
dyno_mask_decode (GByteArray *scratch, gsize at, gsize size, DynoMaskFacts *facts, gsize *pixels_at,
                  GError **error)
{
  guint64 place = (at + size + 63) & ~(guint64) 63, count;

  if (!probe (scratch->data + at, size, facts, error))
    return FALSE;
  count = (guint64) facts->width * facts->height;
  *pixels_at = place;
  return dyno_datafile_reserve (scratch, place + count * dyno_mask_pixel_bytes (facts), error)
         && dyno_png_decode_mask (scratch->data + at, size, facts, scratch->data + place, error)
         && (facts->colours || facts->bits <= 8 || narrow (scratch->data + place, count, error));
}

guint8
dyno_mask_find_colour (const DynoMaskTable *table, guint32 rgb)
{
  guint32 first = 0, end = table->n_colours;

  while (first < end)
    {
      guint32 middle = (first + end) / 2;

      if (table->colours[middle] == rgb)
        return table->of_colour[middle];
      if (table->colours[middle] < rgb)
        first = middle + 1;
      else
        end = middle;
    }
  return DYNO_MASK_IGNORED;
}

DynoResizeWindow
dyno_mask_cover (guint32 picture_width, guint32 picture_height, guint32 width, guint32 height)
{
  double step = MIN ((double) picture_width / width, (double) picture_height / height);

  return (DynoResizeWindow){ (picture_width - step * width) / 2,
                             (picture_height - step * height) / 2, step * width, step * height };
}

/* The stored pixel for pixel (x, y) of the turned picture is at start + x * by_x + y * by_y. */
typedef struct {
  gint64 start, by_x, by_y;
} Walk;

static Walk
walk_of (const DynoMaskFacts *facts, guint8 orientation)
{
  const gint64 w = facts->width, h = facts->height;
  gboolean turned = orientation >= 5,
           rows_back = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7,
           columns_back =
               orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  gint64 by_row = rows_back ? -w : w, by_column = columns_back ? -1 : 1;

  return (Walk){ .start = (rows_back ? (h - 1) * w : 0) + (columns_back ? w - 1 : 0),
                 .by_x = turned ? by_row : by_column,
                 .by_y = turned ? by_column : by_row };
}

static gint64
nearest (double start, double length, guint32 outputs, guint32 at, guint32 side)
{
  return (gint64) CLAMP (floor (start + (at + 0.5) * (length / outputs)), 0.0, side - 1.0);
}

void
dyno_mask_sample (const guint8 *pixels, const DynoMaskFacts *facts, guint8 orientation,
                  const DynoResizeWindow *window, const DynoMaskTable *table, guint32 width,
                  guint32 height, guint8 *out)
{
  const Walk walk = walk_of (facts, orientation);
  guint32 shown_width = orientation >= 5 ? facts->height : facts->width,
          shown_height = orientation >= 5 ? facts->width : facts->height;
  guint32 last = G_MAXUINT32;
  guint8 id = DYNO_MASK_IGNORED;

  for (guint32 y = 0; y < height; y++)
    {
      gint64 row =
          walk.start + walk.by_y * nearest (window->y, window->height, height, y, shown_height);

      for (guint32 x = 0; x < width; x++, out++)
        {
          gint64 at = row + walk.by_x * nearest (window->x, window->width, width, x, shown_width);

          if (!facts->colours)
            {
              *out = table->of_number[pixels[at]];
              continue;
            }
          guint32 rgb = (guint32) dyno_be16 (pixels + 3 * at) << 8 | pixels[3 * at + 2];
          /* Neighbours mostly have one colour. */
          if (rgb != last)
            id = dyno_mask_find_colour (table, rgb);
          last = rgb;
          *out = id;
        }
    }
}

void
dyno_mask_thin (const guint8 *ids, guint32 width, guint32 height, guint32 every, guint8 *out)
{
  for (guint32 y = 0; y < height; y += every)
    for (guint32 x = 0; x < width; x += every)
      *out++ = ids[(gsize) y * width + x];
}

/* The output in which the centre of a pixel lies; -1: none, the pixel was cut off. */
static gint64
output_of (double start, double length, guint32 outputs, guint32 pixel)
{
  double at = ceil ((pixel + 0.5 - start) / (length / outputs)) - 1;

  return at >= 0 && at < outputs ? (gint64) at : -1;
}

void
dyno_mask_restore (const guint8 *ids, guint32 width, guint32 height, guint32 picture_width,
                   guint32 picture_height, guint8 *out)
{
  const DynoResizeWindow window = dyno_mask_cover (picture_width, picture_height, width, height);
  gint64 last = -1;

  for (guint32 y = 0; y < picture_height; y++, out += picture_width)
    {
      gint64 row = output_of (window.y, window.height, height, y);

      if (row < 0)
        memset (out, DYNO_MASK_IGNORED, picture_width);
      else if (y > 0 && row == last)
        memcpy (out, out - picture_width, picture_width);
      else
        for (guint32 x = 0; x < picture_width; x++)
          {
            gint64 column = output_of (window.x, window.width, width, x);

            out[x] = column < 0 ? DYNO_MASK_IGNORED : ids[row * width + column];
          }
      last = row;
    }
}
