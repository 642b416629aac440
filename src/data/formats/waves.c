/* SPDX-License-Identifier: MIT */
/* builtin:waves: sequences of floats, each a wave of differing length; the class is its frequency.
 *
 * Invariants: all arithmetic is in whole numbers until the last division by a power of two, and
 * choices follow from (seed, index), so that every machine has the same sequences; a sequence has
 * at least half the longest length, and is padded after its own length.  A sample is computed when
 * it is decoded. */
#include "dataset-class.h"
#include "hash.h"
#include "intl.h"
#include "rng.h"
#include <string.h>

#define ONE       65536 /* a full turn, and an amplitude of 1 */
#define MOST      10    /* classes */
#define NOISE_KEY G_GUINT64_CONSTANT (0x7761766573)

typedef struct {
  guint64 seed;
  guint32 length, channels, n_classes;
} Waves;

/* Two parabolas that meet a sine at its zeros and at its extremes. */
static gint32
wave_at (guint32 phase)
{
  gint32 half = (gint32) (phase % (ONE / 2)), value = (half * (ONE / 2 - half)) >> 12;
  return phase % ONE < ONE / 2 ? value : -value;
}

static gint32
waves_label (DynoDataset *dataset, guint64 index)
{
  return (gint32) (index % ((const Waves *) dataset->state)->n_classes);
}

static gboolean
waves_decode (DynoDataset *dataset, guint64 index, guint32 width, guint32 height,
              gpointer const *fields, GByteArray *scratch, gsize fetched, GError **error)
{
  const Waves *waves = dataset->state;
  const DynoBatchSchema *schema = &dataset->info.schema;
  DynoRng rng = dyno_rng_init (waves->seed, index);
  gint32 label = waves_label (dataset, index);
  guint32 length = waves->length - (guint32) dyno_rng_below (&rng, waves->length / 2 + 1);
  guint32 start = (guint32) dyno_rng_below (&rng, ONE / 8);
  gint32 amplitude = 192 + (gint32) dyno_rng_below (&rng, 129); /* of 256 */
  float *out = fields[dyno_schema_find_index (schema, DYNO_FIELD_INPUT)];
  guint64 count = 0;

  for (guint32 t = 0; t < length; t++)
    for (guint32 c = 0; c < waves->channels; c++, count++)
      {
        /* Half turns over the longest length: 2, 3, ... by class. */
        guint64 turned = (guint64) t * ((guint32) label + 2) * (ONE / 2) / waves->length;
        guint32 phase = (guint32) (turned % ONE) + start + c * (ONE / 4) / waves->channels;
        gint32 noise =
            (gint32) (dyno_rng_at (waves->seed ^ NOISE_KEY, index, count) >> 48) - ONE / 2;
        out[count] = (float) (wave_at (phase) * amplitude / 256 + noise / 5) / ONE;
      }
  dyno_field_pad (dyno_schema_find_role (schema, DYNO_FIELD_INPUT), out, length);
  *(gint32 *) fields[dyno_schema_find_index (schema, DYNO_FIELD_TARGET)] = label;
  *(gint32 *) fields[dyno_schema_find_index (schema, DYNO_FIELD_LENGTH)] = (gint32) length;
  return TRUE;
}

static gboolean
waves_matches (const DynoLocation *location)
{
  return g_strcmp0 (location->scheme, "builtin") == 0 && strcmp (location->body, "waves") == 0;
}

static void
set_schema (DynoDatasetInfo *info, const Waves *waves)
{
  const DynoBatchField sequence = { .name = "sequence",
                                    .role = DYNO_FIELD_INPUT,
                                    .element = DYNO_ELEMENT_F32,
                                    .n_axes = 2,
                                    .shape = { waves->length, waves->channels },
                                    .axes = "TF",
                                    .variable = TRUE },
                       length = { .name = "length",
                                  .role = DYNO_FIELD_LENGTH,
                                  .element = DYNO_ELEMENT_I32 };

  dyno_schema_add (&info->schema, &sequence);
  dyno_schema_add_target (&info->schema, 0);
  dyno_schema_add (&info->schema, &length);
  dyno_schema_add_seed (&info->schema);
}

static gboolean
waves_open (DynoDataset *dataset, const DynoOpenContext *context, GError **error)
{
  static const char *const known[] = { "length", "channels", "samples", "classes", "seed", NULL };
  const DynoLocation *location = context->location;
  DynoDatasetInfo *info = &dataset->info;
  guint64 length, channels, n_samples, n_classes, seed;
  g_autofree char *facts = NULL;
  Waves *waves;

  if (!dyno_location_check_options (location, known, error)
      || !dyno_location_get_number (location, "length", 16, 4096, 64, &length, error)
      || !dyno_location_get_number (location, "channels", 1, 64, 3, &channels, error)
      || !dyno_location_get_number (location, "samples", 2, 100000000, 2000, &n_samples, error)
      || !dyno_location_get_number (location, "classes", 2, MOST, MOST, &n_classes, error)
      || !dyno_location_get_number (location, "seed", 0, G_MAXUINT64, 1, &seed, error))
    return FALSE;
  waves = dataset->state = g_new0 (Waves, 1);
  waves->seed = seed;
  waves->length = (guint32) length;
  waves->channels = (guint32) channels;
  waves->n_classes = (guint32) n_classes;
  info->n_samples = n_samples;
  info->min_width = info->max_width = waves->length;
  info->min_height = info->max_height = 1;
  info->generated = TRUE;
  set_schema (info, waves);
  dyno_dataset_info_set_classes (info, waves->n_classes);
  for (guint32 i = 0; i < waves->n_classes; i++)
    {
      g_free (info->class_names[i]);
      info->class_names[i] = g_strdup_printf ("%u half turns", i + 2);
      info->class_counts[i] = n_samples / n_classes + (i < n_samples % n_classes);
    }
  facts = g_strdup_printf ("waves 1 %u %u %" G_GUINT64_FORMAT " %u %" G_GUINT64_FORMAT,
                           waves->length, waves->channels, n_samples, waves->n_classes, seed);
  info->content_hash = dyno_hash_string (DYNO_HASH_START, facts);
  return TRUE;
}

static void
waves_close (DynoDataset *dataset)
{
  g_free (dataset->state);
}

const DynoDatasetClass dyno_dataset_class_waves = {
  .kind = "waves",
  .title = "Waves (built in)",
  .matches = waves_matches,
  .open = waves_open,
  .close = waves_close,
  .decode = waves_decode,
  .label = waves_label,
};
