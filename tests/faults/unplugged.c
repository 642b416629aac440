/* SPDX-License-Identifier: MIT */
/* A disk that is unplugged during a run: the program's own pread replaces libc's, and fails with
 * EIO for X.npy on request. */
#include "checkpoint.h"
#include "npyfile.h"
#include "session-private.h"
#include "train-test.h"
#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#define N    64
#define SIDE 16

#ifdef __USE_FILE_OFFSET64
#define PREAD "pread64"
#else
#define PREAD "pread"
#endif

static gint unplugged; /* atomic */
/* Limit for all tests together; more refused reads are an endless loop. */
#define MOST_REFUSED 20000
static gint refused; /* atomic: number of reads that failed with EIO */

/* Atomic: reads from this byte to the end of its record fail; -1: none. */
static gint bad_sector = -1;

/* The reads of samples, counted from 0, with which the disk is unplugged, and their number so far;
 * only the only worker reads them while a run trains. */
static const gint *unplugs;
static gint n_reads; /* atomic */

/* Where set, only the reads of these samples are counted, and they can be read again after so many
 * refused reads, the others later. */
static const gboolean *first_back; /* N, by sample */
static gint refusals;              /* atomic: number of refused reads that are left */

static gboolean
is_first_back (off_t offset)
{
  return !first_back || first_back[(offset - 128) / (SIDE * SIDE * (off_t) sizeof (float))];
}

ssize_t
pread (int fd, void *data, size_t size, off_t offset)
{
  ssize_t (*libc) (int, void *, size_t, off_t) =
      (ssize_t (*) (int, void *, size_t, off_t)) dlsym (RTLD_NEXT, PREAD);
  gint bad = g_atomic_int_get (&bad_sector);
  char link[32], path[4096];
  ssize_t n;

  g_snprintf (link, sizeof link, "/proc/self/fd/%d", fd);
  n = readlink (link, path, sizeof path - 1);
  path[MAX (n, 0)] = '\0';
  if (unplugs && g_str_has_suffix (path, "X.npy") && size == SIDE * SIDE * sizeof (float)
      && is_first_back (offset) && !g_atomic_int_get (&unplugged)
      && g_atomic_int_add (&n_reads, 1) == *unplugs)
    {
      unplugs++;
      g_atomic_int_set (&unplugged, TRUE);
    }
  if (g_str_has_suffix (path, "X.npy") && g_atomic_int_get (&unplugged) && first_back
      && is_first_back (offset) && g_atomic_int_add (&refusals, -1) <= 0)
    return libc (fd, data, size, offset);
  if (g_str_has_suffix (path, "X.npy")
      && (g_atomic_int_get (&unplugged)
          || (bad >= 0 && offset <= bad && offset + (off_t) size > bad)))
    {
      if (g_atomic_int_add (&refused, 1) >= MOST_REFUSED)
        g_error ("The disk is asked again and again without a wait");
      errno = EIO;
      return -1;
    }
  return libc (fd, data, size, offset);
}

static void
put_data (const char *folder)
{
  g_autofree char *x = g_build_filename (folder, "X.npy", NULL),
                  *y = g_build_filename (folder, "y.npy", NULL);
  float values[N * SIDE * SIDE];
  gint64 labels[N];

  for (guint i = 0; i < G_N_ELEMENTS (values); i++)
    values[i] = (float) sin (i * 0.37 + i / 64);
  for (guint i = 0; i < N; i++)
    labels[i] = i % 3;
  g_assert_true (dyno_npy_write (x, "f4", 4, (guint64[]){ N, SIDE, SIDE, 1 }, values, NULL));
  g_assert_true (dyno_npy_write (y, "i8", 1, (guint64[]){ N }, labels, NULL));
}

/* Three batches in a step, batch statistics, and a validation. */
static DynoJob *
job_in (const char *data, const char *out)
{
  DynoJob *job = test_job ("simplecnn", data);

  job->out_dir = g_strdup (out);
  test_job_set (job, "batch_size=4", "accumulate=3", "epochs=3", "data.val_split=0.25", "workers=1",
                "prefetch=1", "model.width=0.125", "checkpoint_minutes=0", NULL);
  return job;
}

typedef struct {
  guint64 at;      /* the step after which the disk is unplugged */
  const char *out; /* copied while the run is paused */
  const char *copy;
  gboolean for_good, resume, stop;
  gboolean resume_early; /* resumed at the pause, in the session's own thread */
  gboolean rest_returns; /* unplugged until the run goes on */
  DynoSession *session;
  guint pauses, checkpoints;
  GArray *losses; /* double, for each step */
  GString *warnings;
  DynoSessionState state;
  GError *error;
} Outage;

static void
copy_checkpoint (const Outage *outage)
{
  g_autofree char *from = g_build_filename (outage->out, DYNO_CHECKPOINT_NAME, NULL),
                  *to = g_build_filename (outage->copy, DYNO_CHECKPOINT_NAME, NULL), *bytes = NULL;
  gsize size;

  g_assert_true (g_file_get_contents (from, &bytes, &size, NULL));
  g_assert_true (g_file_set_contents (to, bytes, (gssize) size, NULL));
}

static void
on_pause (Outage *outage, DynoSession *session)
{
  outage->pauses++;
  if (outage->resume)
    dyno_session_resume (session);
  if (outage->stop)
    dyno_session_stop (session, FALSE);
}

/* Runs in the session's own thread, before its next step or its first try: another thread might
 * handle the event after a short run or all tries. */
static void
unplug (DynoEvent *event, gpointer data)
{
  const Outage *outage = data;
  gboolean paused = event->type == DYNO_EVENT_STATE && event->state == DYNO_SESSION_PAUSED;

  if (event->type == DYNO_EVENT_STEP && event->step.step == outage->at)
    g_atomic_int_set (&unplugged, TRUE);
  if (paused && outage->copy)
    copy_checkpoint (outage);
  if (paused && !outage->for_good)
    g_atomic_int_set (&unplugged, FALSE);
  if (paused && outage->resume_early)
    dyno_session_resume (outage->session);
  if (event->type == DYNO_EVENT_STATE && event->state == DYNO_SESSION_RUNNING
      && outage->rest_returns)
    g_atomic_int_set (&unplugged, FALSE);
}

static const DynoObserver unplugger = { .event = unplug };

static void
run_with (Outage *outage, const DynoJob *job, gint64 reconnect_us)
{
  g_autoptr (DynoSession) session = dyno_session_new (job);
  DynoEventQueue *events = dyno_session_add_queue (session, 0, TRUE);
  gboolean done = FALSE;

  outage->warnings = g_string_new (NULL);
  outage->losses = g_array_new (FALSE, FALSE, sizeof (double));
  session->reconnect_us = reconnect_us;
  outage->session = session;
  dyno_session_add_observer (session, &unplugger, outage);
  dyno_session_start (session);
  while (!done)
    {
      g_autoptr (DynoEvent) event = dyno_event_queue_pop (events, 300 * G_USEC_PER_SEC);

      g_assert_nonnull (event);
      if (event->type == DYNO_EVENT_STATE && event->state == DYNO_SESSION_PAUSED)
        on_pause (outage, session);
      else if (event->type == DYNO_EVENT_WARNING)
        g_string_append_printf (outage->warnings, "%s\n", event->text);
      else if (event->type == DYNO_EVENT_STEP)
        g_array_append_val (outage->losses, event->step.loss);
      else if (event->type == DYNO_EVENT_CHECKPOINT)
        outage->checkpoints++;
      else if (event->type == DYNO_EVENT_ERROR)
        outage->error = g_error_copy (event->error);
      done = event->type == DYNO_EVENT_DONE;
    }
  g_test_message ("%s", outage->warnings->str);
  outage->state = dyno_session_get_state (session);
  g_atomic_int_set (&unplugged, FALSE);
}

static void
outage_clear (Outage *outage)
{
  g_string_free (outage->warnings, TRUE);
  g_array_unref (outage->losses);
  g_clear_error (&outage->error);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Outage, outage_clear)

static void
assert_same_weights (const char *a, const char *b)
{
  static const char *const files[] = { DYNO_WEIGHTS_NAME, DYNO_WEIGHTS_NAME_LAST };

  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    {
      g_autofree char *one = g_build_filename (a, files[i], NULL),
                      *other = g_build_filename (b, files[i], NULL);
      test_assert_same_file (one, other);
    }
}

/* Unplugged after every step around the end of an epoch, so during a step and a validation too, the
 * run pauses, has saved, and continues bit-identically; so does a run from its checkpoint. */
static void
test_run_goes_on_where_it_was (void)
{
  g_autofree char *data = test_folder (), *plain = test_folder ();

  put_data (data);
  {
    g_autoptr (DynoJob) job = job_in (data, plain);
    g_auto (TestRun) run = { 0 };

    test_run_good (&run, job);
    g_assert_cmpuint (run.losses->len, ==, 12);
  }
  for (guint at = 2; at <= 4; at++)
    {
      g_autofree char *out = test_folder (), *copy = test_folder ();
      g_autoptr (DynoJob) job = job_in (data, out), again = job_in (data, copy);
      g_auto (Outage) outage = { .at = at, .out = out, .copy = copy };
      g_auto (TestRun) run = { 0 };

      run_with (&outage, job, 1000);
      g_assert_no_error (outage.error);
      g_assert_cmpint (outage.state, ==, DYNO_SESSION_FINISHED);
      g_assert_cmpuint (outage.pauses, ==, 1);
      g_assert_cmpuint (outage.checkpoints, >=, 1);
      g_assert_nonnull (strstr (outage.warnings->str, "X.npy"));
      g_assert_nonnull (strstr (outage.warnings->str, "Input/output error"));
      g_assert_nonnull (strstr (outage.warnings->str, "saved in a checkpoint"));
      g_assert_nonnull (strstr (outage.warnings->str, "continues"));
      g_assert_null (strstr (outage.warnings->str, "takes its place"));
      assert_same_weights (plain, out);

      again->resume = g_strdup (copy);
      test_run_good (&run, again);
      g_autofree char *one = g_build_filename (plain, DYNO_WEIGHTS_NAME_LAST, NULL),
                      *other = g_build_filename (copy, DYNO_WEIGHTS_NAME_LAST, NULL);
      test_assert_same_file (one, other);
      g_assert_false (test_has_warning (&run, "not saved"));
      test_remove_tree (out);
      test_remove_tree (copy);
    }
  test_remove_tree (data);
  test_remove_tree (plain);
}

/* The samples that a step or a validation waits for come back before those that are read ahead: the
 * loader of the others begins again after the outage, which would be followed by another
 * otherwise. */
static void
test_loaders_come_back_one_after_another (void)
{
  /* In the last batch of the first epoch, and before the last batch of its validation. */
  static const gint last_batch[] = { 45, G_MAXINT };
  g_autofree char *data = test_folder (), *plain = test_folder ();
  g_autoptr (DynoJob) whole = job_in (data, plain);
  g_auto (TestRun) run = { 0 };

  put_data (data);
  test_run_good (&run, whole);
  for (guint in_validation = 0; in_validation < 2; in_validation++)
    {
      g_autofree char *out = test_folder ();
      g_autoptr (DynoJob) job = job_in (data, out);
      g_autoptr (DynoDataset) dataset = dyno_dataset_open (data, NULL, NULL, NULL, NULL, NULL);
      g_autoptr (GArray) training = NULL, validation = NULL;
      g_auto (Outage) outage = { .for_good = TRUE, .rest_returns = TRUE };
      gboolean first[N] = { FALSE };

      dyno_dataset_split (dataset, job->settings.data_val_split, (guint64) job->settings.seed,
                          &training, &validation);
      g_assert_cmpuint (validation->len, ==, N / 4);
      for (guint i = 0; i < N; i++)
        first[i] = !in_validation;
      for (guint i = 0; i < validation->len; i++)
        first[g_array_index (validation, guint32, i)] = in_validation;
      g_atomic_int_set (&refusals, 4 * 9); /* tries of a sample and eight others */
      g_atomic_int_set (&n_reads, 0);
      first_back = first;
      unplugs = in_validation ? NULL : last_batch;
      outage.at = in_validation ? 3 : 0;
      run_with (&outage, job, 1000);
      first_back = NULL;
      unplugs = NULL;
      g_assert_no_error (outage.error);
      g_assert_cmpint (outage.state, ==, DYNO_SESSION_FINISHED);
      g_assert_cmpuint (outage.pauses, ==, 1);
      assert_same_weights (plain, out);
      test_remove_tree (out);
    }
  test_remove_tree (data);
  test_remove_tree (plain);
}

/* Two outages in the middle of steps: the batches of these steps before the outage count once in
 * their losses. */
static void
test_loss_of_a_step_that_is_run_again (void)
{
  /* In the second batch of the second step, which then begins again after 17 reads, and in the
   * second batch of the third. */
  static const gint reads[] = { 12 + 5, 17 + 12 + 6, G_MAXINT };
  g_autofree char *data = test_folder ();
  g_autoptr (DynoJob) job = job_in (data, NULL);
  g_auto (Outage) outage = { 0 };
  g_auto (TestRun) run = { 0 };

  put_data (data);
  test_job_set (job, "epochs=1", NULL);
  test_run_good (&run, job);
  g_assert_cmpuint (run.losses->len, ==, 4);
  g_atomic_int_set (&n_reads, 0);
  unplugs = reads;
  run_with (&outage, job, 1000);
  g_assert_true (unplugs == reads + 2);
  unplugs = NULL;
  g_assert_no_error (outage.error);
  g_assert_cmpuint (outage.pauses, ==, 2);
  g_assert_cmpmem (outage.losses->data, outage.losses->len * sizeof (double), run.losses->data,
                   run.losses->len * sizeof (double));
  test_remove_tree (data);
}

static void
test_patience_ends (void)
{
  g_autofree char *data = test_folder (), *out = test_folder ();
  g_autofree char *checkpoint = g_build_filename (out, DYNO_CHECKPOINT_NAME, NULL);
  g_autoptr (DynoJob) job = job_in (data, out);
  g_auto (Outage) outage = { .at = 3, .for_good = TRUE };

  put_data (data);
  run_with (&outage, job, 100);
  g_assert_cmpint (outage.state, ==, DYNO_SESSION_FAILED);
  g_assert_error (outage.error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNREACHABLE);
  g_assert_nonnull (strstr (outage.error->message, "X.npy"));
  g_assert_cmpuint (outage.pauses, ==, 1);
  g_assert_true (g_file_test (checkpoint, G_FILE_TEST_EXISTS));
  test_remove_tree (data);
  test_remove_tree (out);
}

/* The first automatic attempt is an hour away; a command of the user takes effect at once. */
static void
test_person_resumes_or_stops (void)
{
  for (guint stop = 0; stop < 2; stop++)
    {
      g_autofree char *data = test_folder (), *out = test_folder ();
      g_autofree char *checkpoint = g_build_filename (out, DYNO_CHECKPOINT_NAME, NULL);
      g_autoptr (DynoJob) job = job_in (data, out);
      g_auto (Outage) outage = { .at = 5, .resume = !stop, .stop = stop, .for_good = stop };

      put_data (data);
      run_with (&outage, job, G_GINT64_CONSTANT (3600) * G_USEC_PER_SEC);
      g_assert_no_error (outage.error);
      g_assert_cmpint (outage.state, ==, stop ? DYNO_SESSION_STOPPED : DYNO_SESSION_FINISHED);
      g_assert_true (g_file_test (checkpoint, G_FILE_TEST_EXISTS));
      test_remove_tree (data);
      test_remove_tree (out);
    }
}

/* A resume that comes too early counts as an attempt: the run waits and tries again, within the
 * usual limit. */
static void
test_early_resume_leaves_the_intervals (void)
{
  g_autofree char *data = test_folder (), *out = test_folder ();
  g_autoptr (DynoJob) job = job_in (data, out);
  g_auto (Outage) outage = { .at = 3, .for_good = TRUE, .resume_early = TRUE };

  put_data (data);
  run_with (&outage, job, 100);
  g_assert_cmpint (outage.state, ==, DYNO_SESSION_FAILED);
  g_assert_error (outage.error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNREACHABLE);
  g_assert_cmpuint (outage.pauses, ==, 1);
  test_remove_tree (data);
  test_remove_tree (out);
}

static void
test_bad_sector_is_one_sample (void)
{
  g_autofree char *data = test_folder ();
  g_autoptr (DynoJob) job = job_in (data, NULL);
  g_auto (TestRun) run = { 0 };

  put_data (data);
  g_atomic_int_set (&bad_sector, 128 + 21 * SIDE * SIDE * 4 + 9);
  test_run_good (&run, job);
  g_atomic_int_set (&bad_sector, -1);
  g_assert_cmpuint (run.n_unreadable, ==, 1);
  g_assert_true (test_has_warning (&run, "Input/output error"));
  g_assert_false (test_has_warning (&run, "paused"));
  test_remove_tree (data);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/faults/unplugged/run-goes-on-where-it-was", test_run_goes_on_where_it_was);
  g_test_add_func ("/faults/unplugged/loaders-come-back-one-after-another",
                   test_loaders_come_back_one_after_another);
  g_test_add_func ("/faults/unplugged/loss-of-a-step-that-is-run-again",
                   test_loss_of_a_step_that_is_run_again);
  g_test_add_func ("/faults/unplugged/patience-ends-with-a-checkpoint", test_patience_ends);
  g_test_add_func ("/faults/unplugged/person-resumes-or-stops", test_person_resumes_or_stops);
  g_test_add_func ("/faults/unplugged/early-resume-leaves-the-intervals",
                   test_early_resume_leaves_the_intervals);
  g_test_add_func ("/faults/unplugged/bad-sector-is-one-sample", test_bad_sector_is_one_sample);
  return g_test_run ();
}
