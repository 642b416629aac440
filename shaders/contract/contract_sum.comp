#version 460
/* SPDX-License-Identifier: MIT */
/* target = SCALE times the sum over the summed indices of a * b, for every element of the target,
 * in fp32 and a fixed order.  An invocation has the channels of an access of the target; with SPLIT
 * > 1 that number of invocations share the summed indices of an access, and their sums are added up
 * in pairs.  ACCUMULATE=1 adds to the target. */
#include "types.glsl"
#include "lanes.glsl"
#include "contract.glsl"

#define ACCESSES (LOCAL_X / SPLIT)
#if SPLIT > 1
shared Lanes parts[LOCAL_X];
#endif

/* The indices in a and in b of an element of the target, at the first summed index. */
uvec2
places_of (uint place)
{
  const uint extents[] = CONTRACT_LIST (EXTENT_), a[] = CONTRACT_LIST (STRIDE_A_),
             b[] = CONTRACT_LIST (STRIDE_B_);
  uvec2 places = uvec2 (0);
  [[unroll]] for (int i = OUT - 1; i >= 0; i--)
    {
      places += place % extents[i] * uvec2 (a[i], b[i]);
      place /= extents[i];
    }
  return places;
}

/* The sums of an access over every SPLIT-th summed index. */
Lanes
sum_up (uint access, uint slice)
{
  const uint pixel = access / CVECS, c = access % CVECS * LANES, item = pixel / PIXELS;
  Lanes sum = lanes_fill (0.0);
  uvec2 first[LANES];
  [[unroll]] for (uint lane = 0; lane < LANES; lane++)
    first[lane] = places_of (pixel % PIXELS * C + min (c + lane, C - 1));
  for (uint k = slice; k < SUMMED * SAMPLES; k += SPLIT)
    {
      const uvec2 more = summed_places (k % SUMMED);
      AValues a = sample_of_a (item + k / SUMMED);
      BValues b = sample_of_b (item + k / SUMMED);
      [[unroll]] for (uint j = 0; j < QUADS; j++)
        [[unroll]] for (uint i = 0; i < 4; i++)
          {
            const uvec2 at = first[4 * j + i] + more;
            sum.q[j][i] += load_a (a, at.x) * load_b (b, at.y);
          }
    }
  [[unroll]] for (uint j = 0; j < QUADS; j++)
    [[unroll]] for (uint i = 0; i < 4; i++)
      sum.q[j][i] = c + 4 * j + i < C ? sum.q[j][i] * SCALE : 0.0;
  return sum;
}

void
store (uint access, Lanes sum)
{
#ifdef ACCUMULATE
  lanes_store_sum (p.target, access, sum);
#else
  lanes_store (p.target, access, sum);
#endif
}

void
main ()
{
  for (uint first = gl_WorkGroupID.x * ACCESSES; first < COUNT;
       first += gl_NumWorkGroups.x * ACCESSES)
    {
      const uint access = first + gl_LocalInvocationIndex % ACCESSES,
                 slice = gl_LocalInvocationIndex / ACCESSES;
      Lanes sum = lanes_fill (0.0);
      if (access < COUNT)
        sum = sum_up (access, slice);
#if SPLIT > 1
      parts[gl_LocalInvocationIndex] = sum;
      [[unroll]] for (uint n = SPLIT / 2; n > 0; n /= 2)
        {
          barrier ();
          if (slice < n)
            [[unroll]] for (uint j = 0; j < QUADS; j++)
              parts[gl_LocalInvocationIndex].q[j] +=
                  parts[gl_LocalInvocationIndex + n * ACCESSES].q[j];
        }
      barrier ();
      sum = parts[gl_LocalInvocationIndex];
      barrier ();
#endif
      if (slice == 0 && access < COUNT)
        store (access, sum);
    }
}
