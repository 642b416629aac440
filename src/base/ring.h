/* SPDX-License-Identifier: MIT */
/* A bounded first-in first-out queue of pointers between threads.  Any thread may push, any may
 * pop.  Closing wakes every waiter; what was pushed before can still be popped. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

typedef struct _DynoRing DynoRing;

/* free_item (may be NULL) is called for items that are still queued when the ring is freed. */
DynoRing *dyno_ring_new (guint capacity, GDestroyNotify free_item);
void dyno_ring_free (DynoRing *ring);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoRing, dyno_ring_free)

/* FALSE when full (try) or closed; the item stays the caller's then. */
gboolean dyno_ring_try_push (DynoRing *ring, gpointer item);
gboolean dyno_ring_push (DynoRing *ring, gpointer item);

/* NULL when empty (try), or when nothing came within timeout_us (< 0: no limit), or closed and
 * empty. */
gpointer dyno_ring_try_pop (DynoRing *ring);
gpointer dyno_ring_pop (DynoRing *ring, gint64 timeout_us);

void dyno_ring_close (DynoRing *ring);
guint dyno_ring_length (DynoRing *ring);

G_END_DECLS
