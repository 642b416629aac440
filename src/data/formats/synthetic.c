/* SPDX-License-Identifier: MIT */
/* synthetic:HxWxC: noise.  With schema.generated set, training generates the noise on the device
 * and copies nothing, which measures only the device; decode gives noise as well, for callers that
 * need the bytes.  Invariants: noise and labels follow only from the index; they are unrelated, so
 * that nothing can be learnt. */
#include "dataset-class.h"
#include "checked.h"
#include "hash.h"
#include "intl.h"
#include "rng.h"
#include <string.h>

#define SEED_PIXELS G_GUINT64_CONSTANT (0x73796e31)
#define SEED_LABELS G_GUINT64_CONSTANT (0x73796e32)
#define MAX_BYTES   (G_GUINT64_CONSTANT (1) << 30) /* of a sample */

static gint32
synthetic_label (DynoDataset *dataset, guint64 index)
{
  return (gint32) (dyno_rng_at (SEED_LABELS, 0, index) % dataset->info.n_classes);
}

static gboolean
synthetic_decode (DynoDataset *dataset, guint64 index, guint32 width, guint32 height,
                  gpointer const *fields, GByteArray *scratch, gsize fetched, GError **error)
{
  gsize size = (gsize) width * height * dyno_schema_count_channels (&dataset->info.schema);
  guint8 *out = fields[DYNO_DATASET_INPUT];
  guint64 word;

  for (gsize i = 0; i < size; i += sizeof word)
    {
      word = GUINT64_TO_LE (dyno_rng_at (SEED_PIXELS, index, i));
      memcpy (out + i, &word, MIN (sizeof word, size - i));
    }
  *(gint32 *) fields[DYNO_DATASET_TARGET] = synthetic_label (dataset, index);
  return TRUE;
}

static gboolean
synthetic_matches (const DynoLocation *location)
{
  return g_strcmp0 (location->scheme, "synthetic") == 0;
}

static gboolean
parse_shape (const DynoLocation *location, guint64 *shape, GError **error)
{
  g_auto (GStrv) parts = g_strsplit (location->body, "x", -1);
  guint64 size;

  if (g_strv_length (parts) == 3
      && g_ascii_string_to_unsigned (parts[0], 10, 1, 16384, &shape[0], NULL)
      && g_ascii_string_to_unsigned (parts[1], 10, 1, 16384, &shape[1], NULL)
      && g_ascii_string_to_unsigned (parts[2], 10, 1, 65536, &shape[2], NULL)
      && dyno_size_mul (shape[0] * shape[1], shape[2], &size) && size <= MAX_BYTES)
    return TRUE;
  g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_OPTION,
               _ ("“%s”: the shape must be HEIGHTxWIDTHxCHANNELS, as in synthetic:224x224x3 (each "
                  "side up to 16384, 1 GB per sample)"),
               location->text);
  return FALSE;
}

static gboolean
synthetic_open (DynoDataset *dataset, const DynoOpenContext *context, GError **error)
{
  static const char *const known[] = { "classes", "samples", NULL };
  const DynoLocation *location = context->location;
  DynoDatasetInfo *info = &dataset->info;
  guint64 shape[3], n_classes, n_samples;

  if (!parse_shape (location, shape, error) || !dyno_location_check_options (location, known, error)
      || !dyno_location_get_number (location, "classes", 2, 100000, 1000, &n_classes, error)
      || !dyno_location_get_number (location, "samples", 2, 100000000, 12800, &n_samples, error))
    return FALSE;

  info->n_samples = n_samples;
  info->min_height = info->max_height = (guint32) shape[0];
  info->min_width = info->max_width = (guint32) shape[1];
  info->generated = TRUE;
  info->schema =
      dyno_schema_image (DYNO_ELEMENT_U8, info->max_height, info->max_width, (guint32) shape[2], 0);
  info->schema.generated = TRUE;
  dyno_dataset_info_set_classes (info, (guint32) n_classes);
  for (guint64 i = 0; i < n_samples; i++)
    info->class_counts[synthetic_label (dataset, i)]++;
  /* Bytes are uniform: mean 1/2, deviation sqrt (1/12). */
  if (shape[2] <= G_N_ELEMENTS (info->schema.fields->normalisation.mean))
    dyno_dataset_info_standardise (info, 0.5f, 0.288675f);
  info->content_hash = dyno_hash_string (DYNO_HASH_START, location->text);
  return TRUE;
}

const DynoDatasetClass dyno_dataset_class_synthetic = {
  .kind = "synthetic",
  .title = "Synthetic noise (measures only the device)",
  .matches = synthetic_matches,
  .open = synthetic_open,
  .decode = synthetic_decode,
  .label = synthetic_label,
};
