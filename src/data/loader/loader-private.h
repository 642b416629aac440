/* SPDX-License-Identifier: MIT */
/* Shared by loader.c (the consumer's side) and loader-worker.c (the workers' side).  The consumer
 * decodes where no worker is left, and the last user of either side frees the loader: so each file
 * calls the other.
 *
 * Invariants:
 * - One mutex guards all of the loader except the memory of the slots.  Rows of a slot are written
 *   only by the holder of a task between its visits to the mutex that begin and end the writing;
 *   the consumer reads them after it has seen the slot ready.
 * - A task is a run of rows of one batch.  Its writing begins only when the loader is still in the
 *   task's generation, the slot still holds the task's batch and nobody else writes or has written
 *   the rows: a worker that is late, even by hours, writes nothing.  So a stuck worker can be
 *   abandoned.
 * - While it writes, a worker never waits for anything but the CPU: files are read before, into its
 *   own memory, or at once.  So the end of a writing can be waited for.
 * - A writing that fails is discarded, and the rows count as unwritten; the writing that completes
 *   a task writes all of its rows.
 * - A generation begins with each start_epoch and with free.  Within one, a batch has one number
 *   and is opened once.
 * - Patience counts time that the consumer spends waiting, in bounded ticks: while the whole
 *   process stands still (a stop by a signal, a suspended machine) it does not pass.
 * - The loader's struct lives until the last worker is gone (references); the workers' list has the
 *   workers that are waited for. */
#pragma once
#include "loader.h"
#include "sample-cache.h"

G_BEGIN_DECLS

#define DYNO_LOADER_MAX_PREFETCH 64
#define DYNO_LOADER_MAX_WORKERS  256
#define DYNO_LOADER_MAX_CHUNK    32

typedef enum {
  DYNO_SLOT_FREE,
  DYNO_SLOT_FILLING,
  DYNO_SLOT_READY,
  DYNO_SLOT_HELD, /* held by the consumer */
} DynoSlotState;

typedef struct {
  DynoBatch batch; /* must be first: the consumer's pointer is also the slot's */
  DynoSlotState state;
  guint32 claimed; /* rows given out in tasks */
  guint32 done;    /* rows written */
  guint32 n_bad;   /* rows whose own sample was bad */
  GError *error;   /* set: the batch cannot be completed */
  gboolean *taken; /* (batch): a task that begins at this row is being written, or was */
  gpointer block;  /* the memory of the fields */
  gpointer own_block;
} DynoSlot;

typedef struct {
  guint64 generation;
  guint slot;
  guint64 batch; /* number of the batch that the slot holds */
  guint32 row, count;
  guint64 position; /* position of the first row in the epoch's order */
  guint reissued;   /* number of times that the task was given to another worker */
} DynoLoaderTask;

/* Memory of one decoding thread. */
typedef struct {
  guint8 *block;     /* room for chunk samples that are not decoded in their slot; or NULL */
  GByteArray *bytes; /* bytes of the file that is decoded */
  gboolean writing;  /* has begun to write the rows of its task, and waits only for the CPU */
} DynoWorkerScratch;

typedef struct {
  DynoLoader *loader;
  GThread *thread;
  DynoWorkerScratch *scratch;
  DynoLoaderTask task;
  gboolean busy;        /* with its task */
  gint64 busy_since_us; /* begin of the task, as a value of the loader's waited_us */
  gboolean abandoned;   /* the worker is stuck: no thread waits for it any more */
} DynoWorker;

typedef struct _DynoClassTurns DynoClassTurns; /* loader-order.c */

struct _DynoLoader {
  gatomicrefcount references;
  DynoDataset *dataset;
  DynoSampleCache *cache; /* may be NULL */
  DynoLoaderParams params;
  guint32 *indices; /* (n_samples) indices in the data set */
  guint32 n_samples;
  DynoBatchSchema schema;
  DynoBatchLayout layout;       /* of a slot */
  DynoBatchLayout chunk_layout; /* of a worker's block */
  guint32 chunk;                /* most rows of a task; see dyno_loader_claim */
  guint64 n_batches;
  guint64 bad_limit; /* bad samples that are allowed in an epoch */
  /* a task for which the consumer has waited longer is given to another worker */
  gint64 stuck_us;
  gint64 give_up_us; /* after this time without a written row the consumer gets an error */
  gint64 (*clock) (void);

  GMutex mutex;
  GCond work;  /* there may be tasks, or a worker should end */
  GCond ready; /* a slot is ready, a worker ended, something was cancelled */
  gboolean quit;
  gboolean active; /* an epoch was started */
  guint64 generation, epoch;
  guint32 *order;        /* (n_samples) places in indices */
  DynoClassTurns *turns; /* NULL: classes are not balanced */
  guint8 *bad;           /* (n_samples) places that failed in this epoch */
  guint64 next_batch;    /* the next batch to be opened */
  guint64 consume_batch;
  guint64 delivered_bad;
  GError *failed;
  gint64 waited_us; /* waited by the consumer, in bounded ticks, since the loader was made */
  /* the value of waited_us when rows were written last, or the consumer began to wait */
  gint64 waiting_since_us;

  DynoSlot *slots;
  guint n_slots, max_slots;
  gint filling;      /* slot with rows to give out, or -1 */
  guint prefetch;    /* as requested */
  guint writing;     /* tasks whose rows are being written */
  double row_us;     /* recent time to decode a row; 0: not known */
  gboolean draining; /* a thread waits until writing is 0 */
  GQueue reissue;    /* DynoLoaderTask * */

  guint target_workers, alive;
  GPtrArray *workers; /* DynoWorker *, running */
  GPtrArray *ended;   /* GThread *, to be joined */

  DynoWorkerScratch *consumer_scratch;
  guint64 samples_done, bad_samples;
  guint64 decode_us, fetch_us, resample_us, stage_us; /* see DynoLoaderStats */
  guint8 *ever_bad; /* (n_samples) places that failed in any epoch */
  guint64 distinct_bad;
  GPtrArray *bad_list;
  GHashTable *bad_reasons; /* from place + 1 to char *; filled only with blank_bad */
};

/* To be called with the mutex held. */
gboolean dyno_loader_claim (DynoLoader *loader, DynoLoaderTask *task);
void dyno_loader_spawn_workers (DynoLoader *loader);

/* The first position in the epoch's order that a batch of this rank takes. */
guint64 dyno_loader_find_position (const DynoLoader *loader, guint64 batch);

/* Fills the order of an epoch. */
void dyno_loader_make_order (DynoLoader *loader, guint64 epoch);

/* The random word of a position in an epoch's order. */
guint32 dyno_loader_get_seed (const DynoLoader *loader, guint64 epoch, guint64 position);

/* NULL: no memory. */
DynoClassTurns *dyno_class_turns_new (const DynoLoader *loader);
void dyno_class_turns_free (DynoClassTurns *turns);

/* Without the mutex: decodes the rows of a task into their slot. */
void dyno_loader_process (DynoLoader *loader, const DynoLoaderTask *task,
                          DynoWorkerScratch *scratch);

DynoWorkerScratch *dyno_worker_scratch_new (const DynoLoader *loader); /* NULL: no memory */
void dyno_worker_scratch_free (DynoWorkerScratch *scratch);

void dyno_loader_unref (DynoLoader *loader);

/* A pointer for each field of a row of a block; NULL for fields that no decoder fills. */
void dyno_loader_point (const DynoLoader *loader, const DynoBatchLayout *layout, gpointer block,
                        guint32 row, gpointer *fields);

/* TRUE while the rows of a task still have to be filled; mutex held. */
gboolean dyno_loader_is_wanted (const DynoLoader *loader, const DynoLoaderTask *task);

/* For tests: the wait after which a worker counts as stuck and the consumer gives up, and another
 * clock. */
void dyno_loader_set_patience (DynoLoader *loader, gint64 stuck_us, gint64 give_up_us);
void dyno_loader_set_clock (DynoLoader *loader, gint64 (*clock) (void));

G_END_DECLS
