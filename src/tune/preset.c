/* SPDX-License-Identifier: MIT */
/* Presets: the list of built-in and user ones, which of them is this card, and their advice put
 * into settings.
 *
 * Advice for an image size that no row names is scaled by area from the nearest row, within limits
 * of what trains well: a batch that only fills memory is no advice. */
#include "preset-file.h"
#include "cores.h"
#include "dyno-presets.h"
#include "file.h"
#include "intl.h"
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#define RESOURCE_FOLDER "/io/github/gpudyno/Dyno/presets/"
#define GIB             ((guint64) 1 << 30)

static const char *const built_in[] = { "rtx3060", "rtx3080", "rtx3090", "rtx4060",
                                        "rtx4090", "t4",      "v100",    "a100" };

static void
show_warnings (GPtrArray *warnings)
{
  for (guint i = 0; i < warnings->len; i++)
    g_warning ("%s", (const char *) warnings->pdata[i]);
}

static DynoPreset *
read_built_in (const char *id)
{
  g_autofree char *path = g_strconcat (RESOURCE_FOLDER, id, ".preset", NULL);
  g_autoptr (GBytes) bytes = g_resource_lookup_data (dyno_presets_get_resource (), path,
                                                     G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);
  g_autoptr (GError) error = NULL;
  gsize size = 0;
  const char *text;
  DynoPreset *preset;

  g_return_val_if_fail (bytes, NULL);
  text = g_bytes_get_data (bytes, &size);
  preset = dyno_preset_parse (id, "built in", text, size, NULL, &error);
  if (!preset)
    g_critical ("%s", error->message);
  return preset;
}

static DynoPreset *
read_file (const char *path, GError **error)
{
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GError) problem = NULL;
  g_autofree char *shown = g_filename_display_name (path), *name = g_path_get_basename (path),
                  *id = NULL, *text = NULL;
  char *dot = strrchr (name, '.');
  GStatBuf status;
  gsize size = 0;
  DynoPreset *preset;

  if (g_stat (path, &status) == 0
      && (!S_ISREG (status.st_mode) || status.st_size > DYNO_PRESET_FILE_MAX_BYTES))
    {
      g_set_error (error, DYNO_TUNE_ERROR, DYNO_TUNE_ERROR_PRESET,
                   _ ("“%s” is no preset: it is not a small regular file"), shown);
      return NULL;
    }
  if (!g_file_get_contents (path, &text, &size, &problem))
    {
      g_set_error (error, DYNO_TUNE_ERROR, DYNO_TUNE_ERROR_PRESET, _ ("Cannot read the preset: %s"),
                   problem->message);
      return NULL;
    }
  if (dot && dot != name)
    *dot = '\0';
  id = g_filename_display_name (name);
  preset = dyno_preset_parse (id, shown, text, size, warnings, error);
  if (preset)
    show_warnings (warnings);
  return preset;
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

/* A user's preset takes the place of an earlier one of its id. */
static void
add_preset (GPtrArray *presets, DynoPreset *preset)
{
  for (guint i = 0; i < presets->len; i++)
    {
      DynoPreset *old = presets->pdata[i];
      if (strcmp (old->id, preset->id) == 0)
        {
          dyno_preset_free (old);
          presets->pdata[i] = preset;
          return;
        }
    }
  g_ptr_array_add (presets, preset);
}

static void
add_folder (GPtrArray *presets, const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  const char *name;

  while (dir && (name = g_dir_read_name (dir)))
    if (g_str_has_suffix (name, ".preset"))
      g_ptr_array_add (names, g_strdup (name));
  g_ptr_array_sort (names, compare_names);
  for (guint i = 0; i < names->len; i++)
    {
      g_autofree char *path = g_build_filename (folder, names->pdata[i], NULL);
      g_autoptr (GError) error = NULL;
      DynoPreset *preset = read_file (path, &error);

      if (preset)
        add_preset (presets, preset);
      else
        g_warning ("%s", error->message);
    }
}

/* "This GPU": from what the device says.  Three samples of 224x224 a GiB is what the guides' cards
 * have in common. */
static DynoPreset *
make_this_gpu (const DynoDeviceInfo *device)
{
  DynoPreset *preset = g_new0 (DynoPreset, 1);
  gboolean software = device->type == DYNO_DEVICE_TYPE_SOFTWARE;
  double gib = (double) device->vram_bytes / (double) GIB;
  guint32 cores = dyno_cores_count ();

  preset->id = g_strdup ("this-gpu");
  preset->name = g_strdup_printf (_ ("This GPU (%s)"), device->name);
  preset->architecture = g_strdup ("");
  preset->vram_bytes = device->vram_bytes;
  preset->this_gpu = TRUE;
  preset->source = g_strdup ("device");
  preset->prefetch = 4;
  preset->amp = device->fp16 && !software;
  preset->pinned = preset->persistent_workers = TRUE;
  preset->workers_min = MIN (2, cores);
  preset->workers_max = CLAMP (cores / 2, preset->workers_min, 8);
  preset->workers_cpu_bound = MIN (cores, 16);
  preset->match = g_new0 (char *, 1);
  preset->notes = g_new0 (char *, 3);
  preset->notes[0] = g_strdup (software      ? "software, slow"
                               : preset->amp ? "fp16: AMP on"
                                             : "no fp16: AMP off");
  preset->n_rows = 2;
  preset->rows = g_new0 (DynoPresetRow, 2);
  for (guint i = 0; i < 2; i++)
    {
      DynoPresetRow *row = &preset->rows[i];
      /* 512x512 has about five times the pixels of 224x224. */
      double unit = software ? 8 : CLAMP (gib * (preset->amp ? 1 : 0.5), 1, 64);

      row->image_size = i == 0 ? 512 : 224;
      row->workload = g_strdup ("");
      unit = i == 0 ? unit / 5 : unit;
      row->batch_safe = (guint32) MAX (1, unit * 2);
      row->batch_recommended = (guint32) MAX (row->batch_safe, unit * 3);
      row->batch_max = (guint32) MAX (row->batch_recommended, unit * 4);
      if (row->batch_safe >= 8)
        {
          row->batch_safe = row->batch_safe / 8 * 8;
          row->batch_recommended = row->batch_recommended / 8 * 8;
          row->batch_max = row->batch_max / 8 * 8;
        }
    }
  preset->advice =
      g_strdup (software ? _ ("A software device: every core computes, and none is left to spare. "
                              "Small images, a narrow model (model.width) "
                              "and fp32 are the way to see a curve soon.")
                         : _ ("A starting point from the memory of this card; the tuner finds out "
                              "what is fastest on it."));
  return preset;
}

GPtrArray *
dyno_preset_list (const DynoDeviceInfo *device)
{
  GPtrArray *presets = g_ptr_array_new_with_free_func ((GDestroyNotify) dyno_preset_free);
  const char *const *folders = g_get_system_data_dirs ();
  guint n_folders = g_strv_length ((char **) folders);
  g_autofree char *own = dyno_data_dir ("presets");

  if (device)
    g_ptr_array_add (presets, make_this_gpu (device));
  for (guint i = 0; i < G_N_ELEMENTS (built_in); i++)
    {
      DynoPreset *preset = read_built_in (built_in[i]);
      if (preset)
        g_ptr_array_add (presets, preset);
    }
  /* The first system folder has the most say, so it comes last; the user's own after it. */
  for (guint i = n_folders; i > 0; i--)
    {
      g_autofree char *folder = g_build_filename (folders[i - 1], "dyno", "presets", NULL);
      add_folder (presets, folder);
    }
  add_folder (presets, own);
  return presets;
}

DynoPreset *
dyno_preset_find (const char *name, const DynoDeviceInfo *device, GError **error)
{
  g_autoptr (GPtrArray) presets = NULL;
  g_autoptr (GString) known = g_string_new (NULL);
  g_autofree char *shown = NULL;

  g_return_val_if_fail (name, NULL);
  shown = g_filename_display_name (name);
  if (strchr (name, G_DIR_SEPARATOR) || g_str_has_suffix (name, ".preset"))
    return read_file (name, error);
  if (strcmp (name, "this-gpu") == 0 && !device)
    {
      g_set_error (error, DYNO_TUNE_ERROR, DYNO_TUNE_ERROR_PRESET,
                   _ ("The preset this-gpu needs a Vulkan device, and there is none"));
      return NULL;
    }

  presets = dyno_preset_list (device);
  for (guint i = 0; i < presets->len; i++)
    {
      DynoPreset *preset = presets->pdata[i];
      if (g_ascii_strcasecmp (preset->id, name) == 0)
        return g_ptr_array_steal_index (presets, i);
      g_string_append_printf (known, "%s%s", known->len ? ", " : "", preset->id);
    }
  if (g_file_test (name, G_FILE_TEST_IS_REGULAR))
    return read_file (name, error);
  g_set_error (error, DYNO_TUNE_ERROR, DYNO_TUNE_ERROR_PRESET,
               _ ("No preset “%s”; there are %s, or give the path of a preset file"), shown,
               known->str);
  return NULL;
}

/* TRUE when fragment is in name as whole words and no other model of the family is meant ("RTX 3080
 * Ti"). */
static gboolean
name_matches (const char *name, const char *fragment)
{
  static const char *const others[] = { "ti", "super", "laptop", "max-q", "mobile", "d" };
  g_autofree char *lower = g_ascii_strdown (name, -1), *wanted = g_ascii_strdown (fragment, -1);
  const char *found = *wanted ? strstr (lower, wanted) : NULL;
  const char *rest;

  if (!found || (found > lower && g_ascii_isalnum (found[-1])))
    return FALSE;
  rest = found + strlen (wanted);
  if (g_ascii_isalnum (*rest))
    return FALSE;
  while (*rest == ' ')
    rest++;
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    {
      gsize length = strlen (others[i]);
      if (strncmp (rest, others[i], length) == 0 && !g_ascii_isalnum (rest[length]))
        return FALSE;
    }
  return TRUE;
}

const DynoPreset *
dyno_preset_match (GPtrArray *presets, const DynoDeviceInfo *device)
{
  for (guint i = 0; i < presets->len; i++)
    {
      const DynoPreset *preset = presets->pdata[i];
      double ratio = (double) device->vram_bytes / (double) MAX (1, preset->vram_bytes);

      /* Some cards are sold with other memory under the same name: those are not the guide's
       * card. */
      if (preset->this_gpu || ratio < 0.85 || ratio > 1.15)
        continue;
      for (guint k = 0; preset->match[k]; k++)
        if (name_matches (device->name, preset->match[k]))
          return preset;
    }
  return NULL;
}

static const DynoPresetRow *
nearest_row (const DynoPreset *preset, guint32 image_size)
{
  const DynoPresetRow *best = NULL;
  double best_distance = G_MAXDOUBLE;

  for (guint i = 0; i < preset->n_rows; i++)
    {
      const DynoPresetRow *row = &preset->rows[i];
      /* A row for a special workload speaks only where no usual one does. */
      double distance =
          (*row->workload ? 1000 : 0)
          + (row->image_size ? fabs (log ((double) row->image_size / (double) image_size)) : 100);
      if (distance < best_distance)
        {
          best = row;
          best_distance = distance;
        }
    }
  return best;
}

static guint32
scale_batch (guint32 batch, const DynoPresetRow *row, guint32 image_size, guint32 limit)
{
  double ratio = row->image_size ? (double) row->image_size / (double) image_size : 1;
  double scaled;

  if (ratio > 0.8 && ratio < 1.25)
    return batch;
  scaled = batch * ratio * ratio;
  if (ratio > 1)
    scaled = MIN (scaled, MAX (limit, batch));
  if (scaled >= 16)
    scaled = floor (scaled / 8) * 8;
  return (guint32) MAX (1, scaled);
}

guint32
dyno_preset_get_workers (const DynoPreset *preset, DynoLevel level)
{
  return level == DYNO_LEVEL_SAFE ? preset->workers_min : preset->workers_max;
}

void
dyno_preset_apply (const DynoPreset *preset, DynoLevel level, guint32 image_size,
                   DynoSettings *settings)
{
  guint32 size = image_size ? image_size : 224;
  const DynoPresetRow *row = nearest_row (preset, size);

  if (row)
    {
      guint32 batch = level == DYNO_LEVEL_SAFE  ? row->batch_safe
                      : level == DYNO_LEVEL_MAX ? row->batch_max
                                                : row->batch_recommended;
      guint32 limit = level == DYNO_LEVEL_SAFE ? 128 : level == DYNO_LEVEL_MAX ? 512 : 256;
      settings->batch_size = scale_batch (batch, row, size, limit);
    }
  settings->workers = MIN (dyno_preset_get_workers (preset, level), dyno_cores_count ());
  settings->prefetch = preset->prefetch;
  settings->amp = preset->amp;
  settings->pinned = preset->pinned;
  settings->persistent_workers = preset->persistent_workers;
  settings->vram_budget = preset->this_gpu ? 0 : (gint64) preset->vram_bytes;
}

char *
dyno_preset_emulation_note (const DynoPreset *preset, const DynoDeviceInfo *device)
{
  double card = (double) preset->vram_bytes / (double) GIB,
         own = (double) device->vram_bytes / (double) GIB;

  if (preset->this_gpu)
    return NULL;
  for (guint k = 0; preset->match[k]; k++)
    if (name_matches (device->name, preset->match[k]) && own > card * 0.85 && own < card * 1.15)
      return NULL;
  if (own < card)
    return g_strdup_printf ("%s has %.3g GB, but %s only %.3g GB: its own memory is the limit.",
                            preset->name, card, device->name, own);
  return g_strdup_printf (
      "Emulates the %.3g GB of %s on %s: what fits here fits there; the speed is this device's.",
      card, preset->name, device->name);
}
