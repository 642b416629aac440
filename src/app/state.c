/* SPDX-License-Identifier: MIT */
/* The window's persistent state. */
#define G_SETTINGS_ENABLE_BACKEND /* declares the backends that are chosen explicitly below */
#include "state.h"
#include "config.h"
#include "file.h"
#include <errno.h>
#include <gio/gsettingsbackend.h>

/* Chooses the backend: the file in the state folder if one was given; NULL, the system's backend,
 * if it can write; else memory.  The latter is logged once here; the system's backend would log an
 * error at every change. */
static GSettingsBackend *
make_backend (void)
{
  const char *folder = dyno_state_dir_get ();
  g_autofree char *own = folder ? g_build_filename (folder, "window.ini", NULL) : NULL;
  g_autofree char *system = g_build_filename (g_get_user_config_dir (), "dconf", NULL);
  g_autofree char *shown = g_filename_display_name (system);

  if (own)
    return g_keyfile_settings_backend_new (own, "/", NULL);
  if (g_getenv ("GSETTINGS_BACKEND")
      || (g_mkdir_with_parents (system, 0700) == 0 && dyno_dir_test_writable (system)))
    return NULL;
  g_message ("Settings are not saved: cannot write into “%s”: %s; --state-dir names another folder",
             shown, g_strerror (errno));
  return g_memory_settings_backend_new ();
}

DynoState *
dyno_state_new (void)
{
  GSettingsSchemaSource *source = g_settings_schema_source_get_default ();
  g_autoptr (GSettingsSchema) schema =
      source ? g_settings_schema_source_lookup (source, DYNO_APP_ID, TRUE) : NULL;
  g_autoptr (GSettingsBackend) backend = NULL;
  if (!schema)
    {
      g_warning ("The schema %s is not installed: window size and settings are not saved",
                 DYNO_APP_ID);
      return NULL;
    }
  backend = make_backend ();
  return backend ? g_settings_new_with_backend (DYNO_APP_ID, backend)
                 : g_settings_new (DYNO_APP_ID);
}

void
dyno_state_load_setup (DynoState *state, DynoSetup *setup, const char *location)
{
  if (!state)
    {
      dyno_setup_restore (setup, location ? location : "builtin:shapes", NULL, NULL,
                          DYNO_LEVEL_RECOMMENDED, NULL);
      return;
    }
  g_autofree char *device = g_settings_get_string (state, "device"),
                  *begin = g_settings_get_string (state, "begin-with");
  gboolean last = !g_str_equal (begin, "preset");
  g_autofree char *data = g_settings_get_string (state, "data");
  g_autofree char *model = g_settings_get_string (state, "model");
  g_autofree char *preset = g_settings_get_string (state, "preset");
  g_auto (GStrv) settings = g_settings_get_strv (state, "settings");
  dyno_setup_prefer_device (setup, device);
  dyno_setup_restore (setup, location ? location : data, model, last ? preset : "",
                      last ? (DynoLevel) g_settings_get_enum (state, "level")
                           : DYNO_LEVEL_RECOMMENDED,
                      last ? (const char *const *) settings : NULL);
}

void
dyno_state_save_setup (DynoState *state, DynoSetup *setup)
{
  const DynoJob *job = dyno_setup_get_job (setup);
  const DynoPreset *preset = dyno_setup_get_preset (setup);
  if (!state)
    return;
  g_auto (GStrv) settings = dyno_setup_save_settings (setup);
  if (job->data && g_utf8_validate (job->data, -1, NULL))
    g_settings_set_string (state, "data", job->data);
  g_settings_set_string (state, "model", job->model);
  if (preset)
    g_settings_set_string (state, "preset", preset->id);
  g_settings_set_enum (state, "level", (int) dyno_setup_get_level (setup));
  g_settings_set_strv (state, "settings", (const char *const *) settings);
}

static char *
get_path (DynoState *state, const char *key)
{
  g_autofree char *path = state ? g_settings_get_string (state, key) : NULL;
  return path && *path ? g_steal_pointer (&path) : NULL;
}

char *
dyno_state_get_first_settings (DynoState *state)
{
  g_autofree char *begin = state ? g_settings_get_string (state, "begin-with") : NULL;
  return g_strcmp0 (begin, "file") == 0 ? get_path (state, "settings-file") : NULL;
}

char *
dyno_state_get_runs_folder (DynoState *state)
{
  return get_path (state, "runs-folder");
}

guint64
dyno_state_get_dismissed_run (DynoState *state)
{
  return state ? g_settings_get_uint64 (state, "dismissed-run") : 0;
}

void
dyno_state_set_dismissed_run (DynoState *state, guint64 uid)
{
  if (state)
    g_settings_set_uint64 (state, "dismissed-run", uid);
}

char *
dyno_state_get_data_folder (DynoState *state)
{
  return get_path (state, "data-folder");
}

gboolean
dyno_state_wants_notifications (DynoState *state)
{
  return !state || g_settings_get_boolean (state, "notifications");
}

void
dyno_state_load_size (DynoState *state, int *width, int *height, gboolean *maximized)
{
  *width = state ? g_settings_get_int (state, "width") : 1240;
  *height = state ? g_settings_get_int (state, "height") : 820;
  *maximized = state ? g_settings_get_boolean (state, "maximized") : FALSE;
}

void
dyno_state_save_size (DynoState *state, int width, int height, gboolean maximized)
{
  if (!state)
    return;
  g_settings_set_boolean (state, "maximized", maximized);
  if (!maximized && width > 0 && height > 0)
    {
      g_settings_set_int (state, "width", width);
      g_settings_set_int (state, "height", height);
    }
}
