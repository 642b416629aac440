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
 * Roles and attributes as in conv2d.c; the gradient of the bias is its node.  The weight lies as
 * [kh][kw][c_p].  wgrad cuts the rows of dy into groups, whose sums are added up in a fixed order:
 * a step gives the same bits every time. */
#include "conv2d-private.h"
#include "depthwise.h"
#include "elementwise.h"
#include <stddef.h>

#define MAX_SIDE 7 /* of the kernel: wgrad holds a sum for each tap of a row */
#define STRIP    4 /* columns of y that an invocation makes, where there are as many */

/* wgrad: invocations of a workgroup, workgroups in all, rows that an invocation takes at least and
 * at most (see types.glsl for what a CPU underneath bears) */
#define WGRAD_INVOCATIONS          256
#define WGRAD_INVOCATIONS_SOFTWARE 32
#define WGRAD_WORKGROUPS           1024
#define WGRAD_WORKGROUPS_SOFTWARE  16
#define WGRAD_LEAST_ROWS           8
#define WGRAD_MOST_ROWS            16384

/* How wgrad cuts the rows (n, oy, ox) of dy. */
typedef struct {
  guint32 width, lanes; /* of a workgroup: groups of 8 channels, invocations that share one */
  guint32 blocks;       /* of `width` */
  guint32 groups, rows_per_group;
} Cut;

static guint32
rows_of (const DynoConv2dShape *s)
{
  return s->n * s->oh * s->ow;
}

static guint64
useful_flops (const DynoConv2dShape *s)
{
  return 2 * (guint64) rows_of (s) * s->c * s->kernel_h * s->kernel_w;
}

static DynoKernelSpec
spec_of (DynoLowering *lowering, const DynoNode *node, const char *shader, guint32 count,
         const Cut *cut)
{
  const DynoConv2dShape *s = node->attributes;
  const DynoDeviceInfo *info = dyno_lowering_get_info (lowering);
  DynoKernelSpec spec = { .shader = shader, .push_bytes = sizeof (DynoDepthwisePush) };
  const guint32 constants[DYNO_DEPTHWISE_N_CONSTANTS] = {
    [DYNO_DEPTHWISE_COUNT] = count,
    [DYNO_DEPTHWISE_CVECS] = s->cp / 8,
    [DYNO_DEPTHWISE_H] = s->h,
    [DYNO_DEPTHWISE_W] = s->w,
    [DYNO_DEPTHWISE_OH] = s->oh,
    [DYNO_DEPTHWISE_OW] = s->ow,
    [DYNO_DEPTHWISE_STRIDE_H] = s->stride_h,
    [DYNO_DEPTHWISE_STRIDE_W] = s->stride_w,
    [DYNO_DEPTHWISE_PAD_H] = s->pad_h,
    [DYNO_DEPTHWISE_PAD_W] = s->pad_w,
    [DYNO_DEPTHWISE_ROWS] = rows_of (s),
    [DYNO_DEPTHWISE_ROWS_PER_GROUP] = cut ? cut->rows_per_group : 1,
  };
  spec.local_size[0] = cut ? cut->width : dyno_elementwise_local (info);
  spec.local_size[1] = cut ? cut->lanes : 1;
  dyno_elementwise_type (&spec, node->inputs[0]->dtype);
  dyno_elementwise_words (&spec, info);
  dyno_kernel_spec_macro (&spec, "TAPS_H=%u TAPS_W=%u", s->kernel_h, s->kernel_w);
  for (guint i = 0; i < G_N_ELEMENTS (constants); i++)
    dyno_kernel_spec_set (&spec, i, constants[i]);
  return spec;
}

static void
lower_forward (DynoLowering *lowering, DynoNode *node)
{
  const DynoConv2dShape *s = node->attributes;
  DynoTensor *x = node->inputs[0], *weight = node->inputs[1], *bias = node->inputs[2],
             *y = node->outputs[0];
  guint32 strip = s->ow < STRIP ? 1 : STRIP;
  guint32 count = s->n * s->oh * ((s->ow + strip - 1) / strip) * (s->cp / 8);
  DynoKernelSpec spec = spec_of (lowering, node, "depthwise/depthwise_forward.comp", count, NULL);
  dyno_kernel_spec_macro (&spec, "STRIP=%u", strip);
  if (bias)
    dyno_kernel_spec_macro (&spec, "BIAS=1");
  /* the kernel's places in both fit 31 bits */
  dyno_elementwise_count (lowering, x);
  dyno_elementwise_count (lowering, y);
  DynoDispatch *dispatch = dyno_lowering_dispatch (
      lowering, node, "forward", &spec,
      dyno_elementwise_groups (dyno_lowering_get_info (lowering), count, spec.local_size[0]), 1, 1);
  dispatch->flops = useful_flops (s);
  dispatch->bytes = x->size_bytes + y->size_bytes + weight->size_bytes;
  dyno_dispatch_bind (dispatch, offsetof (DynoDepthwisePush, a), x, DYNO_ACCESS_READ);
  dyno_dispatch_bind (dispatch, offsetof (DynoDepthwisePush, b), weight, DYNO_ACCESS_READ);
  dyno_dispatch_bind (dispatch, offsetof (DynoDepthwisePush, target), y, DYNO_ACCESS_WRITE);
  if (bias)
    dyno_dispatch_bind (dispatch, offsetof (DynoDepthwisePush, bias), bias, DYNO_ACCESS_READ);
}

static void
lower_dgrad (DynoLowering *lowering, DynoNode *node)
{
  const DynoConv2dShape *s = node->attributes;
  DynoTensor *dy = node->inputs[0], *weight = node->inputs[1], *dx = node->outputs[0];
  guint32 count = s->n * s->h * s->w * (s->cp / 8);
  DynoKernelSpec spec = spec_of (lowering, node, "depthwise/depthwise_dgrad.comp", count, NULL);
  if (s->accumulate)
    dyno_kernel_spec_macro (&spec, "ACCUMULATE=1");
  DynoDispatch *dispatch = dyno_lowering_dispatch (
      lowering, node, "dgrad", &spec,
      dyno_elementwise_groups (dyno_lowering_get_info (lowering), count, spec.local_size[0]), 1, 1);
  dispatch->flops = useful_flops (s);
  dispatch->bytes = dx->size_bytes * (s->accumulate ? 2 : 1) + dy->size_bytes + weight->size_bytes;
  dyno_dispatch_bind (dispatch, offsetof (DynoDepthwisePush, a), dy, DYNO_ACCESS_READ);
  dyno_dispatch_bind (dispatch, offsetof (DynoDepthwisePush, b), weight, DYNO_ACCESS_READ);
  dyno_dispatch_bind (dispatch, offsetof (DynoDepthwisePush, target), dx,
                      s->accumulate ? DYNO_ACCESS_READ_WRITE : DYNO_ACCESS_WRITE);
}

static Cut
cut_of (const DynoDeviceInfo *info, const DynoConv2dShape *s)
{
  gboolean software = dyno_info_is_software (info);
  guint32 invocations =
      MIN (software ? WGRAD_INVOCATIONS_SOFTWARE : WGRAD_INVOCATIONS, info->max_invocations);
  guint32 wanted =
      software ? WGRAD_WORKGROUPS_SOFTWARE : dyno_device_info_scale (info, WGRAD_WORKGROUPS);
  guint32 cvecs = s->cp / 8, rows = rows_of (s);
  Cut cut = { .width = MIN (cvecs, MIN (invocations, 32)) };
  cut.lanes = invocations / cut.width;
  cut.blocks = (cvecs + cut.width - 1) / cut.width;
  guint32 groups = MAX (1, wanted / (cut.blocks * s->kernel_h));
  cut.rows_per_group = CLAMP ((rows + groups - 1) / groups, cut.lanes * WGRAD_LEAST_ROWS,
                              cut.lanes * WGRAD_MOST_ROWS);
  cut.groups = (rows + cut.rows_per_group - 1) / cut.rows_per_group;
  return cut;
}

static void
lower_wgrad (DynoLowering *lowering, DynoNode *node)
{
  const DynoConv2dShape *s = node->attributes;
  DynoTensor *x = node->inputs[0], *dy = node->inputs[1], *gradient = node->outputs[0];
  Cut cut = cut_of (dyno_lowering_get_info (lowering), s);
  guint32 count = s->kernel_h * s->kernel_w * s->cp;
  DynoTensor *partial =
      dyno_lowering_workspace (lowering, "partial", (guint64) cut.groups * count * sizeof (float));
  if (!partial)
    return;
  DynoKernelSpec spec = spec_of (lowering, node, "depthwise/depthwise_wgrad.comp", 1, &cut);
  DynoDispatch *dispatch =
      dyno_lowering_dispatch (lowering, node, "wgrad", &spec, cut.groups, cut.blocks, s->kernel_h);
  dispatch->flops = useful_flops (s);
  dispatch->bytes = x->size_bytes + dy->size_bytes + partial->size_bytes;
  dyno_dispatch_bind (dispatch, offsetof (DynoDepthwisePush, a), x, DYNO_ACCESS_READ);
  dyno_dispatch_bind (dispatch, offsetof (DynoDepthwisePush, b), dy, DYNO_ACCESS_READ);
  dyno_dispatch_bind (dispatch, offsetof (DynoDepthwisePush, target), partial, DYNO_ACCESS_WRITE);
  dyno_conv2d_lower_reduce (lowering, node, partial, gradient, count, cut.groups);
}

static const DynoOpClass dgrad_op = {
  .name = "depthwise.dgrad",
  .attributes = dyno_conv2d_attributes,
  .n_attributes = DYNO_CONV2D_N_ATTRIBUTES,
  .lower = lower_dgrad,
};

static const DynoOpClass wgrad_op = {
  .name = "depthwise.wgrad",
  .attributes = dyno_conv2d_attributes,
  .n_attributes = DYNO_CONV2D_N_ATTRIBUTES,
  .lower = lower_wgrad,
};

static void
backward (DynoGraph *graph, DynoNode *node)
{
  dyno_conv2d_append_gradients (graph, node, &wgrad_op, &dgrad_op);
}

static const DynoOpClass depthwise_op = {
  .name = "depthwise",
  .attributes = dyno_conv2d_attributes,
  .n_attributes = DYNO_CONV2D_N_ATTRIBUTES,
  .backward = backward,
  .lower = lower_forward,
};

static gboolean
serves (const DynoConv2dShape *s)
{
  return s->groups == s->c && s->k == s->c && s->kernel_h <= MAX_SIDE && s->kernel_w <= MAX_SIDE;
}

/* torchvision's [c][1][kh][kw]: the axis of inputs has nothing to pad. */
static DynoParameterLayout
layout (const DynoConv2dShape *s)
{
  DynoParameterLayout conv = dyno_layout_conv (s->k, 1, s->kernel_h, s->kernel_w);
  conv.padded[1] = 1;
  return conv;
}

const DynoConv2dForm dyno_conv2d_depthwise = { serves, layout, &depthwise_op };
