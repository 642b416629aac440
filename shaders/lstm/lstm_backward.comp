#version 460
/* SPDX-License-Identifier: MIT */
/* The gradient of the gates before their activation functions, dgates (N, T, GP), of one direction
 * of an LSTM, from the last step to the first:
 *     dh = dy[n][t][COLUMN ...] + W_hh^T dgates of the following step;   e = tanh (c)
 *     dc = dc + dh o (1 - e^2)
 *     di = dc g i (1 - i);  df = dc c' f (1 - f);  dg = dc i (1 - g^2);  do = dh e o (1 - o)
 *     dc = dc f
 * with c' the cell of the step before. */
#define GATES 4
#define CELLS 1
#include "types.glsl"
#include "recurrent-push.h"

DYNO_PUSH (DynoRecurrentBackwardPush, p);

#include "recurrent-backward.glsl"

void
turn_step (Kept kept, float dh, inout float carried, out Gates slope, out Gates inner)
{
  const vec4 gate = kept.gate;
  const float e = tanh_of (kept.cell), cell = kept.cell_before;
  const float d = carried + dh * gate.w * (1.0 - e * e);
  slope.x = d * gate.z * gate.x * (1.0 - gate.x);
  slope.y = d * cell * gate.y * (1.0 - gate.y);
  slope.z = d * gate.x * (1.0 - gate.z * gate.z);
  slope.w = dh * e * gate.w * (1.0 - gate.w);
  inner = slope;
  carried = d * gate.y;
}
