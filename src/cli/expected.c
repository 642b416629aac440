/* SPDX-License-Identifier: MIT */
/* The measured values of the quantities that guides give: a run's rate and memory over all its
 * steps, and the time of its last epoch. */
#include "expected.h"
#include "output.h"
#include <math.h>
#include <string.h>

#define GIB ((double) ((guint64) 1 << 30))

static void
measure (const DynoRunStatus *status, const DynoDiagnosisInput *input, double *measured)
{
  const DynoMetricTable *table = &status->metrics;

  for (guint i = 0; i < DYNO_PRESET_N_QUANTITIES; i++)
    measured[i] = (double) NAN;
  measured[DYNO_PRESET_SAMPLES_PER_S] = status->run_rate;
  if (status->n_epochs > 0)
    measured[DYNO_PRESET_EPOCH] = status->epoch.seconds;
  if (status->state == DYNO_SESSION_FINISHED)
    measured[DYNO_PRESET_TRAINING] = status->seconds / 60;
  if (input->log.whole.vram_bytes > 0)
    measured[DYNO_PRESET_VRAM] = (double) input->log.whole.vram_bytes / GIB;
  measured[DYNO_PRESET_UTILISATION] = 100 * input->sensors.gpu_busy;
  measured[DYNO_PRESET_POWER] = input->sensors.gpu_power;
  for (guint i = 0; i < table->n && isnan (measured[DYNO_PRESET_ERROR]); i++)
    if (g_strcmp0 (table->infos[i].unit, "degrees") == 0)
      measured[DYNO_PRESET_ERROR] = status->best[i];
}

void
dyno_expected_say (const DynoCliJob *cli_job, const DynoRunStatus *status,
                   const DynoDiagnosisInput *input)
{
  double measured[DYNO_PRESET_N_QUANTITIES];
  DynoPresetUse use;
  g_autofree char *text = NULL;

  if (!cli_job->preset)
    return;
  measure (status, input, measured);
  use = dyno_cli_job_get_preset_use (cli_job);
  text = dyno_preset_compare (cli_job->preset, &use, measured);
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
  measure (status, input, measured);
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
