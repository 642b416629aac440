/* SPDX-License-Identifier: MIT */
/* Weighted sums over rows and over pixels of a row: in plain C, and by the vector instructions that
 * multiply 16-bit pairs into 32-bit sums.  A sum of bytes times weights is exact in 32 bits in any
 * order, so that all kernels agree.  AVX2 is detected at run time; 64-bit ARM always has NEON. */
#include "resize-kernels.h"
#include <string.h>
#if defined(__x86_64__) && defined(__GNUC__)
#define HAVE_AVX2 1
#include <immintrin.h>
#endif
#if defined(__aarch64__) && !defined(__AARCH64EB__)
#define HAVE_NEON 1
#include <arm_neon.h>
#endif

#define HALF (1 << (DYNO_RESIZE_WEIGHT_BITS - 1))

/* --- plain C ---------------------------------------------------------------------------------- */

#define BLOCK 256 /* bytes of a row whose sums stay in the nearest cache */

static void
rows_plain (const guint8 *rows, gsize stride, const gint16 *weights, guint32 count, guint8 *out,
            gsize size)
{
  gint32 sums[BLOCK];

  for (gsize at = 0; at < size; at += BLOCK)
    {
      gsize n = MIN (size - at, BLOCK);
      const guint8 *row = rows + at;

      for (gsize i = 0; i < n; i++)
        sums[i] = row[i] * weights[0] + HALF;
      for (guint32 k = 1; k < count; k++)
        {
          gint32 weight = weights[k];

          row = rows + k * stride + at;
          for (gsize i = 0; i < n; i++)
            sums[i] += row[i] * weight;
        }
      for (gsize i = 0; i < n; i++)
        out[at + i] = (guint8) (sums[i] >> DYNO_RESIZE_WEIGHT_BITS);
    }
}

static void
columns_plain (const guint8 *row, const DynoResizeAxis *axis, guint32 channels, guint32 width,
               guint8 *out)
{
  for (guint32 x = 0; x < width; x++)
    {
      DynoResizeSpan span = axis->spans[x];
      const gint16 *weights = axis->weights + (gsize) x * axis->max_taps;
      const guint8 *from = row + (gsize) span.first * channels;
      gint32 sums[4] = { HALF, HALF, HALF, HALF };

      if (channels == 3)
        for (guint32 k = 0; k < span.count; k++, from += 3)
          {
            sums[0] += from[0] * weights[k];
            sums[1] += from[1] * weights[k];
            sums[2] += from[2] * weights[k];
          }
      else
        for (guint32 k = 0; k < span.count; k++, from += channels)
          for (guint32 c = 0; c < channels; c++)
            sums[c] += from[c] * weights[k];
      for (guint32 c = 0; c < channels; c++)
        *out++ = (guint8) (sums[c] >> DYNO_RESIZE_WEIGHT_BITS);
    }
}

static const DynoResizeKernel plain = { "plain C", rows_plain, columns_plain };

/* --- AVX2 ------------------------------------------------------------------------------------- */

#ifdef HAVE_AVX2
#define AVX2 __attribute__ ((target ("avx2")))

/* Two weights side by side, for a pair of rows or pixels. */
static inline gint32
pair_at (const gint16 *weights)
{
  gint32 pair;

  memcpy (&pair, weights, sizeof pair);
  return pair;
}

AVX2 static inline __m256i
widen (const guint8 *bytes)
{
  return _mm256_cvtepu8_epi16 (_mm_loadu_si128 ((const __m128i *) (const void *) bytes));
}

/* Adds 16 columns of two rows to their sums: low has columns 0 to 3 and 8 to 11. */
AVX2 static inline void
add_pair (const guint8 *a, const guint8 *b, __m256i pair, __m256i *low, __m256i *high)
{
  __m256i first = widen (a), second = widen (b);

  *low = _mm256_add_epi32 (*low, _mm256_madd_epi16 (_mm256_unpacklo_epi16 (first, second), pair));
  *high = _mm256_add_epi32 (*high, _mm256_madd_epi16 (_mm256_unpackhi_epi16 (first, second), pair));
}

AVX2 static inline __m256i
narrow (__m256i low, __m256i high)
{
  return _mm256_packs_epi32 (_mm256_srai_epi32 (low, DYNO_RESIZE_WEIGHT_BITS),
                             _mm256_srai_epi32 (high, DYNO_RESIZE_WEIGHT_BITS));
}

AVX2 static void
rows_avx2 (const guint8 *rows, gsize stride, const gint16 *weights, guint32 count, guint8 *out,
           gsize size)
{
  const __m256i half = _mm256_set1_epi32 (HALF);
  gsize i = 0;

  for (; i + 32 <= size; i += 32)
    {
      __m256i sums[4] = { half, half, half, half };

      for (guint32 k = 0; k < count; k += 2)
        {
          const guint8 *a = rows + k * stride + i, *b = k + 1 < count ? a + stride : a;
          __m256i pair = _mm256_set1_epi32 (pair_at (weights + k));

          add_pair (a, b, pair, &sums[0], &sums[1]);
          add_pair (a + 16, b + 16, pair, &sums[2], &sums[3]);
        }
      /* The packing works within halves, so the quarters are put back in order. */
      _mm256_storeu_si256 (
          (__m256i *) (void *) (out + i),
          _mm256_permute4x64_epi64 (
              _mm256_packus_epi16 (narrow (sums[0], sums[1]), narrow (sums[2], sums[3])), 0xd8));
    }
  if (i < size)
    rows_plain (rows + i, stride, weights, count, out + i, size - i);
}

/* Four pixels of three channels at a time: red of the first two, then green, then blue; then the
 * other two. */
AVX2 static void
columns_avx2 (const guint8 *row, const DynoResizeAxis *axis, guint32 channels, guint32 width,
              guint8 *out)
{
  const __m256i spread =
      _mm256_setr_epi8 (0, -1, 3, -1, 1, -1, 4, -1, 2, -1, 5, -1, -1, -1, -1, -1, /* upper half */
                        6, -1, 9, -1, 7, -1, 10, -1, 8, -1, 11, -1, -1, -1, -1, -1);
  const __m256i to_halves = _mm256_setr_epi32 (0, 0, 0, 0, 1, 1, 1, 1);
  const __m128i gather =
      _mm_setr_epi8 (0, 4, 8, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
  const __m256i half = _mm256_setr_epi32 (HALF, HALF, HALF, HALF, 0, 0, 0, 0);
  const DynoResizeSpan *spans = axis->spans;
  const gint16 *weights = axis->weights;
  const gsize taps = axis->used_taps, stride = axis->max_taps;

  if (channels != 3)
    {
      columns_plain (row, axis, channels, width, out);
      return;
    }
  for (guint32 x = 0; x < width; x++, out += 3, weights += stride)
    {
      const guint8 *from = row + (gsize) spans[x].first * 3;
      __m256i sums = half;
      __m128i both;
      guint32 result;

      for (gsize k = 0; k < taps; k += 4, from += 12)
        {
          __m256i pixels =
              _mm256_broadcastsi128_si256 (_mm_loadu_si128 ((const __m128i *) (const void *) from));
          __m256i four = _mm256_castsi128_si256 (
              _mm_loadl_epi64 ((const __m128i *) (const void *) (weights + k)));

          sums = _mm256_add_epi32 (
              sums, _mm256_madd_epi16 (_mm256_shuffle_epi8 (pixels, spread),
                                       _mm256_permutevar8x32_epi32 (four, to_halves)));
        }
      both = _mm_add_epi32 (_mm256_castsi256_si128 (sums), _mm256_extracti128_si256 (sums, 1));
      both = _mm_shuffle_epi8 (_mm_srai_epi32 (both, DYNO_RESIZE_WEIGHT_BITS), gather);
      result = (guint32) _mm_cvtsi128_si32 (both);
      if (x + 1 < width)
        memcpy (out, &result, 4); /* the fourth byte belongs to the next pixel */
      else
        memcpy (out, &result, 3);
    }
}

static const DynoResizeKernel avx2 = { "AVX2", rows_avx2, columns_avx2 };
#endif

/* --- NEON ------------------------------------------------------------------------------------- */

#ifdef HAVE_NEON
static void
rows_neon (const guint8 *rows, gsize stride, const gint16 *weights, guint32 count, guint8 *out,
           gsize size)
{
  gsize i = 0;

  for (; i + 16 <= size; i += 16)
    {
      int32x4_t sums[4];

      for (guint j = 0; j < 4; j++)
        sums[j] = vdupq_n_s32 (HALF);
      for (guint32 k = 0; k < count; k++)
        {
          uint8x16_t bytes = vld1q_u8 (rows + k * stride + i);
          int16x8_t low = vreinterpretq_s16_u16 (vmovl_u8 (vget_low_u8 (bytes))),
                    high = vreinterpretq_s16_u16 (vmovl_u8 (vget_high_u8 (bytes)));

          sums[0] = vmlal_n_s16 (sums[0], vget_low_s16 (low), weights[k]);
          sums[1] = vmlal_n_s16 (sums[1], vget_high_s16 (low), weights[k]);
          sums[2] = vmlal_n_s16 (sums[2], vget_low_s16 (high), weights[k]);
          sums[3] = vmlal_n_s16 (sums[3], vget_high_s16 (high), weights[k]);
        }
      vst1q_u8 (out + i,
                vcombine_u8 (
                    vqmovun_s16 (vcombine_s16 (vshrn_n_s32 (sums[0], DYNO_RESIZE_WEIGHT_BITS),
                                               vshrn_n_s32 (sums[1], DYNO_RESIZE_WEIGHT_BITS))),
                    vqmovun_s16 (vcombine_s16 (vshrn_n_s32 (sums[2], DYNO_RESIZE_WEIGHT_BITS),
                                               vshrn_n_s32 (sums[3], DYNO_RESIZE_WEIGHT_BITS)))));
    }
  if (i < size)
    rows_plain (rows + i, stride, weights, count, out + i, size - i);
}

/* One pixel of three channels at a time, together with the first byte of the next. */
static void
columns_neon (const guint8 *row, const DynoResizeAxis *axis, guint32 channels, guint32 width,
              guint8 *out)
{
  if (channels != 3)
    {
      columns_plain (row, axis, channels, width, out);
      return;
    }
  for (guint32 x = 0; x < width; x++, out += 3)
    {
      DynoResizeSpan span = axis->spans[x];
      const gint16 *weights = axis->weights + (gsize) x * axis->max_taps;
      const guint8 *from = row + (gsize) span.first * 3;
      int32x4_t sums = vdupq_n_s32 (HALF);
      int16x4_t result;

      for (guint32 k = 0; k < span.count; k++, from += 3)
        sums = vmlal_n_s16 (sums, vreinterpret_s16_u16 (vget_low_u16 (vmovl_u8 (vld1_u8 (from)))),
                            weights[k]);
      result = vshrn_n_s32 (sums, DYNO_RESIZE_WEIGHT_BITS);
      out[0] = (guint8) vget_lane_s16 (result, 0);
      out[1] = (guint8) vget_lane_s16 (result, 1);
      out[2] = (guint8) vget_lane_s16 (result, 2);
    }
}

static const DynoResizeKernel neon = { "NEON", rows_neon, columns_neon };
#endif

const DynoResizeKernel *const *
dyno_resize_list_kernels (void)
{
  static const DynoResizeKernel *list[4];
  static gsize once;

  if (g_once_init_enter (&once))
    {
      guint n = 0;

#ifdef HAVE_AVX2
      if (__builtin_cpu_supports ("avx2"))
        list[n++] = &avx2;
#endif
#ifdef HAVE_NEON
      list[n++] = &neon;
#endif
      list[n] = &plain;
      g_once_init_leave (&once, 1);
    }
  return list;
}
