/* SPDX-License-Identifier: MIT */
/* Parallel loops: threads that take the next index from a shared counter until there is none. */
#include "parallel.h"
#include "cores.h"

#define MAX_THREADS 16

typedef struct {
  guint count;
  guint next; /* atomic */
  DynoParallelFunc func;
  gpointer data;
} Loop;

static gpointer
work (gpointer data)
{
  Loop *loop = data;
  guint index;

  while ((index = (guint) g_atomic_int_add (&loop->next, 1)) < loop->count)
    loop->func (index, loop->data);
  return NULL;
}

void
dyno_parallel_for (guint count, DynoParallelFunc func, gpointer data)
{
  Loop loop = { .count = count, .func = func, .data = data };
  GThread *threads[MAX_THREADS];
  guint n_threads = MIN (MIN (dyno_cores_count (), MAX_THREADS), count), started = 0;

  /* The calling thread takes part, and does everything where the system gives no other threads. */
  while (started + 1 < n_threads
         && (threads[started] = g_thread_try_new ("parallel", work, &loop, NULL)))
    started++;
  work (&loop);
  for (guint i = 0; i < started; i++)
    g_thread_join (threads[i]);
}

/* Threads are started one after the other: where the second of several cannot be started, GLib 2.84
 * frees the pool that the first one reads. */
GThreadPool *
dyno_thread_pool_new (GFunc func, gpointer data, guint threads)
{
  GThreadPool *pool = g_thread_pool_new (func, data, 1, TRUE, NULL);

  if (pool && g_thread_pool_get_num_threads (pool) == 0)
    {
      g_thread_pool_free (pool, TRUE, FALSE);
      return NULL;
    }
  for (guint n = 2; pool && n <= threads; n++)
    if (!g_thread_pool_set_max_threads (pool, (int) n, NULL))
      break;
  return pool;
}
