/* SPDX-License-Identifier: MIT */
/* The limits of a run: ceilings, the advised change, and the gain that follows from them. */
#include "diagnosis-test.h"
#include <math.h>
#include <string.h>

static void
test_ceilings (void)
{
  Machine m;
  g_autoptr (DynoDiagnosis) d = NULL, measured = NULL;

  machine_init (&m);
  m.in.settings.workers = 4;
  wait_for_data (&m, 10, 1.2);
  d = diagnose (&m);
  g_assert_cmpfloat_with_epsilon (d->rate, 64 / 0.0197, 1e-6);
  g_assert_cmpfloat_with_epsilon (d->loader_ceiling, 4 / 0.0012, 1e-6);
  g_assert_cmpfloat_with_epsilon (d->gpu_ceiling, 64 / 0.0097, 1e-6);
  g_assert_false (d->loader_measured || d->gpu_measured);
  /* 8 workers give 6667, slightly more than the device processes. */
  g_assert_cmpstr (d->knob, ==, "workers");
  g_assert_cmpstr (dyno_diagnosis_find (d, "cpu-bound")->value, ==, "8");
  g_assert_cmpfloat_with_epsilon (d->expected_gain, 19.7 / 9.7 - 1, 1e-6);
  /* With fewer cores the loader stays the limit. */
  m.in.facts.cores = 6;
  measured = dyno_diagnose (&m.in);
  g_assert_cmpstr (dyno_diagnosis_find (measured, "cpu-bound")->value, ==, "6");
  g_assert_cmpfloat_with_epsilon (measured->expected_gain, 6 / 0.0012 / (64 / 0.0197) - 1, 1e-6);
  g_clear_pointer (&measured, dyno_diagnosis_free);
  /* Measured ceilings are used. */
  m.in.loader_ceiling = 5000;
  m.in.gpu_ceiling = 9000;
  measured = dyno_diagnose (&m.in);
  g_assert_true (measured->loader_measured && measured->gpu_measured);
  g_assert_true (measured->loader_ceiling == 5000 && measured->gpu_ceiling == 9000);
  g_clear_pointer (&measured, dyno_diagnosis_free);
  /* A loader ceiling above that of the device is not used, since the device waits for data in spite
   * of it. */
  m.in.loader_ceiling = 20000;
  measured = dyno_diagnose (&m.in);
  g_assert_true (!measured->loader_measured && measured->gpu_measured);
  g_assert_cmpfloat_with_epsilon (measured->loader_ceiling, 4 / 0.0012, 1e-6);
}

/* The advised change where the exchange limits, and its gain for a step of 11 ms. */
static void
test_exchange_advice (void)
{
  static const struct {
    gboolean amp, half;
    guint64 bucket, buckets, fitting;
    const char *key, *value;
    double gain;
  } advices[] = {
    { TRUE, FALSE, 0, 8, 512, "exchange.half", "true", 11 / 9.7 - 1 },
    { TRUE, TRUE, 0, 8, 512, "batch_size", "128", 22 / 20.7 - 1 },
    { FALSE, FALSE, 0, 8, 100, "accumulate", "2", 22 / 20.7 - 1 },
    { TRUE, FALSE, 1 << 30, 2, 512, "exchange.bucket", "0", 0 },
    { TRUE, FALSE, 1 << 20, 8, 512, "exchange.half", "true", 11 / 9.7 - 1 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (advices); i++)
    {
      Machine m;
      g_autoptr (DynoDiagnosis) d = NULL;
      const DynoFinding *finding;

      machine_init (&m);
      exchange_for (&m, 1.3);
      m.in.facts.amp = advices[i].amp;
      m.in.facts.matrix = FALSE; /* with matrix units AMP would be advised too */
      m.in.settings.exchange_half = advices[i].half;
      m.in.settings.exchange_bucket = (gint64) advices[i].bucket;
      m.in.facts.exchange_buckets = advices[i].buckets;
      m.in.facts.fitting_batch = advices[i].fitting;
      d = diagnose (&m);
      finding = dyno_diagnosis_find (d, "exchange-bound");
      g_assert_nonnull (finding);
      g_assert_cmpstr (d->knob, ==, advices[i].key);
      g_assert_cmpstr (finding->value, ==, advices[i].value);
      if (advices[i].gain > 0)
        g_assert_cmpfloat_with_epsilon (d->expected_gain, advices[i].gain, 1e-9);
      else
        g_assert_true (isnan (d->expected_gain));
    }
}

/* The training thread first copies memory that is not page-locked; a copy that is hidden by
 * computing costs nothing. */
static void
test_host_copies_limit (void)
{
  static const double step_ms[] = { 10.9, 9.8 };

  for (guint i = 0; i < G_N_ELEMENTS (step_ms); i++)
    {
      Machine m;
      g_autoptr (DynoDiagnosis) d = NULL;
      const DynoFinding *finding;

      machine_init (&m);
      m.in.settings.pinned = FALSE;
      m.upload_ms = 0.2;
      m.host_copy_ms = 1;
      m.step_ms = step_ms[i];
      d = diagnose (&m);
      finding = dyno_diagnosis_find (d, "transfer-bound");
      g_assert_cmpstr (finding ? finding->key : NULL, ==, i == 0 ? "pinned" : NULL);
      g_assert_cmpfloat_with_epsilon (d->phases.copy_ms, i == 0 ? 1.2 : 0.1, 1e-6);
    }
}

/* Files that are cached by now cost no more time, but copies still do. */
static void
test_copies_limit_longer_than_the_first_epoch (void)
{
  Machine m;
  g_autoptr (DynoDiagnosis) d = NULL;

  machine_init (&m);
  wait_for_data (&m, 10, 5);
  m.wait_until = 0.6;
  m.in.settings.pinned = FALSE;
  m.upload_ms = 3;
  m.step_ms += 3;
  d = diagnose (&m);
  g_assert_nonnull (dyno_diagnosis_find (d, "waited-at-first"));
  g_assert_cmpstr (d->knob, ==, "pinned");
  g_assert_true (g_str_has_prefix (d->verdict, dyno_diagnosis_find (d, "transfer-bound")->text));
}

/* Measurements of a search at larger batches decide; otherwise the share of the device's own rates;
 * and without these, kernels that take hardly longer than their start. */
static void
test_small_batch_by_what_is_known (void)
{
  static const struct {
    guint64 larger_batch, dispatches;
    double larger, arithmetic,
        step_ms;               /* the device computes 64 samples in 9.7 ms: 6,598 a second */
    const char *value, *words; /* NULL: not a small batch */
  } rows[] = {
    { 256, 200, 7300, 0.1, 10, "256", "a search measured 7,300 at batch 256" },
    { 256, 200, 7200, 0.1, 10, NULL, NULL }, /* on the plateau, whatever its FLOPs */
    { 0, 200, NAN, 0.29, 10, "128", "29 % of its arithmetic rate" },
    { 0, 1000, NAN, 0.31, 10, NULL, NULL },
    { 0, 590, NAN, NAN, 10, "128", "the 590 kernels of a batch take 16.4 µs each" },
    { 0, 570, NAN, NAN, 10, NULL, NULL },
    { 256, 590, 12000, NAN, 13, NULL, NULL }, /* the device does not limit */
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      Machine m;
      g_autoptr (DynoDiagnosis) d = NULL;
      const DynoFinding *finding;

      machine_init (&m);
      m.step_ms = rows[i].step_ms;
      m.in.larger_batch = rows[i].larger_batch;
      m.in.larger_ceiling = rows[i].larger;
      m.in.facts.batch_dispatches = rows[i].dispatches;
      m.in.facts.batch_bytes = 1e9;
      m.in.facts.flops_per_sample =
          (isnan (rows[i].arithmetic) ? 0.1 : rows[i].arithmetic) * 50e12 * 0.0097 / 64;
      if (isnan (rows[i].arithmetic))
        m.in.facts.matrix_flops_per_s = m.in.facts.single_flops_per_s =
            m.in.facts.copy_bytes_per_s = 0;
      d = diagnose (&m);
      finding = dyno_diagnosis_find (d, "small-batch");
      g_test_message ("%u: %s", i, d->verdict);
      g_assert_cmpstr (finding ? finding->value : NULL, ==, rows[i].value);
      if (!finding)
        continue;
      g_assert_nonnull (strstr (finding->text, rows[i].words));
      g_assert_nonnull (strstr (finding->text, "up to 512 would fit"));
      g_assert_true (g_str_has_prefix (d->verdict, finding->text));
      if (rows[i].larger > 0)
        g_assert_cmpfloat_with_epsilon (d->expected_gain, 7300 / 6400.0 - 1, 1e-6);
    }
}

/* Workers beyond the number of cores read in parallel, but do not decode in parallel. */
static void
test_cores_bound_the_loader (void)
{
  Machine m;
  g_autoptr (DynoDiagnosis) decoding = NULL, reading = NULL, ahead = NULL, alone = NULL;

  machine_init (&m);
  m.in.settings.workers = 64;
  wait_for_data (&m, 10, 5);
  m.workers = 64;
  decoding = diagnose (&m);
  g_assert_cmpfloat_with_epsilon (decoding->rate, 64 / 0.0197, 1e-6);
  /* 16 cores at 5 ms, and not 64 workers: the measured rate of the run is higher */
  g_assert_cmpfloat_with_epsilon (decoding->loader_ceiling, decoding->rate, 1e-6);
  g_assert_nonnull (strstr (decoding->verdict, "64 workers can decode"));
  machine_init (&m);
  m.in.settings.workers = 2;
  wait_for_data (&m, 10, 8);
  m.batch = m.in.settings.batch_size = 4;
  m.fetch_ms = 5;
  m.in.facts.cores = 1;
  reading = diagnose (&m);
  /* 8 ms, with 3 ms of decoding: 250 a second with two workers, and at most 333 with any number */
  g_assert_cmpfloat_with_epsilon (reading->loader_ceiling, 250, 1e-6);
  g_assert_cmpstr (dyno_diagnosis_find (reading, "disk-bound")->value, ==, "4");
  g_assert_cmpfloat_with_epsilon (reading->expected_gain, 1000 / 3.0 / (4 / 0.0197) - 1, 1e-6);
  /* A run whose device waits in spite of the loader's ceiling is not advised to stay as it is. */
  machine_init (&m);
  m.in.settings.workers = 2;
  wait_for_data (&m, 10, 0.1);
  m.fetch_ms = 0.09;
  ahead = diagnose (&m);
  g_assert_cmpstr (dyno_diagnosis_find (ahead, "disk-bound")->value, ==, "3");
  machine_init (&m);
  m.in.settings.workers = m.workers = 0;
  wait_for_data (&m, 10, 1.2);
  m.workers = 0;
  alone = diagnose (&m);
  g_assert_nonnull (strstr (alone->verdict, "the training thread itself can decode"));
  g_assert_cmpstr (alone->knob, ==, "workers");
}

/* The finding "little is left for others" does not apply if the memory is exceeded. */
static void
test_what_does_not_fit_is_not_tight (void)
{
  Machine m;
  g_autoptr (DynoDiagnosis) full = NULL, over = NULL;

  machine_init (&m);
  m.in.facts.planned_bytes = m.in.facts.limit_bytes;
  full = diagnose (&m);
  g_assert_nonnull (dyno_diagnosis_find (full, "memory-tight"));
  m.in.facts.planned_bytes++;
  over = dyno_diagnose (&m.in);
  g_assert_null (dyno_diagnosis_find (over, "memory-tight"));
}

/* Workers that wait for a disk share no core: the tuner tries more of them, and the diagnosis
 * agrees. */
static void
test_reading_workers_share_no_core (void)
{
  static const struct {
    double fetch_ms, cpu_busy;
    const char *value; /* the advised number; NULL: no advice */
  } shares[] = {
    { 4, NAN, NULL },  /* of 5 ms: 12.8 of 64 workers decode at the same time */
    { 3, NAN, "40" },  /* 25.6 decode at the same time */
    { 4, 0.97, "16" }, /* reading takes CPU time: no core is idle */
    { 4, 0.9, NULL },  { 0, NAN, "16" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (shares); i++)
    {
      Machine m;
      g_autoptr (DynoDiagnosis) d = NULL;
      const DynoFinding *finding;

      machine_init (&m);
      m.in.settings.workers = 64;
      wait_for_data (&m, 10, 5);
      m.workers = 64;
      m.fetch_ms = shares[i].fetch_ms;
      m.in.sensors.cpu_busy = shares[i].cpu_busy;
      d = diagnose (&m);
      finding = dyno_diagnosis_find (d, "workers-above-cores");
      g_assert_cmpstr (finding ? finding->value : NULL, ==, shares[i].value);
      g_assert_true (!finding || !strstr (finding->action, "unless"));
      g_assert_true ((dyno_diagnosis_find (d, "prepared") != NULL) == (shares[i].value == NULL));
    }
}

/* The pipeline either limits now or limited earlier, not both; a pipeline that decodes many times
 * the rate of the device never limits. */
static void
test_what_is_waited_for_limits_now (void)
{
  Machine m;
  g_autoptr (DynoDiagnosis) first = NULL, throughout = NULL, fast = NULL;

  machine_init (&m);
  wait_for_data (&m, 10, 5);
  throughout = diagnose (&m);
  g_assert_nonnull (dyno_diagnosis_find (throughout, "cpu-bound"));
  g_assert_null (dyno_diagnosis_find (throughout, "waited-at-first"));
  machine_init (&m);
  wait_for_data (&m, 10, 5);
  m.wait_until = 0.6;
  first = diagnose (&m);
  g_assert_null (dyno_diagnosis_find (first, "cpu-bound"));
  g_assert_nonnull (dyno_diagnosis_find (first, "waited-at-first"));
  machine_init (&m);
  wait_for_data (&m, 2, 0.01); /* 8 workers: 800,000 samples/s, the device 6,600 */
  fast = diagnose (&m);
  g_assert_null (dyno_diagnosis_find (fast, "cpu-bound"));
  g_assert_null (strstr (fast->verdict, "data pipeline"));
}

/* With as many workers as cores, the cache is advised, then smaller images. */
static void
test_cpu_bound_without_cores (void)
{
  Machine m;
  g_autoptr (DynoDiagnosis) cached = NULL, crops = NULL, cpu = NULL, small = NULL;

  machine_init (&m);
  m.in.settings.workers = 16;
  wait_for_data (&m, 10, 5);
  m.in.facts.sample_bytes = 1000;
  cached = diagnose (&m);
  g_assert_cmpstr (cached->knob, ==, "cache");
  g_assert_cmpfloat_with_epsilon (cached->expected_gain, 19.7 / 9.7 - 1, 1e-6);
  g_assert_nonnull (
      strstr (dyno_diagnosis_find (cached, "cpu-bound")->action, "% from the second"));
  /* Crops of the source files differ in each epoch. */
  m.in.settings.augment_crop = 0.5;
  m.in.settings.augment_crop_from = DYNO_CROP_FROM_SOURCE;
  crops = dyno_diagnose (&m.in);
  g_assert_cmpstr (crops->knob, !=, "cache");
  m.in.settings.augment_crop = 0;
  /* A CPU that also decodes trains faster without the crops. */
  m.in.facts.software = TRUE;
  cpu = dyno_diagnose (&m.in);
  g_assert_nonnull (strstr (dyno_diagnosis_find (cpu, "cpu-bound")->action, "% or more from"));
  m.in.facts.software = FALSE;
  m.in.settings.cache = TRUE;
  small = dyno_diagnose (&m.in);
  g_assert_cmpstr (small->knob, ==, "image_size");
}

/* The gain of AMP is limited by the loader. */
static void
test_amp_gain (void)
{
  Machine m;
  g_autoptr (DynoDiagnosis) free_loader = NULL, slow_loader = NULL, unmeasured = NULL;

  machine_init (&m);
  m.in.facts.amp = m.in.settings.amp = FALSE;
  m.in.facts.matrix_flops_per_s = 20e12;
  m.in.facts.batch_bytes = 1e9;
  free_loader = diagnose (&m); /* 8 workers at 0.5 ms: 16000 samples/s */
  g_assert_cmpfloat_with_epsilon (free_loader->expected_gain, 1, 1e-6);
  m.in.loader_ceiling = 6400 * 1.5;
  slow_loader = dyno_diagnose (&m.in);
  g_assert_cmpfloat_with_epsilon (slow_loader->expected_gain, 0.5, 1e-6);
  /* The rates of the device were not measured: the advice stays, the gain is unknown. */
  m.in.facts.single_flops_per_s = m.in.facts.matrix_flops_per_s = 0;
  unmeasured = dyno_diagnose (&m.in);
  g_assert_cmpstr (unmeasured->knob, ==, "amp");
  g_assert_true (isnan (unmeasured->expected_gain));
  g_assert_nonnull (strstr (unmeasured->verdict, "gain unknown"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tune/diagnosis/ceilings-give-the-gain", test_ceilings);
  g_test_add_func ("/tune/diagnosis/exchange-advice-follows-the-settings", test_exchange_advice);
  g_test_add_func ("/tune/diagnosis/host-copies-limit", test_host_copies_limit);
  g_test_add_func ("/tune/diagnosis/copies-limit-longer-than-the-first-epoch",
                   test_copies_limit_longer_than_the_first_epoch);
  g_test_add_func ("/tune/diagnosis/small-batch-by-what-is-known",
                   test_small_batch_by_what_is_known);
  g_test_add_func ("/tune/diagnosis/cores-bound-what-workers-decode", test_cores_bound_the_loader);
  g_test_add_func ("/tune/diagnosis/what-does-not-fit-is-not-tight",
                   test_what_does_not_fit_is_not_tight);
  g_test_add_func ("/tune/diagnosis/workers-that-wait-for-a-disk-share-no-core",
                   test_reading_workers_share_no_core);
  g_test_add_func ("/tune/diagnosis/what-is-waited-for-limits-now",
                   test_what_is_waited_for_limits_now);
  g_test_add_func ("/tune/diagnosis/no-more-workers-than-cores", test_cpu_bound_without_cores);
  g_test_add_func ("/tune/diagnosis/amp-brings-what-the-loader-gives", test_amp_gain);
  return g_test_run ();
}
