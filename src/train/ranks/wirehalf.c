/* SPDX-License-Identifier: MIT */
/* Converts in place: to fp16 from the front, since each half is written before the floats still to
 * be read; back to fp32 from the end.  Processors with AVX2 convert eight values at a time, with
 * the same results except for the bits of a NaN. */
#include "wirehalf.h"
#include "half.h"
#if defined(__x86_64__)
#include <immintrin.h>
#endif

static void
narrow (guint8 *bytes, gsize begin, gsize end)
{
  for (gsize i = begin; i < end; i++)
    {
      float value;
      memcpy (&value, bytes + i * sizeof value, sizeof value);
      guint16 half = dyno_half_from_float (value);
      memcpy (bytes + i * sizeof half, &half, sizeof half);
    }
}

/* Converts from the end. */
static void
widen (guint8 *bytes, gsize begin, gsize end)
{
  for (gsize i = end; i-- > begin;)
    {
      guint16 half;
      memcpy (&half, bytes + i * sizeof half, sizeof half);
      float value = dyno_half_to_float (half);
      memcpy (bytes + i * sizeof value, &value, sizeof value);
    }
}

#if defined(__x86_64__)
#define EIGHT __attribute__ ((target ("avx,f16c")))

static EIGHT void
narrow_eight (guint8 *bytes, gsize n)
{
  for (gsize i = 0; i < n; i += 8)
    {
      __m256 values = _mm256_loadu_ps ((const void *) (bytes + i * 4));
      _mm_storeu_si128 ((void *) (bytes + i * 2),
                        _mm256_cvtps_ph (values, _MM_FROUND_TO_NEAREST_INT));
    }
}

static EIGHT void
widen_eight (guint8 *bytes, gsize n)
{
  for (gsize i = n; i > 0; i -= 8)
    {
      __m128i halves = _mm_loadu_si128 ((const void *) (bytes + (i - 8) * 2));
      _mm256_storeu_ps ((void *) (bytes + (i - 8) * 4), _mm256_cvtph_ps (halves));
    }
}

static gboolean
has_eight (void)
{
  return __builtin_cpu_supports ("avx2"); /* implies f16c, a name that clang 14 does not know */
}
#else
static void
narrow_eight (guint8 *bytes, gsize n)
{
  narrow (bytes, 0, n);
}
static void
widen_eight (guint8 *bytes, gsize n)
{
  widen (bytes, 0, n);
}
static gboolean
has_eight (void)
{
  return FALSE;
}
#endif

void
dyno_wire_to_half (float *values, gsize n)
{
  gsize eights = has_eight () ? n & ~(gsize) 7 : 0;

  narrow_eight ((guint8 *) values, eights);
  narrow ((guint8 *) values, eights, n);
}

void
dyno_wire_from_half (float *values, gsize n)
{
  gsize eights = has_eight () ? n & ~(gsize) 7 : 0;

  widen ((guint8 *) values, eights, n);
  widen_eight ((guint8 *) values, eights);
}
