/* SPDX-License-Identifier: MIT */
/* Folding of operators that make numbers from a shape or a range, or convert them to another
 * type. */
#include "fold-private.h"
#include <math.h>

/* Constant, from any of its attributes. */
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
    return dyno_import_refuse (import, node, "its value is a string, or has more than %u numbers",
                               DYNO_CONSTANT_MAX_COUNT);
  if (!dyno_import_count_numbers (import, node, constant->count))
    {
      dyno_constant_free (constant);
      return FALSE;
    }
  return dyno_import_output_constant (import, node, constant);
}

gboolean
dyno_fold_constant_of_shape (DynoImport *import, const DynoOnnxNode *node)
{
  const DynoConstant *shape = dyno_fold_known (import, node, 0);
  const DynoOnnxAttribute *a = dyno_onnx_node_find_attribute (node, "value");
  g_autoptr (DynoConstant) value = a && a->t ? dyno_constant_read (import->model, a->t) : NULL;
  gint64 dims[DYNO_CONSTANT_MAX_DIMS];

  if (!shape || !dyno_fold_take_dims (import, node, shape, dims))
    return FALSE;
  if (a && (!value || value->count != 1))
    return dyno_import_refuse (import, node, "its value is not one number");
  DynoConstant *filled = dyno_fold_make (import, node, value && value->is_int, dims, shape->count);
  if (!filled)
    return FALSE;
  filled->is_double = value && value->is_double;
  for (guint i = 0; value && i < filled->count; i++)
    dyno_constant_set (filled, i, value, 0);
  return dyno_import_output_constant (import, node, filled);
}

/* The count of the numbers of a range; FALSE: the step is 0 or not a number, or there are too
 * many. */
static gboolean
count_range (const DynoConstant *const *inputs, gboolean is_int, gint64 *count)
{
  double start = dyno_constant_float (inputs[0], 0), limit = dyno_constant_float (inputs[1], 0),
         step = dyno_constant_float (inputs[2], 0), n = ceil ((limit - start) / step);

  if (is_int)
    {
      gint64 span, by = dyno_constant_int (inputs[2], 0);
      if (by == 0 || by == G_MININT64
          || __builtin_sub_overflow (dyno_constant_int (inputs[1], 0),
                                     dyno_constant_int (inputs[0], 0), &span)
          || span == G_MININT64)
        return FALSE;
      span = by < 0 ? -span : span;
      by = ABS (by);
      *count = span > 0 ? (span - 1) / by + 1 : 0;
      return TRUE;
    }
  if (!(step < 0 || step > 0) || !(n < 0x1p62))
    return FALSE;
  *count = (gint64) MAX (0, n);
  return TRUE;
}

gboolean
dyno_fold_range (DynoImport *import, const DynoOnnxNode *node)
{
  const DynoConstant *inputs[3];
  gboolean is_int = TRUE;
  gint64 count;

  for (guint i = 0; i < 3; i++)
    {
      if (!(inputs[i] = dyno_fold_known (import, node, i)))
        return FALSE;
      if (inputs[i]->count != 1)
        return dyno_import_refuse (import, node, "its input %u is not one number", i);
      is_int &= inputs[i]->is_int;
    }
  if (!count_range (inputs, is_int, &count))
    return dyno_fold_overflows (import, node, NULL);
  DynoConstant *made = dyno_fold_make (import, node, is_int, &count, 1);
  if (!made)
    return FALSE;
  made->is_double = inputs[0]->is_double;
  for (guint i = 0; i < made->count; i++)
    if (is_int)
      made->ints[i] = inputs[0]->ints[0] + (gint64) i * inputs[2]->ints[0];
    else
      dyno_constant_set_float (
          made, i, dyno_constant_float (inputs[0], 0) + i * dyno_constant_float (inputs[2], 0));
  return dyno_import_output_constant (import, node, made);
}

/* --- types ------------------------------------------------------------------------------------ */

/* The smallest and the largest value of an integer type. */
static void
find_limits (gint64 type, gint64 *least, gint64 *most)
{
  static const struct {
    guint type;
    gint64 least, most;
  } rows[] = {
    { DYNO_ONNX_INT8, G_MININT8, G_MAXINT8 },    { DYNO_ONNX_UINT8, 0, G_MAXUINT8 },
    { DYNO_ONNX_INT16, G_MININT16, G_MAXINT16 }, { DYNO_ONNX_UINT16, 0, G_MAXUINT16 },
    { DYNO_ONNX_INT32, G_MININT32, G_MAXINT32 }, { DYNO_ONNX_UINT32, 0, G_MAXUINT32 },
  };

  *least = G_MININT64;
  *most = G_MAXINT64;
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (rows[i].type == type)
      {
        *least = rows[i].least;
        *most = rows[i].most;
      }
}

static gboolean
cast (DynoImport *import, const DynoOnnxNode *node, const DynoConstant *data, gint64 type)
{
  gboolean is_float = type > 0 && type <= G_MAXINT && dyno_onnx_type_is_float ((guint) type);
  DynoConstant *made = dyno_fold_make (import, node, !is_float, data->dims, data->n_dims);
  gint64 least, most;

  if (!made)
    return FALSE;
  made->is_double = type == DYNO_ONNX_DOUBLE;
  find_limits (type, &least, &most);
  for (guint i = 0; i < data->count; i++)
    {
      dyno_constant_set (made, i, data, i);
      if (type == DYNO_ONNX_BOOL)
        made->ints[i] = dyno_constant_float (data, i) != 0;
      else if (made->is_int
               && (made->ints[i] < least || made->ints[i] > most
                   || (!data->is_int && !(fabs (data->floats[i]) < 0x1p62))))
        return dyno_fold_overflows (import, node, made);
    }
  return dyno_import_output_constant (import, node, made);
}

gboolean
dyno_fold_cast (DynoImport *import, const DynoOnnxNode *node)
{
  const DynoConstant *data = dyno_fold_known (import, node, 0);

  return data && cast (import, node, data, dyno_import_int (node, "to", DYNO_ONNX_FLOAT));
}

/* The type is the type of input 1; tensors and parameters count as floats. */
gboolean
dyno_fold_cast_like (DynoImport *import, const DynoOnnxNode *node)
{
  const DynoConstant *data = dyno_fold_known (import, node, 0);
  const DynoImportValue *like = dyno_import_input (import, node, 1);

  if (!data)
    return FALSE;
  if (!like)
    return dyno_import_refuse (import, node, "its input 1 is missing");
  gint64 type = like->tensor || !like->constant ? DYNO_ONNX_FLOAT
                : like->constant->is_int        ? DYNO_ONNX_INT64
                : like->constant->is_double     ? DYNO_ONNX_DOUBLE
                                                : DYNO_ONNX_FLOAT;
  return cast (import, node, data, type);
}

/* Input 0 with the numbers below diagonal k set to zero; with `upper` 0, the numbers above it. */
gboolean
dyno_fold_trilu (DynoImport *import, const DynoOnnxNode *node)
{
  const DynoConstant *data = dyno_fold_known (import, node, 0), *list;
  gboolean upper = dyno_import_int (node, "upper", 1) != 0;

  if (!data || !dyno_fold_optional (import, node, 1, NULL, &list))
    return FALSE;
  if (data->n_dims < 2 || (list && list->count != 1))
    return dyno_fold_refuse_dims (import, node);
  gint64 width = data->dims[data->n_dims - 1], height = data->dims[data->n_dims - 2],
         k = list ? CLAMP (dyno_constant_int (list, 0), -height, width) : 0;
  DynoConstant *made = dyno_fold_new_like (import, node, data, data->dims, data->n_dims);
  if (!made)
    return FALSE;
  for (guint i = 0; i < data->count; i++)
    {
      gint64 column = i % width, row = i / width % height;
      if (upper ? column >= row + k : column <= row + k)
        dyno_constant_set (made, i, data, i);
    }
  return dyno_import_output_constant (import, node, made);
}
