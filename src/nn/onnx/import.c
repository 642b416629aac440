/* SPDX-License-Identifier: MIT */
/* Reading a model: the walk over its nodes, and the functions that the readers share. */
#include "import-private.h"
#include "graph-private.h"
#include <math.h>
#include <stdarg.h>
#include <string.h>

#define MOST_REFUSALS 20 /* refusals in a message */

static void
free_value (gpointer data)
{
  DynoImportValue *value = data;

  dyno_constant_free (value->constant);
  g_free (value);
}

/* --- the node that is read -------------------------------------------------------------------- */

const char *
dyno_import_shown_name (const DynoOnnxNode *node)
{
  return *node->name || node->n_outputs == 0 ? node->name : node->outputs[0];
}

gboolean
dyno_import_refuse (DynoImport *import, const DynoOnnxNode *node, const char *format, ...)
{
  g_autofree char *reason = NULL;
  va_list arguments;

  va_start (arguments, format);
  reason = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_ptr_array_add (import->refusals, g_strdup_printf ("%s “%s”: %s", node->op_type,
                                                      dyno_import_shown_name (node), reason));
  return FALSE;
}

void
dyno_import_note (DynoImport *import, const char *format, ...)
{
  va_list arguments;

  if (!import->notes)
    return;
  va_start (arguments, format);
  g_ptr_array_add (import->notes, g_strdup_vprintf (format, arguments));
  va_end (arguments);
}

DynoImportValue *
dyno_import_find_value (DynoImport *import, const char *name)
{
  return *name ? g_hash_table_lookup (import->values, name) : NULL;
}

DynoImportValue *
dyno_import_input (DynoImport *import, const DynoOnnxNode *node, guint i)
{
  return i < node->n_inputs ? dyno_import_find_value (import, node->inputs[i]) : NULL;
}

gboolean
dyno_import_is_constant (DynoImport *import, const DynoOnnxNode *node, guint i)
{
  const DynoImportValue *value = dyno_import_input (import, node, i);

  return value && value->constant && !value->tensor;
}

/* Moves the channels of a value to the order of its view, if (groups, C / groups) was transposed:
 * ShuffleNet's Reshape, Transpose and Reshape. */
static void
settle_shuffle (DynoImport *import, DynoImportValue *value)
{
  DynoView *view = &value->view;

  for (guint axis = 0; axis < view->n_dims; axis++)
    {
      guint begin = axis > 0 ? view->end[axis - 1] : 0, n = view->end[view->n_dims - 1];
      DynoViewPart *part = &view->parts[begin];
      if (view->end[axis] - begin != 2 || part[0].axis != 'C' || part[1].axis != 'C'
          || part[0].stride != 1 || part[1].stride != part[0].extent
          || part[0].extent * part[1].extent != value->tensor->c)
        continue;
      g_autofree char *name = g_strconcat (value->tensor->name, ".shuffle", NULL);
      DynoTensor *shuffled =
          dyno_channel_shuffle (import->graph, value->tensor, name, part[1].extent);
      if (!shuffled)
        return;
      value->tensor = shuffled;
      part[0].extent = shuffled->c;
      memmove (&part[1], &part[2], (n - begin - 2) * sizeof *part);
      for (guint i = axis; i < view->n_dims; i++)
        view->end[i]--;
    }
}

gboolean
dyno_import_settle (DynoImport *import, DynoImportValue *value)
{
  DynoView *view = &value->view;
  guint32 count = 1;

  settle_shuffle (import, value);
  if (!dyno_view_is_run (view, &count) || (guint64) view->begin + count > value->tensor->c)
    return TRUE; /* the view has no form, so that the readers refuse the value */
  if (count == value->tensor->c)
    return TRUE;
  g_autofree char *name =
      g_strdup_printf ("%s.channels%u", value->tensor->name, (guint) view->begin);
  DynoTensor *run = dyno_channels (import->graph, value->tensor, name, view->begin, count);
  if (!run)
    return FALSE;
  value->tensor = run;
  view->begin = 0;
  return TRUE;
}

static DynoImportValue *
refuse_no_tensor (DynoImport *import, const DynoOnnxNode *node, guint i,
                  const DynoImportValue *value)
{
  dyno_import_refuse (import, node, "its input %u is %s, where a tensor is expected", i,
                      !value            ? "missing"
                      : value->constant ? "a constant"
                      : value->repeat   ? "a tensor with repeated values"
                                        : "a parameter");
  return NULL;
}

DynoImportValue *
dyno_import_viewed (DynoImport *import, const DynoOnnxNode *node, guint i)
{
  DynoImportValue *value = dyno_import_input (import, node, i);

  if (!value || !value->tensor)
    return refuse_no_tensor (import, node, i, value);
  settle_shuffle (import, value);
  return value;
}

DynoImportValue *
dyno_import_tensor (DynoImport *import, const DynoOnnxNode *node, guint i)
{
  DynoImportValue *value = dyno_import_input (import, node, i);

  if (value && value->repeat && !value->refused && dyno_import_repeat (import, value->repeat))
    value = dyno_import_input (import, node, i);
  value = value && !value->tensor && !value->refused && (value->constant || value->parameter)
              ? dyno_import_stored (import, node, i)
              : dyno_import_viewed (import, node, i);
  if (!value || !dyno_import_settle (import, value))
    return NULL;
  if (dyno_tensor_is_shared (value->tensor))
    import->shared_batch = value->view.batch;
  return value;
}

DynoImportValue *
dyno_import_tensor_as (DynoImport *import, const DynoOnnxNode *node, guint i,
                       const char *const *forms, guint *form)
{
  DynoImportValue *value = dyno_import_tensor (import, node, i);

  if (!value)
    return NULL;
  for (*form = 0; forms[*form]; ++*form)
    if (dyno_view_is (&value->view, value->tensor, forms[*form]))
      return value;
  for (*form = 0; forms[*form]; ++*form)
    {
      DynoImportValue *copy = dyno_import_as_form (import, node, value, forms[*form]);
      if (copy)
        return copy;
    }
  g_autofree char *shape = dyno_view_print (&value->view);
  g_autofree char *wanted = g_strjoinv (" or ", (char **) forms);
  dyno_import_refuse (import, node, "the axes of its input %u, %s, are not %s", i, shape, wanted);
  return NULL;
}

static gboolean
is_taken (const DynoGraph *graph, const char *name)
{
  for (guint i = 0; i < graph->parameters->len; i++)
    if (g_str_equal (((const DynoParameter *) g_ptr_array_index (graph->parameters, i))->name,
                     name))
      return TRUE;
  return FALSE;
}

gboolean
dyno_import_has_parameter (const DynoImport *import, const char *name)
{
  return is_taken (import->graph, name);
}

/* The parameter of input i, whose extents are copied to dims; NULL: the node was refused. */
static const DynoImportValue *
take_parameter (DynoImport *import, const DynoOnnxNode *node, guint i, guint n_dims, guint32 *dims)
{
  const DynoImportValue *value = dyno_import_input (import, node, i);
  const DynoOnnxValue *parameter = value ? value->parameter : NULL;

  if (!parameter)
    {
      dyno_import_refuse (import, node, "its input %u is not a parameter of the file", i);
      return NULL;
    }
  if (value->n_dims != n_dims)
    {
      dyno_import_refuse (import, node, "its parameter “%s” has %u axes, not %u", parameter->name,
                          value->n_dims, n_dims);
      return NULL;
    }
  if (is_taken (import->graph, parameter->name))
    {
      dyno_import_refuse (import, node, "it shares the parameter “%s” with another node",
                          parameter->name);
      return NULL;
    }
  for (guint k = 0; k < n_dims; k++)
    {
      if (value->dims[k] < 1 || value->dims[k] > G_MAXINT32)
        {
          dyno_import_refuse (import, node, "its parameter “%s” has an axis of %" G_GINT64_FORMAT,
                              parameter->name, value->dims[k]);
          return NULL;
        }
      dims[k] = (guint32) value->dims[k];
    }
  return value;
}

gboolean
dyno_import_parameter (DynoImport *import, const DynoOnnxNode *node, guint i, guint n_dims,
                       guint32 *dims)
{
  const DynoImportValue *value = take_parameter (import, node, i, n_dims, dims);

  if (!value)
    return FALSE;
  return !value->transposed
         || dyno_import_refuse (import, node, "its parameter “%s” is transposed",
                                value->parameter->name);
}

gboolean
dyno_import_matrix (DynoImport *import, const DynoOnnxNode *node, guint i, guint32 *dims,
                    gboolean *transposed)
{
  const DynoImportValue *value = take_parameter (import, node, i, 2, dims);

  *transposed = value && value->transposed;
  return value != NULL;
}

gboolean
dyno_import_is_parameter (DynoImport *import, const DynoOnnxNode *node, guint i)
{
  const DynoImportValue *value = dyno_import_input (import, node, i);

  return value && value->parameter && !value->constant;
}

static const DynoOnnxAttribute *
find_attribute (const DynoOnnxNode *node, const char *name, guint type)
{
  const DynoOnnxAttribute *attribute = dyno_onnx_node_find_attribute (node, name);

  return attribute && attribute->type == type ? attribute : NULL;
}

gint64
dyno_import_int (const DynoOnnxNode *node, const char *name, gint64 otherwise)
{
  const DynoOnnxAttribute *attribute = find_attribute (node, name, DYNO_ONNX_IS_INT);

  return attribute ? attribute->i : otherwise;
}

gboolean
dyno_import_axis (DynoImport *import, const DynoOnnxNode *node, guint n_dims, gint64 otherwise,
                  guint *axis)
{
  gint64 given = dyno_import_int (node, "axis", otherwise);

  given += given < 0 ? (gint64) n_dims : 0;
  *axis = (guint) given;
  return (given >= 0 && given < (gint64) n_dims)
         || dyno_import_refuse (import, node, "its axis is out of range");
}

double
dyno_import_float (const DynoOnnxNode *node, const char *name, double otherwise)
{
  const DynoOnnxAttribute *attribute = find_attribute (node, name, DYNO_ONNX_IS_FLOAT);

  return attribute ? (double) attribute->f : otherwise;
}

const char *
dyno_import_text (const DynoOnnxNode *node, const char *name, const char *otherwise)
{
  const DynoOnnxAttribute *attribute = find_attribute (node, name, DYNO_ONNX_IS_TEXT);

  return attribute ? attribute->s : otherwise;
}

const gint64 *
dyno_import_ints (const DynoOnnxNode *node, const char *name, guint *n)
{
  const DynoOnnxAttribute *attribute = find_attribute (node, name, DYNO_ONNX_IS_INTS);

  *n = attribute ? attribute->n : 0;
  return *n > 0 ? attribute->ints : NULL;
}

const DynoConstant *
dyno_import_numbers (DynoImport *import, const DynoOnnxNode *node, guint i, const char *attribute)
{
  const DynoImportValue *value = dyno_import_input (import, node, i);
  g_autofree char *key = NULL;
  const gint64 *ints;
  guint n;

  if (value)
    return value->constant;
  ints = attribute ? dyno_import_ints (node, attribute, &n) : NULL;
  if (!ints)
    return NULL;
  /* The import keeps the numbers under a name that no value of the file has. */
  key = g_strdup_printf ("\n%p\n%s", (const void *) node, attribute);
  DynoImportValue *kept = dyno_import_find_value (import, key);
  if (!kept)
    {
      const gint64 dims[] = { n };
      kept = g_new0 (DynoImportValue, 1);
      kept->constant = dyno_constant_new (TRUE, dims, 1);
      if (kept->constant)
        memcpy (kept->constant->ints, ints, n * sizeof *ints);
      g_hash_table_insert (import->values, g_steal_pointer (&key), kept);
    }
  return kept->constant;
}

static DynoImportValue *
add_value (DynoImport *import, const DynoOnnxNode *node, const char *name)
{
  DynoImportValue *value = g_new0 (DynoImportValue, 1);

  value->node = node;
  g_hash_table_insert (import->values, g_strdup (name), value);
  return value;
}

/* A parameter of more axes than are supported gets no axes here, so that every node refuses it. */
static void
set_parameter (DynoImportValue *value, const DynoOnnxValue *parameter)
{
  value->parameter = parameter;
  if (parameter->n_dims > G_N_ELEMENTS (value->dims))
    return;
  value->n_dims = parameter->n_dims;
  for (guint i = 0; i < parameter->n_dims; i++)
    value->dims[i] = parameter->dims[i].value;
}

gboolean
dyno_import_output (DynoImport *import, const DynoOnnxNode *node, guint k, DynoTensor *tensor,
                    const DynoView *view, const char *form)
{
  DynoImportValue *value = add_value (import, node, node->outputs[k]);

  value->tensor = tensor;
  value->refused = !tensor;
  if (tensor && view)
    value->view = *view;
  else if (tensor)
    dyno_view_init (&value->view, tensor,
                    dyno_tensor_is_shared (tensor) ? import->shared_batch : import->batch, form);
  return TRUE;
}

gboolean
dyno_import_output_constant_at (DynoImport *import, const DynoOnnxNode *node, guint k,
                                DynoConstant *constant)
{
  add_value (import, node, node->outputs[k])->constant = constant;
  return TRUE;
}

gboolean
dyno_import_output_constant (DynoImport *import, const DynoOnnxNode *node, DynoConstant *constant)
{
  return dyno_import_output_constant_at (import, node, 0, constant);
}

gboolean
dyno_import_output_sequence (DynoImport *import, const DynoOnnxNode *node)
{
  add_value (import, node, node->outputs[0])->sequence = node;
  return TRUE;
}

gboolean
dyno_import_output_repeat (DynoImport *import, const DynoOnnxNode *node)
{
  add_value (import, node, node->outputs[0])->repeat = node;
  return TRUE;
}

gboolean
dyno_import_count_numbers (DynoImport *import, const DynoOnnxNode *node, guint64 n)
{
  import->n_numbers += n;
  return import->n_numbers <= DYNO_IMPORT_MAX_NUMBERS
         || dyno_import_refuse (import, node,
                                "the network computes with more than %u numbers before it runs",
                                DYNO_IMPORT_MAX_NUMBERS);
}

gboolean
dyno_import_pass (DynoImport *import, const DynoOnnxNode *node, guint i)
{
  const DynoImportValue *from = dyno_import_input (import, node, i);
  DynoImportValue *value;

  if (!from)
    return dyno_import_refuse (import, node, "its input %u is missing", i);
  value = add_value (import, from->node, node->outputs[0]);
  value->tensor = from->tensor;
  value->view = from->view;
  value->constant = from->constant ? dyno_constant_ref (from->constant) : NULL;
  value->parameter = from->parameter;
  value->n_dims = from->n_dims;
  memcpy (value->dims, from->dims, sizeof value->dims);
  value->transposed = from->transposed;
  value->sequence = from->sequence;
  value->repeat = from->repeat;
  return TRUE;
}

gboolean
dyno_import_output_parameter (DynoImport *import, const DynoOnnxNode *node, guint i,
                              const gint64 *dims, guint n_dims, gboolean transposed)
{
  const DynoImportValue *from = dyno_import_input (import, node, i);
  DynoImportValue *value;

  value = add_value (import, from->node, node->outputs[0]);
  value->parameter = from->parameter;
  value->n_dims = n_dims;
  memcpy (value->dims, dims, n_dims * sizeof *dims);
  value->transposed = transposed;
  return TRUE;
}

gboolean
dyno_import_is_last (const DynoImport *import, const DynoOnnxNode *node)
{
  return g_str_equal (node->outputs[0], import->model->outputs[0].name);
}

/* --- names ------------------------------------------------------------------------------------ */

/* TRUE: a parameter of the graph has a name that an op of the module's name would give to its
 * parameters. */
static gboolean
is_module_taken (const DynoGraph *graph, const char *module)
{
  static const char *const parts[] = { "weight", "bias", "running_mean", "running_var" };

  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    {
      g_autofree char *name = g_strconcat (module, ".", parts[i], NULL);
      if (is_taken (graph, name))
        return TRUE;
    }
  return FALSE;
}

char *
dyno_import_name (DynoImport *import, const DynoOnnxNode *node, guint i)
{
  const DynoImportValue *value = dyno_import_input (import, node, i);
  const char *parameter = value && value->parameter ? value->parameter->name : "";

  if (g_str_has_suffix (parameter, ".weight") && strlen (parameter) > strlen (".weight"))
    {
      g_autofree char *module = g_strndup (parameter, strlen (parameter) - strlen (".weight"));
      if (!is_module_taken (import->graph, module))
        return g_steal_pointer (&module);
    }
  return g_strdup (dyno_import_shown_name (node));
}

/* Gives the parameter the file's shape, if that has as many values: (C, 1, 1) where Dyno has
 * (C). */
static void
take_shape (DynoParameter *parameter, const DynoOnnxValue *shape)
{
  guint64 count = 1;

  for (guint i = 0; i < shape->n_dims; i++)
    count *= (guint64) shape->dims[i].value;
  if (shape->n_dims < 1 || shape->n_dims > G_N_ELEMENTS (parameter->dims)
      || count != dyno_parameter_count (parameter))
    return;
  parameter->n_dims = shape->n_dims;
  for (guint i = 0; i < shape->n_dims; i++)
    parameter->dims[i] = (guint32) shape->dims[i].value;
}

void
dyno_import_name_parameter (DynoImport *import, const DynoOnnxNode *node, guint index, guint i)
{
  DynoParameter *parameter = g_ptr_array_index (import->graph->parameters, index);
  const DynoOnnxValue *own = dyno_import_input (import, node, i)->parameter;

  g_free (parameter->name);
  parameter->name = g_strdup (own->name);
  take_shape (parameter, own);
}

void
dyno_import_name_parameters (DynoImport *import, const DynoOnnxNode *node, guint first, guint i)
{
  for (guint k = first; k < import->graph->parameters->len; k++, i++)
    dyno_import_name_parameter (import, node, k, i);
}

/* --- the whole -------------------------------------------------------------------------------- */

static void
count_reader (DynoImport *import, const char *name)
{
  guint n = GPOINTER_TO_UINT (g_hash_table_lookup (import->readers, name));

  g_hash_table_insert (import->readers, (gpointer) name, GUINT_TO_POINTER (n + 1));
}

/* An initialiser that a file without weights has kept: a constant, and, if it is a short vector,
 * possibly also a parameter. */
static void
add_initializer (DynoImport *import, const DynoOnnxTensor *tensor)
{
  DynoImportValue *value = add_value (import, NULL, tensor->name);

  value->constant = dyno_constant_read (import->model, tensor);
  if (!dyno_onnx_type_is_float (tensor->type) || tensor->n_dims != 1)
    return;
  value->vector_dim = (DynoOnnxDim){ (gint64) tensor->dims[0], "" };
  value->vector = (DynoOnnxValue){ .name = tensor->name,
                                   .type = tensor->type,
                                   .has_shape = TRUE,
                                   .n_dims = 1,
                                   .dims = &value->vector_dim };
  set_parameter (value, &value->vector);
}

/* The axes of the file's input.  A sequence has its channels before its steps, as PyTorch's
 * convolutions and batch norms take it, where such a layer reads the input, and its steps before
 * the samples where an LSTM or a GRU does. */
static const char *
input_form (const DynoOnnxModel *model)
{
  static const char *const of_channels[] = { "Conv", "BatchNormalization", NULL },
                           *const of_steps[] = { "GRU", "LSTM", NULL };
  const DynoOnnxValue *input = &model->inputs[0];

  if (input->n_dims != 3)
    return input->n_dims == 2 ? "N CHW" : "N C H W";
  for (guint i = 0; i < model->n_nodes; i++)
    if (model->nodes[i].n_inputs > 0 && g_str_equal (model->nodes[i].inputs[0], input->name))
      {
        if (g_strv_contains (of_channels, model->nodes[i].op_type))
          return "N C W";
        if (g_strv_contains (of_steps, model->nodes[i].op_type))
          return "W N C";
      }
  return "N W C";
}

/* Adds the values of the file: its input, its parameters, its constants. */
static void
add_values (DynoImport *import, DynoTensor *x)
{
  const DynoOnnxModel *model = import->model;
  for (guint i = 1; i < model->n_inputs; i++)
    set_parameter (add_value (import, NULL, model->inputs[i].name), &model->inputs[i]);
  for (guint i = 0; i < model->n_initializers; i++)
    add_initializer (import, &model->initializers[i]);
  DynoImportValue *input = add_value (import, NULL, model->inputs[0].name);
  input->tensor = x;
  dyno_view_init (&input->view, x, import->batch, input_form (model));
}

/* Marks the nodes that the output depends on: other nodes, such as the losses that a file has
 * besides the output, are not read. */
static void
find_needed (DynoImport *import)
{
  const DynoOnnxModel *model = import->model;
  g_autoptr (GHashTable) wanted = g_hash_table_new (g_str_hash, g_str_equal);

  g_hash_table_add (wanted, (gpointer) model->outputs[0].name);
  for (guint i = model->n_nodes; i-- > 0;)
    {
      const DynoOnnxNode *node = &model->nodes[i];
      gboolean needed = FALSE;
      for (guint k = 0; k < node->n_outputs; k++)
        needed |= g_hash_table_contains (wanted, node->outputs[k]);
      if (!needed)
        continue;
      g_hash_table_add (import->needed, (gpointer) node);
      for (guint k = 0; k < node->n_inputs; k++)
        {
          count_reader (import, node->inputs[k]);
          g_hash_table_add (wanted, (gpointer) node->inputs[k]);
        }
    }
  count_reader (import, model->outputs[0].name);
}

/* A node is not read if one of its inputs was refused: the reason would be the same. */
static gboolean
waits_for_refused (DynoImport *import, const DynoOnnxNode *node)
{
  for (guint i = 0; i < node->n_inputs; i++)
    {
      const DynoImportValue *value = dyno_import_find_value (import, node->inputs[i]);
      if (*node->inputs[i] && (!value || value->refused))
        return TRUE;
    }
  return FALSE;
}

static gboolean
read_pattern (DynoImport *import, const DynoOnnxNode *node, const DynoImportPattern *pattern)
{
  DynoImportValue *x = dyno_import_find_value (import, pattern->input);

  if (!x || x->refused)
    return FALSE;
  if (!x->tensor && pattern->weight_node && pattern->weight_node->n_inputs > 0
      && g_str_equal (pattern->weight_node->inputs[0], pattern->input)
      && !(x = dyno_import_tensor (import, pattern->weight_node, 0)))
    return FALSE;
  if (!x->tensor)
    return dyno_import_refuse (import, node, "it reads “%s”, which does not depend on the input",
                               pattern->input);
  if (!pattern->keeps_runs && !dyno_import_settle (import, x))
    return FALSE;
  return pattern->read (import, node, pattern, x);
}

/* TRUE: the pattern has no mask, or one that changes no softmax. */
static gboolean
has_plain_mask (DynoImport *import, const DynoImportPattern *pattern)
{
  const DynoImportValue *mask =
      pattern->mask ? dyno_import_find_value (import, pattern->mask) : NULL;
  double number;

  return !pattern->mask
         || (mask && mask->constant && dyno_constant_is_uniform (mask->constant, &number)
             && isfinite (number));
}

static void read_node (DynoImport *import, const DynoOnnxNode *node);

static int
compare_places (const void *a, const void *b)
{
  const DynoOnnxNode *const *one = a, *const *two = b;

  return (*one > *two) - (*one < *two);
}

/* Reads the nodes of a pattern without it, in the order of the file.  An IsNaN stays a part of its
 * guard. */
static void
read_parts (DynoImport *import, const DynoOnnxNode *node, const DynoImportPattern *pattern)
{
  const DynoOnnxNode *inside[DYNO_IMPORT_MAX_INSIDE];
  guint n = pattern->n_inside;

  memcpy (inside, pattern->inside, sizeof inside);
  qsort (inside, n, sizeof *inside, compare_places);
  g_hash_table_remove (import->patterns, node);
  for (guint i = 0; i < n; i++)
    if (!g_str_equal (inside[i]->op_type, "IsNaN"))
      {
        g_hash_table_remove (import->absorbed, inside[i]);
        read_node (import, inside[i]);
      }
  read_node (import, node);
}

static void
read_node (DynoImport *import, const DynoOnnxNode *node)
{
  const DynoImportPattern *pattern = g_hash_table_lookup (import->patterns, node);
  const DynoImportRow *row = dyno_import_find_row (node);
  gboolean read = FALSE;

  if (node->n_outputs == 0 || (g_hash_table_contains (import->absorbed, node) && !pattern))
    return;
  if (pattern && !has_plain_mask (import, pattern))
    {
      read_parts (import, node, pattern);
      return;
    }
  if (pattern)
    read = read_pattern (import, node, pattern);
  else if (!waits_for_refused (import, node))
    read = row ? row->read (import, node)
               : dyno_import_refuse (import, node, "Dyno has no such operator");
  for (guint k = 0; !read && k < node->n_outputs; k++)
    if (*node->outputs[k])
      add_value (import, node, node->outputs[k])->refused = TRUE;
}

static DynoTensor *
fail (DynoImport *import)
{
  GPtrArray *reasons = import->refusals;
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < MIN (reasons->len, MOST_REFUSALS); i++)
    g_string_append_printf (text, "\n  %s", (const char *) g_ptr_array_index (reasons, i));
  if (reasons->len > MOST_REFUSALS)
    g_string_append_printf (text, "\n  and %u more", reasons->len - MOST_REFUSALS);
  return dyno_graph_fail (import->graph, DYNO_NN_ERROR_MODEL,
                          "Dyno cannot train this network as it is:%s", text->str);
}

/* The output as a row of logits for each pixel of the picture x; NULL: it has no such layout. */
static DynoTensor *
find_pixels (DynoImport *import, DynoImportValue *value, const DynoTensor *x)
{
  DynoImportValue *image =
      value->node ? dyno_import_as_form (import, value->node, value, "N C H W") : NULL;

  if (!image && dyno_view_is (&value->view, value->tensor, "N C H W"))
    image = value;
  return image && image->tensor->h == x->h && image->tensor->w == x->w ? image->tensor : NULL;
}

/* The logits: the value of the output. */
static DynoTensor *
find_logits (DynoImport *import, const DynoTensor *x, gboolean of_pixels)
{
  const char *name = import->model->outputs[0].name;
  DynoImportValue *value = dyno_import_find_value (import, name), *row;
  DynoTensor *tensor = value && !value->refused ? value->tensor : NULL;

  if (!tensor && import->refusals->len == 0)
    return dyno_graph_fail (import->graph, DYNO_NN_ERROR_MODEL,
                            "The output “%s” of the network does not depend on its input", name);
  if (!tensor)
    return fail (import);
  g_autofree char *shape = dyno_view_print (&value->view);
  if (of_pixels && !(tensor = find_pixels (import, value, x)))
    return dyno_graph_fail (import->graph, DYNO_NN_ERROR_SHAPE,
                            "The output “%s” of the network is %s; Dyno trains networks with one "
                            "row of outputs for each pixel of the picture, (samples, outputs, %u, "
                            "%u)",
                            name, shape, x->h, x->w);
  row = value->node && !of_pixels ? dyno_import_as_form (import, value->node, value, "N C") : NULL;
  if (!row && !of_pixels && !dyno_view_is (&value->view, tensor, "N C"))
    return dyno_graph_fail (import->graph, DYNO_NN_ERROR_SHAPE,
                            "The output “%s” of the network is %s; Dyno trains networks with one "
                            "row of outputs a sample, (samples, outputs)",
                            name, shape);
  tensor = row ? row->tensor : tensor;
  if (tensor->c != import->n_outputs)
    return dyno_graph_fail (
        import->graph, DYNO_NN_ERROR_SHAPE,
        "The network has %u outputs, the data %u, and no layer at the end of the network can be "
        "replaced by another one",
        tensor->c, import->n_outputs);
  return tensor;
}

/* The batch for which the file's shapes are valid; the graph's batch where the file leaves it
 * open. */
static guint32
find_batch (const DynoOnnxModel *model, const DynoTensor *x)
{
  const DynoOnnxValue *input = &model->inputs[0];
  guint axis = input_form (model)[0] == 'N' ? 0 : 1;
  gint64 batch = input->n_dims > axis ? input->dims[axis].value : 0;

  return batch > 0 && batch <= G_MAXUINT16 ? (guint32) batch : x ? x->n : 1;
}

DynoTensor *
dyno_import_build (DynoGraph *graph, DynoTensor *x, const DynoOnnxModel *model, guint32 n_outputs,
                   gboolean of_pixels, GPtrArray *notes)
{
  g_autoptr (GHashTable)
      values = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, free_value),
      readers = g_hash_table_new (g_str_hash, g_str_equal), needed = g_hash_table_new (NULL, NULL),
      absorbed = g_hash_table_new (NULL, NULL),
      patterns = g_hash_table_new_full (NULL, NULL, NULL, g_free),
      of_rows = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GPtrArray) refusals = g_ptr_array_new_with_free_func (g_free);
  const DynoOnnxValue *input = &model->inputs[0];
  gboolean is_linear = FALSE;
  DynoImport import = { .graph = graph,
                        .model = model,
                        .n_outputs = n_outputs,
                        .batch = find_batch (model, x),
                        .shared_batch = 1,
                        .values = values,
                        .readers = readers,
                        .needed = needed,
                        .absorbed = absorbed,
                        .patterns = patterns,
                        .of_rows = of_rows,
                        .refusals = refusals,
                        .notes = notes };

  if (!x)
    return NULL;
  import.head = dyno_import_find_head (model, &import.added_head, &is_linear);
  if (input->n_dims == 3 && x->h > 1)
    return dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                            "The network takes sequences, the data has samples of %u x %u x %u",
                            x->h, x->w, x->c);
  add_values (&import, x);
  find_needed (&import);
  dyno_import_find_patterns (&import);
  dyno_import_find_depth (&import);
  dyno_import_find_recurrent (&import);
  for (guint i = 0; i < model->n_nodes; i++)
    if (g_hash_table_contains (needed, &model->nodes[i]))
      read_node (&import, &model->nodes[i]);
  DynoTensor *logits = find_logits (&import, x, of_pixels);
  dyno_import_note_copies (&import);
  if (logits && import.head)
    dyno_import_note_head (&import, is_linear);
  return logits;
}
