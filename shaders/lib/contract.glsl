/* SPDX-License-Identifier: MIT */
/* The parts of a contraction, as constants: OUT parts of the target, the first one slowest, then
 * the summed parts, PARTS in all.  HALF_A and HALF_B: the operand is fp16; HAS_B: there is an
 * operand b, which is 1 otherwise.  Include after types.glsl. */
#ifndef DYNO_CONTRACT_GLSL
#define DYNO_CONTRACT_GLSL
#include "contract-push.h"

layout (constant_id = DYNO_CONTRACT_COUNT) const uint COUNT = 1;
layout (constant_id = DYNO_CONTRACT_CVECS) const uint CVECS = 1;
layout (constant_id = DYNO_CONTRACT_PIXELS) const uint PIXELS = 1;
layout (constant_id = DYNO_CONTRACT_C) const uint C = 8;
layout (constant_id = DYNO_CONTRACT_SUMMED) const uint SUMMED = 1;
layout (constant_id = DYNO_CONTRACT_SAMPLES) const uint SAMPLES = 1;
layout (constant_id = DYNO_CONTRACT_SCALE) const float SCALE = 1.0;
layout (constant_id = DYNO_CONTRACT_A) const uint A_SIZE = 8;
layout (constant_id = DYNO_CONTRACT_A_C) const uint A_C = 8;
layout (constant_id = DYNO_CONTRACT_A_P) const uint A_P = 8;
layout (constant_id = DYNO_CONTRACT_B) const uint B_SIZE = 8;
layout (constant_id = DYNO_CONTRACT_B_C) const uint B_C = 8;
layout (constant_id = DYNO_CONTRACT_B_P) const uint B_P = 8;
#define CONTRACT_PART(i)                                                                    \
  layout (constant_id = DYNO_CONTRACT_PARTS + 3 * i) const uint EXTENT_##i = 1;             \
  layout (constant_id = DYNO_CONTRACT_PARTS + 3 * i + 1) const uint STRIDE_A_##i = 0;       \
  layout (constant_id = DYNO_CONTRACT_PARTS + 3 * i + 2) const uint STRIDE_B_##i = 0;
CONTRACT_PART (0)
CONTRACT_PART (1)
CONTRACT_PART (2)
CONTRACT_PART (3)
CONTRACT_PART (4)
CONTRACT_PART (5)
CONTRACT_PART (6)
CONTRACT_PART (7)
CONTRACT_PART (8)
CONTRACT_PART (9)
DYNO_PUSH (DynoContractPush, p);
#define CONTRACT_LIST(NAME)                                                                  \
  uint[] (NAME##0, NAME##1, NAME##2, NAME##3, NAME##4, NAME##5, NAME##6, NAME##7, NAME##8, \
          NAME##9)

#ifdef HALF_A
#define A_VALUE float16_t
#define A_BYTES 2
#else
#define A_VALUE float
#define A_BYTES 4
#endif
#ifdef HALF_B
#define B_VALUE float16_t
#define B_BYTES 2
#else
#define B_VALUE float
#define B_BYTES 4
#endif
DYNO_BUFFER_IN (AValues, A_VALUE, A_BYTES);
DYNO_BUFFER_IN (BValues, B_VALUE, B_BYTES);

/* The element with an index in a sample of the operand. */
float
load_a (AValues a, uint place)
{
  return float (a.v[place / A_C * A_P + place % A_C]);
}

float
load_b (BValues b, uint place)
{
#ifdef HAS_B
  return float (b.v[place / B_C * B_P + place % B_C]);
#else
  return 1.0;
#endif
}

AValues
sample_of_a (uint n)
{
  return AValues (p.a + uint64_t (n) * A_SIZE * A_BYTES);
}

BValues
sample_of_b (uint n)
{
  return BValues (p.b + uint64_t (n) * B_SIZE * B_BYTES);
}

/* The indices in a and in b of a summed index, to be added to those of an element of the target. */
uvec2
summed_places (uint k)
{
  const uint extents[] = CONTRACT_LIST (EXTENT_), a[] = CONTRACT_LIST (STRIDE_A_),
             b[] = CONTRACT_LIST (STRIDE_B_);
  uvec2 places = uvec2 (0);
  [[unroll]] for (int i = PARTS - 1; i >= OUT; i--)
    {
      places += k % extents[i] * uvec2 (a[i], b[i]);
      k /= extents[i];
    }
  return places;
}

#endif
