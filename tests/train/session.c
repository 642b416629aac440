/* SPDX-License-Identifier: MIT */
/* Sessions on the device: learning, equal bits for equal seeds whatever the pipeline does,
 * commands. */
#include "engine.h"
#include "health.h"
#include "loader-private.h"
#include "train-test.h"
#include <math.h>
#include <string.h>

#define SHAPES "builtin:shapes?size=16&samples=200&classes=4"

static double
mean_loss (const TestRun *run, guint from, guint count)
{
  double sum = 0;

  g_assert_cmpuint (from + count, <=, run->losses->len);
  for (guint i = 0; i < count; i++)
    sum += g_array_index (run->losses, double, from + i);
  return sum / count;
}

static void
assert_same_losses (const TestRun *a, const TestRun *b)
{
  g_assert_cmpuint (a->losses->len, ==, b->losses->len);
  g_assert_true (memcmp (a->losses->data, b->losses->data, a->losses->len * sizeof (double)) == 0);
}

static void
test_losses_fall (void)
{
  g_autoptr (DynoJob) job = test_job ("simplecnn", "builtin:shapes?size=24&samples=300&classes=3");
  g_auto (TestRun) run = { 0 };

  test_job_set (job, "epochs=10", "lr=0.01", NULL);
  test_run_good (&run, job);
  g_assert_cmpuint (run.losses->len, ==, 10 * (270 / 16));
  g_assert_cmpuint (run.done_steps, ==, run.losses->len);
  g_assert_cmpuint (run.epochs, ==, 10);
  g_test_message ("loss %.3f to %.3f, validation accuracy %.3f", mean_loss (&run, 0, 5),
                  mean_loss (&run, run.losses->len - 10, 10), run.best_val_accuracy);
  g_assert_cmpfloat (mean_loss (&run, 0, 5), >, 0.9);
  g_assert_cmpfloat (mean_loss (&run, run.losses->len - 10, 10), <, 0.75 * mean_loss (&run, 0, 5));
  g_assert_cmpfloat (run.epoch.train_metrics[0], >, 0.6);
  g_assert_cmpfloat (run.best_val_accuracy, >, 0.4);
  g_assert_cmpfloat (run.last_rate, >, 0);
  g_assert_cmpfloat (run.preparation_seconds, >, 0);
  g_assert_cmpfloat (run.train_seconds, >, 0);
}

/* Models that read lengths learn waves of two frequencies in sequences of differing length. */
static void
test_sequences_are_learned (void)
{
  static const char *const models[] = { "cnnlstm", "cnn1d" };

  for (guint i = 0; i < G_N_ELEMENTS (models); i++)
    {
      g_autoptr (DynoJob) job =
          test_job (models[i], "builtin:waves?length=16&samples=120&classes=2");
      g_auto (TestRun) run = { 0 };

      test_job_set (job, "epochs=6", "lr=0.02", "optimizer=adamw", "model.width=0.125",
                    "augment.flip=false", NULL);
      test_run_good (&run, job);
      g_test_message ("%s: loss %.3f, accuracy %.3f", models[i], run.epoch.train_loss,
                      run.best_val_accuracy);
      g_assert_cmpfloat (run.best_val_accuracy, >, 0.9);
    }
}

static void
ignore_progress (const char *what, guint done, guint total, gpointer data)
{
}

static void
ignore_warning (const char *text, gpointer data)
{
}

static void
test_planned_is_allocated (void)
{
  g_autoptr (DynoJob) job = test_job ("simplecnn", SHAPES);
  g_auto (TestRun) run = { 0 };

  job->max_steps = 2;
  test_run_good (&run, job);
  g_assert_cmpuint (run.plans, ==, 1);
  g_assert_true (run.plan.fits);
  g_assert_cmpuint (run.vram_bytes, ==, run.plan.plan.total_bytes);
}

/* The memory of page-locked buffers and of the loader's batches equals the plan, with and without
 * page-locking, with little and much prefetch. */
static void
test_host_memory_is_planned (void)
{
  static const char *const changes[] = { "prefetch=2", "prefetch=12", "prefetch=1", "pinned=false",
                                         "data.val_split=0" };
  DynoEngineWatch watch = { ignore_progress, ignore_warning, NULL };

  for (guint i = 0; i < G_N_ELEMENTS (changes); i++)
    for (guint size = 16; size <= 240; size += 224) /* at 240 pixels spare batches are not cheap */
      {
        g_autofree char *data = g_strdup_printf ("builtin:shapes?size=%u&samples=200", size);
        g_autoptr (DynoJob) job = test_job ("mlp", data);
        g_autoptr (GError) error = NULL;
        g_autoptr (DynoDataset) dataset = dyno_dataset_open (data, NULL, NULL, NULL, NULL, &error);

        g_assert_no_error (error);
        test_job_set (job, changes[i], "batch_size=100", "model.width=0.0625", NULL);
        g_autoptr (DynoEngine) engine = dyno_engine_open_split (NULL, job, dataset, &watch, &error);
        g_assert_no_error (error);
        g_assert_true (dyno_engine_build (engine, &watch, NULL, &error));
        g_assert_no_error (error);
        g_assert_true (dyno_device_wait_idle (engine->device, &error));
        const DynoBatchLayout *layout =
            dyno_loader_get_layout (dyno_uploader_get_loader (engine->training.uploader));
        guint64 own = job->settings.pinned ? 0 : (job->settings.prefetch + 2) * layout->total_bytes;
        const DynoHostPlan *host = &engine->plan.host;
        own *= engine->validation.uploader ? 2 : 1;
        g_assert_cmpuint (dyno_host_plan_get_bytes (host, DYNO_HOST_PLAIN), ==, own);
        g_assert_cmpuint (dyno_device_get_allocated_host (engine->device), ==,
                          dyno_host_plan_get_bytes (host, DYNO_HOST_UPLOAD)
                              + dyno_host_plan_get_bytes (host, DYNO_HOST_READBACK));
        g_assert_cmpuint (dyno_device_get_allocated_host (engine->device) + own, ==,
                          host->total_bytes);
        /* Without a snapshot, all memory but its block is allocated. */
        g_assert_true (engine->plan.plan.snapshot);
        dyno_snapshot_free (g_steal_pointer (&engine->snapshot));
        dyno_job_plan_drop_snapshot (&engine->plan);
        g_assert_true (dyno_device_wait_idle (engine->device, &error));
        g_assert_cmpuint (dyno_device_get_allocated_host (engine->device) + own, ==,
                          engine->plan.host.total_bytes);
        g_assert_cmpuint (dyno_device_get_allocated_total (engine->device), ==,
                          engine->plan.plan.total_bytes);
      }
}

/* An engine takes the samples that it is given, and does not split the data set. */
static void
test_engine_needs_no_split (void)
{
  DynoEngineWatch watch = { ignore_progress, ignore_warning, NULL };
  g_autoptr (DynoJob) job = test_job ("mlp", "builtin:shapes?size=8&samples=64");
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoDataset) dataset = dyno_dataset_open (job->data, NULL, NULL, NULL, NULL, &error);
  g_autoptr (GArray) few = g_array_new (FALSE, FALSE, sizeof (guint32));

  test_job_set (job, "batch_size=4", "data.val_split=0.5", NULL);
  for (guint32 i = 40; i < 56; i++)
    g_array_append_val (few, i);
  g_autoptr (DynoEngine) engine = dyno_engine_open (NULL, job, dataset, few, NULL, &watch, &error);
  g_assert_no_error (error);
  g_assert_true (dyno_engine_build (engine, &watch, NULL, &error));
  g_assert_cmpuint (engine->training.n_samples, ==, 16);
  g_assert_cmpuint (engine->plan.steps_per_epoch, ==, 4);
  g_assert_null (engine->validation.build);
  g_assert_true (engine->training.indices == few);
  g_autoptr (GArray) none = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_assert_null (dyno_engine_open (NULL, job, dataset, none, NULL, &watch, &error));
  g_assert_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DATA);
}

/* Workers, prefetch and the kind of staging memory change only the time. */
static void
test_pipeline_changes_no_bit (void)
{
  static const char *const changes[][2] = { { "workers=0", "prefetch=1" },
                                            { "workers=4", "prefetch=4" },
                                            { "pinned=false", "workers=1" },
                                            { "cache=true", "persistent_workers=false" } };
  g_autoptr (DynoJob) job = test_job ("simplecnn", SHAPES);
  g_auto (TestRun) first = { 0 };

  test_job_set (job, "workers=1", "augment.flip=true", "augment.crop=0.5", "augment.erase=0.5",
                "augment.mixup=0.4", "augment.cutmix=1", "deterministic=true", NULL);
  test_run_good (&first, job);
  g_assert_cmpuint (first.losses->len, ==, 22);
  for (guint i = 0; i < G_N_ELEMENTS (changes); i++)
    {
      g_autoptr (DynoJob) other = dyno_job_copy (job);
      g_auto (TestRun) run = { 0 };

      test_job_set (other, changes[i][0], changes[i][1], NULL);
      test_run_good (&run, other);
      assert_same_losses (&first, &run);
      g_assert_cmpfloat (first.epoch.val_loss, ==, run.epoch.val_loss);
    }
}

static void
add_host_copy (DynoSession *session, const DynoStepMetrics *step, gpointer data)
{
  *(double *) data += step->host_copy_ms;
}

/* The training thread copies batches that are not page-locked, and every step reports the time of
 * its copy. */
static void
test_host_copies_are_told (void)
{
  for (guint pinned = 0; pinned < 2; pinned++)
    {
      g_autoptr (DynoJob) job = test_job ("mlp", "builtin:shapes?size=224&samples=72");
      g_auto (TestRun) run = { 0 };
      double copied_ms = 0;

      test_job_set (job, pinned ? "pinned=true" : "pinned=false", "model.width=0.0625", "epochs=1",
                    NULL);
      test_run (&run, job, add_host_copy, &copied_ms);
      g_assert_no_error (run.error);
      if (pinned)
        g_assert_cmpfloat (copied_ms, ==, 0);
      else
        g_assert_cmpfloat (copied_ms, >, 0); /* 2 MB each */
    }
}

static void
test_seed_changes_run (void)
{
  g_autoptr (DynoJob) job = test_job ("simplecnn", SHAPES);
  g_auto (TestRun) a = { 0 };
  g_auto (TestRun) b = { 0 };

  job->max_steps = 3;
  test_run_good (&a, job);
  test_job_set (job, "seed=2", NULL);
  test_run_good (&b, job);
  g_assert_true (memcmp (a.losses->data, b.losses->data, 3 * sizeof (double)) != 0);
}

/* Two batches of 8 with accumulated gradients make the step of one batch of 16, up to rounding. */
static void
test_accumulation_is_a_larger_batch (void)
{
  g_autoptr (DynoJob) job = test_job ("mlp", SHAPES);
  g_auto (TestRun) whole = { 0 };
  g_auto (TestRun) parts = { 0 };

  job->max_steps = 20;
  test_job_set (job, "lr=0.02", "data.val_split=0", "schedule=constant", "warmup_epochs=0", NULL);
  test_run_good (&whole, job);
  test_job_set (job, "batch_size=8", "accumulate=2", NULL);
  test_run_good (&parts, job);
  g_assert_cmpuint (parts.losses->len, ==, 20);
  for (guint i = 0; i < 12; i++)
    g_assert_cmpfloat_with_epsilon (g_array_index (parts.losses, double, i)
                                        / g_array_index (whole.losses, double, i),
                                    1.0, 1e-5);
}

/* The last step of an epoch accumulates the remaining batches. */
static void
test_short_accumulation (void)
{
  g_autoptr (DynoJob) job = test_job ("mlp", SHAPES);
  g_auto (TestRun) run = { 0 };

  test_job_set (job, "accumulate=4", "data.val_split=0", "epochs=2", NULL);
  test_run_good (&run, job); /* 12 batches of 16: 3 steps */
  g_assert_cmpuint (run.losses->len, ==, 6);
  test_run_clear (&run);
  test_job_set (job, "accumulate=5", NULL);
  test_run_good (&run, job);
  g_assert_cmpuint (run.losses->len, ==, 6);
}

static void
test_small_data_lowers_batch (void)
{
  g_autoptr (DynoJob) job = test_job ("mlp", "builtin:shapes?size=16&samples=20&classes=2");
  g_auto (TestRun) run = { 0 };

  test_job_set (job, "batch_size=64", NULL);
  test_run_good (&run, job);
  g_assert_true (test_has_warning (&run, "batch_size"));
  g_assert_cmpuint (run.losses->len, ==, 2);
  g_assert_cmpuint (run.plan.steps_per_epoch, ==, 1);
}

static void
test_noise_needs_no_loader (void)
{
  g_autoptr (DynoJob) job = test_job ("simplecnn", "synthetic:16x16x3?classes=10&samples=64");
  g_auto (TestRun) run = { 0 };

  test_run_good (&run, job);
  g_assert_cmpuint (run.losses->len, ==, 8);
  g_assert_true (isnan (run.best_val_accuracy));
  g_assert_true (isfinite (mean_loss (&run, 0, 8)));
}

static void
test_over_budget_is_refused (void)
{
  g_autoptr (DynoJob) job = test_job ("simplecnn", SHAPES);
  g_auto (TestRun) run = { 0 };

  test_job_set (job, "vram_budget=1MB", "batch_size=64", "memory.shrink=false", NULL);
  test_run (&run, job, NULL, NULL);
  g_assert_error (run.error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DOES_NOT_FIT);
  g_assert_cmpint (run.state, ==, DYNO_SESSION_FAILED);
  g_assert_cmpuint (run.plans, ==, 1);
  g_assert_cmpuint (run.losses->len, ==, 0);
  g_assert_nonnull (strstr (run.error->message, "budget"));
}

/* A budget that is too small for a batch from the start is met by micro-batches, with the same
 * effective batch, the same losses and one report. */
static void
test_budget_is_kept_by_micro_batches (void)
{
  g_autoptr (DynoJob) job = test_job ("mlp", SHAPES);
  g_auto (TestRun) whole = { 0 }, run = { 0 };
  g_autofree char *budget = NULL;
  DynoPlan plan;

  test_job_set (job, "batch_size=36", "deterministic=true", NULL);
  test_run_good (&whole, job);
  g_assert_cmpuint (whole.parts, ==, 1);
  plan = whole.plan.plan;
  dyno_plan_set_snapshot (&plan, FALSE); /* the snapshot is dropped first */
  budget = g_strdup_printf ("vram_budget=%" G_GUINT64_FORMAT, plan.total_bytes - 1);
  test_job_set (job, budget, NULL);
  test_run_good (&run, job);
  g_assert_cmpuint (run.parts, ==, 2);
  g_assert_true (run.plan.fits);
  g_assert_true (test_has_warning (&run, "each batch of 36 goes through the device in 2 "
                                         "micro-batches of 18"));
  g_assert_true (test_has_warning (&run, "more than the budget"));
  g_assert_cmpuint (run.losses->len, ==, whole.losses->len);
  for (guint i = 0; i < whole.losses->len; i++)
    g_assert_cmpfloat_with_epsilon (g_array_index (run.losses, double, i),
                                    g_array_index (whole.losses, double, i), 1e-5);
}

/* A loss that stays non-finite for many steps ends the run. */
static void
test_divergence_ends_run (void)
{
  g_autoptr (DynoJob) job = test_job ("mlp", SHAPES);
  g_auto (TestRun) run = { 0 };

  test_job_set (job, "lr=100", "momentum=0.99", "warmup_epochs=0", "schedule=constant", "epochs=40",
                NULL);
  test_run (&run, job, NULL, NULL);
  g_assert_error (run.error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DIVERGED);
  g_assert_cmpint (run.state, ==, DYNO_SESSION_FAILED);
}

/* A sweep takes its steps with its own learning rates through several epochs, validates nothing,
 * and goes on whatever the loss is. */
static void
test_sweep_goes_to_its_end (void)
{
  g_autoptr (DynoJob) job = test_job ("mlp", SHAPES);
  g_autoptr (DynoSession) session = NULL;
  DynoEventQueue *events;
  guint steps = 0, epochs = 0;
  gboolean done = FALSE, nonfinite = FALSE;

  test_job_set (job, "warmup_epochs=1", "schedule=cosine", "early_stop.patience=1", NULL);
  session = dyno_session_new (job);
  dyno_session_sweep_lr (session, 1e-6, 1e9, 31);
  events = dyno_session_add_queue (session, 0, TRUE);
  dyno_session_start (session);
  while (!done)
    {
      g_autoptr (DynoEvent) event = dyno_event_queue_pop (events, 300 * G_USEC_PER_SEC);

      g_assert_nonnull (event);
      g_assert_cmpint (event->type, !=, DYNO_EVENT_ERROR);
      g_assert_cmpint (event->type, !=, DYNO_EVENT_WARNING);
      if (event->type == DYNO_EVENT_STEP)
        {
          double expected = 1e-6 * pow (1e15, steps++ / 30.0);

          g_assert_cmpfloat_with_epsilon (event->step.lr / expected, 1, 1e-9);
          nonfinite = nonfinite || !isfinite (event->step.loss);
        }
      else if (event->type == DYNO_EVENT_EPOCH)
        {
          g_assert_true (isnan (event->epoch.val_loss));
          epochs++;
        }
      else if (event->type == DYNO_EVENT_DONE)
        {
          g_assert_cmpint (event->done.state, ==, DYNO_SESSION_FINISHED);
          done = TRUE;
        }
    }
  g_assert_cmpuint (steps, ==, 31);
  g_assert_cmpuint (epochs, ==, 2); /* epochs of 11 steps */
  g_assert_true (nonfinite);
}

/* The error that ends the run counts the same steps as the diagnosis: those that were not finite,
 * beside those that were too large. */
static void
test_divergence_counts_what_is_not_finite (void)
{
  DynoHealth health = { .guess = 1 };
  g_autoptr (GError) error = NULL;

  dyno_health_take_step (&health, 1, TRUE, TRUE);
  for (guint i = 0; i < 4; i++)
    dyno_health_take_step (&health, 1e9, TRUE, TRUE);
  g_assert_false (dyno_health_has_diverged (&health, 5, 5, "", &error));
  dyno_health_take_step (&health, (double) INFINITY, FALSE, TRUE);
  g_assert_true (dyno_health_has_diverged (&health, 5, 6, "", &error));
  g_assert_nonnull (strstr (error->message, "5 steps in a row, up to step 6 (not finite: 1)"));
  g_clear_error (&error);
  dyno_health_take_step (&health, 1, TRUE, TRUE);
  for (guint i = 0; i < 5; i++)
    dyno_health_take_step (&health, (double) NAN, FALSE, TRUE);
  g_assert_true (dyno_health_has_diverged (&health, 5, 12, "", &error));
  g_assert_nonnull (strstr (error->message, "was not finite for 5 steps"));
}

/* A model for images refuses sequences, with their description and the models that read them. */
static void
test_sequences_have_their_models (void)
{
  g_autoptr (DynoJob) job = test_job ("simplecnn", "builtin:waves?length=20&samples=20");
  g_auto (TestRun) run = { 0 };

  test_run (&run, job, NULL, NULL);
  g_assert_error (run.error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DATA);
  g_assert_nonnull (strstr (run.error->message, "sequences of 20 steps of 3 features"));
  g_assert_nonnull (strstr (run.error->message, "cnnlstm"));
  g_assert_null (strstr (run.error->message, "resnet"));
}

/* --- commands --------------------------------------------------------------------------------- */

typedef struct {
  guint steps;
  double first_rate, later_ms;
} FirstStep;

static void
add_step_time (DynoSession *session, const DynoStepMetrics *step, gpointer data)
{
  FirstStep *sum = data;

  if (sum->steps++ == 0)
    sum->first_rate = step->samples_per_s;
  else
    sum->later_ms += step->step_ms;
}

/* The first step, which includes compilation in the driver and filling the pipeline, has no rate,
 * and the rate of its epoch excludes it. */
static void
test_rate_begins_after_first_step (void)
{
  g_autoptr (DynoJob) job = test_job ("mlp", SHAPES);
  g_auto (TestRun) run = { 0 };
  FirstStep sum = { 0 };

  test_job_set (job, "epochs=1", "data.val_split=0", NULL);
  test_run (&run, job, add_step_time, &sum);
  g_assert_no_error (run.error);
  g_assert_cmpuint (sum.steps, >, 2);
  g_assert_cmpfloat (sum.first_rate, ==, 0);
  g_assert_cmpfloat_with_epsilon (run.epoch.samples_per_s * sum.later_ms / 1e3,
                                  (sum.steps - 1) * 16.0, 0.01);
}

static void
end_first_epoch (DynoSession *session, const DynoStepMetrics *step, gpointer data)
{
  if (step->step == 1)
    dyno_session_end_epoch (session, 1);
}

/* An epoch that is ended early is validated on as many batches as asked for; the next epoch is
 * whole again, and so is its validation: without a change of the weights its loss is that of any
 * other whole epoch. */
static void
test_epoch_after_an_early_end_is_whole (void)
{
  g_autoptr (DynoJob) job = test_job ("mlp", SHAPES);
  g_auto (TestRun) plain = { 0 }, ended = { 0 };

  test_job_set (job, "lr=0", "weight_decay=0", "epochs=1", "batch_size=4", "prefetch=1",
                "data.val_split=0.5", NULL);
  test_run_good (&plain, job);
  g_assert_cmpuint (plain.losses->len, ==, 25);
  test_job_set (job, "epochs=2", NULL);
  test_run (&ended, job, end_first_epoch, NULL);
  g_assert_no_error (ended.error);
  g_assert_cmpuint (ended.epochs, ==, 2);
  g_assert_cmpuint (ended.losses->len, >=, 25 + 2);
  g_assert_cmpuint (ended.losses->len, <, 2 * 25);
  g_assert_cmpfloat (ended.epoch.val_loss, ==, plain.epoch.val_loss);
}

/* Runs in the session's thread, since the run might be over before another thread handles its
 * event. */
static void
pause_at_three (DynoEvent *event, gpointer session)
{
  if (event->type == DYNO_EVENT_STEP && event->step.step == 3)
    dyno_session_pause (session);
}
static const DynoObserver pauser = { .event = pause_at_three };

static void
test_pause_and_resume (void)
{
  g_autoptr (DynoJob) job = test_job ("mlp", SHAPES);
  g_auto (TestRun) plain = { 0 };
  g_autoptr (DynoSession) session = dyno_session_new (job);
  DynoEventQueue *events = dyno_session_add_queue (session, 0, TRUE);
  g_autoptr (GArray) losses = g_array_new (FALSE, FALSE, sizeof (double));
  gboolean done = FALSE;
  guint pauses = 0;

  test_run_good (&plain, job);
  dyno_session_add_observer (session, &pauser, session);
  dyno_session_start (session);
  while (!done)
    {
      g_autoptr (DynoEvent) event = dyno_event_queue_pop (events, 60 * G_USEC_PER_SEC);

      g_assert_nonnull (event);
      if (event->type == DYNO_EVENT_STEP)
        g_array_append_val (losses, event->step.loss);
      else if (event->type == DYNO_EVENT_STATE && event->state == DYNO_SESSION_PAUSED)
        {
          g_autoptr (DynoEvent) silence = dyno_event_queue_pop (events, 300 * 1000);

          /* No event but sensor readings comes in a pause. */
          g_assert_true (!silence || silence->type == DYNO_EVENT_SENSORS);
          pauses++;
          dyno_session_resume (session);
        }
      done = event->type == DYNO_EVENT_DONE;
    }
  g_assert_cmpuint (pauses, ==, 1);
  g_assert_cmpuint (losses->len, ==, plain.losses->len);
  g_assert_true (memcmp (losses->data, plain.losses->data, losses->len * sizeof (double)) == 0);
}

static void
change_workers (DynoSession *session, const DynoStepMetrics *step, gpointer data)
{
  static const char *const workers[] = { "0", "3", "1", "4" };
  g_autoptr (GError) error = NULL;

  g_assert_true (dyno_session_set (session, "workers", workers[step->step % 4], &error));
  g_assert_true (dyno_session_set (session, "prefetch", workers[1 + step->step % 3], &error));
  g_assert_no_error (error);
  g_assert_false (dyno_session_set (session, "batch_size", "8", NULL));
  g_assert_false (dyno_session_set (session, "workers", "-1", NULL));
}

/* Each live setting, when changed, reaches the engine in the way that the table states: through the
 * settings that every step reads, and where stated also through both loaders. */
static void
test_live_reaches_the_engine (void)
{
  g_autoptr (DynoJob) job = test_job ("mlp", "builtin:shapes?size=8&samples=64");
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoDataset) dataset = dyno_dataset_open (job->data, NULL, NULL, NULL, NULL, &error);
  DynoEngineWatch watch = { ignore_progress, ignore_warning, NULL };
  guint n;
  const DynoSettingInfo *table = dyno_setting_list (&n);

  test_job_set (job, "pinned=false", "workers=1", "prefetch=2", NULL);
  g_autoptr (DynoEngine) engine = dyno_engine_open_split (NULL, job, dataset, &watch, &error);
  g_assert_no_error (error);
  g_assert_true (dyno_engine_build (engine, &watch, NULL, &error));
  for (guint i = 0; i < n; i++)
    {
      DynoSettings before = engine->job->settings, now = before;
      double value = dyno_settings_get_number (&now, table[i].key) > 3 ? 2 : 4;
      guint ways;

      if (table[i].live == DYNO_SETTING_LIVE_NO)
        continue;
      value = MIN (value, table[i].maximum);
      g_assert_true (dyno_settings_set_number (&now, table[i].key, value, NULL));
      ways = dyno_settings_follow (&engine->job->settings, &before, &now);
      g_assert_cmpuint (ways, ==, 1u << table[i].live);
      if (ways & (1u << DYNO_SETTING_LIVE_LOADER))
        dyno_engine_renew_loaders (engine);
      g_assert_true (dyno_settings_equal (&engine->job->settings, &now));
      for (guint k = 0; k < 2; k++)
        {
          DynoLoader *loader = dyno_uploader_get_loader (k ? engine->validation.uploader
                                                           : engine->training.uploader);
          g_assert_cmpuint (loader->target_workers, ==, now.workers);
          g_assert_cmpuint (loader->prefetch, ==, now.prefetch);
        }
    }
}

/* The session owns the job: a caller has the job as it was, and a change creates another one. */
static void
test_job_is_a_snapshot (void)
{
  g_autoptr (DynoJob) job = test_job ("mlp", "builtin:shapes?size=8&samples=64");
  DynoSession *session = dyno_session_new (job);
  const DynoJob *first = dyno_session_get_job (session), *second, *third;

  job->settings.lr = 9; /* the caller's own copy */
  g_assert_true (first != job);
  g_assert_true (dyno_session_set (session, "lr", "0.5", NULL));
  second = dyno_session_get_job (session);
  g_assert_false (dyno_session_set (session, "lr", "-1", NULL));
  g_assert_false (dyno_session_set (session, "seed", "2", NULL));
  third = dyno_session_get_job (session);
  dyno_session_free (session);
  g_assert_true (first != second && second == third);
  g_assert_cmpfloat (first->settings.lr, ==, 0.05);
  g_assert_cmpfloat (second->settings.lr, ==, 0.5);
  g_assert_cmpstr (second->data, ==, job->data);
  dyno_job_unref (first);
  dyno_job_unref (second);
  dyno_job_unref (third);
}

static void
change_prefetch_once (DynoSession *session, const DynoStepMetrics *step, gpointer data)
{
  if (step->step == 1)
    g_assert_true (dyno_session_set (session, "prefetch", "64", NULL));
  else if (step->step < 6)
    g_assert_true (dyno_session_set (session, "lr", step->step % 2 ? "0.01" : "0.02", NULL));
}

/* Where page-locked memory has no room for a prefetch, this is reported once, whatever changes
 * later. */
static void
test_adapted_prefetch_is_told_once (void)
{
  g_autoptr (DynoJob) job = test_job ("mlp", "builtin:shapes?size=8&samples=200");
  g_auto (TestRun) run = { 0 };
  guint told = 0;

  test_job_set (job, "prefetch=2", "epochs=1", NULL);
  test_run (&run, job, change_prefetch_once, NULL);
  g_assert_no_error (run.error);
  for (guint i = 0; i < run.warnings->len; i++)
    told += strstr (g_ptr_array_index (run.warnings, i), "Prefetch is") != NULL;
  g_assert_cmpuint (told, ==, 1);
}

static void
test_live_workers (void)
{
  g_autoptr (DynoJob) job = test_job ("mlp", SHAPES);
  g_auto (TestRun) plain = { 0 };
  g_auto (TestRun) run = { 0 };

  test_run_good (&plain, job);
  test_run (&run, job, change_workers, NULL);
  g_assert_no_error (run.error);
  assert_same_losses (&plain, &run);
}

static void
lower_epochs (DynoSession *session, const DynoStepMetrics *step, gpointer data)
{
  dyno_session_set (session, "epochs", "1", NULL);
}

static void
test_live_epochs (void)
{
  g_autoptr (DynoJob) job = test_job ("mlp", SHAPES);
  g_auto (TestRun) run = { 0 };

  test_job_set (job, "epochs=100", NULL);
  test_run (&run, job, lower_epochs, NULL);
  g_assert_cmpint (run.state, ==, DYNO_SESSION_FINISHED);
  g_assert_cmpuint (run.epochs, <, 20);
}

static void
stop_now (DynoSession *session, const DynoStepMetrics *step, gpointer data)
{
  if (step->step == 2)
    dyno_session_stop (session, TRUE);
}

static void
test_stop_now (void)
{
  g_autoptr (DynoJob) job = test_job ("mlp", SHAPES);
  g_auto (TestRun) run = { 0 };

  test_job_set (job, "epochs=100000", NULL);
  test_run (&run, job, stop_now, NULL);
  g_assert_no_error (run.error);
  g_assert_cmpint (run.state, ==, DYNO_SESSION_STOPPED);
}

/* The session is freed before its first step and after some steps, with a full ring buffer that is
 * not read. */
static void
test_free_in_mid_run (void)
{
  g_autoptr (DynoJob) job = test_job ("mlp", SHAPES);

  test_job_set (job, "epochs=100000", NULL);
  for (guint steps = 0; steps <= 100; steps += 50)
    {
      DynoSession *session = dyno_session_new (job);

      dyno_session_start (session);
      while (dyno_metrics_get_steps (dyno_session_get_metrics (session)) < steps)
        g_usleep (1000);
      dyno_session_free (session);
    }
}

/* Kernels are measured by default on a device that is no CPU, but not where deterministic runs are
 * requested. */
static void
test_tunes_on_a_gpu (void)
{
  static const DynoDeviceType types[] = { DYNO_DEVICE_TYPE_DISCRETE, DYNO_DEVICE_TYPE_INTEGRATED,
                                          DYNO_DEVICE_TYPE_SOFTWARE };
  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    {
      DynoDeviceInfo info = { .type = types[i] };
      DynoSettings settings;
      dyno_settings_init (&settings);
      g_assert_cmpint (dyno_engine_tunes (&settings, &info), ==,
                       types[i] != DYNO_DEVICE_TYPE_SOFTWARE);
      settings.deterministic = TRUE;
      g_assert_false (dyno_engine_tunes (&settings, &info));
      settings.deterministic = FALSE;
      settings.autotune = FALSE;
      g_assert_false (dyno_engine_tunes (&settings, &info));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/train/session/losses-fall", test_losses_fall);
  g_test_add_func ("/train/session/sequences-are-learned", test_sequences_are_learned);
  g_test_add_func ("/train/session/planned-is-allocated", test_planned_is_allocated);
  g_test_add_func ("/train/session/host-memory-is-planned", test_host_memory_is_planned);
  g_test_add_func ("/train/session/host-copies-are-told", test_host_copies_are_told);
  g_test_add_func ("/train/session/pipeline-changes-no-bit", test_pipeline_changes_no_bit);
  g_test_add_func ("/train/session/seed-changes-run", test_seed_changes_run);
  g_test_add_func ("/train/session/accumulation-is-a-larger-batch",
                   test_accumulation_is_a_larger_batch);
  g_test_add_func ("/train/session/short-accumulation", test_short_accumulation);
  g_test_add_func ("/train/session/small-data-lowers-batch", test_small_data_lowers_batch);
  g_test_add_func ("/train/session/noise-needs-no-loader", test_noise_needs_no_loader);
  g_test_add_func ("/train/session/over-budget-is-refused", test_over_budget_is_refused);
  g_test_add_func ("/train/session/budget-is-kept-by-micro-batches",
                   test_budget_is_kept_by_micro_batches);
  g_test_add_func ("/train/session/divergence-ends-run", test_divergence_ends_run);
  g_test_add_func ("/train/session/sweep-goes-to-its-end", test_sweep_goes_to_its_end);
  g_test_add_func ("/train/session/divergence-counts-what-is-not-finite",
                   test_divergence_counts_what_is_not_finite);
  g_test_add_func ("/train/session/sequences-have-their-models", test_sequences_have_their_models);
  g_test_add_func ("/train/session/rate-begins-after-first-step",
                   test_rate_begins_after_first_step);
  g_test_add_func ("/train/session/engine-needs-no-split", test_engine_needs_no_split);
  g_test_add_func ("/train/engine/measures-kernels-on-a-gpu-alone", test_tunes_on_a_gpu);
  g_test_add_func ("/train/session/epoch-after-an-early-end-is-whole",
                   test_epoch_after_an_early_end_is_whole);
  g_test_add_func ("/train/session/pause-and-resume", test_pause_and_resume);
  g_test_add_func ("/train/session/live-settings-reach-the-engine", test_live_reaches_the_engine);
  g_test_add_func ("/train/session/job-is-a-snapshot", test_job_is_a_snapshot);
  g_test_add_func ("/train/session/adapted-prefetch-is-told-once",
                   test_adapted_prefetch_is_told_once);
  g_test_add_func ("/train/session/live-workers", test_live_workers);
  g_test_add_func ("/train/session/live-epochs", test_live_epochs);
  g_test_add_func ("/train/session/stop-now", test_stop_now);
  g_test_add_func ("/train/session/free-in-mid-run", test_free_in_mid_run);
  return g_test_run ();
}
