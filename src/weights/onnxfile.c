/* SPDX-License-Identifier: MIT */
/* Reads ONNX files: initialisers, and the metadata of Dyno's own files.  Invariants: a tensor has
 * as many bytes as its shape requires, and its values stay in the file's bytes, unless they are a
 * list of numbers or are in another file. */
#include "onnxfile.h"
#include "model.h"
#include "safetensors-private.h"
#include "wire.h"

gboolean
dyno_onnx_file_matches (const guint8 *bytes, gsize size)
{
  /* The version of the format, followed by a text or a message; read as the length of a safetensors
   * header it would be far too large. */
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

/* Converts an error of the ONNX layer to one of a weights file; takes problem.  Returns FALSE. */
static gboolean
translate (GError **error, GError *problem)
{
  g_autoptr (GError) own = problem;

  if (own->code == DYNO_ONNX_ERROR_CORRUPT)
    return corrupt (error, own->message);
  g_set_error_literal (error, DYNO_DATA_ERROR,
                       own->code == DYNO_ONNX_ERROR_LIMIT ? DYNO_DATA_ERROR_TOO_LARGE
                                                          : DYNO_DATA_ERROR_UNSUPPORTED,
                       own->message);
  return FALSE;
}

/* FALSE: weights never have this type. */
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
add_tensor (DynoSafetensors *file, const DynoOnnxModel *model, const DynoOnnxTensor *source,
            DynoTensorType type, GError **error)
{
  DynoSafetensor tensor = { .type = type, .n_dims = source->n_dims };
  g_autoptr (GBytes) values = NULL;
  GError *problem = NULL;

  if (source->n_dims > DYNO_SAFETENSORS_MAX_DIMS)
    return corrupt (error, "a tensor has too many dimensions");
  values = dyno_onnx_tensor_read (model, source, &problem);
  if (!values)
    return translate (error, problem);
  for (guint i = 0; i < source->n_dims; i++)
    tensor.shape[i] = source->dims[i];
  tensor.data = g_bytes_get_data (values, &tensor.size_bytes);
  if (source->storage != DYNO_ONNX_DATA_RAW && source->storage != DYNO_ONNX_DATA_NONE)
    {
      tensor.data = g_bytes_unref_to_data (g_steal_pointer (&values), &tensor.size_bytes);
      g_ptr_array_add (file->blocks, (gpointer) tensor.data);
    }
  if (tensor.size_bytes == 0)
    tensor.data = file->bytes; /* memcpy may not get NULL */
  return dyno_safetensors_add (file, &tensor, source->name, error);
}

/* Adds the initialisers that may be weights; shapes and axes, which are lists of int64, are left
 * out. */
static gboolean
take_tensors (DynoSafetensors *file, const DynoOnnxModel *model, GError **error)
{
  for (guint i = 0; i < model->n_initializers; i++)
    {
      const DynoOnnxTensor *source = &model->initializers[i];
      DynoTensorType type;

      if (!*source->name || !find_type (source->type, &type)
          || (type == DYNO_TENSOR_I64
              && (source->storage == DYNO_ONNX_DATA_NONE || source->storage == DYNO_ONNX_DATA_TYPED
                  || source->storage == DYNO_ONNX_DATA_MADE)))
        continue;
      if (!add_tensor (file, model, source, type, error))
        return FALSE;
    }
  return dyno_safetensors_get_count (file) > 0
         || corrupt (error, "it has no initialisers, which weights are");
}

/* The metadata of other producers uses the same keys with other meanings: it is ignored. */
static void
take_metadata (DynoSafetensors *file, const DynoOnnxModel *model)
{
  if (g_strcmp0 (model->producer, "Dyno") != 0)
    return;
  for (guint i = 0; i < model->n_metadata; i++)
    g_hash_table_insert (file->metadata, g_strdup (model->metadata[i].key),
                         g_strdup (model->metadata[i].value));
}

DynoSafetensors *
dyno_onnx_file_parse (guint8 *bytes, gsize size, const char *folder, GError **error)
{
  g_autoptr (DynoSafetensors) file = dyno_safetensors_new (bytes);
  g_autoptr (GBytes) whole = g_bytes_new_static (bytes, size); /* file owns the bytes */
  g_autoptr (DynoOnnxModel) model = NULL;
  GError *problem = NULL;

  model = dyno_onnx_model_parse (whole, folder, DYNO_ONNX_READ_NETWORK, NULL);
  if (!model)
    model = dyno_onnx_model_parse (whole, folder, DYNO_ONNX_READ_TENSORS, &problem);
  if (!model)
    {
      translate (error, problem);
      return NULL;
    }
  if (!take_tensors (file, model, error))
    return NULL;
  take_metadata (file, model);
  return g_steal_pointer (&file);
}
