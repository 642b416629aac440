/* SPDX-License-Identifier: MIT */
/* The writer's thread.  Invariants:
 * - lock guards everything below it in the struct; it is not held while a state is read back or
 *   written.
 * - A snapshot is overwritten only while nobody reads it, and a state that waits in it is dropped
 *   only for a better one.
 * - Weights are written before the checkpoint that names them the best: the file beside a
 *   checkpoint is never worse than the checkpoint states.  This holds for best weights that waited
 *   in memory, too. */
#include "saver.h"
#include <string.h>

typedef struct {
  DynoJob *job;
  DynoPosition position;
  gboolean best;
  DynoState *state; /* NULL: it is in the snapshot */
} Order;

struct _DynoSaver {
  DynoSaverParams params;
  char *checkpoint, *best_path;
  gboolean taken;
  DynoState *taken_state;
  GThread *thread; /* NULL: not started yet, or it could not be started */

  GMutex lock;
  GCond changed;
  Order *waiting;
  gboolean urged; /* the waiting order is not to wait in the snapshot any longer */
  gboolean reading, writing, quit;
  gboolean saved;
  DynoPosition saved_position;
  DynoWeights *best;
  GError *device_error;
};

static void
order_free (Order *order)
{
  if (!order)
    return;
  dyno_job_unref (order->job);
  dyno_state_free (order->state);
  g_free (order);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Order, order_free)

DynoSaver *
dyno_saver_new (const DynoSaverParams *params)
{
  DynoSaver *saver = g_new0 (DynoSaver, 1);

  saver->params = *params;
  saver->checkpoint = g_strdup (params->checkpoint);
  saver->best_path = g_strdup (params->best);
  g_mutex_init (&saver->lock);
  g_cond_init (&saver->changed);
  return saver;
}

void
dyno_saver_free (DynoSaver *saver)
{
  if (!saver)
    return;
  g_mutex_lock (&saver->lock);
  saver->quit = TRUE;
  g_clear_pointer (&saver->waiting, order_free);
  g_cond_broadcast (&saver->changed);
  g_mutex_unlock (&saver->lock);
  if (saver->thread)
    g_thread_join (saver->thread);
  dyno_saver_cancel (saver);
  dyno_weights_free (saver->best);
  g_clear_error (&saver->device_error);
  g_free (saver->checkpoint);
  g_free (saver->best_path);
  g_mutex_clear (&saver->lock);
  g_cond_clear (&saver->changed);
  g_free (saver);
}

/* --- the thread ------------------------------------------------------------------------------- */

/* TRUE: the best weights are kept in memory, and nothing is written for now. */
static gboolean
only_keeps (const DynoSaver *saver, gboolean best)
{
  return best && saver->params.best_waits;
}

static DynoStateParts
parts_of (const DynoSaver *saver, gboolean best)
{
  return saver->checkpoint && !only_keeps (saver, best) ? DYNO_STATE_WHOLE : DYNO_STATE_MODEL;
}

/* Reads the state into order->state; FALSE where there is nothing to write. */
static gboolean
read_back (DynoSaver *saver, Order *order)
{
  g_autoptr (GError) problem = NULL;

  if (order->state)
    return TRUE;
  order->state = dyno_state_read (saver->params.program, saver->params.snapshot,
                                  parts_of (saver, order->best), &problem);
  if (order->state)
    return TRUE;
  if (problem->domain == DYNO_GPU_ERROR && problem->code != DYNO_GPU_ERROR_OUT_OF_HOST_MEMORY)
    {
      g_mutex_lock (&saver->lock);
      if (!saver->device_error)
        saver->device_error = g_steal_pointer (&problem);
      g_mutex_unlock (&saver->lock);
    }
  else
    saver->params.reported (saver->checkpoint ? saver->checkpoint : saver->best_path, FALSE,
                            problem, saver->params.data);
  return FALSE;
}

/* Writes weights of the order's run as the best. */
static gboolean
write_weights (DynoSaver *saver, const Order *order, const DynoWeights *weights)
{
  g_auto (GStrv) metadata =
      dyno_checkpoint_weights_metadata (order->job, saver->params.dataset, order->position.run_id);
  g_autoptr (GError) problem = NULL;
  gboolean written = dyno_weights_save (weights, order->state->graph, saver->best_path,
                                        (const char *const *) metadata, &problem);

  saver->params.reported (saver->best_path, TRUE, problem, saver->params.data);
  return written;
}

static void
forget_best (DynoSaver *saver)
{
  g_mutex_lock (&saver->lock);
  g_clear_pointer (&saver->best, dyno_weights_free);
  g_mutex_unlock (&saver->lock);
}

static void
write_best (DynoSaver *saver, Order *order)
{
  DynoWeights *weights = *dyno_state_get_weights (order->state);
  gboolean written;

  weights->batches_tracked = order->position.batches_tracked;
  written = saver->best_path && !only_keeps (saver, TRUE) && write_weights (saver, order, weights);
  forget_best (saver);
  order->best = !written; /* to be kept in memory */
}

/* Only the writer's thread replaces the best weights, so it may read them without the lock. */
static void
write_waiting_best (DynoSaver *saver, const Order *order)
{
  if (saver->params.best_waits && saver->best && saver->best_path
      && write_weights (saver, order, saver->best))
    forget_best (saver);
}

static void
write_checkpoint (DynoSaver *saver, Order *order)
{
  g_autoptr (GError) problem = NULL;

  if (dyno_checkpoint_write (saver->checkpoint, order->state, order->job,
                             saver->params.content_hash, &order->position, &problem))
    {
      g_mutex_lock (&saver->lock);
      saver->saved = TRUE;
      saver->saved_position = order->position;
      g_mutex_unlock (&saver->lock);
    }
  saver->params.reported (saver->checkpoint, FALSE, problem, saver->params.data);
}

/* Takes the waiting order and executes it.  The lock is held, and released meanwhile. */
static void
carry_out (DynoSaver *saver)
{
  g_autoptr (Order) order = g_steal_pointer (&saver->waiting);
  gboolean read, keeps = only_keeps (saver, order->best);

  saver->urged = FALSE;
  saver->reading = saver->writing = TRUE;
  g_mutex_unlock (&saver->lock);
  read = read_back (saver, order);
  g_mutex_lock (&saver->lock);
  saver->reading = FALSE;
  g_cond_broadcast (&saver->changed);
  g_mutex_unlock (&saver->lock);
  if (read && order->best)
    write_best (saver, order);
  else if (read)
    write_waiting_best (saver, order);
  if (read && saver->checkpoint && !keeps)
    write_checkpoint (saver, order);
  g_mutex_lock (&saver->lock);
  if (read && order->best)
    saver->best = g_steal_pointer (dyno_state_get_weights (order->state));
  saver->writing = FALSE;
  g_cond_broadcast (&saver->changed);
}

/* TRUE: the waiting order stays in the snapshot until it is urged.  The lock is held. */
static gboolean
stays (const DynoSaver *saver)
{
  return saver->waiting && only_keeps (saver, saver->waiting->best) && !saver->urged;
}

/* Has an order that stays in the snapshot carried out, by the thread where there is one.  The lock
 * is held, and may be released meanwhile. */
static void
urge (DynoSaver *saver)
{
  if (!stays (saver))
    return;
  saver->urged = TRUE;
  g_cond_broadcast (&saver->changed);
  if (!saver->thread)
    carry_out (saver);
}

static gpointer
write_orders (gpointer data)
{
  DynoSaver *saver = data;

  g_mutex_lock (&saver->lock);
  for (;;)
    {
      while ((!saver->waiting || stays (saver)) && !saver->quit)
        g_cond_wait (&saver->changed, &saver->lock);
      if (!saver->waiting)
        break;
      carry_out (saver);
    }
  g_mutex_unlock (&saver->lock);
  return NULL;
}

/* --- the session's side ----------------------------------------------------------------------- */

gboolean
dyno_saver_has_room (DynoSaver *saver)
{
  gboolean room;

  g_mutex_lock (&saver->lock);
  room = (!saver->waiting || stays (saver)) && (!saver->reading || !saver->params.snapshot);
  g_mutex_unlock (&saver->lock);
  return room && !saver->taken;
}

gboolean
dyno_saver_take (DynoSaver *saver, gboolean best, GError **error)
{
  g_return_val_if_fail (best || dyno_saver_has_room (saver), FALSE);
  dyno_saver_cancel (saver);
  g_mutex_lock (&saver->lock);
  if (best)
    g_clear_pointer (&saver->waiting, order_free);
  urge (saver);
  while (saver->waiting || (saver->reading && saver->params.snapshot))
    g_cond_wait (&saver->changed, &saver->lock);
  g_mutex_unlock (&saver->lock);
  if (saver->params.snapshot)
    saver->taken = dyno_snapshot_take (saver->params.snapshot, error);
  else
    {
      saver->taken_state =
          dyno_state_read (saver->params.program, NULL, parts_of (saver, best), error);
      saver->taken = saver->taken_state != NULL;
    }
  return saver->taken;
}

void
dyno_saver_commit (DynoSaver *saver, const DynoJob *job, const DynoPosition *position,
                   gboolean best)
{
  Order *order;

  g_return_if_fail (saver->taken);
  order = g_new0 (Order, 1);
  order->job = dyno_job_copy (job);
  order->position = *position;
  order->best = best;
  order->state = g_steal_pointer (&saver->taken_state);
  saver->taken = FALSE;
  g_mutex_lock (&saver->lock);
  saver->waiting = order;
  g_cond_broadcast (&saver->changed);
  if (!saver->thread)
    saver->thread = g_thread_try_new ("dyno-saver", write_orders, saver, NULL);
  if (!saver->thread && !stays (saver))
    carry_out (saver); /* there is no thread: write here */
  g_mutex_unlock (&saver->lock);
}

void
dyno_saver_cancel (DynoSaver *saver)
{
  saver->taken = FALSE;
  g_clear_pointer (&saver->taken_state, dyno_state_free);
}

void
dyno_saver_flush (DynoSaver *saver)
{
  g_mutex_lock (&saver->lock);
  urge (saver);
  while (saver->waiting || saver->writing)
    g_cond_wait (&saver->changed, &saver->lock);
  g_mutex_unlock (&saver->lock);
}

gboolean
dyno_saver_check (DynoSaver *saver, GError **error)
{
  gboolean good;

  g_mutex_lock (&saver->lock);
  good = !saver->device_error;
  if (!good && error)
    *error = g_error_copy (saver->device_error);
  g_mutex_unlock (&saver->lock);
  return good;
}

gboolean
dyno_saver_has_saved (DynoSaver *saver)
{
  gboolean saved;

  g_mutex_lock (&saver->lock);
  saved = saver->saved;
  g_mutex_unlock (&saver->lock);
  return saved;
}

gboolean
dyno_saver_holds (DynoSaver *saver, const DynoPosition *position)
{
  gboolean holds;

  g_mutex_lock (&saver->lock);
  holds = saver->saved && saver->saved_position.step == position->step
          && saver->saved_position.epoch == position->epoch;
  g_mutex_unlock (&saver->lock);
  return holds;
}

const DynoWeights *
dyno_saver_get_best (DynoSaver *saver)
{
  const DynoWeights *best;

  g_mutex_lock (&saver->lock);
  best = saver->best;
  g_mutex_unlock (&saver->lock);
  return best;
}
