/* SPDX-License-Identifier: MIT */
/* Pooling: MaxPool, AveragePool, the global ones, and means over height and width. */
#include "import-private.h"

typedef struct {
  guint n; /* axes: 1, or 2, height first */
  guint32 kernel[2], stride[2], pad[2];
  gboolean round_up;
} Window;

static gboolean
take_list (DynoImport *import, const DynoOnnxNode *node, const char *name, guint n, gint64 least,
           guint32 otherwise, guint32 *values)
{
  guint found;
  const gint64 *ints = dyno_import_ints (node, name, &found);

  if (ints && found < n)
    return dyno_import_refuse (import, node, "%s has %u numbers for %u axes", name, found, n);
  for (guint i = 0; i < n; i++)
    {
      if (ints && (ints[i] < least || ints[i] > G_MAXUINT16))
        return dyno_import_refuse (import, node, "%s is %" G_GINT64_FORMAT, name, ints[i]);
      values[i] = ints ? (guint32) ints[i] : otherwise;
    }
  return TRUE;
}

static gboolean
take_window (DynoImport *import, const DynoOnnxNode *node, const DynoTensor *x, Window *w)
{
  const guint32 extent[] = { w->n == 2 ? x->h : x->w, x->w };
  guint32 dilation[2];
  guint n_pads;
  const gint64 *pads = dyno_import_ints (node, "pads", &n_pads);
  const char *rule = dyno_import_text (node, "auto_pad", "NOTSET");

  gboolean remainder = FALSE;

  if (!take_list (import, node, "kernel_shape", w->n, 1, 1, w->kernel)
      || !take_list (import, node, "strides", w->n, 1, 1, w->stride)
      || !take_list (import, node, "dilations", w->n, 1, 1, dilation)
      || !take_list (import, node, "pads", w->n, 0, 0, w->pad))
    return FALSE;
  if (!g_str_equal (rule, "NOTSET") && !g_str_equal (rule, "VALID"))
    return dyno_import_refuse (import, node, "auto_pad %s is not read", rule);
  for (guint i = 0; i < w->n; i++)
    {
      if (pads && (n_pads != 2 * w->n || pads[i] != pads[w->n + i]))
        return dyno_import_refuse (import, node, "its pads before and after an axis must be equal");
      if (dilation[i] != 1)
        return dyno_import_refuse (import, node, "its window has gaps, dilation %u", dilation[i]);
      guint64 span = (guint64) extent[i] + 2 * w->pad[i];
      if (span < w->kernel[i])
        return dyno_import_refuse (import, node, "its window is larger than its input");
      remainder |= (span - w->kernel[i]) % w->stride[i] != 0;
    }
  /* Without a remainder both ways of rounding give the same. */
  w->round_up = remainder && dyno_import_int (node, "ceil_mode", 0) != 0;
  return TRUE;
}

gboolean
dyno_import_max_pool (DynoImport *import, const DynoOnnxNode *node)
{
  static const char *const forms[] = { "N C H W", "N C W", NULL };
  guint form;
  DynoImportValue *x = dyno_import_tensor_as (import, node, 0, forms, &form);
  Window w = { .n = form == 0 ? 2 : 1 };

  if (!x || !take_window (import, node, x->tensor, &w))
    return FALSE;
  guint last = w.n - 1;
  if (w.kernel[0] != w.kernel[last] || w.stride[0] != w.stride[last] || w.pad[0] != w.pad[last])
    return dyno_import_refuse (import, node, "its window is not square");
  if (w.round_up)
    return dyno_import_refuse (import, node, "ceil_mode has windows that reach past the input");
  DynoTensor *y = (w.n == 2 ? dyno_max_pool : dyno_max_pool1d) (
      import->graph, x->tensor, dyno_import_shown_name (node), w.kernel[0], w.stride[0], w.pad[0]);
  return dyno_import_output (import, node, 0, y, NULL, forms[form]);
}

gboolean
dyno_import_average_pool (DynoImport *import, const DynoOnnxNode *node)
{
  static const char *const forms[] = { "N C H W", NULL };
  guint form;
  DynoImportValue *x = dyno_import_tensor_as (import, node, 0, forms, &form);
  Window w = { .n = 2 };

  if (!x || !take_window (import, node, x->tensor, &w))
    return FALSE;
  const DynoAvgPoolParams params = { .kernel_h = w.kernel[0],
                                     .kernel_w = w.kernel[1],
                                     .stride_h = w.stride[0],
                                     .stride_w = w.stride[1],
                                     .pad_h = w.pad[0],
                                     .pad_w = w.pad[1],
                                     .exclude_pad =
                                         dyno_import_int (node, "count_include_pad", 0) == 0,
                                     .round_up = w.round_up };
  return dyno_import_output (
      import, node, 0,
      dyno_avg_pool (import->graph, x->tensor, dyno_import_shown_name (node), &params), NULL,
      forms[form]);
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
      import, node, 0,
      dyno_global_avg_pool (import->graph, x->tensor, dyno_import_shown_name (node)), NULL,
      forms[form]);
}

/* The axes that a node reduces, as a set of bits; those of a negative number count from the end. */
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

/* x with the only axis that is kept beside the batch as its channels; x itself where there are
 * several, or none. */
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

/* The mean over all of height and width, in whatever axes they lie. */
gboolean
dyno_import_reduce_mean (DynoImport *import, const DynoOnnxNode *node)
{
  DynoImportValue *x = dyno_import_tensor (import, node, 0);
  gboolean keep = dyno_import_int (node, "keepdims", 1) != 0;
  guint64 pixels = 1;
  gint64 dims[DYNO_VIEW_MAX_DIMS];
  guint n = 0, set;

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
            return dyno_import_refuse (import, node,
                                       "Dyno has a mean over all of height and width only");
        }
      if (set >> axis & 1)
        pixels *= dyno_view_dim (&x->view, axis);
      if (keep || !(set >> axis & 1))
        dims[n++] = set >> axis & 1 ? 1 : (gint64) dyno_view_dim (&x->view, axis);
    }
  if (set == 0 || pixels != (guint64) x->tensor->h * x->tensor->w)
    return dyno_import_refuse (import, node, "Dyno has a mean over all of height and width only");
  DynoTensor *y = dyno_global_avg_pool (import->graph, x->tensor, dyno_import_shown_name (node));
  if (!y)
    return dyno_import_output (import, node, 0, NULL, NULL, NULL);
  DynoView view;
  dyno_view_init (&view, y, x->view.batch, "N C");
  if (!dyno_view_reshape (&view, dims, n))
    return dyno_import_refuse (import, node,
                               "the axes of its input are in an order that is not "
                               "read");
  return dyno_import_output (import, node, 0, y, &view, NULL);
}
