/* SPDX-License-Identifier: MIT */
#include "expected.h"
#include "output.h"
#include <math.h>

void
dyno_expected_print (const DynoCliJob *cli_job, const DynoRunStatus *status,
                     const DynoDiagnosisInput *input)
{
  double measured[DYNO_PRESET_N_QUANTITIES];
  DynoPresetRange expected[DYNO_PRESET_N_QUANTITIES];
  DynoPresetUse use;
  g_autofree char *text = NULL;

  if (!cli_job->preset)
    return;
  dyno_diagnosis_input_measure (input, status, measured);
  use = dyno_cli_job_get_preset_use (cli_job);
  dyno_preset_list_expected (cli_job->preset, &use, expected);
  text = dyno_preset_compare (expected, measured);
  if (text)
    dyno_out_line ("preset: %s; expected is of its guide's network on %s, this is %s", text,
                   cli_job->preset->name, cli_job->device.name);
}

void
dyno_expected_print_event (const DynoCliJob *cli_job, const DynoRunStatus *status,
                           const DynoDiagnosisInput *input)
{
  double measured[DYNO_PRESET_N_QUANTITIES];
  DynoPresetUse use;
  DynoJson json;
  gboolean any = FALSE;

  if (!cli_job->preset)
    return;
  dyno_diagnosis_input_measure (input, status, measured);
  use = dyno_cli_job_get_preset_use (cli_job);
  dyno_json_init (&json, 0);
  dyno_json_begin_object (&json, NULL);
  dyno_json_string (&json, "event", "expected");
  dyno_json_string (&json, "preset", cli_job->preset->id);
  for (DynoPresetQuantity i = 0; i < DYNO_PRESET_N_QUANTITIES; i++)
    {
      const DynoPresetRange *range = dyno_preset_find_expected (cli_job->preset, &use, i);

      if (!range || isnan (measured[i]))
        continue;
      dyno_json_begin_object (&json, dyno_preset_quantity_name (i));
      dyno_json_double (&json, "measured", measured[i]);
      dyno_json_begin_array (&json, "expected");
      dyno_json_double (&json, NULL, range->least);
      dyno_json_double (&json, NULL, range->most);
      dyno_json_end_array (&json);
      dyno_json_end_object (&json);
      any = TRUE;
    }
  dyno_json_end_object (&json);
  if (any)
    dyno_out_json (&json);
  dyno_json_clear (&json);
}
