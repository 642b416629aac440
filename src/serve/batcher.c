/* SPDX-License-Identifier: MIT */
/* The batcher's thread and its queue.
 *
 * Invariants:
 * - The queue holds jobs with samples that were not submitted, in the order of their arrival.
 * - A job is over when nothing of it is queued or in flight; then its place is free, and after that
 *   done is called.
 * - Batches are collected in the order of their submission, and use the flights in turn. */
#include "batcher.h"
#include <string.h>

/* Samples [first, first + n) of a job, in a batch from row on. */
typedef struct {
  DynoBatchJob *job;
  guint32 first, n;
} Part;

typedef struct {
  GArray *parts; /* Part */
  guint32 n;
} Flight;

struct _DynoBatcher {
  DynoBatcherParams params;
  const DynoBatchEngine *klass;
  gpointer engine;
  GThread *thread;
  GMutex mutex;
  GCond cond;
  /* guarded by mutex: */
  GQueue queue; /* DynoBatchJob * */
  guint64 n_waiting;
  guint places;
  gboolean stopping;
  GError *lost;
  /* used only by the thread: */
  Flight *flights;
  guint64 submitted, collected;
  gconstpointer *rows;
  gint32 *lengths;
  guint8 *outputs;
};

/* --- the queue -------------------------------------------------------------------------------- */

gboolean
dyno_batcher_reserve (DynoBatcher *b, GError **error)
{
  gboolean ok;

  g_mutex_lock (&b->mutex);
  if (b->lost)
    ok = dyno_serve_refuse (error, DYNO_SERVE_ERROR_FAILED, "%s", b->lost->message);
  else if (b->stopping)
    ok = dyno_serve_refuse (error, DYNO_SERVE_ERROR_STOPPING, "the server is stopping");
  else if (b->places >= b->params.max_queue)
    ok = dyno_serve_refuse (error, DYNO_SERVE_ERROR_BUSY,
                            "the queue is full: %u requests are in it; try again later", b->places);
  else
    {
      b->places++;
      ok = TRUE;
    }
  g_mutex_unlock (&b->mutex);
  return ok;
}

void
dyno_batcher_release (DynoBatcher *b)
{
  g_mutex_lock (&b->mutex);
  b->places--;
  g_cond_signal (&b->cond);
  g_mutex_unlock (&b->mutex);
}

/* Ends a job that is neither queued nor in flight. */
static void
finish (DynoBatcher *b, DynoBatchJob *job)
{
  dyno_batcher_release (b);
  job->done (job, job->data);
}

void
dyno_batcher_push (DynoBatcher *b, DynoBatchJob *job)
{
  gboolean lost;

  g_return_if_fail (job->n > 0);
  job->taken = job->in_flight = 0;
  job->came_us = g_get_monotonic_time ();
  g_mutex_lock (&b->mutex);
  lost = b->lost != NULL;
  if (lost)
    job->error = g_error_copy (b->lost);
  else
    {
      job->queued = TRUE;
      g_queue_push_tail (&b->queue, job);
      b->n_waiting += job->n;
      g_cond_signal (&b->cond);
    }
  g_mutex_unlock (&b->mutex);
  /* A queued job may have ended by now, and may be freed. */
  if (lost)
    finish (b, job);
}

void
dyno_batcher_get_load (DynoBatcher *b, guint *requests, guint64 *samples)
{
  g_mutex_lock (&b->mutex);
  *requests = b->places;
  *samples = b->n_waiting;
  g_mutex_unlock (&b->mutex);
}

/* --- batches ---------------------------------------------------------------------------------- */

/* Takes a job out of the queue, with the samples of it that wait; the mutex is held. */
static void
unqueue (DynoBatcher *b, DynoBatchJob *job)
{
  if (!job->queued)
    return;
  job->queued = FALSE;
  g_queue_remove (&b->queue, job);
  b->n_waiting -= job->n - job->taken;
}

/* Moves waiting samples into a flight; the mutex is held. */
static void
fill (DynoBatcher *b, Flight *flight)
{
  DynoBatchJob *job;

  g_array_set_size (flight->parts, 0);
  flight->n = 0;
  while (flight->n < b->params.max_batch && (job = g_queue_peek_head (&b->queue)))
    {
      Part part = { job, job->taken, MIN (job->n - job->taken, b->params.max_batch - flight->n) };

      for (guint32 i = 0; i < part.n; i++)
        {
          b->rows[flight->n + i] = job->samples + (part.first + i) * b->params.sample_bytes;
          if (job->lengths)
            b->lengths[flight->n + i] = job->lengths[part.first + i];
        }
      g_array_append_val (flight->parts, part);
      flight->n += part.n;
      b->n_waiting -= part.n;
      job->taken += part.n;
      job->in_flight++;
      if (job->taken == job->n)
        unqueue (b, job);
    }
}

/* Ends a flight: its jobs get their outputs or the error; each job keeps its first error. */
static void
land (DynoBatcher *b, Flight *flight, const GError *problem)
{
  gsize size = b->params.output_bytes, row = 0;

  for (guint i = 0; i < flight->parts->len; i++)
    {
      Part *part = &g_array_index (flight->parts, Part, i);
      DynoBatchJob *job = part->job;
      gboolean over;

      if (!problem)
        memcpy ((guint8 *) job->outputs + part->first * size, b->outputs + row * size,
                part->n * size);
      row += part->n;
      g_mutex_lock (&b->mutex);
      if (problem && !job->error)
        job->error = g_error_copy (problem);
      if (job->error)
        unqueue (b, job);
      over = --job->in_flight == 0 && !job->queued;
      g_mutex_unlock (&b->mutex);
      if (over)
        finish (b, job);
    }
}

/* Handles the loss of the engine: nothing is in flight, and all waiting jobs fail. */
static void
lose (DynoBatcher *b, const GError *problem)
{
  DynoBatchJob *job;

  g_mutex_lock (&b->mutex);
  b->lost = g_error_copy (problem);
  while ((job = g_queue_peek_head (&b->queue)))
    {
      unqueue (b, job);
      job->error = g_error_copy (problem);
      g_mutex_unlock (&b->mutex);
      finish (b, job);
      g_mutex_lock (&b->mutex);
    }
  g_mutex_unlock (&b->mutex);
  if (b->params.on_lost)
    b->params.on_lost (problem, b->params.data);
}

static guint
count_pending (DynoBatcher *b)
{
  return (guint) (b->submitted - b->collected);
}

static void
collect (DynoBatcher *b, GError **problem)
{
  Flight *flight = &b->flights[b->collected % b->klass->slots];

  b->collected++;
  if (b->klass->collect (b->engine, b->outputs, problem) && b->params.on_batch)
    b->params.on_batch (flight->n, b->params.data);
  land (b, flight, *problem);
}

/* Fills a flight and submits it.  The mutex is held, and released while the engine is called. */
static void
submit (DynoBatcher *b, GError **problem)
{
  Flight *flight = &b->flights[b->submitted % b->klass->slots];
  gboolean has_lengths;

  fill (b, flight);
  has_lengths = g_array_index (flight->parts, Part, 0).job->lengths != NULL;
  g_mutex_unlock (&b->mutex);
  if (b->klass->submit (b->engine, b->rows, has_lengths ? b->lengths : NULL, flight->n, problem))
    b->submitted++;
  else
    land (b, flight, *problem);
  g_mutex_lock (&b->mutex);
}

/* --- the thread ------------------------------------------------------------------------------- */

/* The time at which the waiting samples are submitted even if they fill no batch; the mutex is
 * held. */
static gint64
get_deadline (DynoBatcher *b)
{
  DynoBatchJob *job = g_queue_peek_head (&b->queue);

  if (b->stopping || b->n_waiting >= b->params.max_batch)
    return 0;
  return job->came_us + b->params.max_delay_us;
}

/* Performs one action, or waits for one; FALSE: the thread is to end.  The mutex is held. */
static gboolean
go_on (DynoBatcher *b, GError **problem)
{
  gboolean waiting = b->n_waiting > 0;

  if (waiting && count_pending (b) < b->klass->slots && get_deadline (b) <= g_get_monotonic_time ())
    submit (b, problem);
  else if (count_pending (b) > 0)
    {
      g_mutex_unlock (&b->mutex);
      collect (b, problem);
      g_mutex_lock (&b->mutex);
    }
  else if (waiting)
    g_cond_wait_until (&b->cond, &b->mutex, get_deadline (b));
  else if (b->stopping && b->places == 0)
    return FALSE;
  else
    g_cond_wait (&b->cond, &b->mutex);
  return TRUE;
}

static gpointer
run (gpointer data)
{
  DynoBatcher *b = data;
  gboolean more = TRUE;

  g_mutex_lock (&b->mutex);
  while (more)
    {
      g_autoptr (GError) problem = NULL;

      more = go_on (b, &problem);
      if (!problem || b->lost || !b->klass->is_lost (problem))
        continue;
      g_mutex_unlock (&b->mutex);
      while (count_pending (b) > 0)
        {
          g_autoptr (GError) same = NULL;

          collect (b, &same);
        }
      lose (b, problem);
      g_mutex_lock (&b->mutex);
    }
  g_mutex_unlock (&b->mutex);
  return NULL;
}

DynoBatcher *
dyno_batcher_new (const DynoBatcherParams *params, const DynoBatchEngine *klass, gpointer engine)
{
  DynoBatcher *b = g_new0 (DynoBatcher, 1);

  g_return_val_if_fail (params->max_batch > 0 && klass->slots > 0, NULL);
  b->params = *params;
  b->klass = klass;
  b->engine = engine;
  g_mutex_init (&b->mutex);
  g_cond_init (&b->cond);
  g_queue_init (&b->queue);
  b->rows = g_new (gconstpointer, params->max_batch);
  b->lengths = g_new0 (gint32, params->max_batch);
  b->outputs = g_malloc0_n (params->max_batch, params->output_bytes);
  b->flights = g_new0 (Flight, klass->slots);
  for (guint i = 0; i < klass->slots; i++)
    b->flights[i].parts = g_array_sized_new (FALSE, FALSE, sizeof (Part), params->max_batch);
  b->thread = g_thread_new ("dyno-batcher", run, b);
  return b;
}

void
dyno_batcher_stop (DynoBatcher *b)
{
  g_mutex_lock (&b->mutex);
  b->stopping = TRUE;
  g_cond_signal (&b->cond);
  g_mutex_unlock (&b->mutex);
  if (b->thread)
    g_thread_join (g_steal_pointer (&b->thread));
}

void
dyno_batcher_free (DynoBatcher *b)
{
  if (!b)
    return;
  dyno_batcher_stop (b);
  for (guint i = 0; i < b->klass->slots; i++)
    g_array_unref (b->flights[i].parts);
  g_free (b->flights);
  g_free (b->rows);
  g_free (b->lengths);
  g_free (b->outputs);
  g_clear_error (&b->lost);
  g_mutex_clear (&b->mutex);
  g_cond_clear (&b->cond);
  g_free (b);
}
