/* SPDX-License-Identifier: MIT */
/* Runs of elements of an axis, such as the queries, keys and values of an attention, which one
 * layer computes, or the class token. */
#include "import-private.h"

/* TRUE: the axis is exactly the steps of a sequence (N, 1, W, C). */
static gboolean
is_steps (const DynoImportValue *x, guint axis)
{
  const DynoView *view = &x->view;
  guint begin = axis > 0 ? view->end[axis - 1] : 0;

  return x->tensor->h == 1 && view->end[axis] == begin + 1 && view->parts[begin].axis == 'W'
         && view->parts[begin].extent == x->tensor->w;
}

/* Takes the first or the last step; its axis stays with the extent 1. */
static gboolean
read_step (DynoImport *import, const DynoOnnxNode *node, guint k, DynoImportValue *x, guint axis,
           gboolean last, DynoView *view)
{
  guint total = x->view.end[x->view.n_dims - 1], at = axis > 0 ? x->view.end[axis - 1] : 0;
  const char *name = node->n_outputs == 1 ? dyno_import_shown_name (node) : node->outputs[k];
  DynoTensor *y = last ? dyno_last_step (import->graph, x->tensor, name, &(DynoSequence){ NULL, 0 })
                       : dyno_first_step (import->graph, x->tensor, name);

  *view = x->view;
  for (guint i = at; i + 1 < total; i++)
    view->parts[i] = view->parts[i + 1];
  for (guint i = axis; i < view->n_dims; i++)
    view->end[i]--;
  return dyno_import_output (import, node, k, y, view, NULL);
}

DynoView
dyno_import_view_of_channels (const DynoImportValue *value, guint axis, guint32 channels)
{
  DynoView view = value->view;

  dyno_view_resize (&view, axis, 'C', channels);
  return view;
}

/* Copies channels [begin, end) of x to a tensor of their own; the axis is all channels of x. */
static gboolean
append_channels (DynoImport *import, const DynoOnnxNode *node, guint k, DynoImportValue *x,
                 guint axis, guint64 begin, guint64 end)
{
  guint32 count = (guint32) (end - begin);
  const DynoView view = dyno_import_view_of_channels (x, axis, count);

  return dyno_import_output (
      import, node, k,
      dyno_channels (import->graph, x->tensor, node->outputs[k], (guint32) begin, count), &view,
      NULL);
}

/* Picks the elements one by one, where the axis cannot become the channels of a copy. */
static gboolean
pick_run (DynoImport *import, const DynoOnnxNode *node, guint k, const DynoImportValue *x,
          guint axis, guint64 begin, guint64 end)
{
  if (!dyno_import_count_numbers (import, node, end - begin))
    return FALSE;
  g_autofree gint64 *at = g_new (gint64, end - begin);
  DynoImportPick picks[DYNO_VIEW_MAX_DIMS] = { 0 };

  picks[axis] = (DynoImportPick){ at, (guint32) (end - begin) };
  if (!dyno_import_can_pick (x, picks))
    {
      g_autofree char *shape = dyno_view_print (&x->view);
      return dyno_import_refuse (import, node, "Dyno cannot slice axis %u of %s", axis, shape);
    }
  for (guint64 i = begin; i < end; i++)
    at[i - begin] = (gint64) i;
  return dyno_import_pick (import, node, k, x, picks, NULL, 0);
}

gboolean
dyno_import_append_run (DynoImport *import, const DynoOnnxNode *node, guint k, DynoImportValue *x,
                        guint axis, guint64 begin, guint64 end)
{
  DynoView view = x->view;

  if (begin == 0 && end == dyno_view_dim (&view, axis))
    return dyno_import_output (import, node, k, x->tensor, &view, NULL);
  if (dyno_import_is_channels (x, axis))
    return append_channels (import, node, k, x, axis, begin, end);
  if (dyno_view_slice (&view, axis, begin, end))
    return dyno_import_output (import, node, k, x->tensor, &view, NULL);
  if (!dyno_import_settle (import, x))
    return FALSE;
  if (end - begin == 1 && (begin == 0 || end == x->tensor->w) && is_steps (x, axis))
    return read_step (import, node, k, x, axis, begin > 0, &view);
  DynoImportValue *moved = dyno_import_with_channels (import, node, x, axis);
  if (moved)
    return append_channels (import, node, k, moved, axis, begin, end);
  return pick_run (import, node, k, x, axis, begin, end);
}

/* Sorts the axes of an index of torch.as_strided by their strides, the largest first; each number
 * of the index is a sum of strides.  FALSE: the numbers are not a permutation of [0, extent). */
static gboolean
find_steps (const DynoConstant *index, guint64 extent, guint *sorted)
{
  gint64 steps[DYNO_CONSTANT_MAX_DIMS];
  guint64 whole = 1;
  guint place = 1;

  if (index->count != extent)
    return FALSE;
  for (guint i = index->n_dims; i-- > 0; place *= (guint) index->dims[i])
    {
      steps[i] = index->dims[i] > 1 ? dyno_constant_int (index, place) : 0;
      if (steps[i] < 0 || steps[i] >= (gint64) extent)
        return FALSE;
    }
  for (guint k = 0; k < index->count; k++)
    {
      gint64 sum = 0;
      for (guint i = index->n_dims, rest = k; i-- > 0; rest /= (guint) index->dims[i])
        sum += steps[i] * (rest % index->dims[i]);
      if (dyno_constant_int (index, k) != sum)
        return FALSE;
    }
  for (guint i = 0; i < index->n_dims; i++)
    {
      guint k = i;
      for (; k > 0 && steps[sorted[k - 1]] < steps[i]; k--)
        sorted[k] = sorted[k - 1];
      sorted[k] = i;
    }
  for (guint i = index->n_dims; i-- > 0; whole *= (guint64) index->dims[sorted[i]])
    if (index->dims[sorted[i]] > 1 && steps[sorted[i]] != (gint64) whole)
      return FALSE;
  return whole == extent;
}

/* Gives the elements of x, which has one axis, other axes by the sorted axes of an index:
 * torch.as_strided, as the dynamo exporter writes it. */
static gboolean
read_strided (DynoImport *import, const DynoOnnxNode *node, DynoImportValue *x,
              const DynoConstant *index, const guint *sorted)
{
  guint perm[DYNO_CONSTANT_MAX_DIMS];
  gint64 dims[DYNO_CONSTANT_MAX_DIMS];
  DynoView view = x->view;

  for (guint i = 0; i < index->n_dims; i++)
    {
      dims[i] = index->dims[sorted[i]];
      perm[sorted[i]] = i;
    }
  if (!dyno_view_reshape (&view, dims, index->n_dims))
    x = dyno_import_settle (import, x)
            ? dyno_import_copy_in_order (import, node, x, dims, index->n_dims, &view)
            : NULL;
  if (!x)
    return dyno_import_refuse (import, node, "the batch of its input is not outermost");
  dyno_view_transpose (&view, perm);
  return dyno_import_output (import, node, 0, x->tensor, &view, NULL);
}

/* Takes one element of an axis; the output lacks that axis. */
static gboolean
read_element (DynoImport *import, const DynoOnnxNode *node, DynoImportValue *x, guint axis,
              gint64 at)
{
  gint64 dims[DYNO_VIEW_MAX_DIMS], extent = (gint64) dyno_view_dim (&x->view, axis);
  DynoImportValue *taken;
  guint n = 0;

  at += at < 0 ? extent : 0;
  if (at < 0 || at >= extent)
    return dyno_import_refuse (import, node, "index %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT, at,
                               extent);
  if (!dyno_import_append_run (import, node, 0, x, axis, (guint64) at, (guint64) at + 1))
    return FALSE;
  taken = dyno_import_find_value (import, node->outputs[0]);
  if (!taken->tensor)
    return TRUE;
  for (guint i = 0; i < taken->view.n_dims; i++)
    if (i != axis)
      dims[n++] = (gint64) dyno_view_dim (&taken->view, i);
  return dyno_view_reshape (&taken->view, dims, n)
         || dyno_import_refuse (import, node,
                                "Dyno does not read it with this order of its input's axes");
}

/* Constants are folded. */
gboolean
dyno_import_gather (DynoImport *import, const DynoOnnxNode *node)
{
  gboolean is_parameter = dyno_import_is_parameter (import, node, 0);
  const DynoConstant *index = dyno_import_numbers (import, node, 1, NULL);
  guint axis, sorted[DYNO_CONSTANT_MAX_DIMS];

  if (dyno_import_is_constant (import, node, 0))
    return dyno_import_fold (import, node);
  DynoImportValue *x =
      is_parameter ? dyno_import_input (import, node, 0) : dyno_import_viewed (import, node, 0);
  if (!x || !dyno_import_axis (import, node, is_parameter ? x->n_dims : x->view.n_dims, 0, &axis))
    return FALSE;
  if (!index || !index->is_int || index->count == 0)
    return dyno_import_refuse (import, node, "its indices are not known before the network runs");
  if (is_parameter)
    return dyno_import_gather_axis (import, node, x, axis, index);
  if (index->count == 1 && index->n_dims == 0)
    return read_element (import, node, x, axis, dyno_constant_int (index, 0));
  if (index->count > 1 && x->view.n_dims == 1
      && find_steps (index, dyno_view_dim (&x->view, 0), sorted))
    return read_strided (import, node, x, index, sorted);
  return dyno_import_gather_axis (import, node, x, axis, index);
}

/* PyTorch's exporter writes torch.chunk as a SplitToSequence, from which each SequenceAt takes a
 * part: a SequenceAt reads the input of the SplitToSequence. */
gboolean
dyno_import_split_to_sequence (DynoImport *import, const DynoOnnxNode *node)
{
  return dyno_import_output_sequence (import, node);
}

/* Part `at` of an axis of `all` elements, by the sizes of a SplitToSequence: a list, one size for
 * all parts, or NULL for 1.  FALSE: there is no such part, and the node was refused. */
static gboolean
take_element (DynoImport *import, const DynoOnnxNode *node, const DynoConstant *sizes, gint64 at,
              gint64 all, gint64 *begin, gint64 *count)
{
  gboolean is_list = sizes && sizes->n_dims == 1;
  gint64 each = sizes && !is_list ? dyno_constant_int (sizes, 0) : 1,
         n = is_list    ? (gint64) sizes->count
             : each > 0 ? (all - 1) / each + 1
                        : 0;

  at += at < 0 ? n : 0;
  *begin = *count = 0;
  if (at < 0 || at >= n)
    return dyno_import_refuse (import, node, "its position is outside of the sequence");
  if (!is_list)
    {
      *begin = at * each;
      *count = MIN (each, all - *begin);
      return TRUE;
    }
  for (gint64 i = 0; i <= at; i++)
    {
      *begin += *count;
      *count = dyno_constant_int (sizes, (guint) i);
      if (*count < 1 || *count > all - *begin)
        return dyno_import_refuse (import, node, "the sizes of the sequence do not fit its axis");
    }
  return TRUE;
}

gboolean
dyno_import_sequence_at (DynoImport *import, const DynoOnnxNode *node)
{
  const DynoImportValue *value = dyno_import_input (import, node, 0),
                        *index = dyno_import_input (import, node, 1);
  const DynoOnnxNode *split = value ? value->sequence : NULL;
  gint64 begin, count;
  guint axis;

  if (!split || !index || !index->constant || index->constant->count != 1)
    return dyno_import_refuse (import, node,
                               "its input is not the output of a SplitToSequence, or its position "
                               "is not known before the network runs");
  const DynoImportValue *sizes = dyno_import_input (import, split, 1);
  DynoImportValue *x = dyno_import_viewed (import, split, 0);
  if (!x || !dyno_import_axis (import, split, x->view.n_dims, 0, &axis))
    return FALSE;
  if ((sizes && (!sizes->constant || sizes->constant->n_dims > 1))
      || (!sizes && dyno_import_int (split, "keepdims", 1) == 0))
    return dyno_import_refuse (import, split,
                               "its sizes are not known before the network runs, or keepdims is 0");
  return take_element (import, node, sizes ? sizes->constant : NULL,
                       dyno_constant_int (index->constant, 0),
                       (gint64) dyno_view_dim (&x->view, axis), &begin, &count)
         && dyno_import_append_run (import, node, 0, x, axis, (guint64) begin,
                                    (guint64) (begin + count));
}
