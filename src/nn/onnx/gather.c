/* SPDX-License-Identifier: MIT */
/* Elements that are picked by constant indices (dyno_gather), of tensors and of parameters; and
 * parameters and constants as tensors, (1, h, w, c), which have no samples.
 *
 * A parameter that is read this way keeps the axes of the file and may be read by several nodes,
 * whose gradients add up; nodes that make a parameter of their own do not share it. */
#include "checked.h"
#include "import-private.h"
#include <string.h>

/* --- parameters and constants as tensors ------------------------------------------------------ */

/* Sets the shape of a sample that has the values of an array in their order: the last axis that is
 * longer than 1 is the channels, the one before it the width. */
static void
set_shape (DynoTensor *shape, const gint64 *dims, guint n_dims)
{
  guint32 *extents[] = { &shape->c, &shape->w, &shape->h };
  guint at = 0;

  shape->n = shape->h = shape->w = shape->c = 1;
  for (guint i = n_dims; i-- > 0;)
    if (dims[i] > 1)
      {
        *extents[at] *= (guint32) dims[i];
        at = MIN (at + 1, 2);
      }
}

/* The number of elements of an array; 0: it is empty or too large for the import, and the node was
 * refused. */
static guint64
count_elements (DynoImport *import, const DynoOnnxNode *node, const gint64 *dims, guint n_dims)
{
  guint64 count = 1;

  for (guint i = 0; i < n_dims; i++)
    if (dims[i] < 1 || !dyno_size_mul (count, (guint64) dims[i], &count)
        || count > DYNO_IMPORT_MAX_NUMBERS)
      {
        dyno_import_refuse (import, node, "it has no elements, or too many of them");
        return 0;
      }
  return dyno_import_count_numbers (import, node, count) ? count : 0;
}

/* The shape and the view of a parameter as the value has it. */
static void
view_parameter (const DynoImportValue *value, DynoTensor *shape, DynoView *view)
{
  gint64 dims[DYNO_VIEW_MAX_DIMS];
  guint n = value->n_dims, perm[DYNO_VIEW_MAX_DIMS];

  for (guint i = 0; i < n; i++)
    {
      perm[i] = value->transposed && i + 2 >= n ? 2 * n - 3 - i : i;
      dims[i] = value->dims[perm[i]];
    }
  set_shape (shape, dims, n);
  dyno_view_init (view, shape, 1, "H W C");
  dyno_view_reshape (view, dims, n);
  dyno_view_transpose (view, perm);
}

static DynoParameterLayout
layout_of (const DynoOnnxValue *file)
{
  DynoParameterLayout layout = { .n_dims = MAX (1, file->n_dims),
                                 .extent = { 1, 1, 1, 1 },
                                 .padded = { 1, 1, 1, 1 },
                                 .order = { 0, 1, 2, 3 },
                                 .is_vector = TRUE };
  guint last = 0;

  for (guint i = 0; i < file->n_dims; i++)
    {
      layout.extent[i] = layout.padded[i] = (guint32) file->dims[i].value;
      last = layout.extent[i] > 1 ? i : last;
    }
  layout.padded[last] = (layout.extent[last] + 7) & ~7u;
  return layout;
}

/* The graph's parameter for a value, made by its first reader.  NULL: another node has made it
 * otherwise, and the node was refused; or the graph has failed. */
static const DynoParameter *
take_parameter (DynoImport *import, const DynoOnnxNode *node, const DynoImportValue *value)
{
  const DynoOnnxValue *file = value->parameter;
  gint64 dims[DYNO_LAYOUT_N_AXES];

  if (file->n_dims > G_N_ELEMENTS (dims))
    {
      dyno_import_refuse (import, node, "its parameter “%s” has %u axes, Dyno reads up to %u",
                          file->name, file->n_dims, DYNO_LAYOUT_N_AXES);
      return NULL;
    }
  for (guint i = 0; i < file->n_dims; i++)
    dims[i] = file->dims[i].value;
  g_autofree char *key = g_strconcat ("\nparameter ", file->name, NULL);
  GPtrArray *parameters = dyno_graph_get_parameters (import->graph);
  for (guint i = 0; i < parameters->len && g_hash_table_contains (import->values, key); i++)
    {
      const DynoParameter *parameter = g_ptr_array_index (parameters, i);
      if (g_str_equal (parameter->name, file->name))
        return parameter;
    }
  if (dyno_import_has_parameter (import, file->name))
    {
      dyno_import_refuse (import, node, "it shares the parameter “%s” with another node",
                          file->name);
      return NULL;
    }
  if (count_elements (import, node, dims, file->n_dims) == 0)
    return NULL;
  const DynoParameterLayout layout = layout_of (file);
  g_hash_table_insert (import->values, g_steal_pointer (&key), g_new0 (DynoImportValue, 1));
  return dyno_graph_parameter (import->graph, file->name, &layout, DYNO_INIT_NORMAL_002, FALSE);
}

/* Keeps a tensor as a value of the import under the key, which begins with a line break, as no
 * value's name in a file does. */
static DynoImportValue *
keep (DynoImport *import, const DynoOnnxNode *node, char *key, DynoTensor *tensor,
      const DynoView *view)
{
  DynoImportValue *made = g_new0 (DynoImportValue, 1);

  made->tensor = tensor;
  made->view = *view;
  made->node = node;
  g_hash_table_insert (import->values, key, made);
  return made;
}

DynoImportValue *
dyno_import_parameter_tensor (DynoImport *import, const DynoOnnxNode *node, guint i)
{
  const DynoImportValue *value = dyno_import_input (import, node, i);
  const DynoParameter *parameter;
  DynoTensor shape = { 0 };
  DynoView view;
  guint64 count;

  if (!value || !value->parameter)
    {
      dyno_import_refuse (import, node, "its input %u is not a parameter of the file", i);
      return NULL;
    }
  g_autoptr (GString) key = g_string_new ("\ntensor of ");
  g_string_append_printf (key, "%s\n%d", value->parameter->name, value->transposed);
  for (guint k = 0; k < value->n_dims; k++)
    g_string_append_printf (key, " %" G_GINT64_FORMAT, value->dims[k]);
  DynoImportValue *made = g_hash_table_lookup (import->values, key->str);
  if (made)
    return made;
  if (!(parameter = take_parameter (import, node, value))
      || (count = count_elements (import, node, value->dims, value->n_dims)) == 0)
    return NULL;
  view_parameter (value, &shape, &view);
  g_autofree gint32 *from = g_new (gint32, count);
  for (guint64 k = 0; k < count; k++)
    from[k] = (gint32) k;
  g_autofree char *name = g_strconcat (parameter->name, ".gather", NULL);
  DynoTensor *tensor = dyno_gather_parameter (
      import->graph, parameter, name, &(DynoGatherParams){ shape.h, shape.w, shape.c, from });
  return tensor ? keep (import, node, g_string_free (g_steal_pointer (&key), FALSE), tensor, &view)
                : NULL;
}

/* The number of elements of a constant that repeats after them for each sample of the file: exports
 * expand constants over their batch.  Its count: it does not repeat. */
static guint
count_unrepeated (const DynoImport *import, const DynoConstant *constant)
{
  guint size = import->batch > 0 ? constant->count / import->batch : 0;

  if (constant->n_dims < 3 || import->batch < 2 || constant->dims[0] % import->batch != 0)
    return constant->count;
  for (guint i = size; i < constant->count; i++)
    if (dyno_constant_float (constant, i) != dyno_constant_float (constant, i - size))
      return constant->count;
  return size;
}

DynoImportValue *
dyno_import_constant_tensor (DynoImport *import, const DynoOnnxNode *node, guint i)
{
  const DynoImportValue *value = dyno_import_input (import, node, i);
  const DynoConstant *constant = value ? value->constant : NULL;
  DynoTensor shape = { 0 };
  DynoView view;

  if (!constant)
    {
      dyno_import_refuse (import, node, "its input %u is not known before the network runs", i);
      return NULL;
    }
  g_autofree char *key = g_strconcat ("\nconstant ", node->inputs[i], NULL);
  DynoImportValue *made = g_hash_table_lookup (import->values, key);
  if (made)
    return made;
  gint64 dims[DYNO_CONSTANT_MAX_DIMS];
  guint count = count_unrepeated (import, constant);
  memcpy (dims, constant->dims, sizeof dims);
  if (count < constant->count)
    dims[0] /= (gint64) import->batch;
  if (count_elements (import, node, dims, constant->n_dims) == 0)
    return NULL;
  set_shape (&shape, dims, constant->n_dims);
  dyno_view_init (&view, &shape, count < constant->count ? import->batch : 1, "NHWC");
  dyno_view_reshape (&view, constant->dims, constant->n_dims);
  g_autofree float *numbers = g_new (float, count);
  for (guint k = 0; k < count; k++)
    numbers[k] = (float) dyno_constant_float (constant, k);
  DynoTensor *tensor = dyno_graph_constant (import->graph, node->inputs[i], DYNO_DTYPE_F32, shape.h,
                                            shape.w, shape.c, numbers);
  return tensor ? keep (import, node, g_steal_pointer (&key), tensor, &view) : NULL;
}
/* --- picks ------------------------------------------------------------------------------------ */

/* The source of a pick: a tensor, or a parameter with the shape that a tensor of it would have. */
typedef struct {
  DynoTensor shape;
  DynoView view;
} Source;

/* An axis of the result, without the batch. */
typedef struct {
  guint32 n;
  gboolean has_batch; /* the axis begins with the batch */
  char letter;        /* the tensor's axis that holds it, from `stride` on */
  guint32 stride;
  gint32 *offsets; /* n: of each element in a sample of the source; -1: the element is 0 */
} Axis;

typedef struct {
  Axis axes[DYNO_VIEW_MAX_DIMS];
  guint order[DYNO_VIEW_MAX_DIMS]; /* the axes in the order of the result's memory */
  guint n_dims;
} Result;

static void
result_clear (Result *result)
{
  for (guint i = 0; i < result->n_dims; i++)
    g_free (result->axes[i].offsets);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Result, result_clear)

static Source
source_of (const DynoImportValue *x)
{
  Source source = { 0 };

  if (x->tensor)
    {
      source.shape = *x->tensor;
      source.view = x->view;
    }
  else
    view_parameter (x, &source.shape, &source.view);
  return source;
}

/* TRUE: the axis begins with the batch. */
static gboolean
begins_with_batch (const DynoView *view, guint axis)
{
  guint begin = dyno_view_begin (view, axis);

  return begin < view->end[axis] && view->parts[begin].axis == 'N';
}

gboolean
dyno_import_can_pick (const DynoImportValue *x, const DynoImportPick *picks)
{
  const Source source = source_of (x);
  const DynoView *view = &source.view;
  guint n_batches = 0;

  for (guint axis = 0; axis < view->n_dims; axis++)
    for (guint i = dyno_view_begin (view, axis); i < view->end[axis]; i++)
      if (view->parts[i].axis == 'N'
          && (picks[axis].at || i > dyno_view_begin (view, axis) || ++n_batches > 1
              || view->parts[i].extent != view->batch))
        return FALSE;
  return TRUE;
}

/* The distance between neighbouring elements of an axis in the source, by which the axes of the
 * result are sorted; an axis of one element is outermost. */
static guint64
find_stride (const Source *source, guint axis)
{
  const DynoTensor *shape = &source->shape;
  guint64 least = G_MAXUINT64;

  for (guint i = dyno_view_begin (&source->view, axis); i < source->view.end[axis]; i++)
    {
      const DynoViewPart *part = &source->view.parts[i];
      guint64 stride = (guint64) part->stride
                       * (part->axis == 'H'   ? (guint64) shape->w * shape->c
                          : part->axis == 'W' ? shape->c
                                              : 1);
      if (part->axis != 'N')
        least = MIN (least, stride);
    }
  return least;
}

/* Sorts the axes by their keys, the largest, which is outermost, first. */
static void
sort_axes (Result *result, const guint64 *keys)
{
  for (guint i = 0; i < result->n_dims; i++)
    {
      guint k = i;
      for (; k > 0 && keys[result->order[k - 1]] < keys[i]; k--)
        result->order[k] = result->order[k - 1];
      result->order[k] = i;
    }
}

/* Gives the axes of the result their places in a tensor (h, w, c): those of the source, where each
 * of its axes is one of its tensor; else the innermost axis of the source becomes the channels, the
 * next one the width and all others the height. */
static void
lay_out (const Source *source, Result *result, DynoTensor *shape)
{
  static const char *const forms[] = { "N C H W", "N H W C", "N C W", "N W C", "N C" },
                           axes[] = "NHWC", letters[] = "CWH";
  guint32 *extents[] = { &shape->c, &shape->w, &shape->h }, strides[] = { 1, 1, 1 };
  guint64 keys[DYNO_VIEW_MAX_DIMS];
  const char *form = NULL;
  guint next = 0;

  for (guint i = 0; i < G_N_ELEMENTS (forms) && !form; i++)
    if (strlen (forms[i]) + 1 == 2 * result->n_dims && result->axes[0].n == 1
        && dyno_view_is (&source->view, &source->shape, forms[i]))
      form = forms[i];
  for (guint i = 0; i < result->n_dims; i++)
    keys[i] = form ? strlen (strchr (axes, form[2 * i])) : find_stride (source, i);
  sort_axes (result, keys);
  shape->h = shape->w = shape->c = 1;
  for (guint i = result->n_dims; i-- > 0;)
    {
      Axis *axis = &result->axes[result->order[i]];
      if (form ? result->order[i] == 0 : axis->n == 1)
        continue;
      guint at = form ? (guint) (strchr (letters, form[2 * result->order[i]]) - letters) : next;
      axis->letter = letters[at];
      axis->stride = strides[at];
      strides[at] = *extents[at] *= axis->n;
      next = MIN (next + 1, 2);
    }
}

static void
view_result (const Result *result, guint32 batch, DynoView *view)
{
  guint n = 0;

  *view = (DynoView){ .batch = batch, .n_dims = result->n_dims };
  for (guint i = 0; i < result->n_dims; i++)
    {
      const Axis *axis = &result->axes[i];
      if (axis->has_batch)
        view->parts[n++] = (DynoViewPart){ 'N', batch, 1 };
      if (axis->n > 1)
        view->parts[n++] = (DynoViewPart){ axis->letter, axis->n, axis->stride };
      view->end[i] = n;
    }
}

/* The offset in a sample of the source of an element of an axis, without the batch. */
static gint32
find_offset (const Source *source, guint axis, guint64 element)
{
  const DynoView *view = &source->view;
  const DynoTensor *shape = &source->shape;
  guint64 offset = 0;

  for (guint i = view->end[axis];
       i-- > dyno_view_begin (view, axis) + begins_with_batch (view, axis);)
    {
      const DynoViewPart *part = &view->parts[i];
      guint64 stride = part->axis == 'H'   ? (guint64) shape->w * shape->c
                       : part->axis == 'W' ? shape->c
                                           : 1;
      offset += element % part->extent * part->stride * stride;
      element /= part->extent;
    }
  return (gint32) offset;
}

/* Sets the axes of the result; returns the number of its elements, or 0: they are too many, and the
 * node was refused. */
static guint64
take_axes (DynoImport *import, const DynoOnnxNode *node, const Source *source,
           const DynoImportPick *picks, Result *result)
{
  const DynoView *view = &source->view;
  gint64 dims[DYNO_VIEW_MAX_DIMS];

  for (guint i = 0; i < view->n_dims; i++)
    {
      gboolean has_batch = begins_with_batch (view, i);
      dims[i] = picks[i].at ? picks[i].n
                            : (gint64) (dyno_view_dim (view, i) / (has_batch ? view->batch : 1));
    }
  guint64 count = count_elements (import, node, dims, view->n_dims);
  for (guint i = 0; i < view->n_dims && count > 0; i++)
    {
      Axis *axis = &result->axes[result->n_dims++];
      *axis = (Axis){ .n = (guint32) dims[i],
                      .has_batch = begins_with_batch (view, i),
                      .offsets = g_new (gint32, (gsize) dims[i]) };
      for (guint32 k = 0; k < axis->n; k++)
        axis->offsets[k] =
            picks[i].at && picks[i].at[k] < 0
                ? -1
                : find_offset (source, i, picks[i].at ? (guint64) picks[i].at[k] : k);
    }
  return count;
}

/* The indices of dyno_gather, in the order of the result's memory; g_free. */
static gint32 *
make_indices (const Result *result, guint32 begin, guint64 count)
{
  guint32 digits[DYNO_VIEW_MAX_DIMS] = { 0 };
  gint32 *from = g_new (gint32, count);

  for (guint64 i = 0; i < count; i++)
    {
      gint64 sum = begin;
      gboolean is_zero = FALSE;
      for (guint k = 0; k < result->n_dims; k++)
        {
          gint32 offset = result->axes[k].offsets[digits[k]];
          is_zero |= offset < 0;
          sum += offset;
        }
      from[i] = is_zero ? -1 : (gint32) sum;
      for (guint k = result->n_dims; k-- > 0;)
        {
          guint axis = result->order[k];
          if (++digits[axis] < result->axes[axis].n)
            break;
          digits[axis] = 0;
        }
    }
  return from;
}

/* The picked elements as a tensor; *view gets the view of the result with the axes of x.  NULL: the
 * node was refused, or the graph has failed. */
static DynoTensor *
append_pick (DynoImport *import, const DynoOnnxNode *node, const char *name,
             const DynoImportValue *x, const DynoImportPick *picks, DynoView *view)
{
  const Source source = source_of (x);
  const DynoParameter *parameter = NULL;
  g_auto (Result) result = { 0 };
  DynoTensor shape = { 0 };

  if (!dyno_import_can_pick (x, picks))
    {
      g_autofree char *print = dyno_view_print (&source.view);
      dyno_import_refuse (import, node, "Dyno picks elements of samples only, not samples of %s",
                          print);
      return NULL;
    }
  guint64 count = take_axes (import, node, &source, picks, &result);
  if (count == 0 || (!x->tensor && !(parameter = take_parameter (import, node, x))))
    return NULL;
  lay_out (&source, &result, &shape);
  view_result (&result, source.view.batch, view);
  g_autofree gint32 *from = make_indices (&result, source.view.begin, count);
  const DynoGatherParams params = { shape.h, shape.w, shape.c, from };
  return parameter ? dyno_gather_parameter (import->graph, parameter, name, &params)
                   : dyno_gather (import->graph, x->tensor, name, &params);
}

gboolean
dyno_import_pick (DynoImport *import, const DynoOnnxNode *node, guint k, const DynoImportValue *x,
                  const DynoImportPick *picks, const gint64 *dims, guint n_dims)
{
  const char *name = node->n_outputs == 1 ? dyno_import_shown_name (node) : node->outputs[k];
  DynoView view;
  DynoTensor *y = append_pick (import, node, name, x, picks, &view);

  if (y && dims && !dyno_view_reshape (&view, dims, n_dims))
    return dyno_import_refuse (import, node,
                               "Dyno does not read it with this order of its input's axes");
  return y && dyno_import_output (import, node, k, y, &view, NULL);
}

gboolean
dyno_import_cover (DynoImport *import, DynoImportValue *x)
{
  const DynoImportPick all[DYNO_VIEW_MAX_DIMS] = { 0 };
  guint n = x->view.n_dims > 0 ? x->view.end[x->view.n_dims - 1] : 0;
  guint64 count = 1;
  DynoView view;

  if (!dyno_import_settle (import, x))
    return FALSE;
  for (guint i = 0; i < n; i++)
    count *= x->view.parts[i].axis == 'N' ? 1 : x->view.parts[i].extent;
  if (count == (guint64) x->tensor->h * x->tensor->w * x->tensor->c || !x->node)
    return TRUE;
  g_autofree char *name = g_strconcat (x->tensor->name, ".part", NULL);
  DynoTensor *part = append_pick (import, x->node, name, x, all, &view);
  if (!part)
    return FALSE;
  x->tensor = part;
  x->view = view;
  return TRUE;
}

/* --- Gather ----------------------------------------------------------------------------------- */

gboolean
dyno_import_gather_axis (DynoImport *import, const DynoOnnxNode *node, const DynoImportValue *x,
                         guint axis, const DynoConstant *index)
{
  const Source source = source_of (x);
  DynoImportPick picks[DYNO_VIEW_MAX_DIMS] = { 0 };
  gint64 dims[DYNO_VIEW_MAX_DIMS + DYNO_CONSTANT_MAX_DIMS],
      extent = (gint64) dyno_view_dim (&source.view, axis);
  guint n = 0;

  for (guint i = 0; i < source.view.n_dims; i++)
    if (i != axis)
      dims[n++] = (gint64) dyno_view_dim (&source.view, i);
    else
      for (guint k = 0; k < index->n_dims; k++)
        dims[n++] = index->dims[k];
  if (n > DYNO_VIEW_MAX_DIMS)
    return dyno_import_refuse (import, node, "its output has %u axes", n);
  g_autofree gint64 *at = g_new (gint64, MAX (1, index->count));
  for (guint i = 0; i < index->count; i++)
    {
      at[i] = dyno_constant_int (index, i);
      at[i] += at[i] < 0 ? extent : 0;
      if (at[i] < 0 || at[i] >= extent)
        return dyno_import_refuse (import, node, "index %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT,
                                   at[i], extent);
    }
  picks[axis] = (DynoImportPick){ at, index->count };
  return dyno_import_pick (import, node, 0, x, picks, dims, n);
}

/* GatherND, where the last axis of the indices has one index, of the first axis of x: PyTorch's
 * table[index].  Constants are folded. */
gboolean
dyno_import_gather_nd (DynoImport *import, const DynoOnnxNode *node)
{
  gboolean is_parameter = dyno_import_is_parameter (import, node, 0);
  const DynoConstant *indices = dyno_import_numbers (import, node, 1, NULL);

  if (dyno_import_is_constant (import, node, 0))
    return dyno_import_fold (import, node);
  DynoImportValue *x =
      is_parameter ? dyno_import_input (import, node, 0) : dyno_import_viewed (import, node, 0);
  if (!x)
    return FALSE;
  if (!indices || !indices->is_int || indices->count == 0)
    return dyno_import_refuse (import, node, "its indices are not known before the network runs");
  if (indices->n_dims == 0 || indices->dims[indices->n_dims - 1] != 1
      || dyno_import_int (node, "batch_dims", 0) != 0
      || (is_parameter ? x->n_dims : x->view.n_dims) == 0)
    return dyno_import_refuse (import, node, "Dyno takes indices of the first axis only");
  if (!dyno_import_count_numbers (import, node, indices->count))
    return FALSE;
  g_autoptr (DynoConstant) index = dyno_constant_new (TRUE, indices->dims, indices->n_dims - 1);
  memcpy (index->ints, indices->ints, indices->count * sizeof *index->ints);
  return dyno_import_gather_axis (import, node, x, 0, index);
}
