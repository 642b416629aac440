/* SPDX-License-Identifier: MIT */
/* The class of a row of logits: the first of the largest logits.  Include after lanes.glsl, the
 * constants C and CVECS and push constants p with logits. */
#ifndef DYNO_LOSS_ARGMAX_GLSL
#define DYNO_LOSS_ARGMAX_GLSL

uint
class_of (uint row)
{
  float largest = uintBitsToFloat (0xff800000u);
  uint at = 0;
  for (uint i = 0; i < CVECS; i++)
    {
      const Lanes x = lanes_load (p.logits, row * CVECS + i);
      [[unroll]] for (uint j = 0; j < LANES; j++)
        if (i * LANES + j < C && x.q[j / 4][j % 4] > largest)
          {
            largest = x.q[j / 4][j % 4];
            at = i * LANES + j;
          }
    }
  return at;
}
#endif
