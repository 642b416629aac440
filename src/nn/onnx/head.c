/* SPDX-License-Identifier: MIT */
/* The head of a model: the last layer with parameters on the way to the output, whose outputs are
 * the classes.  Fine-tuning gives it another number of them. */
#include "import-private.h"

/* The node that makes a value; NULL: none does. */
static const DynoOnnxNode *
find_producer (const DynoOnnxModel *model, const char *name)
{
  for (guint i = model->n_nodes; i-- > 0;)
    for (guint k = 0; k < model->nodes[i].n_outputs; k++)
      if (*name && g_str_equal (model->nodes[i].outputs[k], name))
        return &model->nodes[i];
  return NULL;
}

/* A parameter of the file: an input of the graph after the first. */
static const DynoOnnxValue *
find_parameter (const DynoOnnxModel *model, const char *name)
{
  for (guint i = 1; i < model->n_inputs; i++)
    if (g_str_equal (model->inputs[i].name, name))
      return &model->inputs[i];
  return NULL;
}

/* The parameter that is the weight of a layer; *transposed: by way of a Transpose.  NULL: none is. */
static const DynoOnnxValue *
find_weight (const DynoOnnxModel *model, const DynoOnnxNode *layer, gboolean *transposed)
{
  const char *name = layer->n_inputs > 1 ? layer->inputs[1] : "";
  const DynoOnnxNode *made = find_producer (model, name);

  *transposed = made && g_str_equal (made->op_type, "Transpose") && made->n_inputs > 0;
  return find_parameter (model, *transposed ? made->inputs[0] : name);
}

/* TRUE: a value is a parameter, or a short vector that may be one. */
static gboolean
is_parameter (const DynoOnnxModel *model, const char *name)
{
  const DynoOnnxTensor *tensor = dyno_onnx_model_find_initializer (model, name);

  return find_parameter (model, name) || (tensor && tensor->n_dims == 1);
}

static gboolean
is_one_of (const DynoOnnxNode *node, const char *const *names)
{
  return g_strv_contains (names, node->op_type);
}

const DynoOnnxNode *
dyno_import_find_head (const DynoOnnxModel *model, gboolean *is_linear)
{
  static const char *const layers[] = { "Gemm", "MatMul", "Conv", NULL };
  /* They keep the outputs apart from each other. */
  static const char *const between[] = { "Softmax",       "LogSoftmax", "Flatten",
                                         "Reshape",       "Squeeze",    "Identity",
                                         "Dropout",       "Relu",       "GlobalAveragePool",
                                         "AveragePool",   "ReduceMean", "Sigmoid",
                                         "GlobalMaxPool", "Cast",       NULL };
  static const char *const bends[] = { "Relu", "Sigmoid", NULL };
  const DynoOnnxNode *node = find_producer (model, model->outputs[0].name);
  gboolean transposed;

  *is_linear = TRUE;
  while (node && node->n_inputs > 0)
    {
      gboolean add = g_str_equal (node->op_type, "Add") && node->n_inputs == 2;
      *is_linear = *is_linear && !is_one_of (node, bends);
      if (is_one_of (node, layers))
        return find_weight (model, node, &transposed) ? node : NULL;
      if (add && is_parameter (model, node->inputs[0]))
        node = find_producer (model, node->inputs[1]);
      else if (is_one_of (node, between) || (add && is_parameter (model, node->inputs[1])))
        node = find_producer (model, node->inputs[0]);
      else
        return NULL;
    }
  return NULL;
}

guint32
dyno_import_count_outputs (const DynoOnnxModel *model)
{
  gboolean is_linear, transposed = FALSE;
  const DynoOnnxNode *head = dyno_import_find_head (model, &is_linear);
  const DynoOnnxValue *weight = head ? find_weight (model, head, &transposed) : NULL;
  /* The weight of a convolution, and of a Gemm with transB, is (outputs, inputs); others are
   * (inputs, outputs). */
  gboolean first =
      head && (g_str_equal (head->op_type, "Conv") || dyno_import_int (head, "transB", 0) != 0);

  if (!weight || weight->n_dims < 2)
    return 0;
  gint64 n = weight->dims[first != transposed ? 0 : 1].value;
  return n > 0 && n <= G_MAXINT32 ? (guint32) n : 0;
}
