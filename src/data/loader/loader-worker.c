/* SPDX-License-Identifier: MIT */
/* The workers' side of the loader: claiming rows, decoding them into their slot, replacing bad
 * samples. */
#include "loader-private.h"
#include "cores.h"
#include "dataset-class.h"
#include "resize.h"
#include "text.h"
#include <string.h>

#define PROBES  8
#define TASK_US 250.0 /* most time that a task of several rows should take */

/* A task of one row is decoded in its slot.  Small rows, several of which make a task, and rows
 * that the cache keeps are decoded separately. */
static gboolean
decodes_apart (const DynoLoader *loader)
{
  return loader->chunk > 1 || loader->cache != NULL;
}

/* The byte that fills a field of blank samples: the pixels of a mask are ignored. */
static int
blank_of (const DynoBatchField *field)
{
  return field->role == DYNO_FIELD_TARGET && field->element == DYNO_ELEMENT_U8 ? DYNO_MASK_IGNORED
                                                                               : 0;
}

void
dyno_loader_point (const DynoLoader *loader, const DynoBatchLayout *layout, gpointer block,
                   guint32 row, gpointer *fields)
{
  for (guint i = 0; i < layout->n_fields; i++)
    fields[i] = loader->schema.fields[i].role == DYNO_FIELD_SEED
                    ? NULL
                    : (guint8 *) block + layout->offset[i] + row * layout->sample_bytes[i];
}

DynoWorkerScratch *
dyno_worker_scratch_new (const DynoLoader *loader)
{
  DynoWorkerScratch *scratch = g_new0 (DynoWorkerScratch, 1);

  scratch->bytes = g_byte_array_new ();
  if (!decodes_apart (loader))
    return scratch;
  scratch->block = g_try_malloc (loader->chunk_layout.total_bytes);
  if (!scratch->block)
    g_clear_pointer (&scratch, dyno_worker_scratch_free);
  return scratch;
}

void
dyno_worker_scratch_free (DynoWorkerScratch *scratch)
{
  if (!scratch)
    return;
  g_free (scratch->block);
  g_byte_array_unref (scratch->bytes);
  g_free (scratch);
}

/* --- claiming (mutex held) -------------------------------------------------------------------- */

static void
fill_seeds (const DynoLoader *loader, guint32 *seeds, guint64 first)
{
  for (guint32 i = 0; i < loader->params.batch; i++)
    seeds[i] = dyno_loader_get_seed (loader, loader->epoch, first + i);
}

static void
open_batch (DynoLoader *loader, guint place)
{
  const DynoBatchLayout *layout = &loader->layout;
  DynoSlot *slot = &loader->slots[place];
  guint32 batch = loader->params.batch, n;
  guint64 first = dyno_loader_find_position (loader, loader->next_batch);

  slot->state = DYNO_SLOT_FILLING;
  slot->claimed = slot->done = slot->n_bad = 0;
  memset (slot->taken, 0, batch * sizeof *slot->taken);
  slot->batch.slot = place;
  slot->batch.index = loader->next_batch++;
  slot->batch.n_valid = n = (guint32) MIN ((guint64) batch, loader->n_samples - first);
  for (guint i = 0; i < layout->n_fields; i++)
    if (loader->schema.fields[i].role == DYNO_FIELD_SEED)
      fill_seeds (loader, slot->batch.fields[i], first);
    else
      memset ((guint8 *) slot->batch.fields[i] + n * layout->sample_bytes[i],
              blank_of (&loader->schema.fields[i]), (batch - n) * layout->sample_bytes[i]);
  loader->filling = (gint) place;
}

/* Opens the next batch in a free slot; FALSE: no slot is free, no batch is left, or the loader is
 * as far ahead as allowed. */
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

/* Several rows make a task so that taking a task costs little compared with decoding; where each
 * row takes long, as from a slow disk, large tasks would leave other workers without a task. */
static guint32
count_task_rows (const DynoLoader *loader)
{
  return loader->row_us > 0 ? (guint32) CLAMP (TASK_US / loader->row_us, 1, loader->chunk)
                            : loader->chunk;
}

static void
learn_row_time (DynoLoader *loader, gint64 us, guint32 n_rows)
{
  double row_us = (double) MAX (us, 1) / n_rows;

  loader->row_us = loader->row_us > 0 ? 0.75 * loader->row_us + 0.25 * row_us : row_us;
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
  *task = (DynoLoaderTask){
    .generation = loader->generation,
    .slot = (guint) loader->filling,
    .batch = slot->batch.index,
    .row = slot->claimed,
    .count = MIN (count_task_rows (loader), slot->batch.n_valid - slot->claimed),
    .position = dyno_loader_find_position (loader, slot->batch.index) + slot->claimed
  };
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
  if (loader->params.blank_bad)
    g_hash_table_insert (loader->bad_reasons, GUINT_TO_POINTER (place + 1),
                         g_strdup (reason->message));
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

/* The work on a task by one thread. */
typedef struct {
  DynoLoader *loader;
  const DynoLoaderTask *task;
  DynoWorkerScratch *scratch;
  guint32 place[DYNO_LOADER_MAX_CHUNK]; /* place in indices of the sample of each row */
  guint64 epoch;
  guint32 seed; /* seed of the row that is being decoded */
  guint32 n_bad;
  gint64 fetch_us; /* spent reading files */
  gint64 stage_us; /* and time spent copying decoded samples */
} Work;

static gboolean
begin_writing (Work *work)
{
  DynoLoader *loader = work->loader;
  gboolean wanted;

  g_mutex_lock (&loader->mutex);
  wanted = dyno_loader_is_wanted (loader, work->task);
  if (wanted)
    {
      loader->slots[work->task->slot].taken[work->task->row] = TRUE;
      loader->waiting_since_us = loader->waited_us;
      loader->writing++;
      work->scratch->writing = TRUE;
    }
  g_mutex_unlock (&loader->mutex);
  return wanted;
}

/* Mutex held. */
static void
leave_writing (DynoLoader *loader, gboolean tell)
{
  loader->writing--;
  if (tell || (loader->draining && loader->writing == 0))
    g_cond_broadcast (&loader->ready);
}

static void
call_off_writing (Work *work)
{
  DynoLoader *loader = work->loader;

  g_mutex_lock (&loader->mutex);
  loader->slots[work->task->slot].taken[work->task->row] = FALSE;
  work->scratch->writing = FALSE;
  leave_writing (loader, FALSE);
  g_mutex_unlock (&loader->mutex);
}

/* The rows are written; or, after a failure, the batch cannot be completed. */
static void
end_writing (Work *work, GError *failure)
{
  DynoLoader *loader = work->loader;
  DynoSlot *slot = &loader->slots[work->task->slot];

  g_mutex_lock (&loader->mutex);
  loader->samples_done += work->task->count;
  loader->bad_samples += work->n_bad;
  slot->n_bad += work->n_bad;
  if (!slot->error)
    slot->error = g_steal_pointer (&failure);
  slot->done += work->task->count;
  if (slot->done == slot->batch.n_valid)
    slot->state = DYNO_SLOT_READY;
  leave_writing (loader, slot->state == DYNO_SLOT_READY);
  g_mutex_unlock (&loader->mutex);
  g_clear_error (&failure);
}

typedef enum { DECODED, FAILED, STALE } Outcome;

/* Reads the bytes that decoding a sample needs, where its format reads any. */
static gboolean
fetch (Work *work, guint64 index, gsize *size, GError **error)
{
  DynoDataset *dataset = work->loader->dataset;
  gint64 start = g_get_monotonic_time ();
  gboolean ok;

  *size = 0;
  if (!dataset->klass->fetch)
    return TRUE;
  ok = dataset->klass->fetch (dataset, index, work->scratch->bytes, size, error);
  work->fetch_us += g_get_monotonic_time () - start;
  return ok;
}

/* Decodes the fetched image, whole or the crop that the row's seed draws. */
static gboolean
decode_fetched (Work *work, guint64 index, gpointer const *fields, gsize fetched, GError **error)
{
  const DynoLoaderParams *params = &work->loader->params;
  DynoDataset *dataset = work->loader->dataset;

  if (params->crop.area > 0 && dataset->info.croppable)
    return dataset->klass->decode_crop (dataset, index, &params->crop, work->seed, params->width,
                                        params->height, fields, work->scratch->bytes, fetched,
                                        error);
  return dyno_dataset_decode_fetched (dataset, index, params->width, params->height, fields,
                                      work->scratch->bytes, fetched, error);
}

/* Reads the bytes of the sample at a place of indices, then decodes it into the slot.  After
 * DECODED the writing still has to be ended. */
static Outcome
decode_in_slot (Work *work, guint32 place, gpointer const *fields, GError **error)
{
  DynoLoader *loader = work->loader;
  guint64 index = loader->indices[place];
  gsize fetched;

  if (!fetch (work, index, &fetched, error))
    return FAILED;
  if (!begin_writing (work))
    return STALE;
  if (decode_fetched (work, index, fields, fetched, error))
    return DECODED;
  call_off_writing (work);
  return FAILED;
}

/* Decodes the sample at a place of indices into the worker's own memory, or takes it from the
 * cache. */
static Outcome
decode_apart (Work *work, guint32 place, gpointer const *fields, GError **error)
{
  DynoLoader *loader = work->loader;
  guint64 index = loader->indices[place];
  gint64 start = g_get_monotonic_time ();
  gsize fetched;

  if (loader->cache && dyno_sample_cache_get (loader->cache, place, fields))
    {
      work->stage_us += g_get_monotonic_time () - start;
      return DECODED;
    }
  if (!fetch (work, index, &fetched, error)
      || !decode_fetched (work, index, fields, fetched, error))
    return FAILED;
  if (loader->cache)
    {
      start = g_get_monotonic_time ();
      dyno_sample_cache_put (loader->cache, place, fields);
      work->stage_us += g_get_monotonic_time () - start;
    }
  return DECODED;
}

typedef Outcome (*Decode) (Work *work, guint32 place, gpointer const *fields, GError **error);

/* TRUE for a sample's error whose cause may be the disk or server. */
static gboolean
may_come_back (const GError *reason)
{
  return g_error_matches (reason, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNREACHABLE)
         || g_error_matches (reason, DYNO_DATA_ERROR, DYNO_DATA_ERROR_NOT_FOUND);
}

/* TRUE where no other sample can be read either: PROBES samples, spread over the part, are
 * tried. */
static gboolean
is_source_gone (DynoLoader *loader, guint32 place)
{
  guint32 n = loader->n_samples, stride = MAX (1, n / (PROBES + 1));

  for (guint32 k = 1; k <= MIN (PROBES, n - 1); k++)
    {
      guint32 other = (guint32) ((place + (guint64) k * stride) % n);
      g_autoptr (GError) reason = NULL;

      if (dyno_dataset_probe (loader->dataset, loader->indices[other], &reason)
          || !may_come_back (reason))
        return FALSE;
    }
  return TRUE;
}

/* Writes a blank for a sample that cannot be read: zeros, and an ignored mask.  Returns an outcome
 * like a Decode function. */
static Outcome
blank_row (Work *work, guint32 row, gboolean in_slot, gpointer const *fields, const GError *reason)
{
  DynoLoader *loader = work->loader;

  g_mutex_lock (&loader->mutex);
  note_bad (loader, work->place[row], reason);
  g_mutex_unlock (&loader->mutex);
  work->n_bad++;
  if (in_slot && !begin_writing (work))
    return STALE;
  for (guint i = 0; i < loader->layout.n_fields; i++)
    if (fields[i])
      memset (fields[i], blank_of (&loader->schema.fields[i]), loader->layout.sample_bytes[i]);
  return DECODED;
}

/* Decodes the sample of a row, or else the next sample in the epoch's order that can be decoded.
 * This choice depends only on the files.  A run of more bad samples than an epoch may have is an
 * error, FAILED, and so is a disk or server that no longer delivers any sample; no sample counts as
 * bad then. */
static Outcome
decode_row (Work *work, guint32 row, Decode decode, gpointer const *fields, GError **error)
{
  DynoLoader *loader = work->loader;
  guint64 position = work->task->position + row;
  guint32 tried = 0, place = work->place[row];
  gboolean again = FALSE;

  work->seed = dyno_loader_get_seed (loader, work->epoch, position);
  for (;;)
    {
      g_autoptr (GError) reason = NULL;
      gboolean known = TRUE;
      Outcome outcome = decode (work, place, fields, &reason);

      work->n_bad += outcome == DECODED && tried > 0;
      if (outcome != FAILED)
        return outcome;
      if (loader->params.blank_bad
          && !g_error_matches (reason, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNREACHABLE))
        return blank_row (work, row, decode == decode_in_slot, fields, reason);
      if (!again && may_come_back (reason))
        {
          if (is_source_gone (loader, place))
            {
              g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNREACHABLE, "%s",
                           reason->message);
              return FAILED;
            }
          again = TRUE; /* the disk or server may have come back meanwhile */
          continue;
        }
      again = FALSE;
      if (loader->params.blank_bad)
        return blank_row (work, row, decode == decode_in_slot, fields, reason);

      g_mutex_lock (&loader->mutex);
      if (!dyno_loader_is_wanted (loader, work->task))
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
          work->n_bad++;
          g_propagate_prefixed_error (
              error, g_steal_pointer (&reason),
              "More samples than allowed (data.max_bad) cannot be read, %u in a row; the last: ",
              tried);
          return FAILED;
        }
    }
}

static void
point_at_row (const Work *work, guint32 row, gpointer *fields)
{
  const DynoLoader *loader = work->loader;
  const DynoLoaderTask *task = work->task;

  dyno_loader_point (loader, &loader->layout, loader->slots[task->slot].block, task->row + row,
                     fields);
}

/* Decodes all rows directly into the slot if none has to wait for a file; FALSE: the rows still
 * have to be decoded. */
static gboolean
fill_at_once (Work *work)
{
  DynoLoader *loader = work->loader;
  const DynoDatasetClass *klass = loader->dataset->klass;
  const DynoDatasetInfo *info = &loader->dataset->info;
  gboolean can = !klass->fetch || (klass->decode_at_once && !info->luma && !info->grey), ok = TRUE;
  gpointer fields[DYNO_SCHEMA_MAX_FIELDS];

  if (loader->cache || !can || !begin_writing (work))
    return FALSE;
  for (guint32 i = 0; i < work->task->count && ok; i++)
    {
      guint64 index = loader->indices[work->place[i]];

      point_at_row (work, i, fields);
      ok = !klass->fetch ? dyno_dataset_decode_fetched (loader->dataset, index,
                                                        loader->params.width, loader->params.height,
                                                        fields, work->scratch->bytes, 0, NULL)
                         : klass->decode_at_once (loader->dataset, index, fields);
    }
  if (ok)
    end_writing (work, NULL);
  else
    call_off_writing (work);
  return ok;
}

/* Small rows, several of which make a task: they are decoded separately, then copied together. */
static void
fill_by_copy (Work *work)
{
  DynoLoader *loader = work->loader;
  gpointer from[DYNO_SCHEMA_MAX_FIELDS], to[DYNO_SCHEMA_MAX_FIELDS];
  Outcome outcome = DECODED;
  GError *failure = NULL;
  gint64 start;

  for (guint32 i = 0; i < work->task->count && outcome == DECODED; i++)
    {
      dyno_loader_point (loader, &loader->chunk_layout, work->scratch->block, i, from);
      outcome = decode_row (work, i, decode_apart, from, &failure);
    }
  if (outcome == STALE || !begin_writing (work))
    {
      g_clear_error (&failure);
      return;
    }
  start = g_get_monotonic_time ();
  dyno_loader_point (loader, &loader->chunk_layout, work->scratch->block, 0, from);
  point_at_row (work, 0, to);
  for (guint i = 0; i < loader->layout.n_fields && !failure; i++)
    if (to[i])
      memcpy (to[i], from[i], work->task->count * loader->layout.sample_bytes[i]);
  work->stage_us += g_get_monotonic_time () - start;
  end_writing (work, failure);
}

static void
fill_in_slot (Work *work)
{
  gpointer fields[DYNO_SCHEMA_MAX_FIELDS];
  GError *failure = NULL;
  Outcome outcome;

  point_at_row (work, 0, fields);
  outcome = decode_row (work, 0, decode_in_slot, fields, &failure);
  if (outcome == DECODED || (outcome == FAILED && begin_writing (work)))
    end_writing (work, failure);
  else
    g_clear_error (&failure);
}

void
dyno_loader_process (DynoLoader *loader, const DynoLoaderTask *task, DynoWorkerScratch *scratch)
{
  Work work = { .loader = loader, .task = task, .scratch = scratch };
  gint64 start = g_get_monotonic_time (), took;
  guint64 resample_us;
  gboolean wanted;

  dyno_resize_take_us (); /* time that other work scaled on this thread */
  g_mutex_lock (&loader->mutex);
  wanted = dyno_loader_is_wanted (loader, task);
  work.epoch = loader->epoch;
  for (guint32 i = 0; i < task->count && wanted; i++)
    work.place[i] = loader->order[task->position + i];
  g_mutex_unlock (&loader->mutex);
  if (!wanted)
    return;
  if (!fill_at_once (&work))
    {
      if (decodes_apart (loader))
        fill_by_copy (&work);
      else
        fill_in_slot (&work);
    }
  took = g_get_monotonic_time () - start;
  resample_us = dyno_resize_take_us ();
  g_mutex_lock (&loader->mutex);
  learn_row_time (loader, took, task->count);
  loader->decode_us += (guint64) took;
  loader->fetch_us += (guint64) work.fetch_us;
  loader->resample_us += resample_us;
  loader->stage_us += (guint64) work.stage_us;
  g_mutex_unlock (&loader->mutex);
}

/* --- threads ---------------------------------------------------------------------------------- */

/* TRUE where no task of this epoch is left to be given out; mutex held. */
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

  (void) dyno_cores_be_nice (loader->params.nice);
  g_mutex_lock (&loader->mutex);
  worker->scratch = scratch;
  while (scratch && !should_end (loader, worker))
    {
      if (!dyno_loader_claim (loader, &worker->task))
        {
          g_cond_wait (&loader->work, &loader->mutex);
          continue;
        }
      worker->busy = TRUE;
      scratch->writing = FALSE;
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
          g_warning ("No memory for a loader worker; continuing with %u", loader->alive);
          loader->target_workers = MIN (loader->target_workers, loader->alive);
        }
    }
  /* From now on the consumer may have to decode. */
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
          g_warning ("Only %u of %u loader %s could be started: %s", loader->alive,
                     loader->target_workers,
                     dyno_plural (loader->target_workers, "worker", "workers"), error->message);
          loader->target_workers = loader->alive;
          g_free (worker);
          (void) g_atomic_ref_count_dec (&loader->references);
          return;
        }
      loader->alive++;
      g_ptr_array_add (loader->workers, worker);
    }
}
