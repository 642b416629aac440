/* SPDX-License-Identifier: MIT */
/* The loader: the same batches for any workers, prefetch and timing; replacement of bad samples;
 * ends at any time. */
#include "dataset-class.h"
#include "loader-private.h"
#include "hash.h"
#include "rng.h"
#include <string.h>

#define HOUR_US (G_GINT64_CONSTANT (3600) * G_USEC_PER_SEC)

/* --- a data set that misbehaves as told ------------------------------------------------------- */

typedef struct {
  guint64 n_samples;
  guint bad_every; /* sample i is bad when i % bad_every == bad_phase; 0: none */
  guint bad_phase;
  gboolean jitter;  /* decode takes a while that differs from call to call */
  gint stuck_index; /* decoding this sample waits for release once; -1: none */
  gint stuck_calls; /* atomic */
  gboolean stuck_always;
  GMutex mutex;
  GCond cond;
  gboolean release;
  gint decodes;    /* atomic */
  gint hold_index; /* decoding this sample waits for let_go; -1: none */
  gint holding;    /* atomic: it does */
  gboolean let_go;
  gint jump_index;  /* while this sample is decoded, the clock jumps an hour; -1: none */
  gint clock_hours; /* atomic */
  gint clock_calls; /* atomic */
  guint sleep_us;   /* in each decode */
} Odd;

static Odd odd;

static void
odd_reset (guint64 n_samples)
{
  memset (&odd, 0, sizeof odd);
  odd.n_samples = n_samples;
  odd.stuck_index = odd.hold_index = odd.jump_index = -1;
}

/* For loaders: time with the hours that the whole process is said to have stood still. */
static gint64
odd_clock (void)
{
  g_atomic_int_inc (&odd.clock_calls);
  return g_get_monotonic_time () + g_atomic_int_get (&odd.clock_hours) * HOUR_US;
}

/* An hour passes that no thread of the process sees; returns when a waiting consumer has looked at
 * the clock since. */
static void
odd_jump (void)
{
  gint calls;

  g_atomic_int_inc (&odd.clock_hours);
  calls = g_atomic_int_get (&odd.clock_calls);
  while (g_atomic_int_get (&odd.clock_calls) < calls + 4)
    g_usleep (1000);
}

static void
odd_hold (void)
{
  g_atomic_int_set (&odd.holding, TRUE);
  g_mutex_lock (&odd.mutex);
  while (!odd.let_go)
    g_cond_wait (&odd.cond, &odd.mutex);
  g_mutex_unlock (&odd.mutex);
}

static gboolean
odd_open (DynoDataset *dataset, const DynoOpenContext *context, GError **error)
{
  DynoDatasetInfo *info = &dataset->info;

  info->n_samples = odd.n_samples;
  info->channels = 1;
  info->min_width = info->max_width = 64;
  info->min_height = info->max_height = 200;
  dyno_dataset_info_set_classes (info, 2);
  info->class_counts[0] = info->class_counts[1] = info->n_samples / 2;
  return TRUE;
}

static gint32
odd_label (DynoDataset *dataset, guint64 index)
{
  return (gint32) (index % 2);
}

static gboolean
odd_decode (DynoDataset *dataset, guint64 index, guint32 width, guint32 height, gpointer pixels,
            gpointer target, GByteArray *scratch, GError **error)
{
  g_atomic_int_inc (&odd.decodes);
  if ((gint) index == odd.stuck_index
      && (g_atomic_int_add (&odd.stuck_calls, 1) == 0 || odd.stuck_always))
    {
      g_mutex_lock (&odd.mutex);
      while (!odd.release)
        g_cond_wait (&odd.cond, &odd.mutex);
      g_mutex_unlock (&odd.mutex);
    }
  if ((gint) index == odd.hold_index)
    odd_hold ();
  if ((gint) index == odd.jump_index)
    odd_jump ();
  if (odd.sleep_us > 0)
    g_usleep (odd.sleep_us);
  if (odd.jitter)
    g_usleep (g_random_int_range (0, 300));
  if (odd.bad_every > 0 && index % odd.bad_every == odd.bad_phase)
    {
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT, "made bad");
      return FALSE;
    }
  memset (pixels, (int) (index * 7 + 1) & 0xff, (gsize) width * height);
  memcpy (pixels, &index, sizeof index);
  *(gint32 *) target = (gint32) index;
  return TRUE;
}

static const DynoDatasetClass odd_class = {
  .kind = "odd", .title = "Odd", .open = odd_open, .decode = odd_decode, .label = odd_label
};

static DynoDataset *
open_odd (void)
{
  DynoLocation location = { .text = (char *) "odd",
                            .scheme = (char *) "odd",
                            .body = (char *) "odd" };
  DynoDatasetParams params = { 0 };
  DynoOpenContext context = { .location = &location, .params = &params, .max_listed = 1 };
  g_autoptr (GError) error = NULL;
  DynoDataset *dataset = dyno_dataset_new (&odd_class, &context, &error);

  g_assert_no_error (error);
  return dataset;
}

static DynoDataset *
open_shapes (const char *location)
{
  g_autoptr (GError) error = NULL;
  DynoDataset *dataset = dyno_dataset_open (location, NULL, NULL, NULL, NULL, &error);

  g_assert_no_error (error);
  return dataset;
}

static DynoLoader *
make_loader (DynoDataset *dataset, DynoLoaderParams params)
{
  const DynoDatasetInfo *info = dyno_dataset_get_info (dataset);
  g_autoptr (GError) error = NULL;
  g_autoptr (GArray) all = NULL, none = NULL;
  DynoLoader *loader;

  dyno_dataset_split (dataset, 0, 0, &all, &none);
  params.width = info->max_width;
  params.height = info->max_height;
  loader = dyno_loader_new (dataset, all, &params, &error);
  g_assert_no_error (error);
  return loader;
}

/* Everything that batches say, folded into one number; the count of batches too. */
static guint64
fold_epoch (DynoLoader *loader, DynoDataset *dataset, DynoLoaderParams params, guint64 epoch,
            guint64 first, guint *count)
{
  const DynoDatasetInfo *info = dyno_dataset_get_info (dataset);
  gsize row = (gsize) info->max_width * info->max_height * info->channels;
  guint64 hash = DYNO_HASH_START, index = first;
  g_autoptr (GError) error = NULL;
  DynoBatch *batch;

  dyno_loader_start_epoch (loader, epoch, first);
  while ((batch = dyno_loader_next (loader, NULL, NULL, &error)) != NULL)
    {
      g_assert_cmpuint (batch->index, ==, index);
      index++;
      hash = dyno_hash_bytes (hash, &batch->n_valid, sizeof batch->n_valid);
      hash = dyno_hash_bytes (hash, batch->pixels, row * params.batch);
      hash = dyno_hash_bytes (hash, batch->classes, sizeof (gint32) * params.batch);
      hash = dyno_hash_bytes (hash, batch->flip_seeds, sizeof (guint32) * params.batch);
      dyno_loader_release (loader, batch);
    }
  g_assert_no_error (error);
  if (count != NULL)
    *count = (guint) (index - first);
  return hash;
}

static guint64
fold_new (DynoDataset *dataset, DynoLoaderParams params, guint64 epoch)
{
  g_autoptr (DynoLoader) loader = make_loader (dataset, params);
  return fold_epoch (loader, dataset, params, epoch, 0, NULL);
}

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
test_order_by_seed_and_epoch (void)
{
  g_autoptr (DynoDataset) dataset = open_shapes ("builtin:shapes?size=8&samples=100");
  DynoLoaderParams params = {
    .batch = 10, .seed = 5, .shuffle = TRUE, .persistent = TRUE, .workers = 2, .prefetch = 2
  };
  guint64 first = fold_new (dataset, params, 0);

  g_assert_cmpuint (fold_new (dataset, params, 0), ==, first);
  g_assert_cmpuint (fold_new (dataset, params, 1), !=, first);
  params.seed = 6;
  g_assert_cmpuint (fold_new (dataset, params, 0), !=, first);
}

static void
test_epoch_takes_each_sample_once (void)
{
  DynoLoaderParams params = {
    .batch = 7, .seed = 1, .shuffle = TRUE, .persistent = TRUE, .workers = 3, .prefetch = 3
  };
  gboolean seen[100] = { FALSE };
  g_autoptr (DynoDataset) dataset = NULL;
  g_autoptr (DynoLoader) loader = NULL;
  DynoBatch *batch;
  guint count = 0, in_order = 0;

  odd_reset (100);
  dataset = open_odd ();
  loader = make_loader (dataset, params);
  dyno_loader_start_epoch (loader, 0, 0);
  while ((batch = dyno_loader_next (loader, NULL, NULL, NULL)) != NULL)
    {
      for (guint32 i = 0; i < batch->n_valid; i++)
        {
          g_assert_false (seen[batch->classes[i]]);
          in_order += (guint) batch->classes[i] == count;
          seen[batch->classes[i]] = TRUE;
          count++;
        }
      dyno_loader_release (loader, batch);
    }
  g_assert_cmpuint (count, ==, 100);
  g_assert_cmpuint (in_order, <, 20);
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
      for (count = 0; (batch = dyno_loader_next (loader, NULL, NULL, NULL)) != NULL; count++)
        {
          const guint8 *pixels = batch->pixels;
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

static void
test_resumes_at_batch (void)
{
  g_autoptr (DynoDataset) dataset = open_shapes ("builtin:shapes?size=8&samples=100");
  DynoLoaderParams params = {
    .batch = 10, .seed = 5, .shuffle = TRUE, .persistent = TRUE, .workers = 4, .prefetch = 4
  };
  g_autoptr (DynoLoader) whole = make_loader (dataset, params);
  g_autoptr (DynoLoader) resumed = make_loader (dataset, params);
  guint count;
  DynoBatch *a, *b;

  dyno_loader_start_epoch (whole, 2, 0);
  dyno_loader_start_epoch (resumed, 2, 6);
  for (guint i = 0; i < 6; i++)
    dyno_loader_release (whole, dyno_loader_next (whole, NULL, NULL, NULL));
  for (guint i = 6; i < 10; i++)
    {
      a = dyno_loader_next (whole, NULL, NULL, NULL);
      b = dyno_loader_next (resumed, NULL, NULL, NULL);
      g_assert_cmpuint (b->index, ==, i);
      g_assert_cmpmem (a->pixels, 10 * 8 * 8 * 3, b->pixels, 10 * 8 * 8 * 3);
      g_assert_cmpmem (a->flip_seeds, 40, b->flip_seeds, 40);
      dyno_loader_release (whole, a);
      dyno_loader_release (resumed, b);
    }
  g_assert_null (dyno_loader_next (resumed, NULL, NULL, NULL));
  fold_epoch (resumed, dataset, params, 3, 10, &count);
  g_assert_cmpuint (count, ==, 0);
}

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
      odd.bad_every = 5; /* two a batch, ten are allowed */
      dataset = open_odd ();
      params.workers = workers;
      loader = make_loader (dataset, params);
      dyno_loader_start_epoch (loader, 0, 0);
      for (; (batch = dyno_loader_next (loader, NULL, NULL, &error)) != NULL; count++)
        dyno_loader_release (loader, batch);
      g_assert_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT);
      g_assert_cmpuint (count, ==, 5);
    }
}

/* A share is rounded up; none means none; a sample counts once, however often its turn comes. */
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
      for (guint epoch = 0; epoch < 3 && error == NULL; epoch++)
        {
          dyno_loader_start_epoch (loader, epoch, 0);
          while ((batch = dyno_loader_next (loader, NULL, NULL, &error)) != NULL)
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

static gpointer
cancel_soon (gpointer data)
{
  g_usleep (20000);
  g_cancellable_cancel (data);
  return NULL;
}

static void
release_stuck (void)
{
  g_mutex_lock (&odd.mutex);
  odd.release = TRUE;
  g_cond_broadcast (&odd.cond);
  g_mutex_unlock (&odd.mutex);
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
  dyno_loader_start_epoch (loader, 0, 0);
  thread = g_thread_new ("cancel", cancel_soon, cancellable);
  g_assert_null (dyno_loader_next (loader, NULL, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_thread_join (thread);
  release_stuck ();
  /* The loader goes on after it. */
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

static gpointer
change_all_the_time (gpointer data)
{
  DynoLoader *loader = data;
  DynoLoaderStats stats;

  for (guint i = 0; i < 60; i++)
    {
      dyno_loader_set_workers (loader, i % 6);
      dyno_loader_set_prefetch (loader, 1 + i % 9);
      dyno_loader_get_stats (loader, &stats);
      g_usleep (500);
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
    slots[i] = g_malloc (4 * 64 * 200);
  loader = make_loader (dataset, params);
  dyno_loader_start_epoch (loader, 0, 0);
  for (guint i = 0; i < 3; i++)
    {
      held[i] = dyno_loader_next (loader, NULL, NULL, NULL);
      g_assert_true (held[i]->pixels == slots[held[i]->slot]);
    }
  g_assert_null (dyno_loader_next (loader, NULL, NULL, &error));
  g_assert_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_OPTION);
  for (guint i = 0; i < 3; i++)
    {
      g_assert_cmpint (held[i]->classes[0], ==, (gint32) (4 * i));
      dyno_loader_release (loader, held[i]);
    }
  dyno_loader_release (loader, dyno_loader_next (loader, NULL, NULL, NULL));
  g_clear_pointer (&loader, dyno_loader_free);
  for (guint i = 0; i < 3; i++)
    g_free (slots[i]);
}

static void
test_stuck_worker_is_replaced (void)
{
  DynoLoaderParams params = { .batch = 10, .persistent = TRUE, .prefetch = 2, .workers = 1 };
  g_autoptr (DynoDataset) dataset = NULL;
  g_autoptr (DynoLoader) loader = NULL;
  guint64 expected;

  odd_reset (50);
  dataset = open_odd ();
  expected = fold_new (dataset, params, 0);
  odd.stuck_index = 17;
  loader = make_loader (dataset, params);
  dyno_loader_set_patience (loader, 20000, 5 * G_USEC_PER_SEC);
  g_test_expect_message ("dyno-data", G_LOG_LEVEL_WARNING, "*stuck*");
  g_assert_cmpuint (fold_epoch (loader, dataset, params, 0, 0, NULL), ==, expected);
  g_test_assert_expected_messages ();
  release_stuck ();
  g_assert_cmpuint (fold_epoch (loader, dataset, params, 0, 0, NULL), ==, expected);
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
  dyno_loader_free (loader); /* comes back although workers are still in decode */
  release_stuck ();
  /* Those left behind end on their own: the last reference to the data set is then this test's. */
  while (g_atomic_ref_count_compare (&dataset->references, 1) == FALSE)
    g_usleep (1000);
  g_log_set_always_fatal (fatal);
}

static void
take_and_release (DynoLoader *loader)
{
  g_autoptr (GError) error = NULL;
  DynoBatch *batch = dyno_loader_next (loader, NULL, NULL, &error);

  g_assert_no_error (error);
  dyno_loader_release (loader, batch);
}

/* A worker is stuck in batch 1, is replaced, and comes back while its slot is filled with batch
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
    slots[i] = g_malloc (10 * 64 * 200);
  loader = make_loader (dataset, params);
  dyno_loader_set_patience (loader, 20000, 60 * G_USEC_PER_SEC);
  dyno_loader_start_epoch (loader, 0, 0);
  take_and_release (loader);
  g_test_expect_message ("dyno-data", G_LOG_LEVEL_WARNING, "*stuck*");
  take_and_release (loader);
  g_test_assert_expected_messages ();
  dyno_loader_set_patience (loader, 60 * G_USEC_PER_SEC, 60 * G_USEC_PER_SEC);
  take_and_release (loader);
  while (!g_atomic_int_get (&odd.holding))
    g_usleep (1000);
  release_stuck ();
  /* The loader's own reference and that of the worker that took over. */
  while (!g_atomic_ref_count_compare (&loader->references, 2))
    g_usleep (1000);
  g_mutex_lock (&odd.mutex);
  odd.let_go = TRUE;
  g_cond_broadcast (&odd.cond);
  g_mutex_unlock (&odd.mutex);

  batch = dyno_loader_next (loader, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (batch->index, ==, 3);
  for (gint i = 0; i < 10; i++)
    {
      guint64 index;
      memcpy (&index, (guint8 *) batch->pixels + i * 64 * 200, sizeof index);
      g_assert_cmpuint (index, ==, 30 + i);
      g_assert_cmpint (batch->classes[i], ==, 30 + i);
    }
  dyno_loader_release (loader, batch);
  dyno_loader_free (loader);
  for (guint i = 0; i < 2; i++)
    g_free (slots[i]);
}

/* A stop by Ctrl-Z, a suspended machine: no worker is stuck, the run does not end, and the wait
 * does not hold the hour. */
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
  dyno_loader_set_patience (loader, 2 * G_USEC_PER_SEC, 4 * G_USEC_PER_SEC);
  dyno_loader_set_clock (loader, odd_clock);
  dyno_loader_start_epoch (loader, 0, 0);
  for (count = 0; (batch = dyno_loader_next (loader, &wait_us, NULL, &error)) != NULL; count++)
    {
      dyno_loader_release (loader, batch);
      all_us += wait_us;
    }
  g_assert_no_error (error);
  g_assert_cmpuint (count, ==, 5);
  g_assert_cmpint (odd.clock_hours, ==, 1);
  g_assert_cmpint (all_us, <, HOUR_US);
}

/* Patience is with a source that gives nothing, not with a batch that takes long. */
static void
test_slow_samples_are_waited_for (void)
{
  DynoLoaderParams params = { .batch = 30, .persistent = TRUE, .prefetch = 1, .workers = 1 };
  g_autoptr (DynoDataset) dataset = NULL;
  g_autoptr (DynoLoader) loader = NULL;

  odd_reset (30);
  odd.sleep_us = 60000;
  dataset = open_odd ();
  loader = make_loader (dataset, params);
  dyno_loader_set_patience (loader, 2 * G_USEC_PER_SEC, G_USEC_PER_SEC);
  dyno_loader_start_epoch (loader, 0, 0);
  take_and_release (loader);
}

/* Order and flips are drawn anew for each epoch, each from its own numbers. */
static void
test_order_and_flips_differ_by_epoch (void)
{
  DynoLoaderParams params = {
    .batch = 16, .seed = 5, .shuffle = TRUE, .persistent = TRUE, .workers = 2, .prefetch = 2
  };
  g_autoptr (DynoDataset) dataset = NULL;
  g_autoptr (DynoLoader) loader = NULL;
  gint32 order[3][64];
  guint32 flips[3][64];

  odd_reset (64);
  dataset = open_odd ();
  loader = make_loader (dataset, params);
  for (guint epoch = 0; epoch < 3; epoch++)
    {
      dyno_loader_start_epoch (loader, epoch, 0);
      for (guint i = 0; i < 4; i++)
        {
          DynoBatch *batch = dyno_loader_next (loader, NULL, NULL, NULL);
          memcpy (order[epoch] + i * 16, batch->classes, sizeof (gint32) * 16);
          memcpy (flips[epoch] + i * 16, batch->flip_seeds, sizeof (guint32) * 16);
          dyno_loader_release (loader, batch);
        }
    }
  for (guint a = 0; a < 3; a++)
    for (guint b = 0; b < a; b++)
      {
        guint same_place = 0, same_flip = 0;
        for (guint i = 0; i < 64; i++)
          {
            same_place += order[a][i] == order[b][i];
            same_flip += flips[a][i] == flips[b][i];
          }
        g_assert_cmpuint (same_place, <, 16);
        g_assert_cmpuint (same_flip, ==, 0);
      }
  /* Within an epoch, half of the samples are mirrored. */
  for (guint epoch = 0; epoch < 3; epoch++)
    {
      guint mirrored = 0;
      for (guint i = 0; i < 64; i++)
        mirrored += flips[epoch][i] >> 31;
      g_assert_cmpuint (mirrored, >, 16);
      g_assert_cmpuint (mirrored, <, 48);
    }
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

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/data/loader/same-for-any-workers", test_same_for_any_workers);
  g_test_add_func ("/data/loader/order-by-seed-and-epoch", test_order_by_seed_and_epoch);
  g_test_add_func ("/data/loader/epoch-takes-each-sample-once", test_epoch_takes_each_sample_once);
  g_test_add_func ("/data/loader/short-last-batch", test_short_last_batch);
  g_test_add_func ("/data/loader/resumes-at-batch", test_resumes_at_batch);
  g_test_add_func ("/data/loader/replaces-bad-samples", test_replaces_bad_samples);
  g_test_add_func ("/data/loader/stops-past-bad-share", test_stops_past_bad_share);
  g_test_add_func ("/data/loader/allowed-share-of-bad", test_allowed_share_of_bad);
  g_test_add_func ("/data/loader/all-bad-ends", test_all_bad_ends);
  g_test_add_func ("/data/loader/cancel-ends-wait", test_cancel_ends_wait);
  g_test_add_func ("/data/loader/free-in-mid-epoch", test_free_in_mid_epoch);
  g_test_add_func ("/data/loader/new-epoch-drops-old", test_new_epoch_drops_old);
  g_test_add_func ("/data/loader/live-changes-keep-batches", test_live_changes_keep_batches);
  g_test_add_func ("/data/loader/cache-decodes-once", test_cache_decodes_once);
  g_test_add_func ("/data/loader/cache-keeps-its-limit", test_cache_keeps_its_limit);
  g_test_add_func ("/data/loader/uses-the-callers-slots", test_uses_the_callers_slots);
  g_test_add_func ("/data/loader/stuck-worker-is-replaced", test_stuck_worker_is_replaced);
  g_test_add_func ("/data/loader/stuck-for-good-is-an-error", test_stuck_for_good_is_an_error);
  g_test_add_func ("/data/loader/late-worker-touches-nothing", test_late_worker_touches_nothing);
  g_test_add_func ("/data/loader/time-without-the-process-is-no-waiting",
                   test_time_without_the_process_is_no_waiting);
  g_test_add_func ("/data/loader/slow-samples-are-waited-for", test_slow_samples_are_waited_for);
  g_test_add_func ("/data/loader/order-and-flips-differ-by-epoch",
                   test_order_and_flips_differ_by_epoch);
  g_test_add_func ("/data/loader/refuses-what-cannot-be", test_refuses_what_cannot_be);
  return g_test_run ();
}
