/* SPDX-License-Identifier: MIT */
/* Runs of elements of an axis that are no whole channels: queries, keys and values of an attention, which
 * one layer makes, and the token of the class. */
#include "import-private.h"

/* TRUE: an axis is all of the steps (N, 1, W, C), and nothing else. */
static gboolean
is_steps (const DynoImportValue *x, guint axis)
{
  const DynoView *view = &x->view;
  guint begin = axis > 0 ? view->end[axis - 1] : 0;

  return x->tensor->h == 1 && view->end[axis] == begin + 1 && view->parts[begin].axis == 'W'
         && view->parts[begin].extent == x->tensor->w;
}

/* Takes the first step away: an axis of 1. */
static gboolean
read_first_step (DynoImport *import, const DynoOnnxNode *node, guint k, DynoImportValue *x,
                 guint axis, DynoView *view)
{
  guint total = x->view.end[x->view.n_dims - 1], at = axis > 0 ? x->view.end[axis - 1] : 0;
  const char *name = node->n_outputs == 1 ? dyno_import_shown_name (node) : node->outputs[k];
  DynoTensor *y = dyno_first_step (import->graph, x->tensor, name);

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

/* Channels [begin, end) of x, whose axis is all of them, as a tensor of their own. */
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
  if (begin == 0 && end == 1 && is_steps (x, axis))
    return read_first_step (import, node, k, x, axis, &view);
  DynoImportValue *moved = dyno_import_with_channels (import, node, x, axis);
  if (moved)
    return append_channels (import, node, k, moved, axis, begin, end);
  g_autofree char *shape = dyno_view_print (&view);
  return dyno_import_refuse (import, node, "Dyno cannot slice axis %u of %s", axis, shape);
}

/* One of the elements of an axis, which the output does not have. */
gboolean
dyno_import_gather (DynoImport *import, const DynoOnnxNode *node)
{
  const DynoImportValue *value = dyno_import_input (import, node, 0);
  const DynoConstant *index = dyno_import_numbers (import, node, 1, NULL);
  gint64 axis = dyno_import_int (node, "axis", 0);
  gint64 dims[DYNO_VIEW_MAX_DIMS];
  DynoImportValue *x, *taken;
  guint n = 0;

  if (value && value->constant && !value->tensor)
    return dyno_import_fold (import, node);
  if (!(x = dyno_import_viewed (import, node, 0)))
    return FALSE;
  axis += axis < 0 ? (gint64) x->view.n_dims : 0;
  if (!index || index->count != 1 || index->n_dims > 0 || axis < 0
      || axis >= (gint64) x->view.n_dims)
    return dyno_import_refuse (import, node, "Dyno takes one index of an axis only");
  gint64 at = dyno_constant_int (index, 0),
         extent = (gint64) dyno_view_dim (&x->view, (guint) axis);
  at += at < 0 ? extent : 0;
  if (at < 0 || at >= extent)
    return dyno_import_refuse (import, node, "index %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT, at,
                               extent);
  if (!dyno_import_append_run (import, node, 0, x, (guint) axis, (guint64) at, (guint64) at + 1))
    return FALSE;
  taken = dyno_import_find_value (import, node->outputs[0]);
  if (!taken->tensor)
    return TRUE;
  for (guint i = 0; i < taken->view.n_dims; i++)
    if (i != (guint) axis)
      dims[n++] = (gint64) dyno_view_dim (&taken->view, i);
  return dyno_view_reshape (&taken->view, dims, n)
         || dyno_import_refuse (import, node,
                                "the axes of its input are in an order that is not "
                                "read");
}

/* PyTorch's exporter writes torch.chunk as a SplitToSequence, of which each SequenceAt takes a part:
 * they read the input of that node. */
gboolean
dyno_import_split_to_sequence (DynoImport *import, const DynoOnnxNode *node)
{
  return dyno_import_output_sequence (import, node);
}

/* Part `at` of an axis of `all`, by the sizes of a SplitToSequence: a list, one size of all parts, or
 * NULL for 1.  FALSE: there is no such part, which was refused. */
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
    return dyno_import_refuse (import, node, "it takes a part that the sequence does not have");
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
    return dyno_import_refuse (import, node, "it takes no known part of a SplitToSequence");
  const DynoImportValue *sizes = dyno_import_input (import, split, 1);
  DynoImportValue *x = dyno_import_viewed (import, split, 0);
  if (!x || !dyno_import_axis (import, split, x->view.n_dims, 0, &axis))
    return FALSE;
  if ((sizes && (!sizes->constant || sizes->constant->n_dims > 1))
      || (!sizes && dyno_import_int (split, "keepdims", 1) == 0))
    return dyno_import_refuse (import, split, "its sizes are not known, or its axis would go");
  return take_element (import, node, sizes ? sizes->constant : NULL,
                       dyno_constant_int (index->constant, 0),
                       (gint64) dyno_view_dim (&x->view, axis), &begin, &count)
         && dyno_import_append_run (import, node, 0, x, axis, (guint64) begin,
                                    (guint64) (begin + count));
}
