/* SPDX-License-Identifier: MIT */
/* Applies the default values, the values for the device, those of the resumed run, the preset, the
 * settings file and the assignments, each over the previous ones. */
#include "settings-sources.h"
#include "checkpoint.h"
#include "embedded.h"
#include <string.h>

/* settings.ini of a run that is named by its folder or by its checkpoint; NULL: there is none. */
static char *
find_run_settings (const char *resume)
{
  gboolean is_folder = g_file_test (resume, G_FILE_TEST_IS_DIR);
  g_autofree char *folder = is_folder ? g_strdup (resume) : g_path_get_dirname (resume);
  g_autofree char *path = g_build_filename (folder, "settings.ini", NULL);

  return g_file_test (path, G_FILE_TEST_IS_REGULAR) ? g_steal_pointer (&path) : NULL;
}

/* Takes names and settings of the run that is resumed. */
static gboolean
read_run (const char *resume, DynoJob *job, GPtrArray *warnings, GError **error)
{
  g_autofree char *settings = NULL, *checkpoint = NULL;

  if (!resume)
    return TRUE;
  settings = find_run_settings (resume);
  if (settings)
    return dyno_settings_file_read (settings, job, warnings, error);
  checkpoint = dyno_checkpoint_find (resume, error);
  return checkpoint && dyno_checkpoint_read_job (checkpoint, job, warnings, error);
}

static gboolean
read_file (const char *path, DynoJob *job, GPtrArray *warnings, GError **error)
{
  return !path || dyno_settings_file_read (path, job, warnings, error);
}

static gboolean
assign (DynoSettings *settings, const char *assignment, GError **error)
{
  const char *equals = strchr (assignment, '=');
  g_autofree char *key = NULL, *value = NULL;

  if (!equals)
    {
      g_set_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_SETTING, "write KEY=VALUE");
      return FALSE;
    }
  key = g_strstrip (g_strndup (assignment, (gsize) (equals - assignment)));
  value = g_strstrip (g_strdup (equals + 1));
  return dyno_settings_set (settings, key, value, error);
}

/* Applies the settings file, --set, and the separate options, each over the previous ones. */
static gboolean
apply_over_preset (const DynoSettingsSources *sources, DynoJob *job, GPtrArray *warnings,
                   GError **error)
{
  if (!read_file (sources->file, job, warnings, error))
    return FALSE;
  for (guint i = 0; sources->set && sources->set[i]; i++)
    if (!assign (&job->settings, sources->set[i], error))
      {
        g_prefix_error (error, "--set %s: ", sources->set[i]);
        return FALSE;
      }
  for (guint i = 0; sources->own && sources->own[i]; i++)
    if (!assign (&job->settings, sources->own[i], error))
      return FALSE;
  return TRUE;
}

static void
replace (char **field, const char *value)
{
  if (!value)
    return;
  g_free (*field);
  *field = g_strdup (value);
}

/* A path becomes the name of its network, and its file gives the start weights, unless a run is
 * resumed.  The file of a run gives the network that the run has trained. */
static gboolean
resolve_network (const DynoSettingsSources *sources, DynoJob *job, GError **error)
{
  g_autofree char *checkpoint =
      sources->resume ? dyno_checkpoint_find (sources->resume, NULL) : NULL;
  gboolean has_weights;

  if (checkpoint)
    dyno_embedded_adopt_path (checkpoint);
  if (!job->model || !dyno_model_is_path (job->model))
    return TRUE;
  const DynoModel *model = dyno_model_open (job->model, &has_weights, error);
  if (!model)
    return FALSE;
  if (has_weights && !sources->resume)
    {
      g_free (job->weights_in);
      job->weights_in = g_canonicalize_filename (job->model, NULL);
    }
  replace (&job->model, model->name);
  return TRUE;
}

gboolean
dyno_settings_sources_name (const DynoSettingsSources *sources, DynoJob *job, GError **error)
{
  if (!read_run (sources->resume, job, NULL, error)
      || !apply_over_preset (sources, job, NULL, error))
    return FALSE;
  replace (&job->data, sources->data);
  replace (&job->targets, sources->targets);
  replace (&job->model, sources->model);
  return resolve_network (sources, job, error);
}

/* The preset's advice depends on model and image size, which the sources above the preset may set:
 * a copy with all sources applied gives both values. */
static gboolean
apply_preset (const DynoSettingsSources *sources, const DynoDatasetInfo *data, const DynoJob *job,
              DynoSettings *settings, GError **error)
{
  g_autoptr (DynoJob) above = dyno_job_copy (job);
  DynoPresetUse use = {
    .level = sources->level, .job = above, .data = data, .device = sources->device
  };

  if (!sources->preset)
    return TRUE;
  above->settings = *settings;
  if (!apply_over_preset (sources, above, NULL, error))
    return FALSE;
  replace (&above->model, job->model);
  dyno_preset_apply (sources->preset, &use, settings);
  return TRUE;
}

gboolean
dyno_settings_sources_apply (const DynoSettingsSources *sources, const DynoDatasetInfo *data,
                             DynoJob *job, GPtrArray *warnings, GError **error)
{
  g_autoptr (DynoJob) made = dyno_job_copy (job); /* has the names from run and file */

  dyno_settings_init (&made->settings);
  if (sources->device && sources->device->type == DYNO_DEVICE_TYPE_SOFTWARE)
    made->settings.amp = FALSE;
  if (!read_run (sources->resume, made, warnings, error)
      || !apply_preset (sources, data, job, &made->settings, error)
      || !apply_over_preset (sources, made, warnings, error))
    return FALSE;
  job->settings = made->settings;
  g_free (job->preset);
  job->preset = g_steal_pointer (&made->preset);
  return TRUE;
}
