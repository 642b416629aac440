/* SPDX-License-Identifier: MIT */
/* WebP by libwebp, lossy and lossless; alpha is dropped. */
#include "image-codec.h"
#include <webp/decode.h>

gboolean
dyno_webp_decode (const guint8 *file, gsize size, const DynoImageFacts *facts, guint8 *out, GError **error)
{
  int width, height;
  gsize stride = (gsize) facts->width * 3;

  /* The container's size and the picture's may differ: out has room for the one that was checked. */
  if (WebPGetInfo (file, size, &width, &height) && (guint32) width == facts->width && (guint32) height == facts->height
      && WebPDecodeRGBInto (file, size, out, stride * facts->height, (int) stride) != NULL)
    return TRUE;
  g_set_error_literal (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT, "WebP that is damaged or ends early");
  return FALSE;
}
