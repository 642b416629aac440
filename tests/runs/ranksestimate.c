/* SPDX-License-Identifier: MIT */
/* The model of a step of several ranks, and the rates that it uses. */
#include "ranksestimate.h"
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

static const DynoExchangeRate link_rate = { 2, 1, 1e-5, 1e9 };

static void
test_seconds (void)
{
  g_assert_cmpfloat (dyno_exchange_seconds (&link_rate, 1, 1 << 20), ==, 0);
  g_assert_cmpfloat (dyno_exchange_seconds (&link_rate, 8, 0), ==, 0);
  /* one message to each of the three others */
  g_assert_cmpfloat_with_epsilon (dyno_exchange_seconds (&link_rate, 4, 1000), 3 * (1e-5 + 1e-6),
                                  1e-12);
  /* the largest message that is sent in one piece, and the smallest that is not */
  g_assert_cmpfloat_with_epsilon (dyno_exchange_seconds (&link_rate, 4, 8192), 3 * (1e-5 + 8192e-9),
                                  1e-12);
  g_assert_cmpfloat_with_epsilon (dyno_exchange_seconds (&link_rate, 4, 8193),
                                  2 * 3 * 1e-5 + 1.5 * 8193e-9, 1e-12);
  /* two pieces, each of two rounds; 2 * 3/4 of the bytes */
  g_assert_cmpfloat_with_epsilon (dyno_exchange_seconds (&link_rate, 4, 8 << 20),
                                  2 * 3 * 2 * 1e-5 + 1.5 * (8 << 20) * 1e-9, 1e-9);
}

/* What is measured is the rate that takes so long, whether messages or bytes take the time. */
static void
test_fitted (void)
{
  static const DynoExchangeRate rates[] = { { 2, 0, 5e-6, 1e10 },
                                            { 4, 0, 1e-4, 1e9 },
                                            { 8, 0, 1e-3, 1e10 } };

  for (guint i = 0; i < G_N_ELEMENTS (rates); i++)
    {
      const DynoExchangeRate *rate = &rates[i];
      DynoExchangeRate found = dyno_exchange_fit (
          rate->ranks, dyno_exchange_seconds (rate, rate->ranks, DYNO_EXCHANGE_SMALL),
          dyno_exchange_seconds (rate, rate->ranks, DYNO_EXCHANGE_LARGE));

      g_assert_cmpuint (found.ranks, ==, rate->ranks);
      g_assert_cmpfloat_with_epsilon (found.latency_s / rate->latency_s, 1, 0.03);
      g_assert_cmpfloat_with_epsilon (found.bytes_per_s / rate->bytes_per_s, 1, 0.03);
    }
}

static void
test_kept (void)
{
  const DynoExchangeRate two = { 2, 1, 1e-6, 2e9 }, sixteen = { 16, 2, 3e-6, 3e9 };
  DynoExchangeRate found, across;

  g_assert_cmpint (dyno_exchange_load (2, 1, &found), ==, DYNO_EXCHANGE_ASSUMED);
  g_assert_cmpfloat (found.bytes_per_s, >, 0);
  /* A network is slower than memory, from two hosts on. */
  for (guint hosts = 2; hosts <= 4; hosts++)
    {
      g_assert_cmpint (dyno_exchange_load (4, hosts, &across), ==, DYNO_EXCHANGE_ASSUMED);
      g_assert_cmpfloat (across.bytes_per_s, <, found.bytes_per_s / 2);
      g_assert_cmpfloat (across.latency_s, >, found.latency_s);
    }
  dyno_exchange_keep (&two);
  dyno_exchange_keep (&sixteen);
  g_assert_cmpint (dyno_exchange_load (2, 1, &found), ==, DYNO_EXCHANGE_MEASURED);
  g_assert_cmpfloat (found.bytes_per_s, ==, 2e9);
  g_assert_cmpint (dyno_exchange_load (8, 1, &found), ==, DYNO_EXCHANGE_EXTRAPOLATED);
  g_assert_cmpfloat (found.latency_s, ==, 1e-6);
  g_assert_cmpint (dyno_exchange_load (64, 8, &found), ==, DYNO_EXCHANGE_EXTRAPOLATED);
  g_assert_cmpfloat (found.bytes_per_s, ==, 3e9);
}

/* Rates of ranks that each had a host of their own apply to the same ranks on fewer hosts. */
static void
test_kept_of_a_host_each (void)
{
  const DynoExchangeRate three = { 3, 3, 5e-6, 5e8 };
  DynoExchangeRate found;

  dyno_exchange_keep (&three);
  g_assert_cmpint (dyno_exchange_load (3, 2, &found), ==, DYNO_EXCHANGE_EXTRAPOLATED);
  g_assert_cmpuint (found.ranks, ==, 3);
  g_assert_cmpuint (found.hosts, ==, 3);
  g_assert_cmpfloat (found.bytes_per_s, ==, 5e8);
}

/* Of two numbers of ranks that are equally near the smaller is taken. */
static void
test_nearest (void)
{
  const DynoExchangeRate fewer = { 21, 1, 7e-6, 7e8 }, more = { 23, 1, 8e-6, 8e8 };
  DynoExchangeRate found;

  dyno_exchange_keep (&more);
  dyno_exchange_keep (&fewer);
  g_assert_cmpint (dyno_exchange_load (22, 1, &found), ==, DYNO_EXCHANGE_EXTRAPOLATED);
  g_assert_cmpuint (found.ranks, ==, 21);
  g_assert_cmpint (dyno_exchange_load (24, 1, &found), ==, DYNO_EXCHANGE_EXTRAPOLATED);
  g_assert_cmpuint (found.ranks, ==, 23);
}

/* The time that the copies of a card to and from the host add to a step. */
static double
host_copies (guint64 size_bytes)
{
  return 3.7e-4 + (double) size_bytes / 6.3e10;
}

/* All gradients of a small network are exchanged after the backward pass, with half the bytes in
 * fp16. */
static void
test_one_bucket (void)
{
  g_autoptr (DynoJob) job = dyno_job_new ();
  DynoJobPlan plan = { 0 };
  DynoRanksEstimate e, half;

  job->settings.amp = TRUE;
  plan.plan.kind_bytes[DYNO_MEMORY_GRADIENTS] = 4 << 20;
  dyno_ranks_estimate (&e, job, &plan, FALSE, 2, 1, 0.1);
  g_assert_true (e.one_bucket);
  g_assert_cmpfloat (e.exposed_seconds, >, e.exchange_seconds);
  dyno_ranks_estimate (&half, job, &plan, FALSE, 1, 1, 0.1);
  g_assert_false (half.one_bucket);
  plan.plan.kind_bytes[DYNO_MEMORY_GRADIENTS] = 8 << 20;
  dyno_ranks_estimate (&e, job, &plan, FALSE, 2, 1, 0.1);
  g_assert_false (e.one_bucket);
  job->settings.exchange_half = TRUE;
  dyno_ranks_estimate (&half, job, &plan, FALSE, 2, 1, 0.1);
  g_assert_false (half.one_bucket);
  g_assert_cmpuint (2 * half.exchange_bytes, ==, e.exchange_bytes);
  g_assert_cmpfloat_with_epsilon (half.exposed_seconds,
                                  dyno_exchange_seconds (&half.rate, 2, 1 << 19)
                                      + dyno_exchange_seconds (&half.rate, 2, 1024)
                                      + host_copies (4 << 20),
                                  1e-9);
  job->settings.exchange_bucket = 8 << 20; /* the whole of the gradients */
  dyno_ranks_estimate (&half, job, &plan, FALSE, 2, 1, 0.1);
  g_assert_true (half.one_bucket);
  job->settings.exchange_bucket = 2 << 20;
  dyno_ranks_estimate (&half, job, &plan, FALSE, 2, 1, 0.1);
  g_assert_false (half.one_bucket);
  g_assert_cmpfloat_with_epsilon (half.exposed_seconds,
                                  dyno_exchange_seconds (&half.rate, 2, 1 << 20)
                                      + dyno_exchange_seconds (&half.rate, 2, 1024)
                                      + host_copies (4 << 20),
                                  1e-9);
}

/* Eight ranks of a network of 8 MiB; a step takes 100 ms. */
static void
estimate (DynoRanksEstimate *e, gint64 accumulate, gboolean software, double step_seconds)
{
  g_autoptr (DynoJob) job = dyno_job_new ();
  DynoJobPlan plan = { 0 };

  job->settings.batch_size = 16;
  job->settings.accumulate = accumulate;
  plan.plan.kind_bytes[DYNO_MEMORY_GRADIENTS] = 8 << 20;
  dyno_ranks_estimate (e, job, &plan, software, 8, 1, step_seconds);
}

static void
test_step (void)
{
  DynoRanksEstimate e;
  double last;

  estimate (&e, 1, FALSE, 0.1);
  last = dyno_exchange_seconds (&e.rate, 8, 1 << 20) + dyno_exchange_seconds (&e.rate, 8, 1024)
         + host_copies (8 << 20);
  g_assert_cmpuint (e.global_batch, ==, 128);
  g_assert_cmpuint (e.exchange_bytes, ==, 8 << 20);
  /* hidden except for the last bucket */
  g_assert_cmpfloat_with_epsilon (e.exposed_seconds, last, 1e-9);
  g_assert_cmpfloat_with_epsilon (e.step_seconds, 0.1 + last, 1e-9);
  g_assert_cmpfloat_with_epsilon (e.speedup, 8 * 0.1 / e.step_seconds, 1e-9);
  /* hidden by the backward pass of the last of ten micro-batches only */
  double whole = e.exchange_seconds;
  estimate (&e, 10, FALSE, 10 * whole);
  g_assert_cmpuint (e.global_batch, ==, 1280);
  g_assert_cmpfloat (e.exposed_seconds, >, last);
  g_assert_cmpfloat (e.exposed_seconds, <, whole + last);
  estimate (&e, 1, FALSE, 10 * whole);
  g_assert_cmpfloat_with_epsilon (e.exposed_seconds, last, 1e-9);
  /* not hidden by a shorter step */
  estimate (&e, 1, FALSE, 0.001);
  g_assert_cmpfloat (e.exposed_seconds, >, e.exchange_seconds - 0.001);
  g_assert_cmpfloat (e.speedup, <, 4);
  /* eight ranks on the cores of one machine */
  estimate (&e, 1, TRUE, 0.1);
  g_assert_cmpfloat (e.step_seconds, >, 0.8);
  g_assert_cmpfloat (e.speedup, <, 1);
  estimate (&e, 1, FALSE, (double) NAN);
  g_assert_true (isnan (e.step_seconds) && isnan (e.exposed_seconds) && isnan (e.speedup));
  g_assert_cmpfloat (e.exchange_seconds, >, 0);
}

/* Measurements of two H200 (tests/bench/NOTES.md): the rates of one rank, of two through the host,
 * and of two with copies between devices. */
static void
test_two_cards (void)
{
  static const struct {
    guint64 gradients;
    double alone, host, devices; /* ms */
  } rows[] = { { 102228128, 22.34, 24.36, 22.87 }, { 46758040, 7.78, 8.90, 8.14 } };
  const DynoExchangeRate shared = { 2, 1, 2e-5, 2.7e10 };

  dyno_exchange_keep (&shared);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (DynoJob) job = dyno_job_new ();
      DynoJobPlan plan = { 0 };
      DynoRanksEstimate e;

      job->settings.batch_size = 128;
      plan.plan.kind_bytes[DYNO_MEMORY_GRADIENTS] = rows[i].gradients;
      dyno_ranks_estimate (&e, job, &plan, FALSE, 2, 1, 1e-3 * rows[i].alone);
      g_assert_cmpfloat_with_epsilon (1e3 * e.step_seconds, rows[i].host, 0.015 * rows[i].host);
      g_assert_cmpfloat_with_epsilon (1e3 * e.device_step_seconds, rows[i].devices,
                                      0.01 * rows[i].devices);
      g_assert_cmpfloat_with_epsilon (e.device_speedup, 2 * rows[i].alone / rows[i].devices, 0.02);
      dyno_ranks_estimate (&e, job, &plan, FALSE, 4, 2, 1e-3 * rows[i].alone);
      g_assert_true (isnan (e.device_step_seconds) && isnan (e.device_speedup));
    }
}

/* The time of a run of several ranks follows from the rate of one, and from that of the link where
 * the cards have one; with one rank it is the rate's own. */
static void
test_run (void)
{
  g_autoptr (DynoJob) job = dyno_job_new ();
  DynoJobPlan plan = { .n_train = 1600, .steps_per_epoch = 100 };
  DynoStoredRate rate = { .samples_per_s = 160,
                          .epoch_overhead_seconds = 2,
                          .preparation_seconds = (double) NAN };
  DynoRunEstimate alone, e;
  DynoRanksEstimate ranks;

  job->settings.batch_size = 4;
  job->settings.accumulate = 4;
  job->settings.epochs = 3;
  plan.plan.kind_bytes[DYNO_MEMORY_GRADIENTS] = 8 << 20;
  dyno_run_estimate_ranks (&alone, job, &plan, FALSE, 1600, 0, &rate);
  g_assert_true (isnan (alone.speedup));
  g_assert_cmpfloat (alone.total_seconds, ==, 3 * (10 + 2));
  job->ranks = 2;
  plan.steps_per_epoch = 50;
  dyno_run_estimate_ranks (&e, job, &plan, FALSE, 1600, 0, &rate);
  dyno_ranks_estimate (&ranks, job, &plan, FALSE, 2, 1, 16 / 160.0);
  g_assert_cmpfloat (e.speedup, ==, ranks.speedup);
  g_assert_cmpfloat (e.speedup, >, 1.5);
  g_assert_cmpfloat (e.speedup, <, 2);
  g_assert_cmpfloat_with_epsilon (e.total_seconds, 3 * (10 / e.speedup + 2), 1e-9);
  g_assert_cmpfloat_with_epsilon (e.step_seconds, ranks.step_seconds, 1e-9);
  plan.plan.inbox_bytes = 1;
  dyno_run_estimate_ranks (&e, job, &plan, FALSE, 1600, 0, &rate);
  g_assert_cmpfloat (e.speedup, ==, ranks.device_speedup);
  g_assert_cmpfloat (ranks.device_speedup, >, ranks.speedup);
  plan.plan.inbox_bytes = 0;
  dyno_run_estimate_ranks (&e, job, &plan, TRUE, 1600, 0, &rate);
  g_assert_cmpfloat (e.speedup, <, 1); /* both ranks share the cores */
  rate.samples_per_s = (double) NAN;
  dyno_run_estimate_ranks (&e, job, &plan, FALSE, 1600, 0, &rate);
  g_assert_true (isnan (e.speedup) && isnan (e.total_seconds));
  g_assert_cmpuint (e.steps, ==, 150);
}

int
main (int argc, char **argv)
{
  g_autofree char *folder = g_dir_make_tmp ("dyno-ranks-XXXXXX", NULL);

  g_setenv ("XDG_CACHE_HOME", folder, TRUE);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/runs/ranks/seconds-of-a-sum", test_seconds);
  g_test_add_func ("/runs/ranks/rate-of-measured-sums", test_fitted);
  g_test_add_func ("/runs/ranks/measured-rates-are-kept", test_kept);
  g_test_add_func ("/runs/ranks/rates-of-a-host-each", test_kept_of_a_host_each);
  g_test_add_func ("/runs/ranks/one-bucket-is-not-hidden", test_one_bucket);
  g_test_add_func ("/runs/ranks/step-of-several-ranks", test_step);
  g_test_add_func ("/runs/ranks/time-of-a-run", test_run);
  g_test_add_func ("/runs/ranks/two-cards-as-measured", test_two_cards);
  g_test_add_func ("/runs/ranks/nearest-number-of-ranks", test_nearest);
  return g_test_run ();
}
