/* SPDX-License-Identifier: MIT */
/* Fills the input of a diagnosis from the folder of a run, or from its view. */
#include "diagnosis.h"
#include "runfacts.h"
#include "base-error.h"
#include "intl.h"
#include "planjob.h"
#include "sensorscsv.h"
#include "verdict.h"
#include <math.h>
#include <string.h>

#define EARLY_READINGS 10
#define GIB            ((double) ((guint64) 1 << 30))
#define LATE_WEIGHT    0.1 /* weight of a reading in the mean of the late readings */

/* Bytes, watts and numbers are unchanged, percentages become shares. */
static const struct {
  DynoSensor sensor;
  gsize offset;
  gboolean most; /* FALSE: the mean is taken */
  double unit;
} sensor_table[] = {
#define ROW(sensor, member, most, unit)                                           \
  {                                                                               \
    DYNO_SENSOR_##sensor, G_STRUCT_OFFSET (DynoSensorSummary, member), most, unit \
  }
  ROW (GPU_BUSY, gpu_busy, FALSE, 100),
  ROW (GPU_OTHERS, gpu_others, FALSE, 1),
  ROW (GPU_TEMPERATURE, gpu_temperature_most, TRUE, 1),
  ROW (GPU_POWER, gpu_power, FALSE, 1),
  ROW (GPU_POWER_LIMIT, gpu_power_limit, FALSE, 1),
  ROW (VRAM_ALL, vram_all_most, TRUE, 1),
  ROW (VRAM_TOTAL, vram_total, TRUE, 1),
  ROW (CPU_BUSY, cpu_busy, FALSE, 100),
  ROW (CPU_OWN, cpu_own, FALSE, 100),
  ROW (RAM_TOTAL, ram_total, TRUE, 1),
  ROW (SWAP_IN_PER_S, swap_in_per_s, FALSE, 1),
  ROW (DISK_READ_PER_S, disk_read_per_s, FALSE, 1),
  ROW (PRESSURE_CPU, pressure_cpu, FALSE, 100),
  ROW (PRESSURE_IO, pressure_io, FALSE, 100),
  ROW (PRESSURE_MEMORY, pressure_memory, FALSE, 100),
#undef ROW
};

static void
take_mean (double *mean, guint n, double value)
{
  *mean = n == 1 ? value : *mean + (value - *mean) / n;
}

/* Updates the shares of readings throttled by heat and by power, where the device reports
 * throttling. */
static void
take_throttling (DynoSensorSummary *s, double throttled, guint reasons)
{
  guint n;

  if (isnan (throttled))
    return;
  n = ++s->counts[DYNO_SENSOR_GPU_THROTTLE];
  take_mean (&s->heat_share, n,
             reasons & (DYNO_THROTTLE_TEMPERATURE | DYNO_THROTTLE_HARDWARE) ? 1 : 0);
  take_mean (&s->power_share, n, reasons & (DYNO_THROTTLE_POWER | DYNO_THROTTLE_CURRENT) ? 1 : 0);
}

static void
take_ram (DynoSensorSummary *s, double used)
{
  guint n;

  if (isnan (used))
    return;
  n = ++s->counts[DYNO_SENSOR_RAM_USED];
  if (n <= EARLY_READINGS)
    {
      take_mean (&s->ram_early, n, used);
      s->ram_late = s->ram_early;
    }
  else
    s->ram_late += (used - s->ram_late) * LATE_WEIGHT;
}

void
dyno_diagnosis_input_add_sensors (DynoDiagnosisInput *input, const double values[DYNO_N_SENSORS],
                                  guint throttle_reasons)
{
  DynoSensorSummary *s = &input->sensors;

  s->n++;
  for (guint i = 0; i < G_N_ELEMENTS (sensor_table); i++)
    {
      double *member = (double *) ((guint8 *) s + sensor_table[i].offset),
             value = values[sensor_table[i].sensor] / sensor_table[i].unit;
      guint n;

      if (isnan (value))
        continue;
      n = ++s->counts[sensor_table[i].sensor];
      if (!sensor_table[i].most)
        take_mean (member, n, value);
      else if (n == 1 || value > *member)
        *member = value;
    }
  take_throttling (s, values[DYNO_SENSOR_GPU_THROTTLE], throttle_reasons);
  take_ram (s, values[DYNO_SENSOR_RAM_USED]);
}

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

      if (value) /* entries of later versions are left out */
        dyno_settings_set (settings, keys[i], value, NULL);
    }
  return TRUE;
}

static void
read_sensors (DynoDiagnosisInput *input, const char *folder)
{
  g_autoptr (GArray) rows = dyno_sensors_csv_read (folder);

  for (guint i = 0; i < rows->len; i++)
    {
      const DynoSensorRow *row = &g_array_index (rows, DynoSensorRow, i);

      dyno_diagnosis_input_add_sensors (input, row->values, row->throttle_reasons);
    }
}

gboolean
dyno_diagnosis_input_read_run (DynoDiagnosisInput *input, const char *folder, GError **error)
{
  g_autofree char *shown = g_filename_display_name (folder);

  if (!dyno_stretches_read (&input->log, folder))
    {
      g_set_error (error, DYNO_BASE_ERROR, DYNO_BASE_ERROR_CORRUPT,
                   _ ("“%s” holds no metrics.csv of a run: name the folder that training wrote "
                      "into"),
                   shown);
      return FALSE;
    }
  input->has_settings = read_settings (&input->settings, folder);
  dyno_run_facts_read (folder, &input->facts);
  read_sensors (input, folder);
  return TRUE;
}

void
dyno_diagnosis_input_take_session (DynoDiagnosisInput *input, DynoSession *session,
                                   const DynoRunFacts *facts, const char *folder)
{
  const DynoJob *job = dyno_session_get_job (session);

  dyno_stretches_add_log (&input->log, dyno_session_get_metrics (session));
  input->has_settings = TRUE;
  input->settings = job->settings;
  input->facts = *facts;
  if (folder)
    read_sensors (input, folder);
  dyno_job_unref (job);
}

/* Finds the larger batch among the doubled batches that fit, which a search may have measured. */
static void
find_larger_batch (DynoDiagnosisInput *input, DynoStore *store)
{
  const DynoRunFacts *facts = &input->facts;
  DynoSettings s = input->settings;
  double rates[16], fastest = 0, unused;
  guint n = 0;

  input->larger_batch = 0;
  input->larger_ceiling = (double) NAN;
  if (facts->ranks > 1 || facts->parts > 1 || facts->batch_size == 0)
    return;
  for (guint64 batch = 2 * facts->batch_size;
       n < G_N_ELEMENTS (rates) && batch <= facts->fitting_batch; batch *= 2)
    {
      s.batch_size = (gint64) batch;
      dyno_store_find_ceilings (store, facts->model, facts->fingerprint, facts->device, &s, &unused,
                                &rates[n]);
      if (rates[n] > fastest)
        fastest = rates[n];
      n++;
    }
  for (guint i = 0; i < n && input->larger_batch == 0; i++)
    if (rates[i] * DYNO_VERDICT_PAYS >= fastest)
      {
        input->larger_batch = facts->batch_size << (i + 1);
        input->larger_ceiling = rates[i];
      }
}

void
dyno_diagnosis_input_find_ceilings (DynoDiagnosisInput *input, DynoStore *store)
{
  static const gint at_once = TRUE; /* the end of a run does not wait for the history */
  const DynoRunFacts *facts = &input->facts;
  g_autoptr (DynoStore) opened = NULL;
  g_autoptr (GError) problem = NULL;

  if (!input->has_settings || facts->fingerprint == 0 || !*facts->model)
    return;
  if (!store)
    store = opened = dyno_store_open_in_hurry (NULL, &at_once, &problem);
  if (!store)
    {
      g_info ("The ceilings cannot be read from the history: %s", problem->message);
      return;
    }
  dyno_store_find_ceilings (store, facts->model, facts->fingerprint, facts->device,
                            &input->settings, &input->loader_ceiling, &input->gpu_ceiling);
  find_larger_batch (input, store);
  if (facts->ranks > 1) /* a single process was measured, with no other on its host */
    {
      input->gpu_ceiling *= (double) facts->ranks;
      input->loader_ceiling = (double) NAN;
    }
  if (facts->parts > 1) /* the device was measured with whole batches */
    input->gpu_ceiling = (double) NAN;
}

void
dyno_diagnosis_input_take_plan (DynoDiagnosisInput *input, const DynoJob *job,
                                const DynoDatasetInfo *info, const DynoDeviceInfo *device,
                                const DynoJobPlan *plan)
{
  DynoRunFacts *facts = &input->facts;
  DynoPartCounts counts;

  input->has_settings = TRUE;
  input->settings = job->settings;
  dyno_run_facts_set_device (facts, device);
  dyno_run_facts_set_host (facts);
  facts->device_bytes = plan->device_bytes;
  facts->limit_bytes = plan->limit_bytes;
  facts->planned_bytes = plan->plan.total_bytes;
  facts->fitting_batch = (guint64) MAX (plan->fitting_batch, 0);
  facts->steps_per_epoch = plan->steps_per_epoch;
  facts->batch_size = (guint64) job->settings.batch_size;
  facts->accumulate = (guint64) job->settings.accumulate;
  facts->amp = job->settings.amp && device->fp16;
  facts->generated = info->schema.generated;
  facts->flops_per_sample = plan->flops_per_sample;
  dyno_job_count_parts (job, info, &counts);
  facts->n_train = counts.n_train;
  facts->n_validation = counts.n_validation;
  facts->n_test = counts.n_test;
}

void
dyno_diagnosis_input_take_view (DynoDiagnosisInput *input, DynoRunView *view)
{
  const DynoRunStatus *status = dyno_run_view_get_status (view);

  input->log = *dyno_run_view_get_stretches (view);
  input->facts = *dyno_run_view_get_facts (view);
  if (status->has_sensors && status->sensors.time_us != input->sensors.last_us)
    {
      input->sensors.last_us = status->sensors.time_us;
      dyno_diagnosis_input_add_sensors (input, status->sensors.values,
                                        status->sensors.throttle_reasons);
    }
  input->has_settings = status->job != NULL;
  if (status->job)
    input->settings = status->job->settings;
}

void
dyno_diagnosis_input_measure (const DynoDiagnosisInput *input, const DynoRunStatus *status,
                              double *measured)
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
