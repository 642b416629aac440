/* SPDX-License-Identifier: MIT */
/* The loader: worker threads decode samples into the slots of a ring of batches, ahead of the
 * training step.
 *
 * Guarantees:
 * - The order of samples, and every random choice, follow only from (seed, epoch, position): any
 *   number of workers, any prefetch and any timing give the same batches.
 * - Slots are memory of the caller (page-locked staging) or the loader's own; no allocation after
 *   _new.  A sample whose bytes can be read without waiting is decoded directly in its slot.
 * - A sample that fails to decode is replaced by the next good one of its epoch's order, counted
 *   and listed; past max_bad_share of an epoch the loader stops with an error.
 * - A disk or server that fails (EIO and similar errors, or all files gone) makes no sample bad:
 *   once no other sample can be read either, the loader stops with UNREACHABLE, and an epoch that
 *   is started again at the batch where it stopped continues with the same batches.
 * - With 0 workers the consumer's thread decodes.  With `persistent` set, workers outlive epochs.
 * Threads: one consumer thread calls _next, _release, _start_epoch; _set_workers, _set_prefetch and
 * the counters may be used from any thread.  _free joins the workers, also in the middle of an
 * epoch. */
#pragma once
#include "crop.h"
#include "dataset.h"

G_BEGIN_DECLS

typedef struct _DynoLoader DynoLoader;

typedef struct {
  guint32 batch;         /* samples per batch, > 0 */
  guint32 width, height; /* of the decoded samples */
  guint64 seed;
  gboolean shuffle;
  /* classes take turns and are shuffled, so that samples of small classes come several times; an
   * epoch has the same number of samples as without.  No effect where samples have no labels. */
  gboolean balance;
  gboolean drop_last; /* training: every batch is full; FALSE: the last one may be short */
  /* The number of processes that share the order (0: one), and the rank of this one: `turn`
   * successive batches (0: 1) go to rank 0, the next turn to rank 1, and so on.  A rank may have
   * one turn less than another; without drop_last a turn may be short, and a rank may have none. */
  guint ranks, rank, turn;
  guint workers; /* threads; 0: the consumer decodes */
  gint nice;     /* nice value of the workers; 0: that of the thread that makes the loader */
  /* in PyTorch, batches that each worker is ahead; here, the slots ahead in all: max (1,
   * prefetch) */
  guint prefetch;
  gboolean persistent; /* workers live over epochs; FALSE: they end with each epoch */
  /* For a data set whose info has `croppable` set (no effect for others): each sample is a crop,
   * drawn from its seed, and no cache is kept. */
  DynoCrop crop;
  gboolean cache;            /* keep decoded samples in RAM */
  guint64 cache_limit_bytes; /* 0: half of the RAM that is free at the start */
  double max_bad_share;      /* share of an epoch, rounded up; 0: 0.1; negative: none */
  /* A sample that cannot be read becomes zeros, with an ignored mask, and no other sample replaces
   * it; dyno_loader_find_bad gives the reason.  max_bad_share has no effect then. */
  gboolean blank_bad;
  /* n_slots blocks of memory of the batch layout's total_bytes; NULL: the loader allocates them */
  gpointer *slots;
  guint n_slots; /* at least 2 with slots; prefetch is capped by n_slots - 1 */
} DynoLoaderParams;

typedef struct {
  guint slot;      /* index of the slot with the batch */
  guint64 index;   /* batch number in the epoch */
  guint32 n_valid; /* samples in it; < batch only in a short last batch */
  /* (batch, shape) of each field of the data set's schema, placed in the slot by its layout.  A
   * field of role SEED holds random words from (seed, epoch, position); in the other fields invalid
   * samples are zero, and the pixels of their masks are ignored. */
  gpointer fields[DYNO_SCHEMA_MAX_FIELDS];
} DynoBatch;

/* indices: the samples of this part of the data set (array of guint32, copied).  Errors: EMPTY,
 * TOO_LARGE. */
DynoLoader *dyno_loader_new (DynoDataset *dataset, const GArray *indices,
                             const DynoLoaderParams *params, GError **error);
void dyno_loader_free (DynoLoader *loader);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoLoader, dyno_loader_free)

/* The number of batches that a loader without `slots` allocates for a prefetch. */
guint dyno_loader_count_slots (guint prefetch);

guint64 dyno_loader_get_batches (DynoLoader *loader); /* of an epoch */

/* The fields of the loader's batches, and their offsets in a slot. */
const DynoBatchSchema *dyno_loader_get_schema (DynoLoader *loader);
const DynoBatchLayout *dyno_loader_get_layout (DynoLoader *loader);

/* Begins an epoch at a batch (0: at its start; > 0: for a resumed run).  Batches of an earlier
 * epoch are dropped. */
void dyno_loader_start_epoch (DynoLoader *loader, guint64 epoch, guint64 first_batch);

/* The next batch of the epoch, or NULL: at the end of the epoch with *error unset, else with an
 * error.  Blocks until the batch is ready; *wait_us (may be NULL) is the time that it blocked.
 * Cancelling the cancellable ends the wait.  The batch is valid until _release. */
DynoBatch *dyno_loader_next (DynoLoader *loader, gint64 *wait_us, GCancellable *cancellable,
                             GError **error);
/* Waits like _next, and takes nothing.  TRUE: the next batch is ready, or the epoch is over. */
gboolean dyno_loader_wait (DynoLoader *loader, GCancellable *cancellable, GError **error);
void dyno_loader_release (DynoLoader *loader, DynoBatch *batch);

/* Live changes; workers 0..256, prefetch 1..64. */
void dyno_loader_set_workers (DynoLoader *loader, guint workers);
void dyno_loader_set_prefetch (DynoLoader *loader, guint prefetch);

typedef struct {
  guint64 samples;     /* decoded since the start */
  guint64 bad_samples; /* samples that were replaced; a sample counts in each epoch */
  guint64 cached_bytes;
  guint64 decode_us;   /* time of all samples, summed over workers */
  guint64 fetch_us;    /* part of decode_us for reading files */
  guint64 resample_us; /* part of decode_us for scaling decoded samples */
  guint64 stage_us;    /* part of decode_us for copying between cache, workers' memory and slots */
  guint ready;         /* batches waiting for the consumer */
  guint workers;       /* running workers */
} DynoLoaderStats;
void dyno_loader_get_stats (DynoLoader *loader, DynoLoaderStats *stats);

/* Samples that could not be read, each counted once; and "sample: reason" of at most 100 of them,
 * free with g_strfreev. */
guint64 dyno_loader_count_bad (DynoLoader *loader);
char **dyno_loader_list_bad (DynoLoader *loader);

/* With blank_bad: the reason why the sample at a place of the loader's indices could not be read,
 * for a batch that the consumer has taken; NULL: it could be read.  g_free. */
char *dyno_loader_find_bad (DynoLoader *loader, guint32 place);

/* Without blank_bad: the index in the data set of the sample that a row of a batch holds, which may
 * have taken the place of one that could not be read.  batch, row: a batch of this epoch that the
 * consumer has taken, and a row of it. */
guint32 dyno_loader_find_sample (DynoLoader *loader, guint64 batch, guint32 row);

G_END_DECLS
