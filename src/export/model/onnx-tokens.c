/* SPDX-License-Identifier: MIT */
/* Writes transformers' ops into ONNX files: tokens, attention, the first token.  Each is split into
 * the nodes that PyTorch's exporter writes, which Dyno's reader joins to one op again. */
#include "onnx-private.h"
#include "op.h"
#include <math.h>

/* inputs of tokens (ops/tokens.c) */
enum { X, CLASS_TOKEN, POSITIONS };

/* Writes a list of numbers under its own name, and returns the name. */
static const char *
write_list (DynoOnnxWriter *o, const char *part, const gint64 *values, gsize n)
{
  const char *name = dyno_onnx_name (o, part);
  gint64 dims = (gint64) n;

  dyno_onnx_indices (o, name, &dims, 1, values, n);
  return name;
}

/* Writes a node with one input and one number as attribute. */
static const char *
write_with_int (DynoOnnxWriter *o, const char *op, const char *part, const char *input,
                const char *attribute, gint64 value)
{
  const char *output = dyno_onnx_name (o, part);

  dyno_onnx_begin (o, op, output);
  dyno_onnx_input (o, input);
  dyno_onnx_int (o, attribute, value);
  dyno_onnx_end (o, output);
  return output;
}

/* Expands the class token to each sample of x (N, T, C). */
static const char *
write_class_token (DynoOnnxWriter *o, const DynoNode *node, const char *x)
{
  const gint64 one[] = { 1, (gint64) node->outputs[0]->c };
  const char *token = dyno_onnx_write_parameter (o, node->inputs[CLASS_TOKEN]),
             *samples = dyno_onnx_name (o, "samples"), *shape = dyno_onnx_name (o, "shape"),
             *output = dyno_onnx_name (o, "expanded");

  dyno_onnx_begin (o, "Shape", samples);
  dyno_onnx_input (o, x);
  dyno_onnx_int (o, "start", 0);
  dyno_onnx_int (o, "end", 1);
  dyno_onnx_end (o, samples);
  const char *rest = write_list (o, "one", one, G_N_ELEMENTS (one));
  dyno_onnx_begin (o, "Concat", shape);
  dyno_onnx_input (o, samples);
  dyno_onnx_input (o, rest);
  dyno_onnx_int (o, "axis", 0);
  dyno_onnx_end (o, shape);
  dyno_onnx_plain (o, "Expand", output, token, shape, output);
  return output;
}

/* Adds positions, (H W, C) or (H, W, C), to x (N, H, W, C). */
static gboolean
emit_positions (DynoOnnxWriter *o, const DynoNode *node)
{
  const DynoTensor *y = node->outputs[0];
  const DynoParameter *parameter = node->inputs[POSITIONS]->parameter;
  gint64 t = (gint64) y->h * y->w;
  gboolean flat = (gint64) parameter->dims[parameter->n_dims - 2] == t;
  const gint64 steps[] = { 0, t, (gint64) y->c },
               last[] = { 0, (gint64) y->h, (gint64) y->w, (gint64) y->c };
  const char *x = dyno_onnx_value (o, node->inputs[X], DYNO_ONNX_LAST),
             *positions = dyno_onnx_write_parameter (o, node->inputs[POSITIONS]),
             *row = flat ? dyno_onnx_name (o, "steps") : x,
             *sum = flat ? dyno_onnx_name (o, "sum") : NULL, *output = dyno_onnx_name (o, "out");

  if (flat)
    dyno_onnx_reshape (o, x, steps, G_N_ELEMENTS (steps), row);
  dyno_onnx_plain (o, "Add", o->stem, row, positions, flat ? sum : output);
  if (flat)
    dyno_onnx_reshape (o, sum, last, G_N_ELEMENTS (last), output);
  return dyno_onnx_set_value (o, y, output, DYNO_ONNX_LAST);
}

gboolean
dyno_onnx_emit_tokens (DynoOnnxWriter *o, const DynoNode *node)
{
  const DynoTensor *y = node->outputs[0];
  const gint64 perm[] = { 0, 2, 1 }, last[] = { 0, 1, (gint64) y->w, (gint64) y->c };

  if (!node->inputs[CLASS_TOKEN])
    return emit_positions (o, node);
  const char *pixels = dyno_onnx_value (o, node->inputs[X], DYNO_ONNX_SEQUENCE),
             *x = dyno_onnx_name (o, "pixels");

  dyno_onnx_transpose (o, pixels, perm, G_N_ELEMENTS (perm), x);
  gboolean placed = node->inputs[POSITIONS] != NULL;
  const char *token = write_class_token (o, node, x),
             *positions = placed ? dyno_onnx_write_parameter (o, node->inputs[POSITIONS]) : NULL,
             *joined = dyno_onnx_name (o, "joined"),
             *sum = placed ? dyno_onnx_name (o, "sum") : joined,
             *output = dyno_onnx_name (o, "out");
  dyno_onnx_begin (o, "Concat", placed ? joined : o->stem);
  dyno_onnx_input (o, token);
  dyno_onnx_input (o, x);
  dyno_onnx_int (o, "axis", 1);
  dyno_onnx_end (o, joined);
  if (placed)
    dyno_onnx_plain (o, "Add", o->stem, joined, positions, sum);
  dyno_onnx_reshape (o, sum, last, G_N_ELEMENTS (last), output);
  return dyno_onnx_set_value (o, y, output, DYNO_ONNX_LAST);
}

/* Selects index k of the first axis, and removes that axis. */
static const char *
write_part (DynoOnnxWriter *o, const char *part, const char *parts, gint64 k)
{
  const char *index = dyno_onnx_name (o, part), *output = dyno_onnx_name (o, part);

  dyno_onnx_indices (o, index, NULL, 0, &k, 1);
  dyno_onnx_begin (o, "Gather", output);
  dyno_onnx_input (o, parts);
  dyno_onnx_input (o, index);
  dyno_onnx_int (o, "axis", 0);
  dyno_onnx_end (o, output);
  return output;
}

/* (N, H, W, 3 C) as queries, keys and values (3, N, heads, T, D), or by row (3, N, H, heads, W,
 * D). */
static const char *
write_heads (DynoOnnxWriter *o, const DynoNode *node, gint64 heads, gboolean by_row)
{
  const DynoTensor *qkv = node->inputs[0];
  const gint64 d = (gint64) qkv->c / 3 / heads,
               shape[] = { 0, (gint64) qkv->h * qkv->w, 3, heads, d }, perm[] = { 2, 0, 3, 1, 4 },
               rows[] = { 0, (gint64) qkv->h, (gint64) qkv->w, 3, heads, d },
               rows_perm[] = { 3, 0, 1, 4, 2, 5 };
  const char *x = dyno_onnx_value (o, qkv, DYNO_ONNX_LAST), *split = dyno_onnx_name (o, "split"),
             *output = dyno_onnx_name (o, "heads");
  guint n = by_row ? G_N_ELEMENTS (rows) : G_N_ELEMENTS (shape);

  dyno_onnx_reshape (o, x, by_row ? rows : shape, n, split);
  dyno_onnx_transpose (o, split, by_row ? rows_perm : perm, n, output);
  return output;
}

gboolean
dyno_onnx_emit_attention (DynoOnnxWriter *o, const DynoNode *node)
{
  const DynoTensor *y = node->outputs[0];
  gint64 heads = dyno_onnx_attribute (o, node, "heads");
  double scale = dyno_onnx_number (o, node, "scale");
  gboolean by_row = dyno_onnx_attribute (o, node, "by_row") != 0;
  const gint64 turn[] = { 0, 1, 3, 2 }, back[] = { 0, 2, 1, 3 }, rows_turn[] = { 0, 1, 2, 4, 3 },
               rows_back[] = { 0, 1, 3, 2, 4 },
               shape[] = { 0, (gint64) y->h, (gint64) y->w, (gint64) y->c };

  if (node->n_inputs > 1 && node->inputs[1])
    return dyno_onnx_refuse (
        o, "%s: an attention over sequences of differing length is not written", node->name);
  const char *parts = write_heads (o, node, heads, by_row), *q = write_part (o, "q", parts, 0),
             *k = write_part (o, "k", parts, 1), *v = write_part (o, "v", parts, 2),
             *factor = dyno_onnx_name (o, "scale"), *scaled = dyno_onnx_name (o, "scaled"),
             *turned = dyno_onnx_name (o, "turned"), *scores = dyno_onnx_name (o, "scores"),
             *sum = dyno_onnx_name (o, "sum"), *merged = dyno_onnx_name (o, "merged"),
             *output = dyno_onnx_name (o, "out");
  dyno_onnx_number_of (o, factor, scale > 0 ? scale : sqrt ((double) heads / y->c));
  dyno_onnx_plain (o, "Mul", scaled, q, factor, scaled);
  guint n = by_row ? G_N_ELEMENTS (rows_turn) : G_N_ELEMENTS (turn);
  dyno_onnx_transpose (o, k, by_row ? rows_turn : turn, n, turned);
  dyno_onnx_plain (o, "MatMul", scores, scaled, turned, scores);
  const char *shares = write_with_int (o, "Softmax", "shares", scores, "axis", -1);
  dyno_onnx_plain (o, "MatMul", o->stem, shares, v, sum);
  dyno_onnx_transpose (o, sum, by_row ? rows_back : back, n, merged);
  dyno_onnx_reshape (o, merged, shape, G_N_ELEMENTS (shape), output);
  return dyno_onnx_set_value (o, y, output, DYNO_ONNX_LAST);
}

/* (N, 1, T, C) -> (N, C) */
gboolean
dyno_onnx_emit_first_step (DynoOnnxWriter *o, const DynoNode *node)
{
  const DynoTensor *y = node->outputs[0];
  const gint64 first = 0, shape[] = { 0, (gint64) y->c };
  const char *x = dyno_onnx_value (o, node->inputs[0], DYNO_ONNX_LAST),
             *index = dyno_onnx_name (o, "index"), *step = dyno_onnx_name (o, "step"),
             *output = dyno_onnx_name (o, "out");

  dyno_onnx_indices (o, index, NULL, 0, &first, 1);
  dyno_onnx_begin (o, "Gather", o->stem);
  dyno_onnx_input (o, x);
  dyno_onnx_input (o, index);
  dyno_onnx_int (o, "axis", 2);
  dyno_onnx_end (o, step);
  dyno_onnx_reshape (o, step, shape, G_N_ELEMENTS (shape), output);
  return dyno_onnx_set_value (o, y, output, DYNO_ONNX_ROW);
}
