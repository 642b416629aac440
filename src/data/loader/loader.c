/* SPDX-License-Identifier: MIT */
/* The consumer's side of the loader: slots, epochs, taking batches, live changes.  loader-private.h
 * has the invariants. */
#include "loader-private.h"
#include "checked.h"
#include "dataset-class.h"
#include "intl.h"
#include "text.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* small samples are taken several at a time, to lock the mutex less often */
#define CHUNK_BYTES      (32 * 1024)
#define DEFAULT_BAD      0.1
#define DEFAULT_STUCK_US (5 * G_USEC_PER_SEC)
#define DEFAULT_PATIENCE (30 * G_USEC_PER_SEC)
#define HELD_SLOTS       2 /* batches that a consumer may hold while prefetch others are ahead */

/* --- making and unmaking ---------------------------------------------------------------------- */

static gboolean
init_slot (DynoLoader *loader, gpointer block)
{
  DynoSlot *slot = &loader->slots[loader->n_slots];

  memset (slot, 0, sizeof *slot);
  if (!block)
    block = slot->own_block = g_try_malloc0 (loader->layout.total_bytes);
  for (guint i = 0; i < loader->layout.n_fields && block; i++)
    slot->batch.fields[i] = (guint8 *) block + loader->layout.offset[i];
  slot->block = block;
  slot->taken = g_try_new0 (gboolean, loader->params.batch);
  loader->n_slots++;
  return block != NULL && slot->taken != NULL;
}

static void
clear_slot (DynoSlot *slot)
{
  g_free (slot->own_block);
  g_free (slot->taken);
  g_clear_error (&slot->error);
}

guint
dyno_loader_count_slots (guint prefetch)
{
  return CLAMP (prefetch, 1, DYNO_LOADER_MAX_PREFETCH) + HELD_SLOTS;
}

/* Allocates as many slots as the prefetch needs; fewer where memory is short. */
static gboolean
grow_slots (DynoLoader *loader)
{
  while (!loader->params.slots
         && loader->n_slots < MIN (dyno_loader_count_slots (loader->prefetch), loader->max_slots))
    if (!init_slot (loader, NULL))
      {
        clear_slot (&loader->slots[--loader->n_slots]);
        return FALSE;
      }
  return TRUE;
}

static gboolean
set_memory_error (GError **error, const char *what, guint64 bytes)
{
  g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_NO_MEMORY,
               _ ("No memory for %s (%" PRIu64
                  " MB); take a smaller batch, a smaller prefetch or smaller images"),
               what, bytes >> 20);
  return FALSE;
}

static gboolean
make_slots (DynoLoader *loader, GError **error)
{
  const DynoLoaderParams *params = &loader->params;
  guint64 batch_bytes = loader->layout.total_bytes;

  loader->max_slots =
      params->slots ? params->n_slots : dyno_loader_count_slots (DYNO_LOADER_MAX_PREFETCH);
  loader->slots = g_new0 (DynoSlot, loader->max_slots);
  for (guint i = 0; params->slots && i < params->n_slots; i++)
    if (!init_slot (loader, params->slots[i]))
      return set_memory_error (error, "the loader's batches", batch_bytes);
  if (!grow_slots (loader) && loader->n_slots < 1 + HELD_SLOTS)
    return set_memory_error (error, "the loader's batches", batch_bytes * (1 + HELD_SLOTS));
  loader->consumer_scratch = dyno_worker_scratch_new (loader);
  if (!loader->consumer_scratch)
    return set_memory_error (error, "decoding", loader->chunk_layout.total_bytes);
  return TRUE;
}

/* Counts the batches of this rank.  FALSE: no rank has a batch, or with drop_last not every rank
 * has a turn.  *all: the samples of one turn of all ranks. */
static gboolean
count_batches (DynoLoader *loader, guint64 *all)
{
  const DynoLoaderParams *params = &loader->params;
  guint64 ranks = MAX (params->ranks, 1), turn = ranks > 1 ? MAX (params->turn, 1) : 1,
          total = dyno_div_up ((guint64) loader->n_samples, params->batch), rest;

  *all = ranks * turn * params->batch;
  if (params->drop_last)
    total = loader->n_samples / (turn * params->batch) * turn;
  rest = total % (ranks * turn);
  loader->n_batches =
      total / (ranks * turn) * turn + MIN (rest - MIN (rest, params->rank * turn), turn);
  return total >= (params->drop_last ? ranks * turn : 1);
}

static gboolean
take_indices (DynoLoader *loader, const GArray *indices, GError **error)
{
  const DynoDatasetInfo *info = dyno_dataset_get_info (loader->dataset);
  guint64 all;

  loader->n_samples = indices->len;
  if (!count_batches (loader, &all))
    {
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_EMPTY,
                   ngettext ("%u sample of “%s” does not fill a batch of %" PRIu64
                             "; take a smaller batch or more samples",
                             "%u samples of “%s” do not fill a batch of %" PRIu64
                             "; take a smaller batch or more samples",
                             (gulong) indices->len),
                   indices->len, info->name, all);
      return FALSE;
    }
  loader->indices = g_try_new (guint32, indices->len);
  loader->order = g_try_new (guint32, indices->len);
  loader->bad = g_try_malloc0 (indices->len);
  loader->ever_bad = g_try_malloc0 (indices->len);
  if (!loader->indices || !loader->order || !loader->bad || !loader->ever_bad)
    return set_memory_error (error, "the order of samples", (guint64) indices->len * 10);
  memcpy (loader->indices, indices->data, indices->len * sizeof (guint32));
  if (!loader->params.balance || !dyno_dataset_has_classes (info) || info->schema.generated)
    return TRUE;
  loader->turns = dyno_class_turns_new (loader);
  if (!loader->turns)
    return set_memory_error (error, "the order of samples", (guint64) indices->len * 14);
  return TRUE;
}

static gboolean
take_schema (DynoLoader *loader, GError **error)
{
  const DynoLoaderParams *params = &loader->params;
  g_autoptr (GError) reason = NULL;
  int input;

  dyno_dataset_get_schema (dyno_dataset_get_info (loader->dataset), params->width, params->height,
                           &loader->schema);
  if (!dyno_batch_layout_init (&loader->layout, &loader->schema, params->batch, &reason))
    {
      g_set_error_literal (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_TOO_LARGE, reason->message);
      return FALSE;
    }
  input = dyno_schema_find_index (&loader->schema, DYNO_FIELD_INPUT);
  g_return_val_if_fail (input >= 0 && loader->layout.sample_bytes[input] > 0, FALSE);
  loader->chunk =
      (guint32) CLAMP (CHUNK_BYTES / loader->layout.sample_bytes[input], 1, DYNO_LOADER_MAX_CHUNK);
  return dyno_batch_layout_init (&loader->chunk_layout, &loader->schema, loader->chunk, error);
}

DynoLoader *
dyno_loader_new (DynoDataset *dataset, const GArray *indices, const DynoLoaderParams *params,
                 GError **error)
{
  g_autoptr (DynoLoader) loader = NULL;

  g_return_val_if_fail (params->batch > 0 && params->width > 0 && params->height > 0, NULL);
  g_return_val_if_fail (!params->slots || params->n_slots >= 2, NULL);
  loader = g_new0 (DynoLoader, 1);
  g_atomic_ref_count_init (&loader->references);
  g_mutex_init (&loader->mutex);
  g_cond_init (&loader->work);
  g_cond_init (&loader->ready);
  g_queue_init (&loader->reissue);
  loader->dataset = dyno_dataset_ref (dataset);
  loader->params = *params;
  loader->workers = g_ptr_array_new ();
  loader->ended = g_ptr_array_new ();
  loader->bad_list = g_ptr_array_new_with_free_func (g_free);
  loader->bad_reasons = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  loader->filling = -1;
  loader->stuck_us = DEFAULT_STUCK_US;
  loader->give_up_us = DEFAULT_PATIENCE;
  loader->clock = g_get_monotonic_time;
  loader->prefetch = CLAMP (params->prefetch, 1, DYNO_LOADER_MAX_PREFETCH);
  loader->target_workers = MIN (params->workers, DYNO_LOADER_MAX_WORKERS);
  if (!take_schema (loader, error) || !take_indices (loader, indices, error)
      || !make_slots (loader, error))
    return NULL;
  if (params->blank_bad)
    loader->bad_limit = loader->n_samples;
  else if (params->max_bad_share >= 0)
    loader->bad_limit = (guint64) ceil (
        (params->max_bad_share > 0 ? params->max_bad_share : DEFAULT_BAD) * loader->n_samples);
  if (params->cache && !(params->crop.area > 0 && dataset->klass->decode_crop))
    {
      loader->cache = dyno_sample_cache_new (loader->n_samples, &loader->schema, &loader->layout,
                                             params->cache_limit_bytes);
      if (!loader->cache)
        g_warning ("No memory for the cache of samples; continuing without it");
    }
  return g_steal_pointer (&loader);
}

void
dyno_loader_unref (DynoLoader *loader)
{
  if (!g_atomic_ref_count_dec (&loader->references))
    return;
  for (guint i = 0; i < loader->n_slots; i++)
    clear_slot (&loader->slots[i]);
  g_free (loader->slots);
  dyno_worker_scratch_free (loader->consumer_scratch);
  dyno_sample_cache_free (loader->cache);
  dyno_dataset_unref (loader->dataset);
  g_free (loader->indices);
  g_free (loader->order);
  dyno_class_turns_free (loader->turns);
  g_free (loader->bad);
  g_free (loader->ever_bad);
  g_clear_error (&loader->failed);
  g_queue_clear_full (&loader->reissue, g_free);
  g_ptr_array_unref (loader->workers);
  g_ptr_array_unref (loader->ended);
  g_ptr_array_unref (loader->bad_list);
  g_hash_table_unref (loader->bad_reasons);
  g_mutex_clear (&loader->mutex);
  g_cond_clear (&loader->work);
  g_cond_clear (&loader->ready);
  g_free (loader);
}

/* Joins threads that no longer use the mutex; unlocks it meanwhile. */
static void
join_ended (DynoLoader *loader)
{
  for (;;)
    {
      GThread *thread = NULL;

      g_mutex_lock (&loader->mutex);
      if (loader->ended->len > 0)
        thread = g_ptr_array_steal_index_fast (loader->ended, 0);
      g_mutex_unlock (&loader->mutex);
      if (!thread)
        return;
      g_thread_join (thread);
    }
}

/* Abandons a stuck worker: it keeps its own reference and finds that its rows are not wanted any
 * more. */
static void
abandon (DynoLoader *loader, guint place)
{
  DynoWorker *worker = g_ptr_array_steal_index_fast (loader->workers, place);

  worker->abandoned = TRUE;
  loader->alive--;
  g_thread_unref (worker->thread);
}

void
dyno_loader_free (DynoLoader *loader)
{
  gint64 deadline;

  if (!loader)
    return;
  g_mutex_lock (&loader->mutex);
  loader->quit = TRUE;
  loader->draining = TRUE;
  loader->generation++;
  g_cond_broadcast (&loader->work);
  deadline = g_get_monotonic_time () + loader->stuck_us;
  while (loader->alive > 0 || loader->writing > 0)
    if (!g_cond_wait_until (&loader->ready, &loader->mutex, deadline))
      {
        while (loader->writing > 0)
          g_cond_wait (&loader->ready, &loader->mutex);
        while (loader->workers->len > 0)
          {
            g_warning ("A loader worker is stuck in a read and is left behind");
            abandon (loader, loader->workers->len - 1);
          }
      }
  g_mutex_unlock (&loader->mutex);
  join_ended (loader);
  dyno_loader_unref (loader);
}

/* --- epochs and batches ----------------------------------------------------------------------- */

guint64
dyno_loader_get_batches (DynoLoader *loader)
{
  return loader->n_batches;
}

const DynoBatchSchema *
dyno_loader_get_schema (DynoLoader *loader)
{
  return &loader->schema;
}

const DynoBatchLayout *
dyno_loader_get_layout (DynoLoader *loader)
{
  return &loader->layout;
}

void
dyno_loader_start_epoch (DynoLoader *loader, guint64 epoch, guint64 first_batch)
{
  join_ended (loader);
  g_mutex_lock (&loader->mutex);
  loader->generation++;
  loader->active = FALSE;
  loader->draining = TRUE;
  while (loader->writing > 0)
    g_cond_wait (&loader->ready, &loader->mutex);
  loader->draining = FALSE;

  for (guint i = 0; i < loader->n_slots; i++)
    {
      if (loader->slots[i].state != DYNO_SLOT_HELD)
        loader->slots[i].state = DYNO_SLOT_FREE;
      g_clear_error (&loader->slots[i].error);
    }
  loader->filling = -1;
  g_queue_clear_full (&loader->reissue, g_free);
  g_clear_error (&loader->failed);
  loader->delivered_bad = 0;
  memset (loader->bad, 0, loader->n_samples);
  dyno_loader_make_order (loader, epoch);
  loader->epoch = epoch;
  loader->next_batch = loader->consume_batch = MIN (first_batch, loader->n_batches);
  loader->active = TRUE;
  dyno_loader_spawn_workers (loader);
  g_cond_broadcast (&loader->work);
  g_mutex_unlock (&loader->mutex);
}

static void
on_cancelled (GCancellable *cancellable, gpointer data)
{
  DynoLoader *loader = data;

  g_mutex_lock (&loader->mutex);
  g_cond_broadcast (&loader->ready);
  g_mutex_unlock (&loader->mutex);
}

/* TRUE also where another worker has filled the rows meanwhile: another worker is to replace this
 * one.  While it writes, a worker waits only for the CPU.  Mutex held. */
static gboolean
is_stuck (const DynoLoader *loader, const DynoWorker *worker)
{
  return worker->busy && loader->waited_us - worker->busy_since_us >= loader->stuck_us
         && !worker->scratch->writing;
}

/* Gives the rows of stuck workers to others; fails where that did not help either.  Mutex held. */
static void
look_for_stuck (DynoLoader *loader)
{
  gint64 now = loader->waited_us;
  gboolean found = FALSE;

  for (guint i = loader->workers->len; i > 0; i--)
    {
      DynoWorker *worker = g_ptr_array_index (loader->workers, i - 1);
      DynoLoaderTask *again;

      if (!is_stuck (loader, worker))
        continue;
      g_warning ("A loader worker has been stuck for %.1f s; its samples go to another",
                 (double) (now - worker->busy_since_us) / G_USEC_PER_SEC);
      again = g_memdup2 (&worker->task, sizeof worker->task);
      again->reissued++;
      if (dyno_loader_is_wanted (loader, again))
        g_queue_push_tail (&loader->reissue, again);
      else
        g_free (again);
      abandon (loader, i - 1);
      found = TRUE;
    }
  if (now - loader->waiting_since_us > loader->give_up_us && loader->alive > 0 && !loader->failed)
    g_set_error (&loader->failed, DYNO_DATA_ERROR, DYNO_DATA_ERROR_READ,
                 _ ("No sample of “%s” could be read for %.0f s; check that its disk or network "
                    "answers, then resume"),
                 dyno_dataset_get_info (loader->dataset)->name,
                 (double) loader->give_up_us / G_USEC_PER_SEC);
  if (found && !loader->failed)
    {
      dyno_loader_spawn_workers (loader);
      g_cond_broadcast (&loader->work);
    }
}

/* The slot of the batch that comes next, or NULL where it is not opened yet.  Mutex held. */
static DynoSlot *
find_next (DynoLoader *loader, gboolean *all_held)
{
  *all_held = TRUE;
  for (guint i = 0; i < loader->n_slots; i++)
    {
      DynoSlot *slot = &loader->slots[i];
      *all_held = *all_held && slot->state == DYNO_SLOT_HELD;
      if ((slot->state == DYNO_SLOT_FILLING || slot->state == DYNO_SLOT_READY)
          && slot->batch.index == loader->consume_batch)
        return slot;
    }
  return NULL;
}

/* Hands a ready slot to the consumer, or sets failed where the batch cannot be completed.  Mutex
 * held. */
static DynoBatch *
take_slot (DynoLoader *loader, DynoSlot *slot)
{
  loader->delivered_bad += slot->n_bad;
  if (slot->error)
    loader->failed = g_steal_pointer (&slot->error);
  else if (loader->delivered_bad > loader->bad_limit)
    g_set_error (
        &loader->failed, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT,
        ngettext (
            "%" PRIu64 " of %u samples of “%s” cannot be read, more than the allowed share; the "
            "first: %s; mend or "
            "remove it, or allow a larger share (data.max_bad)",
            "%" PRIu64 " of %u samples of “%s” cannot be read, more than the allowed share; the "
            "first: %s; mend or "
            "remove them, or allow a larger share (data.max_bad)",
            (gulong) loader->delivered_bad),
        loader->delivered_bad, loader->n_samples, dyno_dataset_get_info (loader->dataset)->name,
        loader->bad_list->len > 0 ? (char *) g_ptr_array_index (loader->bad_list, 0) : "?");
  if (loader->failed)
    return NULL;
  slot->state = DYNO_SLOT_HELD;
  loader->consume_batch++;
  g_cond_broadcast (&loader->work);
  return &slot->batch;
}

/* Waits for a round.  The elapsed time counts as waiting for two rounds at most: during the excess
 * the process did not run.  Returns the excess.  Mutex held. */
static gint64
wait_round (DynoLoader *loader, gboolean *timed_out)
{
  gint64 round = MIN (loader->stuck_us / 4, G_USEC_PER_SEC), began = loader->clock (), passed;

  *timed_out = !g_cond_wait_until (&loader->ready, &loader->mutex, g_get_monotonic_time () + round);
  passed = loader->clock () - began;
  loader->waited_us += MIN (passed, 2 * round);
  return passed - MIN (passed, 2 * round);
}

/* Makes one round of waiting or, without workers, of decoding.  Returns the elapsed time that does
 * not count as waiting.  Mutex held, released meanwhile. */
static gint64
make_progress (DynoLoader *loader)
{
  DynoLoaderTask task;
  gboolean timed_out;
  gint64 excess;

  if (loader->alive == 0 && dyno_loader_claim (loader, &task))
    {
      g_mutex_unlock (&loader->mutex);
      dyno_loader_process (loader, &task, loader->consumer_scratch);
      g_mutex_lock (&loader->mutex);
      return 0;
    }
  excess = wait_round (loader, &timed_out);
  if (timed_out)
    look_for_stuck (loader);
  return excess;
}

/* Waits until the slot of the next batch is ready.  NULL: the epoch is over, or *error is set; the
 * elapsed time that does not count as waiting is added to *excess.  Mutex held. */
static DynoSlot *
wait_for_next (DynoLoader *loader, gint64 *excess, GCancellable *cancellable, GError **error)
{
  loader->waiting_since_us = loader->waited_us;
  while (loader->consume_batch < loader->n_batches)
    {
      gboolean all_held;
      DynoSlot *slot = find_next (loader, &all_held);

      if (loader->failed)
        {
          g_propagate_error (error, g_error_copy (loader->failed));
          return NULL;
        }
      if (slot && slot->state == DYNO_SLOT_READY)
        return slot;
      if (all_held)
        {
          g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_OPTION,
                       _ ("All %u batches of the loader are in use; release one first"),
                       loader->n_slots);
          return NULL;
        }
      if (g_cancellable_set_error_if_cancelled (cancellable, error))
        return NULL;
      *excess += make_progress (loader);
    }
  return NULL;
}

DynoBatch *
dyno_loader_next (DynoLoader *loader, gint64 *wait_us, GCancellable *cancellable, GError **error)
{
  gint64 start = loader->clock (), excess = 0;
  gulong handler = 0;
  DynoBatch *batch = NULL;
  DynoSlot *slot;

  g_return_val_if_fail (loader->active, NULL);
  if (cancellable)
    handler = g_cancellable_connect (cancellable, G_CALLBACK (on_cancelled), loader, NULL);
  g_mutex_lock (&loader->mutex);
  slot = wait_for_next (loader, &excess, cancellable, error);
  if (slot && !(batch = take_slot (loader, slot)))
    g_propagate_error (error, g_error_copy (loader->failed));
  g_mutex_unlock (&loader->mutex);
  if (handler != 0)
    g_cancellable_disconnect (cancellable, handler);
  if (wait_us)
    *wait_us = loader->clock () - start - excess;
  return batch;
}

gboolean
dyno_loader_wait (DynoLoader *loader, GCancellable *cancellable, GError **error)
{
  g_autoptr (GError) problem = NULL;
  gint64 excess = 0;
  gulong handler = 0;
  DynoSlot *slot;

  g_return_val_if_fail (loader->active, FALSE);
  if (cancellable)
    handler = g_cancellable_connect (cancellable, G_CALLBACK (on_cancelled), loader, NULL);
  g_mutex_lock (&loader->mutex);
  slot = wait_for_next (loader, &excess, cancellable, &problem);
  if (slot && slot->error)
    problem = g_error_copy (slot->error);
  g_mutex_unlock (&loader->mutex);
  if (handler != 0)
    g_cancellable_disconnect (cancellable, handler);
  if (!problem)
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&problem));
  return FALSE;
}

void
dyno_loader_release (DynoLoader *loader, DynoBatch *batch)
{
  g_mutex_lock (&loader->mutex);
  g_warn_if_fail (loader->slots[batch->slot].state == DYNO_SLOT_HELD);
  loader->slots[batch->slot].state = DYNO_SLOT_FREE;
  g_cond_broadcast (&loader->work);
  g_mutex_unlock (&loader->mutex);
}

/* --- live changes and facts ------------------------------------------------------------------- */

void
dyno_loader_set_workers (DynoLoader *loader, guint workers)
{
  g_mutex_lock (&loader->mutex);
  loader->target_workers = MIN (workers, DYNO_LOADER_MAX_WORKERS);
  if (loader->active)
    dyno_loader_spawn_workers (loader);
  g_cond_broadcast (&loader->work);
  g_mutex_unlock (&loader->mutex);
  join_ended (loader);
}

void
dyno_loader_set_prefetch (DynoLoader *loader, guint prefetch)
{
  g_mutex_lock (&loader->mutex);
  loader->prefetch = CLAMP (prefetch, 1, DYNO_LOADER_MAX_PREFETCH);
  if (!grow_slots (loader))
    g_warning ("No memory for %u %s ahead; continuing with %u", loader->prefetch,
               dyno_plural (loader->prefetch, "batch", "batches"), loader->n_slots - HELD_SLOTS);
  g_cond_broadcast (&loader->work);
  g_mutex_unlock (&loader->mutex);
}

void
dyno_loader_set_patience (DynoLoader *loader, gint64 stuck_us, gint64 give_up_us)
{
  g_mutex_lock (&loader->mutex);
  loader->stuck_us = stuck_us;
  loader->give_up_us = give_up_us;
  g_mutex_unlock (&loader->mutex);
}

void
dyno_loader_set_clock (DynoLoader *loader, gint64 (*clock) (void))
{
  g_mutex_lock (&loader->mutex);
  loader->clock = clock;
  g_mutex_unlock (&loader->mutex);
}

void
dyno_loader_get_stats (DynoLoader *loader, DynoLoaderStats *stats)
{
  g_mutex_lock (&loader->mutex);
  *stats = (DynoLoaderStats){ .samples = loader->samples_done,
                              .bad_samples = loader->bad_samples,
                              .cached_bytes =
                                  loader->cache ? dyno_sample_cache_get_bytes (loader->cache) : 0,
                              .decode_us = loader->decode_us,
                              .fetch_us = loader->fetch_us,
                              .resample_us = loader->resample_us,
                              .stage_us = loader->stage_us,
                              .workers = loader->alive };
  for (guint i = 0; i < loader->n_slots; i++)
    stats->ready += loader->slots[i].state == DYNO_SLOT_READY;
  g_mutex_unlock (&loader->mutex);
}

guint64
dyno_loader_count_bad (DynoLoader *loader)
{
  guint64 count;

  g_mutex_lock (&loader->mutex);
  count = loader->distinct_bad;
  g_mutex_unlock (&loader->mutex);
  return count;
}

char **
dyno_loader_list_bad (DynoLoader *loader)
{
  GPtrArray *copy = g_ptr_array_new ();

  g_mutex_lock (&loader->mutex);
  for (guint i = 0; i < loader->bad_list->len; i++)
    g_ptr_array_add (copy, g_strdup (g_ptr_array_index (loader->bad_list, i)));
  g_mutex_unlock (&loader->mutex);
  g_ptr_array_add (copy, NULL);
  return (char **) g_ptr_array_free (copy, FALSE);
}

char *
dyno_loader_find_bad (DynoLoader *loader, guint32 place)
{
  char *reason;

  g_mutex_lock (&loader->mutex);
  reason = g_strdup (g_hash_table_lookup (loader->bad_reasons, GUINT_TO_POINTER (place + 1)));
  g_mutex_unlock (&loader->mutex);
  return reason;
}

/* Applies the rule by which workers replace samples; every sample that they skipped is recorded as
 * bad. */
guint32
dyno_loader_find_sample (DynoLoader *loader, guint64 batch, guint32 row)
{
  guint64 position = dyno_loader_find_position (loader, batch) + row;
  guint32 place, tried = 0;

  g_mutex_lock (&loader->mutex);
  do
    place = loader->order[(position + tried) % loader->n_samples];
  while (loader->bad[place] && ++tried < loader->n_samples);
  g_mutex_unlock (&loader->mutex);
  return loader->indices[place];
}
