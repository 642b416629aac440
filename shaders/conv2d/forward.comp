#version 460
/* SPDX-License-Identifier: MIT */
/* y[n][oy][ox][k] = bias[k] + sum over ky, kx, c of
 *     x[n][oy * STRIDE_H + ky - PAD_H][ox * STRIDE_W + kx - PAD_W][c] * weight[ky][kx][c][k]
 * (with DILATED ky and kx in the index of x are multiplied by the dilation; with GROUPED the c are
 * those of k's block; with AFFINE a batch norm is applied to the result; with LOAD x is the output
 * of a batch norm)
 *
 * as the product of the gathered x, (N*OH*OW) x (KH*KW*C), and the weight, (KH*KW*C) x K, which
 * already has this layout in memory. */
#include "types.glsl"
#define A_ALONG_K 1
#define B_ALONG_K 0
#ifdef SPLIT
#define SUMS_OUT  SPLIT
#else
#define SUMS_OUT  0
#endif
#define GATHER_BRANCHES 0
#include "geometry.glsl"

#define ROWS    (N * OH * OW)
#if FEW
#define DEPTH   FEW_DEPTH
#define CHUNKS  1             /* chunks per tap, in the walk over taps and chunks */
#define PITCH   1
#define WIDTH   FEW_CHUNKS
#else
#define DEPTH   (KH * KW * BLOCK_C)
#define CHUNKS  (BLOCK_C / CHUNK)
#define PITCH   (C / CHUNK)   /* chunks in a pixel */
#define WIDTH   KW
#endif
#define INSIDE  (PAD_H == 0 && PAD_W == 0)

DYNO_BUFFER_IN (Bias4, vec4, 16);

uint tile_row, tile_column;
Walk walk;             /* position of this invocation's chunk column */
#ifdef LANES
Walk walk_step;        /* length of a K tile */
#endif
int base[A_LOADS];     /* chunk of x at tap (0, 0) of a row's window; it may lie before the image */
ivec2 window[A_LOADS]; /* y and x of tap (0, 0) of a row's window */
uint depth;            /* first row of the weight's tile */

GemmChunk
gemm_a (uint i)
{
#if IMAGES
  return gather (p.a, uint (base[i] + int ((tap.x * W + tap.y) * PITCH + tap_chunk)), true);
#elif FEW
  uint x_tap = walk.x * FEW_TAPS;
  return few_chunk (p.a, window[i] + ivec2 (walk.y, x_tap), base[i] + int (walk.y * W + x_tap),
                    x_tap, CHECK_K == 0 || walk.y < KH);
#else
  const uint y = APART_H (walk.y), x = APART_W (walk.x);
  ivec2 at = window[i] + ivec2 (y, x);
  bool valid;
  if (INSIDE)
    valid = CHECK_M == 0 || at.x >= 0;
  else
    valid = uint (at.x) < H && uint (at.y) < W;
  if (CHECK_K != 0)
    valid = valid && walk.y < KH;
  return gather (p.a, uint (base[i] + int ((y * W + x) * PITCH + walk.c)), valid);
#endif
}

GemmChunk
gemm_b (uint i)
{
#if IMAGES
  uint row = (tap.x * KW + tap.y) * C + tap_chunk * CHUNK + b_row (i);
#else
  uint row = depth + b_row (i);
#endif
  uint column = tile_column + b_column (i) * CHUNK;
  bool valid = CHECK_K == 0 || row < DEPTH;
#if FEW
  valid = few_row (row, row) && valid;
#endif
  return gather (p.b, row * (K / CHUNK) + column / CHUNK, valid && (CHECK_N == 0 || column < K));
}

#ifdef LOAD
uint
gemm_load_chunk ()
{
#if IMAGES
  return tap_chunk + a_column (0);
#elif GROUPED
  return tile_column / BLOCK_K * CHUNKS + walk.c;
#else
  return walk.c;
#endif
}
#endif

void
gemm_next ()
{
#if IMAGES
  taps_next (CHUNKS);
#elif defined (LANES)
  walk_add (walk, walk_step, CHUNKS, WIDTH);
#else
  walk_next (walk, BK / CHUNK, CHUNKS, WIDTH);
  depth += BK;
#endif
}

#ifdef LANES
void
gemm_next_group ()
{
  depth += 4;
}
#endif

bool
gemm_row (uint row)
{
#if IMAGES
  store_row = ((tile_row % N + row) * (OH * OW) + tile_row / N) * (K / 4);
#else
  store_row = (tile_row + row + (SPLIT != 0 ? gl_WorkGroupID.z * ROWS : 0)) * (K / 4);
#endif
  return CHECK_M == 0 || tile_row + row < ROWS;
}

vec4
bias_at (uint column)
{
  return HAS_BIAS != 0 ? Bias4 (p.bias).v[column / 4] : vec4 (0.0);
}

void
gemm_store (uint column, vec4 v)
{
  column += tile_column;
#if SPLIT
  if (CHECK_N == 0 || column < K)
    store_part (store_row + column / 4, v);
#else
  if (CHECK_N == 0 || column < K)
    store_activation4 (store_row + column / 4, v + bias_at (column));
#endif
}

#if SPLIT
void
gemm_store2 (uint column, vec4 v, vec4 w)
{
  gemm_store (column, v);
  gemm_store (column + 4, w);
}
#endif

#if HALF
u32vec4
gemm_old (uint column)
{
  column += tile_column;
  return CHECK_N == 0 || column < K ? Target8 (p.target).v[(store_row + column / 4) / 2]
                                    : u32vec4 (0);
}

void
gemm_store_halves (uint column, u32vec4 chunk, u32vec4 old)
{
  column += tile_column;
  if (CHECK_N == 0 || column < K)
    store_halves (store_row + column / 4, chunk, old, HAS_BIAS != 0, bias_at (column),
                  bias_at (column + 4));
}
#endif

#if AFFINE
AffineColumns
gemm_affine_columns (uint column)
{
  column += tile_column;
  return affine_columns (CHECK_N == 0 || column < K ? column / 4 : 0);
}

void
gemm_store_affine (uint column, vec4 v, AffineColumns columns)
{
  column += tile_column;
  if (CHECK_N == 0 || column < K)
    store_affine4 (store_row + column / 4, v, columns);
}
#if HALF

u32vec4
gemm_beside (uint64_t address, uint column)
{
  column += tile_column;
  return CHECK_N == 0 || column < K ? Norm8 (address).v[(store_row + column / 4) / 2]
                                    : u32vec4 (0);
}

void
gemm_put_halves (uint column, u32vec4 chunk)
{
  column += tile_column;
  if (CHECK_N == 0 || column < K)
    Target8 (p.target).v[(store_row + column / 4) / 2] = chunk;
}
#endif
#endif

#include "gemm-run.glsl"

void
main ()
{
  if (!tile_find (tile_row, tile_column))
    return;
#if IMAGES
  const uint pixel = tile_row / N;
  const ivec2 origin = ivec2 (pixel / OW * STRIDE_H, pixel % OW * STRIDE_W) - ivec2 (PAD_H, PAD_W);
  tap_begin = uvec2 (max (-origin, ivec2 (0)));
  tap_end = uvec2 (clamp (ivec2 (H, W) - origin, ivec2 (tap_begin),
                          max (ivec2 (KH, KW), ivec2 (tap_begin))));
  taps_start ();
  [[unroll]] for (uint i = 0; i < A_LOADS; i++)
    base[i] = ((int ((tile_row % N + a_row (i)) * H) + origin.x) * int (W) + origin.y) * int (PITCH)
              + int (a_column (i));
#else
  walk = walk_start (a_column (0) + split_begin () / CHUNK, CHUNKS, WIDTH);
  depth = split_begin ();
#ifdef LANES
  walk_step = walk_start (BK / CHUNK, CHUNKS, WIDTH);
  const uvec3 next = pixel_at (a_row (1) - a_row (0), OH, OW);
  uvec3 at = pixel_at (tile_row + a_row (0), OH, OW);
#endif
  [[unroll]] for (uint i = 0; i < A_LOADS; i++)
    {
      uint row = tile_row + a_row (i);
#ifdef LANES
      const uint image = at.x, y = at.y, x = at.z;
      pixel_add (at, next, OH, OW);
#else
      uint image = row / (OH * OW), rest = row % (OH * OW);
      const uint y = rest / OW, x = rest % OW;
#endif
      window[i] = ivec2 (y * STRIDE_H, x * STRIDE_W) - ivec2 (PAD_H, PAD_W);
      /* with FEW base counts pixels */
      base[i] = ((int (image * H) + window[i].x) * int (W) + window[i].y) * int (PITCH);
#if GROUPED
      base[i] += int (tile_column / BLOCK_K * CHUNKS);
#endif
      if (CHECK_M != 0 && row >= ROWS)
        window[i] = ivec2 (NOWHERE);
    }
#endif
#if STATISTICS && USE_MATRIX
  statistics_clear (tile_column);
#endif
#if IMAGES
  gemm_run (taps_trips (CHUNKS));
#else
  gemm_run ((split_end (DEPTH) - split_begin () + BK - 1) / BK);
#endif
#if STATISTICS && USE_MATRIX
  statistics_store (tile_row / BM);
#elif STATISTICS
  statistics_store (tile_column, tile_row / BM);
#endif
}
