/* SPDX-License-Identifier: MIT */
/* PyTorch's files: the input is a zip file with a pickle, or else the pickle of one; every byte of
 * every accepted tensor is read. */
#include "pickle.h"
#include "pth.h"

int LLVMFuzzerTestOneInput (const guint8 *data, size_t size);

int
LLVMFuzzerTestOneInput (const guint8 *data, size_t size)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoSafetensors) file = NULL;
  volatile guint8 sum = 0;

  if (!dyno_pth_matches (data, size))
    {
      g_autoptr (GPtrArray) values = g_ptr_array_new_with_free_func (dyno_pickle_value_free);
      g_assert_true ((dyno_pickle_read (data, size, values, &error) != NULL) != (error != NULL));
      return 0;
    }
  file = dyno_pth_parse (g_memdup2 (data, size), size, &error);
  g_assert_true ((file != NULL) != (error != NULL));
  for (guint i = 0; file && i < dyno_safetensors_get_count (file); i++)
    {
      const DynoSafetensor *tensor = dyno_safetensors_get (file, i);
      for (gsize b = 0; b < tensor->size_bytes; b++)
        sum = (guint8) (sum + ((const guint8 *) tensor->data)[b]);
    }
  return 0;
}
