/* SPDX-License-Identifier: MIT */
/* BatchNormalization and LayerNormalization. */
#include "graph-private.h"
#include "import-private.h"

/* The number that was written to the file as a float: 1e-5, not 9.99999975e-6. */
static double
decimal (double value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  return g_ascii_strtod (g_ascii_formatd (text, sizeof text, "%.6g", value), NULL);
}

/* x with the axis as its channels; NULL: it cannot be that, which was refused. */
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
