/* SPDX-License-Identifier: MIT */
/* Slice: a run of one axis, or elements of several axes, with steps. */
#include "import-private.h"

/* The elements begin, begin + step, ... of an axis. */
typedef struct {
  gint64 begin, step;
  guint32 n;
} Range;

typedef struct {
  const DynoConstant *starts, *ends, *axes, *steps; /* axes and steps may be NULL */
} Numbers;

static gboolean
take_numbers (DynoImport *import, const DynoOnnxNode *node, Numbers *numbers)
{
  *numbers = (Numbers){ dyno_import_numbers (import, node, 1, "starts"),
                        dyno_import_numbers (import, node, 2, "ends"),
                        dyno_import_numbers (import, node, 3, "axes"),
                        dyno_import_numbers (import, node, 4, NULL) };
  const DynoConstant *starts = numbers->starts, *ends = numbers->ends, *axes = numbers->axes,
                     *steps = numbers->steps;

  if (!starts || !ends || (!axes && dyno_import_input (import, node, 3))
      || (!steps && dyno_import_input (import, node, 4)))
    return dyno_import_refuse (import, node, "its slice is not known before the network runs");
  if (ends->count != starts->count || (axes && axes->count != starts->count)
      || (steps && steps->count != starts->count))
    return dyno_import_refuse (import, node, "its starts, ends, axes and steps differ in length");
  return TRUE;
}

/* The range of an axis of n elements; it is empty if range->n is 0. */
static Range
make_range (gint64 n, gint64 start, gint64 end, gint64 step)
{
  gint64 last = step < 0 ? n - 1 : n, first = step < 0 ? -1 : 0;
  gint64 begin = CLAMP (start < 0 ? start + n : start, 0, last),
         stop = CLAMP (end < 0 ? end + n : end, first, last);
  gint64 span = step < 0 ? begin - stop : stop - begin;

  /* Any step longer than the axis takes one element. */
  step = CLAMP (step, -G_MAXINT32, G_MAXINT32);
  return (Range){ begin, step, span > 0 ? (guint32) ((span - 1) / ABS (step) + 1) : 0 };
}

/* Fills ranges of all axes.  FALSE: the node was refused. */
static gboolean
take_ranges (DynoImport *import, const DynoOnnxNode *node, const gint64 *dims, guint n_dims,
             Range *ranges)
{
  Numbers numbers;
  guint set = 0;

  if (!take_numbers (import, node, &numbers))
    return FALSE;
  for (guint i = 0; i < n_dims; i++)
    ranges[i] = (Range){ 0, 1, (guint32) dims[i] };
  for (guint i = 0; i < numbers.starts->count; i++)
    {
      gint64 axis = numbers.axes ? dyno_constant_int (numbers.axes, i) : (gint64) i,
             step = numbers.steps ? dyno_constant_int (numbers.steps, i) : 1;
      axis += axis < 0 ? (gint64) n_dims : 0;
      if (axis < 0 || axis >= (gint64) n_dims || (set >> axis & 1))
        return dyno_import_refuse (import, node, "its axes are out of range, or name one twice");
      set |= 1u << axis;
      if (step == 0)
        return dyno_import_refuse (import, node, "it has a step of 0");
      ranges[axis] = make_range (dims[axis], dyno_constant_int (numbers.starts, i),
                                 dyno_constant_int (numbers.ends, i), step);
      if (ranges[axis].n == 0)
        return dyno_import_refuse (import, node, "its slice is empty");
    }
  return TRUE;
}

/* Picks the elements of the axes that are not kept as they are. */
static gboolean
pick_ranges (DynoImport *import, const DynoOnnxNode *node, const DynoImportValue *x,
             const gint64 *dims, guint n_dims, const Range *ranges)
{
  g_autofree gint64 *at = NULL;
  DynoImportPick picks[DYNO_VIEW_MAX_DIMS] = { 0 };
  guint64 total = 0, used = 0;

  for (guint i = 0; i < n_dims; i++)
    total += ranges[i].n;
  if (!dyno_import_count_numbers (import, node, total))
    return FALSE;
  at = g_new (gint64, MAX (1, total));
  for (guint i = 0; i < n_dims; i++)
    {
      const Range *range = &ranges[i];
      if (range->step == 1 && range->n == dims[i])
        continue;
      picks[i] = (DynoImportPick){ at + used, range->n };
      for (guint32 k = 0; k < range->n; k++)
        at[used++] = range->begin + range->step * (gint64) k;
    }
  return dyno_import_pick (import, node, 0, x, picks, NULL, 0);
}

/* Constants are folded.  A run of one axis of a tensor may stay in its tensor. */
gboolean
dyno_import_slice (DynoImport *import, const DynoOnnxNode *node)
{
  gboolean is_parameter = dyno_import_is_parameter (import, node, 0);
  gint64 dims[DYNO_VIEW_MAX_DIMS];
  Range ranges[DYNO_VIEW_MAX_DIMS];
  guint n_cut = 0, cut = 0;

  if (dyno_import_is_constant (import, node, 0))
    return dyno_import_fold (import, node);
  DynoImportValue *x =
      is_parameter ? dyno_import_input (import, node, 0) : dyno_import_viewed (import, node, 0);
  if (!x)
    return FALSE;
  guint n_dims = is_parameter ? x->n_dims : x->view.n_dims;
  for (guint i = 0; i < n_dims; i++)
    dims[i] = is_parameter ? x->dims[i] : (gint64) dyno_view_dim (&x->view, i);
  if (!take_ranges (import, node, dims, n_dims, ranges))
    return FALSE;
  for (guint i = 0; i < n_dims; i++)
    if (ranges[i].step != 1 || ranges[i].n != dims[i])
      {
        n_cut++;
        cut = i;
      }
  if (n_cut == 0)
    return dyno_import_pass (import, node, 0);
  if (is_parameter || n_cut > 1 || ranges[cut].step != 1)
    return pick_ranges (import, node, x, dims, n_dims, ranges);
  return dyno_import_append_run (import, node, 0, x, cut, (guint64) ranges[cut].begin,
                                 (guint64) ranges[cut].begin + ranges[cut].n);
}
