/* SPDX-License-Identifier: MIT */
/* The forward pass of a recurrence, h (N, H) of one direction over steps first .. first + count
 * - 1, from the gates of the input, (N, T, GP).  Include after the definition of GATES, of CELLS=1
 * where the recurrence has cells beside its state, and of the push constants p, and before
 *     float take_step (Gates own, Gates bias, Gates product, inout float carried, out vec4 kept)
 * which returns the state of a unit after a step: own is W_ih x + b_ih, product W_hh h, bias b_hh;
 * carried is the cell, which it changes, or the state before the step; kept are the values for the
 * backward pass.
 * BIAS=1: b_hh is read.  KEPT=1 also writes the kept values, CELL=1 the cells.  RESUMES=1: where
 * first is not 0, the pass starts from y and the cell of the step before.  PAD_END=1: this
 * direction's share is the last of y, and the pads follow it. */
#include "recurrent.glsl"

float take_step (Gates own, Gates bias, Gates product, inout float carried, out vec4 kept);

#define ROWS ((H + LOCAL_Y - 1) / LOCAL_Y) /* rows of the weight in a part */

shared float state[H * SAMPLES]; /* [row][sample] */
#if LOCAL_Y > 1
shared Gates parts[LOCAL_Y * SAMPLES * LOCAL_X];
#endif

Gates
weight_at (uint row, uint unit)
{
  Gates w;
  [[unroll]] for (uint k = 0; k < GATES; k++)
    w[k] = load (p.weight, row * GP + k * H + unit);
  return w;
}

Gates
gates_at (uint at, uint unit)
{
  Gates gates;
  [[unroll]] for (uint k = 0; k < GATES; k++)
    gates[k] = load (p.gates, at * GP + k * H + unit);
  return gates;
}

Gates
bias_of (uint unit)
{
  Gates bias = Gates (0.0);
#ifdef BIAS
  [[unroll]] for (uint k = 0; k < GATES; k++)
    bias[k] = FloatsIn (p.bias).v[k * H + unit];
#endif
  return bias;
}

#ifdef HALF
#if GATES == 4
#define PACK(w)   uvec2 (packHalf2x16 ((w).xy), packHalf2x16 ((w).zw))
#define UNPACK(w) vec4 (unpackHalf2x16 ((w).x), unpackHalf2x16 ((w).y))
#else
#define PACK(w)   uvec2 (packHalf2x16 ((w).xy), packHalf2x16 (vec2 ((w).z, 0.0)))
#define UNPACK(w) vec3 (unpackHalf2x16 ((w).x), unpackHalf2x16 ((w).y).x)
#endif
#endif

void
main ()
{
  const uint x = gl_LocalInvocationID.x, part = gl_LocalInvocationID.y;
  const uint first_sample = gl_WorkGroupID.x * SAMPLES;
  const uint row0 = part * ROWS, row_end = min (row0 + ROWS, H);
  uint valid[SAMPLES];
#ifdef CELLS
  float c[UNITS * SAMPLES];
#endif
  UNROLL for (uint b = 0; b < SAMPLES; b++)
    valid[b] = steps_valid (p.lengths, min (first_sample + b, N - 1), STRIDE, T);

  UNROLL for (uint u = 0; u < UNITS; u++)
    {
      const uint unit = u * LOCAL_X + x;
      UNROLL for (uint b = 0; b < SAMPLES; b++)
        {
          const uint n = first_sample + b;
          float h = 0.0;
#ifdef CELLS
          c[u * SAMPLES + b] = 0.0;
#endif
#ifdef RESUMES
          if (p.first > 0 && unit < H && n < N)
            {
              const uint at = n * T + place_of (p.first - 1);
              h = load (p.y, at * YP + COLUMN + unit);
#ifdef CELLS
              c[u * SAMPLES + b] = FloatsIn (p.cell).v[at * H + unit];
#endif
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
      const Gates w = row0 + k < row_end && x < H ? weight_at (row0 + k, x) : Gates (0.0);
      weights[k] = PACK (w);
    }
#define KEPT_WEIGHT(k) UNPACK (weights[k])
#else
  Gates weights[KEEP];
  [[unroll]] for (uint k = 0; k < KEEP; k++)
    weights[k] = row0 + k < row_end && x < H ? weight_at (row0 + k, x) : Gates (0.0);
#define KEPT_WEIGHT(k) weights[k]
#endif
#endif
  barrier ();

  for (uint s = 0; s < p.count; s++)
    {
      const uint t = place_of (p.first + s);
      Gates sums[UNITS * SAMPLES];
#ifdef AHEAD
      Gates gates[UNITS * SAMPLES];
      if (part == 0)
        UNROLL for (uint u = 0; u < UNITS; u++)
        UNROLL for (uint b = 0; b < SAMPLES; b++)
          gates[u * SAMPLES + b] = gates_at (min (first_sample + b, N - 1) * T + t,
                                             min (u * LOCAL_X + x, H - 1));
#endif
      UNROLL for (uint u = 0; u < UNITS; u++)
        {
          const uint unit = min (u * LOCAL_X + x, H - 1);
          Gates sum[SAMPLES];
          UNROLL for (uint b = 0; b < SAMPLES; b++)
            sum[b] = Gates (0.0);
#if KEEP > 0
          [[unroll]] for (uint k = 0; k < KEEP; k++)
            UNROLL for (uint b = 0; b < SAMPLES; b++)
              sum[b] += KEPT_WEIGHT (k) * state[(row0 + k) * SAMPLES + b];
#endif
          for (uint row = row0 + KEEP; row < row_end; row += 4)
            UNROLL for (uint k = 0; k < 4; k++)
              if (row + k < row_end)
                {
                  const Gates w = weight_at (row + k, unit);
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
              Gates sum = sums[u * SAMPLES + b];
#if LOCAL_Y > 1
              [[unroll]] for (uint k = 1; k < LOCAL_Y; k++)
                sum += parts[(k * SAMPLES + b) * LOCAL_X + x];
#endif
              if (n < N && unit < H)
                {
#ifdef AHEAD
                  const Gates own = gates[u * SAMPLES + b];
#else
                  const Gates own = gates_at (at, unit);
#endif
                  vec4 kept;
#ifdef CELLS
                  float carried = c[u * SAMPLES + b];
#else
                  float carried = state[unit * SAMPLES + b];
#endif
                  float h = take_step (own, bias_of (unit), sum, carried, kept);
                  h = counts ? ROUND (h) : 0.0;
                  kept = counts ? kept : vec4 (0.0);
                  if (counts)
                    {
#ifdef CELLS
                      c[u * SAMPLES + b] = carried;
#endif
                      state[unit * SAMPLES + b] = h;
                    }
                  store (p.y, at * YP + COLUMN + unit, h);
#ifdef KEPT
                  [[unroll]] for (uint k = 0; k < 4; k++)
                    store (p.kept, at * KP + k * H + unit, kept[k]);
#endif
#ifdef CELL
                  FloatsOut (p.cell).v[at * H + unit] = counts ? carried : 0.0;
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
