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

/* Size from the first bytes of a BMP. */
gboolean dyno_bmp_probe (const guint8 *header, gsize size, DynoImageFacts *facts, GError **error);

/* RGBA to RGB on white, in place. */
void dyno_image_compose_white (guint8 *pixels, gsize count);

/* out, (height, width, 3), is what is shown of stored pixels: (height, width, 3), or (width,
 * height, 3) from orientation 5 on. */
void dyno_image_turn (const guint8 *stored, guint orientation, guint32 width, guint32 height,
                      guint8 *out);

G_END_DECLS
