/* SPDX-License-Identifier: MIT */
/* A subgroup's SM x SN sums as 16 x 16 fragments, and their way to memory.
 *
 * Stores go through shared memory, each subgroup by itself, as rows whose bounds are plain code and which are written in 16-byte
 * pieces.  Activations are rounded before (what is added to them is added in fp32 and rounded again); with SUMS_OUT the fp32 sums
 * themselves come out, EDGE columns at a time.
 *
 * The file that includes this defines gemm_row and gemm_store2 or gemm_store_halves (gemm-run.glsl says what they are), and TILE_SIZE, what the loop needs of shared memory in 16 bytes; the edges of stores lie over
 * it, or from EDGE_AT on if that is defined. */
#ifndef DYNO_MATRIX_SUMS_GLSL
#define DYNO_MATRIX_SUMS_GLSL
#include "matrix.glsl"

#define FRAGMENTS_M (SM / 16)
#define FRAGMENTS_N (SN / 16)
#define SUBGROUPS_N (BN / SN)
#define SUBGROUPS   (LOCAL_X / 32)
#if SUMS_OUT
#define EDGE        (SN < 32 ? SN : 32)
#define EDGE_STRIDE (EDGE / 4 + 1) /* in 16 bytes */
#else
#define EDGE_STRIDE (SN / 8 + 1)
#endif
#define EDGE_SIZE   (16 * EDGE_STRIDE * SUBGROUPS)
#ifdef EDGE_AT
#define SHARED_SIZE (EDGE_AT + EDGE_SIZE)
#define EDGE_FIT    1
#else
#define EDGE_AT     0
#define SHARED_SIZE (TILE_SIZE > EDGE_SIZE ? TILE_SIZE : EDGE_SIZE)
#define EDGE_FIT    (SHARED_SIZE / EDGE_SIZE)
#endif
/* Fragments, one below the other, that a subgroup stores at a time. */
#define EDGE_FRAGMENTS (EDGE_FIT >= FRAGMENTS_M ? FRAGMENTS_M : EDGE_FIT >= 2 && FRAGMENTS_M % 2 == 0 ? 2 : 1)

bool gemm_row (uint row);
#if SUMS_OUT
void gemm_store2 (uint column, vec4 v, vec4 w);
#else
void gemm_store_halves (uint column, u32vec4 chunk);
#endif

shared u32vec4 tile[SHARED_SIZE];

MATRIX_C sum[FRAGMENTS_M][FRAGMENTS_N];

/* Where a subgroup's sums begin in the tile. */
uint
sums_row ()
{
  return gl_SubgroupID / SUBGROUPS_N * SM;
}

uint
sums_column ()
{
  return gl_SubgroupID % SUBGROUPS_N * SN;
}

void
sums_clear ()
{
  [[unroll]] for (uint i = 0; i < FRAGMENTS_M; i++)
    [[unroll]] for (uint j = 0; j < FRAGMENTS_N; j++)
      sum[i][j] = MATRIX_C (0.0);
}

/* Every subgroup has read its last fragment. */
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
  [[unroll]] for (uint i = 0; i < FRAGMENTS_M; i += EDGE_FRAGMENTS)
    {
      [[unroll]] for (uint e = 0; e < EDGE_FRAGMENTS; e++)
        [[unroll]] for (uint j = 0; j < FRAGMENTS_N; j++)
          {
            MATRIX_C16 rounded = MATRIX_C16 (sum[i + e][j]);
            MATRIX_STORE_ROWS (rounded, tile, edge + e * 16 * EDGE_STRIDE + j * 2, EDGE_STRIDE);
          }
      subgroupMemoryBarrierShared ();
      subgroupBarrier ();
      [[unroll]] for (uint turn = 0; turn < EDGE_FRAGMENTS * SN / 16; turn++)
        {
          uint piece = turn * 32 + gl_SubgroupInvocationID;
          uint row = piece / (SN / 8), column = piece % (SN / 8);
          if (gemm_row (row0 + i * 16 + row))
            gemm_store_halves (column0 + column * 8, tile[edge + row * EDGE_STRIDE + column]);
        }
      subgroupMemoryBarrierShared ();
      subgroupBarrier ();
    }
#endif
}

#endif
