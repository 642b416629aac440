#version 460
/* SPDX-License-Identifier: MIT */
/* y = (x - mean) * gamma * invstd + beta [+ residual with RESIDUAL=1], y = f (y) with ACTIVATION;
 * (N, H, W, C) all.  VARIANCE=1: spread is a variance, not 1 / sqrt (variance + EPSILON).  An
 * invocation keeps to its channels: STRIDE is a multiple of CVECS. */
#include "types.glsl"
#include "lanes.glsl"
#ifdef ACTIVATION
#include "activation.glsl"
#endif
#include "batchnorm-push.h"

layout (constant_id = DYNO_BATCH_NORM_APPLY_COUNT) const uint COUNT = 1;
layout (constant_id = DYNO_BATCH_NORM_APPLY_CVECS) const uint CVECS = 1;
layout (constant_id = DYNO_BATCH_NORM_APPLY_STRIDE) const uint STRIDE = 1;
layout (constant_id = DYNO_BATCH_NORM_APPLY_EPSILON) const float EPSILON = 1e-5;
DYNO_PUSH (DynoBatchNormApplyPush, p);

void
main ()
{
  const uint first = gl_GlobalInvocationID.x;
  if (first >= STRIDE)
    return;
  const uint column = first % CVECS;
  const Lanes mean = lanes_load_floats (p.mean, column);
  const Lanes beta = lanes_load_floats (p.beta, column);
  Lanes factor = lanes_load_floats (p.gamma, column);
  const Lanes spread = lanes_load_floats (p.spread, column);
  [[unroll]] for (uint j = 0; j < QUADS; j++)
#ifdef VARIANCE
    factor.q[j] *= inversesqrt (spread.q[j] + EPSILON);
#else
    factor.q[j] *= spread.q[j];
#endif

  for (uint i = first; i < COUNT; i += STRIDE)
    {
      Lanes x = lanes_load (p.x, i);
#ifdef RESIDUAL
      const Lanes residual = lanes_load (p.residual, i);
#endif
      [[unroll]] for (uint j = 0; j < QUADS; j++)
        {
          x.q[j] = (x.q[j] - mean.q[j]) * factor.q[j] + beta.q[j];
#ifdef RESIDUAL
          x.q[j] += residual.q[j];
#endif
#ifdef ACTIVATION
          x.q[j] = activate (x.q[j]);
#endif
        }
      lanes_store (p.y, i, x);
    }
}
