#version 460
/* SPDX-License-Identifier: MIT */
/* Sums over groups of SPLIT rows, [group][channel]: p.gamma gets the sums of dy xhat, p.beta the
 * sums of dy; conv2d/reduce.comp adds up the groups.  A workgroup takes LOCAL_X accesses of
 * channels (x) and SPLIT rows (y), invocation (i, j) every LOCAL_Y-th of these rows; the order of
 * the sums is fixed. */
#include "types.glsl"
#include "lanes.glsl"
#include "layernorm-push.h"

layout (constant_id = DYNO_LAYER_NORM_ROWS) const uint ROWS = 1;
layout (constant_id = DYNO_LAYER_NORM_CVECS) const uint CVECS = 1;
layout (constant_id = DYNO_LAYER_NORM_SPLIT) const uint SPLIT = 1;
DYNO_PUSH (DynoLayerNormSumsPush, p);
DYNO_BUFFER_IN (Rows, vec2, 8);

shared vec4 parts[LOCAL_X * LOCAL_Y * QUADS * 2];

void
main ()
{
  const uint place = gl_LocalInvocationID.x, lane = gl_LocalInvocationID.y;
  const uint column = gl_WorkGroupID.x * LOCAL_X + place, first = gl_WorkGroupID.y * SPLIT;
  const uint end = column < CVECS ? min (first + SPLIT, ROWS) : 0;
  Lanes gamma = lanes_fill (0.0), beta = lanes_fill (0.0);
  for (uint row = first + lane; row < end; row += LOCAL_Y)
    {
      const vec2 kept = Rows (p.rows).v[row];
      const Lanes x = lanes_load (p.x, row * CVECS + column),
                  dy = lanes_load (p.dy, row * CVECS + column);
      [[unroll]] for (uint j = 0; j < QUADS; j++)
        {
          gamma.q[j] += dy.q[j] * ((x.q[j] - kept.x) * kept.y);
          beta.q[j] += dy.q[j];
        }
    }
  const uint own = (lane * LOCAL_X + place) * QUADS * 2;
  [[unroll]] for (uint j = 0; j < QUADS; j++)
    {
      parts[own + j] = gamma.q[j];
      parts[own + QUADS + j] = beta.q[j];
    }
  barrier ();
  if (lane != 0 || column >= CVECS)
    return;
  for (uint i = 1; i < LOCAL_Y; i++)
    [[unroll]] for (uint j = 0; j < QUADS; j++)
      {
        const uint other = (i * LOCAL_X + place) * QUADS * 2;
        gamma.q[j] += parts[other + j];
        beta.q[j] += parts[other + QUADS + j];
      }
  lanes_store_floats (p.gamma, gl_WorkGroupID.y * CVECS + column, gamma);
  lanes_store_floats (p.beta, gl_WorkGroupID.y * CVECS + column, beta);
}
