/* SPDX-License-Identifier: MIT */
/* Coverage is exact across a line and along it at its ends; the edge of an inclined line within one
 * pixel is taken at the pixel's middle, an error that is not visible. */
#include "steep.h"
#include <math.h>

/* More pixels than a screen has.  Nothing is drawn beyond this size, or where there is no
 * memory. */
#define MAX_SIDE 16384

typedef struct {
  cairo_surface_t *surface;
  guint8 *data;
  int width, height, stride;
  double x, y, scale; /* user space -> pixels of the mask */
} Mask;

/* The mask covers the axes and the part of a line's width outside of them, in device pixels. */
static gboolean
mask_init (Mask *mask, const DynoPlotLayout *l)
{
  double margin = 4.0, left = floor ((l->x - margin) * l->scale),
         top = floor ((l->y - margin) * l->scale),
         width = ceil ((l->x + l->w + margin) * l->scale) - left,
         height = ceil ((l->y + l->h + margin) * l->scale) - top;

  if (!(width > 0.0 && width <= MAX_SIDE && height > 0.0 && height <= MAX_SIDE))
    return FALSE;
  *mask = (Mask){ .width = (int) width,
                  .height = (int) height,
                  .x = left / l->scale,
                  .y = top / l->scale,
                  .scale = l->scale };
  mask->surface = cairo_image_surface_create (CAIRO_FORMAT_A8, mask->width, mask->height);
  mask->data = cairo_image_surface_get_data (mask->surface);
  mask->stride = cairo_image_surface_get_stride (mask->surface);
  if (mask->data)
    return TRUE;
  cairo_surface_destroy (mask->surface);
  return FALSE;
}

/* Paints the mask in the current colour, and frees it. */
static void
mask_paint (Mask *mask, const DynoPlotLayout *l)
{
  cairo_surface_mark_dirty (mask->surface);
  cairo_surface_set_device_scale (mask->surface, mask->scale, mask->scale);
  cairo_mask_surface (l->cr, mask->surface, mask->x, mask->y);
  cairo_surface_destroy (mask->surface);
}

static void
cover (guint8 *pixel, int coverage)
{
  if (coverage > *pixel)
    *pixel = (guint8) MIN (coverage, 255);
}

/* Strokes a line along the greater of its two extents, in steps of one pixel: neighbours in a step
 * are `across` bytes apart, steps `along`. */
static void
stroke_along (guint8 *data, int along, int n_along, int across, int n_across, double from,
              double from_side, double to, double to_side, double half)
{
  double lean = (to_side - from_side) / (to - from), reach = half * sqrt (1.0 + lean * lean),
         first = MAX (from, 0.0), last = MIN (to, (double) n_along);

  for (int step = (int) first; step < last; step++)
    {
      double begin = MAX (first, step), end = MIN (last, step + 1),
             middle = from_side + ((begin + end) / 2 - from) * lean,
             low = CLAMP (middle - reach, 0.0, n_across) * 256.0,
             high = CLAMP (middle + reach, 0.0, n_across) * 256.0;
      int a = (int) low, b = (int) high, share = (int) ((end - begin) * 256.0 + 0.5);
      guint8 *pixel = data + (gsize) step * (gsize) along + (gsize) (a >> 8) * (gsize) across;

      if (a >> 8 == b >> 8)
        {
          if (b > a)
            cover (pixel, ((b - a) * share) >> 8);
          continue;
        }
      cover (pixel, ((256 - (a & 255)) * share) >> 8);
      for (int i = (a >> 8) + 1; i < b >> 8; i++)
        cover (pixel += across, share);
      if (b & 255)
        cover (pixel + across, ((b & 255) * share) >> 8);
    }
}

static void
stroke_segment (const Mask *mask, double x0, double y0, double x1, double y1, double half)
{
  if (fabs (y1 - y0) >= fabs (x1 - x0))
    {
      gboolean down = y0 < y1;

      if (y0 != y1)
        stroke_along (mask->data, mask->stride, mask->height, 1, mask->width, down ? y0 : y1,
                      down ? x0 : x1, down ? y1 : y0, down ? x1 : x0, half);
    }
  else
    {
      gboolean right = x0 < x1;

      stroke_along (mask->data, 1, mask->width, mask->stride, mask->height, right ? x0 : x1,
                    right ? y0 : y1, right ? x1 : x0, right ? y1 : y0, half);
    }
}

/* A disc: the round join or cap. */
static void
stroke_corner (const Mask *mask, double x, double y, double half)
{
  double reach = half + 0.5;

  if (!(x > -reach && x < mask->width + reach && y > -reach && y < mask->height + reach))
    return;
  for (int row = (int) MAX (y - reach, 0.0); row < MIN (y + reach, mask->height); row++)
    for (int column = (int) MAX (x - reach, 0.0); column < MIN (x + reach, mask->width); column++)
      cover (mask->data + (gsize) row * (gsize) mask->stride + column,
             (int) (CLAMP (reach - hypot (column + 0.5 - x, row + 0.5 - y), 0.0, 1.0) * 256.0));
}

void
dyno_plot_steep_stroke (const DynoPlotLayout *l, double width)
{
  cairo_path_t *path = cairo_copy_path (l->cr);
  double half = width * l->scale / 2, last_x = 0.0, last_y = 0.0;
  Mask mask;

  cairo_new_path (l->cr);
  if (path->status == CAIRO_STATUS_SUCCESS && mask_init (&mask, l))
    {
      for (int i = 0; i < path->num_data; i += path->data[i].header.length)
        {
          const cairo_path_data_t *part = &path->data[i];
          double x = (part[1].point.x - mask.x) * l->scale,
                 y = (part[1].point.y - mask.y) * l->scale;

          if (part->header.type == CAIRO_PATH_LINE_TO)
            stroke_segment (&mask, last_x, last_y, x, y, half);
          stroke_corner (&mask, x, y, half);
          last_x = x;
          last_y = y;
        }
      mask_paint (&mask, l);
    }
  cairo_path_destroy (path);
}

/* --- the area below ----------------------------------------------------------------------------- */

/* Extends the top and bottom of each column of pixels by the part of the line between the two
 * points in this column. */
static void
take_extent (const Mask *mask, double x0, double y0, double x1, double y1, float *top,
             float *bottom)
{
  double slope = x1 > x0 ? (y1 - y0) / (x1 - x0) : 0.0;
  int first = (int) CLAMP (x0, 0.0, mask->width), last = (int) CLAMP (x1, -1.0, mask->width - 1);

  for (int column = first; column <= last; column++)
    {
      double enters = x0 < column ? y0 + (column - x0) * slope : y0,
             leaves = x1 > column + 1 ? y0 + (column + 1 - x0) * slope : y1;

      top[column] = MIN (top[column], (float) MIN (enters, leaves));
      bottom[column] = MAX (bottom[column], (float) MAX (enters, leaves));
    }
}

/* Computes for each column the first row that is covered at all, and the increase in coverage from
 * row to row. */
static void
turn_into_ramps (int n, float *top, float *bottom)
{
  for (int i = 0; i < n; i++)
    {
      float tall = MAX (bottom[i] - top[i], 1.0f), middle = (top[i] + bottom[i]) / 2;

      if (bottom[i] < top[i])
        {
          bottom[i] = top[i] = 0.0f; /* no line there */
          continue;
        }
      top[i] = middle - tall / 2 - 0.5f;
      bottom[i] = 1.0f / tall;
    }
}

void
dyno_plot_steep_fill (const DynoPlotLayout *l, const double *x, const double *y, guint n,
                      const DynoColour *colour, double from_alpha, double to_alpha)
{
  Mask mask;
  g_autofree float *top = NULL, *rise = NULL;
  double above, bottom;

  if (n < 2 || !mask_init (&mask, l))
    return;
  top = g_new (float, mask.width);
  rise = g_new (float, mask.width);
  for (int i = 0; i < mask.width; i++)
    {
      top[i] = G_MAXFLOAT;
      rise[i] = -G_MAXFLOAT;
    }
  for (guint i = 1; i < n; i++)
    take_extent (&mask, (x[i - 1] - mask.x) * l->scale, (y[i - 1] - mask.y) * l->scale,
                 (x[i] - mask.x) * l->scale, (y[i] - mask.y) * l->scale, top, rise);
  turn_into_ramps (mask.width, top, rise);
  above = (l->y - mask.y) * l->scale;
  bottom = (l->y + l->h - mask.y) * l->scale;
  for (int row = 0; row < MIN (ceil (bottom), mask.height); row++)
    {
      guint8 *data = mask.data + (gsize) row * (gsize) mask.stride;
      double at = CLAMP ((row + 0.5 - above) / (bottom - above), 0.0, 1.0);
      float alpha =
          (float) ((from_alpha + (to_alpha - from_alpha) * at) * 255.0 * MIN (bottom - row, 1.0));

      for (int i = 0; i < mask.width; i++)
        {
          float covered = ((float) row - top[i]) * rise[i];

          covered = covered > 0.0f ? covered : 0.0f;
          data[i] = (guint8) ((covered < 1.0f ? covered : 1.0f) * alpha + 0.5f);
        }
    }
  dyno_plot_set_colour (l->cr, colour, 1.0);
  mask_paint (&mask, l);
}
