/* SPDX-License-Identifier: MIT */
/* The windows of Conv, ConvTranspose, MaxPool and AveragePool: sizes, strides, dilations and pads
 * of each axis. */
#include "import-private.h"
#include <string.h>

#define LARGEST_SPAN (1 << 24) /* limits the pads */

/* n numbers of an attribute, each at least `least`; without the attribute all are `otherwise`. */
static gboolean
take_numbers (DynoImport *import, const DynoOnnxNode *node, const char *name, guint n,
              guint32 least, guint32 otherwise, guint32 *values)
{
  guint found;
  const gint64 *ints = dyno_import_ints (node, name, &found);

  if (ints && found != n)
    return dyno_import_refuse (import, node, "%s has %u numbers, not %u", name, found, n);
  for (guint i = 0; i < n; i++)
    {
      if (ints && (ints[i] < least || ints[i] > G_MAXUINT16))
        return dyno_import_refuse (import, node, "%s is %" G_GINT64_FORMAT, name, ints[i]);
      values[i] = ints ? (guint32) ints[i] : otherwise;
    }
  return TRUE;
}

static gboolean
take_list (DynoImport *import, const DynoOnnxNode *node, const char *name, guint n,
           guint32 otherwise, guint32 *values)
{
  return take_numbers (import, node, name, n, 1, otherwise, values);
}

static gint64
span_of (const DynoImportWindow *w, guint i)
{
  return (gint64) (w->kernel[i] - 1) * w->dilation[i] + 1;
}

/* The number of windows is the extent divided by the stride, rounded up; an odd total pad is larger
 * at the beginning with `lower`, else at the end. */
static void
pad_same (const guint32 *extent, gboolean lower, DynoImportWindow *w)
{
  for (guint i = 0; i < w->n; i++)
    {
      gint64 size = extent[i], out = (size + w->stride[i] - 1) / w->stride[i],
             all = MAX (0, (out - 1) * w->stride[i] + span_of (w, i) - size);
      w->before[i] = (guint32) (lower ? all - all / 2 : all / 2);
      w->after[i] = (guint32) all - w->before[i];
    }
}

static gboolean
take_pads (DynoImport *import, const DynoOnnxNode *node, const guint32 *extent, DynoImportWindow *w)
{
  const char *rule = dyno_import_text (node, "auto_pad", "NOTSET");
  guint found;
  const gint64 *pads = dyno_import_ints (node, "pads", &found);
  gboolean upper = g_str_equal (rule, "SAME_UPPER"), lower = g_str_equal (rule, "SAME_LOWER");

  memset (w->before, 0, sizeof w->before);
  memset (w->after, 0, sizeof w->after);
  if (upper || lower)
    pad_same (extent, lower, w);
  else if (!g_str_equal (rule, "NOTSET") && !g_str_equal (rule, "VALID") && *rule)
    return dyno_import_refuse (import, node, "auto_pad %s is not read", rule);
  if (!pads || upper || lower || g_str_equal (rule, "VALID"))
    return TRUE;
  if (found != 2 * w->n)
    return dyno_import_refuse (import, node, "pads has %u numbers, not %u", found, 2 * w->n);
  for (guint i = 0; i < found; i++)
    {
      if (pads[i] < 0 || pads[i] > G_MAXUINT16)
        return dyno_import_refuse (import, node, "its pad is %" G_GINT64_FORMAT, pads[i]);
      *(i < w->n ? &w->before[i] : &w->after[i - w->n]) = (guint32) pads[i];
    }
  return TRUE;
}

gboolean
dyno_import_window (DynoImport *import, const DynoOnnxNode *node, const DynoTensor *x,
                    const guint32 *kernel, DynoImportWindow *w)
{
  const guint32 extent[] = { w->n == 2 ? x->h : x->w, x->w };
  guint found;

  if (!kernel && !dyno_import_ints (node, "kernel_shape", &found))
    return dyno_import_refuse (import, node, "it has no kernel_shape");
  if (kernel)
    memcpy (w->kernel, kernel, w->n * sizeof *kernel);
  else if (!take_list (import, node, "kernel_shape", w->n, 1, w->kernel))
    return FALSE;
  if (!take_list (import, node, "strides", w->n, 1, w->stride)
      || !take_list (import, node, "dilations", w->n, 1, w->dilation))
    return FALSE;
  for (guint i = 0; i < w->n; i++)
    if (span_of (w, i) > LARGEST_SPAN)
      return dyno_import_refuse (import, node, "its window of %" G_GINT64_FORMAT " is too large",
                                 span_of (w, i));
  if (!take_pads (import, node, extent, w))
    return FALSE;
  for (guint i = 0; i < w->n; i++)
    if ((gint64) extent[i] + w->before[i] + w->after[i] < span_of (w, i))
      return dyno_import_refuse (import, node, "its window is larger than its input");
  if (w->n == 1)
    {
      w->kernel[1] = w->kernel[0];
      w->stride[1] = w->stride[0];
      w->dilation[1] = w->dilation[0];
      w->before[1] = w->before[0];
      w->after[1] = w->after[0];
      w->kernel[0] = w->stride[0] = w->dilation[0] = 1;
      w->before[0] = w->after[0] = 0;
    }
  return TRUE;
}

/* Pads from the size of the result, which auto_pad or output_shape gives: an odd total pad is
 * larger at the end with SAME_UPPER, else at the beginning. */
static gboolean
pad_to_size (DynoImport *import, const DynoOnnxNode *node, const guint32 *whole,
             const guint32 *size, gboolean upper, DynoImportWindow *w)
{
  for (guint i = 0; i < 2; i++)
    {
      if (size[i] > whole[i])
        return dyno_import_refuse (
            import, node, "its output of %u is larger than its input, window and stride allow",
            size[i]);
      guint32 all = whole[i] - size[i];
      w->before[i] = upper ? all / 2 : all - all / 2;
      w->after[i] = all - w->before[i];
    }
  return TRUE;
}

gboolean
dyno_import_transposed_window (DynoImport *import, const DynoOnnxNode *node, const DynoTensor *x,
                               const guint32 kernel[2], DynoImportWindow *w, guint32 more[2])
{
  const guint32 extent[] = { x->h, x->w };
  const char *rule = dyno_import_text (node, "auto_pad", "NOTSET");
  gboolean upper = g_str_equal (rule, "SAME_UPPER"), lower = g_str_equal (rule, "SAME_LOWER");
  guint32 whole[2], size[2];
  guint found;

  w->n = 2;
  memcpy (w->kernel, kernel, sizeof w->kernel);
  if (!take_list (import, node, "strides", 2, 1, w->stride)
      || !take_list (import, node, "dilations", 2, 1, w->dilation)
      || !take_numbers (import, node, "output_padding", 2, 0, 0, more)
      || !take_list (import, node, "output_shape", 2, 1, size))
    return FALSE;
  for (guint i = 0; i < 2; i++)
    {
      gint64 all = (gint64) (extent[i] - 1) * w->stride[i] + more[i] + span_of (w, i);
      if (all > LARGEST_SPAN)
        return dyno_import_refuse (import, node, "its output of %" G_GINT64_FORMAT " is too large",
                                   all);
      whole[i] = (guint32) all;
    }
  if (dyno_import_ints (node, "output_shape", &found))
    return pad_to_size (import, node, whole, size, upper, w);
  if (!upper && !lower)
    return take_pads (import, node, extent, w);
  for (guint i = 0; i < 2; i++)
    size[i] = MIN (extent[i] * w->stride[i], whole[i]);
  return pad_to_size (import, node, whole, size, upper, w);
}
