/* SPDX-License-Identifier: MIT */
/* dyno_comm_add_ranks: the sum of all ranks' values, element by element in the order of the ranks,
 * so that the result is the same wherever it is computed.  It works in blocks whose sums stay in
 * the first-level cache: each value is read once and each sum is written once. */
#include "comm-class.h"
#include "half.h"
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { BLOCK = 1024 };

/* clang-format off */
#define DEFINE_ADD(name, type)                                                                     \
  static void name (type *out, const void *const *in, guint ranks, gsize at, gsize n)              \
  {                                                                                                \
    type sum[BLOCK];                                                                               \
    memcpy (sum, (const type *) in[0] + at, n * sizeof (type));                                    \
    for (guint r = 1; r < ranks; r++)                                                              \
      {                                                                                            \
        const type *values = (const type *) in[r] + at;                                            \
        for (gsize i = 0; i < n; i++)                                                              \
          sum[i] += values[i];                                                                     \
      }                                                                                            \
    memcpy (out + at, sum, n * sizeof (type));                                                     \
  }
/* clang-format on */

DEFINE_ADD (add_float32, float)
DEFINE_ADD (add_float64, double)
DEFINE_ADD (add_uint64, guint64)

static void
add_float16 (guint16 *out, const void *const *in, guint ranks, gsize at, gsize n)
{
  for (gsize i = at; i < at + n; i++)
    {
      float sum = dyno_half_to_float (((const guint16 *) in[0])[i]);
      for (guint r = 1; r < ranks; r++)
        sum += dyno_half_to_float (((const guint16 *) in[r])[i]);
      out[i] = dyno_half_from_float (sum);
    }
}

#if defined(__x86_64__)
/* Eight values at a time where the processor converts them, as all processors with AVX2 do; the
 * values are the same but for the bits of a NaN. */
__attribute__ ((target ("avx,f16c"))) static void
add_float16_f16c (guint16 *out, const void *const *in, guint ranks, gsize at, gsize n)
{
  gsize i = at, end = at + n;

  for (; i + 8 <= end; i += 8)
    {
      __m256 sum = _mm256_cvtph_ps (_mm_loadu_si128 ((const void *) ((const guint16 *) in[0] + i)));
      for (guint r = 1; r < ranks; r++)
        sum = _mm256_add_ps (
            sum, _mm256_cvtph_ps (_mm_loadu_si128 ((const void *) ((const guint16 *) in[r] + i))));
      _mm_storeu_si128 ((void *) (out + i), _mm256_cvtps_ph (sum, _MM_FROUND_TO_NEAREST_INT));
    }
  add_float16 (out, in, ranks, i, end - i);
}
#endif

void
dyno_comm_add_ranks (void *out, const void *const *in, guint ranks, gsize n, DynoCommType type)
{
#if defined(__x86_64__)
  gboolean converts = __builtin_cpu_supports ("avx2");
#endif

  for (gsize at = 0; at < n; at += BLOCK)
    {
      gsize count = MIN (n - at, (gsize) BLOCK);
      switch (type)
        {
        case DYNO_COMM_FLOAT32:
          add_float32 (out, in, ranks, at, count);
          break;
        case DYNO_COMM_FLOAT64:
          add_float64 (out, in, ranks, at, count);
          break;
        case DYNO_COMM_UINT64:
          add_uint64 (out, in, ranks, at, count);
          break;
        case DYNO_COMM_FLOAT16:
#if defined(__x86_64__)
          if (converts)
            {
              add_float16_f16c (out, in, ranks, at, count);
              break;
            }
#endif
          add_float16 (out, in, ranks, at, count);
          break;
        }
    }
}
