/* SPDX-License-Identifier: MIT */
/* Random resized crops that are drawn before a sample is decoded, so that only they are decoded, and
 * in all the pixels that its file has: torchvision's RandomResizedCrop.  The device draws the same
 * from the same seeds, of samples that were decoded whole (prepare_draw.comp). */
#pragma once
#include "image.h"

G_BEGIN_DECLS

typedef struct {
  double area;  /* least share of the area that is taken; 0: none is drawn */
  double ratio; /* width over height lies between 1 / ratio and ratio; at least 1 */
} DynoCrop;

/* The crop that the seed of a sample draws of an image of this size; it lies within. */
DynoImageBox dyno_crop_draw (const DynoCrop *crop, guint32 seed, guint32 width, guint32 height);

/* Decodes that crop of the image file that lies in the first file_size bytes of scratch, or of the
 * piece of it (NULL: all of it, as it is shown), and scales it to out, (height, width, 3), each side
 * for itself.  Of a JPEG no more is decoded than that needs, so damage elsewhere in the file stays
 * unseen.  scratch grows as needed.  Errors: as of dyno_image_decode. */
gboolean dyno_image_decode_crop (GByteArray *scratch, gsize file_size, const DynoImageBox *piece,
                                 const DynoCrop *crop, guint32 seed, guint32 width, guint32 height,
                                 guint8 *out, GError **error);

G_END_DECLS
