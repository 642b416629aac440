/* SPDX-License-Identifier: MIT */
/* Pooling: MaxPool, AveragePool, global pooling, and means and maxima over height and width. */
#include "import-private.h"
#include <string.h>

static gboolean
take_window (DynoImport *import, const DynoOnnxNode *node, const DynoTensor *x, DynoImportWindow *w)
{
  if (!dyno_import_window (import, node, x, NULL, w))
    return FALSE;
  if (w->dilation[0] != 1 || w->dilation[1] != 1)
    return dyno_import_refuse (import, node, "its window has gaps, dilation %ux%u", w->dilation[0],
                               w->dilation[1]);
  return TRUE;
}

gboolean
dyno_import_max_pool (DynoImport *import, const DynoOnnxNode *node)
{
  static const char *const forms[] = { "N C H W", "N C W", NULL };
  guint form = 0;
  DynoImportValue *x = dyno_import_tensor_as (import, node, 0, forms, &form);
  DynoImportWindow w = { .n = form == 0 ? 2 : 1 };

  if (!x || !take_window (import, node, x->tensor, &w))
    return FALSE;
  const DynoMaxPoolParams params = { .window = { w.kernel[0], w.kernel[1], w.stride[0], w.stride[1],
                                                 w.before[0], w.before[1] },
                                     .end_h = w.after[0],
                                     .end_w = w.after[1],
                                     .round_up = dyno_import_int (node, "ceil_mode", 0) != 0 };
  return dyno_import_output (
      import, node, 0,
      dyno_max_pool_with_params (import->graph, x->tensor, dyno_import_shown_name (node), &params),
      NULL, forms[form]);
}

gboolean
dyno_import_average_pool (DynoImport *import, const DynoOnnxNode *node)
{
  static const char *const forms[] = { "N C H W", "N C W", NULL };
  guint form = 0;
  DynoImportValue *x = dyno_import_tensor_as (import, node, 0, forms, &form);
  DynoImportWindow w = { .n = form == 0 ? 2 : 1 };

  if (!x || !take_window (import, node, x->tensor, &w))
    return FALSE;
  const DynoAvgPoolParams params = { .kernel_h = w.kernel[0],
                                     .kernel_w = w.kernel[1],
                                     .stride_h = w.stride[0],
                                     .stride_w = w.stride[1],
                                     .pad_h = w.before[0],
                                     .pad_w = w.before[1],
                                     .end_h = w.after[0],
                                     .end_w = w.after[1],
                                     .exclude_pad =
                                         dyno_import_int (node, "count_include_pad", 0) == 0,
                                     .round_up = dyno_import_int (node, "ceil_mode", 0) != 0 };
  return dyno_import_output (
      import, node, 0,
      dyno_avg_pool (import->graph, x->tensor, dyno_import_shown_name (node), &params), NULL,
      forms[form]);
}

typedef DynoTensor *(*Whole) (DynoGraph *graph, DynoTensor *x, const char *name);

static Whole
pool_of (const DynoOnnxNode *node)
{
  return strstr (node->op_type, "Max") ? dyno_global_max_pool : dyno_global_avg_pool;
}

gboolean
dyno_import_global_pool (DynoImport *import, const DynoOnnxNode *node)
{
  static const char *const forms[] = { "N C H W", "N C W", NULL };
  guint form;
  DynoImportValue *x = dyno_import_tensor_as (import, node, 0, forms, &form);

  if (!x)
    return FALSE;
  return dyno_import_output (
      import, node, 0, pool_of (node) (import->graph, x->tensor, dyno_import_shown_name (node)),
      NULL, forms[form]);
}

/* The axes that a node reduces, as a bit mask; negative axes count from the end. */
static guint
reduced_axes (DynoImport *import, const DynoOnnxNode *node, guint n_dims)
{
  const DynoConstant *axes = dyno_import_numbers (import, node, 1, "axes");
  guint set = 0;

  for (guint i = 0; axes && i < axes->count; i++)
    {
      gint64 axis = dyno_constant_int (axes, i);
      axis += axis < 0 ? (gint64) n_dims : 0;
      if (axis < 0 || axis >= (gint64) n_dims)
        return 0;
      set |= 1u << axis;
    }
  return set;
}

/* x with the only axis that is kept besides the batch as its channels; x itself where several axes
 * are kept, or none. */
static DynoImportValue *
keep_channels (DynoImport *import, const DynoOnnxNode *node, DynoImportValue *x, guint set)
{
  guint kept = G_MAXUINT;

  for (guint axis = 0; axis < x->view.n_dims; axis++)
    {
      guint begin = axis ? x->view.end[axis - 1] : 0;
      gboolean batch = FALSE;
      for (guint i = begin; i < x->view.end[axis]; i++)
        batch |= x->view.parts[i].axis == 'N';
      if ((set >> axis & 1) || batch || begin == x->view.end[axis])
        continue;
      if (kept != G_MAXUINT)
        return x;
      kept = axis;
    }
  DynoImportValue *copy = dyno_import_with_channels (import, node, x, kept);
  return copy ? copy : x;
}

/* A mean over other axes; a maximum is refused. */
static gboolean
reduce_others (DynoImport *import, const DynoOnnxNode *node)
{
  return g_str_equal (node->op_type, "ReduceMean")
             ? dyno_import_reduce_axes (import, node)
             : dyno_import_refuse (import, node,
                                   "Dyno computes a maximum only over all of height and width");
}

/* The mean or the maximum over all of height and width, whichever axes of the value they are. */
gboolean
dyno_import_reduce (DynoImport *import, const DynoOnnxNode *node)
{
  const DynoImportValue *value = dyno_import_input (import, node, 0);
  gboolean keep = dyno_import_int (node, "keepdims", 1) != 0;
  guint64 pixels = 1;
  gint64 dims[DYNO_VIEW_MAX_DIMS];
  guint n = 0, set;

  if (value && value->constant && !value->tensor)
    return dyno_import_fold (import, node);
  if (value && value->parameter)
    return reduce_others (import, node);
  DynoImportValue *x = dyno_import_tensor (import, node, 0);
  if (!x)
    return FALSE;
  set = reduced_axes (import, node, x->view.n_dims);
  x = set ? keep_channels (import, node, x, set) : x;
  for (guint axis = 0; axis < x->view.n_dims; axis++)
    {
      guint begin = axis ? x->view.end[axis - 1] : 0;
      for (guint i = begin; i < x->view.end[axis]; i++)
        {
          char part = x->view.parts[i].axis;
          if ((part == 'H' || part == 'W') != ((set >> axis & 1) != 0))
            return reduce_others (import, node);
        }
      if (set >> axis & 1)
        pixels *= dyno_view_dim (&x->view, axis);
      if (keep || !(set >> axis & 1))
        dims[n++] = set >> axis & 1 ? 1 : (gint64) dyno_view_dim (&x->view, axis);
    }
  if (set == 0 || pixels != (guint64) x->tensor->h * x->tensor->w)
    return reduce_others (import, node);
  DynoTensor *y = pool_of (node) (import->graph, x->tensor, dyno_import_shown_name (node));
  if (!y)
    return dyno_import_output (import, node, 0, NULL, NULL, NULL);
  DynoView view;
  dyno_view_init (&view, y, x->view.batch, "N C");
  if (!dyno_view_reshape (&view, dims, n))
    return reduce_others (import, node);
  return dyno_import_output (import, node, 0, y, &view, NULL);
}
