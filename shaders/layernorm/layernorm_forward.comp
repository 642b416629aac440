#version 460
/* SPDX-License-Identifier: MIT */
/* y[r] = (x[r] - mean) / sqrt (variance + EPSILON) * gamma + beta of each row's C values; the
 * variance is the mean of the squared distances from the mean, computed in a second pass.  KEEP=1
 * stores mean and 1 / sqrt (variance + EPSILON) of each row.  A workgroup takes LOCAL_Y rows at a
 * time, each by LOCAL_X invocations; sums are joined in a fixed order. */
#include "types.glsl"
#include "lanes.glsl"
#include "layernorm-push.h"
#include "layernorm.glsl"

layout (constant_id = DYNO_LAYER_NORM_EPSILON) const float EPSILON = 1e-5;
DYNO_PUSH (DynoLayerNormPush, p);
DYNO_BUFFER_OUT (Rows, vec2, 8);

void
main ()
{
  const uint place = gl_LocalInvocationID.x, lane = gl_LocalInvocationID.y;
  for (uint first = gl_WorkGroupID.x * LOCAL_Y; first < ROWS; first += gl_NumWorkGroups.x * LOCAL_Y)
    {
      const uint row = min (first + lane, ROWS - 1);
      float sum = 0.0, square = 0.0;
      for (uint i = place; i < CVECS; i += LOCAL_X)
        {
          const Lanes x = lanes_load (p.x, row * CVECS + i);
          [[unroll]] for (uint j = 0; j < QUADS; j++)
            sum += x.q[j].x + x.q[j].y + (x.q[j].z + x.q[j].w);
        }
      const float mean = row_sum (vec2 (sum, 0.0)).x / float (C);
      for (uint i = place; i < CVECS; i += LOCAL_X)
        {
          const Lanes x = lanes_load (p.x, row * CVECS + i);
          [[unroll]] for (uint j = 0; j < QUADS; j++)
            {
              const vec4 d = inside (i, j, x.q[j] - mean);
              square += dot (d, d);
            }
        }
      const float invstd = inversesqrt (row_sum (vec2 (square, 0.0)).x / float (C) + EPSILON);
      for (uint i = place; i < CVECS && first + lane < ROWS; i += LOCAL_X)
        {
          Lanes x = lanes_load (p.x, row * CVECS + i);
          const Lanes gamma = lanes_load_floats (p.gamma, i), beta = lanes_load_floats (p.beta, i);
          [[unroll]] for (uint j = 0; j < QUADS; j++)
            x.q[j] = (x.q[j] - mean) * invstd * gamma.q[j] + beta.q[j];
          lanes_store (p.y, row * CVECS + i, x);
        }
#ifdef KEEP
      if (place == 0 && first + lane < ROWS)
        Rows (p.rows).v[row] = vec2 (mean, invstd);
#endif
    }
}
