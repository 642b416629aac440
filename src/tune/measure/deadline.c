/* SPDX-License-Identifier: MIT */
#include "deadline.h"
#include "intl.h"

struct _DynoDeadline {
  gint64 time_us;
  GCancellable *own, *other;
  gulong handler;
  GThread *thread;
  GMutex lock;
  GCond wake;
  gboolean ended;
};

static gpointer
watch (gpointer data)
{
  DynoDeadline *d = data;
  gboolean passed = FALSE;

  g_mutex_lock (&d->lock);
  while (!d->ended && !passed)
    passed = !g_cond_wait_until (&d->wake, &d->lock, d->time_us);
  passed = passed && !d->ended;
  g_mutex_unlock (&d->lock);
  if (passed)
    g_cancellable_cancel (d->own);
  return NULL;
}

static void
on_cancelled (GCancellable *cancellable, gpointer data)
{
  g_cancellable_cancel (data);
}

DynoDeadline *
dyno_deadline_new (gint64 time_us, GCancellable *cancellable, GError **error)
{
  g_autoptr (DynoDeadline) d = g_new0 (DynoDeadline, 1);

  g_mutex_init (&d->lock);
  g_cond_init (&d->wake);
  d->time_us = time_us;
  d->own = g_cancellable_new ();
  if (cancellable)
    {
      d->other = g_object_ref (cancellable);
      /* calls on_cancelled also where cancellable is cancelled already */
      d->handler = g_cancellable_connect (cancellable, G_CALLBACK (on_cancelled),
                                          g_object_ref (d->own), g_object_unref);
    }
  if (time_us <= g_get_monotonic_time ())
    {
      g_cancellable_cancel (d->own);
      return g_steal_pointer (&d);
    }
  d->thread = g_thread_try_new ("dyno-deadline", watch, d, error);
  return d->thread ? g_steal_pointer (&d) : NULL;
}

void
dyno_deadline_free (DynoDeadline *d)
{
  if (!d)
    return;
  if (d->handler)
    g_cancellable_disconnect (d->other, d->handler);
  if (d->thread)
    {
      g_mutex_lock (&d->lock);
      d->ended = TRUE;
      g_cond_signal (&d->wake);
      g_mutex_unlock (&d->lock);
      g_thread_join (d->thread);
    }
  g_clear_object (&d->other);
  g_object_unref (d->own);
  g_mutex_clear (&d->lock);
  g_cond_clear (&d->wake);
  g_free (d);
}

GCancellable *
dyno_deadline_get_cancellable (DynoDeadline *d)
{
  return d->own;
}

gboolean
dyno_deadline_check (DynoDeadline *d, GError **error)
{
  if (d->other && g_cancellable_set_error_if_cancelled (d->other, error))
    return FALSE;
  if (!g_cancellable_is_cancelled (d->own) && g_get_monotonic_time () < d->time_us)
    return TRUE;
  g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT,
                       _ ("The time was over before enough was measured; give the search more "
                          "minutes"));
  return FALSE;
}

void
dyno_deadline_explain (DynoDeadline *d, GError **error)
{
  if (!error || !g_error_matches (*error, G_IO_ERROR, G_IO_ERROR_CANCELLED)
      || (d->other && g_cancellable_is_cancelled (d->other)))
    return;
  g_clear_error (error);
  dyno_deadline_check (d, error);
}
