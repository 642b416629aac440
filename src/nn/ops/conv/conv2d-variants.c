/* SPDX-License-Identifier: MIT */
/* The variants of the convolution's kernels: a guess at the fastest ones for a shape, and the
 * kernel of each.
 *
 * The guess, for a device without timings, is rate * (useful share of the padded product) * (busy
 * share of the last round of workgroups).  The rates are measured: 64 x 64 sums per subgroup are
 * best with fp32 accumulation; more sums spill registers, with fewer sums the kernel waits for
 * shared memory. */
#include "batchnorm-push.h"
#include "conv2d-private.h"
#include "conv2d.h"
#include "elementwise.h"
#include <string.h>

/* The number of processors of a device is the number of workgroups of 256 invocations that it is
 * assumed to run at once; wgrad is split into about two workgroups for each processor. */
/* Chunks of a patch that an invocation can load ahead. */
#define PATCH_AHEAD 9
/* The share of the time saved by splits of forward and dgrad that remains after the splits are
 * joined. */
#define SPLIT_SHARE 0.85
/* Workgroups per processor from which on the workgroups of all phases of a tile run side by
 * side. */
#define TOGETHER_MIN_GROUPS 16
/* Fewest K tiles in a split. */
#define SPLIT_MIN_TILES 8
#define SPLIT_MIN_DEEP  3 /* for deep tiles */
/* The number of multiplications that one processor of the measured card does in the time in which a
 * kernel starts and ends (3 us), and in which another kernel joins the parts (4 us). */
#define START_PRODUCTS  3.4e6
#define JOIN_PRODUCTS   4.5e6
#define SPLIT_MAX_BYTES (64u << 20) /* most bytes of partial sums */

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

/* The product that a pass computes.  With strides dgrad has one product per phase: rows and depth
 * are then the most that a phase has. */
typedef struct {
  guint64 rows, columns, depth;
  guint32 phases;
  double useful; /* multiplications of all phases, without the padding of tiles */
} Product;

static guint32
count_steps (guint32 first, guint32 end, guint32 stride)
{
  return first < end ? (end - first + stride - 1) / stride : 0;
}

static guint32
common_divisor (guint32 a, guint32 b)
{
  return b == 0 ? a : common_divisor (b, a % b);
}

/* The distance from a tap to the next tap that applies to the same pixel of x. */
static guint32
tap_step (guint32 stride, guint32 dilation)
{
  return stride / common_divisor (MAX (dilation, 1), stride);
}

/* The number of taps that apply to the pixels at `phase` (pad included) of a stride: the taps with
 * tap * dilation = phase modulo the stride. */
static guint32
count_taps (guint32 phase, guint32 kernel, guint32 stride, guint32 dilation)
{
  guint32 step = tap_step (stride, dilation);
  for (guint32 first = 0; first < step; first++)
    if ((guint64) first * MAX (dilation, 1) % stride == phase % stride)
      return count_steps (first, kernel, step);
  return 0;
}

/* TRUE: only the first phase of dgrad has taps.  Its workgroups then write the zeros of the other
 * phases. */
static gboolean
has_taps_in_first_phase_only (const DynoConv2dShape *s)
{
  return s->kernel_h == 1 && s->kernel_w == 1 && s->pad_h == 0 && s->pad_w == 0
         && s->stride_h * s->stride_w > 1 && !s->fused.norm;
}

/* Rows and depth of a phase of dgrad. */
static void
phase_size (const DynoConv2dShape *s, guint32 phase, guint64 *rows, guint64 *depth)
{
  guint32 y = phase / s->stride_w, x = phase % s->stride_w;
  *rows = (guint64) s->n * count_steps (y, s->h, s->stride_h) * count_steps (x, s->w, s->stride_w);
  *depth = (guint64) count_taps (y + s->pad_h, s->kernel_h, s->stride_h, s->dilation_h)
           * count_taps (x + s->pad_w, s->kernel_w, s->stride_w, s->dilation_w)
           * dyno_conv2d_block (s).k;
}

/* Few channels: only the first four of the eight in memory are multiplied; see FEW in
 * geometry.glsl.  (In fp16 wgrad the loads in two halves may cost more than the multiplications
 * that they save: 695 us instead of 785 for 7x7 taps, but 1187 instead of 687 for 3x3.) */
static gboolean
has_few_channels (const DynoConv2dShape *s, DynoConv2dPass pass)
{
  return s->c <= 4 && s->cp == 8 && s->groups <= 1 && s->dilation_h <= 1 && s->dilation_w <= 1
         && (pass == DYNO_CONV2D_FORWARD
             || (pass == DYNO_CONV2D_WGRAD && s->dtype == DYNO_DTYPE_F32));
}

/* The number of values of x that a sum goes over, KH * KW * C of one block. */
static guint64
taps_of (const DynoConv2dShape *s, DynoConv2dPass pass)
{
  if (!has_few_channels (s, pass))
    return (guint64) s->kernel_h * s->kernel_w * dyno_conv2d_block (s).c;
  guint32 chunk_taps = dyno_dtype_size (s->dtype) == 2 ? 2 : 1;
  return (guint64) s->kernel_h * (ceil_div (s->kernel_w, chunk_taps) * chunk_taps) * 4;
}

static Product
product_of (const DynoConv2dShape *s, DynoConv2dPass pass, const DynoTile *tile)
{
  guint64 pixels = (guint64) s->n * s->oh * s->ow;
  Product product = { .phases = 1 };

  switch (pass)
    {
    case DYNO_CONV2D_FORWARD:
      product.rows = pixels;
      product.columns = s->kp;
      product.depth = taps_of (s, pass);
      break;
    case DYNO_CONV2D_WGRAD:
      product.rows = taps_of (s, pass);
      product.columns = s->kp;
      product.depth = pixels;
      break;
    default:
      product.columns = s->cp;
      product.phases = has_taps_in_first_phase_only (s) ? 1 : s->stride_h * s->stride_w;
      for (guint32 phase = 0; phase < product.phases; phase++)
        {
          guint64 rows, depth;
          phase_size (s, phase, &rows, &depth);
          product.rows = MAX (product.rows, rows);
          product.depth = MAX (product.depth, depth);
          product.useful += (double) rows * (double) depth * (double) product.columns;
        }
      break;
    }
  if (product.useful == 0)
    product.useful = (double) product.rows * (double) product.columns * (double) product.depth;
  if (tile->kind == DYNO_TILE_PATCH)
    product.rows = (guint64) s->n * (s->h + s->pad_h) * dyno_patch_pitch (s);
  if (dyno_tile_is_rectangle (tile))
    {
      guint64 padded = dyno_tile_count_rectangles (tile, s, pass) * tile->m;
      guint32 in = pass == DYNO_CONV2D_DGRAD ? s->kp : s->cp;
      product.rows = pass != DYNO_CONV2D_WGRAD ? padded
                     : tile->kind == DYNO_TILE_STRIP
                         ? dyno_strip_tile (tile, s, pass).slabs * tile->m
                         : tile->m;
      product.depth = pass == DYNO_CONV2D_WGRAD ? padded
                      : tile->kind == DYNO_TILE_FIRST
                          ? (guint64) s->kernel_h * dyno_first_tile (tile, s, pass).slices * 16
                          : (guint64) s->kernel_h * s->kernel_w * ceil_div (in, 16) * 16;
    }
  return product;
}

/* The length of the units into which the sum is cut: K tiles, or in wgrad the pixels of a
 * rectangle. */
static guint32
split_unit (const DynoTile *tile, const DynoConv2dShape *shape, DynoConv2dPass pass)
{
  return pass == DYNO_CONV2D_WGRAD && dyno_tile_is_rectangle (tile)
             ? tile->m
             : dyno_tile_pass_depth (tile, shape->dtype, pass);
}

static double
score_of (const DynoDeviceInfo *info, const DynoTile *tile, const DynoConv2dShape *shape,
          const Product *product, DynoConv2dPass pass, guint32 depth, guint32 splits)
{
  double groups = (double) ceil_div (product->rows, dyno_tile_pass_m (tile, pass))
                  * ceil_div (product->columns, dyno_tile_pass_n (tile, pass)) * product->phases
                  * splits;
  double padded = groups / splits * dyno_tile_pass_m (tile, pass) * dyno_tile_pass_n (tile, pass)
                  * (double) ceil_div (product->depth, depth) * depth;
  double useful = padded > 0 ? MIN (product->useful / padded, 1.0) : 1.0;
  /* Small workgroups share a processor. */
  double at_once =
      dyno_device_info_processors (info)
      * (dyno_tile_is_deep (tile) ? 1.0 : 256.0 / dyno_tile_invocations (tile, shape, pass));
  double rounds = groups / at_once,
         last = rounds > 0 ? rounds / (double) (guint64) (rounds + 0.999999) : 1.0;
  double rate = tile->rate;
  /* With fewer images only the autotuner chooses these tiles: that case was not measured. */
  if (tile->images)
    rate *= product->useful / dyno_images_products (shape) * (shape->n < 128 ? 0.75 : 1.0);
  /* 192 rows, three parts, fit the nine taps of a weight's gradient, but not other passes. */
  if (tile->kind == DYNO_TILE_MATRIX && tile->m == 192 && pass != DYNO_CONV2D_WGRAD)
    rate *= 0.85;
  if (tile->kind == DYNO_TILE_FIRST && tile->m == 256 && tile->n == 64 && pass == DYNO_CONV2D_WGRAD
      && shape->kp % 64 == 0)
    rate *= 1.1;
  /* The next patch must fit into the registers beside the sums. */
  if (tile->kind == DYNO_TILE_PATCH && tile->stages == 2
      && dyno_patch_rows (tile, shape) * (tile->k / 8)
             > PATCH_AHEAD * dyno_tile_invocations (tile, shape, pass))
    rate *= 0.7;
  /* Each tile of columns loads the same rectangles. */
  if (tile->kind == DYNO_TILE_STRIP && product->columns > tile->n)
    rate *= 0.75;
  if (dyno_tile_spills (tile, info, shape, pass))
    rate *= 0.45;
  return rate * useful * (info->type == DYNO_DEVICE_TYPE_SOFTWARE ? 1.0 : last);
}

/* The score of a small product includes the time in which its kernel starts and ends, and in which
 * its parts, if any, are joined. */
static double
small_score (const DynoDeviceInfo *info, const Product *product, guint32 splits, double score)
{
  double idle = START_PRODUCTS + (splits > 1 ? JOIN_PRODUCTS : 0);
  return product->useful / (product->useful / score + idle * dyno_device_info_processors (info));
}

/* A number of splits near `wanted` and the pixels of each split, whole K tiles; no split is
 * empty. */
static void
split_evenly (const DynoTile *tile, const Product *product, guint32 depth, guint32 wanted,
              DynoConv2dVariant *variant)
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
  char name_a[DYNO_VARIANT_LABEL], name_b[DYNO_VARIANT_LABEL];
  if (va->score != vb->score)
    return va->score < vb->score ? 1 : -1;
  dyno_variant_print (&va->variant, name_a);
  dyno_variant_print (&vb->variant, name_b);
  return strcmp (name_a, name_b);
}

/* The length of the K axis of forward and dgrad; for PATCH in channels, since all taps of a channel
 * lie together. */
static guint64
split_depth (const DynoTile *tile, const DynoConv2dShape *shape, DynoConv2dPass pass,
             const Product *product)
{
  if (tile->kind == DYNO_TILE_PATCH)
    return pass == DYNO_CONV2D_DGRAD ? shape->kp : shape->cp;
  return product->depth;
}

/* TRUE: the variant can make the sums of a batch norm's backward pass. */
static gboolean
can_make_norm (const DynoConv2dVariant *variant)
{
  return variant->splits <= 1 && variant->tile->kind != DYNO_TILE_LANES;
}

/* splits 0: the pass is not split */
static void
set_variant (DynoConv2dVariant *variant, const DynoDeviceInfo *info, const DynoConv2dShape *shape,
             guint32 splits)
{
  variant->variant = dyno_tile_variant (variant->tile, info, shape->dtype);
  variant->variant.splits = splits;
}

/* The variants of a tile in forward or dgrad: without splits, and, where that makes fewer than two
 * workgroups per processor, with the K axis split. */
static guint
activation_variants (const DynoDeviceInfo *info, const DynoConv2dShape *shape, DynoConv2dPass pass,
                     const DynoTile *tile, DynoConv2dVariant *variants, guint room)
{
  gboolean software = info->type == DYNO_DEVICE_TYPE_SOFTWARE,
           small = !software && dyno_conv2d_is_small (info, shape, pass);
  guint32 processors = dyno_device_info_processors (info);
  Product product = product_of (shape, pass, tile);
  guint32 unit = dyno_tile_pass_depth (tile, shape->dtype, pass);
  guint64 deep = split_depth (tile, shape, pass, &product),
          bytes = product.rows * product.columns * 4;
  guint32 tiles = ceil_div (product.rows, dyno_tile_pass_m (tile, pass))
                  * ceil_div (product.columns, dyno_tile_pass_n (tile, pass)),
          k_tiles = ceil_div (deep, unit),
          least = tile->kind == DYNO_TILE_PATCH ? 1
                  : dyno_tile_is_deep (tile)    ? SPLIT_MIN_DEEP
                                                : SPLIT_MIN_TILES;
  guint n = 0;

  if (room == 0)
    return 0;
  variants[n] = (DynoConv2dVariant){ .tile = tile, .splits = 1 };
  variants[n].score = score_of (info, tile, shape, &product, pass, unit, 1);
  if (small)
    variants[n].score = small_score (info, &product, 1, variants[n].score);
  set_variant (&variants[n++], info, shape, 0);
  /* Kernels of a split product make no sums for a batch norm, and the pass that then makes them
   * costs as much as splitting a short fp16 product saves (SimpleCNN 32x32 amp at batch 128: 0.37
   * ms per step without, 0.40 with). */
  if (pass == DYNO_CONV2D_FORWARD && shape->fused.statistics && dyno_dtype_size (shape->dtype) == 2)
    return n;
  /* Nor do they make sums for a batch norm's backward pass: a dgrad that should make them is split
   * only where it leaves processors idle. */
  if (pass == DYNO_CONV2D_DGRAD && shape->fused.norm && tiles >= processors)
    return n;
  /* On a CPU only the smallest tiles are split, for the tests. */
  if ((software && tile->m * tile->n > 32 * 32) || tile->images || dyno_tile_is_rectangle (tile)
      || tile->kind == DYNO_TILE_LANES
      || (pass == DYNO_CONV2D_DGRAD && shape->stride_h * shape->stride_w > 1)
      || tiles >= 2 * processors)
    return n;
  static const guint32 counts[] = { 2, 4, 8, 3, 6 };
  guint n_counts = dyno_tile_is_deep (tile) ? G_N_ELEMENTS (counts) : 3;
  for (guint i = 0; i < n_counts && n < room; i++)
    {
      guint32 splits = counts[i];
      guint32 each = ceil_div (k_tiles, splits);
      if (each < least || splits * bytes > SPLIT_MAX_BYTES || tiles * splits > 8 * processors
          || ceil_div (k_tiles, each) != splits)
        continue;
      variants[n] = (DynoConv2dVariant){ .tile = tile, .splits = splits, .split_len = each * unit };
      variants[n].score =
          score_of (info, tile, shape, &product, pass, unit, splits)
          * (dyno_tile_is_deep (tile) ? (double) k_tiles / (each * splits) : SPLIT_SHARE);
      if (small)
        variants[n].score = small_score (info, &product, splits, variants[n].score);
      set_variant (&variants[n], info, shape, splits);
      n++;
    }
  return n;
}

/* A kernel that makes the batch norm's sums applies the activation's slope to dx, and all variants
 * of one choice must write the same values: they all follow the best guess.  Where the best guess
 * makes sums, variants that cannot make them are left out. */
static guint
settle_norm (DynoConv2dVariant *variants, guint n)
{
  gboolean norm = n > 0 && can_make_norm (&variants[0]);
  guint kept = 0;

  for (guint i = 0; i < n; i++)
    {
      if (norm && !can_make_norm (&variants[i]))
        continue;
      variants[kept] = variants[i];
      variants[kept++].norm = norm;
    }
  return kept;
}

guint
dyno_conv2d_variants (const DynoDeviceInfo *info, const DynoConv2dShape *shape, DynoConv2dPass pass,
                      DynoConv2dVariant *variants)
{
  gboolean software = info->type == DYNO_DEVICE_TYPE_SOFTWARE;
  guint32 processors = dyno_device_info_processors (info);
  guint n = 0;

  for (guint i = 0; i < dyno_n_tiles; i++)
    {
      const DynoTile *tile = &dyno_tiles[i];
      guint32 depth, last = 0;

      if (dyno_tile_unusable (tile, info, shape->dtype)
          || !dyno_tile_serves (tile, info, shape, pass))
        continue;
      depth = split_unit (tile, shape, pass);
      Product product = product_of (shape, pass, tile);
      if (pass != DYNO_CONV2D_WGRAD)
        {
          n += activation_variants (info, shape, pass, tile, variants + n,
                                    DYNO_CONV2D_MAX_VARIANTS - n);
          continue;
        }
      /* Split counts for two workgroups per processor, and for half and twice that number. */
      guint32 tiles = ceil_div (product.rows, dyno_tile_pass_m (tile, pass))
                      * ceil_div (product.columns, dyno_tile_pass_n (tile, pass));
      guint32 wanted = software ? 1 : MAX (1, (2 * processors + tiles / 2) / MAX (tiles, 1));
      /* Whole rounds of workgroups: one workgroup more than there are processors takes as long as a
       * whole round. */
      if (dyno_tile_is_rectangle (tile))
        wanted = processors * MAX (2, 512 / dyno_tile_invocations (tile, shape, pass));
      if (tile->kind == DYNO_TILE_STRIP)
        wanted = MAX (1, wanted / tiles);
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
          variant->score = score_of (info, tile, shape, &product, pass, depth, variant->splits)
                           * (f == 0 ? 1.0 : 0.8);
          set_variant (variant, info, shape, variant->splits);
          n++;
        }
    }
  qsort (variants, n, sizeof *variants, compare_scores);
  return pass == DYNO_CONV2D_DGRAD && shape->fused.norm ? settle_norm (variants, n) : n;
}

/* Sets a check to TRUE where a product of the pass is not whole tiles along that side.  LANES
 * always checks: a kernel serves all sizes, and a check costs nothing beside a load. */
static void
needs_checks (const DynoConv2dShape *shape, DynoConv2dPass pass, const DynoTile *tile,
              const Product *product, gboolean *check_m, gboolean *check_n, gboolean *check_k)
{
  guint32 depth = dyno_tile_pass_depth (tile, shape->dtype, pass);
  gboolean lanes = tile->kind == DYNO_TILE_LANES;
  *check_n = lanes || product->columns % dyno_tile_pass_n (tile, pass) != 0;
  *check_m = lanes || product->rows % dyno_tile_pass_m (tile, pass) != 0;
  *check_k = lanes || product->depth % depth != 0;
  if (tile->kind == DYNO_TILE_PATCH)
    *check_k = (pass == DYNO_CONV2D_DGRAD ? shape->kp : shape->cp) % depth != 0;
  else if (pass == DYNO_CONV2D_DGRAD)
    for (guint32 phase = 0; phase < product->phases; phase++)
      {
        guint64 rows, deep;
        phase_size (shape, phase, &rows, &deep);
        *check_m |= rows % dyno_tile_pass_m (tile, pass) != 0;
        *check_k |= deep % depth != 0;
      }
}

static void
add_constants (const DynoConv2dShape *s, const DynoConv2dSizes *sizes, guint32 accumulate,
               DynoKernelSpec *spec)
{
  const DynoConv2dBlock block = dyno_conv2d_block (s);
  const guint32 values[DYNO_CONV2D_N_CONSTANTS] = {
    [DYNO_CONV2D_N] = sizes->n,
    [DYNO_CONV2D_H] = sizes->h,
    [DYNO_CONV2D_W] = sizes->w,
    [DYNO_CONV2D_C] = sizes->c,
    [DYNO_CONV2D_OH] = sizes->oh,
    [DYNO_CONV2D_OW] = sizes->ow,
    [DYNO_CONV2D_K] = sizes->k,
    [DYNO_CONV2D_KH] = s->kernel_h,
    [DYNO_CONV2D_KW] = s->kernel_w,
    [DYNO_CONV2D_STRIDE_H] = s->stride_h,
    [DYNO_CONV2D_STRIDE_W] = s->stride_w,
    [DYNO_CONV2D_PAD_H] = s->pad_h,
    [DYNO_CONV2D_PAD_W] = s->pad_w,
    [DYNO_CONV2D_ACCUMULATE] = accumulate,
    [DYNO_CONV2D_HAS_BIAS] = s->has_bias,
    [DYNO_CONV2D_K_SPLIT] = sizes->k_split,
    [DYNO_CONV2D_TILES] = sizes->tiles,
    [DYNO_CONV2D_TILES_N] = sizes->tiles_n,
    [DYNO_CONV2D_BLOCK_C] = block.c,
    [DYNO_CONV2D_BLOCK_K] = block.k,
    [DYNO_CONV2D_GROUP_C] = s->c / MAX (s->groups, 1),
    [DYNO_CONV2D_GROUP_K] = s->k / MAX (s->groups, 1),
    [DYNO_CONV2D_DILATION_H] = MAX (s->dilation_h, 1),
    [DYNO_CONV2D_DILATION_W] = MAX (s->dilation_w, 1),
    [DYNO_CONV2D_TAP_STEP_H] = tap_step (s->stride_h, s->dilation_h),
    [DYNO_CONV2D_TAP_STEP_W] = tap_step (s->stride_w, s->dilation_w),
  };
  /* A kernel gets the constants of groups and dilation only where it uses them. */
  guint n = s->groups > 1 || s->dilation_h > 1 || s->dilation_w > 1 ? DYNO_CONV2D_N_CONSTANTS
                                                                    : DYNO_CONV2D_BLOCK_C;
  for (guint i = 0; i < n; i++)
    dyno_kernel_spec_set (spec, i, values[i]);
}

/* The number of tiles that a workgroup of FIRST or STRIP computes one after the other, if there are
 * enough tiles: it then loads the weights once. */
#define FIRST_TILES 8
#define STRIP_TILES 32

static const char *
shader_of (const DynoTile *tile, DynoConv2dPass pass)
{
  static const char *const shaders[DYNO_CONV2D_N_PASSES] = { "conv2d/forward.comp",
                                                             "conv2d/dgrad.comp",
                                                             "conv2d/wgrad.comp" };
  if (tile->kind == DYNO_TILE_PATCH)
    return "conv2d/patch.comp";
  if (tile->kind == DYNO_TILE_FIRST)
    return pass == DYNO_CONV2D_WGRAD ? "conv2d/first_wgrad.comp" : "conv2d/first_forward.comp";
  if (tile->kind == DYNO_TILE_STRIP)
    return pass == DYNO_CONV2D_WGRAD ? "conv2d/strip_wgrad.comp" : "conv2d/strip.comp";
  return shaders[pass];
}

/* Adds the macros that depend on the kind of the tile, on phases, groups and dilation. */
static void
add_kind (const DynoConv2dShape *shape, DynoConv2dPass pass, const DynoTile *tile, guint32 phases,
          gboolean apart, DynoKernelSpec *spec)
{
  DynoFirstTile first;
  DynoStripTile strip;
  switch (tile->kind)
    {
    case DYNO_TILE_FMA:
      dyno_kernel_spec_macro (spec, "TM=%u TN=%u STAGES=%u STRAIGHT=%d", tile->part_m, tile->part_n,
                              tile->stages, pass != DYNO_CONV2D_WGRAD && tile->stages == 1);
      break;
    case DYNO_TILE_MATRIX:
      dyno_kernel_spec_macro (spec, "SM=%u SN=%u STRAIGHT=%d", tile->part_m, tile->part_n,
                              pass == DYNO_CONV2D_FORWARD
                                  || (pass == DYNO_CONV2D_DGRAD && tile->images)
                                  || (pass == DYNO_CONV2D_WGRAD && tile->part_n == 32));
      if (tile->stages > 1)
        dyno_kernel_spec_macro (spec, "SLICES_K=%u", tile->stages);
      if (pass == DYNO_CONV2D_WGRAD && tile->part_m * tile->part_n == 64 * 64)
        dyno_kernel_spec_macro (spec, "GATHER_BRANCHES=1");
      break;
    case DYNO_TILE_PATCH:
      dyno_kernel_spec_macro (spec, "SM=%u SN=%u STAGES=%u PATCH=%u TAPS=%u FLIP=%d", tile->part_m,
                              tile->part_n, tile->stages, dyno_patch_rows (tile, shape),
                              shape->kernel_w, pass == DYNO_CONV2D_DGRAD);
      break;
    case DYNO_TILE_FIRST:
      first = dyno_first_tile (tile, shape, pass);
      dyno_kernel_spec_macro (
          spec, "SM=%u SN=%u CHANNELS=%u SLICES=%u TAPS_H=%u TAPS_W=%u STEP_H=%u STEP_W=%u",
          first.part_m, tile->part_n, first.channels, first.slices, shape->kernel_h,
          shape->kernel_w, shape->stride_h, shape->stride_w);
      dyno_kernel_spec_macro (spec, "TILE_H=%u TILE_W=%u", first.tile_h, first.tile_w);
      break;
    case DYNO_TILE_STRIP:
      strip = dyno_strip_tile (tile, shape, pass);
      dyno_kernel_spec_macro (spec, "SM=%u SN=%u SLICES=%u SLABS=%u TAPS_H=%u TAPS_W=%u",
                              strip.part_m, tile->part_n, strip.slices, strip.slabs,
                              shape->kernel_h, shape->kernel_w);
      dyno_kernel_spec_macro (spec, "ROWS=%u TILE_H=%u TILE_W=%u ACROSS=%u", strip.rows,
                              strip.tile_h, strip.tile_w, strip.across);
      if (pass != DYNO_CONV2D_WGRAD)
        dyno_kernel_spec_macro (spec, "FLIP=%d", pass == DYNO_CONV2D_DGRAD);
      break;
    case DYNO_TILE_LANES:
    default:
      dyno_kernel_spec_macro (spec, "LANES=1");
      break;
    }
  if (tile->images)
    dyno_kernel_spec_macro (spec, "IMAGES=1");
  if (has_few_channels (shape, pass) && tile->kind != DYNO_TILE_FIRST
      && tile->kind != DYNO_TILE_PATCH && tile->kind != DYNO_TILE_STRIP)
    dyno_kernel_spec_macro (spec, "FEW=1");
  if (pass == DYNO_CONV2D_DGRAD && phases > 1)
    dyno_kernel_spec_macro (spec, "PHASES=%u PHASES_APART=%d", phases, apart);
  else if (pass == DYNO_CONV2D_DGRAD && has_taps_in_first_phase_only (shape))
    dyno_kernel_spec_macro (spec, "ALONE=1");
  if (shape->groups > 1)
    dyno_kernel_spec_macro (spec, "GROUPED=1");
  if (shape->dilation_h > 1 || shape->dilation_w > 1)
    dyno_kernel_spec_macro (spec, "DILATED=1");
}

static void
set_grid (const DynoDeviceInfo *info, const DynoTile *tile, DynoConv2dPass pass, guint32 tiles_m,
          guint32 tiles_n, guint32 phases, guint32 splits, guint32 groups[3])
{
  groups[2] = splits;
  if (tile->kind == DYNO_TILE_FIRST || tile->kind == DYNO_TILE_STRIP)
    {
      guint32 each = CLAMP (tiles_m / (4 * dyno_device_info_processors (info)), 1,
                            tile->kind == DYNO_TILE_FIRST ? FIRST_TILES : STRIP_TILES);
      groups[0] = pass == DYNO_CONV2D_WGRAD
                      ? tiles_m * tiles_n
                      : MIN (ceil_div (tiles_m, each), MAX (info->max_groups_x, 1));
      groups[1] = pass == DYNO_CONV2D_WGRAD ? 1 : tiles_n;
      return;
    }
  guint64 all = (guint64) tiles_m * tiles_n * phases;
  groups[1] = ceil_div (all, MAX (info->max_groups_x, 1));
  groups[0] = ceil_div (all, groups[1]);
}

static gboolean
gives_statistics (const DynoConv2dShape *shape, DynoConv2dPass pass, const DynoTile *tile)
{
  return shape->fused.statistics && pass == DYNO_CONV2D_FORWARD && tile->kind != DYNO_TILE_LANES;
}

/* The number of workgroups of a pass that each make column sums of their own. */
static guint32
count_sums (const DynoDeviceInfo *info, const DynoConv2dShape *shape, DynoConv2dPass pass,
            const DynoTile *tile)
{
  guint32 groups[3];
  Product product = product_of (shape, pass, tile);
  guint32 tiles_m = ceil_div (product.rows, dyno_tile_pass_m (tile, pass));

  if (!dyno_tile_is_rectangle (tile))
    return tiles_m * product.phases;
  set_grid (info, tile, pass, tiles_m, 1, 1, 1, groups);
  return groups[0];
}

guint32
dyno_conv2d_statistics_groups (const DynoDeviceInfo *info, const DynoConv2dShape *shape,
                               const DynoConv2dVariant *variant)
{
  if (variant->splits > 1 || !gives_statistics (shape, DYNO_CONV2D_FORWARD, variant->tile))
    return 0;
  return count_sums (info, shape, DYNO_CONV2D_FORWARD, variant->tile);
}

guint32
dyno_conv2d_norm_groups (const DynoDeviceInfo *info, const DynoConv2dShape *shape,
                         const DynoConv2dVariant *variant)
{
  return variant->norm ? count_sums (info, shape, DYNO_CONV2D_DGRAD, variant->tile) : 0;
}

void
dyno_conv2d_norm_macros (const DynoConv2dShape *shape, DynoKernelSpec *spec)
{
  dyno_kernel_spec_macro (spec, "NORM=%u", shape->fused.norm);
  if (shape->fused.norm_activation)
    dyno_kernel_spec_macro (spec, "ACTIVATION=%u", shape->fused.norm_activation);
}

void
dyno_conv2d_add_macros (const DynoConv2dShape *shape, DynoKernelSpec *spec)
{
  dyno_kernel_spec_macro (spec, "ADD_STEP_H=%u ADD_STEP_W=%u", shape->fused.add_h,
                          shape->fused.add_w);
}

void
dyno_conv2d_affine_macros (const DynoConv2dShape *shape, DynoKernelSpec *spec)
{
  const union {
    float number;
    guint32 bits;
  } epsilon = { (float) shape->fused.affine_eps };
  dyno_kernel_spec_macro (spec, "AFFINE=%u", shape->fused.affine);
  dyno_elementwise_activation (spec, shape->fused.affine_activation, shape->fused.affine_parameter);
  if (epsilon.number != DYNO_BATCH_NORM_EPSILON)
    dyno_kernel_spec_macro (spec, "AFFINE_EPSILON=uintBitsToFloat(0x%08xu)", epsilon.bits);
}

void
dyno_conv2d_spec (const DynoDeviceInfo *info, const DynoConv2dShape *shape, DynoConv2dPass pass,
                  const DynoConv2dVariant *variant, DynoKernelSpec *spec, guint32 groups[3],
                  DynoConv2dSizes *sizes)
{
  const DynoTile *tile = variant->tile;
  Product product = product_of (shape, pass, tile);
  guint32 tiles_n = ceil_div (product.columns, dyno_tile_pass_n (tile, pass)),
          tiles_m = ceil_div (product.rows, dyno_tile_pass_m (tile, pass));
  gboolean split = pass != DYNO_CONV2D_WGRAD && variant->splits > 1;
  guint32 accumulate = pass == DYNO_CONV2D_DGRAD   ? shape->accumulate && !split
                       : pass == DYNO_CONV2D_WGRAD ? variant->splits == 1
                                                   : 0;
  gboolean check_m, check_n, check_k, matrix = dyno_tile_uses_matrix (tile),
                                      lanes = tile->kind == DYNO_TILE_LANES;
  *sizes = (DynoConv2dSizes){
    .n = shape->n,
    .h = shape->h,
    .w = shape->w,
    .c = shape->cp,
    .oh = shape->oh,
    .ow = shape->ow,
    .k = shape->kp,
    .k_split = MAX (variant->split_len / (dyno_tile_is_rectangle (tile) ? tile->m : 1), 1),
    .tiles = tiles_m * tiles_n,
    .tiles_n = tiles_n,
  };

  needs_checks (shape, pass, tile, &product, &check_m, &check_n, &check_k);
  *spec = (DynoKernelSpec){ .shader = shader_of (tile, pass),
                            .local_size = { dyno_tile_invocations (tile, shape, pass), 1, 1 },
                            .subgroup_size = matrix  ? 32
                                             : lanes ? 8
                                                     : 0,
                            .push_bytes =
                                lanes ? sizeof (DynoConv2dLanesPush) : sizeof (DynoConv2dPush) };
  dyno_kernel_spec_macro (spec, "HALF=%d BM=%u BN=%u BK=%u", shape->dtype == DYNO_DTYPE_F16,
                          dyno_tile_pass_m (tile, pass), dyno_tile_pass_n (tile, pass),
                          dyno_tile_pass_depth (tile, shape->dtype, pass));
  add_kind (shape, pass, tile, product.phases,
            !lanes
                && (guint64) tiles_m * tiles_n * product.phases
                       < TOGETHER_MIN_GROUPS * (guint64) dyno_device_info_processors (info),
            spec);
  dyno_kernel_spec_macro (spec, "CHECK_M=%d CHECK_N=%d CHECK_K=%d", check_m, check_n, check_k);
  if (shape->fused.load && pass != DYNO_CONV2D_DGRAD)
    dyno_kernel_spec_macro (spec, "LOAD=%u", shape->fused.load);
  if (pass == DYNO_CONV2D_DGRAD && shape->fused.add_h && !split)
    dyno_conv2d_add_macros (shape, spec);
  if (pass == DYNO_CONV2D_DGRAD && shape->transposed && shape->has_bias && !split)
    dyno_kernel_spec_macro (spec, "BIAS=1");
  if (split)
    dyno_kernel_spec_macro (spec, "SPLIT=1");
  else if (gives_statistics (shape, pass, tile))
    dyno_kernel_spec_macro (spec, "STATISTICS=1");
  else if (pass == DYNO_CONV2D_DGRAD && dyno_conv2d_norm_groups (info, shape, variant) > 0)
    dyno_conv2d_norm_macros (shape, spec);
  else if (pass == DYNO_CONV2D_FORWARD && shape->fused.affine)
    dyno_conv2d_affine_macros (shape, spec);
  if (matrix)
    dyno_kernel_spec_macro (spec, info->matrix == DYNO_MATRIX_NV ? "MATRIX_NV=1" : "MATRIX_KHR=1");
  add_constants (shape, lanes ? &(const DynoConv2dSizes){ 0 } : sizes, accumulate, spec);
  set_grid (info, tile, pass, tiles_m, tiles_n, product.phases,
            pass == DYNO_CONV2D_WGRAD || split ? variant->splits : 1, groups);
}
