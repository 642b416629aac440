/* SPDX-License-Identifier: MIT */
/* Operators that change only the axes of a value: they change its view.  The axes of a parameter
 * are changed likewise, until a layer uses the parameter. */
#include "import-private.h"
#include <string.h>

gboolean
dyno_import_identity (DynoImport *import, const DynoOnnxNode *node)
{
  return dyno_import_pass (import, node, 0);
}

/* Cast and CastLike.  They leave a tensor as it is, since its type follows from the precision. */
gboolean
dyno_import_cast (DynoImport *import, const DynoOnnxNode *node)
{
  const DynoImportValue *x = dyno_import_input (import, node, 0);

  return x && (x->tensor || (x->parameter && !x->constant)) ? dyno_import_pass (import, node, 0)
                                                            : dyno_import_fold (import, node);
}

/* Input 0 of an operator that changes axes, and the input's axes. */
typedef struct {
  gboolean is_parameter;
  DynoImportValue *value;
  guint n_dims;
  gint64 dims[DYNO_VIEW_MAX_DIMS];
} Data;

/* FALSE: input 0 is neither a tensor nor a parameter, and the node was refused. */
static gboolean
take_data (DynoImport *import, const DynoOnnxNode *node, Data *data)
{
  data->is_parameter = dyno_import_is_parameter (import, node, 0);
  data->value = data->is_parameter ? dyno_import_input (import, node, 0)
                                   : dyno_import_viewed (import, node, 0);
  if (!data->value)
    return FALSE;
  data->n_dims = data->is_parameter ? data->value->n_dims : data->value->view.n_dims;
  for (guint i = 0; i < data->n_dims; i++)
    data->dims[i] =
        data->is_parameter ? data->value->dims[i] : (gint64) dyno_view_dim (&data->value->view, i);
  return TRUE;
}

/* "(8, 3, 224, 224)"; g_free. */
static char *
print_dims (const gint64 *dims, guint n)
{
  GString *text = g_string_new ("(");

  for (guint i = 0; i < n; i++)
    g_string_append_printf (text, "%s%" G_GINT64_FORMAT, i ? ", " : "", dims[i]);
  g_string_append_c (text, ')');
  return g_string_free (text, FALSE);
}

/* Sets output 0 to the data with other axes. */
static gboolean
reshape (DynoImport *import, const DynoOnnxNode *node, const Data *data, const gint64 *dims,
         guint n)
{
  DynoView view = data->value->view;
  DynoImportValue *made = data->value;

  if (data->is_parameter && !data->value->transposed)
    return dyno_import_output_parameter (import, node, 0, dims, n, FALSE);
  if (!data->is_parameter
      && (dyno_view_reshape (&view, dims, n)
          || (made = dyno_import_copy_in_order (import, node, made, dims, n, &view))))
    return dyno_import_output (import, node, 0, made->tensor, &view, NULL);
  g_autofree char *from = print_dims (data->dims, data->n_dims), *to = print_dims (dims, n);
  return dyno_import_refuse (import, node, "Dyno cannot reshape %s to %s", from, to);
}

gboolean
dyno_import_flatten (DynoImport *import, const DynoOnnxNode *node)
{
  Data data;
  gint64 axis = dyno_import_int (node, "axis", 1), dims[2] = { 1, 1 };

  if (dyno_import_is_constant (import, node, 0))
    return dyno_import_fold (import, node);
  if (!take_data (import, node, &data))
    return FALSE;
  axis += axis < 0 ? (gint64) data.n_dims : 0;
  for (guint i = 0; i < data.n_dims; i++)
    dims[i < axis ? 0 : 1] *= data.dims[i];
  return reshape (import, node, &data, dims, 2);
}

/* Fills dims from the wanted shape: 0 copies an axis, -1 stands for the remaining elements. */
static gboolean
resolve (const DynoOnnxNode *node, const Data *data, const DynoConstant *shape, gint64 *dims)
{
  gboolean keeps_zero = dyno_import_int (node, "allowzero", 0) != 0;
  guint64 count = 1, known = 1;
  int rest = -1;

  for (guint i = 0; i < data->n_dims; i++)
    count *= (guint64) data->dims[i];
  for (guint i = 0; i < shape->count; i++)
    {
      dims[i] = dyno_constant_int (shape, i);
      if (dims[i] == 0 && !keeps_zero && i < data->n_dims)
        dims[i] = data->dims[i];
      if (dims[i] == -1 && rest < 0)
        rest = (int) i;
      else if (dims[i] < 1 || (guint64) dims[i] > count)
        return FALSE;
      else
        known *= (guint64) dims[i];
      if (known > count)
        return FALSE;
    }
  if (rest >= 0)
    dims[rest] = (gint64) (count / known);
  return rest >= 0 ? count % known == 0 : count == known;
}

gboolean
dyno_import_reshape (DynoImport *import, const DynoOnnxNode *node)
{
  const DynoConstant *shape = dyno_import_numbers (import, node, 1, "shape");
  gint64 dims[DYNO_VIEW_MAX_DIMS];
  Data data;

  if (dyno_import_is_constant (import, node, 0))
    return dyno_import_fold (import, node);
  if (!take_data (import, node, &data))
    return FALSE;
  if (!shape || shape->count > G_N_ELEMENTS (dims))
    return dyno_import_refuse (import, node,
                               "the shape that it makes is not known before the "
                               "network runs");
  if (!resolve (node, &data, shape, dims))
    {
      g_autofree char *print = print_dims (data.dims, data.n_dims);
      return dyno_import_refuse (import, node, "its shape does not fit its input %s", print);
    }
  return reshape (import, node, &data, dims, shape->count);
}

/* TRUE: the shape leaves a tensor as it is. */
gboolean
dyno_import_keeps_shape (const DynoImportValue *x, const DynoConstant *shape)
{
  gboolean same = shape && shape->count <= x->view.n_dims;

  for (guint i = 0; same && i < shape->count; i++)
    {
      gint64 wanted = dyno_constant_int (shape, i);
      same = wanted == 1
             || wanted == (gint64) dyno_view_dim (&x->view, x->view.n_dims - shape->count + i);
    }
  return same;
}

/* A parameter that is expanded over the samples, such as a class token, stays the parameter; a
 * tensor that has the shape already stays the tensor; other values are repeated, and constants are
 * folded. */
gboolean
dyno_import_expand (DynoImport *import, const DynoOnnxNode *node)
{
  const DynoImportValue *value = dyno_import_input (import, node, 0);
  const DynoConstant *shape = dyno_import_numbers (import, node, 1, NULL);
  gint64 dims[DYNO_VIEW_MAX_DIMS];
  Data data;

  if (value && value->tensor && dyno_import_keeps_shape (value, shape))
    return dyno_import_pass (import, node, 0);
  if (value && value->tensor && value->view.n_dims == 4 && dyno_view_dim (&value->view, 2) == 1
      && dyno_view_dim (&value->view, 3) == 1)
    return dyno_import_output_repeat (import, node);
  if (value && value->tensor)
    return dyno_import_repeat (import, node);
  if (!dyno_import_is_parameter (import, node, 0))
    return dyno_import_fold (import, node);
  if (!take_data (import, node, &data))
    return FALSE;
  if (!shape || shape->count > G_N_ELEMENTS (dims) || shape->count < data.n_dims)
    return dyno_import_refuse (import, node, "its shape is not known before the network runs");
  for (guint i = 0; i < shape->count; i++)
    {
      guint added = shape->count - data.n_dims;
      gint64 wanted = dyno_constant_int (shape, i), had = i < added ? 1 : data.dims[i - added];
      dims[i] = had;
      if (wanted != had && wanted != 1 && (i > 0 || had != 1))
        return dyno_import_repeat (import, node);
    }
  return dyno_import_output_parameter (import, node, 0, dims, shape->count, data.value->transposed);
}

/* The axes, of n_dims, that a node names, as a bit mask.  FALSE: one is out of range or
 * repeated. */
static gboolean
take_axes (const DynoConstant *axes, guint n_dims, guint *set)
{
  *set = 0;
  for (guint i = 0; i < axes->count; i++)
    {
      gint64 axis = dyno_constant_int (axes, i);
      axis += axis < 0 ? (gint64) n_dims : 0;
      if (axis < 0 || axis >= (gint64) n_dims || (*set >> axis & 1))
        return FALSE;
      *set |= 1u << axis;
    }
  return TRUE;
}

gboolean
dyno_import_squeeze (DynoImport *import, const DynoOnnxNode *node)
{
  const DynoConstant *axes = dyno_import_numbers (import, node, 1, "axes");
  gint64 dims[DYNO_VIEW_MAX_DIMS];
  guint set = 0, n = 0;
  Data data;

  if (dyno_import_is_constant (import, node, 0))
    return dyno_import_fold (import, node);
  if (!take_data (import, node, &data))
    return FALSE;
  if (axes && !take_axes (axes, data.n_dims, &set))
    return dyno_import_refuse (import, node, "its axes are out of range");
  for (guint i = 0; i < data.n_dims; i++)
    {
      if (axes && (set >> i & 1) && data.dims[i] != 1)
        return dyno_import_refuse (import, node, "axis %u has %" G_GINT64_FORMAT " elements, not 1",
                                   i, data.dims[i]);
      /* Without axes the batch stays, even if it is 1. */
      if (axes ? !(set >> i & 1) : i == 0 || data.dims[i] != 1)
        dims[n++] = data.dims[i];
    }
  return reshape (import, node, &data, dims, n);
}

gboolean
dyno_import_unsqueeze (DynoImport *import, const DynoOnnxNode *node)
{
  const DynoConstant *axes = dyno_import_numbers (import, node, 1, "axes");
  gint64 dims[DYNO_VIEW_MAX_DIMS];
  guint set = 0, from = 0;
  Data data;

  if (dyno_import_is_constant (import, node, 0))
    return dyno_import_fold (import, node);
  if (!take_data (import, node, &data))
    return FALSE;
  guint n = data.n_dims + (axes ? axes->count : 0);
  if (!axes || n > G_N_ELEMENTS (dims) || !take_axes (axes, n, &set))
    return dyno_import_refuse (import, node, "its axes are missing, too many or out of range");
  for (guint i = 0; i < n; i++)
    dims[i] = set >> i & 1 ? 1 : data.dims[from++];
  return reshape (import, node, &data, dims, n);
}

/* Transposes a parameter, which becomes a tensor unless it is a matrix or only axes of 1 move. */
static gboolean
transpose_parameter (DynoImport *import, const DynoOnnxNode *node, const Data *data,
                     const guint *perm)
{
  gint64 dims[DYNO_VIEW_MAX_DIMS];
  guint last = 0;
  gboolean in_order = TRUE;

  for (guint i = 0; i < data->n_dims; i++)
    {
      dims[i] = data->dims[perm[i]];
      in_order &= dims[i] == 1 || perm[i] >= last;
      last = dims[i] == 1 ? last : perm[i];
    }
  if (!in_order && data->n_dims != 2)
    {
      DynoImportValue *copy = dyno_import_parameter_tensor (import, node, 0);
      DynoView view;
      if (!copy)
        return FALSE;
      view = copy->view;
      dyno_view_transpose (&view, perm);
      return dyno_import_output (import, node, 0, copy->tensor, &view, NULL);
    }
  return dyno_import_output_parameter (import, node, 0, dims, data->n_dims,
                                       in_order ? data->value->transposed
                                                : !data->value->transposed);
}

gboolean
dyno_import_transpose (DynoImport *import, const DynoOnnxNode *node)
{
  guint n, perm[DYNO_VIEW_MAX_DIMS], set = 0;
  const gint64 *given = dyno_import_ints (node, "perm", &n);
  Data data;

  if (dyno_import_is_constant (import, node, 0))
    return dyno_import_fold (import, node);
  if (!take_data (import, node, &data))
    return FALSE;
  if (given && n != data.n_dims)
    return dyno_import_refuse (import, node, "perm has %u numbers for %u axes", n, data.n_dims);
  n = data.n_dims;
  for (guint i = 0; i < n; i++)
    {
      gint64 from = given ? given[i] : (gint64) n - 1 - i;
      if (from < 0 || from >= (gint64) n || (set >> from & 1))
        return dyno_import_refuse (import, node, "perm is not a permutation of the axes");
      set |= 1u << from;
      perm[i] = (guint) from;
    }
  if (data.is_parameter)
    return transpose_parameter (import, node, &data, perm);
  DynoView view = data.value->view;
  dyno_view_transpose (&view, perm);
  return dyno_import_output (import, node, 0, data.value->tensor, &view, NULL);
}
