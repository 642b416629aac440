/* SPDX-License-Identifier: MIT */
/* The queue of events: a list under one lock. */
#include "eventqueue.h"

#define CAPACITY 4096

struct _DynoEventQueue {
  GMutex lock;
  GCond changed;
  GQueue events;
  GList *masks; /* the last MASKS event in the queue; NULL: there is none */
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
  queue->capacity = capacity ? capacity : CAPACITY;
  queue->every_event = every_event;
  return queue;
}

static void
free_queue (gpointer data)
{
  DynoEventQueue *queue = data;

  g_queue_clear_full (&queue->events, (GDestroyNotify) dyno_event_unref);
  g_mutex_clear (&queue->lock);
  g_cond_clear (&queue->changed);
  g_free (queue);
}

/* To be called with the lock held. */
static void
append (DynoEventQueue *queue, DynoEvent *event)
{
  if (event->type == DYNO_EVENT_MASKS && queue->masks && !queue->every_event)
    {
      dyno_event_unref (queue->masks->data);
      g_queue_delete_link (&queue->events, queue->masks);
    }
  g_queue_push_tail (&queue->events, dyno_event_ref (event));
  if (event->type == DYNO_EVENT_MASKS)
    queue->masks = g_queue_peek_tail_link (&queue->events);
}

static void
push (DynoEvent *event, gpointer data)
{
  DynoEventQueue *queue = data;

  g_mutex_lock (&queue->lock);
  while (event->type == DYNO_EVENT_STEP && queue->every_event && !queue->abandoned
         && queue->events.length >= queue->capacity)
    g_cond_wait (&queue->changed, &queue->lock);
  if ((event->type != DYNO_EVENT_STEP && event->type != DYNO_EVENT_SENSORS)
      || queue->events.length < queue->capacity)
    {
      append (queue, event);
      g_cond_broadcast (&queue->changed);
    }
  queue->closed = queue->closed || event->type == DYNO_EVENT_DONE;
  g_mutex_unlock (&queue->lock);
}

DynoEvent *
dyno_event_queue_pop (DynoEventQueue *queue, gint64 timeout_us)
{
  gint64 deadline = g_get_monotonic_time () + timeout_us;
  DynoEvent *event = NULL;
  GList *first;

  g_mutex_lock (&queue->lock);
  while (!(first = g_queue_pop_head_link (&queue->events)) && !queue->closed && timeout_us > 0)
    if (!g_cond_wait_until (&queue->changed, &queue->lock, deadline))
      timeout_us = 0;
  if (first)
    {
      event = first->data;
      if (first == queue->masks)
        queue->masks = NULL;
      g_list_free_1 (first);
      g_cond_broadcast (&queue->changed);
    }
  g_mutex_unlock (&queue->lock);
  return event;
}

static void
abandon (gpointer data)
{
  DynoEventQueue *queue = data;

  g_mutex_lock (&queue->lock);
  queue->abandoned = TRUE;
  g_cond_broadcast (&queue->changed);
  g_mutex_unlock (&queue->lock);
}

const DynoObserver dyno_event_queue_observer = { push, abandon, free_queue };
