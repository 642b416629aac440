/* SPDX-License-Identifier: MIT */
/* The order of the queue: jobs are in the order of adding and moving, and none runs twice in one
 * pass. */
#include "jobqueue.h"
#include "process.h"
#include "train-test.h"
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <unistd.h>

static DynoStore *
open_store (const char *folder)
{
  g_autofree char *path = g_build_filename (folder, "history.sqlite", NULL);
  DynoStore *store = dyno_store_open (path, NULL);

  g_assert_nonnull (store);
  return store;
}

static gint64
add (DynoStore *store, const char *name)
{
  g_autoptr (DynoJob) job = dyno_job_new ();
  gint64 id;

  job->data = g_strdup ("builtin:shapes");
  job->out_dir = g_build_filename ("/runs", name, NULL);
  id = dyno_store_add_job (store, job, NULL);
  g_assert_cmpint (id, >, 0);
  return id;
}

static void
assert_order (DynoStore *store, const char *expected)
{
  g_autoptr (GPtrArray) jobs = dyno_store_list_jobs (store, NULL);
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < jobs->len; i++)
    {
      const DynoQueuedJob *job = jobs->pdata[i];
      g_autofree char *name = g_path_get_basename (job->job->out_dir);
      g_string_append (text, name);
    }
  g_assert_cmpstr (text->str, ==, expected);
}

static void
test_moved (void)
{
  g_autofree char *folder = test_folder ();
  g_autoptr (DynoStore) store = open_store (folder);
  gint64 a = add (store, "a"), b = add (store, "b"), c = add (store, "c");
  g_autoptr (GError) error = NULL;

  assert_order (store, "abc");
  g_assert_true (dyno_store_move_job (store, c, a, NULL));
  assert_order (store, "cab");
  g_assert_true (dyno_store_move_job (store, c, 0, NULL));
  assert_order (store, "abc");
  g_assert_true (dyno_store_move_job (store, a, c, NULL));
  assert_order (store, "bac");
  g_assert_true (dyno_store_move_job (store, b, b, NULL));
  assert_order (store, "bac");
  g_assert_true (dyno_store_remove_job (store, b, NULL));
  add (store, "d"); /* at the end, whatever was moved */
  assert_order (store, "acd");
  g_assert_false (dyno_store_move_job (store, b, a, &error));
  g_assert_error (error, DYNO_RUNS_ERROR, DYNO_RUNS_ERROR_NOT_FOUND);
  assert_order (store, "acd");
  g_clear_pointer (&store, dyno_store_free);
  test_remove_tree (folder);
}

/* A job that was moved to the front while another ran is next; no job comes twice. */
static void
test_next (void)
{
  g_autofree char *folder = test_folder ();
  g_autoptr (DynoStore) store = open_store (folder);
  gint64 a = add (store, "a"), b = add (store, "b"), c = add (store, "c");
  g_autoptr (GArray) tried = g_array_new (FALSE, FALSE, sizeof (gint64));
  const gint64 expected[] = { a, c, b };

  for (guint i = 0; i < G_N_ELEMENTS (expected); i++)
    {
      g_autoptr (DynoQueuedJob) job = dyno_store_next_job (store, tried, NULL);

      g_assert_nonnull (job);
      g_assert_cmpint (job->id, ==, expected[i]);
      g_array_append_val (tried, job->id);
      g_assert_true (dyno_store_end_job (store, job->id, DYNO_QUEUED_STOPPED, 75, NULL));
      if (i == 0)
        g_assert_true (dyno_store_move_job (store, c, a, NULL));
    }
  g_assert_null (dyno_store_next_job (store, tried, NULL));
  g_clear_pointer (&store, dyno_store_free);
  test_remove_tree (folder);
}

/* --- one job, several times -------------------------------------------------------------------- */

static DynoQueuedJob *
find (DynoStore *store, gint64 id)
{
  g_autoptr (GPtrArray) jobs = dyno_store_list_jobs (store, NULL);

  for (guint i = 0; i < jobs->len; i++)
    if (((DynoQueuedJob *) jobs->pdata[i])->id == id)
      return g_ptr_array_steal_index (jobs, i);
  g_assert_not_reached ();
}

static void
assert_job (DynoStore *store, gint64 id, DynoQueuedState state, guint attempts, int exit_code,
            const char *process)
{
  g_autoptr (DynoQueuedJob) job = find (store, id);

  g_assert_cmpint (job->state, ==, state);
  g_assert_cmpuint (job->attempts, ==, attempts);
  g_assert_cmpint (job->exit_code, ==, exit_code);
  g_assert_cmpstr (job->process, ==, process);
  g_assert_true ((job->begin_us > 0) == (attempts > 0));
  g_assert_true ((job->end_us > 0) == (exit_code >= 0));
  if (exit_code >= 0)
    g_assert_cmpint (job->end_us, >=, job->begin_us);
}

/* Each attempt has its own exit code, end and process, and shows none of the previous attempt while
 * it runs; the other job is not affected. */
static void
test_tries (void)
{
  static const struct {
    int code;
    DynoQueuedState state;
    const char *process;
  } tries[] = { { 130, DYNO_QUEUED_STOPPED, "1 1 boot 1 here" },
                { 143, DYNO_QUEUED_STOPPED, "2 1 boot 1 here" },
                { 0, DYNO_QUEUED_FINISHED, "3 1 boot 1 here" } };
  g_autofree char *folder = test_folder ();
  g_autoptr (DynoStore) store = open_store (folder);
  g_autoptr (GError) error = NULL;
  gint64 a = add (store, "a"), b = add (store, "b");

  assert_job (store, a, DYNO_QUEUED_WAITING, 0, -1, NULL);
  g_assert_true (dyno_store_begin_job (store, b, "9 1 boot 1 here", NULL));
  g_assert_true (dyno_store_end_job (store, b, DYNO_QUEUED_FAILED, 7, NULL));
  g_assert_false (dyno_store_begin_job (store, 99, "9 1 boot 1 here", &error));
  g_assert_error (error, DYNO_RUNS_ERROR, DYNO_RUNS_ERROR_NOT_FOUND);
  g_clear_error (&error);
  g_assert_false (dyno_store_end_job (store, 99, DYNO_QUEUED_FINISHED, 0, &error));
  g_assert_error (error, DYNO_RUNS_ERROR, DYNO_RUNS_ERROR_NOT_FOUND);
  for (guint i = 0; i < G_N_ELEMENTS (tries); i++)
    {
      g_autoptr (DynoQueuedJob) next = dyno_store_next_job (store, NULL, NULL);

      g_assert_nonnull (next);
      g_assert_cmpint (next->id, ==, a);
      g_assert_true (dyno_store_begin_job (store, a, tries[i].process, NULL));
      assert_job (store, a, DYNO_QUEUED_RUNNING, i + 1, -1, tries[i].process);
      g_assert_true (dyno_store_end_job (store, a, tries[i].state, tries[i].code, NULL));
      assert_job (store, a, tries[i].state, i + 1, tries[i].code, tries[i].process);
      assert_job (store, b, DYNO_QUEUED_FAILED, 1, 7, "9 1 boot 1 here");
    }
  g_assert_null (dyno_store_next_job (store, NULL, NULL));
  g_clear_pointer (&store, dyno_store_free);
  test_remove_tree (folder);
}

/* A job that failed waits again at its place, as often as it is requested, and counts its attempts
 * on; no other job can be tried again. */
static void
test_tried_again (void)
{
  g_autofree char *folder = test_folder ();
  g_autoptr (DynoStore) store = open_store (folder);
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoJob) other = dyno_job_new ();
  gint64 a = add (store, "a"), b = add (store, "b");

  g_assert_true (dyno_store_retry_job (store, b, NULL));
  assert_job (store, b, DYNO_QUEUED_WAITING, 0, -1, NULL);
  for (guint i = 1; i <= 2; i++)
    {
      g_autofree char *process = dyno_process_describe ();

      g_assert_true (dyno_store_begin_job (store, a, process, NULL));
      g_assert_false (dyno_store_retry_job (store, a, &error));
      g_assert_error (error, DYNO_RUNS_ERROR, DYNO_RUNS_ERROR_ACTIVE);
      g_clear_error (&error);
      g_assert_true (dyno_store_end_job (store, a, DYNO_QUEUED_FAILED, 7, NULL));
      g_assert_true (dyno_store_retry_job (store, a, NULL));
      assert_job (store, a, DYNO_QUEUED_WAITING, i, -1, process);
      assert_job (store, b, DYNO_QUEUED_WAITING, 0, -1, NULL);
      assert_order (store, "ab");
    }
  /* A job that was stopped continues anyway. */
  g_assert_true (dyno_store_end_job (store, a, DYNO_QUEUED_STOPPED, 75, NULL));
  g_assert_true (dyno_store_retry_job (store, a, NULL));
  {
    g_autoptr (DynoQueuedJob) stopped = find (store, a);
    g_assert_cmpint (stopped->state, ==, DYNO_QUEUED_STOPPED);
  }
  g_assert_true (dyno_store_end_job (store, a, DYNO_QUEUED_FINISHED, 0, NULL));
  g_assert_false (dyno_store_retry_job (store, a, &error));
  g_assert_error (error, DYNO_RUNS_ERROR, DYNO_RUNS_ERROR_NOT_FOUND);
  g_clear_error (&error);
  g_assert_false (dyno_store_retry_job (store, 99, &error));
  g_assert_error (error, DYNO_RUNS_ERROR, DYNO_RUNS_ERROR_NOT_FOUND);
  g_clear_error (&error);

  /* The folder of a job that failed may have been given to another job. */
  g_assert_true (dyno_store_end_job (store, b, DYNO_QUEUED_FAILED, 7, NULL));
  other->data = g_strdup ("builtin:shapes");
  other->out_dir = g_strdup ("/runs/b");
  g_assert_cmpint (dyno_store_add_job (store, other, NULL), >, 0);
  g_assert_false (dyno_store_retry_job (store, b, &error));
  g_assert_error (error, DYNO_RUNS_ERROR, DYNO_RUNS_ERROR_ACTIVE);
  assert_job (store, b, DYNO_QUEUED_FAILED, 0, 7, NULL);
  g_clear_pointer (&store, dyno_store_free);
  test_remove_tree (folder);
}

/* A job that waits takes another request, also a second one, and keeps its folder and its place; a
 * job that was begun keeps its request. */
static void
test_changed (void)
{
  g_autofree char *folder = test_folder ();
  g_autoptr (DynoStore) store = open_store (folder);
  g_autoptr (DynoJob) job = dyno_job_new ();
  g_autoptr (GError) error = NULL;
  gint64 a = add (store, "a");

  add (store, "b");
  g_free (job->model);
  job->model = g_strdup ("resnet18");
  job->out_dir = g_strdup ("/runs/other");
  job->targets = g_strdup ("/data/y.npy");
  job->weights_in = g_strdup ("/data/start.safetensors");
  job->preset = g_strdup ("v100");
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (DynoQueuedJob) changed = NULL;

      g_free (job->data);
      job->data = g_strdup (i == 0 ? "builtin:shapes?samples=20" : "/data/photos");
      job->settings.epochs = 7 + i;
      job->max_steps = 3 - i;
      job->device = (int) i;
      g_free (job->name);
      job->name = i == 0 ? g_strdup ("night") : NULL;
      g_free (job->devices);
      job->devices = i == 0 ? g_strdup ("0,1") : NULL;
      g_assert_true (dyno_store_change_job (store, a, job, NULL));
      changed = find (store, a);
      g_assert_cmpstr (changed->job->model, ==, "resnet18");
      g_assert_cmpstr (changed->job->data, ==, job->data);
      g_assert_cmpstr (changed->job->targets, ==, "/data/y.npy");
      g_assert_cmpstr (changed->job->weights_in, ==, "/data/start.safetensors");
      g_assert_cmpstr (changed->job->preset, ==, "v100");
      g_assert_cmpstr (changed->job->out_dir, ==, "/runs/a");
      g_assert_cmpint (changed->job->settings.epochs, ==, 7 + i);
      g_assert_cmpint (changed->job->max_steps, ==, 3 - i);
      g_assert_cmpint (changed->job->device, ==, i);
      g_assert_cmpstr (changed->job->devices, ==, i == 0 ? "0,1" : NULL);
      g_assert_cmpstr (changed->job->name, ==, i == 0 ? "night" : NULL);
      assert_job (store, a, DYNO_QUEUED_WAITING, 0, -1, NULL);
      assert_order (store, "ab");
    }
  g_assert_false (dyno_store_change_job (store, 99, job, &error));
  g_assert_error (error, DYNO_RUNS_ERROR, DYNO_RUNS_ERROR_NOT_FOUND);
  g_clear_pointer (&store, dyno_store_free);
  test_remove_tree (folder);
}

/* Changes the only job, and asserts whether it was changed; folder: NULL: none is given. */
static void
change_only (DynoStore *store, gint64 id, const char *folder, gboolean succeeds)
{
  g_autoptr (DynoJob) job = dyno_job_new ();
  g_autoptr (DynoQueuedJob) before = find (store, id);
  g_autoptr (GError) error = NULL;

  job->data = g_strdup ("builtin:waves");
  job->out_dir = g_strdup (folder);
  job->settings.epochs = before->job->settings.epochs + 1;
  g_assert_true (dyno_store_change_job (store, id, job, &error) == succeeds);
  if (!succeeds)
    g_assert_error (error, DYNO_RUNS_ERROR, DYNO_RUNS_ERROR_ACTIVE);
  g_autoptr (DynoQueuedJob) after = find (store, id);
  g_assert_cmpint (after->job->settings.epochs, ==, before->job->settings.epochs + succeeds);
  g_assert_cmpstr (after->job->out_dir, ==, succeeds ? folder : before->job->out_dir);
}

/* A job that failed is changed while it is failed or waits for another attempt, and then is one that
 * was never begun, with another folder; also the second time. */
static void
test_a_failed_job_is_changed (void)
{
  g_autofree char *folder = test_folder ();
  g_autoptr (DynoStore) store = open_store (folder);
  gint64 b = add (store, "b"), a = add (store, "a");

  for (guint i = 0; i < 4; i++)
    {
      g_autofree char *other = g_strdup_printf ("/runs/%u/a", i);

      g_assert_true (dyno_store_begin_job (store, a, "1 1 boot 1 here", NULL));
      change_only (store, a, other, FALSE); /* it runs, or its process has died */
      g_assert_true (dyno_store_end_job (store, a, DYNO_QUEUED_STOPPED, 75, NULL));
      change_only (store, a, other, FALSE);
      g_assert_true (dyno_store_begin_job (store, a, "1 1 boot 1 here", NULL));
      g_assert_true (dyno_store_end_job (store, a, DYNO_QUEUED_FAILED, 7, NULL));
      if (i % 2 == 1)
        g_assert_true (dyno_store_retry_job (store, a, NULL));
      change_only (store, a, NULL, FALSE);
      change_only (store, a, "/runs/b", FALSE); /* of another job */
      change_only (store, a, other, TRUE);
      assert_job (store, a, DYNO_QUEUED_WAITING, 0, -1, NULL);
      g_autoptr (DynoQueuedJob) anew = find (store, a);
      g_assert_true (anew->begin_us == 0 && anew->end_us == 0 && anew->add_us > 0);
      assert_order (store, "ba");
    }
  g_assert_true (dyno_store_begin_job (store, b, "1 1 boot 1 here", NULL));
  g_assert_true (dyno_store_end_job (store, b, DYNO_QUEUED_FINISHED, 0, NULL));
  change_only (store, b, "/runs/c", FALSE);
  g_clear_pointer (&store, dyno_store_free);
  test_remove_tree (folder);
}

/* A folder is reserved for its job until that is done, and then free again; also the second
 * time. */
static void
test_folders (void)
{
  static const struct {
    DynoQueuedState state;
    gboolean taken;
  } ends[] = { { DYNO_QUEUED_STOPPED, TRUE },
               { DYNO_QUEUED_FAILED, FALSE },
               { DYNO_QUEUED_STOPPED, TRUE },
               { DYNO_QUEUED_FINISHED, FALSE } };
  g_autofree char *folder = test_folder ();
  g_autoptr (DynoStore) store = open_store (folder);
  g_autoptr (DynoJob) job = dyno_job_new ();
  gint64 id = add (store, "a");

  job->data = g_strdup ("builtin:shapes");
  job->out_dir = g_strdup ("/runs/a");
  for (guint i = 0; i < G_N_ELEMENTS (ends); i++)
    {
      g_autoptr (GError) error = NULL;
      gint64 next;

      g_assert_cmpint (dyno_store_add_job (store, job, NULL), ==, 0); /* the job waits */
      g_assert_true (dyno_store_begin_job (store, id, "1 1 boot 1 here", NULL));
      g_assert_cmpint (dyno_store_add_job (store, job, NULL), ==, 0);
      g_assert_true (dyno_store_end_job (store, id, ends[i].state, 1, NULL));
      next = dyno_store_add_job (store, job, &error);
      if (ends[i].taken)
        g_assert_error (error, DYNO_RUNS_ERROR, DYNO_RUNS_ERROR_ACTIVE);
      else
        g_assert_no_error (error);
      g_assert_true ((next == 0) == ends[i].taken);
      id = next ? next : id;
    }
  g_clear_pointer (&store, dyno_store_free);
  test_remove_tree (folder);
}

/* A job whose runner died is run again at its place; places persist over the next opening and the
 * next move. */
static void
test_order_after_restart (void)
{
  g_autofree char *folder = test_folder ();
  g_autoptr (DynoStore) store = open_store (folder);
  gint64 a = add (store, "a"), b = add (store, "b"), c = add (store, "c");

  g_assert_true (dyno_store_move_job (store, c, a, NULL));
  g_assert_true (dyno_store_begin_job (store, c, "1 1 boot 1 here", NULL));
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (DynoQueuedJob) next = NULL;

      g_clear_pointer (&store, dyno_store_free);
      store = open_store (folder);
      assert_order (store, i == 0 ? "cab" : "bca");
      next = dyno_store_next_job (store, NULL, NULL);
      g_assert_cmpint (next->id, ==, i == 0 ? c : b);
      if (i == 0)
        g_assert_true (dyno_store_move_job (store, b, c, NULL));
    }
  g_assert_true (dyno_store_move_job (store, a, b, NULL));
  add (store, "d");
  assert_order (store, "abcd");
  g_clear_pointer (&store, dyno_store_free);
  test_remove_tree (folder);
}

/* A job whose runner died counts as stopped, unless its run is still ending. */
static void
test_dead_runner (void)
{
  g_autofree char *folder = test_folder (), *own = dyno_process_describe (), *dead = NULL;
  g_auto (GStrv) parts = g_strsplit (own, " ", 5);
  g_autoptr (DynoStore) store = open_store (folder);
  g_autoptr (DynoJob) job = dyno_job_new ();
  gint64 id;
  int fd = open (folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

  g_assert_cmpint (fd, >=, 0);
  dead = g_strdup_printf ("%s 1 %s %s %s", parts[0], parts[2], parts[3], parts[4]);
  job->data = g_strdup ("builtin:shapes");
  job->out_dir = g_strdup (folder);
  id = dyno_store_add_job (store, job, NULL);
  for (guint i = 0; i < 2; i++)
    {
      g_assert_true (dyno_store_begin_job (store, id, own, NULL));
      assert_job (store, id, DYNO_QUEUED_RUNNING, 2 * i + 1, -1, own);
      g_assert_true (dyno_store_begin_job (store, id, dead, NULL));
      g_assert_cmpint (flock (fd, LOCK_EX), ==, 0);
      assert_job (store, id, DYNO_QUEUED_RUNNING, 2 * i + 2, -1, dead);
      g_assert_cmpint (flock (fd, LOCK_UN), ==, 0);
      assert_job (store, id, DYNO_QUEUED_STOPPED, 2 * i + 2, -1, dead);
    }
  close (fd);
  g_clear_pointer (&store, dyno_store_free);
  test_remove_tree (folder);
}

/* Only one process at a time runs the queue; the next one may begin once the first has released the
 * queue or died. */
static void
test_claims (void)
{
  g_autofree char *folder = test_folder ();
  g_autoptr (DynoStore) store = open_store (folder);

  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_true (dyno_store_claim_queue (store, NULL));
      g_assert_false (dyno_store_claim_queue (store, &error));
      g_assert_error (error, DYNO_RUNS_ERROR, DYNO_RUNS_ERROR_ACTIVE);
      g_assert_true (dyno_store_touch_queue (store, NULL));
      dyno_store_release_queue (store);
    }
  /* Two runners that died in turn: no process has their number and start time. */
  for (guint i = 0; i < 2; i++)
    {
      g_autofree char *path = g_build_filename (folder, "history.sqlite", NULL),
                      *own = dyno_process_describe (), *dead = NULL;
      g_auto (GStrv) parts = g_strsplit (own, " ", 5);
      sqlite3 *db;

      g_assert_true (dyno_store_claim_queue (store, NULL));
      dead = g_strdup_printf ("UPDATE queue_runner SET process = '%s 1 %s %s %s'", parts[0],
                              parts[2], parts[3], parts[4]);
      g_assert_cmpint (sqlite3_open (path, &db), ==, SQLITE_OK);
      g_assert_cmpint (sqlite3_exec (db, dead, NULL, NULL, NULL), ==, SQLITE_OK);
      sqlite3_close (db);
    }
  g_assert_true (dyno_store_claim_queue (store, NULL));
  g_clear_pointer (&store, dyno_store_free);
  test_remove_tree (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/runs/queue/jobs-are-moved", test_moved);
  g_test_add_func ("/runs/queue/none-is-tried-twice", test_next);
  g_test_add_func ("/runs/queue/each-try-has-its-own-end", test_tries);
  g_test_add_func ("/runs/queue/job-that-failed-is-tried-again", test_tried_again);
  g_test_add_func ("/runs/queue/job-that-waits-is-changed", test_changed);
  g_test_add_func ("/runs/queue/job-that-failed-is-changed", test_a_failed_job_is_changed);
  g_test_add_func ("/runs/queue/folder-is-free-once-its-job-is-done", test_folders);
  g_test_add_func ("/runs/queue/order-outlives-a-restart", test_order_after_restart);
  g_test_add_func ("/runs/queue/job-of-a-dead-runner-was-stopped", test_dead_runner);
  g_test_add_func ("/runs/queue/one-process-works-it-off", test_claims);
  return g_test_run ();
}
