/* SPDX-License-Identifier: MIT */
/* One pass over the logits of a row.  A part of a row is (largest, its place, sum of exp (x -
 * largest), sum of w x); in an empty part the sum of exp is 0.  Include after lanes.glsl, the
 * constant C and WEIGHT (c). */
#ifndef DYNO_LOSS_SOFTMAX_GLSL
#define DYNO_LOSS_SOFTMAX_GLSL

#define EMPTY_PART vec4 (uintBitsToFloat (0xff800000u), 0.0, 0.0, 0.0)

/* Joins two parts; where the largest values are equal, the lower place is kept. */
vec4
join (vec4 a, vec4 b)
{
  if (b.z == 0.0)
    return a;
  if (a.z == 0.0)
    return b;
  const float largest = max (a.x, b.x);
  const bool b_wins = b.x > a.x || (b.x == a.x && b.y < a.y);
  return vec4 (largest, b_wins ? b.y : a.y, a.z * exp (a.x - largest) + b.z * exp (b.x - largest),
               a.w + b.w);
}

/* Adds the classes from first on to a part. */
vec4
take (vec4 part, Lanes x, uint first)
{
  vec4 next = part;
  [[unroll]] for (uint j = 0; j < LANES; j++)
    if (first + j < C)
      {
        const float value = x.q[j / 4][j % 4];
        next.w += WEIGHT (first + j) * value;
        if (value > next.x)
          next.xy = vec2 (value, float (first + j));
      }
  next.z = part.z == 0.0 ? 0.0 : part.z * exp (part.x - next.x);
  [[unroll]] for (uint j = 0; j < LANES; j++)
    if (first + j < C)
      next.z += exp (x.q[j / 4][j % 4] - next.x);
  return next;
}
#endif
