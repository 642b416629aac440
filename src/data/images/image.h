/* SPDX-License-Identifier: MIT */
/* JPEG, PNG, WebP, BMP and TIFF files: recognises them by their content and decodes them to RGB
 * bytes of a wanted size. */
#pragma once
#include "data-error.h"

G_BEGIN_DECLS

typedef enum {
  DYNO_IMAGE_UNKNOWN,
  DYNO_IMAGE_JPEG,
  DYNO_IMAGE_PNG,
  DYNO_IMAGE_WEBP,
  DYNO_IMAGE_BMP,
  DYNO_IMAGE_TIFF,
} DynoImageType;

typedef struct {
  DynoImageType type;
  guint32 width, height; /* as stored */
  gboolean progressive;  /* JPEG */
  guint8 bits;           /* bits of a channel; 8 where the type has only that */
  gboolean grey;         /* one channel, or one channel and alpha */
  gboolean garbage;      /* JPEG with bytes between its segments that belong to no segment */
  /* by EXIF, XMP or the TIFF tag, 1 to 8; from 5 on width and height are exchanged when the image
   * is shown */
  guint8 orientation;
} DynoImageFacts;

/* Limits that are checked before a decoder sees the file. */
#define DYNO_IMAGE_MAX_SIDE       32768
#define DYNO_IMAGE_MAX_PIXELS     (G_GUINT64_CONSTANT (120) * 1000 * 1000)
#define DYNO_IMAGE_MAX_FILE_BYTES (G_GUINT64_CONSTANT (256) << 20)
#define DYNO_IMAGE_MAX_SCANS      100 /* of a progressive JPEG; about 10 are usual */
/* scans times pixels */
#define DYNO_IMAGE_MAX_SCAN_WORK (G_GUINT64_CONSTANT (2) * 1000 * 1000 * 1000)

/* Width and height of the shown image. */
void dyno_image_get_shown (const DynoImageFacts *facts, guint32 *width, guint32 *height);

/* Read type and size from the header of an image in memory, or of size bytes from `at` on in an
 * open file, of which only pieces of the header are read.  Errors: UNSUPPORTED (no image, or a
 * variant), CORRUPT, TOO_LARGE, READ. */
gboolean dyno_image_probe (const guint8 *bytes, gsize size, DynoImageFacts *facts, GError **error);
gboolean dyno_image_probe_file (int fd, guint64 at, guint64 size, DynoImageFacts *facts,
                                GError **error);

/* Decodes the image file that lies in the first file_size bytes of scratch into out, (height,
 * width, 3), scaled to cover and cut in the middle.  Alpha is composed on white, and a JPEG is
 * turned by its EXIF orientation.  scratch grows as needed.  Errors: as of probe; CORRUPT also for
 * a file that ends early. */
gboolean dyno_image_decode (GByteArray *scratch, gsize file_size, guint32 width, guint32 height,
                            guint8 *out, GError **error);

/* A piece of an image in stored pixels; the part of it that lies outside the image is black. */
typedef struct {
  gint32 x, y, width, height; /* sides are positive */
} DynoImageBox;

/* FALSE: the sides or the position of the box exceed the limits of an image, or it has too many
 * pixels. */
gboolean dyno_image_box_is_good (const DynoImageBox *box);

/* Decodes only that piece, scaled to cover and cut in the middle.  The image is not turned: the box
 * of the piece was measured on the stored pixels. */
gboolean dyno_image_decode_box (GByteArray *scratch, gsize file_size, const DynoImageBox *box,
                                guint32 width, guint32 height, guint8 *out, GError **error);

/* Luma of RGB pixels, with the weights and the rounding of PIL's convert ("L"): grey stays
 * unchanged. */
void dyno_image_take_luma (const guint8 *rgb, gsize count, guint8 *out);

/* Encode pixels as a file in memory: PNG from (height, width, channels) with 1 or 3 channels, JPEG
 * from 3 channels with quality 95 and full chroma.  out is overwritten.  Errors: TOO_LARGE. */
gboolean dyno_image_encode_png (const guint8 *pixels, guint32 width, guint32 height,
                                guint32 channels, GByteArray *out, GError **error);
gboolean dyno_image_encode_jpeg (const guint8 *pixels, guint32 width, guint32 height,
                                 GByteArray *out, GError **error);

/* Encodes a mask, (height, width) of class ids, as a PNG of 8 bits a pixel whose palette has the
 * colours of palette.h: the id is the index, as in PASCAL VOC's masks.  Errors: TOO_LARGE. */
GBytes *dyno_image_encode_mask_png (const guint8 *ids, guint32 width, guint32 height,
                                    GError **error);

G_END_DECLS
