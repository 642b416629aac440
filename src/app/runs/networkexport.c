/* SPDX-License-Identifier: MIT */
#include "networkexport.h"
#include "file.h"
#include "int8save.h"
#include "onnx.h"
#include <glib/gi18n.h>
#include <string.h>

static DynoSavedModel *
open_model (const char *weights, GError **error)
{
  g_autoptr (GPtrArray) notes = g_ptr_array_new_with_free_func (g_free);
  return dyno_saved_model_open (weights, notes, error);
}

static gboolean
write_as_onnx (const char *weights, const char *path, const DynoOnnxParams *params, GError **error)
{
  g_autoptr (DynoSavedModel) model = open_model (weights, error);
  g_autoptr (GByteArray) file = model ? dyno_onnx_write (model, params, error) : NULL;
  return file && dyno_file_write_atomic (path, file->data, file->len, error);
}

static gboolean
write_onnx (const char *weights, const char *path, GError **error)
{
  return write_as_onnx (weights, path, &(DynoOnnxParams){ 0 }, error);
}

static gboolean
write_half (const char *weights, const char *path, GError **error)
{
  return write_as_onnx (weights, path, &(DynoOnnxParams){ .half = TRUE }, error);
}

static gboolean
write_weights (const char *weights, const char *path, GError **error)
{
  g_autofree char *data = NULL;
  gsize size;
  return g_file_get_contents (weights, &data, &size, error)
         && dyno_file_write_atomic (path, data, size, error);
}

static gboolean
write_int8 (const char *weights, const char *path, GError **error)
{
  g_autoptr (DynoSavedModel) model = open_model (weights, error);
  g_auto (DynoInt8Report) report = { 0 };
  return model && dyno_int8_save (model, path, &report, error);
}

static const DynoNetworkExport kinds[] = {
  { "onnx", N_ ("ONNX"), "model.onnx", write_onnx },
  { "onnx-half", N_ ("ONNX in Half Precision"), "model-half.onnx", write_half },
  { "weights", N_ ("Weights (safetensors)"), "weights.safetensors", write_weights },
  { "int8", N_ ("Weights in int8"), "weights-int8.safetensors", write_int8 },
};

const DynoNetworkExport *
dyno_network_export_list (guint *n)
{
  *n = G_N_ELEMENTS (kinds);
  return kinds;
}

const DynoNetworkExport *
dyno_network_export_find (const char *id)
{
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (g_str_equal (kinds[i].id, id))
      return &kinds[i];
  return NULL;
}
