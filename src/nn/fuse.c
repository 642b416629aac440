/* SPDX-License-Identifier: MIT */
/* Fusion: rewriting of the forward nodes before the backward pass is appended, and of that
 * (dyno_fuse_gradient_sums).
 *
 * Invariants: a rule changes which nodes there are, never what their results are but for rounding;
 * an intermediate tensor that a rule removes had one reader.  A fused node takes the last place of
 * those it replaces, since everything it reads has been written by then.
 * The rules know traits, no ops: what a node can take on is up to its op's `absorb`. */
#include "graph-private.h"
#include "op.h"
#include "ops.h"

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

/* The node that feeds this tensor to `reader` alone, if it may take something on. */
static DynoNode *
absorbing_producer (DynoGraph *graph, const DynoTensor *tensor, const DynoNode *reader)
{
  DynoNode *node = tensor ? tensor->producer : NULL;
  return node && node->op->absorb && node->outputs[0] == tensor
                 && only_reader (graph, tensor) == reader
             ? node
             : NULL;
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

/* The producer of input 0 does what the node did. */
static gboolean
fuse_into_producer (DynoGraph *graph, DynoNode *node)
{
  DynoNode *producer = absorbing_producer (graph, node->inputs[0], node);
  if (!producer || !producer->op->absorb (graph, producer, node))
    return FALSE;
  take_over (graph, producer, node, node->outputs[0]);
  return TRUE;
}

static gboolean
fuse_activation (DynoGraph *graph, DynoNode *node)
{
  return node->op->traits.activation != DYNO_ACTIVATION_NONE && fuse_into_producer (graph, node);
}

/* One of the two that a sum adds up does that; NULL: neither can. */
static DynoNode *
fuse_into_side (DynoGraph *graph, DynoNode *sum)
{
  for (guint side = 0; side < 2; side++)
    {
      DynoNode *node = absorbing_producer (graph, sum->inputs[side], sum);
      if (!node || !node->op->absorb (graph, node, sum))
        continue;
      take_over (graph, node, sum, sum->outputs[0]);
      return node;
    }
  return NULL;
}

/* One of the two that a sum adds up does that, and the activation behind it. */
static gboolean
fuse_sum_activation (DynoGraph *graph, DynoNode *activation)
{
  DynoNode *sum = activation->inputs[0] ? activation->inputs[0]->producer : NULL;
  if (activation->op->traits.activation == DYNO_ACTIVATION_NONE || !sum
      || sum->op->traits.elementwise != DYNO_ELEMENTWISE_SUM
      || only_reader (graph, activation->inputs[0]) != activation)
    return FALSE;
  DynoNode *node = fuse_into_side (graph, sum);
  if (node && node->op->absorb (graph, node, activation))
    take_over (graph, node, activation, activation->outputs[0]);
  return node != NULL;
}

/* The same of a sum that no activation comes behind. */
static gboolean
fuse_sum (DynoGraph *graph, DynoNode *sum)
{
  return sum->op->traits.elementwise == DYNO_ELEMENTWISE_SUM && fuse_into_side (graph, sum);
}

static gboolean
fuse_window_maximum (DynoGraph *graph, DynoNode *node)
{
  return node->op->traits.window_maximum && fuse_into_producer (graph, node);
}

/* The producer sums up its columns while it stores them; the statistics then need not read x.
 * Whether they do is up to the kernel: one that cannot makes no sums, and the statistics are as
 * before. */
static gboolean
fuse_column_sums (DynoGraph *graph, DynoNode *node)
{
  DynoNode *producer = node->op->traits.reads_column_sums ? node->inputs[0]->producer : NULL;
  return producer && producer->op->traits.emits_column_sums
         && producer->op->absorb (graph, producer, node);
}

/* The node that writes the tensor last before this place, if nobody reads it in between, who would
 * find it changed; NULL: none. */
static DynoNode *
last_writer (DynoGraph *graph, const DynoTensor *tensor, guint place)
{
  while (place-- > 0)
    {
      DynoNode *node = g_ptr_array_index (graph->nodes, place);
      for (guint i = 0; i < node->n_outputs; i++)
        if (node->outputs[i] == tensor)
          return node;
      for (guint i = 0; i < node->n_inputs; i++)
        if (node->inputs[i] == tensor)
          return NULL;
    }
  return NULL;
}

/* The first node from this place on that touches the tensor, if it writes it and reads it no other
 * way; NULL: none. */
static DynoNode *
next_writer (DynoGraph *graph, const DynoTensor *tensor, guint place)
{
  for (; place < graph->nodes->len; place++)
    {
      DynoNode *node = g_ptr_array_index (graph->nodes, place);
      for (guint i = 0; i < node->n_inputs; i++)
        if (node->inputs[i] == tensor)
          return NULL;
      for (guint i = 0; i < node->n_outputs; i++)
        if (node->outputs[i] == tensor)
          return node;
    }
  return NULL;
}

guint
dyno_fuse_sparse_gradients (DynoGraph *graph)
{
  guint applied = 0;
  for (guint i = 0; i < graph->nodes->len && !graph->error; i++)
    {
      DynoNode *node = g_ptr_array_index (graph->nodes, i);
      DynoSparseGradient sparse = { NULL };
      if (!node->op->sparse_gradient || !node->op->sparse_gradient (node, &sparse))
        continue;
      const DynoTensor *whole = sparse.gradient;
      DynoNode *adds = next_writer (graph, whole, i + 1);
      if (!adds || !adds->op->add_sparse_gradient || !adds->op->add_sparse_gradient (adds, &sparse))
        continue;
      g_autofree char *name = g_strconcat (node->name, ".pixels", NULL);
      sparse.pixels = dyno_graph_activation (
          graph, name, whole->n, (whole->h + sparse.step_h - 1) / sparse.step_h,
          (whole->w + sparse.step_w - 1) / sparse.step_w, whole->c);
      if (!sparse.pixels)
        return applied;
      sparse.pixels->producer = node;
      sparse.gradient->producer = adds;
      node->op->sparse_gradient (node, &sparse);
      adds->op->add_sparse_gradient (adds, &sparse);
      applied++;
    }
  return applied;
}

guint
dyno_fuse_gradient_sums (DynoGraph *graph)
{
  guint applied = 0;
  for (guint i = 0; i < graph->nodes->len && !graph->error; i++)
    {
      const DynoNode *node = g_ptr_array_index (graph->nodes, i);
      DynoGradientSums sums;
      if (!node->op->gradient_sums || !node->op->gradient_sums (node, &sums))
        continue;
      DynoNode *writer = last_writer (graph, sums.dy, i);
      if (writer && writer->op->make_gradient_sums)
        applied += writer->op->make_gradient_sums (writer, &sums);
    }
  return applied;
}

/* The producer stores what the norm makes of its output.  A backward pass would want that output. */
static gboolean
fuse_running_norm (DynoGraph *graph, DynoNode *node)
{
  DynoRunningNorm norm;
  if (dyno_graph_get_params (graph)->training || !node->op->running_norm
      || !node->op->running_norm (node, &norm))
    return FALSE;
  DynoNode *producer = norm.x->producer;
  if (!producer || !producer->op->apply_running_norm || producer->outputs[0] != norm.x
      || only_reader (graph, norm.x) != node || !producer->op->apply_running_norm (producer, &norm))
    return FALSE;
  take_over (graph, producer, node, node->outputs[0]);
  return TRUE;
}

/* What reads the tensor are one node of the forward pass and such of the backward pass, and all can
 * make the load; apply: they do from now on.  by_table: whether any of them reads the table. */
static gboolean
load_in_readers (DynoGraph *graph, const DynoTensor *tensor, const DynoNormLoad *load,
                 gboolean apply, gboolean *by_table)
{
  guint forward = 0;
  *by_table = FALSE;
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      DynoNode *node = g_ptr_array_index (graph->nodes, i);
      for (guint k = 0; k < node->n_inputs; k++)
        {
          if (node->inputs[k] != tensor)
            continue;
          if (!node->op->load_norm || !node->op->load_norm (node, k, load, apply))
            return FALSE;
          forward += node->stage == DYNO_STAGE_FORWARD;
          *by_table |= node->op->traits.loads_by_table;
        }
    }
  return forward == 1;
}

guint
dyno_fuse_norm_loads (DynoGraph *graph)
{
  guint applied = 0;
  for (guint i = 0; i < graph->nodes->len && !graph->error; i++)
    {
      const DynoNode *node = g_ptr_array_index (graph->nodes, i);
      DynoNormLoad load;
      if (!node->op->norm_load || !node->op->norm_load (node, &load))
        continue;
      DynoTensor *y = node->outputs[0];
      gboolean by_table;
      if (y->keep || !load_in_readers (graph, y, &load, FALSE, &by_table))
        continue;
      load.table = by_table ? node->op->norm_table (graph, node) : NULL;
      if (by_table && !load.table)
        return applied;
      load_in_readers (graph, y, &load, TRUE, &by_table);
      y->producer = NULL;
      g_ptr_array_remove_index (graph->nodes, i--);
      applied++;
    }
  return applied;
}

static gboolean
touches_outputs (const DynoNode *node, const DynoNode *writer)
{
  for (guint k = 0; k < writer->n_outputs; k++)
    {
      const DynoTensor *output = writer->outputs[k];
      for (guint i = 0; i < node->n_inputs && output; i++)
        if (node->inputs[i] == output)
          return TRUE;
      for (guint i = 0; i < node->n_outputs && output; i++)
        if (node->outputs[i] == output)
          return TRUE;
    }
  return FALSE;
}

guint
dyno_fuse_gradient_pairs (DynoGraph *graph)
{
  guint applied = 0;
  for (guint i = 0; i < graph->nodes->len && !graph->error; i++)
    {
      DynoNode *node = g_ptr_array_index (graph->nodes, i);
      for (guint k = i + 1; k < graph->nodes->len && node->op->join_gradients; k++)
        {
          DynoNode *next = g_ptr_array_index (graph->nodes, k);
          if (next->op->join_gradients && node->op->join_gradients (graph, node, next))
            {
              applied++;
              break;
            }
          if (touches_outputs (next, node))
            break;
        }
    }
  return applied;
}

/* Tries a rule at every forward node; the list shrinks as it applies. */
static guint
apply (DynoGraph *graph, gboolean (*rule) (DynoGraph *graph, DynoNode *node))
{
  guint applied = 0;
  if (graph->error)
    return 0;
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      DynoNode *node = g_ptr_array_index (graph->nodes, i);
      if (node->stage != DYNO_STAGE_FORWARD || !rule (graph, node))
        continue;
      applied++;
      i = 0; /* places have moved */
    }
  return applied;
}

guint
dyno_fuse_batch_norm_relu (DynoGraph *graph)
{
  return apply (graph, fuse_activation);
}

guint
dyno_fuse_batch_norm_add_relu (DynoGraph *graph)
{
  return apply (graph, fuse_sum_activation);
}

guint
dyno_fuse_batch_norm_add (DynoGraph *graph)
{
  return apply (graph, fuse_sum);
}

guint
dyno_fuse_batch_norm_max_pool (DynoGraph *graph)
{
  return apply (graph, fuse_window_maximum);
}

guint
dyno_fuse_statistics (DynoGraph *graph)
{
  return apply (graph, fuse_column_sums);
}

guint
dyno_fuse_running_norm (DynoGraph *graph)
{
  return apply (graph, fuse_running_norm);
}

void
dyno_fuse_all (DynoGraph *graph)
{
  dyno_fuse_statistics (graph);
  dyno_fuse_batch_norm_add_relu (graph);
  dyno_fuse_batch_norm_relu (graph);
  dyno_fuse_batch_norm_add (graph);
  dyno_fuse_batch_norm_max_pool (graph);
  dyno_fuse_running_norm (graph);
}
