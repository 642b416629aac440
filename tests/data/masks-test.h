/* SPDX-License-Identifier: MIT */
/* Small folders of images and masks. */
#pragma once
#include "data-test.h"

G_BEGIN_DECLS

/* Writes an image of one colour, (height, width); a name that ends in .jpg is a JPEG. */
void masks_put_image (const char *folder, const char *name, guint width, guint height);
/* Writes a mask of stored pixels, as test_mask takes them. */
void masks_put (const char *folder, const char *name, guint width, guint height, int type,
                int depth, const guint8 *pixels);
/* Writes an 8-bit grey mask of 4 x 2 pixels, whose upper row is a and whose lower row is b, and its
 * image: images/NAME.png, masks/NAME.png. */
void masks_put_pair (const char *folder, const char *name, guint8 a, guint8 b);
void masks_put_text (const char *folder, const char *name, const char *text);

DynoDataset *masks_open (const char *location, DynoTask task);
/* Returns the mask of a sample in the size of its image, (height, width). */
GBytes *masks_decode (DynoDataset *dataset, guint64 index, guint32 width, guint32 height);
void masks_check (DynoDataset *dataset, guint64 index, guint32 width, guint32 height,
                  const guint8 *expected);

/* Classes are given as "name:pixels name:pixels". */
void masks_check_classes (DynoDataset *dataset, const char *expected);
/* Assert that a note, or the listing of an unused file, has the words (separated by '|'). */
void masks_has_note (DynoDataset *dataset, const char *words);
void masks_has_refused (DynoDataset *dataset, const char *words);

G_END_DECLS
