/* SPDX-License-Identifier: MIT */
/* The product loop of a convolution with stride 1 on matrix units, where the taps of one slab of BK
 * channels all read the same patch of A in shared memory: row m of the product reads, for tap (y,
 * x), row m + y * PITCH + x of the patch.  So A is read from memory once per slab instead of once
 * per tap, and no address is computed in the loop.  B's tile is one row of TAPS taps.
 *
 *   PATCH   rows of the patch, BM + the reach of the taps
 *   TAPS    taps in a row of taps
 *   STAGES  2: the next patch is loaded into registers while the current one is multiplied; 1:
 *           it is loaded after that, which needs fewer registers; other workgroups run meanwhile
 *   PITCH, TAP_ROWS   defined by the including file: rows of the patch from one row of taps to
 *           the next, and number of rows of taps
 *
 * gemm_a gives the patch of the current slab, gemm_b the weights of the current slab and row of
 * taps; gemm_next_taps () advances to the next row of taps, gemm_next_slab () to the next patch. */
#ifndef DYNO_GEMM_PATCH_GLSL
#define DYNO_GEMM_PATCH_GLSL

#include "gemm-tiles.glsl"

#define LOAD_A(m, row, k) MATRIX_LOAD_ROWS (m, tile, (row) * A_STRIDE + (k) / CHUNK, A_STRIDE)
#if B_ALONG_K
#define LOAD_B(m, tap, k, column) \
  MATRIX_LOAD_COLUMNS (m, tile, TILE_B + ((tap) * BN + (column)) * B_STRIDE + (k) / CHUNK, B_STRIDE)
#else
#define LOAD_B(m, tap, k, column) \
  MATRIX_LOAD_ROWS (m, tile, TILE_B + ((tap) * BK + (k)) * B_STRIDE + (column) / CHUNK, B_STRIDE)
#endif

void
gemm_run (uint slabs)
{
  uint row0 = sums_row (), column0 = sums_column ();

  sums_clear ();
#if STAGES == 2
  fetch_a ();
#endif
  fetch_b ();
  for (uint slab = 0; slab < slabs; slab++)
    {
#if STAGES == 1
      fetch_a ();
      gemm_next_slab ();
#endif
      put_a ();
      for (uint y = 0; y < TAP_ROWS; y++)
        {
          bool last = y + 1 == TAP_ROWS;
          put_b ();
          barrier ();
          if (!last || slab + 1 < slabs)
            {
              gemm_next_taps ();
              fetch_b ();
            }
#if STAGES == 2
          if (last && slab + 1 < slabs)
            {
              gemm_next_slab ();
              fetch_a ();
            }
#endif
          [[unroll]] for (uint tap = 0; tap < TAPS; tap++)
            [[unroll]] for (uint k = 0; k < BK; k += 16)
              {
                MATRIX_A a[FRAGMENTS_M];
                [[unroll]] for (uint i = 0; i < FRAGMENTS_M; i++)
                  LOAD_A (a[i], row0 + i * 16 + y * PITCH + tap, k);
                [[unroll]] for (uint j = 0; j < FRAGMENTS_N; j++)
                  {
                    MATRIX_B b;
                    LOAD_B (b, tap, k, column0 + j * 16);
                    [[unroll]] for (uint i = 0; i < FRAGMENTS_M; i++)
                      sum[i][j] = MATRIX_MULTIPLY_ADD (a[i], b, sum[i][j]);
                  }
              }
          barrier ();
        }
    }
  sums_store ();
}

#endif
