#version 460
/* SPDX-License-Identifier: MIT */
/* y[n][oy][ox][c] = bias[c] + sum over ky, kx of
 *   x[n][oy * STEP_H + ky - PAD_H][ox * STEP_W + kx - PAD_W][c] * weight[ky][kx][c]
 * FLIP=1 reads the weight from its end: where steps are 1, the result for x = dy is dx.
 * ACCUMULATE=1 adds to y.  BIAS=1: there is a bias.  DILATION_H: ky and kx in the index of x are
 * multiplied by the dilation (depthwise.glsl).
 *
 * A piece of work is four channels of BAND rows and STRIP columns of y: each loaded pixel of a row
 * of x is multiplied by all taps that apply to it.  KEEP=1: the weights of all taps are in
 * registers; without KEEP only the weights of one row of taps are, and BAND and AHEAD are 1.  The
 * grid's x counts groups of pieces, y blocks of LOCAL_X times four channels; LOCAL_Y invocations
 * share a block's channels.
 * STATISTICS=1: partials[group][2][c] = sums over the group of the stored y's distances to
 * pivot[c], and of their squares, in a fixed order, for the batch norm that follows
 * (gemm-statistics.glsl).  AFFINE=1: a batch norm is applied to y (lib/affine.glsl).  NORM, with
 * FLIP: partials[group][2][c] of norm.glsl. */
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

vec4 weights[N_WEIGHTS];

/* Loads the weights of rows of taps from ky on. */
void
weights_load (uint ky, uint column)
{
  [[unroll]] for (uint i = 0; i < N_WEIGHTS; i++)
    {
      weights[i] = weight_load (ky + i / TAPS_W, i % TAPS_W, column);
#if LOAD_SIXTHS
      weights[i] *= x_unit;
#endif
    }
}

#ifdef STATISTICS
shared vec4 parts[2][LOCAL_X * LOCAL_Y];
vec4 pivot, sum, square;

void
statistics_take (vec4 y)
{
  const vec4 d = quad_rounded (y) - pivot;
  sum += d;
  square += d * d;
}
#endif

vec4
start_of (uint column)
{
#ifdef BIAS
  return FloatLanesIn (p.bias).v[column];
#else
  return vec4 (0.0);
#endif
}

/* Loads the pixels of a row of x that the strip from `left` on reads. */
void
row_load (out Words row[COLUMNS_IN], uint n, uint y, uint left, uint column)
{
  [[unroll]] for (uint j = 0; j < COLUMNS_IN; j++)
    row[j] = pixel_words_or (p.a, n, y, left * STEP_W + j - PAD_W, H, W, column, x_pad);
}

#if NORM
/* The batch norm's x at the pixels that a piece stores, for the sums. */
Words beside[BAND][STRIP];
#endif

#if AFFINE
AffineColumns affine; /* of this invocation's channels */
#endif

/* Stores a row of the strip, row b of the band, whose `sums` are complete. */
void
row_store (vec4 sums[STRIP], uint b, uint n, uint oy, uint left, uint column)
{
  [[unroll]] for (uint k = 0; k < STRIP; k++)
    if (ROW_OF (n, oy) < OH && COLUMN_OF (n, left + k) < OW)
      {
        const uint at =
            ((IMAGE_OF (n) * OH + ROW_OF (n, oy)) * OW + COLUMN_OF (n, left + k)) * CVECS + column;
        vec4 y = sums[k];
#ifdef ACCUMULATE
        y += quad_load (p.target, at);
#endif
#if NORM
        y = norm_quad (y, beside[b][k]);
#endif
#if AFFINE
        y = affine_take (affine, quad_rounded (y), vec4 (0.0));
#endif
        quad_store (p.target, at, y);
#ifdef STATISTICS
        statistics_take (y);
#endif
      }
}

/* Computes BAND rows of y from (n, top), STRIP columns from `left`: goes down the rows of x, with
 * the loads of AHEAD rows pending.  A row of y is stored as soon as it is complete, so that only
 * the sums of TAPS_H rows are live. */
void
piece_make (uint n, uint top, uint left, uint column)
{
  const uint first_y = top * STEP_H - PAD_H; /* a negative value wraps */
  vec4 sums[BAND][STRIP];
  Words rows[AHEAD][COLUMNS_IN];
  [[unroll]] for (uint r = 0; r < AHEAD && r < ROWS_IN; r++)
    row_load (rows[r], n, first_y + r, left, column);
  [[unroll]] for (uint b = 0; b < BAND; b++)
    [[unroll]] for (uint k = 0; k < STRIP; k++)
      sums[b][k] = start_of (column);
#if NORM
  [[unroll]] for (uint b = 0; b < BAND; b++)
    [[unroll]] for (uint k = 0; k < STRIP; k++)
      beside[b][k] = pixel_words (p.norm_x, n, top + b, left + k, OH, OW, column);
#endif
  EACH_ROW for (uint r = 0; r < ROWS_IN; r++)
    {
      const Words row[COLUMNS_IN] = rows[r % AHEAD];
      if (r + AHEAD < ROWS_IN)
        row_load (rows[r % AHEAD], n, first_y + r + AHEAD, left, column);
#ifndef KEEP
      weights_load (r, column);
#endif
      [[unroll]] for (uint j = 0; j < COLUMNS_IN; j++)
        {
          const vec4 value = x_unpack (row[j]);
          [[unroll]] for (uint b = 0; b < BAND; b++)
            [[unroll]] for (uint k = 0; k < STRIP; k++)
              {
                const uint ky = r - b * STEP_H, kx = j - k * STEP_W; /* negative values wrap */
                if (ky < TAPS_H && kx < TAPS_W)
                  sums[b][k] += value * weights[TAP (ky, kx)];
              }
        }
      [[unroll]] for (uint b = 0; b < BAND; b++)
        if (r == b * STEP_H + TAPS_H - 1)
          row_store (sums[b], b, n, top + b, left, column);
    }
}

void
main ()
{
  const uint column = gl_WorkGroupID.y * LOCAL_X + gl_LocalInvocationID.x;
  const uint first = gl_WorkGroupID.x * PER_GROUP, end = min (first + PER_GROUP, PIECES);
  const uint strips = (PHASE_W + STRIP - 1) / STRIP, bands = (PHASE_H + BAND - 1) / BAND;
#ifdef STATISTICS
  pivot = finite_or_zero (FloatLanesIn (p.pivot).v[min (column, CVECS - 1)]);
  sum = square = vec4 (0.0);
#endif
#if NORM
  norm_clear (column);
#endif
#if AFFINE
  affine = affine_columns (min (column, CVECS - 1));
#endif
  load_begin (column);
#ifdef KEEP
  if (column < CVECS)
    weights_load (0, column);
#endif
  for (uint i = first + gl_LocalInvocationID.y; i < end && column < CVECS; i += LOCAL_Y)
    piece_make (i / (strips * bands), i / strips % bands * BAND, i % strips * STRIP, column);
#ifdef STATISTICS
  parts[0][gl_LocalInvocationIndex] = sum;
  parts[1][gl_LocalInvocationIndex] = square;
  QUADS_ADD_UP (parts, 2);
  if (gl_LocalInvocationID.y == 0 && column < CVECS)
    [[unroll]] for (uint which = 0; which < 2; which++)
      FloatLanesOut (p.partials).v[(gl_WorkGroupID.x * 2 + which) * CVECS + column] =
          parts[which][gl_LocalInvocationIndex];
#endif
#if NORM
  norm_store (column);
#endif
}
