/* SPDX-License-Identifier: MIT */
/* The .npy header: the data of an accepted header must lie within the file. */
#include "npyfile.h"

int LLVMFuzzerTestOneInput (const guint8 *data, size_t size);

int
LLVMFuzzerTestOneInput (const guint8 *data, size_t size)
{
  g_autoptr (GError) error = NULL;
  DynoNpyHeader header;

  if (dyno_npy_parse (data, size, size, &header, &error))
    {
      g_assert_cmpuint (header.data_offset + header.data_bytes, <=, size);
      for (guint64 i = 0; i < header.n_items && header.data_bytes > 0; i++)
        dyno_npy_get_double (&header, data + header.data_offset + i * header.item_bytes);
    }
  else
    g_assert_nonnull (error);
  return 0;
}
