/* SPDX-License-Identifier: MIT */
/* The number of steps of a sequence that count: max (1, length / stride), at most all steps; all
 * steps where there are no lengths (LENGTHS not defined).  Include after types.glsl. */
#ifndef DYNO_STEPS_GLSL
#define DYNO_STEPS_GLSL
#ifdef LENGTHS
DYNO_BUFFER_IN (Lengths, int, 4);
#endif

uint
steps_valid (uint64_t lengths, uint n, uint stride, uint steps)
{
#ifdef LENGTHS
  return min (uint (max (Lengths (lengths).v[n] / int (stride), 1)), steps);
#else
  return steps;
#endif
}
#endif
