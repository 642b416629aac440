/* SPDX-License-Identifier: MIT */
/* A subgroup's SM x SN sums as 16 x 16 fragments, and their stores to memory.
 *
 * Each subgroup stores its sums through shared memory, as rows that are checked against bounds by
 * plain code and are written in 16-byte pieces.  Activations are rounded first (later summands are
 * added in fp32, and the result is rounded again); with SUMS_OUT the fp32 sums themselves are
 * stored, EDGE columns at a time.
 *
 * The file that includes this defines gemm_row and gemm_store2, or gemm_old and gemm_store_halves,
 * with AFFINE gemm_affine_columns, with NORM gemm_norm_columns and gemm_mask, and with either
 * gemm_beside and gemm_put_halves (described in gemm-run.glsl), and TILE_SIZE, the shared memory of
 * the loop in units of 16 bytes.  The buffer for stores (edges) overlaps this memory, or begins at
 * EDGE_AT if that is defined: over EDGE_ROOM units of the loop's memory, or with 0 (the default)
 * after it.  SUMS_KEPT 1: a workgroup makes several tiles, and the sums of their columns are added
 * up; it calls norm_clear once. */
#ifndef DYNO_MATRIX_SUMS_GLSL
#define DYNO_MATRIX_SUMS_GLSL
#include "matrix.glsl"
#include "modes.h"

#define FRAGMENTS_M (SM / 16)
#define FRAGMENTS_N (SN / 16)
#define SUBGROUPS_N (BN / SN)
#define SUBGROUPS   (LOCAL_X / 32)
/* Each slice of a K tile is multiplied by subgroups of its own, whose sums are then added up. */
#ifndef SLICES_K
#define SLICES_K 1
#endif
#define SLICE_SUBGROUPS (SUBGROUPS / SLICES_K)
#define SLICE_STRIDE    5 /* units of 16 bytes between rows of a fragment */
#define SLICE_AT(slice, member, i, j)                                                           \
  (((((slice) -1) * SLICE_SUBGROUPS + (member)) * FRAGMENTS_M * FRAGMENTS_N + (i) *FRAGMENTS_N  \
    + (j))                                                                                      \
   * 16 * SLICE_STRIDE)
#define SLICES_SIZE ((SLICES_K - 1) * (BM / 16) * (BN / 16) * 16 * SLICE_STRIDE)
#if SUMS_OUT
#define EDGE        (SN < 32 ? SN : 32)
#define EDGE_STRIDE (EDGE / 4 + 1) /* units of 16 bytes between rows */
#else
#define EDGE_STRIDE (SN / 8 + 1)
#endif
#define EDGE_SIZE   (16 * EDGE_STRIDE * SUBGROUPS)
#ifndef EDGE_ROOM
#define EDGE_ROOM 0
#endif
#ifndef SUMS_KEPT
#define SUMS_KEPT 0
#endif
#ifdef EDGE_AT
#define SHARED_SIZE (EDGE_AT + (EDGE_ROOM > EDGE_SIZE ? EDGE_ROOM : EDGE_SIZE))
#define EDGE_FIT    (EDGE_ROOM > EDGE_SIZE ? EDGE_ROOM / EDGE_SIZE : 1)
#else
#define EDGE_AT     0
#define LOOP_SIZE   (TILE_SIZE > SLICES_SIZE ? TILE_SIZE : SLICES_SIZE)
#define SHARED_SIZE (LOOP_SIZE > EDGE_SIZE ? LOOP_SIZE : EDGE_SIZE)
#define EDGE_FIT    (SHARED_SIZE / EDGE_SIZE)
#endif
/* A subgroup stores EDGE_FRAGMENTS fragments, one below the other, at a time, and an invocation
 * then makes EDGE_TURNS stores of 16 bytes. */
#define EDGE_TURNS     (EDGE_FRAGMENTS * SN / 16)
#if NORM
/* fewer fragments, since the additional reads take registers, which suffice for 64 x 32 sums */
#define EDGE_SPARE (SM == 64 && SN <= 32)
#define EDGE_FRAGMENTS \
  (EDGE_SPARE && EDGE_FIT >= 4                    ? 4 \
   : EDGE_FIT >= 2 && FRAGMENTS_M % 2 == 0 ? 2 \
                                           : 1)
#else
#define EDGE_FRAGMENTS \
  (EDGE_FIT >= FRAGMENTS_M ? FRAGMENTS_M : EDGE_FIT >= 2 && FRAGMENTS_M % 2 == 0 ? 2 : 1)
#endif

bool gemm_row (uint row);
#if SUMS_OUT
void gemm_store2 (uint column, vec4 v, vec4 w);
#else
u32vec4 gemm_old (uint column);
void gemm_store_halves (uint column, u32vec4 chunk, u32vec4 old);
#endif
#if NORM
NormColumns gemm_norm_columns (uint column);
uint gemm_mask (uint column);
#endif
#if AFFINE
AffineColumns gemm_affine_columns (uint column);
#endif
#if NORM || AFFINE
u32vec4 gemm_beside (uint64_t address, uint column);
void gemm_put_halves (uint column, u32vec4 chunk);
#endif

/* Does not compile if EDGE_FRAGMENTS is larger than FRAGMENTS_M. */
struct EdgeTurns {
  uint turns[FRAGMENTS_M / EDGE_FRAGMENTS];
};

shared u32vec4 tile[SHARED_SIZE];

MATRIX_C sum[FRAGMENTS_M][FRAGMENTS_N];

/* The position in the tile at which a subgroup's sums begin. */
uint
sums_row ()
{
#if SLICES_K > 1
  return gl_SubgroupID % SLICE_SUBGROUPS / SUBGROUPS_N * SM;
#else
  return gl_SubgroupID / SUBGROUPS_N * SM;
#endif
}

uint
sums_column ()
{
  return gl_SubgroupID % SUBGROUPS_N * SN;
}

uint
sums_slice ()
{
#if SLICES_K > 1
  return gl_SubgroupID / SLICE_SUBGROUPS;
#else
  return 0;
#endif
}

void
sums_clear ()
{
  [[unroll]] for (uint i = 0; i < FRAGMENTS_M; i++)
    [[unroll]] for (uint j = 0; j < FRAGMENTS_N; j++)
      sum[i][j] = MATRIX_C (0.0);
}

#if AFFINE
/* Applies the batch norm to eight rounded columns. */
u32vec4
affine_halves (const AffineColumns columns[2], u32vec4 chunk, u32vec4 beside)
{
  vec4 v = affine_take (columns[0],
                        vec4 (unpackHalf2x16 (chunk.x), unpackHalf2x16 (chunk.y)),
                        vec4 (unpackHalf2x16 (beside.x), unpackHalf2x16 (beside.y)));
  vec4 w = affine_take (columns[1],
                        vec4 (unpackHalf2x16 (chunk.z), unpackHalf2x16 (chunk.w)),
                        vec4 (unpackHalf2x16 (beside.z), unpackHalf2x16 (beside.w)));
  return u32vec4 (packHalf2x16 (v.xy), packHalf2x16 (v.zw), packHalf2x16 (w.xy),
                  packHalf2x16 (w.zw));
}
#endif

#if STATISTICS || NORM
/* Sums of the eight columns that this invocation stores, over every (256 / SN)-th row of its
 * subgroup. */
vec4 column_sum[2], column_square[2];
#if STATISTICS
vec4 column_pivot[2];
uint statistics_tile_column;
#else
NormColumns column_norm[2];
#define statistics_tile_column tile_column
#endif

uint
statistics_column ()
{
  return sums_column () + gl_SubgroupInvocationID % (SN / 8) * 8;
}

#if STATISTICS
void
statistics_clear (uint tile_column)
{
  statistics_tile_column = tile_column;
  [[unroll]] for (uint i = 0; i < 2; i++)
    {
      column_pivot[i] = statistics_pivot (tile_column, statistics_column () + i * 4);
      column_sum[i] = vec4 (0.0);
      column_square[i] = vec4 (0.0);
    }
}

void
statistics_take (u32vec4 chunk)
{
  vec4 d = vec4 (unpackHalf2x16 (chunk.x), unpackHalf2x16 (chunk.y)) - column_pivot[0];
  vec4 e = vec4 (unpackHalf2x16 (chunk.z), unpackHalf2x16 (chunk.w)) - column_pivot[1];
  column_sum[0] += d;
  column_sum[1] += e;
  column_square[0] += d * d;
  column_square[1] += e * e;
}
#else
void
norm_clear ()
{
  [[unroll]] for (uint i = 0; i < 2; i++)
    {
      column_sum[i] = vec4 (0.0);
      column_square[i] = vec4 (0.0);
    }
}

/* Loads the batch norm's values, for each tile again, since they take registers. */
void
norm_fetch ()
{
  [[unroll]] for (uint i = 0; i < 2; i++)
    column_norm[i] = gemm_norm_columns (statistics_column () + i * 4);
}

/* Eight columns of dy, rounded, with the slope applied. */
u32vec4
norm_take_halves (u32vec4 chunk, u32vec4 x, uint mask)
{
  vec4 v = vec4 (unpackHalf2x16 (chunk.x), unpackHalf2x16 (chunk.y));
  vec4 w = vec4 (unpackHalf2x16 (chunk.z), unpackHalf2x16 (chunk.w));
  v = norm_take (column_norm[0], v, vec4 (unpackHalf2x16 (x.x), unpackHalf2x16 (x.y)), mask,
                 column_sum[0], column_square[0]);
  w = norm_take (column_norm[1], w, vec4 (unpackHalf2x16 (x.z), unpackHalf2x16 (x.w)), mask >> 4,
                 column_sum[1], column_square[1]);
  return u32vec4 (packHalf2x16 (v.xy), packHalf2x16 (v.zw), packHalf2x16 (w.xy),
                  packHalf2x16 (w.zw));
}
#endif

/* Adds up the columns' sums of all subgroups in the shared memory of the loop, and stores the
 * workgroup's totals. */
void
statistics_store (uint group)
{
  [[unroll]] for (uint i = 0; i < 2; i++)
    [[unroll]] for (uint d = SN / 8; d < 32; d *= 2)
      {
        column_sum[i] += subgroupShuffleXor (column_sum[i], d);
        column_square[i] += subgroupShuffleXor (column_square[i], d);
      }
  barrier ();
  uint row = gl_SubgroupID / SUBGROUPS_N;
  if (sums_slice () == 0 && gl_SubgroupInvocationID < SN / 8)
    [[unroll]] for (uint i = 0; i < 2; i++)
      {
        tile[row * 2 * (BN / 4) + statistics_column () / 4 + i] = floatBitsToUint (column_sum[i]);
        tile[(row * 2 + 1) * (BN / 4) + statistics_column () / 4 + i] =
            floatBitsToUint (column_square[i]);
      }
  barrier ();
  for (uint i = gl_LocalInvocationIndex; i < 2 * (BN / 4); i += LOCAL_X)
    {
      vec4 total = vec4 (0.0);
      for (uint part = 0; part < BM / SM; part++)
        total += uintBitsToFloat (tile[part * 2 * (BN / 4) + i]);
      statistics_put (group, i / (BN / 4), statistics_tile_column, i % (BN / 4) * 4, total);
    }
}
#endif

/* Called after all subgroups have read their last fragment of the tiles. */
void
sums_store ()
{
  uint row0 = sums_row (), column0 = sums_column ();
#if SUMS_OUT
  uint edge = EDGE_AT + gl_SubgroupID * 16 * EDGE_STRIDE;
  [[unroll]] for (uint i = 0; i < FRAGMENTS_M; i++)
    [[unroll]] for (uint j = 0; j < FRAGMENTS_N; j += EDGE / 16)
      {
        [[unroll]] for (uint e = 0; e < EDGE / 16; e++)
          MATRIX_STORE_ROWS (sum[i][j + e], tile, edge + e * 4, EDGE_STRIDE);
        subgroupMemoryBarrierShared ();
        subgroupBarrier ();
        [[unroll]] for (uint turn = 0; turn < EDGE / 16; turn++)
          {
            uint piece = turn * 32 + gl_SubgroupInvocationID;
            uint row = piece / (EDGE / 8), column = piece % (EDGE / 8);
            vec4 v = uintBitsToFloat (tile[edge + row * EDGE_STRIDE + column * 2]);
            vec4 w = uintBitsToFloat (tile[edge + row * EDGE_STRIDE + column * 2 + 1]);
            if (gemm_row (row0 + i * 16 + row))
              gemm_store2 (column0 + j * 16 + column * 8, v, w);
          }
        subgroupMemoryBarrierShared ();
        subgroupBarrier ();
      }
#else
  uint edge = EDGE_AT + gl_SubgroupID * 16 * EDGE_FRAGMENTS * EDGE_STRIDE;
#if NORM
  norm_fetch ();
#if !SUMS_KEPT
  norm_clear ();
#endif
#endif
#if AFFINE
  AffineColumns columns[2]; /* for all stores of this invocation */
  [[unroll]] for (uint part = 0; part < 2; part++)
    columns[part] =
        gemm_affine_columns (column0 + gl_SubgroupInvocationID % (SN / 8) * 8 + part * 4);
#endif
  [[unroll]] for (uint i = 0; i < FRAGMENTS_M; i += EDGE_FRAGMENTS)
    {
      /* All other values that the stores need are loaded before the fragments go through shared
       * memory. */
      u32vec4 old[EDGE_TURNS];
#if NORM
      u32vec4 beside[EDGE_TURNS];
      uint mask[EDGE_TURNS];
#endif
      [[unroll]] for (uint turn = 0; turn < EDGE_TURNS; turn++)
        {
          uint piece = turn * 32 + gl_SubgroupInvocationID;
          old[turn] = u32vec4 (0);
          if (ADDS && gemm_row (row0 + i * 16 + piece / (SN / 8)))
            old[turn] = gemm_old (column0 + piece % (SN / 8) * 8);
#if AFFINE == DYNO_AFFINE_ID_RESIDUAL
          if (gemm_row (row0 + i * 16 + piece / (SN / 8)))
            old[turn] = gemm_beside (p.norm_x, column0 + piece % (SN / 8) * 8);
#endif
#if NORM
          beside[turn] = u32vec4 (0);
          mask[turn] = 0;
          if (gemm_row (row0 + i * 16 + piece / (SN / 8)))
            {
              beside[turn] = gemm_beside (p.norm_x, column0 + piece % (SN / 8) * 8);
              mask[turn] = gemm_mask (column0 + piece % (SN / 8) * 8);
            }
#endif
        }
      [[unroll]] for (uint e = 0; e < EDGE_FRAGMENTS; e++)
        [[unroll]] for (uint j = 0; j < FRAGMENTS_N; j++)
          {
            MATRIX_C16 rounded = MATRIX_C16 (sum[i + e][j]);
            MATRIX_STORE_ROWS (rounded, tile, edge + e * 16 * EDGE_STRIDE + j * 2, EDGE_STRIDE);
          }
      subgroupMemoryBarrierShared ();
      subgroupBarrier ();
      [[unroll]] for (uint turn = 0; turn < EDGE_TURNS; turn++)
        {
          uint piece = turn * 32 + gl_SubgroupInvocationID;
          uint row = piece / (SN / 8), column = piece % (SN / 8);
          if (gemm_row (row0 + i * 16 + row))
            {
              u32vec4 chunk = tile[edge + row * EDGE_STRIDE + column];
#if NORM
              chunk = sum_halves (chunk, old[turn], false, vec4 (0.0), vec4 (0.0));
              chunk = norm_take_halves (chunk, beside[turn], mask[turn]);
              gemm_put_halves (column0 + column * 8, chunk);
#elif AFFINE
              gemm_put_halves (column0 + column * 8, affine_halves (columns, chunk, old[turn]));
#else
              gemm_store_halves (column0 + column * 8, chunk, old[turn]);
#if STATISTICS
              statistics_take (chunk);
#endif
#endif
            }
        }
      subgroupMemoryBarrierShared ();
      subgroupBarrier ();
    }
#endif
}

#endif
