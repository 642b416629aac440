#version 460
/* SPDX-License-Identifier: MIT */
/* The gradients of two batch norms whose outputs were added, as from two runs of
 * batchnorm_gradient: both read the same dy, which includes the activation's slope.
 * REMATERIALISE=1 writes the dropped sum y again from both x, followed by ACTIVATION.  The second
 * dx may be dy's own memory.  STRIDE is a multiple of CVECS. */
#include "types.glsl"
#include "lanes.glsl"
#ifdef ACTIVATION
#include "activation.glsl"
#endif
#include "batchnorm-push.h"

layout (constant_id = DYNO_BATCH_NORM_APPLY_COUNT) const uint COUNT = 1;
layout (constant_id = DYNO_BATCH_NORM_APPLY_CVECS) const uint CVECS = 1;
layout (constant_id = DYNO_BATCH_NORM_APPLY_STRIDE) const uint STRIDE = 1;
DYNO_PUSH (DynoBatchNormPairPush, p);

/* The values of one batch norm for the channels of this invocation. */
struct Norm {
  Lanes mean, factor, slope, offset, beta;
};

Norm
norm_load (DynoBatchNormOne one, uint column)
{
  Norm norm;
  const Lanes invstd = lanes_load_floats (one.invstd, column);
  const Lanes mean_dy = lanes_load_floats (one.sums, column);
  const Lanes mean_product = lanes_load_floats (one.sums, CVECS + column);
  norm.mean = lanes_load_floats (one.mean, column);
  norm.beta = lanes_load_floats (one.beta, column);
  norm.factor = lanes_load_floats (one.gamma, column);
  [[unroll]] for (uint j = 0; j < QUADS; j++)
    {
      norm.factor.q[j] *= invstd.q[j];
      norm.slope.q[j] = norm.factor.q[j] * invstd.q[j] * mean_product.q[j];
      norm.offset.q[j] = norm.factor.q[j] * mean_dy.q[j];
    }
  return norm;
}

void
main ()
{
  const uint first = gl_GlobalInvocationID.x;
  if (first >= STRIDE)
    return;
  const uint column = first % CVECS;
  const Norm a = norm_load (p.a, column), b = norm_load (p.b, column);

  for (uint i = first; i < COUNT; i += STRIDE)
    {
      const Lanes x = lanes_load (p.a.x, i), z = lanes_load (p.b.x, i), dy = lanes_load (p.dy, i);
      Lanes dx, dz;
#ifdef REMATERIALISE
      Lanes y;
#endif
      [[unroll]] for (uint j = 0; j < QUADS; j++)
        {
          const vec4 d = x.q[j] - a.mean.q[j], e = z.q[j] - b.mean.q[j];
#ifdef REMATERIALISE
          y.q[j] = d * a.factor.q[j] + a.beta.q[j];
          y.q[j] += e * b.factor.q[j] + b.beta.q[j];
#ifdef ACTIVATION
          y.q[j] = activate (y.q[j]);
#endif
#endif
          dx.q[j] = a.factor.q[j] * dy.q[j] - d * a.slope.q[j] - a.offset.q[j];
          dz.q[j] = b.factor.q[j] * dy.q[j] - e * b.slope.q[j] - b.offset.q[j];
        }
#ifdef REMATERIALISE
      lanes_store (p.y, i, y);
#endif
      lanes_store (p.a.dx, i, dx);
      lanes_store (p.b.dx, i, dz);
    }
}
