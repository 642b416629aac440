/* SPDX-License-Identifier: MIT */
/* The backward pass of a recurrence: the gradient of the gates before their activation functions,
 * dgates (N, T, GP), and that of the product W_hh h + b_hh, of one direction, from the last step to
 * the first; a dispatch takes steps first .. first + count - 1 of this order.  The gradient of the
 * state before a step is W_hh^T times that of the product, and a part that turn_step returns.
 * With CELLS=1 the two gradients are equal, and there is only dgates.  Include after the definition
 * of GATES, of CELLS=1 where the recurrence has cells, and of the push constants p, and before
 *     void turn_step (Kept kept, float dh, inout float carried, out Gates slope, out Gates inner)
 * which computes both gradients of a unit, slope that of the gates, from dh, the gradient of the
 * state; carried is the gradient of the cell, or what the state before the step gets besides the
 * product.
 * previous[n][t] is the state before the step, for the product that makes the weight's gradient.
 * CARRY=1: carried goes from one dispatch to the next. */
#include "recurrent.glsl"

#ifdef CELLS
#define DPRODUCT dgates
#else
#define DPRODUCT dproduct
#endif

/* The values that a step reads from the forward pass and from the gradient of y. */
struct Kept
{
  vec4 gate;
#ifdef CELLS
  float cell, cell_before;
#endif
  float dy, y_before;
};

void turn_step (Kept kept, float dh, inout float carried, out Gates slope, out Gates inner);

#define HP   ((H + 7) / 8 * 8)
#define ROWS ((GATES * H + LOCAL_Y - 1) / LOCAL_Y)

/* the gradient of the product of the following step, [gate * H + unit][sample] */
shared float slopes[GATES * H * SAMPLES];
#if LOCAL_Y > 1
shared float parts[LOCAL_Y * SAMPLES * LOCAL_X];
#endif

float
weight_at (uint row, uint unit)
{
  return load (p.weight, row * H + unit);
}

Kept
kept_at (uint n, uint t, uint before, bool is_first, uint unit)
{
  const uint at = n * T + t;
  Kept kept;
  [[unroll]] for (uint k = 0; k < 4; k++)
    kept.gate[k] = load (p.kept, at * KP + k * H + unit);
#ifdef CELLS
  kept.cell = FloatsIn (p.cell).v[at * H + unit];
  kept.cell_before = is_first ? 0.0 : FloatsIn (p.cell).v[(n * T + before) * H + unit];
#endif
  kept.dy = load (p.dy, at * YP + COLUMN + unit);
  kept.y_before = is_first ? 0.0 : load (p.y, (n * T + before) * YP + COLUMN + unit);
  return kept;
}

void
main ()
{
  const uint x = gl_LocalInvocationID.x, part = gl_LocalInvocationID.y;
  const uint first_sample = gl_WorkGroupID.x * SAMPLES;
  const uint row0 = part * ROWS, row_end = min (row0 + ROWS, GATES * H);
  uint valid[SAMPLES];
  float carry[UNITS * SAMPLES];
  UNROLL for (uint b = 0; b < SAMPLES; b++)
    valid[b] = steps_valid (p.lengths, min (first_sample + b, N - 1), STRIDE, T);

  UNROLL for (uint u = 0; u < UNITS; u++)
    {
      const uint unit = u * LOCAL_X + x;
      UNROLL for (uint b = 0; b < SAMPLES; b++)
        {
          const uint n = first_sample + b;
          const bool goes_on = p.first > 0 && unit < H && n < N;
          carry[u * SAMPLES + b] = 0.0;
#ifdef CARRY
          if (goes_on)
            carry[u * SAMPLES + b] = FloatsIn (p.carry).v[n * H + unit];
#endif
          if (part == 0 && unit < H)
            [[unroll]] for (uint k = 0; k < GATES; k++)
              slopes[(k * H + unit) * SAMPLES + b] =
                  goes_on
                      ? load (p.DPRODUCT, (n * T + place_of (T - p.first)) * GP + k * H + unit)
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
                  Gates slope, inner;
                  float carried = carry[u * SAMPLES + b];
                  turn_step (kept, dh + kept.dy, carried, slope, inner);
                  carry[u * SAMPLES + b] = counts ? carried : 0.0;
                  [[unroll]] for (uint k = 0; k < GATES; k++)
                    {
                      const float value = counts ? ROUND (inner[k]) : 0.0;
                      slopes[(k * H + unit) * SAMPLES + b] = value;
                      store (p.DPRODUCT, at * GP + k * H + unit, value);
#ifndef CELLS
                      store (p.dgates, at * GP + k * H + unit, counts ? slope[k] : 0.0);
#endif
                    }
                }
              if (n < N && unit < HP)
                store (p.previous, at * HP + unit, unit < H ? kept.y_before : 0.0);
              if (n < N && u == 0 && GATES * H + x < GP)
                {
                  store (p.DPRODUCT, at * GP + GATES * H + x, 0.0);
#ifndef CELLS
                  store (p.dgates, at * GP + GATES * H + x, 0.0);
#endif
                }
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
          FloatsOut (p.carry).v[n * H + unit] = carry[u * SAMPLES + b];
      }
#endif
}
