#version 460
/* SPDX-License-Identifier: MIT */
/* y (N, OH, OW, C) = the largest, in a window of WINDOW x WINDOW, of (x - mean) * gamma * invstd +
 * beta [max (., 0) with RELU=1]; x is (N, H, W, C).  Places outside x never win; the first of equal
 * values in scan order wins, and any NaN wins.  Values are compared as stored in y, rounded to half
 * with HALF=1.
 * KEEP=1 stores for the backward pass x at the largest value, and its place in the window, one byte
 * per element, or NOWHERE where the relu stops the gradient.  VARIANCE=1 and STRIDE are as in
 * batchnorm_apply.
 *
 * An invocation goes down a strip of ROWS x COLUMNS windows; COLUMNS divides OW.  A row of x is
 * loaded and normalised once, and reduced to the largest value of each window's columns; if the
 * next windows share the row, its result stays in registers.  A position outside x is loaded from
 * the edge, which is a position of the same window, so no bounds check is needed. */
#include "types.glsl"
#include "lanes.glsl"
#include "batchnorm-push.h"

layout (constant_id = DYNO_BATCH_NORM_APPLY_COUNT) const uint COUNT = 1; /* strips x CVECS */
layout (constant_id = DYNO_BATCH_NORM_APPLY_CVECS) const uint CVECS = 1;
layout (constant_id = DYNO_BATCH_NORM_APPLY_STRIDE) const uint STRIDE = 1;
layout (constant_id = DYNO_BATCH_NORM_POOL_H) const uint H = 1;
layout (constant_id = DYNO_BATCH_NORM_POOL_W) const uint W = 1;
layout (constant_id = DYNO_BATCH_NORM_POOL_OH) const uint OH = 1;
layout (constant_id = DYNO_BATCH_NORM_POOL_OW) const uint OW = 1;
layout (constant_id = DYNO_BATCH_NORM_POOL_EPSILON) const float EPSILON = 1e-5;
DYNO_PUSH (DynoBatchNormPoolPush, p);
DYNO_BUFFER_OUT (Bytes, uint, 4);

#define STRIPS_W (OW / COLUMNS)
#define STRIPS_H ((OH + ROWS - 1) / ROWS)
#define ACROSS   ((COLUMNS - 1) * STEP + WINDOW) /* columns of x in a strip */
#if WINDOW > STEP
#define SHARED 1 /* rows of x that a window shares with the next one below */
#else
#define SHARED 0
#endif
#if WINDOW < 2 || WINDOW > 3 || WINDOW - SHARED > STEP
#error "windows of 2 or 3 that share a row at most"
#endif
#define NOWHERE 0xffu
#define LOW     0xffffu

/* The largest value so far: its order, and the word of x that holds it.  A place is row * WINDOW +
 * column, counted from the first window of the strip's row.  With HALF the order is in the upper 16
 * bits and LOW - place in the lower 16, so that one comparison also finds the first of equal
 * values. */
struct Peak {
  ivec4 order[QUADS];
  uvec4 x[QUADS];
#ifndef HALF
  uvec4 place[QUADS];
#endif
};
struct Row {
  Peak peaks[COLUMNS];
};
struct Access {
  uvec4 words[ACROSS];
};
struct Places {
  uint v[ACROSS];
};

Lanes mean, factor, beta;

vec4
value_of (Lanes x, uint j) /* before the relu */
{
  return (x.q[j] - mean.q[j]) * factor.q[j] + beta.q[j];
}

/* The bits of the values of quad j; the bits of a half lie in the upper 16. */
uvec4
quad_bits (uvec4 words, uint j)
{
#ifdef HALF
  return uvec4 (words[2 * j] << 16, words[2 * j] & 0xffff0000u, words[2 * j + 1] << 16,
                words[2 * j + 1] & 0xffff0000u);
#else
  return words;
#endif
}

/* Makes the sign of every NaN positive. */
uvec4
nan_positive (uvec4 words)
{
#ifdef HALF
  /* all bits set where 0x7c00 is exceeded */
  const uvec4 nan = (((words & 0x7fff7fffu) + 0x03ff03ffu) >> 15 & 0x00010001u) * 0xffffu;
  return words & ~nan | nan & 0x7fff7fffu;
#else
  return mix (words, uvec4 (0x7fffffffu), greaterThan (words & 0x7fffffffu, uvec4 (0x7f800000u)));
#endif
}

/* Integers in the order of the activations as stored in y.  They are computed from bits, since
 * compilers leave out a rounding to half and back. */
ivec4
order_of (uvec4 bits, uint low)
{
#ifdef RELU
  return max (ivec4 (bits | low), ivec4 (low));
#else
  return ivec4 (mix (bits, 0x80000000u - bits, greaterThan (bits, uvec4 (0x7fffffffu))) | low);
#endif
}

void
take (inout Peak best, Peak other)
{
  [[unroll]] for (uint j = 0; j < QUADS; j++)
    {
      const bvec4 larger = greaterThan (other.order[j], best.order[j]);
      best.order[j] = mix (best.order[j], other.order[j], larger);
      best.x[j] = mix (best.x[j], other.x[j], larger);
#ifndef HALF
      best.place[j] = mix (best.place[j], other.place[j], larger);
#endif
    }
}

void
row_take (inout Row best, Row other)
{
  [[unroll]] for (uint t = 0; t < COLUMNS; t++)
    take (best.peaks[t], other.peaks[t]);
}

Peak
peak_of (uvec4 x, uvec4 y, uint place)
{
  Peak peak;
  [[unroll]] for (uint j = 0; j < QUADS; j++)
    {
#ifdef HALF
      peak.order[j] = order_of (quad_bits (y, j), LOW - place);
      peak.x[j] = uvec4 (x[2 * j], x[2 * j], x[2 * j + 1], x[2 * j + 1]);
#else
      peak.order[j] = order_of (y, 0);
      peak.x[j] = x;
      peak.place[j] = uvec4 (place);
#endif
    }
  return peak;
}

/* The row of x at h, where h counts from the pad. */
uint
row_inside (uint h)
{
#if PAD > 0
  return min (max (h, PAD) - PAD, H - 1);
#else
  return h;
#endif
}

Access
row_load (uint image, uint h, uint across[ACROSS])
{
  Access x;
  const uint start = (image + row_inside (h)) * W * CVECS;
  [[unroll]] for (uint k = 0; k < ACROSS; k++)
    x.words[k] = words_load (p.x, start + across[k]);
  return x;
}

/* The places of the pixels that row_load loads, for row r of the windows that begin at row h. */
Places
row_places (uint shift[ACROSS], uint h, uint r)
{
  Places places;
#if PAD > 0
  const uint above = (row_inside (h + r) + PAD - h) * WINDOW;
#else
  const uint above = r * WINDOW;
#endif
  [[unroll]] for (uint k = 0; k < ACROSS; k++)
    places.v[k] = above + shift[k];
  return places;
}

/* The largest value of a row of x in each of the windows. */
Row
row_reduce (Access x, Places places)
{
  uvec4 y[ACROSS];
  vec4 sum = vec4 (0.0);
  [[unroll]] for (uint k = 0; k < ACROSS; k++)
    {
      const Lanes lanes = words_unpack (x.words[k]);
      Lanes values;
      [[unroll]] for (uint j = 0; j < QUADS; j++)
        {
          values.q[j] = value_of (lanes, j);
          sum += values.q[j];
        }
      y[k] = words_pack (values);
    }
  if (is_nonfinite (sum.x + sum.y + sum.z + sum.w)) /* a NaN in any value makes the sum NaN */
    [[unroll]] for (uint k = 0; k < ACROSS; k++)
      y[k] = nan_positive (y[k]);
  Row row;
  [[unroll]] for (uint k = 0; k < ACROSS; k++)
    {
      const Peak peak = peak_of (x.words[k], y[k], places.v[k]);
      [[unroll]] for (uint t = 0; t < COLUMNS; t++)
        if (k == t * STEP)
          row.peaks[t] = peak;
        else if (k > t * STEP && k < t * STEP + WINDOW)
          take (row.peaks[t], peak);
    }
  return row;
}

/* The row, with places counted from the first row of the windows below. */
Row
row_raise (Row row)
{
  [[unroll]] for (uint t = 0; t < COLUMNS; t++)
    [[unroll]] for (uint j = 0; j < QUADS; j++)
#ifdef HALF
      row.peaks[t].order[j] += STEP * WINDOW;
#else
      row.peaks[t].place[j] -= STEP * WINDOW;
#endif
  return row;
}

void
window_store (uint at, Peak best, uint start)
{
  uvec4 words, place[QUADS];
#ifdef HALF
  [[unroll]] for (uint k = 0; k < 4; k++)
    words[k] = best.x[k / 2][k % 2 * 2] & 0xffffu | best.x[k / 2][k % 2 * 2 + 1] & 0xffff0000u;
  [[unroll]] for (uint j = 0; j < QUADS; j++)
    place[j] = (LOW - start) - (uvec4 (best.order[j]) & LOW);
#else
  words = best.x[0];
  place[0] = best.place[0] - start;
#endif
  const Lanes winner = words_unpack (words);
  Lanes y;
  [[unroll]] for (uint j = 0; j < QUADS; j++)
    {
      y.q[j] = value_of (winner, j);
#ifdef RELU
      place[j] = mix (uvec4 (NOWHERE), place[j], greaterThan (y.q[j], vec4 (0.0)));
      y.q[j] = relu (y.q[j]);
#endif
    }
  lanes_store (p.y, at, y);
#ifdef KEEP
  words_store (p.winners, at, words);
  [[unroll]] for (uint j = 0; j < QUADS; j++) Bytes (p.argmax).v[at * QUADS + j] =
      place[j].x | place[j].y << 8 | place[j].z << 16 | place[j].w << 24;
#endif
}

void
main ()
{
  const uint first = gl_GlobalInvocationID.x;
  if (first >= STRIDE)
    return;
  const uint column = first % CVECS;
  mean = lanes_load_floats (p.mean, column);
  beta = lanes_load_floats (p.beta, column);
  factor = lanes_load_floats (p.gamma, column);
  const Lanes spread = lanes_load_floats (p.spread, column);
  [[unroll]] for (uint j = 0; j < QUADS; j++)
#ifdef VARIANCE
    factor.q[j] *= inversesqrt (spread.q[j] + EPSILON);
#else
    factor.q[j] *= spread.q[j];
#endif

  for (uint i = first; i < COUNT; i += STRIDE)
    {
      const uint strip = i / CVECS;
      const uint ow = strip % STRIPS_W * COLUMNS, n = strip / (STRIPS_W * STRIPS_H);
      uint oh = strip / STRIPS_W % STRIPS_H * ROWS;
      const uint end = min (oh + ROWS, OH);
      /* for each column of x: its access in the row, and its distance from the strip's start */
      uint across[ACROSS], shift[ACROSS];
      [[unroll]] for (uint k = 0; k < ACROSS; k++)
        {
#if PAD > 0
          const uint w = min (max (ow * STEP + k, PAD) - PAD, W - 1);
          shift[k] = w + PAD - ow * STEP;
#else
          const uint w = ow * STEP + k;
          shift[k] = k;
#endif
          across[k] = w * CVECS + column;
        }
      const uint image = n * H;
      Row best;
#if SHARED > 0
      Row last = row_reduce (row_load (image, oh * STEP, across), row_places (shift, oh * STEP, 0));
#endif
      [[dont_unroll]] for (; oh < end; oh++)
        {
          const uint h = oh * STEP;
          const Access x = row_load (image, h + SHARED, across),
                       x1 = row_load (image, h + SHARED + 1, across);
#if SHARED > 0
          best = last;
          row_take (best, row_reduce (x, row_places (shift, h, SHARED)));
          last = row_reduce (x1, row_places (shift, h, SHARED + 1));
          row_take (best, last);
          last = row_raise (last);
#else
#if WINDOW > 2
          const Access x2 = row_load (image, h + 2, across);
#endif
          best = row_reduce (x, row_places (shift, h, 0));
          row_take (best, row_reduce (x1, row_places (shift, h, 1)));
#if WINDOW > 2
          row_take (best, row_reduce (x2, row_places (shift, h, 2)));
#endif
#endif
          [[unroll]] for (uint t = 0; t < COLUMNS; t++)
            window_store (((n * OH + oh) * OW + ow + t) * CVECS + column, best.peaks[t], t * STEP);
        }
    }
}
