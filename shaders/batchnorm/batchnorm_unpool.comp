#version 460
/* SPDX-License-Identifier: MIT */
/* dx = gamma * invstd * (g - mean (g) - xhat * mean (g * xhat)), where g (N, H, W, C) gathers dy
 * (N, OH, OW, C) from the windows whose largest value lies at this pixel (batchnorm_pool keeps the
 * place).  A cell is STEP x STEP pixels; WINDOWS windows per axis reach into it, and the index of
 * the first one is the cell's index plus FIRST.  An invocation goes down a strip of ROWS x COLUMNS
 * cells, so that it loads a window once; COLUMNS divides the cells of a row.  All loads of a row of
 * cells come before the first use.  WHOLE=1: no cell reaches past the edge.  Sums are in scan order
 * of the windows.  ACCUMULATE=1 adds to dx.  dx may overwrite x: an invocation loads only its own
 * pixels.  STRIDE is as in batchnorm_apply. */
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
DYNO_PUSH (DynoBatchNormUnpoolPush, p);
DYNO_BUFFER_IN (Bytes, uint, 4);

#define CELLS_H  ((H + STEP - 1) / STEP)
#define CELLS_W  ((W + STEP - 1) / STEP)
#define STRIPS_H ((CELLS_H + ROWS - 1) / ROWS)
#define STRIPS_W (CELLS_W / COLUMNS)
/* windows side by side that reach into a row of the strip's cells */
#define ACROSS   (COLUMNS + WINDOWS - 1)
#define PIXELS_W (COLUMNS * STEP)

struct Window {
  uvec4 dy;
  uint places[QUADS];
};
struct Gradient {
  Lanes mean, factor, slope, offset;
};

Window
window_load (uint n, uint oh, uint ow, uint column)
{
  const bool there = oh < OH && ow < OW; /* a negative index wraps */
  const uint at = mix (column, ((n * OH + oh) * OW + ow) * CVECS + column, there);
  Window window;
  window.dy = words_load (p.dy, at);
  [[unroll]] for (uint j = 0; j < QUADS; j++)
    {
      const uint kept = Bytes (p.argmax).v[at * QUADS + j];
      window.places[j] = mix (0xffffffffu, kept, there);
    }
  return window;
}

/* Adds the window's gradient to its pixel (row, column), if the pixel belongs to the window: the
 * test uses constants and no branch, so that the loops around it unroll early. */
void
window_add (inout Lanes g, Window window, int row, int column)
{
  const bool own = row >= 0 && row < WINDOW && column >= 0 && column < WINDOW;
  const Lanes dy = words_unpack (window.dy);
  [[unroll]] for (uint j = 0; j < QUADS; j++)
    {
      const uvec4 places = (uvec4 (window.places[j]) >> uvec4 (0, 8, 16, 24)) & 0xffu;
      const bvec4 here = equal (places, uvec4 (row * WINDOW + column));
      g.q[j] = mix (g.q[j], mix (g.q[j], g.q[j] + dy.q[j], here), bvec4 (own));
    }
}

Gradient
gradient_load (uint column)
{
  Gradient gradient;
  gradient.mean = lanes_load_floats (p.mean, column);
  gradient.factor = lanes_load_floats (p.gamma, column);
  const Lanes invstd = lanes_load_floats (p.invstd, column);
  const Lanes mean_dy = lanes_load_floats (p.sums, column);
  const Lanes mean_product = lanes_load_floats (p.sums, CVECS + column);
  [[unroll]] for (uint j = 0; j < QUADS; j++)
    {
      gradient.factor.q[j] *= invstd.q[j];
      gradient.slope.q[j] = gradient.factor.q[j] * invstd.q[j] * mean_product.q[j];
      gradient.offset.q[j] = gradient.factor.q[j] * mean_dy.q[j];
    }
  return gradient;
}

Lanes
gradient_of (Gradient gradient, Lanes g, Lanes x)
{
  [[unroll]] for (uint j = 0; j < QUADS; j++) g.q[j] =
      gradient.factor.q[j] * g.q[j] - (x.q[j] - gradient.mean.q[j]) * gradient.slope.q[j]
      - gradient.offset.q[j];
  return g;
}

void
main ()
{
  const uint first = gl_GlobalInvocationID.x;
  if (first >= STRIDE)
    return;
  const uint column = first % CVECS;
  const Gradient gradient = gradient_load (column);

  for (uint i = first; i < COUNT; i += STRIDE)
    {
      const uint strip = i / CVECS;
      const uint cw = strip % STRIPS_W * COLUMNS, n = strip / (STRIPS_W * STRIPS_H);
      uint ch = strip / STRIPS_W % STRIPS_H * ROWS;
      const uint end = min (ch + ROWS, CELLS_H);
      Window windows[WINDOWS * ACROSS];
      [[unroll]] for (uint a = 0; a < (WINDOWS - 1) * ACROSS; a++) windows[a] =
          window_load (n, ch + (int (a / ACROSS) + FIRST), cw + (int (a % ACROSS) + FIRST), column);
      [[dont_unroll]] for (; ch < end; ch++)
        {
          [[unroll]] for (uint a = 0; a < ACROSS; a++)
            windows[(WINDOWS - 1) * ACROSS + a] =
                window_load (n, ch + (WINDOWS - 1 + FIRST), cw + (int (a) + FIRST), column);
          uint at[STEP * PIXELS_W];
#ifndef WHOLE
          bool there[STEP * PIXELS_W];
#endif
          uvec4 x[STEP * PIXELS_W];
#ifdef ACCUMULATE
          uvec4 old[STEP * PIXELS_W];
#endif
          [[unroll]] for (uint b = 0; b < STEP * PIXELS_W; b++)
            {
              const uint h = ch * STEP + b / PIXELS_W, w = cw * STEP + b % PIXELS_W;
              at[b] = ((n * H + h) * W + w) * CVECS + column;
#ifndef WHOLE
              there[b] = h < H && w < W;
              at[b] = mix (at[0], at[b], there[b]); /* the first pixel always exists */
#endif
              x[b] = words_load (p.x, at[b]);
#ifdef ACCUMULATE
              old[b] = words_load (p.dx, at[b]);
#endif
            }
          [[unroll]] for (int b = 0; b < STEP * PIXELS_W; b++)
            {
              const int r = b / PIXELS_W, s = b % PIXELS_W;
              Lanes g = lanes_fill (0.0);
              [[unroll]] for (int a = 0; a < WINDOWS * ACROSS; a++)
                  window_add (g, windows[a], r + PAD - (a / ACROSS + FIRST) * STEP,
                              s + PAD - (a % ACROSS + FIRST) * STEP);
              g = gradient_of (gradient, g, words_unpack (x[b]));
#ifdef ACCUMULATE
              const Lanes before = words_unpack (old[b]);
              [[unroll]] for (uint j = 0; j < QUADS; j++)
                g.q[j] += before.q[j];
#endif
#ifndef WHOLE
              if (there[b])
#endif
                lanes_store (p.dx, at[b], g);
            }
          [[unroll]] for (uint a = 0; a < (WINDOWS - 1) * ACROSS; a++)
            windows[a] = windows[a + ACROSS];
        }
    }
}
