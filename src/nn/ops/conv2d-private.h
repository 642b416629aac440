/* SPDX-License-Identifier: MIT */
/* The inside of the convolution: its shape, the variants of its kernels, and how a node becomes
 * dispatches.  A linear layer is a 1x1 convolution over (N, 1, 1, H*W*C) and shares everything but
 * its builder. */
#pragma once
#include "lowering.h"
#include "variant.h"

G_BEGIN_DECLS

/* Work that the kernels of a convolution do besides its product.  The rewrites of fusions/ write it;
 * all zero: none. */
typedef struct {
  /* forward: also sums for the batch norm that follows, where the kernel can */
  gboolean statistics;
  /* dgrad: also the sums of a batch norm's backward pass, where the kernel can, NORM and ACTIVATION
   * of norm.glsl; 0: none */
  guint32 norm, norm_activation;
  /* forward: the product goes through a batch norm by running statistics before it is stored, AFFINE
   * and ACTIVATION of affine.glsl; 0: none */
  guint32 affine, affine_activation;
  /* forward and wgrad: input 0 is the input of a batch norm, whose output after this activation is
   * made in the loads, LOAD of gemm-load.glsl, of depthwise ones of load.glsl; 0: input 0 is read as
   * it is */
  guint32 load;
  /* dgrad: adds every add_w-th pixel of every add_h-th row of another gradient; 0: none */
  guint32 add_h, add_w;
} DynoConv2dFused;

/* The attributes of every node of a convolution. */
typedef struct {
  guint32 n, h, w, c, cp; /* of x; cp, kp: channels in memory */
  guint32 oh, ow, k, kp;  /* of y */
  guint32 kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w;
  guint32 groups;                 /* of channels: output k reads those of its group only */
  guint32 dilation_h, dilation_w; /* pixels from tap to tap; 0 reads as 1 */
  DynoDtype dtype;                /* of x, y and the weight as the kernels read it */
  gboolean has_bias;
  gboolean accumulate; /* dgrad: adds to what is there */
  DynoConv2dFused fused;
} DynoConv2dShape;

/* `load` where no activation follows the batch norm; not of depthwise ones */
#define DYNO_CONV2D_LOAD_PLAIN 255

/* Inputs of a forward node after x, weight and bias. */
enum {
  DYNO_CONV2D_PIVOT = 3, /* with statistics: subtracted before the sums are made */
  /* with affine: those of the batch norm */
  DYNO_CONV2D_AFFINE_RESIDUAL, /* where affine is 2 */
  DYNO_CONV2D_AFFINE_MEAN,
  DYNO_CONV2D_AFFINE_VARIANCE,
  DYNO_CONV2D_AFFINE_GAMMA,
  DYNO_CONV2D_AFFINE_BETA,
  DYNO_CONV2D_AFFINE_END,
};
/* Inputs of a forward or wgrad node with load: of a dense or grouped one the table of the batch norm
 * (DYNO_BATCH_NORM_STATS_TABLE), of a depthwise one its values. */
enum {
  DYNO_CONV2D_LOAD_TABLE = 4,
  DYNO_DEPTHWISE_LOAD_MEAN = 4,
  DYNO_DEPTHWISE_LOAD_INVSTD,
  DYNO_DEPTHWISE_LOAD_GAMMA,
  DYNO_DEPTHWISE_LOAD_BETA,
};
/* Inputs of a dgrad node after dy and weight. */
enum {
  /* with norm: those of the batch norm */
  DYNO_CONV2D_NORM_X = 2,
  DYNO_CONV2D_NORM_MEAN,
  DYNO_CONV2D_NORM_INVSTD,
  DYNO_CONV2D_NORM_GAMMA,
  DYNO_CONV2D_NORM_BETA,
  DYNO_CONV2D_NORM_MASK, /* where norm is DYNO_CONV2D_NORM_SLOPE_MASK */
  DYNO_CONV2D_NORM_END,
  DYNO_CONV2D_ADDED = DYNO_CONV2D_NORM_END, /* with add_h: the gradient that is added */
};
enum { DYNO_CONV2D_NORM_PLAIN = 1, DYNO_CONV2D_NORM_SLOPE_X, DYNO_CONV2D_NORM_SLOPE_MASK };

#define DYNO_CONV2D_N_ATTRIBUTES 19
extern const DynoAttribute dyno_conv2d_attributes[DYNO_CONV2D_N_ATTRIBUTES];

/* How a convolution with groups becomes products that tiles can make: as many neighbouring groups as
 * make whole tiles are merged to a block, whose weight has zeros where an output is of one group and
 * an input of another.  Where no number of them does, all are one block. */
typedef struct {
  guint32 groups;  /* merged */
  guint32 c, k;    /* channels of x and of y in a block, those of one block with its pads */
  gboolean single; /* there is one block */
} DynoConv2dBlock;

DynoConv2dBlock dyno_conv2d_block (const DynoConv2dShape *shape);

typedef enum {
  DYNO_CONV2D_FORWARD,
  DYNO_CONV2D_DGRAD,
  DYNO_CONV2D_WGRAD,
  DYNO_CONV2D_N_PASSES
} DynoConv2dPass;

extern const DynoOpClass dyno_conv2d_ops[DYNO_CONV2D_N_PASSES];    /* dense and grouped ones */
extern const DynoOpClass dyno_depthwise_ops[DYNO_CONV2D_N_PASSES]; /* roles as of conv2d */
extern const DynoOpClass dyno_linear_op; /* forward; its other passes are conv2d's */

/* The attributes of a node that is this pass of a convolution or of a linear layer; NULL: it is
 * none. */
DynoConv2dShape *dyno_conv2d_get_shape (DynoNode *node, DynoConv2dPass pass);
gboolean dyno_conv2d_is_depthwise (const DynoNode *node);
/* Multiply-adds of a pass count two; of channels that exist. */
guint64 dyno_conv2d_flops (const DynoNode *node);

const char *dyno_conv2d_pass_name (DynoConv2dPass pass); /* "forward", "dgrad", "wgrad" */

/* How sums are made. */
typedef enum {
  DYNO_TILE_FMA,    /* shared memory, fused multiply-adds */
  DYNO_TILE_MATRIX, /* shared memory, matrix units */
  /* matrix units, taps out of one patch in shared memory: stride 1, output as large as input, no
   * wgrad */
  DYNO_TILE_PATCH,
  /* matrix units, at most four channels, windows that overlap in shared memory; no dgrad */
  DYNO_TILE_FIRST,
  DYNO_TILE_LANES, /* one subgroup of 8 without shared memory: for CPUs */
} DynoTileKind;

/* A tile of the product; see shaders/lib/gemm.glsl. */
typedef struct {
  DynoTileKind kind;
  guint32 m, n, k;        /* of a workgroup; k counts for types of 2 bytes, fp32 takes `k_single` */
  guint32 k_single;       /* 0: not for fp32 */
  guint32 part_m, part_n; /* of an invocation (FMA) or a subgroup (MATRIX, PATCH) */
  /* FMA: 2 has two tiles in shared memory; PATCH: 2 loads the next patch ahead into registers;
   * MATRIX: slices of a K tile, each with subgroups of its own */
  guint32 stages;
  double rate; /* how fast it runs where it fits, against the best */
  /* MATRIX and FMA: a tile's rows (in wgrad the K axis) are images at one pixel, and what is outside
   * of them is left out */
  gboolean images;
} DynoTile;

extern const DynoTile dyno_tiles[];
extern const guint dyno_n_tiles;

/* One way to run a pass. */
typedef struct {
  const DynoTile *tile;
  guint32 splits;    /* parts of the K axis */
  guint32 split_len; /* what each has of it; wgrad: pixels */
  double score;
  gboolean norm;       /* dgrad: makes the sums for a batch norm that the shape has */
  DynoVariant variant; /* prints "khr 128x128x32/64x64 k4" */
} DynoConv2dVariant;

#define DYNO_CONV2D_MAX_VARIANTS 160

/* Why a device cannot run a tile with this precision, or NULL: it can.  Static text. */
const char *dyno_tile_unusable (const DynoTile *tile, const DynoDeviceInfo *info, DynoDtype dtype);
/* Whether a pass of this shape can be made by a tile at all. */
gboolean dyno_tile_serves (const DynoTile *tile, const DynoDeviceInfo *info,
                           const DynoConv2dShape *shape, DynoConv2dPass pass);
/* The variant without splits; prints "khr 128x128x32/64x64". */
DynoVariant dyno_tile_variant (const DynoTile *tile, const DynoDeviceInfo *info, DynoDtype dtype);

/* What a tile is in a pass: BK, BM and BN of its kernel (FIRST in wgrad: all taps are one BM). */
gboolean dyno_tile_uses_matrix (const DynoTile *tile);
/* Is a forward or dgrad so small that a workgroup waits for each K tile by itself? */
gboolean dyno_conv2d_is_small (const DynoDeviceInfo *info, const DynoConv2dShape *shape,
                               DynoConv2dPass pass);
/* Of long K tiles, for small products. */
gboolean dyno_tile_is_deep (const DynoTile *tile);
guint32 dyno_tile_pass_depth (const DynoTile *tile, DynoDtype dtype, DynoConv2dPass pass);
guint32 dyno_tile_pass_m (const DynoTile *tile, DynoConv2dPass pass);
guint32 dyno_tile_pass_n (const DynoTile *tile, DynoConv2dPass pass);
guint32 dyno_tile_invocations (const DynoTile *tile, const DynoConv2dShape *shape,
                               DynoConv2dPass pass);

/* Whether an invocation of the tile's kernel has more to hold than registers, on a device that
 * holds operands of matrix units twice. */
gboolean dyno_tile_spills (const DynoTile *tile, const DynoDeviceInfo *info,
                           const DynoConv2dShape *shape, DynoConv2dPass pass);

/* Tiles of images: multiplications of a pass, without taps that are outside. */
double dyno_images_products (const DynoConv2dShape *shape);

/* PATCH: positions from one row of pixels to the next on the line of conv2d/patch.comp, and rows of
 * the patch. */
guint32 dyno_patch_pitch (const DynoConv2dShape *shape);
guint32 dyno_patch_rows (const DynoTile *tile, const DynoConv2dShape *shape);

/* FIRST: the macros of conv2d/first.glsl, and what follows from them. */
typedef struct {
  guint32 channels, slices, tile_h, tile_w;
  guint32 part_m;    /* of a subgroup */
  guint32 subgroups; /* of a workgroup */
  guint64 patch_chunks, shared_bytes;
} DynoFirstTile;

DynoFirstTile dyno_first_tile (const DynoTile *tile, const DynoConv2dShape *shape,
                               DynoConv2dPass pass);

/* Fills variants, best guess first; returns how many (at least one on any device). */
guint dyno_conv2d_variants (const DynoDeviceInfo *info, const DynoConv2dShape *shape,
                            DynoConv2dPass pass, DynoConv2dVariant *variants);

/* Groups of column sums that a variant of forward makes where the shape asks for statistics; 0: it
 * makes none. */
guint32 dyno_conv2d_statistics_groups (const DynoDeviceInfo *info, const DynoConv2dShape *shape,
                                       const DynoConv2dVariant *variant);

/* The same of dgrad, where the shape has sums for a batch norm. */
guint32 dyno_conv2d_norm_groups (const DynoConv2dShape *shape, const DynoConv2dVariant *variant);

/* The kernel and grid of a variant; wgrad with one split adds to the gradient itself, with more it
 * writes partial sums. */
void dyno_conv2d_spec (const DynoDeviceInfo *info, const DynoConv2dShape *shape,
                       DynoConv2dPass pass, const DynoConv2dVariant *variant, DynoKernelSpec *spec,
                       guint32 groups[3]);

/* `lower` of the nodes: forward (x, weight, bias or NULL -> y), dgrad (dy, weight -> dx), wgrad (x,
 * dy -> gradient), bias gradient (dy -> gradient). */
void dyno_conv2d_lower_forward (DynoLowering *lowering, DynoNode *node);
void dyno_conv2d_lower_dgrad (DynoLowering *lowering, DynoNode *node);
void dyno_conv2d_lower_wgrad (DynoLowering *lowering, DynoNode *node);
void dyno_conv2d_lower_bias (DynoLowering *lowering, DynoNode *node);

/* The macros of a kernel whose shape has norm. */
void dyno_conv2d_norm_macros (const DynoConv2dShape *shape, DynoKernelSpec *spec);

/* The macros of a dgrad with add_h. */
void dyno_conv2d_add_macros (const DynoConv2dShape *shape, DynoKernelSpec *spec);

/* The macros of a forward with affine, and the binding of its inputs: offsets of the push constants by
 * role, from DYNO_CONV2D_AFFINE_RESIDUAL on. */
void dyno_conv2d_affine_macros (const DynoConv2dShape *shape, DynoKernelSpec *spec);
void dyno_conv2d_bind_affine (DynoNode *node, DynoDispatch *dispatch, const guint16 *offsets);

/* `backward` of conv2d: appends wgrad, bias gradient and dgrad nodes. */
void dyno_conv2d_backward (DynoGraph *graph, DynoNode *node);
/* The same with the ops of another form, by pass. */
void dyno_conv2d_append_gradients (DynoGraph *graph, DynoNode *node, const DynoOpClass *ops);

/* target[i] += sum over splits of partial[split][i], count floats: a dispatch. */
void dyno_conv2d_lower_reduce (DynoLowering *lowering, DynoNode *node, DynoTensor *partial,
                               DynoTensor *target, guint32 count, guint32 splits);

/* target (+)= bias, where there is one, + sum over splits of parts[split], floats of target's
 * elements: a dispatch.  target has rows of its cp channels. */
void dyno_conv2d_lower_join (DynoLowering *lowering, DynoNode *node, DynoTensor *parts,
                             DynoTensor *target, DynoTensor *bias, guint32 splits, gboolean adds);

/* A linear layer with a weight of dyno_layout_linear and a bias that the caller has made, each NULL
 * where that failed. */
DynoTensor *dyno_linear_append (DynoGraph *graph, DynoTensor *x, const char *name,
                                DynoParameter *weight, DynoParameter *bias, gboolean flattened);

/* The nodes of weight's and bias' gradient (which may be NULL) of a product of that shape. */
void dyno_conv2d_append_weight_gradients (DynoGraph *graph, const char *name,
                                          const DynoOpClass *wgrad, DynoTensor *x, DynoTensor *dy,
                                          const DynoParameter *weight, const DynoParameter *bias,
                                          const DynoConv2dShape *shape);
/* The shape of a linear layer over rows, from `in` to `out` columns, as weight gradients read it,
 * and that of them. */
DynoConv2dShape dyno_linear_shape (DynoGraph *graph, guint32 rows, guint32 in, guint32 out);
void dyno_linear_append_weight_gradients (DynoGraph *graph, const char *name, DynoTensor *x,
                                          DynoTensor *dy, const DynoParameter *weight,
                                          const DynoParameter *bias);

/* A way to compute a convolution and to hold its weight, for some numbers of groups; the table of
 * them is in conv2d.c. */
typedef struct {
  gboolean (*serves) (const DynoConv2dShape *shape);
  DynoParameterLayout (*layout) (const DynoConv2dShape *shape); /* of the weight */
  const DynoOpClass *op; /* roles and attributes as of conv2d */
} DynoConv2dForm;

extern const DynoConv2dForm dyno_conv2d_depthwise; /* a group for each channel */

/* Appends the forward node of `op`; x as it is, weight and bias made by the caller (bias may be
 * NULL).  y is (n, h, w, shape's k), of as many pixels as the shape has. */
DynoTensor *dyno_conv2d_append (DynoGraph *graph, const DynoOpClass *op, const char *name,
                                DynoTensor *x, DynoParameter *weight, DynoParameter *bias,
                                const DynoConv2dShape *shape, guint32 n, guint32 h, guint32 w);

G_END_DECLS
