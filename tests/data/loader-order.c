/* SPDX-License-Identifier: MIT */
/* The loader: which sample comes when, and how it is mirrored, by seed, epoch and first batch. */
#include "loader-test.h"
#include <string.h>

#define SEED 2 /* field of the shapes' schema */

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
  while ((batch = dyno_loader_next (loader, NULL, NULL, NULL)))
    {
      for (guint32 i = 0; i < batch->n_valid; i++)
        {
          g_assert_false (seen[class_at (batch, i)]);
          in_order += (guint) class_at (batch, i) == count;
          seen[class_at (batch, i)] = TRUE;
          count++;
        }
      dyno_loader_release (loader, batch);
    }
  g_assert_cmpuint (count, ==, 100);
  g_assert_cmpuint (in_order, <, 20);
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
      g_assert_cmpmem (a->fields[0], 10 * 8 * 8 * 3, b->fields[0], 10 * 8 * 8 * 3);
      g_assert_cmpmem (a->fields[SEED], 40, b->fields[SEED], 40);
      dyno_loader_release (whole, a);
      dyno_loader_release (resumed, b);
    }
  g_assert_null (dyno_loader_next (resumed, NULL, NULL, NULL));
  fold_epoch (resumed, dataset, params, 3, 10, &count);
  g_assert_cmpuint (count, ==, 0);
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
          memcpy (order[epoch] + i * 16, batch->fields[DYNO_DATASET_TARGET], sizeof (gint32) * 16);
          memcpy (flips[epoch] + i * 16, batch->fields[SEED], sizeof (guint32) * 16);
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
  /* Within an epoch, each position has its own number, not each row of a batch, and half of the
   * samples are mirrored. */
  for (guint epoch = 0; epoch < 3; epoch++)
    for (guint i = 0; i < 64; i++)
      for (guint j = 0; j < i; j++)
        g_assert_cmpuint (flips[epoch][i], !=, flips[epoch][j]);
  for (guint epoch = 0; epoch < 3; epoch++)
    {
      guint mirrored = 0;
      for (guint i = 0; i < 64; i++)
        mirrored += flips[epoch][i] >> 31;
      g_assert_cmpuint (mirrored, >, 16);
      g_assert_cmpuint (mirrored, <, 48);
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/data/loader/order-by-seed-and-epoch", test_order_by_seed_and_epoch);
  g_test_add_func ("/data/loader/epoch-takes-each-sample-once", test_epoch_takes_each_sample_once);
  g_test_add_func ("/data/loader/resumes-at-batch", test_resumes_at_batch);
  g_test_add_func ("/data/loader/order-and-flips-differ-by-epoch",
                   test_order_and_flips_differ_by_epoch);
  return g_test_run ();
}
