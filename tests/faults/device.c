/* SPDX-License-Identifier: MIT */
/* Runs on a device that fails, through the layer of tests/layer: lost, hanging, out of memory, or
 * with low limits.
 *
 * A fault is injected at the N-th call for N = 1, 2, ...  To save time, from the sixth call on only
 * some calls are tested, since they belong to equal steps, and then all of the last ones. */
#include "../train/train-test.h"
#include "checkpoint.h"
#include "engine.h"
#include <glib/gstdio.h>
#include <gmodule.h>
#include <string.h>

#define SHAPES "builtin:shapes?size=16&samples=100&classes=3"

static void (*set_faults) (const char *words);
static guint64 (*count_calls) (const char *what);

static void G_GNUC_PRINTF (1, 2) fault (const char *format, ...)
{
  va_list arguments;
  g_autofree char *words = NULL;

  va_start (arguments, format);
  words = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  set_faults (words);
}

/* Trains in a tenth of a second on a CPU: epochs of 5 steps, with validation and checkpoints. */
static DynoJob *
tiny_job (const char *folder, guint epochs)
{
  DynoJob *job = test_job ("mlp", SHAPES);

  test_job_set (job, "model.width=0.0625", "lr=0.01", "deterministic=true", "memory.shrink=false",
                NULL);
  job->settings.epochs = epochs;
  job->out_dir = g_strdup (folder);
  return job;
}

/* A run in a folder of its own, with some faults. */
typedef struct {
  char *folder, *weights, *last; /* the weights: the best by validation, and the last */
  TestRun run;
} Trial;

static void
trial_clear (Trial *trial)
{
  test_run_clear (&trial->run);
  if (trial->folder)
    test_remove_tree (trial->folder);
  g_free (trial->folder);
  g_free (trial->weights);
  g_free (trial->last);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Trial, trial_clear)

static void
assert_same_weights (const Trial *a, const Trial *b)
{
  test_assert_same_file (a->weights, b->weights);
  test_assert_same_file (a->last, b->last);
}

static void
trial_run_with (Trial *trial, guint epochs, TestHook hook)
{
  trial->folder = test_folder ();
  trial->weights = g_build_filename (trial->folder, "weights.safetensors", NULL);
  trial->last = g_build_filename (trial->folder, "weights-last.safetensors", NULL);
  g_autoptr (DynoJob) job = tiny_job (trial->folder, epochs);
  test_run (&trial->run, job, hook, trial->folder);
}

static void
trial_run (Trial *trial, guint epochs)
{
  trial_run_with (trial, epochs, NULL);
}

/* Returns the next N; `all` is the number of calls without a fault. */
static guint64
next_call (guint64 n, guint64 all)
{
  guint64 step = n < 6 ? 1 : n + 6 >= all ? 1 : MAX (1, n / 4);

  return n < all - 5 ? MIN (n + step, all - 5) : n + 1;
}

/* Runs without faults, and returns the number of calls of a kind. */
static guint64
run_reference (Trial *whole, guint epochs, const char *what)
{
  fault ("%s", "");
  trial_run (whole, epochs);
  g_assert_no_error (whole->run.error);
  g_assert_cmpint (whole->run.state, ==, DYNO_SESSION_FINISHED);
  return count_calls (what);
}

/* Whenever the device is lost, the run ends with weights that are bit-identical to those of an
 * undisturbed run. */
static void
test_gone_at (gconstpointer word)
{
  g_auto (Trial) whole = { 0 };
  guint64 all = run_reference (&whole, 2, "submits");
  guint n_hit = 0;

  g_assert_cmpuint (all, >, 30);
  for (guint64 n = 1; n <= all + 1; n = next_call (n, all))
    {
      g_auto (Trial) trial = { 0 };

      fault ("%s=%" G_GUINT64_FORMAT, (const char *) word, n);
      trial_run (&trial, 2);
      gboolean hit = count_calls ("devices") > 1;
      g_test_message ("%s=%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT "%s", (const char *) word, n,
                      all, hit ? ": hit" : "");
      g_assert_no_error (trial.run.error);
      g_assert_cmpint (trial.run.state, ==, DYNO_SESSION_FINISHED);
      g_assert_cmpint (hit, ==, test_has_warning (&trial.run, "set up anew"));
      g_assert_true (hit || n + 5 >= all);
      n_hit += hit;
      assert_same_weights (&trial, &whole);
      if (!hit)
        break;
    }
  g_assert_cmpuint (n_hit, >=, 15);
  set_faults ("");
}

/* A run that also measures a test part, in a folder of its own. */
static void
run_tested (TestRun *run)
{
  g_autofree char *folder = test_folder ();
  g_autoptr (DynoJob) job = tiny_job (folder, 1);

  test_job_set (job, "data.test_split=0.3", NULL);
  test_run (run, job, NULL, NULL);
  test_remove_tree (folder);
}

/* The device is lost at each of the last submits, which load the best weights and measure the test
 * part: the run measures it on the new device. */
static void
test_gone_while_tested (gconstpointer word)
{
  g_auto (TestRun) whole = { 0 };
  guint64 all;

  set_faults ("");
  run_tested (&whole);
  all = count_calls ("submits");
  g_assert_cmpuint (whole.test.n_samples, ==, 30);
  for (guint64 n = all - 3; n <= all; n++)
    {
      g_auto (TestRun) run = { 0 };

      fault ("%s=%" G_GUINT64_FORMAT, (const char *) word, n);
      run_tested (&run);
      g_assert_no_error (run.error);
      g_assert_cmpint (run.state, ==, DYNO_SESSION_FINISHED);
      g_assert_cmpuint (count_calls ("devices"), ==, 2);
      g_assert_cmpuint (run.test.n_samples, ==, 30);
      g_assert_cmpfloat (run.test.loss, ==, whole.test.loss);
      g_assert_cmpuint (run.losses->len, ==, whole.losses->len);
    }
  set_faults ("");
}

/* The device is lost at each submit of the thread that reads a checkpoint back: this checkpoint is
 * not written, and the run goes on from the previous one, or from the start. */
static void
test_gone_while_read_back (gconstpointer word)
{
  g_auto (Trial) whole = { 0 };
  gboolean hit = TRUE;
  guint n_hit = 0;

  g_assert_cmpuint (run_reference (&whole, 2, "devices"), ==, 1);
  for (guint n = 1; hit; n++)
    {
      g_auto (Trial) trial = { 0 };

      fault ("%s=%u,thread=dyno-saver", (const char *) word, n);
      trial_run (&trial, 2);
      hit = count_calls ("devices") > 1;
      g_assert_no_error (trial.run.error);
      g_assert_cmpint (trial.run.state, ==, DYNO_SESSION_FINISHED);
      g_assert_cmpint (hit, ==, test_has_warning (&trial.run, "set up anew"));
      assert_same_weights (&trial, &whole);
      n_hit += hit;
      if (hit && n > 1)
        continue;

      /* the file is the checkpoint of the end */
      g_autoptr (DynoJob) more = tiny_job (trial.folder, 2);
      g_auto (TestRun) resumed = { 0 };
      set_faults ("");
      more->resume = g_strdup (trial.folder);
      test_run (&resumed, more, NULL, NULL);
      g_assert_no_error (resumed.error);
      g_assert_cmpuint (resumed.losses->len, ==, 0);
    }
  g_test_message ("%u times", n_hit);
  g_assert_cmpuint (n_hit, >=, 1);
}

/* In the second epoch, waits for the checkpoint of the first, which another thread writes. */
static void
wait_for_checkpoint (DynoSession *session, const DynoStepMetrics *step, gpointer folder)
{
  g_autofree char *path = g_build_filename (folder, DYNO_CHECKPOINT_NAME, NULL);

  while (step->step >= 8 && !g_file_test (path, G_FILE_TEST_EXISTS))
    g_usleep (1000);
}

/* A second loss ends the run; its checkpoint can be resumed, with the same bits. */
static void
test_second_loss (gconstpointer word)
{
  g_auto (Trial) whole = { 0 };
  guint64 all = run_reference (&whole, 6, "submits");
  g_auto (Trial) trial = { 0 };
  const int code = g_str_equal (word, "hang") ? DYNO_GPU_ERROR_TIMEOUT : DYNO_GPU_ERROR_DEVICE_LOST;

  /* The device is lost in the third epoch, after the first part has saved a checkpoint, and early
   * enough for the second part to reach the same call. */
  fault ("%s=%" G_GUINT64_FORMAT ",devices=2", (const char *) word, all * 9 / 20);
  trial_run_with (&trial, 6, wait_for_checkpoint);
  g_assert_cmpint (trial.run.state, ==, DYNO_SESSION_FAILED);
  g_assert_error (trial.run.error, DYNO_GPU_ERROR, code);
  g_assert_cmpuint (count_calls ("devices"), ==, 2);

  set_faults ("");
  g_autoptr (DynoJob) job = tiny_job (trial.folder, 6);
  g_auto (TestRun) resumed = { 0 };
  job->resume = g_strdup (trial.folder);
  test_run_good (&resumed, job);
  assert_same_weights (&trial, &whole);
}

/* Memory that the driver refuses gives an error with this reason, and no partial file; a run with
 * enough memory is not affected. */
static void
test_no_memory (gconstpointer word)
{
  g_auto (Trial) whole = { 0 };
  guint64 all = run_reference (&whole, 2, "allocations");
  const int code = g_str_equal (word, "host") ? DYNO_GPU_ERROR_OUT_OF_HOST_MEMORY
                                              : DYNO_GPU_ERROR_OUT_OF_DEVICE_MEMORY;
  guint n_failed = 0;

  for (guint64 n = 1; n <= all + 1; n = next_call (n, all))
    {
      g_auto (Trial) trial = { 0 };

      fault ("%s=%" G_GUINT64_FORMAT, (const char *) word, n);
      trial_run (&trial, 2);
      g_test_message ("%s=%" G_GUINT64_FORMAT ": %s", (const char *) word, n,
                      trial.run.error ? trial.run.error->message : "ran");
      if (!trial.run.error)
        {
          assert_same_weights (&trial, &whole);
          continue;
        }
      n_failed++;
      g_assert_cmpint (trial.run.state, ==, DYNO_SESSION_FAILED);
      g_assert_error (trial.run.error, DYNO_GPU_ERROR, code);
    }
  g_assert_cmpuint (n_failed, >=, 10);
  set_faults ("");
}

/* Another program holds most of the memory: the error advises a batch that fits. */
static void
test_memory_taken (void)
{
  g_autoptr (DynoJob) job = test_job ("simplecnn", "builtin:shapes?size=32&samples=200&classes=3");
  g_auto (TestRun) run = { 0 };

  test_job_set (job, "batch_size=128", "memory.shrink=false", NULL);
  fault ("memory-limit=%u", 12u << 20);
  test_run (&run, job, NULL, NULL);
  g_assert_error (run.error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_OUT_OF_DEVICE_MEMORY);
  g_assert_nonnull (strstr (run.error->message, "batch_size"));
  g_assert_nonnull (strstr (run.error->message, "accumulate"));
  set_faults ("");
}

/* --- micro-batches ---------------------------------------------------------------------------- */

/* Trains two epochs of 2 updates with 36 samples each, out of slightly more than 80: the rest of an
 * epoch is dropped, whatever the micro-batch is. */
static void
train_whole_batches (Trial *trial, const char *shrink)
{
  g_autoptr (DynoJob) job = tiny_job (NULL, 2);

  trial->folder = test_folder ();
  job->out_dir = g_strdup (trial->folder);
  test_job_set (job, "batch_size=36", "augment.flip=true", shrink, NULL);
  test_run (&trial->run, job, NULL, NULL);
}

static guint
count_told (const TestRun *run)
{
  guint n = 0;

  for (guint i = 0; i < run->warnings->len; i++)
    n += strstr (g_ptr_array_index (run->warnings, i), "micro-batches") != NULL;
  return n;
}

/* Compares the losses with those of a run with the same effective batch: the samples have the same
 * order, and the sums differ by rounding. */
static void
assert_same_losses (const TestRun *run, const TestRun *whole)
{
  g_assert_no_error (run->error);
  g_assert_cmpint (run->state, ==, DYNO_SESSION_FINISHED);
  g_assert_cmpuint (run->done_steps, ==, whole->done_steps);
  g_assert_cmpuint (run->losses->len, ==, whole->losses->len);
  for (guint i = 0; i < whole->losses->len; i++)
    g_assert_cmpfloat_with_epsilon (g_array_index (run->losses, double, i),
                                    g_array_index (whole->losses, double, i), 1e-5);
  g_assert_cmpfloat_with_epsilon (run->epoch.val_loss, whole->epoch.val_loss, 1e-5);
}

/* Memory is refused at the start, after a device loss during the run, and during the run itself:
 * smaller micro-batches give the same losses, and this is reported once; the settings and the
 * checkpoint keep the batch. */
static void
test_shrinks (void)
{
  g_auto (Trial) whole = { 0 };

  set_faults ("");
  train_whole_batches (&whole, "memory.shrink=true");
  assert_same_losses (&whole.run, &whole.run);
  g_assert_cmpuint (whole.run.losses->len, ==, 4);
  g_assert_cmpuint (whole.run.parts, ==, 1);
  g_assert_cmpuint (count_told (&whole.run), ==, 0);
  guint64 all = count_calls ("submits"), need = count_calls ("allocated");
  g_autofree char *limit = g_strdup_printf ("memory-limit=%" G_GUINT64_FORMAT, need - 1),
                  *later = g_strdup_printf ("lost=%" G_GUINT64_FORMAT
                                            ",limit-from=2,memory-limit=%" G_GUINT64_FORMAT,
                                            all / 2, need - 1),
                  *submit = g_strdup_printf ("submit-memory=%" G_GUINT64_FORMAT, all / 2);
  const char *const faults[] = { "memory=3", limit, later, submit };
  for (guint i = 0; i < G_N_ELEMENTS (faults); i++)
    {
      g_auto (Trial) trial = { 0 };

      g_test_message ("%s", faults[i]);
      fault ("%s", faults[i]);
      train_whole_batches (&trial, "memory.shrink=true");
      assert_same_losses (&trial.run, &whole.run);
      g_assert_cmpuint (trial.run.parts, ==, 2);
      /* The reported plan is that of the engine that continued. */
      g_assert_cmpuint (trial.run.plan.plan.total_bytes, <, whole.run.plan.plan.total_bytes);
      g_assert_cmpuint (count_told (&trial.run), ==, 1);
      g_assert_true (test_has_warning (&trial.run, "each batch of 36"));
      g_assert_false (test_has_warning (&trial.run, "batch norm"));
      g_assert_false (test_has_warning (&trial.run, "not as it would have"));
    }
  set_faults ("");
}

static void
stop_at (DynoSession *session, const DynoStepMetrics *step, gpointer data)
{
  if (step->step == GPOINTER_TO_UINT (data))
    dyno_session_stop (session, FALSE);
}

/* Memory is taken in the middle of an epoch that has the last checkpoint as well: the batches after
 * the checkpoint are run in smaller micro-batches without repeating a sample, and the losses are
 * those of an undisturbed run. */
static void
test_shrinks_in_mid_epoch (void)
{
  g_autoptr (DynoJob) job = tiny_job (NULL, 2);
  g_auto (Trial) whole = { 0 };
  g_auto (Trial) part = { 0 };
  g_auto (TestRun) rest = { 0 };

  test_job_set (job, "batch_size=12", "augment.flip=true", "memory.shrink=true", NULL);
  set_faults ("");
  test_run_good (&whole.run, job);
  g_assert_cmpuint (whole.run.losses->len, >=, 12);
  part.folder = test_folder ();
  job->out_dir = g_strdup (part.folder);
  test_run (&part.run, job, stop_at, GUINT_TO_POINTER (2));
  g_assert_no_error (part.run.error);
  g_assert_cmpint (part.run.state, ==, DYNO_SESSION_STOPPED);
  guint done = part.run.losses->len;
  g_assert_cmpuint (done, <, whole.run.losses->len / 2);
  job->resume = g_strdup (part.folder);
  fault ("submit-memory=%u", 12);
  test_run (&rest, job, NULL, NULL);
  g_assert_no_error (rest.error);
  g_assert_cmpint (rest.state, ==, DYNO_SESSION_FINISHED);
  g_assert_cmpuint (rest.parts, >, 1);
  g_assert_cmpuint (count_told (&rest), ==, 1);
  g_assert_cmpuint (done + rest.losses->len, ==, whole.run.losses->len);
  for (guint i = 0; i < rest.losses->len; i++)
    g_assert_cmpfloat_with_epsilon (g_array_index (rest.losses, double, i),
                                    g_array_index (whole.run.losses, double, done + i), 1e-5);
  g_assert_cmpfloat_with_epsilon (rest.epoch.val_loss, whole.run.epoch.val_loss, 1e-5);
  set_faults ("");
}

/* Without the setting, and where not even one sample fits, too little memory is an error, and no
 * step is taken. */
static void
test_nothing_fits (void)
{
  static const char *const words[] = { "memory.shrink=false", "memory.shrink=true" };

  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    {
      g_auto (Trial) trial = { 0 };

      fault ("%s", i == 0 ? "memory=3" : "memory-limit=65536");
      train_whole_batches (&trial, words[i]);
      g_assert_error (trial.run.error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_OUT_OF_DEVICE_MEMORY);
      g_assert_cmpint (trial.run.state, ==, DYNO_SESSION_FAILED);
      g_assert_cmpuint (count_told (&trial.run), ==, 0);
      g_assert_cmpuint (trial.run.losses->len, ==, 0);
    }
  set_faults ("");
}

/* The statistics of batch norm change, which is reported; its micro-batches have more than one
 * sample. */
static void
test_shrinks_batch_norm (void)
{
  g_autoptr (DynoJob) job = test_job ("simplecnn", SHAPES);
  g_auto (TestRun) run = { 0 };
  g_auto (TestRun) least = { 0 };

  test_job_set (job, "model.width=0.0625", "batch_size=4", NULL);
  job->max_steps = 1;
  fault ("memory=3");
  test_run_good (&run, job);
  g_assert_true (test_has_warning (&run, "but batch norm"));
  test_job_set (job, "batch_size=2", NULL);
  fault ("memory=3");
  test_run (&least, job, NULL, NULL);
  g_assert_error (least.error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_OUT_OF_DEVICE_MEMORY);
  set_faults ("");
}

/* A device with less memory trains as well, or the plan reports that it cannot. */
static void
test_small_device (void)
{
  g_autoptr (DynoJob) job = test_job ("simplecnn", SHAPES);

  job->max_steps = 3;
  static const char *const devices[] = { "no-fp16", "no-16bit", "shared=16384", "invocations=128",
                                         "buffer=1048576" };
  g_auto (TestRun) whole = { 0 };
  set_faults ("");
  test_run_good (&whole, job);
  for (guint i = 0; i < G_N_ELEMENTS (devices); i++)
    for (guint amp = i < 3; amp < 2; amp++)
      {
        g_auto (TestRun) run = { 0 };

        g_test_message ("%s", devices[i]);
        test_job_set (job, amp ? "amp=true" : "amp=false", NULL);
        fault ("%s", devices[i]);
        test_run_good (&run, job);
        g_assert_cmpint (test_has_warning (&run, "no fp16"), ==, amp && i < 2);
        for (guint k = 0; k < 3; k++)
          g_assert_cmpfloat_with_epsilon (g_array_index (run.losses, double, k),
                                          g_array_index (whole.losses, double, k), 2e-2);
      }
  fault ("%s", "buffer=65536");
  g_auto (TestRun) refused = { 0 };
  test_run (&refused, job, NULL, NULL);
  g_assert_error (refused.error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DOES_NOT_FIT);
  set_faults ("");
}

/* With uploads in a queue of their own, either these or the computing are as late as the waits
 * between the queues allow: the losses are the same. */
static void
test_two_queues (void)
{
  static const char *const queues[] = { "late-upload", "late-compute" };
  g_auto (Trial) whole = { 0 };

  run_reference (&whole, 2, "submits");
  for (guint i = 0; i < G_N_ELEMENTS (queues); i++)
    {
      g_auto (Trial) trial = { 0 };

      fault ("%s", queues[i]);
      trial_run (&trial, 2);
      g_assert_no_error (trial.run.error);
      assert_same_weights (&trial, &whole);
    }
  set_faults ("");
}

static void
ignore_progress (const char *what, guint done, guint total, gpointer data)
{
}

static void
ignore_warning (const char *text, gpointer data)
{
}

/* The loss of the first batch, whose slot receives the second batch as soon as the uploader allows
 * it. */
static float
first_loss (gboolean wait_between)
{
  g_autoptr (DynoJob) job = tiny_job (NULL, 1);
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoDataset) dataset = dyno_dataset_open (SHAPES, NULL, NULL, NULL, NULL, &error);
  DynoEngineWatch watch = { ignore_progress, ignore_warning, NULL };
  DynoStepOrder order = { .batches = 1, .lr = 0.01 };
  struct DynoStepInput input;
  DynoWait upload = { DYNO_QUEUE_TRANSFER, 0 };
  guint64 computing, tracked;
  gint64 wait_us = 0;
  guint32 n_valid;

  g_assert_no_error (error);
  g_autoptr (DynoEngine) engine = dyno_engine_open_split (NULL, job, dataset, &watch, &error);
  g_assert_no_error (error);
  g_assert_true (dyno_engine_build (engine, &watch, NULL, &error)
                 && dyno_engine_initialise (engine, &watch, &tracked, &error));
  dyno_loader_start_epoch (dyno_uploader_get_loader (engine->training.uploader), 0, 0);
  g_assert_true (dyno_uploader_next (engine->training.uploader, 0, 0, NULL, &n_valid, &wait_us,
                                     &upload.timeline_value, &error));
  dyno_step_fill_input (&input, &order, &job->settings);
  input.n_valid = n_valid;
  input.loss_divisor = (float) n_valid;
  *dyno_program_step_input (dyno_engine_get_program (engine), 0) = input;
  g_assert_true (dyno_program_submit (dyno_engine_get_program (engine), DYNO_COMMAND_FULL, 0,
                                      &upload, 1, &computing, &error));
  if (wait_between)
    g_assert_true (dyno_queue_wait (engine->device, DYNO_QUEUE_COMPUTE, computing, 0, &error));
  g_assert_true (
      dyno_queue_wait (engine->device, DYNO_QUEUE_TRANSFER, upload.timeline_value, 0, &error));
  dyno_uploader_reclaim (engine->training.uploader, 0, NULL);
  g_assert_true (dyno_uploader_next (engine->training.uploader, 0, computing, NULL, &n_valid,
                                     &wait_us, &upload.timeline_value, &error));
  g_assert_true (
      dyno_queue_wait (engine->device, DYNO_QUEUE_TRANSFER, upload.timeline_value, 0, &error));
  g_assert_true (dyno_queue_wait (engine->device, DYNO_QUEUE_COMPUTE, computing, 0, &error));
  g_assert_no_error (error);
  return dyno_program_step_output (dyno_engine_get_program (engine), 0)->loss_sum;
}

/* A slot is not overwritten before the computation that reads it. */
static void
test_upload_waits (void)
{
  float loss, late;

  set_faults ("");
  loss = first_loss (TRUE);
  set_faults ("late-compute");
  late = first_loss (FALSE);
  g_assert_cmpfloat (loss, >, 0);
  g_assert_cmpfloat (loss, ==, late);
  set_faults ("");
}

int
main (int argc, char **argv)
{
  GModule *module;

  g_test_init (&argc, &argv, NULL);
  module = g_module_open (g_getenv ("DYNO_FAULTS_LAYER"), G_MODULE_BIND_LAZY);
  g_assert_nonnull (module);
  g_assert_true (g_module_symbol (module, "dyno_faults_set", (gpointer *) &set_faults));
  g_assert_true (g_module_symbol (module, "dyno_faults_count", (gpointer *) &count_calls));
  g_test_add_data_func ("/faults/device/lost/at-each-submit", "lost", test_gone_at);
  g_test_add_data_func ("/faults/device/hangs/at-each-submit", "hang", test_gone_at);
  g_test_add_data_func ("/faults/device/lost/while-a-checkpoint-is-read-back", "lost",
                        test_gone_while_read_back);
  g_test_add_data_func ("/faults/device/hangs/while-a-checkpoint-is-read-back", "hang",
                        test_gone_while_read_back);
  g_test_add_data_func ("/faults/device/lost/while-the-test-part-is-measured", "lost",
                        test_gone_while_tested);
  g_test_add_data_func ("/faults/device/hangs/while-the-test-part-is-measured", "hang",
                        test_gone_while_tested);
  g_test_add_data_func ("/faults/device/second/loss-is-an-error", "lost", test_second_loss);
  g_test_add_data_func ("/faults/device/second/hang-is-an-error", "hang", test_second_loss);
  g_test_add_data_func ("/faults/device/memory/none-at-each-allocation", "memory", test_no_memory);
  g_test_add_data_func ("/faults/device/memory/no-host-memory-at-each-allocation", "host",
                        test_no_memory);
  g_test_add_func ("/faults/device/memory/taken-by-others-offers-a-batch", test_memory_taken);
  g_test_add_func ("/faults/device/shrinks/to-micro-batches-with-the-same-losses", test_shrinks);
  g_test_add_func ("/faults/device/shrinks/in-the-middle-of-an-epoch", test_shrinks_in_mid_epoch);
  g_test_add_func ("/faults/device/shrinks/until-nothing-fits", test_nothing_fits);
  g_test_add_func ("/faults/device/shrinks/says-what-batch-norm-changes", test_shrinks_batch_norm);
  g_test_add_func ("/faults/device/less/still-trains", test_small_device);
  g_test_add_func ("/faults/device/queues/in-any-order", test_two_queues);
  g_test_add_func ("/faults/device/queues/upload-waits-for-computing", test_upload_waits);
  return g_test_run ();
}
