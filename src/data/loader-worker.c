/* SPDX-License-Identifier: MIT */
/* The workers' side of the loader: claiming rows, decoding them, replacing bad samples,
 * committing. */
#include "loader-private.h"
#include "rng.h"
#include <string.h>

#define FLIP_KEY G_GUINT64_CONSTANT (0x666c6970)

DynoWorkerScratch *
dyno_worker_scratch_new (const DynoLoader *loader)
{
  DynoWorkerScratch *scratch = g_new0 (DynoWorkerScratch, 1);

  scratch->pixels = g_try_malloc (loader->chunk * loader->sample_bytes);
  scratch->targets = g_try_malloc (loader->chunk * loader->target_bytes);
  scratch->bytes = g_byte_array_new ();
  if (!scratch->pixels || !scratch->targets)
    g_clear_pointer (&scratch, dyno_worker_scratch_free);
  return scratch;
}

void
dyno_worker_scratch_free (DynoWorkerScratch *scratch)
{
  if (!scratch)
    return;
  g_free (scratch->pixels);
  g_free (scratch->targets);
  g_byte_array_unref (scratch->bytes);
  g_free (scratch);
}

/* --- claiming (mutex held) -------------------------------------------------------------------- */

static void
open_batch (DynoLoader *loader, guint place)
{
  DynoSlot *slot = &loader->slots[place];
  guint32 batch = loader->params.batch;
  guint64 first = loader->next_batch * batch;
  gsize row_bytes = loader->sample_bytes;

  slot->state = DYNO_SLOT_FILLING;
  slot->claimed = slot->done = slot->n_bad = 0;
  memset (slot->taken, 0, batch * sizeof *slot->taken);
  slot->batch.slot = place;
  slot->batch.index = loader->next_batch++;
  slot->batch.n_valid = (guint32) MIN ((guint64) batch, loader->n_samples - first);
  for (guint32 i = 0; i < batch; i++)
    slot->batch.flip_seeds[i] =
        (guint32) (dyno_rng_at (loader->params.seed ^ FLIP_KEY, loader->epoch, first + i) >> 32);
  if (slot->batch.n_valid < batch)
    {
      guint32 n = slot->batch.n_valid;
      memset ((guint8 *) slot->batch.pixels + n * row_bytes, 0, (batch - n) * row_bytes);
      memset ((slot->batch.classes ? (guint8 *) slot->batch.classes : (guint8 *) slot->batch.values)
                  + n * loader->target_bytes,
              0, (batch - n) * loader->target_bytes);
    }
  loader->filling = (gint) place;
}

/* A slot for the next batch, when one is free and the loader is not yet as far ahead as it may
 * be. */
static gboolean
open_next_batch (DynoLoader *loader)
{
  guint ahead = 0, most = MIN (loader->prefetch, loader->n_slots - 1);
  gint place = -1;

  if (loader->next_batch >= loader->n_batches)
    return FALSE;
  for (guint i = 0; i < loader->n_slots; i++)
    {
      DynoSlotState state = loader->slots[i].state;
      ahead += state == DYNO_SLOT_FILLING || state == DYNO_SLOT_READY;
      if (state == DYNO_SLOT_FREE && place < 0)
        place = (gint) i;
    }
  if (place < 0 || ahead >= most)
    return FALSE;
  open_batch (loader, (guint) place);
  return TRUE;
}

gboolean
dyno_loader_claim (DynoLoader *loader, DynoLoaderTask *task)
{
  DynoLoaderTask *again;
  DynoSlot *slot;

  if (!loader->active || loader->failed)
    return FALSE;
  again = g_queue_pop_head (&loader->reissue);
  if (again)
    {
      *task = *again;
      g_free (again);
      return TRUE;
    }
  if (loader->filling < 0 && !open_next_batch (loader))
    return FALSE;
  slot = &loader->slots[loader->filling];
  *task = (DynoLoaderTask){ .generation = loader->generation,
                            .slot = (guint) loader->filling,
                            .batch = slot->batch.index,
                            .row = slot->claimed,
                            .count = MIN (loader->chunk, slot->batch.n_valid - slot->claimed),
                            .position = slot->batch.index * loader->params.batch + slot->claimed };
  slot->claimed += task->count;
  if (slot->claimed == slot->batch.n_valid)
    loader->filling = -1;
  return TRUE;
}

gboolean
dyno_loader_is_wanted (const DynoLoader *loader, const DynoLoaderTask *task)
{
  const DynoSlot *slot = &loader->slots[task->slot];

  return task->generation == loader->generation && slot->state == DYNO_SLOT_FILLING
         && slot->batch.index == task->batch && !slot->taken[task->row];
}

/* --- decoding --------------------------------------------------------------------------------- */

/* Notes that the sample at a place of indices failed; mutex held. */
static void
note_bad (DynoLoader *loader, guint32 place, const GError *reason)
{
  loader->bad[place] = TRUE;
  if (loader->ever_bad[place])
    return;
  loader->ever_bad[place] = TRUE;
  loader->distinct_bad++;
  if (loader->bad_list->len < 100)
    {
      g_autofree char *name =
          dyno_dataset_describe_sample (loader->dataset, loader->indices[place]);
      g_ptr_array_add (loader->bad_list, g_strdup_printf ("%s: %s", name, reason->message));
    }
}

typedef enum { DECODED, REPLACED, GIVEN_UP, STALE } Outcome;

/* The sample of a position: its own, or else the next in the epoch's order that decodes.  That
 * choice hangs on the files alone.  A run of more bad ones than an epoch may have is an error. */
static Outcome
decode_position (DynoLoader *loader, const DynoLoaderTask *task, guint64 position, gpointer pixels,
                 gpointer target, GByteArray *scratch, guint32 place, GError **error)
{
  const DynoLoaderParams *params = &loader->params;
  guint32 tried = 0;

  for (;;)
    {
      g_autoptr (GError) reason = NULL;
      gboolean known = TRUE;

      if (loader->cache && dyno_sample_cache_get (loader->cache, place, pixels, target))
        return tried > 0 ? REPLACED : DECODED;
      if (dyno_dataset_decode (loader->dataset, loader->indices[place], params->width,
                               params->height, pixels, target, scratch, &reason))
        {
          if (loader->cache)
            dyno_sample_cache_put (loader->cache, place, pixels, target);
          return tried > 0 ? REPLACED : DECODED;
        }

      g_mutex_lock (&loader->mutex);
      if (!dyno_loader_is_wanted (loader, task))
        {
          g_mutex_unlock (&loader->mutex);
          return STALE;
        }
      note_bad (loader, place, reason);
      while (known && ++tried <= loader->bad_limit && tried < loader->n_samples)
        {
          place = loader->order[(position + tried) % loader->n_samples];
          known = loader->bad[place];
        }
      g_mutex_unlock (&loader->mutex);
      if (known)
        {
          g_propagate_prefixed_error (
              error, g_steal_pointer (&reason),
              "More samples than allowed (data.max_bad) cannot be read, %u in a row; the last: ",
              tried);
          return GIVEN_UP;
        }
    }
}

/* Copies decoded rows into their slot, unless they are not wanted any more. */
static void
commit (DynoLoader *loader, const DynoLoaderTask *task, const DynoWorkerScratch *scratch,
        guint32 n_bad, gint64 decode_us, GError *failure)
{
  DynoSlot *slot = &loader->slots[task->slot];

  g_mutex_lock (&loader->mutex);
  loader->decode_us += (guint64) decode_us;
  if (!dyno_loader_is_wanted (loader, task))
    {
      g_mutex_unlock (&loader->mutex);
      g_clear_error (&failure);
      return;
    }
  slot->taken[task->row] = TRUE;
  loader->waiting_since_us = loader->waited_us;
  loader->committing++;
  g_mutex_unlock (&loader->mutex);

  if (!failure)
    {
      guint8 *targets =
          slot->batch.classes ? (guint8 *) slot->batch.classes : (guint8 *) slot->batch.values;
      memcpy ((guint8 *) slot->batch.pixels + task->row * loader->sample_bytes, scratch->pixels,
              task->count * loader->sample_bytes);
      memcpy (targets + task->row * loader->target_bytes, scratch->targets,
              task->count * loader->target_bytes);
    }

  g_mutex_lock (&loader->mutex);
  loader->committing--;
  loader->samples_done += task->count;
  loader->bad_samples += n_bad;
  slot->n_bad += n_bad;
  if (!slot->error)
    slot->error = g_steal_pointer (&failure);
  slot->done += task->count;
  if (slot->done == slot->batch.n_valid)
    slot->state = DYNO_SLOT_READY;
  if (slot->state == DYNO_SLOT_READY || (loader->draining && loader->committing == 0))
    g_cond_broadcast (&loader->ready);
  g_mutex_unlock (&loader->mutex);
  g_clear_error (&failure);
}

void
dyno_loader_process (DynoLoader *loader, const DynoLoaderTask *task, DynoWorkerScratch *scratch)
{
  guint32 place[DYNO_LOADER_MAX_CHUNK], n_bad = 0;
  gint64 start = g_get_monotonic_time ();
  g_autoptr (GError) failure = NULL;

  g_mutex_lock (&loader->mutex);
  if (!dyno_loader_is_wanted (loader, task))
    {
      g_mutex_unlock (&loader->mutex);
      return;
    }
  for (guint32 i = 0; i < task->count; i++)
    place[i] = loader->order[task->position + i];
  g_mutex_unlock (&loader->mutex);

  for (guint32 i = 0; i < task->count && !failure; i++)
    {
      Outcome outcome = decode_position (
          loader, task, task->position + i, scratch->pixels + i * loader->sample_bytes,
          scratch->targets + i * loader->target_bytes, scratch->bytes, place[i], &failure);
      if (outcome == STALE)
        return;
      n_bad += outcome != DECODED;
    }
  commit (loader, task, scratch, n_bad, g_get_monotonic_time () - start,
          g_steal_pointer (&failure));
}

/* --- threads ---------------------------------------------------------------------------------- */

/* Nothing of this epoch is left to be given out; mutex held. */
static gboolean
is_exhausted (DynoLoader *loader)
{
  return loader->active && loader->filling < 0 && loader->next_batch >= loader->n_batches
         && g_queue_is_empty (&loader->reissue);
}

static gboolean
should_end (DynoLoader *loader, const DynoWorker *worker)
{
  return worker->abandoned || loader->quit || loader->alive > loader->target_workers
         || (!loader->params.persistent && is_exhausted (loader));
}

static gpointer
worker_main (gpointer data)
{
  DynoWorker *worker = data;
  DynoLoader *loader = worker->loader;
  DynoWorkerScratch *scratch = dyno_worker_scratch_new (loader);

  g_mutex_lock (&loader->mutex);
  while (scratch && !should_end (loader, worker))
    {
      if (!dyno_loader_claim (loader, &worker->task))
        {
          g_cond_wait (&loader->work, &loader->mutex);
          continue;
        }
      worker->busy = TRUE;
      worker->busy_since_us = loader->waited_us;
      g_mutex_unlock (&loader->mutex);
      dyno_loader_process (loader, &worker->task, scratch);
      g_mutex_lock (&loader->mutex);
      worker->busy = FALSE;
    }
  if (!worker->abandoned)
    {
      loader->alive--;
      g_ptr_array_remove_fast (loader->workers, worker);
      g_ptr_array_add (loader->ended, worker->thread);
      if (!scratch)
        {
          g_warning ("No memory for a loader worker; going on with %u", loader->alive);
          loader->target_workers = MIN (loader->target_workers, loader->alive);
        }
    }
  /* The consumer may now be the one who decodes. */
  g_cond_broadcast (&loader->ready);
  g_mutex_unlock (&loader->mutex);
  dyno_worker_scratch_free (scratch);
  g_free (worker);
  dyno_loader_unref (loader);
  return NULL;
}

void
dyno_loader_spawn_workers (DynoLoader *loader)
{
  while (loader->alive < loader->target_workers && !loader->quit)
    {
      g_autoptr (GError) error = NULL;
      DynoWorker *worker = g_new0 (DynoWorker, 1);

      worker->loader = loader;
      g_atomic_ref_count_inc (&loader->references);
      worker->thread = g_thread_try_new ("dyno-loader", worker_main, worker, &error);
      if (!worker->thread)
        {
          g_warning ("Only %u of %u loader workers could be started: %s", loader->alive,
                     loader->target_workers, error->message);
          loader->target_workers = loader->alive;
          g_free (worker);
          (void) g_atomic_ref_count_dec (&loader->references);
          return;
        }
      loader->alive++;
      g_ptr_array_add (loader->workers, worker);
    }
}
