/* SPDX-License-Identifier: MIT */
/* batch_norm -> max_pool: the batch norm, with its ReLU or without, writes the pooled output; the
 * unpooled activation and its gradient are never in memory.
 *
 * Where a backward pass follows, the kernel also keeps x at the largest values, a tensor of the
 * pooled size, so that the backward pass reduces over this tensor instead of all of x. */
#include "batchnorm-private.h"
#include "fusion.h"
#include "rewrite.h"

/* TRUE: no window reaches further past the end of the image than the first window begins before
 * it. */
static gboolean
ends_alike (guint32 size, guint32 count, guint32 kernel, guint32 stride, guint32 pad)
{
  return (count - 1) * stride + kernel <= size + 2 * pad;
}

/* TRUE: the windows fit.  The kernels unroll their loops over square windows of these sizes, and
 * with a stride below 2 the cost of the kept values exceeds the gain.  Without a pad the kernels do
 * no bounds checks. */
static gboolean
has_kernel (const DynoPoolWindow *w, const DynoTensor *x, const DynoTensor *y)
{
  return w->kernel_h == w->kernel_w && w->stride_h == w->stride_w && w->pad_h == w->pad_w
         && w->kernel_h >= 2 && w->kernel_h <= 3 && w->stride_h >= 2 && w->stride_h <= 3
         && ends_alike (x->h, y->h, w->kernel_h, w->stride_h, w->pad_h)
         && ends_alike (x->w, y->w, w->kernel_w, w->stride_w, w->pad_w);
}

static gboolean
match (DynoGraph *graph, DynoNode *node, DynoNode **other)
{
  if (!node->op->traits.window_maximum)
    return FALSE;
  *other = dyno_rewrite_only_producer (graph, node->inputs[0], node);
  if (!*other || (*other)->op != &dyno_batch_norm_op)
    return FALSE;
  const DynoBatchNormAttributes *attributes = (*other)->attributes;
  const DynoTensor *argmax = node->outputs[1];
  return !attributes->pool.kernel_h && attributes->activation <= DYNO_ACTIVATION_RELU
         && !(*other)->inputs[DYNO_BATCH_NORM_RESIDUAL]
         && has_kernel (node->attributes, node->inputs[0], node->outputs[0])
         && (*other)->outputs[DYNO_BATCH_NORM_Y]->needs_gradient == (argmax != NULL)
         /* a gradient through running statistics has no kernel with max pooling */
         && !(argmax && dyno_batch_norm_uses_running (*other));
}

static void
apply (DynoGraph *graph, DynoNode *node, DynoNode *other)
{
  DynoTensor *y = node->outputs[0], *argmax = node->outputs[1];
  if (argmax)
    {
      g_autofree char *name = g_strconcat (y->name, ".winners", NULL);
      DynoTensor *winners = dyno_graph_activation (graph, name, y->n, y->h, y->w, y->c);
      if (!winners)
        return;
      dyno_node_set_output (other, DYNO_BATCH_NORM_ARGMAX, argmax);
      dyno_node_set_output (other, DYNO_BATCH_NORM_WINNERS, winners);
      argmax->producer = winners->producer = other;
    }
  ((DynoBatchNormAttributes *) other->attributes)->pool =
      *(const DynoPoolWindow *) node->attributes;
  dyno_rewrite_take_over (graph, other, node);
}

const DynoFusion dyno_fusion_norm_pool = { "norm-pool", DYNO_FUSION_FORWARD, match, apply };
