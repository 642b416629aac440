/* SPDX-License-Identifier: MIT */
#include "setupsteps.h"
#include "fittingmodel.h"
#include "format.h"
#include "obstacles.h"
#include "words.h"
#include <glib/gi18n.h>
#include <string.h>

const char *
dyno_setup_steps_get_title (DynoSetupStepKind kind)
{
  switch (kind)
    {
    case DYNO_SETUP_STEP_DATA:
      return _ ("Data");
    case DYNO_SETUP_STEP_MODEL:
      return _ ("Model");
    case DYNO_SETUP_STEP_WEIGHTS:
      return _ ("Start weights");
    case DYNO_SETUP_STEP_DEVICE:
      return _ ("Device and Preset");
    default:
      return _ ("Output folder");
    }
}

/* Returns FALSE if there is no obstacle. */
static gboolean
add_obstacle (DynoSetupStep *step, DynoSetup *setup, DynoObstaclePart part, DynoStepMend mend)
{
  gboolean passes = FALSE;
  g_autofree char *obstacle = dyno_obstacle_of (setup, part, &passes);
  dyno_setup_step_add (step, passes ? DYNO_STEP_PENDING : DYNO_STEP_BLOCKED, obstacle, mend);
  return obstacle != NULL;
}

static DynoSetupStep *
look_at_data (DynoSetup *setup, DynoDataInspector *inspector)
{
  const DynoDatasetInfo *info = dyno_setup_get_info (setup);
  const char *opening = dyno_setup_get_opening (setup, NULL),
             *location = opening ? opening
                         : info  ? dyno_setup_get_job (setup)->data
                                 : NULL;
  g_autofree char *name = location ? dyno_words_data (location) : NULL;
  char *value = NULL, *whole = NULL;
  if (name && info && !opening)
    {
      g_autofree char *count = dyno_format_count (info->n_samples),
                      *size = dyno_words_sample_size (info);
      /* Translators: a data set, the number of its samples, the size of one: "Shapes, 2,000 of 32 ×
       * 32 × 3" */
      value = g_strdup_printf (_ ("%s, %s of %s"), name, count, size);
      whole = info->generated ? NULL : g_filename_display_name (info->location);
    }
  else
    value = g_strdup (name ? name : _ ("None chosen"));
  DynoSetupStep *step = dyno_setup_step_new (value, whole);
  if (add_obstacle (step, setup, DYNO_OBSTACLE_DATA, DYNO_STEP_MEND_NONE))
    return step;
  const GPtrArray *warnings = dyno_data_inspector_get_warnings (inspector),
                  *remarks = dyno_data_inspector_get_remarks (inspector);
  for (guint i = 0; i < warnings->len; i++)
    dyno_setup_step_add (step, DYNO_STEP_WARNING, warnings->pdata[i], DYNO_STEP_MEND_NONE);
  if (dyno_data_inspector_is_busy (inspector))
    dyno_setup_step_add (step, DYNO_STEP_PENDING, _ ("The samples are being checked"),
                         DYNO_STEP_MEND_NONE);
  for (guint i = 0; i < remarks->len; i++)
    dyno_setup_step_add (step, DYNO_STEP_READY, remarks->pdata[i], DYNO_STEP_MEND_NONE);
  return step;
}

static DynoSetupStep *
look_at_model (DynoSetup *setup)
{
  DynoSetupStep *step =
      dyno_setup_step_new (dyno_words_model (dyno_setup_get_job (setup)->model), NULL);
  add_obstacle (step, setup, DYNO_OBSTACLE_MODEL,
                dyno_fitting_model_find (setup) ? DYNO_STEP_MEND_MODEL : DYNO_STEP_MEND_NONE);
  return step;
}

static DynoSetupStep *
look_at_weights (DynoSetup *setup, DynoPathCheck *paths)
{
  const char *path = dyno_setup_get_job (setup)->weights_in;
  DynoSetupStep *step =
      path ? dyno_setup_step_new (dyno_words_weights (path), g_filename_display_name (path))
           : dyno_setup_step_new (g_strdup (_ ("Random values")), NULL);
  if (path)
    dyno_setup_step_add (step, DYNO_STEP_WARNING, dyno_path_check_get_weights_problem (paths),
                         DYNO_STEP_MEND_WEIGHTS);
  if (path && !dyno_path_check_is_known (paths))
    dyno_setup_step_add (step, DYNO_STEP_PENDING, _ ("The file is being checked"),
                         DYNO_STEP_MEND_NONE);
  return step;
}

static char *
describe_preset (DynoSetup *setup, const DynoDeviceInfo *device)
{
  const DynoPreset *preset = dyno_setup_get_preset (setup);
  const char *level =
      dyno_setup_is_custom (setup) ? _ ("Custom") : dyno_words_level (dyno_setup_get_level (setup));
  if (!preset || preset->this_gpu)
    return g_strdup (level);
  return g_strdup_printf ("%s, %s", dyno_words_preset (preset, device), level);
}

static DynoSetupStep *
look_at_device (DynoSetup *setup)
{
  const DynoDeviceInfo *device = dyno_setup_get_device (setup);
  const DynoSettings *settings = &dyno_setup_get_job (setup)->settings;
  const DynoJobPlan *plan = dyno_setup_get_plan (setup);
  const char *advice = dyno_setup_get_advice (setup);
  g_autofree char *preset = describe_preset (setup, device);
  DynoUsedDevices used = dyno_setup_get_used_devices (setup);
  guint n = dyno_used_devices_count (&used);
  char *value = !device  ? g_strdup (_ ("None"))
                : n == 1 ? g_strdup_printf ("%s, %s", device->name, preset)
                         /* Translators: number of devices, name of one, preset */
                         : g_strdup_printf (ngettext ("%u device: %s, %s", "%u devices: %s, %s", n),
                                            n, device->name, preset);
  DynoSetupStep *step = dyno_setup_step_new (value, NULL);
  DynoStepMend mend = plan && dyno_words_better_batch (settings, plan) > 0 ? DYNO_STEP_MEND_BATCH
                                                                           : DYNO_STEP_MEND_NONE;
  gboolean blocked = add_obstacle (step, setup, DYNO_OBSTACLE_DEVICE, DYNO_STEP_MEND_NONE)
                     || add_obstacle (step, setup, DYNO_OBSTACLE_MEMORY, mend);
  if (!blocked && plan && advice)
    dyno_setup_step_add (step, plan->fits ? DYNO_STEP_READY : DYNO_STEP_WARNING, advice, mend);
  if (settings->amp)
    dyno_setup_step_add (step, DYNO_STEP_WARNING, dyno_preset_warn_of_amp (device),
                         DYNO_STEP_MEND_AMP_OFF);
  return step;
}

/* "~/runs" for a folder in the user's home folder. */
static char *
shorten (const char *folder)
{
  const char *home = g_get_home_dir ();
  gsize n = strlen (home);
  gboolean inside = n > 1 && strncmp (folder, home, n) == 0
                    && (folder[n] == G_DIR_SEPARATOR || folder[n] == '\0');
  g_autofree char *path = inside ? g_strconcat ("~", folder + n, NULL) : g_strdup (folder);
  return g_filename_display_name (path);
}

static DynoSetupStep *
look_at_folder (DynoPathCheck *paths)
{
  const char *folder = dyno_path_check_get_folder (paths);
  DynoSetupStep *step = dyno_setup_step_new (folder ? shorten (folder) : g_strdup (""),
                                             folder ? g_filename_display_name (folder) : NULL);
  dyno_setup_step_add (step, DYNO_STEP_BLOCKED, dyno_path_check_get_folder_problem (paths),
                       DYNO_STEP_MEND_FOLDER);
  if (!dyno_path_check_is_known (paths))
    dyno_setup_step_add (step, DYNO_STEP_PENDING, _ ("The folder is being checked"),
                         DYNO_STEP_MEND_NONE);
  return step;
}

DynoSetupStep *
dyno_setup_steps_look (DynoSetupStepKind kind, DynoSetup *setup, DynoDataInspector *inspector,
                       DynoPathCheck *paths)
{
  switch (kind)
    {
    case DYNO_SETUP_STEP_DATA:
      return look_at_data (setup, inspector);
    case DYNO_SETUP_STEP_MODEL:
      return look_at_model (setup);
    case DYNO_SETUP_STEP_WEIGHTS:
      return look_at_weights (setup, paths);
    case DYNO_SETUP_STEP_DEVICE:
      return look_at_device (setup);
    default:
      return look_at_folder (paths);
    }
}
