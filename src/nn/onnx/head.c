/* SPDX-License-Identifier: MIT */
/* The head of a model: the last layer with parameters on the way to the output, whose outputs are
 * the classes.  Fine-tuning gives it another number of outputs.  This file also finds out whether
 * the output has the classes of each pixel. */
#include "graph-private.h"
#include "import-private.h"

#define UNKNOWN_SIDE 64 /* side of a picture, where the file leaves it open: a multiple of 32 */

/* Nodes that change only the axes or the type of a value. */
static const char *const views[] = { "Cast",    "Flatten",   "Identity", "Reshape",
                                     "Squeeze", "Unsqueeze", NULL };

/* The node that makes a value; NULL: no node does. */
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

/* The parameter that is the weight of a layer; *transposed: through a Transpose.  NULL: there is no
 * such parameter. */
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

gboolean
dyno_import_ends_network (const DynoOnnxModel *model, const DynoOnnxNode *node)
{
  const DynoOnnxNode *last = find_producer (model, model->outputs[0].name);

  while (last && last != node && last->n_inputs > 0 && is_one_of (last, views))
    last = find_producer (model, last->inputs[0]);
  return last == node;
}

/* FALSE: a transposed convolution with groups, whose outputs are split over two axes of its
 * weight. */
static gboolean
can_be_replaced (const DynoOnnxNode *layer)
{
  return !g_str_equal (layer->op_type, "ConvTranspose") || dyno_import_int (layer, "group", 1) == 1;
}

/* The number of outputs by the weight of a layer; 0: it is not known. */
static guint32
count_outputs (const DynoOnnxModel *model, const DynoOnnxNode *layer)
{
  gboolean transposed = FALSE;
  const DynoOnnxValue *weight = find_weight (model, layer, &transposed);
  /* The weight of a convolution, and of a Gemm with transB, is (outputs, inputs); other weights,
   * such as that of a transposed convolution, are (inputs, outputs). */
  gboolean first =
      g_str_equal (layer->op_type, "Conv") || dyno_import_int (layer, "transB", 0) != 0;

  if (!weight || weight->n_dims < 2)
    return 0;
  gint64 n = weight->dims[first != transposed ? 0 : 1].value;
  return n > 0 && n <= G_MAXINT32 ? (guint32) n : 0;
}

/* TRUE: by its shape in the file the value is an image of more than one pixel. */
static gboolean
is_picture (const DynoOnnxValue *value)
{
  return value->has_shape && value->n_dims == 4
         && (value->dims[2].value != 1 || value->dims[3].value != 1);
}

/* The layer that makes a value, directly or through nodes that do not mix its outputs; NULL: there
 * is none.  *sums: the Add of two inputs at which the search ended, or NULL. */
static const DynoOnnxNode *
find_layer (const DynoOnnxModel *model, const char *name, gboolean *is_linear,
            const DynoOnnxNode **sums)
{
  static const char *const layers[] = { "Gemm", "MatMul", "Conv", "ConvTranspose", NULL };
  static const char *const between[] = { "Softmax",       "LogSoftmax", "Flatten",
                                         "Reshape",       "Squeeze",    "Identity",
                                         "Dropout",       "Relu",       "GlobalAveragePool",
                                         "AveragePool",   "ReduceMean", "Sigmoid",
                                         "GlobalMaxPool", "Cast",       "Resize",
                                         "Upsample",      NULL };
  static const char *const bends[] = { "Relu", "Sigmoid", NULL }, *const softmaxes[] = {
    "LogSoftmax", "Softmax", NULL
  };
  const DynoOnnxNode *node = find_producer (model, name);
  gboolean transposed;

  *sums = NULL;
  while (node && node->n_inputs > 0)
    {
      gboolean add = g_str_equal (node->op_type, "Add") && node->n_inputs == 2;
      *is_linear = *is_linear && !is_one_of (node, bends)
                   && (!is_one_of (node, softmaxes) || dyno_import_ends_network (model, node));
      if (is_one_of (node, layers))
        return find_weight (model, node, &transposed) && can_be_replaced (node) ? node : NULL;
      if (add && is_parameter (model, node->inputs[0]))
        node = find_producer (model, node->inputs[1]);
      else if (is_one_of (node, between) || (add && is_parameter (model, node->inputs[1])))
        node = find_producer (model, node->inputs[0]);
      else
        {
          *sums = add ? node : NULL;
          return NULL;
        }
    }
  return NULL;
}

/* The logits of pixels may be the sum of two convolutions, as in LR-ASPP.  In networks for whole
 * images such a sum is a residual block. */
static const DynoOnnxNode *
find_two (const DynoOnnxModel *model, const DynoOnnxNode *sum, const DynoOnnxNode **added)
{
  const DynoOnnxNode *layers[2], *deeper;
  gboolean is_linear = TRUE;

  for (guint i = 0; i < 2; i++)
    {
      layers[i] = find_layer (model, sum->inputs[i], &is_linear, &deeper);
      if (!layers[i] || !g_str_equal (layers[i]->op_type, "Conv"))
        return NULL;
    }
  if (layers[0] == layers[1] || !is_linear
      || count_outputs (model, layers[0]) != count_outputs (model, layers[1]))
    return NULL;
  /* the order in the file is the order of their parameters */
  *added = MIN (layers[0], layers[1]);
  return MAX (layers[0], layers[1]);
}

const DynoOnnxNode *
dyno_import_find_head (const DynoOnnxModel *model, const DynoOnnxNode **added, gboolean *is_linear)
{
  const DynoOnnxNode *sum, *head;

  *added = NULL;
  *is_linear = TRUE;
  head = find_layer (model, model->outputs[0].name, is_linear, &sum);
  if (!sum || !is_picture (&model->outputs[0]))
    return head;
  *is_linear = FALSE;
  return find_two (model, sum, added);
}

guint32
dyno_import_count_outputs (const DynoOnnxModel *model)
{
  gboolean is_linear;
  const DynoOnnxNode *added, *head = dyno_import_find_head (model, &added, &is_linear);

  return head ? count_outputs (model, head) : 0;
}

/* The parameters of a layer: the bias is the vector that follows the weight. */
static void
find_parameters (DynoImport *import, const DynoOnnxNode *layer, const DynoParameter **weight,
                 const DynoParameter **bias)
{
  const GPtrArray *parameters = import->graph->parameters;
  const char *name = dyno_import_input (import, layer, 1)->parameter->name;

  for (guint i = 0; i < parameters->len; i++)
    {
      const DynoParameter *one = g_ptr_array_index (parameters, i),
                          *next = i + 1 < parameters->len ? g_ptr_array_index (parameters, i + 1)
                                                          : NULL;
      if (!g_str_equal (one->name, name))
        continue;
      *weight = one;
      *bias = next && !next->is_state && next->n_dims == 1 && next->dims[0] == import->n_outputs
                  ? next
                  : NULL;
    }
}

void
dyno_import_note_head (DynoImport *import, gboolean is_linear)
{
  DynoHead head = { .is_linear = is_linear };

  find_parameters (import, import->head, &head.weight, &head.bias);
  if (import->added_head)
    find_parameters (import, import->added_head, &head.added_weight, &head.added_bias);
  if (!head.weight)
    return;
  /* the weight of a transposed convolution is (inputs, outputs, ...) */
  head.axis = g_str_equal (import->head->op_type, "ConvTranspose")
              || (head.weight->n_dims == 2 && head.weight->layout.order[3] == 1);
  import->graph->head_layer = head;
}

/* --- pixels ----------------------------------------------------------------------------------- */

static gint64
dim_of (const DynoOnnxValue *value, guint axis)
{
  return axis < value->n_dims ? value->dims[axis].value : -1;
}

/* TRUE: the network gives a row of outputs for each pixel of a picture of this size. */
static gboolean
gives_pixels (const DynoOnnxModel *model, guint32 height, guint32 width, guint32 channels)
{
  g_autoptr (DynoGraph) graph = dyno_graph_new (&(DynoGraphParams){ .batch = 1 });
  DynoTensor *x = dyno_graph_activation (graph, "input", 1, height, width, channels);

  return dyno_import_build (graph, x, model, dyno_import_count_outputs (model), TRUE, NULL) != NULL;
}

/* Decides by the output's shape in the file, where one pixel, (N, C, 1, 1), means one row for each
 * sample, or, if the file states no shape, by a trial import with a picture. */
gboolean
dyno_import_is_of_pixels (const DynoOnnxModel *model)
{
  const DynoOnnxValue *input = &model->inputs[0], *output = &model->outputs[0];
  gint64 channels = dim_of (input, 1), height = dim_of (input, 2), width = dim_of (input, 3);

  if (input->n_dims != 4)
    return FALSE;
  if (output->has_shape)
    return is_picture (output);
  if (channels < 1 || channels > G_MAXUINT16 || height > G_MAXUINT16 || width > G_MAXUINT16)
    return FALSE;
  return gives_pixels (model, height > 0 ? (guint32) height : UNKNOWN_SIDE,
                       width > 0 ? (guint32) width : UNKNOWN_SIDE, (guint32) channels);
}
