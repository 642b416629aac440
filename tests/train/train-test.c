/* SPDX-License-Identifier: MIT */
#include "train-test.h"
#include <glib/gstdio.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

DynoJob *
test_job (const char *model, const char *data)
{
  DynoJob *job = dyno_job_new ();

  g_free (job->model);
  job->model = g_strdup (model);
  job->data = g_strdup (data);
  test_job_set (job, "amp=false", "batch_size=16", "model.width=0.25", "workers=2", "epochs=2",
                "lr=0.05", NULL);
  return job;
}

void
test_job_set (DynoJob *job, ...)
{
  va_list pairs;
  const char *pair;

  va_start (pairs, job);
  while ((pair = va_arg (pairs, const char *)))
    {
      g_auto (GStrv) parts = g_strsplit (pair, "=", 2);
      g_autoptr (GError) error = NULL;

      g_assert_true (dyno_settings_set (&job->settings, parts[0], parts[1], &error));
      g_assert_no_error (error);
    }
  va_end (pairs);
}

void
test_run_clear (TestRun *run)
{
  g_clear_error (&run->error);
  g_clear_pointer (&run->warnings, g_ptr_array_unref);
  g_clear_pointer (&run->losses, g_array_unref);
  g_clear_pointer (&run->ranks, g_free);
  g_clear_pointer (&run->masks, g_ptr_array_unref);
}

static void
check_log (DynoSession *session, const TestRun *run)
{
  DynoMetrics *metrics = dyno_session_get_metrics (session);
  guint64 n = dyno_metrics_get_steps (metrics);

  g_assert_cmpuint (n, >=, run->losses->len);
  for (guint i = 0; i < run->losses->len; i++)
    {
      DynoStepMetrics row;
      double loss = g_array_index (run->losses, double, i);

      g_assert_cmpuint (dyno_metrics_copy_steps (metrics, n - run->losses->len + i, 1, &row), ==,
                        1);
      g_assert_true (row.loss == loss || (isnan (row.loss) && isnan (loss)));
    }
}

static void
take_event (TestRun *run, DynoEvent *event)
{
  switch (event->type)
    {
    case DYNO_EVENT_PLAN:
      run->plans++;
      run->plan = event->plan.plan;
      break;
    case DYNO_EVENT_STEP:
      g_array_append_val (run->losses, event->step.loss);
      run->vram_bytes = event->step.vram_bytes;
      run->skipped += event->step.skipped;
      run->last_rate = event->step.samples_per_s;
      break;
    case DYNO_EVENT_EPOCH:
      run->epochs++;
      run->epoch = event->epoch;
      break;
    case DYNO_EVENT_MASKS:
      g_assert_cmpuint (event->masks.epoch, ==, run->epoch.epoch);
      g_ptr_array_add (run->masks, dyno_event_ref (event));
      break;
    case DYNO_EVENT_CHECKPOINT:
      run->checkpoints++;
      break;
    case DYNO_EVENT_WARNING:
      g_test_message ("warning: %s", event->text);
      g_ptr_array_add (run->warnings, g_strdup (event->text));
      break;
    case DYNO_EVENT_ERROR:
      g_test_message ("error: %s", event->error->message);
      g_assert_null (run->error);
      run->error = g_error_copy (event->error);
      break;
    case DYNO_EVENT_DONE:
      run->state = event->done.state;
      run->done_steps = event->done.steps;
      run->is_idle = event->done.is_idle;
      run->parts = event->done.parts;
      run->best_val_accuracy = event->done.best_val_metric;
      run->n_unreadable = event->done.n_unreadable;
      run->test = event->done.test;
      run->n_ranks = event->done.n_ranks;
      run->ranks = g_memdup2 (event->done.ranks, run->n_ranks * sizeof *run->ranks);
      g_assert_cmpuint (g_strv_length (event->done.unreadable), ==, MIN (run->n_unreadable, 100));
      run->best_epoch = event->done.best_epoch;
      run->preparation_seconds = event->done.preparation_seconds;
      run->train_seconds = event->done.seconds;
      break;
    case DYNO_EVENT_METRICS:
      run->metrics = event->metrics;
      break;
    case DYNO_EVENT_STATE:
    case DYNO_EVENT_PROGRESS:
    default:
      break;
    }
}

typedef struct {
  DynoSession *session;
  TestHook hook;
  gpointer data;
  guint n_saves, awaited_saves; /* number of checkpoints that were written or have failed */
} Hooked;

static Hooked *hooked_now; /* the one whose event is being delivered */

/* Events are delivered one at a time, whichever thread emits them, so no lock is needed. */
static void
call_hook (DynoEvent *event, gpointer data)
{
  Hooked *hooked = data;

  if (event->type == DYNO_EVENT_STEP)
    {
      hooked_now = hooked;
      hooked->hook (hooked->session, &event->step, hooked->data);
      hooked_now = NULL;
      return;
    }
  if (event->type != DYNO_EVENT_CHECKPOINT
      && (event->type != DYNO_EVENT_WARNING || !strstr (event->text, "checkpoint was not saved")))
    return;
  hooked->n_saves++;
  if (hooked->n_saves == hooked->awaited_saves)
    dyno_session_resume (hooked->session);
}

void
test_pause_for_saves (guint n)
{
  g_assert_nonnull (hooked_now);
  if (hooked_now->n_saves >= n)
    return;
  hooked_now->awaited_saves = n;
  dyno_session_pause (hooked_now->session);
}

void
test_run (TestRun *run, const DynoJob *job, TestHook hook, gpointer data)
{
  test_run_rank (run, job, NULL, hook, data);
}

static DynoDevice *shared_device;

static void
shared_device_close (void)
{
  g_clear_pointer (&shared_device, dyno_device_unref);
}

/* Returns the device that all runs of this program share, which keeps compiled kernels from one run
 * to the next: on a CPU compiling takes most of the time of a short run.  NULL: the job names
 * another device, or the layer of faults is loaded, whose devices differ from run to run and do not
 * free their memory when they are lost. */
static DynoDevice *
find_device (const DynoJob *job)
{
  g_autoptr (GError) error = NULL;

  if (job->device != -1 || g_getenv ("DYNO_FAULTS_LAYER"))
    return NULL;
  if (!shared_device)
    {
      shared_device = dyno_device_open (&(DynoDeviceParams){ .index = -1 }, &error);
      g_assert_no_error (error);
      atexit (shared_device_close);
    }
  return shared_device;
}

void
test_run_rank (TestRun *run, const DynoJob *job, DynoComm *comm, TestHook hook, gpointer data)
{
  /* ranks open devices of their own, since they exchange between devices */
  DynoDevice *device = comm ? NULL : find_device (job);
  g_autoptr (DynoSession) session = dyno_session_new (job);
  DynoEventQueue *events = dyno_session_add_queue (session, 0, TRUE);
  static const DynoObserver observer = { .event = call_hook };
  Hooked hooked = { session, hook, data, 0, 0 };
  gboolean done = FALSE;
  guint64 last_step = 0;

  if (hook)
    dyno_session_add_observer (session, &observer, &hooked);
  memset (run, 0, sizeof *run);
  run->warnings = g_ptr_array_new_with_free_func (g_free);
  run->losses = g_array_new (FALSE, FALSE, sizeof (double));
  run->masks = g_ptr_array_new_with_free_func ((GDestroyNotify) dyno_event_unref);
  if (comm)
    dyno_session_set_comm (session, comm);
  if (device)
    dyno_session_set_device (session, device);
  g_assert_cmpint (dyno_session_get_state (session), ==, DYNO_SESSION_NEW);
  dyno_session_start (session);
  while (!done)
    {
      g_autoptr (DynoEvent) event = dyno_event_queue_pop (events, 300 * G_USEC_PER_SEC);

      g_assert_nonnull (event); /* five minutes without an event are a hang */
      if (event->type == DYNO_EVENT_STEP)
        {
          g_assert_true (last_step == 0 || event->step.step == last_step + 1);
          last_step = event->step.step;
        }
      take_event (run, event);
      done = event->type == DYNO_EVENT_DONE;
    }
  g_assert_null (dyno_event_queue_pop (events, 0));
  g_assert_cmpint (dyno_session_get_state (session), ==, run->state);
  check_log (session, run);
  if (device) /* the run has freed all of its memory, however it ended */
    g_assert_cmpuint (dyno_device_get_allocated_total (device), ==, 0);
}

void
test_run_good (TestRun *run, const DynoJob *job)
{
  test_run (run, job, NULL, NULL);
  g_assert_no_error (run->error);
  g_assert_cmpint (run->state, ==, DYNO_SESSION_FINISHED);
}

char *
test_folder (void)
{
  g_autoptr (GError) error = NULL;
  char *path = g_dir_make_tmp ("dyno-train-XXXXXX", &error);

  g_assert_no_error (error);
  return path;
}

void
test_remove_tree (const char *path)
{
  g_autoptr (GDir) folder = g_dir_open (path, 0, NULL);
  const char *name;

  while (folder && (name = g_dir_read_name (folder)))
    {
      g_autofree char *whole = g_build_filename (path, name, NULL);
      if (g_file_test (whole, G_FILE_TEST_IS_DIR) && !g_file_test (whole, G_FILE_TEST_IS_SYMLINK))
        test_remove_tree (whole);
      else
        g_unlink (whole);
    }
  g_rmdir (path);
}

void
test_assert_same_file (const char *a, const char *b)
{
  g_autofree char *text_a = NULL, *text_b = NULL;
  gsize size_a, size_b;
  g_autoptr (GError) error = NULL;

  g_file_get_contents (a, &text_a, &size_a, &error);
  g_assert_no_error (error);
  g_file_get_contents (b, &text_b, &size_b, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (size_a, ==, size_b);
  g_assert_true (memcmp (text_a, text_b, size_a) == 0);
}

gboolean
test_has_warning (const TestRun *run, const char *word)
{
  for (guint i = 0; i < run->warnings->len; i++)
    if (strstr (g_ptr_array_index (run->warnings, i), word))
      return TRUE;
  return FALSE;
}
