/* SPDX-License-Identifier: MIT */
/* See augment.h. */
#include "reference/augment.h"
#include "random.h"
#include <math.h>

static double
uniform (guint32 seed, guint32 draw)
{
  return (dyno_random_at (seed, draw) >> 8) / 16777216.0;
}

static double
factor_of (guint32 seed, guint32 draw, double most)
{
  double least = MAX (0, 1 - most);
  return least + (1 + most - least) * uniform (seed, draw);
}

static double
whole_below (guint32 seed, guint32 draw, double n)
{
  return MIN (floor (uniform (seed, draw) * n), n - 1);
}

/* Returns FALSE if no attempt fits. */
static gboolean
draw_window (guint32 seed, guint32 draw, double w, double h, double least, double most,
             double least_ratio, double most_ratio, gboolean smaller, double window[4])
{
  for (guint i = 0; i < DYNO_RANDOM_WINDOW_TRIES; i++, draw += 4)
    {
      double area = w * h * (least + (most - least) * uniform (seed, draw));
      double logs =
          log (least_ratio) + (log (most_ratio) - log (least_ratio)) * uniform (seed, draw + 1);
      double ratio = exp (logs);
      window[2] = rint (sqrt (area * ratio));
      window[3] = rint (sqrt (area / ratio));
      if (window[2] > 0 && window[3] > 0
          && (smaller ? window[2] < w && window[3] < h : window[2] <= w && window[3] <= h))
        {
          window[0] = whole_below (seed, draw + 2, w - window[2] + 1);
          window[1] = whole_below (seed, draw + 3, h - window[3] + 1);
          return TRUE;
        }
    }
  return FALSE;
}

static void
draw_crop (const DynoAugmentation *a, double w, double h, guint32 seed, ReferenceDraw *d)
{
  double window[4] = { 0, 0, w, h }, r = MAX (a->crop_ratio, 1);
  if (a->crop > 0
      && !draw_window (seed, DYNO_RANDOM_DRAW_CROP_WINDOW, w, h, a->crop, 1, 1 / r, r, FALSE,
                       window))
    {
      window[2] = w / h > r ? rint (h * r) : w;
      window[3] = w / h < 1 / r ? rint (w * r) : h;
      window[0] = floor ((w - window[2]) / 2);
      window[1] = floor ((h - window[3]) / 2);
    }
  d->left = window[0];
  d->top = window[1];
  d->width = window[2];
  d->height = window[3];
}

static void
draw_erased (const DynoAugmentation *a, double w, double h, guint32 seed, ReferenceDraw *d)
{
  double window[4] = { 0 };
  if (a->time_mask > 0)
    {
      window[2] = floor (a->time_mask * w * uniform (seed, DYNO_RANDOM_DRAW_TIME_MASK));
      window[0] = whole_below (seed, DYNO_RANDOM_DRAW_TIME_MASK + 1, w - window[2] + 1);
      window[3] = h;
    }
  else if (uniform (seed, DYNO_RANDOM_DRAW_ERASE) >= a->erase
           || !draw_window (seed, DYNO_RANDOM_DRAW_ERASE_WINDOW, w, h, 0.02, 0.33, 1 / 3.3, 1 / 0.3,
                            TRUE, window))
    return;
  d->erase_left = window[0];
  d->erase_top = window[1];
  d->erase_width = window[2];
  d->erase_height = window[3];
}

ReferenceDraw
reference_draw (const DynoAugmentation *a, guint32 w, guint32 h, guint32 seed)
{
  ReferenceDraw d = { 0 };
  double x = a->time_shift > 0 ? floor (a->time_shift * w) : a->shift;
  double y = a->time_shift > 0 ? 0 : a->shift;
  draw_crop (a, w, h, seed, &d);
  draw_erased (a, w, h, seed, &d);
  d.shift_x = whole_below (seed, DYNO_RANDOM_DRAW_SHIFT, 2 * x + 1) - x;
  d.shift_y = whole_below (seed, DYNO_RANDOM_DRAW_SHIFT + 1, 2 * y + 1) - y;
  d.degrees = a->rotate * (2 * uniform (seed, DYNO_RANDOM_DRAW_ROTATE) - 1);
  d.flip = (seed >> 8) / 16777216.0 < a->flip;
  d.flip_vertical = uniform (seed, DYNO_RANDOM_DRAW_FLIP_VERTICAL) < a->flip_vertical;
  d.brightness = factor_of (seed, DYNO_RANDOM_DRAW_BRIGHTNESS, a->brightness);
  d.contrast = factor_of (seed, DYNO_RANDOM_DRAW_CONTRAST, a->contrast);
  d.saturation = factor_of (seed, DYNO_RANDOM_DRAW_SATURATION, a->saturation);
  d.hue = a->hue * (2 * uniform (seed, DYNO_RANDOM_DRAW_HUE) - 1);
  return d;
}

/* Maps a coordinate into the n pixels; returns FALSE if the pixel is black. */
static gboolean
bring_inside (double *at, double n, const DynoAugmentation *a)
{
  if (a->time_shift > 0)
    *at -= n * floor (*at / n);
  else if (a->pad == DYNO_PAD_REFLECT)
    while (n > 1 && (*at < 0 || *at > n - 1))
      *at = *at < 0 ? -*at : 2 * (n - 1) - *at;
  else if (*at < -0.5 || *at > n - 0.5)
    return FALSE;
  *at = CLAMP (*at, 0, n - 1);
  return TRUE;
}

/* Channel k at (x, y) of the result, before colours. */
static double
pixel_at (const DynoAugmentation *a, const ReferenceDraw *d, guint32 h, guint32 w, guint32 c,
          const double *raw, double x, double y, guint32 k)
{
  if (d->flip)
    x = w - 1 - x;
  if (d->flip_vertical)
    y = h - 1 - y;
  double ox = x - (w - 1) / 2.0, oy = y - (h - 1) / 2.0, angle = d->degrees * G_PI / 180;
  x = (w - 1) / 2.0 + cos (angle) * ox - sin (angle) * oy + d->shift_x;
  y = (h - 1) / 2.0 + sin (angle) * ox + cos (angle) * oy + d->shift_y;
  x = (x + 0.5) * d->width / w - 0.5;
  y = (y + 0.5) * d->height / h - 0.5;
  if (!bring_inside (&x, d->width, a) || !bring_inside (&y, d->height, a))
    return 0;
  double left = floor (x), top = floor (y), right = MIN (left + 1, d->width - 1),
         bottom = MIN (top + 1, d->height - 1), fx = x - left, fy = y - top;
#define AT(px, py) raw[((gsize) ((py) + d->top) * w + (gsize) ((px) + d->left)) * c + k]
  return (1 - fy) * ((1 - fx) * AT (left, top) + fx * AT (right, top))
         + fy * ((1 - fx) * AT (left, bottom) + fx * AT (right, bottom));
#undef AT
}

static double
grey_of (const double *pixel, guint32 c)
{
  return c == 3 ? 0.2989 * pixel[0] + 0.587 * pixel[1] + 0.114 * pixel[2] : pixel[0];
}

/* Uses hue, saturation and value, with the six sectors of the hue circle. */
static void
turn_hue (double *rgb, double turn)
{
  double value = MAX (MAX (rgb[0], rgb[1]), rgb[2]), least = MIN (MIN (rgb[0], rgb[1]), rgb[2]);
  double chroma = value - least, s = value > 0 ? chroma / value : 0, hue;
  if (chroma <= 0)
    return;
  hue = value == rgb[0]   ? (rgb[1] - rgb[2]) / chroma
        : value == rgb[1] ? (rgb[2] - rgb[0]) / chroma + 2
                          : (rgb[0] - rgb[1]) / chroma + 4;
  hue = hue / 6 + turn;
  hue -= floor (hue);
  double sector = floor (hue * 6), f = hue * 6 - sector, p = value * (1 - s),
         q = value * (1 - s * f), t = value * (1 - s * (1 - f));
  const double sectors[6][3] = { { value, t, p }, { q, value, p }, { p, value, t },
                                 { p, q, value }, { t, p, value }, { value, p, q } };
  for (guint k = 0; k < 3; k++)
    rgb[k] = sectors[(int) sector % 6][k];
}

static void
recolour (const DynoAugmentation *a, const ReferenceDraw *d, gsize pixels, guint32 c, double most,
          double *x)
{
  double mean = 0;
  for (gsize i = 0; i < pixels * c; i++)
    x[i] = CLAMP (x[i] * d->brightness, 0, most);
  for (gsize i = 0; i < pixels; i++)
    mean += grey_of (&x[i * c], c) / (double) pixels;
  for (gsize i = 0; a->contrast > 0 && i < pixels * c; i++)
    x[i] = CLAMP (d->contrast * x[i] + (1 - d->contrast) * mean, 0, most);
  for (gsize i = 0; c == 3 && (a->saturation > 0 || a->hue > 0) && i < pixels; i++)
    {
      double grey = grey_of (&x[i * 3], 3);
      for (guint k = 0; k < 3; k++)
        x[i * 3 + k] = CLAMP (d->saturation * x[i * 3 + k] + (1 - d->saturation) * grey, 0, most);
      turn_hue (&x[i * 3], d->hue);
    }
}

static double
normal (guint32 key, guint32 element)
{
  double u = ((dyno_random_at (key, element * 2) >> 8) + 1) / 16777216.0;
  return sqrt (-2 * log (u)) * cos (2 * G_PI * uniform (key, element * 2 + 1));
}

void
reference_augment (const DynoAugmentation *a, guint32 h, guint32 w, guint32 c, double most,
                   const double *raw, guint32 seed, const double *factor, const double *offset,
                   double *result)
{
  ReferenceDraw d = reference_draw (a, w, h, seed);
  guint32 key = dyno_random_at (seed, DYNO_RANDOM_DRAW_NOISE);
  for (guint32 y = 0; y < h; y++)
    for (guint32 x = 0; x < w; x++)
      for (guint32 k = 0; k < c; k++)
        result[((gsize) y * w + x) * c + k] = pixel_at (a, &d, h, w, c, raw, x, y, k);
  if (a->brightness > 0 || a->contrast > 0 || a->saturation > 0 || a->hue > 0)
    recolour (a, &d, (gsize) h * w, c, most, result);
  for (guint32 i = 0; i < h * w * c; i++)
    {
      double x = i / c % w, y = i / c / w;
      result[i] = result[i] * factor[i % c] + offset[i % c] + a->noise * normal (key, i);
      if (x >= d.erase_left && x < d.erase_left + d.erase_width && y >= d.erase_top
          && y < d.erase_top + d.erase_height)
        result[i] = 0;
    }
}
