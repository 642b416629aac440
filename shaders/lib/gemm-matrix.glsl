/* SPDX-License-Identifier: MIT */
/* The product loop with matrix units: one K tile at a time, as described in gemm-run.glsl. */
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

#if SLICES_K > 1
/* The sums of the slices are written to shared memory, over the tiles.  The subgroup of the first
 * slice that has the same sums adds them in the order of the slices. */
void
join_slices ()
{
  const uint slice = sums_slice (), member = gl_SubgroupID % SLICE_SUBGROUPS;
  if (slice > 0)
    [[unroll]] for (uint i = 0; i < FRAGMENTS_M; i++)
      [[unroll]] for (uint j = 0; j < FRAGMENTS_N; j++)
        MATRIX_STORE_ROWS (sum[i][j], tile, SLICE_AT (slice, member, i, j), SLICE_STRIDE);
  barrier ();
  if (slice == 0)
    [[unroll]] for (uint other = 1; other < SLICES_K; other++)
      [[unroll]] for (uint i = 0; i < FRAGMENTS_M; i++)
        [[unroll]] for (uint j = 0; j < FRAGMENTS_N; j++)
          {
            MATRIX_C more;
            MATRIX_LOAD_ROWS (more, tile, SLICE_AT (other, member, i, j), SLICE_STRIDE);
            for (uint e = 0; e < MATRIX_LENGTH (more); e++)
              sum[i][j][e] += more[e];
          }
  /* Stores use the same memory. */
  barrier ();
}
#endif

void
gemm_run (uint trips)
{
  const uint row0 = sums_row (), column0 = sums_column (), k0 = sums_slice () * (BK / SLICES_K);

  sums_clear ();
  if (trips > 0)
    fetch ();
  for (uint trip = 0; trip < trips; trip++)
    {
      put_a ();
      put_b ();
      barrier ();
      fetch_next (trip + 1 < trips);
      [[unroll]] for (uint k = 0; k < BK / SLICES_K; k += 16)
        {
          MATRIX_A a[FRAGMENTS_M];
          [[unroll]] for (uint i = 0; i < FRAGMENTS_M; i++)
            LOAD_A (a[i], row0 + i * 16, k0 + k);
          [[unroll]] for (uint j = 0; j < FRAGMENTS_N; j++)
            {
              MATRIX_B b;
              LOAD_B (b, k0 + k, column0 + j * 16);
              [[unroll]] for (uint i = 0; i < FRAGMENTS_M; i++)
                sum[i][j] = MATRIX_MULTIPLY_ADD (a[i], b, sum[i][j]);
            }
        }
      barrier ();
    }
#if SLICES_K > 1
  join_slices ();
  if (sums_slice () == 0)
#endif
    sums_store ();
}

#endif
