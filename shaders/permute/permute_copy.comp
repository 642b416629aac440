#version 460
/* SPDX-License-Identifier: MIT */
/* target (N, H, W, C) from the elements of source, sample by sample: the index in a sample of the
 * target, h W C + w C + c, is a mixed-radix number of PARTS digits d, the first one slowest, each
 * below its EXTENT; the index in the sample of the source is the sum of d * STRIDE.  ALIGNED=1: an
 * access of the target is an access of the source.  ACCUMULATE=1 adds to the target.  An invocation
 * gathers one access of the target. */
#include "types.glsl"
#include "lanes.glsl"
#include "permute-parts.glsl"

#ifdef HALF
DYNO_BUFFER_IN (Values, float16_t, 2);
#else
DYNO_BUFFER_IN (Values, float, 4);
#endif

/* The index in memory, counted from the start of the source's sample, of the element for an index
 * in the target. */
uint
source_of (uint place)
{
  const uint extents[] = PERMUTE_EXTENTS, strides[] = PERMUTE_STRIDES;
  uint from = 0;
  [[unroll]] for (int i = PARTS - 1; i > 0; i--)
    {
      from += place % extents[i] * strides[i];
      place /= extents[i];
    }
  from += place * strides[0];
  return in_memory (from);
}

void
main ()
{
  for (uint i = gl_GlobalInvocationID.x; i < COUNT; i += gl_NumWorkGroups.x * LOCAL_X)
    {
      const uint pixel = i / CVECS, c = i % CVECS * LANES;
      const uint place = pixel % PIXELS * C + c;
      const uint64_t values = p.source + uint64_t (pixel / PIXELS) * FROM * BYTES;
      Lanes y = lanes_fill (0.0);
#ifdef ALIGNED
      if (c < C)
        y = lanes_load (values, source_of (place) / LANES);
#else
      [[unroll]] for (uint j = 0; j < QUADS; j++)
        [[unroll]] for (uint k = 0; k < 4; k++)
          {
            const uint lane = 4 * j + k;
            if (c + lane < C)
              y.q[j][k] = float (Values (values).v[source_of (place + lane)]);
          }
#endif
#ifdef ACCUMULATE
      lanes_store_sum (p.target, i, y);
#else
      lanes_store (p.target, i, y);
#endif
    }
}
