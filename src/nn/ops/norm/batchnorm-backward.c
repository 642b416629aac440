/* SPDX-License-Identifier: MIT */
/* The backward pass of batch_norm (batchnorm.c), with M = N * H * W and sums over n, h, w:
 *     g = dy * activation' (.), or dy               (N, H, W, C)
 *     dbeta[c] += sum g                              (C)
 *     dgamma[c] += sum g * xhat                      (C)
 *     dx = gamma[c] * invstd[c] * (g - sum g / M - xhat * sum (g * xhat) / M)
 *     dresidual = g                                  (N, H, W, C), like dx
 * The inputs are listed in batchnorm-private.h; outputs dx, dresidual, dgamma, dbeta, NULL where
 * they are not wanted.
 *
 * Where both weight and bias are frozen: dx = gamma[c] * invstd[c] * g, with no sums.  Where only
 * one of them is frozen, the statistics are the batch's, and the sum for the frozen parameter goes
 * to a scratch tensor.
 *
 * With max pooling g is zero except at the winners, so the sums are only over the winners, and dx
 * gathers dy (N, OH, OW, C).
 *
 * Invariants:
 * - Sums are F32 and made in a fixed order: over groups of rows, then over the groups; equal inputs
 *   give equal bits.
 * - y may be dropped after the forward pass: a kernel that reads x writes y again by the same
 *   expression.
 * - Where the convolution that wrote dy has made the sums (fusions/gradient-sums.c) there is no
 *   reducing pass, and dy already includes the slope.
 * - The slope of a fused activation is computed again from x, or, where a residual was added (relu
 *   only), from the mask of y.
 * - A residual's gradient is the masked dy.  Where no other node reads dy, it is masked in place
 *   and shared; and where there is no residual, dx overwrites dy: the backward pass then needs no
 *   memory of its own.  With max pooling, where dy is smaller, dx overwrites x instead, if no node
 *   reads x any more.
 * - Two batch norms whose outputs were added share dy; one pass then makes dx of both. */
#include "batchnorm-private.h"
#include "elementwise.h"
#include "ops.h"
#include "batchnorm-push.h"
#include <stddef.h>

/* Cells of the gradient that an invocation of the kernel with max pooling takes, as POOL_COLUMNS
 * and POOL_ROWS in the forward pass. */
#define UNPOOL_COLUMNS       2
#define UNPOOL_ROWS          8
#define UNPOOL_COLUMNS_APART 1

/* The macros that select the source of the activation's slope; after mask_store dy already includes
 * the slope. */
static void
backward_mask (DynoKernelSpec *spec, const DynoNormBackward *attributes)
{
  dyno_elementwise_activation (spec, attributes->activation, attributes->parameter);
  if (attributes->activation)
    dyno_kernel_spec_macro (spec, "%s=1", attributes->residual ? "SLOPE_MASK" : "SLOPE_X");
}

static void
rematerialise_macros (DynoKernelSpec *spec, const DynoNode *node, const DynoTensor *rematerialised)
{
  if (!rematerialised)
    return;
  dyno_kernel_spec_macro (spec, "REMATERIALISE=1");
  if (node->inputs[DYNO_NORM_BACKWARD_ADDED])
    dyno_kernel_spec_macro (spec, "ADDED=%d",
                            node->inputs[DYNO_NORM_BACKWARD_ADDED_MEAN] ? DYNO_ADDED_ID_NORM
                                                                        : DYNO_ADDED_ID_TENSOR);
}

static guint64
rematerialise_bytes (const DynoNode *node, const DynoTensor *rematerialised)
{
  return rematerialised
             ? rematerialised->size_bytes * (node->inputs[DYNO_NORM_BACKWARD_ADDED] ? 2 : 1)
             : 0;
}

/* Binds x and the values per channel of a batch norm: five inputs from `first` on, in the order
 * that all push constants have from `at` on. */
static void
bind_norm (DynoDispatch *dispatch, const DynoNode *node, guint first, DynoTensor *x, gsize at)
{
  static const gsize offsets[] = {
    offsetof (DynoBatchNormAdded, x),      offsetof (DynoBatchNormAdded, gamma),
    offsetof (DynoBatchNormAdded, beta),   offsetof (DynoBatchNormAdded, mean),
    offsetof (DynoBatchNormAdded, invstd),
  };
  for (guint i = 0; i < G_N_ELEMENTS (offsets); i++)
    {
      DynoTensor *tensor = i == 0 ? x : node->inputs[first + i];
      if (tensor)
        dyno_dispatch_bind (dispatch, (guint16) (at + offsets[i]), tensor, DYNO_ACCESS_READ);
    }
}
#define CHECK_PUSH(Push)                                                           \
  G_STATIC_ASSERT (offsetof (Push, gamma) == offsetof (DynoBatchNormAdded, gamma)  \
                   && offsetof (Push, beta) == offsetof (DynoBatchNormAdded, beta) \
                   && offsetof (Push, mean) == offsetof (DynoBatchNormAdded, mean) \
                   && offsetof (Push, invstd) == offsetof (DynoBatchNormAdded, invstd))
CHECK_PUSH (DynoBatchNormReducePush);
CHECK_PUSH (DynoBatchNormGradientPush);
CHECK_PUSH (DynoBatchNormOne);

static void
backward_lower_reduce (DynoLowering *lowering, DynoNode *node, const DynoBatchNormReduction *r,
                       DynoTensor *x, DynoTensor *partials)
{
  const DynoNormBackward *attributes = node->attributes;
  DynoTensor *mask = attributes->pool.kernel_h ? NULL : node->inputs[DYNO_NORM_BACKWARD_MASK],
             *rematerialised = node->inputs[DYNO_NORM_BACKWARD_PAIR_X]
                                   ? NULL
                                   : dyno_lowering_get_rematerialised (lowering);
  DynoKernelSpec spec = dyno_batch_norm_reduction_spec (r, "batchnorm/batchnorm_reduce.comp",
                                                        x->dtype, sizeof (DynoBatchNormReducePush));
  backward_mask (&spec, attributes);
  /* with many rows, fewer are loaded at once, so that more invocations run at a time */
  dyno_kernel_spec_macro (
      &spec, "UNROLL=%u",
      r->rows_per_group / r->lanes <= 2 * DYNO_BATCH_NORM_ROWS ? DYNO_BATCH_NORM_ROWS : 2);
  if (attributes->mask_store)
    dyno_kernel_spec_macro (&spec, "MASK_STORE=1");
  rematerialise_macros (&spec, node, rematerialised);
  DynoDispatch *dispatch =
      dyno_lowering_dispatch (lowering, node, "reduce", &spec, r->groups, r->blocks, 1);
  dispatch->flops = 4 * dyno_tensor_elements (x);
  dispatch->bytes = x->size_bytes * (2 + (attributes->mask_store != FALSE))
                    + rematerialise_bytes (node, rematerialised) + (mask ? mask->size_bytes : 0);
  bind_norm (dispatch, node, DYNO_NORM_BACKWARD_X, x, 0);
  if (mask)
    DYNO_BIND (dispatch, DynoBatchNormReducePush, mask, mask, DYNO_ACCESS_READ);
  if (rematerialised)
    DYNO_BIND (dispatch, DynoBatchNormReducePush, y, rematerialised, DYNO_ACCESS_WRITE);
  if (rematerialised)
    bind_norm (dispatch, node, DYNO_NORM_BACKWARD_ADDED, node->inputs[DYNO_NORM_BACKWARD_ADDED],
               offsetof (DynoBatchNormReducePush, added));
  DYNO_BIND (dispatch, DynoBatchNormReducePush, dy, node->inputs[DYNO_NORM_BACKWARD_DY],
             attributes->mask_store ? DYNO_ACCESS_READ_WRITE : DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoBatchNormReducePush, partials, partials, DYNO_ACCESS_WRITE);
}

/* Binds a parameter's gradient, or a scratch tensor where the parameter is frozen. */
static void
bind_sum (DynoLowering *lowering, DynoDispatch *dispatch, guint16 offset, DynoTensor *gradient,
          guint32 channels)
{
  if (!gradient)
    gradient = dyno_lowering_workspace (lowering, "unused", (guint64) channels * sizeof (float));
  if (gradient)
    dyno_dispatch_bind (dispatch, offset, gradient, DYNO_ACCESS_READ_WRITE);
}

static void
backward_lower_collect (DynoLowering *lowering, DynoNode *node, const DynoBatchNormReduction *r,
                        DynoTensor *partials, DynoTensor *sums)
{
  const DynoTensor *x = node->inputs[DYNO_NORM_BACKWARD_X];
  DynoKernelSpec spec = dyno_batch_norm_finish_spec (r, dyno_lowering_get_info (lowering),
                                                     "batchnorm/batchnorm_collect.comp", x->cp,
                                                     sizeof (DynoBatchNormCollectPush));
  DynoDispatch *dispatch = dyno_lowering_dispatch (lowering, node, "collect", &spec,
                                                   x->cp / DYNO_BATCH_NORM_FINISH_CHANNELS, 1, 1);
  dispatch->flops = (guint64) r->groups * 2 * x->c;
  dispatch->bytes = (guint64) x->cp * sizeof (float) * (2 * r->groups + 6);
  DYNO_BIND (dispatch, DynoBatchNormCollectPush, partials, partials, DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoBatchNormCollectPush, sums, sums, DYNO_ACCESS_WRITE);
  bind_sum (lowering, dispatch, offsetof (DynoBatchNormCollectPush, dgamma),
            node->outputs[DYNO_NORM_BACKWARD_DGAMMA], x->cp);
  bind_sum (lowering, dispatch, offsetof (DynoBatchNormCollectPush, dbeta),
            node->outputs[DYNO_NORM_BACKWARD_DBETA], x->cp);
}

static void
backward_lower_gradient (DynoLowering *lowering, DynoNode *node, DynoTensor *sums, gboolean reduced)
{
  const DynoNormBackward *attributes = node->attributes;
  DynoTensor *x = node->inputs[DYNO_NORM_BACKWARD_X], *dx = node->outputs[DYNO_NORM_BACKWARD_DX];
  /* dy already includes the slope */
  gboolean masked = attributes->mask_store || !reduced;
  DynoTensor *mask = masked ? NULL : node->inputs[DYNO_NORM_BACKWARD_MASK];
  DynoTensor *rematerialised = reduced ? NULL : dyno_lowering_get_rematerialised (lowering);
  DynoTensor *dresidual =
      attributes->mask_store ? NULL : node->outputs[DYNO_NORM_BACKWARD_DRESIDUAL];
  DynoKernelSpec spec = { .shader = "batchnorm/batchnorm_gradient.comp",
                          .push_bytes = sizeof (DynoBatchNormGradientPush) };
  dyno_elementwise_type (&spec, x->dtype);
  dyno_elementwise_words (&spec, dyno_lowering_get_info (lowering));
  if (!masked)
    backward_mask (&spec, attributes);
  rematerialise_macros (&spec, node, rematerialised);
  if (rematerialised)
    dyno_elementwise_activation (&spec, attributes->activation, attributes->parameter);
  if (attributes->accumulate)
    dyno_kernel_spec_macro (&spec, "ACCUMULATE=1");
  if (dresidual)
    dyno_kernel_spec_macro (&spec, "RESIDUAL=%d",
                            attributes->accumulate_residual ? DYNO_STORE_ID_SUM
                                                            : DYNO_STORE_ID_PLAIN);
  if (!dx)
    dyno_kernel_spec_macro (&spec, "NO_DX=1");
  guint32 groups = dyno_batch_norm_apply_geometry (
      lowering, &spec, x, dyno_elementwise_count (lowering, x), DYNO_BATCH_NORM_ROUNDS);
  if (attributes->running)
    {
      dyno_kernel_spec_macro (&spec, "VARIANCE=1");
      dyno_kernel_spec_set_float (&spec, DYNO_BATCH_NORM_APPLY_EPSILON, (float) attributes->eps);
    }

  DynoDispatch *dispatch = dyno_lowering_dispatch (lowering, node, "gradient", &spec, groups, 1, 1);
  dispatch->flops = 5 * dyno_tensor_elements (x);
  dispatch->bytes = x->size_bytes
                        * (3 + (attributes->accumulate != FALSE)
                           + (dresidual ? 1 + (attributes->accumulate_residual != FALSE) : 0))
                    + rematerialise_bytes (node, rematerialised) + (mask ? mask->size_bytes : 0);
  bind_norm (dispatch, node, DYNO_NORM_BACKWARD_X, x, 0);
  if (mask)
    DYNO_BIND (dispatch, DynoBatchNormGradientPush, mask, mask, DYNO_ACCESS_READ);
  if (rematerialised)
    DYNO_BIND (dispatch, DynoBatchNormGradientPush, y, rematerialised, DYNO_ACCESS_WRITE);
  if (rematerialised)
    bind_norm (dispatch, node, DYNO_NORM_BACKWARD_ADDED, node->inputs[DYNO_NORM_BACKWARD_ADDED],
               offsetof (DynoBatchNormGradientPush, added));
  DYNO_BIND (dispatch, DynoBatchNormGradientPush, dy, node->inputs[DYNO_NORM_BACKWARD_DY],
             DYNO_ACCESS_READ);
  if (sums)
    DYNO_BIND (dispatch, DynoBatchNormGradientPush, sums, sums, DYNO_ACCESS_READ);
  if (dx)
    DYNO_BIND (dispatch, DynoBatchNormGradientPush, dx, dx,
               dyno_access_sum (attributes->accumulate));
  if (dresidual)
    DYNO_BIND (dispatch, DynoBatchNormGradientPush, dresidual, dresidual,
               dyno_access_sum (attributes->accumulate_residual));
}

/* Computes the batch norm's own dx, and dx of the earlier batch norm whose output was added to its
 * output. */
static void
backward_lower_pair (DynoLowering *lowering, DynoNode *node, DynoTensor *sums)
{
  const DynoNormBackward *attributes = node->attributes;
  DynoTensor *x = node->inputs[DYNO_NORM_BACKWARD_X],
             *rematerialised = dyno_lowering_get_rematerialised (lowering);
  DynoKernelSpec spec = { .shader = "batchnorm/batchnorm_pair.comp",
                          .push_bytes = sizeof (DynoBatchNormPairPush) };
  dyno_elementwise_type (&spec, x->dtype);
  dyno_elementwise_words (&spec, dyno_lowering_get_info (lowering));
  if (rematerialised)
    dyno_kernel_spec_macro (&spec, "REMATERIALISE=1");
  if (rematerialised && attributes->pair)
    dyno_kernel_spec_macro (&spec, "ACTIVATION=%u", attributes->pair);
  guint32 groups = dyno_batch_norm_apply_geometry (
      lowering, &spec, x, dyno_elementwise_count (lowering, x), DYNO_BATCH_NORM_ROUNDS);
  DynoDispatch *dispatch = dyno_lowering_dispatch (lowering, node, "gradient", &spec, groups, 1, 1);
  dispatch->flops = 10 * dyno_tensor_elements (x);
  dispatch->bytes = x->size_bytes * (rematerialised ? 6 : 5);
  const gsize a = offsetof (DynoBatchNormPairPush, a), b = offsetof (DynoBatchNormPairPush, b);
  const gsize at_sums = offsetof (DynoBatchNormOne, sums), at_dx = offsetof (DynoBatchNormOne, dx);
  bind_norm (dispatch, node, DYNO_NORM_BACKWARD_PAIR_X, node->inputs[DYNO_NORM_BACKWARD_PAIR_X], a);
  bind_norm (dispatch, node, DYNO_NORM_BACKWARD_X, x, b);
  dyno_dispatch_bind (dispatch, (guint16) (a + at_sums), node->inputs[DYNO_NORM_BACKWARD_PAIR_SUMS],
                      DYNO_ACCESS_READ);
  dyno_dispatch_bind (dispatch, (guint16) (b + at_sums), sums, DYNO_ACCESS_READ);
  dyno_dispatch_bind (dispatch, (guint16) (a + at_dx), node->outputs[DYNO_NORM_BACKWARD_PAIR_DX],
                      DYNO_ACCESS_WRITE);
  dyno_dispatch_bind (dispatch, (guint16) (b + at_dx), node->outputs[DYNO_NORM_BACKWARD_DX],
                      DYNO_ACCESS_WRITE);
  DYNO_BIND (dispatch, DynoBatchNormPairPush, dy, node->inputs[DYNO_NORM_BACKWARD_DY],
             DYNO_ACCESS_READ);
  if (rematerialised)
    DYNO_BIND (dispatch, DynoBatchNormPairPush, y, rematerialised, DYNO_ACCESS_WRITE);
}

/* floor (a / b) for b > 0 */
static int
divide_down (int a, int b)
{
  return a >= 0 ? a / b : -((b - 1 - a) / b);
}

static void
backward_lower_unpool (DynoLowering *lowering, DynoNode *node, DynoTensor *sums)
{
  const DynoNormBackward *attributes = node->attributes;
  const DynoPoolWindow *pool = &attributes->pool;
  DynoTensor *x = node->inputs[DYNO_NORM_BACKWARD_X], *dy = node->inputs[DYNO_NORM_BACKWARD_DY],
             *argmax = node->inputs[DYNO_NORM_BACKWARD_ARGMAX];
  DynoTensor *dx = node->outputs[DYNO_NORM_BACKWARD_DX];
  int kernel = (int) pool->kernel_h, stride = (int) pool->stride_h, pad = (int) pool->pad_h;
  int first = divide_down (pad - kernel, stride) + 1, last = divide_down (stride - 1 + pad, stride);
  DynoKernelSpec spec = { .shader = "batchnorm/batchnorm_unpool.comp",
                          .push_bytes = sizeof (DynoBatchNormUnpoolPush) };
  dyno_elementwise_type (&spec, x->dtype);
  dyno_elementwise_words (&spec, dyno_lowering_get_info (lowering));
  dyno_kernel_spec_macro (&spec, "FIRST=(%d)", first);
  dyno_kernel_spec_macro (&spec, "WINDOWS=%d", last - first + 1);
  if (attributes->accumulate)
    dyno_kernel_spec_macro (&spec, "ACCUMULATE=1");
  if (x->h % pool->stride_h == 0 && x->w % pool->stride_h == 0)
    dyno_kernel_spec_macro (&spec, "WHOLE=1");
  dyno_elementwise_count (lowering, x);
  gboolean overlap = last > first;
  guint32 groups = dyno_batch_norm_pool_geometry (
      lowering, &spec, pool, x, dy, (x->h + pool->stride_h - 1) / pool->stride_h,
      (x->w + pool->stride_h - 1) / pool->stride_h, overlap ? UNPOOL_COLUMNS : UNPOOL_COLUMNS_APART,
      overlap ? UNPOOL_ROWS : 1);

  DynoDispatch *dispatch = dyno_lowering_dispatch (lowering, node, "unpool", &spec, groups, 1, 1);
  dispatch->flops = 5 * dyno_tensor_elements (x);
  dispatch->bytes =
      x->size_bytes * (attributes->accumulate ? 3 : 2) + dy->size_bytes + argmax->size_bytes;
  DYNO_BIND (dispatch, DynoBatchNormUnpoolPush, x, x, DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoBatchNormUnpoolPush, gamma, node->inputs[DYNO_NORM_BACKWARD_GAMMA],
             DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoBatchNormUnpoolPush, mean, node->inputs[DYNO_NORM_BACKWARD_MEAN],
             DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoBatchNormUnpoolPush, invstd, node->inputs[DYNO_NORM_BACKWARD_INVSTD],
             DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoBatchNormUnpoolPush, dy, dy, DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoBatchNormUnpoolPush, argmax, argmax, DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoBatchNormUnpoolPush, sums, sums, DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoBatchNormUnpoolPush, dx, dx, dyno_access_sum (attributes->accumulate));
}

static void
backward_lower (DynoLowering *lowering, DynoNode *node)
{
  const DynoNormBackward *attributes = node->attributes;
  gboolean pooled = attributes->pool.kernel_h != 0;
  if (attributes->running)
    {
      backward_lower_gradient (lowering, node, NULL, TRUE);
      return;
    }
  DynoTensor *x = node->inputs[pooled ? DYNO_NORM_BACKWARD_WINNERS : DYNO_NORM_BACKWARD_X];
  DynoBatchNormReduction r = dyno_batch_norm_reduction (dyno_lowering_get_info (lowering), x);
  DynoColumnSums made;
  gboolean reduced =
      !dyno_lowering_get_column_sums (lowering, node->inputs[DYNO_NORM_BACKWARD_MEAN], &made);
  if (reduced)
    made.partials = dyno_batch_norm_partials (lowering, &r, x);
  DynoTensor *partials = made.partials,
             *sums = node->outputs[DYNO_NORM_BACKWARD_SUMS]
                         ? node->outputs[DYNO_NORM_BACKWARD_SUMS]
                         : dyno_lowering_workspace (lowering, "sums",
                                                    (guint64) 2 * x->cp * sizeof (float));
  if (reduced)
    backward_lower_reduce (lowering, node, &r, x, partials);
  else
    {
      dyno_batch_norm_join (lowering, node, x->cp, &made);
      partials = made.partials;
      r.groups = made.groups;
    }
  x = node->inputs[DYNO_NORM_BACKWARD_X];
  r.rows = x->n * x->h * x->w; /* the rows over which the means are taken */
  backward_lower_collect (lowering, node, &r, partials, sums);
  if (node->inputs[DYNO_NORM_BACKWARD_PAIR_X])
    backward_lower_pair (lowering, node, sums);
  else if (node->outputs[DYNO_NORM_BACKWARD_DX] && pooled)
    backward_lower_unpool (lowering, node, sums);
  else if (node->outputs[DYNO_NORM_BACKWARD_DX])
    backward_lower_gradient (lowering, node, sums, reduced);
}

/* The reducing pass reads x, from which y is made (with max pooling, from the winners).  Where the
 * sums were made before and there is no reducing pass, the pass for the gradient rematerialises
 * y. */
static DynoTensor *
backward_rematerialises (const DynoNode *node)
{
  return ((const DynoNormBackward *) node->attributes)->y;
}

static const DynoAttribute backward_attributes[] = {
  DYNO_ATTRIBUTE (DynoNormBackward, activation),
  DYNO_ATTRIBUTE (DynoNormBackward, parameter),
  DYNO_ATTRIBUTE (DynoNormBackward, residual),
  DYNO_ATTRIBUTE (DynoNormBackward, mask_store),
  DYNO_ATTRIBUTE (DynoNormBackward, accumulate),
  DYNO_ATTRIBUTE (DynoNormBackward, running),
  DYNO_ATTRIBUTE (DynoNormBackward, pair),
  DYNO_ATTRIBUTE (DynoNormBackward, pool.kernel_h),
  DYNO_ATTRIBUTE (DynoNormBackward, pool.stride_h),
  DYNO_ATTRIBUTE (DynoNormBackward, pool.pad_h),
  DYNO_ATTRIBUTE (DynoNormBackward, eps),
};

const DynoOpClass dyno_batch_norm_backward_op = { .name = "batch_norm_backward",
                                                  DYNO_OP_ATTRIBUTES (backward_attributes),
                                                  .lower = backward_lower,
                                                  .rematerialises = backward_rematerialises };

/* The residual's gradient: it shares dy, masked in place or unchanged, or is a new tensor that the
 * last kernel fills. */
static DynoTensor *
backward_residual (DynoGraph *graph, DynoTensor *residual, DynoTensor *y,
                   DynoNormBackward *attributes)
{
  if (!attributes->activation)
    {
      dyno_graph_gradient_add (graph, residual, y->gradient);
      return NULL;
    }
  if (!attributes->running && dyno_graph_gradient_in_place (graph, residual, y))
    {
      attributes->mask_store = TRUE;
      return y->gradient;
    }
  return dyno_graph_gradient_target (graph, residual, &attributes->accumulate_residual);
}

/* TRUE: dx may overwrite x, since the backward pass of the op that made x (a convolution) does not
 * read x, and the nodes of this batch norm are x's only readers.  The gradient of the largest
 * activation then needs no memory of its own. */
static gboolean
backward_over_x (DynoGraph *graph, const DynoNode *node, DynoTensor *x)
{
  if (!x->producer || x->producer->op->traits.reads_own_output || x->keep || x->gradient)
    return FALSE;
  GPtrArray *nodes = dyno_graph_get_nodes (graph);
  for (guint i = 0; i < nodes->len; i++)
    {
      const DynoNode *other = g_ptr_array_index (nodes, i);
      for (guint k = 0; k < other->n_inputs; k++)
        if (other->inputs[k] == x && other != node && other->op != &dyno_batch_norm_stats_op)
          return FALSE;
    }
  return dyno_graph_gradient_alias (graph, x, x);
}

/* Makes the tensor of the mask, which the forward node writes from now on; NULL: the graph
 * failed. */
static DynoTensor *
append_mask (DynoGraph *graph, DynoNode *node)
{
  const DynoTensor *y = node->outputs[DYNO_BATCH_NORM_Y];
  g_autofree char *name = g_strconcat (y->name, ".mask", NULL);
  guint32 rows = y->n * y->h * y->w, accesses = y->cp / dyno_dtype_lanes (y->dtype);
  DynoTensor *mask =
      dyno_graph_tensor (graph, name, DYNO_DTYPE_I32, DYNO_SPACE_ARENA, 1, 1,
                         rows / DYNO_MASK_ROWS + (rows % DYNO_MASK_ROWS != 0), accesses, accesses);
  if (!mask)
    return NULL;
  mask->producer = node;
  dyno_node_set_output (node, DYNO_BATCH_NORM_MASK, mask);
  return mask;
}

void
dyno_batch_norm_backward (DynoGraph *graph, DynoNode *node)
{
  DynoTensor *x = node->inputs[DYNO_BATCH_NORM_X],
             *residual = node->inputs[DYNO_BATCH_NORM_RESIDUAL];
  DynoTensor *y = node->outputs[0], *dy = dyno_graph_gradient (graph, y);
  const DynoBatchNormAttributes *forward = node->attributes;
  DynoNormBackward attributes = { .activation = forward->activation,
                                  .parameter = forward->parameter,
                                  .residual = residual != NULL,
                                  .own_dy = dyno_graph_gradient_is_own (graph, y),
                                  .running = dyno_batch_norm_uses_running (node),
                                  .eps = forward->eps,
                                  .pool = forward->pool };
  gboolean pooled = forward->pool.kernel_h != 0;
  DynoTensor *outputs[DYNO_NORM_BACKWARD_N_OUTPUTS] = { NULL };
  attributes.y = attributes.running ? NULL : y;
  if (residual && residual->needs_gradient)
    outputs[DYNO_NORM_BACKWARD_DRESIDUAL] = backward_residual (graph, residual, y, &attributes);
  if (x->needs_gradient && pooled && backward_over_x (graph, node, x))
    outputs[DYNO_NORM_BACKWARD_DX] = x;
  else if (x->needs_gradient)
    outputs[DYNO_NORM_BACKWARD_DX] =
        pooled ? dyno_graph_gradient_target (graph, x, &attributes.accumulate)
               : dyno_graph_gradient_target_over (graph, x, y, &attributes.accumulate);
  outputs[DYNO_NORM_BACKWARD_DGAMMA] = node->inputs[DYNO_BATCH_NORM_WEIGHT]->parameter->gradient;
  outputs[DYNO_NORM_BACKWARD_DBETA] = node->inputs[DYNO_BATCH_NORM_BIAS]->parameter->gradient;

  DynoTensor *inputs[DYNO_NORM_BACKWARD_N] = {
    [DYNO_NORM_BACKWARD_X] = x,
    [DYNO_NORM_BACKWARD_GAMMA] = node->inputs[DYNO_BATCH_NORM_WEIGHT],
    [DYNO_NORM_BACKWARD_BETA] = node->inputs[DYNO_BATCH_NORM_BIAS],
    [DYNO_NORM_BACKWARD_MEAN] = node->inputs[DYNO_BATCH_NORM_MEAN],
    [DYNO_NORM_BACKWARD_INVSTD] = node->inputs[DYNO_BATCH_NORM_SPREAD],
    [DYNO_NORM_BACKWARD_ADDED] = attributes.y ? residual : NULL,
    [DYNO_NORM_BACKWARD_DY] = dy
  };
  if (attributes.running && !outputs[DYNO_NORM_BACKWARD_DX]
      && !outputs[DYNO_NORM_BACKWARD_DRESIDUAL])
    return;
  if (attributes.activation && residual
      && !(inputs[DYNO_NORM_BACKWARD_MASK] = append_mask (graph, node)))
    return;
  if (pooled)
    {
      inputs[DYNO_NORM_BACKWARD_WINNERS] = node->outputs[DYNO_BATCH_NORM_WINNERS];
      inputs[DYNO_NORM_BACKWARD_ARGMAX] = node->outputs[DYNO_BATCH_NORM_ARGMAX];
    }
  dyno_graph_backward_node (graph, node, &dyno_batch_norm_backward_op, inputs, DYNO_NORM_BACKWARD_N,
                            outputs, DYNO_NORM_BACKWARD_N_OUTPUTS, &attributes, sizeof attributes);
}
