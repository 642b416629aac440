/* SPDX-License-Identifier: MIT */
/* Tells ThreadSanitizer about GLib's locks.
 *
 * GLib's locks are futexes inside a library that is not instrumented, so that ThreadSanitizer sees no order between their
 * holders and takes every guarded access for a race.  Here each call is wrapped in what it means: taking a lock acquires what the one who gave
 * it back released.  A build with
 * -Db_sanitize=thread includes this before every file; no other does. */
#pragma once
#include <glib.h>

void __tsan_acquire (void *address);
void __tsan_release (void *address);

static inline void
tsan_mutex_lock (GMutex *mutex)
{
  g_mutex_lock (mutex);
  __tsan_acquire (mutex);
}

static inline gboolean
tsan_mutex_trylock (GMutex *mutex)
{
  gboolean taken = g_mutex_trylock (mutex);
  if (taken)
    __tsan_acquire (mutex);
  return taken;
}

static inline void
tsan_mutex_unlock (GMutex *mutex)
{
  __tsan_release (mutex);
  g_mutex_unlock (mutex);
}

static inline void
tsan_cond_wait (GCond *cond, GMutex *mutex)
{
  __tsan_release (mutex);
  g_cond_wait (cond, mutex);
  __tsan_acquire (mutex);
}

static inline gboolean
tsan_cond_wait_until (GCond *cond, GMutex *mutex, gint64 end_time)
{
  gboolean signalled;
  __tsan_release (mutex);
  signalled = g_cond_wait_until (cond, mutex, end_time);
  __tsan_acquire (mutex);
  return signalled;
}

static inline void
tsan_async_queue_push (GAsyncQueue *queue, gpointer data)
{
  __tsan_release (queue);
  g_async_queue_push (queue, data);
}

static inline gpointer
tsan_async_queue_pop (GAsyncQueue *queue)
{
  gpointer data = g_async_queue_pop (queue);
  __tsan_acquire (queue);
  return data;
}

static inline gboolean
tsan_ref_count_dec (gatomicrefcount *count)
{
  gboolean last;
  __tsan_release ((void *) count);
  last = g_atomic_ref_count_dec (count);
  __tsan_acquire ((void *) count);
  return last;
}

#undef g_async_queue_push
#undef g_async_queue_pop
#undef g_atomic_ref_count_dec
#define g_mutex_lock(mutex)                  tsan_mutex_lock (mutex)
#define g_mutex_trylock(mutex)               tsan_mutex_trylock (mutex)
#define g_mutex_unlock(mutex)                tsan_mutex_unlock (mutex)
#define g_cond_wait(cond, mutex)             tsan_cond_wait (cond, mutex)
#define g_cond_wait_until(cond, mutex, time) tsan_cond_wait_until (cond, mutex, time)
#define g_async_queue_push(queue, data)      tsan_async_queue_push (queue, data)
#define g_async_queue_pop(queue)             tsan_async_queue_pop (queue)
#define g_atomic_ref_count_dec(count)        tsan_ref_count_dec (count)
