/* SPDX-License-Identifier: MIT */
/* ONNX files: every byte of every accepted tensor is read. */
#include "onnxfile.h"

int LLVMFuzzerTestOneInput (const guint8 *data, size_t size);

int
LLVMFuzzerTestOneInput (const guint8 *data, size_t size)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoSafetensors) file =
      dyno_onnx_file_parse (g_memdup2 (data, size), size, NULL, &error);
  volatile guint8 sum = 0;

  g_assert_true ((file != NULL) != (error != NULL));
  for (guint i = 0; file && i < dyno_safetensors_get_count (file); i++)
    {
      const DynoSafetensor *tensor = dyno_safetensors_get (file, i);
      for (gsize b = 0; b < tensor->size_bytes; b++)
        sum = (guint8) (sum + ((const guint8 *) tensor->data)[b]);
    }
  return 0;
}
