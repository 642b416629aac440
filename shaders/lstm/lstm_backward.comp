#version 460
/* SPDX-License-Identifier: MIT */
/* The gradient of the gates before their activation functions, dgates (N, T, KP), of one direction,
 * from the last step to the first; a dispatch takes steps first .. first + count - 1 of this order:
 *     dh = dy[n][t][COLUMN ...] + W_hh^T dgates of the following step;   e = tanh (c)
 *     dc = dc + dh o (1 - e^2)
 *     di = dc g i (1 - i);  df = dc c' f (1 - f);  dg = dc i (1 - g^2);  do = dh e o (1 - o)
 *     dc = dc f
 * with c' the cell of the step before.  previous[n][t] is the state before the step, for the
 * product that makes the weight's gradient.  CARRY=1: dc is carried from one dispatch to the
 * next. */
#include "types.glsl"
#include "lstm-push.h"
#include "lstm.glsl"

DYNO_PUSH (DynoLstmBackwardPush, p);

#define HP   ((H + 7) / 8 * 8)
#define ROWS ((4 * H + LOCAL_Y - 1) / LOCAL_Y)

shared float slopes[4 * H * SAMPLES]; /* dgates of the following step, [gate * H + unit][sample] */
#if LOCAL_Y > 1
shared float parts[LOCAL_Y * SAMPLES * LOCAL_X];
#endif

float
weight_at (uint row, uint unit)
{
  return load (p.weight, row * H + unit);
}

/* The values that a step reads from the forward pass and from the gradient of y. */
struct Kept
{
  vec4 gate;
  float cell, cell_before, dy, y_before;
};

Kept
kept_at (uint n, uint t, uint before, bool is_first, uint unit)
{
  const uint at = n * T + t;
  Kept kept;
  [[unroll]] for (uint k = 0; k < 4; k++)
    kept.gate[k] = load (p.kept, at * KP + k * H + unit);
  kept.cell = FloatsIn (p.cell).v[at * H + unit];
  kept.cell_before = is_first ? 0.0 : FloatsIn (p.cell).v[(n * T + before) * H + unit];
  kept.dy = load (p.dy, at * YP + COLUMN + unit);
  kept.y_before = is_first ? 0.0 : load (p.y, (n * T + before) * YP + COLUMN + unit);
  return kept;
}

void
main ()
{
  const uint x = gl_LocalInvocationID.x, part = gl_LocalInvocationID.y;
  const uint first_sample = gl_WorkGroupID.x * SAMPLES;
  const uint row0 = part * ROWS, row_end = min (row0 + ROWS, 4 * H);
  uint valid[SAMPLES];
  float dc[UNITS * SAMPLES];
  UNROLL for (uint b = 0; b < SAMPLES; b++)
    valid[b] = steps_valid (p.lengths, min (first_sample + b, N - 1), STRIDE, T);

  UNROLL for (uint u = 0; u < UNITS; u++)
    {
      const uint unit = u * LOCAL_X + x;
      UNROLL for (uint b = 0; b < SAMPLES; b++)
        {
          const uint n = first_sample + b;
          const bool goes_on = p.first > 0 && unit < H && n < N;
          dc[u * SAMPLES + b] = 0.0;
#ifdef CARRY
          if (goes_on)
            dc[u * SAMPLES + b] = FloatsIn (p.dcell).v[n * H + unit];
#endif
          if (part == 0 && unit < H)
            [[unroll]] for (uint k = 0; k < 4; k++)
              slopes[(k * H + unit) * SAMPLES + b] =
                  goes_on
                      ? load (p.dgates, (n * T + place_of (T - p.first)) * KP + k * H + unit)
                      : 0.0;
        }
    }
#if KEEP > 0
#ifdef HALF
  uint weights[KEEP / 2];
  [[unroll]] for (uint k = 0; k < KEEP; k += 2)
    weights[k / 2] =
        packHalf2x16 (vec2 (row0 + k < row_end && x < H ? weight_at (row0 + k, x) : 0.0,
                            row0 + k + 1 < row_end && x < H ? weight_at (row0 + k + 1, x) : 0.0));
#define KEPT_WEIGHT(k) unpackHalf2x16 (weights[(k) / 2])[(k) % 2]
#else
  float weights[KEEP];
  [[unroll]] for (uint k = 0; k < KEEP; k++)
    weights[k] = row0 + k < row_end && x < H ? weight_at (row0 + k, x) : 0.0;
#define KEPT_WEIGHT(k) weights[k]
#endif
#endif
  barrier ();

  for (uint s = 0; s < p.count; s++)
    {
      const uint step = T - 1 - p.first - s, t = place_of (step), before = place_of (step - 1);
      float sums[UNITS * SAMPLES];
#ifdef AHEAD
      Kept ahead[UNITS * SAMPLES];
      if (part == 0)
        UNROLL for (uint u = 0; u < UNITS; u++)
        UNROLL for (uint b = 0; b < SAMPLES; b++)
          ahead[u * SAMPLES + b] = kept_at (min (first_sample + b, N - 1), t, before, step == 0,
                                            min (u * LOCAL_X + x, H - 1));
#endif
      UNROLL for (uint u = 0; u < UNITS; u++)
        {
          const uint unit = min (u * LOCAL_X + x, H - 1);
          float sum[SAMPLES];
          UNROLL for (uint b = 0; b < SAMPLES; b++)
            sum[b] = 0.0;
#if KEEP > 0
          [[unroll]] for (uint k = 0; k < KEEP; k++)
            UNROLL for (uint b = 0; b < SAMPLES; b++)
              sum[b] += KEPT_WEIGHT (k) * slopes[(row0 + k) * SAMPLES + b];
#endif
          for (uint row = row0 + KEEP; row < row_end; row += 4)
            UNROLL for (uint k = 0; k < 4; k++)
              if (row + k < row_end)
                {
                  const float w = weight_at (row + k, unit);
                  UNROLL for (uint b = 0; b < SAMPLES; b++)
                    sum[b] += w * slopes[(row + k) * SAMPLES + b];
                }
          UNROLL for (uint b = 0; b < SAMPLES; b++)
            sums[u * SAMPLES + b] = sum[b];
        }
#if LOCAL_Y > 1
      UNROLL for (uint b = 0; b < SAMPLES; b++)
        parts[(part * SAMPLES + b) * LOCAL_X + x] = sums[b];
#endif
      barrier (); /* the slopes have been read, and the parts are written */
      if (part == 0)
        UNROLL for (uint u = 0; u < UNITS; u++)
        {
          const uint unit = u * LOCAL_X + x;
          UNROLL for (uint b = 0; b < SAMPLES; b++)
            {
              const uint n = first_sample + b, at = n * T + t;
              const bool counts = t < valid[b];
              float dh = sums[u * SAMPLES + b];
#ifdef AHEAD
              const Kept kept = ahead[u * SAMPLES + b];
#else
              const Kept kept =
                  kept_at (min (n, N - 1), t, before, step == 0, min (unit, H - 1));
#endif
#if LOCAL_Y > 1
              [[unroll]] for (uint k = 1; k < LOCAL_Y; k++)
                dh += parts[(k * SAMPLES + b) * LOCAL_X + x];
#endif
              if (n < N && unit < H)
                {
                  vec4 slope;
                  const vec4 gate = kept.gate;
                  const float e = tanh_of (kept.cell), cell = kept.cell_before;
                  dh += kept.dy;
                  const float d = dc[u * SAMPLES + b] + dh * gate.w * (1.0 - e * e);
                  slope.x = d * gate.z * gate.x * (1.0 - gate.x);
                  slope.y = d * cell * gate.y * (1.0 - gate.y);
                  slope.z = d * gate.x * (1.0 - gate.z * gate.z);
                  slope.w = dh * e * gate.w * (1.0 - gate.w);
                  dc[u * SAMPLES + b] = counts ? d * gate.y : 0.0;
                  [[unroll]] for (uint k = 0; k < 4; k++)
                    {
                      const float value = counts ? ROUND (slope[k]) : 0.0;
                      slopes[(k * H + unit) * SAMPLES + b] = value;
                      store (p.dgates, at * KP + k * H + unit, value);
                    }
                }
              if (n < N && unit < HP)
                store (p.previous, at * HP + unit, unit < H ? kept.y_before : 0.0);
              if (n < N && u == 0 && 4 * H + x < KP)
                store (p.dgates, at * KP + 4 * H + x, 0.0);
            }
        }
      barrier ();
    }
#ifdef CARRY
  if (part == 0)
    UNROLL for (uint u = 0; u < UNITS; u++)
    UNROLL for (uint b = 0; b < SAMPLES; b++)
      {
        const uint unit = u * LOCAL_X + x, n = first_sample + b;
        if (n < N && unit < H)
          FloatsOut (p.dcell).v[n * H + unit] = dc[u * SAMPLES + b];
      }
#endif
}
