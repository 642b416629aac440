/* SPDX-License-Identifier: MIT */
/* Separable resampling in 16-bit fixed point, rows first: the vertical pass runs over whole source
 * rows, which the compiler turns into vector code, and only over the columns that the crop keeps;
 * the horizontal pass then has width outputs per row.  Weights of a tap sum to exactly 2^14, so a
 * flat image stays flat. */
#include "resize.h"
#include <math.h>
#include <string.h>

#define WEIGHT_BITS 14

typedef struct {
  guint32 first; /* source place of the first tap */
  guint32 count;
} Span;

typedef struct {
  Span *spans;      /* one an output */
  gint16 *weights;  /* max_taps an output */
  guint32 max_taps; /* stride of weights */
} Axis;

/* Source length that is kept of an axis (the crop), and where it starts, for scaling by 1 /
 * step. */
static double
step_of (guint32 source_width, guint32 source_height, guint32 width, guint32 height)
{
  return MIN ((double) source_width / width, (double) source_height / height);
}

static guint32
taps_of (double step)
{
  return (guint32) (2 * ceil (MAX (step, 1.0))) + 2;
}

static void
fill_axis (Axis *axis, guint32 source, guint32 outputs, double step)
{
  double support = MAX (step, 1.0);
  double start = (source - step * outputs) / 2;

  for (guint32 i = 0; i < outputs; i++)
    {
      double centre = start + (i + 0.5) * step;
      gint64 first = MAX ((gint64) floor (centre - support), 0);
      gint64 last = MIN ((gint64) ceil (centre + support), (gint64) source);
      gint16 *weights = axis->weights + (gsize) i * axis->max_taps;
      double total = 0;
      int left = 1 << WEIGHT_BITS, largest = 0;

      first = MIN (first, (gint64) source - 1);
      last = CLAMP (last, first + 1, first + axis->max_taps);
      for (gint64 k = first; k < last; k++)
        total += MAX (1 - fabs (k + 0.5 - centre) / support, 0);
      for (gint64 k = first; k < last; k++)
        {
          double weight =
              total > 0 ? MAX (1 - fabs (k + 0.5 - centre) / support, 0) / total : k == first;
          weights[k - first] = (gint16) floor (weight * (1 << WEIGHT_BITS) + 0.5);
          left -= weights[k - first];
          if (weights[k - first] > weights[largest])
            largest = (int) (k - first);
        }
      weights[largest] = (gint16) (weights[largest] + left);
      axis->spans[i] = (Span){ (guint32) first, (guint32) (last - first) };
    }
}

/* The block of an axis in scratch: spans, then weights. */
static guint64
axis_bytes (guint32 outputs, double step)
{
  return (guint64) outputs * (sizeof (Span) + taps_of (step) * sizeof (gint16)) + 64;
}

guint64
dyno_resize_scratch_bytes (guint32 source_width, guint32 source_height, guint32 channels,
                           guint32 width, guint32 height)
{
  double step = step_of (source_width, source_height, width, height);
  return axis_bytes (width, step) + axis_bytes (height, step)
         + (guint64) source_width * channels * (4 + 1) + 256;
}

static guint8 *
place_axis (Axis *axis, guint8 *at, guint32 source, guint32 outputs, double step)
{
  axis->max_taps = taps_of (step);
  axis->spans = (Span *) (gpointer) at;
  axis->weights = (gint16 *) (gpointer) (at + (gsize) outputs * sizeof (Span));
  fill_axis (axis, source, outputs, step);
  return (guint8 *) (((guintptr) at + axis_bytes (outputs, step)) & ~(guintptr) 15);
}

static void
blend_rows (const guint8 *rows, gsize stride, const gint16 *weights, guint32 count, gint32 *sums,
            guint8 *out, gsize size)
{
  if (count == 1)
    {
      memcpy (out, rows, size);
      return;
    }
  for (gsize i = 0; i < size; i++)
    sums[i] = rows[i] * weights[0] + (1 << (WEIGHT_BITS - 1));
  for (guint32 k = 1; k < count; k++)
    {
      const guint8 *row = rows + k * stride;
      gint32 weight = weights[k];
      for (gsize i = 0; i < size; i++)
        sums[i] += row[i] * weight;
    }
  for (gsize i = 0; i < size; i++)
    out[i] = (guint8) (sums[i] >> WEIGHT_BITS);
}

static void
blend_columns (const guint8 *row, const Axis *axis, guint32 channels, guint32 width, guint8 *out)
{
  for (guint32 x = 0; x < width; x++)
    {
      Span span = axis->spans[x];
      const gint16 *weights = axis->weights + (gsize) x * axis->max_taps;
      const guint8 *from = row + (gsize) span.first * channels;
      gint32 sums[4] = { 1 << (WEIGHT_BITS - 1), 1 << (WEIGHT_BITS - 1), 1 << (WEIGHT_BITS - 1),
                         1 << (WEIGHT_BITS - 1) };

      if (channels == 3)
        for (guint32 k = 0; k < span.count; k++, from += 3)
          {
            sums[0] += from[0] * weights[k];
            sums[1] += from[1] * weights[k];
            sums[2] += from[2] * weights[k];
          }
      else
        for (guint32 k = 0; k < span.count; k++, from += channels)
          for (guint32 c = 0; c < channels; c++)
            sums[c] += from[c] * weights[k];
      for (guint32 c = 0; c < channels; c++)
        *out++ = (guint8) (sums[c] >> WEIGHT_BITS);
    }
}

void
dyno_resize_cover (const guint8 *source, guint32 source_width, guint32 source_height,
                   guint32 channels, guint32 width, guint32 height, guint8 *out, gpointer scratch)
{
  double step = step_of (source_width, source_height, width, height);
  guint8 *at = (guint8 *) (((guintptr) scratch + 15) & ~(guintptr) 15);
  gsize stride = (gsize) source_width * channels;
  Axis horizontal, vertical;
  guint32 first, last;
  gint32 *sums;
  guint8 *row;

  if (source_width == width && source_height == height)
    {
      memcpy (out, source, stride * height);
      return;
    }
  at = place_axis (&horizontal, at, source_width, width, step);
  at = place_axis (&vertical, at, source_height, height, step);
  sums = (gint32 *) (gpointer) at;
  row = at + stride * sizeof (gint32);

  /* Only columns that some output reads. */
  first = horizontal.spans[0].first;
  last = horizontal.spans[width - 1].first + horizontal.spans[width - 1].count;
  for (guint32 y = 0; y < height; y++)
    {
      Span span = vertical.spans[y];
      blend_rows (source + span.first * stride + (gsize) first * channels, stride,
                  vertical.weights + (gsize) y * vertical.max_taps, span.count, sums,
                  row + (gsize) first * channels, (gsize) (last - first) * channels);
      blend_columns (row, &horizontal, channels, width, out + (gsize) y * width * channels);
    }
}
