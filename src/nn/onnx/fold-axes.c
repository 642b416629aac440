/* SPDX-License-Identifier: MIT */
/* Folding of operators that move numbers: they change axes or order, take parts or concatenate. */
#include "fold-private.h"
#include <string.h>

/* Sets output k to the numbers of data that index 0 of a walk over the output selects. */
static gboolean
take (DynoImport *import, const DynoOnnxNode *node, guint k, const DynoConstant *data,
      DynoFoldWalk *walk, const gint64 *dims, guint n_dims)
{
  DynoConstant *made = dyno_fold_new_like (import, node, data, dims, n_dims);

  if (!made)
    return FALSE;
  for (guint i = 0; i < made->count; i++, dyno_fold_walk_next (walk))
    dyno_constant_set (made, i, data, (guint) walk->place[0]);
  return dyno_import_output_constant_at (import, node, k, made);
}

/* Repeats input 0 to the shape that its shape and input 1 broadcast to. */
gboolean
dyno_fold_expand (DynoImport *import, const DynoOnnxNode *node)
{
  const DynoConstant *data = dyno_fold_known (import, node, 0),
                     *shape = data ? dyno_fold_known (import, node, 1) : NULL;
  gint64 dims[DYNO_CONSTANT_MAX_DIMS];
  DynoFoldWalk walk;

  if (!shape || !dyno_fold_take_dims (import, node, shape, dims))
    return FALSE;
  guint n = shape->count;
  if (!dyno_fold_broadcast (import, node, data->dims, data->n_dims, dims, &n))
    return FALSE;
  dyno_fold_walk_init (&walk, dims, n);
  dyno_fold_walk_broadcast (&walk, 0, data);
  return take (import, node, 0, data, &walk, dims, n);
}

/* Each axis is walked as (copies, numbers). */
gboolean
dyno_fold_tile (DynoImport *import, const DynoOnnxNode *node)
{
  const DynoConstant *data = dyno_fold_known (import, node, 0),
                     *repeats = data ? dyno_fold_known (import, node, 1) : NULL;
  gint64 copies[DYNO_CONSTANT_MAX_DIMS], dims[DYNO_CONSTANT_MAX_DIMS],
      strides[DYNO_CONSTANT_MAX_DIMS], both[DYNO_FOLD_MAX_DIMS];
  DynoFoldWalk walk;

  if (!repeats || !dyno_fold_take_dims (import, node, repeats, copies))
    return FALSE;
  if (repeats->count != data->n_dims)
    return dyno_fold_refuse_dims (import, node);
  dyno_fold_strides (data->dims, data->n_dims, strides);
  for (guint i = 0; i < data->n_dims; i++)
    {
      if (__builtin_mul_overflow (copies[i], data->dims[i], &dims[i]))
        return dyno_fold_overflows (import, node, NULL);
      both[2 * i] = copies[i];
      both[2 * i + 1] = data->dims[i];
    }
  dyno_fold_walk_init (&walk, both, 2 * data->n_dims);
  for (guint i = 0; i < data->n_dims; i++)
    walk.strides[0][2 * i + 1] = strides[i];
  return take (import, node, 0, data, &walk, dims, data->n_dims);
}

gboolean
dyno_fold_transpose (DynoImport *import, const DynoOnnxNode *node)
{
  const DynoConstant *data = dyno_fold_known (import, node, 0);
  guint n_given, set = 0;
  const gint64 *perm = dyno_import_ints (node, "perm", &n_given);
  gint64 dims[DYNO_CONSTANT_MAX_DIMS], strides[DYNO_CONSTANT_MAX_DIMS];
  guint from[DYNO_CONSTANT_MAX_DIMS];
  DynoFoldWalk walk;

  if (!data)
    return FALSE;
  guint n = data->n_dims;
  if (perm && n_given != n)
    return dyno_import_refuse (import, node, "perm has %u numbers for %u axes", n_given, n);
  for (guint i = 0; i < n; i++)
    {
      gint64 axis = perm ? perm[i] : (gint64) (n - 1 - i);
      if (axis < 0 || axis >= (gint64) n || (set >> axis & 1))
        return dyno_import_refuse (import, node, "perm is not a permutation of the axes");
      set |= 1u << axis;
      from[i] = (guint) axis;
      dims[i] = data->dims[axis];
    }
  dyno_fold_strides (data->dims, n, strides);
  dyno_fold_walk_init (&walk, dims, n);
  for (guint i = 0; i < n; i++)
    walk.strides[0][i] = strides[from[i]];
  return take (import, node, 0, data, &walk, dims, n);
}

/* In the shape 0 copies an axis, and -1 stands for the remaining elements. */
gboolean
dyno_fold_reshape_node (DynoImport *import, const DynoOnnxNode *node)
{
  const DynoConstant *data = dyno_fold_known (import, node, 0),
                     *shape = data ? dyno_import_numbers (import, node, 1, "shape") : NULL;
  gboolean keeps_zero = dyno_import_int (node, "allowzero", 0) != 0;
  gint64 dims[DYNO_CONSTANT_MAX_DIMS], known = 1;
  guint rest = G_MAXUINT;

  if (!data)
    return FALSE;
  if (!shape || shape->count > G_N_ELEMENTS (dims))
    return dyno_import_refuse (import, node, "its shape is not known, or has more than %u axes",
                               DYNO_CONSTANT_MAX_DIMS);
  for (guint i = 0; i < shape->count; i++)
    {
      dims[i] = dyno_constant_int (shape, i);
      if (dims[i] == 0 && !keeps_zero && i < data->n_dims)
        dims[i] = data->dims[i];
      if (dims[i] == -1 && rest == G_MAXUINT)
        rest = i;
      else if (dims[i] < 0)
        return dyno_import_refuse (import, node, "its shape has an axis of %" G_GINT64_FORMAT,
                                   dims[i]);
      else if (__builtin_mul_overflow (known, dims[i], &known))
        return dyno_fold_overflows (import, node, NULL);
    }
  if (rest < shape->count)
    dims[rest] = known > 0 ? (gint64) data->count / known : 0;
  return dyno_fold_reshape (import, node, data, dims, shape->count);
}

gboolean
dyno_fold_squeeze (DynoImport *import, const DynoOnnxNode *node)
{
  const DynoConstant *data = dyno_fold_known (import, node, 0), *axes;
  gint64 dims[DYNO_CONSTANT_MAX_DIMS];
  guint set, n = 0;

  if (!data || !dyno_fold_optional (import, node, 1, "axes", &axes)
      || !dyno_fold_axes (import, node, axes, data->n_dims, &set))
    return FALSE;
  for (guint i = 0; i < data->n_dims; i++)
    if (axes && (set >> i & 1) && data->dims[i] != 1)
      return dyno_import_refuse (import, node, "axis %u has %" G_GINT64_FORMAT " numbers, not 1", i,
                                 data->dims[i]);
    else if (!(set >> i & 1) || data->dims[i] != 1)
      dims[n++] = data->dims[i];
  return dyno_fold_reshape (import, node, data, dims, n);
}

gboolean
dyno_fold_unsqueeze (DynoImport *import, const DynoOnnxNode *node)
{
  const DynoConstant *data = dyno_fold_known (import, node, 0), *axes;
  gint64 dims[DYNO_CONSTANT_MAX_DIMS];
  guint set, from = 0;

  if (!data || !dyno_fold_optional (import, node, 1, "axes", &axes))
    return FALSE;
  if (!axes || axes->count > G_N_ELEMENTS (dims) - data->n_dims)
    return dyno_import_refuse (import, node, "its axes are missing, or more than %u",
                               DYNO_CONSTANT_MAX_DIMS);
  guint n = data->n_dims + axes->count;
  if (!dyno_fold_axes (import, node, axes, n, &set))
    return FALSE;
  for (guint i = 0; i < n; i++)
    dims[i] = set >> i & 1 ? 1 : data->dims[from++];
  return dyno_fold_reshape (import, node, data, dims, n);
}

gboolean
dyno_fold_flatten (DynoImport *import, const DynoOnnxNode *node)
{
  const DynoConstant *data = dyno_fold_known (import, node, 0);
  gint64 axis = dyno_import_int (node, "axis", 1);

  if (!data)
    return FALSE;
  axis += axis < 0 ? (gint64) data->n_dims : 0;
  if (axis < 0 || axis > (gint64) data->n_dims)
    return dyno_import_refuse (import, node, "its axis is out of range");
  const gint64 dims[] = { dyno_fold_count (data->dims, (guint) axis),
                          dyno_fold_count (data->dims + axis, data->n_dims - (guint) axis) };
  return dyno_fold_reshape (import, node, data, dims, 2);
}

/* --- parts ------------------------------------------------------------------------------------ */

/* Clamps the range of one axis of n numbers as ONNX does; returns its count. */
static gint64
clamp_range (gint64 n, gint64 step, gint64 *start, gint64 end)
{
  gint64 least = step > 0 ? 0 : -1, most = step > 0 ? n : n - 1;

  *start = CLAMP (*start < 0 ? *start + n : *start, step > 0 ? 0 : MIN (0, most), most);
  end = CLAMP (end < 0 && end >= -n ? end + n : end, least, step > 0 ? n : n - 1);
  if (step > 0)
    return end > *start ? (end - *start - 1) / step + 1 : 0;
  return *start > end ? (*start - end - 1) / -step + 1 : 0;
}

/* The lists of a Slice: inputs, or until opset 9 attributes. */
typedef struct {
  const DynoConstant *starts, *ends, *axes, *steps;
} Slice;

static gboolean
take_slice (DynoImport *import, const DynoOnnxNode *node, Slice *s)
{
  if (!dyno_fold_optional (import, node, 1, "starts", &s->starts)
      || !dyno_fold_optional (import, node, 2, "ends", &s->ends)
      || !dyno_fold_optional (import, node, 3, "axes", &s->axes)
      || !dyno_fold_optional (import, node, 4, NULL, &s->steps))
    return FALSE;
  if (!s->starts || !s->ends || s->starts->count > DYNO_CONSTANT_MAX_DIMS
      || s->ends->count != s->starts->count || (s->axes && s->axes->count != s->starts->count)
      || (s->steps && s->steps->count != s->starts->count))
    return dyno_import_refuse (import, node, "its starts, ends, axes and steps differ in length");
  return TRUE;
}

gboolean
dyno_fold_slice (DynoImport *import, const DynoOnnxNode *node)
{
  const DynoConstant *data = dyno_fold_known (import, node, 0);
  gint64 dims[DYNO_CONSTANT_MAX_DIMS], strides[DYNO_CONSTANT_MAX_DIMS], first = 0;
  guint axis, set = 0;
  Slice s;
  DynoFoldWalk walk;

  if (!data || !take_slice (import, node, &s))
    return FALSE;
  memcpy (dims, data->dims, sizeof dims);
  dyno_fold_strides (data->dims, data->n_dims, strides);
  for (guint i = 0; i < s.starts->count; i++)
    {
      gint64 start = dyno_constant_int (s.starts, i), end = dyno_constant_int (s.ends, i),
             step = s.steps ? dyno_constant_int (s.steps, i) : 1;
      if (!dyno_fold_axis (import, node, s.axes ? dyno_constant_int (s.axes, i) : (gint64) i,
                           data->n_dims, &axis))
        return FALSE;
      if (step == 0 || (set >> axis & 1))
        return dyno_import_refuse (import, node, "it has a step of 0, or an axis twice");
      /* Any step longer than the axis takes one number, so that the step can be clamped. */
      step = CLAMP (step, -DYNO_CONSTANT_MAX_COUNT - 1, DYNO_CONSTANT_MAX_COUNT + 1);
      set |= 1u << axis;
      dims[axis] = clamp_range (data->dims[axis], step, &start, end);
      first += start * strides[axis];
      strides[axis] *= step;
    }
  dyno_fold_walk_init (&walk, dims, data->n_dims);
  walk.place[0] = first;
  memcpy (walk.strides[0], strides, data->n_dims * sizeof *strides);
  return take (import, node, 0, data, &walk, dims, data->n_dims);
}

/* TRUE: the shapes are equal except for one axis. */
static gboolean
is_alike (const DynoConstant *a, const DynoConstant *b, guint axis)
{
  if (a->n_dims != b->n_dims)
    return FALSE;
  for (guint i = 0; i < a->n_dims; i++)
    if (i != axis && a->dims[i] != b->dims[i])
      return FALSE;
  return TRUE;
}

/* Writes part into made, from the number with index `first` on. */
static void
put_part (DynoConstant *made, gint64 first, const DynoConstant *part)
{
  DynoFoldWalk walk;

  dyno_fold_walk_init (&walk, part->dims, part->n_dims);
  dyno_fold_strides (made->dims, made->n_dims, walk.strides[0]);
  walk.place[0] = first;
  for (guint i = 0; i < part->count; i++, dyno_fold_walk_next (&walk))
    dyno_constant_set (made, (guint) walk.place[0], part, i);
}

gboolean
dyno_fold_concat (DynoImport *import, const DynoOnnxNode *node)
{
  const DynoConstant *first = dyno_fold_known (import, node, 0);
  gint64 dims[DYNO_CONSTANT_MAX_DIMS], at = 0;
  gboolean is_int = TRUE, is_double = FALSE;
  guint axis;

  if (!first
      || !dyno_fold_axis (import, node, dyno_import_int (node, "axis", 1), first->n_dims, &axis))
    return FALSE;
  memcpy (dims, first->dims, sizeof dims);
  dims[axis] = 0;
  for (guint i = 0; i < node->n_inputs; i++)
    {
      const DynoConstant *part = dyno_fold_known (import, node, i);
      if (!part)
        return FALSE;
      if (!is_alike (first, part, axis))
        return dyno_fold_refuse_dims (import, node);
      dims[axis] += part->dims[axis];
      is_int &= part->is_int;
      is_double |= part->is_double;
    }
  DynoConstant *made = dyno_fold_make (import, node, is_int, dims, first->n_dims);
  if (!made)
    return FALSE;
  made->is_double = is_double;
  gint64 inside = dyno_fold_count (dims + axis + 1, first->n_dims - axis - 1);
  for (guint i = 0; i < node->n_inputs; i++)
    {
      const DynoConstant *part = dyno_fold_known (import, node, i);
      put_part (made, at * inside, part);
      at += part->dims[axis];
    }
  return dyno_import_output_constant (import, node, made);
}

/* The sizes are input 1, until opset 12 an attribute; without sizes all parts are equal, except for
 * the last one. */
gboolean
dyno_fold_split (DynoImport *import, const DynoOnnxNode *node)
{
  const DynoConstant *data = dyno_fold_known (import, node, 0), *sizes;
  gint64 dims[DYNO_CONSTANT_MAX_DIMS], begin = 0;
  guint axis, n = node->n_outputs;
  DynoFoldWalk walk;

  if (!data || !dyno_fold_optional (import, node, 1, "split", &sizes)
      || !dyno_fold_axis (import, node, dyno_import_int (node, "axis", 0), data->n_dims, &axis))
    return FALSE;
  gint64 all = data->dims[axis], alike = (all + n - 1) / n;
  if (sizes && sizes->count != n)
    return dyno_import_refuse (import, node, "it has %u sizes for %u outputs", sizes->count, n);
  memcpy (dims, data->dims, sizeof dims);
  for (guint k = 0; k < n; k++)
    {
      dims[axis] = sizes ? dyno_constant_int (sizes, k) : MIN (alike, all - begin);
      if (dims[axis] < 0 || dims[axis] > all - begin)
        return dyno_import_refuse (import, node, "its sizes do not fit its axis");
      dyno_fold_walk_init (&walk, dims, data->n_dims);
      dyno_fold_strides (data->dims, data->n_dims, walk.strides[0]);
      walk.place[0] = begin * walk.strides[0][axis];
      if (*node->outputs[k] && !take (import, node, k, data, &walk, dims, data->n_dims))
        return FALSE;
      begin += dims[axis];
    }
  return begin == all || dyno_import_refuse (import, node, "its sizes do not fit its axis");
}
