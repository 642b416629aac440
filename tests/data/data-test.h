/* SPDX-License-Identifier: MIT */
/* Small files for tests of the data layer: each test writes the files that it reads, in a folder of
 * its own. */
#pragma once
#include "dataset.h"
#include <glib/gstdio.h>

G_BEGIN_DECLS

char *test_folder_new (void);
void test_folder_remove (const char *path);

/* Writes a file in folder; name may have sub-folders, which are created.  Returns the path
 * (g_free). */
char *test_write (const char *folder, const char *name, gconstpointer data, gsize size);

/* Plain images of one colour with a brighter left half; free with g_byte_array_unref. */
GByteArray *test_jpeg (guint width, guint height, guint8 red, guint8 green, guint8 blue,
                       gboolean progressive);
GByteArray *test_png (guint width, guint height, int colour_type, int depth, gboolean interlaced);

/* A PNG with these stored pixels: one byte for a number or an index, two for a 16-bit number, three
 * for RGB, four for RGBA.  Free with g_byte_array_unref. */
GByteArray *test_mask (guint width, guint height, int colour_type, int depth, gboolean interlaced,
                       const guint8 *pixels);

/* Opens location, which must fail with code and a message that has the words (separated by '|'). */
void test_open_fails (const char *location, DynoDataError code, const char *words);
DynoDataset *test_open (const char *location);

void test_has_words (const GError *error, const char *words);

G_END_DECLS
