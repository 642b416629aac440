#version 460
/* SPDX-License-Identifier: MIT */
/* Class ids (N, H, W) of 32 bits = a mask (N, H, W) of bytes, with the geometric changes that
 * prepare_apply applies to the sample's image, by the nearest pixel; pixels from outside of the
 * mask, and samples from n_valid on, are DYNO_PREPARE_MASK_OUTSIDE.  FLIPS=1: a mask is mirrored at
 * random, by the sample's seed.  MAP=1, instead of FLIPS: a pixel is read at the place to which the
 * sample's change maps it.  An invocation makes one pixel. */
#include "types.glsl"
#include "lanes.glsl"
#include "prepare-push.h"
#include "random.h"
#include "step.h"

layout (constant_id = DYNO_PREPARE_COUNT) const uint COUNT = 1; /* pixels */
layout (constant_id = DYNO_PREPARE_H) const uint H = 1;
layout (constant_id = DYNO_PREPARE_W) const uint W = 1;
layout (constant_id = DYNO_PREPARE_C) const uint C = 1;
layout (constant_id = DYNO_PREPARE_FLIP) const float FLIP = 0.0;
layout (constant_id = DYNO_PREPARE_FLIP_VERTICAL) const float FLIP_VERTICAL = 0.0;
layout (constant_id = DYNO_PREPARE_PAD) const uint PAD = 0;
DYNO_PUSH (DynoPreparePush, p);
DYNO_BUFFER_IN (Words, uint, 4);
DYNO_BUFFER_IN (Floats, float, 4);
DYNO_BUFFER_IN (Changes, vec4, 16);
DYNO_BUFFER_IN (StepIn, DynoStepInput, 4);
DYNO_BUFFER_OUT (Ids, uint, 4);
#define RAW_U8 1
#include "pixels.glsl"

uint
id_at (uint n, uint x, uint y)
{
  const uint i = (n * H + y) * W + x;
  return Words (p.raw).v[i / 4] >> (i % 4 * 8) & 0xffu;
}

uint
moved_id (uint n, uint x, uint y)
{
#ifdef MAP
  const DynoPrepareChange change = change_at (n);
  float sx, sy;
  if (!map_pixel (x, y, change, sx, sy))
    return DYNO_PREPARE_MASK_OUTSIDE;
  return id_at (n, min (uint (sx + 0.5), W - 1), min (uint (sy + 0.5), H - 1));
#else
#ifdef FLIPS
  const uint seed = Words (p.seeds).v[n];
  if (float (seed >> 8) / 16777216.0 < FLIP)
    x = W - 1 - x;
  if (FLIP_VERTICAL > 0.0 && uniform_at (seed, DYNO_RANDOM_DRAW_FLIP_VERTICAL) < FLIP_VERTICAL)
    y = H - 1 - y;
#endif
  return id_at (n, x, y);
#endif
}

void
main ()
{
  const uint n_valid = StepIn (p.step_input).v[0].n_valid;
  for (uint i = gl_GlobalInvocationID.x; i < COUNT; i += gl_NumWorkGroups.x * LOCAL_X)
    {
      const uint row = i / W, n = row / H;
      Ids (p.target).v[i] =
          n < n_valid ? moved_id (n, i % W, row % H) : DYNO_PREPARE_MASK_OUTSIDE;
    }
}
