/* SPDX-License-Identifier: MIT */
/* The decoders behind image.c, one per file type.  Each is given a file whose facts were checked
 * against the limits. */
#pragma once
#include "image.h"

G_BEGIN_DECLS

/* Size at which the decoder can give the image, at least width x height in the cover sense where it
 * can be had. */
void dyno_jpeg_choose_size (const DynoImageFacts *facts, guint32 width, guint32 height,
                            guint32 *out_width, guint32 *out_height);

/* The scale, in eighths, at which a size is given that _choose_size chose. */
guint dyno_jpeg_find_eighths (const DynoImageFacts *facts, guint32 out_width, guint32 out_height);

/* The same pixels as _decode gives, but of a region alone, which is widened to what is decoded; it
 * has a pixel at least and lies within the image.  out: packed rows of the region, with room for
 * _count_region_bytes of the region that is asked for. */
gboolean dyno_jpeg_decode_region (const guint8 *file, gsize size, const DynoImageFacts *facts,
                                  guint32 out_width, guint32 out_height, DynoImageBox *region,
                                  guint8 *out, GError **error);
guint64 dyno_jpeg_count_region_bytes (const DynoImageBox *region);

/* Each writes RGB rows of out_width x out_height, packed; out has room for 4 bytes per pixel. */
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

/* By type; width, height: of a JPEG as chosen, else as stored. */
gboolean dyno_image_decode_pixels (const DynoImageFacts *facts, const guint8 *file, gsize file_size,
                                   guint32 width, guint32 height, guint8 *pixels, GError **error);

/* Size from the first bytes of a BMP. */
gboolean dyno_bmp_probe (const guint8 *header, gsize size, DynoImageFacts *facts, GError **error);

/* The box out of (height, width, 3) pixels to `to`, black where it lies outside. */
void dyno_image_cut (const guint8 *pixels, guint32 width, guint32 height, const DynoImageBox *box,
                     guint8 *to);

/* RGBA to RGB on white, in place. */
void dyno_image_compose_white (guint8 *pixels, gsize count);

/* out, (height, width, 3), is what is shown of stored pixels: (height, width, 3), or (width,
 * height, 3) from orientation 5 on. */
void dyno_image_turn (const guint8 *stored, guint orientation, guint32 width, guint32 height,
                      guint8 *out);

G_END_DECLS
