/* SPDX-License-Identifier: MIT */
/* The settings as JSON: {"dyno": version, "card", "samples_per_s", "vram_bytes", "run": {...},
 * "settings": {...}}, each value in its own type.  A value that is not known is null.  Settings
 * that a search chose also have "proven" and "reasons". */
#include "formats.h"
#include <glib/gi18n.h>
#include <math.h>

void
dyno_export_json_setting (DynoJson *json, const DynoSettings *settings, const DynoSettingInfo *info)
{
  g_autofree char *text = dyno_settings_get (settings, info->key);
  double number = dyno_settings_get_number (settings, info->key);

  if (dyno_setting_has_switch (info) && number <= 1)
    {
      dyno_json_bool (json, info->key, number != 0);
      return;
    }
  switch (info->type)
    {
    case DYNO_SETTING_BOOL:
      dyno_json_bool (json, info->key, number != 0);
      break;
    case DYNO_SETTING_INT:
      dyno_json_int (json, info->key, g_ascii_strtoll (text, NULL, 10));
      break;
    case DYNO_SETTING_BYTES:
      dyno_json_int (json, info->key, G_STRUCT_MEMBER (gint64, settings, info->offset));
      break;
    case DYNO_SETTING_DOUBLE:
      dyno_json_double (json, info->key, number);
      break;
    case DYNO_SETTING_ENUM:
    default:
      dyno_json_string (json, info->key, text);
    }
}

void
dyno_export_json_settings (DynoJson *json, const DynoSettings *settings)
{
  guint n;
  const DynoSettingInfo *table = dyno_setting_list (&n);

  dyno_json_begin_object (json, "settings");
  for (guint i = 0; i < n; i++)
    dyno_export_json_setting (json, settings, &table[i]);
  dyno_json_end_object (json);
}

static char *
write_json (const DynoExportContext *context)
{
  DynoJson json;
  char *text;

  dyno_json_init (&json, 2);
  dyno_json_begin_object (&json, NULL);
  dyno_json_string (&json, "dyno", DYNO_VERSION);
  dyno_json_string (&json, "card", context->device);
  dyno_json_double (&json, "samples_per_s",
                    context->samples_per_s > 0 ? context->samples_per_s : (double) NAN);
  if (context->vram_bytes)
    dyno_json_uint (&json, "vram_bytes", context->vram_bytes);
  else
    dyno_json_null (&json, "vram_bytes");
  if (context->note)
    dyno_json_string (&json, "note", context->note);
  if (context->reasons)
    {
      dyno_json_bool (&json, "proven", context->proven);
      dyno_json_begin_array (&json, "reasons");
      for (guint i = 0; context->reasons[i]; i++)
        dyno_json_string (&json, NULL, context->reasons[i]);
      dyno_json_end_array (&json);
    }
  if (context->job)
    {
      dyno_json_begin_object (&json, "run");
      dyno_json_string (&json, "data", context->job->data);
      dyno_json_string (&json, "targets", context->job->targets);
      dyno_json_string (&json, "model", context->job->model);
      dyno_json_string (&json, "preset", context->job->preset);
      dyno_json_end_object (&json);
      dyno_export_json_settings (&json, &context->job->settings);
    }
  dyno_json_end_object (&json);
  text = dyno_json_steal (&json);
  dyno_json_clear (&json);
  return text;
}

const DynoExporter dyno_exporter_json = {
  .id = "json",
  .title = N_ ("JSON"),
  .extension = "json",
  .write = write_json,
  .file_name = "settings.json",
};
