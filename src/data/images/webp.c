/* SPDX-License-Identifier: MIT */
/* Decodes WebP by libwebp, lossy and lossless; alpha is composed on white. */
#include "image-codec.h"
#include <webp/decode.h>

gboolean
dyno_webp_decode (const guint8 *file, gsize size, const DynoImageFacts *facts, guint8 *out,
                  GError **error)
{
  WebPBitstreamFeatures features;
  gsize count = (gsize) facts->width * facts->height;
  int width = (int) facts->width, height = (int) facts->height;
  gboolean ok = FALSE;

  /* The size in the container may differ from that of the image data: out has room only for the
   * size that was checked. */
  if (WebPGetFeatures (file, size, &features) == VP8_STATUS_OK && features.width == width
      && features.height == height)
    ok = features.has_alpha ? WebPDecodeRGBAInto (file, size, out, count * 4, width * 4) != NULL
                            : WebPDecodeRGBInto (file, size, out, count * 3, width * 3) != NULL;
  if (ok && features.has_alpha)
    dyno_image_compose_white (out, count);
  if (!ok)
    g_set_error_literal (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT,
                         "WebP that is damaged or ends early");
  return ok;
}
