/* SPDX-License-Identifier: MIT */
/* Gives the LSTM and GRU nodes of a network the weights that PyTorch's modules have.
 *
 * ONNX has one matrix of a kind for both directions, its own order of gates, and both biases in one
 * vector; PyTorch's exporters compute these from the weights of the module and store the results.
 * Here each of them becomes the module's weights again, as blocks of the stored tensor, with the
 * names of nn.LSTM and nn.GRU, and a Gather (after a Concat where there are several) that computes
 * the input of the node from them, which is how Dyno writes such nodes itself.
 *
 * A node is left as it is where a weight is no initialiser, has another shape, or where W or R has
 * other readers.  An initial state of zeros, which is the default, is left out. */
#include "model-private.h"
#include <string.h>

#define MOST_HIDDEN 65536                          /* units of a node that is split */
#define MOST_STATE  (G_GUINT64_CONSTANT (1) << 24) /* bytes of an initial state that is read */

typedef struct {
  const char *op_type;
  guint n_gates;
  guint order[4]; /* the positions of PyTorch's gates in ONNX's order */
} Cell;

static const Cell cells[] = {
  { "LSTM", 4, { 0, 2, 3, 1 } }, /* i, f, g, o of i, o, f, c */
  { "GRU", 3, { 1, 0, 2 } },     /* r, z, n of z, r, n */
};

enum { INPUT_W = 1, INPUT_R, INPUT_B, INPUT_LENGTHS, INPUT_H, INPUT_C };

typedef struct {
  DynoOnnxStore *store;
  GHashTable *names;   /* of all values */
  GHashTable *readers; /* name of a value to the number of its readers */
  GHashTable *states;  /* name of an initial state to whether it is zeros, GINT_TO_POINTER */
  GArray *nodes;       /* DynoOnnxNode */
  GArray *tensors;     /* DynoOnnxTensor that are added */
} Split;

/* A node that is split, and the number of its directions and units. */
typedef struct {
  const Cell *cell;
  const DynoOnnxTensor *w, *r, *b; /* b NULL: there is none */
  guint n_directions;
  guint64 hidden;
} Layer;

static const Cell *
find_cell (const DynoOnnxNode *node)
{
  for (guint i = 0; i < G_N_ELEMENTS (cells) && *node->domain == '\0'; i++)
    if (g_str_equal (cells[i].op_type, node->op_type))
      return &cells[i];
  return NULL;
}

/* --- what is read ----------------------------------------------------------------------------- */

static void
count_reader (Split *s, const char *name, gint change)
{
  gint n = GPOINTER_TO_INT (g_hash_table_lookup (s->readers, name));

  g_hash_table_insert (s->readers, (gpointer) name, GINT_TO_POINTER (n + change));
}

static void
count_readers (Split *s)
{
  const DynoOnnxModel *model = &s->store->model;

  for (guint i = 0; i < model->n_nodes; i++)
    for (guint k = 0; k < model->nodes[i].n_inputs; k++)
      count_reader (s, model->nodes[i].inputs[k], 1);
  for (guint i = 0; i < model->n_outputs; i++)
    count_reader (s, model->outputs[i].name, 1);
}

/* The initialiser of input i; NULL: it is none. */
static const DynoOnnxTensor *
find_input (const Split *s, const DynoOnnxNode *node, guint i)
{
  return i < node->n_inputs ? dyno_onnx_model_find_initializer (&s->store->model, node->inputs[i])
                            : NULL;
}

static gboolean
has_shape (const DynoOnnxTensor *tensor, guint n_dims, guint64 first, guint64 second, guint64 third)
{
  return tensor && dyno_onnx_type_is_float (tensor->type) && tensor->n_dims == n_dims
         && tensor->dims[0] == first && tensor->dims[1] == second
         && (n_dims == 2 || tensor->dims[2] == third);
}

/* TRUE: the node can be split. */
static gboolean
take_layer (const Split *s, const DynoOnnxNode *node, const Cell *cell, Layer *layer)
{
  gboolean has_bias = node->n_inputs > INPUT_B && *node->inputs[INPUT_B];

  *layer = (Layer){ .cell = cell,
                    .w = find_input (s, node, INPUT_W),
                    .r = find_input (s, node, INPUT_R),
                    .b = find_input (s, node, INPUT_B) };
  if (!layer->w || !layer->r || layer->r->n_dims != 3 || layer->r->dims[0] < 1
      || layer->r->dims[0] > 2 || layer->r->dims[2] < 1 || layer->r->dims[2] > MOST_HIDDEN
      || layer->w->n_dims != 3 || layer->w->dims[2] < 1)
    return FALSE;
  guint64 directions = layer->r->dims[0], hidden = layer->r->dims[2], rows = cell->n_gates * hidden;
  layer->n_directions = (guint) directions;
  layer->hidden = hidden;
  return has_shape (layer->w, 3, directions, rows, layer->w->dims[2])
         && has_shape (layer->r, 3, directions, rows, hidden)
         && (!has_bias || has_shape (layer->b, 2, directions, 2 * rows, 0))
         && GPOINTER_TO_INT (g_hash_table_lookup (s->readers, layer->w->name)) == 1
         && GPOINTER_TO_INT (g_hash_table_lookup (s->readers, layer->r->name)) == 1;
}

/* --- names ------------------------------------------------------------------------------------ */

/* The names of a layer's weights but for the kind: PyTorch's exporter names the nodes of a module
 * stem.lstm "/stem/lstm/LSTM", "/stem/lstm/LSTM_1" and so on.  Other nodes have no name of a
 * module, and their weights that of W.  g_free. */
static char *
name_layer (const DynoOnnxNode *node, const Layer *layer, guint64 *number)
{
  const char *last = strrchr (node->name, '/'), *end;
  gsize n = strlen (layer->cell->op_type);

  *number = 0;
  if (node->name[0] != '/' || strncmp (last + 1, layer->cell->op_type, n) != 0)
    return g_strconcat (layer->w->name, ".", NULL);
  end = last + 1 + n;
  if (*end != '\0'
      && (*end != '_' || !g_ascii_string_to_unsigned (end + 1, 10, 0, 999, number, NULL)))
    return g_strconcat (layer->w->name, ".", NULL);
  if (last == node->name)
    return g_strdup ("");
  g_autofree char *path = g_strndup (node->name + 1, (gsize) (last - node->name - 1));
  g_auto (GStrv) modules = g_strsplit (path, "/", -1);
  g_autofree char *module = g_strjoinv (".", modules);
  return g_strconcat (module, ".", NULL);
}

/* The names that a layer gets: of the weights of each direction, then of W, R and B with their
 * parts. */
enum { WEIGHT_IH, WEIGHT_HH, BIAS_IH, BIAS_HH, N_KINDS };
enum { PART_VALUE, PART_ROWS, PART_WHOLE, N_PARTS };
#define VALUE_NAME(value, part) (2 * N_KINDS + N_PARTS * (value) + (part))
#define N_NAMES                 VALUE_NAME (3, 0)

static void
list_layer_names (const Layer *layer, const char *prefix, guint number, GPtrArray *list)
{
  static const char *const kinds[] = { "weight_ih", "weight_hh", "bias_ih", "bias_hh" };
  static const char *const parts[] = { "", "/rows", "/whole" };

  g_ptr_array_set_size (list, 0);
  for (guint i = 0; i < 2 * N_KINDS; i++)
    g_ptr_array_add (list, g_strdup_printf ("%s%s_l%u%s", prefix, kinds[i % N_KINDS], number,
                                            i < N_KINDS ? "" : "_reverse"));
  for (guint i = 0; i < 3 * N_PARTS; i++)
    g_ptr_array_add (
        list, g_strdup_printf ("%s/%c%s", layer->w->name, "WRB"[i / N_PARTS], parts[i % N_PARTS]));
}

static gboolean
is_free (const Split *s, const GPtrArray *list)
{
  for (guint i = 0; i < list->len; i++)
    if (g_hash_table_contains (s->names, g_ptr_array_index (list, i)))
      return FALSE;
  return TRUE;
}

/* FALSE: other values have these names. */
static gboolean
take_names (Split *s, const DynoOnnxNode *node, const Layer *layer, const char *names[N_NAMES])
{
  guint64 number;
  g_autofree char *module = name_layer (node, layer, &number),
                  *of_weight = g_strconcat (layer->w->name, ".", NULL);
  g_autoptr (GPtrArray) list = g_ptr_array_new_with_free_func (g_free);

  list_layer_names (layer, module, (guint) number, list);
  if (!is_free (s, list))
    list_layer_names (layer, of_weight, 0, list);
  if (!is_free (s, list))
    return FALSE;
  for (guint i = 0; i < list->len; i++)
    {
      names[i] = g_string_chunk_insert (s->store->texts, g_ptr_array_index (list, i));
      g_hash_table_add (s->names, (gpointer) names[i]);
    }
  return TRUE;
}

/* --- what is added ---------------------------------------------------------------------------- */

static gboolean
add_tensor (Split *s, const DynoOnnxTensor *tensor, GError **error)
{
  if (!dyno_onnx_count (&s->store->n_tensors, 1, DYNO_ONNX_MAX_TENSORS, "tensors", error))
    return FALSE;
  g_array_append_val (s->tensors, *tensor);
  return TRUE;
}

/* Adds the gates of a source, from block `first` of `n_blocks` on, in PyTorch's order. */
static gboolean
add_weight (Split *s, const Layer *layer, const DynoOnnxTensor *source, guint first, guint n_blocks,
            const char *name, GError **error)
{
  DynoOnnxTensor tensor = { .name = name,
                            .type = source->type,
                            .n_dims = source->n_dims - 1,
                            .storage = DYNO_ONNX_DATA_BLOCKS,
                            .source = source,
                            .source_blocks = n_blocks,
                            .n_blocks = layer->cell->n_gates };

  tensor.dims[0] = layer->cell->n_gates * layer->hidden;
  tensor.dims[1] = source->n_dims > 2 ? source->dims[2] : 0;
  for (guint i = 0; i < layer->cell->n_gates; i++)
    tensor.blocks[i] = first + layer->cell->order[i];
  return add_tensor (s, &tensor, error);
}

static gboolean
add_node (Split *s, const char *op, const char *const *inputs, guint n_inputs, const char *output,
          const DynoOnnxAttribute *attribute, GError **error)
{
  const char **links;

  if (!dyno_onnx_count (&s->store->n_links, n_inputs + 1, DYNO_ONNX_MAX_LINKS,
                        "inputs and outputs of nodes", error)
      || !(links = dyno_onnx_allocate (s->store, n_inputs + 1, sizeof *links, error)))
    return FALSE;
  memcpy (links, inputs, n_inputs * sizeof *links);
  links[n_inputs] = output;
  g_array_append_val (s->nodes, ((DynoOnnxNode){ .name = output,
                                                 .op_type = op,
                                                 .domain = "",
                                                 .inputs = links,
                                                 .outputs = links + n_inputs,
                                                 .n_inputs = n_inputs,
                                                 .n_outputs = 1,
                                                 .attributes = attribute,
                                                 .n_attributes = attribute ? 1 : 0 }));
  return TRUE;
}

/* Adds the nodes that join weights, `n_each` for each direction, in ONNX's order of gates. */
static gboolean
add_gather (Split *s, const Layer *layer, const char *const *weights, guint n_each,
            const char *const names[N_PARTS], GError **error)
{
  static const DynoOnnxAttribute axis = { .name = "axis", .type = DYNO_ONNX_IS_INT };
  const Cell *cell = layer->cell;
  guint n = layer->n_directions * n_each;
  guint64 each = (guint64) n_each * cell->n_gates * layer->hidden;
  DynoOnnxTensor rows = { .name = names[PART_ROWS],
                          .type = DYNO_ONNX_INT64,
                          .n_dims = 2,
                          .dims = { layer->n_directions, each },
                          .storage = DYNO_ONNX_DATA_MADE,
                          .data_bytes = (gsize) (layer->n_directions * each * sizeof (gint64)) };
  gint64 *values;

  if (!dyno_onnx_count (&s->store->n_numbers, layer->n_directions * each, DYNO_ONNX_MAX_NUMBERS,
                        "rows of recurrent layers", error)
      || !(values = dyno_onnx_allocate (s->store, (gsize) (layer->n_directions * each),
                                        sizeof *values, error)))
    return FALSE;
  rows.data = (const guint8 *) values;
  for (guint i = 0; i < n; i++)
    for (guint gate = 0; gate < cell->n_gates; gate++)
      for (guint64 k = 0; k < layer->hidden; k++)
        values[(i * cell->n_gates + cell->order[gate]) * layer->hidden + k] =
            (gint64) ((i * cell->n_gates + gate) * layer->hidden + k);
  if (!add_tensor (s, &rows, error)
      || (n > 1 && !add_node (s, "Concat", weights, n, names[PART_WHOLE], &axis, error)))
    return FALSE;
  const char *inputs[] = { n > 1 ? names[PART_WHOLE] : weights[0], names[PART_ROWS] };
  return add_node (s, "Gather", inputs, G_N_ELEMENTS (inputs), names[PART_VALUE], NULL, error);
}

/* Adds the weights of a layer and the nodes that join them, and makes these the node's inputs. */
static gboolean
split_layer (Split *s, const DynoOnnxNode *node, const Layer *layer, const char *const *names,
             GError **error)
{
  const DynoOnnxTensor *sources[] = { layer->w, layer->r, layer->b };
  guint gates = layer->cell->n_gates;

  for (guint value = 0; value < (layer->b ? 3 : 2); value++)
    {
      guint n_each = value == 2 ? 2 : 1, n = n_each * layer->n_directions;
      const char *weights[4];
      for (guint i = 0; i < n; i++)
        {
          weights[i] = names[i / n_each * N_KINDS + value + i % n_each];
          if (!add_weight (s, layer, sources[value], i * gates, n * gates, weights[i], error))
            return FALSE;
        }
      if (!add_gather (s, layer, weights, n_each, names + VALUE_NAME (value, 0), error))
        return FALSE;
      count_reader (s, sources[value]->name, -1);
      ((const char **) node->inputs)[INPUT_W + value] = names[VALUE_NAME (value, PART_VALUE)];
    }
  return TRUE;
}

/* --- initial states --------------------------------------------------------------------------- */

/* Finds out whether a state is zeros; each state is read only once.  FALSE: it cannot be read. */
static gboolean
check_state (Split *s, const DynoOnnxTensor *state, gboolean *is_zero, GError **error)
{
  gpointer known;
  gsize size;

  if (g_hash_table_lookup_extended (s->states, state->name, NULL, &known))
    {
      *is_zero = GPOINTER_TO_INT (known);
      return TRUE;
    }
  g_autoptr (GBytes) values = dyno_onnx_tensor_read (&s->store->model, state, error);
  if (!values)
    return FALSE;
  const guint8 *bytes = g_bytes_get_data (values, &size);
  *is_zero = TRUE;
  for (gsize k = 0; k < size && *is_zero; k++)
    *is_zero = bytes[k] == 0;
  g_hash_table_insert (s->states, (gpointer) state->name, GINT_TO_POINTER (*is_zero));
  return TRUE;
}

/* Leaves out an initial state of zeros, unless it is too large to be read for that.  FALSE: it
 * cannot be read. */
static gboolean
drop_state (Split *s, const DynoOnnxNode *node, guint i, GError **error)
{
  const DynoOnnxTensor *state = find_input (s, node, i);
  guint64 n_elements, n_bytes;
  gboolean is_zero;

  if (!state || !dyno_onnx_type_is_float (state->type)
      || !dyno_onnx_tensor_get_size (state, &n_elements, &n_bytes) || n_bytes > MOST_STATE)
    return TRUE;
  if (!check_state (s, state, &is_zero, error))
    return FALSE;
  if (!is_zero)
    return TRUE;
  count_reader (s, state->name, -1);
  ((const char **) node->inputs)[i] = "";
  return TRUE;
}

/* --- the whole -------------------------------------------------------------------------------- */

static gboolean
split_node (Split *s, const DynoOnnxNode *node, GError **error)
{
  const Cell *cell = find_cell (node);
  const char *names[N_NAMES];
  Layer layer;

  if (!cell)
    return TRUE;
  for (guint i = INPUT_H; i <= INPUT_C; i++)
    if ((i == INPUT_H || cell->n_gates == 4) && !drop_state (s, node, i, error))
      return FALSE;
  return !take_layer (s, node, cell, &layer) || !take_names (s, node, &layer, names)
         || split_layer (s, node, &layer, names, error);
}

/* TRUE: the tensor had readers, and has none any more. */
static gboolean
is_dropped (const Split *s, const char *name)
{
  gpointer n;

  return g_hash_table_lookup_extended (s->readers, name, NULL, &n) && GPOINTER_TO_INT (n) == 0;
}

/* Stores the nodes and the tensors.  Tensors that no node reads any more are left out, also as
 * inputs, which files of old versions have for each initialiser; they stay in memory as sources. */
static gboolean
store_split (Split *s, GError **error)
{
  DynoOnnxModel *model = &s->store->model;
  guint n_tensors = model->n_initializers + s->tensors->len, n = 0, n_inputs = 0;
  DynoOnnxNode *nodes = dyno_onnx_allocate (s->store, s->nodes->len, sizeof *nodes, error);
  DynoOnnxTensor *tensors =
      nodes ? dyno_onnx_allocate (s->store, MAX (n_tensors, 1), sizeof *tensors, error) : NULL;
  DynoOnnxValue *inputs =
      tensors ? dyno_onnx_allocate (s->store, MAX (model->n_inputs, 1), sizeof *inputs, error)
              : NULL;

  if (!inputs)
    return FALSE;
  memcpy (nodes, s->nodes->data, s->nodes->len * sizeof *nodes);
  for (guint i = 0; i < model->n_inputs; i++)
    if (!is_dropped (s, model->inputs[i].name))
      inputs[n_inputs++] = model->inputs[i];
  for (guint i = 0; i < model->n_initializers; i++)
    if (!is_dropped (s, model->initializers[i].name))
      tensors[n++] = model->initializers[i];
  for (guint i = 0; i < s->tensors->len; i++)
    tensors[n++] = g_array_index (s->tensors, DynoOnnxTensor, i);
  model->nodes = nodes;
  model->n_nodes = s->nodes->len;
  model->inputs = inputs;
  model->n_inputs = n_inputs;
  model->initializers = tensors;
  model->n_initializers = n;
  dyno_onnx_index_initializers (s->store);
  return TRUE;
}

gboolean
dyno_onnx_split_recurrent (DynoOnnxStore *store, GError **error)
{
  DynoOnnxModel *model = &store->model;
  gboolean has_any = FALSE;

  for (guint i = 0; i < model->n_nodes; i++)
    has_any |= find_cell (&model->nodes[i]) != NULL;
  if (!has_any || dyno_onnx_model_is_network (model))
    return TRUE;
  g_autoptr (GHashTable) names = dyno_onnx_list_names (model),
                         readers = g_hash_table_new (g_str_hash, g_str_equal),
                         states = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GArray) nodes = g_array_new (FALSE, FALSE, sizeof (DynoOnnxNode)),
                     tensors = g_array_new (FALSE, FALSE, sizeof (DynoOnnxTensor));
  Split s = { .store = store,
              .names = names,
              .readers = readers,
              .states = states,
              .nodes = nodes,
              .tensors = tensors };

  count_readers (&s);
  for (guint i = 0; i < model->n_nodes; i++)
    {
      if (!split_node (&s, &model->nodes[i], error))
        return FALSE;
      g_array_append_val (nodes, model->nodes[i]);
    }
  return store_split (&s, error);
}
