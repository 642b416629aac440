/* SPDX-License-Identifier: MIT */
/* Prints the words that the manual and the completions must have, one per line: "model NAME",
 * "preset ID", "format ID" of settings and "run-format ID", and of the table of settings "setting
 * KEY", "default KEY VALUE", "live KEY", "values KEY VALUE ..." if it has a few values, and "word
 * KEY WORD" for other words of its paragraph. */
#include "network.h"
#include "preset.h"
#include "runexporter.h"

static void
print_setting (const DynoSettingInfo *info)
{
  guint needed;
  const DynoSettingInfo *other = dyno_setting_get_dependency (info, &needed);

  g_print ("setting %s\n", info->key);
  g_print ("default %s %s\n", info->key, *info->default_value ? info->default_value : "empty");
  if (info->live != DYNO_SETTING_LIVE_NO)
    g_print ("live %s\n", info->key);
  if (info->values)
    {
      g_autofree char *values = g_strjoinv (" ", (char **) info->values);
      g_print ("values %s %s\n", info->key, values);
    }
  else if (info->type == DYNO_SETTING_BOOL)
    g_print ("values %s true false\n", info->key);
  for (guint i = 0; info->values && info->values[i]; i++)
    g_print ("word %s %s\n", info->key, info->values[i]);
  if (other && !other->values)
    g_print ("word %s %s\n", info->key, other->key);
  for (guint i = 0; other && other->values && other->values[i]; i++)
    if (needed >> i & 1) /* by its values, if these are words that users enter */
      g_print ("word %s %s\n", info->key, other->values[i]);
}

int
main (void)
{
  guint n_settings = 0;
  const DynoSettingInfo *settings = dyno_setting_list (&n_settings);
  const DynoModel *const *models = dyno_model_list ();
  g_autoptr (GPtrArray) presets = dyno_preset_list (NULL);

  for (guint i = 0; i < n_settings; i++)
    print_setting (&settings[i]);
  for (guint i = 0; models[i]; i++)
    g_print ("model %s\n", models[i]->name);
  for (guint i = 0; i < presets->len; i++)
    g_print ("preset %s\n", ((const DynoPreset *) presets->pdata[i])->id);
  for (const DynoExporter *const *e = dyno_exporter_list (); *e; e++)
    g_print ("format %s\n", (*e)->id);
  for (const DynoRunExporter *const *e = dyno_run_exporter_list (); *e; e++)
    g_print ("run-format %s\n", (*e)->id);
  return 0;
}
