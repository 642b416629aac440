/* SPDX-License-Identifier: MIT */
/* Encodes pixels as image files in memory. */
#include "image.h"
#include "datafile.h"
#include "palette.h"
#include <png.h>
#include <string.h>
#include <turbojpeg.h>

#define QUALITY 95

gboolean
dyno_image_encode_png (const guint8 *pixels, guint32 width, guint32 height, guint32 channels,
                       GByteArray *out, GError **error)
{
  png_image image = { .version = PNG_IMAGE_VERSION,
                      .width = width,
                      .height = height,
                      .format = channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB };
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX (image);

  if (!dyno_datafile_reserve (out, size, error))
    return FALSE;
  if (png_image_write_to_memory (&image, out->data, &size, 0, pixels, 0, NULL))
    {
      g_byte_array_set_size (out, (guint) size);
      return TRUE;
    }
  g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_TOO_LARGE, "PNG: %s", image.message);
  return FALSE;
}

GBytes *
dyno_image_encode_mask_png (const guint8 *ids, guint32 width, guint32 height, GError **error)
{
  png_image image = { .version = PNG_IMAGE_VERSION,
                      .width = width,
                      .height = height,
                      .format = PNG_FORMAT_RGB_COLORMAP };
  g_autoptr (GByteArray) out = g_byte_array_new ();
  guint8 palette[256][3];
  png_alloc_size_t size;

  /* The whole palette is written, so that an id that does not occur has its place in it. */
  image.colormap_entries = G_N_ELEMENTS (palette);
  for (guint id = 0; id < G_N_ELEMENTS (palette); id++)
    dyno_palette_get ((guint8) id, palette[id]);
  size = PNG_IMAGE_PNG_SIZE_MAX (image);
  if (!dyno_datafile_reserve (out, size, error))
    return NULL;
  if (png_image_write_to_memory (&image, out->data, &size, 0, ids, 0, palette))
    {
      g_byte_array_set_size (out, (guint) size);
      return g_byte_array_free_to_bytes (g_steal_pointer (&out));
    }
  g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_TOO_LARGE, "PNG: %s", image.message);
  return NULL;
}

gboolean
dyno_image_encode_jpeg (const guint8 *pixels, guint32 width, guint32 height, GByteArray *out,
                        GError **error)
{
  tjhandle handle = tjInitCompress ();
  unsigned char *bytes = NULL;
  unsigned long size = 0;
  gboolean ok = handle
                && tjCompress2 (handle, pixels, (int) width, 0, (int) height, TJPF_RGB, &bytes,
                                &size, TJSAMP_444, QUALITY, 0)
                       == 0;

  g_byte_array_set_size (out, 0);
  if (ok)
    g_byte_array_append (out, bytes, (guint) size);
  else
    g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_TOO_LARGE, "JPEG: %s",
                 handle ? tjGetErrorStr2 (handle) : "no memory");
  tjFree (bytes);
  if (handle)
    tjDestroy (handle);
  return ok;
}
