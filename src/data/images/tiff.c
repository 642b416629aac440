/* SPDX-License-Identifier: MIT */
/* Decodes the first page of a TIFF by libtiff: grey, palette, RGB and CMYK of 1 to 16 bits, in
 * strips or tiles, in any of libtiff's compressions; alpha is composed on white.  Rows are given in
 * stored order: image.c turns them.  The size of libtiff's allocations is bounded by the number of
 * pixels, which was checked. */
#include "image-codec.h"
#include <string.h>
#include <tiffio.h>

typedef struct {
  const guint8 *file;
  gsize size;
  toff_t at;
  char reason[160];
} Job;

static tmsize_t
read_bytes (thandle_t handle, void *buffer, tmsize_t count)
{
  Job *job = handle;
  gsize n = job->at < job->size ? MIN ((gsize) count, job->size - (gsize) job->at) : 0;

  memcpy (buffer, job->file + MIN (job->at, job->size), n);
  job->at += n;
  return (tmsize_t) n;
}

static tmsize_t
write_bytes (thandle_t handle, void *buffer, tmsize_t count)
{
  return -1;
}

static toff_t
seek_to (thandle_t handle, toff_t offset, int whence)
{
  Job *job = handle;

  job->at = offset + (whence == SEEK_CUR ? job->at : whence == SEEK_END ? job->size : 0);
  return job->at;
}

static int
close_nothing (thandle_t handle)
{
  return 0;
}

static toff_t
get_size (thandle_t handle)
{
  return ((Job *) handle)->size;
}

static int
map_file (thandle_t handle, void **base, toff_t *size)
{
  Job *job = handle;

  *base = (void *) job->file;
  *size = job->size;
  return 1;
}

static void
unmap_nothing (thandle_t handle, void *base, toff_t size)
{
}

static int G_GNUC_PRINTF (4, 0)
    on_error (TIFF *tiff, void *data, const char *module, const char *format, va_list arguments)
{
  Job *job = data;

  g_vsnprintf (job->reason, sizeof job->reason, format, arguments);
  return 1;
}

static int
on_warning (TIFF *tiff, void *data, const char *module, const char *format, va_list arguments)
{
  return 1;
}

/* Colours are already multiplied by alpha. */
static void
compose_white (guint8 *pixels, gsize count)
{
  for (gsize i = 0; i < count; i++)
    {
      guint32 pixel;
      guint white;

      memcpy (&pixel, pixels + i * 4, sizeof pixel);
      white = 255 - TIFFGetA (pixel);
      pixels[i * 3] = (guint8) MIN (TIFFGetR (pixel) + white, 255);
      pixels[i * 3 + 1] = (guint8) MIN (TIFFGetG (pixel) + white, 255);
      pixels[i * 3 + 2] = (guint8) MIN (TIFFGetB (pixel) + white, 255);
    }
}

static gboolean
read_image (TIFF *tiff, Job *job, const DynoImageFacts *facts, guint8 *out)
{
  TIFFRGBAImage image;
  char reason[1024] = "";
  gboolean ok = FALSE;

  if (!TIFFRGBAImageBegin (&image, tiff, 1, reason))
    {
      g_strlcpy (job->reason, reason, sizeof job->reason);
      return FALSE;
    }
  image.orientation = image.req_orientation = ORIENTATION_TOPLEFT;
  if (image.width == facts->width && image.height == facts->height)
    ok = TIFFRGBAImageGet (&image, (guint32 *) (gpointer) out, facts->width, facts->height) != 0;
  else
    g_strlcpy (job->reason, "its header contradicts itself", sizeof job->reason);
  TIFFRGBAImageEnd (&image);
  return ok;
}

gboolean
dyno_tiff_decode (const guint8 *file, gsize size, const DynoImageFacts *facts, guint8 *out,
                  GError **error)
{
  Job job = { .file = file, .size = size, .reason = "it is damaged" };
  gsize count = (gsize) facts->width * facts->height;
  TIFFOpenOptions *options = TIFFOpenOptionsAlloc ();
  gboolean ok = FALSE;
  TIFF *tiff;

  TIFFOpenOptionsSetMaxSingleMemAlloc (options, (tmsize_t) (count * 8 + (1 << 20)));
  TIFFOpenOptionsSetErrorHandlerExtR (options, on_error, &job);
  TIFFOpenOptionsSetWarningHandlerExtR (options, on_warning, &job);
  tiff = TIFFClientOpenExt ("TIFF", "r", &job, read_bytes, write_bytes, seek_to, close_nothing,
                            get_size, map_file, unmap_nothing, options);
  TIFFOpenOptionsFree (options);
  if (tiff)
    {
      ok = read_image (tiff, &job, facts, out);
      TIFFClose (tiff);
    }
  if (ok)
    compose_white (out, count);
  else
    g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT, "TIFF: %s", job.reason);
  return ok;
}
