/* SPDX-License-Identifier: MIT */
/* Bounded queue: one lock, two conditions.  Items pass at most a few thousand times a second, so
 * that a lock-free design would bring nothing but risk. */
#include "ring.h"

struct _DynoRing {
  GMutex lock;
  GCond not_empty;
  GCond not_full;
  GDestroyNotify free_item;
  guint capacity;
  guint first;
  guint length;
  gboolean closed;
  gpointer items[];
};

DynoRing *
dyno_ring_new (guint capacity, GDestroyNotify free_item)
{
  DynoRing *ring;

  g_return_val_if_fail (capacity > 0, NULL);
  ring = g_malloc0 (sizeof *ring + capacity * sizeof (gpointer));
  ring->capacity = capacity;
  ring->free_item = free_item;
  g_mutex_init (&ring->lock);
  g_cond_init (&ring->not_empty);
  g_cond_init (&ring->not_full);
  return ring;
}

void
dyno_ring_free (DynoRing *ring)
{
  gpointer item;

  if (!ring)
    return;
  while ((item = dyno_ring_try_pop (ring)))
    if (ring->free_item)
      ring->free_item (item);
  g_cond_clear (&ring->not_full);
  g_cond_clear (&ring->not_empty);
  g_mutex_clear (&ring->lock);
  g_free (ring);
}

static gboolean
push (DynoRing *ring, gpointer item, gboolean wait)
{
  gboolean pushed = FALSE;

  g_mutex_lock (&ring->lock);
  while (wait && !ring->closed && ring->length == ring->capacity)
    g_cond_wait (&ring->not_full, &ring->lock);
  if (!ring->closed && ring->length < ring->capacity)
    {
      ring->items[(ring->first + ring->length++) % ring->capacity] = item;
      g_cond_signal (&ring->not_empty);
      pushed = TRUE;
    }
  g_mutex_unlock (&ring->lock);
  return pushed;
}

gboolean
dyno_ring_try_push (DynoRing *ring, gpointer item)
{
  return push (ring, item, FALSE);
}

gboolean
dyno_ring_push (DynoRing *ring, gpointer item)
{
  return push (ring, item, TRUE);
}

static gpointer
take (DynoRing *ring)
{
  gpointer item;

  if (ring->length == 0)
    return NULL;
  item = ring->items[ring->first];
  ring->first = (ring->first + 1) % ring->capacity;
  ring->length--;
  g_cond_signal (&ring->not_full);
  return item;
}

gpointer
dyno_ring_try_pop (DynoRing *ring)
{
  gpointer item;

  g_mutex_lock (&ring->lock);
  item = take (ring);
  g_mutex_unlock (&ring->lock);
  return item;
}

gpointer
dyno_ring_pop (DynoRing *ring, gint64 timeout_us)
{
  gint64 end = g_get_monotonic_time () + timeout_us;
  gpointer item;

  g_mutex_lock (&ring->lock);
  while (ring->length == 0 && !ring->closed)
    {
      if (timeout_us < 0)
        g_cond_wait (&ring->not_empty, &ring->lock);
      else if (!g_cond_wait_until (&ring->not_empty, &ring->lock, end))
        break;
    }
  item = take (ring);
  g_mutex_unlock (&ring->lock);
  return item;
}

void
dyno_ring_close (DynoRing *ring)
{
  g_mutex_lock (&ring->lock);
  ring->closed = TRUE;
  g_cond_broadcast (&ring->not_empty);
  g_cond_broadcast (&ring->not_full);
  g_mutex_unlock (&ring->lock);
}

guint
dyno_ring_length (DynoRing *ring)
{
  guint length;

  g_mutex_lock (&ring->lock);
  length = ring->length;
  g_mutex_unlock (&ring->lock);
  return length;
}
