/* SPDX-License-Identifier: MIT */
/* The decoders that image.c calls, one per file type.  Each gets a file whose facts were checked
 * against the limits. */
#pragma once
#include "mask.h"

G_BEGIN_DECLS

/* Chooses the size at which the decoder gives the image; it covers width x height where a possible
 * size does. */
void dyno_jpeg_choose_size (const DynoImageFacts *facts, guint32 width, guint32 height,
                            guint32 *out_width, guint32 *out_height);

/* The scale, in eighths, for a size that _choose_size chose. */
guint dyno_jpeg_find_eighths (const DynoImageFacts *facts, guint32 out_width, guint32 out_height);

/* Decodes only a region, to the same pixels as dyno_jpeg_decode.  *region, of at least one pixel
 * and within the image, is enlarged to the region that is decoded.  out: packed rows of that
 * region, with room for dyno_jpeg_count_region_bytes of the requested region. */
gboolean dyno_jpeg_decode_region (const guint8 *file, gsize size, const DynoImageFacts *facts,
                                  guint32 out_width, guint32 out_height, DynoImageBox *region,
                                  guint8 *out, GError **error);
guint64 dyno_jpeg_count_region_bytes (const DynoImageBox *region);

/* Each writes packed RGB rows of out_width x out_height; out has room for 4 bytes per pixel. */
gboolean dyno_jpeg_decode (const guint8 *file, gsize size, const DynoImageFacts *facts,
                           guint32 out_width, guint32 out_height, guint8 *out, GError **error);
gboolean dyno_png_decode (const guint8 *file, gsize size, const DynoImageFacts *facts, guint8 *out,
                          GError **error);
gboolean dyno_webp_decode (const guint8 *file, gsize size, const DynoImageFacts *facts, guint8 *out,
                           GError **error);
gboolean dyno_bmp_decode (const guint8 *file, gsize size, const DynoImageFacts *facts, guint8 *out,
                          GError **error);
gboolean dyno_tiff_decode (const guint8 *file, gsize size, const DynoImageFacts *facts, guint8 *out,
                           GError **error);

/* Writes packed rows of dyno_mask_pixel_bytes a pixel; numbers of 16 bits are big-endian. */
gboolean dyno_png_decode_mask (const guint8 *file, gsize size, const DynoMaskFacts *facts,
                               guint8 *out, GError **error);

/* Calls the decoder of the type.  width, height: the size that _choose_size chose for a JPEG, else
 * the stored size. */
gboolean dyno_image_decode_pixels (const DynoImageFacts *facts, const guint8 *file, gsize file_size,
                                   guint32 width, guint32 height, guint8 *pixels, GError **error);

/* Reads the size from the first bytes of a BMP. */
gboolean dyno_bmp_probe (const guint8 *header, gsize size, DynoImageFacts *facts, GError **error);

/* Copies the box from (height, width, 3) pixels to `to`, black where the box lies outside the
 * image. */
void dyno_image_cut (const guint8 *pixels, guint32 width, guint32 height, const DynoImageBox *box,
                     guint8 *to);

/* Converts RGBA to RGB on white, in place. */
void dyno_image_compose_white (guint8 *pixels, gsize count);

/* Turns stored pixels into shown ones: out is (height, width, 3), the stored pixels are (height,
 * width, 3), or (width, height, 3) from orientation 5 on. */
void dyno_image_turn (const guint8 *stored, guint orientation, guint32 width, guint32 height,
                      guint8 *out);

G_END_DECLS
