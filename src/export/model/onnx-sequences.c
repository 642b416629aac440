/* SPDX-License-Identifier: MIT */
/* Writes ops over sequences into ONNX files.  The weights of an LSTM and of a GRU are initialisers
 * under their own names, PyTorch's, in its shapes and order of gates, so that they are read back by
 * name like all other weights.  Gather nodes over these constants bring them into the form of
 * ONNX's node, with its order of gates and an axis for the directions in front; a runtime evaluates
 * them once, when it loads the file.
 *
 * Steps are counted as in DynoSequence: max (1, length / stride), and at most the number of steps
 * of the tensor. */
#include "onnx-private.h"
#include "op.h"
#include <string.h>

/* inputs of an lstm or a gru, of each direction; see ops/recurrent.c.  A linear layer makes the
 * gates. */
enum { CELL_GATES = 1, CELL_WEIGHT, CELL_BIAS, CELL_N_INPUTS = 3 };
enum { GATES_WEIGHT = 1, GATES_BIAS };

typedef struct {
  const char *op, *onnx; /* names */
  guint n_gates;
  gint64 gates[4]; /* the positions of ONNX's gates in PyTorch's order */
} Cell;

static const Cell cells[] = {
  { "lstm", "LSTM", 4, { 0, 3, 1, 2 } }, /* i, o, f, g of i, f, g, o */
  { "gru", "GRU", 3, { 1, 0, 2 } },      /* z, r, n of r, z, n */
};

/* NULL: the node is neither. */
static const Cell *
find_cell (const DynoNode *node)
{
  for (guint i = 0; i < G_N_ELEMENTS (cells); i++)
    if (g_str_equal (node->op->name, cells[i].op))
      return &cells[i];
  return NULL;
}

gboolean
dyno_onnx_has_lengths (const DynoOnnxWriter *o)
{
  const DynoModel *model = dyno_model_find (o->model->info->model, NULL);

  return model && model->reads_lengths && o->model->info->input.variable;
}

void
dyno_onnx_find_inside (DynoOnnxWriter *o, GPtrArray *nodes)
{
  for (guint i = 0; i < nodes->len; i++)
    {
      const DynoNode *node = g_ptr_array_index (nodes, i);

      if (!find_cell (node))
        continue;
      for (guint k = CELL_GATES; k < node->n_inputs; k += CELL_N_INPUTS)
        g_hash_table_add (o->inside, node->inputs[k]->producer);
    }
}

static void
add_int32 (DynoOnnxWriter *o, const char *name, gint32 value)
{
  dyno_onnx_initializer (o, name, DYNO_ONNX_INT32, NULL, 0, &value, sizeof value);
}

/* int32 of (N): the number of valid steps among the T steps of a tensor, each of which stands for
 * `stride` steps of the input. */
static char *
lengths_of (DynoOnnxWriter *o, const DynoNode *node, guint32 steps)
{
  guint32 stride = MAX (1, dyno_onnx_attribute (o, node, "stride"));
  g_autofree char *name = g_strdup_printf ("length/%u", stride),
                  *by = g_strconcat (name, "/stride", NULL),
                  *whole = g_strconcat (name, "/whole", NULL),
                  *least = g_strconcat (name, "/least", NULL),
                  *some = g_strconcat (name, "/some", NULL),
                  *most = g_strconcat (name, "/most", NULL);

  if (!g_hash_table_add (o->lengths, g_strdup (name)))
    return g_steal_pointer (&name);
  add_int32 (o, by, (gint32) stride);
  add_int32 (o, least, 1);
  add_int32 (o, most, (gint32) steps);
  dyno_onnx_plain (o, "Div", whole, "length", by, whole);
  dyno_onnx_plain (o, "Max", some, whole, least, some);
  dyno_onnx_plain (o, "Min", name, some, most, name);
  return g_steal_pointer (&name);
}

/* (N, C, H, W) -> (N, W C, H) */
gboolean
dyno_onnx_emit_rows (DynoOnnxWriter *o, const DynoNode *node)
{
  const DynoTensor *x = node->inputs[0];
  const gint64 turn[] = { 0, 3, 1, 2 };
  const gint64 shape[] = { 0, (gint64) x->w * x->c, x->h };
  const char *image = dyno_onnx_value (o, x, DYNO_ONNX_IMAGE),
             *turned = dyno_onnx_name (o, "turned"), *output = dyno_onnx_name (o, "out");

  dyno_onnx_transpose (o, image, turn, 4, turned);
  dyno_onnx_reshape (o, turned, shape, 3, output);
  return dyno_onnx_set_value (o, node->outputs[0], output, DYNO_ONNX_SEQUENCE);
}

static void
concat (DynoOnnxWriter *o, const char *const *inputs, guint n, const char *output)
{
  dyno_onnx_begin (o, "Concat", output);
  for (guint i = 0; i < n; i++)
    dyno_onnx_input (o, inputs[i]);
  dyno_onnx_int (o, "axis", 0);
  dyno_onnx_end (o, output);
}

/* Joins rows of `inputs`, as (directions, blocks G H, ...) of G gates in ONNX's order. */
static void
gather_gates (DynoOnnxWriter *o, const Cell *cell, const char *const *inputs, guint n_directions,
              guint n_blocks, guint32 hidden, const char *output)
{
  gint64 dims[] = { n_directions, (gint64) n_blocks * cell->n_gates * hidden };
  gsize count = (gsize) (dims[0] * dims[1]), at = 0;
  g_autofree gint64 *rows = g_new (gint64, count);
  g_autofree char *whole = g_strconcat (output, "/whole", NULL),
                  *index = g_strconcat (output, "/rows", NULL);
  guint n = n_directions * n_blocks;

  for (guint block = 0; block < n; block++)
    for (guint gate = 0; gate < cell->n_gates; gate++)
      for (guint32 k = 0; k < hidden; k++)
        rows[at++] = ((gint64) block * cell->n_gates + cell->gates[gate]) * hidden + k;
  dyno_onnx_indices (o, index, dims, 2, rows, count);
  if (n > 1)
    concat (o, inputs, n, whole);
  dyno_onnx_begin (o, "Gather", output);
  dyno_onnx_input (o, n > 1 ? whole : inputs[0]);
  dyno_onnx_input (o, index);
  dyno_onnx_int (o, "axis", 0);
  dyno_onnx_end (o, output);
}

/* Makes the inputs W, R and, where the layer has biases, B of a layer's node from its
 * initialisers. */
static void
emit_weights (DynoOnnxWriter *o, const Cell *cell, const DynoNode *node, guint n, guint32 hidden,
              const char *const outputs[3])
{
  const char *of_x[2] = { "" }, *of_h[2] = { "" }, *biases[4] = { "" };

  for (guint d = 0; d < n; d++)
    {
      DynoTensor *const *inputs = node->inputs + d * CELL_N_INPUTS;
      const DynoNode *gates_node = inputs[CELL_GATES]->producer;
      of_x[d] = dyno_onnx_write_parameter (o, gates_node->inputs[GATES_WEIGHT]);
      of_h[d] = dyno_onnx_write_parameter (o, inputs[CELL_WEIGHT]);
      if (!outputs[2])
        continue;
      biases[2 * d] = dyno_onnx_write_parameter (o, gates_node->inputs[GATES_BIAS]);
      biases[2 * d + 1] = dyno_onnx_write_parameter (o, inputs[CELL_BIAS]);
    }
  gather_gates (o, cell, of_x, n, 1, hidden, outputs[0]);
  gather_gates (o, cell, of_h, n, 1, hidden, outputs[1]);
  if (outputs[2])
    gather_gates (o, cell, biases, n, 2, hidden, outputs[2]);
}

/* (N, C, T) -> (T, N, C), the LSTM or GRU, (T, directions, N, H) -> (N, directions H, T) */
gboolean
dyno_onnx_emit_recurrent (DynoOnnxWriter *o, const DynoNode *node)
{
  const Cell *cell = find_cell (node);
  const DynoTensor *x = node->inputs[CELL_GATES]->producer->inputs[0], *y = node->outputs[0];
  guint n = (node->n_inputs - CELL_GATES) / CELL_N_INPUTS;
  guint32 hidden = dyno_onnx_attribute (o, node, "hidden");
  const gint64 in[] = { 2, 0, 1 }, out[] = { 2, 1, 3, 0 };
  const gint64 shape[] = { 0, y->c, y->w };
  const char *steps = dyno_onnx_name (o, "steps"), *w = dyno_onnx_name (o, "W"),
             *r = dyno_onnx_name (o, "R"),
             *b = node->inputs[CELL_BIAS] ? dyno_onnx_name (o, "B") : NULL,
             *y_steps = dyno_onnx_name (o, "Y"), *turned = dyno_onnx_name (o, "turned"),
             *output = dyno_onnx_name (o, "out"),
             *sequence = dyno_onnx_value (o, x, DYNO_ONNX_SEQUENCE);
  g_autofree char *length = NULL;

  emit_weights (o, cell, node, n, hidden, (const char *[]){ w, r, b });
  length = dyno_onnx_has_lengths (o) ? lengths_of (o, node, y->w) : NULL;
  dyno_onnx_transpose (o, sequence, in, 3, steps);
  dyno_onnx_begin (o, cell->onnx, o->stem);
  dyno_onnx_input (o, steps);
  dyno_onnx_input (o, w);
  dyno_onnx_input (o, r);
  if (b || length)
    dyno_onnx_input (o, b ? b : "");
  if (length)
    dyno_onnx_input (o, length);
  dyno_onnx_int (o, "hidden_size", hidden);
  dyno_onnx_text (o, "direction", n == 2 ? "bidirectional" : "forward");
  if (g_str_equal (cell->op, "gru"))
    dyno_onnx_int (o, "linear_before_reset", 1);
  dyno_onnx_end (o, y_steps);
  dyno_onnx_transpose (o, y_steps, out, 4, turned);
  dyno_onnx_reshape (o, turned, shape, 3, output);
  return dyno_onnx_set_value (o, y, output, DYNO_ONNX_SEQUENCE);
}

static void
unsqueeze (DynoOnnxWriter *o, const char *input, const gint64 *axes, gint64 n, const char *output)
{
  g_autofree char *name = g_strconcat (output, "/axes", NULL);

  dyno_onnx_indices (o, name, &n, 1, axes, (gsize) n);
  dyno_onnx_plain (o, "Unsqueeze", output, input, name, output);
}

/* (N, C, T) -> (N, C) */
gboolean
dyno_onnx_emit_last_step (DynoOnnxWriter *o, const DynoNode *node)
{
  const DynoTensor *x = node->inputs[0];
  const gint64 turn[] = { 0, 2, 1 }, last = -1, one = 1, axis = 1;
  const char *sequence = dyno_onnx_value (o, x, DYNO_ONNX_SEQUENCE),
             *index = dyno_onnx_name (o, "index"), *output = dyno_onnx_name (o, "out");

  dyno_onnx_set_value (o, node->outputs[0], output, DYNO_ONNX_ROW);
  if (!dyno_onnx_has_lengths (o))
    {
      dyno_onnx_indices (o, index, NULL, 0, &last, 1);
      dyno_onnx_begin (o, "Gather", o->stem);
      dyno_onnx_input (o, sequence);
      dyno_onnx_input (o, index);
      dyno_onnx_int (o, "axis", 2);
      dyno_onnx_end (o, output);
      return TRUE;
    }
  g_autofree char *length = lengths_of (o, node, x->w);
  const char *steps = dyno_onnx_name (o, "steps"), *count = dyno_onnx_name (o, "count"),
             *unit = dyno_onnx_name (o, "one"), *place = dyno_onnx_name (o, "place");
  dyno_onnx_cast (o, length, DYNO_ONNX_INT64, count);
  dyno_onnx_indices (o, unit, NULL, 0, &one, 1);
  dyno_onnx_plain (o, "Sub", place, count, unit, place);
  unsqueeze (o, place, &axis, 1, index);
  dyno_onnx_transpose (o, sequence, turn, 3, steps);
  dyno_onnx_begin (o, "GatherND", o->stem);
  dyno_onnx_input (o, steps);
  dyno_onnx_input (o, index);
  dyno_onnx_int (o, "batch_dims", 1);
  dyno_onnx_end (o, output);
  return TRUE;
}

/* Multiplies x by 1 or 0 for each step, in the type of the computation. */
static void
emit_mask (DynoOnnxWriter *o, const DynoTensor *x, const char *sequence, const char *length,
           const char *output)
{
  const gint64 dims[] = { 1, 1, x->w }, axes[] = { 1, 2 };
  g_autofree gint32 *places = g_new (gint32, x->w);
  const char *steps = dyno_onnx_name (o, "steps"), *end = dyno_onnx_name (o, "end"),
             *counts = dyno_onnx_name (o, "counts"), *mask = dyno_onnx_name (o, "mask");

  for (guint32 t = 0; t < x->w; t++)
    places[t] = (gint32) t;
  dyno_onnx_initializer (o, steps, DYNO_ONNX_INT32, dims, 3, places, x->w * sizeof *places);
  unsqueeze (o, length, axes, 2, end);
  dyno_onnx_plain (o, "Less", counts, steps, end, counts);
  dyno_onnx_cast (o, counts, o->params->half ? DYNO_ONNX_FLOAT16 : DYNO_ONNX_FLOAT, mask);
  dyno_onnx_plain (o, "Mul", output, sequence, mask, output);
}

/* (N, C, T) -> (N, C) */
gboolean
dyno_onnx_emit_mean_step (DynoOnnxWriter *o, const DynoNode *node)
{
  const DynoTensor *x = node->inputs[0];
  const gint64 time = 2, one = 1, axis = 1;
  const char *sequence = dyno_onnx_value (o, x, DYNO_ONNX_SEQUENCE),
             *output = dyno_onnx_name (o, "out");

  dyno_onnx_set_value (o, node->outputs[0], output, DYNO_ONNX_ROW);
  if (!dyno_onnx_has_lengths (o))
    {
      dyno_onnx_begin (o, "ReduceMean", o->stem);
      dyno_onnx_input (o, sequence);
      dyno_onnx_ints (o, "axes", &time, 1);
      dyno_onnx_int (o, "keepdims", 0);
      dyno_onnx_end (o, output);
      return TRUE;
    }
  g_autofree char *length = lengths_of (o, node, x->w);
  const char *valid = dyno_onnx_name (o, "valid"), *axes = dyno_onnx_name (o, "axes"),
             *sum = dyno_onnx_name (o, "sum"), *number = dyno_onnx_name (o, "number"),
             *column = dyno_onnx_name (o, "column");
  emit_mask (o, x, sequence, length, valid);
  dyno_onnx_indices (o, axes, &one, 1, &time, 1);
  dyno_onnx_begin (o, "ReduceSum", sum);
  dyno_onnx_input (o, valid);
  dyno_onnx_input (o, axes);
  dyno_onnx_int (o, "keepdims", 0);
  dyno_onnx_end (o, sum);
  dyno_onnx_cast (o, length, o->params->half ? DYNO_ONNX_FLOAT16 : DYNO_ONNX_FLOAT, number);
  unsqueeze (o, number, &axis, 1, column);
  dyno_onnx_plain (o, "Div", o->stem, sum, column, output);
  return TRUE;
}
