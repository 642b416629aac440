/* SPDX-License-Identifier: MIT */
/* dynoctl presets: lists the GPU presets, or prints one of them in full. */
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
add_workload (DynoJson *json, const DynoPresetWorkload *workload)
{
  g_autofree char *words = dyno_preset_workload_describe (workload);

  dyno_json_string (json, "workload", words);
  dyno_json_string (json, "task", dyno_preset_task_name (workload->task));
  dyno_json_string (json, "input", dyno_preset_input_name (workload->input));
  print_strings (json, "data", workload->data);
  print_strings (json, "model", workload->models);
  dyno_json_string (json, "framework", workload->framework);
}

static void
add_range (DynoJson *json, const char *key, const DynoPresetRange *range)
{
  if (!dyno_preset_range_is_given (range))
    return;
  dyno_json_begin_array (json, key);
  dyno_json_double (json, NULL, range->least);
  dyno_json_double (json, NULL, range->most);
  dyno_json_end_array (json);
}

static void
add_expectation (DynoJson *json, const DynoPresetExpectation *expectation)
{
  dyno_json_begin_object (json, NULL);
  add_workload (json, &expectation->workload);
  dyno_json_uint (json, "batch", expectation->batch);
  dyno_json_uint (json, "before_batch", expectation->before_batch);
  for (DynoPresetQuantity i = 0; i < DYNO_PRESET_N_QUANTITIES; i++)
    {
      g_autofree char *before = g_strconcat ("before_", dyno_preset_quantity_name (i), NULL);

      add_range (json, dyno_preset_quantity_name (i), &expectation->now[i]);
      add_range (json, before, &expectation->before[i]);
    }
  dyno_json_end_object (json);
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
  dyno_json_uint (&json, "vram_total_bytes", preset->total_bytes);
  dyno_json_uint (&json, "vram_usable_bytes", preset->usable_bytes);
  dyno_json_string (&json, "vram_source", preset->vram_source);
  dyno_json_begin_array (&json, "rows");
  for (guint i = 0; i < preset->n_rows; i++)
    {
      const DynoPresetRow *row = &preset->rows[i];

      dyno_json_begin_object (&json, NULL);
      dyno_json_uint (&json, "image_size", row->image_size);
      add_workload (&json, &row->workload);
      dyno_json_uint (&json, "batch_safe", row->batch_safe);
      dyno_json_uint (&json, "batch_recommended", row->batch_recommended);
      dyno_json_uint (&json, "batch_max", row->batch_max);
      print_strings (&json, "derived", row->derived);
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
  print_strings (&json, "derived", preset->derived);
  dyno_json_begin_array (&json, "expected");
  for (guint i = 0; i < preset->n_expectations; i++)
    add_expectation (&json, &preset->expectations[i]);
  dyno_json_end_array (&json);
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

static gboolean
has (char **list, const char *key)
{
  return list && g_strv_contains ((const char *const *) list, key);
}

/* Values that are Dyno's own have this mark. */
static const char *
mark (gboolean derived)
{
  return derived ? "*" : "";
}

static gboolean
is_usual (const DynoPresetRow *row)
{
  g_autofree char *workload = dyno_preset_workload_describe (&row->workload);
  return *workload == '\0';
}

static char *
batch_range (const DynoPreset *preset, guint32 size)
{
  for (guint i = 0; i < preset->n_rows; i++)
    if (preset->rows[i].image_size == size && is_usual (&preset->rows[i]))
      {
        const DynoPresetRow *row = &preset->rows[i];
        g_autofree char *text = range (row->batch_safe, row->batch_max);

        return g_strconcat (
            text, mark (has (row->derived, "batch_safe") || has (row->derived, "batch_max")), NULL);
      }
  return g_strdup ("-");
}

static char *
batch (const DynoPresetRow *row, guint32 value, const char *key)
{
  return g_strdup_printf ("%u%s", value, mark (has (row->derived, key)));
}

static void
print_legend (void)
{
  dyno_out_line ("%s", "");
  dyno_out_line ("* derived: Dyno's own value, no guide gives it");
}

static char *
workers_range (const DynoPreset *preset)
{
  g_autofree char *text = range (preset->workers_min, preset->workers_max);
  return g_strconcat (text, mark (has (preset->derived, "workers")), NULL);
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
          batch_range (preset, 512), batch_range (preset, 224), workers_range (preset),
          g_strdup_printf ("%u%s", preset->prefetch, mark (has (preset->derived, "prefetch"))),
          g_strconcat (preset->amp ? "on" : "off", mark (has (preset->derived, "amp")), NULL),
          preset == matching ? g_strconcat ("this card; ", notes, NULL) : g_strdup (notes), NULL);
    }
  dyno_table_print (table);
  print_legend ();
}

/* Prints the memory, and the part of it that a program can use. */
static void
print_memory (const DynoPreset *preset)
{
  const double gib = 1 << 30, mib = 1 << 20;

  dyno_out_line ("memory    %.3g GB, of which %.3g GB usable: %.0f of the %.0f MiB in all%s%s%s",
                 (double) preset->vram_bytes / gib, (double) preset->usable_bytes / gib,
                 (double) preset->usable_bytes / mib, (double) preset->total_bytes / mib,
                 preset->vram_source ? " (" : "", preset->vram_source ? preset->vram_source : "",
                 preset->vram_source ? ")" : "");
}

/* Prints each set of numbers with its workload. */
static void
print_expected (const DynoPreset *preset)
{
  for (guint i = 0; i < preset->n_expectations; i++)
    {
      const DynoPresetExpectation *expectation = &preset->expectations[i];
      g_autofree char *workload = dyno_preset_workload_describe (&expectation->workload),
                      *words = dyno_preset_expectation_describe (expectation);

      dyno_out_line ("expected  %s%s%s", workload, *workload ? ": " : "", words);
    }
}

static void
print_one (const DynoPreset *preset, const DynoDeviceInfo *device)
{
  g_autoptr (DynoTable) table =
      dyno_table_new ("images", "safe", "recommended", "max", "for", NULL);
  g_autofree char *workers = workers_range (preset), *notes = g_strjoinv ("; ", preset->notes);
  g_autofree char *note = device ? dyno_preset_emulation_note (preset, device) : NULL;

  dyno_out_line ("%s (%s)%s%s", preset->name, preset->id, *preset->architecture ? ", " : "",
                 preset->architecture);
  print_memory (preset);
  if (preset->workers_cpu_bound)
    dyno_out_line ("workers   %s, up to %u%s when the CPU is the bottleneck%s%s", workers,
                   preset->workers_cpu_bound, mark (has (preset->derived, "workers_cpu_bound")),
                   preset->persistent_workers ? ", persistent" : "",
                   mark (has (preset->derived, "persistent_workers")));
  else
    dyno_out_line ("workers   %s%s%s", workers, preset->persistent_workers ? ", persistent" : "",
                   mark (has (preset->derived, "persistent_workers")));
  dyno_out_line ("prefetch  %u%s", preset->prefetch, mark (has (preset->derived, "prefetch")));
  dyno_out_line ("AMP       %s%s", preset->amp ? "on" : "off", mark (has (preset->derived, "amp")));
  dyno_out_line ("pinned    %s%s", preset->pinned ? "on" : "off",
                 mark (has (preset->derived, "pinned")));
  if (*notes)
    dyno_out_line ("notes     %s", notes);
  print_expected (preset);
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
                      batch (row, row->batch_safe, "batch_safe"),
                      batch (row, row->batch_recommended, "batch_recommended"),
                      batch (row, row->batch_max, "batch_max"),
                      dyno_preset_workload_describe (&row->workload), NULL);
    }
  dyno_table_print (table);
  print_legend ();
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
  /* Without a device only the preset this-gpu is missing. */
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
