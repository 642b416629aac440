/* SPDX-License-Identifier: MIT */
/* Events from the session's thread to whoever listens.  Private to the train layer.
 *
 * STEP events find room only up to a capacity and are dropped past it, or wait when every event is
 * wanted; all others, which are few, are always kept.  Any thread. */
#pragma once
#include "session.h"

G_BEGIN_DECLS

typedef struct _DynoEventQueue DynoEventQueue;

DynoEventQueue *dyno_event_queue_new (guint capacity, gboolean every_event);
void dyno_event_queue_free (DynoEventQueue *queue);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoEventQueue, dyno_event_queue_free)

/* A new event, its time set. */
DynoEvent *dyno_event_new (DynoEventType type);

/* Takes the event. */
void dyno_event_queue_push (DynoEventQueue *queue, DynoEvent *event);

/* NULL: none came within timeout_us (0: now), or the queue is closed and empty. */
DynoEvent *dyno_event_queue_pop (DynoEventQueue *queue, gint64 timeout_us);

/* Nobody listens any more: pushes never wait from now on. */
void dyno_event_queue_abandon (DynoEventQueue *queue);

/* The last event was pushed. */
void dyno_event_queue_close (DynoEventQueue *queue);

G_END_DECLS
