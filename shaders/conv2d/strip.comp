#version 460
/* SPDX-License-Identifier: MIT */
/* Forward and data gradient of a convolution by strips; see strip.glsl.  A workgroup computes one
 * tile after the other; the weights for a patch's channels are also in shared memory, where they
 * stay if there is only one slab.
 *
 * FLIP 0: target = y, the product of x (with LOAD the output of a batch norm) and the weight.
 * FLIP 1: target = dx (+)= the product of dy and the weight with flipped taps, with BIAS plus a
 * bias, as in dgrad.comp. */
#include "types.glsl"
#define A_ALONG_K 1
#define B_ALONG_K FLIP
#define SUMS_OUT  0
#define GATHER_BRANCHES 1
#ifndef BIAS
#define BIAS 0
#endif
#if FLIP
#define PATCH_C K
#define OUT_C   C
#define BIASED  (BIAS != 0)
#else
#define PATCH_C C
#define OUT_C   K
#define BIASED  (HAS_BIAS != 0)
#endif
#include "strip.glsl"

#define TAPS     (TAPS_H * TAPS_W)
#define CHANNELS (SLICES * 16) /* channels of the patch */
/* The weights of a tap lie as in memory: FLIP 0: rows are channels of the patch, FLIP 1: of the
 * target. */
#if FLIP
#define B_ROWS_OF_TAP BN
#define B_CHUNKS      PATCH_CHUNKS
#else
#define B_ROWS_OF_TAP CHANNELS
#define B_CHUNKS      (BN / 8)
#endif
#define B_PITCH    (B_CHUNKS + 1)
#define TILE_PATCH (TAPS * B_ROWS_OF_TAP * B_PITCH)
#define TILE_SIZE  (TILE_PATCH + PATCH_SIZE)
/* The sums of a tile overwrite its patch in shared memory. */
#define EDGE_AT    TILE_PATCH
#define EDGE_ROOM  PATCH_SIZE
#define SUMS_KEPT  1
uint tile_column;
#include "matrix-sums.glsl"

DYNO_BUFFER_IN (Bias4, vec4, 16);

uvec3 place; /* position of the tile being stored */

#define WEIGHT_CHUNKS (TAPS * B_ROWS_OF_TAP * B_CHUNKS)
#define WEIGHT_LOADS  ((WEIGHT_CHUNKS + LOCAL_X - 1) / LOCAL_X)
GemmChunk weight_next[WEIGHT_LOADS];

/* Begins the loads of the weights of a slab. */
void
weights_fetch (uint slab)
{
  [[unroll]] for (uint load = 0; load < WEIGHT_LOADS; load++)
    {
      uint i = load * LOCAL_X + gl_LocalInvocationIndex, row = i / B_CHUNKS, chunk = i % B_CHUNKS,
           tap = row / B_ROWS_OF_TAP, channel = row % B_ROWS_OF_TAP;
#if FLIP
      channel += tile_column;
      chunk += slab * PATCH_CHUNKS;
      tap = TAPS - 1 - tap;
#else
      channel += slab * CHANNELS;
      chunk += tile_column / 8;
#endif
      weight_next[load] = GemmChunk (0);
      if (i < WEIGHT_CHUNKS && channel < C && chunk < K / 8)
        weight_next[load] = GemmChunks (p.b).v[(tap * C + channel) * (K / 8) + chunk];
    }
}

void
weights_put ()
{
  [[unroll]] for (uint load = 0; load < WEIGHT_LOADS; load++)
    {
      uint i = load * LOCAL_X + gl_LocalInvocationIndex;
      if (i < WEIGHT_CHUNKS)
        tile[i / B_CHUNKS * B_PITCH + i % B_CHUNKS] = weight_next[load];
    }
}

bool
gemm_row (uint row)
{
  uvec2 at = strip_at (row / SM) + uvec2 (row % SM / 16, row % 16);
  uint pixel;
  bool valid = pixel_of (place.x, place.y + at.x, place.z + at.y, pixel);
  store_row = pixel * (OUT_C / 4);
  return valid;
}

bool
has_column (uint column)
{
  return CHECK_N == 0 || column < OUT_C;
}

vec4
bias_at (uint column)
{
  return BIASED ? Bias4 (p.bias).v[column / 4] : vec4 (0.0);
}

u32vec4
gemm_old (uint column)
{
  column += tile_column;
  return has_column (column) ? old_load8 (store_row + column / 4) : u32vec4 (0);
}

void
gemm_store_halves (uint column, u32vec4 chunk, u32vec4 old)
{
  column += tile_column;
  if (has_column (column))
    store_halves (store_row + column / 4, chunk, old, BIASED, bias_at (column),
                  bias_at (column + 4));
}

#if NORM
NormColumns
gemm_norm_columns (uint column)
{
  column += tile_column;
  return norm_columns (has_column (column) ? column / 4 : 0);
}

uint
gemm_mask (uint column)
{
  column += tile_column;
  return has_column (column) ? norm_mask (store_row + column / 4) : 0;
}
#endif

#if AFFINE
AffineColumns
gemm_affine_columns (uint column)
{
  column += tile_column;
  return affine_columns (has_column (column) ? column / 4 : 0);
}
#endif

#if NORM || AFFINE
u32vec4
gemm_beside (uint64_t address, uint column)
{
  column += tile_column;
  return has_column (column) ? Norm8 (address).v[(store_row + column / 4) / 2] : u32vec4 (0);
}

void
gemm_put_halves (uint column, u32vec4 chunk)
{
  column += tile_column;
  if (has_column (column))
    Target8 (p.target).v[(store_row + column / 4) / 2] = chunk;
}
#endif

#if FLIP
#define LOAD_B(m, tap, slice, column) \
  MATRIX_LOAD_COLUMNS (m, tile, ((tap) * BN + (column)) * B_PITCH + (slice) * 2, B_PITCH)
#else
#define LOAD_B(m, tap, slice, column) \
  MATRIX_LOAD_ROWS (m, tile, ((tap) * CHANNELS + (slice) * 16) * B_PITCH + (column) / 8, B_PITCH)
#endif

void
multiply ()
{
  const uvec2 strip = strip_at (gl_SubgroupID / SUBGROUPS_N);
  const uint column0 = sums_column ();
  [[unroll]] for (uint slice = 0; slice < SLICES; slice++)
    [[unroll]] for (uint x = 0; x < TAPS_W; x++)
      {
        MATRIX_A a[ROWS + TAPS_H - 1];
        [[unroll]] for (uint i = 0; i < ROWS + TAPS_H - 1; i++)
          MATRIX_LOAD_ROWS (
              a[i], tile,
              TILE_PATCH + ((strip.x + i) * PATCH_W + strip.y + x) * PATCH_PITCH + slice * 2,
              PATCH_PITCH);
        [[unroll]] for (uint y = 0; y < TAPS_H; y++)
          [[unroll]] for (uint j = 0; j < FRAGMENTS_N; j++)
            {
              MATRIX_B b;
              LOAD_B (b, y * TAPS_W + x, slice, column0 + j * 16);
              [[unroll]] for (uint i = 0; i < ROWS; i++)
                sum[i][j] = MATRIX_MULTIPLY_ADD (a[i + y], b, sum[i][j]);
            }
      }
}

void
main ()
{
  tile_column = gl_WorkGroupID.y * BN;
  patch_fetch (gl_WorkGroupID.x, 0);
  weights_fetch (0);
#if SLABS == 1
  weights_put ();
#endif
#if STATISTICS
  statistics_clear (tile_column);
#elif NORM
  norm_clear ();
#endif
  for (uint at = gl_WorkGroupID.x; at < TILES_ALL; at += gl_NumWorkGroups.x)
    {
      sums_clear ();
      for (uint slab = 0; slab < SLABS; slab++)
        {
          const bool last = slab + 1 == SLABS;
          PATCH_PUT (TILE_PATCH)
#if SLABS > 1
          weights_put ();
#endif
          barrier ();
          patch_fetch (last ? at + gl_NumWorkGroups.x : at, last ? 0 : slab + 1);
#if SLABS > 1
          weights_fetch (last ? 0 : slab + 1);
#endif
          multiply ();
          barrier ();
        }
      place = tile_place (at);
      sums_store ();
      barrier ();
    }
#if STATISTICS || NORM
  statistics_store (gl_WorkGroupID.x);
#endif
}
