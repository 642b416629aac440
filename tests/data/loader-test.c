/* SPDX-License-Identifier: MIT */
#include "loader-test.h"
#include "hash.h"
#include <string.h>

#define HOUR_US  (G_GINT64_CONSTANT (3600) * G_USEC_PER_SEC)
#define INDEX_AT 16 /* position of a sample's index in its pixels */

Odd odd;
guint32 odd_height = 200;

void
odd_reset (guint64 n_samples)
{
  memset (&odd, 0, sizeof odd);
  odd.n_samples = n_samples;
  odd.stuck_index = odd.hold_index = odd.jump_index = -1;
}

/* A clock for loaders, which includes the hours for which the whole process was stopped.  Only the
 * consumer reads it: at the begin of its waiting, then at the begin and the end of each round. */
gint64
odd_clock (void)
{
  gint calls = g_atomic_int_add (&odd.clock_calls, 1) + 1 - g_atomic_int_get (&odd.next_calls);

  if (calls > 1 && calls % 2 == 1 && g_atomic_int_compare_and_exchange (&odd.jumping, TRUE, FALSE))
    g_atomic_int_inc (&odd.clock_hours);
  return g_get_monotonic_time () + g_atomic_int_get (&odd.clock_hours) * HOUR_US;
}

/* Lets an hour pass that no thread of the process sees, in a round in which the consumer waits;
 * returns when that is over. */
static void
odd_jump (void)
{
  g_atomic_int_set (&odd.jumping, TRUE);
  while (g_atomic_int_get (&odd.jumping))
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
  info->min_width = info->max_width = 64;
  info->min_height = info->max_height = odd_height;
  info->schema = dyno_schema_image (DYNO_ELEMENT_U8, odd_height, 64, 1, 0);
  dyno_dataset_info_set_classes (info, 2);
  info->class_counts[0] = info->class_counts[1] = info->n_samples / 2;
  return TRUE;
}

static gint32
odd_label (DynoDataset *dataset, guint64 index)
{
  return (gint32) (index % 2);
}

/* The part that takes time, or never returns. */
static gboolean
odd_fetch (DynoDataset *dataset, guint64 index, GByteArray *scratch, gsize *fetched, GError **error)
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
  if (odd.on_decode)
    odd.on_decode (index);
  return TRUE;
}

static gboolean
odd_decode (DynoDataset *dataset, guint64 index, guint32 width, guint32 height,
            gpointer const *fields, GByteArray *scratch, gsize fetched, GError **error)
{
  guint8 *pixels = fields[DYNO_DATASET_INPUT];

  if (odd.decoded_at)
    odd.decoded_at[index] = pixels;
  /* The pixels of a bad sample must not be seen. */
  memset (pixels, (int) (index * 7 + 1) & 0xff, (gsize) width * height);
  memcpy (pixels + INDEX_AT, &index, sizeof index);
  if (odd.bad_every > 0 && (guint) (index % odd.bad_every) - odd.bad_phase < MAX (odd.bad_run, 1))
    {
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT, "made bad");
      return FALSE;
    }
  *(gint32 *) fields[DYNO_DATASET_TARGET] = (gint32) index;
  return TRUE;
}

static const DynoDatasetClass odd_class = { .kind = "odd",
                                            .title = "Odd",
                                            .open = odd_open,
                                            .fetch = odd_fetch,
                                            .decode = odd_decode,
                                            .label = odd_label };

DynoDataset *
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

gint32
class_at (const DynoBatch *batch, guint32 row)
{
  return ((const gint32 *) batch->fields[DYNO_DATASET_TARGET])[row];
}

guint64
odd_index_at (const DynoBatch *batch, guint32 row)
{
  guint64 index;

  memcpy (&index,
          (const guint8 *) batch->fields[DYNO_DATASET_INPUT] + row * 64 * odd_height + INDEX_AT,
          sizeof index);
  g_assert_cmpint (class_at (batch, row), ==, (gint32) index);
  return index;
}

void
release_stuck (void)
{
  g_mutex_lock (&odd.mutex);
  odd.release = TRUE;
  g_cond_broadcast (&odd.cond);
  g_mutex_unlock (&odd.mutex);
}

DynoDataset *
open_shapes (const char *location)
{
  g_autoptr (GError) error = NULL;
  DynoDataset *dataset = dyno_dataset_open (location, NULL, NULL, NULL, NULL, &error);

  g_assert_no_error (error);
  return dataset;
}

DynoLoader *
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

/* Returns a hash of all fields of the batches, and the number of batches. */
guint64
fold_epoch (DynoLoader *loader, DynoDataset *dataset, DynoLoaderParams params, guint64 epoch,
            guint64 first, guint *count)
{
  const DynoBatchLayout *layout = dyno_loader_get_layout (loader);
  guint64 hash = DYNO_HASH_START, index = first;
  g_autoptr (GError) error = NULL;
  DynoBatch *batch;

  dyno_loader_start_epoch (loader, epoch, first);
  while ((batch = dyno_loader_next (loader, NULL, NULL, &error)))
    {
      g_assert_cmpuint (batch->index, ==, index);
      index++;
      hash = dyno_hash_bytes (hash, &batch->n_valid, sizeof batch->n_valid);
      for (guint i = 0; i < layout->n_fields; i++)
        hash = dyno_hash_bytes (hash, batch->fields[i], layout->field_bytes[i]);
      dyno_loader_release (loader, batch);
    }
  g_assert_no_error (error);
  if (count)
    *count = (guint) (index - first);
  return hash;
}

guint64
fold_new (DynoDataset *dataset, DynoLoaderParams params, guint64 epoch)
{
  g_autoptr (DynoLoader) loader = make_loader (dataset, params);
  return fold_epoch (loader, dataset, params, epoch, 0, NULL);
}

void
take_and_release (DynoLoader *loader)
{
  g_autoptr (GError) error = NULL;
  DynoBatch *batch = dyno_loader_next (loader, NULL, NULL, &error);

  g_assert_no_error (error);
  dyno_loader_release (loader, batch);
}
