#version 460
/* SPDX-License-Identifier: MIT */
/* Sums of dy and dy * xhat of a channel over a group's rows, xhat = (x - mean) * invstd; (ROWS, CVECS * LANES) all.
 * dy is taken behind the relu: MASK_X=1 finds its mask from x again, MASK_Y=1 from y > 0.  MASK_STORE=1 writes the masked dy back
 * into dy, where it is the residual's gradient from then on. */
#include "types.glsl"
#include "lanes.glsl"
#include "batchnorm-push.h"

layout (constant_id = 0) const uint ROWS = 1;
layout (constant_id = 1) const uint CVECS = 1;
layout (constant_id = 2) const uint ROWS_PER_GROUP = 1;
DYNO_PUSH (DynoBatchNormReducePush, p);
DYNO_BUFFER_OUT (Partials, float, 4);

#define WIDTH  (LOCAL_X * LANES)
#define UNROLL 2
shared vec4 sums[LOCAL_Y * LOCAL_X * QUADS];
shared vec4 products[LOCAL_Y * LOCAL_X * QUADS];

void
main ()
{
  const uint first = gl_WorkGroupID.x * ROWS_PER_GROUP;
  const uint rows = min (ROWS_PER_GROUP, ROWS - first);
  const uint column = gl_WorkGroupID.y * LOCAL_X + gl_LocalInvocationID.x;
  const uint lane = gl_LocalInvocationID.y;
  const uint own_rows = rows > lane ? (rows - lane + LOCAL_Y - 1) / LOCAL_Y : 0;

  Lanes sum = lanes_fill (0.0), product = lanes_fill (0.0);
  if (column < CVECS && own_rows > 0)
    {
      const Lanes mean = lanes_load_floats (p.mean, column);
      const Lanes invstd = lanes_load_floats (p.invstd, column);
#ifdef MASK_X
      const Lanes gamma = lanes_load_floats (p.gamma, column);
      const Lanes beta = lanes_load_floats (p.beta, column);
#endif
      for (uint n = 0; n < own_rows; n += UNROLL)
        {
          Lanes x[UNROLL], dy[UNROLL];
#ifdef MASK_Y
          Lanes y[UNROLL];
#endif
          [[unroll]] for (uint k = 0; k < UNROLL; k++)
            {
              x[k] = mean;
              dy[k] = lanes_fill (0.0);
#ifdef MASK_Y
              y[k] = dy[k];
#endif
              if (n + k < own_rows)
                {
                  const uint i = (first + lane + (n + k) * LOCAL_Y) * CVECS + column;
                  x[k] = lanes_load (p.x, i);
                  dy[k] = lanes_load (p.dy, i);
#ifdef MASK_Y
                  y[k] = lanes_load (p.y, i);
#endif
                }
            }
          [[unroll]] for (uint k = 0; k < UNROLL; k++)
            {
              [[unroll]] for (uint j = 0; j < QUADS; j++)
                {
                  const vec4 d = x[k].q[j] - mean.q[j];
#ifdef MASK_X
                  dy[k].q[j] = mix (vec4 (0.0), dy[k].q[j],
                                    greaterThan (d * (gamma.q[j] * invstd.q[j]) + beta.q[j], vec4 (0.0)));
#endif
#ifdef MASK_Y
                  dy[k].q[j] = mix (vec4 (0.0), dy[k].q[j], greaterThan (y[k].q[j], vec4 (0.0)));
#endif
                  sum.q[j] += dy[k].q[j];
                  product.q[j] += dy[k].q[j] * d;
                }
#ifdef MASK_STORE
              if (n + k < own_rows)
                lanes_store (p.dy, (first + lane + (n + k) * LOCAL_Y) * CVECS + column, dy[k]);
#endif
            }
        }
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
