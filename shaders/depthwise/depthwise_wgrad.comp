#version 460
/* SPDX-License-Identifier: MIT */
/* partial[group][ky][kx][c] = sum over the rows (n, oy, ox) of the group of
 *   dy[n][oy][ox][c] * x[n][oy * STRIDE_H + ky - PAD_H][ox * STRIDE_W + kx - PAD_W][c]
 * conv2d/reduce.comp adds the groups to the gradient.  x counts groups, y blocks of LOCAL_X times
 * eight channels, z rows of taps; LOCAL_Y invocations share eight channels, and what they have is
 * added up in one order: equal inputs give equal bits. */
#include "types.glsl"
#include "depthwise.glsl"

shared Eight parts[LOCAL_X * LOCAL_Y];

/* Into the parts of the invocations with LocalInvocationID.y 0. */
void
add_up ()
{
  for (uint n = LOCAL_Y; n > 1;)
    {
      const uint half_n = (n + 1) / 2, here = gl_LocalInvocationIndex;
      barrier ();
      if (gl_LocalInvocationID.y < n - half_n)
        {
          parts[here].low += parts[here + half_n * LOCAL_X].low;
          parts[here].high += parts[here + half_n * LOCAL_X].high;
        }
      n = half_n;
    }
}

void
main ()
{
  const uint column = gl_WorkGroupID.y * LOCAL_X + gl_LocalInvocationID.x, ky = gl_WorkGroupID.z;
  const uint first = gl_WorkGroupID.x * ROWS_PER_GROUP, end = min (first + ROWS_PER_GROUP, ROWS);
  Eight sums[TAPS_W];
  [[unroll]] for (uint kx = 0; kx < TAPS_W; kx++)
    sums[kx] = Eight (vec4 (0.0), vec4 (0.0));
  for (uint row = first + gl_LocalInvocationID.y; row < end && column < CVECS; row += LOCAL_Y)
    {
      const uint ox = row % OW, oy = row / OW % OH, n = row / (OW * OH);
      const uint y = oy * STRIDE_H + ky - PAD_H; /* wraps below zero: not below H either */
      if (y >= H)
        continue;
      const Eight dy = eight_load (p.b, row * CVECS + column);
      [[unroll]] for (uint kx = 0; kx < TAPS_W; kx++)
        {
          const uint x = ox * STRIDE_W + kx - PAD_W;
          if (x < W)
            eight_add_product (sums[kx],
                               eight_load (p.a, ((n * H + y) * W + x) * CVECS + column), dy);
        }
    }
  [[unroll]] for (uint kx = 0; kx < TAPS_W; kx++)
    {
      parts[gl_LocalInvocationIndex] = sums[kx];
      add_up ();
      if (gl_LocalInvocationID.y == 0 && column < CVECS)
        {
          const uint tap = (gl_WorkGroupID.x * TAPS_H + ky) * TAPS_W + kx,
                     at = (tap * CVECS + column) * 2;
          FloatLanesOut (p.target).v[at] = parts[gl_LocalInvocationIndex].low;
          FloatLanesOut (p.target).v[at + 1] = parts[gl_LocalInvocationIndex].high;
        }
      barrier (); /* the parts have been read */
    }
}
