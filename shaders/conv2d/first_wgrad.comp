#version 460
/* SPDX-License-Identifier: MIT */
/* The weight's gradient of a convolution of at most four channels; see first.glsl.  A workgroup
 * goes over K_SPLIT tiles of outputs and keeps the sums of all taps: a subgroup has one row of
 * taps.  The grid's z counts splits, whose partial sums reduce.comp adds up; with one split
 * (ACCUMULATE) the sums are added to the gradient here. */
#include "types.glsl"
#define A_ALONG_K 0
#define B_ALONG_K 0
#define SUMS_OUT  1
#define GATHER_BRANCHES 1
#include "first.glsl"

#define DY_STRIDE (BN / 8 + 1)
#define TILE_DY   PATCH_SIZE
#define TILE_SIZE (TILE_DY + TILE_H * TILE_W * DY_STRIDE)
#define DY_CHUNKS (TILE_H * TILE_W * (BN / 8))
#define DY_LOADS  ((DY_CHUNKS + LOCAL_X - 1) / LOCAL_X)
#include "matrix-sums.glsl"

DYNO_BUFFER_INOUT (Sums4, vec4, 16);

uint tile_column;
GemmChunk dy_next[DY_LOADS];

void
dy_fetch (uint tile)
{
  uint image, oy, ox;
  tile_at (tile, image, oy, ox);
  [[unroll]] for (uint i = 0; i < DY_LOADS; i++)
    {
      uint at = i * LOCAL_X + gl_LocalInvocationIndex, output_at = at / (BN / 8),
           column = at % (BN / 8);
      uint y = oy + output_at / TILE_W, x = ox + output_at % TILE_W;
      dy_next[i] = GemmChunk (0);
      if (at < DY_CHUNKS && image < N && y < OH && x < OW
          && (CHECK_N == 0 || tile_column + column * 8 < K))
        dy_next[i] =
            GemmChunks (p.b).v[((image * OH + y) * OW + x) * (K / 8) + tile_column / 8 + column];
    }
}

void
put ()
{
  [[unroll]] for (uint i = 0; i < PATCH_LOADS; i++)
    if (i * LOCAL_X + gl_LocalInvocationIndex < PATCH_SIZE)
      tile[i * LOCAL_X + gl_LocalInvocationIndex] = patch_next[i];
  [[unroll]] for (uint i = 0; i < DY_LOADS; i++)
    {
      uint at = i * LOCAL_X + gl_LocalInvocationIndex;
      if (at < DY_CHUNKS)
        tile[TILE_DY + at / (BN / 8) * DY_STRIDE + at % (BN / 8)] = dy_next[i];
    }
}

bool
gemm_row (uint row)
{
  uint at;
  bool valid = tap_row (row, at);
  store_row = (gl_WorkGroupID.z * (TAPS_H * TAPS_W * C) + at) * (K / 4);
  return valid;
}

void
gemm_store (uint column, vec4 v)
{
  Sums4 sums = Sums4 (p.target);
  uint at = store_row + (tile_column + column) / 4;
  if (CHECK_N != 0 && tile_column + column >= K)
    return;
  if (ACCUMULATE != 0)
    v += sums.v[at];
  sums.v[at] = v;
#if CHANNELS == 4
  /* The rows of pad lanes are written too, since whole partial sums are added up. */
  if (ACCUMULATE == 0)
    sums.v[at + K] = vec4 (0.0);
#endif
}

void
gemm_store2 (uint column, vec4 v, vec4 w)
{
  gemm_store (column, v);
  gemm_store (column + 4, w);
}

void
multiply ()
{
  uint y = sums_row () / SM, column0 = sums_column ();
  for (uint fragment = 0; fragment < TILE_H * FRAGMENTS_X; fragment++)
    {
      uint at = (fragment / FRAGMENTS_X * STEP_H + y) * PATCH_PITCH + fragment % FRAGMENTS_X * 16;
      MATRIX_A a[FRAGMENTS_M];
      [[unroll]] for (uint i = 0; i < FRAGMENTS_M; i++)
        MATRIX_LOAD_COLUMNS (a[i], tile, at + i * 2, 1);
      [[unroll]] for (uint j = 0; j < FRAGMENTS_N; j++)
        {
          MATRIX_B b;
          MATRIX_LOAD_ROWS (b, tile, TILE_DY + fragment * 16 * DY_STRIDE + column0 / 8 + j * 2,
                            DY_STRIDE);
          [[unroll]] for (uint i = 0; i < FRAGMENTS_M; i++)
            sum[i][j] = MATRIX_MULTIPLY_ADD (a[i], b, sum[i][j]);
        }
    }
}

void
main ()
{
  uint first = gl_WorkGroupID.z * K_SPLIT, end = min (first + K_SPLIT, TILES_ALL);
  tile_column = gl_WorkGroupID.x * BN;
  sums_clear ();
  patch_fetch (first);
  dy_fetch (first);
  for (uint at = first; at < end; at++)
    {
      put ();
      barrier ();
      if (at + 1 < end)
        {
          patch_fetch (at + 1);
          dy_fetch (at + 1);
        }
      multiply ();
      barrier ();
    }
  sums_store ();
}
