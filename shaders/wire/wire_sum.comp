#version 460
/* SPDX-License-Identifier: MIT */
/* target[i] = scale * (x_0[i] + x_1[i] + ...), 4 * count values: the x of all ranks are added in
 * the order of ranks, as in dyno_comm_add_ranks.  This rank's x is at `own`, the x of the other
 * ranks at `inbox`, at distances of `stride`.  HALF: the x are fp16 and are added in fp32, without
 * scale, and the sum is rounded to fp16 before it becomes fp32 again, as if it had been sent
 * back. */
#include "types.glsl"
#include "wire.glsl"
#include "wire-push.h"

#if HALF
#define PACK uvec2
#define BYTES 8
#else
#define PACK uvec4
#define BYTES 16
#endif
DYNO_BUFFER_IN (Source, PACK, BYTES);
DYNO_BUFFER_OUT (Target, uvec4, 16);
DYNO_PUSH (DynoWireSumPush, p);

precise vec4
value (PACK x)
{
#if HALF
  return uintBitsToFloat (uvec4 (from_half (x.x & 0xffffu), from_half (x.x >> 16),
                                 from_half (x.y & 0xffffu), from_half (x.y >> 16)));
#else
  return uintBitsToFloat (x);
#endif
}

PACK
load (uint rank, uint i)
{
  if (rank == p.own_rank)
    return Source (p.own).v[i];
  return Source (p.inbox + uint64_t (rank - (rank > p.own_rank ? 1 : 0)) * p.stride).v[i];
}

void
main ()
{
  Target target = Target (p.target);

  for (uint i = gl_GlobalInvocationID.x; i < p.count; i += gl_NumWorkGroups.x * LOCAL_X)
    {
      PACK x[RANKS];
      [[unroll]] for (uint r = 0; r < RANKS; r++)
        x[r] = load (r, i);
      precise vec4 sum = value (x[0]);
      [[unroll]] for (uint r = 1; r < RANKS; r++)
        sum += value (x[r]);
#if HALF
      const uvec4 bits = floatBitsToUint (sum);
      target.v[i] = uvec4 (from_half (to_half (bits.x)), from_half (to_half (bits.y)),
                           from_half (to_half (bits.z)), from_half (to_half (bits.w)));
#else
      sum *= p.scale;
      target.v[i] = floatBitsToUint (sum);
#endif
    }
}
