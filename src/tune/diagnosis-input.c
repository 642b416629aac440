/* SPDX-License-Identifier: MIT */
/* Where the input of a diagnosis comes from: the folder of a run, or its view. */
#include "diagnosis.h"
#include "runfacts.h"
#include "base-error.h"
#include "intl.h"
#include <math.h>
#include <string.h>

static gboolean
read_settings (DynoSettings *settings, const char *folder)
{
  g_autofree char *path = g_build_filename (folder, "settings.ini", NULL);
  g_autoptr (GKeyFile) file = g_key_file_new ();
  g_auto (GStrv) keys = NULL;

  if (!g_key_file_load_from_file (file, path, G_KEY_FILE_NONE, NULL)
      || !(keys = g_key_file_get_keys (file, "settings", NULL, NULL)))
    return FALSE;
  for (guint i = 0; keys[i]; i++)
    {
      g_autofree char *value = g_key_file_get_string (file, "settings", keys[i], NULL);

      if (value) /* what a later version knows is left out */
        dyno_settings_set (settings, keys[i], value, NULL);
    }
  return TRUE;
}

gboolean
dyno_diagnosis_input_read_run (DynoDiagnosisInput *input, const char *folder, GError **error)
{
  g_autofree char *shown = g_filename_display_name (folder);

  if (!dyno_stretches_read (&input->log, folder))
    {
      g_set_error (error, DYNO_BASE_ERROR, DYNO_BASE_ERROR_IO,
                   _ ("“%s” holds no metrics.csv of a run: name the folder that training wrote "
                      "into"),
                   shown);
      return FALSE;
    }
  input->has_settings = read_settings (&input->settings, folder);
  dyno_run_facts_read (folder, &input->facts);
  return TRUE;
}

void
dyno_diagnosis_input_take_view (DynoDiagnosisInput *input, DynoRunView *view)
{
  const DynoRunStatus *status = dyno_run_view_get_status (view);

  input->log = *dyno_run_view_get_stretches (view);
  input->facts = *dyno_run_view_get_facts (view);
  input->has_settings = status->job != NULL;
  if (status->job)
    input->settings = status->job->settings;
}
