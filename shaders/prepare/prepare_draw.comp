#version 460
/* SPDX-License-Identifier: MIT */
/* The change of each sample (N), drawn only from its seed, with an invocation per sample.  The
 * places and sizes of windows are drawn as by torchvision's RandomResizedCrop and RandomErasing,
 * the factors as by its ColorJitter.  The map takes a pixel of the result back to the raw image:
 * flips, then the rotation (anticlockwise in the picture), then the shift, then the crop. */
#include "types.glsl"
#include "prepare-push.h"
#include "random.h"

layout (constant_id = DYNO_PREPARE_DRAW_COUNT) const uint COUNT = 1;
layout (constant_id = DYNO_PREPARE_DRAW_H) const uint H = 1;
layout (constant_id = DYNO_PREPARE_DRAW_W) const uint W = 1;
layout (constant_id = DYNO_PREPARE_DRAW_CROP) const float CROP = 0.0;
layout (constant_id = DYNO_PREPARE_DRAW_CROP_RATIO) const float CROP_RATIO = 1.0;
layout (constant_id = DYNO_PREPARE_DRAW_SHIFT_X) const uint SHIFT_X = 0;
layout (constant_id = DYNO_PREPARE_DRAW_SHIFT_Y) const uint SHIFT_Y = 0;
layout (constant_id = DYNO_PREPARE_DRAW_ROTATE) const float ROTATE = 0.0;
layout (constant_id = DYNO_PREPARE_DRAW_FLIP) const float FLIP = 0.0;
layout (constant_id = DYNO_PREPARE_DRAW_FLIP_VERTICAL) const float FLIP_VERTICAL = 0.0;
layout (constant_id = DYNO_PREPARE_DRAW_BRIGHTNESS) const float BRIGHTNESS = 0.0;
layout (constant_id = DYNO_PREPARE_DRAW_CONTRAST) const float CONTRAST = 0.0;
layout (constant_id = DYNO_PREPARE_DRAW_SATURATION) const float SATURATION = 0.0;
layout (constant_id = DYNO_PREPARE_DRAW_HUE) const float HUE = 0.0;
layout (constant_id = DYNO_PREPARE_DRAW_ERASE) const float ERASE = 0.0;
layout (constant_id = DYNO_PREPARE_DRAW_TIME_MASK) const float TIME_MASK = 0.0;
DYNO_PUSH (DynoPreparePush, p);
DYNO_BUFFER_IN (Words, uint, 4);
DYNO_BUFFER_OUT (ChangesOut, DynoPrepareChange, 16);

float
uniform_at (uint seed, uint draw)
{
  return float (dyno_random_at (seed, draw) >> 8) / 16777216.0;
}

/* a whole number below n */
float
below (uint seed, uint draw, float n)
{
  return min (floor (uniform_at (seed, draw) * n), n - 1.0);
}

float
factor_of (uint seed, uint draw, float most)
{
  const float least = max (0.0, 1.0 - most);
  return least + (1.0 + most - least) * uniform_at (seed, draw);
}

/* Sine and cosine of an angle in degrees, exact at multiples of 90 and to a float's last digits
 * elsewhere; the device's functions need not be that exact. */
vec2
sine_and_cosine (float degrees)
{
  const float quarters = round (degrees / 90.0);
  const float a = (degrees - quarters * 90.0) * 0.017453292519943295, b = a * a;
  const float s =
      a * (1.0 + b * (-1.0 / 6 + b * (1.0 / 120 + b * (-1.0 / 5040 + b * (1.0 / 362880)))));
  const float c = 1.0 + b * (-0.5 + b * (1.0 / 24 + b * (-1.0 / 720 + b * (1.0 / 40320))));
  const int turn = int (quarters) & 3;
  const vec2 odd = vec2 (c, -s), even = vec2 (s, c);
  const vec2 result = (turn & 1) != 0 ? odd : even;
  return (turn & 2) != 0 ? -result : result;
}

/* A window (x, y, width, height) whose share of the area of the image is between area.x and area.y,
 * and whose width over height is between exp (least_log) and exp (most_log); with `smaller` both
 * sides are smaller than the image.  The width is 0 where ten tries found no window that fits. */
vec4
draw_window (uint seed, uint draw, vec2 area, float least_log, float most_log, bool smaller)
{
  vec4 window = vec4 (0.0);
  for (uint k = 0; k < DYNO_RANDOM_WINDOW_TRIES && window.z == 0.0; k++, draw += 4)
    {
      const float pixels = float (W) * float (H) * mix (area.x, area.y, uniform_at (seed, draw));
      const float ratio = exp (mix (least_log, most_log, uniform_at (seed, draw + 1)));
      const float w = roundEven (sqrt (pixels * ratio)), h = roundEven (sqrt (pixels / ratio));
      const float room_x = float (W) - w, room_y = float (H) - h, least = smaller ? 1.0 : 0.0;
      if (w > 0.0 && h > 0.0 && room_x >= least && room_y >= least)
        window = vec4 (below (seed, draw + 2, room_x + 1.0),
                       below (seed, draw + 3, room_y + 1.0), w, h);
    }
  return window;
}

vec4
draw_crop (uint seed)
{
  if (CROP <= 0.0)
    return vec4 (0.0, 0.0, W, H);
  const float most_log = log (CROP_RATIO);
  const vec4 window =
      draw_window (seed, DYNO_RANDOM_DRAW_CROP_WINDOW, vec2 (CROP, 1.0), -most_log, most_log,
                   false);
  if (window.z > 0.0)
    return window;
  /* the largest window in the middle of the image with a ratio in the range */
  float w = float (W), h = float (H);
  if (w * CROP_RATIO < h)
    h = roundEven (w * CROP_RATIO);
  else if (w > h * CROP_RATIO)
    w = roundEven (h * CROP_RATIO);
  return vec4 (floor ((float (W) - w) / 2.0), floor ((float (H) - h) / 2.0), w, h);
}

vec4
draw_erased (uint seed)
{
  if (TIME_MASK > 0.0)
    {
      const float steps =
          floor (TIME_MASK * float (W) * uniform_at (seed, DYNO_RANDOM_DRAW_TIME_MASK));
      const float first =
          below (seed, DYNO_RANDOM_DRAW_TIME_MASK + 1, float (W) - steps + 1.0);
      return vec4 (first, 0.0, first + steps, H);
    }
  if (uniform_at (seed, DYNO_RANDOM_DRAW_ERASE) >= ERASE)
    return vec4 (0.0);
  /* torchvision's ratio is height over width, 0.3 to 3.3 */
  const vec4 window = draw_window (seed, DYNO_RANDOM_DRAW_ERASE_WINDOW, vec2 (0.02, 0.33),
                                   -log (3.3), -log (0.3), true);
  return vec4 (window.xy, window.xy + window.zw);
}

void
main ()
{
  for (uint n = gl_GlobalInvocationID.x; n < COUNT; n += gl_NumWorkGroups.x * LOCAL_X)
    {
      const uint seed = Words (p.seeds).v[n];
      const vec4 crop = draw_crop (seed), erased = draw_erased (seed);
      const vec2 turned =
          sine_and_cosine (ROTATE * (2.0 * uniform_at (seed, DYNO_RANDOM_DRAW_ROTATE) - 1.0));
      const float flip = float (seed >> 8) / 16777216.0 < FLIP ? -1.0 : 1.0;
      const float upside =
          uniform_at (seed, DYNO_RANDOM_DRAW_FLIP_VERTICAL) < FLIP_VERTICAL ? -1.0 : 1.0;
      const vec2 shift =
          vec2 (below (seed, DYNO_RANDOM_DRAW_SHIFT, float (2 * SHIFT_X + 1)),
                below (seed, DYNO_RANDOM_DRAW_SHIFT + 1, float (2 * SHIFT_Y + 1)))
          - vec2 (SHIFT_X, SHIFT_Y);
      const vec2 middle = vec2 (W, H) / 2.0, scale = crop.zw / vec2 (W, H);
      /* maps a position in the result to one in the cropped image, both counted from the middle */
      const mat2 back = mat2 (turned.y * flip, turned.x * flip, -turned.x * upside,
                              turned.y * upside);
      const vec2 origin = crop.xy + scale * (back * (0.5 - middle) + middle + shift) - 0.5;
      DynoPrepareChange change;
      change.xx = scale.x * back[0].x;
      change.xy = scale.x * back[1].x;
      change.x0 = origin.x;
      change.yx = scale.y * back[0].y;
      change.yy = scale.y * back[1].y;
      change.y0 = origin.y;
      change.left = crop.x;
      change.top = crop.y;
      change.right = crop.x + crop.z - 1.0;
      change.bottom = crop.y + crop.w - 1.0;
      change.brightness = factor_of (seed, DYNO_RANDOM_DRAW_BRIGHTNESS, BRIGHTNESS);
      change.contrast = factor_of (seed, DYNO_RANDOM_DRAW_CONTRAST, CONTRAST);
      change.saturation = factor_of (seed, DYNO_RANDOM_DRAW_SATURATION, SATURATION);
      change.hue = HUE * (2.0 * uniform_at (seed, DYNO_RANDOM_DRAW_HUE) - 1.0);
      change.erase_left = erased.x;
      change.erase_top = erased.y;
      change.erase_right = erased.z;
      change.erase_bottom = erased.w;
      change.reserved0 = change.reserved1 = 0.0;
      ChangesOut (p.changes).v[n] = change;
    }
}
