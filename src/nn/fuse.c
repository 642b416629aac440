/* SPDX-License-Identifier: MIT */
/* Fusion: rewriting of the forward nodes before the backward pass is appended.
 *
 * Invariants: a rule changes which nodes there are, never what their results are but for rounding;
 * an intermediate tensor that a rule removes had one reader.  A fused node takes the last place of
 * those it replaces, since everything it reads has been written by then. */
#include "batchnorm.h"
#include "conv2d-private.h"
#include "graph-private.h"
#include "lowering.h"
#include "ops.h"

static gboolean
is_op (const DynoNode *node, const char *name)
{
  return node && node->stage == DYNO_STAGE_FORWARD && g_str_equal (node->op->name, name);
}

/* The only reader of a tensor; NULL when there are none or more. */
static DynoNode *
only_reader (DynoGraph *graph, const DynoTensor *tensor)
{
  DynoNode *reader = NULL;
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      DynoNode *node = g_ptr_array_index (graph->nodes, i);
      for (guint k = 0; k < node->n_inputs; k++)
        {
          if (node->inputs[k] != tensor)
            continue;
          if (reader)
            return NULL;
          reader = node;
        }
    }
  return tensor->keep ? NULL : reader;
}

/* The batch norm that alone feeds this tensor, if it can still take something on. */
static DynoNode *
plain_batch_norm (const DynoTensor *tensor)
{
  DynoNode *node = tensor ? tensor->producer : NULL;
  if (!is_op (node, DYNO_OP_BATCH_NORM) || node->outputs[0] != tensor
      || node->inputs[DYNO_BATCH_NORM_RESIDUAL])
    return NULL;
  const DynoBatchNormAttributes *attributes = node->attributes;
  return attributes->relu || attributes->pool.kernel ? NULL : node;
}

/* The node writes `output` from now on, in the place of `last`; what it wrote before is gone, and
 * `last` with it. */
static void
take_over (DynoGraph *graph, DynoNode *node, DynoNode *last, DynoTensor *output)
{
  DynoTensor *gone = node->outputs[0];
  gone->producer = NULL;
  gone->needs_gradient = FALSE;
  node->outputs[0] = output;
  output->producer = node;
  guint from, to;
  g_ptr_array_find (graph->nodes, node, &from);
  g_ptr_array_find (graph->nodes, last, &to);
  for (guint i = from; i < to; i++)
    graph->nodes->pdata[i] = graph->nodes->pdata[i + 1];
  graph->nodes->pdata[to] = node; /* `last` is at to - 1 now */
  g_ptr_array_remove_index (graph->nodes, to - 1);
}

static gboolean
fuse_relu (DynoGraph *graph, DynoNode *relu)
{
  DynoNode *norm = plain_batch_norm (relu->inputs[0]);
  if (!norm || only_reader (graph, relu->inputs[0]) != relu)
    return FALSE;
  ((DynoBatchNormAttributes *) norm->attributes)->relu = TRUE;
  take_over (graph, norm, relu, relu->outputs[0]);
  return TRUE;
}

static gboolean
fuse_add_relu (DynoGraph *graph, DynoNode *relu)
{
  DynoNode *add = relu->inputs[0]->producer;
  if (!is_op (add, DYNO_OP_ADD) || only_reader (graph, relu->inputs[0]) != relu)
    return FALSE;
  for (guint side = 0; side < 2; side++)
    {
      DynoNode *norm = plain_batch_norm (add->inputs[side]);
      if (!norm || only_reader (graph, add->inputs[side]) != add)
        continue;
      DynoTensor *sum = add->outputs[0];
      norm->inputs[DYNO_BATCH_NORM_RESIDUAL] = add->inputs[1 - side];
      norm->n_inputs = MAX (norm->n_inputs, DYNO_BATCH_NORM_RESIDUAL + 1);
      ((DynoBatchNormAttributes *) norm->attributes)->relu = TRUE;
      take_over (graph, norm, add, sum);
      take_over (graph, norm, relu, relu->outputs[0]);
      return TRUE;
    }
  return FALSE;
}

/* The batch norm, with its relu or without, writes what the pool wrote; the unpooled activation and
 * its gradient are never in memory.  Where a backward pass follows it keeps x at the largest values
 * too, a tensor of the pooled size, so that the backward pass reduces over that instead of all of
 * x. */
static gboolean
fuse_max_pool (DynoGraph *graph, DynoNode *pool)
{
  DynoTensor *x = pool->inputs[0], *y = pool->outputs[DYNO_MAX_POOL_Y],
             *argmax = pool->outputs[DYNO_MAX_POOL_ARGMAX];
  DynoNode *norm = x->producer;
  if (!is_op (norm, DYNO_OP_BATCH_NORM) || norm->outputs[0] != x
      || norm->inputs[DYNO_BATCH_NORM_RESIDUAL] || only_reader (graph, x) != pool)
    return FALSE;
  DynoBatchNormAttributes *attributes = norm->attributes;
  if (attributes->pool.kernel || !dyno_batch_norm_can_pool (pool->attributes)
      || (graph->params.training && !argmax))
    return FALSE;
  attributes->pool = *(const DynoMaxPoolAttributes *) pool->attributes;
  if (argmax)
    {
      g_autofree char *name = g_strconcat (y->name, ".winners", NULL);
      DynoTensor *winners = dyno_graph_activation (graph, name, y->n, y->h, y->w, y->c);
      if (!winners)
        return FALSE;
      norm->outputs[DYNO_BATCH_NORM_ARGMAX] = argmax;
      norm->outputs[DYNO_BATCH_NORM_WINNERS] = winners;
      norm->n_outputs = DYNO_BATCH_NORM_N_OUTPUTS;
      argmax->producer = winners->producer = norm;
    }
  take_over (graph, norm, pool, y);
  return TRUE;
}

/* The convolution sums up its columns while it stores them; the statistics then need not read x.
 * Whether they do is up to the kernel: one that cannot makes no sums, and the statistics are as
 * before. */
static gboolean
fuse_statistics (DynoGraph *graph, DynoNode *stats)
{
  (void) graph;
  DynoNode *conv = stats->inputs[0]->producer;
  return is_op (conv, DYNO_OP_CONV2D) && dyno_conv2d_want_statistics (conv, stats->inputs[1]);
}

/* Tries a rule at every node of an op; the list shrinks as it applies. */
static guint
apply_at (DynoGraph *graph, const char *op, gboolean (*rule) (DynoGraph *graph, DynoNode *node))
{
  guint applied = 0;
  if (graph->error)
    return 0;
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      DynoNode *node = g_ptr_array_index (graph->nodes, i);
      if (!is_op (node, op) || !rule (graph, node))
        continue;
      applied++;
      i = 0; /* places have moved */
    }
  return applied;
}

guint
dyno_fuse_batch_norm_relu (DynoGraph *graph)
{
  return apply_at (graph, DYNO_OP_RELU, fuse_relu);
}

guint
dyno_fuse_batch_norm_add_relu (DynoGraph *graph)
{
  return apply_at (graph, DYNO_OP_RELU, fuse_add_relu);
}

guint
dyno_fuse_batch_norm_max_pool (DynoGraph *graph)
{
  return apply_at (graph, DYNO_OP_MAX_POOL, fuse_max_pool);
}

guint
dyno_fuse_statistics (DynoGraph *graph)
{
  return apply_at (graph, DYNO_OP_BATCH_NORM_STATS, fuse_statistics);
}

void
dyno_fuse_all (DynoGraph *graph)
{
  dyno_fuse_statistics (graph);
  dyno_fuse_batch_norm_add_relu (graph);
  dyno_fuse_batch_norm_relu (graph);
  dyno_fuse_batch_norm_max_pool (graph);
}
