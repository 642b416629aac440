#version 460
/* SPDX-License-Identifier: MIT */
/* target[g][k] (+)= sum over the rows r of group g of dy[r][k].  The grid's x counts groups of
 * rows, y blocks of LOCAL_X / LANES chunks of channels; LANES invocations share a chunk, and their
 * sums are added up in a fixed order.  HALF: dy is fp16. */
#include "types.glsl"
#include "conv2d.h"

#if HALF
#define CHUNK 8
#else
#define CHUNK 4
#endif
#define CHUNKS (LOCAL_X / LANES)

DYNO_BUFFER_IN (Source, u32vec4, 16);
DYNO_BUFFER_INOUT (Target, float, 4);
DYNO_PUSH (DynoConv2dBiasPush, p);

shared float part[LANES * CHUNKS * CHUNK];

void
main ()
{
  uint chunk = gl_LocalInvocationIndex % CHUNKS, lane = gl_LocalInvocationIndex / CHUNKS;
  uint chunks = p.channels / CHUNK, column = gl_WorkGroupID.y * CHUNKS + chunk;
  uint first = gl_WorkGroupID.x * p.rows_per_group, end = min (first + p.rows_per_group, p.rows);
  Source source = Source (p.dy);
  Target target = Target (p.target);
  float sum[CHUNK];

  [[unroll]] for (uint j = 0; j < CHUNK; j++)
    sum[j] = 0.0;
  if (column < chunks)
    for (uint row = first + lane; row < end; row += LANES)
      {
        u32vec4 v = source.v[row * chunks + column];
#if HALF
        [[unroll]] for (uint j = 0; j < 4; j++)
          {
            vec2 h = unpackHalf2x16 (v[j]);
            sum[j * 2] += h.x;
            sum[j * 2 + 1] += h.y;
          }
#else
        [[unroll]] for (uint j = 0; j < 4; j++)
          sum[j] += uintBitsToFloat (v[j]);
#endif
      }
  [[unroll]] for (uint j = 0; j < CHUNK; j++)
    part[(lane * CHUNKS + chunk) * CHUNK + j] = sum[j];
  barrier ();

  for (uint i = gl_LocalInvocationIndex; i < CHUNKS * CHUNK; i += LOCAL_X)
    {
      uint k = gl_WorkGroupID.y * CHUNKS * CHUNK + i;
      float total = 0.0;
      for (uint l = 0; l < LANES; l++)
        total += part[l * CHUNKS * CHUNK + i];
      if (k < p.channels)
        {
          uint at = gl_WorkGroupID.x * p.channels + k;
          target.v[at] = p.accumulate != 0 ? target.v[at] + total : total;
        }
    }
}
