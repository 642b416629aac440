/* SPDX-License-Identifier: MIT */
/* Random augmentation of a sample on the CPU in double, one transform after the other, as
 * torchvision defines them. */
#pragma once
#include "schema.h"

G_BEGIN_DECLS

/* The draws of a seed. */
typedef struct {
  double left, top, width, height; /* of the crop */
  double shift_x, shift_y, degrees;
  gboolean flip, flip_vertical;
  double brightness, contrast, saturation, hue;
  double erase_left, erase_top, erase_width, erase_height;
} ReferenceDraw;

ReferenceDraw reference_draw (const DynoAugmentation *a, guint32 w, guint32 h, guint32 seed);

/* raw, result: one sample (H, W, C), dense; values are 0 to most; factor, offset: for each
 * channel. */
void reference_augment (const DynoAugmentation *a, guint32 h, guint32 w, guint32 c, double most,
                        const double *raw, guint32 seed, const double *factor, const double *offset,
                        double *result);

G_END_DECLS
