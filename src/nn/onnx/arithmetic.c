/* SPDX-License-Identifier: MIT */
/* Sums, products, splits and concatenations of tensors; the same operators over constants are
 * folded (fold.c). */
#include "graph-private.h"
#include "import-private.h"
#include <string.h>

/* The axis of x for which a parameter has one value per element: all other axes of the parameter
 * have the extent 1 (axes are aligned at the end).  G_MAXUINT: there is no such axis. */
static guint
find_axis (const DynoImportValue *x, const DynoImportValue *parameter)
{
  guint n = x->view.n_dims, found = G_MAXUINT;

  if (parameter->n_dims > n)
    return G_MAXUINT;
  for (guint i = 0; i < parameter->n_dims; i++)
    if (parameter->dims[i] != 1)
      {
        if (found != G_MAXUINT)
          return G_MAXUINT;
        found = n - parameter->n_dims + i;
      }
  if (found == G_MAXUINT)
    return G_MAXUINT;
  gint64 count = parameter->dims[found - (n - parameter->n_dims)];
  return count == (gint64) dyno_view_dim (&x->view, found) ? found : G_MAXUINT;
}

/* The sum or product of operands whose values are repeated along axes. */
static gboolean
broadcast (DynoImport *import, const DynoOnnxNode *node, gboolean adds)
{
  return adds ? dyno_import_broadcast_add (import, node, 1)
              : dyno_import_broadcast_mul (import, node);
}

/* TRUE: an input is neither a tensor nor refused. */
static gboolean
has_other (DynoImport *import, const DynoOnnxNode *node)
{
  for (guint i = 0; i < 2; i++)
    {
      const DynoImportValue *value = dyno_import_input (import, node, i);
      if (value && !value->tensor && !value->refused && !value->sequence && !value->repeat)
        return TRUE;
    }
  return FALSE;
}

typedef DynoTensor *(*ByChannel) (DynoGraph *graph, DynoTensor *x, const char *name, DynoInit init);

/* An op of a tensor and a parameter that has a value for each channel of the tensor. */
static gboolean
read_by_channel (DynoImport *import, const DynoOnnxNode *node, guint parameter, ByChannel op,
                 DynoInit init)
{
  const DynoImportValue *weight = dyno_import_input (import, node, parameter),
                        *other = dyno_import_input (import, node, 1 - parameter);
  guint first = import->graph->parameters->len;
  guint32 dims[DYNO_VIEW_MAX_DIMS];
  gboolean adds = init == DYNO_INIT_ZERO;

  if ((other && !other->tensor && !other->refused)
      || !dyno_import_is_read_once (import, node, parameter))
    return broadcast (import, node, adds);
  DynoImportValue *x = dyno_import_tensor (import, node, 1 - parameter);
  if (!x)
    return FALSE;
  if (x->tensor->space == DYNO_SPACE_CONSTANT
      && !(x = dyno_import_stored (import, node, 1 - parameter)))
    return FALSE;
  guint axis = find_axis (x, weight);
  if (axis == G_MAXUINT && !(adds && dyno_import_are_positions (weight, x)))
    return broadcast (import, node, adds);
  if (axis != G_MAXUINT && !(x = dyno_import_with_channels (import, node, x, axis)))
    return broadcast (import, node, adds);
  if (weight->n_dims > G_N_ELEMENTS (dims)
      || !dyno_import_parameter (import, node, parameter, weight->n_dims, dims))
    return FALSE;
  if (axis == G_MAXUINT)
    return dyno_import_positions (import, node, parameter, x);
  DynoTensor *y = op (import->graph, x->tensor, dyno_import_shown_name (node), init);
  if (y)
    dyno_import_name_parameter (import, node, first, parameter);
  return dyno_import_output (import, node, 0, y, &x->view, NULL);
}

/* The index of the input that is a parameter and not also one constant number; 2: neither is. */
static guint
find_parameter (DynoImport *import, const DynoOnnxNode *node)
{
  for (guint i = 0; i < 2; i++)
    {
      const DynoImportValue *value = dyno_import_input (import, node, i);
      if (value && value->parameter && !(value->constant && value->constant->count == 1))
        return i;
    }
  return 2;
}

/* Both inputs as tensors; NULL: one is not a tensor, and the node was refused. */
static DynoImportValue *
take_pair (DynoImport *import, const DynoOnnxNode *node, DynoImportValue **other)
{
  DynoImportValue *a = dyno_import_tensor (import, node, 0);

  *other = a ? dyno_import_tensor (import, node, 1) : NULL;
  return *other ? a : NULL;
}

/* b in the layout of a; NULL: b cannot be copied to it, as where their axes differ. */
static DynoImportValue *
lay_beside (DynoImport *import, const DynoOnnxNode *node, const DynoImportValue *a,
            DynoImportValue *b)
{
  return dyno_import_laid_out_as (import, node, b, a->tensor, &a->view);
}

gboolean
dyno_import_add (DynoImport *import, const DynoOnnxNode *node)
{
  guint parameter = find_parameter (import, node);
  DynoImportValue *a, *b, *beside;

  if (dyno_import_is_constant (import, node, 0) && dyno_import_is_constant (import, node, 1))
    return dyno_import_fold (import, node);
  if (parameter == 2 && dyno_import_has_number (import, node))
    return dyno_import_by_number (import, node);
  if (parameter < 2)
    return read_by_channel (import, node, parameter, dyno_add_channels, DYNO_INIT_ZERO);
  if (has_other (import, node))
    return broadcast (import, node, TRUE);
  if (!(a = take_pair (import, node, &b)))
    return FALSE;
  if (!(beside = lay_beside (import, node, a, b)))
    return broadcast (import, node, TRUE);
  return dyno_import_output (
      import, node, 0,
      dyno_add (import->graph, a->tensor, beside->tensor, dyno_import_shown_name (node)), &a->view,
      NULL);
}

/* Adds all inputs one after the other, and for Mean divides by their number. */
gboolean
dyno_import_sum (DynoImport *import, const DynoOnnxNode *node)
{
  gboolean mean = g_str_equal (node->op_type, "Mean");
  DynoImportValue *first = dyno_import_tensor (import, node, 0), *value, *beside;
  const char *name = dyno_import_shown_name (node);

  if (!first)
    return FALSE;
  DynoTensor *sum = first->tensor;
  for (guint i = 1; i < node->n_inputs; i++)
    {
      if (!(value = dyno_import_tensor (import, node, i)))
        return FALSE;
      if (!(beside = lay_beside (import, node, first, value)))
        {
          g_autofree char *one = dyno_view_print (&first->view),
                          *two = dyno_view_print (&value->view);
          return dyno_import_refuse (import, node, "it adds %s and %s, whose axes differ", one,
                                     two);
        }
      g_autofree char *part = g_strdup_printf ("%s.%u", name, i);
      sum = dyno_add (import->graph, sum, beside->tensor,
                      mean || i + 1 < node->n_inputs ? part : name);
    }
  if (mean && node->n_inputs > 1)
    sum = dyno_affine (import->graph, sum, 1.0 / node->n_inputs, 0, name);
  return dyno_import_output (import, node, 0, sum, &first->view, NULL);
}

/* max (x, 0) + slope min (x, 0), where min (x, 0) is x - max (x, 0): so its derivative at 0 is
 * PyTorch's, the slope of the left side. */
static DynoTensor *
append_prelu (DynoGraph *graph, DynoTensor *x, const char *name)
{
  g_autofree char *positive_name = g_strconcat (name, ".positive", NULL),
                  *minus_name = g_strconcat (name, ".minus", NULL),
                  *negative_name = g_strconcat (name, ".negative", NULL),
                  *scaled_name = g_strconcat (name, ".scaled", NULL);
  DynoTensor *positive = dyno_relu (graph, x, positive_name);
  DynoTensor *minus = dyno_affine (graph, positive, -1, 0, minus_name);
  DynoTensor *negative = minus ? dyno_add (graph, x, minus, negative_name) : NULL;
  DynoTensor *scaled = dyno_scale_channels (graph, negative, scaled_name, DYNO_INIT_QUARTER);

  return scaled ? dyno_add (graph, positive, scaled, name) : NULL;
}

/* PRelu with a trained slope for each channel, or with the file's slope for all channels, which is
 * not trained. */
gboolean
dyno_import_prelu (DynoImport *import, const DynoOnnxNode *node)
{
  DynoImportValue *x = dyno_import_tensor (import, node, 0);
  const DynoImportValue *slope = dyno_import_input (import, node, 1);
  const char *name = dyno_import_shown_name (node);
  guint32 dims[DYNO_VIEW_MAX_DIMS];
  guint first = import->graph->parameters->len;
  double number;

  if (!x)
    return FALSE;
  if (slope && slope->constant && dyno_constant_is_uniform (slope->constant, &number)
      && (!slope->parameter || slope->constant->count == 1))
    {
      dyno_import_note (import, "%s: its slope, %g for all channels, is not trained", name, number);
      return dyno_import_output (import, node, 0,
                                 dyno_activation_with_parameter (import->graph, x->tensor,
                                                                 DYNO_ACTIVATION_LEAKY_RELU, number,
                                                                 name),
                                 &x->view, NULL);
    }
  if (!slope || !slope->parameter || slope->n_dims > G_N_ELEMENTS (dims))
    return dyno_import_refuse (import, node, "its slopes are not a parameter of the file");
  if (!dyno_import_parameter (import, node, 1, slope->n_dims, dims))
    return FALSE;
  guint axis = find_axis (x, slope);
  x = axis < x->view.n_dims ? dyno_import_with_channels (import, node, x, axis) : NULL;
  if (!x)
    return dyno_import_refuse (import, node, "its slopes “%s” do not have one value per channel",
                               slope->parameter->name);
  DynoTensor *y = append_prelu (import->graph, x->tensor, name);
  if (y)
    dyno_import_name_parameter (import, node, first, 1);
  return dyno_import_output (import, node, 0, y, &x->view, NULL);
}

/* TRUE: factors has one value for each sample and channel of x (N, C, H, W). */
static gboolean
is_gate (const DynoImportValue *x, const DynoImportValue *factors)
{
  return x->view.n_dims == 4 && factors->view.n_dims == 4
         && dyno_view_is (&x->view, x->tensor, "N C H W")
         && dyno_view_is (&factors->view, factors->tensor, "N C H W") && factors->tensor->h == 1
         && factors->tensor->w == 1 && factors->tensor->c == x->tensor->c;
}

/* x (N, C, H, W) times factors (N, C, 1, 1) that an Expand repeats to the shape of x; i: the input
 * that is the Expand. */
static gboolean
read_repeated (DynoImport *import, const DynoOnnxNode *node, guint i)
{
  const DynoOnnxNode *repeat = dyno_import_input (import, node, i)->repeat;
  const DynoConstant *shape = dyno_import_numbers (import, repeat, 1, NULL);
  DynoImportValue *x = dyno_import_tensor (import, node, 1 - i),
                  *factors = x ? dyno_import_tensor (import, repeat, 0) : NULL;

  if (!factors)
    return FALSE;
  factors = dyno_import_as_form (import, node, factors, "N C H W");
  if (!factors || !is_gate (x, factors) || !dyno_import_keeps_shape (x, shape))
    return dyno_import_broadcast_mul (import, node);
  return dyno_import_output (
      import, node, 0,
      dyno_scale (import->graph, x->tensor, factors->tensor, dyno_import_shown_name (node)),
      &x->view, NULL);
}

/* A product with a parameter; of two tensors elementwise; or of x (N, C, H, W) and factors (N, C,
 * 1, 1). */
gboolean
dyno_import_mul (DynoImport *import, const DynoOnnxNode *node)
{
  guint parameter = find_parameter (import, node);
  DynoImportValue *x, *y, *beside;

  if (dyno_import_is_constant (import, node, 0) && dyno_import_is_constant (import, node, 1))
    return dyno_import_fold (import, node);
  if (parameter == 2 && dyno_import_has_number (import, node))
    return dyno_import_by_number (import, node);
  if (parameter < 2)
    return read_by_channel (import, node, parameter, dyno_scale_channels, DYNO_INIT_ONE);
  for (guint i = 0; i < 2; i++)
    {
      const DynoImportValue *value = dyno_import_input (import, node, i);
      if (value && value->repeat)
        return read_repeated (import, node, i);
    }
  if (has_other (import, node))
    return broadcast (import, node, FALSE);
  if (!(x = take_pair (import, node, &y)))
    return FALSE;
  if ((beside = lay_beside (import, node, x, y)))
    return dyno_import_output (
        import, node, 0,
        dyno_multiply (import->graph, x->tensor, beside->tensor, dyno_import_shown_name (node)),
        &x->view, NULL);
  DynoImportValue *image = is_gate (x, y) ? x : y, *factors = image == x ? y : x;
  if (!is_gate (image, factors))
    return broadcast (import, node, FALSE);
  return dyno_import_output (
      import, node, 0,
      dyno_scale (import->graph, image->tensor, factors->tensor, dyno_import_shown_name (node)),
      &image->view, NULL);
}

/* A further input of a Concat, in the layout of the first one, whose channels are at the axis;
 * NULL: their other axes differ. */
static DynoTensor *
take_part (DynoImport *import, const DynoOnnxNode *node, const DynoImportValue *first,
           DynoImportValue *value, guint axis)
{
  guint64 channels = axis < value->view.n_dims ? dyno_view_dim (&value->view, axis) : 0;
  DynoTensor shape = *first->tensor;

  if (channels == 0 || channels > G_MAXINT32)
    return NULL;
  const DynoView view = dyno_import_view_of_channels (first, axis, (guint32) channels);
  shape.c = (guint32) channels;
  const DynoImportValue *part = dyno_import_laid_out_as (import, node, value, &shape, &view);
  return part ? part->tensor : NULL;
}

/* TRUE: x is all channels of a tensor like that of `first`, in the same view, with one element in
 * the axis. */
static gboolean
can_stack (const DynoImportValue *first, const DynoImportValue *x, guint axis)
{
  guint32 count = 0;

  return x->tensor->h == first->tensor->h && x->tensor->w == first->tensor->w
         && x->tensor->c == first->tensor->c && dyno_view_equal (&x->view, &first->view)
         && dyno_view_dim (&x->view, axis) == 1 && x->view.begin == 0
         && dyno_view_is_run (&x->view, &count) && count == x->tensor->c;
}

/* Joins tensors along an axis in which each has one element, such as the last states of several
 * layers: their channels are concatenated, and the axis becomes the outermost part of the channels.
 * FALSE: they are no such tensors. */
static gboolean
stack (DynoImport *import, const DynoOnnxNode *node, DynoTensor **tensors)
{
  DynoImportValue *first = dyno_import_input (import, node, 0);
  guint axis = 0, n = node->n_inputs;

  if (n < 2 || !first || !first->tensor || first->view.n_dims == 0)
    return FALSE;
  DynoView view = first->view;
  guint total = view.end[view.n_dims - 1];
  gint64 given = dyno_import_int (node, "axis", 1);
  given += given < 0 ? (gint64) view.n_dims : 0;
  if (given < 0 || given >= (gint64) view.n_dims || total == DYNO_VIEW_MAX_PARTS)
    return FALSE;
  axis = (guint) given;
  for (guint i = 0; i < n; i++)
    {
      DynoImportValue *x = dyno_import_input (import, node, i);
      if (!x || !x->tensor || !dyno_import_settle (import, x) || !can_stack (first, x, axis))
        return FALSE;
      tensors[i] = x->tensor;
    }
  view = first->view;
  if ((guint64) n * first->tensor->c > G_MAXINT32)
    return FALSE;
  guint at = axis > 0 ? view.end[axis - 1] : 0;
  memmove (&view.parts[at + 1], &view.parts[at],
           (view.end[view.n_dims - 1] - at) * sizeof view.parts[0]);
  view.parts[at] = (DynoViewPart){ 'C', n, first->tensor->c };
  for (guint i = axis; i < view.n_dims; i++)
    view.end[i]++;
  return dyno_import_output (import, node, 0,
                             dyno_concat (import->graph, tensors, n, dyno_import_shown_name (node)),
                             &view, NULL);
}

static gboolean
are_constants (DynoImport *import, const DynoOnnxNode *node)
{
  for (guint i = 0; i < node->n_inputs; i++)
    if (!dyno_import_is_constant (import, node, i))
      return FALSE;
  return node->n_inputs > 0;
}

/* TRUE: the inputs are parameters, constants and values that are made from them. */
static gboolean
are_shared (DynoImport *import, const DynoOnnxNode *node)
{
  for (guint i = 0; i < node->n_inputs; i++)
    {
      const DynoImportValue *value = dyno_import_input (import, node, i);
      if (value && value->tensor && !dyno_tensor_is_shared (value->tensor))
        return FALSE;
    }
  return TRUE;
}

/* Concatenates tensors along an axis, which becomes their channels; tensors with one element in the
 * axis are stacked, and constants are folded. */
gboolean
dyno_import_concat (DynoImport *import, const DynoOnnxNode *node)
{
  g_autofree DynoTensor **tensors = g_new0 (DynoTensor *, MAX (1, node->n_inputs));
  DynoImportValue *first = NULL;
  guint axis = 0;
  guint64 channels = 0;

  if (are_constants (import, node))
    return dyno_import_fold (import, node);
  if (dyno_import_starts_with_tokens (import, node))
    return dyno_import_class_token (import, node);
  if (stack (import, node, tensors))
    return TRUE;
  gboolean shared = are_shared (import, node);
  for (guint i = 0; i < node->n_inputs; i++)
    {
      DynoImportValue *value = dyno_import_tensor (import, node, i);
      if (!value || (!shared && !(value = dyno_import_spread (import, node, value))))
        return FALSE;
      if (i == 0 && !dyno_import_axis (import, node, value->view.n_dims, 1, &axis))
        return FALSE;
      first = first ? first : dyno_import_with_channels (import, node, value, axis);
      tensors[i] = first ? take_part (import, node, first, value, axis) : NULL;
      if (!tensors[i])
        return dyno_import_refuse (import, node,
                                   "Dyno joins tensors along one axis, of equal other axes");
      channels += tensors[i]->c;
    }
  if (!first)
    return dyno_import_refuse (import, node, "it has no inputs to join");
  if (channels > G_MAXINT32)
    return dyno_import_refuse (import, node, "its output has too many channels");
  const DynoView view = dyno_import_view_of_channels (first, axis, (guint32) channels);
  return dyno_import_output (
      import, node, 0,
      dyno_concat (import->graph, tensors, node->n_inputs, dyno_import_shown_name (node)), &view,
      NULL);
}

/* Splits an axis into runs of the sizes of input 1 (until opset 12 an attribute), or of equal
 * sizes. */
gboolean
dyno_import_split (DynoImport *import, const DynoOnnxNode *node)
{
  if (dyno_import_is_constant (import, node, 0))
    return dyno_import_fold (import, node);
  DynoImportValue *x = dyno_import_viewed (import, node, 0);
  const DynoConstant *sizes = dyno_import_numbers (import, node, 1, "split");
  guint axis;
  guint64 begin = 0;

  if (!x || !dyno_import_axis (import, node, x->view.n_dims, 0, &axis))
    return FALSE;
  if (sizes && sizes->count != node->n_outputs)
    return dyno_import_refuse (import, node, "it has %u sizes for %u outputs", sizes->count,
                               node->n_outputs);
  guint64 all = dyno_view_dim (&x->view, axis),
          alike = (all + node->n_outputs - 1) / node->n_outputs;
  for (guint k = 0; k < node->n_outputs; k++)
    {
      gint64 count = sizes ? dyno_constant_int (sizes, k) : (gint64) MIN (alike, all - begin);
      if (count < 1 || (guint64) count > all - begin)
        return dyno_import_refuse (import, node, "its sizes do not fit %" G_GUINT64_FORMAT, all);
      if (*node->outputs[k]
          && !dyno_import_append_run (import, node, k, x, axis, begin, begin + (guint64) count))
        return FALSE;
      begin += (guint64) count;
    }
  return begin == all
         || dyno_import_refuse (import, node, "its sizes do not fit %" G_GUINT64_FORMAT, all);
}
