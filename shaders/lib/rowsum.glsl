/* SPDX-License-Identifier: MIT */
/* Sums and maxima of rows: a workgroup takes LOCAL_Y rows at a time, each by LOCAL_X invocations.
 * All invocations of the workgroup must call a function.  Include after lanes.glsl; C is the number
 * of values in a row. */
#ifndef DYNO_ROWSUM_GLSL
#define DYNO_ROWSUM_GLSL

shared vec2 row_parts[LOCAL_X * LOCAL_Y];

/* Gives the invocations of a row to each other; returns the index of the first one. */
uint
row_share (vec2 part)
{
  const uint first = gl_LocalInvocationID.y * LOCAL_X;
  barrier (); /* the previous parts have been read */
  row_parts[first + gl_LocalInvocationID.x] = part;
  barrier ();
  return first;
}

/* The sum over the LOCAL_X invocations of a row, which each of them gets. */
vec2
row_sum (vec2 part)
{
  const uint first = row_share (part);
  vec2 sum = vec2 (0.0);
  [[unroll]] for (uint i = 0; i < LOCAL_X; i++)
    sum += row_parts[first + i];
  return sum;
}

/* The maximum likewise. */
float
row_max (float part)
{
  const uint first = row_share (vec2 (part, 0.0));
  float largest = row_parts[first].x;
  [[unroll]] for (uint i = 1; i < LOCAL_X; i++)
    largest = max (largest, row_parts[first + i].x);
  return largest;
}

/* Quad j of access i of a row, with another value past the row's C values. */
vec4
inside_or (uint i, uint j, vec4 x, float otherwise)
{
  const uvec4 c = uvec4 (i * LANES + j * 4) + uvec4 (0, 1, 2, 3);
  return mix (vec4 (otherwise), x, lessThan (c, uvec4 (C)));
}

/* The same with zero. */
vec4
inside (uint i, uint j, vec4 x)
{
  return inside_or (i, j, x, 0.0);
}
#endif
