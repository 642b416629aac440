/* SPDX-License-Identifier: MIT */
/* The diagnosis of a whole run: phases that add up to its time, a verdict in words, good signs. */
#include "diagnosis-test.h"
#include <math.h>
#include <string.h>

static void
test_healthy (void)
{
  static const char *const good[] = { "gpu-bound", "prepared", "data-ahead", "steady", "learns" };
  Machine m;
  g_autoptr (DynoDiagnosis) d = NULL;

  machine_init (&m);
  d = diagnose (&m);
  for (guint i = 0; i < d->findings->len; i++)
    g_assert_cmpint (((DynoFinding *) d->findings->pdata[i])->level, <=, DYNO_FINDING_NOTE);
  for (guint i = 0; i < G_N_ELEMENTS (good); i++)
    {
      const DynoFinding *finding = dyno_diagnosis_find (d, good[i]);

      g_assert_nonnull (finding);
      g_assert_cmpint (finding->level, ==, DYNO_FINDING_GOOD);
    }
  g_assert_nonnull (dyno_diagnosis_find (d, "device-rates"));
  g_assert_null (d->knob);
  g_assert_true (isnan (d->expected_gain));
  g_assert_cmpfloat_with_epsilon (d->arithmetic_share, 5e9 * 64 / 0.0097 / 50e12, 1e-6);
  g_assert_cmpfloat_with_epsilon (d->bandwidth_share, 2e9 / 0.0097 / 400e9, 1e-6);
}

static void
test_why_not_all (void)
{
  Machine m;
  g_autoptr (DynoDiagnosis) d = NULL;
  const DynoFinding *finding;

  machine_init (&m);
  m.step_ms = 16;
  m.wait_ms = 4;
  d = diagnose (&m);
  finding = dyno_diagnosis_find (d, "why-not-all");
  g_assert_nonnull (finding);
  g_assert_nonnull (strstr (finding->text, "24 % waiting for data"));
  g_assert_nonnull (strstr (finding->text, "copies"));
  g_assert_nonnull (strstr (finding->text, "validation"));
}

static void
test_bad_layer_is_named (void)
{
  Machine m;
  g_autoptr (DynoDiagnosis) d = NULL, samples = NULL;

  machine_init (&m);
  m.n_bad = 5;
  g_strlcpy (m.in.facts.bad_layer, "layer2.0.conv1", sizeof m.in.facts.bad_layer);
  d = diagnose (&m);
  g_assert_nonnull (strstr (dyno_diagnosis_find (d, "not-a-number")->text, "layer2.0.conv1"));
  g_assert_nonnull (strstr (d->verdict, "layer2.0.conv1"));
  g_strlcpy (m.in.facts.bad_layer, "prepare", sizeof m.in.facts.bad_layer);
  samples = dyno_diagnose (&m.in);
  g_assert_nonnull (strstr (samples->verdict, "samples themselves"));
}

static double
sum_of_phases (const DynoPhases *p)
{
  return p->wait_data_ms + p->copy_ms + p->forward_ms + p->backward_ms + p->optimizer_ms
         + p->exchange_ms + p->validation_ms + p->saving_ms + p->idle_ms;
}

static void
test_phases (void)
{
  Machine m;
  g_autoptr (DynoDiagnosis) d = NULL;
  double timed;

  machine_init (&m);
  m.step_ms = 16;
  m.wait_ms = 4;
  m.upload_ms = 1.5;
  d = diagnose (&m);
  timed = m.n - 1; /* the first step is left out */
  g_assert_cmpfloat_with_epsilon (d->phases.wait_data_ms, 4, 1e-9);
  g_assert_cmpfloat_with_epsilon (d->phases.copy_ms, 1.5, 1e-9);
  g_assert_cmpfloat_with_epsilon (d->phases.forward_ms, 3.2, 1e-9);
  g_assert_cmpfloat_with_epsilon (d->phases.idle_ms, 16 - 9.7 - 5.5, 1e-9);
  g_assert_cmpfloat_with_epsilon (d->phases.validation_ms, 4 * 20 / timed, 1e-9);
  /* the saving after the last epoch is later than the log */
  g_assert_cmpfloat_with_epsilon (d->phases.saving_ms, 3 * 5 / timed, 1e-9);
  g_assert_cmpfloat_with_epsilon (sum_of_phases (&d->phases), d->phases.step_ms, 1e-9);
  /* the whole of the run's clock, up to the last validation, without the first step */
  g_assert_cmpfloat_with_epsilon (d->phases.step_ms * timed,
                                  (m.in.log.end_seconds + 0.02) * 1e3 - 16, 1e-6);
}

/* Time that is hidden by computing does not count. */
static void
test_phases_hidden (void)
{
  Machine m;
  g_autoptr (DynoDiagnosis) d = NULL;

  machine_init (&m);
  m.wait_ms = 5;
  m.upload_ms = 5;
  d = diagnose (&m);
  g_assert_cmpfloat_with_epsilon (d->phases.wait_data_ms, 0.3, 1e-9);
  g_assert_cmpfloat_with_epsilon (d->phases.copy_ms, 0, 1e-9);
  g_assert_cmpfloat_with_epsilon (sum_of_phases (&d->phases), d->phases.step_ms, 1e-9);
  g_assert_null (dyno_diagnosis_find (d, "cpu-bound"));
}

/* The ceilings are those of all ranks together; the exchange is a phase; a single process has
 * neither. */
static void
test_ranks (void)
{
  Machine m, alone;
  g_autoptr (DynoDiagnosis) d = NULL, one = NULL;

  machine_init (&m);
  exchange_for (&m, 1.3);
  m.in.facts.wait_ranks_ms = 0.2;
  m.step_ms = 11.5; /* 0.3 ms are idle */
  d = diagnose (&m);
  g_assert_cmpuint (d->ranks, ==, 2);
  g_assert_cmpfloat_with_epsilon (d->phases.exchange_ms, 1.5, 1e-9);
  g_assert_cmpfloat_with_epsilon (d->phases.idle_ms, 0.3, 1e-9);
  g_assert_cmpfloat_with_epsilon (d->exchange_ceiling, 128 / 0.008, 1e-6);
  g_assert_cmpfloat_with_epsilon (d->gpu_ceiling, 128 / 0.0097, 1e-6);
  g_assert_cmpfloat_with_epsilon (d->loader_ceiling, 2 * 8 / 0.0005, 1e-6);
  g_assert_cmpfloat_with_epsilon (d->arithmetic_share, 5e9 * 64 / 0.0097 / 50e12, 1e-6);

  machine_init (&alone);
  alone.in.facts.exchange_wait_ms = 0;
  one = diagnose (&alone);
  g_assert_cmpuint (one->ranks, ==, 1);
  g_assert_true (isnan (one->exchange_ceiling) && one->phases.exchange_ms == 0);
  g_assert_null (dyno_diagnosis_find (one, "exchange-bound"));
}

static void
test_no_timestamps (void)
{
  Machine m;
  g_autoptr (DynoDiagnosis) d = NULL;

  machine_init (&m);
  m.forward_ms = m.backward_ms = m.optimizer_ms = m.upload_ms = 0;
  d = diagnose (&m);
  g_assert_true (isnan (d->gpu_ceiling) && isnan (d->phases.idle_ms));
  g_assert_cmpfloat_with_epsilon (d->rate, 6400, 1e-6);
  g_assert_null (dyno_diagnosis_find (d, "idle"));
  g_assert_nonnull (strstr (d->verdict, "has no timestamps"));
}

static void
test_few_steps (void)
{
  Machine m;
  g_autoptr (DynoDiagnosis) d = NULL;

  machine_init (&m);
  m.n = 4;
  m.n_epochs = 0;
  m.wait_ms = 9;
  d = diagnose (&m);
  g_assert_nonnull (strstr (d->verdict, "Too few steps"));
  g_assert_null (d->knob);
}

/* Memory that the driver keeps is in Vulkan's count and in its heap, and in none of the sensor's
 * figures, so the two are not compared. */
static void
test_counts_of_memory (void)
{
  const double gib = (double) ((guint64) 1 << 30);
  Machine m;
  g_autoptr (DynoDiagnosis) apart = NULL, full = NULL;

  machine_init (&m);
  m.vram_all = (guint64) (7.8 * gib); /* of 8 GiB */
  m.in.sensors.vram_all_most = 7.3 * gib;
  m.in.sensors.vram_total = 7.5 * gib;
  apart = diagnose (&m);
  g_assert_null (dyno_diagnosis_find (apart, "vram-swapped"));
  m.in.sensors.vram_all_most = 7.4 * gib;
  full = dyno_diagnose (&m.in);
  g_assert_nonnull (strstr (dyno_diagnosis_find (full, "vram-swapped")->text, "7.40 GiB of 7.5"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tune/diagnosis/healthy-run-has-good-signs-only", test_healthy);
  g_test_add_func ("/tune/diagnosis/why-not-100-percent", test_why_not_all);
  g_test_add_func ("/tune/diagnosis/bad-layer-is-named", test_bad_layer_is_named);
  g_test_add_func ("/tune/diagnosis/phases-add-up-to-the-wall-time", test_phases);
  g_test_add_func ("/tune/diagnosis/hidden-waits-cost-nothing", test_phases_hidden);
  g_test_add_func ("/tune/diagnosis/ranks-have-a-third-ceiling", test_ranks);
  g_test_add_func ("/tune/diagnosis/device-without-timestamps", test_no_timestamps);
  g_test_add_func ("/tune/diagnosis/few-steps-tell-nothing", test_few_steps);
  g_test_add_func ("/tune/diagnosis/counts-of-memory-have-their-own-totals", test_counts_of_memory);
  return g_test_run ();
}
