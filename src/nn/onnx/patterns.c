/* SPDX-License-Identifier: MIT */
/* Patterns: several nodes that exports write where Dyno has one op.  A pattern is matched from its
 * last node upwards; no node outside of it may read the values inside of it. */
#include "patterns-private.h"
#include <math.h>
#include <string.h>

const DynoOnnxNode *
dyno_match_step (DynoMatch *m, const DynoOnnxNode *node, guint i, const char *op_type)
{
  const DynoOnnxNode *made =
      i < node->n_inputs ? g_hash_table_lookup (m->producers, node->inputs[i]) : NULL;

  if (!made || !g_str_equal (made->op_type, op_type) || *made->domain
      || m->n_inside == DYNO_IMPORT_MAX_INSIDE || made->n_inputs < 1)
    return NULL;
  for (guint k = 0; k < m->n_inside; k++)
    if (m->inside[k] == made)
      return made;
  m->inside[m->n_inside++] = made;
  return made;
}

double
dyno_match_number (DynoMatch *m, const DynoOnnxNode *node, guint i)
{
  const DynoOnnxTensor *tensor =
      i < node->n_inputs ? dyno_onnx_model_find_initializer (m->import->model, node->inputs[i])
                         : NULL;
  const DynoOnnxNode *made =
      i < node->n_inputs ? g_hash_table_lookup (m->producers, node->inputs[i]) : NULL;
  const DynoOnnxAttribute *value = made && g_str_equal (made->op_type, "Constant")
                                       ? dyno_onnx_node_find_attribute (made, "value")
                                       : NULL;
  g_autoptr (DynoConstant) constant = NULL;

  tensor = value ? value->t : tensor;
  constant = tensor ? dyno_constant_read (m->import->model, tensor) : NULL;
  return constant && constant->count == 1 ? dyno_constant_float (constant, 0) : (double) NAN;
}

/* The input, of a node with two inputs, that is near the wanted number; 2: neither is. */
static guint
input_near (DynoMatch *m, const DynoOnnxNode *node, double wanted)
{
  for (guint i = 0; i < 2 && node->n_inputs == 2; i++)
    if (fabs (dyno_match_number (m, node, i) - wanted) < 1e-3 * fabs (wanted))
      return i;
  return 2;
}

static gboolean
reads (const DynoOnnxNode *node, guint i, const char *name)
{
  return i < node->n_inputs && g_str_equal (node->inputs[i], name);
}

/* TRUE: only the last node and the nodes inside read the outputs of the nodes inside. */
static gboolean
is_closed (DynoMatch *m, const DynoOnnxNode *last)
{
  for (guint k = 0; k < m->n_inside; k++)
    {
      const char *name = m->inside[k]->outputs[0];
      guint n = 0, all = GPOINTER_TO_UINT (g_hash_table_lookup (m->import->readers, name));
      for (guint j = 0; j <= m->n_inside; j++)
        {
          const DynoOnnxNode *reader = j < m->n_inside ? m->inside[j] : last;
          for (guint i = 0; i < reader->n_inputs; i++)
            n += g_str_equal (reader->inputs[i], name);
        }
      if (n != all)
        return FALSE;
    }
  return TRUE;
}

gboolean
dyno_match_accept (DynoMatch *m, const DynoOnnxNode *last, const DynoImportPattern *pattern)
{
  DynoImportPattern *kept;

  if (!is_closed (m, last))
    return FALSE;
  kept = g_new (DynoImportPattern, 1);
  *kept = *pattern;
  kept->n_inside = m->n_inside;
  memcpy (kept->inside, m->inside, sizeof kept->inside);
  g_hash_table_insert (m->import->patterns, (gpointer) last, kept);
  for (guint k = 0; k < m->n_inside; k++)
    g_hash_table_add (m->import->absorbed, (gpointer) m->inside[k]);
  return TRUE;
}

static gboolean
read_activation (DynoImport *import, const DynoOnnxNode *node, const DynoImportPattern *pattern,
                 DynoImportValue *x)
{
  const char *name = dyno_import_shown_name (node);

  return dyno_import_output (import, node, 0,
                             dyno_activation (import->graph, x->tensor, pattern->activation, name),
                             &x->view, NULL);
}

static gboolean
accept_activation (DynoMatch *m, const DynoOnnxNode *last, const char *input,
                   DynoActivation activation)
{
  return dyno_match_accept (
      m, last,
      &(DynoImportPattern){ .input = input, .activation = activation, .read = read_activation });
}

/* x * Sigmoid (x), x * HardSigmoid (x), x * Tanh (Softplus (x)), in either order */
static gboolean
match_gated (DynoMatch *m, const DynoOnnxNode *node)
{
  if (!g_str_equal (node->op_type, "Mul") || node->n_inputs != 2)
    return FALSE;
  for (guint k = 0; k < 2; k++)
    {
      const DynoOnnxNode *gate;
      const char *x = node->inputs[1 - k];

      m->n_inside = 0;
      if ((gate = dyno_match_step (m, node, k, "Sigmoid")) && reads (gate, 0, x))
        return accept_activation (m, node, x, DYNO_ACTIVATION_SILU);
      m->n_inside = 0;
      if ((gate = dyno_match_step (m, node, k, "HardSigmoid")) && reads (gate, 0, x)
          && fabs (dyno_import_float (gate, "alpha", 0.2) - 1.0 / 6) < 1e-6
          && fabs (dyno_import_float (gate, "beta", 0.5) - 0.5) < 1e-6)
        return accept_activation (m, node, x, DYNO_ACTIVATION_HARD_SWISH);
      m->n_inside = 0;
      if ((gate = dyno_match_step (m, node, k, "Tanh"))
          && (gate = dyno_match_step (m, gate, 0, "Softplus")) && reads (gate, 0, x))
        return accept_activation (m, node, x, DYNO_ACTIVATION_MISH);
    }
  return FALSE;
}

/* x * Clip (x + 3, 0, 6) / 6 */
static gboolean
match_hard_swish (DynoMatch *m, const DynoOnnxNode *node)
{
  const DynoOnnxNode *product, *clip, *sum;

  m->n_inside = 0;
  if (!g_str_equal (node->op_type, "Div") || input_near (m, node, 6) != 1
      || !(product = dyno_match_step (m, node, 0, "Mul")) || product->n_inputs != 2)
    return FALSE;
  for (guint k = 0; k < 2; k++)
    {
      const char *x = product->inputs[1 - k];
      m->n_inside = 1;
      if (!(clip = dyno_match_step (m, product, k, "Clip"))
          || !(sum = dyno_match_step (m, clip, 0, "Add")))
        continue;
      double low = clip->n_inputs > 1 ? dyno_match_number (m, clip, 1)
                                      : dyno_import_float (clip, "min", 0),
             high = clip->n_inputs > 2 ? dyno_match_number (m, clip, 2)
                                       : dyno_import_float (clip, "max", 0);
      guint three = input_near (m, sum, 3);
      if (low == 0 && high == 6 && three < 2 && reads (sum, 1 - three, x))
        return accept_activation (m, node, x, DYNO_ACTIVATION_HARD_SWISH);
    }
  return FALSE;
}

/* 1 + Erf (x / sqrt (2)) at input i of a node; the name of x, or NULL */
static const char *
match_erf (DynoMatch *m, const DynoOnnxNode *node, guint i)
{
  const DynoOnnxNode *sum = dyno_match_step (m, node, i, "Add"), *erf, *scaled;
  guint one = sum ? input_near (m, sum, 1) : 2, by;

  if (one == 2 || !(erf = dyno_match_step (m, sum, 1 - one, "Erf")))
    return NULL;
  if ((scaled = dyno_match_step (m, erf, 0, "Div")) && input_near (m, scaled, G_SQRT2) == 1)
    return scaled->inputs[0];
  if ((scaled = dyno_match_step (m, erf, 0, "Mul"))
      && (by = input_near (m, scaled, 1 / G_SQRT2)) < 2)
    return scaled->inputs[1 - by];
  return NULL;
}

/* x * (1 + Erf (x / sqrt (2))) * 0.5, with 0.5 at any of the products */
static gboolean
match_gelu (DynoMatch *m, const DynoOnnxNode *node)
{
  guint half = g_str_equal (node->op_type, "Mul") ? input_near (m, node, 0.5) : 2;

  if (!g_str_equal (node->op_type, "Mul") || node->n_inputs != 2)
    return FALSE;
  for (guint k = 0; k < 2; k++)
    {
      const DynoOnnxNode *product;
      const char *x;

      m->n_inside = 0;
      if (half < 2)
        {
          if ((product = dyno_match_step (m, node, 1 - half, "Mul")) && product->n_inputs == 2
              && (x = match_erf (m, product, k)) && reads (product, 1 - k, x))
            return accept_activation (m, node, x, DYNO_ACTIVATION_GELU);
          continue;
        }
      if (!(x = match_erf (m, node, k)) || !(product = dyno_match_step (m, node, 1 - k, "Mul")))
        continue;
      half = input_near (m, product, 0.5);
      if (half < 2 && reads (product, 1 - half, x))
        return accept_activation (m, node, x, DYNO_ACTIVATION_GELU);
      half = 2;
    }
  return FALSE;
}

/* The number of outputs of a MatMul by a parameter, possibly through a Transpose; 0: its input 1 is
 * not a parameter. */
static gint64
count_outputs (DynoMatch *m, const DynoOnnxNode *product)
{
  const char *name = product->n_inputs > 1 ? product->inputs[1] : "";
  const DynoOnnxNode *turned = g_hash_table_lookup (m->producers, name);
  gboolean is_turned = turned && g_str_equal (turned->op_type, "Transpose") && turned->n_inputs > 0;
  const DynoImportValue *weight =
      g_hash_table_lookup (m->import->values, is_turned ? turned->inputs[0] : name);

  return weight && weight->parameter && weight->n_dims == 2 ? weight->dims[is_turned ? 0 : 1] : 0;
}

/* An Add of a parameter after the MatMul by a parameter. */
static gboolean
match_biased_matmul (DynoMatch *m, const DynoOnnxNode *node)
{
  if (!g_str_equal (node->op_type, "Add") || node->n_inputs != 2)
    return FALSE;
  for (guint k = 0; k < 2; k++)
    {
      const DynoImportValue *bias = dyno_import_input (m->import, node, 1 - k);
      const DynoOnnxNode *product;

      m->n_inside = 0;
      if (!bias || !bias->parameter || bias->parameter->n_dims != 1
          || !(product = dyno_match_step (m, node, k, "MatMul")))
        continue;
      if (count_outputs (m, product) == bias->parameter->dims[0].value)
        return dyno_match_accept (m, node,
                                  &(DynoImportPattern){ .input = product->inputs[0],
                                                        .weight_node = product,
                                                        .weight = 1,
                                                        .bias_node = node,
                                                        .bias = 1 - k,
                                                        .read = dyno_import_biased_matmul });
    }
  return FALSE;
}

/* A mean over the last axis only. */
static gboolean
is_row_mean (DynoMatch *m, const DynoOnnxNode *node)
{
  guint n;
  const gint64 *axes = dyno_import_ints (node, "axes", &n);

  return node->n_inputs > 1 ? dyno_match_number (m, node, 1) == -1 : n == 1 && axes[0] == -1;
}

/* d / Sqrt (ReduceMean (d ^ 2) + eps) * weight + bias with d = x - ReduceMean (x), over the last
 * axis: LayerNormalization before opset 17 */
static gboolean
match_layer_norm (DynoMatch *m, const DynoOnnxNode *node)
{
  if (!g_str_equal (node->op_type, "Add") || node->n_inputs != 2)
    return FALSE;
  for (guint k = 0; k < 4; k++)
    {
      guint bias = k & 1, weight = k >> 1;
      const DynoOnnxNode *product, *norm, *d, *mean, *root, *sum, *variance, *square;

      m->n_inside = 0;
      if (!(product = dyno_match_step (m, node, 1 - bias, "Mul"))
          || !(norm = dyno_match_step (m, product, 1 - weight, "Div"))
          || !(d = dyno_match_step (m, norm, 0, "Sub"))
          || !(mean = dyno_match_step (m, d, 1, "ReduceMean")) || !is_row_mean (m, mean)
          || !reads (mean, 0, d->inputs[0]) || !(root = dyno_match_step (m, norm, 1, "Sqrt"))
          || !(sum = dyno_match_step (m, root, 0, "Add"))
          || !(variance = dyno_match_step (m, sum, 0, "ReduceMean")) || !is_row_mean (m, variance)
          || !(square = dyno_match_step (m, variance, 0, "Pow"))
          || dyno_match_number (m, square, 1) != 2 || !reads (square, 0, d->outputs[0]))
        continue;
      double eps = dyno_match_number (m, sum, 1);
      if (eps > 0)
        return dyno_match_accept (m, node,
                                  &(DynoImportPattern){ .input = d->inputs[0],
                                                        .weight_node = product,
                                                        .weight = weight,
                                                        .bias_node = node,
                                                        .bias = bias,
                                                        .eps = eps,
                                                        .read = dyno_import_layer_norm_pattern });
    }
  return FALSE;
}

/* TRUE: the value is a number that is computed from constants and shapes, such as 1 / Sqrt (64). */
static gboolean
is_number (DynoMatch *m, const char *name, guint depth)
{
  static const char *const operators[] = { "Sqrt",     "Div",     "Mul",       "Cast",
                                           "CastLike", "Pow",     "Shape",     "Slice",
                                           "Gather",   "Squeeze", "Unsqueeze", NULL };
  const DynoOnnxNode *made = g_hash_table_lookup (m->producers, name);
  const DynoImportValue *value = g_hash_table_lookup (m->import->values, name);

  if (value)
    return value->constant && value->constant->count == 1;
  if (!made || depth == 0)
    return FALSE;
  if (g_str_equal (made->op_type, "Constant") || g_str_equal (made->op_type, "Shape"))
    return TRUE;
  if (!g_strv_contains (operators, made->op_type))
    return FALSE;
  for (guint i = 0; i < made->n_inputs; i++)
    if (!is_number (m, made->inputs[i], depth - 1))
      return FALSE;
  return TRUE;
}

/* Where input i of the node is the product, or quotient, of a value and a number, adds the number
 * to the factors of the pattern; returns the name of the value. */
static const char *
take_factor (DynoMatch *m, const DynoOnnxNode *node, guint i, DynoImportPattern *pattern)
{
  const DynoOnnxNode *made = g_hash_table_lookup (m->producers, node->inputs[i]);
  gboolean divides = made && g_str_equal (made->op_type, "Div");

  if (!made || made->n_inputs != 2 || (!divides && !g_str_equal (made->op_type, "Mul"))
      || pattern->n_factors == DYNO_IMPORT_MAX_FACTORS)
    return node->inputs[i];
  for (guint k = divides ? 1 : 0; k < 2; k++)
    if (is_number (m, made->inputs[k], 8) && dyno_match_step (m, node, i, made->op_type))
      {
        pattern->factors[pattern->n_factors].name = made->inputs[k];
        pattern->factors[pattern->n_factors++].divides = divides;
        return made->inputs[1 - k];
      }
  return node->inputs[i];
}

/* Where (IsNaN (s), number, s), by which PyTorch's exporter replaces the rows of a softmax that a
 * mask leaves empty.  Without such rows it is s itself. */
static gboolean
match_guard (DynoMatch *m, const DynoOnnxNode *guard)
{
  const DynoOnnxNode *test;

  if (!g_str_equal (guard->op_type, "Where") || guard->n_inputs != 3
      || isnan (dyno_match_number (m, guard, 1))
      || !(test = dyno_match_step (m, guard, 0, "IsNaN")))
    return FALSE;
  return reads (test, 0, guard->inputs[2]);
}

static gboolean
read_unguarded (DynoImport *import, const DynoOnnxNode *node, const DynoImportPattern *pattern,
                DynoImportValue *x)
{
  return dyno_import_output (import, node, 0, x->tensor, &x->view, NULL);
}

/* A guard of its own. */
static gboolean
match_guarded (DynoMatch *m, const DynoOnnxNode *node)
{
  m->n_inside = 0;
  return match_guard (m, node)
         && dyno_match_accept (
             m, node, &(DynoImportPattern){ .input = node->inputs[2], .read = read_unguarded });
}

/* The softmax at input 0 of a node, possibly behind a guard; NULL: there is none. */
static const DynoOnnxNode *
match_softmax (DynoMatch *m, const DynoOnnxNode *node)
{
  const DynoOnnxNode *guard = dyno_match_step (m, node, 0, "Where");

  if (guard)
    return match_guard (m, guard) ? dyno_match_step (m, guard, 2, "Softmax") : NULL;
  return dyno_match_step (m, node, 0, "Softmax");
}

/* TRUE: the value depends only on constants and shapes; *left bounds the nodes that are looked
 * at. */
static gboolean
is_known (DynoMatch *m, const char *name, guint *left)
{
  static const char *const draws[] = {
    "Bernoulli",         "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform",
    "RandomUniformLike", NULL
  };
  const DynoOnnxNode *made = g_hash_table_lookup (m->producers, name);
  const DynoImportValue *value = g_hash_table_lookup (m->import->values, name);

  if (value)
    return value->constant && !value->parameter;
  if (!made || *left == 0 || g_strv_contains (draws, made->op_type))
    return FALSE;
  --*left;
  if (g_str_equal (made->op_type, "Shape"))
    return TRUE;
  for (guint i = 0; i < made->n_inputs; i++)
    if (*made->inputs[i] && !is_known (m, made->inputs[i], left))
      return FALSE;
  return TRUE;
}

/* Where the softmax is of a sum with a value that is known before the network runs, notes that
 * value as the mask of the pattern.  Returns the node whose input *input has the scores. */
static const DynoOnnxNode *
take_mask (DynoMatch *m, const DynoOnnxNode *softmax, DynoImportPattern *pattern, guint *input)
{
  const DynoOnnxNode *made = g_hash_table_lookup (m->producers, softmax->inputs[0]);

  *input = 0;
  if (!made || !g_str_equal (made->op_type, "Add") || made->n_inputs != 2)
    return softmax;
  for (guint k = 0; k < 2; k++)
    {
      guint left = 1000;
      if (!is_known (m, made->inputs[k], &left) || !dyno_match_step (m, softmax, 0, "Add"))
        continue;
      pattern->mask = made->inputs[k];
      *input = 1 - k;
      return made;
    }
  return softmax;
}

/* MatMul (Softmax (MatMul (queries, keys)), values), with factors at queries, keys or scores, and
 * with a mask that is the same for all scores */
static gboolean
match_attention (DynoMatch *m, const DynoOnnxNode *node)
{
  DynoImportPattern pattern = { .keeps_runs = TRUE, .read = dyno_import_attention };
  const DynoOnnxNode *softmax, *scores;

  m->n_inside = 0;
  if (!g_str_equal (node->op_type, "MatMul") || node->n_inputs != 2
      || !(softmax = match_softmax (m, node)))
    return FALSE;
  pattern.axis = dyno_import_int (softmax, "axis",
                                  dyno_onnx_model_get_opset (m->import->model, "") < 13 ? 1 : -1);
  guint term = 0;
  const DynoOnnxNode *sum = take_mask (m, softmax, &pattern, &term);
  const char *name = take_factor (m, sum, term, &pattern);
  scores = g_hash_table_lookup (m->producers, name);
  if (!scores || !g_str_equal (scores->op_type, "MatMul") || scores->n_inputs != 2
      || m->n_inside == DYNO_IMPORT_MAX_INSIDE)
    return FALSE;
  m->inside[m->n_inside++] = scores;
  pattern.input = take_factor (m, scores, 0, &pattern);
  pattern.keys = take_factor (m, scores, 1, &pattern);
  pattern.values = node->inputs[1];
  return dyno_match_accept (m, node, &pattern);
}

/* TRUE: the value is a parameter of three axes, or an Expand of one. */
static gboolean
is_token (DynoMatch *m, const char *name)
{
  const DynoOnnxNode *made = g_hash_table_lookup (m->producers, name);
  const DynoImportValue *value = made && g_str_equal (made->op_type, "Expand") && made->n_inputs > 0
                                     ? g_hash_table_lookup (m->import->values, made->inputs[0])
                                     : g_hash_table_lookup (m->import->values, name);

  return value && value->parameter && !value->tensor && value->n_dims == 3;
}

/* Add (Concat (class token, x), positions) */
static gboolean
match_tokens (DynoMatch *m, const DynoOnnxNode *node)
{
  const DynoOnnxNode *joined;

  if (!g_str_equal (node->op_type, "Add") || node->n_inputs != 2)
    return FALSE;
  for (guint k = 0; k < 2; k++)
    {
      m->n_inside = 0;
      if (is_token (m, node->inputs[1 - k]) && (joined = dyno_match_step (m, node, k, "Concat"))
          && joined->n_inputs == 2 && dyno_import_int (joined, "axis", 0) == 1
          && is_token (m, joined->inputs[0]))
        return dyno_match_accept (m, node,
                                  &(DynoImportPattern){ .input = joined->inputs[1],
                                                        .keys = joined->inputs[0],
                                                        .values = node->inputs[1 - k],
                                                        .read = dyno_import_tokens });
    }
  return FALSE;
}

void
dyno_import_find_patterns (DynoImport *import)
{
  static gboolean (*const rows[]) (DynoMatch * m, const DynoOnnxNode *node) = {
    match_gated,         match_hard_swish, match_gelu,   match_layer_norm,
    match_biased_matmul, match_attention,  match_tokens, match_guarded
  };
  g_autoptr (GHashTable) producers = g_hash_table_new (g_str_hash, g_str_equal);
  const DynoOnnxModel *model = import->model;
  DynoMatch m = { .import = import, .producers = producers };

  for (guint i = 0; i < model->n_nodes; i++)
    {
      const DynoOnnxNode *node = &model->nodes[i];
      gboolean found = node->n_outputs == 0 || !g_hash_table_contains (import->needed, node);
      for (guint k = 0; k < G_N_ELEMENTS (rows) && !found; k++)
        found = rows[k](&m, node);
      for (guint k = 0; k < node->n_outputs; k++)
        g_hash_table_insert (producers, (gpointer) node->outputs[k], (gpointer) node);
    }
}
