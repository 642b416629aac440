/* SPDX-License-Identifier: MIT */
/* LSTM and GRU nodes, in one or both directions: x (T, N, I) and weights W (D, G H, I), R (D, G H,
 * H), B (D, 2 G H) of D directions and G gates; outputs Y (T, D, N, H) and the last states Y_h (D,
 * N, H).  The reader of the file has made the weights those of PyTorch's modules (modelrecurrent.c
 * of the onnx layer), or the file computes W, R and B from these itself: in either case each block
 * of G H rows has the rows of one parameter, in ONNX's order of gates; these parameters become
 * those of the op (ops/recurrent.c). */
#include "import-private.h"

typedef DynoTensor *(*AppendLayer) (DynoGraph *graph, DynoTensor *x, const char *name,
                                    const DynoRecurrentParams *params,
                                    const DynoRecurrentNames *names);

typedef struct {
  const char *op_type;
  guint n_gates;
  guint gates[4]; /* the positions of ONNX's gates in PyTorch's order */
  guint n_states; /* initial and last ones */
  const char *activations[3];
  AppendLayer append;
} Cell;

static const Cell cells[] = {
  /* i, o, f, c of i, f, g, o */
  { "LSTM", 4, { 0, 3, 1, 2 }, 2, { "Sigmoid", "Tanh", "Tanh" }, dyno_lstm_layer },
  /* z, r, h of r, z, n */
  { "GRU", 3, { 1, 0, 2 }, 1, { "Sigmoid", "Tanh", NULL }, dyno_gru_layer },
};

enum { INPUT_X, INPUT_W, INPUT_R, INPUT_B, INPUT_LENGTHS, INPUT_STATES, INPUT_PEEPHOLES = 7 };
enum { OUTPUT_Y, OUTPUT_H, OUTPUT_C };

typedef struct {
  const Cell *cell;
  guint n_directions;
  guint32 in, hidden;
  DynoRecurrentNames names[2];
} Layer;

static const Cell *
find_cell (const DynoOnnxNode *node)
{
  for (guint i = 0; i < G_N_ELEMENTS (cells) && *node->domain == '\0'; i++)
    if (g_str_equal (cells[i].op_type, node->op_type))
      return &cells[i];
  return NULL;
}

static gboolean
has_input (const DynoOnnxNode *node, guint i)
{
  return i < node->n_inputs && *node->inputs[i];
}

/* --- attributes ------------------------------------------------------------------------------- */

/* TRUE: all directions have the functions that PyTorch's modules have. */
static gboolean
has_default_activations (const DynoOnnxNode *node, const Cell *cell)
{
  const DynoOnnxAttribute *given = dyno_onnx_node_find_attribute (node, "activations");
  guint n = 0;

  if (given && given->type != DYNO_ONNX_IS_TEXTS)
    return FALSE;
  while (n < G_N_ELEMENTS (cell->activations) && cell->activations[n])
    n++;
  for (guint i = 0; given && i < given->n; i++)
    if (g_ascii_strcasecmp (given->strings[i], cell->activations[i % n]) != 0)
      return FALSE;
  return TRUE;
}

static gboolean
check_attributes (DynoImport *import, const DynoOnnxNode *node, Layer *layer)
{
  const char *direction = dyno_import_text (node, "direction", "forward");

  layer->n_directions = g_str_equal (direction, "bidirectional") ? 2 : 1;
  if (layer->n_directions == 1 && !g_str_equal (direction, "forward"))
    return dyno_import_refuse (
        import, node, "its direction is “%s”; Dyno has forward and bidirectional", direction);
  if (dyno_import_int (node, "layout", 0) != 0)
    return dyno_import_refuse (import, node, "Dyno reads it only with layout 0");
  if (!has_default_activations (node, layer->cell))
    return dyno_import_refuse (
        import, node, "its activations are not those of PyTorch's module (Sigmoid and Tanh)");
  if (dyno_onnx_node_find_attribute (node, "clip"))
    return dyno_import_refuse (import, node, "it clips its gates (clip)");
  if (dyno_import_int (node, "input_forget", 0) != 0)
    return dyno_import_refuse (import, node,
                               "it couples its input and forget gates (input_forget)");
  if (layer->cell->n_gates == 3 && dyno_import_int (node, "linear_before_reset", 0) != 1)
    return dyno_import_refuse (import, node,
                               "it resets the state before the product (linear_before_reset 0); "
                               "Dyno has PyTorch's GRU, linear_before_reset 1");
  return TRUE;
}

/* --- inputs ----------------------------------------------------------------------------------- */

/* TRUE: input i is left out, or a constant of which all numbers are `number`.  Else the node was
 * refused, with the reason, unless that of the input is known. */
static gboolean
check_constant (DynoImport *import, const DynoOnnxNode *node, guint i, double number,
                const char *reason)
{
  const DynoImportValue *value = dyno_import_input (import, node, i);
  double found = 0;

  if (!has_input (node, i)
      || (value && value->constant && dyno_constant_is_uniform (value->constant, &found)
          && found == number))
    return TRUE;
  return value && !value->refused ? dyno_import_refuse (import, node, "%s", reason) : FALSE;
}

static gboolean
check_inputs (DynoImport *import, const DynoOnnxNode *node, const Layer *layer, const DynoTensor *x)
{
  for (guint i = 0; i < layer->cell->n_states; i++)
    if (!check_constant (
            import, node, INPUT_STATES + i, 0,
            "its initial state is not a constant of zeros; Dyno starts each sequence at 0"))
      return FALSE;
  if (layer->cell->n_states == 2 && has_input (node, INPUT_PEEPHOLES))
    return dyno_import_refuse (import, node, "it has peepholes");
  return check_constant (
      import, node, INPUT_LENGTHS, x->w,
      "its sequence_lens are not a constant, the number of steps, for all samples");
}

/* TRUE: rows [at, at + G H) of the list are a parameter of that many rows, whose gates have ONNX's
 * order; *parameter is then set. */
static gboolean
take_gates (const DynoWeightRows *rows, const Layer *layer, guint64 at,
            const DynoOnnxValue **parameter)
{
  const DynoWeightRow *row = &g_array_index (rows->list, DynoWeightRow, at);

  *parameter = row->parameter;
  if (row->parameter->dims[0].value != (gint64) layer->cell->n_gates * layer->hidden)
    return FALSE;
  for (guint gate = 0; gate < layer->cell->n_gates; gate++)
    for (guint32 k = 0; k < layer->hidden; k++, row++)
      if (row->parameter != *parameter || row->row != layer->cell->gates[gate] * layer->hidden + k)
        return FALSE;
  return TRUE;
}

/* The parameters of input i, n_each for each direction. */
static gboolean
take_weights (DynoImport *import, const DynoOnnxNode *node, guint i, const Layer *layer,
              guint n_each, gint64 columns, const DynoOnnxValue **parameters)
{
  static const char letters[] = "XWRB";
  g_auto (DynoWeightRows) rows = { 0 };
  guint64 each = (guint64) layer->cell->n_gates * layer->hidden;
  gboolean fits = dyno_import_get_rows (import, node, i, columns > 0, &rows) && rows.n_dims == 2
                  && rows.dims[0] == layer->n_directions && rows.dims[1] == (gint64) (n_each * each)
                  && rows.columns == columns;

  for (guint k = 0; k < layer->n_directions * n_each && fits; k++)
    {
      fits = take_gates (&rows, layer, k * each, &parameters[k]);
      if (fits && dyno_import_has_parameter (import, parameters[k]->name))
        return dyno_import_refuse (import, node, "it shares the parameter “%s” with another node",
                                   parameters[k]->name);
      for (guint other = 0; other < k && fits; other++)
        if (parameters[other] == parameters[k])
          return dyno_import_refuse (import, node, "it has the parameter “%s” twice",
                                     parameters[k]->name);
    }
  return fits
         || dyno_import_refuse (
             import, node, "its %c is not made of the weights of PyTorch's nn.%s with %u units",
             letters[i], layer->cell->op_type, layer->hidden);
}

static gboolean
take_layer (DynoImport *import, const DynoOnnxNode *node, gint64 in, Layer *layer)
{
  const DynoOnnxValue *w[2], *r[2], *b[4] = { NULL };
  gint64 hidden = dyno_import_int (node, "hidden_size", 0);

  if (hidden < 1 || hidden > G_MAXUINT16)
    return dyno_import_refuse (import, node, "its hidden_size is not from 1 to %u", G_MAXUINT16);
  layer->hidden = (guint32) hidden;
  if (!take_weights (import, node, INPUT_W, layer, 1, in, w)
      || !take_weights (import, node, INPUT_R, layer, 1, hidden, r)
      || (has_input (node, INPUT_B) && !take_weights (import, node, INPUT_B, layer, 2, 0, b)))
    return FALSE;
  for (guint d = 0; d < layer->n_directions; d++)
    layer->names[d] =
        (DynoRecurrentNames){ w[d]->name, r[d]->name, b[2 * d] ? b[2 * d]->name : NULL,
                              b[2 * d + 1] ? b[2 * d + 1]->name : NULL };
  return TRUE;
}

/* --- outputs ---------------------------------------------------------------------------------- */

/* TRUE: output k is read. */
static gboolean
is_read (DynoImport *import, const DynoOnnxNode *node, guint k)
{
  return k < node->n_outputs && *node->outputs[k]
         && g_hash_table_contains (import->readers, node->outputs[k]);
}

/* Sets output k, of the tensor (N, 1, T, D H), as (T, D, N, H), or, of one step, as (D, N, H). */
static gboolean
set_output (DynoImport *import, const DynoOnnxNode *node, guint k, const Layer *layer,
            DynoTensor *y)
{
  const gint64 dims[] = { y ? y->w : 1, import->batch, layer->n_directions, layer->hidden };
  const guint of_steps[] = { 0, 2, 1, 3 }, of_state[] = { 1, 0, 2 };
  guint skip = k == OUTPUT_H ? 1 : 0;
  DynoView view;

  if (!y)
    return dyno_import_output (import, node, k, NULL, NULL, NULL);
  dyno_view_init (&view, y, import->batch, skip ? "N C" : "W N C");
  if (!dyno_view_reshape (&view, dims + skip, 4 - skip))
    return dyno_import_refuse (import, node, "its output has too many axes");
  dyno_view_transpose (&view, skip ? of_state : of_steps);
  return dyno_import_output (import, node, k, y, &view, NULL);
}

/* The last states (N, 1, 1, D H): the forward direction ends with the last step, the other one with
 * the first. */
static DynoTensor *
append_states (DynoImport *import, const Layer *layer, DynoTensor *y, const char *name)
{
  const DynoSequence whole = { NULL, 0 };
  g_autofree char *last = g_strconcat (name, ".last", NULL),
                  *first = g_strconcat (name, ".first", NULL),
                  *forward = g_strconcat (name, ".forward", NULL),
                  *reverse = g_strconcat (name, ".reverse", NULL),
                  *both = g_strconcat (name, ".states", NULL);
  DynoGraph *graph = import->graph;

  if (layer->n_directions == 1)
    return dyno_last_step (graph, y, last, &whole);
  DynoTensor *end = dyno_last_step (graph, y, last, &whole),
             *begin = dyno_first_step (graph, y, first);
  if (!end || !begin)
    return NULL;
  DynoTensor *parts[] = { dyno_channels (graph, end, forward, 0, layer->hidden),
                          dyno_channels (graph, begin, reverse, layer->hidden, layer->hidden) };
  return parts[0] && parts[1] ? dyno_concat (graph, parts, G_N_ELEMENTS (parts), both) : NULL;
}

/* --- the whole -------------------------------------------------------------------------------- */

gboolean
dyno_import_recurrent (DynoImport *import, const DynoOnnxNode *node)
{
  Layer layer = { .cell = find_cell (node) };
  const char *name = dyno_import_shown_name (node);
  DynoImportValue *x = dyno_import_tensor (import, node, INPUT_X), *steps;

  if (!x || !check_attributes (import, node, &layer))
    return FALSE;
  steps = dyno_view_is (&x->view, x->tensor, "W N C")
              ? x
              : dyno_import_as_form (import, node, x, "W N C");
  if (!steps)
    {
      g_autofree char *shape = dyno_view_print (&x->view);
      return dyno_import_refuse (import, node, "its input, %s, is not (steps, samples, values)",
                                 shape);
    }
  if (!check_inputs (import, node, &layer, steps->tensor)
      || !take_layer (import, node, steps->tensor->c, &layer))
    return FALSE;
  if (is_read (import, node, OUTPUT_C))
    return dyno_import_refuse (import, node,
                               "the network reads its last cells (Y_c), which Dyno does not have");
  DynoTensor *y = layer.cell->append (
      import->graph, steps->tensor, name,
      &(DynoRecurrentParams){ .hidden = layer.hidden, .bidirectional = layer.n_directions == 2 },
      layer.names);
  if (is_read (import, node, OUTPUT_H)
      && !set_output (import, node, OUTPUT_H, &layer,
                      y ? append_states (import, &layer, y, name) : NULL))
    return FALSE;
  return !is_read (import, node, OUTPUT_Y) || set_output (import, node, OUTPUT_Y, &layer, y);
}

/* A node's inputs W, R and B are no values, so that it is read as a pattern. */
static gboolean
read_pattern (DynoImport *import, const DynoOnnxNode *node,
              G_GNUC_UNUSED const DynoImportPattern *pattern, G_GNUC_UNUSED DynoImportValue *x)
{
  return dyno_import_recurrent (import, node);
}

void
dyno_import_find_recurrent (DynoImport *import)
{
  g_autoptr (GHashTable) producers = g_hash_table_new (g_str_hash, g_str_equal);
  const DynoOnnxModel *model = import->model;

  for (guint i = 0; i < model->n_nodes; i++)
    {
      const DynoOnnxNode *node = &model->nodes[i];
      for (guint k = 0; k < node->n_outputs; k++)
        g_hash_table_insert (producers, (gpointer) node->outputs[k], (gpointer) node);
      if (!find_cell (node) || node->n_inputs == 0 || !g_hash_table_contains (import->needed, node))
        continue;
      DynoImportPattern *pattern = g_new0 (DynoImportPattern, 1);
      pattern->input = node->inputs[INPUT_X];
      pattern->read = read_pattern;
      g_hash_table_insert (import->patterns, (gpointer) node, pattern);
      for (guint k = INPUT_W; k <= INPUT_B; k++)
        dyno_import_absorb_rows (import, producers, node, k);
    }
}
