/* SPDX-License-Identifier: MIT */
/* Threads that take runs of items from a counter.  Where no thread can be started the caller's does
 * the work. */
#include "runs.h"

#define MAX_THREADS 16

typedef struct {
  guint64 n;
  guint run;
  DynoRunsFunc func;
  gpointer data;
  GCancellable *cancellable;

  GMutex mutex; /* guards what follows */
  GCond ended;
  guint64 next, done;
  guint running;
} Runs;

static gpointer
runs_main (gpointer data)
{
  Runs *runs = data;

  g_mutex_lock (&runs->mutex);
  while (runs->next < runs->n && !g_cancellable_is_cancelled (runs->cancellable))
    {
      guint64 first = runs->next, end = MIN (first + runs->run, runs->n);

      runs->next = end;
      g_mutex_unlock (&runs->mutex);
      runs->func (first, end, runs->data);
      g_mutex_lock (&runs->mutex);
      runs->done += end - first;
    }
  runs->running--;
  g_cond_signal (&runs->ended);
  g_mutex_unlock (&runs->mutex);
  return NULL;
}

gboolean
dyno_runs_do (guint64 n, guint run, guint max_threads, DynoRunsFunc func, gpointer data,
              DynoScanProgress progress, gpointer progress_data, GCancellable *cancellable,
              GError **error)
{
  Runs runs = { .n = n, .run = run, .func = func, .data = data, .cancellable = cancellable };
  GThread *threads[MAX_THREADS];
  guint wanted = (guint) MIN (CLAMP (max_threads, 1, MAX_THREADS), n / run + 1), started = 0;

  g_mutex_init (&runs.mutex);
  g_cond_init (&runs.ended);
  g_mutex_lock (&runs.mutex);
  for (guint i = 0; i < wanted; i++)
    {
      threads[started] = g_thread_try_new ("dyno-scan", runs_main, &runs, NULL);
      started += threads[started] != NULL;
    }
  runs.running = MAX (started, 1);
  g_mutex_unlock (&runs.mutex);
  if (started == 0)
    runs_main (&runs);
  g_mutex_lock (&runs.mutex);
  while (runs.running > 0)
    {
      guint64 done = runs.done;

      if (g_cond_wait_until (&runs.ended, &runs.mutex,
                             g_get_monotonic_time () + G_USEC_PER_SEC / 10))
        continue;
      g_mutex_unlock (&runs.mutex);
      if (progress)
        progress (done, progress_data);
      g_mutex_lock (&runs.mutex);
    }
  g_mutex_unlock (&runs.mutex);
  for (guint i = 0; i < started; i++)
    g_thread_join (threads[i]);
  g_mutex_clear (&runs.mutex);
  g_cond_clear (&runs.ended);
  return !g_cancellable_set_error_if_cancelled (cancellable, error);
}
