/* SPDX-License-Identifier: MIT */
/* Conv. */
#include "graph-private.h"
#include "import-private.h"
#include <string.h>

/* The window of a node along its axes, height first; of a sequence only the width. */
typedef struct {
  guint n; /* axes: 1 or 2 */
  guint32 kernel[2], stride[2], dilation[2], pad[2];
} Window;

/* n positive numbers of an attribute, or all the other number. */
static gboolean
take_list (DynoImport *import, const DynoOnnxNode *node, const char *name, guint n,
           guint32 otherwise, guint32 *values)
{
  guint found;
  const gint64 *ints = dyno_import_ints (node, name, &found);

  if (ints && found != n)
    return dyno_import_refuse (import, node, "%s has %u numbers, not %u", name, found, n);
  for (guint i = 0; i < n; i++)
    {
      if (ints && (ints[i] < 1 || ints[i] > G_MAXUINT16))
        return dyno_import_refuse (import, node, "%s is %" G_GINT64_FORMAT, name, ints[i]);
      values[i] = ints ? (guint32) ints[i] : otherwise;
    }
  return TRUE;
}

/* Pads of both sides of each axis, which must be equal. */
static gboolean
take_pads (DynoImport *import, const DynoOnnxNode *node, const guint32 *extent, Window *w)
{
  const char *rule = dyno_import_text (node, "auto_pad", "NOTSET");
  guint found;
  const gint64 *pads = dyno_import_ints (node, "pads", &found);

  for (guint i = 0; i < w->n; i++)
    {
      gint64 before = 0, after = 0;
      if (g_str_has_prefix (rule, "SAME_"))
        {
          gint64 out = ((gint64) extent[i] + w->stride[i] - 1) / w->stride[i];
          gint64 all = MAX (0, (out - 1) * w->stride[i] + (w->kernel[i] - 1) * w->dilation[i] + 1
                                   - (gint64) extent[i]);
          before = g_str_equal (rule, "SAME_LOWER") ? all - all / 2 : all / 2;
          after = all - before;
        }
      else if (pads && found == 2 * w->n)
        {
          before = pads[i];
          after = pads[w->n + i];
        }
      else if (pads)
        return dyno_import_refuse (import, node, "pads has %u numbers, not %u", found, 2 * w->n);
      if (before != after || before < 0 || before > G_MAXUINT16)
        return dyno_import_refuse (import, node,
                                   "it pads %" G_GINT64_FORMAT " before and %" G_GINT64_FORMAT
                                   " after an axis; both must be equal",
                                   before, after);
      w->pad[i] = (guint32) before;
    }
  return TRUE;
}

static gboolean
check_channels (DynoImport *import, const DynoOnnxNode *node, const DynoTensor *x,
                const guint32 *dims, gint64 groups)
{
  if (groups < 1 || groups > x->c)
    return dyno_import_refuse (import, node, "%" G_GINT64_FORMAT " groups of %u channels", groups,
                               x->c);
  if ((guint64) groups * dims[1] != x->c)
    return dyno_import_refuse (import, node,
                               "its weight takes %" G_GINT64_FORMAT " channels, its input has %u",
                               groups * dims[1], x->c);
  return TRUE;
}

gboolean
dyno_import_conv (DynoImport *import, const DynoOnnxNode *node)
{
  static const char *const forms[] = { "N C H W", "N C W", NULL };
  guint form, first = import->graph->parameters->len;
  guint32 dims[4], bias;
  DynoImportValue *x = dyno_import_tensor_as (import, node, 0, forms, &form);
  Window w = { .n = form == 0 ? 2 : 1 };
  gboolean has_bias = node->n_inputs > 2 && *node->inputs[2];
  gint64 groups = dyno_import_int (node, "group", 1);

  if (!x || !dyno_import_parameter (import, node, 1, w.n + 2, dims)
      || (has_bias && !dyno_import_parameter (import, node, 2, 1, &bias))
      || !check_channels (import, node, x->tensor, dims, groups))
    return FALSE;
  const guint32 extent[] = { w.n == 2 ? x->tensor->h : x->tensor->w, x->tensor->w };
  memcpy (w.kernel, dims + 2, w.n * sizeof *dims);
  if (!take_list (import, node, "strides", w.n, 1, w.stride)
      || !take_list (import, node, "dilations", w.n, 1, w.dilation)
      || !take_pads (import, node, extent, &w))
    return FALSE;
  guint last = w.n - 1;
  const DynoConv2dParams params = {
    .out_channels = node == import->head ? import->n_outputs : dims[0],
    .kernel_h = w.n == 2 ? w.kernel[0] : 1,
    .kernel_w = w.kernel[last],
    .stride_h = w.n == 2 ? w.stride[0] : 1,
    .stride_w = w.stride[last],
    .pad_h = w.n == 2 ? w.pad[0] : 0,
    .pad_w = w.pad[last],
    .groups = (guint32) groups,
    /* 0 is 1, as models of Dyno's have it: kernels are chosen by the same key */
    .dilation_h = w.n == 2 && w.dilation[0] > 1 ? w.dilation[0] : 0,
    .dilation_w = w.dilation[last] > 1 ? w.dilation[last] : 0,
    .bias = has_bias,
    .init = DYNO_INIT_KAIMING_UNIFORM,
  };
  g_autofree char *name = dyno_import_name (node, 1);
  DynoTensor *y = (w.n == 2 ? dyno_conv2d : dyno_conv1d) (import->graph, x->tensor, name, &params);
  dyno_import_name_parameters (import, node, first, 1);
  return dyno_import_output (import, node, 0, y, NULL, forms[form]);
}
