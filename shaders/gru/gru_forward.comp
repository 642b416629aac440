#version 460
/* SPDX-License-Identifier: MIT */
/* h (N, H) of one direction of a GRU over steps first .. first + count - 1:
 *     (r, z) = sigmoid (gates[n][t] + W_hh h + b_hh);   q = W_hn h + b_hn
 *     n = tanh (gates_n[n][t] + r q);   y[n][t][COLUMN ...] = h = (1 - z) n + z h
 * KEPT=1 also writes r, z, n and q. */
#define GATES 3
#include "types.glsl"
#include "recurrent-push.h"

DYNO_PUSH (DynoRecurrentPush, p);

#include "recurrent-forward.glsl"

float
take_step (Gates own, Gates bias, Gates product, inout float carried, out vec4 kept)
{
  const vec3 hidden = product + bias;
  const float r = sigmoid (own.x + hidden.x), z = sigmoid (own.y + hidden.y),
              n = tanh_of (own.z + r * hidden.z);
  kept = vec4 (r, z, n, hidden.z);
  return (1.0 - z) * n + z * carried;
}
