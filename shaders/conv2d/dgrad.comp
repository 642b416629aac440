#version 460
/* SPDX-License-Identifier: MIT */
/* dx[n][y][x][c] (+)= sum over ky, kx, k of dy[n][oy][ox][k] * weight[ky][kx][c][k]
 *     where y + PAD_H - ky = oy * STRIDE_H and x + PAD_W - kx = ox * STRIDE_W
 * (with DILATED ky and kx are multiplied by the dilation; with GROUPED the k are those of c's
 * block)
 *
 * With strides, a phase is (y mod STRIDE_H, x mod STRIDE_W); the same taps apply to all pixels of
 * one phase, so that nothing is multiplied by zero.  In a phase, pixel (i, j) and tap (first + a *
 * STRIDE) read oy = i + shift - a.  The product is the gathered dy, (N * pixels) x (taps * K), and
 * the taps' weights, transposed.  A phase without taps writes zeros.  ALONE: only the first phase
 * has taps, and its workgroups write the zeros of the other phases.  DILATED: the taps of a phase
 * are TAP_STEP apart, which is SHIFT pixels of dy.  NORM: makes the sums for the preceding batch
 * norm (norm.glsl); the index of a group is phase * tiles of a phase + tile.  ADD_STEP_H,
 * ADD_STEP_W: the pixels of p.added are added instead of the target's present values
 * (geometry.glsl).  BIAS: a bias of C values is added, since this is the forward pass of a
 * transposed convolution. */
#include "types.glsl"
#define A_ALONG_K 1
#define B_ALONG_K 1
#ifdef SPLIT
#define SUMS_OUT  SPLIT
#else
#define SUMS_OUT  0
#endif
#define GATHER_BRANCHES 0
#ifndef ALONE
#define ALONE 0
#endif
#ifndef BIAS
#define BIAS 0
#endif
#include "geometry.glsl"

#define CHUNKS (BLOCK_K / CHUNK)
#define PITCH  (K / CHUNK) /* chunks in a pixel of dy and in a row of the weight */

#if DILATED
layout (constant_id = DYNO_CONV2D_TAP_STEP_H) const uint TAP_STEP_H = 1;
layout (constant_id = DYNO_CONV2D_TAP_STEP_W) const uint TAP_STEP_W = 1;
const uint SHIFT_H = DILATION_H * TAP_STEP_H / STRIDE_H,
           SHIFT_W = DILATION_W * TAP_STEP_W / STRIDE_W;
#define MOVED_H(taps) ((taps) * SHIFT_H)
#define MOVED_W(taps) ((taps) * SHIFT_W)
#else
#define TAP_STEP_H    STRIDE_H
#define TAP_STEP_W    STRIDE_W
#define MOVED_H(taps) (taps)
#define MOVED_W(taps) (taps)
#endif

DYNO_BUFFER_IN (Bias4, vec4, 16);

uint tile_row, tile_column;
uint phase_y, phase_x;   /* y and x of the phase's first pixel */
uint pixels_h, pixels_w; /* pixels of this phase in an image */
uint first_y, first_x;   /* first tap of this phase */
uint taps_h, taps_w;
uint rows;
Walk walk; /* position of this invocation's chunk column */
#ifdef LANES
Walk walk_a;    /* position of the loaded chunk of A, the same for all lanes */
Walk walk_step; /* length of a K tile */
#else
#define walk_a walk
#endif
int base[A_LOADS];
ivec2 window[A_LOADS]; /* oy and ox for tap 0 */

GemmChunk
gemm_a (uint i)
{
#if IMAGES
  return gather (p.a, uint (base[i] - int ((tap.x * OW + tap.y) * PITCH) + int (tap_chunk)), true);
#else
  const uint y = MOVED_H (walk_a.y), x = MOVED_W (walk_a.x);
  ivec2 at = window[i] - ivec2 (y, x);
  bool valid = uint (at.x) < OH && uint (at.y) < OW;
  if (KH == 1 && KW == 1 && STRIDE_H == 1 && STRIDE_W == 1 && PAD_H == 0 && PAD_W == 0)
    valid = CHECK_M == 0 || at.x >= 0;
  if (CHECK_K != 0)
    valid = valid && walk_a.y < taps_h;
  return gather (p.a, uint (base[i] - int ((y * OW + x) * PITCH) + int (walk_a.c)), valid);
#endif
}

GemmChunk
gemm_b (uint i)
{
  uint column = tile_column + b_row (i);
#if IMAGES
  uint at = (first_y + tap.x * TAP_STEP_H) * KW + first_x + tap.y * TAP_STEP_W;
  return gather (p.b, (at * C + column) * CHUNKS + tap_chunk + b_column (i),
                 CHECK_N == 0 || column < C);
#else
  uint tap = (first_y + walk.y * TAP_STEP_H) * KW + first_x + walk.x * TAP_STEP_W;
#if GROUPED
  uint row = (tap * BLOCK_C + column % BLOCK_C) * PITCH + column / BLOCK_C * CHUNKS;
#else
  uint row = (tap * C + column) * CHUNKS;
#endif
  return gather (p.b, row + walk.c,
                 (CHECK_K == 0 || walk.y < taps_h) && (CHECK_N == 0 || column < C));
#endif
}

void
gemm_next ()
{
#if IMAGES
  taps_next (CHUNKS);
#else
#ifdef LANES
  walk_add (walk, walk_step, CHUNKS, taps_w);
#else
  walk_next (walk, BK / CHUNK, CHUNKS, taps_w);
#endif
#endif
}

#ifdef LANES
void
gemm_next_group ()
{
  walk_add (walk_a, Walk (0, 0, 1), CHUNKS, taps_w);
}
#endif

bool
gemm_row (uint row)
{
#if IMAGES
  const uint pixel = tile_row / N;
  const uint y = pixel / pixels_w * STRIDE_H + phase_y, x = pixel % pixels_w * STRIDE_W + phase_x;
  store_row = (((tile_row % N + row) * H + y) * W + x) * (C / 4);
  return true;
#else
  row += tile_row;
  if (STRIDE_H == 1 && STRIDE_W == 1)
    store_row = (row + (SPLIT != 0 ? gl_WorkGroupID.z * rows : 0)) * (C / 4);
  else
    {
      uint image = row / (pixels_h * pixels_w), rest = row % (pixels_h * pixels_w);
      uint y = rest / pixels_w * STRIDE_H + phase_y, x = rest % pixels_w * STRIDE_W + phase_x;
      store_row = ((image * H + y) * W + x) * (C / 4);
    }
  return CHECK_M == 0 || row < rows;
#endif
}

vec4
bias_at (uint column)
{
  return BIAS != 0 ? Bias4 (p.bias).v[column / 4] : vec4 (0.0);
}

void
gemm_store (uint column, vec4 v)
{
  column += tile_column;
#if SPLIT
  if (CHECK_N == 0 || column < C)
    store_part (store_row + column / 4, v);
#else
  if (CHECK_N == 0 || column < C)
    store_activation4 (store_row + column / 4, v + bias_at (column));
#endif
}

#if SPLIT
void
gemm_store2 (uint column, vec4 v, vec4 w)
{
  gemm_store (column, v);
  gemm_store (column + 4, w);
}
#endif

#if NORM
NormColumns
gemm_norm_columns (uint column)
{
  column += tile_column;
  return norm_columns (CHECK_N == 0 || column < C ? column / 4 : 0);
}

#if !USE_MATRIX
void
gemm_norm_load (uint column, out vec4 x, out uint mask)
{
  column += tile_column;
  const uint at = CHECK_N == 0 || column < C ? store_row + column / 4 : 0;
  x = norm_load4 (p.norm_x, at);
  mask = norm_mask (at);
}

void
gemm_norm_store (uint column, vec4 v, NormColumns columns, vec4 x, uint mask,
                 inout vec4 sum, inout vec4 product)
{
  column += tile_column;
  if (CHECK_N == 0 || column < C)
    norm_store4 (columns, store_row + column / 4, v, x, mask, sum, product);
}
#endif
#endif

#if HALF
u32vec4
gemm_old (uint column)
{
  column += tile_column;
  return CHECK_N == 0 || column < C ? old_load8 (store_row + column / 4) : u32vec4 (0);
}

#if NORM
u32vec4
gemm_beside (uint64_t address, uint column)
{
  column += tile_column;
  return CHECK_N == 0 || column < C ? Norm8 (address).v[(store_row + column / 4) / 2]
                                    : u32vec4 (0);
}

uint
gemm_mask (uint column)
{
  column += tile_column;
  return CHECK_N == 0 || column < C ? norm_mask (store_row + column / 4) : 0;
}

void
gemm_put_halves (uint column, u32vec4 chunk)
{
  column += tile_column;
  if (CHECK_N == 0 || column < C)
    Target8 (p.target).v[(store_row + column / 4) / 2] = chunk;
}
#endif

void
gemm_store_halves (uint column, u32vec4 chunk, u32vec4 old)
{
  column += tile_column;
  if (CHECK_N == 0 || column < C)
    store_halves (store_row + column / 4, chunk, old, BIAS != 0, bias_at (column),
                  bias_at (column + 4));
}
#endif

#include "gemm-run.glsl"

#if ALONE
void
store_zeros ()
{
  for (uint i = gl_LocalInvocationIndex; i < BM * (BN / CHUNK); i += LOCAL_X)
    {
      uint row = tile_row + i / (BN / CHUNK), column = i % (BN / CHUNK) * CHUNK;
#if IMAGES
      uint image = row % N, pixel = row / N;
#else
      uint image = row / (pixels_h * pixels_w), pixel = row % (pixels_h * pixels_w);
#endif
      uint y = pixel / pixels_w * STRIDE_H, x = pixel % pixels_w * STRIDE_W;
      if (CHECK_M != 0 && row >= rows)
        return;
      for (uint phase = 1; phase < STRIDE_H * STRIDE_W; phase++)
        if (y + phase / STRIDE_W < H && x + phase % STRIDE_W < W)
          {
            store_row = ((image * H + y + phase / STRIDE_W) * W + x + phase % STRIDE_W) * (C / 4);
#if HALF
            gemm_store_halves (column, u32vec4 (0), u32vec4 (0));
#else
            gemm_store (column, vec4 (0.0));
#endif
          }
    }
}
#endif

/* The number of values first, first + stride, ... below end. */
uint
count_steps (uint first, uint end, uint stride)
{
  return first < end ? (end - first + stride - 1) / stride : 0;
}

#if DILATED
/* The first tap that applies to a phase; `phase` includes the pad.  If no tap applies, returns a
 * tap past the last one. */
uint
first_tap (uint phase, uint dilation, uint stride, uint step, uint taps)
{
  uint first = 0;
  while (first < step && first * dilation % stride != phase % stride)
    first++;
  return first < step ? first : taps;
}
#endif

void
main ()
{
  bool some = tile_find (tile_row, tile_column);
  /* tile_phase 0 is the phase to which tap (0, 0) applies; it has the most taps. */
  phase_y = (tile_phase / STRIDE_W + STRIDE_H - PAD_H % STRIDE_H) % STRIDE_H;
  phase_x = (tile_phase % STRIDE_W + STRIDE_W - PAD_W % STRIDE_W) % STRIDE_W;
  pixels_h = STRIDE_H == 1 ? H : count_steps (phase_y, H, STRIDE_H);
  pixels_w = STRIDE_W == 1 ? W : count_steps (phase_x, W, STRIDE_W);
  rows = N * pixels_h * pixels_w;
#if DILATED
  first_y = first_tap (phase_y + PAD_H, DILATION_H, STRIDE_H, TAP_STEP_H, KH);
  first_x = first_tap (phase_x + PAD_W, DILATION_W, STRIDE_W, TAP_STEP_W, KW);
  const ivec2 moved = ivec2 (int (phase_y + PAD_H) - int (first_y * DILATION_H),
                             int (phase_x + PAD_W) - int (first_x * DILATION_W))
                      / ivec2 (STRIDE_H, STRIDE_W);
#else
  first_y = (phase_y + PAD_H) % STRIDE_H;
  first_x = (phase_x + PAD_W) % STRIDE_W;
  const ivec2 moved = ivec2 ((phase_y + PAD_H) / STRIDE_H, (phase_x + PAD_W) / STRIDE_W);
#endif
  taps_h = STRIDE_H == 1 ? KH : count_steps (first_y, KH, TAP_STEP_H);
  taps_w = STRIDE_W == 1 ? KW : count_steps (first_x, KW, TAP_STEP_W);
  if (!some)
    return;
#if NORM
  const uint group = tile_phase * (TILES / TILES_N) + tile_row / BM;
  if (tile_row >= rows)
    {
      for (uint i = gl_LocalInvocationIndex; i < 2 * (BN / 4); i += LOCAL_X)
        statistics_put (group, i / (BN / 4), tile_column, i % (BN / 4) * 4, vec4 (0.0));
      return;
    }
#endif
  if (tile_row >= rows)
    return;

  uint depth = taps_h * taps_w * BLOCK_K;
  if (ACCUMULATE != 0 && NORM == 0 && depth == 0)
    return;
#if IMAGES
  const uint pixel = tile_row / N;
  const ivec2 origin = ivec2 (pixel / pixels_w, pixel % pixels_w) + moved;
  tap_begin = uvec2 (max (origin - ivec2 (OH, OW) + 1, ivec2 (0)));
  tap_end = max (uvec2 (min (origin + 1, ivec2 (taps_h, taps_w))), tap_begin);
  taps_start ();
  [[unroll]] for (uint i = 0; i < A_LOADS; i++)
    base[i] = ((int ((tile_row % N + a_row (i)) * OH) + origin.x) * int (OW) + origin.y)
                  * int (PITCH)
              + int (a_column (i));
  gemm_run (taps_trips (CHUNKS));
#else
  if (depth != 0)
    {
      walk = walk_start (b_column (0) + split_begin () / CHUNK, CHUNKS, taps_w);
#ifdef LANES
      walk_a = walk_start (0, CHUNKS, taps_w);
      walk_step = walk_start (BK / CHUNK, CHUNKS, taps_w);
#endif
    }
#ifdef LANES
  const uvec3 next = pixel_at (a_row (1) - a_row (0), pixels_h, pixels_w);
  uvec3 at = pixel_at (tile_row + a_row (0), pixels_h, pixels_w);
#endif
  [[unroll]] for (uint i = 0; i < A_LOADS; i++)
    {
      uint row = tile_row + a_row (i);
#ifdef LANES
      const uint image = at.x, y = at.y, x = at.z;
      pixel_add (at, next, pixels_h, pixels_w);
#else
      uint image = row / (pixels_h * pixels_w), rest = row % (pixels_h * pixels_w);
      const uint y = rest / pixels_w, x = rest % pixels_w;
#endif
      window[i] = ivec2 (y, x) + moved;
      base[i] = ((int (image * OH) + window[i].x) * int (OW) + window[i].y) * int (PITCH);
#if GROUPED
      base[i] += int (tile_column / BLOCK_C * CHUNKS);
#endif
      if (CHECK_M != 0 && row >= rows)
        window[i] = ivec2 (NOWHERE);
    }
  gemm_run ((split_end (depth) - split_begin () + BK - 1) / BK);
#endif
#if ALONE
  if (ACCUMULATE == 0)
    store_zeros ();
#endif
#if NORM && USE_MATRIX
  statistics_store (group);
#elif NORM
  statistics_store (tile_column, group);
#endif
}
