#version 460
/* SPDX-License-Identifier: MIT */
/* The weight's gradient of a convolution with few outputs, by strips; see strip.glsl.  A workgroup
 * goes over K_SPLIT tiles with the channels of x of one slab, which the grid's x counts.  A
 * subgroup keeps the sums of all taps for one slice of 16 channels over its share of the strips;
 * the sums of all SHARES subgroups of a slice are added up at the end.  The grid's z counts splits,
 * whose partial sums reduce.comp adds up; with one split (ACCUMULATE) the sums are added to the
 * gradient here. */
#include "types.glsl"
#define A_ALONG_K 0
#define B_ALONG_K 0
#define SUMS_OUT  1
#define GATHER_BRANCHES 1
#define PATCH_C   C
#include "strip.glsl"

#define DY_CHUNKS (BN / 8)
#define DY_PITCH  (DY_CHUNKS + 1)
#define DY_STEP   (LOCAL_X / DY_CHUNKS)
#define DY_LOADS  ((TILE_H * TILE_W + DY_STEP - 1) / DY_STEP)
#define TILE_DY   PATCH_SIZE
#define LOOP      (TILE_DY + TILE_H * TILE_W * DY_PITCH)
/* The sums of a share lie in rows of 16 floats, padded by 4; SUM_STRIDE counts units of 16
 * bytes. */
#define SUM_STRIDE 5
#define SUM_AT(slice, i, j) \
  ((((slice) *FRAGMENTS_M + (i)) * FRAGMENTS_N + (j)) * 16 * SUM_STRIDE)
#define SUMS_SIZE  (SLICES * TAPS_H * TAPS_W * (BN / 16) * 16 * SUM_STRIDE)
#define TILE_SIZE  (LOOP > SUMS_SIZE ? LOOP : SUMS_SIZE)
#include "matrix-sums.glsl"
#define SHARES (SUBGROUPS / SLICES)

DYNO_BUFFER_INOUT (Sums4, vec4, 16);

GemmChunk dy_next[DY_LOADS];

void
dy_fetch (uint tile)
{
  const uint chunk = gl_LocalInvocationIndex % DY_CHUNKS;
  const uvec3 place = tile_place (tile);
  [[unroll]] for (uint i = 0; i < DY_LOADS; i++)
    {
      uint at = i * DY_STEP + gl_LocalInvocationIndex / DY_CHUNKS, pixel;
      dy_next[i] = GemmChunk (0);
      if (pixel_of (place.x, place.y + at / TILE_W, place.z + at % TILE_W, pixel)
          && at < TILE_H * TILE_W && chunk < K / 8)
        dy_next[i] = GemmChunks (p.b).v[pixel * (K / 8) + chunk];
    }
}

void
dy_put ()
{
  [[unroll]] for (uint i = 0; i < DY_LOADS; i++)
    {
      uint at = i * DY_STEP + gl_LocalInvocationIndex / DY_CHUNKS;
      if (at < TILE_H * TILE_W)
        tile[TILE_DY + at * DY_PITCH + gl_LocalInvocationIndex % DY_CHUNKS] = dy_next[i];
    }
}

/* A subgroup's sums have 16 rows for each tap: one for each channel of its slice. */
bool
gemm_row (uint row)
{
  uint tap = row % SM / 16, c = (gl_WorkGroupID.x * SLICES + row / SM) * 16 + row % 16;
  store_row = ((gl_WorkGroupID.z * (TAPS_H * TAPS_W) + tap) * C + c) * (K / 4);
  return c < C;
}

void
gemm_store (uint column, vec4 v)
{
  Sums4 sums = Sums4 (p.target);
  uint at = store_row + column / 4;
  if (CHECK_N != 0 && column >= K)
    return;
  if (ACCUMULATE != 0)
    v += sums.v[at];
  sums.v[at] = v;
}

void
gemm_store2 (uint column, vec4 v, vec4 w)
{
  gemm_store (column, v);
  gemm_store (column + 4, w);
}

void
multiply_strip (uvec2 strip, uint slice)
{
  MATRIX_B b[ROWS][FRAGMENTS_N];
  [[unroll]] for (uint i = 0; i < ROWS; i++)
    [[unroll]] for (uint j = 0; j < FRAGMENTS_N; j++)
      MATRIX_LOAD_ROWS (b[i][j], tile,
                        TILE_DY + ((strip.x + i) * TILE_W + strip.y) * DY_PITCH + j * 2, DY_PITCH);
  [[unroll]] for (uint row = 0; row < ROWS + TAPS_H - 1; row++)
    [[unroll]] for (uint x = 0; x < TAPS_W; x++)
      {
        MATRIX_A a;
        MATRIX_LOAD_COLUMNS (
            a, tile, ((strip.x + row) * PATCH_W + strip.y + x) * PATCH_PITCH + slice * 2,
            PATCH_PITCH);
        [[unroll]] for (uint y = 0; y < TAPS_H; y++)
          if (row >= y && row - y < ROWS)
            [[unroll]] for (uint j = 0; j < FRAGMENTS_N; j++)
              sum[y * TAPS_W + x][j] =
                  MATRIX_MULTIPLY_ADD (a, b[row - y][j], sum[y * TAPS_W + x][j]);
      }
}

/* Adds the sums of the other shares to the sums of the first share. */
void
join_shares (uint share, uint slice)
{
  for (uint from = 1; from < SHARES; from++)
    {
      if (share == from)
        [[unroll]] for (uint i = 0; i < FRAGMENTS_M; i++)
          [[unroll]] for (uint j = 0; j < FRAGMENTS_N; j++)
            MATRIX_STORE_ROWS (sum[i][j], tile, SUM_AT (slice, i, j), SUM_STRIDE);
      barrier ();
      if (share == 0)
        [[unroll]] for (uint i = 0; i < FRAGMENTS_M; i++)
          [[unroll]] for (uint j = 0; j < FRAGMENTS_N; j++)
            {
              MATRIX_C other;
              MATRIX_LOAD_ROWS (other, tile, SUM_AT (slice, i, j), SUM_STRIDE);
              for (uint e = 0; e < MATRIX_LENGTH (other); e++)
                sum[i][j][e] += other[e];
            }
      barrier ();
    }
}

void
main ()
{
  const uint share = gl_SubgroupID / SLICES, slice = gl_SubgroupID % SLICES;
  const uint first = gl_WorkGroupID.z * K_SPLIT, end = min (first + K_SPLIT, TILES_ALL);
  sums_clear ();
  patch_fetch (first, gl_WorkGroupID.x);
  dy_fetch (first);
  for (uint at = first; at < end; at++)
    {
      PATCH_PUT (0)
      dy_put ();
      barrier ();
      if (at + 1 < end)
        {
          patch_fetch (at + 1, gl_WorkGroupID.x);
          dy_fetch (at + 1);
        }
      for (uint strip = share; strip < STRIPS; strip += SHARES)
        multiply_strip (strip_at (strip), slice);
      barrier ();
    }
  join_shares (share, slice);
  if (share == 0)
    sums_store ();
}
