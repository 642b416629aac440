/* SPDX-License-Identifier: MIT */
/* The variants of the convolution's kernels: which tiles there are, which of them a device can run, which are likely the
 * fastest for a shape, and the kernel of each.
 *
 * The guess, for a device that nothing was timed on, is rate * (share of the padded product that is useful) * (share of the
 * last round of workgroups that is busy).  What was measured stands in the rates: 64 x 64 sums a subgroup are best with fp32
 * accumulation, more spill, fewer wait on shared memory. */
#include "conv2d-private.h"
#include "conv2d.h"
#include <string.h>

const DynoTile dyno_tiles[] = {
  { DYNO_TILE_MATRIX, 128, 256, 32, 0, 64, 64, 1.00 }, { DYNO_TILE_MATRIX, 128, 128, 32, 0, 64, 64, 0.94 },
  { DYNO_TILE_MATRIX, 256, 128, 32, 0, 64, 64, 0.93 }, { DYNO_TILE_MATRIX, 256, 64, 32, 0, 64, 64, 0.85 },
  { DYNO_TILE_MATRIX, 128, 64, 32, 0, 64, 32, 0.75 },  { DYNO_TILE_MATRIX, 64, 128, 32, 0, 32, 64, 0.75 },
  { DYNO_TILE_MATRIX, 128, 32, 32, 0, 32, 32, 0.60 },  { DYNO_TILE_MATRIX, 64, 64, 32, 0, 32, 32, 0.60 },
  { DYNO_TILE_FMA, 128, 128, 16, 8, 8, 8, 0.15 },      { DYNO_TILE_FMA, 128, 64, 16, 8, 8, 4, 0.13 },
  { DYNO_TILE_FMA, 64, 64, 16, 16, 4, 4, 0.10 },       { DYNO_TILE_FMA, 32, 32, 16, 16, 4, 4, 0.05 },
  { DYNO_TILE_LANES, 32, 64, 0, 32, 1, 1, 0.30 },      { DYNO_TILE_LANES, 32, 32, 0, 32, 1, 1, 0.25 },
};
const guint dyno_n_tiles = G_N_ELEMENTS (dyno_tiles);

/* Workgroups that a large card runs at once; enough tiles for that is what splitting aims at. */
#define CARD_GROUPS 132
/* Fewest K tiles in a split, and most bytes of partial sums. */
#define SPLIT_MIN_TILES 8
#define SPLIT_MAX_BYTES (64u << 20)

const char *
dyno_conv2d_pass_name (DynoConv2dPass pass)
{
  static const char *const names[DYNO_CONV2D_N_PASSES] = { "forward", "dgrad", "wgrad" };
  return names[pass];
}

static guint32
ceil_div (guint64 a, guint32 b)
{
  return (guint32) ((a + b - 1) / b);
}

static guint32
tile_depth (const DynoTile *tile, gboolean half)
{
  return half ? tile->k : tile->k_single;
}

/* BK of a pass: where lanes lie along M there is no K to load at once. */
static guint32
pass_depth (const DynoTile *tile, gboolean half, DynoConv2dPass pass)
{
  return tile->kind == DYNO_TILE_LANES && pass == DYNO_CONV2D_WGRAD ? 4 : tile_depth (tile, half);
}

/* BM and BN of a pass.  A LANES tile is m lines that are broadcast by n sums in lanes; dgrad has its lanes along M. */
static guint32
pass_m (const DynoTile *tile, DynoConv2dPass pass)
{
  return tile->kind == DYNO_TILE_LANES && pass == DYNO_CONV2D_DGRAD ? tile->n : tile->m;
}

static guint32
pass_n (const DynoTile *tile, DynoConv2dPass pass)
{
  return tile->kind == DYNO_TILE_LANES && pass == DYNO_CONV2D_DGRAD ? tile->m : tile->n;
}

static guint32
tile_invocations (const DynoTile *tile)
{
  if (tile->kind == DYNO_TILE_LANES)
    return 8;
  guint32 parts = (tile->m / tile->part_m) * (tile->n / tile->part_n);
  return tile->kind == DYNO_TILE_MATRIX ? 32 * parts : parts;
}

/* Workgroup memory, the larger of what the passes take; see gemm-matrix.glsl and gemm-fma.glsl. */
static guint32
tile_shared_bytes (const DynoTile *tile, gboolean half)
{
  guint32 k = tile_depth (tile, half);
  if (tile->kind == DYNO_TILE_LANES)
    return 0;
  if (tile->kind == DYNO_TILE_FMA)
    return 4 * k * (tile->m + 4 + tile->n + 4);
  guint32 along_k = (tile->m + tile->n) * (k + 8) * 2;
  guint32 mixed = tile->m * (k + 8) * 2 + k * (tile->n + 8) * 2;
  guint32 edge = 16 * (MIN (tile->part_n, 32) + 4) * 4 * (tile_invocations (tile) / 32);
  return MAX (MAX (along_k, mixed), edge);
}

const char *
dyno_tile_unusable (const DynoTile *tile, const DynoDeviceInfo *info, gboolean half)
{
  if (tile->kind == DYNO_TILE_MATRIX)
    {
      if (!half)
        return "matrix units are used with fp16 only";
      if (info->matrix == DYNO_MATRIX_NONE)
        return info->matrix_khr_device || info->matrix_nv_device
                   ? "this build's shader compiler does not know the device's matrix units"
                   : "the device has no matrix units";
      if (info->subgroup_min > 32 || info->subgroup_max < 32)
        return "the device has no subgroups of 32";
    }
  if (tile->kind == DYNO_TILE_LANES && (info->type != DYNO_DEVICE_TYPE_SOFTWARE || info->subgroup_size != 8))
    return "made for devices that are a CPU with subgroups of 8";
  if (half && !info->fp16)
    return "the device has no fp16";
  if (tile_depth (tile, half) == 0)
    return "not made for fp32";
  if (tile_invocations (tile) > info->max_invocations)
    return "the device's workgroups are too small";
  if (tile_shared_bytes (tile, half) > info->shared_bytes)
    return "the device has too little workgroup memory";
  return NULL;
}

void
dyno_tile_label (const DynoTile *tile, const DynoDeviceInfo *info, gboolean half, char *label)
{
  const char *path = half ? "f16" : "f32";
  if (tile->kind == DYNO_TILE_MATRIX)
    path = info->matrix == DYNO_MATRIX_NV ? "nv" : "khr";
  else if (tile->kind == DYNO_TILE_LANES)
    path = "lanes";
  g_snprintf (label, 48, "%s %ux%ux%u", path, tile->m, tile->n, tile_depth (tile, half));
}

/* The product that a pass is.  With strides dgrad has a product a phase: rows and depth are those of the largest. */
typedef struct {
  guint64 rows, columns, depth;
  guint32 phases;
  double useful; /* products of all phases, unpadded by tiles */
} Product;

static guint32
count_steps (guint32 first, guint32 end, guint32 stride)
{
  return first < end ? (end - first + stride - 1) / stride : 0;
}

/* Rows and depth of a phase of dgrad. */
static void
phase_size (const DynoConv2dShape *s, guint32 phase, guint64 *rows, guint64 *depth)
{
  guint32 y = phase / s->stride_w, x = phase % s->stride_w;
  *rows = (guint64) s->n * count_steps (y, s->h, s->stride_h) * count_steps (x, s->w, s->stride_w);
  *depth = (guint64) count_steps ((y + s->pad_h) % s->stride_h, s->kernel_h, s->stride_h)
           * count_steps ((x + s->pad_w) % s->stride_w, s->kernel_w, s->stride_w) * s->kp;
}

static Product
product_of (const DynoConv2dShape *s, DynoConv2dPass pass)
{
  guint64 pixels = (guint64) s->n * s->oh * s->ow, taps = (guint64) s->kernel_h * s->kernel_w;
  Product product = { .phases = 1 };

  switch (pass)
    {
    case DYNO_CONV2D_FORWARD:
      product.rows = pixels;
      product.columns = s->kp;
      product.depth = taps * s->cp;
      break;
    case DYNO_CONV2D_WGRAD:
      product.rows = taps * s->cp;
      product.columns = s->kp;
      product.depth = pixels;
      break;
    default:
      product.columns = s->cp;
      product.phases = s->stride_h * s->stride_w;
      for (guint32 phase = 0; phase < product.phases; phase++)
        {
          guint64 rows, depth;
          phase_size (s, phase, &rows, &depth);
          product.rows = MAX (product.rows, rows);
          product.depth = MAX (product.depth, depth);
          product.useful += (double) rows * (double) depth * (double) product.columns;
        }
      return product;
    }
  product.useful = (double) product.rows * (double) product.columns * (double) product.depth;
  return product;
}

static double
score_of (const DynoTile *tile, const Product *product, DynoConv2dPass pass, guint32 depth, guint32 splits,
          gboolean software)
{
  double groups = (double) ceil_div (product->rows, pass_m (tile, pass)) * ceil_div (product->columns, pass_n (tile, pass))
                  * product->phases * splits;
  double padded =
      groups / splits * pass_m (tile, pass) * pass_n (tile, pass) * (double) ceil_div (product->depth, depth) * depth;
  double useful = padded > 0 ? product->useful / padded : 1.0;
  /* Small workgroups share a processor. */
  double at_once = CARD_GROUPS * (256.0 / tile_invocations (tile));
  double rounds = groups / at_once, last = rounds > 0 ? rounds / (double) (guint64) (rounds + 0.999999) : 1.0;
  return tile->rate * useful * (software ? 1.0 : last);
}

/* A split count near `wanted` and the pixels of each, whole K tiles; no split is empty. */
static void
split_evenly (const DynoTile *tile, const Product *product, guint32 depth, guint32 wanted, DynoConv2dVariant *variant)
{
  guint32 tiles = ceil_div (product->depth, depth);
  guint64 bytes = product->rows * product->columns * 4;
  guint32 most = MIN (tiles / SPLIT_MIN_TILES, (guint32) (SPLIT_MAX_BYTES / MAX (bytes, 1)));
  guint32 each;

  wanted = MAX (1, MIN (wanted, MIN (most, 1024)));
  each = ceil_div (tiles, wanted);
  variant->splits = ceil_div (tiles, each);
  variant->split_len = each * depth;
}

static int
compare_scores (gconstpointer a, gconstpointer b)
{
  const DynoConv2dVariant *va = a, *vb = b;
  return va->score < vb->score ? 1 : va->score > vb->score ? -1 : strcmp (va->label, vb->label);
}

guint
dyno_conv2d_variants (const DynoDeviceInfo *info, const DynoConv2dShape *shape, DynoConv2dPass pass,
                      DynoConv2dVariant *variants)
{
  Product product = product_of (shape, pass);
  gboolean software = info->type == DYNO_DEVICE_TYPE_SOFTWARE;
  guint n = 0;

  for (guint i = 0; i < dyno_n_tiles; i++)
    {
      const DynoTile *tile = &dyno_tiles[i];
      guint32 depth = tile_depth (tile, shape->half), last = 0;
      char name[48];

      if (dyno_tile_unusable (tile, info, shape->half))
        continue;
      dyno_tile_label (tile, info, shape->half, name);
      if (pass != DYNO_CONV2D_WGRAD)
        {
          DynoConv2dVariant *variant = &variants[n++];
          *variant = (DynoConv2dVariant){ .tile = tile, .splits = 1 };
          variant->score = score_of (tile, &product, pass, depth, 1, software);
          g_strlcpy (variant->label, name, sizeof variant->label);
          continue;
        }
      /* Two workgroups a processor, and half and twice as many. */
      guint32 tiles = ceil_div (product.rows, pass_m (tile, pass)) * ceil_div (product.columns, pass_n (tile, pass));
      guint32 wanted = software ? 1 : MAX (1, (2 * CARD_GROUPS + tiles / 2) / MAX (tiles, 1));
      static const double factors[] = { 1.0, 0.5, 2.0 };
      for (guint f = 0; f < G_N_ELEMENTS (factors) && n < DYNO_CONV2D_MAX_VARIANTS; f++)
        {
          DynoConv2dVariant *variant = &variants[n];
          *variant = (DynoConv2dVariant){ .tile = tile };
          split_evenly (tile, &product, depth, (guint32) MAX (1, wanted * factors[f]), variant);
          if (f > 0 && (variant->splits == last || variant->splits == variants[n - 1].splits))
            continue;
          if (f == 0)
            last = variant->splits;
          variant->score = score_of (tile, &product, pass, depth, variant->splits, software) * (f == 0 ? 1.0 : 0.8);
          g_snprintf (variant->label, sizeof variant->label, "%s k%u", name, variant->splits);
          n++;
        }
    }
  qsort (variants, n, sizeof *variants, compare_scores);
  return n;
}

/* TRUE when every product of the pass is whole tiles along this side. */
static void
needs_checks (const DynoConv2dShape *shape, DynoConv2dPass pass, const DynoTile *tile, const Product *product,
              gboolean *check_m, gboolean *check_n, gboolean *check_k)
{
  guint32 depth = pass_depth (tile, shape->half, pass);
  *check_n = product->columns % pass_n (tile, pass) != 0;
  *check_m = product->rows % pass_m (tile, pass) != 0;
  *check_k = product->depth % depth != 0;
  if (pass == DYNO_CONV2D_DGRAD)
    for (guint32 phase = 0; phase < product->phases; phase++)
      {
        guint64 rows, deep;
        phase_size (shape, phase, &rows, &deep);
        *check_m |= rows % pass_m (tile, pass) != 0;
        *check_k |= deep % depth != 0;
      }
}

static void
add_constants (const DynoConv2dShape *s, const DynoConv2dVariant *variant, guint32 accumulate, guint32 tiles,
               guint32 tiles_n, DynoKernelSpec *spec)
{
  const guint32 values[DYNO_CONV2D_N_CONSTANTS] = {
    [DYNO_CONV2D_N] = s->n,
    [DYNO_CONV2D_H] = s->h,
    [DYNO_CONV2D_W] = s->w,
    [DYNO_CONV2D_C] = s->cp,
    [DYNO_CONV2D_OH] = s->oh,
    [DYNO_CONV2D_OW] = s->ow,
    [DYNO_CONV2D_K] = s->kp,
    [DYNO_CONV2D_KH] = s->kernel_h,
    [DYNO_CONV2D_KW] = s->kernel_w,
    [DYNO_CONV2D_STRIDE_H] = s->stride_h,
    [DYNO_CONV2D_STRIDE_W] = s->stride_w,
    [DYNO_CONV2D_PAD_H] = s->pad_h,
    [DYNO_CONV2D_PAD_W] = s->pad_w,
    [DYNO_CONV2D_ACCUMULATE] = accumulate,
    [DYNO_CONV2D_HAS_BIAS] = s->has_bias,
    [DYNO_CONV2D_K_SPLIT] = MAX (variant->split_len, 1),
    [DYNO_CONV2D_TILES] = tiles,
    [DYNO_CONV2D_TILES_N] = tiles_n,
  };
  for (guint i = 0; i < G_N_ELEMENTS (values); i++)
    dyno_kernel_spec_constant (spec, values[i]);
}

void
dyno_conv2d_spec (const DynoDeviceInfo *info, const DynoConv2dShape *shape, DynoConv2dPass pass,
                  const DynoConv2dVariant *variant, DynoKernelSpec *spec, guint32 groups[3])
{
  static const char *const shaders[DYNO_CONV2D_N_PASSES] = { "conv2d/forward.comp", "conv2d/dgrad.comp",
                                                             "conv2d/wgrad.comp" };
  const DynoTile *tile = variant->tile;
  Product product = product_of (shape, pass);
  guint32 tiles_n = ceil_div (product.columns, pass_n (tile, pass)),
          tiles = ceil_div (product.rows, pass_m (tile, pass)) * tiles_n;
  guint32 accumulate = pass == DYNO_CONV2D_DGRAD ? shape->accumulate : pass == DYNO_CONV2D_WGRAD ? variant->splits == 1 : 0;
  gboolean check_m, check_n, check_k, matrix = tile->kind == DYNO_TILE_MATRIX;

  needs_checks (shape, pass, tile, &product, &check_m, &check_n, &check_k);
  *spec = (DynoKernelSpec){ .shader = shaders[pass],
                            .local_size = { tile_invocations (tile), 1, 1 },
                            .subgroup_size = matrix                          ? 32
                                             : tile->kind == DYNO_TILE_LANES ? 8
                                                                             : 0,
                            .push_bytes = sizeof (DynoConv2dPush) };
  dyno_kernel_spec_macro (spec, "HALF=%d BM=%u BN=%u BK=%u", shape->half, pass_m (tile, pass), pass_n (tile, pass),
                          pass_depth (tile, shape->half, pass));
  if (matrix)
    dyno_kernel_spec_macro (spec, "SM=%u SN=%u", tile->part_m, tile->part_n);
  else if (tile->kind == DYNO_TILE_FMA)
    dyno_kernel_spec_macro (spec, "TM=%u TN=%u", tile->part_m, tile->part_n);
  else
    dyno_kernel_spec_macro (spec, "LANES=1");
  dyno_kernel_spec_macro (spec, "CHECK_M=%d CHECK_N=%d CHECK_K=%d", check_m, check_n, check_k);
  if (matrix)
    dyno_kernel_spec_macro (spec, info->matrix == DYNO_MATRIX_NV ? "MATRIX_NV=1" : "MATRIX_KHR=1");
  add_constants (shape, variant, accumulate, tiles, tiles_n, spec);

  groups[1] = ceil_div (tiles, MAX (info->max_groups_x, 1));
  groups[0] = ceil_div (tiles, groups[1]);
  groups[2] = pass == DYNO_CONV2D_WGRAD ? variant->splits : product.phases;
}
