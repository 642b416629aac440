/* SPDX-License-Identifier: MIT */
/* The colours in which classes of pixels are drawn and stored. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/* The colour of a class id: the palette of PASCAL VOC's masks (VOCdevkit, VOClabelcolormap.m).  The
 * bits of the id are assigned in turn to red, green and blue, from the highest bit of the colour
 * downwards: bits 0, 3 and 6 of the id are bits 7, 6 and 5 of red, bits 1, 4 and 7 those of green,
 * bits 2 and 5 bits 7 and 6 of blue.  So 0 is black, and all 256 colours differ. */
void dyno_palette_get (guint8 id, guint8 rgb[3]);

/* Blends a mask over a picture of n RGB pixels: each becomes the mean of itself and the colour of
 * its class.  Pixels of class 0, mostly the background, are not changed. */
void dyno_palette_blend (guint8 *rgb, const guint8 *ids, gsize n);

G_END_DECLS
