/* SPDX-License-Identifier: MIT */
/* Push constants of the conversions of gradients that ranks exchange in fp16, and of their sums. */
#ifndef DYNO_SHARED_WIRE_PUSH_H
#define DYNO_SHARED_WIRE_PUSH_H
#include "compat.h"

DYNO_STRUCT (DynoWirePush) {
  uint64_t source; /* 16-byte accesses of fp32, 8-byte ones of fp16 */
  uint64_t target;
  uint32_t count; /* groups of four values */
  uint32_t spare;
};
DYNO_STRUCT_SIZE (DynoWirePush, 24)

DYNO_STRUCT (DynoWireSumPush) {
  uint64_t own; /* 16-byte accesses of fp32, 8-byte ones of fp16 */
  uint64_t inbox;
  uint64_t target; /* 16-byte accesses */
  uint64_t stride; /* bytes */
  uint32_t count;  /* groups of four values */
  uint32_t own_rank;
  float scale;
  uint32_t spare;
};
DYNO_STRUCT_SIZE (DynoWireSumPush, 48)
#endif
