/* SPDX-License-Identifier: MIT */
/* ConvTranspose over an image. */
#include "graph-private.h"
#include "import-private.h"

static gboolean
check_channels (DynoImport *import, const DynoOnnxNode *node, const DynoTensor *x,
                const guint32 *dims, gint64 groups)
{
  if (dims[0] != x->c)
    return dyno_import_refuse (import, node, "its weight takes %u channels, its input has %u",
                               dims[0], x->c);
  if (groups < 1 || groups > x->c || x->c % groups != 0 || (guint64) groups * dims[1] > G_MAXINT32)
    return dyno_import_refuse (import, node, "%" G_GINT64_FORMAT " groups do not fit %u channels",
                               groups, x->c);
  return TRUE;
}

/* A transposed convolution crops both ends of an axis equally; the difference is cropped by an op
 * after it. */
static DynoTensor *
crop_rest (DynoImport *import, DynoTensor *y, const char *name, const DynoImportWindow *w)
{
  g_autofree char *crop = g_strconcat (name, ".crop", NULL);
  const DynoPadParams rest = {
    .top = -(gint32) (w->before[0] - MIN (w->before[0], w->after[0])),
    .bottom = -(gint32) (w->after[0] - MIN (w->before[0], w->after[0])),
    .left = -(gint32) (w->before[1] - MIN (w->before[1], w->after[1])),
    .right = -(gint32) (w->after[1] - MIN (w->before[1], w->after[1])),
  };

  return y ? dyno_pad (import->graph, y, crop, &rest) : NULL;
}

gboolean
dyno_import_conv_transpose (DynoImport *import, const DynoOnnxNode *node)
{
  static const char *const forms[] = { "N C H W", NULL };
  guint form = 0, first = import->graph->parameters->len;
  guint32 dims[4], bias, more[2];
  DynoImportValue *x = dyno_import_tensor_as (import, node, 0, forms, &form);
  DynoImportWindow w = { 0 };
  gboolean has_bias = dyno_import_takes_bias (import, node);
  gint64 groups = dyno_import_int (node, "group", 1);

  if (!x || !dyno_import_parameter (import, node, 1, 4, dims)
      || (has_bias && !dyno_import_parameter (import, node, 2, 1, &bias))
      || !check_channels (import, node, x->tensor, dims, groups)
      || !dyno_import_transposed_window (import, node, x->tensor, dims + 2, &w, more))
    return FALSE;
  const DynoConvTransposeParams params = {
    .out_channels = node == import->head ? import->n_outputs : (guint32) groups * dims[1],
    .kernel_h = w.kernel[0],
    .kernel_w = w.kernel[1],
    .stride_h = w.stride[0],
    .stride_w = w.stride[1],
    .pad_h = MIN (w.before[0], w.after[0]),
    .pad_w = MIN (w.before[1], w.after[1]),
    .more_h = more[0],
    .more_w = more[1],
    .groups = (guint32) groups,
    .dilation_h = w.dilation[0] > 1 ? w.dilation[0] : 0,
    .dilation_w = w.dilation[1] > 1 ? w.dilation[1] : 0,
    .bias = has_bias,
    .init = DYNO_INIT_KAIMING_UNIFORM,
  };
  g_autofree char *name = dyno_import_name (import, node, 1);
  DynoTensor *y = dyno_conv_transpose (import->graph, x->tensor, name, &params);
  dyno_import_name_parameters (import, node, first, 1);
  return dyno_import_output (import, node, 0, crop_rest (import, y, name, &w), NULL, forms[0]);
}
