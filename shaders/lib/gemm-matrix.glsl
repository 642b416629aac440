/* SPDX-License-Identifier: MIT */
/* The product loop with matrix units: shared memory holds both tiles in fp16 as they lie in memory, rows 16 bytes longer
 * than needed (else the rows of a fragment fall on the same banks); a subgroup keeps SM x SN sums as 16 x 16 fragments.
 *
 * Stores go through shared memory too, 16 rows of EDGE columns of a subgroup at a time: sums come out as fp32 rows there, so
 * that adding, converting and bounds are plain code and memory is written in 16-byte pieces. */
#ifndef DYNO_GEMM_MATRIX_GLSL
#define DYNO_GEMM_MATRIX_GLSL
#include "matrix.glsl"

#define A_STRIDE    (A_COLUMNS + 1)
#define B_STRIDE    (B_COLUMNS + 1)
#define FRAGMENTS_M (SM / 16)
#define FRAGMENTS_N (SN / 16)
#define SUBGROUPS_N (BN / SN)
#define EDGE        (SN < 32 ? SN : 32)
#define EDGE_STRIDE (EDGE / 4 + 1) /* in 16 bytes */
#define EDGE_SIZE   (16 * EDGE_STRIDE * (LOCAL_X / 32))
#define TILE_SIZE   (A_ROWS * A_STRIDE + B_ROWS * B_STRIDE)

/* A's tile, then B's; after the loop the subgroups' edges. */
shared u32vec4 tile[TILE_SIZE > EDGE_SIZE ? TILE_SIZE : EDGE_SIZE];
const uint tile_b = A_ROWS * A_STRIDE;

void
put ()
{
  [[unroll]] for (uint i = 0; i < A_LOADS; i++)
    if (!A_PARTIAL || a_row (i) < A_ROWS)
      tile[a_row (i) * A_STRIDE + a_column (i)] = next_a[i];
  [[unroll]] for (uint i = 0; i < B_LOADS; i++)
    if (!B_PARTIAL || b_row (i) < B_ROWS)
      tile[tile_b + b_row (i) * B_STRIDE + b_column (i)] = next_b[i];
}

/* The fragment of A at (row, k) and of B at (k, column) of the tile. */
#if A_ALONG_K
#define LOAD_A(m, row, k) MATRIX_LOAD_ROWS (m, tile, (row) * A_STRIDE + (k) / CHUNK, A_STRIDE)
#else
#define LOAD_A(m, row, k) MATRIX_LOAD_COLUMNS (m, tile, (k) * A_STRIDE + (row) / CHUNK, A_STRIDE)
#endif
#if B_ALONG_K
#define LOAD_B(m, k, column) MATRIX_LOAD_COLUMNS (m, tile, tile_b + (column) * B_STRIDE + (k) / CHUNK, B_STRIDE)
#else
#define LOAD_B(m, k, column) MATRIX_LOAD_ROWS (m, tile, tile_b + (k) * B_STRIDE + (column) / CHUNK, B_STRIDE)
#endif

void
gemm_run (uint trips)
{
  uint row0 = (gl_SubgroupID / SUBGROUPS_N) * SM, column0 = (gl_SubgroupID % SUBGROUPS_N) * SN;
  MATRIX_C sum[FRAGMENTS_M][FRAGMENTS_N];

  [[unroll]] for (uint i = 0; i < FRAGMENTS_M; i++)
    [[unroll]] for (uint j = 0; j < FRAGMENTS_N; j++)
      sum[i][j] = MATRIX_C (0.0);

  if (trips > 0)
    fetch ();
  for (uint trip = 0; trip < trips; trip++)
    {
      put ();
      barrier ();
      if (trip + 1 < trips)
        {
          gemm_next ();
          fetch ();
        }
      [[unroll]] for (uint k = 0; k < BK; k += 16)
        {
          MATRIX_A a[FRAGMENTS_M];
          [[unroll]] for (uint i = 0; i < FRAGMENTS_M; i++)
            LOAD_A (a[i], row0 + i * 16, k);
          [[unroll]] for (uint j = 0; j < FRAGMENTS_N; j++)
            {
              MATRIX_B b;
              LOAD_B (b, k, column0 + j * 16);
              [[unroll]] for (uint i = 0; i < FRAGMENTS_M; i++)
                sum[i][j] = MATRIX_MULTIPLY_ADD (a[i], b, sum[i][j]);
            }
        }
      barrier ();
    }

  uint edge = gl_SubgroupID * 16 * EDGE_STRIDE;
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
}

#endif
