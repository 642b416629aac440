/* SPDX-License-Identifier: MIT */
/* Push constants of shaders/probe and shaders/test. */
#ifndef DYNO_SHARED_PROBE_H
#define DYNO_SHARED_PROBE_H
#include "compat.h"

DYNO_STRUCT (DynoProbePush)
{
  uint64_t a;
  uint64_t b;
  uint64_t c;
  uint32_t count;
  float scale;
};
DYNO_STRUCT_SIZE (DynoProbePush, 32)

#endif
