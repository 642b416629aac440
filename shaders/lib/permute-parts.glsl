/* SPDX-License-Identifier: MIT */
/* The parts of a permutation, as constants; include after types.glsl. */
#ifndef DYNO_PERMUTE_PARTS_GLSL
#define DYNO_PERMUTE_PARTS_GLSL
#include "permute-push.h"

layout (constant_id = DYNO_PERMUTE_COUNT) const uint COUNT = 1;
layout (constant_id = DYNO_PERMUTE_CVECS) const uint CVECS = 1;
layout (constant_id = DYNO_PERMUTE_PIXELS) const uint PIXELS = 1;
layout (constant_id = DYNO_PERMUTE_C) const uint C = 8;
layout (constant_id = DYNO_PERMUTE_FROM) const uint FROM = 8;
layout (constant_id = DYNO_PERMUTE_FROM_C) const uint FROM_C = 8;
layout (constant_id = DYNO_PERMUTE_FROM_P) const uint FROM_P = 8;
layout (constant_id = DYNO_PERMUTE_PARTS + 0) const uint EXTENT_0 = 1;
layout (constant_id = DYNO_PERMUTE_PARTS + 1) const uint STRIDE_0 = 1;
layout (constant_id = DYNO_PERMUTE_PARTS + 2) const uint EXTENT_1 = 1;
layout (constant_id = DYNO_PERMUTE_PARTS + 3) const uint STRIDE_1 = 1;
layout (constant_id = DYNO_PERMUTE_PARTS + 4) const uint EXTENT_2 = 1;
layout (constant_id = DYNO_PERMUTE_PARTS + 5) const uint STRIDE_2 = 1;
layout (constant_id = DYNO_PERMUTE_PARTS + 6) const uint EXTENT_3 = 1;
layout (constant_id = DYNO_PERMUTE_PARTS + 7) const uint STRIDE_3 = 1;
layout (constant_id = DYNO_PERMUTE_PARTS + 8) const uint EXTENT_4 = 1;
layout (constant_id = DYNO_PERMUTE_PARTS + 9) const uint STRIDE_4 = 1;
layout (constant_id = DYNO_PERMUTE_PARTS + 10) const uint EXTENT_5 = 1;
layout (constant_id = DYNO_PERMUTE_PARTS + 11) const uint STRIDE_5 = 1;
layout (constant_id = DYNO_PERMUTE_PARTS + 12) const uint EXTENT_6 = 1;
layout (constant_id = DYNO_PERMUTE_PARTS + 13) const uint STRIDE_6 = 1;
layout (constant_id = DYNO_PERMUTE_PARTS + 14) const uint EXTENT_7 = 1;
layout (constant_id = DYNO_PERMUTE_PARTS + 15) const uint STRIDE_7 = 1;
DYNO_PUSH (DynoPermutePush, p);
#define PERMUTE_EXTENTS \
  uint[] (EXTENT_0, EXTENT_1, EXTENT_2, EXTENT_3, EXTENT_4, EXTENT_5, EXTENT_6, EXTENT_7)
#define PERMUTE_STRIDES \
  uint[] (STRIDE_0, STRIDE_1, STRIDE_2, STRIDE_3, STRIDE_4, STRIDE_5, STRIDE_6, STRIDE_7)
#ifdef HALF
#define BYTES 2
#else
#define BYTES 4
#endif

/* The index in memory, counted from the start of the source's sample, of the element with this
 * index in the sample. */
uint
in_memory (uint place)
{
  return place / FROM_C * FROM_P + place % FROM_C;
}

#endif
