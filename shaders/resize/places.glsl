/* SPDX-License-Identifier: MIT */
/* The positions of the pixels of a resized image in the original image: pixel o of an axis of y
 * lies at
 *     place (o) = (o * STEP + BIAS) / UNIT - 1
 * of x, a fraction of integers, so that rounding moves no pixel.  LINEAR=1 interpolates between the
 * pixels before and after that position; without it a pixel of y is the pixel of x at
 * floor (place), where BIAS includes the rounding.  For positions outside of x its first or last
 * pixel is used.  o * STEP + BIAS stays below 2^31. */
#ifndef DYNO_PLACES_GLSL
#define DYNO_PLACES_GLSL
#include "resize-push.h"

layout (constant_id = DYNO_RESIZE_COUNT) const uint COUNT = 1;
layout (constant_id = DYNO_RESIZE_CVECS) const uint CVECS = 1;
layout (constant_id = DYNO_RESIZE_H) const uint H = 1;
layout (constant_id = DYNO_RESIZE_W) const uint W = 1;
layout (constant_id = DYNO_RESIZE_OH) const uint OH = 1;
layout (constant_id = DYNO_RESIZE_OW) const uint OW = 1;
layout (constant_id = DYNO_RESIZE_STEP_H) const uint STEP_H = 2;
layout (constant_id = DYNO_RESIZE_BIAS_H) const uint BIAS_H = 2;
layout (constant_id = DYNO_RESIZE_UNIT_H) const uint UNIT_H = 2;
layout (constant_id = DYNO_RESIZE_STEP_W) const uint STEP_W = 2;
layout (constant_id = DYNO_RESIZE_BIAS_W) const uint BIAS_W = 2;
layout (constant_id = DYNO_RESIZE_UNIT_W) const uint UNIT_W = 2;

/* The pixels of x that pixel o of y is computed from, with the weights 1 - share (before) and share
 * (after); without LINEAR pixel o is a copy of pixel `before`. */
struct Between {
  uint before, after;
  float share;
};

Between
between (uint o, uint extent, uint step, uint bias, uint unit)
{
  const uint at = o * step + bias, after = at / unit;
  return Between (min (max (after, 1) - 1, extent - 1), min (after, extent - 1),
                  float (at - after * unit) / float (unit));
}

/* The weight of pixel i of x in the pixel of y that is computed from b. */
float
part_of (uint i, Between b)
{
  return (b.before == i ? 1.0 - b.share : 0.0) + (b.after == i ? b.share : 0.0);
}

/* The first pixel of y whose position is k - 1 or more. */
uint
first_from (uint k, uint extent_y, uint step, uint bias, uint unit)
{
  const uint at = k * unit;
  return at <= bias ? 0 : min ((at - bias + step - 1) / step, extent_y);
}

/* The range of pixels of y, [result.x, result.y), to which pixel i of x contributes. */
uvec2
pixels_with (uint i, uint extent, uint extent_y, uint step, uint bias, uint unit)
{
#ifdef LINEAR
  const uint begin = i;
#else
  const uint begin = i + 1;
#endif
  return uvec2 (i == 0 ? 0 : first_from (begin, extent_y, step, bias, unit),
                i == extent - 1 ? extent_y : first_from (i + 2, extent_y, step, bias, unit));
}
#endif
