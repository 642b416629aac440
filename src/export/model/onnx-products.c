/* SPDX-License-Identifier: MIT */
/* Writes contractions, picked elements and constants into ONNX files.
 *
 * An operand of a contraction becomes a tensor with an axis for each of its parts; Einsum
 * multiplies and sums, and parts of the result that no operand has are added by an Expand. */
#include "onnx-private.h"
#include "op.h"
#include "ops.h"

#define BATCH 'z' /* the letter of the samples; the parts have a, b, ... */

typedef struct {
  guint n, n_out;
  DynoContractPart parts[DYNO_CONTRACT_MAX_PARTS];
} Contraction;

static void
read_parts (DynoOnnxWriter *o, const DynoNode *node, Contraction *c)
{
  c->n = MIN (dyno_onnx_attribute (o, node, "n"), DYNO_CONTRACT_MAX_PARTS);
  c->n_out = MIN (dyno_onnx_attribute (o, node, "n_out"), c->n);
  for (guint i = 0; i < c->n; i++)
    {
      g_autofree char *extent = g_strdup_printf ("parts[%u].extent", i),
                      *a = g_strdup_printf ("parts[%u].a", i),
                      *b = g_strdup_printf ("parts[%u].b", i);
      c->parts[i] =
          (DynoContractPart){ dyno_onnx_attribute (o, node, extent),
                              dyno_onnx_attribute (o, node, a), dyno_onnx_attribute (o, node, b) };
    }
}

static guint32
stride_of (const DynoContractPart *part, guint operand)
{
  return operand == 0 ? part->a : part->b;
}

/* Writes operand k with an axis for each of its parts, and for the samples where it has them;
 * appends its letters to the term; returns the value's name. */
static const char *
write_operand (DynoOnnxWriter *o, const DynoNode *node, const Contraction *c, guint k,
               GString *term)
{
  const DynoTensor *x = node->inputs[k];
  gint64 shape[DYNO_CONTRACT_MAX_PARTS + 1];
  guint order[DYNO_CONTRACT_MAX_PARTS], n = 0, n_axes = 0;
  gboolean has_samples = !dyno_tensor_is_shared (x);

  for (guint i = 0; i < c->n; i++)
    {
      guint at = n;
      if (stride_of (&c->parts[i], k) == 0)
        continue;
      for (n++; at > 0 && stride_of (&c->parts[order[at - 1]], k) < stride_of (&c->parts[i], k);
           at--)
        order[at] = order[at - 1];
      order[at] = i;
    }
  if (has_samples)
    {
      shape[n_axes++] = 0;
      g_string_append_c (term, BATCH);
    }
  for (guint i = 0; i < n; i++)
    {
      shape[n_axes++] = c->parts[order[i]].extent;
      g_string_append_c (term, (char) ('a' + order[i]));
    }
  const char *value = dyno_onnx_value (o, x, DYNO_ONNX_LAST),
             *parts = dyno_onnx_name (o, k == 0 ? "a" : "b");
  dyno_onnx_reshape (o, value, shape, n_axes, parts);
  return parts;
}

/* Repeats a value along the parts of the result that no operand has: Unsqueeze by a Reshape, then
 * Expand. */
static const char *
write_repetition (DynoOnnxWriter *o, const Contraction *c, gboolean has_samples, const char *value)
{
  gint64 shape[DYNO_CONTRACT_MAX_PARTS + 1], wide[DYNO_CONTRACT_MAX_PARTS + 1];
  const gint64 n = c->n_out + 1;
  gboolean repeats = FALSE;

  shape[0] = has_samples ? 0 : 1;
  wide[0] = 1;
  for (guint i = 0; i < c->n_out; i++)
    {
      gboolean missing = c->parts[i].a == 0 && c->parts[i].b == 0;
      shape[i + 1] = missing ? 1 : c->parts[i].extent;
      wide[i + 1] = c->parts[i].extent;
      repeats |= missing;
    }
  if (!repeats)
    return value;
  const char *apart = dyno_onnx_name (o, "apart"), *list = dyno_onnx_name (o, "wide"),
             *repeated = dyno_onnx_name (o, "repeated");
  dyno_onnx_reshape (o, value, shape, (guint) n, apart);
  dyno_onnx_indices (o, list, &n, 1, wide, (gsize) n);
  dyno_onnx_plain (o, "Expand", repeated, apart, list, repeated);
  return repeated;
}

gboolean
dyno_onnx_emit_contract (DynoOnnxWriter *o, const DynoNode *node)
{
  const DynoTensor *y = node->outputs[0];
  g_autoptr (GString) equation = g_string_new (NULL);
  const char *operands[2] = { NULL }, *value = dyno_onnx_name (o, "sums");
  double scale = dyno_onnx_number (o, node, "scale");
  gboolean has_samples = FALSE;
  Contraction c;

  read_parts (o, node, &c);
  for (guint k = 0; k < 2 && node->inputs[k]; k++)
    {
      if (k > 0)
        g_string_append_c (equation, ',');
      operands[k] = write_operand (o, node, &c, k, equation);
      has_samples |= !dyno_tensor_is_shared (node->inputs[k]);
    }
  g_string_append (equation, "->");
  if (has_samples)
    g_string_append_c (equation, BATCH);
  for (guint i = 0; i < c.n_out; i++)
    if (c.parts[i].a > 0 || c.parts[i].b > 0)
      g_string_append_c (equation, (char) ('a' + i));
  dyno_onnx_begin (o, "Einsum", o->stem);
  for (guint k = 0; k < 2 && operands[k]; k++)
    dyno_onnx_input (o, operands[k]);
  dyno_onnx_text (o, "equation", equation->str);
  dyno_onnx_end (o, value);
  if (scale != 1)
    {
      const char *factor = dyno_onnx_name (o, "scale"), *scaled = dyno_onnx_name (o, "scaled");
      dyno_onnx_number_of (o, factor, scale);
      dyno_onnx_plain (o, "Mul", scaled, value, factor, scaled);
      value = scaled;
    }
  value = write_repetition (o, &c, has_samples, value);
  const gint64 joined[] = { has_samples ? 0 : 1, y->h, y->w, y->c };
  const char *output = dyno_onnx_name (o, "out");
  dyno_onnx_reshape (o, value, joined, 4, output);
  return dyno_onnx_set_value (o, y, output, DYNO_ONNX_LAST);
}

/* The values of a constant of the graph, without the pads of its channels; g_free. */
static float *
copy_constant (DynoOnnxWriter *o, const DynoTensor *x)
{
  const float *from = dyno_graph_get_constant (o->model->graph, x);
  gsize pixels = (gsize) x->h * x->w;
  float *values = g_new (float, pixels * x->c);

  for (gsize i = 0; i < pixels * x->c; i++)
    values[i] = from[i / x->c * x->cp + i % x->c];
  return values;
}

void
dyno_onnx_write_constant (DynoOnnxWriter *o, const DynoTensor *tensor)
{
  const gint64 dims[] = { 1, tensor->h, tensor->w, tensor->c };
  g_autofree char *constant = g_strconcat (tensor->name, DYNO_ONNX_CONSTANT, NULL);
  const char *name = dyno_onnx_unique (o, constant);

  if (tensor->dtype != DYNO_DTYPE_F32)
    {
      dyno_onnx_refuse (o, "%s: a table of indices is no value", tensor->name);
      return;
    }
  g_autofree float *values = copy_constant (o, tensor);
  dyno_onnx_floats (o, name, dims, 4, values, (gsize) tensor->h * tensor->w * tensor->c);
  dyno_onnx_set_value (o, tensor, name, DYNO_ONNX_LAST);
}

/* A Gather of the elements of a sample, or of a parameter, in one axis. */
gboolean
dyno_onnx_emit_gather (DynoOnnxWriter *o, const DynoNode *node)
{
  const DynoTensor *x = node->inputs[0], *y = node->outputs[0];
  const gint64 count = (gint64) y->h * y->w * y->c, flat[] = { 0, -1 }, of_parameter[] = { -1 },
               joined[] = { 0, y->h, y->w, y->c }, shared[] = { 1, y->h, y->w, y->c };
  gboolean is_parameter = x->parameter != NULL;
  g_autofree gint64 *indices = g_new (gint64, (gsize) count);
  const char *source = is_parameter ? dyno_onnx_write_parameter (o, x)
                                    : dyno_onnx_value (o, x, DYNO_ONNX_LAST),
             *row = dyno_onnx_name (o, "row"), *output = dyno_onnx_name (o, "out");

  if (!dyno_gather_get_indices (o->model->graph, node, indices))
    return dyno_onnx_refuse (o, "%s: elements of 0 cannot be written to an ONNX file yet",
                             node->name);
  gboolean moves = FALSE;
  for (gint64 i = 0; i < count; i++)
    moves |= indices[i] != i;
  if (is_parameter && !moves)
    {
      dyno_onnx_reshape (o, source, shared, 4, output);
      return dyno_onnx_set_value (o, y, output, DYNO_ONNX_LAST);
    }
  const char *list = dyno_onnx_name (o, "indices"), *taken = dyno_onnx_name (o, "taken");
  dyno_onnx_reshape (o, source, is_parameter ? of_parameter : flat, is_parameter ? 1 : 2, row);
  dyno_onnx_indices (o, list, &count, 1, indices, (gsize) count);
  dyno_onnx_begin (o, "Gather", o->stem);
  dyno_onnx_input (o, row);
  dyno_onnx_input (o, list);
  dyno_onnx_int (o, "axis", is_parameter ? 0 : 1);
  dyno_onnx_end (o, taken);
  dyno_onnx_reshape (o, taken, is_parameter ? shared : joined, 4, output);
  return dyno_onnx_set_value (o, y, output, DYNO_ONNX_LAST);
}
