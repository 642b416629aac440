/* SPDX-License-Identifier: MIT */
/* conv2d.dgrad -> conv2d.dgrad: the data gradient of a convolution with strides and a kernel of one
 * pixel (a shortcut's) is zero except at every stride-th pixel of every stride-th row.  It is
 * stored without the zeros between, (N, ceil (H / stride_h), ceil (W / stride_w), C), and the
 * convolution that would add to the dense gradient adds these pixels to its own instead. */
#include "conv2d-private.h"
#include "fusion.h"
#include "rewrite.h"

/* TRUE: the data gradient of a dense convolution, with zeros, that is the first node to write its
 * output. */
static gboolean
is_sparse (DynoNode *node)
{
  const DynoConv2dShape *s = dyno_conv2d_get_shape (node, DYNO_CONV2D_DGRAD);
  return s && !dyno_conv2d_is_depthwise (node) && s->kernel_h == 1 && s->kernel_w == 1 && !s->pad_h
         && !s->pad_w && s->stride_h * s->stride_w > 1 && s->groups == 1 && !s->accumulate
         && !s->fused.norm;
}

/* TRUE: a data gradient that adds to dx and has a tap for every pixel of dx, so that it writes all
 * pixels. */
static gboolean
can_add (DynoNode *node, const DynoTensor *dx)
{
  const DynoConv2dShape *s = dyno_conv2d_get_shape (node, DYNO_CONV2D_DGRAD);
  return s && !dyno_conv2d_is_depthwise (node) && s->accumulate && s->groups == 1
         && s->dilation_h <= 1 && s->dilation_w <= 1 && s->kernel_h >= s->stride_h
         && s->kernel_w >= s->stride_w && node->outputs[0] == dx && dx->n == s->n && dx->h == s->h
         && dx->w == s->w;
}

static gboolean
match (DynoGraph *graph, DynoNode *node, DynoNode **other)
{
  if (!is_sparse (node))
    return FALSE;
  *other = dyno_rewrite_next_writer (graph, node->outputs[0], node);
  return *other && can_add (*other, node->outputs[0]);
}

static void
apply (DynoGraph *graph, DynoNode *node, DynoNode *other)
{
  DynoConv2dShape *sparse = dyno_conv2d_get_shape (node, DYNO_CONV2D_DGRAD),
                  *adds = dyno_conv2d_get_shape (other, DYNO_CONV2D_DGRAD);
  DynoTensor *whole = node->outputs[0];
  g_autofree char *name = g_strconcat (node->name, ".pixels", NULL);
  DynoTensor *pixels = dyno_graph_activation (
      graph, name, whole->n, (whole->h + sparse->stride_h - 1) / sparse->stride_h,
      (whole->w + sparse->stride_w - 1) / sparse->stride_w, whole->c);
  if (!pixels)
    return;
  pixels->producer = node;
  whole->producer = other;
  adds->accumulate = FALSE;
  adds->fused.add_h = sparse->stride_h;
  adds->fused.add_w = sparse->stride_w;
  dyno_node_set_input (other, DYNO_CONV2D_ADDED, pixels);
  /* one pixel of dx for each of dy */
  sparse->h = sparse->oh;
  sparse->w = sparse->ow;
  sparse->stride_h = sparse->stride_w = 1;
  node->outputs[0] = pixels;
}

const DynoFusion dyno_fusion_sparse_gradient = { "sparse-gradient", DYNO_FUSION_BACKWARD, match,
                                                 apply };
