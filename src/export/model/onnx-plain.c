/* SPDX-License-Identifier: MIT */
/* Writes ops without parameters into ONNX files: sums and products of tensors, runs of channels,
 * pads, other sizes, pooling. */
#include "onnx-private.h"
#include "op.h"
#include "text.h"
#include "ops.h"
#include <math.h>
#include <string.h>

/* The axis of the channels in each form. */
static const gint64 channel_axis[] = { 1, 1, 1, 3 };

/* Two tensors of one shape. */
static gboolean
emit_pair (DynoOnnxWriter *o, const DynoNode *node, const char *op)
{
  DynoOnnxForm form = dyno_onnx_form (o, node->inputs[0]);
  const char *a = dyno_onnx_value (o, node->inputs[0], form),
             *b = dyno_onnx_value (o, node->inputs[1], form), *output = dyno_onnx_name (o, "out");

  dyno_onnx_plain (o, op, o->stem, a, b, output);
  return dyno_onnx_set_value (o, node->outputs[0], output, form);
}

gboolean
dyno_onnx_emit_add (DynoOnnxWriter *o, const DynoNode *node)
{
  return emit_pair (o, node, "Add");
}

gboolean
dyno_onnx_emit_multiply (DynoOnnxWriter *o, const DynoNode *node)
{
  return emit_pair (o, node, "Mul");
}

gboolean
dyno_onnx_emit_softmax (DynoOnnxWriter *o, const DynoNode *node)
{
  DynoOnnxForm form = dyno_onnx_form (o, node->inputs[0]);

  if (form == DYNO_ONNX_ROW && !dyno_onnx_is_pixel (node->inputs[0]))
    form = DYNO_ONNX_LAST;
  const char *x = dyno_onnx_value (o, node->inputs[0], form), *output = dyno_onnx_name (o, "out");
  dyno_onnx_begin (o, "Softmax", o->stem);
  dyno_onnx_input (o, x);
  dyno_onnx_int (o, "axis", form == DYNO_ONNX_LAST ? 3 : 1);
  dyno_onnx_end (o, output);
  return dyno_onnx_set_value (o, node->outputs[0], output, form);
}

/* x factor + offset, or offset - x, by as few nodes as possible */
gboolean
dyno_onnx_emit_affine (DynoOnnxWriter *o, const DynoNode *node)
{
  double factor = dyno_onnx_number (o, node, "factor"),
         offset = dyno_onnx_number (o, node, "offset");
  DynoOnnxForm form = dyno_onnx_form (o, node->inputs[0]);
  const char *x = dyno_onnx_value (o, node->inputs[0], form), *output = dyno_onnx_name (o, "out"),
             *by = NULL, *term = NULL;
  gboolean is_product = offset == 0, is_difference = factor == -1 && offset != 0;

  if (is_product || (factor != 1 && !is_difference))
    dyno_onnx_number_of (o, by = dyno_onnx_name (o, "factor"), factor);
  if (!is_product)
    dyno_onnx_number_of (o, term = dyno_onnx_name (o, "offset"), offset);
  if (by)
    {
      const char *product = is_product ? output : dyno_onnx_name (o, "product");
      dyno_onnx_plain (o, "Mul", is_product ? o->stem : product, x, by, product);
      x = product;
    }
  if (is_difference)
    dyno_onnx_plain (o, "Sub", o->stem, term, x, output);
  else if (term)
    dyno_onnx_plain (o, "Add", o->stem, x, term, output);
  return dyno_onnx_set_value (o, node->outputs[0], output, form);
}

/* (N, C, H, W) times (N, C, 1, 1) */
gboolean
dyno_onnx_emit_scale (DynoOnnxWriter *o, const DynoNode *node)
{
  const char *x = dyno_onnx_value (o, node->inputs[0], DYNO_ONNX_IMAGE),
             *factors = dyno_onnx_value (o, node->inputs[1], DYNO_ONNX_IMAGE),
             *output = dyno_onnx_name (o, "out");

  dyno_onnx_plain (o, "Mul", o->stem, x, factors, output);
  return dyno_onnx_set_value (o, node->outputs[0], output, DYNO_ONNX_IMAGE);
}

gboolean
dyno_onnx_emit_concat (DynoOnnxWriter *o, const DynoNode *node)
{
  DynoOnnxForm form = dyno_onnx_form (o, node->inputs[0]);
  const char *output = dyno_onnx_name (o, "out");
  g_autofree const char **parts = g_new (const char *, node->n_inputs);

  for (guint i = 0; i < node->n_inputs; i++)
    parts[i] = dyno_onnx_value (o, node->inputs[i], form);
  dyno_onnx_begin (o, "Concat", o->stem);
  for (guint i = 0; i < node->n_inputs; i++)
    dyno_onnx_input (o, parts[i]);
  dyno_onnx_int (o, "axis", channel_axis[form]);
  dyno_onnx_end (o, output);
  return dyno_onnx_set_value (o, node->outputs[0], output, form);
}

/* The output has the op's own name: the reader names the op after its output, since a Split has
 * several outputs. */
gboolean
dyno_onnx_emit_channels (DynoOnnxWriter *o, const DynoNode *node)
{
  DynoOnnxForm form = dyno_onnx_form (o, node->inputs[0]);
  const gint64 one = 1, begin = dyno_onnx_attribute (o, node, "first"),
               end = begin + node->outputs[0]->c;
  const char *x = dyno_onnx_value (o, node->inputs[0], form),
             *starts = dyno_onnx_name (o, "starts"), *ends = dyno_onnx_name (o, "ends"),
             *axes = dyno_onnx_name (o, "axes");

  dyno_onnx_indices (o, starts, &one, 1, &begin, 1);
  dyno_onnx_indices (o, ends, &one, 1, &end, 1);
  dyno_onnx_indices (o, axes, &one, 1, &channel_axis[form], 1);
  dyno_onnx_begin (o, "Slice", o->stem);
  dyno_onnx_input (o, x);
  dyno_onnx_input (o, starts);
  dyno_onnx_input (o, ends);
  dyno_onnx_input (o, axes);
  dyno_onnx_end (o, o->stem);
  return dyno_onnx_set_value (o, node->outputs[0], o->stem, form);
}

/* ShuffleNet's shuffle: (groups, C / groups), transposed. */
gboolean
dyno_onnx_emit_channel_shuffle (DynoOnnxWriter *o, const DynoNode *node)
{
  static const gint64 turn[] = { 0, 2, 1, 3, 4 };
  const DynoTensor *x = node->inputs[0];
  const gint64 groups = dyno_onnx_attribute (o, node, "groups");
  const gint64 apart[] = { 0, groups, x->c / MAX (1, groups), x->h, x->w },
               joined[] = { 0, x->c, x->h, x->w };
  const char *value = dyno_onnx_value (o, x, DYNO_ONNX_IMAGE),
             *split = dyno_onnx_name (o, "groups"), *turned = dyno_onnx_name (o, "turned"),
             *output = dyno_onnx_name (o, "out");

  dyno_onnx_reshape (o, value, apart, 5, split);
  dyno_onnx_transpose (o, split, turn, 5, turned);
  dyno_onnx_reshape (o, turned, joined, 4, output);
  return dyno_onnx_set_value (o, node->outputs[0], output, DYNO_ONNX_IMAGE);
}

/* Sorts the parts of a permutation into the order of its input: sorted[i] is the index, in the
 * order of the output, of the i-th part of the input. */
static void
sort_parts (const gint64 *stride, guint n, guint *sorted)
{
  for (guint i = 0; i < n; i++)
    {
      guint k = i;
      for (; k > 0 && stride[sorted[k - 1]] < stride[i]; k--)
        sorted[k] = sorted[k - 1];
      sorted[k] = i;
    }
}

/* Splits the input into its parts, transposes these, and joins them. */
gboolean
dyno_onnx_emit_permute (DynoOnnxWriter *o, const DynoNode *node)
{
  const DynoTensor *y = node->outputs[0];
  const gint64 joined[] = { 0, y->h, y->w, y->c };
  gint64 extent[DYNO_PERMUTE_MAX_PARTS], stride[DYNO_PERMUTE_MAX_PARTS],
      apart[DYNO_PERMUTE_MAX_PARTS + 1] = { 0 }, turn[DYNO_PERMUTE_MAX_PARTS + 1] = { 0 };
  guint sorted[DYNO_PERMUTE_MAX_PARTS], n = dyno_onnx_attribute (o, node, "n");

  if (n > DYNO_PERMUTE_MAX_PARTS)
    return dyno_onnx_refuse (o, "%s: an order of %u %s", node->name, n,
                             dyno_plural (n, "part", "parts"));
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *of_extent = g_strdup_printf ("extent[%u]", i),
                      *of_stride = g_strdup_printf ("stride[%u]", i);
      extent[i] = dyno_onnx_attribute (o, node, of_extent);
      stride[i] = dyno_onnx_attribute (o, node, of_stride);
    }
  sort_parts (stride, n, sorted);
  for (guint i = 0; i < n; i++)
    {
      apart[i + 1] = extent[sorted[i]];
      turn[sorted[i] + 1] = i + 1;
    }
  const char *value = dyno_onnx_value (o, node->inputs[0], DYNO_ONNX_LAST);
  if (n > 1)
    {
      const char *parts = dyno_onnx_name (o, "parts"), *turned = dyno_onnx_name (o, "turned");
      dyno_onnx_reshape (o, value, apart, n + 1, parts);
      dyno_onnx_transpose (o, parts, turn, n + 1, turned);
      value = turned;
    }
  const char *output = dyno_onnx_name (o, "out");
  dyno_onnx_reshape (o, value, joined, 4, output);
  return dyno_onnx_set_value (o, y, output, DYNO_ONNX_LAST);
}

/* Pads in the present form of the value, where that form has the axes. */
gboolean
dyno_onnx_emit_pad (DynoOnnxWriter *o, const DynoNode *node)
{
  /* the axes after the batch, by form */
  static const char *const axes[] = { "CHW", "CW", "C", "HWC" };
  const DynoTensor *x = node->inputs[0], *y = node->outputs[0];
  DynoOnnxForm form = dyno_onnx_form (o, x);
  gint64 pads[8] = { 0 };

  if ((form == DYNO_ONNX_SEQUENCE && (x->h != 1 || y->h != 1))
      || (form == DYNO_ONNX_ROW && !(dyno_onnx_is_pixel (x) && dyno_onnx_is_pixel (y))))
    form = DYNO_ONNX_IMAGE;
  gint64 n = (gint64) strlen (axes[form]) + 1, n_pads = 2 * n,
         top = (gint64) dyno_onnx_number (o, node, "top"),
         left = (gint64) dyno_onnx_number (o, node, "left"),
         front = (gint64) dyno_onnx_number (o, node, "front");
  for (gint64 i = 1; i < n; i++)
    {
      char axis = axes[form][i - 1];
      gint64 before = axis == 'H'   ? top
                      : axis == 'W' ? left
                                    : front,
             more = axis == 'H'   ? (gint64) y->h - x->h
                    : axis == 'W' ? (gint64) y->w - x->w
                                  : (gint64) y->c - x->c;
      pads[i] = before;
      pads[n + i] = more - before;
    }
  const char *value = dyno_onnx_value (o, x, form), *list = dyno_onnx_name (o, "pads"),
             *fill = dyno_onnx_name (o, "value"), *output = dyno_onnx_name (o, "out");
  dyno_onnx_indices (o, list, &n_pads, 1, pads, (gsize) n_pads);
  dyno_onnx_number_of (o, fill, dyno_onnx_number (o, node, "value"));
  dyno_onnx_begin (o, "Pad", o->stem);
  dyno_onnx_input (o, value);
  dyno_onnx_input (o, list);
  dyno_onnx_input (o, fill);
  dyno_onnx_end (o, output);
  return dyno_onnx_set_value (o, y, output, form);
}

/* The factor of a side, rounded such that a runtime, which computes the size of the output in
 * float32, gets the right size. */
static float
factor_of (guint32 extent, guint32 out, guint32 up, guint32 down)
{
  float factor = (float) ((double) up / down);

  return floorf ((float) extent * factor) < (float) out ? nextafterf (factor, INFINITY) : factor;
}

/* Gives factors, since sizes would include the size of the batch. */
gboolean
dyno_onnx_emit_resize (DynoOnnxWriter *o, const DynoNode *node)
{
  static const char *const nearest[] = { "round_prefer_floor", "round_prefer_ceil", "floor",
                                         "ceil" };
  static const char *const places[] = { "half_pixel", "pytorch_half_pixel", "align_corners",
                                        "asymmetric" };
  const DynoTensor *x = node->inputs[0], *y = node->outputs[0];
  DynoResizeMode mode = dyno_onnx_attribute (o, node, "mode");
  gboolean flat = x->h == 1 && y->h == 1 && dyno_onnx_form (o, x) == DYNO_ONNX_SEQUENCE;
  DynoOnnxForm form = flat ? DYNO_ONNX_SEQUENCE : DYNO_ONNX_IMAGE;
  const float h = factor_of (x->h, y->h, dyno_onnx_attribute (o, node, "up_h"),
                             dyno_onnx_attribute (o, node, "down_h")),
              w = factor_of (x->w, y->w, dyno_onnx_attribute (o, node, "up_w"),
                             dyno_onnx_attribute (o, node, "down_w")),
              image[] = { 1, 1, h, w }, line[] = { 1, 1, w };
  const gint64 n = flat ? 3 : 4;
  const char *value = dyno_onnx_value (o, x, form), *factors = dyno_onnx_name (o, "scales"),
             *output = dyno_onnx_name (o, "out");

  dyno_onnx_floats (o, factors, &n, 1, flat ? line : image, (gsize) n);
  dyno_onnx_begin (o, "Resize", o->stem);
  dyno_onnx_input (o, value);
  dyno_onnx_input (o, "");
  dyno_onnx_input (o, factors);
  dyno_onnx_text (o, "coordinate_transformation_mode",
                  places[dyno_onnx_attribute (o, node, "places")]);
  dyno_onnx_text (o, "mode", mode == DYNO_RESIZE_LINEAR ? "linear" : "nearest");
  if (mode != DYNO_RESIZE_LINEAR)
    dyno_onnx_text (o, "nearest_mode", nearest[mode - DYNO_RESIZE_PREFER_FLOOR]);
  dyno_onnx_end (o, output);
  return dyno_onnx_set_value (o, y, output, form);
}

/* --- pooling ---------------------------------------------------------------------------------- */

/* A window over an image, height first. */
typedef struct {
  gint64 kernel[2], stride[2], pads[4]; /* in ONNX's order: both begins, then both ends */
  gboolean counts_pad, round_up;
} Window;

/* Writes a pool over an image, or along the width of a sequence. */
static gboolean
emit_window (DynoOnnxWriter *o, const DynoNode *node, const char *op, const Window *w)
{
  const DynoTensor *x = node->inputs[0];
  gboolean flat = x->h == 1 && w->kernel[0] == 1 && w->stride[0] == 1
                  && dyno_onnx_form (o, x) != DYNO_ONNX_IMAGE;
  DynoOnnxForm form = flat ? DYNO_ONNX_SEQUENCE : DYNO_ONNX_IMAGE;
  guint first = flat ? 1 : 0, n = flat ? 1 : 2;
  const gint64 ends[] = { w->pads[1], w->pads[3] };
  const char *value = dyno_onnx_value (o, x, form), *output = dyno_onnx_name (o, "out");

  dyno_onnx_begin (o, op, o->stem);
  dyno_onnx_input (o, value);
  dyno_onnx_ints (o, "kernel_shape", w->kernel + first, n);
  dyno_onnx_ints (o, "strides", w->stride + first, n);
  dyno_onnx_ints (o, "pads", flat ? ends : w->pads, 2 * n);
  if (w->counts_pad)
    dyno_onnx_int (o, "count_include_pad", 1);
  if (w->round_up)
    dyno_onnx_int (o, "ceil_mode", 1);
  dyno_onnx_end (o, output);
  return dyno_onnx_set_value (o, node->outputs[0], output, form);
}

/* The pad at the end.  It equals the pad at the beginning unless the number of windows would then
 * differ; else it is the part of the last window past the image. */
static gint64
end_pad (gint64 size, gint64 count, gint64 kernel, gint64 stride, gint64 pad)
{
  gint64 past = (count - 1) * stride + kernel - size - pad;

  return past <= pad && pad < past + stride ? pad : MAX (past, 0);
}

gboolean
dyno_onnx_emit_max_pool (DynoOnnxWriter *o, const DynoNode *node)
{
  const DynoTensor *x = node->inputs[0], *y = node->outputs[0];
  Window w = { .kernel = { dyno_onnx_attribute (o, node, "window.kernel_h"),
                           dyno_onnx_attribute (o, node, "window.kernel_w") },
               .stride = { dyno_onnx_attribute (o, node, "window.stride_h"),
                           dyno_onnx_attribute (o, node, "window.stride_w") },
               .pads = { dyno_onnx_attribute (o, node, "window.pad_h"),
                         dyno_onnx_attribute (o, node, "window.pad_w") } };

  w.pads[2] = end_pad (x->h, y->h, w.kernel[0], w.stride[0], w.pads[0]);
  w.pads[3] = end_pad (x->w, y->w, w.kernel[1], w.stride[1], w.pads[1]);
  return emit_window (o, node, "MaxPool", &w);
}

/* The matrix (out, in), or its transpose, whose rows compute the means of adaptive windows: window
 * i has the positions from floor (i in / out) to ceil ((i + 1) in / out). */
static void
write_windows (DynoOnnxWriter *o, const char *name, guint32 in, guint32 out, gboolean transposed)
{
  const gint64 dims[] = { transposed ? in : out, transposed ? out : in };
  gsize count = (gsize) in * out;
  g_autofree float *shares = g_new0 (float, count);

  for (guint64 i = 0; i < out; i++)
    {
      guint64 begin = i * in / out, end = ((i + 1) * in + out - 1) / out;
      for (guint64 k = begin; k < end; k++)
        shares[transposed ? k * out + i : i * in + k] = 1.0f / (float) (end - begin);
    }
  dyno_onnx_floats (o, name, dims, 2, shares, count);
}

/* Writes an adaptive average pool: windows of one size are an AveragePool, others are two products
 * by constant matrices. */
static gboolean
emit_adaptive (DynoOnnxWriter *o, const DynoNode *node)
{
  const DynoTensor *x = node->inputs[0], *y = node->outputs[0];

  if (x->h % y->h == 0 && x->w % y->w == 0)
    {
      const gint64 h = x->h / y->h, w = x->w / y->w;
      return emit_window (o, node, "AveragePool",
                          &(Window){ .kernel = { h, w }, .stride = { h, w } });
    }
  const char *value = dyno_onnx_value (o, x, DYNO_ONNX_IMAGE), *rows = dyno_onnx_name (o, "rows"),
             *columns = dyno_onnx_name (o, "columns"), *across = dyno_onnx_name (o, "across"),
             *output = dyno_onnx_name (o, "out");
  write_windows (o, rows, x->h, y->h, FALSE);
  write_windows (o, columns, x->w, y->w, TRUE);
  dyno_onnx_plain (o, "MatMul", across, value, columns, across);
  dyno_onnx_plain (o, "MatMul", o->stem, rows, across, output);
  return dyno_onnx_set_value (o, y, output, DYNO_ONNX_IMAGE);
}

gboolean
dyno_onnx_emit_avg_pool (DynoOnnxWriter *o, const DynoNode *node)
{
  const DynoTensor *x = node->inputs[0], *y = node->outputs[0];
  Window w = {
    .kernel = { dyno_onnx_attribute (o, node, "kernel_h"),
                dyno_onnx_attribute (o, node, "kernel_w") },
    .stride = { dyno_onnx_attribute (o, node, "stride_h"),
                dyno_onnx_attribute (o, node, "stride_w") },
    .pads = { dyno_onnx_attribute (o, node, "pad_h"), dyno_onnx_attribute (o, node, "pad_w"),
              dyno_onnx_attribute (o, node, "end_h"), dyno_onnx_attribute (o, node, "end_w") },
    .counts_pad = !dyno_onnx_attribute (o, node, "exclude_pad")
  };

  if (dyno_onnx_attribute (o, node, "adaptive"))
    return emit_adaptive (o, node);
  /* TRUE where the last window reaches past the padded image */
  w.round_up = (y->h - 1) * w.stride[0] + w.kernel[0] > x->h + w.pads[0] + w.pads[2]
               || (y->w - 1) * w.stride[1] + w.kernel[1] > x->w + w.pads[1] + w.pads[3];
  return emit_window (o, node, "AveragePool", &w);
}

/* With channels last, the pool is a mean over the two axes before the channels. */
gboolean
dyno_onnx_emit_global_avg_pool (DynoOnnxWriter *o, const DynoNode *node)
{
  static const gint64 axes[] = { 1, 2 };
  DynoOnnxForm form = dyno_onnx_form (o, node->inputs[0]);
  gboolean last = form == DYNO_ONNX_LAST;

  if (!last && !(form == DYNO_ONNX_SEQUENCE && node->inputs[0]->h == 1))
    form = DYNO_ONNX_IMAGE;
  const char *x = dyno_onnx_value (o, node->inputs[0], form), *output = dyno_onnx_name (o, "out");
  if (!last)
    {
      dyno_onnx_plain (o, "GlobalAveragePool", o->stem, x, NULL, output);
      return dyno_onnx_set_value (o, node->outputs[0], output, form);
    }
  dyno_onnx_begin (o, "ReduceMean", o->stem);
  dyno_onnx_input (o, x);
  dyno_onnx_ints (o, "axes", axes, 2);
  dyno_onnx_int (o, "keepdims", 0);
  dyno_onnx_end (o, output);
  return dyno_onnx_set_value (o, node->outputs[0], output, DYNO_ONNX_ROW);
}
