/* SPDX-License-Identifier: MIT */
/* Macros for headers that C and GLSL share: a shared/<op>.h includes this and declares its push
 * constants with
 *
 *   DYNO_STRUCT (DynoFillPush) { uint64_t target; uint32_t count; float value; };
 *   DYNO_STRUCT_SIZE (DynoFillPush, 16)
 *
 * Members are uint64_t (buffer addresses, first), then uint32_t, int32_t and float; a struct with
 * an address has a size that is a multiple of 8 (end it with a spare word where needed), so C and
 * std430 agree on every offset.  In GLSL lib/types.glsl must come first: it enables 64-bit
 * integers. */
#ifndef DYNO_SHARED_COMPAT_H
#define DYNO_SHARED_COMPAT_H

#ifdef GL_core_profile
#define DYNO_STRUCT(Name) struct Name
#define DYNO_STRUCT_SIZE(Name, bytes)
#else
#include <stdint.h>
#define DYNO_STRUCT(Name)    \
  typedef struct Name Name;  \
  struct Name
#define DYNO_STRUCT_SIZE(Name, bytes)                                                     \
  _Static_assert (sizeof (Name) == (bytes), "the size of " #Name " is not what it says"); \
  _Static_assert ((bytes) <= 128, #Name " does not fit the push constants");
#endif

#endif
