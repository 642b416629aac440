/* SPDX-License-Identifier: MIT */
/* Masks over pictures, in the colours of the classes. */
#pragma once
#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Paints a mask, (height, width) of class ids with the picture's size, over a picture of RGB.
 * Pixels of class 0, the background, are left as they are, ignored pixels are hatched, and the
 * others are blended with the colour of their class.  Any thread. */
void dyno_mask_picture_cover (GdkPixbuf *picture, const guint8 *mask);
/* A small square in the colour that a class has in pictures; class 0 has a border only. */
GtkWidget *dyno_mask_swatch_new (guint8 class_id);
/* The same as a picture of `pixels` a side. */
GdkPixbuf *dyno_mask_swatch_draw (guint8 class_id, int pixels);

G_END_DECLS
