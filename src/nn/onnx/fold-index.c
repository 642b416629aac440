/* SPDX-License-Identifier: MIT */
/* Folding of operators that take or replace numbers by index. */
#include "fold-private.h"
#include <string.h>

/* Takes slices of an axis by indices. */
gboolean
dyno_fold_gather (DynoImport *import, const DynoOnnxNode *node)
{
  const DynoConstant *data = dyno_fold_known (import, node, 0),
                     *indices = data ? dyno_fold_known (import, node, 1) : NULL;
  gint64 dims[DYNO_FOLD_MAX_DIMS], at;
  guint axis, n = 0, to = 0;

  if (!indices
      || !dyno_fold_axis (import, node, dyno_import_int (node, "axis", 0), data->n_dims, &axis))
    return FALSE;
  for (guint i = 0; i < axis; i++)
    dims[n++] = data->dims[i];
  for (guint i = 0; i < indices->n_dims; i++)
    dims[n++] = indices->dims[i];
  for (guint i = axis + 1; i < data->n_dims; i++)
    dims[n++] = data->dims[i];
  DynoConstant *made = dyno_fold_new_like (import, node, data, dims, n);
  if (!made)
    return FALSE;
  gint64 before = dyno_fold_count (data->dims, axis), all = data->dims[axis],
         inside = dyno_fold_count (data->dims + axis + 1, data->n_dims - axis - 1);
  for (gint64 b = 0; b < before && made->count > 0; b++)
    for (guint i = 0; i < indices->count; i++)
      {
        if (!dyno_fold_index (import, node, indices, i, all, &at))
          {
            dyno_constant_free (made);
            return FALSE;
          }
        for (gint64 k = 0; k < inside; k++)
          dyno_constant_set (made, to++, data, (guint) ((b * all + at) * inside + k));
      }
  return dyno_import_output_constant (import, node, made);
}

/* The offset in data that a row of indices gives, for the axes from `first` on; FALSE: an index is
 * out of range, and the node was refused. */
static gboolean
find_place (DynoImport *import, const DynoOnnxNode *node, const DynoConstant *data, guint first,
            const DynoConstant *indices, gint64 row, guint width, gint64 *place)
{
  gint64 strides[DYNO_CONSTANT_MAX_DIMS], at;

  dyno_fold_strides (data->dims, data->n_dims, strides);
  *place = 0;
  for (guint k = 0; k < width; k++)
    {
      if (!dyno_fold_index (import, node, indices, (guint) (row * width + k), data->dims[first + k],
                            &at))
        return FALSE;
      *place += at * strides[first + k];
    }
  return TRUE;
}

/* Each row of the last axis of the indices has *width indices, for the axes of data after the first
 * `batch` axes.  FALSE: they do not fit, and the node was refused. */
static gboolean
check_rows (DynoImport *import, const DynoOnnxNode *node, const DynoConstant *data, gint64 batch,
            const DynoConstant *indices, guint *width)
{
  gint64 last = indices->n_dims > 0 ? indices->dims[indices->n_dims - 1] : 0;

  *width = 0;
  if (last < 1 || batch < 0 || batch >= (gint64) indices->n_dims
      || last > (gint64) data->n_dims - batch)
    return dyno_fold_refuse_dims (import, node);
  for (gint64 i = 0; i < batch; i++)
    if (data->dims[i] != indices->dims[i])
      return dyno_fold_refuse_dims (import, node);
  *width = (guint) last;
  return TRUE;
}

gboolean
dyno_fold_gather_nd (DynoImport *import, const DynoOnnxNode *node)
{
  const DynoConstant *data = dyno_fold_known (import, node, 0),
                     *indices = data ? dyno_fold_known (import, node, 1) : NULL;
  gint64 batch = dyno_import_int (node, "batch_dims", 0), dims[DYNO_FOLD_MAX_DIMS], place;
  guint width, n = 0, to = 0;

  if (!indices || !check_rows (import, node, data, batch, indices, &width))
    return FALSE;
  for (guint i = 0; i + 1 < indices->n_dims; i++)
    dims[n++] = indices->dims[i];
  for (guint i = (guint) batch + width; i < data->n_dims; i++)
    dims[n++] = data->dims[i];
  DynoConstant *made = dyno_fold_new_like (import, node, data, dims, n);
  if (!made)
    return FALSE;
  guint tail = data->n_dims - (guint) batch - width;
  gint64 inside = dyno_fold_count (data->dims + data->n_dims - tail, tail),
         rows = inside > 0 ? (gint64) made->count / inside : 0,
         batches = dyno_fold_count (data->dims, (guint) batch),
         each = batches > 0 ? (gint64) data->count / batches : 0;
  for (gint64 row = 0; row < rows; row++)
    {
      if (!find_place (import, node, data, (guint) batch, indices, row, width, &place))
        {
          dyno_constant_free (made);
          return FALSE;
        }
      place += row / (rows / batches) * each;
      for (gint64 k = 0; k < inside; k++)
        dyno_constant_set (made, to++, data, (guint) (place + k));
    }
  return dyno_import_output_constant (import, node, made);
}

/* Each number of the output is taken from its own position in data, except that along the axis the
 * index gives the position. */
gboolean
dyno_fold_gather_elements (DynoImport *import, const DynoOnnxNode *node)
{
  const DynoConstant *data = dyno_fold_known (import, node, 0),
                     *indices = data ? dyno_fold_known (import, node, 1) : NULL;
  gint64 strides[DYNO_CONSTANT_MAX_DIMS], at;
  guint axis;
  DynoFoldWalk walk;

  if (!indices
      || !dyno_fold_axis (import, node, dyno_import_int (node, "axis", 0), data->n_dims, &axis))
    return FALSE;
  gboolean fits = indices->n_dims == data->n_dims;
  for (guint i = 0; i < data->n_dims && fits; i++)
    fits = i == axis || indices->dims[i] <= data->dims[i];
  if (!fits)
    return dyno_fold_refuse_dims (import, node);
  DynoConstant *made = dyno_fold_new_like (import, node, data, indices->dims, indices->n_dims);
  if (!made)
    return FALSE;
  dyno_fold_strides (data->dims, data->n_dims, strides);
  dyno_fold_walk_init (&walk, indices->dims, indices->n_dims);
  memcpy (walk.strides[0], strides, data->n_dims * sizeof *strides);
  walk.strides[0][axis] = 0;
  for (guint i = 0; i < made->count; i++, dyno_fold_walk_next (&walk))
    {
      if (!dyno_fold_index (import, node, indices, i, data->dims[axis], &at))
        {
          dyno_constant_free (made);
          return FALSE;
        }
      dyno_constant_set (made, i, data, (guint) (walk.place[0] + at * strides[axis]));
    }
  return dyno_import_output_constant (import, node, made);
}

/* TRUE: updates has the axes of the indices without the last one, then the axes of data that are
 * not indexed. */
static gboolean
is_updates (const DynoConstant *data, const DynoConstant *indices, guint width,
            const DynoConstant *updates)
{
  guint rows = indices->n_dims - 1, tail = data->n_dims - width;

  return updates->n_dims == rows + tail
         && memcmp (updates->dims, indices->dims, rows * sizeof *updates->dims) == 0
         && memcmp (updates->dims + rows, data->dims + width, tail * sizeof *updates->dims) == 0;
}

/* A copy of data with slices replaced by updates. */
gboolean
dyno_fold_scatter_nd (DynoImport *import, const DynoOnnxNode *node)
{
  const DynoConstant *data = dyno_fold_known (import, node, 0),
                     *indices = data ? dyno_fold_known (import, node, 1) : NULL,
                     *updates = indices ? dyno_fold_known (import, node, 2) : NULL;
  gint64 place;
  guint width, from = 0;

  if (!updates || !check_rows (import, node, data, 0, indices, &width))
    return FALSE;
  if (!g_str_equal (dyno_import_text (node, "reduction", "none"), "none"))
    return dyno_import_refuse (import, node, "Dyno replaces numbers only");
  if (!is_updates (data, indices, width, updates))
    return dyno_fold_refuse_dims (import, node);
  DynoConstant *made = dyno_fold_new_like (import, node, data, data->dims, data->n_dims);
  if (!made)
    return FALSE;
  for (guint i = 0; i < made->count; i++)
    dyno_constant_set (made, i, data, i);
  gint64 inside = dyno_fold_count (data->dims + width, data->n_dims - width);
  for (gint64 row = 0; from < updates->count; row++)
    {
      if (!find_place (import, node, data, 0, indices, row, width, &place))
        {
          dyno_constant_free (made);
          return FALSE;
        }
      for (gint64 k = 0; k < inside; k++)
        dyno_constant_set (made, (guint) (place + k), updates, from++);
    }
  return dyno_import_output_constant (import, node, made);
}
