/* SPDX-License-Identifier: MIT */
/* What the passes of the depthwise convolution share: its constants, and eight channels at once,
 * one access of 16 bytes in fp16 and two in fp32; fp32 once loaded. */
#ifndef DYNO_DEPTHWISE_GLSL
#define DYNO_DEPTHWISE_GLSL
#include "lanes.glsl"
#include "depthwise.h"

layout (constant_id = DYNO_DEPTHWISE_CVECS) const uint CVECS = 1;
layout (constant_id = DYNO_DEPTHWISE_H) const uint H = 1;
layout (constant_id = DYNO_DEPTHWISE_W) const uint W = 1;
layout (constant_id = DYNO_DEPTHWISE_OH) const uint OH = 1;
layout (constant_id = DYNO_DEPTHWISE_OW) const uint OW = 1;
layout (constant_id = DYNO_DEPTHWISE_PAD_H) const uint PAD_H = 0;
layout (constant_id = DYNO_DEPTHWISE_PAD_W) const uint PAD_W = 0;
layout (constant_id = DYNO_DEPTHWISE_PIECES) const uint PIECES = 1;
layout (constant_id = DYNO_DEPTHWISE_PER_GROUP) const uint PER_GROUP = 1;
DYNO_PUSH (DynoDepthwisePush, p);

#define ACCESSES (8 / LANES)

struct Eight {
  vec4 low, high;
};

Eight
eight_load (uint64_t address, uint index)
{
  const Lanes first = lanes_load (address, index * ACCESSES);
#if ACCESSES == 1
  return Eight (first.q[0], first.q[1]);
#else
  return Eight (first.q[0], lanes_load (address, index * ACCESSES + 1).q[0]);
#endif
}

void
eight_store (uint64_t address, uint index, Eight eight)
{
  Lanes lanes;
  lanes.q[0] = eight.low;
#if ACCESSES == 1
  lanes.q[1] = eight.high;
  lanes_store (address, index, lanes);
#else
  lanes_store (address, index * ACCESSES, lanes);
  lanes.q[0] = eight.high;
  lanes_store (address, index * ACCESSES + 1, lanes);
#endif
}

/* As it is once it has been stored. */
Eight
eight_rounded (Eight eight)
{
#if ACCESSES == 1
  Lanes lanes;
  lanes.q[0] = eight.low;
  lanes.q[1] = eight.high;
  lanes = words_unpack (words_pack (lanes));
  return Eight (lanes.q[0], lanes.q[1]);
#else
  return eight;
#endif
}

/* The weights of a tap. */
Eight
weight_load (uint ky, uint kx, uint column)
{
#ifdef FLIP
  return eight_load (p.b, ((TAPS_H - 1 - ky) * TAPS_W + TAPS_W - 1 - kx) * CVECS + column);
#else
  return eight_load (p.b, (ky * TAPS_W + kx) * CVECS + column);
#endif
}

/* sum += a * b */
void
eight_add_product (inout Eight sum, Eight a, Eight b)
{
  sum.low += a.low * b.low;
  sum.high += a.high * b.high;
}

/* parts[LOCAL_X * LOCAL_Y] are added up over y, in one order, into those of y 0; every invocation
 * of the workgroup must come here.  Counted in a way that Mesa unrolls: it unrolls no loop around
 * one that it does not, and sums by a counted index then lie in memory and not in registers. */
#define EIGHT_ADD_UP(parts)                                                      \
  [[unroll]] for (uint halving = 0; halving < 10; halving++)                     \
    {                                                                            \
      const uint n_parts = (LOCAL_Y + (1u << halving) - 1) >> halving,           \
                 half_parts = (n_parts + 1) / 2, here = gl_LocalInvocationIndex; \
      if (n_parts > 1)                                                           \
        barrier ();                                                              \
      if (n_parts > 1 && gl_LocalInvocationID.y < n_parts - half_parts)          \
        {                                                                        \
          parts[here].low += parts[here + half_parts * LOCAL_X].low;             \
          parts[here].high += parts[here + half_parts * LOCAL_X].high;           \
        }                                                                        \
    }

#endif
