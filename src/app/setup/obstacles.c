/* SPDX-License-Identifier: MIT */
/* Reasons why something cannot be done now.  The table of settings lists the requirements between
 * settings; the requirements on device and data set are here. */
#include "obstacles.h"
#include "comm.h"
#include "words.h"
#include <glib/gi18n.h>

static char *
describe_dependency (const DynoSettingInfo *info)
{
  guint values;
  const DynoSettingInfo *other = dyno_setting_get_dependency (info, &values);
  g_autoptr (GString) list = g_string_new (NULL);
  if (other->type == DYNO_SETTING_BOOL && values == 1)
    /* Translators: title of a setting that is a switch */
    return g_strdup_printf (_ ("Has no effect while “%s” is on."), _ (other->title));
  if (other->type == DYNO_SETTING_BOOL)
    return g_strdup_printf (_ ("Has no effect while “%s” is off."), _ (other->title));
  for (guint i = 0; other->values[i]; i++)
    if (values >> i & 1)
      g_string_append_printf (list, "%s%s", list->len > 0 ? ", " : "",
                              dyno_words_choice (other->values[i]));
  /* Translators: title of a setting, and the value of it that is needed, or several of which one
   * is */
  return g_strdup_printf (_ ("Has an effect only where “%s” is %s."), _ (other->title), list->str);
}

static char *
describe_need (const DynoSettingInfo *info, const DynoDatasetInfo *data)
{
  if (info->needs == DYNO_SETTING_NEEDS_VALUES && data
      && dyno_dataset_get_task (data) == DYNO_TASK_LABELS)
    return g_strdup (
        _ ("Has an effect only where values are predicted, and this data set has labels."));
  return g_strdup (
      info->needs == DYNO_SETTING_NEEDS_DROPOUT ? _ ("This model has no dropout layer.")
      : info->needs == DYNO_SETTING_NEEDS_STOCHASTIC_DEPTH
          ? _ ("This model has no stochastic depth.")
      : info->needs == DYNO_SETTING_NEEDS_MASKS
          ? _ ("Has an effect only where each pixel has a class, and this data set has no masks.")
      : info->needs == DYNO_SETTING_NEEDS_CLASSES
          ? _ ("Has an effect only where classes are told apart, and this data set has "
               "values.")
          : _ ("Has an effect only where values are predicted, and this data set has "
               "classes."));
}

static gboolean
is_network (DynoSetup *setup)
{
  const DynoModel *model = dyno_model_find (dyno_setup_get_job (setup)->model, NULL);
  return model && model->network;
}

/* Whether the setting is one that divides the data, which a data set with its own parts refuses: a
 * test share that is set remains changeable, so that it can be switched off. */
static gboolean
is_of_split (const DynoSettingInfo *info)
{
  return g_str_equal (info->key, "data.val_split") || g_str_equal (info->key, "data.test_split")
         || g_str_equal (info->key, "data.folds") || g_str_equal (info->key, "data.fold");
}

/* Whether the setting balances classes, and the data has labels, with which no run begins then.  A
 * setting that is on remains changeable, so that it can be switched off. */
static gboolean
refuses_balance (DynoSetup *setup, const DynoSettingInfo *info, const DynoDatasetInfo *data)
{
  return g_str_equal (info->key, "data.balance") && data
         && dyno_dataset_get_task (data) == DYNO_TASK_LABELS
         && dyno_setup_get_job (setup)->settings.data_balance == DYNO_BALANCE_NONE;
}

char *
dyno_obstacle_to_change (DynoSetup *setup, const DynoSettingInfo *info)
{
  DynoUsedDevices used = dyno_setup_get_used_devices (setup);
  const DynoDatasetInfo *data = dyno_setup_get_info (setup);
  if (g_str_equal (info->key, "amp") && !dyno_used_devices_have_fp16 (&used))
    return g_strdup (dyno_used_devices_count (&used) > 1
                         ? _ ("A device that trains along has no 16-bit floating point "
                              "arithmetic, which AMP needs.")
                         : _ ("This device has no 16-bit floating point arithmetic, which AMP "
                              "needs."));
  if (g_str_equal (info->key, "model.width") && is_network (setup))
    return g_strdup (_ ("A network from a file has the width that it has there."));
  if (g_str_equal (info->key, "image_size") && data && !data->resizable)
    return g_strdup (_ ("Samples of this data set have one fixed size."));
  if (is_of_split (info) && data && data->has_split
      && !(g_str_equal (info->key, "data.test_split")
           && dyno_setup_get_job (setup)->settings.data_test_split > 0))
    return g_strdup (_ ("This data set brings its own validation part."));
  if (g_str_equal (info->key, "data.val_split")
      && dyno_setup_get_job (setup)->settings.data_folds > 0)
    return g_strdup (_ ("The folds say which samples validate."));
  if (!dyno_job_meets (info, dyno_setup_get_job (setup)->model, data))
    return describe_need (info, data);
  if (refuses_balance (setup, info, data))
    return g_strdup (_ ("Samples with several labels each cannot be balanced; balanced class "
                        "weights weigh the rare labels instead."));
  if (!dyno_setting_counts (info, &dyno_setup_get_job (setup)->settings))
    return describe_dependency (info);
  return NULL;
}

/* Several devices have a process each, which MPI starts and connects. */
static char *
find_obstacle_of_several (DynoSetup *setup)
{
  DynoUsedDevices used = dyno_setup_get_used_devices (setup);
  g_autofree char *mpirun = NULL;
  if (dyno_used_devices_count (&used) == 1)
    return NULL;
  if (!dyno_comm_is_installed (NULL))
    return g_strdup (_ ("This copy of Dyno was built without MPI, by which several devices train "
                        "together: use one device."));
  mpirun = g_find_program_in_path ("mpirun");
  return mpirun ? NULL
                : g_strdup (_ ("Several devices train together by MPI, which is not installed: "
                               "install Open MPI (package openmpi-bin), or use one device."));
}

static char *
find_device_obstacle (DynoSetup *setup, gboolean *passes)
{
  if (dyno_setup_get_device_error (setup))
    return g_strdup (_ ("No device to train on."));
  *passes = dyno_setup_get_devices (setup) == NULL;
  if (*passes)
    return g_strdup (_ ("Looking for devices…"));
  return find_obstacle_of_several (setup);
}

static char *
find_data_obstacle (DynoSetup *setup, gboolean *passes)
{
  const DynoDatasetInfo *info = dyno_setup_get_info (setup);
  *passes = dyno_setup_get_opening (setup, NULL) != NULL;
  if (*passes)
    return g_strdup (_ ("The data set is being opened."));
  if (!info)
    return g_strdup (_ ("Choose a data set first."));
  if (info->n_samples == 0)
    return g_strdup (_ ("This data set has no sample that can be read."));
  if (dyno_dataset_get_task (info) == DYNO_TASK_LABELS
      && dyno_setup_get_job (setup)->settings.data_balance != DYNO_BALANCE_NONE)
    /* Translators: title of a setting, its value */
    return g_strdup_printf (
        _ ("Samples with several labels each cannot be balanced: set “%s” to %s."),
        _ (dyno_setting_find ("data.balance")->title), dyno_words_choice ("none"));
  /* A single label suffices: some samples have it, and others have not. */
  if (dyno_schema_count_floats (&info->schema) == 0 && info->n_classes < 2
      && !dyno_setup_get_job (setup)->settings.data_one_class)
    return g_strdup (_ ("This data set has a single class: there are no classes to distinguish."));
  return NULL;
}

char *
dyno_obstacle_of (DynoSetup *setup, DynoObstaclePart part, gboolean *passes)
{
  const DynoJobPlan *plan = dyno_setup_get_plan (setup);
  *passes = FALSE;
  switch (part)
    {
    case DYNO_OBSTACLE_DEVICE:
      return find_device_obstacle (setup, passes);
    case DYNO_OBSTACLE_DATA:
      return find_data_obstacle (setup, passes);
    case DYNO_OBSTACLE_MODEL:
      *passes = dyno_setup_get_reading (setup) != NULL;
      if (*passes)
        return g_strdup (_ ("The network is being read."));
      return plan ? NULL : g_strdup (dyno_setup_get_advice (setup));
    default:
      return plan && plan->parts == 0 ? g_strdup (dyno_setup_get_advice (setup)) : NULL;
    }
}

char *
dyno_obstacle_to_start (DynoSetup *setup)
{
  char *obstacle = NULL;
  gboolean passes;
  for (DynoObstaclePart part = 0; part < DYNO_OBSTACLE_N_PARTS && !obstacle; part++)
    obstacle = dyno_obstacle_of (setup, part, &passes);
  return obstacle;
}
