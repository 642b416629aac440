#version 460
/* SPDX-License-Identifier: MIT */
/* y of a convolution of at most four channels; see first.glsl.  A workgroup keeps the weights in
 * shared memory and computes one tile of outputs after the other. */
#include "types.glsl"
#define A_ALONG_K 1
#define B_ALONG_K 0
#define SUMS_OUT  0
#define GATHER_BRANCHES 0
#include "first.glsl"

#define B_STRIDE   (BN / 8 + 1)
#define TILE_PATCH (TAP_ROWS * B_STRIDE)
#define TILE_SIZE  (TILE_PATCH + PATCH_SIZE)
#define EDGE_AT    TILE_SIZE
#include "matrix-sums.glsl"

DYNO_BUFFER_IN (Bias4, vec4, 16);

uint tile_column;
uint image, first_y, first_x; /* position of the tile being stored */

void
put_weights ()
{
  for (uint i = gl_LocalInvocationIndex; i < TAP_ROWS * (BN / 8); i += LOCAL_X)
    {
      uint row = i / (BN / 8), column = i % (BN / 8), at;
      GemmChunk chunk = GemmChunk (0);
      if (tap_row (row, at) && (CHECK_N == 0 || tile_column + column * 8 < K))
        chunk = GemmChunks (p.b).v[at * (K / 8) + tile_column / 8 + column];
      tile[row * B_STRIDE + column] = chunk;
    }
}

bool
gemm_row (uint row)
{
  uint y = first_y + row / 16 / FRAGMENTS_X, x = first_x + row / 16 % FRAGMENTS_X * 16 + row % 16;
  store_row = ((image * OH + y) * OW + x) * (K / 4);
  return y < OH && x < OW;
}

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
  vec4 bias = vec4 (0.0), bias2 = vec4 (0.0);
  column += tile_column;
  if (CHECK_N != 0 && column >= K)
    return;
  if (HAS_BIAS != 0)
    {
      bias = Bias4 (p.bias).v[column / 4];
      bias2 = Bias4 (p.bias).v[column / 4 + 1];
    }
  store_halves (store_row + column / 4, chunk, old, HAS_BIAS != 0, bias, bias2);
}

#if AFFINE
AffineColumns
gemm_affine_columns (uint column)
{
  column += tile_column;
  return affine_columns (CHECK_N == 0 || column < K ? column / 4 : 0);
}

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

void
multiply ()
{
  uint row0 = sums_row (), column0 = sums_column ();
  sums_clear ();
  for (uint y = 0; y < TAPS_H; y++)
    [[unroll]] for (uint slice = 0; slice < SLICES; slice++)
      {
        MATRIX_A a[FRAGMENTS_M];
        [[unroll]] for (uint i = 0; i < FRAGMENTS_M; i++)
          {
            uint fragment = row0 / 16 + i;
            uint at = (fragment / FRAGMENTS_X * STEP_H + y) * PATCH_PITCH
                      + fragment % FRAGMENTS_X * 16 + slice * 2;
            MATRIX_LOAD_ROWS (a[i], tile, TILE_PATCH + at, 1);
          }
        [[unroll]] for (uint j = 0; j < FRAGMENTS_N; j++)
          {
            MATRIX_B b;
            MATRIX_LOAD_ROWS (b, tile, (y * SLICES + slice) * 16 * B_STRIDE + column0 / 8 + j * 2,
                              B_STRIDE);
            [[unroll]] for (uint i = 0; i < FRAGMENTS_M; i++)
              sum[i][j] = MATRIX_MULTIPLY_ADD (a[i], b, sum[i][j]);
          }
      }
}

void
main ()
{
  tile_column = gl_WorkGroupID.y * BN;
  patch_fetch (gl_WorkGroupID.x);
  put_weights ();
#if STATISTICS
  statistics_clear (tile_column);
#endif
  for (uint at = gl_WorkGroupID.x; at < TILES_ALL; at += gl_NumWorkGroups.x)
    {
      [[unroll]] for (uint i = 0; i < PATCH_LOADS; i++)
        if (i * LOCAL_X + gl_LocalInvocationIndex < PATCH_SIZE)
          tile[TILE_PATCH + i * LOCAL_X + gl_LocalInvocationIndex] = patch_next[i];
      barrier ();
      patch_fetch (at + gl_NumWorkGroups.x);
      multiply ();
      tile_at (at, image, first_y, first_x);
      sums_store ();
      barrier ();
    }
#if STATISTICS
  statistics_store (gl_WorkGroupID.x);
#endif
}
