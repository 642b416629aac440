/* SPDX-License-Identifier: MIT */
/* Depthwise convolution: the form of conv2d with a group for each channel.
 *
 * x (N, H, W, C), w (KH, KW, C), bias (C), y (N, OH, OW, C); gradients likewise.
 *     y[n][oy][ox][c] = bias[c] + sum over ky, kx of
 *                       x[n][oy s + ky - p][ox s + kx - p][c] * w[ky][kx][c]
 *     dx[n][iy][ix][c] (+)= sum over ky, kx with iy = oy s + ky - p and ix = ox s + kx - p of
 *                       dy[n][oy][ox][c] * w[ky][kx][c]
 *     dw[ky][kx][c] += sum over n, oy, ox of
 *                       dy[n][oy][ox][c] * x[n][oy s + ky - p][ox s + kx - p][c]
 *
 * With a dilation d, strides are 1 and pads multiples of d: then a pixel is only combined with
 * pixels of its own phase, (y mod d, x mod d), and each phase of an image is convolved as a
 * separate image without dilation (depthwise.glsl).
 *
 * Roles and attributes as in conv2d.c; the gradient of the bias is conv2d's node.  The weight lies
 * as [kh][kw][c_p].  wgrad cuts the rows of dy into groups, whose sums are added up in a fixed
 * order: a step gives the same bits every time.  The kernels also make sums for the batch norm that
 * follows, as in conv2d.c. */
#include "conv2d-private.h"
#include "depthwise.h"
#include "elementwise.h"
#include <stddef.h>

#define MOST_DILATION 64 /* above it, each phase has only few pixels */
#define MAX_SIDE      7  /* of the kernel; wgrad holds a sum for each tap of a row */
/* The number of taps whose weights, or whose sums in wgrad, fit the registers of an invocation, for
 * four channels each. */
#define MOST_TAPS 10

/* Invocations of a workgroup, workgroups in all, and the least (in wgrad) and the most pieces of
 * work per invocation (see types.glsl for the limits on a CPU). */
#define INVOCATIONS          256
#define INVOCATIONS_SOFTWARE 32
#define WIDEST_BYTES         512 /* largest part of a pixel for one workgroup */
#define WORKGROUPS           1024
#define WORKGROUPS_SOFTWARE  16
#define LEAST_PIECES_WGRAD   2
#define MOST_PIECES          4096

/* The division of a kernel's work: pieces of band x strip pixels of the tensor that it goes over,
 * four channels each. */
typedef struct {
  DynoDtype type;
  guint32 band, strip;
  guint32 ahead;        /* rows whose loads are under way */
  guint32 width, lanes; /* of a workgroup: groups of 4 channels, invocations that share a group */
  guint32 blocks;       /* number of parts of `width` groups */
  guint32 shared_bytes; /* of workgroup memory per invocation; 0: none */
  guint32 pieces, groups, per_group;
} Cut;

static guint32
dilation_h (const DynoConv2dShape *s)
{
  return MAX (s->dilation_h, 1);
}

static guint32
dilation_w (const DynoConv2dShape *s)
{
  return MAX (s->dilation_w, 1);
}

/* Rows and columns of the largest phase of y, all of y where there is no dilation. */
static guint32
rows_of (const DynoConv2dShape *s)
{
  return (s->oh + dilation_h (s) - 1) / dilation_h (s);
}

static guint32
columns_of (const DynoConv2dShape *s)
{
  return (s->ow + dilation_w (s) - 1) / dilation_w (s);
}

/* Completes a cut, whose type, band and strip are set, for h x w pixels; `least`: the fewest pieces
 * per invocation. */
static Cut
cut_of (const DynoDeviceInfo *info, const DynoConv2dShape *s, Cut cut, guint32 h, guint32 w,
        guint32 workgroups, guint32 least)
{
  gboolean software = dyno_info_is_software (info);
  guint32 invocations = MIN (software ? INVOCATIONS_SOFTWARE : INVOCATIONS, info->max_invocations);
  if (cut.shared_bytes > 0)
    invocations = MIN (invocations, info->shared_bytes / cut.shared_bytes);
  guint32 wanted = software ? WORKGROUPS_SOFTWARE : dyno_device_info_scale (info, workgroups);
  guint32 cvecs = s->cp / 4, bytes = 4 * dyno_dtype_size (cut.type),
          widest = MIN (invocations, WIDEST_BYTES / bytes);
  cut.blocks = (cvecs + widest - 1) / widest;
  cut.width = (cvecs + cut.blocks - 1) / cut.blocks;
  if (cut.blocks > 1)
    cut.width = MIN ((cut.width + 7) / 8 * 8, invocations); /* whole sectors of memory */
  cut.blocks = (cvecs + cut.width - 1) / cut.width;
  cut.lanes = invocations / cut.width;
  cut.pieces = s->n * dilation_h (s) * dilation_w (s) * ((h + cut.band - 1) / cut.band)
               * ((w + cut.strip - 1) / cut.strip);
  guint32 groups = MAX (1, wanted / cut.blocks);
  cut.per_group =
      CLAMP ((cut.pieces + groups - 1) / groups, cut.lanes * least, cut.lanes * MOST_PIECES);
  cut.per_group = (cut.per_group + cut.lanes - 1) / cut.lanes * cut.lanes;
  cut.groups = (cut.pieces + cut.per_group - 1) / cut.per_group;
  return cut;
}

/* The pad of a phase; a pad may be below zero, see `turned`. */
static guint32
in_phase (guint32 pad, guint32 dilation)
{
  return (guint32) ((gint32) pad / (gint32) dilation);
}

/* The spec of a kernel with its constants; s is the shape as the kernel sees it. */
static DynoKernelSpec
spec_of (DynoLowering *lowering, const DynoNode *node, const char *shader, const DynoConv2dShape *s,
         guint32 pieces, guint32 per_group)
{
  DynoKernelSpec spec = { .shader = shader, .push_bytes = sizeof (DynoDepthwisePush) };
  const guint32 constants[DYNO_DEPTHWISE_N_CONSTANTS] = {
    [DYNO_DEPTHWISE_PIECES] = pieces,
    [DYNO_DEPTHWISE_PER_GROUP] = per_group,
    [DYNO_DEPTHWISE_CVECS] = s->cp / 4,
    [DYNO_DEPTHWISE_H] = s->h,
    [DYNO_DEPTHWISE_W] = s->w,
    [DYNO_DEPTHWISE_OH] = s->oh,
    [DYNO_DEPTHWISE_OW] = s->ow,
    [DYNO_DEPTHWISE_PAD_H] = in_phase (s->pad_h, dilation_h (s)),
    [DYNO_DEPTHWISE_PAD_W] = in_phase (s->pad_w, dilation_w (s)),
  };
  dyno_elementwise_type (&spec, node->inputs[0]->dtype);
  dyno_elementwise_words (&spec, dyno_lowering_get_info (lowering));
  dyno_kernel_spec_macro (&spec, "TAPS_H=%u TAPS_W=%u STEP_H=%u STEP_W=%u", s->kernel_h,
                          s->kernel_w, s->stride_h, s->stride_w);
  if (dilation_h (s) > 1 || dilation_w (s) > 1)
    dyno_kernel_spec_macro (&spec, "DILATION_H=%u DILATION_W=%u", dilation_h (s), dilation_w (s));
  for (guint i = 0; i < G_N_ELEMENTS (constants); i++)
    dyno_kernel_spec_set (&spec, i, constants[i]);
  return spec;
}

/* TRUE: the weights of all taps are in registers. */
static gboolean
keeps_weights (const DynoConv2dShape *s)
{
  return s->kernel_h * s->kernel_w <= MOST_TAPS;
}

/* The number of rows of a band, at most `most`, such that all bands are nearly equal. */
static guint32
even_band (guint32 rows, guint32 most)
{
  guint32 bands = (rows + most - 1) / most;
  return (rows + bands - 1) / bands;
}

/* With few taps, several rows of y share the rows of x that they read; with more taps, whose
 * weights do not fit the registers, a row of y iterates over its rows of taps, and columns share
 * loads.  A CPU takes long to compile unrolled code. */
static Cut
cut_start (const DynoDeviceInfo *info, const DynoConv2dShape *s, DynoDtype type)
{
  gboolean software = dyno_info_is_software (info);
  Cut cut = { .type = type, .band = 1, .strip = software ? 2 : 4, .ahead = 1 };
  if (keeps_weights (s))
    {
      cut.band = even_band (rows_of (s), software ? 2 : 4);
      cut.strip = software ? 2 : 1;
      cut.ahead = software ? 1 : 3;
    }
  cut.strip = MIN (cut.strip, columns_of (s));
  return cut;
}

static Cut
forward_cut (const DynoDeviceInfo *info, const DynoConv2dShape *s, DynoDtype type)
{
  Cut cut = cut_start (info, s, type);
  cut.shared_bytes = s->fused.statistics || s->fused.norm ? 2 * 4 * sizeof (float) : 0;
  return cut_of (info, s, cut, rows_of (s), columns_of (s), WORKGROUPS, 1);
}

/* Kernels count groups of four channels in 31 bits. */
static void
check_places (DynoLowering *lowering, const DynoTensor *tensor)
{
  dyno_elementwise_count_of (lowering, tensor, 4 * dyno_dtype_size (tensor->dtype));
}

static void
bind_load (const DynoNode *node, DynoDispatch *dispatch)
{
  static const guint16 offsets[] = {
    [DYNO_DEPTHWISE_LOAD_MEAN] = offsetof (DynoDepthwisePush, mean),
    [DYNO_DEPTHWISE_LOAD_INVSTD] = offsetof (DynoDepthwisePush, invstd),
    [DYNO_DEPTHWISE_LOAD_GAMMA] = offsetof (DynoDepthwisePush, gamma),
    [DYNO_DEPTHWISE_LOAD_BETA] = offsetof (DynoDepthwisePush, beta),
  };
  for (guint i = DYNO_DEPTHWISE_LOAD_MEAN; i <= DYNO_DEPTHWISE_LOAD_BETA; i++)
    dyno_dispatch_bind (dispatch, offsets[i], node->inputs[i], DYNO_ACCESS_READ);
  dispatch->flops += 2 * dyno_tensor_elements (node->inputs[0]);
}

/* The kernel of forward over a shape. */
static DynoDispatch *
slide (DynoLowering *lowering, DynoNode *node, const char *pass, const DynoConv2dShape *s,
       const Cut *cut, const char *macros, DynoTensor *x, DynoTensor *weight)
{
  DynoKernelSpec spec =
      spec_of (lowering, node, "depthwise/depthwise_forward.comp", s, cut->pieces, cut->per_group);
  spec.local_size[0] = cut->width;
  spec.local_size[1] = cut->lanes;
  dyno_kernel_spec_macro (&spec, "BAND=%u STRIP=%u AHEAD=%u%s", cut->band, cut->strip, cut->ahead,
                          macros);
  if (s->fused.norm)
    dyno_conv2d_norm_macros (s, &spec);
  if (s->fused.affine)
    dyno_conv2d_affine_macros (s, &spec);
  if (s->fused.load)
    dyno_kernel_spec_macro (&spec, "LOAD=%u", s->fused.load);
  if (keeps_weights (s))
    dyno_kernel_spec_macro (&spec, "KEEP=1");
  check_places (lowering, node->inputs[0]);
  check_places (lowering, node->outputs[0]);
  DynoDispatch *dispatch =
      dyno_lowering_dispatch (lowering, node, pass, &spec, cut->groups, cut->blocks, 1);
  dispatch->flops = dyno_conv2d_flops (node);
  dispatch->bytes = x->size_bytes + weight->size_bytes;
  DYNO_BIND (dispatch, DynoDepthwisePush, a, x, DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoDepthwisePush, b, weight, DYNO_ACCESS_READ);
  return dispatch;
}

static void
lower_forward (DynoLowering *lowering, DynoNode *node)
{
  static const guint16 affine_offsets[] = {
    [DYNO_CONV2D_AFFINE_MEAN] = offsetof (DynoDepthwisePush, mean),
    [DYNO_CONV2D_AFFINE_VARIANCE] = offsetof (DynoDepthwisePush, invstd),
    [DYNO_CONV2D_AFFINE_GAMMA] = offsetof (DynoDepthwisePush, gamma),
    [DYNO_CONV2D_AFFINE_BETA] = offsetof (DynoDepthwisePush, beta),
  };
  const DynoConv2dShape *s = node->attributes;
  DynoTensor *bias = node->inputs[2], *y = node->outputs[0];
  Cut cut = forward_cut (dyno_lowering_get_info (lowering), s, node->inputs[0]->dtype);
  DynoColumnSums sums = { .groups = cut.groups };
  if (s->fused.statistics)
    {
      sums.partials = dyno_lowering_workspace (lowering, "sums",
                                               (guint64) sums.groups * 2 * s->kp * sizeof (float));
      if (!sums.partials)
        return;
    }
  DynoDispatch *dispatch = slide (lowering, node, "forward", s, &cut,
                                  bias                  ? " BIAS=1"
                                  : s->fused.statistics ? " STATISTICS=1"
                                                        : "",
                                  node->inputs[0], node->inputs[1]);
  dispatch->bytes += y->size_bytes;
  DYNO_BIND (dispatch, DynoDepthwisePush, target, y, DYNO_ACCESS_WRITE);
  if (bias)
    DYNO_BIND (dispatch, DynoDepthwisePush, bias, bias, DYNO_ACCESS_READ);
  if (s->fused.affine)
    dyno_conv2d_bind_affine (node, dispatch, affine_offsets);
  if (s->fused.load)
    bind_load (node, dispatch);
  if (!s->fused.statistics)
    return;
  DYNO_BIND (dispatch, DynoDepthwisePush, pivot, node->inputs[DYNO_CONV2D_PIVOT], DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoDepthwisePush, partials, sums.partials, DYNO_ACCESS_WRITE);
  dispatch->flops += 3 * dyno_tensor_elements (y);
  dispatch->bytes += sums.partials->size_bytes;
  dyno_lowering_set_column_sums (lowering, y, &sums);
}

/* dx of a convolution with stride 1 is a convolution of dy with the flipped weight: its pads reach
 * as far past the end of the image as the original pads reach before its start.  The pads may be
 * negative: the kernel's unsigned positions wrap. */
static DynoConv2dShape
turned (const DynoConv2dShape *s)
{
  DynoConv2dShape t = *s;
  t.h = s->oh;
  t.w = s->ow;
  t.oh = s->h;
  t.ow = s->w;
  t.pad_h = dilation_h (s) * (s->kernel_h - 1) - s->pad_h;
  t.pad_w = dilation_w (s) * (s->kernel_w - 1) - s->pad_w;
  return t;
}

/* dx with other strides: a piece is the stride_h x stride_w pixels of dx that read the same pixels
 * of dy. */
static DynoDispatch *
gather (DynoLowering *lowering, DynoNode *node, DynoTensor *dy, DynoTensor *weight,
        guint32 *n_groups)
{
  const DynoConv2dShape *s = node->attributes;
  const DynoDeviceInfo *info = dyno_lowering_get_info (lowering);
  Cut cut = { .band = 1, .strip = 1, .type = dy->dtype };
  cut.shared_bytes = s->fused.norm ? 2 * 4 * sizeof (float) : 0;
  cut = cut_of (info, s, cut, (s->h - 1 + s->pad_h) / s->stride_h - s->pad_h / s->stride_h + 1,
                (s->w - 1 + s->pad_w) / s->stride_w - s->pad_w / s->stride_w + 1, WORKGROUPS, 1);
  DynoKernelSpec spec =
      spec_of (lowering, node, "depthwise/depthwise_dgrad.comp", s, cut.pieces, cut.per_group);
  spec.local_size[0] = cut.width;
  spec.local_size[1] = cut.lanes;
  if (s->accumulate)
    dyno_kernel_spec_macro (&spec, "ACCUMULATE=1");
  if (s->fused.norm)
    dyno_conv2d_norm_macros (s, &spec);
  *n_groups = cut.groups;
  if (keeps_weights (s))
    dyno_kernel_spec_macro (&spec, "KEEP=1");
  check_places (lowering, node->inputs[0]);
  check_places (lowering, node->outputs[0]);
  DynoDispatch *dispatch =
      dyno_lowering_dispatch (lowering, node, "dgrad", &spec, cut.groups, cut.blocks, 1);
  dispatch->flops = dyno_conv2d_flops (node);
  dispatch->bytes = dy->size_bytes + weight->size_bytes;
  DYNO_BIND (dispatch, DynoDepthwisePush, a, dy, DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoDepthwisePush, b, weight, DYNO_ACCESS_READ);
  return dispatch;
}

/* Binds the tensors of a batch norm, and the sums that the kernel makes for its backward pass. */
static void
bind_norm (DynoLowering *lowering, DynoNode *node, DynoDispatch *dispatch, guint32 groups)
{
  const DynoConv2dShape *s = node->attributes;
  static const guint16 offsets[] = {
    [DYNO_CONV2D_NORM_X] = offsetof (DynoDepthwisePush, norm_x),
    [DYNO_CONV2D_NORM_MEAN] = offsetof (DynoDepthwisePush, mean),
    [DYNO_CONV2D_NORM_INVSTD] = offsetof (DynoDepthwisePush, invstd),
    [DYNO_CONV2D_NORM_GAMMA] = offsetof (DynoDepthwisePush, gamma),
    [DYNO_CONV2D_NORM_BETA] = offsetof (DynoDepthwisePush, beta),
  };
  DynoTensor *x = node->inputs[DYNO_CONV2D_NORM_X];
  DynoColumnSums sums = { .groups = groups };
  sums.partials =
      dyno_lowering_workspace (lowering, "sums", (guint64) groups * 2 * s->cp * sizeof (float));
  if (!sums.partials)
    return;
  for (guint i = DYNO_CONV2D_NORM_X; i < node->n_inputs; i++)
    dyno_dispatch_bind (dispatch, offsets[i], node->inputs[i], DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoDepthwisePush, partials, sums.partials, DYNO_ACCESS_WRITE);
  dispatch->flops += 4 * dyno_tensor_elements (x);
  dispatch->bytes += x->size_bytes + sums.partials->size_bytes;
  dyno_lowering_set_column_sums (lowering, node->inputs[DYNO_CONV2D_NORM_MEAN], &sums);
}

static void
lower_dgrad (DynoLowering *lowering, DynoNode *node)
{
  const DynoConv2dShape *s = node->attributes;
  DynoTensor *dy = node->inputs[0], *weight = node->inputs[1], *dx = node->outputs[0];
  DynoDispatch *dispatch;
  guint32 groups;
  if (s->stride_h == 1 && s->stride_w == 1)
    {
      const DynoConv2dShape t = turned (s);
      Cut cut = forward_cut (dyno_lowering_get_info (lowering), &t, dy->dtype);
      dispatch = slide (lowering, node, "dgrad", &t, &cut,
                        s->accumulate ? " FLIP=1 ACCUMULATE=1" : " FLIP=1", dy, weight);
      groups = cut.groups;
    }
  else
    dispatch = gather (lowering, node, dy, weight, &groups);
  dispatch->bytes += dx->size_bytes * (s->accumulate ? 2 : 1);
  DYNO_BIND (dispatch, DynoDepthwisePush, target, dx, dyno_access_sum (s->accumulate));
  if (s->fused.norm)
    bind_norm (lowering, node, dispatch, groups);
}

static void
lower_wgrad (DynoLowering *lowering, DynoNode *node)
{
  const DynoConv2dShape *s = node->attributes;
  const DynoDeviceInfo *info = dyno_lowering_get_info (lowering);
  DynoTensor *x = node->inputs[0], *dy = node->inputs[1], *gradient = node->outputs[0];
  guint32 count = s->kernel_h * s->kernel_w * s->cp,
          tap_rows = CLAMP (MOST_TAPS / s->kernel_w, 1, s->kernel_h),
          depth = (s->kernel_h + tap_rows - 1) / tap_rows;
  Cut cut = cut_start (info, s, x->dtype);
  if (dyno_info_is_software (info))
    cut.band = 1;
  cut.shared_bytes = s->kernel_w * 4 * sizeof (float);
  cut = cut_of (info, s, cut, rows_of (s), columns_of (s), MAX (1, WORKGROUPS / depth),
                LEAST_PIECES_WGRAD);
  DynoTensor *partial =
      dyno_lowering_workspace (lowering, "partial", (guint64) cut.groups * count * sizeof (float));
  if (!partial)
    return;
  DynoKernelSpec spec =
      spec_of (lowering, node, "depthwise/depthwise_wgrad.comp", s, cut.pieces, cut.per_group);
  spec.local_size[0] = cut.width;
  spec.local_size[1] = cut.lanes;
  dyno_kernel_spec_macro (&spec, "BAND=%u STRIP=%u AHEAD=%u TAP_ROWS=%u", cut.band, cut.strip,
                          cut.ahead, tap_rows);
  if (s->fused.load)
    dyno_kernel_spec_macro (&spec, "LOAD=%u", s->fused.load);
  DynoDispatch *dispatch =
      dyno_lowering_dispatch (lowering, node, "wgrad", &spec, cut.groups, cut.blocks, depth);
  dispatch->flops = dyno_conv2d_flops (node);
  dispatch->bytes = x->size_bytes + dy->size_bytes + partial->size_bytes;
  DYNO_BIND (dispatch, DynoDepthwisePush, a, x, DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoDepthwisePush, b, dy, DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoDepthwisePush, target, partial, DYNO_ACCESS_WRITE);
  if (s->fused.load)
    bind_load (node, dispatch);
  dyno_conv2d_lower_reduce (lowering, node, partial, gradient, count, cut.groups);
}

static void
backward (DynoGraph *graph, DynoNode *node)
{
  dyno_conv2d_append_gradients (graph, node, dyno_depthwise_ops);
}

const DynoOpClass dyno_depthwise_ops[DYNO_CONV2D_N_PASSES] = {
  [DYNO_CONV2D_FORWARD] = {
    .name = "depthwise",
    .traits = { .restorable = TRUE },
    DYNO_OP_ATTRIBUTES (dyno_conv2d_attributes),
    .backward = backward,
    .lower = lower_forward,
    .flops = dyno_conv2d_flops,
  },
  [DYNO_CONV2D_DGRAD] = {
    .name = "depthwise.dgrad",
    DYNO_OP_ATTRIBUTES (dyno_conv2d_attributes),
    .lower = lower_dgrad,
    .flops = dyno_conv2d_flops,
  },
  [DYNO_CONV2D_WGRAD] = {
    .name = "depthwise.wgrad",
    DYNO_OP_ATTRIBUTES (dyno_conv2d_attributes),
    .lower = lower_wgrad,
    .flops = dyno_conv2d_flops,
  },
};

/* TRUE: there is no dilation, or each phase can be convolved as a separate image. */
static gboolean
has_phases (const DynoConv2dShape *s)
{
  gboolean dilated = dilation_h (s) > 1 || dilation_w (s) > 1;
  return !dilated
         || (s->stride_h == 1 && s->stride_w == 1 && s->pad_h % dilation_h (s) == 0
             && s->pad_w % dilation_w (s) == 0 && dilation_h (s) <= MOST_DILATION
             && dilation_w (s) <= MOST_DILATION);
}

static gboolean
serves (const DynoConv2dShape *s)
{
  return s->groups == s->c && s->k == s->c && has_phases (s) && s->kernel_h <= MAX_SIDE
         && s->kernel_w <= MAX_SIDE;
}

/* torchvision's [c][1][kh][kw]: the axis of inputs needs no padding. */
static DynoParameterLayout
layout (const DynoConv2dShape *s)
{
  DynoParameterLayout conv = dyno_layout_conv (s->k, 1, s->kernel_h, s->kernel_w);
  conv.padded[1] = 1;
  return conv;
}

const DynoConv2dForm dyno_conv2d_depthwise = { serves, layout,
                                               &dyno_depthwise_ops[DYNO_CONV2D_FORWARD] };
