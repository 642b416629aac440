/* SPDX-License-Identifier: MIT */
/* Samples of the data set are decoded once and repeated to fill the batch, so that values, labels
 * and start weights are those of a run. */
#include "gpuceiling.h"
#include "engine.h"
#include "intl.h"
#include "outsidecpu.h"
#include "rng.h"
#include "runmeter.h"
#include <math.h>
#include <string.h>

#define MOST_SAMPLES 32 /* most samples that are decoded; a larger batch repeats them */
/* least number; more follow for WARM_UP_S, so that an idle card reaches its full clock */
#define WARM_UP_STEPS 3
#define WARM_UP_S     0.3  /* most seconds */
#define WINDOW_S      0.05 /* longest initial length of a window, in seconds */
#define WINDOWS       16
#define LEAST_WINDOWS 3
#define ENOUGH        2 /* windows that are enough where the time is over */

struct _DynoGpuCeiling {
  DynoJob *job;
  DynoDataset *dataset;
  const DynoMeter *meter; /* or NULL */
  GArray *indices;        /* or NULL */
  DynoEngine *engine;     /* of the last measurement, or NULL */
  DynoSettings settings;  /* the settings for which the engine was built */
};

DynoGpuCeiling *
dyno_gpu_ceiling_new (const DynoJob *job, DynoDataset *dataset, const GArray *indices)
{
  DynoGpuCeiling *c = g_new0 (DynoGpuCeiling, 1);

  c->job = dyno_job_copy (job);
  c->dataset = dyno_dataset_ref (dataset);
  c->indices = indices ? g_array_copy ((GArray *) indices) : NULL;
  return c;
}

void
dyno_gpu_ceiling_set_meter (DynoGpuCeiling *c, const DynoMeter *meter)
{
  c->meter = meter;
}

void
dyno_gpu_ceiling_release (DynoGpuCeiling *c)
{
  g_clear_pointer (&c->engine, dyno_engine_free);
}

void
dyno_gpu_ceiling_free (DynoGpuCeiling *c)
{
  if (!c)
    return;
  dyno_gpu_ceiling_release (c);
  g_clear_pointer (&c->indices, g_array_unref);
  dyno_dataset_unref (c->dataset);
  dyno_job_unref (c->job);
  g_free (c);
}

/* --- the input -------------------------------------------------------------------------------- */

typedef struct {
  DynoBatchSchema schema;
  DynoBatchLayout layout;
  guint32 width, height;
  guint8 *block; /* a batch */
} Input;

static void
clear_input (Input *input)
{
  g_clear_pointer (&input->block, g_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Input, clear_input)

/* Decodes one sample into a row; where that sample cannot be read, the next readable sample of the
 * part. */
static gboolean
decode_row (const DynoGpuCeiling *c, const Input *input, guint32 row, guint n_rows,
            GByteArray *scratch, DynoDeadline *deadline, GError **error)
{
  guint first = (guint) ((guint64) row * c->indices->len / n_rows);
  gpointer fields[DYNO_SCHEMA_MAX_FIELDS];

  for (guint i = 0; i < input->layout.n_fields; i++)
    fields[i] = input->block + input->layout.offset[i] + row * input->layout.sample_bytes[i];
  for (guint try = 0; try < c->indices->len; try++)
    {
      guint place = (first + try) % c->indices->len;
      GError **problem = try + 1 == c->indices->len ? error : NULL;

      if (!dyno_deadline_check (deadline, error))
        return FALSE;
      if (dyno_dataset_decode (c->dataset, g_array_index (c->indices, guint32, place), input->width,
                               input->height, fields, scratch, problem))
        return TRUE;
    }
  return FALSE;
}

static void
repeat_rows (const Input *input, guint n_rows)
{
  DynoRng rng = dyno_rng_init (1, 0);

  for (guint i = 0; i < input->layout.n_fields; i++)
    {
      guint8 *field = input->block + input->layout.offset[i];
      guint64 bytes = input->layout.sample_bytes[i];

      if (input->schema.fields[i].role == DYNO_FIELD_SEED)
        for (guint64 j = 0; j < input->layout.field_bytes[i] / 4; j++)
          ((guint32 *) field)[j] = dyno_rng_below (&rng, G_MAXUINT32);
      else
        for (guint32 row = n_rows; row < input->layout.batch; row++)
          memcpy (field + row * bytes, field + (row % n_rows) * bytes, bytes);
    }
}

static gboolean
fill_input (const DynoGpuCeiling *c, Input *input, guint32 batch, DynoDeadline *deadline,
            GError **error)
{
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  guint n_rows = MIN (MIN (batch, MOST_SAMPLES), c->indices->len);
  const DynoDatasetInfo *info = dyno_dataset_get_info (c->dataset);

  if (!dyno_job_get_size (c->engine->job, info, &input->width, &input->height, error))
    return FALSE;
  dyno_dataset_get_schema (info, input->width, input->height, &input->schema);
  if (!dyno_batch_layout_init (&input->layout, &input->schema, batch, error))
    return FALSE;
  input->block = g_try_malloc0 (input->layout.total_bytes);
  if (!input->block)
    {
      g_set_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_OUT_OF_HOST_MEMORY,
                   _ ("A batch of %u needs more memory than there is; take a smaller one"), batch);
      return FALSE;
    }
  for (guint32 row = 0; row < n_rows; row++)
    if (!decode_row (c, input, row, n_rows, scratch, deadline, error))
      return FALSE;
  repeat_rows (input, n_rows);
  return TRUE;
}

static gboolean
upload_input (const DynoGpuCeiling *c, DynoDeadline *deadline, GError **error)
{
  DynoProgram *program = dyno_engine_get_program (c->engine);
  g_auto (Input) input = { .block = NULL };
  guint32 batch = (guint32) c->engine->job->settings.batch_size;

  if (!c->indices)
    return TRUE;
  if (!fill_input (c, &input, batch, deadline, error))
    return FALSE;
  for (guint i = 0; i < input.layout.n_fields; i++)
    {
      DynoTensor *tensor = dyno_network_get_input (dyno_engine_get_graph (c->engine), i);

      for (guint slot = 0; tensor && slot < DYNO_PIPE_SLOTS; slot++)
        if (!dyno_program_write_tensor (program, tensor, slot, input.block + input.layout.offset[i],
                                        input.layout.field_bytes[i], error))
          return FALSE;
    }
  return TRUE;
}

/* --- the engine ------------------------------------------------------------------------------- */

static void
report_progress (const char *what, guint done, guint total, gpointer data)
{
  const DynoMeter *meter = ((const DynoGpuCeiling *) data)->meter;

  if (meter && meter->preparing)
    meter->preparing (what, done, total, meter->preparing_user);
}

static void
report_warning (const char *text, gpointer data)
{
  g_info ("%s", text);
}

/* Sets the settings on which the engine does not depend to equal values. */
static DynoSettings
identify (const DynoSettings *settings)
{
  DynoSettings s = *settings;

  s.workers = s.prefetch = s.pinned = s.persistent_workers = s.cache = 0;
  s.accumulate = s.epochs = 1;
  s.lr = s.momentum = s.weight_decay = s.clip_norm = s.clip_value = 0;
  return s;
}

static gboolean
build (DynoGpuCeiling *c, DynoDevice *device, const DynoSettings *settings, DynoDeadline *deadline,
       GError **error)
{
  g_autoptr (DynoJob) job = dyno_run_meter_job (c->job, settings);
  DynoEngineWatch watch = { report_progress, report_warning, c };
  GCancellable *cancellable = dyno_deadline_get_cancellable (deadline);
  DynoSettings wanted = identify (settings);
  guint64 tracked;

  if (c->engine && dyno_settings_equal (&c->settings, &wanted))
    return TRUE;
  dyno_gpu_ceiling_release (c);
  c->settings = wanted;
  c->engine = dyno_engine_open_split (device, job, c->dataset, &watch, error);
  if (!c->engine)
    return FALSE;
  c->engine->resident = TRUE;
  return (!c->engine->plan.fits || dyno_engine_autotune (c->engine, &watch, cancellable, error))
         && dyno_engine_build (c->engine, &watch, cancellable, error)
         && dyno_engine_initialise (c->engine, &watch, &tracked, error)
         && upload_input (c, deadline, error);
}

/* --- steps ------------------------------------------------------------------------------------ */

typedef struct {
  DynoStepper *stepper;
  const DynoSettings *settings;
  DynoDeadline *deadline;
  DynoStepOrder order;
  guint64 n_samples;
  gboolean nonfinite;
  gint64 end_us; /* of the last step whose result is known */
} Steps;

static void
take_result (Steps *s, const DynoStepResult *result)
{
  s->n_samples = result->n_samples;
  s->nonfinite |= result->nonfinite_loss || !isfinite (result->loss_sum);
  s->end_us = result->end_us;
}

/* Submits one more step; *has_result: an earlier step has finished, and its result was taken. */
static gboolean
run_step (Steps *s, gboolean *has_result, GError **error)
{
  DynoStepResult result;

  if (!dyno_deadline_check (s->deadline, error)
      || !dyno_stepper_run (s->stepper, &s->order, s->settings, NULL, NULL, &result, has_result,
                            error))
    return FALSE;
  s->order.step++;
  if (*has_result)
    take_result (s, &result);
  return TRUE;
}

static gboolean
warm_up (Steps *s, double seconds, GError **error)
{
  gint64 begin_us = g_get_monotonic_time (),
         most_us = (gint64) (MIN (WARM_UP_S, seconds / 2) * G_USEC_PER_SEC);
  gboolean has_result;
  guint n = 0;

  do
    if (!run_step (s, &has_result, error))
      return FALSE;
  while (++n < WARM_UP_STEPS || g_get_monotonic_time () - begin_us < most_us);
  return TRUE;
}

static gboolean
measure_steps (Steps *s, double seconds, DynoWindows *w, DynoMeasurement *m, GError **error)
{
  g_autoptr (GError) problem = NULL;
  gboolean has_result;

  dyno_windows_begin (w, (double) s->end_us / 1e6);
  while (w->n < LEAST_WINDOWS || dyno_windows_get_seconds (w) < seconds)
    {
      if (!run_step (s, &has_result, &problem))
        break;
      if (!has_result)
        continue;
      dyno_windows_add (w, (double) s->end_us / 1e6, (double) s->n_samples);
      m->steps++;
      m->n_samples += s->n_samples;
    }
  if (!problem || (w->n >= ENOUGH && g_error_matches (problem, G_IO_ERROR, G_IO_ERROR_TIMED_OUT)))
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&problem));
  return FALSE;
}

/* Afterwards no submission is in flight, unless the device is lost. */
static gboolean
measure (DynoGpuCeiling *c, Steps *s, double seconds, DynoMeasurement *m, GError **error)
{
  DynoWindows w = { .length_s = MIN (WINDOW_S, seconds / WINDOWS) };
  DynoStepResult last;
  gboolean has_result, unfinished, good;

  good = warm_up (s, seconds, error) && measure_steps (s, seconds, &w, m, error);
  if (!dyno_stepper_drain (s->stepper, &last, &has_result, &unfinished, good ? error : NULL))
    return FALSE;
  if (!good)
    return FALSE;
  if (s->nonfinite)
    {
      g_set_error_literal (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DIVERGED,
                           _ ("The loss of the start weights is not finite"));
      return FALSE;
    }
  dyno_windows_estimate (&w, &m->rate);
  m->run_rate = m->rate;
  m->step_ms = 1e3 * dyno_windows_get_seconds (&w) / (double) MAX (m->steps, 1);
  m->wait_data_ms = 0;
  m->planned_bytes = c->engine->plan.plan.total_bytes;
  m->vram_bytes = dyno_device_get_allocated_total (c->engine->device);
  return TRUE;
}

gboolean
dyno_gpu_ceiling_measure (DynoGpuCeiling *c, DynoDevice *device, const DynoSettings *settings,
                          double seconds, DynoDeadline *deadline, DynoMeasurement *m,
                          GError **error)
{
  g_autoptr (GError) problem = NULL;
  DynoCpuTimes begin, end;

  dyno_measurement_init (m);
  if (build (c, device, settings, deadline, &problem))
    {
      Steps steps = { .stepper = c->engine->stepper,
                      .settings = settings,
                      .deadline = deadline,
                      .order = { .batches = (guint) settings->accumulate } };

      report_progress (NULL, 0, 0, c);
      dyno_cpu_times_read (&begin);
      if (measure (c, &steps, seconds, m, &problem))
        {
          dyno_cpu_times_read (&end);
          m->outside_cpu = dyno_cpu_times_get_outside (&begin, &end);
          return TRUE;
        }
    }
  dyno_gpu_ceiling_release (c);
  dyno_deadline_explain (deadline, &problem);
  g_propagate_error (error, g_steal_pointer (&problem));
  return FALSE;
}
