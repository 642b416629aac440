/* SPDX-License-Identifier: MIT */
/* Pad: a frame of one value around height, width and channels, or of the elements of the input
 * around any axes. */
#include "import-private.h"

/* The axis of the tensor that equals an axis of the value; 0: there is none. */
static char
whole_axis (const DynoImportValue *x, guint axis)
{
  static const char *const forms[] = { "N C H W", "N H W C", "N C W", "N W C", "N C" };
  const DynoView *view = &x->view;
  const DynoTensor *tensor = x->tensor;
  guint begin = axis > 0 ? view->end[axis - 1] : 0, n = view->end[axis] - begin;

  if (n == 1)
    {
      const DynoViewPart *part = &view->parts[begin];
      guint32 extent = part->axis == 'N'   ? view->batch
                       : part->axis == 'H' ? tensor->h
                       : part->axis == 'W' ? tensor->w
                                           : tensor->c;
      return part->extent == extent ? part->axis : 0;
    }
  /* An axis of 1 has no part and is identified by its position. */
  for (guint i = 0; i < G_N_ELEMENTS (forms) && n == 0; i++)
    if (dyno_view_is (view, tensor, forms[i]))
      return forms[i][2 * axis];
  return 0;
}

static gboolean
is_nothing (const DynoConstant *pads)
{
  for (guint i = 0; i < pads->count; i++)
    if (dyno_constant_int (pads, i) != 0)
      return FALSE;
  return TRUE;
}

/* Reads the pads before and after an axis of the value.  letters: the tensor's axis for each axis
 * that is padded. */
static gboolean
take_pads (DynoImport *import, const DynoOnnxNode *node, const DynoImportValue *x, gint64 axis,
           gint64 before, gint64 after, DynoPadParams *params, char *letters)
{
  guint n_dims = x->view.n_dims;

  if (before == 0 && after == 0)
    return TRUE;
  axis += axis < 0 ? (gint64) n_dims : 0;
  if (axis < 0 || axis >= (gint64) n_dims || letters[axis])
    return dyno_import_refuse (import, node, "its axes are out of range, or name one twice");
  if (MAX (before, after) > G_MAXINT32 || MIN (before, after) < -G_MAXINT32)
    return dyno_import_refuse (
        import, node, "its pads are %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT, before, after);
  char letter = letters[axis] = whole_axis (x, (guint) axis);
  if (letter == 0 || letter == 'N')
    {
      g_autofree char *shape = dyno_view_print (&x->view);
      return dyno_import_refuse (import, node,
                                 "Dyno pads height, width and channels only, not axis %u of %s",
                                 (guint) axis, shape);
    }
  *(letter == 'H'   ? &params->top
    : letter == 'W' ? &params->left
                    : &params->front) = (gint32) before;
  *(letter == 'H'   ? &params->bottom
    : letter == 'W' ? &params->right
                    : &params->back) = (gint32) after;
  return TRUE;
}

/* The padding value: input 2, until opset 10 an attribute. */
static gboolean
take_value (DynoImport *import, const DynoOnnxNode *node, double *value)
{
  const DynoImportValue *input = dyno_import_input (import, node, 2);

  *value = dyno_import_float (node, "value", 0);
  if (!input)
    return TRUE;
  if (!input->constant || input->constant->count != 1)
    return dyno_import_refuse (import, node,
                               "its value is not one number that is known before the network runs");
  *value = dyno_constant_float (input->constant, 0);
  return TRUE;
}

/* x, or, if a padded axis equals no axis of the tensor, a copy that has this axis as its
 * channels. */
static DynoImportValue *
lay_out (DynoImport *import, const DynoOnnxNode *node, DynoImportValue *x, const DynoConstant *pads,
         const DynoConstant *axes, guint n)
{
  for (guint i = 0; i < n; i++)
    {
      gint64 axis = axes ? dyno_constant_int (axes, i) : (gint64) i;
      axis += axis < 0 ? (gint64) x->view.n_dims : 0;
      if ((dyno_constant_int (pads, i) == 0 && dyno_constant_int (pads, n + i) == 0) || axis < 0
          || axis >= (gint64) x->view.n_dims || whole_axis (x, (guint) axis))
        continue;
      DynoImportValue *copy = dyno_import_with_channels (import, node, x, (guint) axis);
      return copy ? copy : x;
    }
  return x;
}

static gboolean
append (DynoImport *import, const DynoOnnxNode *node, const DynoImportValue *x,
        const DynoPadParams *params, const char *letters)
{
  DynoTensor *y = dyno_pad (import->graph, x->tensor, dyno_import_shown_name (node), params);
  DynoView view = x->view;

  for (guint i = 0; i < view.n_dims && y; i++)
    if (letters[i])
      dyno_view_resize (&view, i, letters[i],
                        letters[i] == 'H'   ? y->h
                        : letters[i] == 'W' ? y->w
                                            : y->c);
  return dyno_import_output (import, node, 0, y, &view, NULL);
}

/* The element of an axis of n elements that the mode puts at place i, which may be outside. */
static gint64
find_element (const char *mode, gint64 i, gint64 n)
{
  gint64 period = g_str_equal (mode, "wrap") ? n : MAX (1, 2 * (n - 1));

  if (g_str_equal (mode, "edge"))
    return CLAMP (i, 0, n - 1);
  i = (i % period + period) % period;
  return i < n ? i : period - i;
}

/* Sets the pick of an axis of n elements; g_free at.  FALSE: the node was refused. */
static gboolean
pick_padded (DynoImport *import, const DynoOnnxNode *node, const char *mode, gint64 n,
             gint64 before, gint64 after, DynoImportPick *pick, gint64 **at)
{
  if (MAX (before, after) > G_MAXINT32 || MIN (before, after) < -G_MAXINT32
      || n + before + after < 1)
    return dyno_import_refuse (
        import, node, "its pads are %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT, before, after);
  guint64 count = (guint64) (n + before + after);
  if (!dyno_import_count_numbers (import, node, count))
    return FALSE;
  *at = g_new (gint64, count);
  for (guint64 i = 0; i < count; i++)
    (*at)[i] = find_element (mode, (gint64) i - before, n);
  *pick = (DynoImportPick){ *at, (guint32) count };
  return TRUE;
}

/* Sets the picks of all axes; at: their lists, for g_free.  FALSE: the node was refused. */
static gboolean
take_picks (DynoImport *import, const DynoOnnxNode *node, const DynoImportValue *x,
            const char *mode, const DynoConstant *pads, const DynoConstant *axes,
            DynoImportPick *picks, gint64 **at)
{
  guint n_dims = x->view.n_dims, n = axes ? axes->count : n_dims;

  if (pads->count / 2 != n || pads->count % 2 != 0)
    return dyno_import_refuse (import, node, "%u pads for %u axes", pads->count, n);
  for (guint i = 0; i < n; i++)
    {
      gint64 axis = axes ? dyno_constant_int (axes, i) : (gint64) i,
             before = dyno_constant_int (pads, i), after = dyno_constant_int (pads, n + i);
      axis += axis < 0 ? (gint64) n_dims : 0;
      if (axis < 0 || axis >= (gint64) n_dims || picks[axis].at)
        return dyno_import_refuse (import, node, "its axes are out of range, or name one twice");
      if ((before != 0 || after != 0)
          && !pick_padded (import, node, mode, (gint64) dyno_view_dim (&x->view, (guint) axis),
                           before, after, &picks[axis], &at[axis]))
        return FALSE;
    }
  return TRUE;
}

/* Pads by elements of the input. */
static gboolean
read_repeated (DynoImport *import, const DynoOnnxNode *node, const char *mode,
               const DynoConstant *pads, const DynoConstant *axes)
{
  static const char *const modes[] = { "edge", "reflect", "wrap", NULL };
  DynoImportPick picks[DYNO_VIEW_MAX_DIMS] = { 0 };
  gint64 *at[DYNO_VIEW_MAX_DIMS] = { NULL };

  if (!g_strv_contains (modes, mode))
    return dyno_import_refuse (import, node, "Dyno does not pad by the mode “%s”", mode);
  const DynoImportValue *x = dyno_import_viewed (import, node, 0);
  gboolean read = x && take_picks (import, node, x, mode, pads, axes, picks, at)
                  && dyno_import_pick (import, node, 0, x, picks, NULL, 0);
  for (guint i = 0; i < G_N_ELEMENTS (at); i++)
    g_free (at[i]);
  return read;
}

gboolean
dyno_import_pad (DynoImport *import, const DynoOnnxNode *node)
{
  const DynoConstant *pads = dyno_import_numbers (import, node, 1, "pads"),
                     *axes = dyno_import_numbers (import, node, 3, NULL);
  const char *mode = dyno_import_text (node, "mode", "constant");
  char letters[DYNO_VIEW_MAX_DIMS] = { 0 };
  DynoPadParams params = { 0 };
  DynoImportValue *x;

  if (!pads || (!axes && dyno_import_input (import, node, 3)))
    return dyno_import_refuse (import, node, "its pads are not known before the network runs");
  if (is_nothing (pads))
    return dyno_import_pass (import, node, 0);
  if (!g_str_equal (mode, "constant"))
    return read_repeated (import, node, mode, pads, axes);
  if (!take_value (import, node, &params.value) || !(x = dyno_import_tensor (import, node, 0)))
    return FALSE;
  guint n = axes ? axes->count : x->view.n_dims;
  if (pads->count / 2 != n || pads->count % 2 != 0)
    return dyno_import_refuse (import, node, "%u pads for %u axes", pads->count, n);
  x = lay_out (import, node, x, pads, axes, n);
  for (guint i = 0; i < n; i++)
    if (!take_pads (import, node, x, axes ? dyno_constant_int (axes, i) : (gint64) i,
                    dyno_constant_int (pads, i), dyno_constant_int (pads, n + i), &params, letters))
      return FALSE;
  return append (import, node, x, &params, letters);
}
