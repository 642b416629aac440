/* SPDX-License-Identifier: MIT */
/* Gives each node of a network weights of its own.
 *
 * Exporters store equal weights, such as all running means of a network that was never trained,
 * only once: the other ones are Identity nodes of the stored weight, or several nodes read it.
 * Here each Identity of a weight becomes a weight with the name of its output, which is the name
 * that the weight had in the program, and a second reader of a vector gets a copy, "name@2".  A
 * matrix that several nodes read is not copied: those nodes share it. */
#include "model-private.h"
#include <string.h>

typedef struct {
  DynoOnnxStore *store;
  gboolean bare;       /* the file has no weights: inputs after the first stand for them */
  GArray *tensors;     /* DynoOnnxTensor; of a bare network DynoOnnxValue */
  GHashTable *sources; /* name of a weight to 1 + its index in tensors */
  GHashTable *read;    /* name of a weight to the number of its readers so far */
} Weights;

/* The index of a weight in tensors; -1: no weight has this name. */
static gint
find_source (const Weights *w, const char *name)
{
  return GPOINTER_TO_INT (g_hash_table_lookup (w->sources, name)) - 1;
}

static void
add_source (Weights *w, const char *name, guint i)
{
  g_hash_table_insert (w->sources, (gpointer) name, GINT_TO_POINTER ((gint) i + 1));
}

static void
find_sources (Weights *w)
{
  const DynoOnnxModel *model = &w->store->model;

  if (w->bare)
    {
      g_array_append_vals (w->tensors, model->inputs, model->n_inputs);
      for (guint i = 1; i < model->n_inputs; i++)
        if (dyno_onnx_type_is_float (model->inputs[i].type) && model->inputs[i].n_dims > 0)
          add_source (w, model->inputs[i].name, i);
      return;
    }
  g_array_append_vals (w->tensors, model->initializers, model->n_initializers);
  for (guint i = 0; i < model->n_initializers; i++)
    if (dyno_onnx_type_is_float (model->initializers[i].type) && model->initializers[i].n_dims > 0)
      add_source (w, model->initializers[i].name, i);
}

/* Adds a weight of this name with the values of weight i. */
static gboolean
copy_source (Weights *w, gint i, const char *name, GError **error)
{
  if (!dyno_onnx_count (&w->store->n_tensors, 1, DYNO_ONNX_MAX_TENSORS, "tensors", error))
    return FALSE;
  add_source (w, name, w->tensors->len);
  if (w->bare)
    {
      DynoOnnxValue value = g_array_index (w->tensors, DynoOnnxValue, i);
      value.name = name;
      g_array_append_val (w->tensors, value);
      return TRUE;
    }
  DynoOnnxTensor tensor = g_array_index (w->tensors, DynoOnnxTensor, i);
  tensor.name = name;
  g_array_append_val (w->tensors, tensor);
  return TRUE;
}

/* TRUE: at most one axis of the weight is not 1. */
static gboolean
is_vector (const Weights *w, gint i)
{
  guint n = 0;

  if (w->bare)
    {
      const DynoOnnxValue *value = &g_array_index (w->tensors, DynoOnnxValue, i);
      for (guint k = 0; k < value->n_dims; k++)
        n += value->dims[k].value != 1;
      return n <= 1;
    }
  const DynoOnnxTensor *tensor = &g_array_index (w->tensors, DynoOnnxTensor, i);
  for (guint k = 0; k < tensor->n_dims; k++)
    n += tensor->dims[k] != 1;
  return n <= 1;
}

/* Gives a node a copy of the vectors that other nodes have read before.  Nodes that take parts of a
 * vector, such as the gates of a bias, write into it, or ask for its size, read the same one. */
static gboolean
split_inputs (Weights *w, DynoOnnxNode *node, GHashTable *names, GError **error)
{
  static const char *const takers[] = { "Gather", "GatherND", "ScatterND", "Shape",
                                        "Slice",  "Split",    NULL };

  if (g_strv_contains (takers, node->op_type))
    return TRUE;
  for (guint k = 0; k < node->n_inputs; k++)
    {
      const char *name = node->inputs[k];
      gint i = find_source (w, name);
      if (i < 0 || !is_vector (w, i))
        continue;
      guint n = GPOINTER_TO_UINT (g_hash_table_lookup (w->read, name)) + 1;
      g_hash_table_insert (w->read, (gpointer) name, GUINT_TO_POINTER (n));
      if (n == 1)
        continue;
      g_autofree char *own = g_strdup_printf ("%s@%u", name, n);
      if (g_hash_table_contains (names, own))
        continue; /* the file has a value of this name: the nodes share the weight */
      const char *kept = g_string_chunk_insert (w->store->texts, own);
      if (!copy_source (w, i, kept, error))
        return FALSE;
      ((const char **) node->inputs)[k] = kept;
    }
  return TRUE;
}

/* TRUE: the value is an output of the graph. */
static gboolean
is_result (const DynoOnnxModel *model, const char *name)
{
  for (guint i = 0; i < model->n_outputs; i++)
    if (g_str_equal (model->outputs[i].name, name))
      return TRUE;
  return FALSE;
}

GHashTable *
dyno_onnx_list_names (const DynoOnnxModel *model)
{
  GHashTable *names = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < model->n_inputs; i++)
    g_hash_table_add (names, (gpointer) model->inputs[i].name);
  for (guint i = 0; i < model->n_initializers; i++)
    g_hash_table_add (names, (gpointer) model->initializers[i].name);
  for (guint i = 0; i < model->n_nodes; i++)
    for (guint k = 0; k < model->nodes[i].n_outputs; k++)
      g_hash_table_add (names, (gpointer) model->nodes[i].outputs[k]);
  return names;
}

void
dyno_onnx_index_initializers (DynoOnnxStore *store)
{
  const DynoOnnxModel *model = &store->model;

  g_hash_table_remove_all (store->initializers);
  for (guint i = 0; i < model->n_initializers; i++)
    g_hash_table_insert (store->initializers, (gpointer) model->initializers[i].name,
                         (gpointer) &model->initializers[i]);
}

static gboolean
split_nodes (Weights *w, GError **error)
{
  DynoOnnxModel *model = &w->store->model;
  /* the array belongs to the store, which may change it */
  DynoOnnxNode *nodes = (DynoOnnxNode *) model->nodes;
  g_autoptr (GHashTable) names = dyno_onnx_list_names (model);
  guint kept = 0;

  for (guint n = 0; n < model->n_nodes; n++)
    {
      DynoOnnxNode *node = &nodes[n];
      gboolean same = g_str_equal (node->op_type, "Identity") && *node->domain == '\0'
                      && node->n_inputs == 1 && node->n_outputs == 1;
      gint i = same ? find_source (w, node->inputs[0]) : -1;
      if (i >= 0 && !is_result (model, node->outputs[0]))
        {
          if (!copy_source (w, i, node->outputs[0], error))
            return FALSE;
          continue;
        }
      if (!split_inputs (w, node, names, error))
        return FALSE;
      nodes[kept++] = *node;
    }
  model->n_nodes = kept;
  return TRUE;
}

/* Makes the weights the model's initialisers, or its inputs where the file has no weights. */
static gboolean
store_weights (Weights *w, GError **error)
{
  DynoOnnxModel *model = &w->store->model;
  gsize size = w->bare ? sizeof (DynoOnnxValue) : sizeof (DynoOnnxTensor);
  gpointer block;

  if (w->tensors->len == (w->bare ? model->n_inputs : model->n_initializers))
    return TRUE;
  block = dyno_onnx_allocate (w->store, w->tensors->len, size, error);
  if (!block)
    return FALSE;
  memcpy (block, w->tensors->data, w->tensors->len * size);
  if (w->bare)
    {
      model->inputs = block;
      model->n_inputs = w->tensors->len;
      return TRUE;
    }
  model->initializers = block;
  model->n_initializers = w->tensors->len;
  dyno_onnx_index_initializers (w->store);
  return TRUE;
}

gboolean
dyno_onnx_split_weights (DynoOnnxStore *store, GError **error)
{
  gboolean bare = dyno_onnx_model_is_network (&store->model);
  g_autoptr (GArray) tensors =
      g_array_new (FALSE, FALSE, bare ? sizeof (DynoOnnxValue) : sizeof (DynoOnnxTensor));
  g_autoptr (GHashTable) sources = g_hash_table_new (g_str_hash, g_str_equal),
                         read = g_hash_table_new (g_str_hash, g_str_equal);
  Weights w = {
    .store = store, .bare = bare, .tensors = tensors, .sources = sources, .read = read
  };

  find_sources (&w);
  return split_nodes (&w, error) && store_weights (&w, error);
}
