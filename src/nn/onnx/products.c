/* SPDX-License-Identifier: MIT */
/* Nodes that multiply, add and sum tensors of any axes: MatMul of two tensors, Einsum, Mul, Add,
 * Sub and Div with repeated values, sums, means and norms over some axes, Expand, and attention
 * whose parts the fused op does not take. */
#include "graph-private.h"
#include "import-private.h"
#include <math.h>
#include <string.h>

/* --- operands --------------------------------------------------------------------------------- */

DynoImportValue *
dyno_import_operand (DynoImport *import, const DynoOnnxNode *node, guint i)
{
  const DynoImportValue *value = dyno_import_input (import, node, i);

  return value && !value->tensor && !value->refused && !value->parameter && value->constant
             ? dyno_import_constant_tensor (import, node, i)
             : dyno_import_tensor (import, node, i);
}

DynoImportValue *
dyno_import_stored (DynoImport *import, const DynoOnnxNode *node, guint i)
{
  const DynoImportValue *given = dyno_import_input (import, node, i);
  guint labels[DYNO_VIEW_MAX_DIMS];

  if (given && !given->tensor && given->parameter)
    return dyno_import_parameter_tensor (import, node, i);
  DynoImportValue *value = dyno_import_operand (import, node, i);
  if (!value || value->tensor->space != DYNO_SPACE_CONSTANT)
    return value;
  g_autofree char *name = g_strdup_printf ("%s.constant.%u", dyno_import_shown_name (node), i);
  DynoImportValue *copy = g_new0 (DynoImportValue, 1);
  for (guint axis = 0; axis < value->view.n_dims; axis++)
    labels[axis] = axis;
  copy->node = node;
  copy->tensor = dyno_import_append_contraction (
      import, name, value, labels, NULL, NULL, labels, value->view.n_dims,
      &(DynoImportContraction){ .like = DYNO_IMPORT_LIKE_A }, &copy->view);
  g_hash_table_insert (import->values, g_strconcat ("\nstored ", name, NULL), copy);
  return copy->tensor ? copy : NULL;
}

static guint
count_readers (const DynoImport *import, const char *name)
{
  return GPOINTER_TO_UINT (g_hash_table_lookup (import->readers, name));
}

gboolean
dyno_import_is_read_once (DynoImport *import, const DynoOnnxNode *node, guint i)
{
  const DynoImportValue *value = dyno_import_input (import, node, i);

  return count_readers (import, node->inputs[i]) <= 1
         && (!value || !value->parameter || count_readers (import, value->parameter->name) <= 1);
}

/* Both operands of a node; FALSE: the node was refused. */
static gboolean
take_operands (DynoImport *import, const DynoOnnxNode *node, DynoImportValue **a,
               DynoImportValue **b)
{
  *a = dyno_import_operand (import, node, 0);
  *b = *a ? dyno_import_operand (import, node, 1) : NULL;
  return *b != NULL;
}

static gboolean
refuse_pair (DynoImport *import, const DynoOnnxNode *node, const char *verb,
             const DynoImportValue *a, const DynoImportValue *b)
{
  g_autofree char *one = dyno_view_print (&a->view), *two = dyno_view_print (&b->view);

  return dyno_import_refuse (import, node, "it %s %s and %s, whose axes do not fit", verb, one,
                             two);
}

/* The labels of an operand of a node with n axes, which are aligned at the end. */
static void
align_labels (const DynoImportValue *x, guint n, guint *labels)
{
  for (guint axis = 0; axis < x->view.n_dims; axis++)
    labels[axis] = n - x->view.n_dims + axis;
}

/* --- products of matrices --------------------------------------------------------------------- */

/* TRUE: the axis is not of channels. */
static gboolean
is_of_pixels (const DynoView *view, guint axis)
{
  guint begin = axis == 0 ? 0 : view->end[axis - 1];

  for (guint i = begin; i < view->end[axis]; i++)
    if (view->parts[i].axis == 'C')
      return FALSE;
  return view->end[axis] > begin;
}

/* scale times a times b, over the last axis of a and the last but one of b. */
static DynoTensor *
append_product (DynoImport *import, const char *name, DynoImportValue *a, DynoImportValue *b,
                double scale, DynoView *view)
{
  guint n = MAX (a->view.n_dims, b->view.n_dims), of_a[DYNO_VIEW_MAX_DIMS],
        of_b[DYNO_VIEW_MAX_DIMS], labels[DYNO_VIEW_MAX_DIMS];

  if (a->view.n_dims < 2 || b->view.n_dims < 2)
    return NULL;
  align_labels (a, n, of_a);
  align_labels (b, n, of_b);
  for (guint i = 0; i < n; i++)
    labels[i] = i;
  of_a[a->view.n_dims - 1] = n;
  of_b[b->view.n_dims - 2] = n;
  of_b[b->view.n_dims - 1] = n - 1;
  const DynoImportLike like =
      is_of_pixels (&b->view, b->view.n_dims - 2) ? DYNO_IMPORT_LIKE_B : DYNO_IMPORT_NATURAL;
  return dyno_import_append_contraction (import, name, a, of_a, b, of_b, labels, n,
                                         &(DynoImportContraction){ .like = like, .scale = scale },
                                         view);
}

gboolean
dyno_import_product (DynoImport *import, const DynoOnnxNode *node)
{
  DynoImportValue *a, *b;
  DynoView view;

  if (!take_operands (import, node, &a, &b))
    return FALSE;
  if (a->view.n_dims < 2 || b->view.n_dims < 2
      || dyno_view_dim (&a->view, a->view.n_dims - 1)
             != dyno_view_dim (&b->view, b->view.n_dims - 2))
    return refuse_pair (import, node, "multiplies", a, b);
  DynoTensor *y = append_product (import, dyno_import_shown_name (node), a, b, 0, &view);
  return y ? dyno_import_output (import, node, 0, y, &view, NULL)
           : refuse_pair (import, node, "multiplies", a, b);
}

/* The labels of a term of an equation, one for each letter; returns their number, G_MAXUINT: it is
 * no list of different letters.  letters: those of the labels so far. */
static guint
read_term (const char *term, gsize length, GString *letters, guint *labels)
{
  guint n = 0;

  for (gsize i = 0; i < length; i++)
    {
      if (term[i] == ' ')
        continue;
      if (!g_ascii_isalpha (term[i]) || n == DYNO_VIEW_MAX_DIMS)
        return G_MAXUINT;
      const char *at = strchr (letters->str, term[i]);
      guint label = at ? (guint) (at - letters->str) : (guint) letters->len;
      if (!at)
        g_string_append_c (letters, term[i]);
      for (guint k = 0; k < n; k++)
        if (labels[k] == label)
          return G_MAXUINT;
      labels[n++] = label;
    }
  return n;
}

gboolean
dyno_import_einsum (DynoImport *import, const DynoOnnxNode *node)
{
  const char *equation = dyno_import_text (node, "equation", ""), *arrow = strstr (equation, "->");
  const char *comma = arrow ? memchr (equation, ',', (gsize) (arrow - equation)) : NULL;
  g_autoptr (GString) letters = g_string_new (NULL);
  guint labels[3][DYNO_VIEW_MAX_DIMS], n[3] = { 0 };
  DynoImportValue *a, *b = NULL;
  DynoView view;

  if (!arrow || node->n_inputs != (comma ? 2 : 1))
    return dyno_import_refuse (import, node,
                               "Dyno reads one or two operands and a result, not “%s”", equation);
  const char *end = comma ? comma : arrow;
  n[0] = read_term (equation, (gsize) (end - equation), letters, labels[0]);
  n[1] = comma ? read_term (comma + 1, (gsize) (arrow - comma - 1), letters, labels[1]) : 0;
  guint known = (guint) letters->len;
  n[2] = read_term (arrow + 2, strlen (arrow + 2), letters, labels[2]);
  if (n[0] == G_MAXUINT || n[1] == G_MAXUINT || n[2] == G_MAXUINT || letters->len > known)
    return dyno_import_refuse (
        import, node, "Dyno reads terms of different letters, without dots, not “%s”", equation);
  if (!(a = dyno_import_operand (import, node, 0))
      || (comma && !(b = dyno_import_operand (import, node, 1))))
    return FALSE;
  DynoTensor *y = NULL;
  if (a->view.n_dims == n[0] && (!b || b->view.n_dims == n[1]))
    y = dyno_import_append_contraction (
        import, dyno_import_shown_name (node), a, labels[0], b, b ? labels[1] : NULL, labels[2],
        n[2], &(DynoImportContraction){ .like = DYNO_IMPORT_LIKE_B }, &view);
  return y ? dyno_import_output (import, node, 0, y, &view, NULL)
           : refuse_pair (import, node, "multiplies", a, b ? b : a);
}

/* --- values that all samples share ------------------------------------------------------------ */

/* Gives a view, whose first axis has one element, the samples of the file in that axis. */
static void
add_batch (const DynoImport *import, DynoView *view)
{
  guint total = view->n_dims > 0 ? view->end[view->n_dims - 1] : 0;

  view->batch = import->batch;
  if (import->batch == 1 || view->n_dims == 0 || view->end[0] > 0)
    return;
  memmove (&view->parts[1], &view->parts[0], total * sizeof view->parts[0]);
  view->parts[0] = (DynoViewPart){ 'N', import->batch, 1 };
  for (guint i = 0; i < view->n_dims; i++)
    view->end[i]++;
}

DynoImportValue *
dyno_import_spread (DynoImport *import, const DynoOnnxNode *node, DynoImportValue *x)
{
  guint labels[DYNO_VIEW_MAX_DIMS];

  if (!dyno_tensor_is_shared (x->tensor))
    return x;
  g_autofree char *name = g_strdup_printf ("%s.%s", dyno_import_shown_name (node), x->tensor->name);
  DynoImportValue *copy = g_new0 (DynoImportValue, 1);
  for (guint axis = 0; axis < x->view.n_dims; axis++)
    labels[axis] = axis;
  copy->node = node;
  copy->tensor = dyno_import_append_contraction (
      import, name, x, labels, NULL, NULL, labels, x->view.n_dims,
      &(DynoImportContraction){ .like = DYNO_IMPORT_LIKE_A,
                                .samples = dyno_graph_get_params (import->graph)->batch },
      &copy->view);
  add_batch (import, &copy->view);
  g_hash_table_insert (import->values, g_strdup_printf ("\nspread %s", name), copy);
  return copy->tensor ? copy : NULL;
}

/* --- repeated values -------------------------------------------------------------------------- */

/* Two operands with the axes of both, aligned at the end. */
typedef struct {
  DynoImportValue *values[2];
  guint n, labels[2][DYNO_VIEW_MAX_DIMS], all[DYNO_VIEW_MAX_DIMS];
  guint64 dims[DYNO_VIEW_MAX_DIMS];
  gboolean is_full[2]; /* the operand has all values of the result */
} Pair;

/* FALSE: the axes do not fit. */
static gboolean
find_pair (DynoImportValue *a, DynoImportValue *b, Pair *pair)
{
  *pair = (Pair){ .values = { a, b },
                  .n = MAX (a->view.n_dims, b->view.n_dims),
                  .is_full = { TRUE, TRUE } };
  for (guint k = 0; k < 2; k++)
    align_labels (pair->values[k], pair->n, pair->labels[k]);
  for (guint i = 0; i < pair->n; i++)
    {
      guint64 dims[2];
      for (guint k = 0; k < 2; k++)
        {
          guint missing = pair->n - pair->values[k]->view.n_dims;
          dims[k] = i < missing ? 1 : dyno_view_dim (&pair->values[k]->view, i - missing);
        }
      if (dims[0] != dims[1] && dims[0] != 1 && dims[1] != 1)
        return FALSE;
      pair->all[i] = i;
      pair->dims[i] = MAX (dims[0], dims[1]);
      for (guint k = 0; k < 2; k++)
        pair->is_full[k] &= dims[k] == pair->dims[i];
    }
  for (guint k = 0; k < 2; k++)
    pair->is_full[k] &= pair->values[k]->tensor->n >= pair->values[1 - k]->tensor->n
                        && pair->values[k]->view.n_dims == pair->n
                        && pair->values[k]->tensor->space != DYNO_SPACE_CONSTANT;
  return TRUE;
}

static DynoTensor *
multiply_pair (DynoImport *import, const char *name, const Pair *pair, DynoView *view)
{
  const DynoImportContraction options = { .like = pair->is_full[0]   ? DYNO_IMPORT_LIKE_A
                                                  : pair->is_full[1] ? DYNO_IMPORT_LIKE_B
                                                                     : DYNO_IMPORT_NATURAL };

  return dyno_import_append_contraction (import, name, pair->values[0], pair->labels[0],
                                         pair->values[1], pair->labels[1], pair->all, pair->n,
                                         &options, view);
}

gboolean
dyno_import_broadcast_mul (DynoImport *import, const DynoOnnxNode *node)
{
  DynoImportValue *a, *b;
  DynoView view;
  Pair pair;

  if (!take_operands (import, node, &a, &b))
    return FALSE;
  DynoTensor *y = find_pair (a, b, &pair)
                      ? multiply_pair (import, dyno_import_shown_name (node), &pair, &view)
                      : NULL;
  return y ? dyno_import_output (import, node, 0, y, &view, NULL)
           : refuse_pair (import, node, "multiplies", a, b);
}

/* Operand k with all values of the result, times a factor, in the layout of the other operand where
 * that is full. */
static DynoTensor *
repeat_operand (DynoImport *import, const char *name, const Pair *pair, guint k, double factor,
                DynoView *view)
{
  gboolean beside = pair->is_full[1 - k];
  const DynoImportContraction options = { .like = beside ? DYNO_IMPORT_LIKE_B : DYNO_IMPORT_NATURAL,
                                          .scale = factor,
                                          .dims = pair->dims,
                                          .samples = MAX (pair->values[0]->tensor->n,
                                                          pair->values[1]->tensor->n),
                                          .layout_only = TRUE };

  return dyno_import_append_contraction (import, name, pair->values[k], pair->labels[k],
                                         pair->values[1 - k], pair->labels[1 - k], pair->all,
                                         pair->n, &options, view);
}

/* a + sign * b, where values of one of them, or of both, are repeated. */
gboolean
dyno_import_broadcast_add (DynoImport *import, const DynoOnnxNode *node, double sign)
{
  DynoImportValue *a, *b;
  DynoTensor *terms[2] = { NULL };
  DynoView views[2];
  Pair pair;

  if (!take_operands (import, node, &a, &b))
    return FALSE;
  if (!find_pair (a, b, &pair))
    return refuse_pair (import, node, "adds", a, b);
  if (pair.is_full[0] && pair.is_full[1])
    pair.is_full[1] = sign > 0 && dyno_view_equal (&a->view, &b->view);
  for (guint k = 0; k < 2; k++)
    {
      double factor = k == 1 ? sign : 1;
      g_autofree char *name = g_strdup_printf ("%s.%u", dyno_import_shown_name (node), k);
      terms[k] = pair.values[k]->tensor;
      views[k] = pair.values[k]->view;
      if (!pair.is_full[k])
        terms[k] = repeat_operand (import, name, &pair, k, factor, &views[k]);
      else if (factor != 1)
        terms[k] = dyno_affine (import->graph, terms[k], factor, 0, name);
      if (!terms[k])
        return refuse_pair (import, node, "adds", a, b);
    }
  if (!dyno_view_equal (&views[0], &views[1]))
    return refuse_pair (import, node, "adds", a, b);
  return dyno_import_output (
      import, node, 0, dyno_add (import->graph, terms[0], terms[1], dyno_import_shown_name (node)),
      &views[0], NULL);
}

/* a times the reciprocal of b */
gboolean
dyno_import_broadcast_div (DynoImport *import, const DynoOnnxNode *node)
{
  DynoImportValue *a = dyno_import_operand (import, node, 0),
                  *b = a ? dyno_import_stored (import, node, 1) : NULL;
  g_autofree char *name = g_strconcat (dyno_import_shown_name (node), ".reciprocal", NULL);
  DynoView view;
  Pair pair;

  if (!b)
    return FALSE;
  DynoImportValue inverse = *b;
  inverse.tensor = dyno_activation (import->graph, b->tensor, DYNO_ACTIVATION_RECIPROCAL, name);
  DynoTensor *y = inverse.tensor && find_pair (a, &inverse, &pair)
                      ? multiply_pair (import, dyno_import_shown_name (node), &pair, &view)
                      : NULL;
  return y ? dyno_import_output (import, node, 0, y, &view, NULL)
           : refuse_pair (import, node, "divides", a, b);
}

/* An Expand, or a Tile along axes of one element, of a tensor.  A value that all samples share is
 * not repeated for them. */
gboolean
dyno_import_repeat (DynoImport *import, const DynoOnnxNode *node)
{
  const DynoConstant *shape = dyno_import_numbers (import, node, 1, NULL);
  gboolean tiles = g_str_equal (node->op_type, "Tile"), over_samples = FALSE;
  DynoImportValue *x = dyno_import_operand (import, node, 0);
  guint of_x[DYNO_VIEW_MAX_DIMS], labels[DYNO_VIEW_MAX_DIMS];
  guint64 dims[DYNO_VIEW_MAX_DIMS];
  DynoView view;

  if (!x)
    return FALSE;
  if (!shape || shape->count > DYNO_VIEW_MAX_DIMS)
    return dyno_import_refuse (import, node, "its shape is not known before the network runs");
  guint n = MAX (shape->count, x->view.n_dims);
  align_labels (x, n, of_x);
  for (guint i = 0; i < n; i++)
    {
      guint missing = n - shape->count, had = n - x->view.n_dims;
      gint64 wanted = i < missing ? 1 : dyno_constant_int (shape, i - missing);
      guint64 dim = i < had ? 1 : dyno_view_dim (&x->view, i - had);
      labels[i] = i;
      if (i == 0 && dim == 1 && wanted == (gint64) import->batch
          && dyno_tensor_is_shared (x->tensor))
        {
          over_samples = TRUE;
          wanted = 1;
        }
      if (tiles && dim > 1 && wanted != 1)
        return dyno_import_refuse (import, node, "Dyno repeats axes of one element only");
      if (!tiles && dim != 1 && wanted != 1 && wanted != (gint64) dim)
        return dyno_import_refuse (import, node,
                                   "it repeats an axis of %" G_GUINT64_FORMAT
                                   " elements to %" G_GINT64_FORMAT,
                                   dim, wanted);
      dims[i] = dim == 1 && wanted > 1 ? (guint64) wanted : dim;
    }
  DynoTensor *y =
      dyno_import_append_contraction (import, dyno_import_shown_name (node), x, of_x, NULL, NULL,
                                      labels, n, &(DynoImportContraction){ .dims = dims }, &view);
  if (y && over_samples)
    add_batch (import, &view);
  return y ? dyno_import_output (import, node, 0, y, &view, NULL)
           : dyno_import_refuse (import, node, "Dyno does not repeat its values over the samples");
}

gboolean
dyno_import_tile (DynoImport *import, const DynoOnnxNode *node)
{
  return dyno_import_is_constant (import, node, 0) ? dyno_import_fold (import, node)
                                                   : dyno_import_repeat (import, node);
}

/* --- parameters with elements of 0 ------------------------------------------------------------ */

/* The factors of the elements of a parameter: 0 where an index of the ScatterND names the element,
 * or the block of elements that it is in, else 1; g_free.  NULL: an index is out of range. */
static float *
make_factors (const DynoImportValue *x, const DynoConstant *indices, guint64 count)
{
  guint depth = (guint) indices->dims[indices->n_dims - 1];
  guint64 block = 1;
  g_autofree float *factors = g_new (float, count);

  for (guint64 i = 0; i < count; i++)
    factors[i] = 1;
  for (guint i = depth; i < x->n_dims; i++)
    block *= (guint64) x->dims[i];
  for (guint row = 0; row < indices->count / depth; row++)
    {
      guint64 at = 0;
      for (guint i = 0; i < depth; i++)
        {
          gint64 index = dyno_constant_int (indices, row * depth + i);
          index += index < 0 ? x->dims[i] : 0;
          if (index < 0 || index >= x->dims[i])
            return NULL;
          at = at * (guint64) x->dims[i] + (guint64) index;
        }
      for (guint64 i = 0; i < block; i++)
        factors[at * block + i] = 0;
    }
  return g_steal_pointer (&factors);
}

/* A ScatterND of zeros into a parameter, whose other elements are trained. */
gboolean
dyno_import_scatter (DynoImport *import, const DynoOnnxNode *node)
{
  const DynoImportValue *given = dyno_import_input (import, node, 0);
  const DynoConstant *indices = dyno_import_numbers (import, node, 1, NULL),
                     *updates = dyno_import_numbers (import, node, 2, NULL);
  const char *name = dyno_import_shown_name (node);
  guint64 count = 1;
  double number = 1;
  DynoView view;
  Pair pair;

  if (dyno_import_is_constant (import, node, 0))
    return dyno_import_fold (import, node);
  if (!given || !given->parameter || given->transposed || !indices || indices->n_dims == 0
      || indices->dims[indices->n_dims - 1] < 1
      || indices->dims[indices->n_dims - 1] > (gint64) given->n_dims || !updates
      || !dyno_constant_is_uniform (updates, &number) || number != 0
      || !g_str_equal (dyno_import_text (node, "reduction", "none"), "none"))
    return dyno_import_refuse (import, node,
                               "Dyno writes zeros to known places of a parameter only");
  DynoImportValue *x = dyno_import_parameter_tensor (import, node, 0);
  if (!x)
    return FALSE;
  for (guint i = 0; i < given->n_dims; i++)
    count *= (guint64) given->dims[i];
  g_autofree float *factors = make_factors (given, indices, count);
  if (!factors)
    return dyno_import_refuse (import, node, "an index is outside of its parameter");
  g_autofree char *mask_name = g_strconcat (name, ".mask", NULL);
  DynoImportValue mask = { .view = x->view, .node = node };
  mask.tensor = dyno_graph_constant (import->graph, mask_name, DYNO_DTYPE_F32, x->tensor->h,
                                     x->tensor->w, x->tensor->c, factors);
  DynoTensor *y = mask.tensor && find_pair (x, &mask, &pair)
                      ? multiply_pair (import, name, &pair, &view)
                      : NULL;
  return dyno_import_output (import, node, 0, y, &view, NULL);
}

/* --- sums over axes --------------------------------------------------------------------------- */

/* ReduceSum, ReduceMean, ReduceSumSquare and ReduceL2 over any axes but the batch. */
gboolean
dyno_import_reduce_axes (DynoImport *import, const DynoOnnxNode *node)
{
  const DynoConstant *axes = dyno_import_numbers (import, node, 1, "axes");
  gboolean keep = dyno_import_int (node, "keepdims", 1) != 0,
           root = g_str_equal (node->op_type, "ReduceL2"),
           squares = root || g_str_equal (node->op_type, "ReduceSumSquare");
  guint of_x[DYNO_VIEW_MAX_DIMS], labels[DYNO_VIEW_MAX_DIMS], set = 0, n = 0;
  const char *name = dyno_import_shown_name (node);
  g_autofree char *squares_name = g_strconcat (name, ".squares", NULL),
                  *root_name = g_strconcat (name, ".root", NULL);
  DynoImportValue *x = dyno_import_operand (import, node, 0);
  guint64 count = 1;
  DynoView view;

  if (!x)
    return FALSE;
  for (guint i = 0; axes && i < axes->count; i++)
    {
      gint64 axis = dyno_constant_int (axes, i);
      axis += axis < 0 ? (gint64) x->view.n_dims : 0;
      if (axis < 0 || axis >= (gint64) x->view.n_dims)
        return dyno_import_refuse (import, node, "its axes are out of range");
      set |= 1u << axis;
    }
  if (set == 0)
    return dyno_import_refuse (import, node, "Dyno sums over axes that the node names");
  for (guint axis = 0; axis < x->view.n_dims; axis++)
    {
      of_x[axis] = axis;
      if (set >> axis & 1)
        count *= dyno_view_dim (&x->view, axis);
      if (!(set >> axis & 1) || keep)
        labels[n++] = set >> axis & 1 ? DYNO_IMPORT_NO_LABEL : axis;
    }
  /* The mean of the squares, and not their sum, has a place among fp16 numbers. */
  gboolean mean = root || g_str_equal (node->op_type, "ReduceMean");
  const DynoImportContraction options = { .like = DYNO_IMPORT_LIKE_A,
                                          .scale = mean ? 1.0 / (double) count : 1 };
  DynoTensor *y = dyno_import_append_contraction (import, root ? squares_name : name, x, of_x,
                                                  squares ? x : NULL, squares ? of_x : NULL, labels,
                                                  n, &options, &view);
  if (y && root)
    y = dyno_activation (import->graph, y, DYNO_ACTIVATION_SQRT, root_name);
  if (y && root)
    y = dyno_affine (import->graph, y, sqrt ((double) count), 0, name);
  return y ? dyno_import_output (import, node, 0, y, &view, NULL)
           : dyno_import_refuse (import, node, "Dyno sums over axes other than the samples");
}

gboolean
dyno_import_reduce_sum (DynoImport *import, const DynoOnnxNode *node)
{
  return dyno_import_is_constant (import, node, 0) ? dyno_import_fold (import, node)
                                                   : dyno_import_reduce_axes (import, node);
}

/* --- attention -------------------------------------------------------------------------------- */

gboolean
dyno_import_general_attention (DynoImport *import, const DynoOnnxNode *node, double scale,
                               DynoImportValue *q, DynoImportValue *keys, DynoImportValue *v)
{
  const char *name = dyno_import_shown_name (node);
  g_autofree char *scores_name = g_strconcat (name, ".scores", NULL),
                  *softmax_name = g_strconcat (name, ".softmax", NULL);
  DynoImportValue scores = { .node = node };
  DynoView view;

  scores.tensor = append_product (import, scores_name, q, keys, scale, &scores.view);
  if (!scores.tensor)
    return FALSE;
  DynoImportValue *rows = dyno_import_with_channels (import, node, &scores, scores.view.n_dims - 1);
  DynoTensor *softmax = rows ? dyno_softmax (import->graph, rows->tensor, softmax_name) : NULL;
  if (!softmax)
    return FALSE;
  DynoImportValue shares = { .node = node, .tensor = softmax, .view = rows->view };
  DynoTensor *y = append_product (import, name, &shares, v, 0, &view);
  return y && dyno_import_output (import, node, 0, y, &view, NULL);
}
