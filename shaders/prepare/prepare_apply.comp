#version 460
/* SPDX-License-Identifier: MIT */
/* x (N, H, W, C) padded = raw (N, H, W, C) dense * FACTOR + OFFSET per channel; samples from
 * n_valid on are zero.  RAW_U8=1: bytes, RAW_F32=1: floats; neither: normal noise from (seed, step,
 * element).
 * FLIP=1: a sample is mirrored left to right when its seed, as a number in [0, 1), is below
 * FLIP_PROBABILITY.
 * BRIGHTNESS=1: raw is multiplied by a number per sample, uniform in [max (0, 1 - MOST_BRIGHTNESS),
 * 1 + MOST_BRIGHTNESS) by its seed, and cut at what bytes or an image of floats hold at most.
 * An invocation makes one access of 16 bytes.  Channels past 4 take factor and
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
layout (constant_id = DYNO_PREPARE_FLIP_PROBABILITY) const float FLIP_PROBABILITY = 0.0;
layout (constant_id = DYNO_PREPARE_MOST_BRIGHTNESS) const float MOST_BRIGHTNESS = 0.0;
DYNO_PUSH (DynoPreparePush, p);
DYNO_BUFFER_IN (Words, uint, 4);
DYNO_BUFFER_IN (Floats, float, 4);
DYNO_BUFFER_IN (StepIn, DynoStepInput, 4);

#if !defined (RAW_U8) && !defined (RAW_F32)
uint key;
#endif

float
raw_value (uint element)
{
#if defined (RAW_U8)
  return float (Words (p.raw).v[element / 4] >> (element % 4 * 8) & 0xffu);
#elif defined (RAW_F32)
  return Floats (p.raw).v[element];
#else
  /* Box and Muller; the first number is in (0, 1] */
  const float u = (float (dyno_random_at (key, element * 2) >> 8) + 1.0) / 16777216.0;
  const float v = float (dyno_random_at (key, element * 2 + 1) >> 8) / 16777216.0;
  return sqrt (-2.0 * log (u)) * cos (6.283185307179586 * v);
#endif
}

#ifdef BRIGHTNESS
float
brightness_of (uint n)
{
  const float u =
      float (dyno_random_at (Words (p.seeds).v[n], DYNO_RANDOM_DRAW_BRIGHTNESS) >> 8) / 16777216.0;
  const float least = max (0.0, 1.0 - MOST_BRIGHTNESS);
  return least + (1.0 + MOST_BRIGHTNESS - least) * u;
}

float
brighten (float value, float factor)
{
#ifdef RAW_U8
  return clamp (value * factor, 0.0, 255.0);
#else
  return clamp (value * factor, 0.0, 1.0);
#endif
}
#endif

void
main ()
{
  StepIn step_input = StepIn (p.step_input);
  const uint n_valid = step_input.v[0].n_valid;
#if !defined (RAW_U8) && !defined (RAW_F32)
  key = dyno_random_key (step_input.v[0].seed_low, step_input.v[0].seed_high, step_input.v[0].step,
                         step_input.v[0].micro_step, DYNO_RANDOM_STREAM_NOISE);
#endif
  for (uint i = gl_GlobalInvocationID.x; i < COUNT; i += gl_NumWorkGroups.x * LOCAL_X)
    {
      const uint channel = i % CVECS * LANES, pixel = i / CVECS;
      const uint n = pixel / (W * H);
      Lanes x = lanes_fill (0.0);
      if (n < n_valid)
        {
          uint source = pixel;
#ifdef FLIP
          const float u = float (Words (p.seeds).v[n] >> 8) / 16777216.0;
          if (u < FLIP_PROBABILITY)
            source = pixel - pixel % W + W - 1 - pixel % W;
#endif
#ifdef BRIGHTNESS
          const float brightness = brightness_of (n);
#endif
          [[unroll]] for (uint j = 0; j < LANES; j++)
            {
              const uint c = channel + j;
              const float factor = c == 0 ? FACTOR0 : c == 1 ? FACTOR1 : c == 2 ? FACTOR2 : FACTOR3;
              const float offset = c == 0 ? OFFSET0 : c == 1 ? OFFSET1 : c == 2 ? OFFSET2 : OFFSET3;
              if (c < C)
                {
                  float value = raw_value (source * C + c);
#ifdef BRIGHTNESS
                  value = brighten (value, brightness);
#endif
                  x.q[j / 4][j % 4] = value * factor + offset;
                }
            }
        }
      lanes_store (p.target, i, x);
    }
}
