/* SPDX-License-Identifier: MIT */
/* The decoders that image.c calls, one per file type.  Each gets a file whose facts were checked
 * against the limits. */
#pragma once
#include "mask.h"

G_BEGIN_DECLS

/* Size at which the decoder can give the image; it covers width x height where the decoder can. */
void dyno_jpeg_choose_size (const DynoImageFacts *facts, guint32 width, guint32 height,
                            guint32 *out_width, guint32 *out_height);

/* The scale, in eighths, for a size that _choose_size chose. */
guint dyno_jpeg_find_eighths (const DynoImageFacts *facts, guint32 out_width, guint32 out_height);

/* Gives the same pixels as _decode, but only of a region, which is widened to the decoded region;
 * it has at least one pixel and lies within the image.  out: packed rows of the region, with room
 * for _count_region_bytes of the region that is asked for. */
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

/* By type; width, height: the chosen ones for a JPEG, else those that are stored. */
gboolean dyno_image_decode_pixels (const DynoImageFacts *facts, const guint8 *file, gsize file_size,
                                   guint32 width, guint32 height, guint8 *pixels, GError **error);

/* Size from the first bytes of a BMP. */
gboolean dyno_bmp_probe (const guint8 *header, gsize size, DynoImageFacts *facts, GError **error);

/* Copies the box out of (height, width, 3) pixels to `to`, black where it lies outside. */
void dyno_image_cut (const guint8 *pixels, guint32 width, guint32 height, const DynoImageBox *box,
                     guint8 *to);

/* RGBA to RGB on white, in place. */
void dyno_image_compose_white (guint8 *pixels, gsize count);

/* Turns stored pixels into shown ones: out is (height, width, 3), the stored pixels are (height,
 * width, 3), or (width, height, 3) from orientation 5 on. */
void dyno_image_turn (const guint8 *stored, guint orientation, guint32 width, guint32 height,
                      guint8 *out);

G_END_DECLS
