/* SPDX-License-Identifier: MIT */
/* The meter of this machine: what the measurements share, and what they say in common. */
#include "meter.h"
#include "gpu-error.h"
#include "intl.h"
#include "loaderceiling.h"
#include "planjob.h"
#include "sample-cache.h"
#include "trial.h"
#include <math.h>

typedef struct {
  DynoMeter meter;
  DynoJob *job;
  DynoDataset *dataset;
  DynoDeviceInfo info;
  GArray *indices; /* of the training part; NULL where the device makes its input */
} RealMeter;

void
dyno_measurement_init (DynoMeasurement *m)
{
  const DynoEstimate none = { (double) NAN, (double) NAN, (double) NAN, 0, FALSE };

  *m = (DynoMeasurement){ .rate = none,
                          .run_rate = none,
                          .outside_cpu = (double) NAN,
                          .epoch_overhead_s = (double) NAN,
                          .validation_rate = (double) NAN };
}

static gboolean
plan (DynoMeter *meter, const DynoSettings *settings, guint64 *bytes, gboolean *fits, char **advice,
      GError **error)
{
  RealMeter *real = (RealMeter *) meter;
  g_autoptr (DynoJob) job = dyno_job_copy (real->job);
  DynoJobPlan job_plan;

  job->settings = *settings;
  *advice = NULL;
  if (!dyno_job_plan (job, dyno_dataset_get_info (real->dataset), &real->info, &job_plan, error))
    return FALSE;
  *bytes = job_plan.plan.total_bytes;
  *fits = job_plan.fits;
  *advice = dyno_job_plan_advice (job, &job_plan);
  return TRUE;
}

static gboolean
measure_loader (DynoMeter *meter, const DynoSettings *settings, double seconds, gint64 deadline_us,
                GCancellable *cancellable, DynoMeasurement *measurement, GError **error)
{
  RealMeter *real = (RealMeter *) meter;
  g_autoptr (DynoJob) job = dyno_job_copy (real->job);
  g_autoptr (DynoDeadline) deadline = NULL;
  DynoLoaderCeiling ceiling;

  dyno_measurement_init (measurement);
  if (!real->indices)
    {
      g_set_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DATA,
                   _ ("“%s” is made by the device: it has no loader to measure"),
                   dyno_dataset_get_info (real->dataset)->name);
      return FALSE;
    }
  job->settings = *settings;
  deadline = dyno_deadline_new (deadline_us, cancellable, error);
  if (!deadline
      || !dyno_loader_ceiling_measure (job, real->dataset, real->indices, seconds, deadline,
                                       &ceiling, error))
    return FALSE;
  measurement->rate = measurement->run_rate = ceiling.rate;
  measurement->outside_cpu = ceiling.outside_cpu;
  measurement->steps = ceiling.n_batches;
  measurement->step_ms = 1e3 * (double) settings->batch_size / ceiling.rate.median;
  return TRUE;
}

static void
set_outcome (const DynoTrial *trial, GCancellable *cancellable, gint64 deadline_us, GError **error)
{
  if (trial->outcome == DYNO_TRIAL_DOES_NOT_FIT)
    g_set_error_literal (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DOES_NOT_FIT, trial->text);
  else if (trial->outcome == DYNO_TRIAL_OUT_OF_MEMORY)
    g_set_error_literal (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_OUT_OF_DEVICE_MEMORY, trial->text);
  else if (trial->outcome == DYNO_TRIAL_DIVERGED)
    g_set_error_literal (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DIVERGED, trial->text);
  else if (g_cancellable_is_cancelled (cancellable))
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_CANCELLED, trial->text);
  else if (g_get_monotonic_time () >= deadline_us)
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT, trial->text);
  else
    g_set_error_literal (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_FAILED, trial->text);
}

static gboolean
measure_trial (DynoMeter *meter, const DynoSettings *settings, double seconds, gint64 deadline_us,
               GCancellable *cancellable, DynoMeasurement *measurement, GError **error)
{
  RealMeter *real = (RealMeter *) meter;
  DynoTrial trial = { .stage = "trial", .settings = *settings };
  gboolean good;

  dyno_measurement_init (measurement);
  if (!dyno_trial_rule_out (&trial, real->job, real->dataset, &real->info))
    {
      measurement->planned_bytes = trial.vram_bytes;
      dyno_trial_run (&trial, real->job, real->dataset, seconds, deadline_us, cancellable);
    }
  good = trial.outcome == DYNO_TRIAL_OK;
  if (good)
    {
      dyno_estimate (&trial.samples_per_s, 1, &measurement->rate);
      measurement->run_rate = measurement->rate;
      measurement->step_ms = trial.step_ms;
      measurement->wait_data_ms = trial.wait_data_ms;
      measurement->vram_bytes = trial.vram_bytes;
      measurement->steps = trial.steps;
    }
  else
    set_outcome (&trial, cancellable, deadline_us, error);
  dyno_trial_clear (&trial);
  return good;
}

static void
real_free (DynoMeter *meter)
{
  RealMeter *real = (RealMeter *) meter;

  g_clear_pointer (&real->indices, g_array_unref);
  dyno_job_unref (real->job);
  dyno_dataset_unref (real->dataset);
  g_free (real);
}

static const DynoMeterClass real_class = {
  .loader = measure_loader,
  .gpu = measure_trial,
  .trial = measure_trial,
  .plan = plan,
  .free = real_free,
};

/* As a run divides, which the facts alone do not tell where the folder brings its own parts. */
static void
divide (RealMeter *real)
{
  const DynoDatasetInfo *facts = dyno_dataset_get_info (real->dataset);
  g_autoptr (GArray) validation = NULL;
  DynoBatchSchema schema;
  guint32 width, height;

  if (facts->schema.generated)
    {
      real->meter.n_train = facts->n_samples;
      return;
    }
  dyno_dataset_split (real->dataset, real->job->settings.data_val_split,
                      (guint64) real->job->settings.seed, &real->indices, &validation);
  real->meter.n_train = real->indices->len;
  real->meter.n_validation = validation->len;
  if (!dyno_job_get_size (real->job, facts, &width, &height, NULL))
    return;
  dyno_dataset_get_schema (facts, width, height, &schema);
  real->meter.can_cache =
      dyno_sample_cache_get_share (&schema, (guint64) real->indices->len + validation->len) >= 1;
}

DynoMeter *
dyno_meter_new (const DynoJob *job, DynoDataset *dataset, const DynoDeviceInfo *info)
{
  RealMeter *real = g_new0 (RealMeter, 1);

  real->job = dyno_job_copy (job);
  real->dataset = dyno_dataset_ref (dataset);
  real->info = *info;
  real->meter.class = &real_class;
  real->meter.n_cores = g_get_num_processors ();
  real->meter.has_fp16 = info->fp16;
  real->meter.generated = dyno_dataset_get_info (dataset)->schema.generated;
  divide (real);
  return &real->meter;
}

void
dyno_meter_free (DynoMeter *meter)
{
  if (meter)
    meter->class->free (meter);
}
