/* SPDX-License-Identifier: MIT */
/* The input of the diagnosis: a run's folder or view, its sensors, and earlier measurements of a
 * search. */
#include "base-error.h"
#include "diagnosis-test.h"
#include "runfacts.h"
#include "sensorscsv.h"
#include <glib/gstdio.h>
#include <math.h>

/* The ceilings from the history are those of a search with the run's settings, data and device. */
static void
test_ceilings_of_a_search (void)
{
  g_autofree char *folder = g_dir_make_tmp ("dyno-diagnosis-XXXXXX", NULL),
                  *path = g_build_filename (folder, "history.sqlite", NULL);
  g_autoptr (DynoStore) store = dyno_store_open (path, NULL);
  g_autoptr (DynoJob) job = dyno_job_new ();
  DynoDeviceInfo device = { .name = "Test GPU" };
  DynoStoreTrial trial = { .number = 1, .stage = "loader", .outcome = "ok", .samples_per_s = 5000 };
  Machine m;
  gint64 search;

  machine_init (&m);
  g_free (job->model);
  job->model = g_strdup ("mlp");
  trial.settings = m.in.settings;
  search = dyno_store_begin_search (store, job, &device, 77, NULL, NULL);
  g_assert_true (dyno_store_add_trial (store, search, &trial, NULL));
  trial.number = 2;
  trial.stage = "gpu";
  trial.samples_per_s = 9000;
  g_assert_true (dyno_store_add_trial (store, search, &trial, NULL));
  for (guint i = 0; i < 7; i++) /* a run without a model, data or settings */
    {
      g_strlcpy (m.in.facts.model, i & 1 ? "mlp" : "", sizeof m.in.facts.model);
      m.in.facts.fingerprint = i & 2 ? 77 : 0;
      m.in.has_settings = (i & 4) != 0;
      dyno_diagnosis_input_find_ceilings (&m.in, store);
      g_assert_true (isnan (m.in.loader_ceiling) && isnan (m.in.gpu_ceiling));
    }
  g_strlcpy (m.in.facts.model, "mlp", sizeof m.in.facts.model);
  m.in.facts.fingerprint = 77;
  m.in.has_settings = TRUE;
  dyno_diagnosis_input_find_ceilings (&m.in, store);
  g_assert_true (m.in.loader_ceiling == 5000 && m.in.gpu_ceiling == 9000);
  /* Of the larger batches, the smallest one that is nearly the fastest counts. */
  g_assert_true (m.in.larger_batch == 0 && isnan (m.in.larger_ceiling));
  for (guint i = 0; i < 4; i++)
    {
      static const double rates[] = { 9500, 11000, 11200, 20000 };

      trial.number++;
      trial.settings.batch_size = 128 << i;
      trial.samples_per_s = rates[i];
      g_assert_true (dyno_store_add_trial (store, search, &trial, NULL));
    }
  m.in.facts.ranks = 1;
  dyno_diagnosis_input_find_ceilings (&m.in, store); /* batch 1024 would not fit */
  g_assert_true (m.in.larger_batch == 256 && m.in.larger_ceiling == 11000);
  /* The largest batch that fits may be the one. */
  m.in.facts.fitting_batch = 127;
  dyno_diagnosis_input_find_ceilings (&m.in, store);
  g_assert_true (m.in.larger_batch == 0 && isnan (m.in.larger_ceiling));
  m.in.facts.fitting_batch = 128;
  dyno_diagnosis_input_find_ceilings (&m.in, store);
  g_assert_true (m.in.larger_batch == 128 && m.in.larger_ceiling == 9500);
  m.in.facts.fitting_batch = 512;
  /* The device was measured with whole batches. */
  m.in.facts.parts = 2;
  dyno_diagnosis_input_find_ceilings (&m.in, store);
  g_assert_true (m.in.loader_ceiling == 5000 && isnan (m.in.gpu_ceiling));
  g_assert_true (m.in.larger_batch == 0 && isnan (m.in.larger_ceiling));
  /* Several ranks have no ceiling of the loader, and with parts none of the device either. */
  m.in.facts.ranks = 2;
  dyno_diagnosis_input_find_ceilings (&m.in, store);
  g_assert_true (isnan (m.in.loader_ceiling) && isnan (m.in.gpu_ceiling));
  m.in.facts.parts = 1;
  dyno_diagnosis_input_find_ceilings (&m.in, store);
  g_assert_true (isnan (m.in.loader_ceiling) && m.in.gpu_ceiling == 2 * 9000);
  g_clear_pointer (&store, dyno_store_free);
  for (guint i = 0; i < 3; i++)
    {
      static const char *const ends[] = { "", "-wal", "-shm" };
      g_autofree char *file = g_strconcat (path, ends[i], NULL);

      g_remove (file);
    }
  g_rmdir (folder);
}

/* A folder and a view of the same run give the same input; a reading of the view counts once. */
static void
test_sources (void)
{
  g_autofree char *folder = g_dir_make_tmp ("dyno-diagnosis-XXXXXX", NULL),
                  *metrics = g_build_filename (folder, "metrics.csv", NULL),
                  *settings = g_build_filename (folder, "settings.ini", NULL),
                  *sensors = g_build_filename (folder, "sensors.csv", NULL),
                  *facts = g_build_filename (folder, "facts.ini", NULL);
  const char *const files[] = { metrics, settings, sensors, facts, folder };
  g_autoptr (GString) rows = g_string_new (NULL);
  g_autoptr (DynoMetrics) log = dyno_metrics_new ();
  g_autoptr (DynoRunView) view = dyno_run_view_new (FALSE);
  g_autoptr (DynoJob) job = dyno_job_new ();
  g_autoptr (DynoEvent) told = dyno_event_new (DYNO_EVENT_FACTS),
                        sensed = dyno_event_new (DYNO_EVENT_SENSORS);
  g_autoptr (GError) error = NULL;
  DynoDiagnosisInput a, b;
  DynoStretches whole;
  DynoSensorRow row;
  DynoSensorReading reading;

  dyno_diagnosis_input_init (&a);
  dyno_diagnosis_input_init (&b);
  g_assert_false (dyno_diagnosis_input_read_run (&a, folder, &error));
  g_assert_error (error, DYNO_BASE_ERROR, DYNO_BASE_ERROR_CORRUPT);
  job->settings.workers = 7;
  dyno_run_view_begin (view, job);
  for (guint i = 1; i <= 9; i++)
    {
      DynoStepMetrics step = {
        .step = i, .epoch = 1, .loss = 1.5, .step_ms = 0.137, .samples = 8, .seconds = 0.000137 * i
      };

      dyno_metrics_add_step (log, &step);
      dyno_run_view_take_step (view, &step);
      if (i % 3 == 0)
        {
          DynoEpochMetrics epoch = {
            .epoch = i / 3, .step = i, .val_loss = 1, .saving_seconds = 1
          };

          dyno_metrics_add_epoch (log, &epoch);
          dyno_run_view_take_epoch (view, &epoch);
        }
    }
  g_assert_true (dyno_metrics_write_csv (log, metrics, NULL));
  g_assert_true (g_file_set_contents (settings, "[settings]\nworkers=7\nlater=1\n", -1, NULL));
  told->facts = (DynoRunFacts){ .device = "Card; = \"x\"",
                                .cores = 12,
                                .amp = TRUE,
                                .guess_loss = 2.302585092994046,
                                .bad_layer = "fc" };
  g_assert_true (dyno_run_facts_write (folder, &told->facts, NULL));
  dyno_run_view_take_event (view, told);
  dyno_sensor_reading_init (&reading);
  reading.values[DYNO_SENSOR_GPU_BUSY] = 50;
  reading.time_us = 17;
  dyno_sensor_row_init (&row, &reading, 3);
  dyno_sensors_csv_append_head (rows);
  dyno_sensors_csv_append (rows, &row);
  g_assert_true (g_file_set_contents (sensors, rows->str, -1, NULL));
  sensed->sensors = g_memdup2 (&reading, sizeof reading);
  dyno_run_view_take_event (view, sensed);

  g_clear_error (&error);
  g_assert_true (dyno_diagnosis_input_read_run (&a, folder, &error));
  dyno_stretches_init (&whole);
  dyno_stretches_add_log (&whole, log);
  dyno_diagnosis_input_take_view (&b, view);
  g_assert_cmpmem (&whole, sizeof whole, &b.log, sizeof b.log);
  dyno_diagnosis_input_take_view (&b, view);
  for (guint i = 0; i < 2; i++)
    {
      const DynoDiagnosisInput *in = i ? &b : &a;

      g_assert_true (in->has_settings && in->settings.workers == 7);
      g_assert_cmpuint (in->log.n_steps, ==, 9);
      g_assert_cmpuint (in->log.whole.samples, ==, 64);
      /* consecutive steps, whose rounding in the file counts as no gap */
      g_assert_cmpfloat (in->log.whole.gap_ms, <, 0.01);
      g_assert_cmpuint (in->sensors.n, ==, 1);
      g_assert_cmpfloat_with_epsilon (in->sensors.gpu_busy, 0.5, 1e-9);
      g_assert_cmpstr (in->facts.device, ==, "Card; = \"x\"");
      g_assert_true (in->facts.cores == 12 && in->facts.amp && !in->facts.software);
      g_assert_true (in->facts.guess_loss == 2.302585092994046);
      g_assert_cmpstr (in->facts.bad_layer, ==, "fc");
    }
  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    g_remove (files[i]);
}

/* For any number of steps, the stretches are few, of equal length, and complete. */
static void
test_stretches (void)
{
  DynoStretches log;
  DynoStretch sum;

  dyno_stretches_init (&log);
  for (guint i = 1; i <= 100001; i++)
    {
      DynoStepMetrics step = {
        .step = i, .loss = 1, .step_ms = 2, .samples = 3, .vram_bytes = i, .seconds = 0.0025 * i
      };

      dyno_stretches_add_step (&log, &step);
    }
  g_assert_cmpuint (log.n, <=, DYNO_STRETCHES);
  g_assert_cmpuint (log.n, >=, DYNO_STRETCHES / 2);
  for (guint i = 0; i + 1 < log.n; i++)
    {
      g_assert_cmpuint (log.stretches[i].n_steps, ==, log.each);
      g_assert_cmpuint (log.stretches[i].first_step + log.each, ==,
                        log.stretches[i + 1].first_step);
    }
  dyno_stretches_sum (&log, 0, log.n, &sum);
  g_assert_cmpuint (sum.n_steps, ==, 100000);
  for (guint first = 0; first < 3; first++)
    {
      DynoStretch some;

      dyno_stretches_sum (&log, first, 2, &some);
      g_assert_cmpuint (some.n_steps, ==, 2 * log.each);
      g_assert_cmpuint (some.first_step, ==, log.stretches[first].first_step);
      dyno_stretches_sum (&log, log.n - 1 - first, 9, &some); /* all that there are */
      g_assert_cmpuint (some.first_step + some.n_steps, ==, 100002);
    }
  g_assert_cmpuint (sum.samples, ==, 300000);
  g_assert_cmpuint (sum.vram_bytes, ==, 100001);
  g_assert_cmpfloat_with_epsilon (sum.step_ms, 200000, 1e-3);
  g_assert_cmpfloat_with_epsilon (sum.gap_ms, 50000, 1e-3);
  g_assert_cmpfloat_with_epsilon (log.whole.gap_ms, sum.gap_ms, 1e-3);
}

/* Worse epochs count since the best one, however long ago it was; the last few are stored in
 * order. */
static void
test_epochs (void)
{
  static const struct {
    double loss;
    guint64 best, worse;
  } epochs[] = {
    { (double) NAN, 0, 1 }, { 3, 2, 0 }, { 2, 3, 0 },   { 2.5, 3, 1 },          { 2, 3, 2 },
    { 2.2, 3, 3 },          { 1, 7, 0 }, { 1.5, 7, 1 }, { (double) NAN, 7, 2 }, { 1, 7, 3 },
    { 0.5, 11, 0 }
  };
  DynoStretches log;

  dyno_stretches_init (&log);
  for (guint i = 0; i < G_N_ELEMENTS (epochs); i++)
    {
      DynoEpochMetrics epoch = { .epoch = i + 1, .val_loss = epochs[i].loss };

      dyno_stretches_add_epoch (&log, &epoch);
      g_assert_cmpuint (log.n_epochs, ==, i + 1);
      g_assert_cmpuint (log.best.epoch, ==, epochs[i].best);
      g_assert_cmpuint (log.worse_epochs, ==, epochs[i].worse);
      g_assert_cmpuint (log.n_recent, ==, MIN (i + 1, DYNO_STRETCH_RECENT));
      for (guint k = 0; k < log.n_recent; k++)
        g_assert_cmpuint (log.recent[k].epoch, ==, i + 2 - log.n_recent + k);
    }
}

/* The time of the last validation ends with the next step; first and last loss are the first and
 * the last one. */
static void
test_validation_and_losses (void)
{
  const double losses[] = { (double) NAN, 3, 2, (double) INFINITY, 1 };
  DynoStretches log;

  dyno_stretches_init (&log);
  for (guint i = 0; i < G_N_ELEMENTS (losses); i++)
    {
      DynoStepMetrics step = { .step = i + 1, .loss = losses[i], .step_ms = 1 };
      DynoEpochMetrics epoch = { .epoch = i + 1, .val_loss = 1, .validation_seconds = 10 + i };

      dyno_stretches_add_step (&log, &step);
      g_assert_cmpfloat (log.last_validation_seconds, ==, 0);
      g_assert_true (i == 0 ? isnan (log.first_loss) : log.first_loss == 3);
      g_assert_true (i == 0 ? isnan (log.last_loss) : log.last_loss == losses[i]);
      dyno_stretches_add_epoch (&log, &epoch);
      g_assert_cmpfloat (log.last_validation_seconds, ==, 10 + i);
    }
  g_assert_cmpfloat (log.validation_seconds, ==, 10 + 11 + 12 + 13 + 14);
  g_assert_cmpuint (log.whole.n_bad, ==, 2);
  g_assert_cmpuint (log.whole.n_losses, ==, 3);
}

/* Percentages become shares; unavailable values change nothing; throttling counts readings. */
static void
test_sensors (void)
{
  DynoDiagnosisInput in;
  double values[DYNO_N_SENSORS];

  dyno_diagnosis_input_init (&in);
  g_assert_true (isnan (in.sensors.gpu_busy) && isnan (in.sensors.heat_share));
  for (guint i = 0; i < DYNO_N_SENSORS; i++)
    values[i] = (double) NAN;
  dyno_diagnosis_input_add_sensors (&in, values, 0);
  g_assert_true (isnan (in.sensors.gpu_busy) && isnan (in.sensors.heat_share));
  values[DYNO_SENSOR_GPU_BUSY] = 80;
  values[DYNO_SENSOR_GPU_THROTTLE] = 1;
  values[DYNO_SENSOR_GPU_TEMPERATURE] = 84;
  dyno_diagnosis_input_add_sensors (&in, values, DYNO_THROTTLE_TEMPERATURE);
  values[DYNO_SENSOR_GPU_BUSY] = 40;
  values[DYNO_SENSOR_GPU_THROTTLE] = 0;
  values[DYNO_SENSOR_GPU_TEMPERATURE] = 60;
  dyno_diagnosis_input_add_sensors (&in, values, 0);
  g_assert_cmpuint (in.sensors.n, ==, 3);
  g_assert_cmpfloat_with_epsilon (in.sensors.gpu_busy, 0.6, 1e-9);
  g_assert_cmpfloat_with_epsilon (in.sensors.heat_share, 0.5, 1e-9);
  g_assert_cmpfloat_with_epsilon (in.sensors.power_share, 0, 1e-9);
  g_assert_cmpfloat_with_epsilon (in.sensors.gpu_temperature_most, 84, 1e-9);
}

/* Each sensor has a member of its own, in its unit: of two readings the mean, or the highest. */
static void
test_each_sensor (void)
{
#define ROW(sensor, member, most, unit)                                           \
  {                                                                               \
    DYNO_SENSOR_##sensor, G_STRUCT_OFFSET (DynoSensorSummary, member), most, unit \
  }
  static const struct {
    DynoSensor sensor;
    gsize offset;
    gboolean most;
    double unit;
  } rows[] = {
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
  };
#undef ROW
  DynoSensorReading none;

  dyno_sensor_reading_init (&none);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      DynoSensorReading first = none, second = none;
      DynoDiagnosisInput in;

      first.values[rows[i].sensor] = 90;
      second.values[rows[i].sensor] = 60;
      dyno_diagnosis_input_init (&in);
      dyno_diagnosis_input_add_sensors (&in, first.values, 0);
      dyno_diagnosis_input_add_sensors (&in, none.values, 0);
      dyno_diagnosis_input_add_sensors (&in, second.values, 0);
      for (guint k = 0; k < G_N_ELEMENTS (rows); k++)
        {
          double value = *(double *) ((guint8 *) &in.sensors + rows[k].offset);

          if (k == i)
            g_assert_cmpfloat_with_epsilon (value, (rows[i].most ? 90 : 75) / rows[i].unit, 1e-9);
          else
            g_assert_true (isnan (value));
          g_assert_cmpuint (in.sensors.counts[rows[k].sensor], ==, k == i ? 2 : 0);
        }
    }
}

/* The memory of the beginning is the mean of ten readings; that of the end follows the later ones,
 * and a single one of those hardly changes it. */
static void
test_memory_of_the_machine (void)
{
  DynoSensorReading reading;
  DynoDiagnosisInput in;

  dyno_diagnosis_input_init (&in);
  dyno_sensor_reading_init (&reading);
  for (guint i = 0; i < 10; i++)
    {
      reading.values[DYNO_SENSOR_RAM_USED] = i < 5 ? 100 : 200;
      dyno_diagnosis_input_add_sensors (&in, reading.values, 0);
    }
  g_assert_cmpfloat_with_epsilon (in.sensors.ram_early, 150, 1e-9);
  g_assert_cmpfloat_with_epsilon (in.sensors.ram_late, 150, 1e-9);
  reading.values[DYNO_SENSOR_RAM_USED] = 250;
  dyno_diagnosis_input_add_sensors (&in, reading.values, 0);
  dyno_diagnosis_input_add_sensors (&in, reading.values, 0);
  g_assert_cmpfloat_with_epsilon (in.sensors.ram_early, 150, 1e-9);
  g_assert_cmpfloat_with_epsilon (in.sensors.ram_late, 169, 1e-9);
}

/* Heat, or the hardware without another reason, and power, or current, are two shares; readings
 * that are throttled for another reason count in neither. */
static void
test_reasons_of_throttling (void)
{
  static const struct {
    guint reason, n;
  } readings[] = { { DYNO_THROTTLE_HARDWARE, 1 },
                   { DYNO_THROTTLE_CURRENT, 2 },
                   { DYNO_THROTTLE_TEMPERATURE, 4 },
                   { DYNO_THROTTLE_POWER, 8 },
                   { DYNO_THROTTLE_POWER | DYNO_THROTTLE_TEMPERATURE, 16 },
                   { 1u << 9, 1 } };
  DynoSensorReading reading;
  DynoDiagnosisInput in;

  dyno_diagnosis_input_init (&in);
  dyno_sensor_reading_init (&reading);
  reading.values[DYNO_SENSOR_GPU_THROTTLE] = 1;
  for (guint i = 0; i < G_N_ELEMENTS (readings); i++)
    for (guint k = 0; k < readings[i].n; k++)
      dyno_diagnosis_input_add_sensors (&in, reading.values, readings[i].reason);
  g_assert_cmpfloat_with_epsilon (in.sensors.heat_share, 21.0 / 32, 1e-9);
  g_assert_cmpfloat_with_epsilon (in.sensors.power_share, 26.0 / 32, 1e-9);
}

/* The facts before a run, some of which follow from both the job and the device. */
static void
test_plan (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoDataset) dataset = dyno_dataset_open (
      "builtin:waves?length=16&samples=60&classes=3", NULL, NULL, NULL, NULL, &error);
  g_autoptr (DynoJob) job = dyno_job_new ();
  DynoJobPlan plan = {
    .device_bytes = 80, .limit_bytes = 70, .steps_per_epoch = 9, .flops_per_sample = 1e6
  };
  DynoDiagnosisInput in;

  g_assert_no_error (error);
  plan.plan.total_bytes = 60;
  job->settings.batch_size = 5;
  job->settings.accumulate = 3;
  job->settings.data_val_split = 0.2;
  job->settings.data_test_split = 0.5;
  for (guint i = 0; i < 4; i++)
    {
      DynoDeviceInfo device = { .name = "Test GPU", .fp16 = i & 1 };

      job->settings.amp = i >= 2;
      plan.fitting_batch = i == 0 ? -1 : 40;
      dyno_diagnosis_input_init (&in);
      dyno_diagnosis_input_take_plan (&in, job, dyno_dataset_get_info (dataset), &device, &plan);
      g_assert_true (in.has_settings && in.settings.batch_size == 5);
      g_assert_true (in.facts.amp == (i == 3));
      g_assert_cmpuint (in.facts.fitting_batch, ==, i == 0 ? 0 : 40);
      g_assert_cmpuint (in.facts.device_bytes, ==, 80);
      g_assert_cmpuint (in.facts.limit_bytes, ==, 70);
      g_assert_cmpuint (in.facts.planned_bytes, ==, 60);
      g_assert_cmpuint (in.facts.batch_size, ==, 5);
      g_assert_cmpuint (in.facts.accumulate, ==, 3);
      g_assert_cmpuint (in.facts.steps_per_epoch, ==, 9);
      g_assert_cmpfloat (in.facts.flops_per_sample, ==, 1e6);
      g_assert_cmpuint (in.facts.n_test, ==, 30);
      g_assert_cmpuint (in.facts.n_validation, ==, 6);
      g_assert_cmpuint (in.facts.n_train, ==, 24);
    }
}

/* Nothing is known before the first step, and each quantity has the unit of the guides: minutes of a
 * whole run, seconds of an epoch, GiB, percent; and the error is the first that is in degrees. */
static void
test_measured (void)
{
  DynoRunStatus status = { .state = DYNO_SESSION_RUNNING, .run_rate = (double) NAN };
  double measured[DYNO_PRESET_N_QUANTITIES];
  DynoDiagnosisInput in;

  dyno_diagnosis_input_init (&in);
  dyno_diagnosis_input_measure (&in, &status, measured);
  for (guint i = 0; i < DYNO_PRESET_N_QUANTITIES; i++)
    g_assert_true (isnan (measured[i]));
  status.run_rate = 250;
  status.n_epochs = 1;
  status.epoch.seconds = 30;
  status.seconds = 600;
  in.log.whole.vram_bytes = 3 * (G_GUINT64_CONSTANT (1) << 29);
  in.sensors.gpu_busy = 0.75;
  in.sensors.gpu_power = 300;
  status.metrics.n = 3;
  status.metrics.infos[0].unit = "degrees";
  status.metrics.infos[1].unit = "mm";
  status.metrics.infos[2].unit = "degrees";
  status.best[0] = 4;
  status.best[1] = 5;
  status.best[2] = 6;
  dyno_diagnosis_input_measure (&in, &status, measured);
  g_assert_cmpfloat (measured[DYNO_PRESET_SAMPLES_PER_S], ==, 250);
  g_assert_cmpfloat (measured[DYNO_PRESET_EPOCH], ==, 30);
  g_assert_true (isnan (measured[DYNO_PRESET_TRAINING]));
  g_assert_cmpfloat (measured[DYNO_PRESET_VRAM], ==, 1.5);
  g_assert_cmpfloat (measured[DYNO_PRESET_UTILISATION], ==, 75);
  g_assert_cmpfloat (measured[DYNO_PRESET_POWER], ==, 300);
  g_assert_cmpfloat (measured[DYNO_PRESET_ERROR], ==, 4);
  g_assert_true (isnan (measured[DYNO_PRESET_TIMES_CPU]));
  status.state = DYNO_SESSION_FINISHED;
  status.metrics.infos[0].unit = "%";
  dyno_diagnosis_input_measure (&in, &status, measured);
  g_assert_cmpfloat (measured[DYNO_PRESET_TRAINING], ==, 10);
  g_assert_cmpfloat (measured[DYNO_PRESET_ERROR], ==, 6);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tune/diagnosis/ceilings-of-a-search-are-found", test_ceilings_of_a_search);
  g_test_add_func ("/tune/diagnosis/folder-and-view-agree", test_sources);
  g_test_add_func ("/tune/diagnosis/stretches-are-few-and-lose-nothing", test_stretches);
  g_test_add_func ("/tune/diagnosis/epochs-since-the-best", test_epochs);
  g_test_add_func ("/tune/diagnosis/validation-and-losses-of-their-time",
                   test_validation_and_losses);
  g_test_add_func ("/tune/diagnosis/sensors-add-up", test_sensors);
  g_test_add_func ("/tune/diagnosis/each-sensor-has-its-member-and-unit", test_each_sensor);
  g_test_add_func ("/tune/diagnosis/memory-of-the-machine", test_memory_of_the_machine);
  g_test_add_func ("/tune/diagnosis/reasons-of-throttling", test_reasons_of_throttling);
  g_test_add_func ("/tune/diagnosis/facts-of-a-plan", test_plan);
  g_test_add_func ("/tune/diagnosis/measured-in-the-units-of-guides", test_measured);
  return g_test_run ();
}
