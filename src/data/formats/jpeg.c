/* SPDX-License-Identifier: MIT */
/* JPEG by libturbojpeg.  The decoder scales by eighths while it transforms, so an image far larger
 * than wanted costs little more than a small one; the smallest scale that still covers the wanted
 * size is taken. */
#include "image-codec.h"
#include <string.h>
#include <turbojpeg.h>

void
dyno_jpeg_choose_size (const DynoImageFacts *facts, guint32 width, guint32 height,
                       guint32 *out_width, guint32 *out_height)
{
  /* Halves have vector code in the library; scales between them cost more than they save. */
  static const tjscalingfactor scales[] = { { 1, 8 }, { 1, 4 }, { 1, 2 } };

  *out_width = facts->width;
  *out_height = facts->height;
  for (guint i = 0; i < G_N_ELEMENTS (scales); i++)
    {
      guint32 scaled_width = (guint32) TJSCALED ((int) facts->width, scales[i]);
      guint32 scaled_height = (guint32) TJSCALED ((int) facts->height, scales[i]);
      if (scaled_width >= width && scaled_height >= height)
        {
          *out_width = scaled_width;
          *out_height = scaled_height;
          return;
        }
    }
}

/* A progressive file may ask for any number of passes over all of the image: they are counted
 * before the first. */
static gboolean
check_scans (const guint8 *file, gsize size, const DynoImageFacts *facts, GError **error)
{
  const guint8 *at = file, *end = file + size;
  guint64 scans = 0;

  while (at + 1 < end && (at = memchr (at, 0xff, (gsize) (end - at) - 1)))
    {
      scans += at[1] == 0xda;
      at++;
    }
  if (scans <= DYNO_IMAGE_MAX_SCANS
      && scans * facts->width * facts->height <= DYNO_IMAGE_MAX_SCAN_WORK)
    return TRUE;
  g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_TOO_LARGE,
               "progressive JPEG of %u x %u with %" G_GUINT64_FORMAT
               " scans; at most %d are decoded",
               facts->width, facts->height, scans, DYNO_IMAGE_MAX_SCANS);
  return FALSE;
}

/* CMYK as Adobe writes it, inverted: 255 is no ink. In place, 4 bytes to 3. */
static void
cmyk_to_rgb (guint8 *pixels, gsize count)
{
  for (gsize i = 0; i < count; i++)
    for (guint c = 0; c < 3; c++)
      pixels[i * 3 + c] = (guint8) ((pixels[i * 4 + c] * pixels[i * 4 + 3] + 127) / 255);
}

/* Files in use have these, and decode whole. */
static gboolean
is_harmless (const char *reason)
{
  return strstr (reason, "extraneous bytes before marker")
         || strstr (reason, "unknown JFIF revision")
         || strstr (reason, "Unknown Adobe color transform");
}

static gboolean
decode (tjhandle handle, const guint8 *file, gsize size, const DynoImageFacts *facts,
        guint32 out_width, guint32 out_height, guint8 *out, GError **error)
{
  int width, height, subsampling, space, format;
  const char *reason;

  if (tjDecompressHeader3 (handle, file, size, &width, &height, &subsampling, &space) != 0
      || (guint32) width != facts->width || (guint32) height != facts->height)
    {
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT, "JPEG header: %s",
                   tjGetErrorStr2 (handle));
      return FALSE;
    }
  format = space == TJCS_CMYK || space == TJCS_YCCK ? TJPF_CMYK : TJPF_RGB;
  if (tjDecompress2 (handle, file, size, out, (int) out_width,
                     (int) (out_width * (format == TJPF_CMYK ? 4u : 3u)), (int) out_height, format,
                     TJFLAG_LIMITSCANS)
      != 0)
    {
      /* The code says "warning" also of what is fatal after a warning, so the text of the last
       * message decides. */
      reason = tjGetErrorStr2 (handle);
      if (!is_harmless (reason))
        {
          g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT, "JPEG: %s", reason);
          return FALSE;
        }
    }
  if (format == TJPF_CMYK)
    cmyk_to_rgb (out, (gsize) out_width * out_height);
  return TRUE;
}

gboolean
dyno_jpeg_decode (const guint8 *file, gsize size, const DynoImageFacts *facts, guint32 out_width,
                  guint32 out_height, guint8 *out, GError **error)
{
  tjhandle handle;
  gboolean ok;

  if (facts->progressive && !check_scans (file, size, facts, error))
    return FALSE;
  handle = tjInitDecompress ();
  if (!handle)
    {
      g_set_error_literal (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_TOO_LARGE,
                           "no memory for a JPEG decoder");
      return FALSE;
    }
  ok = decode (handle, file, size, facts, out_width, out_height, out, error);
  tjDestroy (handle);
  return ok;
}
