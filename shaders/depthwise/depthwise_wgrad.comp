#version 460
/* SPDX-License-Identifier: MIT */
/* partial[group][ky][kx][c] = sum over the pixels (n, oy, ox) of the group of
 *   dy[n][oy][ox][c] * x[n][oy * STEP_H + ky - PAD_H][ox * STEP_W + kx - PAD_W][c]
 * conv2d/reduce.comp adds the groups to the gradient.  A piece of work is STRIP pixels of a row of
 * dy; x counts groups of pieces, y blocks of LOCAL_X times eight channels, z groups of TAP_ROWS
 * rows of taps, whose sums are in registers: with all of them in one z both tensors are read once.
 * LOCAL_Y invocations share eight channels, and what they have is added up in one order: equal
 * inputs give equal bits. */
#include "types.glsl"
#include "depthwise.glsl"

#define COLUMNS_IN ((STRIP - 1) * STEP_W + TAPS_W)

shared Eight parts[LOCAL_X * LOCAL_Y];
Eight sums[TAP_ROWS * TAPS_W];

void
piece_take (uint n, uint oy, uint left, uint first_ky, uint column)
{
  Eight dy[STRIP];
  [[unroll]] for (uint k = 0; k < STRIP; k++)
    {
      dy[k] = Eight (vec4 (0.0), vec4 (0.0));
      if (left + k < OW)
        dy[k] = eight_load (p.b, ((n * OH + oy) * OW + left + k) * CVECS + column);
    }
  [[unroll]] for (uint r = 0; r < TAP_ROWS; r++)
    {
      const uint y = oy * STEP_H + first_ky + r - PAD_H; /* wraps below zero: not below H either */
      if (y >= H)
        continue;
      [[unroll]] for (uint j = 0; j < COLUMNS_IN; j++)
        {
          const uint x = left * STEP_W + j - PAD_W;
          if (x >= W)
            continue;
          const Eight value = eight_load (p.a, ((n * H + y) * W + x) * CVECS + column);
          [[unroll]] for (uint k = 0; k < STRIP; k++)
            {
              const uint kx = j - k * STEP_W; /* wraps, too */
              if (kx < TAPS_W)
                eight_add_product (sums[r * TAPS_W + kx], value, dy[k]);
            }
        }
    }
}

void
main ()
{
  const uint column = gl_WorkGroupID.y * LOCAL_X + gl_LocalInvocationID.x;
  const uint first = gl_WorkGroupID.x * PER_GROUP, end = min (first + PER_GROUP, PIECES);
  const uint strips = (OW + STRIP - 1) / STRIP, first_ky = gl_WorkGroupID.z * TAP_ROWS;
  [[unroll]] for (uint i = 0; i < TAP_ROWS * TAPS_W; i++)
    sums[i] = Eight (vec4 (0.0), vec4 (0.0));
  for (uint i = first + gl_LocalInvocationID.y; i < end && column < CVECS; i += LOCAL_Y)
    piece_take (i / (strips * OH), i / strips % OH, i % strips * STRIP, first_ky, column);
  [[unroll]] for (uint t = 0; t < TAP_ROWS * TAPS_W; t++)
    {
      parts[gl_LocalInvocationIndex] = sums[t];
      EIGHT_ADD_UP (parts);
      if (gl_LocalInvocationID.y == 0 && column < CVECS && first_ky + t / TAPS_W < TAPS_H)
        {
          const uint tap = (gl_WorkGroupID.x * TAPS_H + first_ky) * TAPS_W + t,
                     at = (tap * CVECS + column) * 2;
          FloatLanesOut (p.target).v[at] = parts[gl_LocalInvocationIndex].low;
          FloatLanesOut (p.target).v[at + 1] = parts[gl_LocalInvocationIndex].high;
        }
      barrier (); /* the parts have been read */
    }
}
