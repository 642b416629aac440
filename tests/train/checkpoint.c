/* SPDX-License-Identifier: MIT */
/* Stopping and resuming with equal bits; damaged and foreign files; full disks; leftovers. */
#include "checkpoint.h"
#include "file.h"
#include "planjob.h"
#include "safetensors.h"
#include "schedule.h"
#include "train-test.h"
#include <glib/gstdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define SHAPES "builtin:shapes?size=16&samples=100&classes=4"
#define POSES  "builtin:poses?size=16&samples=100"
#define WAVES  "builtin:waves?length=16&samples=100&classes=4"

static char *
in_folder (const char *folder, const char *name)
{
  return g_build_filename (folder, name, NULL);
}

static DynoJob *
job_of (const char *model, const char *data, const char *folder)
{
  DynoJob *job = test_job (model, data);

  job->out_dir = g_strdup (folder);
  test_job_set (job, "epochs=3", NULL); /* 5 steps per epoch */
  return job;
}

static DynoJob *
job_in (const char *model, const char *folder)
{
  return job_of (model, SHAPES, folder);
}

static void
stop_at (DynoSession *session, const DynoStepMetrics *step, gpointer data)
{
  if (step->step == GPOINTER_TO_UINT (data))
    dyno_session_stop (session, FALSE);
}

/* Two checkpoints are equal in the tensors, including those of the optimizer and the loss scale,
 * and in the position of the run; times may differ. */
static void
assert_same_checkpoint (const char *a, const char *b)
{
  static const char *const times[] = { "seconds", "epoch_seconds", NULL };
  g_autofree char *one_path = in_folder (a, DYNO_CHECKPOINT_NAME),
                  *other_path = in_folder (b, DYNO_CHECKPOINT_NAME);
  g_autoptr (DynoSafetensors) one = dyno_safetensors_open (one_path, 0, NULL),
                              other = dyno_safetensors_open (other_path, 0, NULL);
  g_autoptr (GPtrArray) keys = g_ptr_array_new_with_free_func (g_free);

  g_assert_cmpuint (dyno_safetensors_get_count (one), ==, dyno_safetensors_get_count (other));
  for (guint i = 0; i < dyno_safetensors_get_count (one); i++)
    {
      const DynoSafetensor *here = dyno_safetensors_get (one, i),
                           *there = dyno_safetensors_lookup (other, here->name);

      g_assert_nonnull (there);
      if (here->size_bytes != there->size_bytes
          || memcmp (here->data, there->data, here->size_bytes) != 0)
        g_error ("“%s” of the checkpoints is not the same", here->name);
    }
  dyno_position_append (&(DynoPosition){ 0 }, keys);
  for (guint i = 0; i < keys->len; i += 2)
    if (!g_strv_contains (times, keys->pdata[i]))
      g_assert_cmpstr (dyno_safetensors_get_metadata (one, keys->pdata[i]), ==,
                       dyno_safetensors_get_metadata (other, keys->pdata[i]));
}

/* Two logs have the same epochs, and each log has the means of its own steps. */
static void
assert_same_epochs (const char *a, const char *b)
{
  g_autofree char *one_path = in_folder (a, "metrics.csv"),
                  *other_path = in_folder (b, "metrics.csv");
  g_autoptr (DynoMetrics) one = dyno_metrics_read (one_path, NULL),
                          other = dyno_metrics_read (other_path, NULL);
  DynoEpochMetrics here, there;
  DynoStepMetrics step;
  DynoMetricTable table;
  guint64 at = 0;

  dyno_metrics_get_table (one, &table);
  g_assert_cmpuint (dyno_metrics_get_epochs (one), ==, dyno_metrics_get_epochs (other));
  for (guint64 i = 0; i < dyno_metrics_get_epochs (one); i++)
    {
      double n = 0, loss = 0, metrics[DYNO_MAX_METRICS] = { 0 };

      g_assert_cmpuint (dyno_metrics_copy_epochs (one, i, 1, &here), ==, 1);
      g_assert_cmpuint (dyno_metrics_copy_epochs (other, i, 1, &there), ==, 1);
      g_assert_cmpuint (here.step, ==, there.step);
      g_assert_cmpfloat (here.train_loss, ==, there.train_loss);
      g_assert_cmpfloat (here.val_loss, ==, there.val_loss);
      for (; at < here.step; at++)
        {
          g_assert_cmpuint (dyno_metrics_copy_steps (one, at, 1, &step), ==, 1);
          n += (double) step.samples;
          loss += step.loss * (double) step.samples;
          for (guint k = 0; k < table.n; k++)
            metrics[k] += step.metrics[k] * (double) step.samples;
        }
      g_assert_cmpfloat_with_epsilon (here.train_loss, loss / n, 1e-5 * (1 + loss / n));
      for (guint k = 0; k < table.n; k++)
        {
          g_assert_cmpfloat (here.train_metrics[k], ==, there.train_metrics[k]);
          g_assert_cmpfloat (here.val_metrics[k], ==, there.val_metrics[k]);
          g_assert_cmpfloat_with_epsilon (here.train_metrics[k], metrics[k] / n,
                                          1e-5 * (1 + metrics[k] / n));
        }
    }
}

/* A run that is stopped at a step and resumed, twice, ends with the weights, losses, log and
 * checkpoint of an uninterrupted run.  changes: settings, separated by blanks. */
static void
check_resume_of (const char *model, const char *data, const char *changes)
{
  g_auto (GStrv) list = g_strsplit (changes, " ", -1);
  g_autofree char *whole_dir = test_folder (), *part_dir = test_folder ();
  g_autofree char *whole_weights = in_folder (whole_dir, "weights.safetensors");
  g_autofree char *part_weights = in_folder (part_dir, "weights.safetensors");
  g_autoptr (DynoJob) whole = job_of (model, data, whole_dir),
                      part = job_of (model, data, part_dir);
  g_auto (TestRun) first = { 0 };
  guint at = 0;

  for (guint i = 0; i < 2; i++)
    {
      DynoJob *job = i ? part : whole;
      gboolean lion = g_str_equal (changes, "optimizer=lion"); /* warns of a high learning rate */

      for (guint k = 0; list[k]; k++)
        test_job_set (job, list[k], NULL);
      test_job_set (job, "augment.noise=0.1", lion ? "lr=0.001" : "lr=0.01", NULL);
      if (!g_str_equal (data, WAVES))
        test_job_set (job, "augment.flip=true", "augment.contrast=0.4", NULL);
      if (g_str_equal (data, SHAPES))
        test_job_set (job, "augment.crop=0.5", NULL);
    }
  test_run_good (&first, whole);
  g_assert_cmpuint (first.losses->len, ==, 15);
  /* one for each epoch; fewer where writing takes longer than an epoch */
  g_assert_cmpuint (first.checkpoints, >=, 1);
  g_assert_cmpuint (first.checkpoints, <=, 3);
  for (guint stop = 2; at < 15; stop += 5)
    {
      g_auto (TestRun) run = { 0 };

      test_run (&run, part, stop_at, GUINT_TO_POINTER (stop));
      g_assert_no_error (run.error);
      g_assert_cmpuint (at + run.losses->len, <=, 15);
      g_assert_true (memcmp (&g_array_index (first.losses, double, at), run.losses->data,
                             run.losses->len * sizeof (double))
                     == 0);
      at += run.losses->len;
      g_assert_cmpint (run.state, ==, at < 15 ? DYNO_SESSION_STOPPED : DYNO_SESSION_FINISHED);
      g_assert_cmpuint (run.warnings->len, ==, 0);
      g_free (part->resume);
      part->resume = g_strdup (part_dir);
    }
  test_assert_same_file (whole_weights, part_weights);
  assert_same_checkpoint (whole_dir, part_dir);
  assert_same_epochs (whole_dir, part_dir);

  g_autofree char *log = in_folder (part_dir, "metrics.csv"), *text = NULL;
  g_auto (GStrv) lines = NULL;
  g_file_get_contents (log, &text, NULL, NULL);
  lines = g_strsplit (text, "\n", -1);
  g_assert_cmpuint (g_strv_length (lines), ==, 1 + 15 + 1);
  for (guint i = 1; i <= 15; i++)
    g_assert_cmpuint (g_ascii_strtoull (lines[i], NULL, 10), ==, i);
  test_remove_tree (whole_dir);
  test_remove_tree (part_dir);
}

static void
take_rate (DynoSession *session, const DynoStepMetrics *step, gpointer data)
{
  g_array_append_val ((GArray *) data, step->lr);
}

/* The position of the checkpoint in a folder, in steps of a job. */
static guint64
place_of (const char *folder, const DynoJob *job, gint64 step_samples, guint64 *steps)
{
  g_autofree char *path = in_folder (folder, DYNO_CHECKPOINT_NAME);
  g_autoptr (DynoSafetensors) file = dyno_safetensors_open (path, 0, NULL);
  guint64 numbers[3];

  for (guint i = 0; i < 3; i++)
    {
      const char *keys[] = { "epoch", "epoch_step", "step" };
      numbers[i] = g_ascii_strtoull (dyno_safetensors_get_metadata (file, keys[i]), NULL, 10);
    }
  *steps = numbers[2];
  return numbers[0] * dyno_job_count_steps (&job->settings, 80, 1)
         + numbers[1] * (guint64) step_samples
               / (guint64) (job->settings.batch_size * job->settings.accumulate);
}

/* A run that is stopped anywhere and resumed with steps of another size, twice, has the learning
 * rates of its position in the samples of its epochs: none is zero, none rises again, and the last
 * step has the end of the schedule. */
static void
test_resume_with_other_steps (void)
{
  static const int batches[] = { 4, 8, 10, 20, 40 };
  g_autofree char *folder = test_folder ();
  g_autoptr (DynoJob) job = job_in ("mlp", folder);
  guint64 steps = 0, place = 0;

  test_job_set (job, "warmup_epochs=0", "lr=0.01", "data.val_split=0.2", NULL);
  for (guint part = 0; part < 3; part++)
    {
      g_auto (TestRun) run = { 0 };
      g_autoptr (GArray) rates = g_array_new (FALSE, FALSE, sizeof (double));
      guint64 per_epoch;

      if (part > 0)
        {
          gint64 before = job->settings.batch_size * job->settings.accumulate;

          job->settings.batch_size = batches[g_test_rand_int_range (0, G_N_ELEMENTS (batches))];
          job->settings.accumulate = g_test_rand_int_range (1, 3);
          place = place_of (folder, job, before, &steps);
          g_free (job->resume);
          job->resume = g_strdup (folder);
        }
      job->max_steps = part == 0   ? g_test_rand_int_range (1, 10)
                       : part == 1 ? (gint64) steps + 1
                                   : 0;
      per_epoch = dyno_job_count_steps (&job->settings, 80, 1);
      test_run (&run, job, take_rate, rates);
      g_assert_no_error (run.error);
      g_assert_cmpint (run.state, ==, DYNO_SESSION_FINISHED);
      for (guint i = 0; i < rates->len; i++)
        {
          double rate = g_array_index (rates, double, i),
                 want = dyno_schedule_lr (&job->settings, place + i, per_epoch, 3 * per_epoch);

          g_assert_cmpfloat (rate, ==, want);
          g_assert_cmpfloat (rate, >, 0);
        }
      if (part < 2)
        g_assert_cmpuint (run.done_steps, ==, job->max_steps);
      else
        g_assert_cmpuint (place + rates->len, ==, 3 * per_epoch);
    }
  test_remove_tree (folder);
}

/* A finished run with more epochs reports its earlier rate and the one at which it goes on, or
 * keeps the rate where schedule_epochs is set. */
static void
test_longer_run (void)
{
  g_autofree char *folder = test_folder (), *checkpoint = in_folder (folder, DYNO_CHECKPOINT_NAME),
                  *kept = in_folder (folder, "kept.safetensors"), *words = NULL;
  g_autoptr (DynoJob) job = job_in ("mlp", folder);
  g_autoptr (GArray) rates = g_array_new (FALSE, FALSE, sizeof (double));
  g_auto (TestRun) run = { 0 }, longer = { 0 }, held = { 0 };
  double last, next;

  job->settings.epochs = g_test_rand_int_range (2, 4);
  job->settings.lr = 0.001 * g_test_rand_int_range (1, 20);
  test_run (&run, job, take_rate, rates);
  last = g_array_index (rates, double, rates->len - 1);
  g_assert_cmpint (g_rename (checkpoint, kept), ==, 0);
  g_clear_pointer (&job->out_dir, g_free);
  job->resume = g_strdup (kept);
  job->settings.schedule_epochs = job->settings.epochs;
  job->settings.epochs *= 2;
  g_array_set_size (rates, 0);
  test_run (&held, job, take_rate, rates);
  g_assert_cmpuint (rates->len, ==, 5 * job->settings.epochs / 2);
  for (guint i = 0; i < rates->len; i++)
    g_assert_cmpfloat (g_array_index (rates, double, i), ==, last);
  g_assert_false (test_has_warning (&held, "learning rate"));

  job->settings.schedule_epochs = 0;
  g_array_set_size (rates, 0);
  test_run (&longer, job, take_rate, rates);
  next = g_array_index (rates, double, 0);
  g_assert_cmpfloat (next, >, 2 * last);
  words = g_strdup_printf ("continues at %.3g after %.3g", next, last);
  g_assert_true (test_has_warning (&longer, words));
  test_remove_tree (folder);
}

static void
check_resume (const char *model, const char *changes)
{
  check_resume_of (model, SHAPES, changes);
}

static void
test_resume_sgd (void)
{
  check_resume ("simplecnn", "optimizer=sgd");
}

/* The targets are values, with their mean and deviation, which lie before the factors on the rates
 * of the layers. */
static void
test_resume_adamw (void)
{
  check_resume_of ("mlp", POSES, "optimizer=adamw layer_decay=0.7 head_lr_factor=3");
}

/* The bias corrections are resumed, too. */
static void
test_resume_adam (void)
{
  check_resume_of ("mlp", SHAPES, "optimizer=adam");
}

static void
test_resume_rmsprop (void)
{
  check_resume_of ("mlp", SHAPES, "optimizer=rmsprop clip_value=0.01");
}

static void
test_resume_lion (void)
{
  check_resume_of ("mlp", SHAPES, "optimizer=lion");
}

/* The data are sequences of several lengths. */
static void
test_resume_lstm (void)
{
  check_resume_of ("cnnlstm", WAVES, "amp=true");
}

static void
test_resume_amp (void)
{
  check_resume ("simplecnn", "amp=true");
}

/* --- a pause that releases the device -------------------------------------------------------- */

typedef struct {
  DynoDevice *device;
  guint64 at;             /* the step after which the release is requested */
  guint64 again;          /* the step of a second release; 0: none */
  gboolean pause_first;   /* the release is requested during a pause */
  gboolean stop;          /* the run is stopped and not resumed */
  const char *checkpoint; /* a file that is missing at the first resume; or NULL */
  guint released, n_warnings;
  DynoSessionState state;
  GArray *losses;
} Release;

static void
move_away (const char *path, gboolean away)
{
  g_autofree char *other = g_strconcat (path, ".away", NULL);

  g_assert_cmpint (g_rename (away ? path : other, away ? other : path), ==, 0);
}

static void
take_release_event (Release *r, DynoSession *session, const DynoEvent *event)
{
  if (event->type == DYNO_EVENT_STEP)
    {
      g_array_append_val (r->losses, event->step.loss);
      /* The run may have ended before this thread sees its last steps. */
      if (event->step.step <= r->at)
        g_assert_cmpuint (dyno_device_get_allocated_total (r->device), >, 0);
      if (event->step.step == r->at && r->pause_first)
        dyno_session_pause (session);
      else if (event->step.step == r->at || event->step.step == r->again)
        dyno_session_release (session);
    }
  else if (event->type == DYNO_EVENT_STATE && event->state == DYNO_SESSION_PAUSED && r->pause_first)
    {
      r->pause_first = FALSE;
      g_assert_cmpuint (dyno_device_get_allocated_total (r->device), >, 0);
      dyno_session_release (session);
    }
  else if (event->type == DYNO_EVENT_RELEASED)
    {
      r->released++;
      g_assert_cmpuint (dyno_device_get_allocated_total (r->device), ==, 0);
      if (r->checkpoint)
        move_away (r->checkpoint, r->released == 1);
      if (r->stop)
        dyno_session_stop (session, FALSE);
      else
        dyno_session_resume (session);
    }
  else if (event->type == DYNO_EVENT_WARNING)
    {
      g_test_message ("warning: %s", event->text);
      r->n_warnings++;
      if (!r->checkpoint)
        dyno_session_resume (session);
    }
  else if (event->type == DYNO_EVENT_DONE)
    r->state = event->done.state;
}

static void
run_released (Release *r, const DynoJob *job)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoDevice) device = dyno_device_open (&(DynoDeviceParams){ 0 }, &error);
  g_autoptr (DynoSession) session = dyno_session_new (job);
  /* a queue of one event, so that the run is only a few steps ahead of this thread */
  DynoEventQueue *events = dyno_session_add_queue (session, 1, TRUE);
  gboolean done = FALSE;

  g_assert_no_error (error);
  r->device = device;
  r->losses = g_array_new (FALSE, FALSE, sizeof (double));
  dyno_session_set_device (session, device);
  dyno_session_start (session);
  while (!done)
    {
      g_autoptr (DynoEvent) event = dyno_event_queue_pop (events, 300 * G_USEC_PER_SEC);

      g_assert_nonnull (event);
      take_release_event (r, session, event);
      done = event->type == DYNO_EVENT_DONE;
    }
}

/* Released in the middle of an epoch, while running or paused, a run has the losses, weights and
 * log of an uninterrupted run.  It resumes from its checkpoint, and stays paused while the file
 * cannot be read. */
static void
test_released_goes_on_to_the_same_bits (void)
{
  g_autofree char *whole_dir = test_folder (), *part_dir = test_folder ();
  g_autofree char *whole_weights = in_folder (whole_dir, "weights.safetensors");
  g_autofree char *part_weights = in_folder (part_dir, "weights.safetensors");
  g_autofree char *log = in_folder (part_dir, "metrics.csv"), *text = NULL;
  g_autofree char *file = in_folder (part_dir, DYNO_CHECKPOINT_NAME);
  g_autoptr (DynoJob) whole = job_in ("mlp", whole_dir), part = job_in ("mlp", part_dir);
  g_auto (TestRun) first = { 0 };
  g_auto (GStrv) lines = NULL;

  test_job_set (whole, "augment.flip=true", "optimizer=adamw", "lr=0.01", NULL);
  test_job_set (part, "augment.flip=true", "optimizer=adamw", "lr=0.01", NULL);
  test_run_good (&first, whole);
  for (guint from_pause = 0; from_pause < 2; from_pause++)
    {
      Release r = { .at = 7, .pause_first = from_pause, .checkpoint = from_pause ? file : NULL };

      run_released (&r, part);
      g_assert_cmpint (r.state, ==, DYNO_SESSION_FINISHED);
      g_assert_cmpuint (r.released, ==, 1 + from_pause);
      g_assert_cmpuint (r.n_warnings, ==, from_pause);
      g_assert_cmpuint (r.losses->len, ==, 15);
      g_assert_true (memcmp (first.losses->data, r.losses->data, 15 * sizeof (double)) == 0);
      test_assert_same_file (whole_weights, part_weights);
      g_array_unref (r.losses);
    }
  g_assert_true (g_file_get_contents (log, &text, NULL, NULL));
  lines = g_strsplit (text, "\n", -1);
  g_assert_cmpuint (g_strv_length (lines), ==, 1 + 15 + 1);
  test_remove_tree (whole_dir);
  test_remove_tree (part_dir);
}

/* The second release resumes from the checkpoint of the second release. */
static void
test_released_twice (void)
{
  g_autofree char *whole_dir = test_folder (), *part_dir = test_folder ();
  g_autofree char *whole_weights = in_folder (whole_dir, "weights.safetensors");
  g_autofree char *part_weights = in_folder (part_dir, "weights.safetensors");
  g_autoptr (DynoJob) whole = job_in ("mlp", whole_dir), part = job_in ("mlp", part_dir);
  g_auto (TestRun) first = { 0 };
  Release r = { .at = 3, .again = 12 };

  test_job_set (whole, "augment.flip=true", "optimizer=adamw", "lr=0.01", "epochs=4", NULL);
  test_job_set (part, "augment.flip=true", "optimizer=adamw", "lr=0.01", "epochs=4", NULL);
  test_run_good (&first, whole);
  run_released (&r, part);
  g_assert_cmpint (r.state, ==, DYNO_SESSION_FINISHED);
  g_assert_cmpuint (r.released, ==, 2);
  g_assert_cmpuint (r.n_warnings, ==, 0);
  g_assert_cmpuint (r.losses->len, ==, 20);
  g_assert_true (memcmp (first.losses->data, r.losses->data, 20 * sizeof (double)) == 0);
  test_assert_same_file (whole_weights, part_weights);
  assert_same_checkpoint (whole_dir, part_dir);
  assert_same_epochs (whole_dir, part_dir);
  g_array_unref (r.losses);
  test_remove_tree (whole_dir);
  test_remove_tree (part_dir);
}

/* The stopped run writes weights and checkpoint without the device. */
static void
test_released_can_be_stopped (void)
{
  g_autofree char *folder = test_folder (), *weights = in_folder (folder, "weights.safetensors");
  g_autofree char *checkpoint = in_folder (folder, DYNO_CHECKPOINT_NAME);
  g_autoptr (DynoJob) job = job_in ("mlp", folder);
  Release r = { .at = 3, .stop = TRUE };

  run_released (&r, job);
  g_assert_cmpint (r.state, ==, DYNO_SESSION_STOPPED);
  g_assert_cmpuint (r.released, ==, 1);
  g_assert_true (g_file_test (weights, G_FILE_TEST_EXISTS));
  g_assert_true (g_file_test (checkpoint, G_FILE_TEST_EXISTS));
  g_array_unref (r.losses);
  test_remove_tree (folder);
}

/* Without a folder for a checkpoint, a release is an ordinary pause. */
static void
test_unsaved_is_not_released (void)
{
  g_autoptr (DynoJob) job = test_job ("mlp", SHAPES);
  Release r = { .at = 3 };

  run_released (&r, job);
  g_assert_cmpint (r.state, ==, DYNO_SESSION_FINISHED);
  g_assert_cmpuint (r.released, ==, 0);
  g_assert_cmpuint (r.n_warnings, ==, 1);
  g_array_unref (r.losses);
}

/* Frozen layers, including a batch norm, and a head with its own learning rate. */
static void
test_resume_frozen (void)
{
  check_resume ("simplecnn", "model.freeze=0,1,5.bias");
}

/* The averages are resumed, also those of running statistics, and also where vectors are stored
 * together in flat memory. */
static void
test_resume_average (void)
{
  check_resume ("simplecnn", "ema_decay=0.9 weight_decay.norms=false");
}

/* A layer that is no longer frozen goes on without moments, with a warning. */
static void
test_resume_thawed (void)
{
  g_autofree char *folder = test_folder ();
  g_autoptr (DynoJob) job = job_in ("simplecnn", folder);
  g_auto (TestRun) first = { 0 }, second = { 0 };

  test_job_set (job, "model.freeze=0,1,4,5", "optimizer=adamw", "lr=0.001", NULL);
  test_run (&first, job, stop_at, GUINT_TO_POINTER (4));
  g_assert_no_error (first.error);
  job->resume = g_strdup (folder);
  test_job_set (job, "model.freeze=0,1", NULL);
  test_run (&second, job, NULL, NULL);
  g_assert_no_error (second.error);
  g_assert_cmpint (second.state, ==, DYNO_SESSION_FINISHED);
  g_assert_cmpuint (second.warnings->len, ==, 1);
  g_assert_nonnull (strstr (second.warnings->pdata[0], "model.freeze was 0,1,4,5 and is 0,1 now"));
  test_remove_tree (folder);
}

/* --- averages, early stop --------------------------------------------------------------------- */

/* The averages are validated and are saved as the last weights: a run that starts from these with
 * lr=0 has the same validation. */
static void
test_average_is_validated_and_saved (void)
{
  g_autofree char *folder = test_folder (), *last = in_folder (folder, DYNO_WEIGHTS_NAME_LAST);
  g_autoptr (DynoJob) job = job_in ("simplecnn", folder), again = test_job ("simplecnn", SHAPES);
  g_auto (TestRun) first = { 0 }, second = { 0 };

  test_job_set (job, "ema_decay=0.8", "epochs=2", "weight_decay.norms=false", NULL);
  test_run_good (&first, job);
  again->weights_in = g_strdup (last);
  test_job_set (again, "lr=0", "weight_decay=0", "epochs=1", "model.freeze=1,5,9,13", NULL);
  test_run_good (&second, again);
  g_assert_cmpfloat_with_epsilon (second.epoch.val_loss, first.epoch.val_loss, 1e-5);
  test_remove_tree (folder);
}

/* After two epochs without a gain the run ends as finished, and stays finished when resumed, unless
 * by another metric: epochs are not compared with those of the old one. */
static void
test_early_stop (void)
{
  g_autofree char *folder = test_folder ();
  g_autoptr (DynoJob) job = job_in ("mlp", folder);
  g_auto (TestRun) run = { 0 }, resumed = { 0 }, longer = { 0 }, other = { 0 };

  test_job_set (job, "lr=0", "epochs=9", "early_stop.patience=2", "best_metric=loss", NULL);
  test_run (&run, job, NULL, NULL);
  g_assert_no_error (run.error);
  g_assert_cmpint (run.state, ==, DYNO_SESSION_FINISHED);
  g_assert_cmpuint (run.epochs, ==, 3);
  g_assert_cmpuint (run.best_epoch, ==, 1);
  g_assert_true (test_has_warning (&run, "ends early, after epoch 3: since epoch 1 the"));
  job->resume = g_strdup (folder);
  test_run (&resumed, job, NULL, NULL);
  g_assert_cmpint (resumed.state, ==, DYNO_SESSION_FINISHED);
  g_assert_cmpuint (resumed.losses->len, ==, 0);
  test_job_set (job, "early_stop.patience=4", NULL);
  test_run (&longer, job, NULL, NULL);
  g_assert_cmpuint (longer.epochs, ==, 2);
  test_job_set (job, "early_stop.patience=2", "best_metric=accuracy", NULL);
  test_run (&other, job, NULL, NULL);
  g_assert_cmpuint (other.epochs, ==, 3);
  g_assert_true (test_has_warning (&other, "ends early, after epoch 8: since epoch 6 the"));
  test_remove_tree (folder);
}

/* Gains below the configured minimum do not count, larger ones do. */
static void
test_early_stop_by_gain (void)
{
  static const char *const gains[] = { "early_stop.min_delta=0", "early_stop.min_delta=1000" };
  guint epochs[2];

  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (DynoJob) job = test_job ("mlp", SHAPES);
      g_auto (TestRun) run = { 0 };

      test_job_set (job, "lr=0.01", "epochs=4", "early_stop.patience=1", "best_metric=loss",
                    gains[i], NULL);
      test_run (&run, job, NULL, NULL);
      g_assert_no_error (run.error);
      epochs[i] = run.epochs;
    }
  g_assert_cmpuint (epochs[0], >, 2);
  g_assert_cmpuint (epochs[1], ==, 2);
}

static void
test_best_metric (void)
{
  g_autoptr (DynoJob) job = test_job ("mlp", SHAPES);
  g_auto (TestRun) run = { 0 };

  test_job_set (job, "best_metric=acuracy", NULL);
  test_run (&run, job, NULL, NULL);
  g_assert_error (run.error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_SETTING);
  g_assert_nonnull (strstr (run.error->message, "“acuracy”: what this run measures is loss, acc"));
  g_assert_cmpint (dyno_metric_table_find_best (&run.metrics, "loss"), ==, -1);
  g_assert_cmpint (dyno_metric_table_find_best (&run.metrics, ""), ==, 0);
  g_assert_cmpint (dyno_metric_table_find_best (&run.metrics, "log_loss"), ==, 1);
}

/* --- damage ----------------------------------------------------------------------------------- */

static void
run_once (DynoJob *job)
{
  g_auto (TestRun) run = { 0 };

  test_run_good (&run, job);
}

static void
flip_bit (const char *path, gssize from_end)
{
  g_autofree char *text = NULL;
  gsize size;

  g_assert_true (g_file_get_contents (path, &text, &size, NULL));
  text[(gssize) size - from_end] ^= 0x10;
  g_assert_true (g_file_set_contents (path, text, (gssize) size, NULL));
}

static void
expect_error (DynoJob *job, const char *word)
{
  g_auto (TestRun) run = { 0 };

  test_run (&run, job, NULL, NULL);
  g_assert_cmpint (run.state, ==, DYNO_SESSION_FAILED);
  g_assert_error (run.error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_CHECKPOINT);
  g_assert_nonnull (strstr (run.error->message, word));
}

static void
test_one_bit_is_seen (void)
{
  g_autofree char *folder = test_folder (), *path = in_folder (folder, DYNO_CHECKPOINT_NAME);
  g_autofree char *previous = in_folder (folder, DYNO_CHECKPOINT_NAME_PREVIOUS);
  g_autoptr (DynoJob) job = job_in ("mlp", folder);

  /* A run saves the checkpoint of its end, but of earlier epochs only those for which the saver had
   * time.  With a second part of the run, the previous checkpoint exists in any case. */
  run_once (job);
  job->resume = g_strdup (folder);
  test_job_set (job, "epochs=4", NULL);
  run_once (job);
  flip_bit (path, 1000);
  expect_error (job, "previous");
  g_free (job->resume);
  job->resume = g_strdup (previous);
  run_once (job); /* the previous one is complete */
  test_remove_tree (folder);
}

static void
test_other_model_is_named (void)
{
  g_autofree char *folder = test_folder ();
  g_autoptr (DynoJob) job = job_in ("mlp", folder);

  run_once (job);
  job->resume = g_strdup (folder);
  test_job_set (job, "model.width=0.5", NULL);
  expect_error (job, "model.1.weight");
  test_job_set (job, "model.width=0.25", "optimizer=adamw", NULL);
  expect_error (job, "optimizer sgd");
  g_free (job->model);
  job->model = g_strdup ("simplecnn");
  expect_error (job, "mlp");
  g_free (job->resume);
  job->resume = g_strdup ("/nonexistent");
  expect_error (job, "/nonexistent");
  test_remove_tree (folder);
}

static void
test_other_data_is_warned_of (void)
{
  g_autofree char *folder = test_folder ();
  g_autoptr (DynoJob) job = job_in ("mlp", folder);
  g_auto (TestRun) run = { 0 };

  run_once (job);
  job->resume = g_strdup (folder);
  g_free (job->data);
  job->data = g_strdup ("builtin:shapes?size=16&samples=100&classes=4&seed=9");
  test_job_set (job, "epochs=4", "seed=3", NULL);
  test_run_good (&run, job);
  g_assert_true (test_has_warning (&run, "data set"));
  g_assert_true (test_has_warning (&run, "seed was 1"));
  test_remove_tree (folder);
}

/* --- weights ---------------------------------------------------------------------------------- */

static void
test_weights_roundtrip (void)
{
  g_autofree char *a = test_folder (), *b = test_folder ();
  g_autofree char *weights_a = in_folder (a, "weights.safetensors"),
                  *weights_b = in_folder (b, "weights.safetensors");
  g_autoptr (DynoJob) job = job_in ("simplecnn", a), again = job_in ("simplecnn", b);
  g_autoptr (DynoSafetensors) file = NULL;
  const DynoSafetensor *tensor;
  gint64 tracked;

  run_once (job);
  again->weights_in = g_strdup (weights_a);
  again->max_steps = 1;
  /* a step that changes only the running statistics */
  test_job_set (again, "lr=0", "weight_decay=0", NULL);
  run_once (again);
  file = dyno_safetensors_open (weights_b, 0, NULL);
  tensor = dyno_safetensors_lookup (file, "1.num_batches_tracked");
  g_assert_cmpint (tensor->type, ==, DYNO_TENSOR_I64);
  memcpy (&tracked, tensor->data, 8);
  g_assert_cmpint (tracked, ==, 16);
  g_assert_cmpstr (dyno_safetensors_get_metadata (file, "format"), ==, "pt");

  g_autoptr (DynoSafetensors) before = dyno_safetensors_open (weights_a, 0, NULL);
  for (guint i = 0; i < dyno_safetensors_get_count (file); i++)
    {
      const DynoSafetensor *now = dyno_safetensors_get (file, i);
      const DynoSafetensor *then = dyno_safetensors_lookup (before, now->name);
      g_assert_nonnull (then);
      if (!strstr (now->name, "running_") && !strstr (now->name, "tracked"))
        g_assert_cmpmem (now->data, now->size_bytes, then->data, then->size_bytes);
      else
        g_assert_false (memcmp (now->data, then->data, now->size_bytes) == 0);
    }
  test_remove_tree (a);
  test_remove_tree (b);
}

/* The weights of the best epoch stay, whatever comes after it, and however the run ends. */
static void
check_best (gboolean diverges)
{
  g_autofree char *folder = test_folder (), *best = in_folder (folder, "weights.safetensors");
  g_autofree char *last = in_folder (folder, "weights-last.safetensors"),
                  *kept = in_folder (folder, "kept");
  g_autofree char *out = in_folder (folder, "out"), *text = NULL;
  g_autoptr (DynoJob) job = job_in ("mlp", folder);
  g_auto (TestRun) first = { 0 };
  g_auto (TestRun) spoilt = { 0 };
  gsize size;

  test_job_set (job, "epochs=4", "lr=0.01", "warmup_epochs=0", "schedule=constant", NULL);
  test_run_good (&first, job);
  g_assert_cmpuint (first.best_epoch, >, 0);
  g_assert_true (g_file_get_contents (best, &text, &size, NULL)
                 && g_file_set_contents (kept, text, (gssize) size, NULL));

  job->resume = g_strdup (folder);
  job->weights_out = g_strdup (out);
  test_job_set (job, "epochs=9", NULL);
  if (diverges)
    test_job_set (job, "lr=100", "momentum=0.99", NULL);
  else /* the weights decay */
    test_job_set (job, "lr=0.2", "momentum=0", "clip_norm=0.001", "weight_decay=1", NULL);
  test_run (&spoilt, job, NULL, NULL);
  if (diverges)
    g_assert_error (spoilt.error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DIVERGED);
  else
    g_assert_no_error (spoilt.error);
  g_assert_cmpuint (spoilt.best_epoch, ==, first.best_epoch);
  test_assert_same_file (best, kept);
  test_assert_same_file (out, kept);
  if (!diverges)
    {
      g_autofree char *other = NULL;
      gsize other_size;
      g_assert_true (g_file_get_contents (last, &other, &other_size, NULL));
      g_assert_true (other_size == size && memcmp (text, other, size) != 0);
    }
  test_remove_tree (folder);
}

/* A run that saves at its end writes one checkpoint, and leaves the files of a run that saves after
 * each epoch: with a better epoch, after it is resumed without one, and with one again. */
static void
test_saves_at_end (void)
{
  static const char *const parts[][4] = {
    { "epochs=4", "lr=0.01", "weight_decay=0.0001", "clip_norm=0" },
    { "epochs=7", "lr=0.2", "weight_decay=1", "clip_norm=0.001" },
    { "epochs=12", "lr=0.02", "weight_decay=0.0001", "clip_norm=0" },
  };
  g_autofree char *each = test_folder (), *once = test_folder ();
  guint64 best_epoch[G_N_ELEMENTS (parts)];

  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    for (guint k = 0; k < 2; k++)
      {
        g_autoptr (DynoJob) job = job_in ("mlp", k ? once : each);
        g_auto (TestRun) run = { 0 };

        job->saves_at_end = k == 1;
        job->resume = i > 0 ? g_strdup (job->out_dir) : NULL;
        test_job_set (job, "warmup_epochs=0", "schedule=constant", NULL);
        test_job_set (job, parts[i][0], parts[i][1], parts[i][2], parts[i][3], NULL);
        test_run_good (&run, job);
        best_epoch[i] = run.best_epoch;
        if (k == 0)
          continue;
        g_assert_cmpuint (run.checkpoints, ==, 1);
        for (guint f = 0; f < 2; f++)
          {
            const char *name = f ? "weights-last.safetensors" : "weights.safetensors";
            g_autofree char *one = in_folder (each, name), *other = in_folder (once, name);

            test_assert_same_file (one, other);
          }
        assert_same_checkpoint (each, once);
      }
  g_assert_cmpuint (best_epoch[1], ==, best_epoch[0]);
  g_assert_cmpuint (best_epoch[2], >, best_epoch[1]);
  test_remove_tree (each);
  test_remove_tree (once);
}

static void
test_best_is_kept (void)
{
  check_best (FALSE);
}

static void
test_best_outlives_divergence (void)
{
  check_best (TRUE);
}

/* Without a folder the best weights are kept in memory until the end.  Here they are those of the
 * first epoch, since weights decay after it. */
static void
test_best_without_folder (void)
{
  g_autofree char *learned = test_folder (), *folder = test_folder (),
                  *weights = in_folder (learned, "weights.safetensors"),
                  *best = in_folder (folder, "weights.safetensors"),
                  *out = in_folder (learned, "out");
  g_autoptr (DynoJob) job = job_in ("mlp", learned), with = job_in ("mlp", folder),
                      without = job_in ("mlp", folder);
  DynoJob *fading[] = { with, without };

  test_job_set (job, "lr=0.01", "warmup_epochs=0", "schedule=constant", NULL);
  run_once (job);
  g_clear_pointer (&without->out_dir, g_free);
  without->weights_out = g_strdup (out);
  for (guint i = 0; i < G_N_ELEMENTS (fading); i++)
    {
      g_auto (TestRun) run = { 0 };

      fading[i]->weights_in = g_strdup (weights);
      test_job_set (fading[i], "lr=0.2", "momentum=0", "clip_norm=0.001", "weight_decay=1",
                    "warmup_epochs=0", "schedule=constant", NULL);
      test_run_good (&run, fading[i]);
      g_assert_cmpuint (run.best_epoch, ==, 1);
    }
  test_assert_same_file (best, out);
  test_remove_tree (learned);
  test_remove_tree (folder);
}

static void
copy_to (const char *from, const char *to)
{
  g_autofree char *bytes = NULL;
  gsize size;

  g_assert_true (g_file_get_contents (from, &bytes, &size, NULL));
  g_assert_true (g_file_set_contents (to, bytes, (gssize) size, NULL));
}

/* Weights of another run in the folder of a resumed run, or beside its checkpoint, never become its
 * best. */
static void
test_best_of_another_run_is_not_adopted (void)
{
  g_autofree char *own = test_folder (), *others = test_folder ();
  g_autofree char *best = in_folder (own, "weights.safetensors"),
                  *foreign = in_folder (others, "weights.safetensors"),
                  *last = in_folder (own, "weights-last.safetensors");
  g_autoptr (DynoJob) job = job_in ("mlp", own), other = job_in ("mlp", others);
  g_auto (TestRun) run = { 0 };
  g_auto (TestRun) misled = { 0 };
  guint64 best_epoch;

  test_job_set (job, "epochs=2", "lr=0.01", "schedule=constant", NULL);
  test_job_set (other, "epochs=1", "lr=0.02", NULL);
  test_run_good (&run, job);
  best_epoch = run.best_epoch;
  run_once (other);
  test_run_clear (&run);

  /* No later epoch is better, so the best is that of the first part. */
  test_job_set (job, "epochs=3", "lr=0", "weight_decay=0", NULL);
  job->resume = g_strdup (own);
  g_free (g_steal_pointer (&job->out_dir));
  job->out_dir = g_strdup (others);
  test_run_good (&run, job);
  g_assert_cmpuint (run.best_epoch, ==, best_epoch);
  test_assert_same_file (foreign, best);

  test_job_set (other, "lr=0.03", NULL);
  run_once (other);
  copy_to (foreign, best);
  g_free (g_steal_pointer (&job->out_dir));
  job->out_dir = g_strdup (own);
  test_run_good (&misled, job);
  g_assert_cmpuint (misled.best_epoch, ==, 3);
  g_assert_true (test_has_warning (&misled, "does not belong to the run"));
  test_assert_same_file (best, last);
  test_remove_tree (own);
  test_remove_tree (others);
}

static void
test_other_weights_are_named (void)
{
  g_autofree char *a = test_folder (), *weights = in_folder (a, "weights.safetensors");
  g_autoptr (DynoJob) job = job_in ("simplecnn", a);

  run_once (job);
  job->weights_in = g_strdup (weights);
  g_free (job->data);
  job->data = g_strdup ("builtin:shapes?size=16&samples=100&classes=5");
  test_job_set (job, "model.width=0.5", NULL);
  expect_error (job, "0.weight” is (8, 3, 3, 3) there and (16, 3, 3, 3) in the model");
  g_free (job->model);
  job->model = g_strdup ("mlp");
  expect_error (job, "no tensor “3.weight”, “3.bias”");
  test_remove_tree (a);
}

/* Puts a NaN into a tensor of a weights file. */
static void
spoil (const char *path, const char *name)
{
  g_autoptr (DynoSafetensors) file = dyno_safetensors_open (path, 0, NULL);
  const DynoSafetensor *tensor = dyno_safetensors_lookup (file, name);
  g_autofree char *text = NULL;
  gsize size, at;
  guint32 nan = 0x7fc00000;

  g_assert_nonnull (tensor);
  g_assert_true (g_file_get_contents (path, &text, &size, NULL));
  for (at = 0; memcmp (text + at, tensor->data, tensor->size_bytes) != 0; at++)
    g_assert_cmpuint (at + tensor->size_bytes, <, size);
  memcpy (text + at, &nan, sizeof nan);
  g_assert_true (g_file_set_contents (path, text, (gssize) size, NULL));
}

/* A state with a NaN replaces neither the checkpoint nor the weights, and the run reports it. */
static void
test_state_that_is_not_finite_is_not_saved (void)
{
  g_autofree char *a = test_folder (), *b = test_folder (),
                  *spoilt = in_folder (a, "weights.safetensors");
  g_autofree char *weights = in_folder (b, "weights.safetensors"),
                  *checkpoint = in_folder (b, DYNO_CHECKPOINT_NAME);
  g_autofree char *kept_weights = in_folder (a, "kept-weights"),
                  *kept_checkpoint = in_folder (a, "kept-checkpoint");
  g_autofree char *text = NULL, *other = NULL;
  gsize size, other_size;
  g_autoptr (DynoJob) job = job_in ("simplecnn", a), good = job_in ("simplecnn", b);
  g_auto (TestRun) run = { 0 };

  test_job_set (job, "epochs=1", NULL);
  run_once (job);
  spoil (spoilt, "1.running_mean"); /* training does not read this tensor, so the loss is finite */
  test_job_set (good, "epochs=1", "lr=0.01", NULL);
  run_once (good);
  g_assert_true (g_file_get_contents (weights, &text, &size, NULL)
                 && g_file_set_contents (kept_weights, text, (gssize) size, NULL));
  g_assert_true (g_file_get_contents (checkpoint, &other, &other_size, NULL)
                 && g_file_set_contents (kept_checkpoint, other, (gssize) other_size, NULL));
  good->weights_in = g_strdup (spoilt);
  test_run (&run, good, NULL, NULL);
  g_assert_error (run.error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DIVERGED);
  g_assert_nonnull (strstr (run.error->message, "1.running_mean"));
  g_assert_cmpuint (run.losses->len, ==, 5);
  g_assert_cmpuint (run.checkpoints, ==, 0);
  g_assert_true (test_has_warning (&run, "model.1.running_mean"));
  test_assert_same_file (weights, kept_weights);
  test_assert_same_file (checkpoint, kept_checkpoint);
  test_remove_tree (a);
  test_remove_tree (b);
}

/* --- the disk --------------------------------------------------------------------------------- */

static guint64
file_size (const char *path)
{
  GStatBuf status;

  return g_stat (path, &status) == 0 ? (guint64) status.st_size : 0;
}

/* Counts temporary files, none of which may be left. */
static guint
count_leftovers (const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;
  guint n = 0;

  while ((name = g_dir_read_name (dir)))
    n += dyno_file_is_temporary (name) != FALSE;
  return n;
}

/* Limits the size of files from the end of the first save to that of the second.  An epoch has five
 * steps, and a pause begins after the two steps that may be in flight. */
static void
limit_files (DynoSession *session, const DynoStepMetrics *step, gpointer data)
{
  struct rlimit limit;

  if (step->step == 6 || step->step == 12)
    test_pause_for_saves (step->step == 6 ? 1 : 2);
  getrlimit (RLIMIT_FSIZE, &limit);
  limit.rlim_cur = step->step >= 9 && step->step < 15 ? 20000 : limit.rlim_max;
  setrlimit (RLIMIT_FSIZE, &limit);
}

static void
limit_all_files (DynoSession *session, const DynoStepMetrics *step, gpointer data)
{
  struct rlimit limit;

  getrlimit (RLIMIT_FSIZE, &limit);
  limit.rlim_cur = step->step >= 7 && step->step < 17 ? 100 : limit.rlim_max;
  setrlimit (RLIMIT_FSIZE, &limit);
}

static guint
count_warnings (const TestRun *run, const char *word)
{
  guint n = 0;

  for (guint i = 0; i < run->warnings->len; i++)
    n += strstr (g_ptr_array_index (run->warnings, i), word) != NULL;
  return n;
}

/* No row can be appended in the second and third epoch.  The failure is reported once, and so is
 * the recovery; no row is lost. */
static void
test_full_disk_and_log (void)
{
  g_autofree char *folder = test_folder (), *path = in_folder (folder, "metrics.csv"), *text = NULL;
  g_autoptr (DynoJob) job = job_in ("mlp", folder);
  g_auto (TestRun) run = { 0 };
  g_auto (GStrv) lines = NULL;

  test_job_set (job, "epochs=4", NULL);
  test_run (&run, job, limit_all_files, NULL);
  g_assert_no_error (run.error);
  g_assert_cmpuint (run.losses->len, ==, 20);
  g_assert_cmpuint (count_warnings (&run, "metrics.csv”: "), ==, 1);
  g_assert_cmpuint (count_warnings (&run, "metrics.csv is written again"), ==, 1);
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  lines = g_strsplit (text, "\n", -1);
  g_assert_cmpuint (g_strv_length (lines), ==, 1 + 20 + 1);
  test_remove_tree (folder);
}

/* The disk is full in the second epoch: the run goes on, the checkpoint of the first epoch stays,
 * and a later checkpoint is saved. */
static void
test_full_disk (void)
{
  g_autofree char *folder = test_folder (), *path = in_folder (folder, DYNO_CHECKPOINT_NAME);
  g_autoptr (DynoJob) job = job_in ("simplecnn", folder);
  g_auto (TestRun) run = { 0 }, resumed = { 0 };

  test_job_set (job, "epochs=4", NULL);
  test_run (&run, job, limit_files, NULL);
  g_assert_no_error (run.error);
  g_assert_cmpint (run.state, ==, DYNO_SESSION_FINISHED);
  g_assert_cmpuint (run.losses->len, ==, 20);
  g_assert_cmpuint (count_warnings (&run, "checkpoint was not saved"), ==, 1);
  /* The fourth checkpoint may replace the third while the third waits to be written. */
  g_assert_cmpuint (run.checkpoints, >=, 2);
  g_assert_cmpuint (run.checkpoints, <, 4);
  g_assert_cmpuint (file_size (path), >, 20000);
  g_assert_cmpuint (count_leftovers (folder), ==, 0);
  job->resume = g_strdup (folder);
  test_job_set (job, "epochs=5", NULL);
  test_run_good (&resumed, job);
  g_assert_cmpuint (resumed.losses->len, ==, 5); /* the checkpoint has the state of the end */
  test_remove_tree (folder);
}

static void
test_folder_that_cannot_be_written (void)
{
  g_autofree char *folder = test_folder (), *path = in_folder (folder, "file"),
                  *below = in_folder (path, "run");
  g_autoptr (DynoJob) job = job_in ("mlp", below);
  g_auto (TestRun) run = { 0 };

  g_assert_true (g_file_set_contents (path, "x", 1, NULL));
  test_run (&run, job, NULL, NULL);
  g_assert_error (run.error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_OUTPUT);
  g_assert_nonnull (strstr (run.error->message, below));
  test_remove_tree (folder);
}

/* Temporary files of a killed run are removed; files of others stay. */
static void
test_leftovers (void)
{
  static const char *const names[] = { ".dyno-a1B2c3", ".dyno-before", "notes.txt",
                                       "weights.safetensors.backup",
                                       "checkpoint.previous.safetensors.link" };
  g_autofree char *folder = test_folder ();
  g_autoptr (DynoJob) job = job_in ("mlp", folder);

  job->max_steps = 1;
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *path = in_folder (folder, names[i]);
      g_assert_true (g_file_set_contents (path, "x", 1, NULL));
    }
  run_once (job);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *path = in_folder (folder, names[i]);
      g_assert_cmpint (g_file_test (path, G_FILE_TEST_EXISTS), ==, i >= 2);
    }
  test_remove_tree (folder);
}

/* --- in the middle of an epoch --------------------------------------------------------------- */

static guint64
step_of (const char *checkpoint, guint64 *epoch_step)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoSafetensors) file = dyno_safetensors_open (checkpoint, 0, &error);

  g_assert_no_error (error);
  *epoch_step = g_ascii_strtoull (dyno_safetensors_get_metadata (file, "epoch_step"), NULL, 10);
  return g_ascii_strtoull (dyno_safetensors_get_metadata (file, "step"), NULL, 10);
}

/* A checkpoint that is due at one of the first steps has been passed to the saver's thread by the
 * twentieth step, and the session takes no later step before the file is written. */
static void
end_when_saved (DynoSession *session, const DynoStepMetrics *step, gpointer data)
{
  while (step->step >= 20 && !g_file_test (data, G_FILE_TEST_EXISTS))
    g_usleep (1000);
  if (g_file_test (data, G_FILE_TEST_EXISTS))
    dyno_session_stop (session, TRUE); /* saves nothing more */
}

/* A run that is ended at once after a save in the middle of an epoch, with later steps in flight,
 * is resumed bit-identically. */
static void
check_mid_epoch (const char *change)
{
  g_autofree char *whole_dir = test_folder (), *part_dir = test_folder ();
  g_autofree char *checkpoint = in_folder (part_dir, DYNO_CHECKPOINT_NAME);
  g_autofree char *whole_weights = in_folder (whole_dir, "weights.safetensors");
  g_autofree char *part_weights = in_folder (part_dir, "weights.safetensors");
  g_autoptr (DynoJob) whole = job_in ("simplecnn", whole_dir),
                      part = job_in ("simplecnn", part_dir);
  g_auto (TestRun) ended = { 0 };
  g_auto (TestRun) resumed = { 0 };
  g_auto (TestRun) plain = { 0 };
  guint64 step, epoch_step;

  test_job_set (part, "data.val_split=0", "epochs=100000", "lr=0.01", "schedule=constant",
                "checkpoint_minutes=1e-9", change, NULL);
  test_run (&ended, part, end_when_saved, checkpoint);
  g_assert_no_error (ended.error);
  g_assert_cmpint (ended.state, ==, DYNO_SESSION_STOPPED);
  step = step_of (checkpoint, &epoch_step);
  g_assert_cmpuint (step, >, 0);

  part->resume = g_strdup (part_dir);
  part->max_steps = (gint64) step + 3;
  test_run_good (&resumed, part);
  test_job_set (whole, "data.val_split=0", "epochs=100000", "lr=0.01", "schedule=constant",
                "checkpoint_minutes=0", NULL);
  whole->max_steps = part->max_steps;
  test_run_good (&plain, whole);
  g_assert_cmpuint (plain.losses->len, ==, step + 3);
  g_assert_cmpuint (resumed.losses->len, ==, 3);
  g_assert_cmpmem (&g_array_index (plain.losses, double, step), 3 * sizeof (double),
                   resumed.losses->data, 3 * sizeof (double));
  test_assert_same_file (whole_weights, part_weights);
  test_remove_tree (whole_dir);
  test_remove_tree (part_dir);
}

static void
save_often (DynoSession *session, const DynoStepMetrics *step, gpointer data)
{
  g_assert_true (dyno_session_set (session, "checkpoint_minutes", "1e-9", NULL));
  end_when_saved (session, step, data);
}

static void
test_live_minutes (void)
{
  g_autofree char *folder = test_folder (), *path = in_folder (folder, DYNO_CHECKPOINT_NAME);
  g_autoptr (DynoJob) job = test_job ("mlp", "builtin:shapes?size=16&samples=16000&classes=4");
  g_auto (TestRun) run = { 0 };

  job->out_dir = g_strdup (folder);
  test_run (&run, job, save_often, path);
  g_assert_no_error (run.error);
  g_assert_cmpint (run.state, ==, DYNO_SESSION_STOPPED);
  g_assert_cmpuint (run.epochs, ==, 0);
  g_assert_cmpuint (run.checkpoints, >=, 1);
  test_remove_tree (folder);
}

static void
write_npy (const char *path, const char *type, const char *shape, gsize size_bytes)
{
  g_autofree char *data = g_malloc0 (128 + size_bytes);
  g_autofree char *words =
      g_strdup_printf ("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", type, shape);

  memset (data, ' ', 127);
  data[127] = '\n';
  memcpy (data, "\x93NUMPY\x01\x00\x76\x00", 10);
  memcpy (data + 10, words, strlen (words));
  for (gsize i = 0; i < size_bytes; i++)
    data[128 + i] = (char) (strcmp (type, "|u1") == 0 ? i % 251 : i % 8 == 0 ? (i / 8) % 2 : 0);
  g_assert_true (g_file_set_contents (path, data, (gssize) (128 + size_bytes), NULL));
}

static void
truncate_data (DynoSession *session, const DynoStepMetrics *step, gpointer data)
{
  if (step->step == 3)
    g_assert_cmpint (truncate (data, 1000), ==, 0);
}

/* Data that become unreadable end the run, which saves its state and can be resumed from there. */
static void
test_error_saves (void)
{
  g_autofree char *folder = test_folder (), *x = in_folder (folder, "X.npy"),
                  *y = in_folder (folder, "y.npy");
  g_autofree char *out = in_folder (folder, "run"),
                  *checkpoint = in_folder (out, DYNO_CHECKPOINT_NAME);
  g_autoptr (DynoJob) job = test_job ("mlp", x);
  g_auto (TestRun) run = { 0 };
  g_auto (TestRun) resumed = { 0 };
  guint64 epoch_step, step;

  write_npy (x, "|u1", "4096, 8, 8, 3", 4096 * 192);
  write_npy (y, "<i8", "4096,", 4096 * 8);
  job->targets = g_strdup (y);
  job->out_dir = g_strdup (out);
  test_job_set (job, "epochs=1000", "lr=0.001", "batch_size=4", NULL);
  test_run (&run, job, truncate_data, x);
  g_assert_cmpint (run.state, ==, DYNO_SESSION_FAILED);
  g_assert_nonnull (run.error);
  g_assert_cmpuint (run.checkpoints, >=, 1);
  step = step_of (checkpoint, &epoch_step);
  g_assert_cmpuint (step, ==, run.losses->len);

  write_npy (x, "|u1", "4096, 8, 8, 3", 4096 * 192);
  job->resume = g_strdup (out);
  job->max_steps = (gint64) step + 2;
  test_run_good (&resumed, job);
  g_assert_cmpuint (resumed.losses->len, ==, 2);
  test_remove_tree (folder);
}

/* --- before the first step -------------------------------------------------------------------- */

typedef struct {
  const char *folder, *data; /* data: a file to truncate once it is open; NULL: none */
  char *before;
} Watch;

/* A line for each file of a folder: its name and a hash of its contents. */
static char *
contents_of (const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  GList *lines = NULL;
  GString *all = g_string_new (NULL);
  const char *name;

  while ((name = g_dir_read_name (dir)))
    {
      g_autofree char *path = in_folder (folder, name), *bytes = NULL, *sum = NULL;
      gsize size;

      g_assert_true (g_file_get_contents (path, &bytes, &size, NULL));
      sum = g_compute_checksum_for_data (G_CHECKSUM_SHA256, (const guchar *) bytes, size);
      lines = g_list_insert_sorted (lines, g_strdup_printf ("%s %s\n", name, sum),
                                    (GCompareFunc) strcmp);
    }
  for (GList *l = lines; l; l = l->next)
    g_string_append (all, l->data);
  g_list_free_full (lines, g_free);
  return g_string_free (all, FALSE);
}

static void
assert_unchanged (const Watch *watch)
{
  g_autofree char *now = contents_of (watch->folder);

  g_assert_cmpstr (now, ==, watch->before);
}

/* Runs in the session's thread. */
static void
watch_folder (DynoEvent *event, gpointer data)
{
  const Watch *watch = data;

  if (event->type == DYNO_EVENT_PLAN && watch->data)
    g_assert_cmpint (truncate (watch->data, 1000), ==, 0);
  if (event->type == DYNO_EVENT_STATE)
    assert_unchanged (watch);
}
static const DynoObserver folder_watcher = { .event = watch_folder };

/* Resumes a run that ends before its first step: by a stop in a pause, or for lack of data. */
static void
check_no_step (const DynoJob *job, Watch *watch)
{
  g_autoptr (DynoSession) session = dyno_session_new (job);
  DynoEventQueue *events = dyno_session_add_queue (session, 0, TRUE);
  gboolean done = FALSE;

  watch->before = contents_of (watch->folder);
  dyno_session_add_observer (session, &folder_watcher, watch);
  if (!watch->data)
    dyno_session_pause (session);
  dyno_session_start (session);
  while (!done)
    {
      g_autoptr (DynoEvent) event = dyno_event_queue_pop (events, 300 * G_USEC_PER_SEC);

      g_assert_nonnull (event);
      g_assert_cmpint (event->type, !=, DYNO_EVENT_STEP);
      if (event->type == DYNO_EVENT_STATE && event->state == DYNO_SESSION_PAUSED)
        dyno_session_stop (session, TRUE);
      if ((done = event->type == DYNO_EVENT_DONE))
        g_assert_cmpint (event->done.state, ==,
                         watch->data ? DYNO_SESSION_FAILED : DYNO_SESSION_STOPPED);
    }
  assert_unchanged (watch);
  g_clear_pointer (&watch->before, g_free);
}

/* A run that is resumed from another folder and takes no step leaves the files of a previous run in
 * its own folder unchanged; a run that takes a step has the best weights in its folder. */
static void
test_resumed_without_a_step_changes_nothing (void)
{
  g_autofree char *folder = test_folder (), *x = in_folder (folder, "X.npy"),
                  *y = in_folder (folder, "y.npy"), *own = in_folder (folder, "own"),
                  *others = in_folder (folder, "others"),
                  *best = in_folder (own, "weights.safetensors"),
                  *placed = in_folder (others, "weights.safetensors");
  g_autoptr (DynoJob) job = test_job ("mlp", x), other = NULL;
  g_auto (TestRun) run = { 0 };

  write_npy (x, "|u1", "128, 8, 8, 3", 128 * 192);
  write_npy (y, "<i8", "128,", 128 * 8);
  job->targets = g_strdup (y);
  test_job_set (job, "epochs=1", "workers=0", NULL);
  other = dyno_job_copy (job);
  job->out_dir = g_strdup (own);
  other->out_dir = g_strdup (others);
  test_job_set (other, "lr=0.03", NULL);
  run_once (job);
  run_once (other);

  test_job_set (job, "epochs=2", "lr=0", "weight_decay=0", NULL);
  job->resume = g_strdup (own);
  g_free (g_steal_pointer (&job->out_dir));
  job->out_dir = g_strdup (others);
  check_no_step (job, &(Watch){ .folder = others });
  check_no_step (job, &(Watch){ .folder = others, .data = x });

  write_npy (x, "|u1", "128, 8, 8, 3", 128 * 192);
  test_run_good (&run, job);
  g_assert_cmpuint (run.best_epoch, ==, 1); /* lr is 0, so the second epoch is no better */
  test_assert_same_file (placed, best);
  test_remove_tree (folder);
}

/* Resuming a finished run reports that it is finished and rewrites none of its files; only weights
 * that are requested elsewhere are written.  With more epochs the run goes on.  A run that was
 * killed before it had written all files is completed. */
static void
check_nothing_left (const char *setting, gint64 max_steps, const char *words)
{
  g_autofree char *folder = test_folder (), *facts = in_folder (folder, "facts.ini"),
                  *weights = in_folder (folder, "weights.safetensors"),
                  *other = g_strconcat (folder, "-weights.safetensors", NULL), *text = NULL;
  g_autoptr (DynoJob) job = job_in ("mlp", folder);
  g_auto (TestRun) run = { 0 }, again = { 0 }, more = { 0 }, killed = { 0 };
  g_autofree char *before = NULL, *after = NULL;

  test_job_set (job, "epochs=2", "lr=0", setting, NULL);
  job->max_steps = max_steps;
  test_run_good (&run, job);
  before = contents_of (folder);
  job->resume = g_strdup (folder);
  job->settings.checkpoint_minutes = 3; /* a rewritten settings.ini would have this value */
  job->weights_out = g_strdup (other);
  test_run_good (&again, job);
  g_assert_cmpuint (again.losses->len, ==, 0);
  g_assert_cmpuint (again.done_steps, ==, run.done_steps);
  g_assert_true (again.is_idle);
  g_assert_true (test_has_warning (&again, words));
  g_assert_false (test_has_warning (&again, "lr is 0"));
  after = contents_of (folder);
  g_assert_cmpstr (after, ==, before);
  test_assert_same_file (other, weights);
  g_unlink (other);
  g_clear_pointer (&job->weights_out, g_free);

  g_file_get_contents (facts, &text, NULL, NULL);
  g_autofree char *state = g_strdup_printf ("state=%d", DYNO_SESSION_FINISHED),
                  *running = g_strdup_printf ("state=%d", DYNO_SESSION_RUNNING);
  g_auto (GStrv) parts = g_strsplit (text, state, 2);
  g_autofree char *alive = g_strjoinv (running, parts);
  g_assert_cmpuint (g_strv_length (parts), ==, 2);
  g_file_set_contents (facts, alive, -1, NULL);
  test_run_good (&killed, job);
  g_assert_false (killed.is_idle);
  g_assert_cmpuint (killed.losses->len, ==, 0);

  job->max_steps = 0;
  test_job_set (job, "epochs=3", "early_stop.patience=0", NULL);
  test_run_good (&more, job);
  g_assert_cmpuint (more.losses->len, ==, 15 - run.done_steps);
  g_assert_false (more.is_idle);
  test_remove_tree (folder);
}

static void
test_nothing_left (void)
{
  check_nothing_left ("workers=1", 0, "through 2 epochs, and ends after 2; more epochs (--epochs)");
  check_nothing_left ("workers=1", 7, "made 7 steps, and ends after 7; --steps");
}

static void
test_mid_epoch (void)
{
  check_mid_epoch (NULL);
}

/* Where the plan has no room for a snapshot, saving makes training wait, and saves the same
 * state. */
static void
test_without_room (void)
{
  g_autoptr (DynoJob) job = test_job ("simplecnn", SHAPES);
  g_autofree char *change = NULL;
  g_auto (TestRun) run = { 0 };
  g_auto (TestRun) tight = { 0 };

  test_job_set (job, "data.val_split=0", NULL);
  job->max_steps = 1;
  test_run_good (&run, job);
  g_assert_true (run.plan.plan.snapshot);
  g_assert_cmpuint (run.plan.plan.kind_bytes[DYNO_MEMORY_SNAPSHOT], >, 0);
  change = g_strdup_printf ("vram_budget=%" G_GUINT64_FORMAT, run.plan.plan.total_bytes - 1);
  test_job_set (job, change, NULL);
  test_run_good (&tight, job);
  g_assert_true (tight.plan.fits && !tight.plan.plan.snapshot);
  g_assert_cmpuint (tight.vram_bytes, ==, tight.plan.plan.total_bytes);
  check_mid_epoch (change);
}

static void
ask_checkpoint (DynoSession *session, const DynoStepMetrics *step, gpointer data)
{
  if (step->step == 2)
    dyno_session_checkpoint (session);
  end_when_saved (session, step, data);
}

static void
test_asked_for (void)
{
  g_autofree char *folder = test_folder (), *path = in_folder (folder, DYNO_CHECKPOINT_NAME);
  g_autoptr (DynoJob) job = test_job ("mlp", "builtin:shapes?size=16&samples=16000&classes=4");
  g_auto (TestRun) run = { 0 };
  guint64 epoch_step;

  job->out_dir = g_strdup (folder);
  test_run (&run, job, ask_checkpoint, path);
  g_assert_no_error (run.error);
  g_assert_cmpuint (run.checkpoints, ==, 1);
  g_assert_cmpuint (step_of (path, &epoch_step), >=, 2);
  test_remove_tree (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/train/checkpoint/resume-lstm-to-the-bit", test_resume_lstm);
  dyno_file_ignore_size_signal ();
  g_test_add_func ("/train/checkpoint/released-goes-on-to-the-same-bits",
                   test_released_goes_on_to_the_same_bits);
  g_test_add_func ("/train/checkpoint/released-twice-goes-on-each-time", test_released_twice);
  g_test_add_func ("/train/checkpoint/released-can-be-stopped", test_released_can_be_stopped);
  g_test_add_func ("/train/checkpoint/unsaved-is-not-released", test_unsaved_is_not_released);
  g_test_add_func ("/train/checkpoint/resume-sgd-to-the-bit", test_resume_sgd);
  g_test_add_func ("/train/checkpoint/resume-with-other-steps-keeps-the-place",
                   test_resume_with_other_steps);
  g_test_add_func ("/train/checkpoint/longer-run-says-its-rates", test_longer_run);
  g_test_add_func ("/train/checkpoint/resume-adamw-to-the-bit", test_resume_adamw);
  g_test_add_func ("/train/checkpoint/resume-adam-to-the-bit", test_resume_adam);
  g_test_add_func ("/train/checkpoint/resume-rmsprop-to-the-bit", test_resume_rmsprop);
  g_test_add_func ("/train/checkpoint/resume-lion-to-the-bit", test_resume_lion);
  g_test_add_func ("/train/checkpoint/resume-amp-to-the-bit", test_resume_amp);
  g_test_add_func ("/train/checkpoint/resume-frozen-to-the-bit", test_resume_frozen);
  g_test_add_func ("/train/checkpoint/resume-average-to-the-bit", test_resume_average);
  g_test_add_func ("/train/checkpoint/what-is-frozen-no-more-has-no-moments", test_resume_thawed);
  g_test_add_func ("/train/average/is-validated-and-saved", test_average_is_validated_and_saved);
  g_test_add_func ("/train/early-stop/ends-and-stays-ended", test_early_stop);
  g_test_add_func ("/train/early-stop/by-the-least-gain", test_early_stop_by_gain);
  g_test_add_func ("/train/best-metric/unknown-is-an-error", test_best_metric);
  g_test_add_func ("/train/checkpoint/asked-for", test_asked_for);
  g_test_add_func ("/train/checkpoint/in-mid-epoch-to-the-bit", test_mid_epoch);
  g_test_add_func ("/train/checkpoint/without-room-for-a-snapshot-to-the-bit", test_without_room);
  g_test_add_func ("/train/checkpoint/one-bit-is-seen", test_one_bit_is_seen);
  g_test_add_func ("/train/checkpoint/other-model-is-named", test_other_model_is_named);
  g_test_add_func ("/train/checkpoint/other-data-is-warned-of", test_other_data_is_warned_of);
  g_test_add_func ("/train/weights/roundtrip", test_weights_roundtrip);
  g_test_add_func ("/train/checkpoint/minutes-change-live", test_live_minutes);
  g_test_add_func ("/train/checkpoint/error-saves-what-was-learned", test_error_saves);
  g_test_add_func ("/train/weights/saves-at-end", test_saves_at_end);
  g_test_add_func ("/train/weights/best-is-kept", test_best_is_kept);
  g_test_add_func ("/train/weights/best-outlives-divergence", test_best_outlives_divergence);
  g_test_add_func ("/train/weights/best-without-a-folder", test_best_without_folder);
  g_test_add_func ("/train/checkpoint/nothing-left-to-do-is-said", test_nothing_left);
  g_test_add_func ("/train/checkpoint/resumed-without-a-step-changes-nothing",
                   test_resumed_without_a_step_changes_nothing);
  g_test_add_func ("/train/weights/best-of-another-run-is-not-adopted",
                   test_best_of_another_run_is_not_adopted);
  g_test_add_func ("/train/weights/mismatch-is-named", test_other_weights_are_named);
  g_test_add_func ("/train/checkpoint/state-that-is-not-finite-is-not-saved",
                   test_state_that_is_not_finite_is_not_saved);
  g_test_add_func ("/train/disk/full", test_full_disk);
  g_test_add_func ("/train/disk/full-for-the-log", test_full_disk_and_log);
  g_test_add_func ("/train/disk/folder-that-cannot-be-written", test_folder_that_cannot_be_written);
  g_test_add_func ("/train/disk/leftovers", test_leftovers);
  return g_test_run ();
}
