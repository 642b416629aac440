/* SPDX-License-Identifier: MIT */
/* Code shared by both passes of layer norm.  Include after lanes.glsl and layernorm-push.h. */
#ifndef DYNO_LAYERNORM_GLSL
#define DYNO_LAYERNORM_GLSL
layout (constant_id = DYNO_LAYER_NORM_ROWS) const uint ROWS = 1;
layout (constant_id = DYNO_LAYER_NORM_CVECS) const uint CVECS = 1;
layout (constant_id = DYNO_LAYER_NORM_C) const uint C = 1;

shared vec2 row_parts[LOCAL_X * LOCAL_Y];

/* The sum over the LOCAL_X invocations of a row, which each of them gets; all invocations of the
 * workgroup must call it. */
vec2
row_sum (vec2 part)
{
  const uint first = gl_LocalInvocationID.y * LOCAL_X;
  vec2 sum = vec2 (0.0);
  barrier (); /* the previous sum has been read */
  row_parts[first + gl_LocalInvocationID.x] = part;
  barrier ();
  [[unroll]] for (uint i = 0; i < LOCAL_X; i++)
    sum += row_parts[first + i];
  return sum;
}

/* Quad j of access i of a row, zero past the row's C values. */
vec4
inside (uint i, uint j, vec4 x)
{
  const uvec4 c = uvec4 (i * LANES + j * 4) + uvec4 (0, 1, 2, 3);
  return mix (vec4 (0.0), x, lessThan (c, uvec4 (C)));
}
#endif
