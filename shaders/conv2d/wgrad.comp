#version 460
/* SPDX-License-Identifier: MIT */
/* dweight[ky][kx][c][k] += sum over n, oy, ox of
 *     x[n][oy * STRIDE_H + ky - PAD_H][ox * STRIDE_W + kx - PAD_W][c] * dy[n][oy][ox][k]
 * (with DILATED ky and kx in the index of x are multiplied by the dilation; with GROUPED the c are
 * those of k's block, and dweight is 0 where c is not in k's group; with LOAD x is the output of a
 * batch norm)
 *
 * as the product of the gathered x, transposed, (KH*KW*C) x (N*OH*OW), and dy, (N*OH*OW) x K.  The
 * long side is cut into splits of K_SPLIT pixels, counted by z; each split writes its fp32 partial
 * sums, which reduce.comp adds up in order.  With one split (ACCUMULATE) the sums are added to the
 * gradient here.  IMAGES: a K tile consists of images at one pixel, and a tile of the product
 * belongs to one tap, so that the workgroup leaves out pixels at which the tap is outside; the
 * grid's z counts equal shares of the remaining pixels. */
#include "types.glsl"
#define A_ALONG_K 0
#define B_ALONG_K 0
#define SUMS_OUT  1
#ifndef GATHER_BRANCHES
#define GATHER_BRANCHES 0
#endif
#include "geometry.glsl"

#define ROWS   (KH * KW * BLOCK_C)
#if FEW
#define TILE_ROWS FEW_DEPTH
#else
#define TILE_ROWS ROWS
#endif
#define PIXELS (N * OH * OW)
#define INSIDE (PAD_H == 0 && PAD_W == 0)

DYNO_BUFFER_INOUT (Sums4, vec4, 16);

uint tile_row, tile_column;
uint pixel, pixel_end;  /* first pixel of the K tile, and of the next split */
/* chunk of x for this invocation's tap and channels in the window of y's pixel (0, 0) */
int tap_at;
ivec2 tap;              /* y and x of the tap in this window; NOWHERE: there is no such row */
#if IMAGES
uvec2 out_begin, out_end; /* pixels of y at which the tap is inside */
uvec2 at;                 /* pixel of y of the K tile */
uint image;               /* first image of the K tile */
#else
uvec3 walk[A_LOADS]; /* n, oy, ox of a row of A's tile */
#ifdef LANES
uvec3 walk_step; /* length of a K tile */
#endif
#endif

#if IMAGES
GemmChunk
gemm_a (uint i)
{
  const uvec2 from = uvec2 (ivec2 (at * uvec2 (STRIDE_H, STRIDE_W)) + tap);
  return gather (p.a, (((image + a_row (i)) * H + from.x) * W + from.y) * (C / CHUNK) + uint (tap_at),
                 true);
}

GemmChunk
gemm_b (uint i)
{
  const uint column = tile_column + b_column (i) * CHUNK;
  return gather (p.b, (((image + b_row (i)) * OH + at.x) * OW + at.y) * (K / CHUNK) + column / CHUNK,
                 CHECK_N == 0 || column < K);
}

void
gemm_next ()
{
  image += BK;
  if (image < N)
    return;
  image = 0;
  at.y++;
  if (at.y == out_end.y)
    {
      at.y = out_begin.y;
      at.x++;
    }
}

/* The range of pixels along a side of y, [result.x, result.y), at which the tap is inside of x. */
uvec2
out_range (int tap, uint size, uint out_size, uint stride)
{
  const uint first = (uint (max (-tap, 0)) + stride - 1) / stride;
  const uint end = (uint (max (int (size) - tap, 0)) + stride - 1) / stride;
  return uvec2 (first, max (min (end, out_size), first));
}

/* Sets this workgroup's share of the pixels; returns its number of K tiles. */
uint
images_start ()
{
  const uint at_tap = tile_row / C;
  tap = ivec2 (at_tap / KW, at_tap % KW) - ivec2 (PAD_H, PAD_W);
  tap_at = int (tile_row % C / CHUNK + a_column (0));
  const uvec2 y = out_range (tap.x, H, OH, STRIDE_H), x = out_range (tap.y, W, OW, STRIDE_W);
  out_begin = uvec2 (y.x, x.x);
  out_end = uvec2 (y.y, x.y);
  const uint width = out_end.y - out_begin.y, tiles = (out_end.x - out_begin.x) * width * (N / BK);
  const uint first = tiles * gl_WorkGroupID.z / gl_NumWorkGroups.z;
  const uint pixel = first / (N / BK);
  image = first % (N / BK) * BK;
  at = out_begin + uvec2 (pixel / max (width, 1), pixel % max (width, 1));
  return tiles * (gl_WorkGroupID.z + 1) / gl_NumWorkGroups.z - first;
}
#else
GemmChunk
gemm_a (uint i)
{
  ivec2 at = ivec2 (walk[i].y * STRIDE_H, walk[i].z * STRIDE_W) + tap;
  bool valid;
  if (INSIDE)
    valid = CHECK_M == 0 || at.x >= 0;
  else
    valid = uint (at.x) < H && uint (at.y) < W;
  if (CHECK_K != 0)
    valid = valid && pixel + a_row (i) < pixel_end;
#if FEW
  valid = (CHECK_K == 0 || pixel + a_row (i) < pixel_end) && (CHECK_M == 0 || tap.x != NOWHERE);
  uint origin = (walk[i].x * H + walk[i].y * STRIDE_H) * W + walk[i].z * STRIDE_W;
  return few_chunk (p.a, at, tap_at + int (origin), uint (tap.y + int (PAD_W)), valid);
#else
  uint first = (walk[i].x * H + walk[i].y * STRIDE_H) * W + walk[i].z * STRIDE_W;
  return gather (p.a, uint (tap_at + int (first * (C / CHUNK))), valid);
#endif
}

GemmChunk
gemm_b (uint i)
{
  uint row = pixel + b_row (i), column = tile_column + b_column (i) * CHUNK;
  return gather (p.b, row * (K / CHUNK) + column / CHUNK,
                 (CHECK_K == 0 || row < pixel_end) && (CHECK_N == 0 || column < K));
}

void
gemm_next ()
{
#ifdef LANES
  const uvec3 next = walk_step;
#else
  const uvec3 next = pixel_at (BK, OH, OW);
#endif
  pixel += BK;
  [[unroll]] for (uint i = 0; i < A_LOADS; i++)
    pixel_add (walk[i], next, OH, OW);
}
#endif

#ifdef LOAD
uint load_chunk; /* chunk of x's channels, the same for all K tiles */

uint
gemm_load_chunk ()
{
  return load_chunk;
}
#endif

#ifdef LANES
void
gemm_next_group ()
{
}
#endif

#if GROUPED
uint store_group; /* group, within its block, of the row last passed to gemm_row */
#endif

bool
gemm_row (uint row)
{
  row += tile_row;
  bool valid = CHECK_M == 0 || row < TILE_ROWS;
#if FEW
  valid = few_row (row, row) && valid;
#endif
#if GROUPED
  store_group = row % BLOCK_C / GROUP_C;
#endif
  store_row = (gl_WorkGroupID.z * ROWS + row) * (K / 4);
  return valid;
}

void
gemm_store (uint column, vec4 v)
{
  Sums4 sums = Sums4 (p.target);
  column += tile_column;
  if (CHECK_N == 0 || column < K)
    {
      uint at = store_row + column / 4;
#if GROUPED
      const uvec4 outputs = uvec4 (column) + uvec4 (0, 1, 2, 3);
      v = mix (vec4 (0.0), v, equal (outputs % BLOCK_K / GROUP_K, uvec4 (store_group)));
#endif
      if (ACCUMULATE != 0)
        v += sums.v[at];
      sums.v[at] = v;
#if FEW
      /* The rows of pad lanes are written too, since whole partial sums are added up. */
      if (ACCUMULATE == 0)
        sums.v[at + 4 * (K / 4)] = vec4 (0.0);
#endif
    }
}

void
gemm_store2 (uint column, vec4 v, vec4 w)
{
  gemm_store (column, v);
  gemm_store (column + 4, w);
}

#include "gemm-run.glsl"

void
main ()
{
  if (!tile_find (tile_row, tile_column))
    return;
#if IMAGES
  const uint tiles = images_start ();
#ifdef LOAD
  load_chunk = tile_row % C / CHUNK + a_column (0);
  load_fetch ();
#endif
  gemm_run (tiles);
#else
  pixel = gl_WorkGroupID.z * K_SPLIT;
  pixel_end = min (pixel + K_SPLIT, PIXELS);

  uint row = tile_row + a_column (0) * CHUNK;
#if FEW
  Walk position = walk_start (row / CHUNK, 1, FEW_CHUNKS);
  tap = ivec2 (position.y, position.x * FEW_TAPS) - ivec2 (PAD_H, PAD_W);
  tap_at = tap.x * int (W) + tap.y;
#else
  Walk position = walk_start (row / CHUNK, BLOCK_C / CHUNK, KW);
  tap = ivec2 (APART_H (position.y), APART_W (position.x)) - ivec2 (PAD_H, PAD_W);
  tap_at = (tap.x * int (W) + tap.y) * int (C / CHUNK) + int (position.c);
#if GROUPED
  tap_at += int (tile_column / BLOCK_K * (BLOCK_C / CHUNK));
#endif
#endif
#ifdef LOAD
  load_chunk = position.c;
#if GROUPED
  load_chunk += tile_column / BLOCK_K * (BLOCK_C / CHUNK);
#endif
  load_fetch ();
#endif
  if (CHECK_M != 0 && row >= TILE_ROWS)
    tap = ivec2 (NOWHERE);
  [[unroll]] for (uint i = 0; i < A_LOADS; i++)
    walk[i] = pixel_at (pixel + a_row (i), OH, OW);
#ifdef LANES
  walk_step = pixel_at (BK, OH, OW);
#endif
  gemm_run ((pixel_end - pixel + BK - 1) / BK);
#endif
}
