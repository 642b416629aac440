/* SPDX-License-Identifier: MIT */
/* Two batch_norm_backward nodes: one pass computes the gradients of two batch norms, of which the
 * first adds the output of the second in its loads.  Both nodes read dy; the pass reads dy once,
 * and x of both, from which it can also rematerialise y.
 *
 * The first node, whose batch norm outputs the sum, still computes its own sums over dy; the second
 * node, of the residual, computes dx of both. */
#include "batchnorm-private.h"
#include "fusion.h"

static gboolean
can_leave_gradient (const DynoNode *node)
{
  if (node->op != &dyno_batch_norm_backward_op)
    return FALSE;
  const DynoNormBackward *attributes = node->attributes;
  return (!attributes->activation || attributes->mask_store) && !attributes->accumulate
         && !attributes->running && node->outputs[DYNO_NORM_BACKWARD_DX]
         && node->inputs[DYNO_NORM_BACKWARD_ADDED_MEAN];
}

static gboolean
can_join (const DynoNode *node, const DynoNode *next)
{
  if (next->op != &dyno_batch_norm_backward_op)
    return FALSE;
  const DynoNormBackward *attributes = next->attributes;
  return node->inputs[DYNO_NORM_BACKWARD_ADDED] == next->inputs[DYNO_NORM_BACKWARD_X]
         && node->inputs[DYNO_NORM_BACKWARD_ADDED_MEAN] == next->inputs[DYNO_NORM_BACKWARD_MEAN]
         && node->inputs[DYNO_NORM_BACKWARD_DY] == next->inputs[DYNO_NORM_BACKWARD_DY]
         && !attributes->activation && !attributes->accumulate && !attributes->running
         && !attributes->pool.kernel_h && !attributes->residual
         && next->outputs[DYNO_NORM_BACKWARD_DX];
}

/* TRUE: the node reads or writes an output of another node. */
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

/* *other is the next node that can be joined; no node between the two may touch the outputs of the
 * first node. */
static gboolean
match (DynoGraph *graph, DynoNode *node, DynoNode **other)
{
  GPtrArray *nodes = dyno_graph_get_nodes (graph);
  guint place;
  if (!can_leave_gradient (node) || !g_ptr_array_find (nodes, node, &place))
    return FALSE;
  for (guint i = place + 1; i < nodes->len; i++)
    {
      *other = g_ptr_array_index (nodes, i);
      if (can_join (node, *other))
        return TRUE;
      if (touches_outputs (*other, node))
        return FALSE;
    }
  return FALSE;
}

static void
apply (DynoGraph *graph, DynoNode *node, DynoNode *other)
{
  DynoNormBackward *first = node->attributes, *second = other->attributes;
  guint32 channels = node->inputs[DYNO_NORM_BACKWARD_X]->cp;
  g_autofree char *name = g_strconcat (node->name, ".sums", NULL);
  DynoTensor *sums = dyno_graph_tensor (graph, name, DYNO_DTYPE_F32, DYNO_SPACE_ARENA, 1, 1, 2,
                                        channels, channels);
  if (!sums)
    return;
  for (guint i = 0; DYNO_NORM_BACKWARD_PAIR_X + i < DYNO_NORM_BACKWARD_PAIR_SUMS; i++)
    dyno_node_set_input (other, DYNO_NORM_BACKWARD_PAIR_X + i,
                         node->inputs[DYNO_NORM_BACKWARD_X + i]);
  dyno_node_set_input (other, DYNO_NORM_BACKWARD_PAIR_SUMS, sums);
  dyno_node_set_output (other, DYNO_NORM_BACKWARD_PAIR_DX, node->outputs[DYNO_NORM_BACKWARD_DX]);
  node->outputs[DYNO_NORM_BACKWARD_DX]->producer = other;
  dyno_node_set_output (node, DYNO_NORM_BACKWARD_DX, NULL);
  dyno_node_set_output (node, DYNO_NORM_BACKWARD_SUMS, sums);
  sums->producer = node;
  second->pair = first->activation;
  second->y = first->y;
  first->y = NULL;
  for (guint i = DYNO_NORM_BACKWARD_ADDED; i <= DYNO_NORM_BACKWARD_ADDED_INVSTD; i++)
    dyno_node_set_input (node, i, NULL);
}

const DynoFusion dyno_fusion_gradient_pair = { "gradient-pair", DYNO_FUSION_BACKWARD, match,
                                               apply };
