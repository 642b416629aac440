/* SPDX-License-Identifier: MIT */
/* Presets in words: the sources of values, the effect of an emulation, and a guide's numbers next
 * to measured ones.  dynoctl and the window show the same texts; only dynoctl shows the notes,
 * which are not translated. */
#include "preset-private.h"
#include "cores.h"
#include "intl.h"
#include <math.h>
#include <string.h>

#define GIB ((double) ((guint64) 1 << 30))

static gboolean
is_derived (const DynoPresetRow *row, DynoLevel level)
{
  const char *key = level == DYNO_LEVEL_SAFE  ? "batch_safe"
                    : level == DYNO_LEVEL_MAX ? "batch_max"
                                              : "batch_recommended";

  return g_strv_contains ((const char *const *) row->derived, key);
}

char *
dyno_preset_describe_row (const DynoPresetRow *row)
{
  g_autofree char *workload = dyno_preset_workload_describe (&row->workload);

  if (row->image_size == 0)
    return *workload ? g_steal_pointer (&workload) : g_strdup (_ ("any size"));
  return g_strdup_printf ("%s%s%ux%u", workload, *workload ? ", " : "", row->image_size,
                          row->image_size);
}

char *
dyno_preset_describe_batch (const DynoPreset *preset, const DynoPresetUse *use)
{
  const DynoPresetRow *row = dyno_preset_find_row (preset, use);
  g_autofree char *name = row ? dyno_preset_describe_row (row) : NULL, *own = NULL;
  guint32 batch, level;

  if (!row)
    return NULL;
  batch = dyno_preset_scale_batch (row, use);
  level = use->level == DYNO_LEVEL_SAFE  ? row->batch_safe
          : use->level == DYNO_LEVEL_MAX ? row->batch_max
                                         : row->batch_recommended;
  if (batch != level
      || (row->image_size > 0
          && dyno_preset_use_get_subject (use).input == DYNO_PRESET_INPUT_SEQUENCE))
    /* Translators: a batch size is derived, that is, Dyno's own, and no guide gives it */
    own = g_strdup_printf (_ (", derived from %u for samples of this size"), level);
  else if (is_derived (row, use->level))
    own = g_strdup (_ (", derived: no guide gives it"));
  /* Translators: batch size, name of a preset, the row's workload, its three batch sizes; and where
   * the number is from, or nothing */
  return g_strdup_printf (
      _ ("Batch %u comes from %s's row for %s (safe %u, recommended %u, max %u)%s"), batch,
      preset->name, name, row->batch_safe, row->batch_recommended, row->batch_max, own ? own : "");
}

char *
dyno_preset_describe_derived (const DynoPreset *preset)
{
  GString *text;

  if (!preset->derived || !*preset->derived)
    return NULL;
  text = g_string_new (NULL);
  for (guint i = 0; preset->derived[i]; i++)
    {
      const DynoSettingInfo *setting = dyno_setting_find (preset->derived[i]);

      g_string_append_printf (text, "%s%s", i > 0 ? ", " : "",
                              setting ? _ (setting->title) : preset->derived[i]);
    }
  return g_string_free (text, FALSE);
}

char *
dyno_preset_emulation_note (const DynoPreset *preset, const DynoDeviceInfo *device)
{
  double usable = (double) preset->usable_bytes / GIB, own = (double) device->vram_bytes / GIB;

  if (dyno_preset_is_device (preset, device))
    return NULL;
  if (own < usable)
    return g_strdup_printf ("%s has %.3g GB to use, but %s only %.3g GB: its own memory is the "
                            "limit",
                            preset->name, usable, device->name, own);
  return g_strdup_printf ("Emulates the %.3g GB that a program gets of the %.3g GB of %s on %s: "
                          "what fits here fits there; the speed is this device's",
                          usable, (double) preset->vram_bytes / GIB, preset->name, device->name);
}

char **
dyno_preset_list_notes (const DynoPreset *preset, const DynoPresetUse *use,
                        const DynoSettings *settings)
{
  g_autoptr (GStrvBuilder) notes = g_strv_builder_new ();
  g_autofree char *batch = dyno_preset_describe_batch (preset, use),
                  *emulation =
                      use->device ? dyno_preset_emulation_note (preset, use->device) : NULL,
                  *few = NULL;
  const char *refused = dyno_preset_refuse_amp (use->device);
  guint32 workers = dyno_preset_get_workers (preset, use->level), cores = dyno_cores_count ();
  DynoSettings advice = *settings;

  dyno_preset_apply (preset, use, &advice);
  if (batch && settings->batch_size == advice.batch_size)
    g_strv_builder_add (notes, batch);
  if (emulation && settings->vram_budget == advice.vram_budget)
    g_strv_builder_add (notes, emulation);
  if (preset->amp && refused && !settings->amp)
    {
      g_autofree char *forced =
          use->device->fp16 ? g_strdup_printf ("%s; amp=true switches it on all the same", refused)
                            : g_strdup (refused);
      g_strv_builder_add (notes, forced);
    }
  if (workers > cores && settings->workers == cores)
    {
      few = g_strdup_printf ("%s advises %u workers, and this machine has %u %s: as many are used",
                             preset->name, workers, cores, cores == 1 ? "core" : "cores");
      g_strv_builder_add (notes, few);
    }
  return g_strv_builder_end (notes);
}

/* --- numbers of a guide ----------------------------------------------------------------------- */

char *
dyno_preset_describe_expected (const DynoPreset *preset, const DynoPresetUse *use)
{
  DynoPresetSubject subject = dyno_preset_use_get_subject (use);
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < preset->n_expectations; i++)
    {
      const DynoPresetExpectation *expectation = &preset->expectations[i];
      g_autofree char *words = NULL;

      if (dyno_preset_workload_fits (&expectation->workload, &subject) < 0)
        continue;
      words = dyno_preset_expectation_describe (expectation);
      g_string_append_printf (text, "%s%s", text->len > 0 ? "\n" : "", words);
    }
  return g_string_free (text, text->len == 0);
}

const DynoPresetRange *
dyno_preset_find_expected (const DynoPreset *preset, const DynoPresetUse *use,
                           DynoPresetQuantity quantity)
{
  DynoPresetSubject subject = dyno_preset_use_get_subject (use);
  const DynoPresetRange *best = NULL;
  int best_fit = -1;

  for (guint i = 0; i < preset->n_expectations; i++)
    {
      const DynoPresetExpectation *expectation = &preset->expectations[i];
      int fit = dyno_preset_workload_fits (&expectation->workload, &subject);

      if (fit <= best_fit || !dyno_preset_range_is_given (&expectation->now[quantity]))
        continue;
      best = &expectation->now[quantity];
      best_fit = fit;
    }
  return best;
}

void
dyno_preset_list_expected (const DynoPreset *preset, const DynoPresetUse *use,
                           DynoPresetRange *expected)
{
  for (DynoPresetQuantity i = 0; i < DYNO_PRESET_N_QUANTITIES; i++)
    {
      const DynoPresetRange *range = dyno_preset_find_expected (preset, use, i);

      expected[i] = range ? *range : (DynoPresetRange){ (double) NAN, (double) NAN };
    }
}

char *
dyno_preset_compare (const DynoPresetRange *expected, const double *measured)
{
  GString *text = g_string_new (NULL);

  for (DynoPresetQuantity i = 0; i < DYNO_PRESET_N_QUANTITIES; i++)
    {
      DynoPresetRange own = { measured[i], measured[i] };
      g_autofree char *words = NULL, *range = NULL;

      if (!dyno_preset_range_is_given (&expected[i]) || isnan (measured[i]))
        continue;
      words = dyno_preset_quantity_describe (i, &own);
      range = dyno_preset_range_to_text (&expected[i]);
      /* Translators: something measured, "310 samples/s", and what a guide expects of it */
      g_string_append (text, text->len > 0 ? ", " : "");
      g_string_append_printf (text, _ ("%s (expected %s)"), words, range);
    }
  return g_string_free (text, text->len == 0);
}
