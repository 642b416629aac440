#version 460
/* SPDX-License-Identifier: MIT */
/* dx[n][y][x][c] = sum over ky, kx of dy[n][oy][ox][c] * weight[ky][kx][c], where
 *   oy * STEP_H = y + PAD_H - ky and ox * STEP_W = x + PAD_W - kx have a solution inside of dy
 * Where steps are 1, depthwise_forward makes dx.  ACCUMULATE=1 adds to dx.
 *
 * With y + PAD_H = q * STEP_H + a the taps of row y are ky = a + m * STEP_H, and read dy's row q -
 * m.  A piece of work is four channels of the STEP_H x STEP_W pixels of one (q, q'): the pixels
 * share the loads of dy, and every element of dx has its own sum, in a fixed order.  KEEP=1: the
 * weights of all taps are in registers.  OH and OW are the size of dy; Q_H and Q_W, the numbers of
 * q, follow from the other constants.  NORM: partials[group][2][c] of norm.glsl. */
#include "types.glsl"
#include "depthwise.glsl"

#define MEETS_H ((TAPS_H + STEP_H - 1) / STEP_H)
#define MEETS_W ((TAPS_W + STEP_W - 1) / STEP_W)
#define Q_H     ((H - 1 + PAD_H) / STEP_H - PAD_H / STEP_H + 1)
#define Q_W     ((W - 1 + PAD_W) / STEP_W - PAD_W / STEP_W + 1)

#ifdef KEEP
vec4 weights[TAPS_H * TAPS_W];
#define WEIGHT(ky, kx, column) weights[(ky) * TAPS_W + (kx)]
#else
#define WEIGHT(ky, kx, column) weight_load (ky, kx, column)
#endif

void
piece_make (uint n, uint qy, uint qx, uint column)
{
  Words dy[MEETS_H * MEETS_W];
  [[unroll]] for (uint m = 0; m < MEETS_H * MEETS_W; m++)
    dy[m] = pixel_words (p.a, n, qy - m / MEETS_W, qx - m % MEETS_W, OH, OW, column);
#if NORM
  Words beside[STEP_H * STEP_W];
  [[unroll]] for (uint a = 0; a < STEP_H * STEP_W; a++)
    beside[a] = pixel_words (p.norm_x, n, qy * STEP_H + a / STEP_W - PAD_H,
                             qx * STEP_W + a % STEP_W - PAD_W, H, W, column);
#endif
  [[unroll]] for (uint a = 0; a < STEP_H * STEP_W; a++)
    {
      const uint ay = a / STEP_W, ax = a % STEP_W;
      const uint y = qy * STEP_H + ay - PAD_H, x = qx * STEP_W + ax - PAD_W; /* negatives wrap */
      const bool inside = y < H && x < W;
      const uint at = ((n * H + y) * W + x) * CVECS + column;
      vec4 sum = vec4 (0.0);
#ifdef ACCUMULATE
      if (inside)
        sum = quad_load (p.target, at);
#endif
      [[unroll]] for (uint m = 0; m < MEETS_H * MEETS_W; m++)
        {
          const uint ky = ay + m / MEETS_W * STEP_H, kx = ax + m % MEETS_W * STEP_W;
          if (ky < TAPS_H && kx < TAPS_W)
            sum += quad_unpack (dy[m]) * WEIGHT (ky, kx, column);
        }
#if NORM
      if (inside)
        quad_store (p.target, at, norm_quad (sum, beside[a]));
#else
      if (inside)
        quad_store (p.target, at, sum);
#endif
    }
}

void
main ()
{
  const uint column = gl_WorkGroupID.y * LOCAL_X + gl_LocalInvocationID.x;
  const uint first = gl_WorkGroupID.x * PER_GROUP, end = min (first + PER_GROUP, PIECES);
#if NORM
  norm_clear (column);
#endif
#ifdef KEEP
  if (column < CVECS)
    [[unroll]] for (uint i = 0; i < TAPS_H * TAPS_W; i++)
      weights[i] = weight_load (i / TAPS_W, i % TAPS_W, column);
#endif
  for (uint i = first + gl_LocalInvocationID.y; i < end && column < CVECS; i += LOCAL_Y)
    piece_make (i / (Q_W * Q_H), i / Q_W % Q_H + PAD_H / STEP_H, i % Q_W + PAD_W / STEP_W, column);
#if NORM
  norm_store (column);
#endif
}
