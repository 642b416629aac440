/* SPDX-License-Identifier: MIT */
/* Folding of reductions and cumulative sums over axes. */
#include "fold-private.h"
#include <math.h>
#include <string.h>

typedef enum { SUM, MEAN, PRODUCT, LEAST, MOST } Reduction;

static Reduction
find_reduction (const DynoOnnxNode *node)
{
  static const char *const names[] = { [SUM] = "ReduceSum",
                                       [MEAN] = "ReduceMean",
                                       [PRODUCT] = "ReduceProd",
                                       [LEAST] = "ReduceMin",
                                       [MOST] = "ReduceMax" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (g_str_equal (names[i], node->op_type))
      return i;
  g_return_val_if_reached (SUM);
}

/* Reduces number i of data into number `at` of made; first: no number was reduced into it before.
 * FALSE: the result overflows. */
static gboolean
take_in (Reduction reduction, DynoConstant *made, guint at, const DynoConstant *data, guint i,
         gboolean first)
{
  if (made->is_int)
    {
      gint64 *to = &made->ints[at], value = data->ints[i];
      if (first)
        *to = value;
      else if (reduction == PRODUCT)
        return !__builtin_mul_overflow (*to, value, to);
      else if (reduction == SUM)
        return !__builtin_add_overflow (*to, value, to);
      else
        *to = reduction == LEAST ? MIN (*to, value) : MAX (*to, value);
      return TRUE;
    }
  double *to = &made->floats[at], value = data->floats[i];
  if (first)
    *to = value;
  else if (reduction == PRODUCT)
    *to *= value;
  else if (reduction == SUM || reduction == MEAN)
    *to += value;
  else if (isnan (value) || (reduction == LEAST ? value < *to : value > *to))
    *to = value;
  return TRUE;
}

/* The axes that are reduced, as a bit mask; if the node names none, these are all axes, or with
 * noop_with_empty_axes no axis. */
static gboolean
take_axes (DynoImport *import, const DynoOnnxNode *node, guint n_dims, guint *set)
{
  const DynoConstant *axes;

  if (!dyno_fold_optional (import, node, 1, "axes", &axes))
    return FALSE;
  if ((!axes || axes->count == 0) && dyno_import_int (node, "noop_with_empty_axes", 0) != 0)
    *set = 0;
  else
    return dyno_fold_axes (import, node, axes && axes->count > 0 ? axes : NULL, n_dims, set);
  return TRUE;
}

/* Reduces data into made, whose axes are those of data, with extent 1 for the axes in the set.
 * FALSE: a number overflows. */
static gboolean
reduce (Reduction reduction, const DynoConstant *data, guint set, DynoConstant *made)
{
  gint64 strides[DYNO_CONSTANT_MAX_DIMS], kept[DYNO_CONSTANT_MAX_DIMS];
  DynoFoldWalk walk;

  for (guint i = 0; i < data->n_dims; i++)
    kept[i] = set >> i & 1 ? 1 : data->dims[i];
  dyno_fold_strides (kept, data->n_dims, strides);
  dyno_fold_walk_init (&walk, data->dims, data->n_dims);
  for (guint i = 0; i < data->n_dims; i++)
    walk.strides[0][i] = set >> i & 1 ? 0 : strides[i];
  for (guint i = 0; i < data->count; i++, dyno_fold_walk_next (&walk))
    {
      gboolean first = TRUE;
      for (guint k = 0; k < data->n_dims && first; k++)
        first = !(set >> k & 1) || walk.at[k] == 0;
      if (!take_in (reduction, made, (guint) walk.place[0], data, i, first))
        return FALSE;
    }
  for (guint i = 0; i < made->count && !made->is_int; i++)
    dyno_constant_set_float (
        made, i, reduction == MEAN ? made->floats[i] * made->count / data->count : made->floats[i]);
  return TRUE;
}

gboolean
dyno_fold_reduce (DynoImport *import, const DynoOnnxNode *node)
{
  const DynoConstant *data = dyno_fold_known (import, node, 0);
  gboolean keeps = dyno_import_int (node, "keepdims", 1) != 0;
  Reduction reduction = find_reduction (node);
  gint64 dims[DYNO_CONSTANT_MAX_DIMS];
  guint set, n = 0;

  if (!data || !take_axes (import, node, data->n_dims, &set))
    return FALSE;
  if (data->count == 0)
    return dyno_import_refuse (import, node, "its input is empty");
  if (reduction == MEAN && data->is_int)
    return dyno_import_refuse (import, node, "Dyno does not compute it for whole numbers");
  for (guint i = 0; i < data->n_dims; i++)
    if (!(set >> i & 1))
      dims[n++] = data->dims[i];
    else if (keeps)
      dims[n++] = 1;
  DynoConstant *made = dyno_fold_new_like (import, node, data, dims, n);
  if (!made)
    return FALSE;
  if (!reduce (reduction, data, set, made))
    return dyno_fold_overflows (import, node, made);
  return dyno_import_output_constant (import, node, made);
}

/* Cumulative sums along an axis: of the numbers up to each number, or before it if `exclusive`;
 * `reverse`: from the end. */
gboolean
dyno_fold_cum_sum (DynoImport *import, const DynoOnnxNode *node)
{
  const DynoConstant *data = dyno_fold_known (import, node, 0),
                     *list = data ? dyno_fold_known (import, node, 1) : NULL;
  gboolean exclusive = dyno_import_int (node, "exclusive", 0) != 0,
           reverse = dyno_import_int (node, "reverse", 0) != 0;
  gint64 strides[DYNO_CONSTANT_MAX_DIMS];
  guint axis;

  if (!list)
    return FALSE;
  if (list->count != 1)
    return dyno_import_refuse (import, node, "its axis is not one number");
  if (!dyno_fold_axis (import, node, dyno_constant_int (list, 0), data->n_dims, &axis))
    return FALSE;
  DynoConstant *made = dyno_fold_new_like (import, node, data, data->dims, data->n_dims);
  if (!made)
    return FALSE;
  dyno_fold_strides (data->dims, data->n_dims, strides);
  gint64 n = data->dims[axis], stride = strides[axis];
  for (guint k = 0; k < data->count; k++)
    {
      /* forward from the axis' first number, or backward from its last one */
      guint i = reverse ? data->count - 1 - k : k;
      gint64 at = i / stride % n;
      gboolean first = reverse ? at == n - 1 : at == 0;
      guint before = (guint) (first ? i : reverse ? i + stride : i - stride);
      if (!first)
        dyno_constant_set (made, i, made, before);
      if (exclusive ? !first && !take_in (SUM, made, i, data, before, FALSE)
                    : !take_in (SUM, made, i, data, i, first))
        return dyno_fold_overflows (import, node, made);
      if (!made->is_int)
        dyno_constant_set_float (made, i, made->floats[i]);
    }
  return dyno_import_output_constant (import, node, made);
}
