/* SPDX-License-Identifier: MIT */
/* Images and their mirror images: a data set over another one, which it references. */
#include "dataset-class.h"
#include <string.h>

static DynoDataset *
get_source (DynoDataset *dataset)
{
  return dataset->state;
}

static void
mirrored_close (DynoDataset *dataset)
{
  dyno_dataset_unref (dataset->state);
}

static gboolean
mirrored_fetch (DynoDataset *dataset, guint64 index, GByteArray *scratch, gsize *fetched,
                GError **error)
{
  DynoDataset *source = get_source (dataset);

  return source->klass->fetch (source, index / 2, scratch, fetched, error);
}

/* Copies an image of n rows with the pixels of each row in reverse order. */
static void
mirror (const guint8 *from, guint8 *to, guint32 n_rows, guint32 width, gsize pixel_bytes)
{
  for (guint32 y = 0; y < n_rows; y++)
    for (guint32 x = 0; x < width; x++)
      memcpy (to + ((gsize) y * width + x) * pixel_bytes,
              from + ((gsize) y * width + width - 1 - x) * pixel_bytes, pixel_bytes);
}

static gboolean
mirrored_decode (DynoDataset *dataset, guint64 index, guint32 width, guint32 height,
                 gpointer const *fields, GByteArray *scratch, gsize fetched, GError **error)
{
  DynoDataset *source = get_source (dataset);
  int at = dyno_schema_find_index (&source->info.schema, DYNO_FIELD_INPUT);
  const DynoBatchField *input = &source->info.schema.fields[at];
  gsize pixel_bytes = dyno_element_size (input->element) * input->shape[2];
  gpointer own[DYNO_SCHEMA_MAX_FIELDS];
  g_autofree guint8 *image = NULL;

  if (index % 2 == 0)
    return dyno_dataset_decode_fetched (source, index / 2, width, height, fields, scratch, fetched,
                                        error);
  image = g_try_malloc_n ((gsize) width * height, pixel_bytes);
  if (!image)
    {
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_TOO_LARGE,
                   "there is no memory for %u × %u pixels", width, height);
      return FALSE;
    }
  memcpy (own, fields, source->info.schema.n_fields * sizeof *fields);
  own[at] = image;
  if (!dyno_dataset_decode_fetched (source, index / 2, width, height, own, scratch, fetched, error))
    return FALSE;
  mirror (image, fields[at], height, width, pixel_bytes);
  return TRUE;
}

static char *
mirrored_describe (DynoDataset *dataset, guint64 index)
{
  return dyno_dataset_describe_sample (get_source (dataset), index / 2);
}

static const DynoDatasetClass in_memory = {
  .kind = "mirrored",
  .title = "Images and mirror images",
  .close = mirrored_close,
  .decode = mirrored_decode,
  .describe = mirrored_describe,
};

static const DynoDatasetClass fetched = {
  .kind = "mirrored",
  .title = "Images and mirror images",
  .close = mirrored_close,
  .fetch = mirrored_fetch,
  .decode = mirrored_decode,
  .describe = mirrored_describe,
};

DynoDataset *
dyno_dataset_new_mirrored (DynoDataset *source, GError **error)
{
  const DynoDatasetInfo *info = &source->info;
  const DynoBatchField *input = dyno_schema_find_role (&info->schema, DYNO_FIELD_INPUT);
  DynoDataset *dataset;

  if (strcmp (input->axes, "HWC") != 0 || info->max_width < 2 || info->schema.generated
      || dyno_schema_find_mask (&info->schema) || info->n_samples > (G_MAXUINT32 - 1) / 2)
    {
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED,
                   "“%s” has no mirror images: they exist of images without masks, of at most "
                   "%u samples",
                   info->name, (G_MAXUINT32 - 1) / 2);
      return NULL;
    }
  dataset = g_new0 (DynoDataset, 1);
  g_atomic_ref_count_init (&dataset->references);
  dataset->klass = source->klass->fetch ? &fetched : &in_memory;
  dataset->unreadable = g_ptr_array_new_with_free_func (g_free);
  dataset->notes = g_ptr_array_new_with_free_func (g_free);
  g_ptr_array_add (dataset->unreadable, NULL);
  dataset->state = dyno_dataset_ref (source);
  dataset->info = (DynoDatasetInfo){
    .kind = dataset->klass->kind,
    .title = dataset->klass->title,
    .name = g_strdup (info->name),
    .location = g_strdup (info->location),
    .n_samples = 2 * info->n_samples,
    .schema = info->schema,
    .min_width = info->min_width,
    .max_width = info->max_width,
    .min_height = info->min_height,
    .max_height = info->max_height,
    .resizable = info->resizable,
  };
  return dataset;
}
