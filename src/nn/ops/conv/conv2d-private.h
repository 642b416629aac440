/* SPDX-License-Identifier: MIT */
/* The internal interface of the convolution: its shape, the variants of its kernels, and the
 * lowering of a node to dispatches.  A linear layer is a 1x1 convolution over (N, 1, 1, H*W*C) and
 * shares everything but its builder. */
#pragma once
#include "lowering.h"
#include "modes.h"
#include "variant.h"

G_BEGIN_DECLS

/* The work that the kernels of a convolution do besides the product.  The rewrites of fusions/ set
 * it; all zero: none. */
typedef struct {
  /* forward: also make the sums for the batch norm that follows, where the kernel can */
  gboolean statistics;
  /* dgrad: also make the sums of a batch norm's backward pass, where the kernel can: the macros
   * NORM (modes.h) and ACTIVATION of norm.glsl; 0: none */
  guint32 norm, norm_activation;
  /* forward: a batch norm with running statistics is applied to the product before it is stored:
   * the macros AFFINE (modes.h) and ACTIVATION of affine.glsl; 0: none */
  guint32 affine, affine_activation;
  double affine_parameter; /* of the activation */
  double affine_eps;       /* added to the batch norm's variance */
  /* forward and wgrad: input 0 is the x of a batch norm, and the loads compute the batch norm's
   * output after this activation: the macro LOAD of gemm-load.glsl, or of load.glsl for depthwise
   * convolutions; 0: input 0 is read as it is */
  guint32 load;
  /* dgrad: adds another gradient, which has values only for every add_w-th pixel of every add_h-th
   * row; 0: none */
  guint32 add_h, add_w;
} DynoConv2dFused;

/* The attributes of every node of a convolution. */
typedef struct {
  guint32 n, h, w, c, cp; /* of x; cp, kp: channels in memory */
  guint32 oh, ow, k, kp;  /* of y */
  guint32 kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w;
  /* groups of channels: output k reads only the channels of its group */
  guint32 groups;
  guint32 dilation_h, dilation_w; /* pixels from tap to tap; 0 reads as 1 */
  DynoDtype dtype;                /* of x, y and the weight as the kernels read it */
  gboolean has_bias;
  gboolean accumulate; /* dgrad: adds to the present values */
  /* dgrad: is the forward pass of a transposed convolution, whose bias, where it has one, is input
   * DYNO_CONV2D_TRANSPOSED_BIAS */
  gboolean transposed;
  DynoConv2dFused fused;
} DynoConv2dShape;

/* value of `load` where no activation follows the batch norm; not for depthwise convolutions */
#define DYNO_CONV2D_LOAD_PLAIN 255

/* Inputs of a forward node after x, weight and bias. */
enum {
  DYNO_CONV2D_PIVOT = 3, /* with statistics: subtracted before the sums are made */
  /* with affine: tensors of the batch norm */
  DYNO_CONV2D_AFFINE_RESIDUAL, /* with DYNO_AFFINE_ID_RESIDUAL */
  DYNO_CONV2D_AFFINE_MEAN,
  DYNO_CONV2D_AFFINE_VARIANCE,
  DYNO_CONV2D_AFFINE_GAMMA,
  DYNO_CONV2D_AFFINE_BETA,
  DYNO_CONV2D_AFFINE_END,
};
/* Inputs of a forward or wgrad node with load: a dense or grouped convolution has the table of the
 * batch norm (DYNO_BATCH_NORM_STATS_TABLE), a depthwise one has the batch norm's values. */
enum {
  DYNO_CONV2D_LOAD_TABLE = 4,
  DYNO_DEPTHWISE_LOAD_MEAN = 4,
  DYNO_DEPTHWISE_LOAD_INVSTD,
  DYNO_DEPTHWISE_LOAD_GAMMA,
  DYNO_DEPTHWISE_LOAD_BETA,
};
/* Inputs of a dgrad node after dy and weight. */
enum {
  /* with norm: tensors of the batch norm */
  DYNO_CONV2D_NORM_X = 2,
  DYNO_CONV2D_NORM_MEAN,
  DYNO_CONV2D_NORM_INVSTD,
  DYNO_CONV2D_NORM_GAMMA,
  DYNO_CONV2D_NORM_BETA,
  DYNO_CONV2D_NORM_MASK, /* where norm is DYNO_NORM_ID_SLOPE_MASK */
  DYNO_CONV2D_NORM_END,
  DYNO_CONV2D_ADDED = DYNO_CONV2D_NORM_END, /* with add_h: the gradient that is added */
};
/* Input of a forward node of a transposed convolution, after x and weight; NULL: it has no bias. */
enum { DYNO_CONV2D_TRANSPOSED_BIAS = 2 };

#define DYNO_CONV2D_N_ATTRIBUTES 21
extern const DynoAttribute dyno_conv2d_attributes[DYNO_CONV2D_N_ATTRIBUTES];

/* The blocks by which a convolution with groups becomes products that tiles can compute: as many
 * neighbouring groups as make whole tiles are merged into a block, whose weight has zeros where
 * output and input belong to different groups.  Where no number of groups makes whole tiles, all
 * groups are one block. */
typedef struct {
  guint32 groups;  /* merged */
  guint32 c, k;    /* channels of x and of y in a block; a single block includes pads */
  gboolean single; /* TRUE: there is one block */
} DynoConv2dBlock;

DynoConv2dBlock dyno_conv2d_block (const DynoConv2dShape *shape);

typedef enum {
  DYNO_CONV2D_FORWARD,
  DYNO_CONV2D_DGRAD,
  DYNO_CONV2D_WGRAD,
  DYNO_CONV2D_N_PASSES
} DynoConv2dPass;

extern const DynoOpClass dyno_conv2d_ops[DYNO_CONV2D_N_PASSES];    /* dense and grouped */
extern const DynoOpClass dyno_depthwise_ops[DYNO_CONV2D_N_PASSES]; /* roles as of conv2d */
extern const DynoOpClass dyno_linear_op; /* forward; its other passes are conv2d's */

/* The attributes of a node that is this pass of a convolution or of a linear layer; NULL: the node
 * is not such a pass. */
DynoConv2dShape *dyno_conv2d_get_shape (DynoNode *node, DynoConv2dPass pass);
gboolean dyno_conv2d_is_depthwise (const DynoNode *node);
/* FLOPs of a pass: a multiply-add counts two, and pad channels do not count. */
guint64 dyno_conv2d_flops (const DynoNode *node);

const char *dyno_conv2d_pass_name (DynoConv2dPass pass); /* "forward", "dgrad", "wgrad" */

/* The way in which a tile computes its sums. */
typedef enum {
  DYNO_TILE_FMA,    /* shared memory, fused multiply-adds */
  DYNO_TILE_MATRIX, /* shared memory, matrix units */
  /* matrix units, taps read from one patch in shared memory: stride 1, output as large as input, no
   * wgrad */
  DYNO_TILE_PATCH,
  /* matrix units, at most four channels, windows that overlap in shared memory; no dgrad */
  DYNO_TILE_FIRST,
  /* matrix units, rectangles of pixels in shared memory, each row of which is loaded once for all
   * taps of a column: stride 1, output as large as input */
  DYNO_TILE_STRIP,
  DYNO_TILE_LANES, /* one subgroup of 8 without shared memory: for CPUs */
} DynoTileKind;

/* A tile of the product; see shaders/lib/gemm.glsl. */
typedef struct {
  DynoTileKind kind;
  guint32 m, n, k;        /* of a workgroup; k is for types of 2 bytes, fp32 takes `k_single` */
  guint32 k_single;       /* 0: not for fp32 */
  guint32 part_m, part_n; /* of an invocation (FMA) or a subgroup (MATRIX, PATCH, STRIP) */
  /* FMA: 2 keeps two tiles in shared memory; PATCH: 2 loads the next patch ahead into registers;
   * MATRIX: number of slices of a K tile, each with subgroups of its own */
  guint32 stages;
  double rate; /* speed where the tile fits the shape, relative to the fastest MATRIX tile */
  /* MATRIX and FMA: a tile's rows (in wgrad the K axis) are the same pixel of several images, and
   * taps outside of the images are left out */
  gboolean images;
} DynoTile;

extern const DynoTile dyno_tiles[];
extern const guint dyno_n_tiles;

/* One way to run a pass. */
typedef struct {
  const DynoTile *tile;
  guint32 splits;    /* parts of the K axis */
  guint32 split_len; /* length of each part of the K axis; wgrad: in pixels */
  double score;
  gboolean norm;       /* dgrad: makes the sums for the batch norm of the shape */
  DynoVariant variant; /* prints "khr 128x128x32/64x64 k4" */
} DynoConv2dVariant;

#define DYNO_CONV2D_MAX_VARIANTS 160

/* The reason why a device cannot run a tile with this type, a static text; NULL: it can. */
const char *dyno_tile_unusable (const DynoTile *tile, const DynoDeviceInfo *info, DynoDtype dtype);
/* TRUE: the tile can compute a pass of this shape. */
gboolean dyno_tile_serves (const DynoTile *tile, const DynoDeviceInfo *info,
                           const DynoConv2dShape *shape, DynoConv2dPass pass);
/* The variant without splits; prints "khr 128x128x32/64x64". */
DynoVariant dyno_tile_variant (const DynoTile *tile, const DynoDeviceInfo *info, DynoDtype dtype);

/* TRUE: the tile uses matrix units. */
gboolean dyno_tile_uses_matrix (const DynoTile *tile);
/* TRUE: a forward or dgrad in fp16 on matrix units is so small that a workgroup waits for each of
 * its K tiles. */
gboolean dyno_conv2d_is_small (const DynoDeviceInfo *info, const DynoConv2dShape *shape,
                               DynoConv2dPass pass);
/* TRUE: the tile has long K tiles, for small products.  The following functions give BK, BM, BN
 * and the invocations of the tile's kernel in a pass (FIRST in wgrad: all taps are one BM). */
gboolean dyno_tile_is_deep (const DynoTile *tile);
guint32 dyno_tile_pass_depth (const DynoTile *tile, DynoDtype dtype, DynoConv2dPass pass);
guint32 dyno_tile_pass_m (const DynoTile *tile, DynoConv2dPass pass);
guint32 dyno_tile_pass_n (const DynoTile *tile, DynoConv2dPass pass);
guint32 dyno_tile_invocations (const DynoTile *tile, const DynoConv2dShape *shape,
                               DynoConv2dPass pass);

/* TRUE: an invocation of the tile's kernel needs more values than it has registers, on a device
 * that keeps operands of matrix units twice. */
gboolean dyno_tile_spills (const DynoTile *tile, const DynoDeviceInfo *info,
                           const DynoConv2dShape *shape, DynoConv2dPass pass);

/* Tiles of images: the multiplications of a pass, without taps outside of the images. */
double dyno_images_products (const DynoConv2dShape *shape);

/* PATCH: positions from one row of pixels to the next on the line of conv2d/patch.comp, and rows of
 * the patch. */
guint32 dyno_patch_pitch (const DynoConv2dShape *shape);
guint32 dyno_patch_rows (const DynoTile *tile, const DynoConv2dShape *shape);

/* FIRST: the macros of conv2d/first.glsl, and the values that follow from them. */
typedef struct {
  guint32 channels, slices, tile_h, tile_w;
  guint32 part_m;    /* of a subgroup */
  guint32 subgroups; /* of a workgroup */
  guint64 patch_chunks, shared_bytes;
} DynoFirstTile;

DynoFirstTile dyno_first_tile (const DynoTile *tile, const DynoConv2dShape *shape,
                               DynoConv2dPass pass);

/* STRIP: the macros of conv2d/strip.glsl, and the values that follow from them. */
typedef struct {
  guint32 slices, slabs, rows, tile_h, tile_w, across;
  guint32 part_m; /* of a subgroup */
  guint64 n_tiles, shared_bytes;
} DynoStripTile;

DynoStripTile dyno_strip_tile (const DynoTile *tile, const DynoConv2dShape *shape,
                               DynoConv2dPass pass);

/* TRUE (FIRST and STRIP): a tile is a rectangle of pixels, `m` together, of which a workgroup
 * computes several one after the other; and in wgrad the K axis consists of whole rectangles. */
gboolean dyno_tile_is_rectangle (const DynoTile *tile);
/* The number of rectangles that cover y. */
guint64 dyno_tile_count_rectangles (const DynoTile *tile, const DynoConv2dShape *shape,
                                    DynoConv2dPass pass);

/* Fills variants, best guess first; returns their number (at least one on any device). */
guint dyno_conv2d_variants (const DynoDeviceInfo *info, const DynoConv2dShape *shape,
                            DynoConv2dPass pass, DynoConv2dVariant *variants);

/* The number of groups of column sums that a forward variant makes where the shape asks for
 * statistics; 0: none. */
guint32 dyno_conv2d_statistics_groups (const DynoDeviceInfo *info, const DynoConv2dShape *shape,
                                       const DynoConv2dVariant *variant);

/* The same for dgrad, where the shape has sums for a batch norm. */
guint32 dyno_conv2d_norm_groups (const DynoDeviceInfo *info, const DynoConv2dShape *shape,
                                 const DynoConv2dVariant *variant);

/* The sizes of a product: constants of its kernel, or with LANES the end of DynoConv2dLanesPush. */
typedef struct {
  guint32 n, h, w, c, oh, ow, k, k_split, tiles, tiles_n;
} DynoConv2dSizes;

/* The kernel and grid of a variant; wgrad with one split adds to the gradient itself; with several
 * splits it writes partial sums. */
void dyno_conv2d_spec (const DynoDeviceInfo *info, const DynoConv2dShape *shape,
                       DynoConv2dPass pass, const DynoConv2dVariant *variant, DynoKernelSpec *spec,
                       guint32 groups[3], DynoConv2dSizes *sizes);

/* `lower` of the nodes: forward (x, weight, bias or NULL -> y), dgrad (dy, weight -> dx), wgrad (x,
 * dy -> gradient), bias gradient (dy -> gradient). */
void dyno_conv2d_lower_forward (DynoLowering *lowering, DynoNode *node);
void dyno_conv2d_lower_dgrad (DynoLowering *lowering, DynoNode *node);
void dyno_conv2d_lower_wgrad (DynoLowering *lowering, DynoNode *node);
void dyno_conv2d_lower_bias (DynoLowering *lowering, DynoNode *node);

/* Adds the macros of a kernel whose shape has norm. */
void dyno_conv2d_norm_macros (const DynoConv2dShape *shape, DynoKernelSpec *spec);

/* Adds the macros of a dgrad with add_h. */
void dyno_conv2d_add_macros (const DynoConv2dShape *shape, DynoKernelSpec *spec);

/* Add the macros of a forward with affine, and bind the tensors of its batch norm.  offsets: the
 * offset of each tensor in the push constants, indexed by role. */
void dyno_conv2d_affine_macros (const DynoConv2dShape *shape, DynoKernelSpec *spec);
void dyno_conv2d_bind_affine (DynoNode *node, DynoDispatch *dispatch, const guint16 *offsets);

/* `backward` of conv2d: appends wgrad, bias gradient and dgrad nodes. */
void dyno_conv2d_backward (DynoGraph *graph, DynoNode *node);
/* The same with the ops of another form (DynoConv2dForm), indexed by pass. */
void dyno_conv2d_append_gradients (DynoGraph *graph, DynoNode *node, const DynoOpClass *ops);

/* Appends a dispatch: target[i] += sum over splits of partial[split][i], for count floats. */
void dyno_conv2d_lower_reduce (DynoLowering *lowering, DynoNode *node, DynoTensor *partial,
                               DynoTensor *target, guint32 count, guint32 splits);

/* Appends a dispatch: target (+)= bias, where there is one, + sum over splits of parts[split],
 * which holds a float for each element of target.  target has rows of cp channels. */
void dyno_conv2d_lower_join (DynoLowering *lowering, DynoNode *node, DynoTensor *parts,
                             DynoTensor *target, DynoTensor *bias, guint32 splits, gboolean adds);

/* Appends a linear layer with a weight of dyno_layout_linear (NULL: making it failed) and a bias
 * (NULL: the layer has none) that the caller has made. */
DynoTensor *dyno_linear_append (DynoGraph *graph, DynoTensor *x, const char *name,
                                DynoParameter *weight, DynoParameter *bias, gboolean flattened);

/* Appends the nodes for the gradients of weight and bias (which may be NULL) of a product of this
 * shape. */
void dyno_conv2d_append_weight_gradients (DynoGraph *graph, const char *name,
                                          const DynoOpClass *wgrad, DynoTensor *x, DynoTensor *dy,
                                          const DynoParameter *weight, const DynoParameter *bias,
                                          const DynoConv2dShape *shape);
/* The same for a bias only. */
void dyno_conv2d_append_bias_gradient (DynoGraph *graph, const char *name, DynoTensor *dy,
                                       const DynoParameter *bias, const DynoConv2dShape *shape);
/* The shape of a linear layer over rows, from `in` to `out` columns, as the nodes of its weight
 * gradients read it; the second function appends these nodes. */
DynoConv2dShape dyno_linear_shape (DynoGraph *graph, guint32 rows, guint32 in, guint32 out);
void dyno_linear_append_weight_gradients (DynoGraph *graph, const char *name, DynoTensor *x,
                                          DynoTensor *dy, const DynoParameter *weight,
                                          const DynoParameter *bias);

/* A way to compute a convolution and to hold its weight, for some numbers of groups; the table of
 * forms is in conv2d.c. */
typedef struct {
  gboolean (*serves) (const DynoConv2dShape *shape);
  DynoParameterLayout (*layout) (const DynoConv2dShape *shape); /* of the weight */
  const DynoOpClass *op; /* roles and attributes as of conv2d */
} DynoConv2dForm;

extern const DynoConv2dForm dyno_conv2d_depthwise; /* a group for each channel */

/* The weight's layout as the kernels of dense and grouped convolutions read it. */
DynoParameterLayout dyno_conv2d_layout (const DynoConv2dShape *shape);
/* Makes NAME.weight, and NAME.bias of n_biases values (0: *bias is NULL), where the bias starts as
 * zero or, with DYNO_INIT_KAIMING_UNIFORM, is drawn by the weight's fan-in.  FALSE: the graph has
 * failed. */
gboolean dyno_conv2d_parameters (DynoGraph *graph, const char *name,
                                 const DynoParameterLayout *layout, guint32 n_biases, DynoInit init,
                                 DynoParameter **weight, DynoParameter **bias);
/* FALSE: the kernels' indices would overflow. */
gboolean dyno_conv2d_counts_fit (const DynoConv2dShape *shape);

/* Appends the forward node of `op`; x is read as it is, and the caller has made weight and bias
 * (bias may be NULL).  y is (n, h, w, shape's k), with as many pixels as the shape. */
DynoTensor *dyno_conv2d_append (DynoGraph *graph, const DynoOpClass *op, const char *name,
                                DynoTensor *x, DynoParameter *weight, DynoParameter *bias,
                                const DynoConv2dShape *shape, guint32 n, guint32 h, guint32 w);

G_END_DECLS
