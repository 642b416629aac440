#version 460
/* SPDX-License-Identifier: MIT */
/* The gradients of the gates before their activation functions, dgates (N, T, GP), and of the
 * product W_hh h + b_hh, dproduct (N, T, GP), of one direction of a GRU, from the last step to the
 * first:
 *     dh = dy[n][t][COLUMN ...] + W_hh^T dproduct of the following step + dh z of that step
 *     dn = dh (1 - z) (1 - n^2);  dz = dh (h' - n) z (1 - z);  dr = dn q r (1 - r)
 *     dgates = (dr, dz, dn);   dproduct = (dr, dz, dn r)
 * with h' the state of the step before, and q = W_hn h' + b_hn. */
#define GATES 3
#include "types.glsl"
#include "recurrent-push.h"

DYNO_PUSH (DynoRecurrentBackwardPush, p);

#include "recurrent-backward.glsl"

void
turn_step (Kept kept, float dh, inout float carried, out Gates slope, out Gates inner)
{
  const float r = kept.gate.x, z = kept.gate.y, n = kept.gate.z, q = kept.gate.w,
              d = dh + carried;
  slope.z = d * (1.0 - z) * (1.0 - n * n);
  slope.y = d * (kept.y_before - n) * z * (1.0 - z);
  slope.x = slope.z * q * r * (1.0 - r);
  inner = vec3 (slope.xy, slope.z * r);
  carried = d * z;
}
