/* SPDX-License-Identifier: MIT */
/* What the passes of the convolution share: shapes, the walk over taps and channels, the tile of a workgroup, the store.
 * Offsets count chunks of 16 bytes, in 32 bits: 64 GiB a tensor. */
#ifndef DYNO_CONV2D_GEOMETRY_GLSL
#define DYNO_CONV2D_GEOMETRY_GLSL
#include "conv2d.h"
#include "gemm.glsl"

layout (constant_id = DYNO_CONV2D_N) const uint N = 1;
layout (constant_id = DYNO_CONV2D_H) const uint H = 1;
layout (constant_id = DYNO_CONV2D_W) const uint W = 1;
layout (constant_id = DYNO_CONV2D_C) const uint C = 8;
layout (constant_id = DYNO_CONV2D_OH) const uint OH = 1;
layout (constant_id = DYNO_CONV2D_OW) const uint OW = 1;
layout (constant_id = DYNO_CONV2D_K) const uint K = 8;
layout (constant_id = DYNO_CONV2D_KH) const uint KH = 1;
layout (constant_id = DYNO_CONV2D_KW) const uint KW = 1;
layout (constant_id = DYNO_CONV2D_STRIDE_H) const uint STRIDE_H = 1;
layout (constant_id = DYNO_CONV2D_STRIDE_W) const uint STRIDE_W = 1;
layout (constant_id = DYNO_CONV2D_PAD_H) const uint PAD_H = 0;
layout (constant_id = DYNO_CONV2D_PAD_W) const uint PAD_W = 0;
layout (constant_id = DYNO_CONV2D_ACCUMULATE) const uint ACCUMULATE = 0;
layout (constant_id = DYNO_CONV2D_HAS_BIAS) const uint HAS_BIAS = 0;
layout (constant_id = DYNO_CONV2D_K_SPLIT) const uint K_SPLIT = 8;
layout (constant_id = DYNO_CONV2D_TILES) const uint TILES = 1;
layout (constant_id = DYNO_CONV2D_TILES_N) const uint TILES_N = 1;

DYNO_PUSH (DynoConv2dPush, p);

/* A row that is in no matrix: far outside of every image. */
#define NOWHERE (-0x40000000)

/* First row and column of the workgroup's tile; FALSE when the grid was folded and there is none.  Tiles of the same rows
 * run side by side: the gathered side is read from memory once and from the cache after that. */
bool
tile_find (out uint row, out uint column)
{
  uint index = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
  row = index / TILES_N * BM;
  column = index % TILES_N * BN;
  return index < TILES;
}

/* A position on the K axis of taps and channels: (y, x) counts taps, c chunks of a tap's channels. */
struct Walk {
  uint y, x, c;
};

/* The position of chunk `index` where a tap has `chunks` of them and a row of taps has `width`. */
Walk
walk_start (uint index, uint chunks, uint width)
{
  uint tap = index / chunks;
  return Walk (tap / width, tap % width, index % chunks);
}

/* On by `step` chunks, a constant: no divisions, since the steps in each digit are known. */
void
walk_next (inout Walk walk, uint step, uint chunks, uint width)
{
  uint taps = step / chunks;
  walk.c += step % chunks;
  walk.x += taps % width;
  walk.y += taps / width;
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

/* Where the row that gemm_row was asked for begins, in groups of four elements. */
uint store_row;

#if HALF
DYNO_BUFFER_INOUT (Target4, u32vec2, 8);
DYNO_BUFFER_INOUT (Target8, u32vec4, 16);

void
store_activation4 (uint at, vec4 v)
{
  Target4 target = Target4 (p.target);
  if (ACCUMULATE != 0)
    {
      u32vec2 old = target.v[at];
      v += vec4 (unpackHalf2x16 (old.x), unpackHalf2x16 (old.y));
    }
  target.v[at] = u32vec2 (packHalf2x16 (v.xy), packHalf2x16 (v.zw));
}

void
store_activation8 (uint at, vec4 v, vec4 w)
{
  Target8 target = Target8 (p.target);
  if (ACCUMULATE != 0)
    {
      u32vec4 old = target.v[at / 2];
      v += vec4 (unpackHalf2x16 (old.x), unpackHalf2x16 (old.y));
      w += vec4 (unpackHalf2x16 (old.z), unpackHalf2x16 (old.w));
    }
  target.v[at / 2]
      = u32vec4 (packHalf2x16 (v.xy), packHalf2x16 (v.zw), packHalf2x16 (w.xy), packHalf2x16 (w.zw));
}
#else
DYNO_BUFFER_INOUT (Target4, vec4, 16);

void
store_activation4 (uint at, vec4 v)
{
  Target4 target = Target4 (p.target);
  if (ACCUMULATE != 0)
    v += target.v[at];
  target.v[at] = v;
}

void
store_activation8 (uint at, vec4 v, vec4 w)
{
  store_activation4 (at, v);
  store_activation4 (at + 1, w);
}
#endif

#endif
