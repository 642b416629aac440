/* SPDX-License-Identifier: MIT */
/* The checks of a whole model: names, values, tensors, and the order of its nodes.
 * Nodes are sorted by a walk that visits a node's producers before the node, in the order of the
 * file: a file that is sorted keeps its order.  The walk keeps its path in an array, since a chain
 * of nodes may be as long as the file. */
#include "model-private.h"
#include <string.h>

#define MOST_NAMED 8 /* nodes of a cycle that an error lists */

typedef struct {
  DynoOnnxStore *store;
  GHashTable *producers; /* the name of a value to its node, or to `given` */
} Checker;

static const DynoOnnxNode given; /* stands for the producer of inputs and initialisers */

/* --- names ------------------------------------------------------------------------------------ */

static gboolean
check_inputs (Checker *c, GError **error)
{
  const DynoOnnxModel *model = &c->store->model;

  for (guint i = 0; i < model->n_inputs; i++)
    {
      const char *name = model->inputs[i].name;

      if (!*name)
        return dyno_onnx_fail (error, DYNO_ONNX_ERROR_CORRUPT, "input %u has no name", i);
      if (model->inputs[i].type == 0)
        return dyno_onnx_fail (error, DYNO_ONNX_ERROR_UNSUPPORTED,
                               "input “%s” is no tensor of a known type", name);
      if (!g_hash_table_insert (c->producers, (gpointer) name, (gpointer) &given))
        return dyno_onnx_fail (error, DYNO_ONNX_ERROR_CORRUPT, "it has two inputs “%s”", name);
    }
  return TRUE;
}

static gboolean
check_initializers (Checker *c, GError **error)
{
  const DynoOnnxModel *model = &c->store->model;

  for (guint i = 0; i < model->n_initializers; i++)
    {
      const char *name = model->initializers[i].name;

      if (!*name)
        return dyno_onnx_fail (error, DYNO_ONNX_ERROR_CORRUPT, "initialiser %u has no name", i);
      if (g_hash_table_lookup (c->store->initializers, name) != &model->initializers[i])
        return dyno_onnx_fail (error, DYNO_ONNX_ERROR_CORRUPT, "it has two initialisers “%s”",
                               name);
      g_hash_table_insert (c->producers, (gpointer) name, (gpointer) &given);
    }
  return TRUE;
}

static gboolean
refuse_second (const DynoOnnxNode *first, const DynoOnnxNode *second, const char *name,
               GError **error)
{
  g_autofree char *a = first == &given ? g_strdup ("an input or initialiser")
                                       : dyno_onnx_describe_node (first),
                  *b = dyno_onnx_describe_node (second);

  return dyno_onnx_fail (error, DYNO_ONNX_ERROR_CORRUPT,
                         "value “%s” is made twice: by %s and by %s", name, a, b);
}

static gboolean
check_node_outputs (Checker *c, GError **error)
{
  const DynoOnnxModel *model = &c->store->model;

  for (guint i = 0; i < model->n_nodes; i++)
    {
      const DynoOnnxNode *node = &model->nodes[i];

      for (guint k = 0; k < node->n_outputs; k++)
        {
          const DynoOnnxNode *other = g_hash_table_lookup (c->producers, node->outputs[k]);

          if (other)
            return refuse_second (other, node, node->outputs[k], error);
          if (*node->outputs[k])
            g_hash_table_insert (c->producers, (gpointer) node->outputs[k], (gpointer) node);
        }
    }
  return TRUE;
}

/* Checks each node's inputs and opset, and the outputs of the graph. */
static gboolean
check_uses (Checker *c, GError **error)
{
  const DynoOnnxModel *model = &c->store->model;
  g_autoptr (GHashTable) outputs = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < model->n_nodes; i++)
    {
      const DynoOnnxNode *node = &model->nodes[i];
      g_autofree char *described = dyno_onnx_describe_node (node);

      if (dyno_onnx_model_get_opset (model, node->domain) == 0)
        return dyno_onnx_fail (error, DYNO_ONNX_ERROR_CORRUPT,
                               "%s is of the operators “%s”, of which the file names no version",
                               described, *node->domain ? node->domain : "ai.onnx");
      for (guint k = 0; k < node->n_inputs; k++)
        if (*node->inputs[k] && !g_hash_table_contains (c->producers, node->inputs[k]))
          return dyno_onnx_fail (error, DYNO_ONNX_ERROR_CORRUPT,
                                 "%s reads the value “%s”, which nothing makes", described,
                                 node->inputs[k]);
    }
  for (guint i = 0; i < model->n_outputs; i++)
    {
      const char *name = model->outputs[i].name;

      if (!g_hash_table_contains (c->producers, name))
        return dyno_onnx_fail (error, DYNO_ONNX_ERROR_CORRUPT,
                               "output “%s” is a value that nothing makes", name);
      if (!g_hash_table_add (outputs, (gpointer) name))
        return dyno_onnx_fail (error, DYNO_ONNX_ERROR_CORRUPT, "it has two outputs “%s”", name);
    }
  return TRUE;
}

static gboolean
check_values (Checker *c, GError **error)
{
  const DynoOnnxModel *model = &c->store->model;
  g_autoptr (GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < model->n_values; i++)
    if (!g_hash_table_add (names, (gpointer) model->values[i].name))
      return dyno_onnx_fail (error, DYNO_ONNX_ERROR_CORRUPT, "it describes the value “%s” twice",
                             model->values[i].name);
  return TRUE;
}

/* --- order ------------------------------------------------------------------------------------ */

typedef enum { UNSEEN = 0, ON_PATH, DONE } Mark;

typedef struct {
  guint node, input; /* the next input to look at */
} Place;

static gboolean
refuse_circle (const DynoOnnxModel *model, const Place *path, guint n, guint first, GError **error)
{
  g_autoptr (GString) names = g_string_new (NULL);
  guint begin = n - 1;

  while (path[begin].node != first)
    begin--;
  for (guint i = begin; i < n && i < begin + MOST_NAMED; i++)
    {
      g_autofree char *described = dyno_onnx_describe_node (&model->nodes[path[i].node]);

      g_string_append_printf (names, "%s%s", i > begin ? ", " : "", described);
    }
  if (n - begin > MOST_NAMED)
    g_string_append_printf (names, " and %u more", n - begin - MOST_NAMED);
  return dyno_onnx_fail (error, DYNO_ONNX_ERROR_CORRUPT,
                         "nodes wait for each other's outputs in a circle: %s", names->str);
}

/* Appends a node to the order, after the producers of its inputs. */
static gboolean
visit (Checker *c, guint start, guint8 *marks, Place *path, guint *order, guint *n_order,
       GError **error)
{
  const DynoOnnxModel *model = &c->store->model;
  guint n = 0;

  path[n++] = (Place){ start, 0 };
  marks[start] = ON_PATH;
  while (n > 0)
    {
      Place *at = &path[n - 1];
      const DynoOnnxNode *node = &model->nodes[at->node], *producer;
      guint other;

      if (at->input == node->n_inputs)
        {
          marks[at->node] = DONE;
          order[(*n_order)++] = at->node;
          n--;
          continue;
        }
      producer = g_hash_table_lookup (c->producers, node->inputs[at->input++]);
      if (!producer || producer == &given)
        continue;
      other = (guint) (producer - model->nodes);
      if (marks[other] == ON_PATH)
        return refuse_circle (model, path, n, other, error);
      if (marks[other] == DONE)
        continue;
      marks[other] = ON_PATH;
      path[n++] = (Place){ other, 0 };
    }
  return TRUE;
}

static gboolean
sort_nodes (Checker *c, GError **error)
{
  DynoOnnxModel *model = &c->store->model;
  g_autofree guint8 *marks = g_new0 (guint8, MAX (1, model->n_nodes));
  g_autofree Place *path = g_new (Place, MAX (1, model->n_nodes));
  g_autofree guint *order = g_new (guint, MAX (1, model->n_nodes));
  DynoOnnxNode *sorted;
  guint n = 0;

  for (guint i = 0; i < model->n_nodes; i++)
    if (marks[i] == UNSEEN && !visit (c, i, marks, path, order, &n, error))
      return FALSE;
  sorted = dyno_onnx_allocate (c->store, model->n_nodes, sizeof *sorted, error);
  if (model->n_nodes > 0 && !sorted)
    return FALSE;
  for (guint i = 0; i < n; i++)
    sorted[i] = model->nodes[order[i]];
  model->nodes = sorted;
  return TRUE;
}

/* --- tensors ---------------------------------------------------------------------------------- */

static gboolean
check_tensor (Checker *c, const DynoOnnxTensor *tensor, const char *where, GError **error)
{
  guint64 n = 0, size = 0;

  return dyno_onnx_check_tensor (c->store, tensor, where, error)
         && dyno_onnx_tensor_get_size (tensor, &n, &size)
         && dyno_onnx_count (&c->store->data_bytes, size, DYNO_ONNX_MAX_DATA, "bytes of tensors",
                             error);
}

static gboolean
check_tensors (Checker *c, GError **error)
{
  const DynoOnnxModel *model = &c->store->model;

  for (guint i = 0; i < model->n_initializers; i++)
    {
      g_autofree char *where = g_strdup_printf ("tensor “%s”", model->initializers[i].name);

      if (!check_tensor (c, &model->initializers[i], where, error))
        return FALSE;
    }
  for (guint i = 0; i < model->n_nodes; i++)
    for (guint k = 0; k < model->nodes[i].n_attributes; k++)
      {
        const DynoOnnxAttribute *a = &model->nodes[i].attributes[k];
        g_autofree char *described = a->t ? dyno_onnx_describe_node (&model->nodes[i]) : NULL,
                        *where = a->t ? g_strdup_printf ("the tensor of attribute “%s” of %s",
                                                         a->name, described)
                                      : NULL;

        if (a->t && !check_tensor (c, a->t, where, error))
          return FALSE;
      }
  return TRUE;
}

gboolean
dyno_onnx_check_model (DynoOnnxStore *store, GError **error)
{
  g_autoptr (GHashTable) producers = g_hash_table_new (g_str_hash, g_str_equal);
  Checker c = { store, producers };

  return check_inputs (&c, error) && check_initializers (&c, error)
         && check_node_outputs (&c, error) && check_uses (&c, error) && check_values (&c, error)
         && check_tensors (&c, error) && sort_nodes (&c, error);
}
