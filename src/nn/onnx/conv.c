/* SPDX-License-Identifier: MIT */
/* Conv. */
#include "graph-private.h"
#include "import-private.h"

static gboolean
check_channels (DynoImport *import, const DynoOnnxNode *node, const DynoTensor *x,
                const guint32 *dims, gint64 groups)
{
  if (groups < 1 || groups > x->c)
    return dyno_import_refuse (import, node, "%" G_GINT64_FORMAT " groups do not fit %u channels",
                               groups, x->c);
  if ((guint64) groups * dims[1] != x->c)
    return dyno_import_refuse (import, node,
                               "its weight takes %" G_GINT64_FORMAT " channels, its input has %u",
                               groups * dims[1], x->c);
  return TRUE;
}

/* PyTorch's exporter writes a bias of zeros for a layer without a bias. */
gboolean
dyno_import_takes_bias (DynoImport *import, const DynoOnnxNode *node)
{
  const DynoImportValue *bias = dyno_import_input (import, node, 2);
  double number;

  if (node->n_inputs < 3 || !*node->inputs[2])
    return FALSE;
  return !bias || bias->parameter || !bias->constant
         || !dyno_constant_is_uniform (bias->constant, &number) || number != 0;
}

/* A convolution pads both ends of an axis equally; the difference is padded by an op before it. */
static DynoTensor *
pad_rest (DynoImport *import, DynoTensor *x, const char *name, const DynoImportWindow *w)
{
  g_autofree char *pad_name = g_strconcat (name, ".pad", NULL);
  const DynoPadParams rest = {
    .top = (gint32) (w->before[0] - MIN (w->before[0], w->after[0])),
    .bottom = (gint32) (w->after[0] - MIN (w->before[0], w->after[0])),
    .left = (gint32) (w->before[1] - MIN (w->before[1], w->after[1])),
    .right = (gint32) (w->after[1] - MIN (w->before[1], w->after[1])),
  };

  return dyno_pad (import->graph, x, pad_name, &rest);
}

gboolean
dyno_import_conv (DynoImport *import, const DynoOnnxNode *node)
{
  static const char *const forms[] = { "N C H W", "N C W", NULL };

  if (dyno_import_is_blur (import, node))
    return dyno_import_blur (import, node);
  guint form = 0, first = import->graph->parameters->len;
  guint32 dims[4], bias;
  DynoImportValue *x = dyno_import_tensor_as (import, node, 0, forms, &form);
  DynoImportWindow w = { .n = form == 0 ? 2 : 1 };
  gboolean has_bias = dyno_import_takes_bias (import, node);
  gint64 groups = dyno_import_int (node, "group", 1);

  if (!x || !dyno_import_parameter (import, node, 1, w.n + 2, dims)
      || (has_bias && !dyno_import_parameter (import, node, 2, 1, &bias))
      || !check_channels (import, node, x->tensor, dims, groups))
    return FALSE;
  if (!dyno_import_window (import, node, x->tensor, dims + 2, &w))
    return FALSE;
  const DynoConv2dParams params = {
    .out_channels =
        node == import->head || node == import->added_head ? import->n_outputs : dims[0],
    .kernel_h = w.kernel[0],
    .kernel_w = w.kernel[1],
    .stride_h = w.stride[0],
    .stride_w = w.stride[1],
    .pad_h = MIN (w.before[0], w.after[0]),
    .pad_w = MIN (w.before[1], w.after[1]),
    .groups = (guint32) groups,
    /* 0 means 1, as in the built-in models, so that the kernels are chosen by the same key */
    .dilation_h = w.dilation[0] > 1 ? w.dilation[0] : 0,
    .dilation_w = w.dilation[1] > 1 ? w.dilation[1] : 0,
    .bias = has_bias,
    .init = DYNO_INIT_KAIMING_UNIFORM,
  };
  g_autofree char *name = dyno_import_name (import, node, 1);
  DynoTensor *y = (w.n == 2 ? dyno_conv2d : dyno_conv1d) (
      import->graph, pad_rest (import, x->tensor, name, &w), name, &params);
  dyno_import_name_parameters (import, node, first, 1);
  return dyno_import_output (import, node, 0, y, NULL, forms[form]);
}
