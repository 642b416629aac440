#version 460
/* SPDX-License-Identifier: MIT */
/* With DX: dx[n][i][c] (+)= dy[n][i][c] * s[n][c].  With DS: ds[n][c] (+)= sum over i of
 * dy[n][i][c] * x[n][i][c], or fp32 sums of SPLIT pixels, [split][n][c], for conv2d/join.comp.  DX
 * and DS are values of DYNO_STORE_ID_* (modes.h).  FLOAT_FACTORS=1: s are floats.  x, dy, dx (N,
 * PIXELS, C), s, ds (N, C).  dx may be dy's own memory.  A workgroup takes LOCAL_X accesses of
 * channels (x) and SPLIT pixels (z) per sample (y), invocation (i, j) takes every LOCAL_Y-th of the
 * pixels; the order of the sums is fixed. */
#include "types.glsl"
#include "lanes.glsl"
#include "scale-push.h"
#include "modes.h"

layout (constant_id = DYNO_SCALE_CVECS) const uint CVECS = 1;
layout (constant_id = DYNO_SCALE_PIXELS) const uint PIXELS = 1;
layout (constant_id = DYNO_SCALE_SAMPLES) const uint SAMPLES = 1;
layout (constant_id = DYNO_SCALE_SPLIT) const uint SPLIT = 1;
DYNO_PUSH (DynoScalePush, p);

#ifdef DS
shared vec4 sums[LOCAL_X * LOCAL_Y * QUADS];
#endif

void
main ()
{
  const uint lane = gl_LocalInvocationID.y, place = gl_LocalInvocationID.x;
  const uint column = gl_WorkGroupID.x * LOCAL_X + place, first = gl_WorkGroupID.z * SPLIT;
  const uint end = column < CVECS ? min (first + SPLIT, PIXELS) : 0;
  for (uint n = gl_WorkGroupID.y; n < SAMPLES; n += gl_NumWorkGroups.y)
    {
      Lanes sum = lanes_fill (0.0);
#ifdef DX
#ifdef FLOAT_FACTORS
      const Lanes s = lanes_load_floats (p.s, n * CVECS + min (column, CVECS - 1));
#else
      const Lanes s = lanes_load (p.s, n * CVECS + min (column, CVECS - 1));
#endif
#endif
      for (uint i = first + lane; i < end; i += LOCAL_Y)
        {
          const uint at = (n * PIXELS + i) * CVECS + column;
          Lanes dy = lanes_load (p.dy, at);
#ifdef DS
          const Lanes x = lanes_load (p.x, at);
#endif
          [[unroll]] for (uint j = 0; j < QUADS; j++)
            {
#ifdef DS
              sum.q[j] += dy.q[j] * x.q[j];
#endif
#ifdef DX
              dy.q[j] *= s.q[j];
#endif
            }
#ifdef DX
#if DX == DYNO_STORE_ID_SUM
          lanes_store_sum (p.dx, at, dy);
#else
          lanes_store (p.dx, at, dy);
#endif
#endif
        }
#ifdef DS
      [[unroll]] for (uint j = 0; j < QUADS; j++)
        sums[(lane * LOCAL_X + place) * QUADS + j] = sum.q[j];
      barrier ();
      if (lane == 0 && column < CVECS)
        {
          for (uint i = 1; i < LOCAL_Y; i++)
            [[unroll]] for (uint j = 0; j < QUADS; j++)
              sum.q[j] += sums[(i * LOCAL_X + place) * QUADS + j];
#if DS == DYNO_STORE_ID_PARTS
          lanes_store_floats (p.ds, (gl_WorkGroupID.z * SAMPLES + n) * CVECS + column, sum);
#elif DS == DYNO_STORE_ID_SUM
          lanes_store_sum (p.ds, n * CVECS + column, sum);
#else
          lanes_store (p.ds, n * CVECS + column, sum);
#endif
        }
      barrier ();
#endif
    }
}
