/* SPDX-License-Identifier: MIT */
/* Rates from the events of a run, by the clock of the test: the predicted rate is the run's
 * rate. */
#include "runmeter.h"
#include <math.h>
#include <string.h>

#define BATCH 10

/* The timing of a simulated run, and its clock. */
typedef struct {
  guint64 steps_per_epoch;
  double step_s, first_step_s, validation_s, saving_s;
  guint64 n_validation;
  double clock_s;
  guint64 step, epoch, validated;
} Run;

static void
report_step (Run *run, DynoRunMeasure *m, double seconds)
{
  DynoStepMetrics step = { .step = ++run->step,
                           .epoch = run->epoch,
                           .samples = BATCH,
                           .step_ms = seconds * 1e3,
                           .wait_data_ms = seconds * 1e3 / 4,
                           .loss = 1,
                           .vram_bytes = 1000 + run->step % 3 };

  step.seconds = run->clock_s += seconds;
  dyno_run_measure_step (m, &step);
}

/* steps: fewer than in an epoch if it ends early; validated: the number of samples of its
 * validation. */
static void
report_epoch (Run *run, DynoRunMeasure *m, guint64 steps, guint64 validated)
{
  double share = (double) validated / (double) MAX (run->n_validation, 1);
  DynoEpochMetrics epoch = { .validation_seconds = run->validation_s * share };

  run->epoch++;
  for (guint64 i = 0; i < steps; i++)
    report_step (run, m, i == 0 ? run->first_step_s : run->step_s);
  run->clock_s += epoch.validation_seconds;
  dyno_run_measure_epoch (m, &epoch, validated);
  run->clock_s += run->saving_s;
}

static double
epoch_seconds (const Run *run)
{
  return run->first_step_s + (double) (run->steps_per_epoch - 1) * run->step_s + run->validation_s
         + run->saving_s;
}

static void
begin (DynoRunMeasure *m, const Run *run)
{
  *m = (DynoRunMeasure){ .n_used = run->steps_per_epoch * BATCH,
                         .n_validation = run->n_validation,
                         .steps_per_epoch = run->steps_per_epoch,
                         .steps = { .length_s = 0.02 },
                         .epochs = { .length_s = 0.02 } };
}

static void
check_run_rate (const DynoMeasurement *r, const Run *run)
{
  double real = (double) (run->steps_per_epoch * BATCH) / epoch_seconds (run);

  g_assert_cmpfloat (fabs (r->run_rate.median / real - 1), <, 0.01);
  g_assert_cmpfloat (r->run_rate.low, <=, real);
  g_assert_cmpfloat (r->run_rate.high, >=, real);
}

/* Epochs of 1 to 30 steps, all of them much shorter than the measurement. */
static void
test_short_epochs (void)
{
  for (guint64 steps = 1; steps <= 30; steps = steps * 3 / 2 + 1)
    {
      Run run = { .steps_per_epoch = steps,
                  .step_s = 0.01,
                  .first_step_s = 0.03,
                  .validation_s = 0.05,
                  .saving_s = 0.02,
                  .n_validation = 25 };
      DynoRunMeasure m;
      DynoMeasurement r;

      begin (&m, &run);
      for (guint i = 0; i < 60; i++)
        report_epoch (&run, &m, steps, 25);
      report_step (&run, &m, 0.01);
      dyno_measurement_init (&r);
      dyno_run_measure_get (&m, &r);
      check_run_rate (&r, &run);
      g_assert_cmpfloat (fabs (r.validation_rate - 500), <, 1e-6);
      if (steps >= 4)
        {
          g_assert_cmpfloat (fabs (r.rate.median - 1000), <, 1);
          g_assert_cmpfloat (fabs (r.epoch_overhead_s - 0.04), <, 1e-3);
          g_assert_cmpfloat (fabs (r.step_ms - 10), <, 1e-6);
          g_assert_cmpfloat (fabs (r.wait_data_ms - 2.5), <, 1e-6);
        }
      g_assert_cmpuint (r.vram_bytes, ==, 1002);
    }
}

/* One epoch ends during the measurement. */
static void
test_one_epoch (void)
{
  Run run = { .steps_per_epoch = 100,
              .step_s = 0.01,
              .first_step_s = 0.05,
              .validation_s = 0.4,
              .saving_s = 0.1,
              .n_validation = 250 };
  DynoRunMeasure m;
  DynoMeasurement r;

  begin (&m, &run);
  report_epoch (&run, &m, 100, 250);
  run.epoch++;
  report_step (&run, &m, 0.05);
  for (guint i = 0; i < 20; i++)
    report_step (&run, &m, 0.01);
  dyno_measurement_init (&r);
  dyno_run_measure_get (&m, &r);
  check_run_rate (&r, &run);
}

/* An epoch of an hour is ended early with a part of its validation, and does not count as a whole
 * one. */
static void
test_early_end (void)
{
  Run run = { .steps_per_epoch = 360000,
              .step_s = 0.01,
              .first_step_s = 0.05,
              .validation_s = 900,
              .saving_s = 2,
              .n_validation = 90000 };
  DynoRunMeasure m;
  DynoMeasurement r;

  begin (&m, &run);
  report_epoch (&run, &m, 150, 40);
  run.epoch++;
  report_step (&run, &m, 0.05);
  for (guint i = 0; i < 20; i++)
    report_step (&run, &m, 0.01);
  dyno_measurement_init (&r);
  dyno_run_measure_get (&m, &r);
  g_assert_cmpfloat (fabs (r.validation_rate - 100), <, 1e-6);
  g_assert_cmpuint (m.epochs.n, ==, 0);
  check_run_rate (&r, &run);
}

/* 16 of 40 samples were decoded before the measurement, so the time is that of the others.  In a
 * whole validation all count. */
static void
test_decoded_ahead (void)
{
  Run run = { .steps_per_epoch = 100,
              .step_s = 0.01,
              .first_step_s = 0.01,
              .validation_s = 9,
              .n_validation = 400 };
  DynoRunMeasure m;
  DynoMeasurement r;

  begin (&m, &run);
  m.n_ahead = 16;
  report_epoch (&run, &m, 20, 40);
  dyno_measurement_init (&r);
  dyno_run_measure_get (&m, &r);
  g_assert_cmpfloat (fabs (r.validation_rate - 24 / 0.9), <, 1e-6);
  begin (&m, &run);
  m.n_ahead = 16;
  report_epoch (&run, &m, 100, 400);
  dyno_run_measure_get (&m, &r);
  g_assert_cmpfloat (fabs (r.validation_rate - 400 / 9.0), <, 1e-6);
}

/* The second epoch is ended early. */
static void
test_early_end_of_another (void)
{
  Run run = { .steps_per_epoch = 100,
              .step_s = 0.01,
              .first_step_s = 0.01,
              .validation_s = 0.5,
              .n_validation = 250 };
  DynoRunMeasure m;
  DynoMeasurement r;

  begin (&m, &run);
  report_epoch (&run, &m, 100, 250);
  report_epoch (&run, &m, 20, 50);
  run.epoch++;
  report_step (&run, &m, 0.01);
  dyno_measurement_init (&r);
  dyno_run_measure_get (&m, &r);
  g_assert_cmpuint (m.epochs.n, ==, 0);
  g_assert_cmpfloat (fabs (r.validation_rate - 500), <, 1e-6);
  check_run_rate (&r, &run);
}

/* No epoch has ended, so the rate is that of training only. */
static void
test_no_end (void)
{
  Run run = { .steps_per_epoch = 1000, .n_validation = 100, .epoch = 1 };
  DynoRunMeasure m;
  DynoMeasurement r;

  begin (&m, &run);
  report_step (&run, &m, 20); /* loading and compilation */
  for (guint i = 0; i < 50; i++)
    report_step (&run, &m, 0.01);
  dyno_measurement_init (&r);
  dyno_run_measure_get (&m, &r);
  g_assert_cmpfloat (fabs (r.rate.median - 1000), <, 1e-6);
  g_assert_cmpfloat (fabs (r.run_rate.median - 1000), <, 1e-6);
  g_assert_cmpuint (r.steps, ==, 50);
  g_assert_true (isnan (r.epoch_overhead_s) && isnan (r.validation_rate));
}

/* The time ended after two steps: the step that counts gives a rate with a large uncertainty. */
static void
test_least (void)
{
  Run run = { .steps_per_epoch = 1000, .n_validation = 100, .epoch = 1 };
  DynoRunMeasure m;
  DynoMeasurement r;

  begin (&m, &run);
  report_step (&run, &m, 20);
  dyno_run_measure_end (&m);
  g_assert_cmpuint (m.steps.n, ==, 0);
  report_step (&run, &m, 0.01);
  g_assert_cmpuint (m.steps.n, ==, 0);
  dyno_run_measure_end (&m);
  dyno_measurement_init (&r);
  dyno_run_measure_get (&m, &r);
  g_assert_cmpfloat (fabs (r.rate.median - 1000), <, 1e-6);
  g_assert_cmpfloat (r.rate.high / r.rate.low, >, 3);
  g_assert_cmpuint (r.steps, ==, 1);
}

/* Only the epochs after the one in which a cache is filled count; an epoch that was ended early has
 * not filled the cache. */
static void
test_filling (void)
{
  Run slow = { .steps_per_epoch = 100,
               .step_s = 0.2,
               .first_step_s = 0.4,
               .validation_s = 5,
               .saving_s = 0.1,
               .n_validation = 250 };
  Run run = { .steps_per_epoch = 100,
              .step_s = 0.01,
              .first_step_s = 0.05,
              .validation_s = 0.4,
              .saving_s = 0.1,
              .n_validation = 250 };
  DynoRunMeasure m;
  DynoMeasurement r;

  begin (&m, &slow);
  m.fills = TRUE;
  report_epoch (&slow, &m, 20, 50);
  report_epoch (&slow, &m, 10, 50);
  dyno_measurement_init (&r);
  dyno_run_measure_get (&m, &r);
  g_assert_true (r.filling);
  g_assert_cmpfloat (fabs (r.rate.median - 50), <, 1e-6);
  report_epoch (&slow, &m, 100, 250);
  g_assert_cmpuint (m.steps.n + m.epochs.n + m.n_epochs + m.n_validated, ==, 0);
  run.clock_s = slow.clock_s;
  report_epoch (&run, &m, 100, 250);
  run.epoch++;
  report_step (&run, &m, 0.05);
  for (guint i = 0; i < 20; i++)
    report_step (&run, &m, 0.01);
  dyno_run_measure_get (&m, &r);
  g_assert_false (r.filling);
  g_assert_cmpfloat (fabs (r.rate.median - 1000), <, 1);
  g_assert_cmpfloat (fabs (r.validation_rate - 625), <, 1e-6);
  g_assert_cmpuint (r.vram_bytes, ==, 1002);
  check_run_rate (&r, &run);
}

/* The time that would suffice is reported where it can be known. */
static void
test_late (void)
{
  static const struct {
    guint64 steps;
    const char *what;
    guint done, total;
    double spent_s;
    const char *words[3], *without;
  } cases[] = {
    { 0, "compile", 12, 40, 28.5, { "12 of 40 in 28 s", "about 95 s", "2.5 minutes" }, NULL },
    { 0, "compile", 30, 40, 3, { "30 of 40", "about 4 s", "it 1.5 minutes" }, NULL },
    { 0, "compile", 0, 40, 0, { "0 of 40", "are kept", "more minutes" }, "about" },
    { 0, "compile", 40, 40, 9, { "first step", "are kept", "more minutes" }, "40" },
    { 0, NULL, 0, 0, 0, { "first step", "are kept", "more minutes" }, "about" },
    { 1, "compile", 40, 40, 9, { "after 1 step,", "enough", "more minutes" }, "40" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = dyno_run_meter_make_late_error (
          cases[i].steps, cases[i].what, cases[i].done, cases[i].total, cases[i].spent_s);

      g_test_message ("%s", error->message);
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT);
      for (guint k = 0; k < G_N_ELEMENTS (cases[i].words); k++)
        g_assert_nonnull (strstr (error->message, cases[i].words[k]));
      g_assert_true (!cases[i].without || !strstr (error->message, cases[i].without));
    }
}

/* A host that waits for data while the device still computes delays nothing. */
static void
test_hidden_waiting_is_none (void)
{
  static const double cases[][3] = {
    { 58, 90, 10 }, { 58, 30, 58 }, { 58, 0, 58 }, { 140, 0, 100 }, { 58, 120, 0 }
  }; /* waited, computed, stalled */

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      DynoRunMeasure m = { .n_used = 1000 };
      DynoMeasurement r;

      dyno_measurement_init (&r);
      for (guint k = 1; k <= 4; k++)
        {
          DynoStepMetrics step = { .step = k,
                                   .samples = BATCH,
                                   .step_ms = 100,
                                   .wait_data_ms = cases[i][0],
                                   .forward_ms = 0.3 * cases[i][1],
                                   .backward_ms = 0.6 * cases[i][1],
                                   .optimizer_ms = 0.1 * cases[i][1],
                                   .seconds = 0.1 * k,
                                   .loss = 1 };

          dyno_run_measure_step (&m, &step);
        }
      dyno_run_measure_get (&m, &r);
      g_assert_cmpfloat_with_epsilon (r.wait_data_ms, cases[i][2], 1e-9);
    }
}

/* Training that waits for its data predicts the time of validation, if this would be long. */
static void
test_held_up (void)
{
  Run run = { .steps_per_epoch = 100,
              .step_s = 0.5,
              .first_step_s = 0.5,
              .validation_s = 25.0 / BATCH * 0.5,
              .n_validation = 25 };
  DynoRunMeasure m;
  DynoMeasurement r;

  begin (&m, &run);
  g_assert_false (dyno_run_measure_is_held_up (&m, 1000, 0)); /* without measurements */
  run.epoch++;
  for (guint i = 0; i < 5; i++)
    report_step (&run, &m, 0.5);
  g_assert_false (dyno_run_measure_is_held_up (&m, 9, 1)); /* a quarter of the time is waiting */
  m.wait_ms = 0.51 * m.step_ms;
  g_assert_true (dyno_run_measure_is_held_up (&m, 9, 4.4));
  g_assert_false (dyno_run_measure_is_held_up (&m, 9, 4.6));
  dyno_measurement_init (&r);
  dyno_run_measure_get (&m, &r);
  g_assert_true (isnan (r.validation_rate) && isnan (r.epoch_overhead_s));
  m.held_up = TRUE;
  dyno_measurement_init (&r);
  dyno_run_measure_get (&m, &r);
  g_assert_cmpfloat (r.validation_rate, ==, r.rate.median);
  g_assert_cmpfloat (r.epoch_overhead_s, ==, 0);
  check_run_rate (&r, &run);
}

/* Values that were not measured are not known, rather than 0. */
static void
test_nothing_is_measured_at_first (void)
{
  DynoMeasurement m;

  memset (&m, 0x55, sizeof m);
  dyno_measurement_init (&m);
  const DynoEstimate *estimates[] = { &m.rate, &m.run_rate };
  for (guint i = 0; i < G_N_ELEMENTS (estimates); i++)
    g_assert_true (isnan (estimates[i]->median) && isnan (estimates[i]->low)
                   && isnan (estimates[i]->high) && estimates[i]->n == 0);
  g_assert_true (isnan (m.outside_cpu) && isnan (m.epoch_overhead_s) && isnan (m.validation_rate)
                 && isnan (m.prepare_s));
  g_assert_true (m.step_ms == 0 && m.wait_data_ms == 0 && m.vram_bytes == 0 && m.steps == 0
                 && m.n_samples == 0 && m.n_unreadable == 0 && !m.filling && m.fill_s == 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tune/runmeter/nothing-is-measured-at-first",
                   test_nothing_is_measured_at_first);
  g_test_add_func ("/tune/runmeter/hidden-waiting-is-none", test_hidden_waiting_is_none);
  g_test_add_func ("/tune/runmeter/short-epochs", test_short_epochs);
  g_test_add_func ("/tune/runmeter/one-epoch", test_one_epoch);
  g_test_add_func ("/tune/runmeter/epoch-ended-early", test_early_end);
  g_test_add_func ("/tune/runmeter/second-epoch-ended-early", test_early_end_of_another);
  g_test_add_func ("/tune/runmeter/what-was-decoded-before-validation", test_decoded_ahead);
  g_test_add_func ("/tune/runmeter/filling-a-cache-does-not-count", test_filling);
  g_test_add_func ("/tune/runmeter/no-end-of-an-epoch", test_no_end);
  g_test_add_func ("/tune/runmeter/held-up-by-its-data", test_held_up);
  g_test_add_func ("/tune/runmeter/late-says-what-would-suffice", test_late);
  g_test_add_func ("/tune/runmeter/one-step-tells-something", test_least);
  return g_test_run ();
}
