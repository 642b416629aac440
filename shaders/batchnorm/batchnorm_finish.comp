#version 460
/* SPDX-License-Identifier: MIT */
/* Joins the groups' (mean, M2) of every channel into mean and 1 / sqrt (variance + EPSILON), and
 * updates the running statistics: running = (1 - MOMENTUM) * running + MOMENTUM * new, the variance
 * unbiased; where either is not finite, the channel's running statistics stay unchanged, since one
 * outlier would affect every later validation.  Invocation (i, j) takes channel i of 8 and every
 * LOCAL_Y-th group, ROUNDS groups in all, which it loads at once, since memory latency dominates
 * the time.  The order of the sums is fixed.
 *
 * With SUMS the groups come from a convolution's epilogue instead: sums of the distances to the
 * running mean, and of their squares (gemm-statistics.glsl); where the running mean is not finite,
 * the distances are to 0.  TABLE=1 also writes the table for kernels that compute the batch norm's
 * output from x as they load it (lib/gemm-load.glsl), fp16 with HALF=1; RECTIFIED=1: these kernels
 * apply a ReLU to it. */
#include "types.glsl"
#include "finite.glsl"
#include "batchnorm-push.h"

layout (constant_id = DYNO_BATCH_NORM_COLLECT_ROWS) const uint ROWS = 1;
layout (constant_id = DYNO_BATCH_NORM_COLLECT_CHANNELS) const uint CHANNELS = 8;
layout (constant_id = DYNO_BATCH_NORM_COLLECT_ROWS_PER_GROUP) const uint ROWS_PER_GROUP = 1;
layout (constant_id = DYNO_BATCH_NORM_COLLECT_GROUPS) const uint GROUPS = 1;
layout (constant_id = DYNO_BATCH_NORM_FINISH_EPSILON) const float EPSILON = 1e-5;
layout (constant_id = DYNO_BATCH_NORM_FINISH_MOMENTUM) const float MOMENTUM = 0.1;
/* ROWS / (ROWS - 1) */
layout (constant_id = DYNO_BATCH_NORM_FINISH_UNBIASED) const float UNBIASED = 1.0;
#ifndef SUMS
#define SUMS 0
#endif
DYNO_PUSH (DynoBatchNormFinishPush, p);
DYNO_BUFFER_IN (Partials, float, 4);
DYNO_BUFFER_OUT (Statistics, float, 4);
DYNO_BUFFER_INOUT (Running, float, 4);
#ifdef TABLE
#ifndef HALF
#define HALF 0
#endif
#if HALF
#define TableValue float16_t
#else
#define TableValue float
#endif
DYNO_BUFFER_IN (Parameters, float, 4);
DYNO_BUFFER_OUT (Table, TableValue, 2);

#define MOST_FACTOR 65504.0 /* largest finite number of fp16 */

/* The mean distance of x to its mean over the elements that the ReLU keeps, where x is distributed
 * normally: with t = beta / |gamma| the elements z = (x - mean) * invstd with sign (gamma) z > -t,
 * whose mean is sign (gamma) f (t) / F (t), f the density and F the distribution function of a
 * normal distribution; F by its logistic approximation. */
float
kept_distance (float invstd, float gamma, float beta)
{
  if (gamma == 0.0)
    return 0.0;
  const float t = clamp (beta / abs (gamma), -3.0, 6.0);
  const float density = 0.39894228 * exp (-0.5 * t * t);
  return sign (gamma) * density * (1.0 + exp (-t * (1.5976 + 0.07056 * t * t))) / invstd;
}

/* Rounds to fp16 by bits, since a driver may drop a conversion to fp16 and back. */
float
round_to_half (float value)
{
  return uintBitsToFloat ((floatBitsToUint (value) + 0x1000u) & 0xffffe000u);
}

shared uint bad_channels[LOCAL_X]; /* a workgroup has eight channels */

/* Lane 0 of each channel writes the channel's column of the table; invstd is valid only there. */
void
table_put (uint lane, uint place, uint channel, float mean, float invstd, float gamma, float beta)
{
  const float factor = gamma * invstd;
  const bool bad = is_nonfinite (mean + factor + beta);
  if (lane == 0)
    bad_channels[place] = uint (bad);
  barrier ();
  if (lane != 0)
    return;
  uint any = 0;
  [[unroll]] for (uint i = 0; i < LOCAL_X; i++)
    any |= bad_channels[i];
#if HALF
  const float near = round_to_half (mean);
  const float rounded = round_to_half (clamp (factor, -MOST_FACTOR, MOST_FACTOR));
#else
  const float near = mean, rounded = factor;
#endif
  float shift = beta - (mean - near) * rounded;
#ifdef RECTIFIED
  /* The rounding of the factor is an error that all elements of a channel share; the shift
   * compensates for it in the mean. */
  if (abs (factor) < MOST_FACTOR)
    shift += (factor - rounded) * kept_distance (invstd, gamma, beta);
#endif
  const float nan = uintBitsToFloat (0x7fc00000u);
  Table table = Table (p.table);
  table.v[channel] = TableValue (near);
  table.v[CHANNELS + channel] = TableValue (rounded);
  table.v[2 * CHANNELS + channel] = TableValue (bad ? nan : shift);
  table.v[3 * CHANNELS + channel] = TableValue (any != 0 ? nan : 0.0);
}
#endif

shared float sums[LOCAL_X * LOCAL_Y];
shared float squares[LOCAL_X * LOCAL_Y];

float
rows_of (uint group)
{
  return group < GROUPS ? float (min (ROWS_PER_GROUP, ROWS - group * ROWS_PER_GROUP)) : 0.0;
}

/* The sum over the lanes of a channel, added up as a tree; all lanes get it. */
float
add_up_sums (float sum, uint lane, uint place)
{
  sums[lane * LOCAL_X + place] = sum;
  barrier ();
  for (uint n = LOCAL_Y; n > 1; n = (n + 1) / 2)
    {
      if (lane < n / 2)
        sums[lane * LOCAL_X + place] += sums[(lane + (n + 1) / 2) * LOCAL_X + place];
      barrier ();
    }
  return sums[place];
}

void
add_up_squares (uint lane, uint place)
{
  barrier ();
  for (uint n = LOCAL_Y; n > 1; n = (n + 1) / 2)
    {
      if (lane < n / 2)
        squares[lane * LOCAL_X + place] += squares[(lane + (n + 1) / 2) * LOCAL_X + place];
      barrier ();
    }
}

void
main ()
{
  const uint lane = gl_LocalInvocationID.y;
  const uint place = gl_LocalInvocationID.x;
  const uint channel = gl_WorkGroupID.x * LOCAL_X + place;
  Partials partials = Partials (p.partials);
#ifdef TABLE
  const float gamma = Parameters (p.gamma).v[channel], beta = Parameters (p.beta).v[channel];
#endif

  vec2 part[ROUNDS];
  [[unroll]] for (uint k = 0; k < ROUNDS; k++)
    {
      const uint g = min (lane + k * LOCAL_Y, GROUPS - 1);
      part[k] = vec2 (partials.v[g * 2 * CHANNELS + channel],
                      partials.v[(g * 2 + 1) * CHANNELS + channel]);
    }
#if SUMS
    const float running = Running (p.running_mean).v[channel],
                pivot = is_nonfinite (running) ? 0.0 : running;
    float sum = 0.0, square = 0.0;
    [[unroll]] for (uint k = 0; k < ROUNDS; k++)
    {
      sum += lane + k * LOCAL_Y < GROUPS ? part[k].x : 0.0;
      square += lane + k * LOCAL_Y < GROUPS ? part[k].y : 0.0;
    }
  squares[lane * LOCAL_X + place] = square;
  const float total = add_up_sums (sum, lane, place);
  const float mean = pivot + total / float (ROWS);
  add_up_squares (lane, place);
  if (lane == 0)
    squares[place] = spread_or_infinity (squares[place] - total * total / float (ROWS));
#else
  const float base = partials.v[channel];
  float sum = 0.0;
  [[unroll]] for (uint k = 0; k < ROUNDS; k++)
    sum += rows_of (lane + k * LOCAL_Y) * (part[k].x - base);
  const float mean = base + add_up_sums (sum, lane, place) / float (ROWS);

  float m2 = 0.0;
  [[unroll]] for (uint k = 0; k < ROUNDS; k++)
    {
      const float d = part[k].x - mean, rows = rows_of (lane + k * LOCAL_Y);
      m2 += rows > 0.0 ? part[k].y + rows * d * d : 0.0;
    }
  squares[lane * LOCAL_X + place] = m2;
  add_up_squares (lane, place);
#endif
  const float variance = lane == 0 ? squares[place] / float (ROWS) : 0.0,
              invstd = inversesqrt (variance + EPSILON);
#ifdef TABLE
  table_put (lane, place, channel, mean, invstd, gamma, beta);
#endif
  if (lane != 0)
    return;
  Statistics (p.mean).v[channel] = mean;
  Statistics (p.invstd).v[channel] = invstd;
  if (is_nonfinite (mean) || is_nonfinite (variance * UNBIASED))
    return;
  Running running_mean = Running (p.running_mean);
  Running running_variance = Running (p.running_variance);
  running_mean.v[channel] = mix (running_mean.v[channel], mean, MOMENTUM);
  running_variance.v[channel] = mix (running_variance.v[channel], variance * UNBIASED, MOMENTUM);
}
