/* SPDX-License-Identifier: MIT */
/* Changes decoded pixels: composes alpha on white, turns the image by its orientation, and takes
 * luma of colours. */
#include "image-codec.h"
#include <string.h>

void
dyno_image_compose_white (guint8 *pixels, gsize count)
{
  for (gsize i = 0; i < count; i++)
    {
      guint alpha = pixels[i * 4 + 3];
      for (guint c = 0; c < 3; c++)
        pixels[i * 3 + c] =
            (guint8) ((pixels[i * 4 + c] * alpha + 255 * (255 - alpha) + 127) / 255);
    }
}

void
dyno_image_turn (const guint8 *stored, guint orientation, guint32 width, guint32 height,
                 guint8 *out)
{
  gboolean turned = orientation >= 5;
  gsize stored_width = turned ? height : width;

  for (guint32 y = 0; y < height; y++)
    for (guint32 x = 0; x < width; x++, out += 3)
      {
        /* Where rows and columns are exchanged, a stored row is a shown column; either may run in
         * the reverse direction. */
        gsize row = turned ? x : y, column = turned ? y : x;
        guint32 rows = turned ? width : height, columns = turned ? height : width;

        if (orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7)
          row = rows - 1 - row;
        if (orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8)
          column = columns - 1 - column;
        memcpy (out, stored + (row * stored_width + column) * 3, 3);
      }
}

void
dyno_image_take_luma (const guint8 *rgb, gsize count, guint8 *out)
{
  for (gsize i = 0; i < count; i++, rgb += 3)
    out[i] = (guint8) ((rgb[0] * 19595u + rgb[1] * 38470u + rgb[2] * 7471u + 0x8000u) >> 16);
}
