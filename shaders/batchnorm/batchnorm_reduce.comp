#version 460
/* SPDX-License-Identifier: MIT */
/* partials[group][0][c] = sum of dy[r][c], partials[group][1][c] = sum of dy[r][c] * xhat[r][c],
 * over the rows r of a group; xhat = (x - mean[c]) * invstd[c]; x, y, dy (ROWS, CVECS * LANES).  dy
 * is multiplied by the slope of ACTIVATION: SLOPE_X=1 computes the slope from x again, SLOPE_MASK=1
 * takes a relu's slope from the mask of y (mask.glsl).  MASK_STORE=1 writes the product back into
 * dy, which is then the residual's gradient.  REMATERIALISE=1 writes the dropped y again from x,
 * with ADDED plus the residual (added.glsl), then with ACTIVATION.  UNROLL rows are loaded at
 * once. */
#include "types.glsl"
#include "lanes.glsl"
#ifdef ACTIVATION
#include "activation.glsl"
#endif
#ifdef SLOPE_MASK
#include "mask.glsl"
#endif
#include "batchnorm-push.h"

layout (constant_id = DYNO_BATCH_NORM_REDUCE_ROWS) const uint ROWS = 1;
layout (constant_id = DYNO_BATCH_NORM_REDUCE_CVECS) const uint CVECS = 1;
layout (constant_id = DYNO_BATCH_NORM_REDUCE_ROWS_PER_GROUP) const uint ROWS_PER_GROUP = 1;
DYNO_PUSH (DynoBatchNormReducePush, p);
#ifdef ADDED
#include "added.glsl"
#endif
DYNO_BUFFER_OUT (Partials, float, 4);

#define WIDTH (LOCAL_X * LANES)
shared vec4 sums[LOCAL_Y * LOCAL_X * QUADS];
shared vec4 products[LOCAL_Y * LOCAL_X * QUADS];

struct Row {
  Lanes x, dy;
#ifdef SLOPE_MASK
  uint mask;
#endif
#ifdef ADDED
  Lanes residual;
#endif
};

Lanes mean, factor, beta, sum, product;

Row
row_load (uint i)
{
  Row row;
  row.x = lanes_load (p.x, i);
  row.dy = lanes_load (p.dy, i);
#ifdef SLOPE_MASK
  row.mask = mask_load (p.mask, i / CVECS, i % CVECS, CVECS);
#endif
#ifdef ADDED
  row.residual = added_unpack (added_load (i));
#endif
  return row;
}

void
row_take (Row row, uint i)
{
#ifdef REMATERIALISE
  Lanes y;
#endif
  [[unroll]] for (uint j = 0; j < QUADS; j++)
    {
      const vec4 d = row.x.q[j] - mean.q[j];
#ifdef SLOPE_X
      row.dy.q[j] = activation_slope_of_x (d * factor.q[j] + beta.q[j], row.dy.q[j]);
#endif
#ifdef SLOPE_MASK
      row.dy.q[j] = mask_slope (row.mask >> (j * 4), row.dy.q[j]);
#endif
#ifdef REMATERIALISE
      y.q[j] = d * factor.q[j] + beta.q[j];
#ifdef ADDED
      y.q[j] += row.residual.q[j];
#endif
#ifdef ACTIVATION
      y.q[j] = activate (y.q[j]);
#endif
#endif
      sum.q[j] += row.dy.q[j];
      product.q[j] += row.dy.q[j] * d;
    }
#ifdef MASK_STORE
  lanes_store (p.dy, i, row.dy);
#endif
#ifdef REMATERIALISE
  lanes_store (p.y, i, y);
#endif
}

void
main ()
{
  const uint first = gl_WorkGroupID.x * ROWS_PER_GROUP;
  const uint rows = min (ROWS_PER_GROUP, ROWS - first);
  const uint column = gl_WorkGroupID.y * LOCAL_X + gl_LocalInvocationID.x;
  const uint lane = gl_LocalInvocationID.y;
  const uint own_rows = rows > lane ? (rows - lane + LOCAL_Y - 1) / LOCAL_Y : 0;

  sum = product = lanes_fill (0.0);
  if (column < CVECS && own_rows > 0)
    {
#ifdef ADDED
      added_start (column);
#endif
      const Lanes invstd = lanes_load_floats (p.invstd, column);
      mean = lanes_load_floats (p.mean, column);
#if defined SLOPE_X || defined REMATERIALISE
      factor = lanes_load_floats (p.gamma, column);
      beta = lanes_load_floats (p.beta, column);
      [[unroll]] for (uint j = 0; j < QUADS; j++)
        factor.q[j] *= invstd.q[j];
#endif
      const uint stride = LOCAL_Y * CVECS;
      uint i = (first + lane) * CVECS + column, n = 0;
      for (; n + UNROLL <= own_rows; n += UNROLL, i += UNROLL * stride)
        {
          Row row[UNROLL];
          [[unroll]] for (uint k = 0; k < UNROLL; k++)
            row[k] = row_load (i + k * stride);
          [[unroll]] for (uint k = 0; k < UNROLL; k++)
            row_take (row[k], i + k * stride);
        }
      for (; n < own_rows; n++, i += stride)
        row_take (row_load (i), i);
      [[unroll]] for (uint j = 0; j < QUADS; j++)
        product.q[j] *= invstd.q[j];
    }
  const uint place = (lane * LOCAL_X + gl_LocalInvocationID.x) * QUADS;
  [[unroll]] for (uint j = 0; j < QUADS; j++)
    {
      sums[place + j] = sum.q[j];
      products[place + j] = product.q[j];
    }
  barrier ();

  const uint start = gl_WorkGroupID.y * WIDTH;
  Partials partials = Partials (p.partials);
  for (uint c = lane * LOCAL_X + gl_LocalInvocationID.x; c < WIDTH; c += LOCAL_X * LOCAL_Y)
    {
      if (start + c >= CVECS * LANES)
        break;
      float s = 0.0, t = 0.0;
      for (uint row = 0; row < LOCAL_Y; row++)
        {
          s += sums[row * (WIDTH / 4) + c / 4][c % 4];
          t += products[row * (WIDTH / 4) + c / 4][c % 4];
        }
      partials.v[gl_WorkGroupID.x * 2 * CVECS * LANES + start + c] = s;
      partials.v[(gl_WorkGroupID.x * 2 + 1) * CVECS * LANES + start + c] = t;
    }
}
