/* SPDX-License-Identifier: MIT */
/* An observer for another thread: keeps the events of a session until they are taken.
 *
 * When the queue has reached its capacity, STEP and SENSORS events are dropped; with every_event
 * the session waits in place of dropping a STEP event.  Without every_event a MASKS event, which is
 * large, replaces an earlier one that was not taken.  All other events, which are few, are always
 * kept.  Any thread. */
#pragma once
#include "event.h"

G_BEGIN_DECLS

typedef struct _DynoEventQueue DynoEventQueue;

/* The queue that dyno_session_add_queue adds.  capacity 0: some thousand. */
extern const DynoObserver dyno_event_queue_observer;
DynoEventQueue *dyno_event_queue_new (guint capacity, gboolean every_event);

/* NULL: no event came within timeout_us (0: do not wait), or DONE was taken.  To be freed with
 * dyno_event_unref. */
DynoEvent *dyno_event_queue_pop (DynoEventQueue *queue, gint64 timeout_us);

G_END_DECLS
