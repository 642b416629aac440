/* SPDX-License-Identifier: MIT */
/* Separable resampling in 16-bit fixed point, rows first: the vertical pass runs over whole source
 * rows and only over the columns that the crop keeps; the horizontal pass then has width outputs
 * per row.  Weights of an output sum to exactly 2^14, so a flat image stays flat. */
#include "resize.h"
#include "resize-kernels.h"
#include <math.h>
#include <string.h>

#define ONE (1 << DYNO_RESIZE_WEIGHT_BITS) /* sum of the weights of an output */

/* The source length per output pixel (step), the same for both axes, such that the scaled image
 * covers the output. */
static double
step_of (guint32 source_width, guint32 source_height, guint32 width, guint32 height)
{
  return MIN ((double) source_width / width, (double) source_height / height);
}

/* The positions of the outputs on an axis, and the range of pixels that count. */
typedef struct {
  double start, step;
  guint32 first, end;
} Range;

static guint32
taps_of (double step)
{
  return ((guint32) (2 * ceil (MAX (step, 1.0))) + 2 + 3) & ~(guint32) 3;
}

/* Sets the span of an output whose weights are computed, without the taps of weight 0 at its
 * ends. */
static void
set_span (DynoResizeAxis *axis, guint32 i, guint32 first, guint32 count)
{
  gint16 *weights = axis->weights + (gsize) i * axis->max_taps;
  guint32 skip = 0;

  while (count > 1 && weights[count - 1] == 0)
    count--;
  while (skip + 1 < count && weights[skip] == 0)
    skip++;
  count -= skip;
  memmove (weights, weights + skip, count * sizeof *weights);
  memset (weights + count, 0, (axis->max_taps - count) * sizeof *weights);
  axis->used_taps = MAX (axis->used_taps, (count + 3) & ~(guint32) 3);
  axis->spans[i] = (DynoResizeSpan){ first + skip, count };
}

static void
fill_axis (DynoResizeAxis *axis, const Range *range, guint32 outputs)
{
  const double start = range->start, step = range->step;
  double support = MAX (step, 1.0);

  for (guint32 i = 0; i < outputs; i++)
    {
      double centre = start + (i + 0.5) * step;
      gint64 first = MAX ((gint64) floor (centre - support), (gint64) range->first);
      gint64 last = MIN ((gint64) ceil (centre + support), (gint64) range->end);
      gint16 *weights = axis->weights + (gsize) i * axis->max_taps;
      double total = 0;
      int left = ONE, largest = 0;

      first = MIN (first, (gint64) range->end - 1);
      last = CLAMP (last, first + 1, first + axis->max_taps);
      for (gint64 k = first; k < last; k++)
        total += MAX (1 - fabs (k + 0.5 - centre) / support, 0);
      for (gint64 k = first; k < last; k++)
        {
          double weight =
              total > 0 ? MAX (1 - fabs (k + 0.5 - centre) / support, 0) / total : k == first;
          weights[k - first] = (gint16) floor (weight * ONE + 0.5);
          left -= weights[k - first];
          if (weights[k - first] > weights[largest])
            largest = (int) (k - first);
        }
      weights[largest] = (gint16) (weights[largest] + left);
      set_span (axis, i, (guint32) first, (guint32) (last - first));
    }
}

/* The block of an axis in scratch: spans, then weights. */
static guint64
axis_bytes (guint32 outputs, double step)
{
  return (guint64) outputs * (sizeof (DynoResizeSpan) + taps_of (step) * sizeof (gint16)) + 64;
}

static guint64
scratch_bytes (guint32 source_width, guint32 channels, double step_x, double step_y, guint32 width,
               guint32 height)
{
  return axis_bytes (width, step_x) + axis_bytes (height, step_y)
         + (guint64) source_width * channels + taps_of (step_x) * channels + DYNO_RESIZE_SLACK
         + 256;
}

guint64
dyno_resize_scratch_bytes (guint32 source_width, guint32 source_height, guint32 channels,
                           guint32 width, guint32 height)
{
  double step = step_of (source_width, source_height, width, height);
  return scratch_bytes (source_width, channels, step, step, width, height);
}

guint64
dyno_resize_window_scratch_bytes (guint32 source_width, guint32 channels,
                                  const DynoResizeWindow *window, guint32 width, guint32 height)
{
  return scratch_bytes (source_width, channels, window->width / width, window->height / height,
                        width, height);
}

static guint8 *
place_axis (DynoResizeAxis *axis, guint8 *at, const Range *range, guint32 outputs)
{
  axis->max_taps = taps_of (range->step);
  axis->used_taps = 0;
  axis->spans = (DynoResizeSpan *) (gpointer) at;
  axis->weights = (gint16 *) (gpointer) (at + (gsize) outputs * sizeof (DynoResizeSpan));
  fill_axis (axis, range, outputs);
  return (guint8 *) (((guintptr) at + axis_bytes (outputs, range->step)) & ~(guintptr) 15);
}

static void
scale (const guint8 *source, guint32 source_width, guint32 channels, const Range *x_range,
       const Range *y_range, guint32 width, guint32 height, guint8 *out, gpointer scratch)
{
  guint8 *at = (guint8 *) (((guintptr) scratch + 15) & ~(guintptr) 15);
  gsize stride = (gsize) source_width * channels;
  const DynoResizeKernel *kernel = dyno_resize_list_kernels ()[0];
  DynoResizeAxis horizontal, vertical;
  guint32 first, last;
  guint8 *row;

  at = place_axis (&horizontal, at, x_range, width);
  at = place_axis (&vertical, at, y_range, height);
  row = at;
  memset (row + stride, 0, (gsize) horizontal.max_taps * channels + DYNO_RESIZE_SLACK);

  /* Only columns that some output reads are summed. */
  first = horizontal.spans[0].first;
  last = horizontal.spans[width - 1].first + horizontal.spans[width - 1].count;
  for (guint32 y = 0; y < height; y++)
    {
      DynoResizeSpan span = vertical.spans[y];
      const guint8 *from = source + span.first * stride + (gsize) first * channels;
      gsize size = (gsize) (last - first) * channels;

      if (span.count == 1)
        memcpy (row + (gsize) first * channels, from, size);
      else
        kernel->rows (from, stride, vertical.weights + (gsize) y * vertical.max_taps, span.count,
                      row + (gsize) first * channels, size);
      kernel->columns (row, &horizontal, channels, width, out + (gsize) y * width * channels);
    }
}

static _Thread_local gint64 spent_us;

void
dyno_resize_cover (const guint8 *source, guint32 source_width, guint32 source_height,
                   guint32 channels, guint32 width, guint32 height, guint8 *out, gpointer scratch)
{
  gint64 began_us = g_get_monotonic_time ();
  double step = step_of (source_width, source_height, width, height);
  const Range x_range = { (source_width - step * width) / 2, step, 0, source_width },
              y_range = { (source_height - step * height) / 2, step, 0, source_height };

  if (source_width == width && source_height == height)
    memcpy (out, source, (gsize) width * height * channels);
  else
    scale (source, source_width, channels, &x_range, &y_range, width, height, out, scratch);
  spent_us += g_get_monotonic_time () - began_us;
}

static Range
range_of (double start, double length, guint32 outputs)
{
  double first = floor (start);

  return (Range){ start, length / outputs, (guint32) first,
                  (guint32) MAX (ceil (start + length), first + 1) };
}

void
dyno_resize_window (const guint8 *source, guint32 source_width, guint32 channels,
                    const DynoResizeWindow *window, guint32 width, guint32 height, guint8 *out,
                    gpointer scratch)
{
  gint64 began_us = g_get_monotonic_time ();
  const Range x_range = range_of (window->x, window->width, width),
              y_range = range_of (window->y, window->height, height);

  scale (source, source_width, channels, &x_range, &y_range, width, height, out, scratch);
  spent_us += g_get_monotonic_time () - began_us;
}

guint64
dyno_resize_take_us (void)
{
  gint64 us = spent_us;

  spent_us = 0;
  return (guint64) us;
}
