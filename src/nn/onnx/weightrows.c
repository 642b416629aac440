/* SPDX-License-Identifier: MIT */
/* The rows of the weights of an LSTM or a GRU.  Files compute its matrices and biases from the
 * weights of a module, by nodes that take parts, join them and change axes: an exporter does so to
 * bring the gates into ONNX's order.  These nodes have no op; here their results are found as lists
 * of rows, each a row of a matrix, or an element of a vector, of a parameter.
 *
 * The nodes are found before the others are read, and are not read themselves. */
#include "import-private.h"
#include <string.h>

#define MOST_ROWS  (1u << 21) /* of one value */
#define MOST_DEPTH 16         /* nodes one after the other */

typedef struct {
  DynoImport *import;
  const DynoOnnxNode *reader; /* the LSTM or GRU */
  gboolean matrix;            /* the last axis is that of the columns */
} Walk;

typedef gboolean (*Apply) (const Walk *walk, const DynoOnnxNode *node, DynoWeightRows *rows);

static gboolean get_rows (const Walk *walk, const char *name, guint depth, DynoWeightRows *rows);

void
dyno_weight_rows_clear (DynoWeightRows *rows)
{
  g_clear_pointer (&rows->list, g_array_unref);
}

/* --- axes ------------------------------------------------------------------------------------- */

/* The product of the axes [from, to). */
static guint64
size_of (const DynoWeightRows *rows, guint from, guint to)
{
  guint64 size = 1;

  for (guint i = from; i < to; i++)
    size *= (guint64) rows->dims[i];
  return size;
}

/* An axis counted from the front; FALSE: there is none, or it is that of the columns. */
static gboolean
take_axis (const DynoWeightRows *rows, gint64 given, guint *axis)
{
  gint64 n = (gint64) rows->n_dims + (rows->columns > 0 ? 1 : 0);

  given += given < 0 ? n : 0;
  *axis = (guint) given;
  return given >= 0 && given < (gint64) rows->n_dims;
}

/* Replaces an axis by the elements `at` of it, as the axes dims; an element out of range is
 * refused. */
static gboolean
take_elements (const Walk *walk, const DynoOnnxNode *node, DynoWeightRows *rows, guint axis,
               const gint64 *at, guint64 n, const gint64 *dims, guint n_dims)
{
  guint64 outer = size_of (rows, 0, axis), inner = size_of (rows, axis + 1, rows->n_dims),
          extent = (guint64) rows->dims[axis];
  DynoWeightRows made = { .columns = rows->columns, .n_dims = rows->n_dims - 1 + n_dims };

  if (n == 0 || n > MOST_ROWS || outer * inner > MOST_ROWS / n || made.n_dims > DYNO_VIEW_MAX_DIMS
      || !dyno_import_count_numbers (walk->import, walk->reader, outer * n * inner))
    return FALSE;
  memcpy (made.dims, rows->dims, axis * sizeof *made.dims);
  memcpy (made.dims + axis, dims, n_dims * sizeof *dims);
  memcpy (made.dims + axis + n_dims, rows->dims + axis + 1,
          (rows->n_dims - axis - 1) * sizeof *made.dims);
  made.list = g_array_sized_new (FALSE, FALSE, sizeof (DynoWeightRow), (guint) (outer * n * inner));
  for (guint64 a = 0; a < outer; a++)
    for (guint64 k = 0; k < n; k++)
      {
        gint64 place = at[k] < 0 ? at[k] + (gint64) extent : at[k];
        if (place < 0 || (guint64) place >= extent)
          {
            dyno_weight_rows_clear (&made);
            return FALSE;
          }
        g_array_append_vals (
            made.list,
            &g_array_index (rows->list, DynoWeightRow, (a * extent + (guint64) place) * inner),
            (guint) inner);
      }
  dyno_weight_rows_clear (rows);
  *rows = made;
  return TRUE;
}

/* The elements [begin, end) of an axis. */
static gboolean
take_range (const Walk *walk, const DynoOnnxNode *node, DynoWeightRows *rows, guint axis,
            gint64 begin, gint64 end)
{
  if (begin < 0 || end <= begin || end > rows->dims[axis] || end - begin > MOST_ROWS)
    return FALSE;
  gint64 n = end - begin;
  g_autofree gint64 *at = g_new (gint64, (gsize) n);
  for (gint64 i = 0; i < n; i++)
    at[i] = begin + i;
  return take_elements (walk, node, rows, axis, at, (guint64) n, &n, 1);
}

/* --- nodes ------------------------------------------------------------------------------------ */

static gboolean
apply_identity (G_GNUC_UNUSED const Walk *walk, G_GNUC_UNUSED const DynoOnnxNode *node,
                G_GNUC_UNUSED DynoWeightRows *rows)
{
  return TRUE;
}

static gboolean
apply_gather (const Walk *walk, const DynoOnnxNode *node, DynoWeightRows *rows)
{
  const DynoConstant *index = dyno_import_numbers (walk->import, node, 1, NULL);
  guint axis;

  if (!index || !index->is_int || !take_axis (rows, dyno_import_int (node, "axis", 0), &axis))
    return FALSE;
  return take_elements (walk, node, rows, axis, index->ints, index->count, index->dims,
                        index->n_dims);
}

/* Of one axis, with steps of 1. */
static gboolean
apply_slice (const Walk *walk, const DynoOnnxNode *node, DynoWeightRows *rows)
{
  const DynoConstant *starts = dyno_import_numbers (walk->import, node, 1, "starts"),
                     *ends = dyno_import_numbers (walk->import, node, 2, "ends"),
                     *axes = dyno_import_numbers (walk->import, node, 3, "axes"),
                     *steps = dyno_import_numbers (walk->import, node, 4, NULL);
  guint axis;

  if (!starts || starts->count != 1 || !ends || ends->count != 1 || (axes && axes->count != 1)
      || (steps && (steps->count != 1 || dyno_constant_int (steps, 0) != 1))
      || !take_axis (rows, axes ? dyno_constant_int (axes, 0) : 0, &axis))
    return FALSE;
  gint64 extent = rows->dims[axis], begin = dyno_constant_int (starts, 0),
         end = dyno_constant_int (ends, 0);
  begin = CLAMP (begin < 0 ? begin + extent : begin, 0, extent);
  end = CLAMP (end < 0 ? end + extent : end, 0, extent);
  return take_range (walk, node, rows, axis, begin, end);
}

/* Part `k` of a Split, by its sizes or into equal parts. */
static gboolean
take_part (const Walk *walk, const DynoOnnxNode *node, guint k, DynoWeightRows *rows)
{
  const DynoConstant *sizes = dyno_import_numbers (walk->import, node, 1, "split");
  gint64 begin = 0, count;
  guint axis;

  if (!take_axis (rows, dyno_import_int (node, "axis", 0), &axis)
      || (sizes && sizes->count != node->n_outputs))
    return FALSE;
  gint64 each = (rows->dims[axis] + node->n_outputs - 1) / node->n_outputs;
  for (guint i = 0;; i++)
    {
      count = sizes ? dyno_constant_int (sizes, i) : MIN (each, rows->dims[axis] - begin);
      if (count < 1 || count > rows->dims[axis] - begin)
        return FALSE;
      if (i == k)
        return take_range (walk, node, rows, axis, begin, begin + count);
      begin += count;
    }
}

static gboolean
apply_unsqueeze (const Walk *walk, const DynoOnnxNode *node, DynoWeightRows *rows)
{
  const DynoConstant *axes = dyno_import_numbers (walk->import, node, 1, "axes");
  gint64 n = (gint64) rows->n_dims + (rows->columns > 0 ? 1 : 0) + 1;

  if (!axes || axes->count != 1 || rows->n_dims == DYNO_VIEW_MAX_DIMS)
    return FALSE;
  gint64 axis = dyno_constant_int (axes, 0);
  axis += axis < 0 ? n : 0;
  if (axis < 0 || axis > (gint64) rows->n_dims)
    return FALSE;
  memmove (rows->dims + axis + 1, rows->dims + axis,
           (rows->n_dims - (gsize) axis) * sizeof *rows->dims);
  rows->dims[axis] = 1;
  rows->n_dims++;
  return TRUE;
}

static gboolean
apply_squeeze (const Walk *walk, const DynoOnnxNode *node, DynoWeightRows *rows)
{
  const DynoConstant *axes = dyno_import_numbers (walk->import, node, 1, "axes");
  guint axis;

  if (!axes || axes->count != 1 || !take_axis (rows, dyno_constant_int (axes, 0), &axis)
      || rows->dims[axis] != 1)
    return FALSE;
  rows->n_dims--;
  memmove (rows->dims + axis, rows->dims + axis + 1, (rows->n_dims - axis) * sizeof *rows->dims);
  return TRUE;
}

/* The rows of further inputs of a Concat after those of its first. */
static gboolean
join (const Walk *walk, const DynoOnnxNode *node, guint depth, DynoWeightRows *rows)
{
  guint axis;

  if (!take_axis (rows, dyno_import_int (node, "axis", 0), &axis) || axis > 0)
    return FALSE;
  for (guint i = 1; i < node->n_inputs; i++)
    {
      g_auto (DynoWeightRows) next = { 0 };
      if (!get_rows (walk, node->inputs[i], depth, &next) || next.columns != rows->columns
          || next.n_dims != rows->n_dims
          || memcmp (next.dims + 1, rows->dims + 1, (rows->n_dims - 1) * sizeof *rows->dims) != 0
          || next.list->len > MOST_ROWS - MIN (rows->list->len, MOST_ROWS)
          || !dyno_import_count_numbers (walk->import, walk->reader, next.list->len))
        return FALSE;
      g_array_append_vals (rows->list, next.list->data, next.list->len);
      rows->dims[0] += next.dims[0];
    }
  return TRUE;
}

static const struct {
  const char *op_type;
  Apply apply; /* NULL: join, take_part */
} nodes[] = {
  { "Concat", NULL },
  { "Gather", apply_gather },
  { "Identity", apply_identity },
  { "Slice", apply_slice },
  { "Split", NULL },
  { "Squeeze", apply_squeeze },
  { "Unsqueeze", apply_unsqueeze },
};

/* The number of the node's row in the table; -1: it has none. */
static gint
find_row (const DynoOnnxNode *node)
{
  for (guint i = 0; i < G_N_ELEMENTS (nodes) && *node->domain == '\0' && node->n_inputs > 0; i++)
    if (g_str_equal (nodes[i].op_type, node->op_type))
      return (gint) i;
  return -1;
}

static gboolean
apply (const Walk *walk, const DynoOnnxNode *node, const char *name, guint depth,
       DynoWeightRows *rows)
{
  gint row = find_row (node);
  guint k = 0;

  if (row < 0 || !get_rows (walk, node->inputs[0], depth + 1, rows))
    return FALSE;
  if (nodes[row].apply)
    return nodes[row].apply (walk, node, rows);
  if (g_str_equal (node->op_type, "Concat"))
    return join (walk, node, depth + 1, rows);
  while (k < node->n_outputs && !g_str_equal (node->outputs[k], name))
    k++;
  return k < node->n_outputs && take_part (walk, node, k, rows);
}

/* All rows of a parameter. */
static gboolean
take_parameter (const Walk *walk, const DynoImportValue *value, DynoWeightRows *rows)
{
  guint n = walk->matrix ? 2 : 1;

  if (value->n_dims != n || value->transposed || value->dims[0] < 1 || value->dims[0] > MOST_ROWS
      || (walk->matrix && (value->dims[1] < 1 || value->dims[1] > G_MAXINT32))
      || !dyno_import_count_numbers (walk->import, walk->reader, (guint64) value->dims[0]))
    return FALSE;
  *rows = (DynoWeightRows){ .n_dims = 1,
                            .dims = { value->dims[0] },
                            .columns = walk->matrix ? value->dims[1] : 0,
                            .list = g_array_new (FALSE, FALSE, sizeof (DynoWeightRow)) };
  for (guint32 i = 0; i < value->dims[0]; i++)
    g_array_append_val (rows->list, ((DynoWeightRow){ value->parameter, i }));
  return TRUE;
}

static gboolean
get_rows (const Walk *walk, const char *name, guint depth, DynoWeightRows *rows)
{
  const DynoImportValue *value = dyno_import_find_value (walk->import, name);
  const DynoOnnxNode *node = g_hash_table_lookup (walk->import->of_rows, name);

  if (value && value->parameter)
    return take_parameter (walk, value, rows);
  return node && depth < MOST_DEPTH && apply (walk, node, name, depth, rows);
}

gboolean
dyno_import_get_rows (DynoImport *import, const DynoOnnxNode *node, guint i, gboolean matrix,
                      DynoWeightRows *rows)
{
  const Walk walk = { import, node, matrix };

  *rows = (DynoWeightRows){ 0 };
  if (i < node->n_inputs && get_rows (&walk, node->inputs[i], 0, rows))
    return TRUE;
  dyno_weight_rows_clear (rows);
  return FALSE;
}

/* --- which nodes ------------------------------------------------------------------------------ */

/* TRUE: the value is a parameter, or nodes with rows in the table make it from parameters; these
 * are then absorbed. */
static gboolean
absorb (DynoImport *import, GHashTable *producers, const char *name, guint depth)
{
  const DynoImportValue *value = dyno_import_find_value (import, name);
  const DynoOnnxNode *node = g_hash_table_lookup (producers, name);

  if (value || !node || depth == MOST_DEPTH)
    return value && value->parameter;
  if (g_hash_table_contains (import->of_rows, name))
    return TRUE;
  if (find_row (node) < 0)
    return FALSE;
  guint n = g_str_equal (node->op_type, "Concat") ? node->n_inputs : 1;
  for (guint i = 0; i < n; i++)
    if (!absorb (import, producers, node->inputs[i], depth + 1))
      return FALSE;
  for (guint k = 0; k < node->n_outputs; k++)
    g_hash_table_insert (import->of_rows, (gpointer) node->outputs[k], (gpointer) node);
  g_hash_table_add (import->absorbed, (gpointer) node);
  return TRUE;
}

void
dyno_import_absorb_rows (DynoImport *import, GHashTable *producers, const DynoOnnxNode *node,
                         guint i)
{
  if (i < node->n_inputs && *node->inputs[i])
    absorb (import, producers, node->inputs[i], 0);
}
