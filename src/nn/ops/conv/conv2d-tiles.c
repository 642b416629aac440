/* SPDX-License-Identifier: MIT */
/* The tiles of the convolution's kernels: their table, their requirements of device and shape, and
 * their labels. */
#include "conv2d-private.h"
#include "conv2d.h"

/* Rates are measured on one card, relative to the fastest MATRIX tile; the rates of deep tiles are
 * measured with one workgroup per processor.  score_of() in conv2d-variants.c has the other
 * estimates. */
const DynoTile dyno_tiles[] = {
  { DYNO_TILE_MATRIX, 128, 256, 32, 0, 64, 64, 1, 0.91 },
  { DYNO_TILE_MATRIX, 128, 128, 32, 0, 64, 64, 1, 0.93 },
  { DYNO_TILE_MATRIX, 256, 128, 32, 0, 64, 64, 1, 0.90 },
  { DYNO_TILE_MATRIX, 256, 64, 32, 0, 64, 64, 1, 0.62 },
  { DYNO_TILE_MATRIX, 192, 64, 32, 0, 64, 32, 1, 0.72 },
  { DYNO_TILE_MATRIX, 288, 64, 32, 0, 32, 64, 1, 0.60 },
  { DYNO_TILE_MATRIX, 128, 64, 32, 0, 64, 32, 1, 0.66 },
  { DYNO_TILE_MATRIX, 64, 128, 32, 0, 32, 64, 1, 0.66 },
  { DYNO_TILE_MATRIX, 128, 32, 32, 0, 32, 32, 1, 0.42 },
  { DYNO_TILE_MATRIX, 64, 64, 32, 0, 32, 32, 1, 0.55 },
  { DYNO_TILE_MATRIX, 64, 64, 64, 0, 32, 32, 1, 0.334 },
  { DYNO_TILE_MATRIX, 32, 64, 128, 0, 16, 32, 1, 0.256 },
  { DYNO_TILE_MATRIX, 32, 32, 128, 0, 16, 16, 1, 0.156 },
  { DYNO_TILE_MATRIX, 16, 64, 128, 0, 16, 32, 4, 0.170 },
  { DYNO_TILE_MATRIX, 16, 32, 128, 0, 16, 32, 4, 0.107 },
  { DYNO_TILE_MATRIX, 128, 256, 32, 0, 64, 64, 1, 0.90, TRUE },
  { DYNO_TILE_MATRIX, 128, 128, 32, 0, 64, 64, 1, 1.00, TRUE },
  { DYNO_TILE_MATRIX, 256, 128, 32, 0, 64, 64, 1, 0.85, TRUE },
  { DYNO_TILE_MATRIX, 128, 64, 32, 0, 64, 32, 1, 0.60, TRUE },
  { DYNO_TILE_PATCH, 256, 64, 32, 0, 64, 64, 2, 1.15 },
  { DYNO_TILE_PATCH, 256, 64, 32, 0, 64, 64, 1, 1.02 },
  { DYNO_TILE_PATCH, 256, 64, 32, 0, 64, 32, 1, 1.00 },
  { DYNO_TILE_PATCH, 256, 32, 32, 0, 64, 32, 1, 0.65 },
  { DYNO_TILE_FIRST, 128, 64, 16, 0, 32, 64, 1, 1.20 },
  { DYNO_TILE_FIRST, 256, 64, 16, 0, 64, 64, 1, 1.15 },
  { DYNO_TILE_FIRST, 256, 32, 16, 0, 64, 32, 1, 1.10 },
  { DYNO_TILE_FIRST, 128, 32, 16, 0, 32, 32, 1, 1.10 },
  { DYNO_TILE_STRIP, 512, 16, 16, 0, 64, 16, 1, 0.60 },
  { DYNO_TILE_STRIP, 256, 16, 16, 0, 32, 16, 1, 0.55 },
  { DYNO_TILE_STRIP, 128, 16, 16, 0, 32, 16, 1, 0.50 },
  { DYNO_TILE_STRIP, 512, 32, 16, 0, 64, 32, 1, 0.90 },
  { DYNO_TILE_STRIP, 256, 32, 16, 0, 32, 32, 1, 0.70 },
  { DYNO_TILE_STRIP, 128, 32, 16, 0, 32, 32, 1, 0.65 },
  { DYNO_TILE_STRIP, 256, 64, 16, 0, 64, 32, 1, 1.30 },
  { DYNO_TILE_STRIP, 384, 64, 16, 0, 64, 32, 1, 1.25 },
  { DYNO_TILE_FMA, 128, 128, 16, 16, 8, 8, 2, 0.160 },
  { DYNO_TILE_FMA, 128, 64, 16, 16, 8, 8, 1, 0.155 },
  { DYNO_TILE_FMA, 256, 64, 16, 16, 8, 8, 2, 0.140 },
  { DYNO_TILE_FMA, 64, 64, 16, 16, 8, 8, 1, 0.145 },
  { DYNO_TILE_FMA, 64, 64, 16, 16, 8, 4, 1, 0.130 },
  { DYNO_TILE_FMA, 128, 32, 16, 16, 8, 4, 1, 0.110 },
  { DYNO_TILE_FMA, 64, 32, 16, 16, 4, 4, 1, 0.100 },
  { DYNO_TILE_FMA, 32, 32, 16, 16, 4, 4, 2, 0.050 },
  { DYNO_TILE_FMA, 128, 64, 16, 16, 8, 8, 1, 0.125, TRUE },
  { DYNO_TILE_FMA, 32, 32, 16, 16, 4, 4, 2, 0.050, TRUE },
  { DYNO_TILE_LANES, 32, 64, 0, 32, 1, 1, 1, 0.30 },
  { DYNO_TILE_LANES, 32, 32, 0, 32, 1, 1, 1, 0.25 },
};
const guint dyno_n_tiles = G_N_ELEMENTS (dyno_tiles);

static guint32
ceil_div (guint64 a, guint32 b)
{
  return (guint32) ((a + b - 1) / b);
}

/* Elements per processor up to which deep tiles are used. */
#define SMALL_PRODUCT (64 * 64)

/* The columns of every kind of tile are a multiple of this number. */
#define BLOCK_COLUMNS 32

DynoConv2dBlock
dyno_conv2d_block (const DynoConv2dShape *s)
{
  guint32 groups = MAX (s->groups, 1), c = s->c / groups, k = s->k / groups;
  for (guint32 merged = 1; merged < groups; merged++)
    if (groups % merged == 0 && (guint64) merged * c % BLOCK_COLUMNS == 0
        && (guint64) merged * k % BLOCK_COLUMNS == 0)
      return (DynoConv2dBlock){ merged, merged * c, merged * k, FALSE };
  return (DynoConv2dBlock){ groups, s->cp, s->kp, TRUE };
}

gboolean
dyno_tile_is_deep (const DynoTile *tile)
{
  return tile->kind == DYNO_TILE_MATRIX && tile->k > 32;
}

gboolean
dyno_conv2d_is_small (const DynoDeviceInfo *info, const DynoConv2dShape *s, DynoConv2dPass pass)
{
  guint64 elements = pass == DYNO_CONV2D_DGRAD ? (guint64) s->n * s->h * s->w * s->cp
                                               : (guint64) s->n * s->oh * s->ow * s->kp;
  return pass != DYNO_CONV2D_WGRAD && s->dtype == DYNO_DTYPE_F16 && info->matrix != DYNO_MATRIX_NONE
         && elements <= (guint64) SMALL_PRODUCT * dyno_device_info_processors (info);
}

gboolean
dyno_tile_uses_matrix (const DynoTile *tile)
{
  return tile->kind == DYNO_TILE_MATRIX || tile->kind == DYNO_TILE_PATCH
         || tile->kind == DYNO_TILE_FIRST || tile->kind == DYNO_TILE_STRIP;
}

static guint32
tile_depth (const DynoTile *tile, DynoDtype dtype)
{
  return dyno_dtype_size (dtype) == 2 ? tile->k : tile->k_single;
}

/* BK of a pass; with LANES it is 4 in wgrad, where the chunks of A lie along M. */
guint32
dyno_tile_pass_depth (const DynoTile *tile, DynoDtype dtype, DynoConv2dPass pass)
{
  return tile->kind == DYNO_TILE_LANES && pass == DYNO_CONV2D_WGRAD ? 4 : tile_depth (tile, dtype);
}

/* BM and BN of a pass.  A LANES tile has m lines that are broadcast and n sums in lanes; dgrad has
 * its lanes along M. */
guint32
dyno_tile_pass_m (const DynoTile *tile, DynoConv2dPass pass)
{
  return tile->kind == DYNO_TILE_LANES && pass == DYNO_CONV2D_DGRAD ? tile->n : tile->m;
}

guint32
dyno_tile_pass_n (const DynoTile *tile, DynoConv2dPass pass)
{
  return tile->kind == DYNO_TILE_LANES && pass == DYNO_CONV2D_DGRAD ? tile->m : tile->n;
}

static guint32
tile_invocations (const DynoTile *tile)
{
  if (tile->kind == DYNO_TILE_LANES)
    return 8;
  guint32 parts = (tile->m / tile->part_m) * (tile->n / tile->part_n);
  if (tile->kind == DYNO_TILE_MATRIX)
    parts *= tile->stages;
  return dyno_tile_uses_matrix (tile) ? 32 * parts : parts;
}

/* Bytes of workgroup memory, the most that a pass takes; see gemm-matrix.glsl and gemm-fma.glsl. */
static guint32
tile_shared_bytes (const DynoTile *tile, DynoDtype dtype)
{
  guint32 k = tile_depth (tile, dtype);
  if (tile->kind == DYNO_TILE_LANES)
    return 0;
  if (tile->kind == DYNO_TILE_FMA)
    return 4 * k * (tile->m + 4 + tile->n + 4) * tile->stages;
  guint32 along_k = (tile->m + tile->n) * (k + 8) * 2;
  guint32 mixed = tile->m * (k + 8) * 2 + k * (tile->n + 8) * 2;
  guint32 edge = 16 * (MIN (tile->part_n, 32) + 4) * 4 * (tile_invocations (tile) / 32);
  /* Sums of all slices but the first, in rows of 16 and 4 more. */
  guint32 slices = tile->kind == DYNO_TILE_MATRIX ? (tile->stages - 1) * tile->m * tile->n * 5 : 0;
  return MAX (MAX (along_k, mixed), MAX (edge, slices));
}

guint32
dyno_patch_pitch (const DynoConv2dShape *s)
{
  return s->w + s->pad_w;
}

guint32
dyno_patch_rows (const DynoTile *tile, const DynoConv2dShape *s)
{
  return tile->m + 2 * (s->pad_h * dyno_patch_pitch (s) + s->pad_w);
}

static guint64
patch_shared_bytes (const DynoTile *tile, const DynoConv2dShape *s)
{
  guint64 row = 2 * (tile->k + 8),
          weights = MAX (tile->n * row, tile->k * 2 * (tile->n + 8)) * s->kernel_w;
  guint64 edge = 16 * 2 * (tile->part_n + 8) * (tile_invocations (tile) / 32);
  return MAX (dyno_patch_rows (tile, s) * row + weights, edge);
}

/* Number of 32-bit registers for values; an invocation has 256, some of which hold addresses and
 * counters. */
#define REGISTERS_SPILL 195
/* The values of a batch norm in the loads that an invocation holds for its channels. */
#define REGISTERS_LOAD 13

/* The registers of an invocation for sums, fragments, and chunks on the way to shared memory. */
static guint32
count_strip_registers (const DynoTile *tile, const DynoConv2dShape *shape, DynoConv2dPass pass)
{
  const DynoStripTile strip = dyno_strip_tile (tile, shape, pass);
  guint32 invocations = tile_invocations (tile), taps = shape->kernel_h * shape->kernel_w,
          patch = (strip.tile_h + shape->kernel_h - 1) * (strip.tile_w + shape->kernel_w - 1)
                  * strip.slices * 2,
          beside = pass == DYNO_CONV2D_WGRAD ? tile->m * tile->n / 8
                   : strip.slabs > 1         ? taps * strip.slices * 2 * tile->n
                                             : 0,
          fragments = pass == DYNO_CONV2D_WGRAD ? strip.rows * (tile->n / 16) + 1
                                                : strip.rows + shape->kernel_h;

  return strip.part_m * tile->part_n / 32 + 2 * 4 * fragments
         + 4 * (ceil_div (patch, invocations) + ceil_div (beside, invocations));
}

/* Where subgroups may have 64 lanes, a fragment of 16 rows or columns lies in 16 lanes, and is
 * repeated in every other 16 lanes: operands take twice the registers that they take on the card
 * where the rates were measured, and only for that card do the rates show which tiles spill.  With
 * the RADV driver of Mesa 25.0 (RX 7900 XTX) 128x128 of 64x64 parts therefore spills 7 to 11
 * registers, 256x64 up to 58, a patch 94 to 137; tiles whose loads are spread over 256 invocations
 * do not spill. */
gboolean
dyno_tile_spills (const DynoTile *tile, const DynoDeviceInfo *info, const DynoConv2dShape *shape,
                  DynoConv2dPass pass)
{
  guint32 norm = shape->fused.load && pass != DYNO_CONV2D_DGRAD ? REGISTERS_LOAD : 0;
  if (info->subgroup_max > 32 && tile->kind == DYNO_TILE_STRIP)
    return count_strip_registers (tile, shape, pass) + norm > REGISTERS_SPILL;
  if (info->subgroup_max <= 32 || (tile->kind != DYNO_TILE_MATRIX && tile->kind != DYNO_TILE_PATCH))
    return FALSE;
  guint32 invocations = tile_invocations (tile), taps = tile->kind == DYNO_TILE_PATCH ? 3 : 1;
  guint32 sums = tile->part_m * tile->part_n / 32, operands = 2 * 4 * (tile->part_m / 16 + 1);
  /* Chunks on the way to shared memory, 4 registers each, and one more for the validity of A's
   * chunks. */
  guint32 loads = (5 * tile->m + 4 * taps * tile->n) * (tile->k / 8) / invocations;
  return sums + operands + loads + norm > REGISTERS_SPILL;
}

/* The width of the rectangle of pixels that wastes least. */
static guint32
rectangle_width (guint32 width)
{
  return ceil_div (width, 32) * 32 <= ceil_div (width, 16) * 16 ? 32 : 16;
}

DynoFirstTile
dyno_first_tile (const DynoTile *tile, const DynoConv2dShape *s, DynoConv2dPass pass)
{
  DynoFirstTile f = { .channels = 8 / MAX (s->stride_w, 1) };
  f.slices = ceil_div ((guint64) s->kernel_w * f.channels, 16);
  f.tile_w = rectangle_width (s->ow);
  f.tile_h = tile->m / f.tile_w;
  f.patch_chunks = (guint64) ((f.tile_h - 1) * s->stride_h + s->kernel_h)
                   * ((f.tile_w - 1) * s->stride_w + f.slices * 16 / f.channels) * f.channels / 8;
  f.part_m = pass == DYNO_CONV2D_WGRAD ? f.slices * 16 : tile->part_m;
  guint64 row = tile->n / 8 + 1, taps = (guint64) s->kernel_h * f.slices * 16;
  if (pass == DYNO_CONV2D_WGRAD)
    {
      f.subgroups = s->kernel_h * (tile->n / tile->part_n);
      f.shared_bytes = 16 * MAX (f.patch_chunks + tile->m * row, 16 * 9 * (guint64) f.subgroups);
    }
  else
    {
      f.subgroups = (tile->m / tile->part_m) * (tile->n / tile->part_n);
      f.shared_bytes =
          16 * (taps * row + f.patch_chunks + 16 * (tile->part_n / 8 + 1) * f.subgroups);
    }
  return f;
}

/* TRUE: workgroups are whole subgroups.  Vulkan requires this of kernels with matrix units
 * (VUID-VkPipelineShaderStageCreateInfo-module-08987), for the device's default subgroup size, even
 * where a kernel requires another size. */
static gboolean
whole_subgroups (const DynoDeviceInfo *info, guint32 invocations)
{
  return info->subgroup_size <= 32 || invocations % info->subgroup_size == 0;
}

static gboolean
first_serves (const DynoTile *tile, const DynoDeviceInfo *info, const DynoConv2dShape *s,
              DynoConv2dPass pass)
{
  if (s->groups > 1 || s->dilation_h > 1 || s->dilation_w > 1)
    return FALSE;
  if (s->c > 4 || s->cp != 8 || pass == DYNO_CONV2D_DGRAD || s->stride_w > 2 || s->stride_w == 0
      || s->kernel_w > 64 || s->kernel_h > 64 || (guint64) s->n * s->h * s->w >= 1u << 30)
    return FALSE;
  DynoFirstTile f = dyno_first_tile (tile, s, pass);
  if (!whole_subgroups (info, 32 * f.subgroups))
    return FALSE;
  return f.shared_bytes <= info->shared_bytes && 32 * f.subgroups <= info->max_invocations
         && f.slices <= 4;
}

/* The most rows of a kernel, and the most sums of a wgrad's subgroup, in fragments, for which the
 * registers suffice. */
#define STRIP_MOST_TAPS_H 7
#define STRIP_MOST_SUMS   18
/* Above this number of sums of a workgroup, shared memory holds the patch of only one slice. */
#define STRIP_LARGE 4096

/* The number of tiles of height x width pixels, and *across, the images side by side on a sheet; 0:
 * each image has its own tiles, since these are no more than those of a sheet. */
static guint64
count_strip_tiles (const DynoConv2dShape *s, guint32 height, guint32 width, guint32 *across)
{
  guint32 pitch = s->w + s->pad_w, beside = MAX ((width + s->pad_w) / pitch, 1);
  guint64 apart = (guint64) s->n * ceil_div (s->h, height) * ceil_div (s->w, width),
          sheet = (guint64) ceil_div ((guint64) ceil_div (s->n, beside) * (s->h + s->pad_h), height)
                  * ceil_div ((guint64) beside * pitch - s->pad_w, width);

  *across = sheet < apart ? beside : 0;
  return MIN (sheet, apart);
}

DynoStripTile
dyno_strip_tile (const DynoTile *tile, const DynoConv2dShape *s, DynoConv2dPass pass)
{
  guint32 taps = s->kernel_h * s->kernel_w,
          fragments = ceil_div (pass == DYNO_CONV2D_DGRAD ? s->kp : s->cp, 16),
          most = pass != DYNO_CONV2D_WGRAD && tile->m * tile->n > STRIP_LARGE ? 1 : 2;
  DynoStripTile n = { .slices = MIN (fragments, most), .rows = tile->part_m / 16 };
  n.slabs = ceil_div (fragments, n.slices);
  for (guint32 width = 32; width >= 16; width /= 2)
    {
      guint32 across;
      guint64 tiles = count_strip_tiles (s, tile->m / width, width, &across);
      if (n.n_tiles > 0 && tiles >= n.n_tiles)
        continue;
      n.n_tiles = tiles;
      n.across = across;
      n.tile_w = width;
      n.tile_h = tile->m / width;
    }
  n.part_m = pass == DYNO_CONV2D_WGRAD ? taps * 16 : tile->part_m;
  /* Rows in shared memory have one chunk of padding. */
  guint64 row = n.slices * 2 + 1, column = tile->n / 8 + 1,
          patch = (guint64) (n.tile_h + s->kernel_h - 1) * (n.tile_w + s->kernel_w - 1) * row;
  if (pass == DYNO_CONV2D_WGRAD)
    n.shared_bytes =
        16 * MAX (patch + tile->m * column, (guint64) n.slices * taps * (tile->n / 16) * 16 * 5);
  else
    n.shared_bytes = 16
                     * (taps * (pass == DYNO_CONV2D_DGRAD ? tile->n * row : n.slices * 16 * column)
                        + MAX (patch, 16 * (guint64) (tile->part_n / 8 + 1)
                                          * (tile->m / tile->part_m) * (tile->n / tile->part_n)));
  return n;
}

static gboolean
strip_serves (const DynoTile *tile, const DynoDeviceInfo *info, const DynoConv2dShape *s,
              DynoConv2dPass pass)
{
  guint32 taps = s->kernel_h * s->kernel_w, columns = pass == DYNO_CONV2D_DGRAD ? s->cp : s->kp;

  if (s->groups > 1 || s->dilation_h > 1 || s->dilation_w > 1 || s->stride_h != 1
      || s->stride_w != 1 || s->kernel_h != 2 * s->pad_h + 1 || s->kernel_w != 2 * s->pad_w + 1
      || taps == 1 || s->kernel_h > STRIP_MOST_TAPS_H || s->kernel_w > STRIP_MOST_TAPS_H)
    return FALSE;
  /* A tile of fewer than 64 columns must hold all columns, and a tile of more than 16 columns must
   * be more than half full. */
  if ((tile->n < 64 && columns > tile->n) || (tile->n > 16 && columns <= tile->n / 2)
      || (guint64) s->n * (s->h + s->pad_h) * (s->w + s->pad_w) >= 1u << 28)
    return FALSE;
  /* A subgroup holds the sums of all columns. */
  if (pass == DYNO_CONV2D_WGRAD
      && (taps * (tile->n / 16) > STRIP_MOST_SUMS || tile->part_n != tile->n))
    return FALSE;
  DynoStripTile n = dyno_strip_tile (tile, s, pass);
  guint32 subgroups = tile->m / tile->part_m * (tile->n / tile->part_n);
  return n.tile_h % n.rows == 0 && 32 * subgroups % (n.slices * 2) == 0
         && (pass != DYNO_CONV2D_WGRAD || subgroups % n.slices == 0)
         && n.shared_bytes <= info->shared_bytes;
}

gboolean
dyno_tile_is_rectangle (const DynoTile *tile)
{
  return tile->kind == DYNO_TILE_FIRST || tile->kind == DYNO_TILE_STRIP;
}

guint64
dyno_tile_count_rectangles (const DynoTile *tile, const DynoConv2dShape *s, DynoConv2dPass pass)
{
  guint32 width = rectangle_width (s->ow);
  if (tile->kind == DYNO_TILE_STRIP)
    return dyno_strip_tile (tile, s, pass).n_tiles;
  return (guint64) s->n * ceil_div (s->oh, tile->m / width) * ceil_div (s->ow, width);
}

guint32
dyno_tile_invocations (const DynoTile *tile, const DynoConv2dShape *shape, DynoConv2dPass pass)
{
  return tile->kind == DYNO_TILE_FIRST ? 32 * dyno_first_tile (tile, shape, pass).subgroups
                                       : tile_invocations (tile);
}

/* The number of taps of all pixels of y along one side that are inside of x. */
static guint64
count_inside (guint32 size, guint32 out, guint32 kernel, guint32 stride, guint32 pad)
{
  guint64 n = 0;
  for (guint64 i = 0; i < out; i++)
    {
      guint64 first = MAX (i * stride, pad), end = MIN (i * stride + kernel, (guint64) size + pad);
      n += end > first ? end - first : 0;
    }
  return n;
}

double
dyno_images_products (const DynoConv2dShape *s)
{
  double inside = (double) count_inside (s->h, s->oh, s->kernel_h, s->stride_h, s->pad_h)
                  * (double) count_inside (s->w, s->ow, s->kernel_w, s->stride_w, s->pad_w);
  return MAX (inside, 1.0) * s->n * s->cp * s->kp;
}

/* The shape must have pads, else no tap can be left out, and images must be whole tiles and taps
 * whole K tiles; in wgrad images must be whole K tiles and taps whole tiles. */
static gboolean
images_serve (const DynoTile *tile, const DynoConv2dShape *s, DynoConv2dPass pass)
{
  guint32 depth = tile_depth (tile, s->dtype);
  if (s->groups > 1 || s->dilation_h > 1 || s->dilation_w > 1 || s->pad_h + s->pad_w == 0)
    return FALSE;
  if (pass == DYNO_CONV2D_WGRAD)
    return s->n % depth == 0 && s->cp % tile->m == 0;
  return s->n % tile->m == 0 && (pass == DYNO_CONV2D_DGRAD ? s->kp : s->cp) % depth == 0;
}

gboolean
dyno_tile_serves (const DynoTile *tile, const DynoDeviceInfo *info, const DynoConv2dShape *s,
                  DynoConv2dPass pass)
{
  if (tile->kind == DYNO_TILE_FIRST)
    return first_serves (tile, info, s, pass);
  if (tile->kind == DYNO_TILE_STRIP)
    return strip_serves (tile, info, s, pass);
  const DynoConv2dBlock block = dyno_conv2d_block (s);
  guint32 columns = pass == DYNO_CONV2D_DGRAD ? block.c : block.k;
  if (!block.single && columns % dyno_tile_pass_n (tile, pass) != 0)
    return FALSE;
  if (dyno_tile_is_deep (tile) && !dyno_conv2d_is_small (info, s, pass))
    return FALSE;
  if (tile->images)
    return images_serve (tile, s, pass);
  if (tile->kind != DYNO_TILE_PATCH)
    return TRUE;
  return block.single && s->dilation_h <= 1 && s->dilation_w <= 1 && pass != DYNO_CONV2D_WGRAD
         && s->stride_h == 1 && s->stride_w == 1 && s->kernel_h == 2 * s->pad_h + 1
         && s->kernel_w == 2 * s->pad_w + 1 && s->kernel_h * s->kernel_w > 1
         && (guint64) s->h * s->w < 1u << 24
         && (guint64) (s->n + 1) * (s->h + s->pad_h) * dyno_patch_pitch (s) < 1u << 31
         && patch_shared_bytes (tile, s) <= info->shared_bytes;
}

const char *
dyno_tile_unusable (const DynoTile *tile, const DynoDeviceInfo *info, DynoDtype dtype)
{
  if (dyno_tile_uses_matrix (tile))
    {
      if (dtype != DYNO_DTYPE_F16)
        return "matrix units are used with fp16 only";
      if (info->matrix == DYNO_MATRIX_NONE)
        return info->matrix_khr_device || info->matrix_nv_device
                   ? "this build's shader compiler does not know the device's matrix units"
                   : "the device has no matrix units";
      if (info->subgroup_min > 32 || info->subgroup_max < 32)
        return "the device has no subgroups of 32";
      if (tile->kind != DYNO_TILE_FIRST && !whole_subgroups (info, tile_invocations (tile)))
        return "the device's subgroups do not divide its workgroup";
    }
  if (tile->kind == DYNO_TILE_LANES
      && (info->type != DYNO_DEVICE_TYPE_SOFTWARE || info->subgroup_size != 8))
    return "made for devices that are a CPU with subgroups of 8";
  if (dyno_dtype_unusable (dtype, info))
    return dyno_dtype_unusable (dtype, info);
  if (tile_depth (tile, dtype) == 0)
    return "not made for fp32";
  if (tile_invocations (tile) > info->max_invocations)
    return "the device's workgroups are too small";
  if (tile_shared_bytes (tile, dtype) > info->shared_bytes)
    return "the device has too little workgroup memory";
  return NULL;
}

DynoVariant
dyno_tile_variant (const DynoTile *tile, const DynoDeviceInfo *info, DynoDtype dtype)
{
  /* Tiles of the same size differ in their parts. */
  gboolean lanes = tile->kind == DYNO_TILE_LANES;
  DynoVariant variant = { .path = dtype == DYNO_DTYPE_F16 ? DYNO_PATH_F16 : DYNO_PATH_F32,
                          .m = tile->m,
                          .n = tile->n,
                          .k = tile_depth (tile, dtype),
                          .part_m = lanes ? 0 : tile->part_m,
                          .part_n = lanes ? 0 : tile->part_n };
  if (dyno_tile_uses_matrix (tile))
    variant.path = info->matrix == DYNO_MATRIX_NV ? DYNO_PATH_NV : DYNO_PATH_KHR;
  else if (lanes)
    variant.path = DYNO_PATH_LANES;
  if (tile->kind == DYNO_TILE_PATCH)
    variant.scheme = tile->stages == 2 ? DYNO_SCHEME_PATCH_AHEAD : DYNO_SCHEME_PATCH;
  else if (tile->kind == DYNO_TILE_FIRST)
    variant.scheme = DYNO_SCHEME_FIRST;
  else if (tile->kind == DYNO_TILE_STRIP)
    variant.scheme = DYNO_SCHEME_STRIP;
  else if (tile->images)
    variant.scheme = DYNO_SCHEME_IMAGES;
  return variant;
}
