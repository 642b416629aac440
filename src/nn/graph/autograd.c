/* SPDX-License-Identifier: MIT */
/* The backward pass: walks the forward nodes from the last to the first and lets each append its
 * backward nodes.
 *
 * Invariants:
 * - When a node's turn comes, every consumer of its outputs has had its turn: the gradients of its
 *   outputs are complete.
 * - The first contributor to a gradient overwrites, later ones accumulate, in list order.
 * - Two tensors may share one gradient (the two sides of an addition).  A contributor may add to
 *   the gradient of one tensor only when the producers of all the others have had their turn, that
 *   is, have read the gradient.  Otherwise the contributor gets fresh memory, and the shared value
 *   is added to that memory right after the contributor. */
#include "graph-private.h"
#include "op.h"
#include "sum.h"

DynoTensor *
dyno_graph_gradient (DynoGraph *graph, DynoTensor *output)
{
  return output ? output->gradient : NULL;
}

static void
share_add (DynoGraph *graph, DynoTensor *gradient, DynoTensor *owner)
{
  GPtrArray *owners = g_hash_table_lookup (graph->gradient_shares, gradient);
  if (!owners)
    {
      owners = g_ptr_array_new ();
      g_hash_table_insert (graph->gradient_shares, gradient, owners);
    }
  g_ptr_array_add (owners, owner);
  owner->gradient = gradient;
}

static DynoTensor *
gradient_new (DynoGraph *graph, DynoTensor *input, const char *suffix)
{
  g_autofree char *name = g_strconcat (input->name, suffix, NULL);
  DynoTensor *gradient = dyno_graph_tensor (graph, name, input->dtype, DYNO_SPACE_ARENA, input->n,
                                            input->h, input->w, input->c, input->cp);
  if (gradient)
    share_add (graph, gradient, input);
  return gradient;
}

/* TRUE when no tensor but input still needs the present value of the gradient. */
static gboolean
gradient_is_free (DynoGraph *graph, const DynoTensor *input)
{
  GPtrArray *owners = g_hash_table_lookup (graph->gradient_shares, input->gradient);
  for (guint i = 0; owners && i < owners->len; i++)
    {
      DynoTensor *other = g_ptr_array_index (owners, i);
      if (other == input)
        continue;
      guint place = GPOINTER_TO_UINT (g_hash_table_lookup (graph->node_index, other->producer));
      if (!other->producer || place == 0 || place - 1 <= graph->cursor)
        return FALSE;
    }
  return TRUE;
}

DynoTensor *
dyno_graph_gradient_target (DynoGraph *graph, DynoTensor *input, gboolean *accumulate)
{
  *accumulate = FALSE;
  if (!input || !input->needs_gradient || graph->error)
    return NULL;
  if (!input->gradient)
    return gradient_new (graph, input, ".grad");
  if (gradient_is_free (graph, input))
    {
      *accumulate = TRUE;
      return input->gradient;
    }
  DynoTensor *shared = input->gradient;
  g_ptr_array_remove (g_hash_table_lookup (graph->gradient_shares, shared), input);
  DynoTensor *own = gradient_new (graph, input, ".grad.sum");
  if (own)
    g_array_append_val (graph->pending, ((DynoPendingSum){ shared, own }));
  return own;
}

gboolean
dyno_graph_gradient_alias (DynoGraph *graph, DynoTensor *input, DynoTensor *gradient)
{
  g_return_val_if_fail (input && gradient, FALSE);
  if (!input->needs_gradient)
    return TRUE;
  if (input->gradient || input->size_bytes != gradient->size_bytes
      || input->dtype != gradient->dtype)
    return FALSE;
  share_add (graph, gradient, input);
  return TRUE;
}

gboolean
dyno_graph_gradient_is_own (DynoGraph *graph, const DynoTensor *output)
{
  return output->gradient && gradient_is_free (graph, output);
}

gboolean
dyno_graph_gradient_in_place (DynoGraph *graph, DynoTensor *input, DynoTensor *output)
{
  return dyno_graph_gradient_is_own (graph, output)
         && dyno_graph_gradient_alias (graph, input, output->gradient);
}

DynoTensor *
dyno_graph_gradient_target_over (DynoGraph *graph, DynoTensor *input, DynoTensor *output,
                                 gboolean *accumulate)
{
  *accumulate = FALSE;
  if (!input->needs_gradient)
    return NULL;
  return dyno_graph_gradient_in_place (graph, input, output)
             ? output->gradient
             : dyno_graph_gradient_target (graph, input, accumulate);
}

DynoNode *
dyno_graph_backward_node (DynoGraph *graph, const DynoNode *node, const DynoOpClass *op,
                          DynoTensor *const *inputs, guint n_inputs, DynoTensor *const *outputs,
                          guint n_outputs, gconstpointer attributes, gsize attributes_size)
{
  g_autofree char *name = g_strconcat (node->name, ".backward", NULL);

  return dyno_graph_node (graph, op, name, inputs, n_inputs, outputs, n_outputs, attributes,
                          attributes_size);
}

void
dyno_graph_gradient_add (DynoGraph *graph, DynoTensor *input, DynoTensor *source)
{
  if (!input || !source || !input->needs_gradient || graph->error
      || dyno_graph_gradient_alias (graph, input, source))
    return;
  if (gradient_is_free (graph, input))
    {
      dyno_sum_accumulate (graph, source, input->gradient);
      return;
    }
  g_autofree char *name = g_strconcat (input->name, ".grad.sum", NULL);
  g_ptr_array_remove (g_hash_table_lookup (graph->gradient_shares, input->gradient), input);
  DynoTensor *sum = dyno_sum (graph, input->gradient, source, name);
  if (sum)
    share_add (graph, sum, input);
}

static void
pending_flush (DynoGraph *graph)
{
  for (guint i = 0; i < graph->pending->len && !graph->error; i++)
    {
      DynoPendingSum sum = g_array_index (graph->pending, DynoPendingSum, i);
      dyno_sum_accumulate (graph, sum.source, sum.target);
    }
  g_array_set_size (graph->pending, 0);
}

static gboolean
node_has_gradient (const DynoNode *node)
{
  for (guint i = 0; i < node->n_outputs; i++)
    if (node->outputs[i] && node->outputs[i]->gradient)
      return TRUE;
  return FALSE;
}

void
dyno_graph_backward (DynoGraph *graph)
{
  if (graph->error || !graph->params.training)
    return;
  guint n_forward = graph->nodes->len;
  for (guint i = 0; i < n_forward; i++)
    g_hash_table_insert (graph->node_index, g_ptr_array_index (graph->nodes, i),
                         GUINT_TO_POINTER (i + 1));
  graph->stage = DYNO_STAGE_BACKWARD;
  for (guint i = n_forward; i-- > 0 && !graph->error;)
    {
      DynoNode *node = g_ptr_array_index (graph->nodes, i);
      graph->cursor = i;
      if (node->op->backward && node_has_gradient (node))
        node->op->backward (graph, node);
      pending_flush (graph);
    }
  graph->cursor = 0;
  graph->stage = DYNO_STAGE_OPTIMIZER;
}
