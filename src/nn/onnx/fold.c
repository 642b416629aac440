/* SPDX-License-Identifier: MIT */
/* Operators over numbers that are known before the network runs, by which exports compute shapes,
 * masks and tables of indices.  They are folded in the order of the file. */
#include "fold-private.h"
#include <string.h>

/* --- walks ------------------------------------------------------------------------------------ */

gint64
dyno_fold_count (const gint64 *dims, guint n_dims)
{
  gint64 count = 1;

  for (guint i = 0; i < n_dims; i++)
    count *= dims[i];
  return count;
}

void
dyno_fold_strides (const gint64 *dims, guint n_dims, gint64 *strides)
{
  gint64 stride = 1;

  for (guint i = n_dims; i-- > 0;)
    {
      strides[i] = stride;
      stride *= dims[i];
    }
}

void
dyno_fold_walk_init (DynoFoldWalk *walk, const gint64 *dims, guint n_dims)
{
  memset (walk, 0, sizeof *walk);
  walk->n_dims = n_dims;
  for (guint i = 0; i < n_dims; i++)
    walk->dims[i] = dims[i];
}

void
dyno_fold_walk_broadcast (DynoFoldWalk *walk, guint k, const DynoConstant *constant)
{
  gint64 strides[DYNO_CONSTANT_MAX_DIMS];
  guint skipped = walk->n_dims - constant->n_dims;

  dyno_fold_strides (constant->dims, constant->n_dims, strides);
  for (guint i = 0; i < constant->n_dims; i++)
    walk->strides[k][skipped + i] = constant->dims[i] == 1 ? 0 : strides[i];
}

void
dyno_fold_walk_next (DynoFoldWalk *walk)
{
  for (guint axis = walk->n_dims; axis-- > 0;)
    {
      gboolean ends = ++walk->at[axis] == walk->dims[axis];
      gint64 steps = ends ? 1 - walk->dims[axis] : 1;
      for (guint k = 0; k < DYNO_FOLD_PLACES; k++)
        walk->place[k] += steps * walk->strides[k][axis];
      if (!ends)
        return;
      walk->at[axis] = 0;
    }
}

/* --- inputs and outputs ----------------------------------------------------------------------- */

const DynoConstant *
dyno_fold_known (DynoImport *import, const DynoOnnxNode *node, guint i)
{
  const DynoImportValue *value = dyno_import_input (import, node, i);

  if (value && value->constant)
    return value->constant;
  dyno_import_refuse (import, node, "its input %u is not known before the network runs", i);
  return NULL;
}

gboolean
dyno_fold_optional (DynoImport *import, const DynoOnnxNode *node, guint i, const char *attribute,
                    const DynoConstant **numbers)
{
  *numbers = dyno_import_numbers (import, node, i, attribute);
  return *numbers || i >= node->n_inputs || !*node->inputs[i]
         || dyno_fold_known (import, node, i) != NULL;
}

static DynoConstant *
check_new (DynoImport *import, const DynoOnnxNode *node, DynoConstant *made)
{
  if (!made)
    dyno_import_refuse (import, node, "it makes more than %u numbers, or more than %u axes",
                        DYNO_CONSTANT_MAX_COUNT, DYNO_CONSTANT_MAX_DIMS);
  else if (!dyno_import_count_numbers (import, node, made->count))
    g_clear_pointer (&made, dyno_constant_free);
  return made;
}

DynoConstant *
dyno_fold_make (DynoImport *import, const DynoOnnxNode *node, gboolean is_int, const gint64 *dims,
                guint n_dims)
{
  return check_new (import, node, dyno_constant_new (is_int, dims, n_dims));
}

DynoConstant *
dyno_fold_new_like (DynoImport *import, const DynoOnnxNode *node, const DynoConstant *like,
                    const gint64 *dims, guint n_dims)
{
  return check_new (import, node, dyno_constant_new_like (like, dims, n_dims));
}

gboolean
dyno_fold_overflows (DynoImport *import, const DynoOnnxNode *node, DynoConstant *made)
{
  dyno_constant_free (made);
  return dyno_import_refuse (import, node, "its numbers overflow, or it divides by 0");
}

gboolean
dyno_fold_refuse_dims (DynoImport *import, const DynoOnnxNode *node)
{
  return dyno_import_refuse (import, node, "the shapes of its inputs do not fit each other");
}

gboolean
dyno_fold_axis (DynoImport *import, const DynoOnnxNode *node, gint64 given, guint n_dims,
                guint *axis)
{
  gint64 from_front = given < 0 && given >= -(gint64) n_dims ? given + (gint64) n_dims : given;

  *axis = (guint) from_front;
  return (from_front >= 0 && from_front < (gint64) n_dims)
         || dyno_import_refuse (import, node,
                                "its axis %" G_GINT64_FORMAT " is out of range: there are %u",
                                given, n_dims);
}

gboolean
dyno_fold_axes (DynoImport *import, const DynoOnnxNode *node, const DynoConstant *list,
                guint n_dims, guint *set)
{
  guint axis;

  *set = list ? 0 : (1u << n_dims) - 1;
  for (guint i = 0; list && i < list->count; i++)
    {
      if (!dyno_fold_axis (import, node, dyno_constant_int (list, i), n_dims, &axis))
        return FALSE;
      if (*set >> axis & 1)
        return dyno_import_refuse (import, node, "it names axis %u twice", axis);
      *set |= 1u << axis;
    }
  return TRUE;
}

gboolean
dyno_fold_index (DynoImport *import, const DynoOnnxNode *node, const DynoConstant *list, guint i,
                 gint64 n, gint64 *index)
{
  gint64 given = dyno_constant_int (list, i);

  *index = given < 0 && given >= -n ? given + n : given;
  return (*index >= 0 && *index < n)
         || dyno_import_refuse (import, node,
                                "its index %" G_GINT64_FORMAT
                                " is out of range: the axis has %" G_GINT64_FORMAT,
                                given, n);
}

gboolean
dyno_fold_take_dims (DynoImport *import, const DynoOnnxNode *node, const DynoConstant *list,
                     gint64 *dims)
{
  if (list->count > DYNO_CONSTANT_MAX_DIMS)
    return dyno_import_refuse (import, node, "its shape has %u axes, more than %u", list->count,
                               DYNO_CONSTANT_MAX_DIMS);
  for (guint i = 0; i < list->count; i++)
    {
      dims[i] = dyno_constant_int (list, i);
      if (dims[i] < 0)
        return dyno_import_refuse (import, node, "its shape has an axis of %" G_GINT64_FORMAT,
                                   dims[i]);
    }
  return TRUE;
}

gboolean
dyno_fold_broadcast (DynoImport *import, const DynoOnnxNode *node, const gint64 *dims, guint n_dims,
                     gint64 *to, guint *n_to)
{
  guint n = MAX (n_dims, *n_to), new_axes = n - *n_to;

  memmove (to + new_axes, to, *n_to * sizeof *to);
  for (guint i = 0; i < new_axes; i++)
    to[i] = 1;
  *n_to = n;
  for (guint i = 0; i < n_dims; i++)
    {
      gint64 *at = &to[n - n_dims + i];
      if (*at != dims[i] && *at != 1 && dims[i] != 1)
        return dyno_import_refuse (import, node,
                                   "an axis of %" G_GINT64_FORMAT
                                   " numbers does not fit one of %" G_GINT64_FORMAT,
                                   *at, dims[i]);
      *at = *at == 1 ? dims[i] : *at;
    }
  return TRUE;
}

gboolean
dyno_fold_reshape (DynoImport *import, const DynoOnnxNode *node, const DynoConstant *data,
                   const gint64 *dims, guint n_dims)
{
  DynoConstant *made = dyno_fold_new_like (import, node, data, dims, n_dims);

  if (!made)
    return FALSE;
  if (made->count != data->count)
    {
      dyno_constant_free (made);
      return dyno_import_refuse (import, node, "its shape does not fit its %u numbers",
                                 data->count);
    }
  if (made->is_int)
    memcpy (made->ints, data->ints, data->count * sizeof *made->ints);
  else
    memcpy (made->floats, data->floats, data->count * sizeof *made->floats);
  return dyno_import_output_constant (import, node, made);
}

/* --- shapes ----------------------------------------------------------------------------------- */

/* The shape of input 0; FALSE: it has no shape, and the node was refused. */
static gboolean
take_shape (DynoImport *import, const DynoOnnxNode *node, gint64 *dims, gint64 *n)
{
  const DynoImportValue *value = dyno_import_input (import, node, 0);

  *n = 0;
  if (value && value->tensor)
    for (; *n < (gint64) value->view.n_dims; ++*n)
      dims[*n] = (gint64) dyno_view_dim (&value->view, (guint) *n);
  else if (value && value->constant)
    for (; *n < (gint64) value->constant->n_dims; ++*n)
      dims[*n] = value->constant->dims[*n];
  else if (value && value->parameter && value->parameter->n_dims <= DYNO_VIEW_MAX_DIMS)
    for (; *n < (gint64) value->parameter->n_dims; ++*n)
      dims[*n] = value->parameter->dims[*n].value;
  else
    return dyno_import_refuse (import, node, "its input has no shape");
  return TRUE;
}

/* The shape of a value, from axis `start` to before axis `end` (opset 15). */
gboolean
dyno_import_shape (DynoImport *import, const DynoOnnxNode *node)
{
  gint64 dims[DYNO_VIEW_MAX_DIMS], n;

  if (!take_shape (import, node, dims, &n))
    return FALSE;
  gint64 start = dyno_import_int (node, "start", 0), end = dyno_import_int (node, "end", n);
  start = CLAMP (start < 0 ? start + n : start, 0, n);
  end = CLAMP (end < 0 ? end + n : end, start, n);
  gint64 count = end - start;
  DynoConstant *shape = dyno_constant_new (TRUE, &count, 1);
  memcpy (shape->ints, dims + start, (gsize) count * sizeof *dims);
  return dyno_import_output_constant (import, node, shape);
}

gboolean
dyno_import_size (DynoImport *import, const DynoOnnxNode *node)
{
  gint64 dims[DYNO_VIEW_MAX_DIMS], n;

  if (!take_shape (import, node, dims, &n))
    return FALSE;
  DynoConstant *size = dyno_constant_new (TRUE, NULL, 0);
  size->ints[0] = 1;
  for (gint64 i = 0; i < n; i++)
    if (__builtin_mul_overflow (size->ints[0], dims[i], &size->ints[0]))
      return dyno_fold_overflows (import, node, size);
  return dyno_import_output_constant (import, node, size);
}

/* --- the table -------------------------------------------------------------------------------- */

/* Counts the numbers that a node reads. */
static gboolean
count_inputs (DynoImport *import, const DynoOnnxNode *node)
{
  guint64 count = 1;

  for (guint i = 0; i < node->n_inputs; i++)
    {
      const DynoImportValue *value = dyno_import_input (import, node, i);
      count += value && value->constant ? value->constant->count : 0;
    }
  return dyno_import_count_numbers (import, node, count);
}

gboolean
dyno_import_fold (DynoImport *import, const DynoOnnxNode *node)
{
  static const DynoImportRow rows[] = {
    { "CastLike", dyno_fold_cast_like },
    { "Cast", dyno_fold_cast },
    { "Clip", dyno_fold_clip },
    { "Concat", dyno_fold_concat },
    { "ConstantOfShape", dyno_fold_constant_of_shape },
    { "CumSum", dyno_fold_cum_sum },
    { "Expand", dyno_fold_expand },
    { "Flatten", dyno_fold_flatten },
    { "Gather", dyno_fold_gather },
    { "GatherElements", dyno_fold_gather_elements },
    { "GatherND", dyno_fold_gather_nd },
    { "Range", dyno_fold_range },
    { "ReduceMax", dyno_fold_reduce },
    { "ReduceMean", dyno_fold_reduce },
    { "ReduceMin", dyno_fold_reduce },
    { "ReduceProd", dyno_fold_reduce },
    { "ReduceSum", dyno_fold_reduce },
    { "Reshape", dyno_fold_reshape_node },
    { "ScatterND", dyno_fold_scatter_nd },
    { "Slice", dyno_fold_slice },
    { "Split", dyno_fold_split },
    { "Squeeze", dyno_fold_squeeze },
    { "Tile", dyno_fold_tile },
    { "Transpose", dyno_fold_transpose },
    { "Trilu", dyno_fold_trilu },
    { "Unsqueeze", dyno_fold_unsqueeze },
    { "Where", dyno_fold_where },
  };

  if (!count_inputs (import, node))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (g_str_equal (rows[i].op_type, node->op_type))
      return rows[i].read (import, node);
  return dyno_fold_elementwise (import, node);
}
