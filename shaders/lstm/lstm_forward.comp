#version 460
/* SPDX-License-Identifier: MIT */
/* h, c (N, H) of one direction of an LSTM over steps first .. first + count - 1:
 *     (i, f, g, o) = gates[n][t] + W_hh h + b_hh
 *     c = sigmoid (f) c + sigmoid (i) tanh (g);   y[n][t][COLUMN ...] = h = sigmoid (o) tanh (c)
 * KEPT=1 also writes i, f, g, o after their activation functions; CELL=1 writes c. */
#define GATES 4
#define CELLS 1
#include "types.glsl"
#include "recurrent-push.h"

DYNO_PUSH (DynoRecurrentPush, p);

#include "recurrent-forward.glsl"

float
take_step (Gates own, Gates bias, Gates product, inout float carried, out vec4 kept)
{
  const vec4 sum = product + (own + bias);
  kept = vec4 (sigmoid (sum.x), sigmoid (sum.y), tanh_of (sum.z), sigmoid (sum.w));
  carried = kept.y * carried + kept.x * kept.z;
  return kept.w * tanh_of (carried);
}
