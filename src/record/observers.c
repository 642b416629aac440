/* SPDX-License-Identifier: MIT */
/* Observers in the order in which they were added.
 *
 * Invariants: one thread at a time delivers, and it delivers all pending events, so that there is
 * one order of events for all emitting threads; the lock is never held during a call. */
#include "observers.h"

typedef struct {
  const DynoObserver *observer;
  gpointer data;
  guint references; /* one of the list, and one for each copy of the list that is being iterated */
  gboolean removed;
} Entry;

struct _DynoObservers {
  GMutex lock;
  GCond changed;
  GPtrArray *entries;  /* Entry* */
  GQueue pending;      /* DynoEvent* */
  GThread *delivering; /* the thread that delivers events; NULL: none */
  const Entry *called; /* the entry that this thread is calling */
  gboolean abandoned;
};

DynoObservers *
dyno_observers_new (void)
{
  DynoObservers *observers = g_new0 (DynoObservers, 1);

  g_mutex_init (&observers->lock);
  g_cond_init (&observers->changed);
  g_queue_init (&observers->pending);
  observers->entries = g_ptr_array_new ();
  return observers;
}

/* To be called with the lock held, which is released while the data is freed. */
static void
unref_entry (DynoObservers *observers, Entry *entry)
{
  if (--entry->references > 0)
    return;
  g_mutex_unlock (&observers->lock);
  if (entry->observer->free)
    entry->observer->free (entry->data);
  g_free (entry);
  g_mutex_lock (&observers->lock);
}

void
dyno_observers_free (DynoObservers *observers)
{
  if (!observers)
    return;
  g_mutex_lock (&observers->lock);
  for (guint i = 0; i < observers->entries->len; i++)
    unref_entry (observers, g_ptr_array_index (observers->entries, i));
  g_mutex_unlock (&observers->lock);
  g_queue_clear_full (&observers->pending, (GDestroyNotify) dyno_event_unref);
  g_ptr_array_unref (observers->entries);
  g_mutex_clear (&observers->lock);
  g_cond_clear (&observers->changed);
  g_free (observers);
}

void
dyno_observers_add (DynoObservers *observers, const DynoObserver *observer, gpointer data)
{
  Entry *entry = g_new0 (Entry, 1);
  gboolean abandoned;

  *entry = (Entry){ .observer = observer, .data = data, .references = 1 };
  g_mutex_lock (&observers->lock);
  g_ptr_array_add (observers->entries, entry);
  abandoned = observers->abandoned;
  g_mutex_unlock (&observers->lock);
  if (abandoned && observer->abandon)
    observer->abandon (data);
}

/* A copy of the present entries, each with a reference; to be called with the lock held. */
static GPtrArray *
copy_entries (DynoObservers *observers)
{
  GPtrArray *copy = g_ptr_array_sized_new (observers->entries->len);

  for (guint i = 0; i < observers->entries->len; i++)
    {
      Entry *entry = g_ptr_array_index (observers->entries, i);
      entry->references++;
      g_ptr_array_add (copy, entry);
    }
  return copy;
}

void
dyno_observers_remove (DynoObservers *observers, const DynoObserver *observer, gpointer data)
{
  Entry *entry = NULL;

  g_mutex_lock (&observers->lock);
  for (guint i = 0; !entry && i < observers->entries->len; i++)
    {
      Entry *one = g_ptr_array_index (observers->entries, i);
      if (one->observer == observer && one->data == data)
        {
          entry = one;
          g_ptr_array_remove_index (observers->entries, i);
        }
    }
  if (entry)
    {
      entry->removed = TRUE;
      if (observers->called == entry && observers->delivering != g_thread_self ())
        {
          /* The call in progress may wait until this thread takes events. */
          g_mutex_unlock (&observers->lock);
          if (observer->abandon)
            observer->abandon (data);
          g_mutex_lock (&observers->lock);
          while (observers->called == entry)
            g_cond_wait (&observers->changed, &observers->lock);
        }
      unref_entry (observers, entry);
    }
  g_mutex_unlock (&observers->lock);
}

/* To be called with the lock held, which is released during each call. */
static void
deliver (DynoObservers *observers, DynoEvent *event)
{
  g_autoptr (GPtrArray) entries = copy_entries (observers);

  for (guint i = 0; i < entries->len; i++)
    {
      Entry *entry = g_ptr_array_index (entries, i);

      if (!entry->removed)
        {
          observers->called = entry;
          g_mutex_unlock (&observers->lock);
          entry->observer->event (event, entry->data);
          g_mutex_lock (&observers->lock);
          observers->called = NULL;
          g_cond_broadcast (&observers->changed);
        }
      unref_entry (observers, entry);
    }
}

void
dyno_observers_emit (DynoObservers *observers, DynoEvent *event)
{
  g_mutex_lock (&observers->lock);
  g_queue_push_tail (&observers->pending, event);
  if (observers->delivering == g_thread_self ())
    {
      g_mutex_unlock (&observers->lock);
      return;
    }
  while (observers->delivering)
    g_cond_wait (&observers->changed, &observers->lock);
  observers->delivering = g_thread_self ();
  while ((event = g_queue_pop_head (&observers->pending)))
    {
      deliver (observers, event);
      dyno_event_unref (event);
    }
  observers->delivering = NULL;
  g_cond_broadcast (&observers->changed);
  g_mutex_unlock (&observers->lock);
}

void
dyno_observers_abandon (DynoObservers *observers)
{
  g_autoptr (GPtrArray) entries = NULL;

  g_mutex_lock (&observers->lock);
  observers->abandoned = TRUE;
  entries = copy_entries (observers);
  for (guint i = 0; i < entries->len; i++)
    {
      Entry *entry = g_ptr_array_index (entries, i);

      g_mutex_unlock (&observers->lock);
      if (entry->observer->abandon)
        entry->observer->abandon (entry->data);
      g_mutex_lock (&observers->lock);
      unref_entry (observers, entry);
    }
  g_mutex_unlock (&observers->lock);
}
