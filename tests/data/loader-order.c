/* SPDX-License-Identifier: MIT */
/* The loader: the order of samples and their mirroring, by seed, epoch and first batch. */
#include "loader-test.h"
#include <string.h>

#define SEED 2 /* the field in the shapes' schema */

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

/* A loader gives each epoch as a new loader does, whatever came before: also an epoch that it left
 * in the middle, and one that it repeats. */
static void
test_later_epochs_are_those_of_a_new_loader (void)
{
  static const struct {
    guint64 epoch, leave_at; /* in batches; 0: at the end */
  } turns[] = { { 0, 0 }, { 1, 3 }, { 1, 0 }, { 2, 0 }, { 5, 9 }, { 1, 0 }, { 0, 0 } };
  g_autoptr (DynoDataset) dataset = open_shapes ("builtin:shapes?size=8&samples=100&classes=4");

  for (guint balance = 0; balance < 2; balance++)
    {
      DynoLoaderParams params = { .batch = 10,
                                  .seed = 5,
                                  .shuffle = !balance,
                                  .balance = balance,
                                  .persistent = TRUE,
                                  .workers = 2,
                                  .prefetch = 2 };
      g_autoptr (DynoLoader) loader = make_loader (dataset, params);
      guint64 folds[3];

      for (guint epoch = 0; epoch < 3; epoch++)
        folds[epoch] = fold_new (dataset, params, epoch);
      g_assert_cmpuint (folds[0], !=, folds[1]);
      g_assert_cmpuint (folds[1], !=, folds[2]);
      for (guint i = 0; i < G_N_ELEMENTS (turns); i++)
        {
          if (turns[i].leave_at > 0)
            dyno_loader_start_epoch (loader, turns[i].epoch, 0);
          for (guint64 k = 0; k < turns[i].leave_at; k++)
            take_and_release (loader);
          if (turns[i].leave_at == 0)
            g_assert_cmpuint (fold_epoch (loader, dataset, params, turns[i].epoch, 0, NULL), ==,
                              folds[turns[i].epoch]);
        }
    }
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

/* The ranks take the batches of the whole order in turn, with the seeds of the augmentation. */
static void
test_ranks_share_the_order (void)
{
  g_autoptr (DynoDataset) dataset = open_shapes ("builtin:shapes?size=8&samples=107");
  DynoLoaderParams params = {
    .batch = 5, .seed = 5, .shuffle = TRUE, .persistent = TRUE, .workers = 2, .prefetch = 4
  };

  for (guint k = 0; k < 12; k++)
    {
      guint ranks = 2 + k % 3, turn = 1 + k / 3 % 2, n_batches;
      g_autoptr (DynoLoader) whole = NULL;
      g_autoptr (GPtrArray) shares =
          g_ptr_array_new_with_free_func ((GDestroyNotify) dyno_loader_free);

      params.drop_last = k >= 6;
      params.ranks = 0;
      whole = make_loader (dataset, params);
      dyno_loader_start_epoch (whole, 1, 0);
      for (guint rank = 0; rank < ranks; rank++)
        {
          DynoLoaderParams share = params;
          share.ranks = ranks;
          share.rank = rank;
          share.turn = turn;
          g_ptr_array_add (shares, make_loader (dataset, share));
          dyno_loader_start_epoch (shares->pdata[rank], 1, 0);
        }
      n_batches = params.drop_last ? 107 / (5 * turn) * turn : 22;
      for (guint i = 0; i < n_batches; i++)
        {
          DynoLoader *share = shares->pdata[i / turn % ranks];
          DynoBatch *a = dyno_loader_next (whole, NULL, NULL, NULL),
                    *b = dyno_loader_next (share, NULL, NULL, NULL);

          g_assert_nonnull (b);
          g_assert_cmpuint (a->n_valid, ==, b->n_valid);
          g_assert_cmpmem (a->fields[0], 5 * 8 * 8 * 3, b->fields[0], 5 * 8 * 8 * 3);
          g_assert_cmpmem (a->fields[SEED], 20, b->fields[SEED], 20);
          dyno_loader_release (whole, a);
          dyno_loader_release (share, b);
        }
      for (guint rank = 0; rank < ranks; rank++)
        g_assert_null (dyno_loader_next (shares->pdata[rank], NULL, NULL, NULL));
    }
}

/* With few samples a rank may have none, and with too few for a batch of all ranks no rank
 * trains. */
static void
test_ranks_without_samples (void)
{
  g_autoptr (DynoDataset) dataset = open_shapes ("builtin:shapes?size=8&samples=10");
  g_autoptr (GArray) indices = g_array_new (FALSE, FALSE, sizeof (guint32));
  DynoLoaderParams params = { .batch = 5, .width = 8, .height = 8, .ranks = 3, .rank = 2 };
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoLoader) last = NULL;

  for (guint32 i = 0; i < 10; i++)
    g_array_append_val (indices, i);
  last = dyno_loader_new (dataset, indices, &params, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (dyno_loader_get_batches (last), ==, 0);
  dyno_loader_start_epoch (last, 0, 0);
  g_assert_null (dyno_loader_next (last, NULL, NULL, &error));
  g_assert_no_error (error);
  params.drop_last = TRUE;
  g_assert_null (dyno_loader_new (dataset, indices, &params, &error));
  g_assert_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_EMPTY);
  g_assert_nonnull (strstr (error->message, "a batch of 15"));
}

/* Order and flips are drawn again for each epoch, from separate numbers. */
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
  /* Within an epoch each position, and not each row of a batch, has its own number, and half of the
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

/* 60, 6 and 1 samples of three classes. */
static GArray *
uneven_indices (DynoDataset *dataset)
{
  static const guint wanted[3] = { 60, 6, 1 };
  GArray *indices = g_array_new (FALSE, FALSE, sizeof (guint32));
  guint taken[3] = { 0 };

  for (guint32 i = 0; i < dyno_dataset_get_info (dataset)->n_samples; i++)
    {
      gint32 label = dyno_dataset_get_label (dataset, i);
      if (label < 3 && taken[label] < wanted[label])
        {
          taken[label]++;
          g_array_append_val (indices, i);
        }
    }
  g_assert_cmpuint (indices->len, ==, 67);
  return indices;
}

/* Returns the class ids of an epoch from a batch on, and a hash of its pixels; first: 0 to 6. */
static guint64
take_balanced (DynoDataset *dataset, guint workers, guint64 epoch, guint64 first, guint *counts,
               guint64 *fold)
{
  const DynoLoaderParams params = { .batch = 10,
                                    .width = 8,
                                    .height = 8,
                                    .seed = 5,
                                    .balance = TRUE,
                                    .persistent = TRUE,
                                    .workers = workers,
                                    .prefetch = 3 };
  g_autoptr (GArray) indices = uneven_indices (dataset);
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoLoader) loader = dyno_loader_new (dataset, indices, &params, &error);
  DynoBatch *batch;
  guint64 n = 0;

  g_assert_no_error (error);
  dyno_loader_start_epoch (loader, epoch, first);
  while ((batch = dyno_loader_next (loader, NULL, NULL, NULL)))
    {
      for (guint32 i = 0; i < batch->n_valid; i++, n++)
        {
          counts[class_at (batch, i)]++;
          for (guint b = 0; b < 192; b++)
            *fold = *fold * 31 + ((guint8 *) batch->fields[0])[i * 192 + b];
        }
      dyno_loader_release (loader, batch);
    }
  return n;
}

static void
test_balance_takes_classes_in_turns (void)
{
  g_autoptr (DynoDataset) dataset = open_shapes ("builtin:shapes?size=8&samples=400&classes=4");
  guint64 folds[2] = { 0 };

  for (guint epoch = 0; epoch < 2; epoch++)
    for (guint workers = 0; workers < 4; workers++)
      {
        guint counts[4] = { 0 };
        guint64 fold = 0;

        g_assert_cmpuint (take_balanced (dataset, workers, epoch, 0, counts, &fold), ==, 67);
        for (guint c = 0; c < 3; c++)
          g_assert_cmpuint (counts[c] / 22, ==, 1);
        g_assert_cmpuint (counts[epoch], ==, 23);
        g_assert_cmpuint (counts[3], ==, 0);
        folds[epoch] = workers == 0 ? fold : folds[epoch];
        g_assert_cmpuint (fold, ==, folds[epoch]);
      }
  g_assert_cmpuint (folds[0], !=, folds[1]);
}

static void
test_balance_goes_on_in_the_middle (void)
{
  g_autoptr (DynoDataset) dataset = open_shapes ("builtin:shapes?size=8&samples=400&classes=4");
  const DynoLoaderParams params = {
    .batch = 10, .width = 8, .height = 8, .seed = 5, .balance = TRUE, .persistent = TRUE
  };
  g_autoptr (GArray) indices = uneven_indices (dataset);
  g_autoptr (DynoLoader) loader = dyno_loader_new (dataset, indices, &params, NULL);
  guint64 whole = 0, resumed = 0;
  guint counts[4] = { 0 };
  DynoBatch *batch;

  /* a loader in its third epoch, and one that begins there */
  for (guint64 epoch = 0; epoch < 3; epoch++)
    {
      dyno_loader_start_epoch (loader, epoch, 0);
      for (guint b = 0; (batch = dyno_loader_next (loader, NULL, NULL, NULL)); b++)
        {
          for (guint i = 0; epoch == 2 && b >= 4 && i < batch->n_valid * 192; i++)
            whole = whole * 31 + ((guint8 *) batch->fields[0])[i];
          dyno_loader_release (loader, batch);
        }
    }
  g_assert_cmpuint (take_balanced (dataset, 2, 2, 4, counts, &resumed), ==, 27);
  g_assert_cmpuint (resumed, ==, whole);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/data/loader/ranks-share-the-order", test_ranks_share_the_order);
  g_test_add_func ("/data/loader/a-rank-may-have-no-samples", test_ranks_without_samples);
  g_test_add_func ("/data/loader/order-by-seed-and-epoch", test_order_by_seed_and_epoch);
  g_test_add_func ("/data/loader/later-epochs-are-those-of-a-new-loader",
                   test_later_epochs_are_those_of_a_new_loader);
  g_test_add_func ("/data/loader/epoch-takes-each-sample-once", test_epoch_takes_each_sample_once);
  g_test_add_func ("/data/loader/resumes-at-batch", test_resumes_at_batch);
  g_test_add_func ("/data/loader/order-and-flips-differ-by-epoch",
                   test_order_and_flips_differ_by_epoch);
  g_test_add_func ("/data/loader/balance-takes-classes-in-turns",
                   test_balance_takes_classes_in_turns);
  g_test_add_func ("/data/loader/balance-goes-on-in-the-middle",
                   test_balance_goes_on_in_the_middle);
  return g_test_run ();
}
