#version 460
/* SPDX-License-Identifier: MIT */
/* h, c (N, H) of one direction over steps first .. first + count - 1:
 *     (i, f, g, o) = gates[n][t] + W_hh h + b_hh
 *     c = sigmoid (f) c + sigmoid (i) tanh (g);   y[n][t][COLUMN ...] = h = sigmoid (o) tanh (c)
 * KEPT=1 also writes i, f, g, o after their activation functions; CELL=1 writes c, and where
 * first is not 0 starts from the y and c of the step before.  PAD_END=1: this direction's share is
 * the last of y, and the pads follow it. */
#include "types.glsl"
#include "lstm-push.h"
#include "lstm.glsl"

DYNO_PUSH (DynoLstmPush, p);

#define ROWS ((H + LOCAL_Y - 1) / LOCAL_Y) /* rows of the weight in a part */

shared float state[H * SAMPLES]; /* [row][sample] */
#if LOCAL_Y > 1
shared vec4 parts[LOCAL_Y * SAMPLES * LOCAL_X];
#endif

vec4
weight_at (uint row, uint unit)
{
  return vec4 (load (p.weight, row * KP + unit), load (p.weight, row * KP + H + unit),
               load (p.weight, row * KP + 2 * H + unit), load (p.weight, row * KP + 3 * H + unit));
}

vec4
gates_at (uint at, uint unit)
{
  return vec4 (load (p.gates, at * KP + unit), load (p.gates, at * KP + H + unit),
               load (p.gates, at * KP + 2 * H + unit), load (p.gates, at * KP + 3 * H + unit));
}

void
main ()
{
  const uint x = gl_LocalInvocationID.x, part = gl_LocalInvocationID.y;
  const uint first_sample = gl_WorkGroupID.x * SAMPLES;
  const uint row0 = part * ROWS, row_end = min (row0 + ROWS, H);
  uint valid[SAMPLES];
  float c[UNITS * SAMPLES];
  UNROLL for (uint b = 0; b < SAMPLES; b++)
    valid[b] = steps_valid (p.lengths, min (first_sample + b, N - 1), STRIDE, T);

  UNROLL for (uint u = 0; u < UNITS; u++)
    {
      const uint unit = u * LOCAL_X + x;
      UNROLL for (uint b = 0; b < SAMPLES; b++)
        {
          const uint n = first_sample + b;
          float h = 0.0;
          c[u * SAMPLES + b] = 0.0;
#ifdef CELL
          if (p.first > 0 && unit < H && n < N)
            {
              const uint at = n * T + place_of (p.first - 1);
              h = load (p.y, at * YP + COLUMN + unit);
              c[u * SAMPLES + b] = FloatsIn (p.cell).v[at * H + unit];
            }
#endif
          if (part == 0 && unit < H)
            state[unit * SAMPLES + b] = h;
        }
    }
#if KEEP > 0
#ifdef HALF
  uvec2 weights[KEEP];
  [[unroll]] for (uint k = 0; k < KEEP; k++)
    {
      const vec4 w = row0 + k < row_end && x < H ? weight_at (row0 + k, x) : vec4 (0.0);
      weights[k] = uvec2 (packHalf2x16 (w.xy), packHalf2x16 (w.zw));
    }
#define KEPT_WEIGHT(k) vec4 (unpackHalf2x16 (weights[k].x), unpackHalf2x16 (weights[k].y))
#else
  vec4 weights[KEEP];
  [[unroll]] for (uint k = 0; k < KEEP; k++)
    weights[k] = row0 + k < row_end && x < H ? weight_at (row0 + k, x) : vec4 (0.0);
#define KEPT_WEIGHT(k) weights[k]
#endif
#endif
  barrier ();

  for (uint s = 0; s < p.count; s++)
    {
      const uint t = place_of (p.first + s);
      vec4 sums[UNITS * SAMPLES];
#ifdef AHEAD
      vec4 gates[UNITS * SAMPLES];
      if (part == 0)
        UNROLL for (uint u = 0; u < UNITS; u++)
        UNROLL for (uint b = 0; b < SAMPLES; b++)
          gates[u * SAMPLES + b] = gates_at (min (first_sample + b, N - 1) * T + t,
                                             min (u * LOCAL_X + x, H - 1));
#endif
      UNROLL for (uint u = 0; u < UNITS; u++)
        {
          const uint unit = min (u * LOCAL_X + x, H - 1);
          vec4 sum[SAMPLES];
          UNROLL for (uint b = 0; b < SAMPLES; b++)
            sum[b] = vec4 (0.0);
#if KEEP > 0
          [[unroll]] for (uint k = 0; k < KEEP; k++)
            UNROLL for (uint b = 0; b < SAMPLES; b++)
              sum[b] += KEPT_WEIGHT (k) * state[(row0 + k) * SAMPLES + b];
#endif
          for (uint row = row0 + KEEP; row < row_end; row += 4)
            UNROLL for (uint k = 0; k < 4; k++)
              if (row + k < row_end)
                {
                  const vec4 w = weight_at (row + k, unit);
                  UNROLL for (uint b = 0; b < SAMPLES; b++)
                    sum[b] += w * state[(row + k) * SAMPLES + b];
                }
          UNROLL for (uint b = 0; b < SAMPLES; b++)
            sums[u * SAMPLES + b] = sum[b];
        }
#if LOCAL_Y > 1
      UNROLL for (uint b = 0; b < SAMPLES; b++)
        parts[(part * SAMPLES + b) * LOCAL_X + x] = sums[b];
#endif
      barrier (); /* the state has been read, and the parts are written */
      if (part == 0)
        UNROLL for (uint u = 0; u < UNITS; u++)
        {
          const uint unit = u * LOCAL_X + x;
          UNROLL for (uint b = 0; b < SAMPLES; b++)
            {
              const uint n = first_sample + b, at = n * T + t;
              const bool counts = t < valid[b];
              vec4 sum = sums[u * SAMPLES + b];
#if LOCAL_Y > 1
              [[unroll]] for (uint k = 1; k < LOCAL_Y; k++)
                sum += parts[(k * SAMPLES + b) * LOCAL_X + x];
#endif
              if (n < N && unit < H)
                {
#ifdef AHEAD
                  const vec4 own = gates[u * SAMPLES + b];
#else
                  const vec4 own = gates_at (at, unit);
#endif
                  [[unroll]] for (uint k = 0; k < 4; k++)
                    sum[k] += own[k] + FloatsIn (p.bias).v[k * H + unit];
                  vec4 gate = vec4 (sigmoid (sum.x), sigmoid (sum.y), tanh_of (sum.z),
                                    sigmoid (sum.w));
                  const float cell = gate.y * c[u * SAMPLES + b] + gate.x * gate.z,
                              h = counts ? ROUND (gate.w * tanh_of (cell)) : 0.0;
                  gate = counts ? gate : vec4 (0.0);
                  if (counts)
                    {
                      c[u * SAMPLES + b] = cell;
                      state[unit * SAMPLES + b] = h;
                    }
                  store (p.y, at * YP + COLUMN + unit, h);
#ifdef KEPT
                  [[unroll]] for (uint k = 0; k < 4; k++)
                    store (p.kept, at * KP + k * H + unit, gate[k]);
#endif
#ifdef CELL
                  FloatsOut (p.cell).v[at * H + unit] = counts ? cell : 0.0;
#endif
                }
              if (n < N && u == 0)
                {
#ifdef PAD_END
                  if (COLUMN + H + x < YP)
                    store (p.y, at * YP + COLUMN + H + x, 0.0);
#endif
#ifdef KEPT
                  if (4 * H + x < KP)
                    store (p.kept, at * KP + 4 * H + x, 0.0);
#endif
                }
            }
        }
      barrier ();
    }
}
