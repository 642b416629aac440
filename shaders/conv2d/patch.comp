#version 460
/* SPDX-License-Identifier: MIT */
/* Forward and data gradient of a convolution with stride 1 whose output is as large as its input
 * (KH = 2 PAD_H + 1, KW likewise), by patches in shared memory (gemm-patch.glsl).
 *
 * Rows of the product are positions on a line: image after image, row after row, W pixels and PAD_W
 * zeros, H rows and PAD_H rows of zeros.  On this line every tap is a fixed distance away, since
 * the zeros at the end of a row are also the padding left of the next row.  Results at positions
 * that are not pixels are not used; with 3 x 3 taps about 1 / W + 1 / H of all results.
 *
 * FLIP 0: target = y, the product of x (with LOAD the output of a batch norm) and the weight.  FLIP
 * 1: target = dx (+)= the product of dy and the weight with flipped taps, with BIAS plus a bias, as
 * in dgrad.comp. */
#include "types.glsl"
#define A_ALONG_K 1
#define B_ALONG_K FLIP
#ifdef SPLIT
#define SUMS_OUT  SPLIT
#else
#define SUMS_OUT  0
#endif
#define GATHER_BRANCHES 0
#ifndef BIAS
#define BIAS 0
#endif
#include "geometry.glsl"

#if FLIP
#define IN_C  K
#define OUT_C C
#define BIASED (BIAS != 0)
#else
#define IN_C  C
#define OUT_C K
#define BIASED (HAS_BIAS != 0)
#endif
#define PITCH    (W + PAD_W)
#define TAP_ROWS KH
#define REACH    (PAD_H * PITCH + PAD_W) /* positions that the taps reach to either side */
#define IMAGE    ((H + PAD_H) * PITCH)   /* positions of an image */

DYNO_BUFFER_IN (Bias4, vec4, 16);

uint tile_row, tile_column;
uint slab_chunk;       /* first chunk of channels of the slab whose weights are fetched next */
uint patch_chunk;      /* first chunk of channels of the patch that is fetched next */
uint tap_y;            /* row of taps of the weights that are fetched next */
int patch_at[A_LOADS]; /* first chunk of a row of the patch; negative: zeros */

/* The pixel at a position on the line; FALSE where there is no pixel. */
bool
pixel_at (int position, out uint pixel)
{
  uint at = uint (position), image = at / IMAGE, rest = at % IMAGE, y = rest / PITCH,
       x = rest % PITCH;
  pixel = (image * H + y) * W + x;
  return position >= 0 && x < W && y < H && image < N;
}

GemmChunk
gemm_a (uint i)
{
  bool valid = patch_at[i] >= 0 && (CHECK_K == 0 || patch_chunk + a_column (i) < IN_C / CHUNK);
  return gather (p.a, uint (patch_at[i]) + patch_chunk, valid);
}

#ifdef LOAD
/* Limited to existing chunks, since the patch may have channels that do not exist. */
uint
gemm_load_chunk ()
{
  const uint chunk = patch_chunk + a_column (0);
  return CHECK_K == 0 ? chunk : min (chunk, IN_C / CHUNK - 1);
}
#endif

GemmChunk
gemm_b (uint i)
{
#if FLIP
  uint x = b_row (i) / BN, column = tile_column + b_row (i) % BN, chunk = slab_chunk + b_column (i);
  uint tap = (KH - 1 - tap_y) * KW + KW - 1 - x;
  return gather (p.b, (tap * C + column) * (K / CHUNK) + chunk,
                 (CHECK_N == 0 || column < C) && (CHECK_K == 0 || chunk < K / CHUNK));
#else
  uint x = b_row (i) / BK, c = slab_chunk * CHUNK + b_row (i) % BK,
       column = tile_column + b_column (i) * CHUNK;
  return gather (p.b, ((tap_y * KW + x) * C + c) * (K / CHUNK) + column / CHUNK,
                 (CHECK_N == 0 || column < K) && (CHECK_K == 0 || c < C));
#endif
}

void
gemm_next_taps ()
{
  tap_y++;
  if (tap_y == KH)
    {
      tap_y = 0;
      slab_chunk += BK / CHUNK;
    }
}

void
gemm_next_slab ()
{
  patch_chunk += BK / CHUNK;
}

bool
gemm_row (uint row)
{
  uint pixel;
  bool valid = pixel_at (int (tile_row + row), pixel);
  store_row = (pixel + (SPLIT != 0 ? gl_WorkGroupID.z * (N * H * W) : 0)) * (OUT_C / 4);
  return valid;
}

vec4
bias_at (uint column)
{
  return BIASED ? Bias4 (p.bias).v[column / 4] : vec4 (0.0);
}

#if SPLIT
void
gemm_store2 (uint column, vec4 v, vec4 w)
{
  column += tile_column;
  if (CHECK_N != 0 && column >= OUT_C)
    return;
  store_part (store_row + column / 4, v);
  store_part (store_row + column / 4 + 1, w);
}
#endif

u32vec4
gemm_old (uint column)
{
  column += tile_column;
  return CHECK_N == 0 || column < OUT_C ? old_load8 (store_row + column / 4) : u32vec4 (0);
}

#if NORM
NormColumns
gemm_norm_columns (uint column)
{
  column += tile_column;
  return norm_columns (CHECK_N == 0 || column < OUT_C ? column / 4 : 0);
}

uint
gemm_mask (uint column)
{
  column += tile_column;
  return CHECK_N == 0 || column < OUT_C ? norm_mask (store_row + column / 4) : 0;
}
#endif

#if AFFINE
AffineColumns
gemm_affine_columns (uint column)
{
  column += tile_column;
  return affine_columns (CHECK_N == 0 || column < K ? column / 4 : 0);
}
#endif

#if NORM || AFFINE
u32vec4
gemm_beside (uint64_t address, uint column)
{
  column += tile_column;
  return CHECK_N == 0 || column < OUT_C ? Norm8 (address).v[(store_row + column / 4) / 2]
                                        : u32vec4 (0);
}

void
gemm_put_halves (uint column, u32vec4 chunk)
{
  column += tile_column;
  if (CHECK_N == 0 || column < OUT_C)
    Target8 (p.target).v[(store_row + column / 4) / 2] = chunk;
}
#endif

void
gemm_store_halves (uint column, u32vec4 chunk, u32vec4 old)
{
  column += tile_column;
  if (CHECK_N == 0 || column < OUT_C)
    store_halves (store_row + column / 4, chunk, old, BIASED, bias_at (column), bias_at (column + 4));
}

#include "gemm-run.glsl"

void
main ()
{
  if (!tile_find (tile_row, tile_column))
    return;
  slab_chunk = split_begin () / CHUNK;
  patch_chunk = slab_chunk;
  tap_y = 0;
  [[unroll]] for (uint i = 0; i < A_LOADS; i++)
    {
      uint pixel;
      bool valid = pixel_at (int (tile_row + a_row (i)) - int (REACH), pixel);
      patch_at[i] = valid ? int (pixel * (IN_C / CHUNK) + a_column (i)) : -1;
    }
#if STATISTICS
  statistics_clear (tile_column);
#endif
  gemm_run ((split_end (IN_C) - split_begin () + BK - 1) / BK);
#if STATISTICS || NORM
  statistics_store (tile_row / BM);
#endif
}
