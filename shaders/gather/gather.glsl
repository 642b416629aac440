/* SPDX-License-Identifier: MIT */
/* Source and target of the gathers; include after types.glsl.  FROM_FLOATS=1: the source is fp32
 * with HALF=1 too, as the parameters are; TO_FLOATS=1: the target is, as their gradients are. */
#ifndef DYNO_GATHER_GLSL
#define DYNO_GATHER_GLSL
#include "lanes.glsl"
#include "gather-push.h"

layout (constant_id = DYNO_GATHER_COUNT) const uint COUNT = 1;
layout (constant_id = DYNO_GATHER_SAMPLE) const uint SAMPLE = 1;
layout (constant_id = DYNO_GATHER_FROM) const uint FROM = 8;
DYNO_PUSH (DynoGatherPush, p);
#if defined (HALF) && !defined (FROM_FLOATS)
#define BYTES 2
DYNO_BUFFER_IN (Values, float16_t, 2);
#else
#define BYTES 4
DYNO_BUFFER_IN (Values, float, 4);
#endif

/* The address of the source's sample for access i of the target. */
uint64_t
sample_of (uint i)
{
  return p.source + uint64_t (i / SAMPLE) * FROM * BYTES;
}

void
store (uint i, Lanes y)
{
#ifdef TO_FLOATS
#ifdef ACCUMULATE
  const Lanes old = lanes_load_floats (p.target, i);
  [[unroll]] for (uint j = 0; j < QUADS; j++)
    y.q[j] += old.q[j];
#endif
  lanes_store_floats (p.target, i, y);
#elif defined (ACCUMULATE)
  lanes_store_sum (p.target, i, y);
#else
  lanes_store (p.target, i, y);
#endif
}

#endif
