/* SPDX-License-Identifier: MIT */
/* The queue of events: a list under one lock. */
#include "eventqueue.h"

struct _DynoEventQueue {
  GMutex lock;
  GCond changed;
  GQueue events;
  guint capacity;
  gboolean every_event, abandoned, closed;
};

DynoEventQueue *
dyno_event_queue_new (guint capacity, gboolean every_event)
{
  DynoEventQueue *queue = g_new0 (DynoEventQueue, 1);

  g_mutex_init (&queue->lock);
  g_cond_init (&queue->changed);
  g_queue_init (&queue->events);
  queue->capacity = capacity;
  queue->every_event = every_event;
  return queue;
}

void
dyno_event_queue_free (DynoEventQueue *queue)
{
  if (!queue)
    return;
  g_queue_clear_full (&queue->events, (GDestroyNotify) dyno_event_free);
  g_mutex_clear (&queue->lock);
  g_cond_clear (&queue->changed);
  g_free (queue);
}

DynoEvent *
dyno_event_new (DynoEventType type)
{
  DynoEvent *event = g_new0 (DynoEvent, 1);

  event->type = type;
  event->time_us = g_get_monotonic_time ();
  return event;
}

void
dyno_event_free (DynoEvent *event)
{
  if (!event)
    return;
  switch (event->type)
    {
    case DYNO_EVENT_PLAN:
      g_free (event->plan.device);
      break;
    case DYNO_EVENT_PROGRESS:
      g_free (event->progress.what);
      break;
    case DYNO_EVENT_CHECKPOINT:
    case DYNO_EVENT_WARNING:
      g_free (event->text);
      break;
    case DYNO_EVENT_ERROR:
      g_clear_error (&event->error);
      break;
    case DYNO_EVENT_DONE:
      g_free (event->done.out_dir);
      g_strfreev (event->done.unreadable);
      break;
    case DYNO_EVENT_STATE:
    case DYNO_EVENT_METRICS:
    case DYNO_EVENT_STEP:
    case DYNO_EVENT_EPOCH:
    default:
      break;
    }
  g_free (event);
}

void
dyno_event_queue_push (DynoEventQueue *queue, DynoEvent *event)
{
  g_mutex_lock (&queue->lock);
  while (event->type == DYNO_EVENT_STEP && queue->every_event && !queue->abandoned
         && queue->events.length >= queue->capacity)
    g_cond_wait (&queue->changed, &queue->lock);
  if (event->type != DYNO_EVENT_STEP || queue->events.length < queue->capacity)
    {
      g_queue_push_tail (&queue->events, event);
      g_cond_broadcast (&queue->changed);
      event = NULL;
    }
  g_mutex_unlock (&queue->lock);
  dyno_event_free (event);
}

DynoEvent *
dyno_event_queue_pop (DynoEventQueue *queue, gint64 timeout_us)
{
  gint64 deadline = g_get_monotonic_time () + timeout_us;
  DynoEvent *event;

  g_mutex_lock (&queue->lock);
  while (!(event = g_queue_pop_head (&queue->events)) && !queue->closed && timeout_us > 0)
    if (!g_cond_wait_until (&queue->changed, &queue->lock, deadline))
      timeout_us = 0;
  if (event)
    g_cond_broadcast (&queue->changed);
  g_mutex_unlock (&queue->lock);
  return event;
}

void
dyno_event_queue_abandon (DynoEventQueue *queue)
{
  g_mutex_lock (&queue->lock);
  queue->abandoned = TRUE;
  g_cond_broadcast (&queue->changed);
  g_mutex_unlock (&queue->lock);
}

void
dyno_event_queue_close (DynoEventQueue *queue)
{
  g_mutex_lock (&queue->lock);
  queue->closed = TRUE;
  g_cond_broadcast (&queue->changed);
  g_mutex_unlock (&queue->lock);
}
