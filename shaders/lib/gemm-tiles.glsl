/* SPDX-License-Identifier: MIT */
/* Both tiles in shared memory for matrix units, in fp16 and the layout of memory; rows have 16
 * bytes of padding (else the rows of a fragment would be in the same banks). */
#ifndef DYNO_GEMM_TILES_GLSL
#define DYNO_GEMM_TILES_GLSL

#define A_STRIDE  (A_COLUMNS + 1)
#define B_STRIDE  (B_COLUMNS + 1)
#define TILE_B    (A_ROWS * A_STRIDE) /* beginning of B's tile */
#define TILE_SIZE (TILE_B + B_ROWS * B_STRIDE)
#include "matrix-sums.glsl"

void
put_a ()
{
  [[unroll]] for (uint i = 0; i < A_LOADS; i++)
    if (!A_PARTIAL || a_row (i) < A_ROWS)
      tile[a_row (i) * A_STRIDE + a_column (i)] = load_put (next_a[i], valid_a[i]);
}

void
put_b ()
{
  [[unroll]] for (uint i = 0; i < B_LOADS; i++)
    if (!B_PARTIAL || b_row (i) < B_ROWS)
      tile[TILE_B + b_row (i) * B_STRIDE + b_column (i)] = GEMM_ZERO (next_b[i], valid_b[i]);
}

#endif
