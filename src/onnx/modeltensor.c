/* SPDX-License-Identifier: MIT */
/* Tensors of a model: where their values are, whether these fit the shape, and the values as dense
 * bytes.
 * Invariant: nothing is allocated for values before their bytes in a file are known to be as many
 * as the shape asks for, so a shape of a few bytes costs no memory. */
#include "checked.h"
#include "model-private.h"
#include "text.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>

typedef struct {
  guint type;
  const char *name;
  guint bytes;
  guint field, wire; /* the list of numbers that may hold the values */
  /* the range of the values, where the list's type has a larger one; both 0: it has the same */
  gint64 min, max;
} ElementType;

static const ElementType types[] = {
  { DYNO_ONNX_FLOAT, "float32", 4, DYNO_ONNX_TENSOR_FLOATS, DYNO_PROTO_FIXED32, 0, 0 },
  { DYNO_ONNX_UINT8, "uint8", 1, DYNO_ONNX_TENSOR_INT32S, DYNO_PROTO_VARINT, 0, G_MAXUINT8 },
  { DYNO_ONNX_INT8, "int8", 1, DYNO_ONNX_TENSOR_INT32S, DYNO_PROTO_VARINT, G_MININT8, G_MAXINT8 },
  { DYNO_ONNX_UINT16, "uint16", 2, DYNO_ONNX_TENSOR_INT32S, DYNO_PROTO_VARINT, 0, G_MAXUINT16 },
  { DYNO_ONNX_INT16, "int16", 2, DYNO_ONNX_TENSOR_INT32S, DYNO_PROTO_VARINT, G_MININT16,
    G_MAXINT16 },
  { DYNO_ONNX_INT32, "int32", 4, DYNO_ONNX_TENSOR_INT32S, DYNO_PROTO_VARINT, G_MININT32,
    G_MAXINT32 },
  { DYNO_ONNX_INT64, "int64", 8, DYNO_ONNX_TENSOR_INT64S, DYNO_PROTO_VARINT, 0, 0 },
  { DYNO_ONNX_BOOL, "bool", 1, DYNO_ONNX_TENSOR_INT32S, DYNO_PROTO_VARINT, 0, 1 },
  { DYNO_ONNX_FLOAT16, "float16", 2, DYNO_ONNX_TENSOR_INT32S, DYNO_PROTO_VARINT, 0, G_MAXUINT16 },
  { DYNO_ONNX_DOUBLE, "float64", 8, DYNO_ONNX_TENSOR_DOUBLES, DYNO_PROTO_FIXED64, 0, 0 },
  { DYNO_ONNX_UINT32, "uint32", 4, DYNO_ONNX_TENSOR_UINT64S, DYNO_PROTO_VARINT, 0, G_MAXUINT32 },
  { DYNO_ONNX_UINT64, "uint64", 8, DYNO_ONNX_TENSOR_UINT64S, DYNO_PROTO_VARINT, 0, 0 },
  { DYNO_ONNX_BFLOAT16, "bfloat16", 2, DYNO_ONNX_TENSOR_INT32S, DYNO_PROTO_VARINT, 0, G_MAXUINT16 },
};

static const ElementType *
find_type (guint type)
{
  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    if (types[i].type == type)
      return &types[i];
  return NULL;
}

const char *
dyno_onnx_type_get_name (guint type)
{
  const ElementType *found = find_type (type);

  return found ? found->name : NULL;
}

gsize
dyno_onnx_type_get_bytes (guint type)
{
  const ElementType *found = find_type (type);

  return found ? found->bytes : 0;
}

gboolean
dyno_onnx_type_is_float (guint type)
{
  return type == DYNO_ONNX_FLOAT || type == DYNO_ONNX_DOUBLE || type == DYNO_ONNX_FLOAT16
         || type == DYNO_ONNX_BFLOAT16;
}

gboolean
dyno_onnx_tensor_get_size (const DynoOnnxTensor *tensor, guint64 *n_elements, guint64 *size_bytes)
{
  const ElementType *type = find_type (tensor->type);
  guint64 n = 1;

  for (guint i = 0; i < tensor->n_dims; i++)
    if (!dyno_size_mul (n, tensor->dims[i], &n))
      return FALSE;
  if (!type || !dyno_size_mul (n, type->bytes, size_bytes))
    return FALSE;
  *n_elements = n;
  return TRUE;
}

/* --- from the file ---------------------------------------------------------------------------- */

static gboolean
take_dims (DynoOnnxTensor *tensor, const DynoProtoReader *message, const DynoProtoField *f,
           GError **error)
{
  DynoProtoReader numbers;

  if (!dyno_proto_enter_numbers (message, f, DYNO_PROTO_VARINT, &numbers, error))
    return FALSE;
  while (dyno_proto_has_more (&numbers))
    {
      guint64 dim = 0;

      if (!dyno_proto_next_number (&numbers, DYNO_PROTO_VARINT, &dim, error))
        return FALSE;
      if (tensor->n_dims == DYNO_ONNX_MAX_DIMS)
        return dyno_onnx_fail (error, DYNO_ONNX_ERROR_LIMIT, "tensor “%s” has more than %u axes",
                               tensor->name, DYNO_ONNX_MAX_DIMS);
      if (dim > G_MAXINT64)
        return dyno_proto_corrupt (&numbers, "the shape of a tensor is negative", error);
      tensor->dims[tensor->n_dims++] = dim;
    }
  return TRUE;
}

static gboolean
parse_size (const char *text, gint64 *value)
{
  guint64 number = 0;

  if (!g_ascii_string_to_unsigned (text, 10, 0, G_MAXINT64, &number, NULL))
    return FALSE;
  *value = (gint64) number;
  return TRUE;
}

/* Reads an entry of external_data; unknown keys (checksum) are ignored. */
static gboolean
take_external (DynoOnnxStore *store, DynoOnnxTensor *tensor, const DynoProtoReader *message,
               const DynoProtoField *f, GError **error)
{
  const char *key = "", *value = "";
  DynoProtoReader pair;
  DynoProtoField part;
  gint64 number = 0;

  if (!dyno_proto_enter (message, f, "the place of a tensor's values", &pair, error))
    return FALSE;
  while (dyno_proto_has_more (&pair))
    if (!dyno_proto_next (&pair, &part, error)
        || (part.number == DYNO_ONNX_PAIR_KEY
            && !dyno_onnx_take_text (store, &pair, &part, &key, error))
        || (part.number == DYNO_ONNX_PAIR_VALUE
            && !dyno_onnx_take_text (store, &pair, &part, &value, error)))
      return FALSE;
  if (g_str_equal (key, "location"))
    tensor->location = value;
  if (!g_str_equal (key, "offset") && !g_str_equal (key, "length"))
    return TRUE;
  if (!parse_size (value, &number))
    return dyno_onnx_fail (error, DYNO_ONNX_ERROR_CORRUPT,
                           "the %s of the values of tensor “%s” is “%s”, which is no size", key,
                           tensor->name, value);
  if (g_str_equal (key, "offset"))
    tensor->offset = (guint64) number;
  else
    tensor->length = number;
  return TRUE;
}

static gboolean
is_list (guint number)
{
  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    if (types[i].field == number)
      return TRUE;
  return FALSE;
}

/* The name is read first, since errors of the other fields contain it. */
static gboolean
take_name (DynoOnnxStore *store, DynoProtoReader message, DynoOnnxTensor *tensor, GError **error)
{
  DynoProtoField f;

  while (dyno_proto_has_more (&message))
    if (!dyno_proto_next (&message, &f, error)
        || (f.number == DYNO_ONNX_TENSOR_NAME
            && !dyno_onnx_take_text (store, &message, &f, &tensor->name, error)))
      return FALSE;
  return TRUE;
}

gboolean
dyno_onnx_take_tensor (DynoOnnxStore *store, DynoProtoReader message, DynoOnnxTensor *tensor,
                       GError **error)
{
  gboolean raw = FALSE, list = FALSE, segment = FALSE;
  DynoProtoReader whole = message, values;
  guint64 type = 0, location = 0;
  DynoProtoField f;

  *tensor = (DynoOnnxTensor){ .name = "", .location = "", .length = -1 };
  if (!take_name (store, message, tensor, error))
    return FALSE;
  while (dyno_proto_has_more (&message))
    {
      if (!dyno_proto_next (&message, &f, error)
          || (f.number == DYNO_ONNX_TENSOR_DIMS && !take_dims (tensor, &message, &f, error))
          || (f.number == DYNO_ONNX_TENSOR_TYPE
              && !dyno_proto_take_uint (&message, &f, &type, error))
          || (f.number == DYNO_ONNX_TENSOR_LOCATION
              && !dyno_proto_take_uint (&message, &f, &location, error))
          || (f.number == DYNO_ONNX_TENSOR_EXTERNAL
              && !take_external (store, tensor, &message, &f, error)))
        return FALSE;
      segment |= f.number == DYNO_ONNX_TENSOR_SEGMENT;
      list |= is_list (f.number) && f.size > 0;
      if (f.number != DYNO_ONNX_TENSOR_RAW)
        continue;
      if (!dyno_proto_enter (&message, &f, "the values of a tensor", &values, error))
        return FALSE;
      raw = TRUE;
      tensor->data = f.data;
      tensor->data_bytes = f.size;
    }
  tensor->type = (guint) MIN (type, G_MAXUINT);
  if (raw && list && tensor->data_bytes > 0)
    return dyno_onnx_fail (error, DYNO_ONNX_ERROR_CORRUPT, "tensor “%s” has its values twice",
                           tensor->name);
  if (segment)
    return dyno_onnx_fail (error, DYNO_ONNX_ERROR_UNSUPPORTED,
                           "tensor “%s” is in segments, which are not read", tensor->name);
  if (location > 1)
    return dyno_onnx_fail (error, DYNO_ONNX_ERROR_UNSUPPORTED,
                           "the values of tensor “%s” are at an unknown place", tensor->name);
  tensor->storage = location == 1 ? DYNO_ONNX_DATA_EXTERNAL
                    : list        ? DYNO_ONNX_DATA_TYPED
                    : raw         ? DYNO_ONNX_DATA_RAW
                                  : DYNO_ONNX_DATA_NONE;
  if (tensor->storage == DYNO_ONNX_DATA_TYPED)
    {
      tensor->data = whole.at;
      tensor->data_bytes = (gsize) (whole.end - whole.at);
    }
  return TRUE;
}

/* --- values ----------------------------------------------------------------------------------- */

static gboolean
refuse_size (const char *where, guint64 has, guint64 wants, const char *one, const char *many,
             GError **error)
{
  return dyno_onnx_fail (error, DYNO_ONNX_ERROR_CORRUPT,
                         "%s has %" G_GUINT64_FORMAT " %s, its shape asks for %" G_GUINT64_FORMAT,
                         where, has, dyno_plural (has, one, many), wants);
}

/* FALSE: the number of a list is out of the type's range. */
static gboolean
check_number (const ElementType *type, guint64 bits)
{
  gint64 value = (gint64) bits;

  return type->min == type->max || (value >= type->min && value <= type->max);
}

/* Writes the numbers of a list to `to`, or with NULL only checks them.  `to` has room for n. */
static gboolean
convert (const DynoOnnxTensor *tensor, const char *where, const ElementType *type, guint64 n,
         guint8 *to, GError **error)
{
  DynoProtoReader message, numbers;
  guint64 done = 0, bits = 0;
  DynoProtoField f;

  dyno_proto_begin (&message, tensor->data, tensor->data_bytes, where);
  while (dyno_proto_has_more (&message))
    {
      if (!dyno_proto_next (&message, &f, error))
        return FALSE;
      if (!is_list (f.number) || f.size == 0)
        continue;
      if (f.number != type->field)
        return dyno_onnx_fail (error, DYNO_ONNX_ERROR_CORRUPT,
                               "%s is of %s, its values are in a list of another type", where,
                               type->name);
      if (!dyno_proto_enter_numbers (&message, &f, type->wire, &numbers, error))
        return FALSE;
      for (; dyno_proto_has_more (&numbers); done++)
        {
          if (!dyno_proto_next_number (&numbers, type->wire, &bits, error))
            return FALSE;
          if (done < n && !check_number (type, bits))
            return dyno_onnx_fail (error, DYNO_ONNX_ERROR_CORRUPT,
                                   "value %" G_GUINT64_FORMAT " of %s does not fit %s", done, where,
                                   type->name);
          for (guint b = 0; to && done < n && b < type->bytes; b++)
            *to++ = (guint8) (bits >> (8 * b));
        }
    }
  return done == n || refuse_size (where, done, n, "value", "values", error);
}

gboolean
dyno_onnx_check_tensor (DynoOnnxStore *store, const DynoOnnxTensor *tensor, const char *where,
                        GError **error)
{
  const ElementType *type = find_type (tensor->type);
  guint64 n = 0, size = 0;
  int fd;

  if (!type)
    return dyno_onnx_fail (error, DYNO_ONNX_ERROR_UNSUPPORTED,
                           "%s is of ONNX's element type %u, which is not read", where,
                           tensor->type);
  if (!dyno_onnx_tensor_get_size (tensor, &n, &size) || size > DYNO_ONNX_MAX_DATA)
    return dyno_onnx_fail (error, DYNO_ONNX_ERROR_LIMIT, "%s is too large", where);
  switch (tensor->storage)
    {
    case DYNO_ONNX_DATA_NONE:
      return size == 0 || refuse_size (where, 0, size, "byte", "bytes", error);
    case DYNO_ONNX_DATA_BLOCKS: /* its shape follows from that of the source, which was checked */
      return TRUE;
    case DYNO_ONNX_DATA_MADE:
    case DYNO_ONNX_DATA_RAW:
      return size == tensor->data_bytes
             || refuse_size (where, tensor->data_bytes, size, "byte", "bytes", error);
    case DYNO_ONNX_DATA_TYPED:
      return convert (tensor, where, type, n, NULL, error);
    case DYNO_ONNX_DATA_EXTERNAL:
    default:
      fd = dyno_onnx_external_open (store->folder, tensor, size, error);
      if (fd >= 0)
        close (fd);
      return fd >= 0;
    }
}

static gboolean
read_external (DynoOnnxStore *store, const DynoOnnxTensor *tensor, guint8 *to, gsize size,
               GError **error)
{
  int fd = dyno_onnx_external_open (store->folder, tensor, size, error);
  gboolean ok = fd >= 0 && dyno_onnx_read_range (fd, to, size, tensor->offset);
  int code = errno;

  if (fd < 0)
    return FALSE;
  close (fd);
  if (!ok)
    dyno_onnx_fail (error, DYNO_ONNX_ERROR_IO, "the file “%s” with tensor “%s”: %s",
                    tensor->location, tensor->name, code ? g_strerror (code) : "it was cut");
  return ok;
}

/* Copies the blocks of a tensor, `size` bytes, from its source. */
static gboolean
read_blocks (const DynoOnnxModel *model, const DynoOnnxTensor *tensor, guint8 *to, gsize size,
             GError **error)
{
  g_autoptr (GBytes) values = dyno_onnx_tensor_read (model, tensor->source, error);
  gsize block = size / tensor->n_blocks, whole;

  if (!values)
    return FALSE;
  const guint8 *from = g_bytes_get_data (values, &whole);
  g_return_val_if_fail (whole == block * tensor->source_blocks, FALSE);
  for (guint i = 0; i < tensor->n_blocks; i++)
    memcpy (to + i * block, from + tensor->blocks[i] * block, block);
  return TRUE;
}

static gboolean
read_values (const DynoOnnxModel *model, const DynoOnnxTensor *tensor, const char *where, guint64 n,
             guint8 *to, gsize size, GError **error)
{
  switch (tensor->storage)
    {
    case DYNO_ONNX_DATA_BLOCKS:
      return read_blocks (model, tensor, to, size, error);
    case DYNO_ONNX_DATA_MADE:
      memcpy (to, tensor->data, size);
      return TRUE;
    case DYNO_ONNX_DATA_TYPED:
      return convert (tensor, where, find_type (tensor->type), n, to, error);
    default:
      return read_external ((DynoOnnxStore *) model, tensor, to, size, error);
    }
}

GBytes *
dyno_onnx_tensor_read (const DynoOnnxModel *model, const DynoOnnxTensor *tensor, GError **error)
{
  DynoOnnxStore *store = (DynoOnnxStore *) model; /* the store is not changed */
  g_autofree char *where = g_strdup_printf ("tensor “%s”", tensor->name);
  g_autofree guint8 *values = NULL;
  guint64 n = 0, size = 0;

  if (!dyno_onnx_check_tensor (store, tensor, where, error))
    return NULL;
  dyno_onnx_tensor_get_size (tensor, &n, &size);
  if (size == 0)
    return g_bytes_new (NULL, 0);
  if (tensor->storage == DYNO_ONNX_DATA_RAW)
    return g_bytes_new_from_bytes (
        store->bytes,
        (gsize) (tensor->data - (const guint8 *) g_bytes_get_data (store->bytes, NULL)), size);
  values = g_try_malloc (size);
  if (!values)
    {
      dyno_onnx_fail (error, DYNO_ONNX_ERROR_LIMIT, "memory is short for %s", where);
      return NULL;
    }
  if (!read_values (model, tensor, where, n, values, size, error))
    return NULL;
  return g_bytes_new_take (g_steal_pointer (&values), size);
}
