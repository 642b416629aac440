/* SPDX-License-Identifier: MIT */
#include "masks-test.h"
#include <png.h>
#include <string.h>

static void
put (const char *folder, const char *name, GByteArray *bytes)
{
  g_free (test_write (folder, name, bytes->data, bytes->len));
  g_byte_array_unref (bytes);
}

void
masks_put_image (const char *folder, const char *name, guint width, guint height)
{
  put (folder, name,
       g_str_has_suffix (name, ".jpg") ? test_jpeg (width, height, 100, 150, 200, FALSE)
                                       : test_png (width, height, PNG_COLOR_TYPE_RGB, 8, FALSE));
}

void
masks_put (const char *folder, const char *name, guint width, guint height, int type, int depth,
           const guint8 *pixels)
{
  put (folder, name, test_mask (width, height, type, depth, FALSE, pixels));
}

void
masks_put_pair (const char *folder, const char *name, guint8 a, guint8 b)
{
  const guint8 pixels[] = { a, a, a, a, b, b, b, b };
  g_autofree char *image = g_strdup_printf ("images/%s.png", name),
                  *mask = g_strdup_printf ("masks/%s.png", name);

  masks_put_image (folder, image, 4, 2);
  masks_put (folder, mask, 4, 2, PNG_COLOR_TYPE_GRAY, 8, pixels);
}

void
masks_put_text (const char *folder, const char *name, const char *text)
{
  g_free (test_write (folder, name, text, strlen (text)));
}

DynoDataset *
masks_open (const char *location, DynoTask task)
{
  const DynoDatasetParams params = { .task = task };
  g_autoptr (GError) error = NULL;
  DynoDataset *dataset = dyno_dataset_open (location, &params, NULL, NULL, NULL, &error);

  g_assert_no_error (error);
  return dataset;
}

GBytes *
masks_decode (DynoDataset *dataset, guint64 index, guint32 width, guint32 height)
{
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  g_autofree guint8 *image = g_malloc ((gsize) width * height * 3);
  guint8 *ids = g_malloc ((gsize) width * height);
  gpointer fields[DYNO_SCHEMA_MAX_FIELDS] = { image, ids };
  g_autoptr (GError) error = NULL;

  dyno_dataset_decode (dataset, index, width, height, fields, scratch, &error);
  g_assert_no_error (error);
  return g_bytes_new_take (ids, (gsize) width * height);
}

void
masks_check (DynoDataset *dataset, guint64 index, guint32 width, guint32 height,
             const guint8 *expected)
{
  g_autoptr (GBytes) ids = masks_decode (dataset, index, width, height);

  g_assert_cmpmem (g_bytes_get_data (ids, NULL), width * height, expected, width * height);
}

void
masks_check_classes (DynoDataset *dataset, const char *expected)
{
  const DynoDatasetInfo *info = dyno_dataset_get_info (dataset);
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint32 i = 0; i < info->n_classes; i++)
    g_string_append_printf (text, "%s%s:%" G_GUINT64_FORMAT, i > 0 ? " " : "", info->class_names[i],
                            info->class_counts[i]);
  g_assert_cmpstr (text->str, ==, expected);
}

static gboolean
has_words (const char *text, const char *words)
{
  g_auto (GStrv) parts = g_strsplit (words, "|", -1);

  for (guint i = 0; parts[i]; i++)
    if (!strstr (text, parts[i]))
      return FALSE;
  return TRUE;
}

static void
check_list (const char *const *list, const char *words)
{
  for (guint i = 0; list[i]; i++)
    if (has_words (list[i], words))
      return;
  for (guint i = 0; list[i]; i++)
    g_printerr ("  %s\n", list[i]);
  g_error ("none has “%s”", words);
}

void
masks_has_note (DynoDataset *dataset, const char *words)
{
  g_auto (GStrv) notes = dyno_dataset_list_notes (dataset, NULL, NULL);

  check_list ((const char *const *) notes, words);
}

void
masks_has_refused (DynoDataset *dataset, const char *words)
{
  check_list (dyno_dataset_get_unreadable (dataset), words);
}
