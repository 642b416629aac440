/* SPDX-License-Identifier: MIT */
/* Annotates GLib's locks for ThreadSanitizer.
 *
 * GLib's locks are futexes inside a library that is not instrumented, so that ThreadSanitizer sees
 * no order between their holders and reports every guarded access as a race.  Here each call is
 * wrapped in its annotation: locking acquires what the previous holder's unlocking released.  A
 * build with -Db_sanitize=thread includes this before every file; no other does.  Files that are
 * compiled without GLib (modules that are preloaded or that the Vulkan loader opens) have no calls
 * to wrap. */
#pragma once
#if __has_include(<glib.h>)
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

static inline gboolean
tsan_ref_count_compare (gatomicrefcount *count, gint value)
{
  gboolean equal = g_atomic_ref_count_compare (count, value);
  __tsan_acquire ((void *) count);
  return equal;
}

typedef struct {
  GOnce *once;
  GThreadFunc func;
  gpointer arg;
} TsanOnce;

static inline gpointer
tsan_once_call (gpointer data)
{
  TsanOnce *call = data;
  gpointer result = call->func (call->arg);
  __tsan_release (call->once);
  return result;
}

static inline gpointer
tsan_once (GOnce *once, GThreadFunc func, gpointer arg)
{
  TsanOnce call = { once, func, arg };
  gpointer result = g_once_impl (once, tsan_once_call, &call);
  __tsan_acquire (once);
  return result;
}

/* The data of a pool's function are wrapped, so that the thread that waits for the end of the pool
 * sees what the tasks wrote. */
typedef struct {
  GFunc func;
  gpointer data;
} TsanPool;

static inline void
tsan_pool_call (gpointer item, gpointer data)
{
  TsanPool *pool = data;
  __tsan_acquire (pool);
  pool->func (item, pool->data);
  __tsan_release (pool);
}

static inline GThreadPool *
tsan_pool_new (GFunc func, gpointer data, gint max_threads, gboolean exclusive, GError **error)
{
  TsanPool *pool = g_new0 (TsanPool, 1);
  pool->func = func;
  pool->data = data;
  return g_thread_pool_new (tsan_pool_call, pool, max_threads, exclusive, error);
}

static inline gboolean
tsan_pool_push (GThreadPool *pool, gpointer item, GError **error)
{
  __tsan_release (pool->user_data);
  return g_thread_pool_push (pool, item, error);
}

static inline void
tsan_pool_free (GThreadPool *pool, gboolean immediate, gboolean wait)
{
  TsanPool *wrapped = pool->user_data;
  g_thread_pool_free (pool, immediate, wait);
  if (!wait)
    return;
  __tsan_acquire (wrapped);
  g_free (wrapped);
}

#undef g_once
#define g_once(once, func, arg) tsan_once (once, func, arg)
#define g_thread_pool_new(func, data, n, exclusive, error) \
  tsan_pool_new (func, data, n, exclusive, error)
#define g_thread_pool_push(pool, item, error)     tsan_pool_push (pool, item, error)
#define g_thread_pool_free(pool, immediate, wait) tsan_pool_free (pool, immediate, wait)
#undef g_async_queue_push
#undef g_async_queue_pop
#undef g_atomic_ref_count_dec
#undef g_atomic_ref_count_compare
#define g_mutex_lock(mutex)                  tsan_mutex_lock (mutex)
#define g_mutex_trylock(mutex)               tsan_mutex_trylock (mutex)
#define g_mutex_unlock(mutex)                tsan_mutex_unlock (mutex)
#define g_cond_wait(cond, mutex)             tsan_cond_wait (cond, mutex)
#define g_cond_wait_until(cond, mutex, time) tsan_cond_wait_until (cond, mutex, time)
#define g_async_queue_push(queue, data)      tsan_async_queue_push (queue, data)
#define g_async_queue_pop(queue)             tsan_async_queue_pop (queue)
#define g_atomic_ref_count_dec(count)        tsan_ref_count_dec (count)
#define g_atomic_ref_count_compare(count, n) tsan_ref_count_compare (count, n)

/* GLib's macro stores the quark without a lock or an atomic access, since all threads write the
 * same value. */
#undef G_DEFINE_QUARK
#define G_DEFINE_QUARK(QN, q_n) \
  GQuark q_n##_quark (void) { return g_quark_from_static_string (#QN); }
#endif
