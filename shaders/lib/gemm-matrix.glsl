/* SPDX-License-Identifier: MIT */
/* The product loop with matrix units: a K tile at a time, as gemm-run.glsl says. */
#ifndef DYNO_GEMM_MATRIX_GLSL
#define DYNO_GEMM_MATRIX_GLSL

#include "gemm-tiles.glsl"

/* The fragment of A at (row, k) and of B at (k, column) of the tile. */
#if A_ALONG_K
#define LOAD_A(m, row, k) MATRIX_LOAD_ROWS (m, tile, (row) * A_STRIDE + (k) / CHUNK, A_STRIDE)
#else
#define LOAD_A(m, row, k) MATRIX_LOAD_COLUMNS (m, tile, (k) * A_STRIDE + (row) / CHUNK, A_STRIDE)
#endif
#if B_ALONG_K
#define LOAD_B(m, k, column) \
  MATRIX_LOAD_COLUMNS (m, tile, TILE_B + (column) *B_STRIDE + (k) / CHUNK, B_STRIDE)
#else
#define LOAD_B(m, k, column) \
  MATRIX_LOAD_ROWS (m, tile, TILE_B + (k) *B_STRIDE + (column) / CHUNK, B_STRIDE)
#endif

void
gemm_run (uint trips)
{
  uint row0 = sums_row (), column0 = sums_column ();

  sums_clear ();
  if (trips > 0)
    fetch ();
  for (uint trip = 0; trip < trips; trip++)
    {
      put_a ();
      put_b ();
      barrier ();
      fetch_next (trip + 1 < trips);
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
  sums_store ();
}

#endif
