/* SPDX-License-Identifier: MIT */
/* Random resized crops that are drawn before a sample is decoded, so that only the crop is decoded,
 * at the full resolution of its file: torchvision's RandomResizedCrop.  The device draws the same
 * crops from the same seeds, for samples that were decoded whole (prepare_draw.comp). */
#pragma once
#include "image.h"

G_BEGIN_DECLS

typedef struct {
  double area;  /* least share of the area that a crop has; 0: no crop is drawn */
  double ratio; /* width over height lies between 1 / ratio and ratio; at least 1 */
} DynoCrop;

/* The crop that a sample's seed draws from an image of this size; it lies within the image. */
DynoImageBox dyno_crop_draw (const DynoCrop *crop, guint32 seed, guint32 width, guint32 height);

/* Decodes the crop that dyno_crop_draw draws, from the image file in the first file_size bytes of
 * scratch, or from a piece of the image (NULL: the whole image as shown), and scales it to out,
 * (height, width, 3), each side independently.  For a JPEG only the necessary part is decoded, so
 * that damage elsewhere in the file is not detected.  scratch grows as needed.  Errors: as of
 * dyno_image_decode. */
gboolean dyno_image_decode_crop (GByteArray *scratch, gsize file_size, const DynoImageBox *piece,
                                 const DynoCrop *crop, guint32 seed, guint32 width, guint32 height,
                                 guint8 *out, GError **error);

G_END_DECLS
