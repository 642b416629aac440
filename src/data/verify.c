/* SPDX-License-Identifier: MIT */
/* Decodes every sample of a data set once, by some threads that take runs of samples from a
 * counter.  Their results are put into the order of the samples, so that the order of the threads
 * does not matter. */
#include "dataset-class.h"
#include "cores.h"
#include "intl.h"

#define RUN         16
#define MAX_THREADS 16
#define MAX_SIDE    64 /* images are decoded whole, and then scaled to this */

typedef struct {
  guint64 index;
  char *reason;
} Failure;

typedef struct {
  DynoDataset *dataset;
  guint32 width, height;
  guint max_listed;
  gint64 next_run;
  gboolean stop;

  GMutex mutex; /* guards all members */
  GCond ended;
  guint running;
  guint64 done, failed;
  GArray *failures; /* Failure; the first max_listed of each thread: no more can be listed */
} Verify;

static gboolean
take_run (Verify *v, guint64 *first)
{
  gboolean more;

  g_mutex_lock (&v->mutex);
  *first = (guint64) v->next_run * RUN;
  more = !v->stop && *first < v->dataset->info.n_samples;
  v->next_run += more;
  g_mutex_unlock (&v->mutex);
  return more;
}

static gpointer
verify_main (gpointer data)
{
  Verify *v = data;
  const DynoDatasetInfo *info = &v->dataset->info;
  DynoBatchSchema schema;
  DynoBatchLayout layout;
  g_autofree guint8 *block = NULL;
  gpointer fields[DYNO_SCHEMA_MAX_FIELDS];
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  g_autoptr (GArray) failures = g_array_new (FALSE, FALSE, sizeof (Failure));
  guint64 first;

  dyno_dataset_get_schema (info, v->width, v->height, &schema);
  if (dyno_batch_layout_init (&layout, &schema, 1, NULL))
    block = g_try_malloc (layout.total_bytes);
  for (guint i = 0; i < schema.n_fields && block; i++)
    fields[i] = block + layout.offset[i];
  while (block && take_run (v, &first))
    {
      guint64 end = MIN (first + RUN, info->n_samples), failed = 0;

      for (guint64 i = first; i < end; i++)
        {
          g_autoptr (GError) error = NULL;
          Failure failure = { .index = i };

          if (dyno_dataset_decode (v->dataset, i, v->width, v->height, fields, scratch, &error))
            continue;
          failed++;
          if (failures->len >= v->max_listed)
            continue;
          failure.reason = g_strdup (error->message);
          g_array_append_val (failures, failure);
        }
      g_mutex_lock (&v->mutex);
      v->done += end - first;
      v->failed += failed;
      g_mutex_unlock (&v->mutex);
    }
  g_mutex_lock (&v->mutex);
  g_array_append_vals (v->failures, failures->data, failures->len);
  v->running--;
  g_cond_signal (&v->ended);
  g_mutex_unlock (&v->mutex);
  return NULL;
}

/* Starts the threads and waits for them; this thread reports progress and checks for
 * cancellation. */
static void
run_threads (Verify *v, DynoScanProgress progress, gpointer data, GCancellable *cancellable)
{
  GThread *threads[MAX_THREADS];
  guint wanted = CLAMP (dyno_cores_count (), 1, MAX_THREADS), started = 0;

  g_mutex_lock (&v->mutex);
  for (guint i = 0; i < wanted; i++)
    {
      threads[started] = g_thread_try_new ("dyno-verify", verify_main, v, NULL);
      started += threads[started] != NULL;
    }
  v->running = MAX (started, 1);
  g_mutex_unlock (&v->mutex);
  if (started == 0)
    verify_main (v);
  g_mutex_lock (&v->mutex);
  while (v->running > 0)
    {
      guint64 done = v->done;
      if (g_cond_wait_until (&v->ended, &v->mutex, g_get_monotonic_time () + G_USEC_PER_SEC / 10))
        continue;
      v->stop = v->stop || g_cancellable_is_cancelled (cancellable);
      g_mutex_unlock (&v->mutex);
      if (progress)
        progress (done, data);
      g_mutex_lock (&v->mutex);
    }
  g_mutex_unlock (&v->mutex);
  for (guint i = 0; i < started; i++)
    g_thread_join (threads[i]);
}

static int
compare_failures (gconstpointer a, gconstpointer b)
{
  guint64 first = ((const Failure *) a)->index, second = ((const Failure *) b)->index;
  return first < second ? -1 : first > second;
}

static char **
list_failures (Verify *v)
{
  GPtrArray *list = g_ptr_array_new ();

  g_array_sort (v->failures, compare_failures);
  for (guint i = 0; i < v->failures->len; i++)
    {
      Failure *failure = &g_array_index (v->failures, Failure, i);
      if (i < v->max_listed)
        {
          g_autofree char *name = dyno_dataset_describe_sample (v->dataset, failure->index);
          g_ptr_array_add (list, g_strdup_printf ("%s: %s", name, failure->reason));
        }
      g_free (failure->reason);
    }
  g_ptr_array_add (list, NULL);
  return (char **) g_ptr_array_free (list, FALSE);
}

char **
dyno_dataset_verify (DynoDataset *dataset, guint max_listed, DynoScanProgress progress,
                     gpointer data, GCancellable *cancellable, guint64 *n_failed, GError **error)
{
  const DynoDatasetInfo *info = &dataset->info;
  Verify v = { .dataset = dataset, .max_listed = max_listed > 0 ? max_listed : 100 };
  g_auto (GStrv) list = NULL;

  v.width = info->resizable ? MIN (info->max_width, MAX_SIDE) : info->max_width;
  v.height = info->resizable ? MIN (info->max_height, MAX_SIDE) : info->max_height;
  v.failures = g_array_new (FALSE, FALSE, sizeof (Failure));
  g_mutex_init (&v.mutex);
  g_cond_init (&v.ended);
  run_threads (&v, progress, data, cancellable);
  list = list_failures (&v);
  *n_failed = v.failed;
  g_array_unref (v.failures);
  g_mutex_clear (&v.mutex);
  g_cond_clear (&v.ended);
  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return NULL;
  if (v.done < info->n_samples)
    {
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_NO_MEMORY,
                   _ ("No memory to decode the samples of “%s”"), info->name);
      return NULL;
    }
  return g_steal_pointer (&list);
}
