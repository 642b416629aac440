/* SPDX-License-Identifier: MIT */
/* BMP: 1, 4 and 8 bits with a palette, 16, 24 and 32 bits, with bit masks or without, stored
 * bottom-up or top-down; not compressed.  A mask for alpha is composed on white.  The files are
 * parsed here: rows lie in the file uncompressed, and their sizes are checked against it before
 * they are read. */
#include "image-codec.h"
#include "checked.h"
#include <string.h>

#define FILE_HEADER  14
#define CORE_HEADER  12
#define INFO_HEADER  40
#define BITFIELDS    3
#define ALPHA_FIELDS 6
#define MASKS_IN_V2  52 /* a header of at least this size includes the masks of the colours */
#define MASK_IN_V3   56 /* a header of at least this size also includes the mask of alpha */

typedef struct {
  guint32 header, bits, compression, colours;
  guint64 pixels_at, palette_at, row_bytes;
  gboolean top_down;
  guint32 masks[4]; /* red, green, blue, alpha; for 16 and 32 bits */
} Bmp;

static guint32
le16 (const guint8 *p)
{
  return (guint32) p[0] | (guint32) p[1] << 8;
}

static guint32
le32 (const guint8 *p)
{
  return le16 (p) | le16 (p + 2) << 16;
}

static gboolean
set_error (GError **error, DynoDataError code, const char *what)
{
  g_set_error_literal (error, DYNO_DATA_ERROR, (int) code, what);
  return FALSE;
}

gboolean
dyno_bmp_probe (const guint8 *header, gsize size, DynoImageFacts *facts, GError **error)
{
  guint32 info;
  gint32 height;

  if (size < FILE_HEADER + CORE_HEADER)
    return set_error (error, DYNO_DATA_ERROR_CORRUPT, "BMP that ends inside its header");
  info = le32 (header + 14);
  if (info == CORE_HEADER)
    {
      facts->width = le16 (header + 18);
      facts->height = le16 (header + 20);
      return TRUE;
    }
  if (info < INFO_HEADER || size < FILE_HEADER + 20)
    return set_error (error, DYNO_DATA_ERROR_CORRUPT, "BMP of an unknown header");
  height = (gint32) le32 (header + 22);
  facts->width = le32 (header + 18);
  facts->height = height < 0 ? 0 - (guint32) height : (guint32) height;
  return TRUE;
}

static gboolean
take_masks (Bmp *bmp, const guint8 *file, gsize size, GError **error)
{
  static const guint32 masks16[4] = { 0x7c00, 0x3e0, 0x1f, 0 },
                       masks32[4] = { 0xff0000, 0xff00, 0xff, 0 };

  memcpy (bmp->masks, bmp->bits == 16 ? masks16 : masks32, sizeof bmp->masks);
  if (bmp->compression == 0)
    return TRUE;
  if (size < FILE_HEADER + INFO_HEADER + 16)
    return set_error (error, DYNO_DATA_ERROR_CORRUPT, "BMP that ends inside its masks");
  for (guint i = 0; i < 3; i++)
    bmp->masks[i] = le32 (file + FILE_HEADER + INFO_HEADER + 4 * i);
  if (bmp->header >= MASK_IN_V3 || bmp->compression == ALPHA_FIELDS)
    bmp->masks[3] = le32 (file + FILE_HEADER + INFO_HEADER + 12);
  return TRUE;
}

static gboolean
read_header (Bmp *bmp, const guint8 *file, gsize size, const DynoImageFacts *facts, GError **error)
{
  guint64 bytes;

  if (size < FILE_HEADER + CORE_HEADER)
    return set_error (error, DYNO_DATA_ERROR_CORRUPT, "BMP that ends inside its header");
  bmp->pixels_at = le32 (file + 10);
  bmp->header = le32 (file + 14);
  if (bmp->header != CORE_HEADER && size < FILE_HEADER + INFO_HEADER)
    return set_error (error, DYNO_DATA_ERROR_CORRUPT, "BMP that ends inside its header");
  bmp->bits = le16 (file + (bmp->header == CORE_HEADER ? 24 : 28));
  bmp->compression = bmp->header == CORE_HEADER ? 0 : le32 (file + 30);
  bmp->colours = bmp->header == CORE_HEADER ? 0 : le32 (file + 46);
  bmp->top_down = bmp->header != CORE_HEADER && (file[25] & 0x80) != 0;
  bmp->palette_at = FILE_HEADER + (guint64) bmp->header;
  if (bmp->bits != 1 && bmp->bits != 4 && bmp->bits != 8 && bmp->bits != 16 && bmp->bits != 24
      && bmp->bits != 32)
    return set_error (error, DYNO_DATA_ERROR_UNSUPPORTED, "BMP of an unknown number of bits");
  if (bmp->compression != 0
      && !((bmp->compression == BITFIELDS || bmp->compression == ALPHA_FIELDS)
           && (bmp->bits == 16 || bmp->bits == 32)))
    return set_error (error, DYNO_DATA_ERROR_UNSUPPORTED,
                      "compressed BMP; save it without compression, or as PNG");
  bmp->row_bytes = dyno_align_up (dyno_div_up ((guint64) facts->width * bmp->bits, 8), 4);
  if (!dyno_size_mul (bmp->row_bytes, facts->height, &bytes)
      || !dyno_size_add (bytes, bmp->pixels_at, &bytes) || bytes > size)
    return set_error (error, DYNO_DATA_ERROR_CORRUPT, "BMP that ends early");
  return take_masks (bmp, file, size, error);
}

/* (256) RGB; entries that the file does not give are black. */
static gboolean
read_palette (const Bmp *bmp, const guint8 *file, gsize size, guint8 *palette, GError **error)
{
  guint32 room = 1u << bmp->bits, entry = bmp->header == CORE_HEADER ? 3 : 4,
          n = bmp->colours > 0 ? MIN (bmp->colours, room) : room;

  memset (palette, 0, 3 * 256);
  if (bmp->palette_at > size || (guint64) n * entry > size - bmp->palette_at)
    return set_error (error, DYNO_DATA_ERROR_CORRUPT, "BMP that ends inside its palette");
  for (guint32 i = 0; i < n; i++)
    for (guint c = 0; c < 3; c++)
      palette[i * 3 + c] = file[bmp->palette_at + (guint64) i * entry + 2 - c];
  return TRUE;
}

/* Scales the bits of a mask to 0..255. */
static guint8
take_bits (guint32 pixel, guint32 mask)
{
  guint shift = mask ? (guint) __builtin_ctz (mask) : 0;
  guint64 most = mask >> shift;

  return most > 0 ? (guint8) (((guint64) ((pixel & mask) >> shift) * 255 + most / 2) / most) : 0;
}

static void
read_masked (const Bmp *bmp, const guint8 *row, guint32 width, guint8 *out)
{
  for (guint32 x = 0; x < width; x++)
    {
      guint32 pixel = bmp->bits == 16 ? le16 (row + 2 * (gsize) x) : le32 (row + 4 * (gsize) x);
      guint alpha = bmp->masks[3] ? take_bits (pixel, bmp->masks[3]) : 255;

      for (guint c = 0; c < 3; c++)
        *out++ =
            (guint8) ((take_bits (pixel, bmp->masks[c]) * alpha + 255 * (255 - alpha) + 127) / 255);
    }
}

gboolean
dyno_bmp_decode (const guint8 *file, gsize size, const DynoImageFacts *facts, guint8 *out,
                 GError **error)
{
  Bmp bmp = { 0 };
  guint8 palette[3 * 256];

  if (!read_header (&bmp, file, size, facts, error)
      || (bmp.bits <= 8 && !read_palette (&bmp, file, size, palette, error)))
    return FALSE;
  for (guint32 y = 0; y < facts->height; y++)
    {
      const guint8 *row =
          file + bmp.pixels_at + bmp.row_bytes * (bmp.top_down ? y : facts->height - 1 - y);
      guint8 *to = out + (gsize) y * facts->width * 3;

      if (bmp.bits == 16 || bmp.bits == 32)
        read_masked (&bmp, row, facts->width, to);
      for (guint32 x = 0; x < facts->width && bmp.bits <= 8; x++)
        {
          gsize bit = (gsize) x * bmp.bits;
          guint index = row[bit / 8] >> (8 - bmp.bits - bit % 8) & ((1u << bmp.bits) - 1);
          memcpy (to + (gsize) x * 3, palette + (gsize) index * 3, 3);
        }
      for (guint32 x = 0; x < facts->width && bmp.bits == 24; x++)
        for (guint c = 0; c < 3; c++)
          to[(gsize) x * 3 + c] = row[(gsize) x * 3 + 2 - c];
    }
  return TRUE;
}
