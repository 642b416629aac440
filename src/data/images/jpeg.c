/* SPDX-License-Identifier: MIT */
/* Decodes JPEG by libturbojpeg, and regions of a JPEG by libjpeg-turbo's libjpeg, since
 * libturbojpeg before 3.0 cannot decode regions.  The decoder scales by 1/2, 1/4 or 1/8 while it
 * transforms, so an image far larger than wanted costs little more than a small one; the smallest
 * of these scales at which the image still covers the wanted size is taken. */
#include "image-codec.h"
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <jpeglib.h>
#include <turbojpeg.h>

/* A region is decoded with this many additional pixels at each side, so that chroma is interpolated
 * in it as in the whole image; it begins at an MCU, and the widest MCU has 32 columns. */
#define MARGIN     4
#define MOST_WIDER 32

void
dyno_jpeg_choose_size (const DynoImageFacts *facts, guint32 width, guint32 height,
                       guint32 *out_width, guint32 *out_height)
{
  /* Scales that are powers of a half have vector code in the library; other scales cost more than
   * they save. */
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

/* A progressive file may ask for any number of passes over the whole image: the passes are counted
 * before the first one. */
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
               "progressive JPEG of %u × %u with %" G_GUINT64_FORMAT
               " scans; at most %d are decoded",
               facts->width, facts->height, scans, DYNO_IMAGE_MAX_SCANS);
  return FALSE;
}

/* CMYK in Adobe's inverted form: 255 is no ink.  Converts in place, 4 bytes to 3. */
static void
cmyk_to_rgb (guint8 *pixels, gsize count)
{
  for (gsize i = 0; i < count; i++)
    for (guint c = 0; c < 3; c++)
      pixels[i * 3 + c] = (guint8) ((pixels[i * 4 + c] * pixels[i * 4 + 3] + 127) / 255);
}

/* Files in use have these warnings, and decode completely. */
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
  int width = 0, height = 0, subsampling = -1, space = -1, format;
  const char *reason;

  if ((tjDecompressHeader3 (handle, file, size, &width, &height, &subsampling, &space) != 0
       && !is_harmless (tjGetErrorStr2 (handle)))
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
      /* The error code is "warning" also for a fatal error after a warning, so the text of the last
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

/* --- regions ---------------------------------------------------------------------------------- */

guint
dyno_jpeg_find_eighths (const DynoImageFacts *facts, guint32 out_width, guint32 out_height)
{
  for (int eighths = 4; eighths > 0; eighths /= 2)
    {
      const tjscalingfactor scale = { eighths, 8 };
      if (out_width < facts->width && out_width == (guint32) TJSCALED ((int) facts->width, scale)
          && out_height == (guint32) TJSCALED ((int) facts->height, scale))
        return (guint) eighths;
    }
  return 8;
}

guint64
dyno_jpeg_count_region_bytes (const DynoImageBox *region)
{
  return ((guint64) region->width + 2 * MARGIN + 2 * MOST_WIDER)
         * ((guint64) region->height + 2 * MARGIN) * 4;
}

typedef struct {
  struct jpeg_error_mgr base; /* first member: the library's pointer is to this */
  jmp_buf jump;
  char reason[JMSG_LENGTH_MAX];
} Problem;

static void
on_error (j_common_ptr common)
{
  Problem *problem = (Problem *) common->err;

  problem->base.format_message (common, problem->reason);
  longjmp (problem->jump, 1);
}

/* A warning, below 0, reports damage. */
static void
on_message (j_common_ptr common, int level)
{
  Problem *problem = (Problem *) common->err;

  if (level >= 0)
    return;
  problem->base.format_message (common, problem->reason);
  if (!is_harmless (problem->reason))
    longjmp (problem->jump, 1);
}

static void
leave (struct jpeg_decompress_struct *info, const char *reason)
{
  Problem *problem = (Problem *) info->err;

  g_strlcpy (problem->reason, reason, sizeof problem->reason);
  longjmp (problem->jump, 1);
}

/* Columns and rows to decode, and the columns that the library makes of them. */
static void
widen (struct jpeg_decompress_struct *info, DynoImageBox *region)
{
  guint32 left = (guint32) MAX (region->x - MARGIN, 0), top = (guint32) MAX (region->y - MARGIN, 0);
  JDIMENSION x = left,
             columns =
                 MIN ((guint32) (region->x + region->width) + MARGIN, info->output_width) - left;
  guint32 bottom = MIN ((guint32) (region->y + region->height) + MARGIN, info->output_height);

  if (columns < info->output_width)
    jpeg_crop_scanline (info, &x, &columns);
  *region = (DynoImageBox){ (gint32) x, (gint32) top, (gint32) columns, (gint32) (bottom - top) };
}

/* Errors leave this function by the problem's jump. */
static void
read_region (struct jpeg_decompress_struct *info, const guint8 *file, gsize size,
             const DynoImageFacts *facts, guint eighths, DynoImageBox *region, guint8 *out)
{
  gsize stride;

  jpeg_mem_src (info, file, size);
  jpeg_read_header (info, TRUE);
  if (info->image_width != facts->width || info->image_height != facts->height)
    leave (info, "another size than its header says");
  info->out_color_space =
      info->jpeg_color_space == JCS_CMYK || info->jpeg_color_space == JCS_YCCK ? JCS_CMYK : JCS_RGB;
  info->scale_num = eighths;
  info->scale_denom = 8;
  jpeg_start_decompress (info);
  widen (info, region);
  stride = (gsize) region->width * (guint) info->output_components;
  if (region->y > 0)
    jpeg_skip_scanlines (info, (JDIMENSION) region->y);
  for (gint32 y = 0; y < region->height; y++)
    {
      JSAMPROW row = out + (gsize) y * stride;
      jpeg_read_scanlines (info, &row, 1);
    }
}

gboolean
dyno_jpeg_decode_region (const guint8 *file, gsize size, const DynoImageFacts *facts,
                         guint32 out_width, guint32 out_height, DynoImageBox *region, guint8 *out,
                         GError **error)
{
  struct jpeg_decompress_struct info = { 0 };
  Problem problem;
  gboolean cmyk;

  if (facts->progressive && !check_scans (file, size, facts, error))
    return FALSE;
  info.err = jpeg_std_error (&problem.base);
  problem.base.error_exit = on_error;
  problem.base.emit_message = on_message;
  if (setjmp (problem.jump) != 0)
    {
      jpeg_destroy_decompress (&info);
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT, "JPEG: %s", problem.reason);
      return FALSE;
    }
  jpeg_create_decompress (&info);
  read_region (&info, file, size, facts, dyno_jpeg_find_eighths (facts, out_width, out_height),
               region, out);
  cmyk = info.out_color_space == JCS_CMYK;
  jpeg_destroy_decompress (&info);
  if (cmyk)
    cmyk_to_rgb (out, (gsize) region->width * (gsize) region->height);
  return TRUE;
}
