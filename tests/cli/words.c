/* SPDX-License-Identifier: MIT */
/* Runs of the history and plans, in the words of dynoctl. */
#include "job-options.h"
#include "output.h"
#include "ranksestimate.h"
#include "run-words.h"
#include <math.h>
#include <string.h>

/* --- runs of the history ---------------------------------------------------------------------- */

static void
take_words (char *words, const char *expected)
{
  g_assert_cmpstr (words, ==, expected);
  g_free (words);
}

/* The best value of a run is that of its metric, else its validation loss, else its loss. */
static void
test_words_of_runs (void)
{
  DynoStoredRun run = { .metric = (char *) "accuracy",
                        .metric_is_fraction = TRUE,
                        .metric_unit = (char *) "degrees",
                        .best_metric = 0.875,
                        .best_val_loss = 0.5,
                        .loss = 0.25,
                        .test_metric = 0.75,
                        .test_loss = 0.625 };

  take_words (dyno_text_best (&run), "accuracy 87.50 %");
  take_words (dyno_text_test (&run), "accuracy 75.00 %, loss 0.6250");
  take_words (dyno_text_metric_value (&run, (double) NAN), "-");
  run.metric_is_fraction = FALSE;
  take_words (dyno_text_best (&run), "accuracy 0.8750 degrees");
  run.metric_unit = (char *) "";
  take_words (dyno_text_best (&run), "accuracy 0.8750");
  run.best_metric = run.test_metric = (double) NAN;
  take_words (dyno_text_best (&run), "validation loss 0.5000");
  take_words (dyno_text_test (&run), "loss 0.6250");
  run.test_metric = 0.75; /* of a run that did not validate */
  take_words (dyno_text_test (&run), "accuracy 0.7500, loss 0.6250");
  run.best_metric = 1;
  run.test_metric = (double) NAN;
  take_words (dyno_text_test (&run), "loss 0.6250");
  run.test_metric = 1;
  run.metric = NULL;
  take_words (dyno_text_best (&run), "validation loss 0.5000");
  take_words (dyno_text_test (&run), "loss 0.6250");
  run.best_val_loss = run.test_loss = (double) NAN;
  take_words (dyno_text_best (&run), "loss 0.2500");
  g_assert_null (dyno_text_test (&run));
  run.loss = (double) NAN;
  take_words (dyno_text_best (&run), "-");
  take_words (dyno_text_data ("/a/b/images?size=3"), "images");
  take_words (dyno_text_data ("builtin:shapes?size=16"), "builtin:shapes");
  take_words (dyno_text_data (NULL), "-");
  take_words (dyno_text_data ("?"), "-");
  take_words (dyno_text_when (0), "-");
}

/* A run is stopped as asked where its steps are all done and epochs are left. */
static void
test_states_of_runs (void)
{
  static const struct {
    DynoRunState state;
    gint64 max_steps;
    guint64 steps, epochs;
    const char *words;
  } rows[] = {
    { DYNO_RUN_STATE_FINISHED, 5, 5, 3, "stopped as asked" },
    { DYNO_RUN_STATE_FINISHED, 5, 4, 3, "finished" },
    { DYNO_RUN_STATE_FINISHED, 5, 5, 4, "finished" },
    { DYNO_RUN_STATE_FINISHED, 0, 5, 3, "finished" },
    { DYNO_RUN_STATE_STOPPED, 5, 5, 3, "stopped" },
    { DYNO_RUN_STATE_RUNNING, 5, 5, 3, "running" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      DynoStoredRun run = { .state = rows[i].state,
                            .max_steps = rows[i].max_steps,
                            .steps = rows[i].steps,
                            .epochs = rows[i].epochs };

      run.settings.epochs = 4;
      g_assert_cmpstr (dyno_text_run_state (&run), ==, rows[i].words);
    }
}

/* --- plans ------------------------------------------------------------------------------------ */

static void
print_plans (void)
{
  g_auto (DynoCliJob) cli_job = { 0 };
  DynoRunEstimate e = { .rate = { .samples_per_s = 200, .run = 7 },
                        .steps = 90,
                        .step_seconds = 0.025,
                        .epoch_seconds = 61,
                        .total_seconds = 600,
                        .most_samples_per_s = (double) NAN,
                        .least_seconds = (double) NAN,
                        .checkpoint_bytes = 3145728,
                        .weights_bytes = 1048576,
                        .disk_bytes = 10485760 };
  DynoRanksEstimate r = { .ranks = 4,
                          .hosts = 1,
                          .rate = { 2, 1, 30e-6, 1073741824.0 },
                          .source = DYNO_EXCHANGE_ASSUMED,
                          .global_batch = 128,
                          .exchange_bytes = 2097152,
                          .staging_bytes = 4194304,
                          .inbox_bytes = 6291456,
                          .exchange_seconds = 0.002,
                          .exposed_seconds = 0.001,
                          .step_seconds = 0.05,
                          .samples_per_s = 2560,
                          .speedup = 3.25,
                          .device_step_seconds = 0.04,
                          .device_speedup = 3.75 };
  DynoJobPlan plan = { .fits = TRUE,
                       .batch_size = 32,
                       .fitting_batch = 64,
                       .budget_bytes = 4u << 20,
                       .limit_bytes = 4u << 20,
                       .device_bytes = 8u << 20,
                       .n_parameters = 12000,
                       .n_trained = 12000,
                       .flops_per_sample = 2e6,
                       .n_train = 36,
                       .parts = 1,
                       .steps_per_epoch = 1 };

  plan.plan.total_bytes = 1u << 20;
  plan.plan.kind_bytes[DYNO_MEMORY_WEIGHTS] = 1u << 18;
  plan.plan.kind_bytes[DYNO_MEMORY_GRADIENTS] = 3u << 18;
  plan.host.total_bytes = 5u << 20;
  cli_job.job = dyno_job_new ();
  cli_job.dataset =
      dyno_dataset_open ("builtin:shapes?size=16&samples=40", NULL, NULL, NULL, NULL, NULL);
  g_strlcpy (cli_job.device.name, "card", sizeof cli_job.device.name);
  dyno_plan_print_text (&cli_job, &plan, &e, &r);
  /* The device's memory decides, and more is known about the exchange but not of the time. */
  plan.budget_bytes = 16u << 20;
  plan.limit_bytes = 8u << 20;
  plan.n_trained = 1000;
  cli_job.job->settings.model_freeze = g_quark_from_static_string ("head");
  plan.fitting_batch = 32;
  plan.flops_per_sample = 1e8;
  plan.steps_per_epoch = 2;
  e.rate.run = 0;
  e.validation_is_guessed = TRUE;
  r.hosts = 2;
  r.inbox_bytes = 0;
  r.source = DYNO_EXCHANGE_EXTRAPOLATED;
  r.one_bucket = TRUE;
  dyno_plan_print_text (&cli_job, &plan, &e, &r);
  e.total_seconds = (double) NAN;
  r.step_seconds = (double) NAN;
  dyno_plan_print_text (&cli_job, &plan, &e, &r);
  e.least_seconds = 75;
  e.most_samples_per_s = 300;
  dyno_plan_print_text (&cli_job, &plan, &e, NULL);
  dyno_out_flush ();
}

/* Each line of a plan, and the lines of what is not known. */
static void
test_plans (void)
{
  if (g_test_subprocess ())
    {
      print_plans ();
      return;
    }
  g_test_trap_subprocess (NULL, 0, 0);
  g_test_trap_assert_passed ();
  g_test_trap_assert_stdout (
      "*simplecnn on shapes: batch 32, 16x16 (width x height), AMP\n"
      "device  card\n"
      "weights 12.0 k parameters, 2 MFLOP per sample and step, 1 step per epoch\n"
      "parts   30 samples to train, 10 to validate\n"
      "\n"
      "memory         size                 share\n"
      "weights     256 KiB                25.0 %\n"
      "gradients   768 KiB                75.0 %\n"
      "total      1.00 MiB  25.0 % of the budget\n"
      "\n"
      "budget  4.00 MiB: it fits; 5.00 MiB in host memory\n"
      "largest batch that fits: 64\n"
      "time    10:00 in all: 90 steps of 25 ms, 1:01 per epoch with validation; 200 samples/s in "
      "run 7\n"
      "disk    10.0 MiB at most: checkpoints of 3.00 MiB, weights of 1.00 MiB\n"
      "ranks   4 on 1 host: 128 samples per step; each exchanges 2.00 MiB per step and stages 4.00 "
      "MiB in page-locked memory\n"
      "        from device to device where the cards have a link: then 6.00 MiB of each device's "
      "memory instead, and little of the exchange is left\n"
      "        exchange 2 ms if a link carries 1.00 GiB/s with 30 us a message, which is assumed: "
      "mpirun -n 4 dynoctl bench --exchange measures it\n"
      "        step 50 ms, of which the backward pass does not hide 1 ms of the exchange: 2.56e+03 "
      "samples/s, 3.25 times one rank\n"
      "        from device to device: step 40 ms, 3.75 times one rank\n"
      "*weights 12.0 k parameters, 0.1 GFLOP per sample and step, 2 steps per epoch\n"
      "*frozen  head: 1.00 k parameters are trained\n"
      "*total      1.00 MiB  12.5 % of the device's memory\n"
      "*budget  16.0 MiB, but the device has 8.00 MiB: it fits; 5.00 MiB in host memory\n"
      "time    10:00 in all: 90 steps of 25 ms, 1:01 per epoch with validation (guessed); 200 "
      "samples/s in a search\n"
      "disk    10.0 MiB at most: checkpoints of 3.00 MiB, weights of 1.00 MiB\n"
      "ranks   4 on 2 hosts: 128 samples per step; each exchanges 2.00 MiB per step and stages "
      "4.00 MiB in page-locked memory\n"
      "        exchange 2 ms: 1.00 GiB/s and 30 us a message, as measured with 2 ranks\n"
      "        step 50 ms, of which the exchange takes 1 ms: so few gradients go all at once, "
      "after the backward pass: 2.56e+03 samples/s, 3.25 times one rank\n"
      "*time    not known yet: a run or a search with these settings measures it\n"
      "disk    10.0 MiB at most: checkpoints of 3.00 MiB, weights of 1.00 MiB\n"
      "ranks   4 on 2 hosts: 128 samples per step; each exchanges 2.00 MiB per step and stages "
      "4.00 MiB in page-locked memory\n"
      "        exchange 2 ms: 1.00 GiB/s and 30 us a message, as measured with 2 ranks\n"
      "        the step's time is not known yet: a run of one rank measures its part\n"
      "*time    at least 1:15, without validation: no run with these settings is known, and a "
      "search measured at most 300 samples/s of a part alone\n"
      "disk    10.0 MiB at most: checkpoints of 3.00 MiB, weights of 1.00 MiB\n"
      "*");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli/words/runs", test_words_of_runs);
  g_test_add_func ("/cli/words/states-of-runs", test_states_of_runs);
  g_test_add_func ("/cli/words/plans", test_plans);
  return g_test_run ();
}
