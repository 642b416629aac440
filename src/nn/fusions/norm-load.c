/* SPDX-License-Identifier: MIT */
/* batch_norm -> its readers: they read x, the input of the batch norm, and compute the batch norm's
 * output in their loads, without rounding; the output is never in memory.
 *
 * The readers are one node of the forward pass and its backward nodes.  The node is a convolution,
 * a linear layer, or a batch norm that adds the output as its residual.  Dense kernels read a table
 * of the batch norm's values for each channel (lib/gemm-load.glsl), [4][channels] of x's type,
 * which batch_norm_stats then writes; depthwise kernels and batch norms read the values
 * themselves. */
#include "batchnorm-private.h"
#include "conv2d-private.h"
#include "fusion.h"
#include "rewrite.h"

/* TRUE: readers can compute the batch norm's output in their loads.  The batch norm must use the
 * statistics of the batch: these are finite only if all of x is finite, so that a load need not
 * check each value for NaN. */
static gboolean
can_be_loaded (const DynoNode *norm)
{
  if (norm->op != &dyno_batch_norm_op)
    return FALSE;
  const DynoBatchNormAttributes *attributes = norm->attributes;
  return !dyno_batch_norm_uses_running (norm) && !attributes->pool.kernel_h
         && !norm->inputs[DYNO_BATCH_NORM_RESIDUAL]
         && attributes->activation <= DYNO_ACTIVATION_RELU6;
}

static DynoActivation
activation_of (const DynoNode *norm)
{
  return ((const DynoBatchNormAttributes *) norm->attributes)->activation;
}

/* Convolutions --------------------------------------------------------------------------------- */

static DynoConv2dShape *
loading_shape (DynoNode *node)
{
  DynoConv2dShape *shape = dyno_conv2d_get_shape (node, DYNO_CONV2D_FORWARD);
  return shape ? shape : dyno_conv2d_get_shape (node, DYNO_CONV2D_WGRAD);
}

/* TRUE: this convolution computes the batch norm's output in its loads.  Then the batch norm needs
 * no pass of its own, and every load of 16 bytes of x takes 12 more instructions (gemm-load.glsl);
 * tiles without a patch load x again for each tap.  All convolutions do so until measurements on a
 * card show where this costs too much; DYNO_NORM_LOADS is for such measurements. */
static gboolean
is_worth_it (const DynoConv2dShape *shape)
{
  const char *wish = g_getenv ("DYNO_NORM_LOADS");
  if (wish && g_str_equal (wish, "0"))
    return FALSE;
  if (wish && g_str_equal (wish, "1x1"))
    return shape->kernel_h == 1 && shape->kernel_w == 1;
  return TRUE;
}

/* The rows of a linear layer must be all pixels of x, or the images of x where an image is one
 * pixel.  The kernels for few channels cannot compute the output in their loads.  Depthwise kernels
 * get zeros around an image only from an activation that maps infinity to zero. */
static gboolean
conv_can_load (DynoNode *node, guint input, const DynoNode *norm)
{
  const DynoConv2dShape *s = loading_shape (node);
  const DynoTensor *x = norm->inputs[DYNO_BATCH_NORM_X];
  if (!s || input > 0 || s->fused.load || x->cp != s->cp || x->dtype != s->dtype)
    return FALSE;
  if (dyno_conv2d_is_depthwise (node))
    return activation_of (norm) != DYNO_ACTIVATION_NONE && x->n == s->n && x->h == s->h
           && x->w == s->w;
  return s->c > 4 && (guint64) x->n * x->h * x->w == (guint64) s->n * s->h * s->w
         && is_worth_it (s);
}

static void
conv_load (DynoNode *node, const DynoNode *norm, DynoTensor *table)
{
  DynoActivation activation = activation_of (norm);
  loading_shape (node)->fused.load = activation ? activation : DYNO_CONV2D_LOAD_PLAIN;
  dyno_node_set_input (node, 0, norm->inputs[DYNO_BATCH_NORM_X]);
  if (!dyno_conv2d_is_depthwise (node))
    {
      dyno_node_set_input (node, DYNO_CONV2D_LOAD_TABLE, table);
      return;
    }
  dyno_node_set_input (node, DYNO_DEPTHWISE_LOAD_MEAN, norm->inputs[DYNO_BATCH_NORM_MEAN]);
  dyno_node_set_input (node, DYNO_DEPTHWISE_LOAD_INVSTD, norm->inputs[DYNO_BATCH_NORM_SPREAD]);
  dyno_node_set_input (node, DYNO_DEPTHWISE_LOAD_GAMMA, norm->inputs[DYNO_BATCH_NORM_WEIGHT]);
  dyno_node_set_input (node, DYNO_DEPTHWISE_LOAD_BETA, norm->inputs[DYNO_BATCH_NORM_BIAS]);
}

/* Residuals ------------------------------------------------------------------------------------ */

/* The index of the residual among the inputs of a batch norm's node; it is followed by the inputs
 * of the batch norm that computes the residual.  0: the node does not belong to a batch norm. */
static guint
residual_place (const DynoNode *node)
{
  return node->op == &dyno_batch_norm_op            ? DYNO_BATCH_NORM_RESIDUAL
         : node->op == &dyno_batch_norm_backward_op ? DYNO_NORM_BACKWARD_ADDED
                                                    : 0;
}

static gboolean
norm_can_load (const DynoNode *node, guint input, const DynoNode *norm)
{
  const DynoTensor *x = node->inputs[0], *loaded = norm->inputs[DYNO_BATCH_NORM_X];
  guint at = residual_place (node);
  return at > 0 && input == at && activation_of (norm) == DYNO_ACTIVATION_NONE
         && !node->inputs[at + 1] && loaded->dtype == x->dtype
         && loaded->size_bytes == x->size_bytes && loaded->cp == x->cp;
}

static void
norm_load (DynoNode *node, guint at, const DynoNode *norm)
{
  static const guint inputs[] = { DYNO_BATCH_NORM_X, DYNO_BATCH_NORM_WEIGHT, DYNO_BATCH_NORM_BIAS,
                                  DYNO_BATCH_NORM_MEAN, DYNO_BATCH_NORM_SPREAD };
  for (guint i = 0; i < G_N_ELEMENTS (inputs); i++)
    dyno_node_set_input (node, at + i, norm->inputs[inputs[i]]);
}

/* The rewrite ---------------------------------------------------------------------------------- */

/* `other` is the node of the forward pass that reads the batch norm's output. */
static gboolean
match (DynoGraph *graph, DynoNode *node, DynoNode **other)
{
  if (!can_be_loaded (node) || node->outputs[DYNO_BATCH_NORM_Y]->keep)
    return FALSE;
  GPtrArray *nodes = dyno_graph_get_nodes (graph);
  guint forward = 0;
  for (guint i = 0; i < nodes->len; i++)
    {
      DynoNode *reader = g_ptr_array_index (nodes, i);
      for (guint k = 0; k < reader->n_inputs; k++)
        {
          if (reader->inputs[k] != node->outputs[DYNO_BATCH_NORM_Y])
            continue;
          if (!conv_can_load (reader, k, node) && !norm_can_load (reader, k, node))
            return FALSE;
          if (reader->stage == DYNO_STAGE_FORWARD)
            {
              *other = reader;
              forward++;
            }
        }
    }
  return forward == 1;
}

/* Makes the tensor for the table of the batch norm's values; from now on the node that computes the
 * mean writes it too.  NULL: the graph failed. */
static DynoTensor *
append_table (DynoGraph *graph, const DynoNode *norm)
{
  const DynoTensor *x = norm->inputs[DYNO_BATCH_NORM_X];
  DynoNode *stats = norm->inputs[DYNO_BATCH_NORM_MEAN]->producer;
  g_autofree char *name = g_strconcat (stats->name, ".table", NULL);
  DynoTensor *table =
      dyno_graph_tensor (graph, name, x->dtype, DYNO_SPACE_ARENA, 1, 1, 4, x->cp, x->cp);
  if (!table)
    return NULL;
  table->producer = stats;
  dyno_node_set_input (stats, DYNO_BATCH_NORM_STATS_GAMMA, norm->inputs[DYNO_BATCH_NORM_WEIGHT]);
  dyno_node_set_input (stats, DYNO_BATCH_NORM_STATS_BETA, norm->inputs[DYNO_BATCH_NORM_BIAS]);
  dyno_node_set_output (stats, DYNO_BATCH_NORM_STATS_TABLE, table);
  ((DynoBatchNormStatistics *) stats->attributes)->rectified =
      activation_of (norm) != DYNO_ACTIVATION_NONE;
  return table;
}

static void
apply (DynoGraph *graph, DynoNode *node, DynoNode *other)
{
  const DynoTensor *y = node->outputs[DYNO_BATCH_NORM_Y];
  GPtrArray *nodes = dyno_graph_get_nodes (graph);
  DynoTensor *table = NULL;
  if (loading_shape (other) && !dyno_conv2d_is_depthwise (other)
      && !(table = append_table (graph, node)))
    return;
  for (guint i = 0; i < nodes->len; i++)
    {
      DynoNode *reader = g_ptr_array_index (nodes, i);
      for (guint k = 0; k < reader->n_inputs; k++)
        if (reader->inputs[k] == y && residual_place (reader) > 0)
          norm_load (reader, k, node);
        else if (reader->inputs[k] == y)
          conv_load (reader, node, table);
    }
  dyno_rewrite_remove (graph, node);
}

const DynoFusion dyno_fusion_norm_load = { "norm-load", DYNO_FUSION_BACKWARD, match, apply };
