/* SPDX-License-Identifier: MIT */
/* Prints every name that the manual and the completion must know: "setting KEY", "model NAME",
 * "preset ID", a line each. */
#include "exporter.h"
#include "network.h"
#include "preset.h"

int
main (void)
{
  guint n_settings = 0;
  const DynoSettingInfo *settings = dyno_setting_list (&n_settings);
  const DynoModel *const *models = dyno_model_list ();
  g_autoptr (GPtrArray) presets = dyno_preset_list (NULL);

  for (guint i = 0; i < n_settings; i++)
    g_print ("setting %s\n", settings[i].key);
  for (guint i = 0; models[i]; i++)
    g_print ("model %s\n", models[i]->name);
  for (guint i = 0; i < presets->len; i++)
    g_print ("preset %s\n", ((const DynoPreset *) presets->pdata[i])->id);
  return 0;
}
