/* SPDX-License-Identifier: MIT */
/* Decodes PNG by libpng.  Every variant (16 bits, palette, grey, alpha, interlaced) becomes 8-bit
 * RGB; alpha, and a colour that is declared transparent, are composed on white.  A mask is not
 * converted: it gives indices of its palette, numbers of its grey, or colours without alpha.
 * Ancillary chunks (profiles, text) are skipped unread: none changes the pixels, and some could
 * make libpng allocate much memory.  libpng reports errors by longjmp: data that outlive the jump
 * are in one struct, reached by pointer. */
#include "image-codec.h"
#include "mask.h"
#include <png.h>
#include <setjmp.h>
#include <string.h>

typedef struct {
  const guint8 *file;
  gsize size, at;
  png_structp png;
  png_infop info;
  const DynoImageFacts *facts; /* facts of an image; NULL for a mask */
  const DynoMaskFacts *mask;   /* facts of a mask; NULL for an image */
  char reason[128];
} Job;

static void
on_error (png_structp png, png_const_charp message)
{
  Job *job = png_get_error_ptr (png);

  g_strlcpy (job->reason, message, sizeof job->reason);
  png_longjmp (png, 1);
}

static void
on_warning (png_structp png, png_const_charp message)
{
}

static void
read_bytes (png_structp png, png_bytep out, size_t count)
{
  Job *job = png_get_io_ptr (png);

  if (count > job->size - job->at)
    png_error (png, "the file ends early");
  memcpy (out, job->file + job->at, count);
  job->at += count;
}

static void
begin (Job *job)
{
  png_structp png = job->png;

  png_set_read_fn (png, job, read_bytes);
  png_set_user_limits (png, DYNO_IMAGE_MAX_SIDE, DYNO_IMAGE_MAX_SIDE);
  png_set_chunk_malloc_max (png, 1 << 20);
  png_set_chunk_cache_max (png, 16);
  png_set_keep_unknown_chunks (png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
  png_read_info (png, job->info);
}

/* Reads rows of the size that the file's facts have. */
static void
read_rows (Job *job, guint32 width, guint32 height, gsize pixel_bytes, guint8 *out)
{
  png_structp png = job->png;
  int passes = png_set_interlace_handling (png);

  png_read_update_info (png, job->info);
  if (png_get_image_width (png, job->info) != width
      || png_get_image_height (png, job->info) != height
      || png_get_rowbytes (png, job->info) != width * pixel_bytes)
    png_error (png, "its header contradicts itself");
  for (int pass = 0; pass < passes; pass++)
    for (guint32 y = 0; y < height; y++)
      png_read_row (png, out + y * width * pixel_bytes, NULL);
}

static void
read_colours (Job *job, guint8 *out)
{
  const DynoImageFacts *facts = job->facts;
  png_structp png = job->png;
  gsize pixel_bytes = 3;

  begin (job);
  if ((png_get_color_type (png, job->info) & PNG_COLOR_MASK_ALPHA) != 0
      || png_get_valid (png, job->info, PNG_INFO_tRNS) != 0)
    pixel_bytes = 4;
  png_set_palette_to_rgb (png);
  png_set_expand_gray_1_2_4_to_8 (png);
  if (pixel_bytes == 4)
    png_set_tRNS_to_alpha (png);
  png_set_scale_16 (png);
  png_set_gray_to_rgb (png);
  read_rows (job, facts->width, facts->height, pixel_bytes, out);
  if (pixel_bytes == 4)
    dyno_image_compose_white (out, (gsize) facts->width * facts->height);
}

static void
read_mask (Job *job, guint8 *out)
{
  const DynoMaskFacts *mask = job->mask;
  png_structp png = job->png;

  begin (job);
  png_set_strip_alpha (png);
  if (mask->bits < 8)
    png_set_packing (png);
  if (mask->colours)
    png_set_scale_16 (png);
  read_rows (job, mask->width, mask->height, dyno_mask_pixel_bytes (mask), out);
}

static gboolean
run (Job *job, guint8 *out)
{
  if (setjmp (png_jmpbuf (job->png)) != 0)
    return FALSE;
  if (job->mask)
    read_mask (job, out);
  else
    read_colours (job, out);
  return TRUE;
}

static gboolean
decode (Job *job, guint8 *out, GError **error)
{
  gboolean ok = FALSE;

  g_strlcpy (job->reason, "no memory for a decoder", sizeof job->reason);
  job->png = png_create_read_struct (PNG_LIBPNG_VER_STRING, job, on_error, on_warning);
  job->info = job->png ? png_create_info_struct (job->png) : NULL;
  if (job->info)
    ok = run (job, out);
  png_destroy_read_struct (job->png ? &job->png : NULL, job->info ? &job->info : NULL, NULL);
  if (!ok)
    g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT, "PNG: %s", job->reason);
  return ok;
}

gboolean
dyno_png_decode (const guint8 *file, gsize size, const DynoImageFacts *facts, guint8 *out,
                 GError **error)
{
  Job job = { .file = file, .size = size, .facts = facts };
  return decode (&job, out, error);
}

gboolean
dyno_png_decode_mask (const guint8 *file, gsize size, const DynoMaskFacts *facts, guint8 *out,
                      GError **error)
{
  Job job = { .file = file, .size = size, .mask = facts };
  return decode (&job, out, error);
}
