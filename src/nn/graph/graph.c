/* SPDX-License-Identifier: MIT */
/* Graph: the lists of nodes, tensors and parameters, and the functions that append to them.
 *
 * Invariants: sizes are checked here, once, so that later code may multiply them without overflow
 * checks.  Offsets in the flat parameter memory depend only on the order and shapes of the
 * parameters, and on which of them are frozen: a training and an evaluation graph of one model
 * agree on the offsets. */
#include "graph-private.h"
#include "checked.h"
#include "step.h"
#include "text.h"
#include <string.h>

/* A flat element offset is a multiple of this: 256 bytes in fp32, 128 in fp16. */
#define PARAMETER_ALIGNMENT 64

/* No tensor may be larger than this; a step with a larger one fits no device. */
#define TENSOR_MAX_BYTES (G_GUINT64_CONSTANT (1) << 40)

/* Of all constants of a graph, and the offset of each is a multiple of this. */
#define CONSTANTS_MAX_BYTES (1u << 29)
#define CONSTANT_ALIGNMENT  256

void
dyno_tensor_free (DynoTensor *tensor)
{
  if (!tensor)
    return;
  g_free (tensor->name);
  g_free (tensor);
}

static void
node_free (gpointer data)
{
  DynoNode *node = data;
  g_free (node->name);
  g_free (node->inputs);
  g_free (node->outputs);
  g_free (node->attributes);
  g_free (node);
}

static void
parameter_free (gpointer data)
{
  DynoParameter *parameter = data;
  g_free (parameter->name);
  g_free (parameter);
}

/* The names between the commas, without surrounding blanks and trailing dots; NULL: none. */
static char **
split_prefixes (const char *text)
{
  g_autoptr (GPtrArray) prefixes = g_ptr_array_new_with_free_func (g_free);
  g_auto (GStrv) parts = g_strsplit (text ? text : "", ",", -1);
  for (guint i = 0; parts[i]; i++)
    {
      char *part = g_strstrip (parts[i]);
      gsize length = strlen (part);
      while (length > 0 && part[length - 1] == '.')
        part[--length] = '\0';
      if (length > 0)
        g_ptr_array_add (prefixes, g_strdup (part));
    }
  if (prefixes->len == 0)
    return NULL;
  g_ptr_array_add (prefixes, NULL);
  return (char **) g_ptr_array_steal (prefixes, NULL);
}

DynoGraph *
dyno_graph_new (const DynoGraphParams *params)
{
  DynoGraph *graph = g_new0 (DynoGraph, 1);
  graph->params = *params;
  graph->params.freeze = NULL;
  graph->freeze = split_prefixes (params->freeze);
  graph->nodes = g_ptr_array_new_with_free_func (node_free);
  graph->tensors = g_ptr_array_new_with_free_func ((GDestroyNotify) dyno_tensor_free);
  graph->parameters = g_ptr_array_new_with_free_func (parameter_free);
  graph->gradient_shares =
      g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) g_ptr_array_unref);
  graph->node_index = g_hash_table_new (NULL, NULL);
  graph->pending = g_array_new (FALSE, FALSE, sizeof (DynoPendingSum));
  graph->notes = g_ptr_array_new_with_free_func (g_free);
  graph->constants = g_byte_array_new ();
  graph->cursor = G_MAXUINT;
  graph->step_input =
      dyno_graph_tensor (graph, "step_input", DYNO_DTYPE_I32, DYNO_SPACE_STEP_IN, 1, 1, 1,
                         sizeof (struct DynoStepInput) / 4, sizeof (struct DynoStepInput) / 4);
  graph->step_output =
      dyno_graph_tensor (graph, "step_output", DYNO_DTYPE_I32, DYNO_SPACE_STEP_OUT, 1, 1, 1,
                         sizeof (struct DynoStepOutput) / 4, sizeof (struct DynoStepOutput) / 4);
  graph->scaler =
      dyno_graph_tensor (graph, "scaler", DYNO_DTYPE_I32, DYNO_SPACE_SCALER, 1, 1, 1,
                         sizeof (struct DynoScalerState) / 4, sizeof (struct DynoScalerState) / 4);
  if (params->batch == 0)
    dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE, "the batch is empty; give a batch of 1 or more");
  return graph;
}

void
dyno_graph_free (DynoGraph *graph)
{
  if (!graph)
    return;
  g_clear_error (&graph->error);
  g_ptr_array_unref (graph->nodes);
  g_ptr_array_unref (graph->tensors);
  g_ptr_array_unref (graph->parameters);
  g_hash_table_unref (graph->gradient_shares);
  g_hash_table_unref (graph->node_index);
  g_array_unref (graph->pending);
  g_ptr_array_unref (graph->notes);
  g_byte_array_unref (graph->constants);
  g_strfreev (graph->freeze);
  g_free (graph->target_scale);
  if (graph->rate_ranges)
    g_array_unref (graph->rate_ranges);
  g_free (graph->metrics);
  g_free (graph);
}

const DynoGraphParams *
dyno_graph_get_params (DynoGraph *graph)
{
  return &graph->params;
}

DynoDtype
dyno_graph_get_storage (DynoGraph *graph)
{
  return graph->params.precision.storage;
}

GPtrArray *
dyno_graph_get_nodes (DynoGraph *graph)
{
  return graph->nodes;
}

GPtrArray *
dyno_graph_get_tensors (DynoGraph *graph)
{
  return graph->tensors;
}

GPtrArray *
dyno_graph_get_parameters (DynoGraph *graph)
{
  return graph->parameters;
}

gpointer
dyno_graph_fail (DynoGraph *graph, DynoNnError code, const char *format, ...)
{
  if (!graph->error)
    {
      va_list args;
      va_start (args, format);
      graph->error = g_error_new_valist (DYNO_NN_ERROR, code, format, args);
      va_end (args);
    }
  return NULL;
}

gboolean
dyno_graph_check (DynoGraph *graph, GError **error)
{
  if (!graph->error)
    return TRUE;
  if (error)
    *error = g_error_copy (graph->error);
  return FALSE;
}

/* Bytes of a shape; FALSE on overflow. */
static gboolean
shape_bytes (guint32 n, guint32 h, guint32 w, guint32 cp, DynoDtype dtype, guint64 *size_bytes)
{
  guint64 size = n;
  if (!dyno_size_mul (size, h, &size) || !dyno_size_mul (size, w, &size)
      || !dyno_size_mul (size, cp, &size) || !dyno_size_mul (size, dyno_dtype_size (dtype), &size)
      || size > TENSOR_MAX_BYTES)
    return FALSE;
  *size_bytes = size;
  return TRUE;
}

DynoTensor *
dyno_tensor_new (DynoGraph *graph, const char *name, DynoDtype dtype, DynoSpace space, guint32 n,
                 guint32 h, guint32 w, guint32 c, guint32 cp)
{
  guint64 size_bytes;
  if (n == 0 || h == 0 || w == 0 || c == 0 || cp < c)
    return dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                            "%s: a tensor of shape (%u, %u, %u, %u) is empty", name, n, h, w, c);
  if (!shape_bytes (n, h, w, cp, dtype, &size_bytes))
    return dyno_graph_fail (
        graph, DYNO_NN_ERROR_TOO_LARGE,
        "%s: a tensor of shape (%u, %u, %u, %u) is too large; lower the batch or the image size",
        name, n, h, w, c);
  DynoTensor *tensor = g_new0 (DynoTensor, 1);
  tensor->name = g_strdup (name);
  tensor->dtype = dtype;
  tensor->space = space;
  tensor->n = n;
  tensor->h = h;
  tensor->w = w;
  tensor->c = c;
  tensor->cp = cp;
  tensor->size_bytes = size_bytes;
  return tensor;
}

DynoTensor *
dyno_graph_tensor (DynoGraph *graph, const char *name, DynoDtype dtype, DynoSpace space, guint32 n,
                   guint32 h, guint32 w, guint32 c, guint32 cp)
{
  DynoTensor *tensor = dyno_tensor_new (graph, name, dtype, space, n, h, w, c, cp);
  if (!tensor)
    return NULL;
  tensor->id = graph->tensors->len;
  g_ptr_array_add (graph->tensors, tensor);
  return tensor;
}

DynoTensor *
dyno_graph_activation (DynoGraph *graph, const char *name, guint32 n, guint32 h, guint32 w,
                       guint32 c)
{
  if (c > G_MAXUINT32 - 8)
    return dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE, "%s: %u channels are too many", name, c);
  return dyno_graph_tensor (graph, name, dyno_graph_get_storage (graph), DYNO_SPACE_ARENA, n, h, w,
                            c, (guint32) dyno_align_up (c, 8));
}

/* The offset of values in the constants of the graph, which get them where they do not hold them
 * for another tensor. */
static guint64
place_constant (DynoGraph *graph, const guint8 *values, guint size)
{
  for (guint i = 0; i < graph->tensors->len; i++)
    {
      const DynoTensor *other = g_ptr_array_index (graph->tensors, i);
      if (other->space == DYNO_SPACE_CONSTANT && other->size_bytes == size
          && memcmp (graph->constants->data + other->offset, values, size) == 0)
        return other->offset;
    }
  guint offset = (guint) dyno_align_up (graph->constants->len, CONSTANT_ALIGNMENT);
  g_byte_array_set_size (graph->constants, offset);
  g_byte_array_append (graph->constants, values, size);
  return offset;
}

DynoTensor *
dyno_graph_constant (DynoGraph *graph, const char *name, DynoDtype dtype, guint32 h, guint32 w,
                     guint32 c, gconstpointer values)
{
  guint32 cp = dtype == DYNO_DTYPE_F32 && c < G_MAXINT32 ? (guint32) dyno_align_up (c, 8) : c,
          size = dyno_dtype_size (dtype);
  DynoTensor *tensor = dyno_tensor_new (graph, name, dtype, DYNO_SPACE_CONSTANT, 1, h, w, c, cp);

  if (!tensor)
    return NULL;
  tensor->id = graph->tensors->len;
  if (tensor->size_bytes + graph->constants->len > CONSTANTS_MAX_BYTES)
    {
      dyno_tensor_free (tensor);
      return dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                              "%s: the network has more than %u MiB of constant numbers", name,
                              CONSTANTS_MAX_BYTES >> 20);
    }
  g_autofree guint8 *padded = g_malloc0 (tensor->size_bytes);
  for (gsize row = 0; row < (gsize) h * w; row++)
    memcpy (padded + row * cp * size, (const guint8 *) values + row * c * size, (gsize) c * size);
  tensor->offset = place_constant (graph, padded, (guint) tensor->size_bytes);
  g_ptr_array_add (graph->tensors, tensor);
  return tensor;
}

gconstpointer
dyno_graph_get_constant (const DynoGraph *graph, const DynoTensor *tensor)
{
  return graph->constants->data + tensor->offset;
}

gboolean
dyno_tensor_is_shared (const DynoTensor *tensor)
{
  const DynoNode *node = tensor->producer;

  if (!node)
    return tensor->space == DYNO_SPACE_CONSTANT || tensor->parameter != NULL;
  if (tensor->n > 1)
    return FALSE;
  for (guint i = 0; i < node->n_inputs; i++)
    if (node->inputs[i] && !dyno_tensor_is_shared (node->inputs[i]))
      return FALSE;
  return TRUE;
}

/* Parameters ----------------------------------------------------------------------------------- */

/* For matrix products: inputs and outputs are padded, and the output is the fastest index. */
static DynoParameterLayout
layout_of (guint n_dims, guint32 out, guint32 in, guint32 h, guint32 w)
{
  return (DynoParameterLayout){
    .n_dims = n_dims,
    .extent = { out, in, h, w },
    .padded = { (guint32) dyno_align_up (out, 8), n_dims > 1 ? (guint32) dyno_align_up (in, 8) : in,
                h, w },
    .order = { 2, 3, 1, 0 },
  };
}

DynoParameterLayout
dyno_layout_vector (guint32 c)
{
  DynoParameterLayout layout = layout_of (1, c, 1, 1, 1);

  layout.is_vector = TRUE;
  return layout;
}

DynoParameterLayout
dyno_layout_conv (guint32 out, guint32 in, guint32 kernel_h, guint32 kernel_w)
{
  return layout_of (4, out, in, kernel_h, kernel_w);
}

DynoParameterLayout
dyno_layout_linear (guint32 out, guint32 h, guint32 w, guint32 c)
{
  return layout_of (2, out, c, h, w);
}

/* Fills dims, n_elements and PyTorch's fans from the layout; FALSE on overflow or an empty
 * dimension. */
static gboolean
parameter_measure (DynoParameter *parameter)
{
  const DynoParameterLayout *layout = &parameter->layout;
  guint64 size = 1, receptive = 1;
  parameter->n_dims = layout->n_dims;
  for (guint i = 0; i < DYNO_LAYOUT_N_AXES; i++)
    {
      guint dim = MIN (i, layout->n_dims - 1);
      guint64 whole = MAX (parameter->dims[dim], 1);
      if (layout->extent[i] == 0 || layout->extent[i] > G_MAXINT32
          || layout->padded[i] < layout->extent[i]
          || !dyno_size_mul (size, layout->padded[i], &size) || size > G_MAXINT32
          || !dyno_size_mul (whole, layout->extent[i], &whole) || whole > G_MAXINT32)
        return FALSE;
      parameter->dims[dim] = (guint32) whole;
    }
  for (guint i = 2; i < layout->n_dims; i++)
    receptive *= parameter->dims[i];
  parameter->n_elements = size;
  parameter->fan_in = (guint32) (parameter->dims[layout->n_dims > 1] * receptive);
  parameter->fan_out = (guint32) (parameter->dims[0] * receptive);
  return TRUE;
}

static DynoTensor *
parameter_tensor (DynoGraph *graph, DynoParameter *parameter, const char *suffix, DynoDtype dtype,
                  DynoSpace space)
{
  g_autofree char *name = g_strconcat (parameter->name, suffix, NULL);
  guint32 count = (guint32) parameter->n_elements;
  DynoTensor *tensor = dyno_graph_tensor (graph, name, dtype, space, 1, 1, 1, count, count);
  if (!tensor)
    return NULL;
  tensor->offset = parameter->element_offset * dyno_dtype_size (dtype);
  tensor->parameter = parameter;
  return tensor;
}

/* A prefix ends where the name ends, or at one of its dots: “features.1” does not match
 * “features.10”. */
static gboolean
has_prefix (const char *name, const char *prefix)
{
  gsize length = strlen (prefix);
  return strncmp (name, prefix, length) == 0 && (name[length] == '\0' || name[length] == '.');
}

static gboolean
is_frozen (const DynoGraph *graph, const char *name)
{
  for (guint i = 0; graph->freeze && graph->freeze[i]; i++)
    if (has_prefix (name, graph->freeze[i]))
      return TRUE;
  return FALSE;
}

/* Gives a parameter of known size its place and its tensors, and adds it to the graph. */
static DynoParameter *
parameter_add (DynoGraph *graph, DynoParameter *parameter)
{
  parameter->index = graph->parameters->len;
  g_ptr_array_add (graph->parameters, parameter);
  guint64 *next = parameter->is_state ? &graph->state_elements : &graph->parameter_elements;
  parameter->is_frozen = is_frozen (graph, parameter->name);
  parameter->element_offset = *next;
  *next = dyno_align_up (*next + parameter->n_elements, PARAMETER_ALIGNMENT);
  if (*next > G_MAXINT32)
    return dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                            "%s: the model has too many parameters; lower its width",
                            parameter->name);
  if (parameter->is_state)
    {
      parameter->master = parameter_tensor (graph, parameter, "", DYNO_DTYPE_F32, DYNO_SPACE_STATE);
      parameter->compute = parameter->master;
      return parameter->master ? parameter : NULL;
    }
  parameter->master = parameter_tensor (graph, parameter, "", DYNO_DTYPE_F32, DYNO_SPACE_MASTER);
  parameter->compute = parameter->master;
  DynoDtype storage = dyno_graph_get_storage (graph);
  if (storage != DYNO_DTYPE_F32)
    parameter->compute = parameter_tensor (graph, parameter, ".half", storage, DYNO_SPACE_HALF);
  if (!parameter->master || !parameter->compute)
    return NULL;
  if (!parameter->is_frozen)
    graph->trained_elements = graph->parameter_elements;
  if (graph->params.training && !parameter->is_frozen)
    {
      parameter->gradient =
          parameter_tensor (graph, parameter, ".grad", DYNO_DTYPE_F32, DYNO_SPACE_GRADIENT);
      parameter->master->needs_gradient = parameter->compute->needs_gradient = TRUE;
    }
  return parameter;
}

DynoParameter *
dyno_graph_parameter (DynoGraph *graph, const char *name, const DynoParameterLayout *layout,
                      DynoInit init, gboolean is_state)
{
  if (graph->sealed)
    return dyno_graph_fail (graph, DYNO_NN_ERROR_MODEL,
                            "%s: a parameter after the optimizer's nodes", name);
  for (guint i = 0; i < graph->parameters->len; i++)
    {
      const DynoParameter *other = g_ptr_array_index (graph->parameters, i);
      if (g_str_equal (other->name, name))
        return dyno_graph_fail (graph, DYNO_NN_ERROR_MODEL, "two parameters are named %s", name);
    }
  DynoParameter *parameter = g_new0 (DynoParameter, 1);
  *parameter = (DynoParameter){
    .name = g_strdup (name), .layout = *layout, .init = init, .is_state = is_state
  };
  if (!parameter_measure (parameter))
    {
      parameter_free (parameter);
      return dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE, "%s: the parameter is empty or too large",
                              name);
    }
  return parameter_add (graph, parameter);
}

/* All valid prefixes: the parameters' names, and the part of a name before each of its dots. */
static GPtrArray *
list_prefixes (const DynoGraph *graph)
{
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < graph->parameters->len; i++)
    {
      const DynoParameter *parameter = g_ptr_array_index (graph->parameters, i);
      for (const char *end = parameter->name; end; end = strchr (end + 1, '.'))
        if (end > parameter->name)
          g_ptr_array_add (names, g_strndup (parameter->name, (gsize) (end - parameter->name)));
      g_ptr_array_add (names, g_strdup (parameter->name));
    }
  g_ptr_array_add (names, NULL);
  return names;
}

/* "“conv1”, “bn1”, “layer1”": the parts of the names before the first dot; g_free. */
static char *
list_modules (const DynoGraph *graph)
{
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  GString *text = g_string_new (NULL);
  for (guint i = 0; i < graph->parameters->len; i++)
    {
      const DynoParameter *parameter = g_ptr_array_index (graph->parameters, i);
      char *module = g_strndup (parameter->name, strcspn (parameter->name, "."));
      if (!g_hash_table_contains (seen, module))
        g_string_append_printf (text, "%s“%s”", text->len ? ", " : "", module);
      g_hash_table_add (seen, module);
    }
  return g_string_free (text, FALSE);
}

static void
check_prefixes (DynoGraph *graph)
{
  for (guint k = 0; graph->freeze && graph->freeze[k]; k++)
    {
      gboolean found = FALSE;
      for (guint i = 0; i < graph->parameters->len && !found; i++)
        found = has_prefix (((DynoParameter *) g_ptr_array_index (graph->parameters, i))->name,
                            graph->freeze[k]);
      if (found)
        continue;
      g_autoptr (GPtrArray) names = list_prefixes (graph);
      g_autofree char *modules = list_modules (graph);
      const char *meant = dyno_text_nearest (graph->freeze[k], (const char *const *) names->pdata,
                                             MAX (2, (guint) strlen (graph->freeze[k]) / 3));
      dyno_graph_fail (
          graph, DYNO_NN_ERROR_MODEL,
          "There is nothing named “%s” to freeze%s%s%s names of the model begin with %s",
          graph->freeze[k], meant ? "; did you mean “" : "", meant ? meant : "",
          meant ? "”? The" : "; the", modules);
    }
}

static void
place (DynoTensor *tensor, guint64 element_offset)
{
  if (tensor)
    tensor->offset = element_offset * dyno_dtype_size (tensor->dtype);
}

/* The kinds of parameters in the order of the flat memory.  The vectors that weight decay leaves
 * out are the middle two of the four trained kinds, and the head is the last two, so that each of
 * these sets is one contiguous range of elements. */
typedef enum { BODY, BODY_VECTORS, HEAD_VECTORS, HEAD, FROZEN } ParameterKind;

static ParameterKind
kind_of (const DynoGraph *graph, const DynoParameter *parameter)
{
  if (parameter->is_frozen)
    return FROZEN;
  gboolean head = graph->head && parameter->index >= graph->head->index;
  if (!graph->params.undecayed_vectors || !parameter->layout.is_vector)
    return head ? HEAD : BODY;
  return head ? HEAD_VECTORS : BODY_VECTORS;
}

/* Places the parameters of one kind one after the other, from next on; returns the offset after
 * them. */
static guint64
place_kind (DynoGraph *graph, ParameterKind kind, guint64 next)
{
  for (guint i = 0; i < graph->parameters->len; i++)
    {
      DynoParameter *parameter = g_ptr_array_index (graph->parameters, i);
      if (parameter->is_state || kind_of (graph, parameter) != kind)
        continue;
      parameter->element_offset = next;
      place (parameter->master, next);
      if (parameter->compute != parameter->master)
        place (parameter->compute, next);
      place (parameter->gradient, next);
      next = dyno_align_up (next + parameter->n_elements, PARAMETER_ALIGNMENT);
    }
  return next;
}

static void
place_kinds (DynoGraph *graph)
{
  graph->undecayed_start = place_kind (graph, BODY, 0);
  graph->head_start = place_kind (graph, BODY_VECTORS, graph->undecayed_start);
  graph->undecayed_end = place_kind (graph, HEAD_VECTORS, graph->head_start);
  graph->trained_elements = place_kind (graph, HEAD, graph->undecayed_end);
  place_kind (graph, FROZEN, graph->trained_elements);
}

/* Makes evaluation read the averages; frozen parameters are their own average. */
static void
place_averages (DynoGraph *graph)
{
  for (guint i = 0; i < graph->parameters->len; i++)
    {
      DynoParameter *parameter = g_ptr_array_index (graph->parameters, i);
      guint64 first;
      if (!dyno_graph_find_parameter (graph, parameter, DYNO_SPACE_AVERAGE, &first))
        continue;
      parameter->master->space = DYNO_SPACE_AVERAGE;
      place (parameter->master, first);
      if (parameter->compute != parameter->master)
        place (parameter->compute, graph->parameter_elements + first);
    }
}

void
dyno_graph_place_parameters (DynoGraph *graph)
{
  if (graph->error)
    return;
  g_return_if_fail (!graph->sealed);
  check_prefixes (graph);
  dyno_graph_group_layers (graph);
  place_kinds (graph);
  if (graph->freeze && graph->trained_elements == 0)
    dyno_graph_fail (graph, DYNO_NN_ERROR_MODEL,
                     "All of the model is frozen: nothing is left to train; leave the last layer "
                     "out of model.freeze");
  if (graph->params.average_decay > 0 && !graph->params.training)
    place_averages (graph);
}

void
dyno_graph_set_head (DynoGraph *graph, const DynoParameter *first)
{
  graph->head = first;
}

void
dyno_graph_get_undecayed (DynoGraph *graph, guint64 *start, guint64 *end)
{
  *start = graph->undecayed_start;
  *end = graph->undecayed_end;
}

guint64
dyno_graph_count_elements (const DynoGraph *graph, DynoSpace space)
{
  switch (space)
    {
    case DYNO_SPACE_STATE:
      return graph->state_elements;
    case DYNO_SPACE_MASTER:
    case DYNO_SPACE_HALF:
      return graph->parameter_elements;
    case DYNO_SPACE_AVERAGE:
      return graph->params.average_decay > 0 ? graph->trained_elements + graph->state_elements : 0;
    default:
      return graph->trained_elements;
    }
}

gboolean
dyno_graph_find_parameter (const DynoGraph *graph, const DynoParameter *parameter, DynoSpace space,
                           guint64 *first)
{
  gboolean average = space == DYNO_SPACE_AVERAGE;
  *first = parameter->element_offset;
  if (parameter->is_state)
    {
      *first += average ? graph->trained_elements : 0;
      return average || space == DYNO_SPACE_STATE;
    }
  return space == DYNO_SPACE_MASTER || space == DYNO_SPACE_HALF
         || (space != DYNO_SPACE_STATE && !parameter->is_frozen);
}

/* Nodes ---------------------------------------------------------------------------------------- */

/* The array, enlarged to at least n tensors; new entries are NULL. */
static DynoTensor **
grow (DynoTensor **tensors, guint *n_tensors, guint n)
{
  if (n <= *n_tensors)
    return tensors;
  tensors = g_renew (DynoTensor *, tensors, n);
  memset (tensors + *n_tensors, 0, (n - *n_tensors) * sizeof *tensors);
  *n_tensors = n;
  return tensors;
}

void
dyno_node_set_input (DynoNode *node, guint role, DynoTensor *tensor)
{
  node->inputs = grow (node->inputs, &node->n_inputs, role + 1);
  node->inputs[role] = tensor;
}

void
dyno_node_set_output (DynoNode *node, guint role, DynoTensor *tensor)
{
  node->outputs = grow (node->outputs, &node->n_outputs, role + 1);
  node->outputs[role] = tensor;
}

DynoNode *
dyno_graph_node (DynoGraph *graph, const DynoOpClass *op, const char *name,
                 DynoTensor *const *inputs, guint n_inputs, DynoTensor *const *outputs,
                 guint n_outputs, gconstpointer attributes, gsize attributes_size)
{
  if (graph->error)
    return NULL;
  DynoNode *node = g_new0 (DynoNode, 1);
  node->op = op;
  node->name = g_strdup (name);
  node->stage = graph->stage;
  node->inputs = grow (NULL, &node->n_inputs, n_inputs);
  node->outputs = grow (NULL, &node->n_outputs, n_outputs);
  node->attributes = attributes_size ? g_memdup2 (attributes, attributes_size) : NULL;
  gboolean needs_gradient = FALSE;
  for (guint i = 0; i < n_inputs; i++)
    {
      node->inputs[i] = inputs[i];
      needs_gradient |= inputs[i] && inputs[i]->needs_gradient;
    }
  for (guint i = 0; i < n_outputs; i++)
    {
      node->outputs[i] = outputs[i];
      if (!outputs[i])
        continue;
      if (!outputs[i]->producer)
        outputs[i]->producer = node;
      if (graph->stage == DYNO_STAGE_FORWARD && graph->params.training
          && outputs[i]->space == DYNO_SPACE_ARENA)
        outputs[i]->needs_gradient |= needs_gradient;
    }
  g_ptr_array_add (graph->nodes, node);
  return node;
}

void
dyno_graph_set_mix (DynoGraph *graph, const DynoMix *mix)
{
  graph->mix = *mix;
}

const DynoMix *
dyno_graph_get_mix (const DynoGraph *graph)
{
  return &graph->mix;
}

DynoTensor *
dyno_graph_step_input (DynoGraph *graph)
{
  return graph->step_input;
}

DynoTensor *
dyno_graph_step_output (DynoGraph *graph)
{
  return graph->step_output;
}

DynoTensor *
dyno_graph_scaler (DynoGraph *graph)
{
  return graph->scaler;
}

DynoTensor *
dyno_graph_flat (DynoGraph *graph, DynoSpace space)
{
  g_return_val_if_fail (space <= DYNO_SPACE_MOMENT2, NULL);
  static const char *const names[] = { "flat.master", "flat.half", "flat.gradient", "flat.moment1",
                                       "flat.moment2" };
  graph->sealed = TRUE;
  if (graph->flat[space])
    return graph->flat[space];
  if (graph->error)
    return NULL;
  guint32 count = (guint32) graph->trained_elements;
  DynoDtype dtype = space == DYNO_SPACE_HALF ? dyno_graph_get_storage (graph) : DYNO_DTYPE_F32;
  graph->flat[space] = dyno_graph_tensor (graph, names[space], dtype, space, 1, 1, 1, count, count);
  return graph->flat[space];
}

/* A part of a space as a flat tensor. */
static DynoTensor *
flat_part (DynoGraph *graph, const char *name, DynoDtype dtype, DynoSpace space, guint64 first,
           guint64 count)
{
  DynoTensor *tensor =
      dyno_graph_tensor (graph, name, dtype, space, 1, 1, 1, (guint32) count, (guint32) count);
  if (tensor)
    place (tensor, first);
  return tensor;
}

gboolean
dyno_graph_flat_averages (DynoGraph *graph, DynoTensor **weights, DynoTensor **half,
                          DynoTensor **states)
{
  guint64 trained = graph->trained_elements;
  DynoDtype storage = dyno_graph_get_storage (graph);
  *weights = *half = *states = NULL;
  graph->sealed = TRUE;
  if (graph->params.average_decay <= 0 || graph->error)
    return FALSE;
  *weights = flat_part (graph, "flat.average", DYNO_DTYPE_F32, DYNO_SPACE_AVERAGE, 0, trained);
  if (storage != DYNO_DTYPE_F32)
    *half = flat_part (graph, "flat.average.half", storage, DYNO_SPACE_HALF,
                       graph->parameter_elements, trained);
  if (graph->state_elements > 0)
    *states = flat_part (graph, "flat.average.states", DYNO_DTYPE_F32, DYNO_SPACE_AVERAGE, trained,
                         graph->state_elements);
  return !graph->error;
}

gboolean
dyno_graph_flat_states (DynoGraph *graph, DynoTensor **states, DynoTensor **kept)
{
  guint32 count = (guint32) graph->state_elements;
  graph->sealed = TRUE;
  if (count == 0 || graph->error)
    return FALSE;
  if (!graph->kept_states)
    {
      graph->flat[DYNO_SPACE_STATE] = dyno_graph_tensor (graph, "flat.states", DYNO_DTYPE_F32,
                                                         DYNO_SPACE_STATE, 1, 1, 1, count, count);
      graph->kept_states = dyno_graph_tensor (graph, "flat.kept_states", DYNO_DTYPE_F32,
                                              DYNO_SPACE_STATE, 1, 1, 1, count, count);
      if (graph->kept_states)
        graph->kept_states->offset = graph->state_elements * sizeof (float);
    }
  *states = graph->flat[DYNO_SPACE_STATE];
  *kept = graph->kept_states;
  return *states && *kept;
}
