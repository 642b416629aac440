/* SPDX-License-Identifier: MIT */
/* IDX data sets (MNIST, Fashion-MNIST, EMNIST): an images file with the labels file beside it, or a
 * folder that holds such pairs.  A folder with train-* and t10k-* brings its own split.
 *
 * Invariants: everything lies in memory after open, training part first; pixels are (H, W, 1)
 * bytes;
 * class ids are the labels as they are, so a label that never occurs is a class without samples. */
#include "dataset-class.h"
#include "hash.h"
#include "idxfile.h"
#include "resize.h"
#include "datafile.h"
#include "foldernames.h"
#include "intl.h"
#include <string.h>

typedef struct {
  guint8 *images, *labels;
  guint32 n_samples;
  guint32 width, height;
} Part;

typedef struct {
  Part parts[2]; /* training, then validation; the second may be empty */
  guint n_parts;
} Idx;

static void
part_clear (Part *part)
{
  g_free (part->images);
  g_free (part->labels);
}

static void
idx_close (DynoDataset *dataset)
{
  Idx *idx = dataset->state;

  if (!idx)
    return;
  for (guint i = 0; i < G_N_ELEMENTS (idx->parts); i++)
    part_clear (&idx->parts[i]);
  g_free (idx);
}

static gboolean
is_images_name (const char *name)
{
  return strstr (name, "images") && strstr (name, "idx3");
}

static gboolean
has_images_name (const char *path)
{
  g_autofree char *base = g_path_get_basename (path);
  return strstr (base, "images") != NULL;
}

/* "a-images-idx3-b.gz" to "a-labels-idx1-b" with or without ".gz", whichever is there. */
static char *
find_labels (const char *images, GError **error)
{
  g_autofree char *folder = g_path_get_dirname (images);
  g_autofree char *base = g_path_get_basename (images);
  g_autofree char *shown = g_filename_display_name (images);
  g_auto (GStrv) by_kind = g_strsplit (base, "images", 2);
  g_autofree char *kind = g_strjoinv ("labels", by_kind);
  g_auto (GStrv) by_dims = g_strsplit (kind, "idx3", 2);
  g_autofree char *plain = g_strjoinv ("idx1", by_dims);
  g_autofree char *zipped = NULL;
  const char *names[2];

  if (g_str_has_suffix (plain, ".gz"))
    plain[strlen (plain) - 3] = '\0';
  zipped = g_strconcat (plain, ".gz", NULL);
  names[0] = g_str_has_suffix (base, ".gz") ? zipped : plain;
  names[1] = g_str_has_suffix (base, ".gz") ? plain : zipped;
  for (guint i = 0; i < 2 && strcmp (names[i], base) != 0; i++)
    {
      g_autofree char *path = g_build_filename (folder, names[i], NULL);
      if (g_file_test (path, G_FILE_TEST_IS_REGULAR))
        return g_steal_pointer (&path);
    }
  g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_NOT_FOUND,
               _ ("The labels of “%s” are missing: put “%s” or “%s” beside it"), shown, plain,
               zipped);
  return NULL;
}

static gboolean
load_part (Part *part, const char *images_path, guint64 *size_bytes, GError **error)
{
  g_autofree char *labels_path = find_labels (images_path, error);
  g_autofree char *images_name = g_filename_display_name (images_path);
  g_autofree char *labels_name = NULL;
  DynoIdxHeader images, labels;
  guint64 file_bytes;

  if (!labels_path)
    return FALSE;
  labels_name = g_filename_display_name (labels_path);
  part->images = dyno_idx_read (images_path, &images, &file_bytes, error);
  if (!part->images)
    return FALSE;
  *size_bytes += file_bytes;
  if (images.n_dims != 3)
    {
      g_set_error (
          error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED,
          ngettext ("“%s” has %u dimension where images have 3 (count, rows, columns); choose "
                    "the images file",
                    "“%s” has %u dimensions where images have 3 (count, rows, columns); choose "
                    "the images file",
                    (gulong) images.n_dims),
          images_name, images.n_dims);
      return FALSE;
    }
  part->labels = dyno_idx_read (labels_path, &labels, &file_bytes, error);
  if (!part->labels)
    return FALSE;
  *size_bytes += file_bytes;
  if (labels.n_dims != 1 || labels.shape[0] != images.shape[0])
    {
      g_set_error (
          error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT,
          ngettext ("“%s” has %u label in %u dimensions, expected %u in 1 for the images of "
                    "“%s”; the files do not belong "
                    "together",
                    "“%s” has %u labels in %u dimensions, expected %u in 1 for the images of "
                    "“%s”; the files do not belong "
                    "together",
                    (gulong) labels.shape[0]),
          labels_name, labels.shape[0], labels.n_dims, images.shape[0], images_name);
      return FALSE;
    }
  part->n_samples = images.shape[0];
  part->height = images.shape[1];
  part->width = images.shape[2];
  return TRUE;
}

/* The names of the files of images in a folder; *test: a name with t10k or test.  NULL: there is no
 * such file. */
static void
find_images (const char *folder, char **train, char **test)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  *train = *test = NULL;
  while (dir && (name = dyno_folder_next_name (dir)))
    {
      gboolean is_test = strstr (name, "t10k") || strstr (name, "test");
      char **place = is_test ? test : train;
      if (!is_images_name (name))
        continue;
      /* Where there are a plain and a .gz file, or several sets, the first by name is taken: the
       * choice must not depend on the order of the folder. */
      if (!*place || strcmp (name, *place) < 0)
        {
          g_free (*place);
          *place = g_strdup (name);
        }
    }
}

static gboolean
idx_matches (const DynoLocation *location)
{
  g_autofree char *base = NULL;
  g_autofree char *train = NULL, *test = NULL;

  if (location->scheme)
    return FALSE;
  if (location->is_folder)
    {
      find_images (location->body, &train, &test);
      return train || test;
    }
  base = g_path_get_basename (location->body);
  return (location->head_size >= 4 && memcmp (location->head, "\0\0\x08", 3) == 0)
         || is_images_name (base) || (strstr (base, "labels") && strstr (base, "idx1"));
}

static void
count_classes (DynoDataset *dataset, const Idx *idx)
{
  DynoDatasetInfo *info = &dataset->info;
  guint8 largest = 1;

  for (guint p = 0; p < idx->n_parts; p++)
    for (guint32 i = 0; i < idx->parts[p].n_samples; i++)
      largest = MAX (largest, idx->parts[p].labels[i]);
  dyno_dataset_info_set_classes (info, (guint32) largest + 1);
  for (guint p = 0; p < idx->n_parts; p++)
    for (guint32 i = 0; i < idx->parts[p].n_samples; i++)
      info->class_counts[idx->parts[p].labels[i]]++;
}

static void
fill_info (DynoDataset *dataset, const Idx *idx)
{
  DynoDatasetInfo *info = &dataset->info;

  info->min_width = info->max_width = idx->parts[0].width;
  info->min_height = info->max_height = idx->parts[0].height;
  info->resizable = TRUE;
  info->has_split = idx->n_parts == 2;
  count_classes (dataset, idx);
  /* The statistics of one known set are not used: the sets share names and a format, but not their
   * pixels. */
  info->schema = dyno_schema_image (DYNO_ELEMENT_U8, info->max_height, info->max_width, 1, 0);
  dyno_dataset_info_standardise (info, 0.5f, 0.25f);
  info->content_hash = DYNO_HASH_START;
  for (guint p = 0; p < idx->n_parts; p++)
    {
      const Part *part = &idx->parts[p];
      info->n_samples += part->n_samples;
      info->content_hash = dyno_hash_bytes (info->content_hash, part->images,
                                            (gsize) part->n_samples * part->width * part->height);
      info->content_hash = dyno_hash_bytes (info->content_hash, part->labels, part->n_samples);
    }
}

static gboolean
idx_open (DynoDataset *dataset, const DynoOpenContext *context, GError **error)
{
  const DynoLocation *location = context->location;
  Idx *idx = dataset->state = g_new0 (Idx, 1);
  g_autofree char *train = NULL, *test = NULL;

  if (location->is_folder)
    find_images (location->body, &train, &test);
  else if (!has_images_name (location->body))
    {
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNKNOWN,
                   _ ("“%s” is an IDX file, but not one named …-images-…: choose the images file; "
                      "its labels are found by its name"),
                   location->text);
      return FALSE;
    }
  else
    train = g_path_get_basename (location->body);
  for (guint i = 0; i < 2; i++)
    {
      const char *name = i == 0 ? train : test;
      g_autofree char *path = NULL;
      if (!name)
        continue;
      path = location->is_folder ? g_build_filename (location->body, name, NULL)
                                 : g_strdup (location->body);
      if (g_cancellable_set_error_if_cancelled (context->cancellable, error)
          || !load_part (&idx->parts[idx->n_parts++], path, &dataset->info.size_bytes, error))
        return FALSE;
    }
  if (idx->n_parts == 2
      && (idx->parts[0].width != idx->parts[1].width
          || idx->parts[0].height != idx->parts[1].height))
    {
      g_set_error (
          error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT,
          _ ("“%s”: “%s” has images of %u × %u, “%s” of %u × %u; they do not belong together"),
          location->text, train, idx->parts[0].width, idx->parts[0].height, test,
          idx->parts[1].width, idx->parts[1].height);
      return FALSE;
    }
  fill_info (dataset, idx);
  return TRUE;
}

static const Part *
find_part (DynoDataset *dataset, guint64 *index)
{
  const Idx *idx = dataset->state;

  if (*index < idx->parts[0].n_samples)
    return &idx->parts[0];
  *index -= idx->parts[0].n_samples;
  return &idx->parts[1];
}

static gint32
idx_label (DynoDataset *dataset, guint64 index)
{
  const Part *part = find_part (dataset, &index);
  return part->labels[index];
}

static DynoPart
idx_part (DynoDataset *dataset, guint64 index)
{
  const Idx *idx = dataset->state;
  return index >= idx->parts[0].n_samples ? DYNO_PART_VALIDATION : DYNO_PART_TRAIN;
}

static gboolean
idx_decode (DynoDataset *dataset, guint64 index, guint32 width, guint32 height,
            gpointer const *fields, GByteArray *scratch, gsize fetched, GError **error)
{
  const Part *part = find_part (dataset, &index);
  gsize size = (gsize) part->width * part->height;
  const guint8 *image = part->images + index * size;
  guint8 *pixels = fields[DYNO_DATASET_INPUT];

  *(gint32 *) fields[DYNO_DATASET_TARGET] = part->labels[index];
  if (width == part->width && height == part->height)
    {
      memcpy (pixels, image, size);
      return TRUE;
    }
  if (!dyno_datafile_reserve (
          scratch, dyno_resize_scratch_bytes (part->width, part->height, 1, width, height), error))
    return FALSE;
  dyno_resize_cover (image, part->width, part->height, 1, width, height, pixels, scratch->data);
  return TRUE;
}

const DynoDatasetClass dyno_dataset_class_idx = {
  .kind = "idx",
  .title = "IDX (MNIST)",
  .matches = idx_matches,
  .open = idx_open,
  .close = idx_close,
  .decode = idx_decode,
  .label = idx_label,
  .part = idx_part,
};
