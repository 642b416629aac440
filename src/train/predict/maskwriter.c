/* SPDX-License-Identifier: MIT */
#include "maskwriter.h"
#include "csvcell.h"
#include "file.h"
#include "image.h"
#include "mask.h"
#include <string.h>

struct _DynoMaskWriter {
  char *folder;
  DynoDataset *dataset; /* NULL: masks are written as they were predicted */
  GByteArray *scratch;
  guint32 width, height;
  GHashTable *names; /* the names that were written */
};

DynoMaskWriter *
dyno_mask_writer_new (const char *folder, DynoDataset *dataset, guint32 width, guint32 height)
{
  DynoMaskWriter *writer = g_new0 (DynoMaskWriter, 1);

  writer->folder = g_strdup (folder);
  writer->dataset = dataset ? dyno_dataset_ref (dataset) : NULL;
  writer->scratch = g_byte_array_new ();
  writer->width = width;
  writer->height = height;
  writer->names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  return writer;
}

void
dyno_mask_writer_free (DynoMaskWriter *writer)
{
  g_clear_pointer (&writer->dataset, dyno_dataset_unref);
  g_byte_array_unref (writer->scratch);
  g_hash_table_unref (writer->names);
  g_free (writer->folder);
  g_free (writer);
}

/* Encodes the mask as a PNG, at the size of its picture where requested. */
static GBytes *
encode (DynoMaskWriter *writer, guint64 index, const guint8 *mask, GError **error)
{
  g_autofree guint8 *restored = NULL;
  guint32 width, height;

  if (!writer->dataset)
    return dyno_image_encode_mask_png (mask, writer->width, writer->height, error);
  if (!dyno_dataset_find_size (writer->dataset, index, writer->scratch, &width, &height, error))
    return NULL;
  restored = g_try_malloc_n (width, height);
  if (!restored)
    {
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_TOO_LARGE,
                   "there is no memory for a mask of %u x %u pixels", width, height);
      return NULL;
    }
  dyno_mask_restore (mask, writer->width, writer->height, width, height, restored);
  return dyno_image_encode_mask_png (restored, width, height, error);
}

char *
dyno_mask_writer_write (DynoMaskWriter *writer, const char *sample, guint64 index,
                        const guint8 *mask, GError **error)
{
  g_autofree char *base = g_path_get_basename (sample), *name = NULL, *path = NULL;
  char *dot = strrchr (base, '.');
  g_autoptr (GBytes) png = encode (writer, index, mask, error);
  gsize size;

  if (!png)
    return NULL;
  if (dot && dot > base)
    *dot = '\0';
  name = g_strconcat (base, ".png", NULL);
  if (g_hash_table_contains (writer->names, name))
    {
      g_free (name);
      name = g_strdup_printf ("%" G_GUINT64_FORMAT "-%s.png", index, base);
    }
  path = g_build_filename (writer->folder, name, NULL);
  if (g_file_test (path, G_FILE_TEST_EXISTS))
    {
      g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_EXIST,
                   "%s: the file exists already, and may be an image; choose another folder", path);
      return NULL;
    }
  if (!dyno_file_write_atomic (path, g_bytes_get_data (png, &size), g_bytes_get_size (png), error))
    return NULL;
  g_hash_table_add (writer->names, g_steal_pointer (&name));
  return g_steal_pointer (&path);
}

guint64 *
dyno_mask_count_classes (const guint8 *mask, gsize n_pixels, guint32 n)
{
  guint64 all[256] = { 0 };
  guint64 *counts = g_new0 (guint64, MAX (n, 1));

  for (gsize i = 0; i < n_pixels; i++)
    all[mask[i]]++;
  memcpy (counts, all, MIN (n, 256) * sizeof *counts);
  return counts;
}

void
dyno_mask_table_append_head (GString *text, const DynoWeightsInfo *info)
{
  g_autoptr (GString) line = g_string_new ("sample");

  for (guint32 i = 0; i < info->n_outputs; i++)
    {
      g_autofree char *name = dyno_weights_info_name_class (info, i),
                      *head = g_strdup_printf ("share of %s", name);

      dyno_csv_add_cell (line, head);
    }
  dyno_csv_add_cell (line, "problem");
  g_string_append_printf (text, "%s\n", line->str);
}

void
dyno_mask_table_append (GString *text, const DynoWeightsInfo *info, const char *sample,
                        const DynoPrediction *prediction, gsize n_pixels)
{
  g_autoptr (GString) line = g_string_new (NULL);
  g_autofree guint64 *counts =
      prediction->problem ? NULL
                          : dyno_mask_count_classes (prediction->mask, n_pixels, info->n_outputs);

  dyno_csv_add_cell (line, sample);
  for (guint32 i = 0; i < info->n_outputs; i++)
    if (counts)
      dyno_csv_add_number (line, (double) counts[i] / (double) n_pixels);
    else
      g_string_append_c (line, ',');
  dyno_csv_add_cell (line, prediction->problem ? prediction->problem : "");
  g_string_append_printf (text, "%s\n", line->str);
}
