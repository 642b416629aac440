/* SPDX-License-Identifier: MIT */
/* Writes a run as a trace: its steps with the parts of their time, ends of epochs, and the sensors'
 * readings.
 *
 * metrics.csv has the end of each step and lengths, not begins.  So a step is drawn up to its end.
 * Waiting for data comes first in it, and the device's stages, one after the other, come last.
 * Copies overlap with the stages of the step before and have their own row.  Where rounded times
 * would overlap, spans are drawn shorter; the arguments have the numbers of the log. */
#include "chrometrace.h"
#include "formats.h"
#include "intl.h"
#include "metrics.h"
#include "sensorscsv.h"
#include <math.h>

#define ROWS 256 /* copied out of the log at a time */

enum { PROCESS_RUN = 1, PROCESS_SENSORS = 2 };
enum { THREAD_EPOCHS = 1, THREAD_STEPS, THREAD_HOST, THREAD_COPIES, THREAD_DEVICE };

typedef struct {
  DynoTrace *trace;
  DynoMetrics *metrics;
  GArray *epochs; /* DynoEpochMetrics, all */
  guint next_epoch;
  GArray *sensors; /* DynoSensorRow, all */
  guint next_sensor;
  double sensor_us, sensor_unix; /* of the row before */
  guint64 sensor_step;
  double step_us;   /* end of the step before */
  double end_us;    /* end of that step and of the validation and saving after it */
  double epoch_us;  /* begin of this epoch */
  double device_us; /* end of the device's stages before */
  double copy_us;   /* end of the copy before */
} Run;

static void
put_span (Run *run, guint thread, const char *name, const char *category, double begin_us,
          double end_us, const char *key, double value)
{
  DynoJson *json;

  if (!(end_us > begin_us))
    return;
  json = dyno_trace_begin (run->trace, PROCESS_RUN, thread, name, category, begin_us,
                           end_us - begin_us);
  dyno_json_double (json, key, value);
  dyno_trace_end (run->trace);
}

/* --- a step ------------------------------------------------------------------------------------ */

/* Forward, backward and optimizer up to the step's end. */
static void
put_stages (Run *run, const DynoStepMetrics *step, double end_us)
{
  const char *const names[] = { "forward", "backward", "optimizer" };
  const double ms[] = { step->forward_ms, step->backward_ms, step->optimizer_ms };
  double sum_us = 0, room_us, scale, at;

  for (guint i = 0; i < G_N_ELEMENTS (ms); i++)
    sum_us += MAX (ms[i], 0) * 1e3;
  if (!(sum_us > 0))
    return;
  room_us = MAX (end_us - run->device_us, 0);
  scale = MIN (room_us / sum_us, 1);
  at = end_us - sum_us * scale;
  for (guint i = 0; i < G_N_ELEMENTS (ms); i++)
    {
      double next = at + MAX (ms[i], 0) * 1e3 * scale;
      put_span (run, THREAD_DEVICE, names[i], "device", at, next, "ms", ms[i]);
      at = next;
    }
  run->device_us = end_us;
}

static void
put_step (Run *run, const DynoStepMetrics *step)
{
  double end_us = MAX (step->seconds * 1e6, run->end_us),
         begin_us = MAX (end_us - step->step_ms * 1e3, run->end_us),
         wait_us = MIN (begin_us + MAX (step->wait_data_ms, 0) * 1e3, end_us),
         copy_us = MAX (begin_us, run->copy_us);
  g_autofree char *name = g_strdup_printf ("step %" G_GUINT64_FORMAT, step->step);
  DynoJson *json = dyno_trace_begin (run->trace, PROCESS_RUN, THREAD_STEPS, name, "step", begin_us,
                                     end_us - begin_us);

  dyno_json_uint (json, "step", step->step);
  dyno_json_uint (json, "epoch", step->epoch);
  dyno_json_double (json, "loss", step->loss);
  dyno_json_double (json, "lr", step->lr);
  dyno_json_double (json, "step_ms", step->step_ms);
  dyno_json_bool (json, "skipped", step->skipped);
  dyno_trace_end (run->trace);
  put_span (run, THREAD_HOST, "wait for data", "host", begin_us, wait_us, "ms", step->wait_data_ms);
  if (step->upload_ms > 0)
    {
      double next = MIN (copy_us + step->upload_ms * 1e3, end_us);
      put_span (run, THREAD_COPIES, "copy", "device", copy_us, next, "ms", step->upload_ms);
      run->copy_us = MAX (next, run->copy_us);
    }
  put_stages (run, step, end_us);
  run->end_us = run->step_us = end_us;
  dyno_trace_count (run->trace, PROCESS_RUN, "loss", "", end_us, step->loss);
  dyno_trace_count (run->trace, PROCESS_RUN, "throughput", "samples/s", end_us,
                    step->samples_per_s);
  if (step->vram_bytes > 0)
    dyno_trace_count (run->trace, PROCESS_RUN, "device memory", "MiB", end_us,
                      (double) step->vram_bytes / 1048576);
  if (step->workers > 0 && step->step_ms > 0)
    dyno_trace_count (run->trace, PROCESS_RUN, "loader's workers", "% busy", end_us,
                      MIN (step->decode_ms / (step->step_ms * (double) step->workers), 1) * 100);
}

/* --- the end of an epoch ----------------------------------------------------------------------- */

static void
put_epoch (Run *run, const DynoEpochMetrics *epoch)
{
  double validated_us = run->end_us + MAX (epoch->validation_seconds, 0) * 1e6,
         saved_us = validated_us + MAX (epoch->saving_seconds, 0) * 1e6;
  g_autofree char *name = g_strdup_printf ("epoch %" G_GUINT64_FORMAT, epoch->epoch);
  DynoJson *json;

  put_span (run, THREAD_HOST, "validation", "host", run->end_us, validated_us, "seconds",
            epoch->validation_seconds);
  /* includes the rest of the previous epoch's saving; its time within the epoch is not known */
  put_span (run, THREAD_HOST, "saving", "host", validated_us, saved_us, "seconds",
            epoch->saving_seconds);
  json = dyno_trace_begin (run->trace, PROCESS_RUN, THREAD_EPOCHS, name, "epoch", run->epoch_us,
                           saved_us - run->epoch_us);
  dyno_json_uint (json, "epoch", epoch->epoch);
  dyno_json_double (json, "train_loss", epoch->train_loss);
  dyno_json_double (json, "val_loss", epoch->val_loss);
  dyno_json_double (json, "seconds", epoch->seconds);
  dyno_trace_end (run->trace);
  run->end_us = run->epoch_us = saved_us;
}

/* --- sensors ----------------------------------------------------------------------------------- */

/* Writes readings up to limit_us, the end of the next step: later readings were measured in a
 * pause, which this clock does not count. */
static void
put_sensors (Run *run, const DynoSensorRow *row, double limit_us)
{
  double time_us = row->step == run->sensor_step
                       ? run->sensor_us + MAX (row->unix_time - run->sensor_unix, 0) * 1e6
                       : MAX (run->step_us, run->sensor_us);

  if (time_us > limit_us)
    return;
  for (guint i = 0; i < DYNO_N_SENSORS; i++)
    {
      const DynoSensorInfo *info = dyno_sensor_get_info ((DynoSensor) i);
      dyno_trace_count (run->trace, PROCESS_SENSORS, info->title, info->unit, time_us,
                        row->values[i]);
    }
  run->sensor_us = time_us;
  run->sensor_unix = row->unix_time;
  run->sensor_step = row->step;
}

/* Writes the readings from before the end of this step. */
static void
put_sensors_before (Run *run, guint64 step, double limit_us)
{
  for (; run->next_sensor < run->sensors->len; run->next_sensor++)
    {
      const DynoSensorRow *row = &g_array_index (run->sensors, DynoSensorRow, run->next_sensor);

      if (row->step >= step)
        break;
      put_sensors (run, row, limit_us);
    }
}

/* --- the run ----------------------------------------------------------------------------------- */

static void
put_row (Run *run, const DynoStepMetrics *step)
{
  put_sensors_before (run, step->step, step->seconds * 1e6);
  put_step (run, step);
  for (; run->next_epoch < run->epochs->len; run->next_epoch++)
    {
      const DynoEpochMetrics *epoch =
          &g_array_index (run->epochs, DynoEpochMetrics, run->next_epoch);

      if (epoch->step > step->step)
        break;
      put_epoch (run, epoch);
    }
}

static void
put_rows (Run *run)
{
  DynoStepMetrics rows[ROWS];
  guint64 n;

  for (guint64 first = 0; (n = dyno_metrics_copy_steps (run->metrics, first, ROWS, rows));
       first += n)
    for (guint64 i = 0; i < n; i++)
      put_row (run, &rows[i]);
  put_sensors_before (run, G_MAXUINT64, INFINITY);
}

static void
name_rows (Run *run, const char *folder)
{
  g_autofree char *whole = g_canonicalize_filename (folder, NULL),
                  *name = g_path_get_basename (whole), *title = g_strconcat ("run ", name, NULL);

  dyno_trace_name_process (run->trace, PROCESS_RUN, title);
  dyno_trace_name_thread (run->trace, PROCESS_RUN, THREAD_EPOCHS, "epochs");
  dyno_trace_name_thread (run->trace, PROCESS_RUN, THREAD_STEPS, "steps");
  dyno_trace_name_thread (run->trace, PROCESS_RUN, THREAD_HOST, "host");
  dyno_trace_name_thread (run->trace, PROCESS_RUN, THREAD_COPIES, "device: copies");
  dyno_trace_name_thread (run->trace, PROCESS_RUN, THREAD_DEVICE, "device: stages");
  if (run->sensors->len > 0)
    dyno_trace_name_process (run->trace, PROCESS_SENSORS, "sensors");
}

static gboolean
write_trace (const char *folder, const char *path, GError **error)
{
  g_autofree char *metrics_path = g_build_filename (folder, "metrics.csv", NULL);
  g_autoptr (DynoMetrics) metrics = dyno_metrics_read (metrics_path, error);
  g_autoptr (GArray) epochs = g_array_new (FALSE, TRUE, sizeof (DynoEpochMetrics)), sensors = NULL;
  Run run = { .metrics = metrics, .epochs = epochs, .sensor_step = G_MAXUINT64 };
  guint64 n;

  if (!metrics)
    return FALSE;
  n = dyno_metrics_get_epochs (metrics);
  g_array_set_size (epochs, (guint) n);
  dyno_metrics_copy_epochs (metrics, 0, n, (DynoEpochMetrics *) (gpointer) epochs->data);
  run.sensors = sensors = dyno_sensors_csv_read (folder);
  run.trace = dyno_trace_new (path, error);
  if (!run.trace)
    return FALSE;
  name_rows (&run, folder);
  put_rows (&run);
  return dyno_trace_finish (run.trace, error);
}

const DynoRunExporter dyno_run_exporter_trace = { .id = "trace",
                                                  .title = N_ ("Trace of its steps (Perfetto)"),
                                                  .extension = "trace.json",
                                                  .write = write_trace };
