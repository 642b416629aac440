/* SPDX-License-Identifier: MIT */
#include "constant.h"
#include "half.h"
#include <math.h>
#include <string.h>

DynoConstant *
dyno_constant_new (gboolean is_int, const gint64 *dims, guint n_dims)
{
  DynoConstant *constant;
  gboolean is_empty = FALSE;
  gint64 count = 1;

  if (n_dims > DYNO_CONSTANT_MAX_DIMS)
    return NULL;
  for (guint i = 0; i < n_dims; i++)
    {
      /* If one axis is 0, the product of the other axes is bounded too: strides are products of
       * them. */
      if (dims[i] < 0 || dims[i] > DYNO_CONSTANT_MAX_COUNT
          || (count *= MAX (1, dims[i])) > DYNO_CONSTANT_MAX_COUNT)
        return NULL;
      is_empty |= dims[i] == 0;
    }
  constant = g_new0 (DynoConstant, 1);
  constant->n_refs = 1;
  constant->n_dims = n_dims;
  for (guint i = 0; i < n_dims; i++)
    constant->dims[i] = dims[i];
  constant->count = is_empty ? 0 : (guint) count;
  constant->is_int = is_int;
  if (is_int)
    constant->ints = g_new0 (gint64, MAX (1, constant->count));
  else
    constant->floats = g_new0 (double, MAX (1, constant->count));
  return constant;
}

DynoConstant *
dyno_constant_new_like (const DynoConstant *like, const gint64 *dims, guint n_dims)
{
  DynoConstant *constant = dyno_constant_new (like->is_int, dims, n_dims);

  if (constant)
    constant->is_double = like->is_double;
  return constant;
}

void
dyno_constant_free (DynoConstant *constant)
{
  if (!constant || --constant->n_refs > 0)
    return;
  g_free (constant->ints);
  g_free (constant->floats);
  g_free (constant);
}

DynoConstant *
dyno_constant_ref (DynoConstant *constant)
{
  constant->n_refs++;
  return constant;
}

double
dyno_constant_float (const DynoConstant *constant, guint i)
{
  return constant->is_int ? (double) constant->ints[i] : constant->floats[i];
}

gint64
dyno_constant_int (const DynoConstant *constant, guint i)
{
  if (constant->is_int)
    return constant->ints[i];
  double value = constant->floats[i];
  return isnan (value) ? 0 : (gint64) CLAMP (value, -0x1p62, 0x1p62);
}

void
dyno_constant_set_float (DynoConstant *to, guint at, double value)
{
  to->floats[at] = to->is_double ? value : (double) (float) value;
}

void
dyno_constant_set (DynoConstant *to, guint at, const DynoConstant *from, guint i)
{
  if (to->is_int)
    to->ints[at] = dyno_constant_int (from, i);
  else
    dyno_constant_set_float (to, at, dyno_constant_float (from, i));
}

gboolean
dyno_constant_is_uniform (const DynoConstant *constant, double *number)
{
  if (constant->count == 0)
    return FALSE;
  *number = dyno_constant_float (constant, 0);
  for (guint i = 1; i < constant->count; i++)
    if (dyno_constant_float (constant, i) != *number)
      return FALSE;
  return TRUE;
}

#define READ(Type)                            \
  do                                          \
    {                                         \
      Type value;                             \
      memcpy (&value, at, sizeof value);      \
      if (constant->is_int)                   \
        constant->ints[i] = (gint64) value;   \
      else                                    \
        constant->floats[i] = (double) value; \
    }                                         \
  while (0)

static void
read_element (DynoConstant *constant, guint i, guint type, const guint8 *at)
{
  guint16 bits;

  switch (type)
    {
    case DYNO_ONNX_FLOAT:
      READ (float);
      break;
    case DYNO_ONNX_DOUBLE:
      READ (double);
      break;
    case DYNO_ONNX_FLOAT16:
      memcpy (&bits, at, sizeof bits);
      constant->floats[i] = (double) dyno_half_to_float (bits);
      break;
    case DYNO_ONNX_BFLOAT16:
      {
        guint32 wide;
        float value;
        memcpy (&bits, at, sizeof bits);
        wide = (guint32) bits << 16;
        memcpy (&value, &wide, sizeof value);
        constant->floats[i] = (double) value;
        break;
      }
    case DYNO_ONNX_UINT8:
    case DYNO_ONNX_BOOL:
      READ (guint8);
      break;
    case DYNO_ONNX_INT8:
      READ (gint8);
      break;
    case DYNO_ONNX_UINT16:
      READ (guint16);
      break;
    case DYNO_ONNX_INT16:
      READ (gint16);
      break;
    case DYNO_ONNX_INT32:
      READ (gint32);
      break;
    case DYNO_ONNX_UINT32:
      READ (guint32);
      break;
    case DYNO_ONNX_INT64:
    case DYNO_ONNX_UINT64:
    default:
      READ (gint64);
      break;
    }
}

DynoConstant *
dyno_constant_read (const DynoOnnxModel *model, const DynoOnnxTensor *tensor)
{
  gint64 dims[DYNO_CONSTANT_MAX_DIMS];
  gsize bytes = dyno_onnx_type_get_bytes (tensor->type);
  g_autoptr (DynoConstant) constant = NULL;
  g_autoptr (GBytes) values = NULL;

  if (tensor->n_dims > G_N_ELEMENTS (dims) || bytes == 0)
    return NULL;
  for (guint i = 0; i < tensor->n_dims; i++)
    dims[i] = (gint64) tensor->dims[i];
  constant = dyno_constant_new (!dyno_onnx_type_is_float (tensor->type), dims, tensor->n_dims);
  if (constant)
    constant->is_double = tensor->type == DYNO_ONNX_DOUBLE;
  values = constant ? dyno_onnx_tensor_read (model, tensor, NULL) : NULL;
  if (!values || g_bytes_get_size (values) != constant->count * bytes)
    return NULL;
  for (guint i = 0; i < constant->count; i++)
    read_element (constant, i, tensor->type,
                  (const guint8 *) g_bytes_get_data (values, NULL) + i * bytes);
  return g_steal_pointer (&constant);
}
