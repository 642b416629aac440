/* SPDX-License-Identifier: MIT */
/* Operators over numbers that are known before the network runs, of which exports compute the
 * shapes of Reshape.  They are computed here, in the order of the file. */
#include "import-private.h"
#include <math.h>
#include <string.h>

static gboolean
too_many (DynoImport *import, const DynoOnnxNode *node)
{
  return dyno_import_refuse (import, node, "it makes more than %u numbers, or more than %u axes",
                             DYNO_CONSTANT_MAX_COUNT, DYNO_CONSTANT_MAX_DIMS);
}

/* Input i as known numbers; NULL: it is none, which was refused. */
static const DynoConstant *
known (DynoImport *import, const DynoOnnxNode *node, guint i)
{
  const DynoImportValue *value = dyno_import_input (import, node, i);

  if (value && value->constant)
    return value->constant;
  dyno_import_refuse (import, node, "its input %u is not known before the network runs", i);
  return NULL;
}

static void
copy_element (DynoConstant *to, guint at, const DynoConstant *from, guint i)
{
  if (to->is_int)
    to->ints[at] = dyno_constant_int (from, i);
  else
    to->floats[at] = dyno_constant_float (from, i);
}

/* The shape of a tensor, from axis `start` to before axis `end` (opset 15). */
gboolean
dyno_import_shape (DynoImport *import, const DynoOnnxNode *node)
{
  const DynoImportValue *value = dyno_import_input (import, node, 0);
  gint64 dims[DYNO_VIEW_MAX_DIMS];
  gint64 n = 0;

  if (value && value->tensor)
    for (; n < (gint64) value->view.n_dims; n++)
      dims[n] = (gint64) dyno_view_dim (&value->view, (guint) n);
  else if (value && value->constant)
    for (; n < (gint64) value->constant->n_dims; n++)
      dims[n] = value->constant->dims[n];
  else if (value && value->parameter && value->parameter->n_dims <= G_N_ELEMENTS (dims))
    for (; n < (gint64) value->parameter->n_dims; n++)
      dims[n] = value->parameter->dims[n].value;
  else
    return dyno_import_refuse (import, node, "its input has no shape");
  gint64 start = dyno_import_int (node, "start", 0), end = dyno_import_int (node, "end", n);
  start = CLAMP (start < 0 ? start + n : start, 0, n);
  end = CLAMP (end < 0 ? end + n : end, start, n);
  gint64 count = end - start;
  DynoConstant *shape = dyno_constant_new (TRUE, &count, 1);
  memcpy (shape->ints, dims + start, (gsize) count * sizeof *dims);
  return dyno_import_output_constant (import, node, shape);
}

/* Constant, by whichever attribute it has. */
gboolean
dyno_import_constant (DynoImport *import, const DynoOnnxNode *node)
{
  const DynoOnnxAttribute *a = node->n_attributes > 0 ? &node->attributes[0] : NULL;
  DynoConstant *constant = NULL;
  gint64 n = a ? a->n : 0;

  if (a && a->type == DYNO_ONNX_IS_TENSOR)
    constant = dyno_constant_read (import->model, a->t);
  else if (a && (a->type == DYNO_ONNX_IS_INT || a->type == DYNO_ONNX_IS_FLOAT))
    {
      constant = dyno_constant_new (a->type == DYNO_ONNX_IS_INT, NULL, 0);
      if (constant->is_int)
        constant->ints[0] = a->i;
      else
        constant->floats[0] = (double) a->f;
    }
  else if (a && a->type == DYNO_ONNX_IS_INTS)
    {
      constant = dyno_constant_new (TRUE, &n, 1);
      for (guint i = 0; constant && i < a->n; i++)
        constant->ints[i] = a->ints[i];
    }
  else if (a && a->type == DYNO_ONNX_IS_FLOATS)
    {
      constant = dyno_constant_new (FALSE, &n, 1);
      for (guint i = 0; constant && i < a->n; i++)
        constant->floats[i] = (double) a->floats[i];
    }
  if (!constant)
    return dyno_import_refuse (import, node, "its value is a text, or has more than %u numbers",
                               DYNO_CONSTANT_MAX_COUNT);
  return dyno_import_output_constant (import, node, constant);
}

static gboolean
fold_constant_of_shape (DynoImport *import, const DynoOnnxNode *node)
{
  const DynoConstant *shape = known (import, node, 0);
  const DynoOnnxAttribute *a = dyno_onnx_node_find_attribute (node, "value");
  g_autoptr (DynoConstant) value = a && a->t ? dyno_constant_read (import->model, a->t) : NULL;
  gint64 dims[DYNO_CONSTANT_MAX_DIMS];

  if (!shape)
    return FALSE;
  if (shape->count > G_N_ELEMENTS (dims) || (value && value->count != 1))
    return too_many (import, node);
  for (guint i = 0; i < shape->count; i++)
    dims[i] = dyno_constant_int (shape, i);
  DynoConstant *filled = dyno_constant_new (value && value->is_int, dims, shape->count);
  if (!filled)
    return too_many (import, node);
  for (guint i = 0; value && i < filled->count; i++)
    copy_element (filled, i, value, 0);
  return dyno_import_output_constant (import, node, filled);
}

/* A list of numbers, or one number, by indices. */
static gboolean
fold_gather (DynoImport *import, const DynoOnnxNode *node)
{
  const DynoConstant *data = known (import, node, 0),
                     *indices = data ? known (import, node, 1) : NULL;

  if (!indices)
    return FALSE;
  if (data->n_dims != 1 || dyno_import_int (node, "axis", 0) > 0)
    return dyno_import_refuse (import, node, "Dyno gathers from lists only");
  DynoConstant *taken = dyno_constant_new (data->is_int, indices->dims, indices->n_dims);
  for (guint i = 0; i < indices->count; i++)
    {
      gint64 at = dyno_constant_int (indices, i);
      at += at < 0 ? (gint64) data->count : 0;
      if (at < 0 || at >= (gint64) data->count)
        {
          dyno_constant_free (taken);
          return dyno_import_refuse (import, node, "index %" G_GINT64_FORMAT " of %u numbers", at,
                                     data->count);
        }
      copy_element (taken, i, data, (guint) at);
    }
  return dyno_import_output_constant (import, node, taken);
}

static gboolean
fold_concat (DynoImport *import, const DynoOnnxNode *node)
{
  gint64 count = 0;
  gboolean is_int = TRUE;

  for (guint i = 0; i < node->n_inputs; i++)
    {
      const DynoConstant *part = known (import, node, i);
      if (!part)
        return FALSE;
      if (part->n_dims != 1)
        return dyno_import_refuse (import, node, "Dyno joins lists of numbers only");
      count += part->count;
      is_int &= part->is_int;
    }
  DynoConstant *all = dyno_constant_new (is_int, &count, 1);
  guint at = 0;
  if (!all)
    return too_many (import, node);
  for (guint i = 0; i < node->n_inputs; i++)
    {
      const DynoConstant *part = known (import, node, i);
      for (guint k = 0; k < part->count; k++)
        copy_element (all, at++, part, k);
    }
  return dyno_import_output_constant (import, node, all);
}

/* The first number of input i, or until opset 9 of an attribute. */
static gint64
slice_number (DynoImport *import, const DynoOnnxNode *node, guint i, const char *attribute,
              gint64 otherwise)
{
  const DynoConstant *numbers = dyno_import_numbers (import, node, i, attribute);

  return numbers && numbers->count > 0 ? dyno_constant_int (numbers, 0) : otherwise;
}

static gboolean
fold_slice (DynoImport *import, const DynoOnnxNode *node)
{
  const DynoConstant *data = known (import, node, 0);
  gint64 n, count = 0;

  if (!data)
    return FALSE;
  n = data->count;
  gint64 step = slice_number (import, node, 4, NULL, 1),
         start = slice_number (import, node, 1, "starts", 0),
         end = slice_number (import, node, 2, "ends", n);
  if (data->n_dims != 1 || step < 1 || step > n + 1)
    return dyno_import_refuse (import, node, "Dyno slices lists of numbers only, forwards");
  start = CLAMP (start < 0 ? start + n : start, 0, n);
  end = CLAMP (end < 0 ? end + n : end, start, n);
  count = (end - start + step - 1) / step;
  DynoConstant *taken = dyno_constant_new (data->is_int, &count, 1);
  for (gint64 i = 0; i < count; i++)
    copy_element (taken, (guint) i, data, (guint) (start + i * step));
  return dyno_import_output_constant (import, node, taken);
}

/* Reshape, Squeeze and Unsqueeze of a list or a number: as many numbers, with one axis or none. */
static gboolean
fold_axes (DynoImport *import, const DynoOnnxNode *node)
{
  const DynoConstant *data = known (import, node, 0);
  gboolean squeeze = g_str_equal (node->op_type, "Squeeze");
  gint64 count;

  if (!data)
    return FALSE;
  if (data->n_dims > 1)
    return dyno_import_refuse (import, node, "Dyno reshapes lists of numbers only");
  count = data->count;
  DynoConstant *made =
      dyno_constant_new (data->is_int, &count, squeeze && data->count == 1 ? 0 : 1);
  for (guint i = 0; i < data->count; i++)
    copy_element (made, i, data, i);
  return dyno_import_output_constant (import, node, made);
}

static gboolean
fold_cast (DynoImport *import, const DynoOnnxNode *node)
{
  const DynoConstant *data = known (import, node, 0);
  gint64 to = dyno_import_int (node, "to", DYNO_ONNX_FLOAT);

  if (!data)
    return FALSE;
  DynoConstant *made =
      dyno_constant_new (to != DYNO_ONNX_FLOAT && to != DYNO_ONNX_DOUBLE && to != DYNO_ONNX_FLOAT16
                             && to != DYNO_ONNX_BFLOAT16,
                         data->dims, data->n_dims);
  for (guint i = 0; i < data->count; i++)
    copy_element (made, i, data, i);
  return dyno_import_output_constant (import, node, made);
}

static double
compute_floats (char op, double a, double b)
{
  return op == 'A' ? a + b : op == 'S' ? a - b : op == 'M' ? a * b : a / b;
}

/* FALSE: it overflows, or divides by 0. */
static gboolean
compute_ints (char op, gint64 a, gint64 b, gint64 *result)
{
  if (op == 'D')
    {
      if (b == 0 || (a == G_MININT64 && b == -1))
        return FALSE;
      *result = a / b;
      return TRUE;
    }
  return op == 'A'   ? !__builtin_add_overflow (a, b, result)
         : op == 'S' ? !__builtin_sub_overflow (a, b, result)
                     : !__builtin_mul_overflow (a, b, result);
}

/* Add, Sub, Mul and Div of as many numbers each, or of one with many. */
static gboolean
fold_arithmetic (DynoImport *import, const DynoOnnxNode *node)
{
  const DynoConstant *a = known (import, node, 0), *b = a ? known (import, node, 1) : NULL;
  char op = node->op_type[0];

  if (!b)
    return FALSE;
  const DynoConstant *larger = a->n_dims > b->n_dims || a->count > b->count ? a : b;
  if ((a->count != larger->count && a->count != 1) || (b->count != larger->count && b->count != 1))
    return dyno_import_refuse (import, node, "it combines %u and %u numbers", a->count, b->count);
  DynoConstant *made = dyno_constant_new (a->is_int && b->is_int, larger->dims, larger->n_dims);
  for (guint i = 0; i < made->count; i++)
    {
      guint x = a->count == 1 ? 0 : i, y = b->count == 1 ? 0 : i;
      if (!made->is_int)
        made->floats[i] =
            compute_floats (op, dyno_constant_float (a, x), dyno_constant_float (b, y));
      else if (!compute_ints (op, a->ints[x], b->ints[y], &made->ints[i]))
        {
          dyno_constant_free (made);
          return dyno_import_refuse (import, node, "its numbers overflow, or it divides by 0");
        }
    }
  return dyno_import_output_constant (import, node, made);
}

gboolean
dyno_import_fold (DynoImport *import, const DynoOnnxNode *node)
{
  static const DynoImportRow rows[] = {
    { "ConstantOfShape", fold_constant_of_shape },
    { "Gather", fold_gather },
    { "Concat", fold_concat },
    { "Slice", fold_slice },
    { "Reshape", fold_axes },
    { "Squeeze", fold_axes },
    { "Unsqueeze", fold_axes },
    { "Cast", fold_cast },
    { "Add", fold_arithmetic },
    { "Sub", fold_arithmetic },
    { "Mul", fold_arithmetic },
    { "Div", fold_arithmetic },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (g_str_equal (rows[i].op_type, node->op_type))
      return rows[i].read (import, node);
  g_return_val_if_reached (FALSE);
}
