/* SPDX-License-Identifier: MIT */
/* Dynamic batching: combines the samples of many requests into batches for one model.
 *
 * - A batch is submitted when it is full, or when its oldest request has waited max_delay_us; a
 *   request of more samples than fit is split over batches.  Requests are served in the order in
 *   which they came.
 * - The queue is bounded: a place is reserved before a request is prepared, and refused when none is
 *   free.
 * - A thread of the batcher's own drives the engine and calls `done`.  All functions but _new, _stop
 *   and _free may be called from any thread; no lock is held while the engine or `done` runs. */
#pragma once
#include "serve-error.h"

G_BEGIN_DECLS

/* The model of a batcher, with batches in flight.  Its functions are called on the batcher's
 * thread. */
typedef struct {
  guint slots; /* most batches in flight */
  /* Copies n samples (and their lengths, if not NULL) and begins to compute them. */
  gboolean (*submit) (gpointer engine, gconstpointer const *samples, const gint32 *lengths,
                      guint32 n, GError **error);
  /* Waits for the oldest batch in flight, which ends even on an error; outputs: n x
   * output_bytes. */
  gboolean (*collect) (gpointer engine, gpointer outputs, GError **error);
  /* Whether the engine cannot be used any more after this error. */
  gboolean (*is_lost) (const GError *error);
} DynoBatchEngine;

typedef struct _DynoBatchJob DynoBatchJob;

/* A request.  The caller owns it, and must not access it from _push until done is called, once. */
struct _DynoBatchJob {
  const guint8 *samples; /* n x sample_bytes */
  const gint32 *lengths; /* n, or NULL */
  guint32 n;             /* 1 or more */
  gpointer outputs;      /* n x output_bytes, to be filled */
  GError *error;         /* NULL: outputs are set; freed by the caller */
  void (*done) (DynoBatchJob *job, gpointer data);
  gpointer data;
  /* private */
  guint32 taken, in_flight; /* samples submitted so far; parts in flight */
  gboolean queued;
  gint64 came_us;
};

typedef struct {
  guint32 max_batch;
  gint64 max_delay_us;
  guint max_queue;                  /* requests between _reserve and done */
  gsize sample_bytes, output_bytes; /* of a sample */
  /* Called when a batch of n samples has ended, and when the engine is lost and all requests fail;
   * each may be NULL. */
  void (*on_batch) (guint32 n, gpointer data);
  void (*on_lost) (const GError *error, gpointer data);
  gpointer data;
} DynoBatcherParams;

typedef struct _DynoBatcher DynoBatcher;

DynoBatcher *dyno_batcher_new (const DynoBatcherParams *params, const DynoBatchEngine *klass,
                               gpointer engine);
/* Refuses new requests, waits until those with a place are done, and ends the thread. */
void dyno_batcher_stop (DynoBatcher *batcher);
void dyno_batcher_free (DynoBatcher *batcher); /* stops it; NULL: nothing */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoBatcher, dyno_batcher_free)

/* Reserves a place in the queue, which is freed when the pushed job has ended, or by _release.
 * Errors: BUSY, STOPPING, FAILED (the engine is lost). */
gboolean dyno_batcher_reserve (DynoBatcher *batcher, GError **error);
void dyno_batcher_release (DynoBatcher *batcher);
void dyno_batcher_push (DynoBatcher *batcher, DynoBatchJob *job);

/* The number of occupied places, and of samples that wait for a batch. */
void dyno_batcher_get_load (DynoBatcher *batcher, guint *requests, guint64 *samples);

G_END_DECLS
