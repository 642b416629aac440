#version 460
/* SPDX-License-Identifier: MIT */
/* Joins the groups' (mean, M2) of every channel into mean and 1 / sqrt (variance + EPSILON), and moves the running statistics:
 * running = (1 - MOMENTUM) * running + MOMENTUM * new, the variance unbiased.  Invocation (i, j): channel i of 8, every
 * LOCAL_Y-th group; the order of the sums is fixed. */
#include "types.glsl"
#include "batchnorm-push.h"

layout (constant_id = 0) const uint ROWS = 1;
layout (constant_id = 1) const uint CHANNELS = 8;
layout (constant_id = 2) const uint ROWS_PER_GROUP = 1;
layout (constant_id = 3) const uint GROUPS = 1;
layout (constant_id = 4) const float EPSILON = 1e-5;
layout (constant_id = 5) const float MOMENTUM = 0.1;
layout (constant_id = 6) const float UNBIASED = 1.0; /* ROWS / (ROWS - 1) */
DYNO_PUSH (DynoBatchNormFinishPush, p);
DYNO_BUFFER_IN (Partials, float, 4);
DYNO_BUFFER_OUT (Statistics, float, 4);
DYNO_BUFFER_INOUT (Running, float, 4);

shared float sums[LOCAL_X * LOCAL_Y];
shared float squares[LOCAL_X * LOCAL_Y];

float
rows_of (uint group)
{
  return float (min (ROWS_PER_GROUP, ROWS - group * ROWS_PER_GROUP));
}

void
main ()
{
  const uint lane = gl_LocalInvocationID.y;
  const uint place = gl_LocalInvocationID.x;
  const uint channel = gl_WorkGroupID.x * LOCAL_X + place;
  Partials partials = Partials (p.partials);

  const float base = partials.v[channel];
  float sum = 0.0;
  for (uint g = lane; g < GROUPS; g += LOCAL_Y)
    sum += rows_of (g) * (partials.v[g * 2 * CHANNELS + channel] - base);
  sums[lane * LOCAL_X + place] = sum;
  barrier ();
  sum = 0.0;
  for (uint j = 0; j < LOCAL_Y; j++)
    sum += sums[j * LOCAL_X + place];
  const float mean = base + sum / float (ROWS);

  float m2 = 0.0;
  for (uint g = lane; g < GROUPS; g += LOCAL_Y)
    {
      float d = partials.v[g * 2 * CHANNELS + channel] - mean;
      m2 += partials.v[(g * 2 + 1) * CHANNELS + channel] + rows_of (g) * d * d;
    }
  squares[lane * LOCAL_X + place] = m2;
  barrier ();
  if (lane != 0)
    return;
  m2 = 0.0;
  for (uint j = 0; j < LOCAL_Y; j++)
    m2 += squares[j * LOCAL_X + place];
  const float variance = m2 / float (ROWS);
  Statistics (p.mean).v[channel] = mean;
  Statistics (p.invstd).v[channel] = inversesqrt (variance + EPSILON);
  Running running_mean = Running (p.running_mean);
  Running running_variance = Running (p.running_variance);
  running_mean.v[channel] = mix (running_mean.v[channel], mean, MOMENTUM);
  running_variance.v[channel] = mix (running_variance.v[channel], variance * UNBIASED, MOMENTUM);
}
