/* SPDX-License-Identifier: MIT */
/* With AFFINE: the kernel stores, instead of the product, the output of the following batch norm,
 * which uses running statistics, so that only the batch norm's parameters are needed:
 *
 *   y = f ((v - mean[c]) * gamma[c] / sqrt (variance[c] + epsilon) + beta[c] [+ residual])
 *
 *   AFFINE one of DYNO_AFFINE_ID_* (modes.h); a residual, of y's shape, is p.norm_x
 *   ACTIVATION f; not defined: none
 *   AFFINE_EPSILON epsilon; not defined: DYNO_BATCH_NORM_EPSILON
 *
 * v is the product as it would be stored, so that y is bit-identical to the result of two kernels.
 * p has mean, invstd (the variance), gamma and beta, fp32 [C]. */
#ifndef DYNO_AFFINE_GLSL
#define DYNO_AFFINE_GLSL
#include "batchnorm-push.h"
#include "modes.h"
#ifdef ACTIVATION
#include "activation.glsl"
#endif
#ifndef AFFINE_EPSILON
#define AFFINE_EPSILON DYNO_BATCH_NORM_EPSILON
#endif

DYNO_BUFFER_IN (AffineFloats, vec4, 16);

/* The values of four channels. */
struct AffineColumns {
  vec4 mean, factor, beta;
};

AffineColumns
affine_columns (uint group)
{
  AffineColumns columns;
  columns.mean = AffineFloats (p.mean).v[group];
  columns.factor = AffineFloats (p.gamma).v[group];
  columns.factor *= inversesqrt (AffineFloats (p.invstd).v[group] + AFFINE_EPSILON);
  columns.beta = AffineFloats (p.beta).v[group];
  return columns;
}

vec4
affine_take (AffineColumns columns, vec4 v, vec4 residual)
{
  v = (v - columns.mean) * columns.factor + columns.beta;
#if AFFINE == DYNO_AFFINE_ID_RESIDUAL
  v += residual;
#endif
#ifdef ACTIVATION
  v = activate (v);
#endif
  return v;
}

#endif
