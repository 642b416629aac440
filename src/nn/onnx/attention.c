/* SPDX-License-Identifier: MIT */
/* Transformers: softmax attention, and the tokens of an image. */
#include "graph-private.h"
#include "import-private.h"
#include <math.h>
#include <string.h>

/* The layout of queries, whose view is (samples, groups and heads, steps, values of a head). */
typedef struct {
  guint32 channels, dim; /* number of values of all heads and of one head */
  gboolean lies; /* TRUE: the op can read them: the steps are all tokens of a sample, or of a row */
  gboolean by_row;
} Heads;

/* The number of elements of an axis of the tensor that axes [from, to) of the view cover. */
static guint64
count_of (const DynoView *view, guint from, guint to, char axis)
{
  guint64 count = 1;

  for (guint i = from > 0 ? view->end[from - 1] : 0; i < view->end[to - 1]; i++)
    count *= view->parts[i].axis == axis ? view->parts[i].extent : 1;
  return count;
}

/* FALSE: the values of a head are not contiguous channels, or the steps include channels, or the
 * samples are not before the steps. */
static gboolean
take_heads (const DynoImportValue *q, Heads *heads)
{
  const DynoView *view = &q->view;
  guint n = view->n_dims, at = view->end[n - 2];

  if (view->end[n - 1] != at + 1 || view->parts[at].axis != 'C' || view->parts[at].stride != 1
      || count_of (view, n - 2, n - 1, 'C') != 1 || count_of (view, 0, n - 2, 'N') != view->batch)
    return FALSE;
  gboolean rows = count_of (view, 0, n - 2, 'H') > 1, columns = count_of (view, 0, n - 2, 'W') > 1;
  *heads = (Heads){ .channels = (guint32) count_of (view, 0, n, 'C'),
                    .dim = view->parts[at].extent,
                    .lies = !columns && (!rows || count_of (view, n - 2, n - 1, 'H') == 1),
                    .by_row = rows || columns };
  return TRUE;
}

static gboolean
refuse_attention (DynoImport *import, const DynoOnnxNode *node, const DynoImportValue *q,
                  const DynoImportValue *k, const DynoImportValue *v)
{
  g_autofree char *queries = dyno_view_print (&q->view), *keys = dyno_view_print (&k->view),
                  *values = dyno_view_print (&v->view);

  return dyno_import_refuse (import, node,
                             "it is an attention over %s, %s and %s, whose axes do not fit",
                             queries, keys, values);
}

/* The factor of the scores; 0: one of its factors is not a positive number, and the node was
 * refused. */
static double
find_scale (DynoImport *import, const DynoOnnxNode *node, const DynoImportPattern *pattern)
{
  double scale = 1;

  for (guint i = 0; i < pattern->n_factors; i++)
    {
      const DynoImportValue *value = dyno_import_find_value (import, pattern->factors[i].name);
      double factor = value && value->constant && value->constant->count == 1
                          ? dyno_constant_float (value->constant, 0)
                          : 0;
      if (!(factor > 0))
        {
          dyno_import_refuse (import, node,
                              "the factor “%s” of its scores is not a positive number",
                              pattern->factors[i].name);
          return 0;
        }
      scale = pattern->factors[i].divides ? scale / factor : scale * factor;
    }
  return scale;
}

/* x in the layout of q; turned: the last two axes of x are exchanged.  NULL: x has other axes, or
 * cannot have that layout. */
static DynoImportValue *
align (DynoImport *import, const DynoOnnxNode *node, DynoImportValue *x, const DynoImportValue *q,
       const Heads *heads, gboolean turned)
{
  guint n = q->view.n_dims, perm[DYNO_VIEW_MAX_DIMS];
  DynoView view = q->view;

  for (guint i = 0; i < n; i++)
    perm[i] = turned && i >= n - 2 ? 2 * n - 3 - i : i;
  dyno_view_transpose (&view, perm);
  view.begin = x->view.begin;
  if (x->tensor->h == q->tensor->h && x->tensor->w == q->tensor->w
      && dyno_view_equal (&x->view, &view))
    return x;
  if (!dyno_import_settle (import, x))
    return NULL;
  const DynoTensor shape = {
    .n = x->tensor->n, .h = q->tensor->h, .w = q->tensor->w, .c = heads->channels
  };
  view.begin = 0;
  return dyno_import_laid_out_as (import, node, x, &shape, &view);
}

/* Concatenates the queries, keys and values of each step, as the op needs them. */
static DynoTensor *
join (DynoImport *import, const DynoOnnxNode *node, DynoImportValue *q, DynoImportValue *k,
      DynoImportValue *v, guint32 channels)
{
  guint32 count;

  if (q->tensor == k->tensor && k->tensor == v->tensor && q->tensor->c == 3 * channels
      && q->view.begin == 0 && k->view.begin == channels && v->view.begin == 2 * channels
      && dyno_view_is_run (&q->view, &count))
    return q->tensor;
  if (!dyno_import_settle (import, q) || !dyno_import_settle (import, k)
      || !dyno_import_settle (import, v))
    return NULL;
  g_autofree char *name = g_strconcat (dyno_import_shown_name (node), ".qkv", NULL);
  DynoTensor *parts[] = { q->tensor, k->tensor, v->tensor };
  return dyno_concat (import->graph, parts, G_N_ELEMENTS (parts), name);
}

/* A copy of queries, keys and values in which each group is a row; *view, the view of the queries,
 * becomes their view of the copy.  One copy moves all three, by an additional first axis of extent
 * 3.  NULL: they cannot have that layout. */
static DynoTensor *
lay_groups (DynoImport *import, const DynoOnnxNode *node, DynoTensor *qkv, guint32 channels,
            DynoView *view)
{
  guint n = view->n_dims, total = view->end[n - 1];
  DynoImportValue whole = { .tensor = qkv, .node = node };

  if (n == DYNO_VIEW_MAX_DIMS || total == G_N_ELEMENTS (view->parts))
    return NULL;
  whole.view = (DynoView){ .batch = view->batch, .n_dims = n + 1, .end = { 1 } };
  whole.view.parts[0] = (DynoViewPart){ 'C', 3, channels };
  memcpy (&whole.view.parts[1], view->parts, total * sizeof *view->parts);
  for (guint i = 0; i < n; i++)
    whole.view.end[i + 1] = view->end[i] + 1;
  const DynoImportValue *moved = dyno_import_as_groups (import, node, &whole, n - 1, n);
  if (!moved)
    return NULL;
  memcpy (view->parts, &moved->view.parts[1], total * sizeof *view->parts);
  for (guint i = 0; i < n; i++)
    view->end[i] = moved->view.end[i + 1] - 1;
  return moved->tensor;
}

/* Appends the attention; FALSE: queries, keys and values cannot have the layout that the op
 * needs. */
static gboolean
append_attention (DynoImport *import, const DynoOnnxNode *node, double scale, DynoImportValue *q,
                  DynoImportValue *k, DynoImportValue *v)
{
  guint n = q->view.n_dims;
  Heads heads;

  if (n < 3 || k->view.n_dims != n || v->view.n_dims != n
      || !dyno_attention_has_dim (dyno_view_dim (&q->view, n - 1)))
    return FALSE;
  if (!take_heads (q, &heads)
      && (!dyno_import_settle (import, q)
          || !(q = dyno_import_as_groups (import, node, q, n - 2, n - 1))
          || !take_heads (q, &heads)))
    return FALSE;
  /* Exports multiply queries and keys each by the square root of the factor, which is rounded. */
  if (fabs (scale * sqrt (heads.dim) - 1) < 1e-5)
    scale = 0;
  if (!(k = align (import, node, k, q, &heads, TRUE))
      || !(v = align (import, node, v, q, &heads, FALSE)))
    return FALSE;
  DynoView view = q->view;
  view.begin = 0;
  DynoTensor *qkv = join (import, node, q, k, v, heads.channels);
  if (qkv
      && (qkv->c != 3 * heads.channels
          || (!heads.lies && !(qkv = lay_groups (import, node, qkv, heads.channels, &view)))))
    return FALSE;
  DynoTensor *y = dyno_attention (import->graph, qkv, dyno_import_shown_name (node),
                                  &(DynoAttentionParams){ .heads = heads.channels / heads.dim,
                                                          .scale = scale,
                                                          .by_row = heads.by_row });
  return dyno_import_output (import, node, 0, y, &view, NULL);
}

/* MatMul (Softmax (MatMul (q, keys) * scale), values) */
gboolean
dyno_import_attention (DynoImport *import, const DynoOnnxNode *node,
                       const DynoImportPattern *pattern, DynoImportValue *q)
{
  DynoImportValue *k = dyno_import_find_value (import, pattern->keys),
                  *v = dyno_import_find_value (import, pattern->values);
  guint n = q->view.n_dims;

  if (!k || k->refused || !v || v->refused)
    return FALSE;
  if (!k->tensor || !v->tensor)
    return dyno_import_refuse (import, node, "its keys or values do not depend on the input");
  if (pattern->axis != -1 && pattern->axis != (gint64) n - 1)
    return dyno_import_refuse (import, node, "its softmax is not over the keys");
  double scale = find_scale (import, node, pattern);
  if (!(scale > 0))
    return FALSE;
  return append_attention (import, node, scale, q, k, v)
         || dyno_import_general_attention (import, node, scale, q, k, v)
         || refuse_attention (import, node, q, k, v);
}

/* A parameter (1, count, C) for the op. */
static const DynoParameter *
take_tokens (DynoImport *import, const DynoOnnxNode *node, const char *name, guint32 count,
             guint32 channels)
{
  const DynoImportValue *value = dyno_import_find_value (import, name);

  if (!value || !value->parameter || value->n_dims != 3 || value->dims[0] != 1
      || value->dims[1] != (gint64) count || value->dims[2] != (gint64) channels)
    {
      dyno_import_refuse (import, node, "“%s” is not (1, %u, %u)", name, count, channels);
      return NULL;
    }
  return dyno_token_parameter (import->graph, value->parameter->name, count, channels,
                               DYNO_INIT_NORMAL_002);
}

/* TRUE: x is (samples, steps, channels); else the node was refused. */
static gboolean
check_tokens (DynoImport *import, const DynoOnnxNode *node, const DynoImportValue *x)
{
  if (dyno_view_is (&x->view, x->tensor, "N HW C") || dyno_view_is (&x->view, x->tensor, "N W C"))
    return TRUE;
  g_autofree char *shape = dyno_view_print (&x->view);
  return dyno_import_refuse (import, node, "its tokens, %s, are not (samples, steps, channels)",
                             shape);
}

/* TRUE: the node has parameters (1, 1, C), which no other node reads, in front of the steps of its
 * last input. */
gboolean
dyno_import_starts_with_tokens (DynoImport *import, const DynoOnnxNode *node)
{
  guint n = node->n_inputs;
  gint64 axis = dyno_import_int (node, "axis", 1);
  const DynoImportValue *x = n > 1 ? dyno_import_input (import, node, n - 1) : NULL;

  if (!x || !x->tensor || dyno_tensor_is_shared (x->tensor) || (axis != 1 && axis != -2))
    return FALSE;
  for (guint i = 0; i + 1 < n; i++)
    {
      const DynoImportValue *token = dyno_import_input (import, node, i);
      if (!dyno_import_is_parameter (import, node, i) || token->n_dims != 3 || token->dims[0] != 1
          || token->dims[1] != 1 || !dyno_import_is_read_once (import, node, i))
        return FALSE;
    }
  return dyno_view_is (&x->view, x->tensor, "N HW C")
         || dyno_view_is (&x->view, x->tensor, "N W C");
}

/* Concat (class token, x), with one or more tokens, such as a distillation token after the class
 * token */
gboolean
dyno_import_class_token (DynoImport *import, const DynoOnnxNode *node)
{
  guint n = node->n_inputs - 1;
  DynoImportValue *x = dyno_import_tensor (import, node, n);
  gint64 axis = dyno_import_int (node, "axis", 1);

  if (!x)
    return FALSE;
  if (axis != 1 && axis != -2)
    return dyno_import_refuse (import, node, "Dyno joins a parameter only in front of the steps");
  if (!check_tokens (import, node, x))
    return FALSE;
  const char *name = dyno_import_shown_name (node);
  g_autofree const DynoParameter **tokens = g_new (const DynoParameter *, MAX (1, n));
  for (guint i = 0; i < n; i++)
    if (!(tokens[i] = take_tokens (import, node, node->inputs[i], 1, x->tensor->c)))
      return FALSE;
  DynoTensor *y = x->tensor;
  for (guint i = n; i-- > 0;)
    {
      g_autofree char *part = g_strdup_printf ("%s.%u", name, i);
      y = dyno_prepend_token (import->graph, y, i > 0 ? part : name, tokens[i]);
    }
  return dyno_import_output (import, node, 0, y, NULL, "N W C");
}

/* Add (Concat (class token, x), positions) */
gboolean
dyno_import_tokens (DynoImport *import, const DynoOnnxNode *node, const DynoImportPattern *pattern,
                    DynoImportValue *x)
{
  if (!check_tokens (import, node, x))
    return FALSE;
  guint32 t = x->tensor->h * x->tensor->w + 1, channels = x->tensor->c;
  const DynoParameter *token = take_tokens (import, node, pattern->keys, 1, channels),
                      *positions =
                          token ? take_tokens (import, node, pattern->values, t, channels) : NULL;
  if (!positions)
    return FALSE;
  DynoTensor *y =
      dyno_tokens (import->graph, x->tensor, dyno_import_shown_name (node), token, positions);
  return dyno_import_output (import, node, 0, y, NULL, "N W C");
}

/* x with its elements in the order of its axes after the batch; NULL: it cannot have that
 * layout. */
static DynoImportValue *
take_in_order (DynoImport *import, const DynoOnnxNode *node, DynoImportValue *x)
{
  static const char *const forms[] = { "N HW C", "N W C", "N H W C", NULL };
  DynoImportValue *copy = NULL;

  for (guint i = 0; forms[i]; i++)
    if (dyno_view_is (&x->view, x->tensor, forms[i]))
      return x;
  for (guint i = 0; forms[i] && !copy; i++)
    copy = dyno_import_as_form (import, node, x, forms[i]);
  return copy;
}

gboolean
dyno_import_are_positions (const DynoImportValue *parameter, const DynoImportValue *x)
{
  const DynoTensor *tensor = x->tensor;
  guint64 count = 1;
  gboolean fits =
      parameter->n_dims > 1 && parameter->n_dims <= x->view.n_dims && !parameter->transposed;

  for (guint i = 0; i < parameter->n_dims && fits; i++)
    {
      guint axis = x->view.n_dims - parameter->n_dims + i;
      /* Axis 0 needs one value for all samples, other axes one value for each element. */
      gint64 wanted = axis == 0 ? 1 : (gint64) dyno_view_dim (&x->view, axis);
      fits = parameter->dims[i] == wanted;
      count *= (guint64) wanted;
    }
  return fits && count == (guint64) tensor->h * tensor->w * tensor->c;
}

/* Add (x, positions), where the parameter has a value for each step and channel, or for each
 * element of a sample in another order of the axes */
gboolean
dyno_import_positions (DynoImport *import, const DynoOnnxNode *node, guint parameter,
                       DynoImportValue *x)
{
  const DynoImportValue *value = dyno_import_input (import, node, parameter);
  guint first = import->graph->parameters->len;
  DynoImportValue *rows = take_in_order (import, node, x);

  if (!rows || dyno_view_dim (&rows->view, rows->view.n_dims - 1) != rows->tensor->c)
    return dyno_import_broadcast_add (import, node, 1);
  guint32 steps = rows->tensor->h * rows->tensor->w;
  const DynoParameter *positions = dyno_token_parameter (
      import->graph, value->parameter->name, steps, rows->tensor->c, DYNO_INIT_NORMAL_002);
  DynoTensor *y =
      dyno_add_positions (import->graph, rows->tensor, dyno_import_shown_name (node), positions);
  if (!y)
    return dyno_import_output (import, node, 0, NULL, NULL, NULL);
  dyno_import_name_parameter (import, node, first, parameter);
  dyno_import_output (import, node, 0, y, &rows->view, NULL);
  /* If the channels of x were not its last axis, the sum gets the layout of x again, which the
   * following ops need. */
  DynoImportValue *sum = dyno_import_find_value (import, node->outputs[0]),
                  *back = dyno_import_is_channels (x, x->view.n_dims - 1)
                              ? sum
                              : dyno_import_laid_out_as (import, node, sum, x->tensor, &x->view);
  if (back)
    {
      sum->tensor = back->tensor;
      sum->view = back->view;
    }
  return TRUE;
}
