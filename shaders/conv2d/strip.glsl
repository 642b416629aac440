/* SPDX-License-Identifier: MIT */
/* Code shared by strip.comp and strip_wgrad.comp: a convolution with stride 1 whose output is as
 * large as its input.
 *
 * A tile is TILE_H x TILE_W pixels, and its patch of the image lies in shared memory, SLICES * 16
 * channels at a time, so that each pixel is read from memory about once instead of once for each
 * tap.  A strip is ROWS rows of 16 pixels: a fragment of the patch that is used for a tap in one
 * row of the strip is used for the tap above it in the next row, and is loaded once for all these
 * rows.
 *
 * Tiles cover each image separately, or with ACROSS a sheet, on which ACROSS images lie side by
 * side with PAD_W columns of zeros between them, and the next images below them after PAD_H rows of
 * zeros: with small images, or images that are not whole tiles, a sheet has fewer positions
 * without a pixel.
 *
 * Macros by the kernel's spec:
 *   TAPS_H, TAPS_W   rows and columns of taps, for the sizes of shared memory
 *   SLICES, SLABS    fragments of 16 channels of a patch, and number of patches for all channels
 *   ROWS             rows of a strip
 *   TILE_H, TILE_W   pixels of a tile; multiples of ROWS and of 16
 *   ACROSS           images side by side; 0: there is no sheet
 * and by the file that includes this: PATCH_C, channels of the patch in memory. */
#ifndef DYNO_CONV2D_STRIP_GLSL
#define DYNO_CONV2D_STRIP_GLSL
#include "geometry.glsl"
#include "gemm-load.glsl"

#define PATCH_H      (TILE_H + TAPS_H - 1)
#define PATCH_W      (TILE_W + TAPS_W - 1)
#define PATCH_CHUNKS (SLICES * 2)
/* The distance from pixel to pixel, in units of 16 bytes: odd, so that the rows of a fragment lie
 * in different banks. */
#define PATCH_PITCH  (PATCH_CHUNKS + 1)
#define PATCH_SIZE   (PATCH_H * PATCH_W * PATCH_PITCH)
#define PATCH_PIXELS (PATCH_H * PATCH_W)
#define PATCH_STEP   (LOCAL_X / PATCH_CHUNKS) /* pixels that are loaded at a time */
#define PATCH_LOADS  ((PATCH_PIXELS + PATCH_STEP - 1) / PATCH_STEP)
#if ACROSS
#define PITCH_Y   (H + PAD_H) /* rows, and PITCH_X columns, from image to image */
#define PITCH_X   (W + PAD_W)
#define TILES_X   ((ACROSS * PITCH_X - PAD_W + TILE_W - 1) / TILE_W)
#define TILES_ALL (((N + ACROSS - 1) / ACROSS * PITCH_Y + TILE_H - 1) / TILE_H * TILES_X)
#else
#define TILES_X   ((W + TILE_W - 1) / TILE_W)
#define TILES_Y   ((H + TILE_H - 1) / TILE_H)
#define TILES_ALL (N * TILES_Y * TILES_X)
#endif
#define STRIPS_X (TILE_W / 16)
#define STRIPS   (STRIPS_X * (TILE_H / ROWS))

GemmChunk patch_next[PATCH_LOADS];
uint patch_valid; /* a bit per load: the load belongs to a pixel of the image */

/* The place of a tile: image (0 on a sheet), row and column of its first pixel. */
uvec3
tile_place (uint tile)
{
#if ACROSS
  return uvec3 (0, tile / TILES_X * TILE_H, tile % TILES_X * TILE_W);
#else
  return uvec3 (tile / (TILES_Y * TILES_X), tile / TILES_X % TILES_Y * TILE_H,
                tile % TILES_X * TILE_W);
#endif
}

/* The pixel at a row and a column, which may lie outside of the image; FALSE: there is no pixel. */
bool
pixel_of (uint image, uint y, uint x, out uint pixel)
{
#if ACROSS
  const uint across = x / PITCH_X;
  const bool inside = across < ACROSS && y < 0x80000000; /* not above the image */
  image = y / PITCH_Y * ACROSS + across;
  y %= PITCH_Y;
  x %= PITCH_X;
#else
  const bool inside = true;
#endif
  pixel = (image * H + y) * W + x;
  return inside && image < N && y < H && x < W;
}

/* Row and column of a strip's first pixel in its tile. */
uvec2
strip_at (uint strip)
{
  return uvec2 (strip / STRIPS_X * ROWS, strip % STRIPS_X * 16);
}

uint patch_slab = ~0u; /* slab of the patch fetched last */

/* The chunk of channels that this invocation loads of its pixels. */
uint
patch_chunk ()
{
  return patch_slab * PATCH_CHUNKS + gl_LocalInvocationIndex % PATCH_CHUNKS;
}

#ifdef LOAD
uint
gemm_load_chunk ()
{
  return min (patch_chunk (), PATCH_C / 8 - 1);
}
#endif

/* Begins the loads of a patch of a tile. */
void
patch_fetch (uint tile, uint slab)
{
#ifdef LOAD
  const bool other_channels = slab != patch_slab;
#endif
  patch_slab = slab;
#ifdef LOAD
  if (other_channels)
    load_fetch ();
#endif
  /* Rows and columns before the first one wrap to positions past the end. */
  const uvec3 place = tile_place (tile) - uvec3 (0, PAD_H, PAD_W);
  patch_valid = 0;
  [[unroll]] for (uint i = 0; i < PATCH_LOADS; i++)
    {
      uint at = i * PATCH_STEP + gl_LocalInvocationIndex / PATCH_CHUNKS, pixel;
      bool valid = pixel_of (place.x, place.y + at / PATCH_W, place.z + at % PATCH_W, pixel)
                   && at < PATCH_PIXELS && patch_chunk () < PATCH_C / 8;
      patch_next[i] = GemmChunk (0);
      if (valid)
        patch_next[i] = GemmChunks (p.a).v[pixel * (PATCH_C / 8) + patch_chunk ()];
      patch_valid |= valid ? 1u << i : 0u;
    }
}

/* Writes the patch fetched last to shared memory, from `first` on. */
#define PATCH_PUT(first)                                                                 \
  [[unroll]] for (uint i = 0; i < PATCH_LOADS; i++)                                      \
    {                                                                                    \
      const uint at = i * PATCH_STEP + gl_LocalInvocationIndex / PATCH_CHUNKS;           \
      if (at < PATCH_PIXELS)                                                             \
        tile[(first) + at * PATCH_PITCH + gl_LocalInvocationIndex % PATCH_CHUNKS] =      \
            load_put (patch_next[i], (patch_valid >> i & 1u) != 0);                      \
    }

#endif
