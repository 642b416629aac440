/* SPDX-License-Identifier: MIT */
/* The palette of PASCAL VOC. */
#include "palette.h"

void
dyno_palette_get (guint8 id, guint8 rgb[3])
{
  for (guint c = 0; c < 3; c++)
    {
      rgb[c] = 0;
      for (guint k = 0; c + 3 * k < 8; k++)
        rgb[c] = (guint8) (rgb[c] | (id >> (c + 3 * k) & 1) << (7 - k));
    }
}

void
dyno_palette_blend (guint8 *rgb, const guint8 *ids, gsize n)
{
  guint8 colours[256][3];

  for (guint id = 0; id < G_N_ELEMENTS (colours); id++)
    dyno_palette_get ((guint8) id, colours[id]);
  for (gsize i = 0; i < n; i++)
    for (guint c = 0; ids[i] > 0 && c < 3; c++)
      rgb[3 * i + c] = (guint8) ((rgb[3 * i + c] + colours[ids[i]][c] + 1) / 2);
}
