/* SPDX-License-Identifier: MIT */
/* Masks: PNG files with a number or a colour for each pixel of an image, which stand for classes.
 * The pixels stay as they are stored (the index of a palette, the number of a grey value); a table
 * maps them to class ids.  A mask is resampled by its nearest pixel: ids have no mean. */
#pragma once
#include "image.h"
#include "resize.h"

G_BEGIN_DECLS

typedef struct {
  guint32 width, height;
  gboolean palette; /* pixels are indices of a palette */
  gboolean colours; /* pixels are RGB; alpha does not count */
  guint8 bits;      /* bits of a stored number, 1 to 16 */
} DynoMaskFacts;

/* Maps pixels of masks to class ids; a number or colour that has no class becomes
 * DYNO_MASK_IGNORED. */
typedef struct {
  guint8 of_number[256];
  guint32 n_colours;
  const guint32 *colours;  /* (n_colours) 0xrrggbb, ascending */
  const guint8 *of_colour; /* (n_colours) */
} DynoMaskTable;

/* Bytes of a pixel in the file: 3 for colours, 2 for 16 bits, else 1. */
static inline gsize
dyno_mask_pixel_bytes (const DynoMaskFacts *facts)
{
  return facts->colours ? 3 : facts->bits > 8 ? 2 : 1;
}

/* Decodes the mask file of size bytes at `at` in scratch.  Its pixels, (height, width) of 1 byte,
 * or of 3 where they are colours, lie in scratch from *pixels_at on, after the file.  Numbers of 16
 * bits are converted to bytes; 65535, white in such a mask, becomes 255.  Errors: UNSUPPORTED (no
 * PNG, or another number of 16 bits that does not fit a byte), CORRUPT, TOO_LARGE. */
gboolean dyno_mask_decode (GByteArray *scratch, gsize at, gsize size, DynoMaskFacts *facts,
                           gsize *pixels_at, GError **error);

guint8 dyno_mask_find_colour (const DynoMaskTable *table, guint32 rgb);

/* The window of a picture that is scaled to cover width x height and cut in the middle, as images
 * are. */
DynoResizeWindow dyno_mask_cover (guint32 picture_width, guint32 picture_height, guint32 width,
                                  guint32 height);

/* Writes class ids (height, width): each output pixel takes the mask's pixel in which its centre
 * lies; at a centre on the border of two pixels, the right or lower one.  orientation: the EXIF
 * orientation by which the picture is turned, where its mask was drawn on the stored pixels; else
 * 1.  window lies in the turned picture.
 *
 * A JPEG may be decoded at a smaller scale, with its sides rounded up to whole pixels: image and
 * mask then differ by less than one pixel of the output. */
void dyno_mask_sample (const guint8 *pixels, const DynoMaskFacts *facts, guint8 orientation,
                       const DynoResizeWindow *window, const DynoMaskTable *table, guint32 width,
                       guint32 height, guint8 *out);

/* Copies the ids (height, width) of each `every`th row and column, from the first on; out: (height
 * / every, width / every), rounded up. */
void dyno_mask_thin (const guint8 *ids, guint32 width, guint32 height, guint32 every, guint8 *out);

/* The reverse of dyno_mask_sample: converts class ids (height, width) of a picture that was scaled
 * to cover and cut in the middle to ids of the whole picture, (picture_height, picture_width).
 * Each pixel gets the id in which its centre lies; at a centre on the border of two, the left or
 * upper one.  A pixel that was cut off gets DYNO_MASK_IGNORED.  Where the picture is not smaller
 * than the ids, dyno_mask_sample restores the ids from the result. */
void dyno_mask_restore (const guint8 *ids, guint32 width, guint32 height, guint32 picture_width,
                        guint32 picture_height, guint8 *out);

G_END_DECLS
