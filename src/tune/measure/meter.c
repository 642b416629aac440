/* SPDX-License-Identifier: MIT */
/* The meter of this machine has one device for all measurements, which is opened for the first one
 * and again after it was lost; one measurement at a time has memory on it. */
#include "meter.h"
#include "cores.h"
#include "gpuceiling.h"
#include "intl.h"
#include "kernel.h"
#include "loaderceiling.h"
#include "parts.h"
#include "runmeter.h"
#include "sample-cache.h"
#include <math.h>

typedef struct {
  DynoMeter meter;
  DynoJob *job;
  DynoDataset *dataset;
  DynoDeviceInfo info;
  GArray *indices; /* of the training part; NULL where the device makes its input */
  DynoDevice *device;
  DynoGpuCeiling *gpu;
  guint n_orders;
} RealMeter;

/* Each measurement takes the samples in an order of its own: the samples of the measurement before
 * are in the system's page cache by then, and reading them again would not show the speed of the
 * disk. */
static void
take_another_order (RealMeter *real, DynoSettings *settings)
{
  gint64 most = (gint64) dyno_setting_find ("seed")->maximum;

  settings->seed = (settings->seed + real->n_orders++) % MAX (most, 1);
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
  take_another_order (real, &job->settings);
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
drop_device (RealMeter *real)
{
  dyno_gpu_ceiling_release (real->gpu);
  g_clear_pointer (&real->device, dyno_device_unref);
}

/* Opens the device where none is open, or where the open one was lost (a trial that loses it
 * continues with another device of its own). */
static gboolean
open_device (RealMeter *real, GError **error)
{
  DynoDeviceParams params = { .index = real->job->device };

  if (real->device && !dyno_device_wait_idle (real->device, NULL))
    drop_device (real);
  if (!real->device)
    real->device = dyno_device_open (&params, error);
  return real->device != NULL;
}

/* Each measurement saves the kernels that the driver compiled: when the search is stopped, a
 * measurement may be abandoned together with the device, which otherwise saves them when it is
 * closed.  Where the device was lost, the next measurement opens another one. */
static gboolean
end (RealMeter *real, gboolean good, GError *problem, GError **error)
{
  if (g_error_matches (problem, DYNO_GPU_ERROR, DYNO_GPU_ERROR_DEVICE_LOST)
      || g_error_matches (problem, DYNO_GPU_ERROR, DYNO_GPU_ERROR_TIMEOUT))
    drop_device (real);
  else
    dyno_kernel_cache_save (real->device);
  if (problem)
    g_propagate_error (error, problem);
  return good;
}

static gboolean
measure_gpu (DynoMeter *meter, const DynoSettings *settings, double seconds, gint64 deadline_us,
             GCancellable *cancellable, DynoMeasurement *measurement, GError **error)
{
  RealMeter *real = (RealMeter *) meter;
  g_autoptr (DynoDeadline) deadline = dyno_deadline_new (deadline_us, cancellable, error);
  DynoSettings kernels = *settings;
  GError *problem = NULL;
  gboolean good;

  dyno_measurement_init (measurement);
  kernels.autotune = kernels.autotune && meter->tune_kernels;
  if (!deadline || !open_device (real, error))
    return FALSE;
  good = dyno_gpu_ceiling_measure (real->gpu, real->device, &kernels, seconds, deadline,
                                   measurement, &problem);
  return end (real, good, problem, error);
}

static gboolean
measure_trial (DynoMeter *meter, const DynoSettings *settings, double seconds, gint64 deadline_us,
               GCancellable *cancellable, DynoMeasurement *measurement, GError **error)
{
  RealMeter *real = (RealMeter *) meter;
  g_autoptr (DynoJob) job = dyno_run_meter_job (real->job, settings);
  GError *problem = NULL;
  gboolean good;

  dyno_measurement_init (measurement);
  job->settings.autotune = job->settings.autotune && meter->tune_kernels;
  take_another_order (real, &job->settings);
  dyno_gpu_ceiling_release (real->gpu);
  if (!open_device (real, error))
    return FALSE;
  good = dyno_run_meter_measure (job, real->dataset, real->device, meter, seconds, deadline_us,
                                 cancellable, measurement, &problem);
  return end (real, good, problem, error);
}

/* Frees the engine that measures the device's ceiling, so that its memory is available for another
 * measurement, and opens the device where none is open. */
static gboolean
begin (RealMeter *real, const DynoSettings *settings, DynoSettings *kernels, GError **error)
{
  *kernels = *settings;
  kernels->autotune = kernels->autotune && real->meter.tune_kernels;
  dyno_gpu_ceiling_release (real->gpu);
  return open_device (real, error);
}

static gboolean
compare_numerics (DynoMeter *meter, const DynoSettings *settings, gint64 deadline_us,
                  GCancellable *cancellable, DynoNumerics *numerics, GError **error)
{
  RealMeter *real = (RealMeter *) meter;
  DynoSettings kernels;
  GError *problem = NULL;
  gboolean good;

  *numerics = (DynoNumerics){ 0 };
  if (!begin (real, settings, &kernels, error))
    return FALSE;
  good = dyno_numerics_compare (real->job, real->dataset, real->device, &real->info, &kernels,
                                deadline_us, cancellable, numerics, &problem);
  return end (real, good, problem, error);
}

static gboolean
learn (DynoMeter *meter, const DynoSettings *settings, const DynoLearningGoal *goal,
       gint64 deadline_us, GCancellable *cancellable, DynoLearning *learning, GError **error)
{
  RealMeter *real = (RealMeter *) meter;
  DynoSettings kernels;
  GError *problem = NULL;
  gboolean good;

  if (!begin (real, settings, &kernels, error))
    return FALSE;
  good = dyno_learning_measure (real->job, &kernels, real->dataset, real->device, goal, deadline_us,
                                cancellable, learning, &problem);
  return end (real, good, problem, error);
}

static void
real_free (DynoMeter *meter)
{
  RealMeter *real = (RealMeter *) meter;

  dyno_gpu_ceiling_free (real->gpu);
  dyno_device_unref (real->device);
  g_clear_pointer (&real->indices, g_array_unref);
  dyno_job_unref (real->job);
  dyno_dataset_unref (real->dataset);
  g_free (real);
}

static const DynoMeterClass real_class = {
  .loader = measure_loader,
  .gpu = measure_gpu,
  .trial = measure_trial,
  .plan = plan,
  .free = real_free,
  .numerics = compare_numerics,
  .learn = learn,
};

/* Splits the data set as a run does; the facts by themselves do not give the split where the folder
 * brings its own parts. */
static void
divide (RealMeter *real)
{
  const DynoDatasetInfo *facts = dyno_dataset_get_info (real->dataset);
  g_auto (DynoDatasetParts) parts = { 0 };
  DynoBatchSchema schema;
  guint32 width, height;

  if (facts->schema.generated)
    {
      real->meter.n_train = facts->n_samples;
      return;
    }
  dyno_settings_divide (&real->job->settings, real->dataset, &parts);
  real->indices = g_steal_pointer (&parts.train);
  real->meter.n_train = real->indices->len;
  real->meter.n_validation = parts.validation->len;
  if (!dyno_job_get_size (real->job, facts, &width, &height, NULL))
    return;
  dyno_dataset_get_schema (facts, width, height, &schema);
  real->meter.can_cache =
      dyno_sample_cache_get_share (&schema, (guint64) real->indices->len + parts.validation->len)
      >= 1;
}

DynoMeter *
dyno_meter_new (const DynoJob *job, DynoDataset *dataset, const DynoDeviceInfo *info)
{
  RealMeter *real = g_new0 (RealMeter, 1);

  real->job = dyno_job_copy (job);
  real->dataset = dyno_dataset_ref (dataset);
  real->info = *info;
  real->meter.class = &real_class;
  real->meter.n_cores = dyno_cores_count ();
  real->meter.has_fp16 = info->fp16;
  real->meter.software = info->type == DYNO_DEVICE_TYPE_SOFTWARE;
  real->meter.generated = dyno_dataset_get_info (dataset)->schema.generated;
  real->meter.tune_kernels = TRUE;
  divide (real);
  real->gpu = dyno_gpu_ceiling_new (job, dataset, real->indices);
  dyno_gpu_ceiling_set_meter (real->gpu, &real->meter);
  return &real->meter;
}

void
dyno_meter_free (DynoMeter *meter)
{
  if (meter)
    meter->class->free (meter);
}
