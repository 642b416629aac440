/* SPDX-License-Identifier: MIT */
/* Writes Dyno's own settings file: a key file with [run] (the model and its data) and [settings]
 * (every key of the table).  The file reads back to the same job (settings-file.c); a name that is
 * not UTF-8 is kept byte by byte under <key>_escaped, since key files hold only UTF-8. */
#include "formats.h"
#include <glib/gi18n.h>

static void
set_name (GKeyFile *file, const char *key, const char *value)
{
  if (!value)
    return;
  if (g_utf8_validate (value, -1, NULL))
    g_key_file_set_string (file, DYNO_SETTINGS_GROUP_RUN, key, value);
  else
    {
      g_autofree char *escaped = g_strescape (value, NULL),
                      *escaped_key = g_strconcat (key, "_escaped", NULL);
      g_key_file_set_string (file, DYNO_SETTINGS_GROUP_RUN, escaped_key, escaped);
    }
}

static char *
write_keyfile (const DynoExportContext *context)
{
  g_autoptr (GKeyFile) file = g_key_file_new ();
  g_autoptr (GString) text = g_string_new (NULL);
  g_autofree char *body = NULL;
  const DynoSettingInfo *table;
  guint n;

  dyno_export_append_head (text, context);
  if (context->job)
    {
      const DynoJob *job = context->job;

      set_name (file, "data", job->data);
      set_name (file, "targets", job->targets);
      set_name (file, "model", job->model);
      set_name (file, "preset", job->preset);
      table = dyno_setting_list (&n);
      for (guint i = 0; i < n; i++)
        {
          g_autofree char *value = dyno_settings_get (&job->settings, table[i].key);
          g_key_file_set_string (file, DYNO_SETTINGS_GROUP_SETTINGS, table[i].key, value);
        }
    }
  body = g_key_file_to_data (file, NULL, NULL);
  g_string_append (text, "\n");
  g_string_append (text, body);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

const DynoExporter dyno_exporter_keyfile = {
  .id = "keyfile",
  .title = N_ ("Dyno settings"),
  .extension = "ini",
  .write = write_keyfile,
  .file_name = "settings.ini",
};
