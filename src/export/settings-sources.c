/* SPDX-License-Identifier: MIT */
/* Defaults, the device's, the resumed run's, the preset, the settings file, assignments: each over
 * the one before. */
#include "settings-sources.h"
#include <string.h>

/* A file's settings and preset; not its names, which the job has already. */
static gboolean
read_file (const char *path, DynoJob *job, GPtrArray *warnings, GError **error)
{
  g_autoptr (DynoJob) read = NULL;

  if (!path)
    return TRUE;
  read = dyno_job_copy (job);
  if (!dyno_settings_file_read (path, read, warnings, error))
    return FALSE;
  job->settings = read->settings;
  g_free (job->preset);
  job->preset = g_steal_pointer (&read->preset);
  return TRUE;
}

static gboolean
assign (DynoSettings *settings, const char *assignment, GError **error)
{
  const char *equals = strchr (assignment, '=');
  g_autofree char *key = NULL, *value = NULL;

  if (!equals)
    {
      g_set_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_SETTING, "%s: write KEY=VALUE",
                   assignment);
      return FALSE;
    }
  key = g_strstrip (g_strndup (assignment, (gsize) (equals - assignment)));
  value = g_strstrip (g_strdup (equals + 1));
  return dyno_settings_set (settings, key, value, error);
}

static gboolean
apply_over_preset (const DynoSettingsSources *sources, DynoJob *job, GPtrArray *warnings,
                   GError **error)
{
  if (!read_file (sources->file, job, warnings, error))
    return FALSE;
  for (guint i = 0; sources->set && sources->set[i]; i++)
    if (!assign (&job->settings, sources->set[i], error))
      return FALSE;
  return TRUE;
}

/* The preset's advice depends on the image size, which what is above it may say: that is asked of a
 * copy. */
static gboolean
apply_preset (const DynoSettingsSources *sources, const DynoDatasetInfo *data, DynoJob *job,
              GError **error)
{
  g_autoptr (DynoJob) above = dyno_job_copy (job);
  guint32 width = 0, height = 0;

  if (!sources->preset)
    return TRUE;
  if (!apply_over_preset (sources, above, NULL, error))
    return FALSE;
  if (!dyno_job_get_size (above, data, &width, &height, NULL))
    width = height = MAX (data->max_width, 1);
  dyno_preset_apply (sources->preset, sources->level, MAX (width, height), &job->settings);
  return TRUE;
}

gboolean
dyno_settings_sources_apply (const DynoSettingsSources *sources, const DynoDatasetInfo *data,
                             DynoJob *job, GPtrArray *warnings, GError **error)
{
  dyno_settings_init (&job->settings);
  if (sources->device && sources->device->type == DYNO_DEVICE_TYPE_SOFTWARE)
    job->settings.amp = FALSE;
  return read_file (sources->run, job, warnings, error) && apply_preset (sources, data, job, error)
         && apply_over_preset (sources, job, warnings, error);
}
