/* SPDX-License-Identifier: MIT */
/* Code shared by the passes of the convolution: shapes, the walk over taps and channels, the tile
 * of a workgroup, the store.  Offsets count chunks of 16 bytes, in 32 bits: 64 GiB per tensor. */
#ifndef DYNO_CONV2D_GEOMETRY_GLSL
#define DYNO_CONV2D_GEOMETRY_GLSL
#include "conv2d.h"
#include "modes.h"
#ifndef SPLIT
#define SPLIT 0
#endif
#ifndef FEW
#define FEW 0
#endif
#define HALVES_APART (FEW && HALF)
#include "gemm.glsl"

/* LANES: on a CPU compiling a kernel takes about a second, which is the time of many training
 * steps.  So with LANES the sizes are push constants: one kernel serves all batches, and most
 * layers of a network. */
#ifdef LANES
#define N       p.n
#define H       p.h
#define W       p.w
#define C       p.c
#define OH      p.oh
#define OW      p.ow
#define K       p.k
#define K_SPLIT p.k_split
#define TILES   p.tiles
#define TILES_N p.tiles_n
#else
layout (constant_id = DYNO_CONV2D_N) const uint N = 1;
layout (constant_id = DYNO_CONV2D_H) const uint H = 1;
layout (constant_id = DYNO_CONV2D_W) const uint W = 1;
layout (constant_id = DYNO_CONV2D_C) const uint C = 8;
layout (constant_id = DYNO_CONV2D_OH) const uint OH = 1;
layout (constant_id = DYNO_CONV2D_OW) const uint OW = 1;
layout (constant_id = DYNO_CONV2D_K) const uint K = 8;
layout (constant_id = DYNO_CONV2D_K_SPLIT) const uint K_SPLIT = 8;
layout (constant_id = DYNO_CONV2D_TILES) const uint TILES = 1;
layout (constant_id = DYNO_CONV2D_TILES_N) const uint TILES_N = 1;
#endif
layout (constant_id = DYNO_CONV2D_KH) const uint KH = 1;
layout (constant_id = DYNO_CONV2D_KW) const uint KW = 1;
layout (constant_id = DYNO_CONV2D_STRIDE_H) const uint STRIDE_H = 1;
layout (constant_id = DYNO_CONV2D_STRIDE_W) const uint STRIDE_W = 1;
layout (constant_id = DYNO_CONV2D_PAD_H) const uint PAD_H = 0;
layout (constant_id = DYNO_CONV2D_PAD_W) const uint PAD_W = 0;
layout (constant_id = DYNO_CONV2D_ACCUMULATE) const uint ACCUMULATE = 0;
layout (constant_id = DYNO_CONV2D_HAS_BIAS) const uint HAS_BIAS = 0;

/* GROUPED: columns belong to blocks of BLOCK_C channels of x and BLOCK_K channels of y; where
 * there are several blocks, each consists of whole tiles; a tile's product is over its block only.
 * The weight is [KH][KW][BLOCK_C][K]; within a block it is zero where an output and an input are of
 * different groups. */
#ifndef GROUPED
#define GROUPED 0
#endif
#if GROUPED
layout (constant_id = DYNO_CONV2D_BLOCK_C) const uint BLOCK_C = 8;
layout (constant_id = DYNO_CONV2D_BLOCK_K) const uint BLOCK_K = 8;
layout (constant_id = DYNO_CONV2D_GROUP_C) const uint GROUP_C = 8;
layout (constant_id = DYNO_CONV2D_GROUP_K) const uint GROUP_K = 8;
#else
#define BLOCK_C C
#define BLOCK_K K
#endif

/* DILATED: neighbouring taps are DILATION_H and DILATION_W pixels apart. */
#ifndef DILATED
#define DILATED 0
#endif
#if DILATED
layout (constant_id = DYNO_CONV2D_DILATION_H) const uint DILATION_H = 1;
layout (constant_id = DYNO_CONV2D_DILATION_W) const uint DILATION_W = 1;
#define APART_H(taps) ((taps) * DILATION_H)
#define APART_W(taps) ((taps) * DILATION_W)
#else
#define APART_H(taps) (taps)
#define APART_W(taps) (taps)
#endif

#ifdef LANES
DYNO_PUSH (DynoConv2dLanesPush, p);
#else
DYNO_PUSH (DynoConv2dPush, p);
#endif

#ifndef STATISTICS
#define STATISTICS 0
#endif
#ifndef NORM
#define NORM 0
#endif
#ifndef AFFINE
#define AFFINE 0
#endif
#if AFFINE
#include "affine.glsl"
#endif
#if NORM
#include "norm.glsl"
#define SUMS_COLUMNS C
#else
#define SUMS_COLUMNS K
#endif
#include "gemm-statistics.glsl"

/* FEW: x has at most four channels without pads (the first layer of most nets), but eight in memory
 * as always.  The K axis (for wgrad the M axis) then counts four channels per tap: with eight, half
 * of the product would be multiplication by pad lanes.  In fp16 a chunk is two taps side by side,
 * so a row of taps is rounded up to an even number; the weight of the added tap is zero. */
#if FEW
#define FEW_TAPS   (CHUNK / 4)                                /* per chunk */
#define FEW_CHUNKS ((KW + FEW_TAPS - 1) / FEW_TAPS) /* per row of taps */
#define FEW_DEPTH  (KH * FEW_CHUNKS * CHUNK)

/* The row of the weight, which has KH * KW * C rows, for an index on the axis of FEW; FALSE where
 * there is no such row. */
bool
few_row (uint index, out uint row)
{
  uint y = index / (FEW_CHUNKS * CHUNK), rest = index % (FEW_CHUNKS * CHUNK), x = rest / 4;
  row = (y * KW + x) * C + rest % 4;
  return FEW_TAPS == 1 || x < KW;
}

#if HALF
DYNO_BUFFER_IN (FewTaps, u32vec2, 8);
#endif

/* The chunk of a tap and, in fp16, of the next tap in the same row.  `at` is the row and column of
 * the image for the first tap; x_tap is the column of this tap, which shows whether a next tap
 * exists. */
GemmChunk
few_chunk (uint64_t address, ivec2 at, int pixel, uint x_tap, bool valid)
{
#if HALF
#if STRAIGHT
  valid = valid && gemm_more;
#endif
  bool valid_y = valid && uint (at.x) < H;
  bool has_first = valid_y && uint (at.y) < W,
       has_second = valid_y && uint (at.y + 1) < W && x_tap + 1 < KW;
  gathered = bvec2 (has_first, has_second);
  return GemmChunk (FewTaps (address).v[has_first ? uint (pixel * int (C / 4)) : 0],
                    FewTaps (address).v[has_second ? uint ((pixel + 1) * int (C / 4)) : 0]);
#else
  return gather (address, uint (pixel * int (C / CHUNK)),
                 valid && uint (at.x) < H && uint (at.y) < W);
#endif
}
#endif

/* IMAGES: row r of the product is pixel r / N of image r % N, and N is a multiple of the tile's
 * rows, so that a tile has only one pixel.  The workgroup leaves out taps that lie outside of the
 * image: at an edge a third of 3x3 taps, in all 18 % of the products of a 7x7 image.  A tap's
 * channels are whole K tiles.  wgrad.comp describes the same for wgrad. */
#ifndef IMAGES
#define IMAGES 0
#endif
#if IMAGES && A_ALONG_K
uvec2 tap_begin, tap_end; /* y and x of the taps that are inside */
uvec2 tap;                /* the tap of the K tile */
uint tap_chunk;           /* the first chunk of the K tile, in the tap's channels */

void
taps_start ()
{
  tap = tap_begin;
  tap_chunk = 0;
}

/* Advances to the next K tile; a tap has `chunks` chunks of channels. */
void
taps_next (uint chunks)
{
  tap_chunk += BK / CHUNK;
  if (tap_chunk < chunks)
    return;
  tap_chunk = 0;
  tap.y++;
  if (tap.y == tap_end.y)
    {
      tap.y = tap_begin.y;
      tap.x++;
    }
}

uint
taps_trips (uint chunks)
{
  return (tap_end.x - tap_begin.x) * (tap_end.y - tap_begin.y) * (chunks / (BK / CHUNK));
}
#endif

/* The position of a row that does not exist: far outside of every image. */
#define NOWHERE (-0x40000000)

/* PHASES: the number of products of a strided dgrad, the longest first; TILES: the tiles of one
 * product. */
#ifndef PHASES
#define PHASES 1
#endif
#ifndef PHASES_APART
#define PHASES_APART 0
#endif
uint tile_phase;

/* The first row and column of the workgroup's tile, and its phase; FALSE when the grid was folded
 * and the workgroup has no tile.  Tiles of the same rows run side by side, and so do the tiles of
 * all phases: the gathered side is read from memory once and then from the cache, and short
 * products, which wait for memory, run beside long ones.  PHASES_APART, for few tiles: the phases
 * run one after the other, so that the last one is short. */
bool
tile_find (out uint row, out uint column)
{
  uint index = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
#if PHASES_APART
  row = index % TILES / TILES_N * BM;
  tile_phase = index / TILES;
#else
  row = index / TILES_N / PHASES * BM;
  tile_phase = index / TILES_N % PHASES;
#endif
  column = index % TILES_N * BN;
  return index < TILES * PHASES;
}

/* A position on the K axis of taps and channels: (y, x) is the tap, c the chunk of the tap's
 * channels. */
struct Walk {
  uint y, x, c;
};

/* The position of chunk `index` where a tap has `chunks` chunks and a row has `width` taps. */
Walk
walk_start (uint index, uint chunks, uint width)
{
  uint tap = index / chunks;
  return Walk (tap / width, tap % width, index % chunks);
}

/* Advances by `step`, a position, so that no divisions are needed (with LANES `step` is computed
 * before the loop; else it is constant). */
void
walk_add (inout Walk walk, Walk step, uint chunks, uint width)
{
  walk.c += step.c;
  walk.x += step.x;
  walk.y += step.y;
  if (walk.c >= chunks)
    {
      walk.c -= chunks;
      walk.x++;
    }
  if (walk.x >= width)
    {
      walk.x -= width;
      walk.y++;
    }
}

void
walk_next (inout Walk walk, uint step, uint chunks, uint width)
{
  walk_add (walk, walk_start (step, chunks, width), chunks, width);
}

/* The position (image, y, x) of a pixel by its index, where images have height x width pixels. */
uvec3
pixel_at (uint index, uint height, uint width)
{
  return uvec3 (index / (height * width), index / width % height, index % width);
}

/* Advances by `step`, the position of a pixel, so that no divisions are needed and one carry for
 * each component suffices. */
void
pixel_add (inout uvec3 pixel, uvec3 step, uint height, uint width)
{
  pixel += step;
  if (pixel.z >= width)
    {
      pixel.z -= width;
      pixel.y++;
    }
  if (pixel.y >= height)
    {
      pixel.y -= height;
      pixel.x++;
    }
}

/* The offset of the row last passed to gemm_row, in groups of four elements. */
uint store_row;

/* SPLIT, in forward and dgrad: the K axis is cut into parts of K_SPLIT, counted by z, and each part
 * writes its fp32 sums to target[z][rows][columns]; join.comp adds up the parts.
 * split_begin and split_end bound the part of this workgroup. */
#if SPLIT
DYNO_BUFFER_OUT (Parts4, vec4, 16);

void
store_part (uint at, vec4 v)
{
  Parts4 (p.target).v[at] = v;
}
#endif

uint
split_begin ()
{
  return SPLIT != 0 ? gl_WorkGroupID.z * K_SPLIT : 0;
}

uint
split_end (uint depth)
{
  return SPLIT != 0 ? min (split_begin () + K_SPLIT, depth) : depth;
}

/* The values to which the product is added: the target's values, or with ADD_STEP_H and ADD_STEP_W
 * the values of p.added for every ADD_STEP_W-th pixel of every ADD_STEP_H-th row, and zero for the
 * other pixels. */
#ifdef ADD_STEP_H
#define ADDS true

/* at: index in the target, in units of four columns; FALSE: nothing is added there. */
bool
added_at (uint at, out uint from)
{
  const uint pixel = at / (C / 4), x = pixel % W, y = pixel / W % H, image = pixel / (W * H);
  const uint rows = (H + ADD_STEP_H - 1) / ADD_STEP_H, columns = (W + ADD_STEP_W - 1) / ADD_STEP_W;
  from = ((image * rows + y / ADD_STEP_H) * columns + x / ADD_STEP_W) * (C / 4) + at % (C / 4);
  return x % ADD_STEP_W == 0 && y % ADD_STEP_H == 0;
}
#define OLD_LOAD(Buffer, width, none)                                        \
  uint from;                                                                 \
  if (!added_at (at, from))                                                  \
    return none;                                                             \
  return Buffer (p.added).v[from / (width)];
#else
#define ADDS (ACCUMULATE != 0)
#define OLD_LOAD(Buffer, width, none) return Buffer (p.target).v[at / (width)];
#endif

#if HALF
DYNO_BUFFER_INOUT (Target4, u32vec2, 8);
DYNO_BUFFER_INOUT (Target8, u32vec4, 16);

u32vec2
old_words4 (uint at)
{
  OLD_LOAD (Target4, 1, u32vec2 (0))
}

u32vec4
old_load8 (uint at)
{
  OLD_LOAD (Target8, 2, u32vec4 (0))
}

vec4
old_load4 (uint at)
{
  const u32vec2 old = old_words4 (at);
  return vec4 (unpackHalf2x16 (old.x), unpackHalf2x16 (old.y));
}

void
store_activation4 (uint at, vec4 v)
{
  if (ADDS)
    v += old_load4 (at);
  Target4 (p.target).v[at] = u32vec2 (packHalf2x16 (v.xy), packHalf2x16 (v.zw));
}

/* Eight rounded columns plus the present values and the bias, if there are any, added in fp32. */
u32vec4
sum_halves (u32vec4 chunk, u32vec4 old, bool add, vec4 bias, vec4 bias2)
{
  if (ADDS || add)
    {
      vec4 v = vec4 (unpackHalf2x16 (chunk.x), unpackHalf2x16 (chunk.y)) + bias;
      vec4 w = vec4 (unpackHalf2x16 (chunk.z), unpackHalf2x16 (chunk.w)) + bias2;
      v += vec4 (unpackHalf2x16 (old.x), unpackHalf2x16 (old.y));
      w += vec4 (unpackHalf2x16 (old.z), unpackHalf2x16 (old.w));
      chunk = u32vec4 (packHalf2x16 (v.xy), packHalf2x16 (v.zw), packHalf2x16 (w.xy),
                       packHalf2x16 (w.zw));
    }
  return chunk;
}

void
store_halves (uint at, u32vec4 chunk, u32vec4 old, bool add, vec4 bias, vec4 bias2)
{
  Target8 (p.target).v[at / 2] = sum_halves (chunk, old, add, bias, bias2);
}
#else
DYNO_BUFFER_INOUT (Target4, vec4, 16);

vec4
old_load4 (uint at)
{
  OLD_LOAD (Target4, 1, vec4 (0.0))
}

void
store_activation4 (uint at, vec4 v)
{
  if (ADDS)
    v += old_load4 (at);
  Target4 (p.target).v[at] = v;
}

#endif

#if NORM || AFFINE
/* Four columns of a tensor of the target's shape. */
#if HALF
DYNO_BUFFER_IN (Norm4, u32vec2, 8);
DYNO_BUFFER_IN (Norm8, u32vec4, 16);

vec4
norm_load4 (uint64_t address, uint at)
{
  const u32vec2 words = Norm4 (address).v[at];
  return vec4 (unpackHalf2x16 (words.x), unpackHalf2x16 (words.y));
}
#else
DYNO_BUFFER_IN (Norm4, vec4, 16);

vec4
norm_load4 (uint64_t address, uint at)
{
  return Norm4 (address).v[at];
}
#endif
#endif

#if AFFINE
/* Applies the batch norm to four columns of a row. */
void
store_affine4 (uint at, vec4 v, AffineColumns columns)
{
  vec4 residual = vec4 (0.0);
#if AFFINE == DYNO_AFFINE_ID_RESIDUAL
  residual = norm_load4 (p.norm_x, at);
#endif
#if HALF
  v = vec4 (unpackHalf2x16 (packHalf2x16 (v.xy)), unpackHalf2x16 (packHalf2x16 (v.zw)));
  v = affine_take (columns, v, residual);
  Target4 (p.target).v[at] = u32vec2 (packHalf2x16 (v.xy), packHalf2x16 (v.zw));
#else
  Target4 (p.target).v[at] = affine_take (columns, v, residual);
#endif
}
#endif

#if NORM
/* The mask's bits for the four or eight columns at `at`, in units of four columns. */
uint
norm_mask (uint at)
{
#if NORM == DYNO_NORM_ID_SLOPE_MASK
  const uint row = at / (C / 4), column = at % (C / 4);
#if HALF
  return mask_load (p.norm_y, row, column / 2, C / 8) >> (column % 2 * 4);
#else
  return mask_load (p.norm_y, row, column, C / 4);
#endif
#else
  return 0;
#endif
}

/* Adds the present values to four columns of a row of dy, rounds them, applies the slope, stores
 * them and adds them to the sums. */
void
norm_store4 (NormColumns columns, uint at, vec4 v, vec4 x, uint mask, inout vec4 sum,
             inout vec4 product)
{
#if HALF
  if (ADDS)
    v += old_load4 (at);
  v = vec4 (unpackHalf2x16 (packHalf2x16 (v.xy)), unpackHalf2x16 (packHalf2x16 (v.zw)));
  v = norm_take (columns, v, x, mask, sum, product);
  Target4 (p.target).v[at] = u32vec2 (packHalf2x16 (v.xy), packHalf2x16 (v.zw));
#else
  if (ADDS)
    v += old_load4 (at);
  Target4 (p.target).v[at] = norm_take (columns, v, x, mask, sum, product);
#endif
}
#endif

#endif
