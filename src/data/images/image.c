/* SPDX-License-Identifier: MIT */
/* Recognises images by content.  The header is parsed here, by a few lines that allocate nothing,
 * and checked against the limits before any decoder library sees the file: a decompression bomb
 * costs only the reading of its header. */
#include "image-codec.h"
#include "datafile.h"
#include "imagesource.h"
#include "resize.h"
#include <errno.h>
#include <string.h>

static gboolean
set_corrupt (GError **error, const char *what)
{
  g_set_error_literal (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT, what);
  return FALSE;
}

#define MAX_GARBAGE 65536 /* bytes between a JPEG's markers */

/* Markers from the start to the frame header (ITU T.81, B.1.1 and B.2.2). */
static gboolean
probe_jpeg (DynoImageSource *source, DynoImageFacts *facts, GError **error)
{
  guint64 at = 2;
  guint8 by_xmp = 0;
  guint32 garbage = 0;
  const guint8 *p;

  while ((p = dyno_image_source_look (source, at, 4)))
    {
      guint8 marker = p[1];

      /* Bytes that belong to no segment are skipped, as in all decoders. */
      if (p[0] != 0xff)
        {
          if (++garbage > MAX_GARBAGE)
            return set_corrupt (error, "JPEG with garbage between its markers");
          facts->garbage = TRUE;
          at++;
          continue;
        }
      if (marker == 0xff || marker == 0x01 || (marker >= 0xd0 && marker <= 0xd8))
        {
          at += marker == 0xff ? 1 : 2;
          continue;
        }
      if (marker == 0xda || marker == 0xd9)
        return set_corrupt (error, "JPEG without a frame header");
      if (marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc)
        {
          p = dyno_image_source_look (source, at, 10);
          if (!p)
            break;
          if (marker > 0xc2 || p[4] != 8)
            {
              g_set_error (
                  error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED,
                  "JPEG of process %u with %u bits; baseline and progressive with 8 bits are read",
                  marker - 0xc0u, p[4]);
              return FALSE;
            }
          facts->height = dyno_be16 (p + 5);
          facts->width = dyno_be16 (p + 7);
          facts->progressive = marker == 0xc2;
          facts->grey = p[9] == 1;
          dyno_orientation_set (facts, facts->orientation, by_xmp);
          return TRUE;
        }
      guint32 length = dyno_be16 (p + 2);
      if (length < 2)
        return set_corrupt (error, "JPEG with a segment of impossible length");
      if (marker == 0xe1 && facts->orientation == 0)
        facts->orientation = dyno_orientation_of_exif (source, at + 4, length - 2);
      if (marker == 0xe1 && by_xmp == 0)
        by_xmp = dyno_orientation_of_app1_xmp (source, at + 4, length - 2);
      at += 2 + length;
    }
  return set_corrupt (error, "JPEG that ends inside its header");
}

static gboolean
probe_png (DynoImageSource *source, DynoImageFacts *facts, GError **error)
{
  const guint8 *p = dyno_image_source_look (source, 0, 33);

  if (!p || memcmp (p + 12, "IHDR", 4) != 0 || dyno_be32 (p + 8) != 13)
    return set_corrupt (error, "PNG without its header");
  facts->width = dyno_be32 (p + 16);
  facts->height = dyno_be32 (p + 20);
  facts->bits = p[24];
  facts->grey = p[25] == 0 || p[25] == 4;
  dyno_orientation_find_png (source, facts);
  return TRUE;
}

/* Container specification: developers.google.com/speed/webp/docs/riff_container */
static gboolean
probe_webp (DynoImageSource *source, DynoImageFacts *facts, GError **error)
{
  const guint8 *p = dyno_image_source_look (source, 0, 30);

  if (!p)
    return set_corrupt (error, "WebP that ends inside its header");
  if (memcmp (p + 12, "VP8 ", 4) == 0 && memcmp (p + 23, "\x9d\x01\x2a", 3) == 0)
    {
      facts->width = ((guint32) p[26] | (guint32) p[27] << 8) & 0x3fff;
      facts->height = ((guint32) p[28] | (guint32) p[29] << 8) & 0x3fff;
    }
  else if (memcmp (p + 12, "VP8L", 4) == 0 && p[20] == 0x2f)
    {
      guint32 bits = dyno_le24 (p + 21) | (guint32) p[24] << 24;
      facts->width = (bits & 0x3fff) + 1;
      facts->height = (bits >> 14 & 0x3fff) + 1;
    }
  else if (memcmp (p + 12, "VP8X", 4) == 0)
    {
      if (p[20] & 0x02)
        {
          g_set_error_literal (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED,
                               "animated WebP; still images are read");
          return FALSE;
        }
      facts->width = dyno_le24 (p + 24) + 1;
      facts->height = dyno_le24 (p + 27) + 1;
      if (p[20] & 0x0c)
        dyno_orientation_find_webp (source, facts);
    }
  else
    return set_corrupt (error, "WebP of an unknown chunk");
  return TRUE;
}

static gboolean
probe_bmp (DynoImageSource *source, DynoImageFacts *facts, GError **error)
{
  gsize size = (gsize) MIN (source->file_size, 54);
  const guint8 *p = dyno_image_source_look (source, 0, size);

  return p ? dyno_bmp_probe (p, size, facts, error) : set_corrupt (error, "BMP that ends early");
}

/* Bits of the first channel, from an entry of a directory: one or two values are in the entry, more
 * values elsewhere. */
static guint32
find_bits (DynoImageSource *source, const guint8 *entry, gboolean big)
{
  guint32 count = dyno_tiff32 (entry + 4, big), at = dyno_tiff32 (entry + 8, big);
  const guint8 *p = count <= 2 ? entry + 8 : dyno_image_source_look (source, at, 2);

  return p ? dyno_tiff16 (p, big) : 8;
}

/* Of the first page (TIFF 6.0, section 2). */
static gboolean
probe_tiff (DynoImageSource *source, DynoImageFacts *facts, GError **error)
{
  const guint8 *p = dyno_image_source_look (source, 0, 8);
  gboolean big = p && p[0] == 'M';
  guint64 at = p ? dyno_tiff32 (p + 4, big) : 0;
  guint32 count, bits = 1;

  facts->grey = TRUE; /* one channel, unless an entry gives more */
  p = p ? dyno_image_source_look (source, at, 2) : NULL;
  if (!p)
    return set_corrupt (error, "TIFF that ends inside its header");
  count = dyno_tiff16 (p, big);
  for (at += 2; count > 0; count--, at += 12)
    {
      guint32 tag, type, value;

      p = dyno_image_source_look (source, at, 12);
      if (!p)
        return set_corrupt (error, "TIFF that ends inside its header");
      tag = dyno_tiff16 (p, big);
      type = dyno_tiff16 (p + 2, big);
      value = type == 3 ? dyno_tiff16 (p + 8, big) : dyno_tiff32 (p + 8, big);
      if (tag == 256)
        facts->width = value;
      else if (tag == 257)
        facts->height = value;
      else if (tag == 258)
        bits = find_bits (source, p, big);
      else if (tag == 277)
        facts->grey = value <= 2;
      else if (tag == 274 && value >= 1 && value <= 8)
        facts->orientation = (guint8) value;
    }
  facts->bits = (guint8) MIN (bits, 64);
  return TRUE;
}

static gboolean
check_limits (const DynoImageFacts *facts, GError **error)
{
  if (facts->width == 0 || facts->height == 0)
    return set_corrupt (error, "image without width or height");
  if (facts->width > DYNO_IMAGE_MAX_SIDE || facts->height > DYNO_IMAGE_MAX_SIDE
      || (guint64) facts->width * facts->height > DYNO_IMAGE_MAX_PIXELS)
    {
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_TOO_LARGE,
                   "image of %u × %u; at most %d a side and %d million pixels are read",
                   facts->width, facts->height, DYNO_IMAGE_MAX_SIDE,
                   (int) (DYNO_IMAGE_MAX_PIXELS / 1000000));
      return FALSE;
    }
  return TRUE;
}

/* The name of an image of another type, by its first 12 bytes; NULL: the type is not known. */
static const char *
name_other (const guint8 *p)
{
  static const struct {
    guint at;
    const char *bytes, *name;
  } others[] = { { 4, "ftypheic", "HEIC" },  { 4, "ftypheix", "HEIC" },
                 { 4, "ftypmif1", "HEIC" },  { 4, "ftypmsf1", "HEIC" },
                 { 4, "ftyphevc", "HEIC" },  { 4, "ftypavif", "AVIF" },
                 { 4, "ftypavis", "AVIF" },  { 0, "GIF8", "GIF" },
                 { 4, "JXL ", "JPEG XL" },   { 0, "\xff\x0a", "JPEG XL" },
                 { 4, "jP  ", "JPEG 2000" }, { 0, "8BPS", "Photoshop" } };

  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    if (memcmp (p + others[i].at, others[i].bytes, strlen (others[i].bytes)) == 0)
      return others[i].name;
  return NULL;
}

static gboolean
set_unknown (DynoImageSource *source, GError **error)
{
  const guint8 *p = dyno_image_source_look (source, 0, 12);
  const char *name = p ? name_other (p) : NULL;

  if (source->file_size == 0)
    g_set_error_literal (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT, "empty file");
  else if (name)
    g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED,
                 "a %s image, which is not read; save it as JPEG or PNG", name);
  else
    g_set_error_literal (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED,
                         "not an image (JPEG, PNG, WebP, BMP or TIFF)");
  return FALSE;
}

static gboolean
probe (DynoImageSource *source, DynoImageFacts *facts, GError **error)
{
  const guint8 *p = dyno_image_source_look (source, 0, 12);
  gboolean ok;

  memset (facts, 0, sizeof *facts);
  facts->bits = 8;
  if (p && p[0] == 0xff && p[1] == 0xd8 && p[2] == 0xff)
    facts->type = DYNO_IMAGE_JPEG;
  else if (p && memcmp (p, "\x89PNG\r\n\x1a\n", 8) == 0)
    facts->type = DYNO_IMAGE_PNG;
  else if (p && memcmp (p, "RIFF", 4) == 0 && memcmp (p + 8, "WEBP", 4) == 0)
    facts->type = DYNO_IMAGE_WEBP;
  else if (p && p[0] == 'B' && p[1] == 'M' && memcmp (p + 6, "\0\0\0\0", 4) == 0)
    facts->type = DYNO_IMAGE_BMP;
  else if (p && (memcmp (p, "II*\0", 4) == 0 || memcmp (p, "MM\0*", 4) == 0))
    facts->type = DYNO_IMAGE_TIFF;
  switch (facts->type)
    {
    case DYNO_IMAGE_JPEG:
      ok = probe_jpeg (source, facts, error);
      break;
    case DYNO_IMAGE_PNG:
      ok = probe_png (source, facts, error);
      break;
    case DYNO_IMAGE_WEBP:
      ok = probe_webp (source, facts, error);
      break;
    case DYNO_IMAGE_BMP:
      ok = probe_bmp (source, facts, error);
      break;
    case DYNO_IMAGE_TIFF:
      ok = probe_tiff (source, facts, error);
      break;
    case DYNO_IMAGE_UNKNOWN:
    default:
      ok = set_unknown (source, error);
      break;
    }
  facts->orientation = MAX (facts->orientation, 1); /* 0: no entry gave one */
  return ok && check_limits (facts, error);
}

gboolean
dyno_image_probe (const guint8 *bytes, gsize size, DynoImageFacts *facts, GError **error)
{
  DynoImageSource source = { .bytes = bytes, .size = size, .fd = -1, .file_size = size };
  return probe (&source, facts, error);
}

gboolean
dyno_image_probe_file (int fd, guint64 at, guint64 size, DynoImageFacts *facts, GError **error)
{
  DynoImageSource source = { .fd = fd, .file_at = at, .file_size = size };
  g_autoptr (GError) reason = NULL;

  if (probe (&source, facts, &reason))
    return TRUE;
  if (source.failed)
    g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_READ, "cannot be read");
  else
    g_propagate_error (error, g_steal_pointer (&reason));
  return FALSE;
}

void
dyno_image_get_shown (const DynoImageFacts *facts, guint32 *width, guint32 *height)
{
  *width = facts->orientation >= 5 ? facts->height : facts->width;
  *height = facts->orientation >= 5 ? facts->width : facts->height;
}

gboolean
dyno_image_decode_pixels (const DynoImageFacts *facts, const guint8 *file, gsize file_size,
                          guint32 width, guint32 height, guint8 *pixels, GError **error)
{
  switch (facts->type)
    {
    case DYNO_IMAGE_JPEG:
      return dyno_jpeg_decode (file, file_size, facts, width, height, pixels, error);
    case DYNO_IMAGE_PNG:
      return dyno_png_decode (file, file_size, facts, pixels, error);
    case DYNO_IMAGE_WEBP:
      return dyno_webp_decode (file, file_size, facts, pixels, error);
    case DYNO_IMAGE_BMP:
      return dyno_bmp_decode (file, file_size, facts, pixels, error);
    case DYNO_IMAGE_TIFF:
      return dyno_tiff_decode (file, file_size, facts, pixels, error);
    case DYNO_IMAGE_UNKNOWN:
    default:
      g_return_val_if_reached (FALSE);
    }
}

gboolean
dyno_image_decode (GByteArray *scratch, gsize file_size, guint32 width, guint32 height, guint8 *out,
                   GError **error)
{
  DynoImageFacts facts;
  guint32 decoded_width, decoded_height, stored_width = width, stored_height = height;
  guint64 pixels_at, working_at, stored_at;

  if (!dyno_image_probe (scratch->data, file_size, &facts, error))
    return FALSE;
  decoded_width = facts.width;
  decoded_height = facts.height;
  /* The image is scaled before it is turned, since fewer pixels are turned then; the centre crop is
   * the same. */
  if (facts.orientation >= 5)
    {
      stored_width = height;
      stored_height = width;
    }
  if (facts.type == DYNO_IMAGE_JPEG)
    dyno_jpeg_choose_size (&facts, stored_width, stored_height, &decoded_width, &decoded_height);

  /* scratch: file | decoded pixels | working memory of the resampler | scaled pixels before
   * turning.  Sizes are bounded by the limits. */
  pixels_at = (file_size + 63) & ~(guint64) 63;
  working_at = (pixels_at + (guint64) decoded_width * decoded_height * 4 + 63) & ~(guint64) 63;
  stored_at =
      working_at
      + dyno_resize_scratch_bytes (decoded_width, decoded_height, 3, stored_width, stored_height);
  if (!dyno_datafile_reserve (
          scratch, stored_at + (facts.orientation > 1 ? (guint64) width * height * 3 : 0), error))
    return FALSE;
  if (!dyno_image_decode_pixels (&facts, scratch->data, file_size, decoded_width, decoded_height,
                                 scratch->data + pixels_at, error))
    return FALSE;
  dyno_resize_cover (scratch->data + pixels_at, decoded_width, decoded_height, 3, stored_width,
                     stored_height, facts.orientation > 1 ? scratch->data + stored_at : out,
                     scratch->data + working_at);
  if (facts.orientation > 1)
    dyno_image_turn (scratch->data + stored_at, facts.orientation, width, height, out);
  return TRUE;
}

/* The box scaled by decoded over stored size; at least one pixel. */
static DynoImageBox
scale_box (const DynoImageBox *box, const DynoImageFacts *facts, guint32 decoded_width,
           guint32 decoded_height)
{
  DynoImageBox scaled;

  scaled.x = (gint32) ((gint64) box->x * decoded_width / facts->width);
  scaled.y = (gint32) ((gint64) box->y * decoded_height / facts->height);
  scaled.width = (gint32) MAX ((gint64) box->width * decoded_width / facts->width, 1);
  scaled.height = (gint32) MAX ((gint64) box->height * decoded_height / facts->height, 1);
  return scaled;
}

void
dyno_image_cut (const guint8 *pixels, guint32 width, guint32 height, const DynoImageBox *box,
                guint8 *to)
{
  gint32 first = CLAMP (-box->x, 0, box->width),
         last = (gint32) CLAMP ((gint64) width - box->x, first, box->width);

  for (gint32 y = 0; y < box->height; y++, to += 3 * (gsize) box->width)
    {
      gint32 from = box->y + y;
      gboolean inside = from >= 0 && (guint32) from < height && last > first;

      if (!inside || first > 0 || last < box->width)
        memset (to, 0, 3 * (gsize) box->width);
      if (inside)
        memcpy (to + 3 * (gsize) first,
                pixels + 3 * ((gsize) from * width + (gsize) (box->x + first)),
                3 * (gsize) (last - first));
    }
}

gboolean
dyno_image_box_is_good (const DynoImageBox *box)
{
  const gint32 side = DYNO_IMAGE_MAX_SIDE;

  return box->width > 0 && box->width <= side && box->height > 0 && box->height <= side
         && box->x >= -side && box->x <= side && box->y >= -side && box->y <= side
         && (guint64) box->width * (guint64) box->height <= DYNO_IMAGE_MAX_PIXELS;
}

gboolean
dyno_image_decode_box (GByteArray *scratch, gsize file_size, const DynoImageBox *box, guint32 width,
                       guint32 height, guint8 *out, GError **error)
{
  DynoImageFacts facts;
  DynoImageBox scaled;
  guint32 decoded_width, decoded_height;
  guint64 pixels_at, cut_at, working_at;
  double scale;

  if (!dyno_image_probe (scratch->data, file_size, &facts, error))
    return FALSE;
  g_return_val_if_fail (dyno_image_box_is_good (box), FALSE);
  decoded_width = facts.width;
  decoded_height = facts.height;
  /* A JPEG is decoded at the smallest size at which the box still covers the wanted size. */
  scale = MAX ((double) width / box->width, (double) height / box->height);
  if (facts.type == DYNO_IMAGE_JPEG && scale < 1)
    dyno_jpeg_choose_size (&facts, (guint32) (facts.width * scale) + 1,
                           (guint32) (facts.height * scale) + 1, &decoded_width, &decoded_height);
  scaled = scale_box (box, &facts, decoded_width, decoded_height);

  /* scratch: file | decoded pixels | pixels of the box | working memory of the resampler. */
  pixels_at = (file_size + 63) & ~(guint64) 63;
  cut_at = (pixels_at + (guint64) decoded_width * decoded_height * 4 + 63) & ~(guint64) 63;
  working_at = (cut_at + (guint64) scaled.width * scaled.height * 3 + 63) & ~(guint64) 63;
  if (!dyno_datafile_reserve (
          scratch,
          working_at + dyno_resize_scratch_bytes (scaled.width, scaled.height, 3, width, height),
          error))
    return FALSE;
  if (!dyno_image_decode_pixels (&facts, scratch->data, file_size, decoded_width, decoded_height,
                                 scratch->data + pixels_at, error))
    return FALSE;
  dyno_image_cut (scratch->data + pixels_at, decoded_width, decoded_height, &scaled,
                  scratch->data + cut_at);
  dyno_resize_cover (scratch->data + cut_at, (guint32) scaled.width, (guint32) scaled.height, 3,
                     width, height, out, scratch->data + working_at);
  return TRUE;
}
