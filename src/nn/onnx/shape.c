/* SPDX-License-Identifier: MIT */
/* Operators that change only the axes of a value: they change its view. */
#include "import-private.h"
#include <string.h>

gboolean
dyno_import_identity (DynoImport *import, const DynoOnnxNode *node)
{
  return dyno_import_pass (import, node, 0);
}

/* The type of a tensor is the precision's. */
gboolean
dyno_import_cast (DynoImport *import, const DynoOnnxNode *node)
{
  const DynoImportValue *x = dyno_import_input (import, node, 0);

  return x && x->tensor ? dyno_import_pass (import, node, 0) : dyno_import_fold (import, node);
}

/* Output 0 is x with other axes. */
static gboolean
reshape (DynoImport *import, const DynoOnnxNode *node, const DynoImportValue *x, const gint64 *dims,
         guint n)
{
  DynoView view = x->view;

  if (!dyno_view_reshape (&view, dims, n))
    {
      g_autofree char *shape = dyno_view_print (&x->view);
      g_autoptr (GString) to = g_string_new ("(");
      for (guint i = 0; i < n; i++)
        g_string_append_printf (to, "%s%" G_GINT64_FORMAT, i ? ", " : "", dims[i]);
      return dyno_import_refuse (import, node, "Dyno cannot reshape %s to %s)", shape, to->str);
    }
  return dyno_import_output (import, node, 0, x->tensor, &view, NULL);
}

gboolean
dyno_import_flatten (DynoImport *import, const DynoOnnxNode *node)
{
  DynoImportValue *x = dyno_import_tensor (import, node, 0);
  gint64 axis = dyno_import_int (node, "axis", 1), dims[2] = { 1, 1 };

  if (!x)
    return FALSE;
  axis += axis < 0 ? (gint64) x->view.n_dims : 0;
  for (guint i = 0; i < x->view.n_dims; i++)
    dims[i < axis ? 0 : 1] *= (gint64) dyno_view_dim (&x->view, i);
  return reshape (import, node, x, dims, 2);
}

/* Fills dims from the wanted shape: 0 copies an axis, -1 is the rest.  A file that was exported for
 * a batch of a certain size has that number in its shapes, in place of which the graph's batch is
 * taken. */
static gboolean
resolve (DynoImport *import, const DynoOnnxNode *node, const DynoImportValue *x,
         const DynoConstant *shape, gint64 *dims)
{
  gboolean keeps_zero = dyno_import_int (node, "allowzero", 0) != 0;
  guint64 count = dyno_view_count (&x->view), known = 1;
  int rest = -1;
  gint64 batch = (gint64) x->tensor->n;

  for (guint i = 0; i < shape->count; i++)
    {
      dims[i] = dyno_constant_int (shape, i);
      if (dims[i] == 0 && !keeps_zero && i < x->view.n_dims)
        dims[i] = (gint64) dyno_view_dim (&x->view, i);
      else if (i == 0 && import->file_batch > 0 && dims[0] == import->file_batch)
        dims[0] = batch;
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
  return TRUE;
}

gboolean
dyno_import_reshape (DynoImport *import, const DynoOnnxNode *node)
{
  const DynoImportValue *data = dyno_import_input (import, node, 0);
  const DynoConstant *shape = dyno_import_numbers (import, node, 1, "shape");
  gint64 dims[DYNO_VIEW_MAX_DIMS];

  if (data && data->constant && !data->tensor)
    return dyno_import_fold (import, node);
  DynoImportValue *x = dyno_import_tensor (import, node, 0);
  if (!x)
    return FALSE;
  if (!shape || shape->count > G_N_ELEMENTS (dims))
    return dyno_import_refuse (import, node,
                               "the shape that it makes is not known before the "
                               "network runs");
  if (!resolve (import, node, x, shape, dims))
    {
      g_autofree char *print = dyno_view_print (&x->view);
      return dyno_import_refuse (import, node, "its shape does not fit its input %s", print);
    }
  return reshape (import, node, x, dims, shape->count);
}

/* The axes that a node names, of n_dims, as a set of bits.  FALSE: one is out of range. */
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
  const DynoImportValue *data = dyno_import_input (import, node, 0);
  const DynoConstant *axes = dyno_import_numbers (import, node, 1, "axes");
  gint64 dims[DYNO_VIEW_MAX_DIMS];
  guint set = 0, n = 0;

  if (data && data->constant && !data->tensor)
    return dyno_import_fold (import, node);
  DynoImportValue *x = dyno_import_tensor (import, node, 0);
  if (!x)
    return FALSE;
  if (axes && !take_axes (axes, x->view.n_dims, &set))
    return dyno_import_refuse (import, node, "its axes are out of range");
  for (guint i = 0; i < x->view.n_dims; i++)
    {
      gint64 dim = (gint64) dyno_view_dim (&x->view, i);
      if (axes && (set >> i & 1) && dim != 1)
        return dyno_import_refuse (import, node, "axis %u has %" G_GINT64_FORMAT " elements, not 1",
                                   i, dim);
      /* The batch stays, also where it is 1. */
      if (axes ? !(set >> i & 1) : i == 0 || dim != 1)
        dims[n++] = dim;
    }
  return reshape (import, node, x, dims, n);
}

gboolean
dyno_import_unsqueeze (DynoImport *import, const DynoOnnxNode *node)
{
  const DynoImportValue *data = dyno_import_input (import, node, 0);
  const DynoConstant *axes = dyno_import_numbers (import, node, 1, "axes");
  gint64 dims[DYNO_VIEW_MAX_DIMS];
  guint set = 0, from = 0;

  if (data && data->constant && !data->tensor)
    return dyno_import_fold (import, node);
  DynoImportValue *x = dyno_import_tensor (import, node, 0);
  if (!x)
    return FALSE;
  guint n = x->view.n_dims + (axes ? axes->count : 0);
  if (!axes || n > G_N_ELEMENTS (dims) || !take_axes (axes, n, &set))
    return dyno_import_refuse (import, node, "its axes are missing, too many or out of range");
  for (guint i = 0; i < n; i++)
    dims[i] = set >> i & 1 ? 1 : (gint64) dyno_view_dim (&x->view, from++);
  return reshape (import, node, x, dims, n);
}

gboolean
dyno_import_transpose (DynoImport *import, const DynoOnnxNode *node)
{
  DynoImportValue *x = dyno_import_tensor (import, node, 0);
  guint n, perm[DYNO_VIEW_MAX_DIMS], set = 0;
  const gint64 *given = dyno_import_ints (node, "perm", &n);

  if (!x)
    return FALSE;
  if (given && n != x->view.n_dims)
    return dyno_import_refuse (import, node, "perm has %u numbers for %u axes", n, x->view.n_dims);
  n = x->view.n_dims;
  for (guint i = 0; i < n; i++)
    {
      gint64 from = given ? given[i] : (gint64) n - 1 - i;
      if (from < 0 || from >= (gint64) n || (set >> from & 1))
        return dyno_import_refuse (import, node, "perm is no order of the axes");
      set |= 1u << from;
      perm[i] = (guint) from;
    }
  DynoView view = x->view;
  dyno_view_transpose (&view, perm);
  return dyno_import_output (import, node, 0, x->tensor, &view, NULL);
}
