#version 460
/* SPDX-License-Identifier: MIT */
/* y[n][oy][ox][c] = bias[c] + sum over ky, kx of
 *   x[n][oy * STEP_H + ky - PAD_H][ox * STEP_W + kx - PAD_W][c] * weight[ky][kx][c]
 * FLIP=1 reads the weight from its end, which makes the gradient of x of that of y where steps are
 * 1; ACCUMULATE=1 adds to y.  BIAS=1: there is one.
 *
 * A piece of work is eight channels of BAND rows and STRIP columns of y: what is loaded of a row of
 * x is multiplied with all taps that it meets.  KEEP=1: the weights of all taps are in registers;
 * without it those of one row of taps, and BAND is 1.  x counts groups of pieces, y blocks of
 * LOCAL_X times eight channels; LOCAL_Y invocations share those.
 * STATISTICS=1: partials[group][2][c] = sums over the group of the stored y's distances to
 * pivot[c], and of their squares, in one order, for the batch norm that follows
 * (gemm-statistics.glsl). */
#include "types.glsl"
#include "depthwise.glsl"

#define ROWS_IN    ((BAND - 1) * STEP_H + TAPS_H)
#define COLUMNS_IN ((STRIP - 1) * STEP_W + TAPS_W)
#ifdef KEEP
#define EACH_ROW     [[unroll]]
#define TAP(ky, kx)  ((ky) * TAPS_W + (kx))
#define N_WEIGHTS    (TAPS_H * TAPS_W)
#else
#define EACH_ROW     [[dont_unroll]]
#define TAP(ky, kx)  (kx)
#define N_WEIGHTS    TAPS_W
#endif

Eight weights[N_WEIGHTS];

/* Rows of taps from ky on. */
void
weights_load (uint ky, uint column)
{
  [[unroll]] for (uint i = 0; i < N_WEIGHTS; i++)
    weights[i] = weight_load (ky + i / TAPS_W, i % TAPS_W, column);
}

#ifdef STATISTICS
shared Eight parts[LOCAL_X * LOCAL_Y];
Eight pivot, sum, square;

void
statistics_take (Eight y)
{
  const Eight stored = eight_rounded (y);
  const Eight d = Eight (stored.low - pivot.low, stored.high - pivot.high);
  sum.low += d.low;
  sum.high += d.high;
  eight_add_product (square, d, d);
}
#endif

Eight
start_of (uint column)
{
#ifdef BIAS
  return Eight (FloatLanesIn (p.bias).v[column * 2], FloatLanesIn (p.bias).v[column * 2 + 1]);
#else
  return Eight (vec4 (0.0), vec4 (0.0));
#endif
}

/* The rows of x that meet BAND rows of y from (n, top) and STRIP columns from `left`. */
void
piece_make (uint n, uint top, uint left, uint column)
{
  Eight sums[BAND * STRIP];
  [[unroll]] for (uint i = 0; i < BAND * STRIP; i++)
    sums[i] = start_of (column);
  EACH_ROW for (uint r = 0; r < ROWS_IN; r++)
    {
      /* wraps where a tap leads before the image: that is not below H either */
      const uint y = top * STEP_H + r - PAD_H;
      if (y >= H)
        continue;
#ifndef KEEP
      weights_load (r, column);
#endif
      [[unroll]] for (uint j = 0; j < COLUMNS_IN; j++)
        {
          const uint x = left * STEP_W + j - PAD_W;
          if (x >= W)
            continue;
          const Eight value = eight_load (p.a, ((n * H + y) * W + x) * CVECS + column);
          [[unroll]] for (uint b = 0; b < BAND; b++)
            [[unroll]] for (uint k = 0; k < STRIP; k++)
              {
                const uint ky = r - b * STEP_H, kx = j - k * STEP_W; /* they wrap, too */
                if (ky < TAPS_H && kx < TAPS_W)
                  eight_add_product (sums[b * STRIP + k], value, weights[TAP (ky, kx)]);
              }
        }
    }
  [[unroll]] for (uint b = 0; b < BAND; b++)
    [[unroll]] for (uint k = 0; k < STRIP; k++)
      if (top + b < OH && left + k < OW)
        {
          const uint at = ((n * OH + top + b) * OW + left + k) * CVECS + column;
          Eight y = sums[b * STRIP + k];
#ifdef ACCUMULATE
          const Eight old = eight_load (p.target, at);
          y.low += old.low;
          y.high += old.high;
#endif
          eight_store (p.target, at, y);
#ifdef STATISTICS
          statistics_take (y);
#endif
        }
}

void
main ()
{
  const uint column = gl_WorkGroupID.y * LOCAL_X + gl_LocalInvocationID.x;
  const uint first = gl_WorkGroupID.x * PER_GROUP, end = min (first + PER_GROUP, PIECES);
  const uint strips = (OW + STRIP - 1) / STRIP, bands = (OH + BAND - 1) / BAND;
#ifdef STATISTICS
  const uint pivots = min (column, CVECS - 1) * 2;
  pivot = Eight (finite_or_zero (FloatLanesIn (p.pivot).v[pivots]),
                 finite_or_zero (FloatLanesIn (p.pivot).v[pivots + 1]));
  sum = square = Eight (vec4 (0.0), vec4 (0.0));
#endif
#ifdef KEEP
  if (column < CVECS)
    weights_load (0, column);
#endif
  for (uint i = first + gl_LocalInvocationID.y; i < end && column < CVECS; i += LOCAL_Y)
    piece_make (i / (strips * bands), i / strips % bands * BAND, i % strips * STRIP, column);
#ifdef STATISTICS
  [[unroll]] for (uint which = 0; which < 2; which++)
    {
      if (which == 0)
        parts[gl_LocalInvocationIndex] = sum;
      else
        parts[gl_LocalInvocationIndex] = square;
      EIGHT_ADD_UP (parts);
      if (gl_LocalInvocationID.y == 0 && column < CVECS)
        {
          const uint at = ((gl_WorkGroupID.x * 2 + which) * CVECS + column) * 2;
          FloatLanesOut (p.partials).v[at] = parts[gl_LocalInvocationIndex].low;
          FloatLanesOut (p.partials).v[at + 1] = parts[gl_LocalInvocationIndex].high;
        }
      barrier (); /* the parts have been read */
    }
#endif
}
