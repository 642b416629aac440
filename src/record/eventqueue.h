/* SPDX-License-Identifier: MIT */
/* An observer for another thread: keeps the events of a session until they are taken.
 *
 * STEP events find room only up to a capacity and are dropped past it, or, with every_event, hold
 * the session up.  Without it a MASKS event, which is large, takes the place of one that was not
 * taken.  All others, which are few, are always kept.  Any thread. */
#pragma once
#include "event.h"

G_BEGIN_DECLS

typedef struct _DynoEventQueue DynoEventQueue;

/* The queue that dyno_session_add_queue adds.  capacity 0: some thousand. */
extern const DynoObserver dyno_event_queue_observer;
DynoEventQueue *dyno_event_queue_new (guint capacity, gboolean every_event);

/* NULL: none came within timeout_us (0: now), or DONE was taken.  Free it with dyno_event_unref. */
DynoEvent *dyno_event_queue_pop (DynoEventQueue *queue, gint64 timeout_us);

G_END_DECLS
