/* SPDX-License-Identifier: MIT */
/* Gemm and MatMul, as linear layers. */
#include "graph-private.h"
#include "import-private.h"

typedef struct {
  guint32 in, out;
  gboolean in_first; /* the weight is (in, out) */
  gboolean flattened;
  int bias; /* the node's input that is the bias; -1: none */
} Layer;

static DynoTensor *
append (DynoImport *import, DynoTensor *x, const char *name, const Layer *layer)
{
  return dyno_linear_with_params (import->graph, x, name,
                                  &(DynoLinearParams){ .out = layer->out,
                                                       .init = DYNO_INIT_KAIMING_UNIFORM,
                                                       .flattened = layer->flattened,
                                                       .no_bias = layer->bias < 0,
                                                       .in_by_out = layer->in_first });
}

/* Completes the layer from the node's weight, which is input 1. */
static gboolean
take_weight (DynoImport *import, const DynoOnnxNode *node, Layer *layer)
{
  guint32 dims[2], bias = 0;
  gboolean transposed;

  if (!dyno_import_matrix (import, node, 1, dims, &transposed)
      || (layer->bias >= 0 && !dyno_import_parameter (import, node, (guint) layer->bias, 1, &bias)))
    return FALSE;
  layer->in = dims[layer->in_first ? 0 : 1];
  layer->out = dims[layer->in_first ? 1 : 0];
  layer->in_first ^= transposed;
  if (layer->bias >= 0 && bias != layer->out)
    return dyno_import_refuse (import, node, "its bias has %u values for %u outputs", bias,
                               layer->out);
  if (node == import->head)
    layer->out = import->n_outputs;
  return TRUE;
}

/* Applies the layer, whose weight is the node's input 1, to the last axis of x and sets the output
 * of `last`; bias_node NULL: without bias.  The bias of a head was checked together with its
 * weight. */
static gboolean
read_rows (DynoImport *import, const DynoOnnxNode *node, const DynoOnnxNode *bias_node, guint bias,
           const DynoOnnxNode *last, DynoImportValue *x)
{
  guint first = import->graph->parameters->len;
  gboolean gemm = g_str_equal (node->op_type, "Gemm");
  Layer layer = { .in_first = !gemm || dyno_import_int (node, "transB", 0) == 0, .bias = -1 };
  guint32 n_bias = 0;
  DynoImportValue *rows;

  if (!take_weight (import, node, &layer)
      || (bias_node && !dyno_import_parameter (import, bias_node, bias, 1, &n_bias)))
    return FALSE;
  if (bias_node && node != import->head && n_bias != layer.out)
    return dyno_import_refuse (import, node, "its bias has %u values for %u outputs", n_bias,
                               layer.out);
  if (x->view.n_dims == 0 || dyno_view_dim (&x->view, x->view.n_dims - 1) != layer.in
      || !(rows = dyno_import_with_channels (import, node, x, x->view.n_dims - 1)))
    {
      g_autofree char *shape = dyno_view_print (&x->view);
      return dyno_import_refuse (import, node,
                                 "its weight takes %u values; the last axis of its input, %s, has "
                                 "another size, or cannot be the channels",
                                 layer.in, shape);
    }
  x = rows;
  layer.bias = bias_node ? 0 : -1;
  g_autofree char *name = dyno_import_name (import, node, 1);
  DynoTensor *y = append (import, x->tensor, name, &layer);
  if (!y)
    return dyno_import_output (import, last, 0, NULL, NULL, NULL);
  dyno_import_name_parameter (import, node, first, 1);
  if (bias_node)
    dyno_import_name_parameter (import, bias_node, first + 1, bias);
  DynoView view = x->view;
  guint n = view.n_dims, begin = n > 1 ? view.end[n - 2] : 0;
  view.end[n - 1] = begin + (layer.out > 1);
  view.parts[begin] = (DynoViewPart){ 'C', layer.out, 1 };
  return dyno_import_output (import, last, 0, y, &view, NULL);
}

gboolean
dyno_import_gemm (DynoImport *import, const DynoOnnxNode *node)
{
  static const char *const forms[] = { "N C", "N CHW", NULL };
  gboolean has_bias = node->n_inputs > 2 && *node->inputs[2];
  guint form, first = import->graph->parameters->len;
  DynoImportValue *x = dyno_import_tensor (import, node, 0);

  if (!x)
    return FALSE;
  if (dyno_import_int (node, "transA", 0) != 0 || dyno_import_float (node, "alpha", 1) != 1
      || (has_bias && dyno_import_float (node, "beta", 1) != 1))
    return dyno_import_refuse (
        import, node, "Dyno reads it as a linear layer only with transA 0, alpha 1 and beta 1");
  /* x has several rows for each sample, such as the tokens of a transformer, in one axis with the
   * samples. */
  if (x->view.n_dims == 2 && dyno_view_dim (&x->view, 0) != x->view.batch)
    return read_rows (import, node, has_bias ? node : NULL, 2, node, x);
  x = dyno_import_tensor_as (import, node, 0, forms, &form);
  Layer layer = { .in_first = dyno_import_int (node, "transB", 0) == 0,
                  .flattened = form != 0,
                  .bias = has_bias ? 2 : -1 };
  if (!x || !take_weight (import, node, &layer))
    return FALSE;
  if ((guint64) x->tensor->h * x->tensor->w * x->tensor->c != layer.in)
    {
      g_autofree char *shape = dyno_view_print (&x->view);
      return dyno_import_refuse (
          import, node,
          "its weight takes %u values a sample, its input is %s; if the network was "
          "exported for another size, set image_size to that",
          layer.in, shape);
    }
  if (layer.flattened && layer.in_first)
    return dyno_import_refuse (import, node,
                               "after Flatten its weight must be (outputs, inputs), transB 1");
  g_autofree char *name = dyno_import_name (import, node, 1);
  DynoTensor *y = append (import, x->tensor, name, &layer);
  dyno_import_name_parameters (import, node, first, 1);
  return dyno_import_output (import, node, 0, y, NULL, "N C");
}

/* The product of x, along its last axis, and a parameter (in, out), or of two tensors. */
gboolean
dyno_import_matmul (DynoImport *import, const DynoOnnxNode *node)
{
  const DynoImportValue *a = dyno_import_input (import, node, 0),
                        *weight = dyno_import_input (import, node, 1);
  DynoImportValue *x;

  if (dyno_import_is_constant (import, node, 0) && dyno_import_is_constant (import, node, 1))
    return dyno_import_fold (import, node);
  if (!weight || !weight->parameter || weight->n_dims != 2 || !a || a->parameter)
    return dyno_import_product (import, node);
  return (x = dyno_import_stored (import, node, 0)) && read_rows (import, node, NULL, 0, node, x);
}

/* The same, followed by the Add of a parameter (out). */
gboolean
dyno_import_biased_matmul (DynoImport *import, const DynoOnnxNode *node,
                           const DynoImportPattern *pattern, DynoImportValue *x)
{
  return read_rows (import, pattern->weight_node, pattern->bias_node, pattern->bias, node, x);
}
