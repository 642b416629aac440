/* SPDX-License-Identifier: MIT */
/* ONNX files, read: initialisers, and of Dyno's own files what save wrote of the weights.
 * Invariants: a message lies inside the one around it, and every length is checked
 * against what is left of that before it is followed; a tensor has as many bytes as its shape says,
 * and stays where it lies in the file. */
#include "onnxfile.h"
#include "checked.h"
#include "onnxfields.h"
#include "safetensors-private.h"
#include "text.h"
#include "wire.h"
#include <string.h>

typedef struct {
  const guint8 *at, *end;
} Message;

typedef struct {
  guint64 field;
  guint type;
  guint64 value; /* DYNO_PROTO_VARINT */
  Message bytes; /* DYNO_PROTO_BYTES */
} Field;

gboolean
dyno_onnx_file_matches (const guint8 *bytes, gsize size)
{
  /* The version of the format, and then a text or a message; as the length of a safetensors header
   * it would be far too large. */
  return size >= 8 && bytes[0] == 0x08 && bytes[1] >= 1 && bytes[1] < 0x40
         && (bytes[2] & 7) == DYNO_PROTO_BYTES && bytes[2] < 0x80
         && (bytes[4] | bytes[5] | bytes[6] | bytes[7]) != 0;
}

static gboolean
corrupt (GError **error, const char *what)
{
  g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT, "it is no whole ONNX file: %s",
               what);
  return FALSE;
}

static gboolean
read_varint (Message *m, guint64 *value)
{
  *value = 0;
  for (guint shift = 0; m->at < m->end && shift < 64; shift += 7)
    {
      guint8 byte = *m->at++;

      *value |= (guint64) (byte & 0x7f) << shift;
      if (!(byte & 0x80))
        return TRUE;
    }
  return FALSE;
}

/* The next field, which is passed.  FALSE at the end, and with the error where there is none. */
static gboolean
next_field (Message *m, Field *f, GError **error)
{
  guint64 key, length = 0;

  if (m->at == m->end)
    return FALSE;
  if (!read_varint (m, &key))
    return corrupt (error, "it ends in the middle of a number");
  f->field = key >> 3;
  f->type = (guint) (key & 7);
  if (f->type == DYNO_PROTO_VARINT)
    return read_varint (m, &f->value) || corrupt (error, "it ends in the middle of a number");
  if (f->type == DYNO_PROTO_BYTES && !read_varint (m, &length))
    return corrupt (error, "it ends in the middle of a number");
  if (f->type != DYNO_PROTO_BYTES && f->type != DYNO_PROTO_FIXED32 && f->type != DYNO_PROTO_FIXED64)
    return corrupt (error, "a field has an unknown type");
  length = f->type == DYNO_PROTO_FIXED32 ? 4 : f->type == DYNO_PROTO_FIXED64 ? 8 : length;
  if (length > (guint64) (m->end - m->at))
    return corrupt (error, "a field is longer than what is around it");
  f->bytes = (Message){ m->at, m->at + length };
  m->at += length;
  return TRUE;
}

/* Dimensions, one to a field or all in one. */
static gboolean
take_dims (DynoSafetensor *tensor, const Field *f, GError **error)
{
  Message all = f->bytes;
  guint64 value = f->value;

  if (f->type != DYNO_PROTO_VARINT && f->type != DYNO_PROTO_BYTES)
    return corrupt (error, "the shape of a tensor is of the wrong type");
  while (f->type == DYNO_PROTO_VARINT || all.at < all.end)
    {
      if (f->type == DYNO_PROTO_BYTES && !read_varint (&all, &value))
        return corrupt (error, "it ends in the middle of a number");
      if (tensor->n_dims == DYNO_SAFETENSORS_MAX_DIMS)
        return corrupt (error, "a tensor has too many dimensions");
      tensor->shape[tensor->n_dims++] = value;
      if (f->type == DYNO_PROTO_VARINT)
        break;
    }
  return TRUE;
}

/* FALSE: weights are never of this one. */
static gboolean
find_type (guint64 onnx, DynoTensorType *type)
{
  static const struct {
    guint onnx;
    DynoTensorType type;
  } rows[] = { { DYNO_ONNX_FLOAT, DYNO_TENSOR_F32 },
               { DYNO_ONNX_INT64, DYNO_TENSOR_I64 },
               { DYNO_ONNX_FLOAT16, DYNO_TENSOR_F16 },
               { DYNO_ONNX_DOUBLE, DYNO_TENSOR_F64 },
               { DYNO_ONNX_BFLOAT16, DYNO_TENSOR_BF16 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (rows[i].onnx == onnx)
      {
        *type = rows[i].type;
        return TRUE;
      }
  return FALSE;
}

static gboolean
add_tensor (DynoSafetensors *file, DynoSafetensor *tensor, const char *name, gboolean has_data,
            GError **error)
{
  guint64 bytes = dyno_tensor_type_get_bytes (tensor->type);

  if (!g_utf8_validate (name, -1, NULL))
    return corrupt (error, "a tensor's name is no text");
  if (!has_data)
    {
      g_set_error (
          error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED,
          "the values of tensor “%s” are not in it as a whole; save the model in one file, "
          "with raw data",
          name);
      return FALSE;
    }
  for (guint i = 0; i < tensor->n_dims; i++)
    if (!dyno_size_mul (bytes, tensor->shape[i], &bytes))
      return corrupt (error, "a tensor is too large");
  if (bytes != tensor->size_bytes)
    {
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT,
                   "tensor “%s” has %" G_GSIZE_FORMAT " %s, its shape asks for %" G_GUINT64_FORMAT,
                   name, tensor->size_bytes, dyno_plural (tensor->size_bytes, "byte", "bytes"),
                   bytes);
      return FALSE;
    }
  return dyno_safetensors_add (file, tensor, name, error);
}

static gboolean
take_tensor (DynoSafetensors *file, Message m, GError **error)
{
  DynoSafetensor tensor = { 0 };
  g_autofree char *name = NULL;
  gboolean has_data = FALSE, external = FALSE;
  guint64 type = 0;
  GError *problem = NULL;
  Field f = { 0 };

  while (next_field (&m, &f, &problem))
    {
      if (f.field == DYNO_ONNX_TENSOR_DIMS && !take_dims (&tensor, &f, error))
        return FALSE;
      if (f.field == DYNO_ONNX_TENSOR_TYPE && f.type == DYNO_PROTO_VARINT)
        type = f.value;
      if (f.field == DYNO_ONNX_TENSOR_LOCATION && f.type == DYNO_PROTO_VARINT)
        external = f.value != 0;
      if (f.type != DYNO_PROTO_BYTES)
        continue;
      if (f.field == DYNO_ONNX_TENSOR_NAME)
        {
          g_free (name);
          name = g_strndup ((const char *) f.bytes.at, (gsize) (f.bytes.end - f.bytes.at));
        }
      if (f.field == DYNO_ONNX_TENSOR_RAW
          || (f.field == DYNO_ONNX_TENSOR_FLOATS && type == DYNO_ONNX_FLOAT))
        {
          tensor.data = f.bytes.at;
          tensor.size_bytes = (gsize) (f.bytes.end - f.bytes.at);
          has_data = TRUE;
        }
    }
  if (problem)
    {
      g_propagate_error (error, problem);
      return FALSE;
    }
  if (!name || !*name || !find_type (type, &tensor.type))
    return TRUE;
  if (tensor.type == DYNO_TENSOR_I64 && !has_data)
    return TRUE; /* a shape or an axis, in a field of its own */
  return add_tensor (file, &tensor, name, has_data && !external, error);
}

static gboolean
take_graph (DynoSafetensors *file, Message m, GError **error)
{
  GError *problem = NULL;
  Field f = { 0 };

  while (next_field (&m, &f, &problem))
    if (f.field == DYNO_ONNX_GRAPH_INITIALIZER && f.type == DYNO_PROTO_BYTES
        && !take_tensor (file, f.bytes, error))
      return FALSE;
  if (problem)
    g_propagate_error (error, problem);
  return !problem;
}

static void
take_text (const Message *bytes, char **text)
{
  g_free (*text);
  *text = g_strndup ((const char *) bytes->at, (gsize) (bytes->end - bytes->at));
}

/* A pair of strings of metadata_props. */
static gboolean
take_pair (DynoSafetensors *file, Message m, GError **error)
{
  g_autofree char *key = NULL, *value = NULL;
  GError *problem = NULL;
  Field f = { 0 };

  while (next_field (&m, &f, &problem))
    if (f.type == DYNO_PROTO_BYTES && f.field == DYNO_ONNX_PAIR_KEY)
      take_text (&f.bytes, &key);
    else if (f.type == DYNO_PROTO_BYTES && f.field == DYNO_ONNX_PAIR_VALUE)
      take_text (&f.bytes, &value);
  if (problem)
    {
      g_propagate_error (error, problem);
      return FALSE;
    }
  if (!key || !value)
    return TRUE;
  if (!g_utf8_validate (key, -1, NULL) || !g_utf8_validate (value, -1, NULL))
    return corrupt (error, "its metadata is no text");
  g_hash_table_insert (file->metadata, g_steal_pointer (&key), g_steal_pointer (&value));
  return TRUE;
}

/* The metadata of other producers means something else under the same keys: it is passed over. */
static gboolean
take_model (DynoSafetensors *file, Message m, GError **error)
{
  g_autofree char *producer = NULL;
  GError *problem = NULL;
  Field f = { 0 };

  while (next_field (&m, &f, &problem))
    {
      if (f.type != DYNO_PROTO_BYTES)
        continue;
      if (f.field == DYNO_ONNX_MODEL_PRODUCER)
        take_text (&f.bytes, &producer);
      if ((f.field == DYNO_ONNX_MODEL_GRAPH && !take_graph (file, f.bytes, error))
          || (f.field == DYNO_ONNX_MODEL_METADATA && !take_pair (file, f.bytes, error)))
        return FALSE;
    }
  if (problem)
    g_propagate_error (error, problem);
  if (g_strcmp0 (producer, "Dyno") != 0)
    g_hash_table_remove_all (file->metadata);
  return !problem;
}

DynoSafetensors *
dyno_onnx_file_parse (guint8 *bytes, gsize size, GError **error)
{
  g_autoptr (DynoSafetensors) file = dyno_safetensors_new (bytes);
  Message whole = { bytes, size > 0 ? bytes + size : bytes }; /* bytes of an empty file are NULL */

  if (!take_model (file, whole, error))
    return NULL;
  if (dyno_safetensors_get_count (file) == 0)
    {
      corrupt (error, "it has no initialisers, which weights are");
      return NULL;
    }
  return g_steal_pointer (&file);
}
