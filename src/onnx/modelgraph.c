/* SPDX-License-Identifier: MIT */
/* The graph of a model: nodes with their attributes, initialisers, and values.
 * Each message is passed twice: the first time its fields are counted, so that arrays are allocated
 * once and as large as they need to be. */
#include "model-private.h"
#include <string.h>

#define MOST_REFUSED 8 /* attributes that an error lists */

/* The value of an attribute lies in a field that belongs to its type. */
static const struct {
  guint field, type;
  const char *refused; /* the content of the field, where Dyno does not read it */
} attribute_types[] = {
  { DYNO_ONNX_ATTRIBUTE_F, DYNO_ONNX_IS_FLOAT, NULL },
  { DYNO_ONNX_ATTRIBUTE_I, DYNO_ONNX_IS_INT, NULL },
  { DYNO_ONNX_ATTRIBUTE_TEXT, DYNO_ONNX_IS_TEXT, NULL },
  { DYNO_ONNX_ATTRIBUTE_TENSOR, DYNO_ONNX_IS_TENSOR, NULL },
  { DYNO_ONNX_ATTRIBUTE_FLOATS, DYNO_ONNX_IS_FLOATS, NULL },
  { DYNO_ONNX_ATTRIBUTE_INTS, DYNO_ONNX_IS_INTS, NULL },
  { DYNO_ONNX_ATTRIBUTE_TEXTS, DYNO_ONNX_IS_TEXTS, NULL },
  { DYNO_ONNX_ATTRIBUTE_GRAPH, DYNO_ONNX_IS_GRAPH, "a graph" },
  { DYNO_ONNX_ATTRIBUTE_GRAPHS, DYNO_ONNX_IS_GRAPHS, "graphs" },
  { DYNO_ONNX_ATTRIBUTE_TENSORS, DYNO_ONNX_IS_TENSORS, "tensors" },
  { DYNO_ONNX_ATTRIBUTE_SPARSE, DYNO_ONNX_IS_SPARSE, "a sparse tensor" },
  { DYNO_ONNX_ATTRIBUTE_SPARSES, DYNO_ONNX_IS_SPARSES, "sparse tensors" },
  { DYNO_ONNX_ATTRIBUTE_TYPE_PROTO, DYNO_ONNX_IS_TYPE_PROTO, "a type" },
  { DYNO_ONNX_ATTRIBUTE_TYPE_PROTOS, DYNO_ONNX_IS_TYPE_PROTOS, "types" },
};

char *
dyno_onnx_describe_node (const DynoOnnxNode *node)
{
  const char *name = node->name;

  for (guint i = 0; i < node->n_outputs && !*name; i++)
    name = node->outputs[i];
  return g_strdup_printf ("%s “%s”", *node->op_type ? node->op_type : "node", name);
}

/* --- attributes ------------------------------------------------------------------------------- */

static void
refuse_attribute (DynoOnnxStore *store, const DynoOnnxNode *node, const DynoOnnxAttribute *a,
                  const char *holds)
{
  g_autofree char *described = dyno_onnx_describe_node (node);

  if (store->n_refused++ < MOST_REFUSED)
    g_string_append_printf (store->refused, "%s%s (%s: %s)", store->refused->len > 0 ? ", " : "",
                            described, a->name, holds);
}

static gboolean
take_floats (DynoProtoReader *numbers, float *to, guint *n, GError **error)
{
  while (dyno_proto_has_more (numbers))
    {
      guint64 bits = 0;
      guint32 word;

      if (!dyno_proto_next_number (numbers, DYNO_PROTO_FIXED32, &bits, error))
        return FALSE;
      word = (guint32) bits;
      memcpy (&to[(*n)++], &word, sizeof word);
    }
  return TRUE;
}

static gboolean
take_ints (DynoProtoReader *numbers, gint64 *to, guint *n, GError **error)
{
  while (dyno_proto_has_more (numbers))
    {
      guint64 bits = 0;

      if (!dyno_proto_next_number (numbers, DYNO_PROTO_VARINT, &bits, error))
        return FALSE;
      to[(*n)++] = (gint64) bits;
    }
  return TRUE;
}

/* Counts the numbers and texts in the lists of an attribute; element_bytes: the size of one. */
static gboolean
count_list (DynoProtoReader message, guint64 *n, gsize *element_bytes, GError **error)
{
  DynoProtoReader numbers;
  DynoProtoField f;

  while (dyno_proto_has_more (&message))
    {
      guint type = DYNO_PROTO_VARINT;

      if (!dyno_proto_next (&message, &f, error))
        return FALSE;
      if (f.number == DYNO_ONNX_ATTRIBUTE_TEXTS)
        {
          *n += 1;
          *element_bytes = sizeof (char *);
          continue;
        }
      if (f.number == DYNO_ONNX_ATTRIBUTE_FLOATS)
        type = DYNO_PROTO_FIXED32;
      else if (f.number != DYNO_ONNX_ATTRIBUTE_INTS)
        continue;
      *element_bytes = f.number == DYNO_ONNX_ATTRIBUTE_INTS ? sizeof (gint64) : sizeof (float);
      if (!dyno_proto_enter_numbers (&message, &f, type, &numbers, error))
        return FALSE;
      *n += dyno_proto_count_numbers (&numbers, type);
    }
  return TRUE;
}

static gboolean
take_attribute_tensor (DynoOnnxStore *store, const DynoProtoReader *message,
                       const DynoProtoField *f, DynoOnnxAttribute *a, GError **error)
{
  DynoOnnxTensor *tensor;
  DynoProtoReader inner;

  if (!dyno_onnx_count (&store->n_tensors, 1, DYNO_ONNX_MAX_TENSORS, "tensors", error)
      || !dyno_proto_enter (message, f, "the tensor of an attribute", &inner, error))
    return FALSE;
  tensor = dyno_onnx_allocate (store, 1, sizeof *tensor, error);
  a->t = tensor;
  return tensor && dyno_onnx_take_tensor (store, inner, tensor, error);
}

/* Reads a field of an attribute; list has room for all elements of its lists. */
static gboolean
take_attribute_field (DynoOnnxStore *store, const DynoProtoReader *message, const DynoProtoField *f,
                      DynoOnnxAttribute *a, gpointer list, GError **error)
{
  DynoProtoReader numbers;

  switch (f->number)
    {
    case DYNO_ONNX_ATTRIBUTE_F:
      return dyno_proto_take_float (message, f, &a->f, error);
    case DYNO_ONNX_ATTRIBUTE_I:
      return dyno_onnx_take_int (message, f, &a->i, error);
    case DYNO_ONNX_ATTRIBUTE_TEXT:
      return dyno_onnx_take_text (store, message, f, &a->s, error);
    case DYNO_ONNX_ATTRIBUTE_TENSOR:
      return take_attribute_tensor (store, message, f, a, error);
    case DYNO_ONNX_ATTRIBUTE_FLOATS:
      a->floats = list;
      return dyno_proto_enter_numbers (message, f, DYNO_PROTO_FIXED32, &numbers, error)
             && take_floats (&numbers, list, &a->n, error);
    case DYNO_ONNX_ATTRIBUTE_INTS:
      a->ints = list;
      return dyno_proto_enter_numbers (message, f, DYNO_PROTO_VARINT, &numbers, error)
             && take_ints (&numbers, list, &a->n, error);
    case DYNO_ONNX_ATTRIBUTE_TEXTS:
      a->strings = list;
      return dyno_onnx_take_text (store, message, f, (const char **) list + a->n++, error);
    default:
      return TRUE;
    }
}

/* Reads name and type, and checks that the value is of that type; files from before 2017 have no
 * type. */
static gboolean
take_attribute_type (DynoOnnxStore *store, DynoProtoReader message, const DynoOnnxNode *node,
                     DynoOnnxAttribute *a, GError **error)
{
  g_autofree char *described = dyno_onnx_describe_node (node);
  guint64 type = 0;
  guint held = 0;
  gboolean mixed = FALSE;
  DynoProtoField f;

  while (dyno_proto_has_more (&message))
    {
      if (!dyno_proto_next (&message, &f, error)
          || (f.number == DYNO_ONNX_ATTRIBUTE_NAME
              && !dyno_onnx_take_text (store, &message, &f, &a->name, error))
          || (f.number == DYNO_ONNX_ATTRIBUTE_TYPE
              && !dyno_proto_take_uint (&message, &f, &type, error)))
        return FALSE;
      for (guint i = 0; i < G_N_ELEMENTS (attribute_types); i++)
        if (attribute_types[i].field == f.number)
          {
            mixed |= held != 0 && held != attribute_types[i].type;
            held = attribute_types[i].type;
          }
    }
  if (!*a->name)
    return dyno_onnx_fail (error, DYNO_ONNX_ERROR_CORRUPT, "%s has an attribute without a name",
                           described);
  if (mixed || (held != 0 && type != 0 && held != type))
    return dyno_onnx_fail (error, DYNO_ONNX_ERROR_CORRUPT,
                           "attribute “%s” of %s has a value of another type than it says", a->name,
                           described);
  a->type = type != 0 ? (guint) MIN (type, G_MAXUINT) : held;
  if (a->type == 0 || a->type > DYNO_ONNX_IS_TYPE_PROTOS)
    return dyno_onnx_fail (error, DYNO_ONNX_ERROR_CORRUPT, "attribute “%s” of %s has no known type",
                           a->name, described);
  return TRUE;
}

static gboolean
take_attribute (DynoOnnxStore *store, DynoProtoReader message, const DynoOnnxNode *node,
                DynoOnnxAttribute *a, GError **error)
{
  gsize element_bytes = 1;
  guint64 n = 0;
  gpointer list;
  DynoProtoField f;

  *a = (DynoOnnxAttribute){ .name = "", .s = "" };
  if (!take_attribute_type (store, message, node, a, error))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (attribute_types); i++)
    if (attribute_types[i].type == a->type && attribute_types[i].refused)
      {
        refuse_attribute (store, node, a, attribute_types[i].refused);
        return TRUE;
      }
  if (!count_list (message, &n, &element_bytes, error)
      || !dyno_onnx_count (&store->n_numbers, n, DYNO_ONNX_MAX_NUMBERS, "numbers in attributes",
                           error))
    return FALSE;
  list = dyno_onnx_allocate (store, n, element_bytes, error);
  if (n > 0 && !list)
    return FALSE;
  while (dyno_proto_has_more (&message))
    {
      if (!dyno_proto_next (&message, &f, error)
          || !take_attribute_field (store, &message, &f, a, list, error))
        return FALSE;
      if (f.number == DYNO_ONNX_ATTRIBUTE_REFERENCE && f.size > 0)
        refuse_attribute (store, node, a, "a function's");
    }
  if (a->type == DYNO_ONNX_IS_TENSOR && !a->t)
    return dyno_onnx_fail (error, DYNO_ONNX_ERROR_CORRUPT, "attribute “%s” of %s has no tensor",
                           a->name, node->op_type);
  return TRUE;
}

/* --- nodes ------------------------------------------------------------------------------------ */

static gboolean
take_node_texts (DynoOnnxStore *store, DynoProtoReader message, DynoOnnxNode *node,
                 const char **inputs, const char **outputs, GError **error)
{
  DynoProtoField f;
  guint in = 0, out = 0;

  while (dyno_proto_has_more (&message))
    {
      const char **text = NULL;

      if (!dyno_proto_next (&message, &f, error))
        return FALSE;
      if (f.number == DYNO_ONNX_NODE_INPUT)
        text = &inputs[in++];
      else if (f.number == DYNO_ONNX_NODE_OUTPUT)
        text = &outputs[out++];
      else if (f.number == DYNO_ONNX_NODE_NAME)
        text = &node->name;
      else if (f.number == DYNO_ONNX_NODE_OP)
        text = &node->op_type;
      else if (f.number == DYNO_ONNX_NODE_DOMAIN)
        text = &node->domain;
      if (text && !dyno_onnx_take_text (store, &message, &f, text, error))
        return FALSE;
    }
  if (g_str_equal (node->domain, "ai.onnx"))
    node->domain = "";
  return TRUE;
}

static gboolean
take_attributes (DynoOnnxStore *store, DynoProtoReader message, const DynoOnnxNode *node,
                 DynoOnnxAttribute *attributes, GError **error)
{
  g_autoptr (GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);
  DynoProtoReader inner;
  DynoProtoField f;
  guint n = 0;

  while (dyno_proto_has_more (&message))
    {
      if (!dyno_proto_next (&message, &f, error))
        return FALSE;
      if (f.number != DYNO_ONNX_NODE_ATTRIBUTE)
        continue;
      if (!dyno_proto_enter (&message, &f, "an attribute", &inner, error)
          || !take_attribute (store, inner, node, &attributes[n], error))
        return FALSE;
      if (!g_hash_table_add (names, (gpointer) attributes[n++].name))
        {
          g_autofree char *described = dyno_onnx_describe_node (node);

          return dyno_onnx_fail (error, DYNO_ONNX_ERROR_CORRUPT, "%s has two attributes “%s”",
                                 described, attributes[n - 1].name);
        }
    }
  return TRUE;
}

static gboolean
take_node (DynoOnnxStore *store, DynoProtoReader message, DynoOnnxNode *node, GError **error)
{
  guint counts[DYNO_ONNX_NODE_DOMAIN + 1] = { 0 };
  DynoOnnxAttribute *attributes;
  const char **links;
  guint n_links;

  *node = (DynoOnnxNode){ .name = "", .op_type = "", .domain = "" };
  if (!dyno_onnx_count_fields (message, counts, G_N_ELEMENTS (counts), error))
    return FALSE;
  n_links = counts[DYNO_ONNX_NODE_INPUT] + counts[DYNO_ONNX_NODE_OUTPUT];
  if (!dyno_onnx_count (&store->n_links, n_links, DYNO_ONNX_MAX_LINKS,
                        "inputs and outputs of nodes", error)
      || !dyno_onnx_count (&store->n_attributes, counts[DYNO_ONNX_NODE_ATTRIBUTE],
                           DYNO_ONNX_MAX_ATTRIBUTES, "attributes", error))
    return FALSE;
  links = dyno_onnx_allocate (store, n_links, sizeof *links, error);
  if (n_links > 0 && !links)
    return FALSE;
  attributes =
      dyno_onnx_allocate (store, counts[DYNO_ONNX_NODE_ATTRIBUTE], sizeof *attributes, error);
  if (counts[DYNO_ONNX_NODE_ATTRIBUTE] > 0 && !attributes)
    return FALSE;
  node->inputs = links;
  node->outputs = links ? links + counts[DYNO_ONNX_NODE_INPUT] : NULL;
  if (!take_node_texts (store, message, node, links,
                        links ? links + counts[DYNO_ONNX_NODE_INPUT] : NULL, error))
    return FALSE;
  node->n_inputs = counts[DYNO_ONNX_NODE_INPUT];
  node->n_outputs = counts[DYNO_ONNX_NODE_OUTPUT];
  if (!*node->op_type)
    {
      g_autofree char *described = dyno_onnx_describe_node (node);

      return dyno_onnx_fail (error, DYNO_ONNX_ERROR_CORRUPT, "%s has no operator", described);
    }
  node->attributes = attributes;
  node->n_attributes = counts[DYNO_ONNX_NODE_ATTRIBUTE];
  return take_attributes (store, message, node, attributes, error);
}

/* --- values ----------------------------------------------------------------------------------- */

static gboolean
take_dim (DynoOnnxStore *store, DynoProtoReader message, DynoOnnxDim *dim, GError **error)
{
  DynoProtoField f;

  *dim = (DynoOnnxDim){ -1, "" };
  while (dyno_proto_has_more (&message))
    if (!dyno_proto_next (&message, &f, error)
        || (f.number == DYNO_ONNX_DIM_VALUE
            && !dyno_onnx_take_int (&message, &f, &dim->value, error))
        || (f.number == DYNO_ONNX_DIM_NAME
            && !dyno_onnx_take_text (store, &message, &f, &dim->name, error)))
      return FALSE;
  dim->value = MAX (dim->value, -1);
  return TRUE;
}

static gboolean
take_shape (DynoOnnxStore *store, DynoProtoReader message, DynoOnnxValue *value, GError **error)
{
  guint counts[DYNO_ONNX_SHAPE_DIM + 1] = { 0 };
  DynoOnnxDim *dims;
  DynoProtoReader inner;
  DynoProtoField f;

  if (!dyno_onnx_count_fields (message, counts, G_N_ELEMENTS (counts), error))
    return FALSE;
  if (counts[DYNO_ONNX_SHAPE_DIM] > DYNO_ONNX_MAX_DIMS)
    return dyno_onnx_fail (error, DYNO_ONNX_ERROR_LIMIT, "value “%s” has more than %u axes",
                           value->name, DYNO_ONNX_MAX_DIMS);
  dims = dyno_onnx_allocate (store, counts[DYNO_ONNX_SHAPE_DIM], sizeof *dims, error);
  if (counts[DYNO_ONNX_SHAPE_DIM] > 0 && !dims)
    return FALSE;
  value->dims = dims;
  value->n_dims = 0;
  value->has_shape = TRUE;
  while (dyno_proto_has_more (&message))
    if (!dyno_proto_next (&message, &f, error)
        || (f.number == DYNO_ONNX_SHAPE_DIM
            && (!dyno_proto_enter (&message, &f, "an axis", &inner, error)
                || !take_dim (store, inner, &dims[value->n_dims++], error))))
      return FALSE;
  return TRUE;
}

static gboolean
take_tensor_type (DynoOnnxStore *store, DynoProtoReader message, DynoOnnxValue *value,
                  GError **error)
{
  DynoProtoReader shape;
  guint64 type = 0;
  DynoProtoField f;

  while (dyno_proto_has_more (&message))
    if (!dyno_proto_next (&message, &f, error)
        || (f.number == DYNO_ONNX_TENSOR_TYPE_ELEMENT
            && !dyno_proto_take_uint (&message, &f, &type, error))
        || (f.number == DYNO_ONNX_TENSOR_TYPE_SHAPE
            && (!dyno_proto_enter (&message, &f, "a shape", &shape, error)
                || !take_shape (store, shape, value, error))))
      return FALSE;
  value->type = (guint) MIN (type, G_MAXUINT);
  return TRUE;
}

/* The name is read first, since errors of the shape contain it. */
static gboolean
take_value (DynoOnnxStore *store, DynoProtoReader message, DynoOnnxValue *value, GError **error)
{
  DynoProtoReader whole = message, type = message, inner;
  gboolean has_type = FALSE;
  DynoProtoField f;

  *value = (DynoOnnxValue){ .name = "" };
  while (dyno_proto_has_more (&whole))
    {
      if (!dyno_proto_next (&whole, &f, error)
          || (f.number == DYNO_ONNX_VALUE_NAME
              && !dyno_onnx_take_text (store, &whole, &f, &value->name, error)))
        return FALSE;
      if (f.number != DYNO_ONNX_VALUE_TYPE)
        continue;
      has_type = TRUE;
      if (!dyno_proto_enter (&whole, &f, "a type", &type, error))
        return FALSE;
    }
  while (has_type && dyno_proto_has_more (&type))
    if (!dyno_proto_next (&type, &f, error)
        || (f.number == DYNO_ONNX_TYPE_TENSOR
            && (!dyno_proto_enter (&type, &f, "the type of a tensor", &inner, error)
                || !take_tensor_type (store, inner, value, error))))
      return FALSE;
  return TRUE;
}

/* --- graph ------------------------------------------------------------------------------------ */

typedef struct {
  DynoOnnxNode *nodes;
  DynoOnnxTensor *initializers;
  DynoOnnxValue *inputs, *outputs, *values;
} Arrays;

static gboolean
allocate (DynoOnnxStore *store, const guint *counts, Arrays *a, GError **error)
{
  guint n_nodes = counts[DYNO_ONNX_GRAPH_NODE], n_tensors = counts[DYNO_ONNX_GRAPH_INITIALIZER],
        n_inputs = counts[DYNO_ONNX_GRAPH_INPUT], n_outputs = counts[DYNO_ONNX_GRAPH_OUTPUT],
        n_values = counts[DYNO_ONNX_GRAPH_VALUE];
  guint64 nodes = 0;

  if (!dyno_onnx_count (&nodes, n_nodes, DYNO_ONNX_MAX_NODES, "nodes", error)
      || !dyno_onnx_count (&store->n_tensors, n_tensors, DYNO_ONNX_MAX_TENSORS, "tensors", error)
      || !dyno_onnx_count (&store->n_values, (guint64) n_inputs + n_outputs + n_values,
                           DYNO_ONNX_MAX_VALUES, "values", error))
    return FALSE;
  a->nodes = dyno_onnx_allocate (store, n_nodes, sizeof *a->nodes, error);
  if (n_nodes > 0 && !a->nodes)
    return FALSE;
  a->initializers = dyno_onnx_allocate (store, n_tensors, sizeof *a->initializers, error);
  if (n_tensors > 0 && !a->initializers)
    return FALSE;
  a->inputs =
      dyno_onnx_allocate (store, (gsize) n_inputs + n_outputs + n_values, sizeof *a->inputs, error);
  if ((n_inputs > 0 || n_outputs > 0 || n_values > 0) && !a->inputs)
    return FALSE;
  a->outputs = a->inputs ? a->inputs + n_inputs : NULL;
  a->values = a->inputs ? a->outputs + n_outputs : NULL;
  store->model.nodes = a->nodes;
  store->model.initializers = a->initializers;
  store->model.inputs = a->inputs;
  store->model.outputs = a->outputs;
  store->model.values = a->values;
  return TRUE;
}

static gboolean
take_graph_field (DynoOnnxStore *store, const DynoProtoReader *message, const DynoProtoField *f,
                  const Arrays *a, GError **error)
{
  DynoOnnxModel *model = &store->model;
  DynoProtoReader inner;

  switch (f->number)
    {
    case DYNO_ONNX_GRAPH_NODE:
      return dyno_proto_enter (message, f, "a node", &inner, error)
             && take_node (store, inner, &a->nodes[model->n_nodes++], error);
    case DYNO_ONNX_GRAPH_NAME:
      return dyno_onnx_take_text (store, message, f, &model->graph_name, error);
    case DYNO_ONNX_GRAPH_INITIALIZER:
      return dyno_proto_enter (message, f, "a tensor", &inner, error)
             && dyno_onnx_take_tensor (store, inner, &a->initializers[model->n_initializers++],
                                       error);
    case DYNO_ONNX_GRAPH_INPUT:
      return dyno_proto_enter (message, f, "an input", &inner, error)
             && take_value (store, inner, &a->inputs[model->n_inputs++], error);
    case DYNO_ONNX_GRAPH_OUTPUT:
      return dyno_proto_enter (message, f, "an output", &inner, error)
             && take_value (store, inner, &a->outputs[model->n_outputs++], error);
    case DYNO_ONNX_GRAPH_VALUE:
      return dyno_proto_enter (message, f, "a value", &inner, error)
             && take_value (store, inner, &a->values[model->n_values++], error);
    case DYNO_ONNX_GRAPH_SPARSE:
      return dyno_onnx_fail (error, DYNO_ONNX_ERROR_UNSUPPORTED,
                             "it has sparse initialisers, which are not read");
    default:
      return TRUE;
    }
}

gboolean
dyno_onnx_take_graph (DynoOnnxStore *store, DynoProtoReader message, GError **error)
{
  gboolean tensors_only = store->parts == DYNO_ONNX_READ_TENSORS;
  guint counts[DYNO_ONNX_GRAPH_VALUE + 1] = { 0 };
  Arrays arrays = { 0 };
  DynoProtoField f;

  if (!dyno_onnx_count_fields (message, counts, G_N_ELEMENTS (counts), error))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (counts) && tensors_only; i++)
    if (i != DYNO_ONNX_GRAPH_INITIALIZER)
      counts[i] = 0;
  if (!allocate (store, counts, &arrays, error))
    return FALSE;
  while (dyno_proto_has_more (&message))
    if (!dyno_proto_next (&message, &f, error)
        || ((!tensors_only || f.number == DYNO_ONNX_GRAPH_INITIALIZER)
            && !take_graph_field (store, &message, &f, &arrays, error)))
      return FALSE;
  if (store->n_refused > MOST_REFUSED)
    g_string_append_printf (store->refused, " and %u more", store->n_refused - MOST_REFUSED);
  if (store->n_refused > 0)
    return dyno_onnx_fail (error, DYNO_ONNX_ERROR_UNSUPPORTED,
                           "it has attributes that are not read: %s", store->refused->str);
  return TRUE;
}
