/* SPDX-License-Identifier: MIT */
/* The quick test makes its measurements one after the other, so that none disturbs another; the
 * comparison with the CPU comes last, and is left out where the minute is nearly over. */
#include "quick.h"
#include "amount.h"
#include "asyncmeter.h"
#include "cores.h"
#include "diagnosis-private.h"
#include "intl.h"
#include "loader.h"
#include "meter.h"
#include "outsidecpu.h"
#include "parts.h"
#include <math.h>
#include <string.h>

#define DEFAULT_SECONDS 4.0
#define ALL_SECONDS     55.0
/* seconds after its deadline in which a training may end before it is abandoned */
#define STOP_S 1.0
/* least seconds for the training, however long the measurements before it took; the comparison with
 * the CPU needs as many to begin */
#define LEAST_LEFT 15.0
/* share of all cores taken by other programs: the threshold of the rule cpu-shared */
#define BUSY_CPU     0.15
#define LOADER_BATCH 32
#define NONE         ((double) NAN)

/* The networks that are trained: one on a GPU, one where the device is a CPU or is compared with a
 * CPU, whose driver takes minutes to compile the kernels of a large network. */
static const struct {
  const char *data, *model, *words;
  gint64 batch;
} workloads[] = {
  { "builtin:shapes?size=224&samples=2048", "resnet18", N_ ("ResNet-18 on pictures of 224 x 224"),
    32 },
  { "builtin:shapes?size=32&samples=2048", "simplecnn", N_ ("SimpleCNN on pictures of 32 x 32"),
    32 },
};

typedef struct {
  DynoQuick *quick;
  double seconds, all_seconds;
  gint64 began_us;
  DynoQuickProgress progress;
  gpointer data;
  GCancellable *cancellable;
} Quick;

static double
elapsed (const Quick *q)
{
  return (double) (g_get_monotonic_time () - q->began_us) / G_USEC_PER_SEC;
}

static double
left_seconds (const Quick *q)
{
  return q->all_seconds - elapsed (q);
}

static gboolean
begin (const Quick *q, const char *what, double fraction, GError **error)
{
  if (q->progress)
    q->progress (what, fraction, q->data);
  return !g_cancellable_set_error_if_cancelled (q->cancellable, error);
}

/* --- measuring -------------------------------------------------------------------------------- */

static gboolean
measure_ceilings (DynoQuick *quick, GError **error)
{
  DynoDeviceParams params = { .index = (int) quick->device.index };
  g_autoptr (DynoDevice) device = NULL;
  g_autoptr (GError) problem = NULL;

  /* A CPU's ceilings depend on the load of other programs. */
  quick->has_ceilings = quick->device.type != DYNO_DEVICE_TYPE_SOFTWARE
                        && dyno_ceilings_load (&quick->device, &quick->ceilings);
  if (quick->has_ceilings)
    return TRUE;
  device = dyno_device_open (&params, error);
  if (!device)
    return FALSE;
  quick->has_ceilings = dyno_ceilings_measure (device, &quick->ceilings, &problem);
  if (quick->has_ceilings)
    dyno_ceilings_keep (&quick->device, &quick->ceilings);
  else
    g_info ("The device's rates were not measured: %s", problem->message);
  return TRUE;
}

/* The samples per second that a loader delivers, from its second batch on. */
static double
run_loader (DynoLoader *loader, double seconds, GCancellable *cancellable)
{
  gint64 began = 0;
  guint64 samples = 0;

  dyno_loader_start_epoch (loader, 0, 0);
  for (guint64 epoch = 1; epoch < 1000;)
    {
      g_autoptr (GError) problem = NULL;
      DynoBatch *batch = dyno_loader_next (loader, NULL, cancellable, &problem);
      double time;

      if (problem)
        return NONE;
      if (!batch)
        {
          dyno_loader_start_epoch (loader, epoch++, 0);
          continue;
        }
      samples += began != 0 ? batch->n_valid : 0;
      dyno_loader_release (loader, batch);
      began = began != 0 ? began : g_get_monotonic_time ();
      time = (double) (g_get_monotonic_time () - began) / G_USEC_PER_SEC;
      if (time >= seconds && samples > 0)
        return (double) samples / time;
    }
  return NONE;
}

static void
measure_loader (Quick *q)
{
  DynoQuick *quick = q->quick;
  DynoLoaderParams params = { .batch = LOADER_BATCH,
                              .width = 224,
                              .height = 224,
                              .workers = quick->cores,
                              .prefetch = 2 * quick->cores,
                              .persistent = TRUE };
  g_autoptr (DynoDataset) dataset =
      dyno_dataset_open (workloads[0].data, NULL, NULL, NULL, q->cancellable, NULL);
  g_autoptr (GArray) train = NULL, validation = NULL;
  g_autoptr (DynoLoader) loader = NULL;

  if (!dataset)
    return;
  dyno_dataset_split (dataset, 0, 1, &train, &validation);
  loader = dyno_loader_new (dataset, train, &params, NULL);
  quick->loader_workers = quick->cores;
  if (loader)
    quick->loader_samples_per_s = run_loader (loader, q->seconds, q->cancellable);
}

/* Computes the time of an epoch of n_train samples from the rate of a run that includes ends of
 * epochs. */
static void
take_epoch (const DynoMeasurement *measurement, guint n_train, DynoQuickEpoch *epoch)
{
  *epoch = (DynoQuickEpoch){ .predict_samples_per_s = measurement->validation_rate,
                             .epoch_s = n_train / measurement->run_rate.median };
}

/* Measures a training as a run does it; left: seconds for all of it. */
static gboolean
measure_training (Quick *q, const DynoDeviceInfo *info, guint workload, gboolean amp, double left,
                  DynoMeasurement *measurement, guint *n_train, GError **error)
{
  g_auto (DynoDatasetParts) parts = { 0 };
  gint64 deadline_us = g_get_monotonic_time () + (gint64) (left * G_USEC_PER_SEC);
  g_autoptr (DynoJob) job = dyno_job_new ();
  g_autoptr (DynoDataset) dataset = NULL;
  DynoMeter *meter;
  gboolean good;

  g_free (job->model);
  job->model = g_strdup (workloads[workload].model);
  job->data = g_strdup (workloads[workload].data);
  job->device = (int) info->index;
  job->settings.batch_size = workloads[workload].batch;
  job->settings.amp = amp;
  job->settings.workers = q->quick->cores;
  job->settings.prefetch = 4;
  dataset = dyno_dataset_open (job->data, NULL, NULL, NULL, q->cancellable, error);
  if (!dataset)
    return FALSE;
  dyno_settings_divide (&job->settings, dataset, &parts);
  *n_train = parts.train->len;
  meter = dyno_async_meter_new (dyno_meter_new (job, dataset, info), STOP_S);
  dyno_async_meter_set_end (meter, deadline_us + (gint64) (STOP_S * G_USEC_PER_SEC));
  good = meter->class->trial (meter, &job->settings, q->seconds, deadline_us, q->cancellable,
                              measurement, error);
  dyno_meter_free (meter);
  return good;
}

static void
train_on_device (Quick *q, guint workload)
{
  DynoQuick *quick = q->quick;
  double left = MAX (left_seconds (q), LEAST_LEFT);
  DynoMeasurement measurement;
  g_autoptr (GError) problem = NULL;

  quick->workload = g_strdup (_ (workloads[workload].words));
  quick->amp = quick->device.fp16 && quick->device.type != DYNO_DEVICE_TYPE_SOFTWARE;
  if (measure_training (q, &quick->device, workload, quick->amp, left, &measurement,
                        &quick->n_train, &problem))
    {
      take_epoch (&measurement, quick->n_train, &quick->epoch);
      quick->samples_per_s = measurement.rate.median;
      quick->step_ms = measurement.step_ms;
      quick->vram_bytes = measurement.vram_bytes;
    }
  else
    {
      quick->problem = g_strdup (problem->message);
      quick->unfinished = g_error_matches (problem, G_IO_ERROR, G_IO_ERROR_TIMED_OUT);
    }
}

/* Trains the small network on the device and with a driver that runs on the CPU, both in fp32. */
static void
compare_with_cpu (Quick *q, const GPtrArray *devices)
{
  DynoQuick *quick = q->quick;
  DynoMeasurement measurement;

  for (guint i = 0; i < devices->len; i++)
    {
      const DynoDeviceInfo *info = devices->pdata[i];

      if (info->type != DYNO_DEVICE_TYPE_SOFTWARE || info->index == quick->device.index)
        continue;
      quick->cpu_name = g_strdup (info->name);
      /* The first training gets half of the remaining time: its rate is useless without the
       * second. */
      if (!measure_training (q, &quick->device, 1, FALSE, left_seconds (q) / 2, &measurement,
                             &quick->n_beside, NULL))
        return;
      quick->beside_samples_per_s = measurement.rate.median;
      take_epoch (&measurement, quick->n_beside, &quick->beside_epoch);
      if (!measure_training (q, info, 1, FALSE, left_seconds (q), &measurement, &quick->n_beside,
                             NULL))
        return;
      quick->cpu_samples_per_s = measurement.rate.median;
      take_epoch (&measurement, quick->n_beside, &quick->cpu_epoch);
      return;
    }
}

/* --- expectations ----------------------------------------------------------------------------- */

/* The test has no job, so only expectations without a condition on the workload match. */
static void
read_expectation (DynoQuick *quick)
{
  const DynoPresetUse use = { .device = &quick->device };
  const DynoPresetRange *rate =
      quick->preset ? dyno_preset_find_expected (quick->preset, &use, DYNO_PRESET_SAMPLES_PER_S)
                    : NULL;

  if (!rate)
    return;
  quick->expected_least = rate->least;
  quick->expected_most = rate->most;
}

static gboolean
find_preset (DynoQuick *quick, const char *name, GError **error)
{
  g_autoptr (GPtrArray) presets = NULL;
  const DynoPreset *match;

  if (name)
    quick->preset = dyno_preset_find (name, &quick->device, error);
  else
    {
      presets = dyno_preset_list (&quick->device);
      match = dyno_preset_match (presets, &quick->device);
      for (guint i = 0; match && i < presets->len; i++)
        if (presets->pdata[i] == match)
          quick->preset = g_ptr_array_steal_index (presets, i);
    }
  read_expectation (quick);
  return quick->preset || !name;
}

/* --- signs ------------------------------------------------------------------------------------ */

static void G_GNUC_PRINTF (5, 6) add (DynoQuick *quick, const char *id, DynoFindingLevel level,
                                      const char *action, const char *format, ...)
{
  DynoFinding *finding = g_new0 (DynoFinding, 1);
  va_list arguments;

  va_start (arguments, format);
  finding->text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  finding->id = id;
  finding->level = level;
  finding->action = g_strdup (action);
  g_ptr_array_add (quick->findings, finding);
}

static void
judge_device (DynoQuick *quick)
{
  if (quick->device.type == DYNO_DEVICE_TYPE_SOFTWARE)
    add (quick, "no-gpu", DYNO_FINDING_WARNING,
         _ ("Install the Vulkan driver of the GPU, if there is one; dynoctl devices lists what is "
            "found"),
         _ ("No GPU is used: %s is a CPU"), quick->device.name);
  else if (quick->device.matrix != DYNO_MATRIX_NONE)
    add (quick, "matrix-units", DYNO_FINDING_GOOD, NULL,
         _ ("Matrix units are used: AMP is worth while"));
  else
    add (quick, "no-matrix-units", DYNO_FINDING_NOTE, NULL,
         _ ("No matrix units are used: AMP saves memory more than time"));
}

static void
judge_training (DynoQuick *quick)
{
  double factor = quick->beside_samples_per_s / quick->cpu_samples_per_s;
  g_autofree char *rate = dyno_amount_rate (quick->samples_per_s),
                  *least = dyno_amount_rate (quick->expected_least),
                  *most = dyno_amount_rate (quick->expected_most);

  if (quick->unfinished)
    add (quick, "training-unfinished", DYNO_FINDING_WARNING,
         _ ("Run it again: kernels that were compiled are kept; other programs that are busy take "
            "its time"),
         _ ("There was no time for the training: %s"), quick->problem);
  else if (quick->problem)
    add (quick, "training-failed", DYNO_FINDING_PROBLEM,
         _ ("dynoctl kernels --self-test checks whether the driver computes correctly"),
         _ ("The training did not work: %s"), quick->problem);
  if (factor >= 3)
    add (quick, "faster-than-cpu", DYNO_FINDING_GOOD, NULL,
         _ ("The device trains %.0f times as fast as this CPU does"), factor);
  else if (factor > 0)
    add (quick, "hardly-faster-than-cpu", DYNO_FINDING_WARNING,
         _ ("See whether other programs use the device, and whether its clocks rise (dynoctl "
            "watch)"),
         _ ("The device trains only %.1f times as fast as this CPU does"), factor);
  if (quick->samples_per_s >= quick->expected_least)
    add (quick, "as-expected", DYNO_FINDING_GOOD, NULL,
         _ ("%s trains at %s samples/s, and the preset %s expects %s to %s of its guides' "
            "networks"),
         quick->workload, rate, quick->preset->name, least, most);
  else if (quick->samples_per_s < quick->expected_least)
    add (quick, "below-expectation", DYNO_FINDING_WARNING,
         _ ("Train for a while, then see dynoctl diagnose: what limits is named there"),
         _ ("%s trains at %s samples/s; the preset %s expects %s to %s of its guides' networks"),
         quick->workload, rate, quick->preset->name, least, most);
}

static void
judge_host (DynoQuick *quick)
{
  g_autofree char *made = dyno_amount_rate (quick->loader_samples_per_s),
                  *taken = dyno_amount_rate (quick->samples_per_s);

  if (quick->device.type == DYNO_DEVICE_TYPE_SOFTWARE)
    ; /* the training's pictures are smaller than the decoded ones */
  else if (quick->loader_samples_per_s >= quick->samples_per_s)
    add (quick, "data-keeps-pace", DYNO_FINDING_GOOD, NULL,
         _ ("The CPU makes %s samples/s, and the training takes %s: data keeps pace"), made, taken);
  else if (quick->loader_samples_per_s < quick->samples_per_s)
    add (
        quick, "data-falls-behind", DYNO_FINDING_WARNING,
        _ ("Use the cache (cache=true) where the samples fit into memory, or smaller pictures"),
        ngettext ("The %u core makes %s samples/s, and the training could take %s: data will limit",
                  "All %u cores make %s samples/s, and the training could take %s: data will limit",
                  (gulong) quick->cores),
        quick->cores, made, taken);
  if (quick->cores < 4)
    add (quick, "few-cores", DYNO_FINDING_NOTE, NULL,
         ngettext ("%u processor core is little to decode for the device",
                   "%u processor cores are few to decode for the device", quick->cores),
         quick->cores);
}

static void
judge_neighbours (DynoQuick *quick)
{
  g_autofree char *share = NULL;

  if (!(quick->outside_cpu >= BUSY_CPU))
    return;
  share = dyno_word_percent (quick->outside_cpu);
  add (quick, "cpu-shared", DYNO_FINDING_NOTE,
       _ ("End what need not run, and measure again: what runs on the CPU was that much slower"),
       _ ("Other programs took %s of the CPU meanwhile"), share);
}

static gint
worst_first (gconstpointer a, gconstpointer b, gpointer data G_GNUC_UNUSED)
{
  return (int) (*(DynoFinding *const *) b)->level - (int) (*(DynoFinding *const *) a)->level;
}

void
dyno_quick_judge (DynoQuick *quick)
{
  judge_device (quick);
  judge_training (quick);
  judge_host (quick);
  judge_neighbours (quick);
  g_qsort_with_data (quick->findings->pdata, (gint) quick->findings->len, sizeof (gpointer),
                     worst_first, NULL);
}

/* --- the whole -------------------------------------------------------------------------------- */

DynoQuick *
dyno_quick_new (void)
{
  DynoQuick *quick = g_new0 (DynoQuick, 1);

  quick->findings = g_ptr_array_new_with_free_func ((GDestroyNotify) dyno_finding_free);
  quick->cores = dyno_cores_count ();
  quick->loader_samples_per_s = quick->samples_per_s = quick->step_ms = NONE;
  quick->cpu_samples_per_s = quick->beside_samples_per_s = NONE;
  quick->epoch = quick->cpu_epoch = quick->beside_epoch = (DynoQuickEpoch){ NONE, NONE };
  quick->expected_least = quick->expected_most = quick->outside_cpu = NONE;
  return quick;
}

DynoQuick *
dyno_quick_run (const DynoQuickParams *params, DynoQuickProgress progress, gpointer data,
                GCancellable *cancellable, GError **error)
{
  static const DynoQuickParams defaults = { .device = -1 };
  g_autoptr (DynoQuick) quick = dyno_quick_new ();
  g_autoptr (GPtrArray) devices = dyno_device_list (error);
  Quick q = { quick, 0, 0, g_get_monotonic_time (), progress, data, cancellable };
  DynoCpuTimes before, after;
  guint workload, index;

  dyno_cpu_times_read (&before);
  params = params ? params : &defaults;
  q.seconds = params->seconds > 0 ? params->seconds : DEFAULT_SECONDS;
  q.all_seconds = params->all_seconds > 0 ? params->all_seconds : ALL_SECONDS;
  if (!devices)
    return NULL;
  index = params->device < 0 ? 0 : (guint) params->device;
  if (index >= devices->len)
    {
      g_set_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_NO_DEVICE,
                   _ ("There is no device %u; dynoctl devices lists those that are there"), index);
      return NULL;
    }
  quick->device = *(DynoDeviceInfo *) devices->pdata[index];
  workload = quick->device.type == DYNO_DEVICE_TYPE_SOFTWARE ? 1 : 0;
  if (!find_preset (quick, params->preset, error) || !begin (&q, "copy", 0, error)
      || !measure_ceilings (quick, error) || !begin (&q, "loader", 0.25, error))
    return NULL;
  measure_loader (&q);
  if (!begin (&q, "training", 0.4, error))
    return NULL;
  train_on_device (&q, workload);
  if (!params->without_cpu && dyno_async_meter_count_left () == 0
      && left_seconds (&q) >= LEAST_LEFT)
    {
      if (!begin (&q, "cpu", 0.7, error))
        return NULL;
      compare_with_cpu (&q, devices);
    }
  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return NULL;
  dyno_cpu_times_read (&after);
  quick->outside_cpu = dyno_cpu_times_get_outside (&before, &after);
  dyno_quick_judge (quick);
  quick->seconds = elapsed (&q);
  return g_steal_pointer (&quick);
}

void
dyno_quick_free (DynoQuick *quick)
{
  if (!quick)
    return;
  g_free (quick->workload);
  g_free (quick->problem);
  g_free (quick->cpu_name);
  g_clear_pointer (&quick->preset, dyno_preset_free);
  g_ptr_array_unref (quick->findings);
  g_free (quick);
}
