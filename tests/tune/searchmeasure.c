/* SPDX-License-Identifier: MIT */
/* The cost estimates that a search derives from its measurements, on a simulated machine. */
#include "searchstate.h"
#include "simulation.h"
#include <math.h>

/* A search without any measurement. */
typedef struct {
  DynoSimulation *sim;
  DynoJob *job;
  DynoTuneResult *result;
  DynoSearchParams params;
  DynoSearch search;
} Bench;

static gint64
now_us (gpointer user)
{
  return dyno_simulation_now_us (user);
}

static void
bench_init (Bench *b, const DynoMachine *machine)
{
  b->sim = dyno_simulation_new (machine, 1);
  b->job = dyno_job_new ();
  b->result = dyno_tune_result_new (b->job);
  b->params = (DynoSearchParams){ .meter = &b->sim->meter,
                                  .job = b->job,
                                  .minutes = 10,
                                  .limit_bytes = (guint64) machine->limit_bytes,
                                  .hooks = { .now_us = now_us, .user = b->sim } };
  b->search =
      (DynoSearch){ .params = &b->params,
                    .job = b->job,
                    .meter = &b->sim->meter,
                    .result = b->result,
                    .model = dyno_rate_model_new (),
                    .arms = g_ptr_array_new_with_free_func (dyno_arm_free),
                    .plans = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free),
                    .networks = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL),
                    .seconds = 600,
                    .total_s = 600,
                    .most_bytes = G_MAXUINT64,
                    .end_share = (double) NAN };
  b->sim->meter.tune_kernels = FALSE;
}

static void
bench_clear (Bench *b)
{
  g_ptr_array_unref (b->search.arms);
  g_hash_table_unref (b->search.plans);
  g_hash_table_unref (b->search.networks);
  dyno_rate_model_free (b->search.model);
  dyno_tune_result_unref (b->result);
  dyno_job_unref (b->job);
  dyno_simulation_free (b->sim);
}

/* Validation in a trial does not count as preparation: the estimated preparation of another network
 * does not include it, but the estimated trial does. */
static void
test_validation_is_no_preparation (void)
{
  DynoMachine m = { .name = "slow to validate",
                    .cores = 16,
                    .n_train = 36000,
                    .n_validation = 4000,
                    .decode_s = 1e-5,
                    .cached_s = 1e-5,
                    .sample_s = { 4e-3, 4e-3 },
                    .end_s = 0.1,
                    .limit_bytes = 1e12,
                    .prepare_s = 0.4,
                    .compile_s = 2 };
  double cost_s[2];

  for (guint i = 0; i < 2; i++)
    {
      Bench b;
      DynoSettings other;
      double begin_s;

      m.ends = i * 60;
      bench_init (&b, &m);
      other = b.job->settings;
      other.amp = !other.amp;
      g_assert_nonnull (dyno_search_try (&b.search, "today", &b.job->settings, 2, 0, 0));
      g_assert_cmpfloat_with_epsilon (dyno_search_prepare (&b.search, &other), 2.4, 1e-9);
      cost_s[i] = dyno_search_cost (&b.search, &other, 2);
      begin_s = b.sim->clock_s;
      g_assert_nonnull (dyno_search_try (&b.search, "search", &other, 2, 0, 0));
      g_assert_cmpfloat_with_epsilon (b.sim->clock_s - begin_s, cost_s[i], 0.2);
      bench_clear (&b);
    }
  g_assert_cmpfloat (cost_s[1], >, cost_s[0] + 2);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tune/searchmeasure/validation-is-no-preparation",
                   test_validation_is_no_preparation);
  return g_test_run ();
}
