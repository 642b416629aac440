#version 460
/* SPDX-License-Identifier: MIT */
/* target (N, H, W, C) from the elements of source, sample by sample: the place in a sample of the
 * target, h W C + w C + c, is a number of PARTS digits d, the first one slowest, each below its
 * EXTENT; the place in the sample of the source is the sum of the d STRIDE.  ALIGNED=1: an access of
 * the target is an access of the source.  ACCUMULATE=1 adds to the target.  An invocation gathers
 * one access of the target. */
#include "types.glsl"
#include "lanes.glsl"
#include "permute-push.h"

layout (constant_id = DYNO_PERMUTE_COUNT) const uint COUNT = 1;
layout (constant_id = DYNO_PERMUTE_CVECS) const uint CVECS = 1;
layout (constant_id = DYNO_PERMUTE_PIXELS) const uint PIXELS = 1;
layout (constant_id = DYNO_PERMUTE_C) const uint C = 8;
layout (constant_id = DYNO_PERMUTE_FROM) const uint FROM = 8;
layout (constant_id = DYNO_PERMUTE_FROM_C) const uint FROM_C = 8;
layout (constant_id = DYNO_PERMUTE_FROM_P) const uint FROM_P = 8;
layout (constant_id = DYNO_PERMUTE_PARTS + 0) const uint EXTENT_0 = 1;
layout (constant_id = DYNO_PERMUTE_PARTS + 1) const uint STRIDE_0 = 1;
layout (constant_id = DYNO_PERMUTE_PARTS + 2) const uint EXTENT_1 = 1;
layout (constant_id = DYNO_PERMUTE_PARTS + 3) const uint STRIDE_1 = 1;
layout (constant_id = DYNO_PERMUTE_PARTS + 4) const uint EXTENT_2 = 1;
layout (constant_id = DYNO_PERMUTE_PARTS + 5) const uint STRIDE_2 = 1;
layout (constant_id = DYNO_PERMUTE_PARTS + 6) const uint EXTENT_3 = 1;
layout (constant_id = DYNO_PERMUTE_PARTS + 7) const uint STRIDE_3 = 1;
layout (constant_id = DYNO_PERMUTE_PARTS + 8) const uint EXTENT_4 = 1;
layout (constant_id = DYNO_PERMUTE_PARTS + 9) const uint STRIDE_4 = 1;
layout (constant_id = DYNO_PERMUTE_PARTS + 10) const uint EXTENT_5 = 1;
layout (constant_id = DYNO_PERMUTE_PARTS + 11) const uint STRIDE_5 = 1;
layout (constant_id = DYNO_PERMUTE_PARTS + 12) const uint EXTENT_6 = 1;
layout (constant_id = DYNO_PERMUTE_PARTS + 13) const uint STRIDE_6 = 1;
layout (constant_id = DYNO_PERMUTE_PARTS + 14) const uint EXTENT_7 = 1;
layout (constant_id = DYNO_PERMUTE_PARTS + 15) const uint STRIDE_7 = 1;
DYNO_PUSH (DynoPermutePush, p);
#ifdef HALF
#define BYTES 2
DYNO_BUFFER_IN (Values, float16_t, 2);
#else
#define BYTES 4
DYNO_BUFFER_IN (Values, float, 4);
#endif

/* The element in memory, from the sample of the source on, that is at a place of the target. */
uint
source_of (uint place)
{
  const uint extents[DYNO_PERMUTE_MOST_PARTS] = uint[] (EXTENT_0, EXTENT_1, EXTENT_2, EXTENT_3,
                                                        EXTENT_4, EXTENT_5, EXTENT_6, EXTENT_7);
  const uint strides[DYNO_PERMUTE_MOST_PARTS] = uint[] (STRIDE_0, STRIDE_1, STRIDE_2, STRIDE_3,
                                                        STRIDE_4, STRIDE_5, STRIDE_6, STRIDE_7);
  uint from = 0;
  [[unroll]] for (int i = PARTS - 1; i > 0; i--)
    {
      from += place % extents[i] * strides[i];
      place /= extents[i];
    }
  from += place * strides[0];
  return from / FROM_C * FROM_P + from % FROM_C;
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
