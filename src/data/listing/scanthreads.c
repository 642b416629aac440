/* SPDX-License-Identifier: MIT */
/* Threads that take chunks of items from a counter.  Where no thread can be started, the caller's
 * thread does the work. */
#include "scanthreads.h"

#define MAX_THREADS 16

typedef struct {
  guint64 n;
  guint chunk;
  DynoScanFunc func;
  gpointer data;
  GCancellable *cancellable;

  GMutex mutex; /* guards what follows */
  GCond ended;
  guint64 next, done;
  guint running;
} Scan;

static gpointer
scan_main (gpointer data)
{
  Scan *scan = data;

  g_mutex_lock (&scan->mutex);
  while (scan->next < scan->n && !g_cancellable_is_cancelled (scan->cancellable))
    {
      guint64 first = scan->next, end = MIN (first + scan->chunk, scan->n);

      scan->next = end;
      g_mutex_unlock (&scan->mutex);
      scan->func (first, end, scan->data);
      g_mutex_lock (&scan->mutex);
      scan->done += end - first;
    }
  scan->running--;
  g_cond_signal (&scan->ended);
  g_mutex_unlock (&scan->mutex);
  return NULL;
}

gboolean
dyno_scan_threads_run (guint64 n, guint chunk, guint max_threads, DynoScanFunc func, gpointer data,
                       DynoScanProgress progress, gpointer progress_data, GCancellable *cancellable,
                       GError **error)
{
  Scan scan = { .n = n, .chunk = chunk, .func = func, .data = data, .cancellable = cancellable };
  GThread *threads[MAX_THREADS];
  guint wanted = (guint) MIN (CLAMP (max_threads, 1, MAX_THREADS), n / chunk + 1), started = 0;

  g_mutex_init (&scan.mutex);
  g_cond_init (&scan.ended);
  g_mutex_lock (&scan.mutex);
  for (guint i = 0; i < wanted; i++)
    {
      threads[started] = g_thread_try_new ("dyno-scan", scan_main, &scan, NULL);
      started += threads[started] != NULL;
    }
  scan.running = MAX (started, 1);
  g_mutex_unlock (&scan.mutex);
  if (started == 0)
    scan_main (&scan);
  g_mutex_lock (&scan.mutex);
  while (scan.running > 0)
    {
      guint64 done = scan.done;

      if (g_cond_wait_until (&scan.ended, &scan.mutex,
                             g_get_monotonic_time () + G_USEC_PER_SEC / 10))
        continue;
      g_mutex_unlock (&scan.mutex);
      if (progress)
        progress (done, progress_data);
      g_mutex_lock (&scan.mutex);
    }
  g_mutex_unlock (&scan.mutex);
  for (guint i = 0; i < started; i++)
    g_thread_join (threads[i]);
  g_mutex_clear (&scan.mutex);
  g_cond_clear (&scan.ended);
  return !g_cancellable_set_error_if_cancelled (cancellable, error);
}
