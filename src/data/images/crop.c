/* SPDX-License-Identifier: MIT */
/* Draws position and size of random crops.  The arithmetic is in double, as in torchvision: the
 * same crops are drawn on every machine. */
#include "crop.h"
#include "random.h"
#include <math.h>

static double
uniform (guint32 seed, guint32 draw)
{
  return (dyno_random_at (seed, draw) >> 8) / 16777216.0;
}

/* Draws the offset of a crop along an axis, from 0 to room. */
static gint32
place (guint32 seed, guint32 draw, double room)
{
  return (gint32) MIN (floor (uniform (seed, draw) * (room + 1)), room);
}

/* The largest crop in the middle with a ratio within the range. */
static DynoImageBox
take_middle (double ratio, double width, double height)
{
  double w = width, h = height;

  if (w * ratio < h)
    h = rint (w * ratio);
  else if (w > h * ratio)
    w = rint (h * ratio);
  return (DynoImageBox){ (gint32) floor ((width - w) / 2), (gint32) floor ((height - h) / 2),
                         (gint32) w, (gint32) h };
}

DynoImageBox
dyno_crop_draw (const DynoCrop *crop, guint32 seed, guint32 width, guint32 height)
{
  const double ratio = MAX (crop->ratio, 1), logs = log (ratio);

  for (guint i = 0; i < DYNO_RANDOM_WINDOW_TRIES; i++)
    {
      guint32 draw = DYNO_RANDOM_DRAW_CROP_WINDOW + 4 * i;
      double area =
          (double) width * height * (crop->area + (1 - crop->area) * uniform (seed, draw));
      double taken = exp (logs * (2 * uniform (seed, draw + 1) - 1));
      double w = rint (sqrt (area * taken)), h = rint (sqrt (area / taken));

      if (w > 0 && h > 0 && w <= width && h <= height)
        return (DynoImageBox){ place (seed, draw + 2, width - w),
                               place (seed, draw + 3, height - h), (gint32) w, (gint32) h };
    }
  return take_middle (ratio, width, height);
}
