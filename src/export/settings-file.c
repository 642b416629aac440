/* SPDX-License-Identifier: MIT */
/* Reading a settings file.  A bad value never stops anyone: the key keeps what it had and a warning says so.  The file
 * itself is never changed. */
#include "formats.h"
#include <glib/gstdio.h>
#include <string.h>

#define MAX_BYTES (1024 * 1024)

static void G_GNUC_PRINTF (3, 4) warn (GPtrArray *warnings, const char *shown, const char *format, ...)
{
  va_list arguments;
  g_autofree char *text = NULL;

  if (warnings == NULL)
    return;
  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_ptr_array_add (warnings, g_strdup_printf ("Settings file “%s”, %s", shown, text));
}

static void
read_run (GKeyFile *file, const char *shown, DynoJob *job, GPtrArray *warnings)
{
  struct {
    const char *key;
    char **field;
  } names[] = { { "data", &job->data }, { "targets", &job->targets }, { "model", &job->model }, { "preset", &job->preset } };
  g_auto (GStrv) keys = g_key_file_get_keys (file, DYNO_SETTINGS_GROUP_RUN, NULL, NULL);

  for (guint i = 0; keys && keys[i]; i++)
    {
      g_autofree char *value = g_key_file_get_string (file, DYNO_SETTINGS_GROUP_RUN, keys[i], NULL);
      gboolean known = FALSE;

      for (guint k = 0; k < G_N_ELEMENTS (names); k++)
        {
          g_autofree char *escaped_key = g_strconcat (names[k].key, "_escaped", NULL);
          gboolean plain = strcmp (keys[i], names[k].key) == 0, escaped = strcmp (keys[i], escaped_key) == 0;

          known |= plain || escaped;
          if (value == NULL || *value == '\0' || (!plain && !escaped))
            continue;
          g_free (*names[k].field);
          *names[k].field = plain ? g_strdup (value) : g_strcompress (value);
        }
      if (!known)
        warn (warnings, shown, "[%s]: unknown key %.60s, left out", DYNO_SETTINGS_GROUP_RUN, keys[i]);
      else if (value == NULL)
        warn (warnings, shown, "[%s]: %s cannot be read, left out", DYNO_SETTINGS_GROUP_RUN, keys[i]);
    }
}

static void
read_settings (GKeyFile *file, const char *shown, DynoJob *job, GPtrArray *warnings)
{
  g_auto (GStrv) keys = g_key_file_get_keys (file, DYNO_SETTINGS_GROUP_SETTINGS, NULL, NULL);

  for (guint i = 0; keys && keys[i]; i++)
    {
      g_autoptr (GError) problem = NULL;
      g_autofree char *value = g_key_file_get_string (file, DYNO_SETTINGS_GROUP_SETTINGS, keys[i], &problem);

      if (value && dyno_settings_set (&job->settings, keys[i], g_strstrip (value), &problem))
        continue;
      warn (warnings, shown, "[%s]: %s; it is left as it was", DYNO_SETTINGS_GROUP_SETTINGS, problem->message);
    }
}

gboolean
dyno_settings_file_read (const char *path, DynoJob *job, GPtrArray *warnings, GError **error)
{
  g_autoptr (GKeyFile) file = g_key_file_new ();
  g_autoptr (GError) problem = NULL;
  g_autofree char *shown = g_filename_display_name (path), *text = NULL;
  g_auto (GStrv) groups = NULL;
  GStatBuf status;
  gsize size = 0;

  if (g_stat (path, &status) == 0 && (!S_ISREG (status.st_mode) || status.st_size > MAX_BYTES))
    {
      g_set_error (error, DYNO_EXPORT_ERROR, DYNO_EXPORT_ERROR_READ,
                   "“%s” is no settings file: it is not a small regular file", shown);
      return FALSE;
    }
  if (!g_file_get_contents (path, &text, &size, &problem))
    {
      g_set_error (error, DYNO_EXPORT_ERROR, DYNO_EXPORT_ERROR_READ, "Cannot read the settings file: %s", problem->message);
      return FALSE;
    }
  if (memchr (text, 0, size) || !g_utf8_validate (text, (gssize) size, NULL)
      || !g_key_file_load_from_data (file, text, size, G_KEY_FILE_NONE, &problem)
      || !(g_key_file_has_group (file, DYNO_SETTINGS_GROUP_RUN)
           || g_key_file_has_group (file, DYNO_SETTINGS_GROUP_SETTINGS)))
    {
      g_set_error (error, DYNO_EXPORT_ERROR, DYNO_EXPORT_ERROR_READ, "“%s” is no settings file: %s", shown,
                   problem ? problem->message : "it is not a text file with a group [settings]");
      return FALSE;
    }

  groups = g_key_file_get_groups (file, NULL);
  for (guint i = 0; groups[i]; i++)
    if (strcmp (groups[i], DYNO_SETTINGS_GROUP_RUN) != 0 && strcmp (groups[i], DYNO_SETTINGS_GROUP_SETTINGS) != 0)
      warn (warnings, shown, "[%.60s]: unknown group, left out", groups[i]);
  read_run (file, shown, job, warnings);
  read_settings (file, shown, job, warnings);
  return TRUE;
}
