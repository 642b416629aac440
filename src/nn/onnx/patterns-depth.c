/* SPDX-License-Identifier: MIT */
/* Random masks that exports in PyTorch's training mode write: x * (Cast (random < p) / p).  A mask of
 * numbers for each value of x is a dropout.  One for each sample is stochastic depth, which Dyno does not
 * have: x passes through. */
#include "import-private.h"
#include "text.h"
#include <math.h>

#define MOST_NODES 4 /* of a mask: random numbers, comparison, Cast, Div */

typedef struct {
  DynoImport *import;
  GHashTable *producers; /* name of a value to its node */
  const DynoOnnxNode *inside[MOST_NODES];
  guint n_inside;
  double keep; /* the probability that a value stays; NAN: it is not known */
  guint n_depth;
} Mask;

/* The node of the operator that makes the value, which nothing but `reader` reads; NULL: there is
 * none. */
static const DynoOnnxNode *
step (Mask *m, const DynoOnnxNode *reader, guint i, const char *op_type)
{
  const char *name = i < reader->n_inputs ? reader->inputs[i] : "";
  const DynoOnnxNode *made = g_hash_table_lookup (m->producers, name);

  if (!made || !g_str_equal (made->op_type, op_type) || made->n_inputs < 1 || *made->domain
      || GPOINTER_TO_UINT (g_hash_table_lookup (m->import->readers, name)) != 1
      || m->n_inside == MOST_NODES)
    return NULL;
  m->inside[m->n_inside++] = made;
  return made;
}

/* Input i as one number; NAN: it is none. */
static double
number (Mask *m, const DynoOnnxNode *node, guint i)
{
  const char *name = i < node->n_inputs ? node->inputs[i] : "";
  const DynoOnnxNode *made = g_hash_table_lookup (m->producers, name);
  const DynoOnnxAttribute *value = made && g_str_equal (made->op_type, "Constant")
                                       ? dyno_onnx_node_find_attribute (made, "value")
                                       : NULL;
  const DynoOnnxTensor *tensor =
      value ? value->t : dyno_onnx_model_find_initializer (m->import->model, name);
  g_autoptr (DynoConstant) constant = tensor ? dyno_constant_read (m->import->model, tensor) : NULL;

  return constant && constant->count == 1 ? dyno_constant_float (constant, 0) : (double) NAN;
}

/* The node of the random numbers of a mask at input i; NULL: there is no mask. */
static const DynoOnnxNode *
find_random (Mask *m, const DynoOnnxNode *product, guint i)
{
  const DynoOnnxNode *reader = product, *random;
  const DynoOnnxNode *quotient = step (m, reader, i, "Div");
  double share = quotient ? number (m, quotient, 1) : 1;

  reader = quotient ? quotient : reader;
  i = quotient ? 0 : i;
  const DynoOnnxNode *cast = step (m, reader, i, "Cast");
  reader = cast ? cast : reader;
  i = cast ? 0 : i;
  const DynoOnnxNode *less = step (m, reader, i, "Less");
  if (!less)
    {
      m->keep = quotient ? share : (double) NAN;
      return step (m, reader, i, "Bernoulli");
    }
  m->keep = number (m, less, 1);
  random = step (m, less, 0, "RandomUniformLike");
  /* Another share than that of the values that stay would be a factor. */
  return random && m->keep > 0 && m->keep <= 1 && (!quotient || fabs (share - m->keep) < 1e-6)
                 && dyno_import_float (random, "low", 0) == 0
                 && dyno_import_float (random, "high", 1) == 1
             ? random
             : NULL;
}

static gboolean
read_depth (DynoImport *import, const DynoOnnxNode *node,
            const DynoImportPattern *pattern G_GNUC_UNUSED, DynoImportValue *x)
{
  return dyno_import_output (import, node, 0, x->tensor, &x->view, NULL);
}

static gboolean
read_dropout (DynoImport *import, const DynoOnnxNode *node, const DynoImportPattern *pattern,
              DynoImportValue *x)
{
  return dyno_import_output (
      import, node, 0,
      dyno_dropout (import->graph, x->tensor, dyno_import_shown_name (node), pattern->probability),
      &x->view, NULL);
}

static gboolean
match (Mask *m, const DynoOnnxNode *node)
{
  if (!g_str_equal (node->op_type, "Mul") || node->n_inputs != 2)
    return FALSE;
  for (guint k = 0; k < 2; k++)
    {
      const char *x = node->inputs[1 - k];
      m->n_inside = 0;
      const DynoOnnxNode *random = find_random (m, node, k);
      if (!random)
        continue;
      gboolean is_dropout =
          g_str_equal (random->op_type, "RandomUniformLike") && g_str_equal (random->inputs[0], x);
      DynoImportPattern *pattern = g_new (DynoImportPattern, 1);
      *pattern = (DynoImportPattern){ .input = x,
                                      .probability = is_dropout ? 1 - m->keep : 0,
                                      .read = is_dropout ? read_dropout : read_depth };
      g_hash_table_insert (m->import->patterns, (gpointer) node, pattern);
      for (guint i = 0; i < m->n_inside; i++)
        g_hash_table_add (m->import->absorbed, (gpointer) m->inside[i]);
      m->n_depth += !is_dropout;
      return TRUE;
    }
  return FALSE;
}

void
dyno_import_find_depth (DynoImport *import)
{
  g_autoptr (GHashTable) producers = g_hash_table_new (g_str_hash, g_str_equal);
  const DynoOnnxModel *model = import->model;
  Mask m = { .import = import, .producers = producers };

  for (guint i = 0; i < model->n_nodes; i++)
    {
      const DynoOnnxNode *node = &model->nodes[i];
      if (node->n_outputs > 0 && g_hash_table_contains (import->needed, node)
          && !g_hash_table_contains (import->patterns, node))
        match (&m, node);
      for (guint k = 0; k < node->n_outputs; k++)
        g_hash_table_insert (producers, (gpointer) node->outputs[k], (gpointer) node);
    }
  if (m.n_depth > 0)
    dyno_import_note (import,
                      "stochastic depth is left out: %u %s, which PyTorch skips at random in "
                      "training, always %s part",
                      m.n_depth, dyno_plural (m.n_depth, "branch", "branches"),
                      dyno_plural (m.n_depth, "takes", "take"));
}
