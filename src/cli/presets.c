/* SPDX-License-Identifier: MIT */
/* dynoctl presets: the GPU presets, or one of them in full. */
#include "cli.h"
#include "output.h"
#include "preset.h"

static void
print_strings (DynoJson *json, const char *key, char **list)
{
  dyno_json_begin_array (json, key);
  for (guint i = 0; list && list[i]; i++)
    dyno_json_string (json, NULL, list[i]);
  dyno_json_end_array (json);
}

static void
print_json (const DynoPreset *preset, const DynoPreset *matching)
{
  DynoJson json;

  dyno_json_init (&json, 0);
  dyno_json_begin_object (&json, NULL);
  dyno_json_string (&json, "id", preset->id);
  dyno_json_string (&json, "name", preset->name);
  dyno_json_string (&json, "architecture", preset->architecture);
  dyno_json_uint (&json, "vram_bytes", preset->vram_bytes);
  dyno_json_begin_array (&json, "rows");
  for (guint i = 0; i < preset->n_rows; i++)
    {
      const DynoPresetRow *row = &preset->rows[i];

      dyno_json_begin_object (&json, NULL);
      dyno_json_uint (&json, "image_size", row->image_size);
      dyno_json_string (&json, "workload", row->workload);
      dyno_json_uint (&json, "batch_safe", row->batch_safe);
      dyno_json_uint (&json, "batch_recommended", row->batch_recommended);
      dyno_json_uint (&json, "batch_max", row->batch_max);
      dyno_json_end_object (&json);
    }
  dyno_json_end_array (&json);
  dyno_json_uint (&json, "workers_min", preset->workers_min);
  dyno_json_uint (&json, "workers_max", preset->workers_max);
  dyno_json_uint (&json, "workers_cpu_bound", preset->workers_cpu_bound);
  dyno_json_uint (&json, "prefetch", preset->prefetch);
  dyno_json_bool (&json, "amp", preset->amp);
  dyno_json_bool (&json, "pinned", preset->pinned);
  dyno_json_bool (&json, "persistent_workers", preset->persistent_workers);
  print_strings (&json, "notes", preset->notes);
  dyno_json_string (&json, "expected", preset->expected);
  dyno_json_string (&json, "advice", preset->advice);
  dyno_json_string (&json, "source", preset->source);
  dyno_json_bool (&json, "this_gpu", preset->this_gpu);
  dyno_json_bool (&json, "matches_device", preset == matching);
  dyno_json_end_object (&json);
  dyno_out_json (&json);
  dyno_json_clear (&json);
}

static char *
range (guint32 least, guint32 most)
{
  return least == most ? g_strdup_printf ("%u", least) : g_strdup_printf ("%u-%u", least, most);
}

static char *
batch_range (const DynoPreset *preset, guint32 size)
{
  for (guint i = 0; i < preset->n_rows; i++)
    if (preset->rows[i].image_size == size && *preset->rows[i].workload == '\0')
      return range (preset->rows[i].batch_safe, preset->rows[i].batch_max);
  return g_strdup ("-");
}

static void
print_table (GPtrArray *presets, const DynoPreset *matching)
{
  g_autoptr (DynoTable) table = dyno_table_new ("preset", "card", "memory", "512x512", "224x224",
                                                "workers", "prefetch", "AMP", "notes", NULL);

  for (guint i = 0; i < presets->len; i++)
    {
      const DynoPreset *preset = presets->pdata[i];
      g_autofree char *notes = g_strjoinv ("; ", preset->notes);

      dyno_table_add (
          table, g_strdup (preset->id), g_strdup (preset->name),
          g_strdup_printf ("%.3g GB", (double) preset->vram_bytes / (1 << 30)),
          batch_range (preset, 512), batch_range (preset, 224),
          range (preset->workers_min, preset->workers_max),
          g_strdup_printf ("%u", preset->prefetch), g_strdup (preset->amp ? "on" : "off"),
          preset == matching ? g_strconcat ("this card; ", notes, NULL) : g_strdup (notes), NULL);
    }
  dyno_table_print (table);
}

static void
print_one (const DynoPreset *preset, const DynoDeviceInfo *device)
{
  g_autoptr (DynoTable) table =
      dyno_table_new ("images", "safe", "recommended", "max", "for", NULL);
  g_autofree char *workers = range (preset->workers_min, preset->workers_max),
                  *notes = g_strjoinv ("; ", preset->notes);
  g_autofree char *note = device ? dyno_preset_emulation_note (preset, device) : NULL;

  dyno_out_line ("%s (%s)%s%s", preset->name, preset->id, *preset->architecture ? ", " : "",
                 preset->architecture);
  dyno_out_line ("memory    %.3g GB", (double) preset->vram_bytes / (1 << 30));
  if (preset->workers_cpu_bound)
    dyno_out_line ("workers   %s, up to %u when the CPU is the bottleneck%s", workers,
                   preset->workers_cpu_bound, preset->persistent_workers ? ", persistent" : "");
  else
    dyno_out_line ("workers   %s%s", workers, preset->persistent_workers ? ", persistent" : "");
  dyno_out_line ("prefetch  %u", preset->prefetch);
  dyno_out_line ("AMP       %s", preset->amp ? "on" : "off");
  dyno_out_line ("pinned    %s", preset->pinned ? "on" : "off");
  if (*notes)
    dyno_out_line ("notes     %s", notes);
  if (preset->expected)
    dyno_out_line ("expected  %s", preset->expected);
  dyno_out_line ("from      %s", preset->source);
  dyno_out_line ("%s", "");
  dyno_out_line ("%s", preset->advice);
  dyno_out_line ("%s", "");
  for (guint i = 0; i < preset->n_rows; i++)
    {
      const DynoPresetRow *row = &preset->rows[i];
      dyno_table_add (table,
                      row->image_size ? g_strdup_printf ("%ux%u", row->image_size, row->image_size)
                                      : g_strdup ("-"),
                      g_strdup_printf ("%u", row->batch_safe),
                      g_strdup_printf ("%u", row->batch_recommended),
                      g_strdup_printf ("%u", row->batch_max), g_strdup (row->workload), NULL);
    }
  dyno_table_print (table);
  if (note)
    {
      dyno_out_line ("%s", "");
      dyno_out_line ("%s", note);
    }
}

int
dyno_verb_presets (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) devices = NULL, presets = NULL;
  g_auto (GStrv) names = NULL;
  const DynoDeviceInfo *device = NULL;
  const DynoPreset *matching = NULL;
  gboolean as_json = FALSE;
  int code;
  const GOptionEntry entries[] = {
    { "json", 0, 0, G_OPTION_ARG_NONE, &as_json, "One JSON object a preset and line", NULL },
    { NULL },
  };

  if (!dyno_cli_parse (argc, argv, "[NAME]", "Lists the GPU presets, or shows one in full.",
                       entries,
                       "A preset file in ~/.local/share/dyno/presets adds to the list, or replaces "
                       "a preset by its name.",
                       &names, 1, &code))
    return code;
  /* Presets are of use without a device, too: only this-gpu is missing then. */
  devices = dyno_device_list (NULL);
  device = devices ? devices->pdata[0] : NULL;
  if (names)
    {
      g_autoptr (DynoPreset) preset = dyno_preset_find (names[0], device, &error);

      if (!preset)
        return dyno_cli_fail (g_steal_pointer (&error), as_json);
      if (as_json)
        print_json (preset, NULL);
      else
        print_one (preset, device);
      return DYNO_EXIT_OK;
    }
  presets = dyno_preset_list (device);
  matching = device ? dyno_preset_match (presets, device) : NULL;
  for (guint i = 0; as_json && i < presets->len; i++)
    print_json (presets->pdata[i], matching);
  if (!as_json)
    print_table (presets, matching);
  return DYNO_EXIT_OK;
}
