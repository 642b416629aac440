/* SPDX-License-Identifier: MIT */
/* BatchNormalization, LayerNormalization, GroupNormalization and InstanceNormalization. */
#include "graph-private.h"
#include "import-private.h"

/* The largest distance, in nodes, between two nodes of a pattern; exports compute shapes between
 * them. */
#define MOST_NEAR 64

/* The decimal number that the exporter wrote to the file as a float: 1e-5, not 9.99999975e-6. */
static double
decimal (double value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  return g_ascii_strtod (g_ascii_formatd (text, sizeof text, "%.6g", value), NULL);
}

/* x with the axis as its channels; NULL: the axis cannot be the channels, and the node was
 * refused. */
static DynoImportValue *
with_channels (DynoImport *import, const DynoOnnxNode *node, DynoImportValue *x, guint axis)
{
  DynoImportValue *copy = dyno_import_with_channels (import, node, x, axis);
  g_autofree char *shape = dyno_view_print (&x->view);

  if (!copy)
    dyno_import_refuse (import, node, "axis %u of its input %s cannot be the channels", axis,
                        shape);
  return copy;
}

gboolean
dyno_import_batch_norm (DynoImport *import, const DynoOnnxNode *node)
{
  guint first = import->graph->parameters->len;
  guint32 channels;
  DynoImportValue *x = dyno_import_tensor (import, node, 0);

  if (!x || !(x = with_channels (import, node, x, 1)))
    return FALSE;
  for (guint i = 1; i < 5; i++)
    {
      if (!dyno_import_parameter (import, node, i, 1, &channels))
        return FALSE;
      if (channels != x->tensor->c)
        return dyno_import_refuse (import, node, "“%s” has %u values for %u channels",
                                   node->inputs[i], channels, x->tensor->c);
    }
  g_autofree char *name = dyno_import_name (import, node, 1);
  /* ONNX's momentum is the share of the old value. */
  const DynoBatchNormParams params = {
    .eps = decimal (dyno_import_float (node, "epsilon", 1e-5)),
    .momentum = decimal (1 - decimal (dyno_import_float (node, "momentum", 0.9)))
  };
  DynoTensor *y = dyno_batch_norm_with_params (import->graph, x->tensor, name, &params);
  dyno_import_name_parameters (import, node, first, 1);
  return dyno_import_output (import, node, 0, y, &x->view, NULL);
}

gboolean
dyno_import_layer_norm (DynoImport *import, const DynoOnnxNode *node)
{
  guint first = import->graph->parameters->len;
  guint32 channels;
  DynoImportValue *x = dyno_import_tensor (import, node, 0);
  gint64 axis = dyno_import_int (node, "axis", -1);

  if (!x || !(x = with_channels (import, node, x, x->view.n_dims - 1)))
    return FALSE;
  if (axis != -1 && axis != (gint64) x->view.n_dims - 1)
    return dyno_import_refuse (import, node, "it normalises more than the last axis");
  for (guint i = 1; i < 3; i++)
    {
      if (!dyno_import_parameter (import, node, i, 1, &channels))
        return FALSE;
      if (channels != x->tensor->c)
        return dyno_import_refuse (import, node, "“%s” has %u values for %u channels",
                                   node->inputs[i], channels, x->tensor->c);
    }
  g_autofree char *name = dyno_import_name (import, node, 1);
  DynoTensor *y = dyno_layer_norm_with_eps (import->graph, x->tensor, name,
                                            decimal (dyno_import_float (node, "epsilon", 1e-5)));
  dyno_import_name_parameters (import, node, first, 1);
  return dyno_import_output (import, node, 0, y, &x->view, NULL);
}

gboolean
dyno_import_layer_norm_pattern (DynoImport *import, const DynoOnnxNode *node,
                                const DynoImportPattern *pattern, DynoImportValue *x)
{
  guint first = import->graph->parameters->len;
  guint32 weight, bias;

  if (!(x = with_channels (import, node, x, x->view.n_dims - 1)))
    return FALSE;
  if (!dyno_import_parameter (import, pattern->weight_node, pattern->weight, 1, &weight)
      || !dyno_import_parameter (import, pattern->bias_node, pattern->bias, 1, &bias))
    return FALSE;
  if (weight != x->tensor->c || bias != x->tensor->c)
    return dyno_import_refuse (import, node, "it has %u factors for %u channels", weight,
                               x->tensor->c);
  g_autofree char *name = dyno_import_name (import, pattern->weight_node, pattern->weight);
  DynoTensor *y = dyno_layer_norm_with_eps (import->graph, x->tensor, name, decimal (pattern->eps));
  if (y)
    {
      dyno_import_name_parameter (import, pattern->weight_node, first, pattern->weight);
      dyno_import_name_parameter (import, pattern->bias_node, first + 1, pattern->bias);
    }
  return dyno_import_output (import, node, 0, y, &x->view, NULL);
}

/* --- groups ----------------------------------------------------------------------------------- */

/* The only reader of the node's output, if it has this operator and is near in the file; else
 * NULL. */
static const DynoOnnxNode *
next (DynoImport *import, const DynoOnnxNode *node, const char *op_type)
{
  const DynoOnnxNode *end = import->model->nodes + import->model->n_nodes;
  const char *name = node->n_outputs > 0 ? node->outputs[0] : "";

  if (GPOINTER_TO_UINT (g_hash_table_lookup (import->readers, name)) != 1)
    return NULL;
  for (const DynoOnnxNode *reader = node + 1; reader < end && reader - node < MOST_NEAR; reader++)
    for (guint i = 0; i < reader->n_inputs; i++)
      if (g_str_equal (reader->inputs[i], name) && g_hash_table_contains (import->needed, reader))
        return g_str_equal (reader->op_type, op_type) ? reader : NULL;
  return NULL;
}

/* TRUE: the node is between two Reshapes, as PyTorch's exporters write GroupNorm. */
static gboolean
is_between_reshapes (DynoImport *import, const DynoOnnxNode *node, const DynoImportValue *x)
{
  return x->node && g_str_equal (x->node->op_type, "Reshape") && next (import, node, "Reshape");
}

/* TRUE: a Mul and an Add follow, as in exports of PyTorch's GroupNorm, whose node has ones and
 * zeros for each group. */
static gboolean
is_followed_by_affine (DynoImport *import, const DynoOnnxNode *node, const DynoImportValue *x)
{
  const DynoOnnxNode *at =
      is_between_reshapes (import, node, x) ? next (import, node, "Reshape") : node;

  at = next (import, at, "Mul");
  return at && next (import, at, "Add");
}

/* TRUE: all values of input i are `number`, as far as the file states its values; *is_known: it
 * states them. */
static gboolean
is_fixed (DynoImport *import, const DynoOnnxNode *node, guint i, double number, gboolean *is_known)
{
  const DynoImportValue *value = dyno_import_input (import, node, i);
  double found;

  *is_known = value && value->constant;
  return *is_known ? dyno_constant_is_uniform (value->constant, &found) && found == number
                   : value && value->parameter;
}

static gboolean
has_ones_and_zeros (DynoImport *import, const DynoOnnxNode *node)
{
  gboolean ones, zeros,
      fixed = is_fixed (import, node, 1, 1, &ones) && is_fixed (import, node, 2, 0, &zeros);

  if (fixed && !(ones && zeros))
    dyno_import_note (import,
                      "%s: “%s” and “%s” are taken as ones and zeros, since a scale and a bias of "
                      "the channels follow",
                      dyno_import_shown_name (node), node->inputs[1], node->inputs[2]);
  return fixed;
}

/* TRUE: input i is a parameter with one value for each channel of y. */
static gboolean
is_of_channels (DynoImport *import, const DynoOnnxNode *node, guint i, const DynoTensor *y)
{
  const DynoImportValue *value = dyno_import_input (import, node, i);

  return value && value->parameter && value->n_dims == 1 && value->dims[0] == (gint64) y->c;
}

/* Applies the factors of input 1 and the terms of input 2 to the normalised y; NULL: the graph has
 * failed. */
static DynoTensor *
append_affine (DynoImport *import, const DynoOnnxNode *node, DynoTensor *y, const char *name)
{
  g_autofree char *factors = g_strconcat (name, ".factors", NULL),
                  *terms = g_strconcat (name, ".terms", NULL);
  guint first = import->graph->parameters->len;

  if (!(y = dyno_scale_channels (import->graph, y, factors, DYNO_INIT_ONE)))
    return NULL;
  dyno_import_name_parameter (import, node, first, 1);
  if (!(y = dyno_add_channels (import->graph, y, terms, DYNO_INIT_ZERO)))
    return NULL;
  dyno_import_name_parameter (import, node, first + 1, 2);
  return y;
}

/* Reads a group norm of x; the output gets the view of x. */
static gboolean
read_groups (DynoImport *import, const DynoOnnxNode *node, const DynoImportValue *x, guint32 groups)
{
  g_autofree char *name = dyno_import_name (import, node, 1);
  double eps = decimal (dyno_import_float (node, "epsilon", 1e-5));
  gboolean is_trained =
      is_of_channels (import, node, 1, x->tensor) && is_of_channels (import, node, 2, x->tensor);
  guint32 count;

  if (is_followed_by_affine (import, node, x)
      && (!is_trained || is_between_reshapes (import, node, x)))
    is_trained = FALSE;
  else if (!is_trained
           && (dyno_import_is_parameter (import, node, 1)
               || dyno_import_is_parameter (import, node, 2)))
    return dyno_import_refuse (import, node,
                               "“%s” and “%s” are not one value for each of %u channels",
                               node->inputs[1], node->inputs[2], x->tensor->c);
  if (!is_trained && !has_ones_and_zeros (import, node))
    return dyno_import_refuse (
        import, node,
        "its scale and bias are neither 1 and 0 nor one value for each of %u channels",
        x->tensor->c);
  for (guint i = 1; i < 3 && is_trained; i++)
    if (!dyno_import_parameter (import, node, i, 1, &count))
      return FALSE;
  DynoTensor *y = dyno_group_norm (import->graph, x->tensor, name, groups, eps);
  if (y && is_trained)
    y = append_affine (import, node, y, name);
  return dyno_import_output (import, node, 0, y, &x->view, NULL);
}

/* Until opset 20 there is a factor for each group, which exporters write only with the value 1. */
gboolean
dyno_import_group_norm (DynoImport *import, const DynoOnnxNode *node)
{
  DynoImportValue *x = dyno_import_tensor (import, node, 0);
  gint64 groups = dyno_import_int (node, "num_groups", 0);

  if (!x || !(x = with_channels (import, node, x, 1)))
    return FALSE;
  if (groups < 1 || groups > (gint64) x->tensor->c || x->tensor->c % groups != 0)
    return dyno_import_refuse (
        import, node, "its %u channels cannot be %" G_GINT64_FORMAT " groups of equal size",
        x->tensor->c, groups);
  return read_groups (import, node, x, (guint32) groups);
}

/* The number of groups of channels, if axis 1 is the groups and all other axes except the batch are
 * the values of a group in any order; 0: axis 1 is something else. */
static guint32
count_groups (const DynoImportValue *x)
{
  const DynoView *view = &x->view;
  guint64 groups;

  if (view->n_dims < 2 || view->begin != 0)
    return 0;
  groups = dyno_view_dim (view, 1);
  for (guint i = 0; i < view->end[view->n_dims - 1]; i++)
    if ((view->parts[i].axis == 'N') != (i < view->end[0]))
      return 0;
  if (groups == 1)
    return 1;
  const DynoViewPart *part = &view->parts[view->end[0]];
  return view->end[1] == view->end[0] + 1 && part->axis == 'C'
                 && (guint64) part->stride * groups == x->tensor->c
             ? (guint32) groups
             : 0;
}

/* Normalises each channel; or, between two Reshapes, each group, as PyTorch's exporters write
 * GroupNorm. */
gboolean
dyno_import_instance_norm (DynoImport *import, const DynoOnnxNode *node)
{
  DynoImportValue *x = dyno_import_tensor (import, node, 0);
  guint32 groups = x ? count_groups (x) : 0;

  if (!x || (groups == 0 && !(x = with_channels (import, node, x, 1))))
    return FALSE;
  return read_groups (import, node, x, groups > 0 ? groups : x->tensor->c);
}
