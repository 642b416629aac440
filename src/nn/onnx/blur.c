/* SPDX-License-Identifier: MIT */
/* Conv with a constant kernel of binomial coefficients, the same for every channel: the blur of
 * anti-aliased networks (Zhang, Making Convolutional Networks Shift-Invariant Again).  A binomial
 * kernel of K x K is K - 1 means over 2 x 2 pixels, one after the other. */
#include "import-private.h"
#include <math.h>

#define MOST_BLUR 16 /* pixels along each side of a kernel */

/* TRUE: all kernels are the outer product of the binomial coefficients of side - 1, whose sum is
 * 1. */
static gboolean
is_binomial (const DynoConstant *kernel, guint side)
{
  double row[MOST_BLUR] = { 1 };

  for (guint n = 1; n < side; n++)
    for (guint i = n + 1; i-- > 0;)
      row[i] = (row[i] + (i > 0 ? row[i - 1] : 0)) / 2;
  for (guint i = 0; i < kernel->count; i++)
    {
      double wanted = row[i / side % side] * row[i % side];
      if (!(fabs (dyno_constant_float (kernel, i) - wanted) <= 1e-6 * wanted))
        return FALSE;
    }
  return TRUE;
}

gboolean
dyno_import_is_blur (DynoImport *import, const DynoOnnxNode *node)
{
  const DynoImportValue *value = dyno_import_input (import, node, 1);
  const DynoConstant *kernel = value && !value->tensor ? value->constant : NULL;

  return kernel && kernel->n_dims == 4 && kernel->count > 0 && kernel->dims[1] == 1
         && kernel->dims[2] == kernel->dims[3] && kernel->dims[2] > 1
         && kernel->dims[2] <= MOST_BLUR && !dyno_import_takes_bias (import, node)
         && is_binomial (kernel, (guint) kernel->dims[2]);
}

gboolean
dyno_import_blur (DynoImport *import, const DynoOnnxNode *node)
{
  static const char *const forms[] = { "N C H W", NULL };
  const DynoConstant *kernel = dyno_import_input (import, node, 1)->constant;
  const guint32 side = (guint32) kernel->dims[2], sides[] = { side, side };
  const char *name = dyno_import_shown_name (node);
  guint form;
  DynoImportValue *x = dyno_import_tensor_as (import, node, 0, forms, &form);
  DynoImportWindow w = { .n = 2 };

  if (!x || !dyno_import_window (import, node, x->tensor, sides, &w))
    return FALSE;
  if (kernel->dims[0] != (gint64) x->tensor->c
      || dyno_import_int (node, "group", 1) != (gint64) x->tensor->c || w.dilation[0] > 1
      || w.dilation[1] > 1)
    return dyno_import_refuse (import, node,
                               "its constant kernel is not one kernel for each channel");
  g_autofree char *pad_name = g_strconcat (name, ".pad", NULL);
  DynoTensor *y = dyno_pad (import->graph, x->tensor, pad_name,
                            &(DynoPadParams){ .top = (gint32) w.before[0],
                                              .bottom = (gint32) w.after[0],
                                              .left = (gint32) w.before[1],
                                              .right = (gint32) w.after[1] });
  for (guint32 i = 1; i < side && y; i++)
    {
      gboolean last = i + 1 == side;
      g_autofree char *part = g_strdup_printf ("%s.%u", name, i);
      y = dyno_avg_pool (import->graph, y, last ? name : part,
                         &(DynoAvgPoolParams){ .kernel_h = 2,
                                               .kernel_w = 2,
                                               .stride_h = last ? w.stride[0] : 1,
                                               .stride_w = last ? w.stride[1] : 1 });
    }
  return dyno_import_output (import, node, 0, y, NULL, forms[form]);
}
