#version 460
/* SPDX-License-Identifier: MIT */
/* x (N, H, W, C) padded = raw (N, H, W, C) dense * FACTOR + OFFSET per channel; samples from
 * n_valid on are zero.  RAW_U8=1: bytes, RAW_F32=1: floats; neither: normal noise from (seed, step,
 * element).
 * FLIPS=1: a sample is mirrored at random, by its seed.  MAP=1, instead of FLIPS: pixels are read
 * at the places to which the sample's change maps them, with BILINEAR=1 interpolated between four
 * pixels.
 * COLOUR=1: before FACTOR and OFFSET raw is changed by brightness, contrast, saturation and hue, in
 * this order, each clamped to the range of bytes or of an image of floats.
 * MIX=1: the sample before, prepared with its own changes, is mixed in by the shares and the box of
 * DynoStepInput.
 * NOISED=1: normal noise is added to the result; ERASE=1: the result is 0 in the sample's window.
 * An invocation makes one access of 16 bytes.  Channels after the fourth take the factor and
 * offset of the fourth. */
#include "types.glsl"
#include "lanes.glsl"
#include "prepare-push.h"
#include "random.h"
#include "step.h"

layout (constant_id = DYNO_PREPARE_COUNT) const uint COUNT = 1; /* accesses in x */
layout (constant_id = DYNO_PREPARE_CVECS) const uint CVECS = 1;
layout (constant_id = DYNO_PREPARE_H) const uint H = 1;
layout (constant_id = DYNO_PREPARE_W) const uint W = 1;
layout (constant_id = DYNO_PREPARE_C) const uint C = 1;
layout (constant_id = DYNO_PREPARE_FACTOR0) const float FACTOR0 = 1.0;
layout (constant_id = DYNO_PREPARE_FACTOR1) const float FACTOR1 = 1.0;
layout (constant_id = DYNO_PREPARE_FACTOR2) const float FACTOR2 = 1.0;
layout (constant_id = DYNO_PREPARE_FACTOR3) const float FACTOR3 = 1.0;
layout (constant_id = DYNO_PREPARE_OFFSET0) const float OFFSET0 = 0.0;
layout (constant_id = DYNO_PREPARE_OFFSET1) const float OFFSET1 = 0.0;
layout (constant_id = DYNO_PREPARE_OFFSET2) const float OFFSET2 = 0.0;
layout (constant_id = DYNO_PREPARE_OFFSET3) const float OFFSET3 = 0.0;
layout (constant_id = DYNO_PREPARE_FLIP) const float FLIP = 0.0;
layout (constant_id = DYNO_PREPARE_FLIP_VERTICAL) const float FLIP_VERTICAL = 0.0;
layout (constant_id = DYNO_PREPARE_PAD) const uint PAD = 0;
layout (constant_id = DYNO_PREPARE_SPLITS) const uint SPLITS = 0;
layout (constant_id = DYNO_PREPARE_SATURATE) const uint SATURATE = 0;
layout (constant_id = DYNO_PREPARE_NOISE) const float NOISE = 0.0;
DYNO_PUSH (DynoPreparePush, p);
DYNO_BUFFER_IN (Words, uint, 4);
DYNO_BUFFER_IN (Floats, float, 4);
DYNO_BUFFER_IN (Changes, vec4, 16);
DYNO_BUFFER_IN (StepIn, DynoStepInput, 4);

#if !defined (RAW_U8) && !defined (RAW_F32)
uint key;
#endif
#include "pixels.glsl"

#ifdef COLOUR
/* rotates the hue by a share of the circle; saturation and value are unchanged */
vec3
turn_hue (vec3 rgb, float turn)
{
  const float value = max (max (rgb.r, rgb.g), rgb.b), least = min (min (rgb.r, rgb.g), rgb.b);
  const float chroma = value - least;
  if (chroma <= 0.0)
    return rgb;
  float sixths = value == rgb.r   ? (rgb.g - rgb.b) / chroma
                 : value == rgb.g ? (rgb.b - rgb.r) / chroma + 2.0
                                  : (rgb.r - rgb.g) / chroma + 4.0;
  sixths += 6.0 * turn;
  /* A channel is the value up to a sixth of the circle away from its hue, and the minimum from two
   * sixths on. */
  const vec3 away = abs (mod (vec3 (sixths, sixths - 2.0, sixths - 4.0) + 3.0, 6.0) - 3.0);
  return value - chroma * clamp (away - 1.0, 0.0, 1.0);
}

vec4
recolour (vec4 value, uint n, DynoPrepareChange change)
{
  value = brighten (value, change.brightness);
  if (SPLITS > 0)
    {
      float sum = 0.0;
      for (uint i = 0; i < SPLITS; i++)
        sum += Floats (p.greys).v[n * SPLITS + i];
      value = clamp (mix (vec4 (sum / float (W * H)), value, change.contrast), 0.0, MOST_VALUE);
    }
  if (SATURATE > 0 && C == 3)
    {
      value = clamp (mix (vec4 (grey_of (value)), value, change.saturation), 0.0, MOST_VALUE);
      value.rgb = turn_hue (value.rgb, change.hue);
    }
  return value;
}
#endif

/* Computes one access of the result. */
Lanes
prepared (uint n, uint x, uint y, uint channel)
{
#if defined (MAP) || defined (COLOUR) || defined (ERASE)
  const DynoPrepareChange change = change_at (n);
#endif
#ifdef ERASE
  if (float (x) >= change.erase_left && float (x) < change.erase_right
      && float (y) >= change.erase_top && float (y) < change.erase_bottom)
    return lanes_fill (0.0);
#endif
#ifdef MAP
  Lanes lanes = mapped_lanes (n, x, y, channel, change);
#else
  uint from_x = x, from_y = y;
#ifdef FLIPS
  const uint seed = Words (p.seeds).v[n];
  if (float (seed >> 8) / 16777216.0 < FLIP)
    from_x = W - 1 - x;
  if (FLIP_VERTICAL > 0.0 && uniform_at (seed, DYNO_RANDOM_DRAW_FLIP_VERTICAL) < FLIP_VERTICAL)
    from_y = H - 1 - y;
#endif
  Lanes lanes = raw_lanes ((n * H + from_y) * W + from_x, channel);
#endif
#ifdef NOISED
  const uint noise_key = dyno_random_at (Words (p.seeds).v[n], DYNO_RANDOM_DRAW_NOISE);
#endif
#ifdef COLOUR
  [[unroll]] for (uint i = 0; i < QUADS; i++)
    if (channel + i * 4 < C)
      lanes.q[i] = recolour (lanes.q[i], n, change);
#endif
  Lanes result = lanes_fill (0.0);
  [[unroll]] for (uint j = 0; j < LANES; j++)
    {
      const uint c = channel + j;
      const float factor = c == 0 ? FACTOR0 : c == 1 ? FACTOR1 : c == 2 ? FACTOR2 : FACTOR3;
      const float offset = c == 0 ? OFFSET0 : c == 1 ? OFFSET1 : c == 2 ? OFFSET2 : OFFSET3;
      if (c < C)
        {
          result.q[j / 4][j % 4] = lanes.q[j / 4][j % 4] * factor + offset;
#ifdef NOISED
          result.q[j / 4][j % 4] += NOISE * normal_at (noise_key, (y * W + x) * C + c);
#endif
        }
    }
  return result;
}

#ifdef MIX
/* The other sample is read only where it has a share: 1 inside the box, mix_other everywhere
 * else. */
Lanes
mixed (uint n, uint n_valid, uint x, uint y, uint channel, float other, uvec4 box)
{
  const uint before = n > 0 ? n - 1 : n_valid - 1;
  if (x >= box.x && x < box.z && y >= box.y && y < box.w)
    other = 1.0;
  Lanes sum = lanes_fill (0.0);
  for (uint k = 0; k < 2; k++)
    {
      const float share = k == 0 ? 1.0 - other : other;
      if (share > 0.0)
        {
          const Lanes one = prepared (k == 0 ? n : before, x, y, channel);
          [[unroll]] for (uint i = 0; i < QUADS; i++)
            sum.q[i] += share * one.q[i];
        }
    }
  return sum;
}
#endif

void
main ()
{
  StepIn step_input = StepIn (p.step_input);
  const uint n_valid = step_input.v[0].n_valid;
#ifdef MIX
  const float mix_other = step_input.v[0].mix_other;
  const uvec4 mix_box = uvec4 (step_input.v[0].mix_left, step_input.v[0].mix_top,
                               step_input.v[0].mix_right, step_input.v[0].mix_bottom);
#endif
#if !defined (RAW_U8) && !defined (RAW_F32)
  key = dyno_random_key (step_input.v[0].seed_low, step_input.v[0].seed_high, step_input.v[0].step,
                         step_input.v[0].micro_step, DYNO_RANDOM_STREAM_NOISE);
#endif
  for (uint i = gl_GlobalInvocationID.x; i < COUNT; i += gl_NumWorkGroups.x * LOCAL_X)
    {
      const uint channel = i % CVECS * LANES, pixel = i / CVECS;
      const uint row = pixel / W, n = row / H;
      Lanes x = lanes_fill (0.0);
      if (n < n_valid && channel < C)
#ifdef MIX
        x = mixed (n, n_valid, pixel % W, row % H, channel, mix_other, mix_box);
#else
        x = prepared (n, pixel % W, row % H, channel);
#endif
      lanes_store (p.target, i, x);
    }
}
