/* SPDX-License-Identifier: MIT */
/* The loader: equal batches for any workers, prefetch and timing; short batches, the cache, slots;
 * an end at any time. */
#include "loader-test.h"
#include "data-test.h"
#include "npyfile.h"
#include <string.h>

static void
test_same_for_any_workers (void)
{
  g_autoptr (DynoDataset) dataset = open_shapes ("builtin:shapes?size=20&samples=203");
  DynoLoaderParams params = {
    .batch = 16, .seed = 5, .shuffle = TRUE, .persistent = TRUE, .prefetch = 2
  };
  guint64 expected = fold_new (dataset, params, 3);

  for (guint workers = 1; workers <= 16; workers *= 4)
    for (guint prefetch = 1; prefetch <= 64; prefetch *= 8)
      {
        params.workers = workers;
        params.prefetch = prefetch;
        params.persistent = prefetch == 1;
        params.cache = prefetch == 8;
        g_assert_cmpuint (fold_new (dataset, params, 3), ==, expected);
      }
}

static void
test_short_last_batch (void)
{
  g_autoptr (DynoDataset) dataset = NULL;
  DynoLoaderParams params = { .batch = 8, .persistent = TRUE, .workers = 2, .prefetch = 1 };
  DynoBatch *batch;
  guint count = 0;

  odd_reset (21);
  dataset = open_odd ();
  for (guint round = 0; round < 2; round++)
    {
      g_autoptr (DynoLoader) loader = make_loader (dataset, params);
      dyno_loader_start_epoch (loader, 0, 0);
      for (count = 0; (batch = dyno_loader_next (loader, NULL, NULL, NULL)); count++)
        {
          const guint8 *pixels = batch->fields[DYNO_DATASET_INPUT];
          g_assert_cmpuint (batch->n_valid, ==, count < 2 ? 8 : 5);
          for (gsize i = (gsize) batch->n_valid * 64 * 200; i < (gsize) 8 * 64 * 200; i++)
            g_assert_cmpuint (pixels[i], ==, 0);
          dyno_loader_release (loader, batch);
        }
      g_assert_cmpuint (count, ==, round == 0 ? 3 : 2);
      g_assert_cmpuint (dyno_loader_get_batches (loader), ==, count);
      params.drop_last = TRUE;
    }
}

/* Cancels once the consumer waits: it reads its clock when it begins, and again before it sleeps,
 * while it has the lock that cancelling takes. */
static gpointer
cancel_in_wait (gpointer data)
{
  while (g_atomic_int_get (&odd.clock_calls) < 2)
    g_usleep (1000);
  g_cancellable_cancel (data);
  return NULL;
}

static void
test_cancel_ends_wait (void)
{
  DynoLoaderParams params = { .batch = 4, .persistent = TRUE, .prefetch = 1, .workers = 1 };
  g_autoptr (DynoDataset) dataset = NULL;
  g_autoptr (DynoLoader) loader = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  GThread *thread;

  odd_reset (100);
  odd.stuck_index = 2;
  dataset = open_odd ();
  loader = make_loader (dataset, params);
  dyno_loader_set_clock (loader, odd_clock);
  dyno_loader_set_patience (loader, 600 * G_USEC_PER_SEC, 600 * G_USEC_PER_SEC);
  dyno_loader_start_epoch (loader, 0, 0);
  thread = g_thread_new ("cancel", cancel_in_wait, cancellable);
  g_assert_null (dyno_loader_next (loader, NULL, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_thread_join (thread);
  release_stuck ();
  /* The loader continues after the cancellation. */
  dyno_loader_release (loader, dyno_loader_next (loader, NULL, NULL, NULL));
}

static void
test_free_in_mid_epoch (void)
{
  DynoLoaderParams params = { .batch = 4, .persistent = TRUE, .prefetch = 4, .workers = 4 };
  g_autoptr (DynoDataset) dataset = NULL;

  odd_reset (1000);
  odd.jitter = TRUE;
  dataset = open_odd ();
  for (guint taken = 0; taken < 20; taken++)
    {
      g_autoptr (DynoLoader) loader = make_loader (dataset, params);
      DynoBatch *batch;

      if (taken > 0)
        dyno_loader_start_epoch (loader, 0, 0);
      for (guint i = 1; i < taken; i++)
        {
          batch = dyno_loader_next (loader, NULL, NULL, NULL);
          if (i % 2)
            dyno_loader_release (loader, batch);
          if (i == 4)
            break;
        }
    }
}

static void
test_new_epoch_drops_old (void)
{
  DynoLoaderParams params = {
    .batch = 4, .persistent = TRUE, .prefetch = 4, .workers = 4, .shuffle = TRUE, .seed = 1
  };
  g_autoptr (DynoDataset) dataset = NULL;
  g_autoptr (DynoLoader) loader = NULL;
  guint64 expected;

  odd_reset (64);
  odd.jitter = TRUE;
  dataset = open_odd ();
  loader = make_loader (dataset, params);
  expected = fold_epoch (loader, dataset, params, 7, 0, NULL);
  for (guint i = 0; i < 20; i++)
    {
      DynoBatch *held;
      dyno_loader_start_epoch (loader, i, i % 5);
      held = dyno_loader_next (loader, NULL, NULL, NULL);
      dyno_loader_start_epoch (loader, i + 1, 0);
      dyno_loader_release (loader, held);
      g_assert_cmpuint (fold_epoch (loader, dataset, params, 7, 0, NULL), ==, expected);
    }
}

static gint changes_begin; /* number of samples that are decoded before the changes begin */

/* Makes sixty changes during the first 600 samples. */
static gpointer
change_all_the_time (gpointer data)
{
  DynoLoader *loader = data;
  DynoLoaderStats stats;

  for (gint i = 0; i < 60; i++)
    {
      while (g_atomic_int_get (&odd.decodes) < changes_begin + i * 10)
        g_usleep (100);
      dyno_loader_set_workers (loader, (guint) i % 6);
      dyno_loader_set_prefetch (loader, 1 + (guint) i % 9);
      dyno_loader_get_stats (loader, &stats);
    }
  return NULL;
}

static void
test_live_changes_keep_batches (void)
{
  DynoLoaderParams params = { .batch = 4, .prefetch = 2, .workers = 2, .shuffle = TRUE, .seed = 1 };
  g_autoptr (DynoDataset) dataset = NULL;
  g_autoptr (DynoLoader) loader = NULL;
  GThread *thread;
  guint64 expected;

  odd_reset (200);
  odd.jitter = TRUE;
  dataset = open_odd ();
  for (guint persistent = 0; persistent < 2; persistent++)
    {
      g_clear_pointer (&loader, dyno_loader_free);
      params.persistent = persistent;
      loader = make_loader (dataset, params);
      expected = fold_epoch (loader, dataset, params, 1, 0, NULL);
      changes_begin = g_atomic_int_get (&odd.decodes);
      thread = g_thread_new ("change", change_all_the_time, loader);
      for (guint i = 0; i < 4; i++)
        g_assert_cmpuint (fold_epoch (loader, dataset, params, 1, 0, NULL), ==, expected);
      g_thread_join (thread);
    }
}

static void
test_cache_decodes_once (void)
{
  DynoLoaderParams params = { .batch = 4,
                              .persistent = TRUE,
                              .prefetch = 2,
                              .workers = 2,
                              .cache = TRUE,
                              .cache_limit_bytes = 1 << 24 };
  g_autoptr (DynoDataset) dataset = NULL;
  g_autoptr (DynoLoader) loader = NULL;
  DynoLoaderStats stats;
  guint64 first;

  odd_reset (40);
  dataset = open_odd ();
  loader = make_loader (dataset, params);
  first = fold_epoch (loader, dataset, params, 0, 0, NULL);
  g_assert_cmpint (odd.decodes, ==, 40);
  g_assert_cmpuint (fold_epoch (loader, dataset, params, 0, 0, NULL), ==, first);
  g_assert_cmpint (odd.decodes, ==, 40);
  dyno_loader_get_stats (loader, &stats);
  g_assert_cmpuint (stats.cached_bytes, ==, 40 * (64 * 200 + 4));
}

static void
test_cache_keeps_its_limit (void)
{
  DynoLoaderParams params = { .batch = 4,
                              .persistent = TRUE,
                              .prefetch = 2,
                              .workers = 4,
                              .cache = TRUE,
                              .cache_limit_bytes = 10 * (64 * 200 + 4) };
  g_autoptr (DynoDataset) dataset = NULL;
  g_autoptr (DynoLoader) loader = NULL;
  DynoLoaderStats stats;
  guint64 first;

  odd_reset (40);
  dataset = open_odd ();
  loader = make_loader (dataset, params);
  first = fold_epoch (loader, dataset, params, 0, 0, NULL);
  g_assert_cmpuint (fold_epoch (loader, dataset, params, 0, 0, NULL), ==, first);
  dyno_loader_get_stats (loader, &stats);
  g_assert_cmpuint (stats.cached_bytes, <=, params.cache_limit_bytes);
  g_assert_cmpuint (stats.cached_bytes, >, 0);
}

/* Claims rows as workers do, while the consumer takes no batch; they are not filled. */
static guint64
claim_all (DynoLoader *loader)
{
  DynoLoaderTask task;
  guint64 rows = 0;

  g_mutex_lock (&loader->mutex);
  while (dyno_loader_claim (loader, &task))
    rows += task.count;
  g_mutex_unlock (&loader->mutex);
  return rows;
}

static void
test_runs_ahead_by_the_prefetch (void)
{
  DynoLoaderParams params = { .batch = 5, .persistent = TRUE };
  g_autoptr (DynoDataset) dataset = NULL;

  odd_reset (1000);
  dataset = open_odd ();
  for (params.prefetch = 1; params.prefetch < 6; params.prefetch += 2)
    {
      g_autoptr (DynoLoader) loader = make_loader (dataset, params);
      dyno_loader_start_epoch (loader, 0, 0);
      g_assert_cmpuint (claim_all (loader), ==, params.prefetch * 5);
      dyno_loader_set_prefetch (loader, params.prefetch + 2);
      g_assert_cmpuint (claim_all (loader), ==, 2 * 5);
    }
}

/* Returns the largest number of rows in a task of the second epoch, if the samples of the first
 * epoch took at least sleep_us; 0: they count as instantaneous. */
static guint32
count_most_rows (guint sleep_us)
{
  DynoLoaderParams params = { .batch = 16, .persistent = TRUE, .prefetch = 2 };
  g_autoptr (DynoDataset) dataset = NULL;
  g_autoptr (DynoLoader) loader = NULL;
  DynoLoaderTask task;
  guint32 most = 0;

  odd_reset (64);
  odd.sleep_us = sleep_us;
  dataset = open_odd ();
  loader = make_loader (dataset, params);
  dyno_loader_start_epoch (loader, 0, 0);
  for (guint i = 0; i < 4; i++)
    take_and_release (loader);
  dyno_loader_start_epoch (loader, 1, 0);
  g_mutex_lock (&loader->mutex);
  g_assert_cmpfloat (loader->row_us, >=, sleep_us);
  if (sleep_us == 0)
    loader->row_us = 1;
  while (dyno_loader_claim (loader, &task))
    most = MAX (most, task.count);
  g_mutex_unlock (&loader->mutex);
  return most;
}

/* Sixteen small rows make a task where they are decoded quickly.  Where each row waits for a disk,
 * every worker gets tasks of one row; otherwise two batches would keep only two workers busy. */
static void
test_slow_rows_are_tasks_of_their_own (void)
{
  guint32 height = odd_height;

  odd_height = 16;
  g_assert_cmpuint (count_most_rows (2000), ==, 1);
  g_assert_cmpuint (count_most_rows (0), ==, 16);
  odd_height = height;
}

static void
test_uses_the_callers_slots (void)
{
  gpointer slots[3];
  DynoLoaderParams params = {
    .batch = 4, .persistent = TRUE, .prefetch = 9, .workers = 2, .slots = slots, .n_slots = 3
  };
  g_autoptr (DynoDataset) dataset = NULL;
  g_autoptr (DynoLoader) loader = NULL;
  DynoBatch *held[3];
  g_autoptr (GError) error = NULL;

  odd_reset (40);
  dataset = open_odd ();
  for (guint i = 0; i < 3; i++)
    slots[i] = g_malloc (4 * 64 * 200 + 2 * DYNO_FIELD_ALIGNMENT);
  loader = make_loader (dataset, params);
  dyno_loader_start_epoch (loader, 0, 0);
  for (guint i = 0; i < 3; i++)
    {
      held[i] = dyno_loader_next (loader, NULL, NULL, NULL);
      g_assert_true (held[i]->fields[0] == slots[held[i]->slot]);
    }
  g_assert_null (dyno_loader_next (loader, NULL, NULL, &error));
  g_assert_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_OPTION);
  for (guint i = 0; i < 3; i++)
    {
      g_assert_cmpuint (odd_index_at (held[i], 0), ==, 4 * i);
      dyno_loader_release (loader, held[i]);
    }
  dyno_loader_release (loader, dyno_loader_next (loader, NULL, NULL, NULL));
  g_clear_pointer (&loader, dyno_loader_free);
  for (guint i = 0; i < 3; i++)
    g_free (slots[i]);
}

static void
test_refuses_what_cannot_be (void)
{
  g_autoptr (DynoDataset) dataset = NULL;
  g_autoptr (GArray) all = NULL, none = NULL;
  g_autoptr (GError) error = NULL;
  DynoLoaderParams params = { .batch = 60, .width = 64, .height = 200, .drop_last = TRUE };

  odd_reset (50);
  dataset = open_odd ();
  dyno_dataset_split (dataset, 0, 0, &all, &none);
  g_assert_null (dyno_loader_new (dataset, all, &params, &error));
  g_assert_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_EMPTY);
  g_clear_error (&error);
  params.drop_last = FALSE;
  g_assert_null (dyno_loader_new (dataset, none, &params, &error));
  g_assert_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_EMPTY);
  g_clear_error (&error);
  params.batch = G_MAXUINT32;
  params.width = params.height = G_MAXUINT32;
  g_assert_null (dyno_loader_new (dataset, all, &params, &error));
  g_assert_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_TOO_LARGE);
}

/* A sample that makes a task of its own is written once, into the slot that the consumer reads. */
static void
test_large_samples_in_their_slot (void)
{
  gpointer decoded_at[40];
  DynoLoaderParams params = { .batch = 8, .persistent = TRUE, .prefetch = 2 };
  DynoBatch *batch;

  odd_height = 600;
  for (params.workers = 0; params.workers < 3; params.workers += 2)
    {
      g_autoptr (DynoDataset) dataset = NULL;
      g_autoptr (DynoLoader) loader = NULL;

      odd_reset (40);
      odd.decoded_at = decoded_at;
      dataset = open_odd ();
      loader = make_loader (dataset, params);
      dyno_loader_start_epoch (loader, 0, 0);
      while ((batch = dyno_loader_next (loader, NULL, NULL, NULL)))
        {
          for (guint i = 0; i < batch->n_valid; i++)
            g_assert_true (decoded_at[odd_index_at (batch, i)]
                           == (guint8 *) batch->fields[DYNO_DATASET_INPUT] + i * 64 * 600);
          dyno_loader_release (loader, batch);
        }
    }
  odd_height = 200;
}

/* Samples that a worker or the consumer decodes into the slot equal those that are decoded into a
 * buffer, as for the cache. */
static void
test_same_in_the_slot_and_apart (void)
{
  const guint64 shape[4] = { 50, 6, 7, 3 }, labels[1] = { 50 };
  g_autofree char *folder = test_folder_new ();
  g_autofree char *x = g_build_filename (folder, "X.npy", NULL),
                  *y = g_build_filename (folder, "y.npy", NULL);
  g_autoptr (DynoDataset) dataset = NULL;
  g_autoptr (GError) error = NULL;
  guint8 pixels[50 * 6 * 7 * 3];
  gint32 classes[50];
  DynoLoaderParams params = { .batch = 8, .persistent = TRUE, .prefetch = 2, .shuffle = TRUE };
  guint64 first;

  for (guint i = 0; i < sizeof pixels; i++)
    pixels[i] = (guint8) (i * i % 251);
  for (guint i = 0; i < 50; i++)
    classes[i] = (gint32) i % 7;
  dyno_npy_write (x, "u1", 4, shape, pixels, &error);
  g_assert_no_error (error);
  dyno_npy_write (y, "i4", 1, labels, classes, &error);
  g_assert_no_error (error);
  dataset = dyno_dataset_open (folder, NULL, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  first = fold_new (dataset, params, 0);
  for (params.workers = 0; params.workers < 3; params.workers += 2)
    for (params.cache = FALSE; params.cache < 2; params.cache++)
      g_assert_cmpuint (fold_new (dataset, params, 0), ==, first);
  test_folder_remove (folder);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/data/loader/same-for-any-workers", test_same_for_any_workers);
  g_test_add_func ("/data/loader/short-last-batch", test_short_last_batch);
  g_test_add_func ("/data/loader/cancel-ends-wait", test_cancel_ends_wait);
  g_test_add_func ("/data/loader/free-in-mid-epoch", test_free_in_mid_epoch);
  g_test_add_func ("/data/loader/new-epoch-drops-old", test_new_epoch_drops_old);
  g_test_add_func ("/data/loader/live-changes-keep-batches", test_live_changes_keep_batches);
  g_test_add_func ("/data/loader/cache-decodes-once", test_cache_decodes_once);
  g_test_add_func ("/data/loader/cache-keeps-its-limit", test_cache_keeps_its_limit);
  g_test_add_func ("/data/loader/runs-ahead-by-the-prefetch", test_runs_ahead_by_the_prefetch);
  g_test_add_func ("/data/loader/slow-rows-are-tasks-of-their-own",
                   test_slow_rows_are_tasks_of_their_own);
  g_test_add_func ("/data/loader/uses-the-callers-slots", test_uses_the_callers_slots);
  g_test_add_func ("/data/loader/refuses-what-cannot-be", test_refuses_what_cannot_be);
  g_test_add_func ("/data/loader/decodes-large-samples-in-their-slot",
                   test_large_samples_in_their_slot);
  g_test_add_func ("/data/loader/same-in-the-slot-and-apart", test_same_in_the_slot_and_apart);
  return g_test_run ();
}
