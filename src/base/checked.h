/* SPDX-License-Identifier: MIT */
/* Checked arithmetic on sizes.  Every size that comes from a file or a user goes through here
 * before it is used or allocated.  dyno_size_mul and dyno_size_add return FALSE on overflow and
 * leave *result unchanged. */
#pragma once
#include <glib.h>

static inline gboolean
dyno_size_mul (guint64 a, guint64 b, guint64 *result)
{
  guint64 product;
  if (__builtin_mul_overflow (a, b, &product))
    return FALSE;
  *result = product;
  return TRUE;
}

static inline gboolean
dyno_size_add (guint64 a, guint64 b, guint64 *result)
{
  guint64 sum;
  if (__builtin_add_overflow (a, b, &sum))
    return FALSE;
  *result = sum;
  return TRUE;
}

/* value rounded up to a multiple of alignment, a power of two; value is at most 2^63. */
static inline guint64
dyno_align_up (guint64 value, guint64 alignment)
{
  return (value + alignment - 1) & ~(alignment - 1);
}

static inline guint64
dyno_div_up (guint64 value, guint64 divisor)
{
  return value / divisor + (value % divisor != 0);
}
