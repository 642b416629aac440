#version 460
/* SPDX-License-Identifier: MIT */
/* dx = gamma * invstd * (dy - mean (dy) - xhat * mean (dy * xhat)), xhat = (x - mean) * invstd, dy
 * including the activation's slope; dx, dy, x are (N, H, W, C), all other tensors (C).  sums holds
 * mean (dy), then mean (dy * xhat), over n, h, w.  SLOPE_X=1 and SLOPE_MASK=1 are as in
 * batchnorm_reduce.  RESIDUAL, one of DYNO_STORE_ID_*, stores this dy to dresidual.
 * ACCUMULATE=1 adds to dx, NO_DX=1 leaves it out.  dx may be dy's own memory.  STRIDE is a multiple
 * of CVECS.  VARIANCE=1: with running statistics, which do not depend on x, p.invstd holds the
 * variance, and dx = gamma * invstd * dy.  REMATERIALISE=1, for a y that was dropped and that no
 * reducing pass computes: writes y again from x, with ADDED plus the residual (added.glsl), then
 * with ACTIVATION; dy then already includes the slope. */
#include "types.glsl"
#include "lanes.glsl"
#ifdef ACTIVATION
#include "activation.glsl"
#endif
#ifdef SLOPE_MASK
#include "mask.glsl"
#endif
#include "batchnorm-push.h"
#include "modes.h"

layout (constant_id = DYNO_BATCH_NORM_APPLY_COUNT) const uint COUNT = 1;
layout (constant_id = DYNO_BATCH_NORM_APPLY_CVECS) const uint CVECS = 1;
layout (constant_id = DYNO_BATCH_NORM_APPLY_STRIDE) const uint STRIDE = 1;
#ifdef VARIANCE
layout (constant_id = DYNO_BATCH_NORM_APPLY_EPSILON) const float EPSILON = 1e-5;
#endif
DYNO_PUSH (DynoBatchNormGradientPush, p);
#ifdef ADDED
#include "added.glsl"
#endif

void
main ()
{
  const uint first = gl_GlobalInvocationID.x;
  if (first >= STRIDE)
    return;
  const uint column = first % CVECS;
  const Lanes mean = lanes_load_floats (p.mean, column);
#ifdef VARIANCE
  Lanes invstd = lanes_load_floats (p.invstd, column);
  [[unroll]] for (uint j = 0; j < QUADS; j++)
    invstd.q[j] = inversesqrt (invstd.q[j] + EPSILON);
#else
  const Lanes invstd = lanes_load_floats (p.invstd, column);
  const Lanes mean_dy = lanes_load_floats (p.sums, column);
  const Lanes mean_product = lanes_load_floats (p.sums, CVECS + column);
#endif
#if defined SLOPE_X || defined REMATERIALISE
  const Lanes beta = lanes_load_floats (p.beta, column);
#endif
  Lanes factor = lanes_load_floats (p.gamma, column), slope, offset;
  [[unroll]] for (uint j = 0; j < QUADS; j++)
    {
      factor.q[j] *= invstd.q[j];
#ifndef VARIANCE
      slope.q[j] = factor.q[j] * invstd.q[j] * mean_product.q[j];
      offset.q[j] = factor.q[j] * mean_dy.q[j];
#endif
    }

#ifdef ADDED
  added_start (column);
#endif

  for (uint i = first; i < COUNT; i += STRIDE)
    {
      const Lanes x = lanes_load (p.x, i);
      Lanes dy = lanes_load (p.dy, i), dx;
#ifdef SLOPE_MASK
      const uint mask = mask_load (p.mask, i / CVECS, column, CVECS);
#endif
#ifdef ADDED
      const Lanes residual = added_unpack (added_load (i));
#endif
#ifdef REMATERIALISE
      Lanes y;
#endif
      [[unroll]] for (uint j = 0; j < QUADS; j++)
        {
          const vec4 d = x.q[j] - mean.q[j];
#ifdef SLOPE_X
          dy.q[j] = activation_slope_of_x (d * factor.q[j] + beta.q[j], dy.q[j]);
#endif
#ifdef SLOPE_MASK
          dy.q[j] = mask_slope (mask >> (j * 4), dy.q[j]);
#endif
#ifdef REMATERIALISE
          y.q[j] = d * factor.q[j] + beta.q[j];
#ifdef ADDED
          y.q[j] += residual.q[j];
#endif
#ifdef ACTIVATION
          y.q[j] = activate (y.q[j]);
#endif
#endif
#ifdef VARIANCE
          dx.q[j] = factor.q[j] * dy.q[j];
#else
          dx.q[j] = factor.q[j] * dy.q[j] - d * slope.q[j] - offset.q[j];
#endif
        }
#ifdef REMATERIALISE
      lanes_store (p.y, i, y);
#endif
#if defined NO_DX
#elif defined ACCUMULATE
      lanes_store_sum (p.dx, i, dx);
#else
      lanes_store (p.dx, i, dx);
#endif
#ifdef RESIDUAL
#if RESIDUAL == DYNO_STORE_ID_SUM
      lanes_store_sum (p.dresidual, i, dy);
#else
      lanes_store (p.dresidual, i, dy);
#endif
#endif
    }
}
