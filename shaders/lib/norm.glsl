/* SPDX-License-Identifier: MIT */
/* With NORM: the kernel stores the gradient dy of a batch norm's output, and computes the sums of
 * dy and of dy * xhat over the rows, with which the backward pass of that batch norm begins, so
 * that dy need not be read again for these sums.  xhat = (x - mean[c]) * invstd[c]; x is the batch
 * norm's input, of the shape of dy.
 *
 * NORM is one of DYNO_NORM_ID_* (modes.h); p.norm_y is the mask (mask.glsl) with SLOPE_MASK.
 *
 * dy is stored times the slope of the activation after the batch norm: the slopes of RELU and RELU6
 * are 0 and 1, so the sums are of the stored values.  p has mean, invstd, gamma and beta, fp32
 * [C]. */
#ifndef DYNO_NORM_GLSL
#define DYNO_NORM_GLSL
#include "modes.h"
#if NORM == DYNO_NORM_ID_SLOPE_X
#include "activation.glsl"
#elif NORM == DYNO_NORM_ID_SLOPE_MASK
#include "mask.glsl"
#endif

DYNO_BUFFER_IN (NormFloats, vec4, 16);

/* The values of four channels. */
struct NormColumns {
  vec4 mean;
#if NORM == DYNO_NORM_ID_SLOPE_X
  vec4 factor, beta;
#endif
};

NormColumns
norm_columns (uint group)
{
  NormColumns columns;
  columns.mean = NormFloats (p.mean).v[group];
#if NORM == DYNO_NORM_ID_SLOPE_X
  columns.factor = NormFloats (p.gamma).v[group] * NormFloats (p.invstd).v[group];
  columns.beta = NormFloats (p.beta).v[group];
#endif
  return columns;
}

/* Applies the slope to dy of a row and adds it to the sums; norm_finish turns the second sum into
 * the sum of dy * xhat.  mask: the bits of these channels, with SLOPE_MASK. */
vec4
norm_take (NormColumns columns, vec4 dy, vec4 x, uint mask, inout vec4 sum, inout vec4 product)
{
  const vec4 d = x - columns.mean;
#if NORM == DYNO_NORM_ID_SLOPE_X
  dy = activation_slope_of_x (d * columns.factor + columns.beta, dy);
#elif NORM == DYNO_NORM_ID_SLOPE_MASK
  dy = mask_slope (mask, dy);
#endif
  sum += dy;
  product += dy * d;
  return dy;
}

vec4
norm_finish (uint group, vec4 product)
{
  return product * NormFloats (p.invstd).v[group];
}

#endif
