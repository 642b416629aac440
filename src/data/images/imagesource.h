/* SPDX-License-Identifier: MIT */
/* The bytes of a header, and the orientation by EXIF or XMP, for the probes of image.c. */
#pragma once
#include "image.h"

G_BEGIN_DECLS

/* A header in memory, or in a file, of which one window is in memory. */
typedef struct {
  const guint8 *bytes;
  gsize size;
  int fd;                     /* -1: bytes has the whole header */
  guint64 file_at, file_size; /* position of the image in the file */
  guint64 window_at;
  guint8 window[4096];
  gboolean failed;
} DynoImageSource;

/* count bytes at offset, or NULL past the end; count <= 64. */
const guint8 *dyno_image_source_look (DynoImageSource *source, guint64 offset, gsize count);

static inline guint32
dyno_be16 (const guint8 *p)
{
  return (guint32) p[0] << 8 | p[1];
}

static inline guint32
dyno_be32 (const guint8 *p)
{
  return dyno_be16 (p) << 16 | dyno_be16 (p + 2);
}

static inline guint32
dyno_le24 (const guint8 *p)
{
  return (guint32) p[0] | (guint32) p[1] << 8 | (guint32) p[2] << 16;
}

static inline guint32
dyno_tiff16 (const guint8 *p, gboolean big)
{
  return big ? dyno_be16 (p) : (guint32) p[0] | (guint32) p[1] << 8;
}

static inline guint32
dyno_tiff32 (const guint8 *p, gboolean big)
{
  return big ? dyno_be32 (p) : dyno_tiff16 (p, FALSE) | dyno_tiff16 (p + 2, FALSE) << 16;
}

/* The orientation, 1 to 8, from length bytes at offset; 0: there is none, or the bytes are damaged,
 * which does not make the image unusable.  EXIF: a TIFF header, with or without "Exif" and two
 * zeros before it.  XMP: a packet; in an APP1 segment, the packet after its name. */
guint8 dyno_orientation_of_exif (DynoImageSource *source, guint64 offset, guint64 length);
guint8 dyno_orientation_of_xmp (DynoImageSource *source, guint64 offset, guint64 length);
guint8 dyno_orientation_of_app1_xmp (DynoImageSource *source, guint64 offset, guint64 length);

/* EXIF takes precedence over XMP; each is 0 where it has no orientation. */
void dyno_orientation_set (DynoImageFacts *facts, guint8 by_exif, guint8 by_xmp);

/* The orientations from a PNG's chunks before its pixels (reading those after them would mean
 * reading the whole file), and from a WebP's chunks. */
void dyno_orientation_find_png (DynoImageSource *source, DynoImageFacts *facts);
void dyno_orientation_find_webp (DynoImageSource *source, DynoImageFacts *facts);

G_END_DECLS
