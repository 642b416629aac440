/* SPDX-License-Identifier: MIT */
/* Random masks that exports in PyTorch's training mode write: x * (Cast (random < p) / p).  A mask
 * with a number for each value of x is a dropout.  A mask with a number for each sample is
 * stochastic depth, which the import leaves out: x passes through. */
#include "patterns-private.h"
#include "text.h"
#include <math.h>

typedef struct {
  DynoMatch match;
  double keep; /* the probability that a value stays; NAN: it is not known */
  guint n_depth;
} Mask;

/* The node of the random numbers of a mask at input i; NULL: there is no mask. */
static const DynoOnnxNode *
find_random (Mask *m, const DynoOnnxNode *product, guint i)
{
  const DynoOnnxNode *reader = product, *random;
  const DynoOnnxNode *quotient = dyno_match_step (&m->match, reader, i, "Div");
  double share = quotient ? dyno_match_number (&m->match, quotient, 1) : 1;

  reader = quotient ? quotient : reader;
  i = quotient ? 0 : i;
  const DynoOnnxNode *cast = dyno_match_step (&m->match, reader, i, "Cast");
  reader = cast ? cast : reader;
  i = cast ? 0 : i;
  const DynoOnnxNode *less = dyno_match_step (&m->match, reader, i, "Less");
  if (!less)
    {
      m->keep = quotient ? share : (double) NAN;
      return dyno_match_step (&m->match, reader, i, "Bernoulli");
    }
  m->keep = dyno_match_number (&m->match, less, 1);
  random = dyno_match_step (&m->match, less, 0, "RandomUniformLike");
  /* If the divisor differed from the share of kept values, the product would have an additional
   * factor. */
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
  /* the square of a mask is not a pattern */
  if (!g_str_equal (node->op_type, "Mul") || node->n_inputs != 2
      || g_str_equal (node->inputs[0], node->inputs[1]))
    return FALSE;
  for (guint k = 0; k < 2; k++)
    {
      const char *x = node->inputs[1 - k];
      m->match.n_inside = 0;
      const DynoOnnxNode *random = find_random (m, node, k);
      if (!random)
        continue;
      gboolean is_dropout =
          g_str_equal (random->op_type, "RandomUniformLike") && g_str_equal (random->inputs[0], x);
      if (!dyno_match_accept (
              &m->match, node,
              &(DynoImportPattern){ .input = x,
                                    .probability = is_dropout ? 1 - m->keep : 0,
                                    .read = is_dropout ? read_dropout : read_depth }))
        continue;
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
  Mask m = { .match = { .import = import, .producers = producers } };

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
