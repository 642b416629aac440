/* SPDX-License-Identifier: MIT */
/* The order of the queue: as added, as moved, and never twice in one pass. */
#include "jobqueue.h"
#include "train-test.h"

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
  add (store, "d"); /* behind all, whatever was moved */
  assert_order (store, "acd");
  g_assert_false (dyno_store_move_job (store, b, a, &error));
  g_assert_error (error, DYNO_RUNS_ERROR, DYNO_RUNS_ERROR_NOT_FOUND);
  assert_order (store, "acd");
  g_clear_pointer (&store, dyno_store_free);
  test_remove_tree (folder);
}

/* One that was moved to the front while another ran is next; none comes twice. */
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

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/runs/queue/jobs-are-moved", test_moved);
  g_test_add_func ("/runs/queue/none-is-tried-twice", test_next);
  return g_test_run ();
}
