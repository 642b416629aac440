#version 460
/* SPDX-License-Identifier: MIT */
/* Mean and M2 (sum of squared distances to the mean) of a channel over a group's rows of x (ROWS,
 * CVECS * LANES).  Invocation (i, j) takes channels of access i and every LOCAL_Y-th row.  It sums
 * distances to its own first value, so that a mean that is large compared with the deviation causes
 * no cancellation; the parts are then joined as in Chan, Golub, LeVeque 1979. */
#include "types.glsl"
#include "finite.glsl"
#include "lanes.glsl"
#include "batchnorm-push.h"

layout (constant_id = DYNO_BATCH_NORM_REDUCE_ROWS) const uint ROWS = 1;
layout (constant_id = DYNO_BATCH_NORM_REDUCE_CVECS) const uint CVECS = 1;
layout (constant_id = DYNO_BATCH_NORM_REDUCE_ROWS_PER_GROUP) const uint ROWS_PER_GROUP = 1;
DYNO_PUSH (DynoBatchNormStatisticsPush, p);
DYNO_BUFFER_OUT (Partials, float, 4);

#define WIDTH  (LOCAL_X * LANES)
#define UNROLL 4
shared vec4 means[LOCAL_Y * LOCAL_X * QUADS];
shared vec4 squares[LOCAL_Y * LOCAL_X * QUADS];

float
at (bool mean, uint row, uint channel)
{
  uint i = row * (WIDTH / 4) + channel / 4;
  return mean ? means[i][channel % 4] : squares[i][channel % 4];
}

void
take (Lanes x, Lanes shift, inout Lanes sum, inout Lanes square)
{
  [[unroll]] for (uint j = 0; j < QUADS; j++)
    {
      const vec4 d = x.q[j] - shift.q[j];
      sum.q[j] += d;
      square.q[j] += d * d;
    }
}

void
main ()
{
  const uint first = gl_WorkGroupID.x * ROWS_PER_GROUP;
  const uint rows = min (ROWS_PER_GROUP, ROWS - first);
  const uint column = gl_WorkGroupID.y * LOCAL_X + gl_LocalInvocationID.x;
  const uint lane = gl_LocalInvocationID.y;
  const uint own_rows = rows > lane ? (rows - lane + LOCAL_Y - 1) / LOCAL_Y : 0;

  Lanes shift = lanes_fill (0.0), sum = lanes_fill (0.0), square = lanes_fill (0.0);
  if (column < CVECS && own_rows > 0)
    {
      uint at_row = (first + lane) * CVECS + column;
      shift = lanes_load (p.x, at_row);
      /* The loop loads the first row again, at distance 0, so that more loads are in batches of
       * UNROLL. */
      uint n = 0;
      for (; n + UNROLL <= own_rows; n += UNROLL)
        {
          Lanes x[UNROLL];
          [[unroll]] for (uint k = 0; k < UNROLL; k++)
            x[k] = lanes_load (p.x, at_row + (n + k) * LOCAL_Y * CVECS);
          [[unroll]] for (uint k = 0; k < UNROLL; k++)
            take (x[k], shift, sum, square);
        }
      for (; n < own_rows; n++)
        take (lanes_load (p.x, at_row + n * LOCAL_Y * CVECS), shift, sum, square);
    }
  const float share = own_rows > 0 ? 1.0 / float (own_rows) : 0.0;
  const uint place = (lane * LOCAL_X + gl_LocalInvocationID.x) * QUADS;
  [[unroll]] for (uint j = 0; j < QUADS; j++)
    {
      means[place + j] = shift.q[j] + sum.q[j] * share;
      squares[place + j] = spread_or_infinity (square.q[j] - sum.q[j] * sum.q[j] * share);
    }
  barrier ();

  const uint start = gl_WorkGroupID.y * WIDTH;
  Partials partials = Partials (p.partials);
  for (uint c = lane * LOCAL_X + gl_LocalInvocationID.x; c < WIDTH; c += LOCAL_X * LOCAL_Y)
    {
      if (start + c >= CVECS * LANES)
        break;
      const float base = at (true, 0, c);
      float total = 0.0;
      for (uint row = 0; row < min (LOCAL_Y, rows); row++)
        total += float ((rows - row + LOCAL_Y - 1) / LOCAL_Y) * (at (true, row, c) - base);
      const float mean = base + total / float (rows);
      float m2 = 0.0;
      for (uint row = 0; row < min (LOCAL_Y, rows); row++)
        {
          float d = at (true, row, c) - mean;
          m2 += at (false, row, c) + float ((rows - row + LOCAL_Y - 1) / LOCAL_Y) * d * d;
        }
      partials.v[gl_WorkGroupID.x * 2 * CVECS * LANES + start + c] = mean;
      partials.v[(gl_WorkGroupID.x * 2 + 1) * CVECS * LANES + start + c] = m2;
    }
}
