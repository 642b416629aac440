/* SPDX-License-Identifier: MIT */
/* Code shared by first_forward.comp and first_wgrad.comp: a convolution of at most four channels by
 * matrix units, without gathering.
 *
 * A patch of the image lies in shared memory, CHANNELS = 8 / STRIDE_W channels per pixel, so that
 * the windows of neighbouring outputs begin 16 bytes apart: the inputs of 16 outputs side by side
 * for a row of taps are a 16 x 16 fragment whose rows overlap in memory.  Elements of a fragment
 * beyond the row of taps are multiplied by weights that are zero.
 *
 * Macros by the kernel's spec:
 *   CHANNELS   channels per pixel in the patch
 *   SLICES     fragments of a row of taps: KW * CHANNELS / 16, rounded up
 *   TAPS_H, TAPS_W, STEP_H, STEP_W   kernel and strides, for the sizes of shared memory
 *   TILE_H, TILE_W   rows and columns of outputs in a tile, TILE_H * TILE_W = BM; TILE_W is a
 *              multiple of 16 */
#ifndef DYNO_CONV2D_FIRST_GLSL
#define DYNO_CONV2D_FIRST_GLSL
#include "geometry.glsl"

#define PATCH_H      ((TILE_H - 1) * STEP_H + TAPS_H)
#define PATCH_W      ((TILE_W - 1) * STEP_W + SLICES * 16 / CHANNELS)
#define PATCH_PITCH  (PATCH_W * CHANNELS / 8) /* units of 16 bytes between rows */
#define PATCH_SIZE   (PATCH_H * PATCH_PITCH)
#define PATCH_LOADS  ((PATCH_SIZE + LOCAL_X - 1) / LOCAL_X)
/* rows of the weight in the product, including rows of zeros */
#define TAP_ROWS     (TAPS_H * SLICES * 16)
#define TILES_X      ((OW + TILE_W - 1) / TILE_W)
#define TILES_Y      ((OH + TILE_H - 1) / TILE_H)
#define TILES_ALL    (N * TILES_Y * TILES_X)
#define FRAGMENTS_X  (TILE_W / 16)

#if CHANNELS == 4
DYNO_BUFFER_IN (FirstPixels, u32vec2, 8);
#endif

GemmChunk patch_next[PATCH_LOADS];

/* Image and first output of a tile. */
void
tile_at (uint tile, out uint image, out uint oy, out uint ox)
{
  image = tile / (TILES_Y * TILES_X);
  oy = tile / TILES_X % TILES_Y * TILE_H;
  ox = tile % TILES_X * TILE_W;
}

/* Begins the loads of the patch of a tile. */
void
patch_fetch (uint tile)
{
  uint image, oy, ox;
  tile_at (tile, image, oy, ox);
  [[unroll]] for (uint i = 0; i < PATCH_LOADS; i++)
    {
      uint at = i * LOCAL_X + gl_LocalInvocationIndex;
      int y = int (oy * STEP_H + at / PATCH_PITCH) - int (PAD_H);
      int x = int (ox * STEP_W + at % PATCH_PITCH * (8 / CHANNELS)) - int (PAD_W);
      bool valid = image < N && at < PATCH_SIZE && uint (y) < H;
      int pixel = (int (image * H) + y) * int (W) + x;
#if CHANNELS == 4
      u32vec2 first = u32vec2 (0), second = u32vec2 (0);
      if (valid && uint (x) < W)
        first = FirstPixels (p.a).v[uint (pixel * 2)];
      if (valid && uint (x + 1) < W)
        second = FirstPixels (p.a).v[uint (pixel * 2 + 2)];
      patch_next[i] = GemmChunk (first, second);
#else
      patch_next[i] = GemmChunk (0);
      if (valid && uint (x) < W)
        patch_next[i] = GemmChunks (p.a).v[uint (pixel)];
#endif
    }
}

/* The weight's row for a row of the product; FALSE: the weight has no such row, and zeros stand for
 * it. */
bool
tap_row (uint row, out uint at)
{
  uint y = row / (SLICES * 16), rest = row % (SLICES * 16), x = rest / CHANNELS;
  at = (y * TAPS_W + x) * C + rest % CHANNELS;
  return x < TAPS_W;
}

#endif
