/* SPDX-License-Identifier: MIT */
/* Images: probing, and for small ones decoding of the whole and of a crop. */
#include "crop.h"

int LLVMFuzzerTestOneInput (const guint8 *data, size_t size);

int
LLVMFuzzerTestOneInput (const guint8 *data, size_t size)
{
  g_autoptr (GError) error = NULL;
  DynoImageFacts facts;
  guint8 out[16 * 16 * 3];

  if (dyno_image_probe (data, size, &facts, &error)
      && (guint64) facts.width * facts.height < 1 << 18)
    {
      g_autoptr (GByteArray) scratch = g_byte_array_new ();
      g_byte_array_append (scratch, data, (guint) size);
      dyno_image_decode (scratch, size, 16, 16, out, &error);
      g_clear_error (&error);
      dyno_image_decode_crop (scratch, size, NULL, &(DynoCrop){ 0.1, 2 }, data[size / 2], 16, 16,
                              out, &error);
    }
  return 0;
}
