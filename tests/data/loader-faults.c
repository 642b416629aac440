/* SPDX-License-Identifier: MIT */
/* The loader: bad samples are replaced and counted, and neither stuck nor late workers do harm. */
#include "loader-test.h"
#include <string.h>

#define HOUR_US (G_GINT64_CONSTANT (3600) * G_USEC_PER_SEC)

static void
test_replaces_bad_samples (void)
{
  DynoLoaderParams params = {
    .batch = 9, .seed = 3, .shuffle = TRUE, .persistent = TRUE, .prefetch = 3, .max_bad_share = 0.5
  };
  guint64 expected = 0;

  for (guint workers = 0; workers <= 16; workers = workers == 0 ? 1 : workers * 4)
    {
      g_autoptr (DynoDataset) dataset = NULL;
      g_autoptr (DynoLoader) loader = NULL;
      g_auto (GStrv) bad = NULL;
      DynoLoaderStats stats;
      guint64 hash;

      odd_reset (100);
      odd.bad_every = 5;
      odd.bad_phase = 2;
      odd.jitter = TRUE;
      dataset = open_odd ();
      params.workers = workers;
      loader = make_loader (dataset, params);
      hash = fold_epoch (loader, dataset, params, 0, 0, NULL);
      if (workers == 0)
        expected = hash;
      g_assert_cmpuint (hash, ==, expected);
      dyno_loader_get_stats (loader, &stats);
      g_assert_cmpuint (stats.bad_samples, ==, 20);
      g_assert_cmpuint (stats.samples, ==, 100);
      bad = dyno_loader_list_bad (loader);
      g_assert_cmpuint (g_strv_length (bad), ==, 20);
      g_assert_true (g_str_has_suffix (bad[0], ": made bad"));
    }
}

/* With blank_bad every sample keeps its row: a bad one is zeros and reported with its reason, even
 * where all are bad. */
static void
test_blanks_bad_samples (void)
{
  for (guint round = 0; round < 4; round++)
    {
      DynoLoaderParams params = {
        .batch = 8, .persistent = TRUE, .prefetch = 2, .workers = round % 2, .blank_bad = TRUE
      };

      odd_height = round < 2 ? 200 : 600; /* decoded into a buffer, and into the slot */
      odd_reset (20);
      odd.bad_every = round == 3 ? 1 : 5;
      odd.bad_phase = round == 3 ? 0 : 2;
      g_autoptr (DynoDataset) dataset = open_odd ();
      g_autoptr (DynoLoader) loader = make_loader (dataset, params);
      guint32 place = 0;

      dyno_loader_start_epoch (loader, 0, 0);
      for (guint b = 0; b < 3; b++)
        {
          g_autoptr (GError) error = NULL;
          DynoBatch *batch = dyno_loader_next (loader, NULL, NULL, &error);

          g_assert_no_error (error);
          for (guint32 row = 0; row < batch->n_valid; row++, place++)
            {
              gboolean bad = round == 3 || place % 5 == 2;
              g_autofree char *reason = dyno_loader_find_bad (loader, place);
              g_assert_true (bad == (reason != NULL));
              g_assert_cmpint (class_at (batch, row), ==, bad ? 0 : (gint32) place);
              if (bad)
                g_assert_cmpstr (reason, ==, "made bad");
            }
          dyno_loader_release (loader, batch);
        }
      g_assert_cmpuint (place, ==, 20);
    }
  odd_height = 200;
}

/* A bad sample is replaced by the next sample in the order that decodes now, and not by a later
 * one; after the end of the order comes its beginning.  A sample that failed only in an earlier
 * epoch may replace others. */
static void
test_replacement_is_the_next_that_decodes (void)
{
  static const guint32 expected[2][20] = {
    { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 0, 0 },
    { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 19, 19 },
  };

  for (guint workers = 0; workers < 3; workers++)
    {
      DynoLoaderParams params = {
        .batch = 5, .persistent = TRUE, .prefetch = 2, .workers = workers, .max_bad_share = 0.5
      };
      g_autoptr (DynoDataset) dataset = NULL;
      g_autoptr (DynoLoader) loader = NULL;

      odd_reset (20);
      odd.bad_every = 20;
      odd.bad_phase = 18;
      odd.bad_run = 2;
      dataset = open_odd ();
      loader = make_loader (dataset, params);
      for (guint epoch = 0; epoch < 2; epoch++)
        {
          DynoBatch *batch;
          guint32 at = 0;

          dyno_loader_start_epoch (loader, epoch, 0);
          while ((batch = dyno_loader_next (loader, NULL, NULL, NULL)))
            {
              for (guint32 i = 0; i < batch->n_valid; i++, at++)
                {
                  g_assert_cmpuint (odd_index_at (batch, i), ==, expected[epoch][at]);
                  g_assert_cmpuint (dyno_loader_find_sample (loader, batch->index, i), ==,
                                    expected[epoch][at]);
                }
              dyno_loader_release (loader, batch);
            }
          g_assert_cmpuint (at, ==, 20);
          odd.bad_run = 1;
        }
    }
}

/* Two ranks share the rows of a part of the data set in an order of its own, with and without bad
 * samples. */
static void
test_rows_name_their_samples (void)
{
  for (guint every = 0; every < 4; every += 3)
    for (guint rank = 0; rank < 2; rank++)
      {
        DynoLoaderParams params = { .batch = 4,
                                    .seed = 7,
                                    .shuffle = TRUE,
                                    .prefetch = 2,
                                    .workers = 2,
                                    .ranks = 2,
                                    .rank = rank,
                                    .turn = 2,
                                    .width = 64,
                                    .height = odd_height,
                                    .max_bad_share = 0.5 };
        g_autoptr (GArray) indices = g_array_new (FALSE, FALSE, sizeof (guint32));
        g_autoptr (DynoDataset) dataset = NULL;
        g_autoptr (DynoLoader) loader = NULL;
        g_autoptr (GError) error = NULL;

        odd_reset (60);
        odd.bad_every = every;
        dataset = open_odd ();
        for (guint32 i = 55; i > 10; i--)
          g_array_append_val (indices, i);
        loader = dyno_loader_new (dataset, indices, &params, &error);
        g_assert_no_error (error);
        for (guint epoch = 0; epoch < 2; epoch++)
          {
            DynoBatch *batch;
            guint rows = 0;

            dyno_loader_start_epoch (loader, epoch, 0);
            while ((batch = dyno_loader_next (loader, NULL, NULL, NULL)))
              {
                for (guint32 i = 0; i < batch->n_valid; i++, rows++)
                  g_assert_cmpuint (dyno_loader_find_sample (loader, batch->index, i), ==,
                                    odd_index_at (batch, i));
                dyno_loader_release (loader, batch);
              }
            g_assert_cmpuint (rows, ==, rank ? 21 : 24);
          }
      }
}

static void
test_stops_past_bad_share (void)
{
  DynoLoaderParams params = { .batch = 10, .persistent = TRUE, .prefetch = 2 };

  for (guint workers = 0; workers < 3; workers++)
    {
      g_autoptr (DynoDataset) dataset = NULL;
      g_autoptr (DynoLoader) loader = NULL;
      g_autoptr (GError) error = NULL;
      DynoBatch *batch;
      guint count = 0;

      odd_reset (100);
      odd.bad_every = 5; /* two in a batch; ten are allowed */
      dataset = open_odd ();
      params.workers = workers;
      loader = make_loader (dataset, params);
      dyno_loader_start_epoch (loader, 0, 0);
      for (; (batch = dyno_loader_next (loader, NULL, NULL, &error)); count++)
        dyno_loader_release (loader, batch);
      g_assert_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT);
      g_assert_cmpuint (count, ==, 5);
    }
}

/* The allowed number is rounded up from the share; a negative share allows none; a sample counts
 * once, however often it is read. */
static void
test_allowed_share_of_bad (void)
{
  static const struct {
    double share;
    guint bad_every;
    gboolean ends;
  } cases[] = {
    { 0, 30, FALSE }, { -1, 30, TRUE }, { 0.01, 30, FALSE }, { 0.01, 15, TRUE }, { 1, 2, FALSE }
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      DynoLoaderParams params = {
        .batch = 5, .persistent = TRUE, .prefetch = 1, .max_bad_share = cases[i].share
      };
      g_autoptr (DynoDataset) dataset = NULL;
      g_autoptr (DynoLoader) loader = NULL;
      g_autoptr (GError) error = NULL;
      DynoBatch *batch;

      odd_reset (30);
      odd.bad_every = cases[i].bad_every;
      odd.bad_phase = 3 % odd.bad_every;
      dataset = open_odd ();
      loader = make_loader (dataset, params);
      for (guint epoch = 0; epoch < 3 && !error; epoch++)
        {
          dyno_loader_start_epoch (loader, epoch, 0);
          while ((batch = dyno_loader_next (loader, NULL, NULL, &error)))
            dyno_loader_release (loader, batch);
        }
      g_assert_cmpint (error != NULL, ==, cases[i].ends);
      if (!cases[i].ends)
        g_assert_cmpuint (dyno_loader_count_bad (loader), ==, 30 / cases[i].bad_every);
      else
        g_assert_nonnull (strstr (error->message, "data.max_bad"));
    }
}

static void
test_all_bad_ends (void)
{
  DynoLoaderParams params = { .batch = 10, .persistent = TRUE, .prefetch = 2, .workers = 3 };
  g_autoptr (DynoDataset) dataset = NULL;
  g_autoptr (DynoLoader) loader = NULL;
  g_autoptr (GError) error = NULL;

  odd_reset (1000);
  odd.bad_every = 1;
  dataset = open_odd ();
  loader = make_loader (dataset, params);
  dyno_loader_start_epoch (loader, 0, 0);
  g_assert_null (dyno_loader_next (loader, NULL, NULL, &error));
  g_assert_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT);
}

/* Abandoned workers end on their own; then only the test has a reference to the data set. */
static void
wait_for_workers (DynoDataset *dataset)
{
  while (!g_atomic_ref_count_compare (&dataset->references, 1))
    g_usleep (1000);
}

static DynoLoader *watched;
static gint waits_in_its_place; /* atomic: whether the replacement worker is waiting */

/* This clock advances only while the only worker waits in the stuck sample or as a replacement, so
 * that a worker that gets no CPU time does not count as stuck.  Only the consumer calls it. */
static gint64
watch_clock (void)
{
  static gint64 now_us;

  if ((g_atomic_int_get (&odd.stuck_calls) == 1 || g_atomic_int_get (&waits_in_its_place))
      && g_atomic_ref_count_compare (&watched->references, 2))
    now_us += 10000;
  return now_us;
}

/* Watches a loader with one worker. */
static void
watch (DynoLoader *loader)
{
  watched = loader;
  dyno_loader_set_clock (loader, watch_clock);
  dyno_loader_set_patience (loader, 20000, 60 * G_USEC_PER_SEC);
}

/* Frees the loader and its workers, with no short time limit. */
static void
unwatch (void)
{
  dyno_loader_set_patience (watched, 60 * G_USEC_PER_SEC, 60 * G_USEC_PER_SEC);
  g_clear_pointer (&watched, dyno_loader_free);
}

/* Waits until only the replacement worker is left. */
static void
wait_for_stuck_to_leave (void)
{
  release_stuck ();
  /* The references of the loader and of its worker. */
  while (!g_atomic_ref_count_compare (&watched->references, 2))
    g_usleep (1000);
}

static void
test_stuck_worker_is_replaced (void)
{
  DynoLoaderParams params = { .batch = 10, .persistent = TRUE, .prefetch = 2, .workers = 1 };
  g_autoptr (DynoDataset) dataset = NULL;
  DynoLoader *loader;
  guint64 expected;

  odd_reset (50);
  dataset = open_odd ();
  expected = fold_new (dataset, params, 0);
  odd.stuck_index = 17;
  loader = make_loader (dataset, params);
  watch (loader);
  g_test_expect_message ("dyno-data", G_LOG_LEVEL_WARNING, "*stuck*");
  g_assert_cmpuint (fold_epoch (loader, dataset, params, 0, 0, NULL), ==, expected);
  g_test_assert_expected_messages ();
  release_stuck ();
  g_assert_cmpuint (fold_epoch (loader, dataset, params, 0, 0, NULL), ==, expected);
  unwatch ();
  wait_for_workers (dataset);
}

static void
test_stuck_for_good_is_an_error (void)
{
  DynoLoaderParams params = { .batch = 10, .persistent = TRUE, .prefetch = 2, .workers = 2 };
  g_autoptr (DynoDataset) dataset = NULL;
  DynoLoader *loader;
  g_autoptr (GError) error = NULL;
  GLogLevelFlags fatal = g_log_set_always_fatal (G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_ERROR);

  odd_reset (50);
  odd.stuck_index = 3;
  odd.stuck_always = TRUE;
  dataset = open_odd ();
  loader = make_loader (dataset, params);
  dyno_loader_set_patience (loader, 20000, 100000);
  dyno_loader_start_epoch (loader, 0, 0);
  g_assert_null (dyno_loader_next (loader, NULL, NULL, &error));
  g_assert_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_READ);
  dyno_loader_free (loader); /* returns although workers are still decoding */
  release_stuck ();
  wait_for_workers (dataset);
  g_log_set_always_fatal (fatal);
}

/* A worker is stuck in batch 1, is replaced, and returns while its slot is being filled with batch
 * 3. */
static void
test_late_worker_touches_nothing (void)
{
  gpointer slots[2];
  DynoLoaderParams params = {
    .batch = 10, .persistent = TRUE, .prefetch = 1, .workers = 1, .slots = slots, .n_slots = 2
  };
  g_autoptr (DynoDataset) dataset = NULL;
  DynoLoader *loader;
  DynoBatch *batch;
  g_autoptr (GError) error = NULL;

  odd_reset (50);
  odd.stuck_index = 17;
  odd.hold_index = 30;
  dataset = open_odd ();
  for (guint i = 0; i < 2; i++)
    slots[i] = g_malloc (10 * 64 * odd_height + 2 * DYNO_FIELD_ALIGNMENT);
  loader = make_loader (dataset, params);
  watch (loader);
  dyno_loader_start_epoch (loader, 0, 0);
  take_and_release (loader);
  g_test_expect_message ("dyno-data", G_LOG_LEVEL_WARNING, "*stuck*");
  take_and_release (loader);
  g_test_assert_expected_messages ();
  take_and_release (loader);
  while (!g_atomic_int_get (&odd.holding))
    g_usleep (1000);
  wait_for_stuck_to_leave ();
  g_mutex_lock (&odd.mutex);
  odd.let_go = TRUE;
  g_cond_broadcast (&odd.cond);
  g_mutex_unlock (&odd.mutex);

  batch = dyno_loader_next (loader, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (batch->index, ==, 3);
  for (guint i = 0; i < 10; i++)
    g_assert_cmpuint (odd_index_at (batch, i), ==, 30 + i);
  dyno_loader_release (loader, batch);
  unwatch ();
  for (guint i = 0; i < 2; i++)
    g_free (slots[i]);
}

/* Called in the replacement worker: the stuck worker returns and exits between the rows of its own
 * task and the last row.  Tasks have at most two rows, so none has both 17 and 19. */
static void
come_back_before_the_last_row (guint64 index)
{
  if (index == 19)
    wait_for_stuck_to_leave ();
}

/* Rows count once, also when the stuck worker returns while their batch is still being filled. */
static void
test_late_worker_does_not_fill_rows_again (void)
{
  DynoLoaderParams params = { .batch = 10, .persistent = TRUE, .prefetch = 1, .workers = 1 };
  g_autoptr (DynoDataset) dataset = NULL;
  g_autoptr (GError) error = NULL;
  DynoLoader *loader;
  DynoBatch *batch;

  odd_reset (50);
  odd.stuck_index = 17;
  odd.on_decode = come_back_before_the_last_row;
  dataset = open_odd ();
  loader = make_loader (dataset, params);
  g_assert_cmpuint (loader->chunk, <=, 2);
  watch (loader);
  dyno_loader_start_epoch (loader, 0, 0);
  take_and_release (loader);
  g_test_expect_message ("dyno-data", G_LOG_LEVEL_WARNING, "*stuck*");
  batch = dyno_loader_next (loader, NULL, NULL, &error);
  g_test_assert_expected_messages ();
  g_assert_no_error (error);
  for (guint i = 0; i < 10; i++)
    g_assert_cmpuint (odd_index_at (batch, i), ==, 10 + i);
  dyno_loader_release (loader, batch);
  unwatch ();
}

/* The replacement worker releases the stuck one and then waits itself. */
static void
wait_in_its_place (guint64 index)
{
  if (index != 17 || g_atomic_int_get (&waits_in_its_place))
    return;
  g_atomic_int_set (&waits_in_its_place, TRUE);
  release_stuck ();
  g_mutex_lock (&odd.mutex);
  while (!odd.let_go)
    g_cond_wait (&odd.cond, &odd.mutex);
  g_mutex_unlock (&odd.mutex);
}

/* A replacement worker that gets stuck is replaced too, even if the late worker has filled its
 * rows: otherwise no worker would fill the remaining rows. */
static void
test_stuck_with_rows_of_another_is_replaced (void)
{
  DynoLoaderParams params = { .batch = 10, .persistent = TRUE, .prefetch = 1, .workers = 1 };
  g_autoptr (DynoDataset) dataset = NULL;
  DynoLoader *loader;

  odd_reset (50);
  odd.stuck_index = 17;
  odd.on_decode = wait_in_its_place;
  dataset = open_odd ();
  loader = make_loader (dataset, params);
  watch (loader);
  dyno_loader_start_epoch (loader, 0, 0);
  take_and_release (loader);
  g_test_expect_message ("dyno-data", G_LOG_LEVEL_WARNING, "*stuck*");
  g_test_expect_message ("dyno-data", G_LOG_LEVEL_WARNING, "*stuck*");
  take_and_release (loader);
  g_test_assert_expected_messages ();
  g_mutex_lock (&odd.mutex);
  odd.let_go = TRUE;
  g_cond_broadcast (&odd.cond);
  g_mutex_unlock (&odd.mutex);
  unwatch ();
  wait_for_workers (dataset);
  waits_in_its_place = FALSE;
}

/* --- a worker of an epoch that is over --- */

static void
read_order (DynoLoader *loader, guint64 epoch, guint64 order[20])
{
  dyno_loader_start_epoch (loader, epoch, 0);
  for (guint b = 0; b < 2; b++)
    {
      DynoBatch *batch = dyno_loader_next (loader, NULL, NULL, NULL);
      for (guint i = 0; i < 10; i++)
        order[b * 10 + i] = odd_index_at (batch, i);
      dyno_loader_release (loader, batch);
    }
}

static void
wait_for_rows (DynoLoader *loader, guint64 count)
{
  DynoLoaderStats stats = { 0 };

  for (; stats.samples < count; g_usleep (1000))
    dyno_loader_get_stats (loader, &stats);
}

/* One worker is still decoding the first rows when a new epoch begins, and ends while another
 * worker decodes the same rows of the new epoch: the first worker must not fill these rows with the
 * old samples. */
static void
test_worker_of_an_old_epoch_touches_nothing (void)
{
  DynoLoaderParams params = {
    .batch = 10, .persistent = TRUE, .prefetch = 1, .workers = 2, .shuffle = TRUE, .seed = 3
  };
  g_autoptr (DynoDataset) dataset = NULL;
  g_autoptr (DynoLoader) loader = NULL;
  g_autoptr (GError) error = NULL;
  guint64 old[20], new[20], epoch = 0;
  DynoBatch *batch;

  odd_reset (20);
  dataset = open_odd ();
  loader = make_loader (dataset, params);
  read_order (loader, 0, old);
  do
    read_order (loader, ++epoch, new);
  while (new[0] == old[0] || new[0] == old[1]);
  g_clear_pointer (&loader, dyno_loader_free);
  loader = make_loader (dataset, params);

  odd.stuck_index = (gint) old[0];
  dyno_loader_start_epoch (loader, 0, 0);
  wait_for_rows (loader, 8); /* rows of the first batch, by the other worker */
  odd.hold_index = (gint) new[0];
  dyno_loader_start_epoch (loader, epoch, 0);
  while (!g_atomic_int_get (&odd.holding))
    g_usleep (1000);
  release_stuck ();
  /* Rows of the new batch, except those that the other worker decodes. */
  wait_for_rows (loader, 8 + 8);
  g_mutex_lock (&odd.mutex);
  odd.let_go = TRUE;
  g_cond_broadcast (&odd.cond);
  g_mutex_unlock (&odd.mutex);
  batch = dyno_loader_next (loader, NULL, NULL, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < 10; i++)
    g_assert_cmpuint (odd_index_at (batch, i), ==, new[i]);
  dyno_loader_release (loader, batch);
}

/* After Ctrl-Z or a suspend no worker counts as stuck, the run does not end, and the waiting time
 * excludes the hour. */
static void
test_time_without_the_process_is_no_waiting (void)
{
  DynoLoaderParams params = { .batch = 10, .persistent = TRUE, .prefetch = 2, .workers = 1 };
  g_autoptr (DynoDataset) dataset = NULL;
  g_autoptr (DynoLoader) loader = NULL;
  g_autoptr (GError) error = NULL;
  gint64 wait_us, all_us = 0;
  DynoBatch *batch;
  guint count;

  odd_reset (50);
  odd.jump_index = 3;
  dataset = open_odd ();
  loader = make_loader (dataset, params);
  dyno_loader_set_patience (loader, 8 * G_USEC_PER_SEC, 16 * G_USEC_PER_SEC);
  dyno_loader_set_clock (loader, odd_clock);
  dyno_loader_start_epoch (loader, 0, 0);
  for (count = 0; (batch = dyno_loader_next (loader, &wait_us, NULL, &error)); count++)
    {
      dyno_loader_release (loader, batch);
      all_us += wait_us;
      g_atomic_int_set (&odd.next_calls, g_atomic_int_get (&odd.clock_calls));
    }
  g_assert_no_error (error);
  g_assert_cmpuint (count, ==, 5);
  g_assert_cmpint (odd.clock_hours, ==, 1);
  g_assert_cmpint (all_us, <, HOUR_US);
}

/* A clock that advances by 5 ms with each decoded sample. */
static gint64
sample_clock (void)
{
  g_atomic_int_inc (&odd.clock_calls);
  return g_atomic_int_get (&odd.decodes) * G_GINT64_CONSTANT (5000);
}

/* Returns once a waiting consumer has completed a round of its wait, before and after which it
 * reads the clock. */
static void
take_a_round (guint64 index)
{
  gint calls = g_atomic_int_get (&odd.clock_calls);

  while (g_atomic_int_get (&odd.clock_calls) < calls + 3)
    g_usleep (1000);
}

/* The limit is for a source that gives no sample, not for a slow batch: it is 40 ms here, and the
 * batch takes 150. */
static void
test_slow_samples_are_waited_for (void)
{
  DynoLoaderParams params = { .batch = 30, .persistent = TRUE, .prefetch = 1, .workers = 1 };
  g_autoptr (DynoDataset) dataset = NULL;
  g_autoptr (DynoLoader) loader = NULL;

  odd_reset (30);
  odd.on_decode = take_a_round;
  dataset = open_odd ();
  loader = make_loader (dataset, params);
  dyno_loader_set_clock (loader, sample_clock);
  dyno_loader_set_patience (loader, 80000, 40000);
  dyno_loader_start_epoch (loader, 0, 0);
  take_and_release (loader);
  dyno_loader_set_patience (loader, 60 * G_USEC_PER_SEC, 60 * G_USEC_PER_SEC);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  if (argc > 1 && g_str_equal (argv[1], "--in-slot"))
    odd_height = 600;
  g_test_add_func ("/data/loader/replaces-bad-samples", test_replaces_bad_samples);
  g_test_add_func ("/data/loader/rows-name-their-samples", test_rows_name_their_samples);
  g_test_add_func ("/data/loader/blanks-bad-samples", test_blanks_bad_samples);
  g_test_add_func ("/data/loader/replacement-is-the-next-that-decodes",
                   test_replacement_is_the_next_that_decodes);
  g_test_add_func ("/data/loader/stops-past-bad-share", test_stops_past_bad_share);
  g_test_add_func ("/data/loader/allowed-share-of-bad", test_allowed_share_of_bad);
  g_test_add_func ("/data/loader/all-bad-ends", test_all_bad_ends);
  g_test_add_func ("/data/loader/stuck-worker-is-replaced", test_stuck_worker_is_replaced);
  g_test_add_func ("/data/loader/stuck-for-good-is-an-error", test_stuck_for_good_is_an_error);
  g_test_add_func ("/data/loader/late-worker-touches-nothing", test_late_worker_touches_nothing);
  g_test_add_func ("/data/loader/late-worker-does-not-fill-rows-again",
                   test_late_worker_does_not_fill_rows_again);
  g_test_add_func ("/data/loader/stuck-with-rows-of-another-is-replaced",
                   test_stuck_with_rows_of_another_is_replaced);
  g_test_add_func ("/data/loader/worker-of-an-old-epoch-touches-nothing",
                   test_worker_of_an_old_epoch_touches_nothing);
  g_test_add_func ("/data/loader/time-without-the-process-is-no-waiting",
                   test_time_without_the_process_is_no_waiting);
  g_test_add_func ("/data/loader/slow-samples-are-waited-for", test_slow_samples_are_waited_for);
  return g_test_run ();
}
