#version 460
/* SPDX-License-Identifier: MIT */
/* y = (x - mean) * gamma * invstd + beta [+ residual with ADDED, added.glsl], y = f (y) with
 * ACTIVATION; (N, H, W, C) all.  VARIANCE=1: spread is a variance, not 1 / sqrt (variance +
 * EPSILON).  MASK=1 also writes a bit for each element of y that is above zero (mask.glsl), for
 * ROWS rows; an invocation then takes four rows at a time.  An invocation keeps to its channels:
 * STRIDE is a multiple of CVECS. */
#include "types.glsl"
#include "lanes.glsl"
#ifdef ACTIVATION
#include "activation.glsl"
#endif
#ifdef MASK
#include "mask.glsl"
#endif
#include "batchnorm-push.h"

layout (constant_id = DYNO_BATCH_NORM_APPLY_COUNT) const uint COUNT = 1;
layout (constant_id = DYNO_BATCH_NORM_APPLY_CVECS) const uint CVECS = 1;
layout (constant_id = DYNO_BATCH_NORM_APPLY_STRIDE) const uint STRIDE = 1;
layout (constant_id = DYNO_BATCH_NORM_APPLY_EPSILON) const float EPSILON = 1e-5;
#ifdef MASK
layout (constant_id = DYNO_BATCH_NORM_APPLY_ROWS) const uint ROWS = 1;
#define TOGETHER 4
#else
#define TOGETHER 1
#endif
DYNO_PUSH (DynoBatchNormApplyPush, p);
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
  const Lanes beta = lanes_load_floats (p.beta, column);
  Lanes factor = lanes_load_floats (p.gamma, column);
  const Lanes spread = lanes_load_floats (p.spread, column);
  [[unroll]] for (uint j = 0; j < QUADS; j++)
#ifdef VARIANCE
    factor.q[j] *= inversesqrt (spread.q[j] + EPSILON);
#else
    factor.q[j] *= spread.q[j];
#endif

#ifdef ADDED
  added_start (column);
#endif

  for (uint i = first; i < COUNT; i += STRIDE)
    {
      uvec4 x[TOGETHER];
#ifdef ADDED
      uvec4 residual[TOGETHER];
#endif
#ifdef MASK
      const uint row = i / CVECS * TOGETHER, at = row * CVECS + column;
      uint mask = 0;
#define THERE(k) (ROWS % TOGETHER == 0 || row + (k) < ROWS)
#else
      const uint at = i;
#define THERE(k) true
#endif
      [[unroll]] for (uint k = 0; k < TOGETHER; k++)
        if (THERE (k))
          {
            x[k] = words_load (p.x, at + k * CVECS);
#ifdef ADDED
            residual[k] = added_load (at + k * CVECS);
#endif
          }
      [[unroll]] for (uint k = 0; k < TOGETHER; k++)
        if (THERE (k))
          {
            Lanes y = words_unpack (x[k]);
#ifdef ADDED
            const Lanes added = added_unpack (residual[k]);
#endif
            [[unroll]] for (uint j = 0; j < QUADS; j++)
              {
                y.q[j] = (y.q[j] - mean.q[j]) * factor.q[j] + beta.q[j];
#ifdef ADDED
                y.q[j] += added.q[j];
#endif
#ifdef ACTIVATION
                y.q[j] = activate (y.q[j]);
#endif
              }
            const uvec4 words = words_pack (y);
            words_store (p.y, at + k * CVECS, words);
#ifdef MASK
            y = words_unpack (words);
            [[unroll]] for (uint j = 0; j < QUADS; j++)
              mask |= mask_of (y.q[j]) << (k * 8 + j * 4);
#endif
          }
#ifdef MASK
      MaskOut (p.mask).v[i] = mask;
#endif
    }
}
