/* SPDX-License-Identifier: MIT */
/* The list of built-in and user presets, and the preset of this card. */
#include "preset-file.h"
#include "cores.h"
#include "dyno-presets.h"
#include "file.h"
#include "intl.h"
#include <glib/gstdio.h>
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

/* "This GPU": no guide describes it, so that it is made from the device's properties.  Its batches
 * are 2, 3 and 4 samples of 224x224 per GiB of a GPU's memory, and half as many without AMP. */
static DynoPreset *
make_this_gpu (const DynoDeviceInfo *device)
{
  DynoPreset *preset = g_new0 (DynoPreset, 1);
  static const char *const derived[] = { "workers", "workers_cpu_bound",  "prefetch", "amp",
                                         "pinned",  "persistent_workers", NULL },
                           *const derived_row[] = { "batch_safe", "batch_recommended", "batch_max",
                                                    NULL };
  gboolean software = device->type == DYNO_DEVICE_TYPE_SOFTWARE;
  double gib = (double) device->vram_bytes / (double) GIB;
  guint32 cores = dyno_cores_count ();

  preset->id = g_strdup ("this-gpu");
  preset->name =
      g_strdup_printf (software ? _ ("This device (%s)") : _ ("This GPU (%s)"), device->name);
  preset->architecture = g_strdup ("");
  preset->vram_bytes = preset->total_bytes = preset->usable_bytes = device->vram_bytes;
  preset->vram_source = g_strdup (_ ("the device's driver"));
  preset->this_gpu = TRUE;
  preset->derived = g_strdupv ((char **) derived);
  preset->source = g_strdup ("device");
  preset->prefetch = 4;
  preset->amp = !dyno_preset_refuse_amp (device);
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
      row->derived = g_strdupv ((char **) derived_row);
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
  /* The first system folder takes precedence, so it comes last, and the user's own after it. */
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

const DynoPreset *
dyno_preset_match (GPtrArray *presets, const DynoDeviceInfo *device)
{
  for (guint i = 0; i < presets->len; i++)
    {
      const DynoPreset *preset = presets->pdata[i];

      if (!preset->this_gpu && dyno_preset_is_device (preset, device))
        return preset;
    }
  return NULL;
}
