/* SPDX-License-Identifier: MIT */
/* Batches are taken and released at once; where a run would copy them once more (without
 * page-locked slots) they are copied here too. */
#include "loaderceiling.h"
#include "intl.h"
#include "outsidecpu.h"
#include "sample-cache.h"
#include <math.h>
#include <string.h>

#define WINDOW_S      0.05 /* longest initial length of a window, in seconds */
#define WINDOWS       16
#define LEAST_WINDOWS 3
#define ENOUGH        2 /* windows that are enough where the time is over */
#define LEAST_CACHED  4 /* least number of batches in the part that is cached */

typedef struct {
  DynoLoader *loader;
  DynoDeadline *deadline;
  guint64 epoch;
  gpointer staging; /* NULL: the device would read the slot itself */
  guint64 staging_bytes;
  gint64 copy_us;
} Source;

static void
clear_source (Source *source)
{
  g_clear_pointer (&source->loader, dyno_loader_free);
  g_clear_pointer (&source->staging, g_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Source, clear_source)

static gboolean
open_source (Source *source, const DynoJob *job, DynoDataset *dataset, const GArray *indices,
             gboolean cache, GError **error)
{
  DynoLoaderParams params;

  if (!dyno_job_get_loader_params (job, dyno_dataset_get_info (dataset), TRUE, &params, error))
    return FALSE;
  params.batch = MIN (params.batch, indices->len);
  params.cache = cache;
  source->loader = dyno_loader_new (dataset, indices, &params, error);
  if (!source->loader)
    return FALSE;
  source->staging_bytes = dyno_loader_get_layout (source->loader)->field_bytes[0];
  if (!job->settings.pinned)
    source->staging = g_try_malloc (source->staging_bytes);
  dyno_loader_start_epoch (source->loader, 0, 0);
  return TRUE;
}

/* Takes one batch, from the next epoch where this epoch has ended; *n: its number of samples. */
static gboolean
take_batch (Source *source, guint32 *n, GError **error)
{
  g_autoptr (GError) problem = NULL;
  DynoBatch *batch = NULL;

  for (guint try = 0; try < 2 && !batch; try++)
    {
      if (!dyno_deadline_check (source->deadline, error))
        return FALSE;
      batch = dyno_loader_next (source->loader, NULL,
                                dyno_deadline_get_cancellable (source->deadline), &problem);
      if (problem)
        {
          dyno_deadline_explain (source->deadline, &problem);
          g_propagate_error (error, g_steal_pointer (&problem));
          return FALSE;
        }
      if (!batch)
        dyno_loader_start_epoch (source->loader, ++source->epoch, 0);
    }
  g_return_val_if_fail (batch, FALSE); /* every epoch has a batch */
  if (source->staging)
    {
      gint64 start = g_get_monotonic_time ();
      memcpy (source->staging, batch->fields[0], source->staging_bytes);
      source->copy_us += g_get_monotonic_time () - start;
    }
  *n = batch->n_valid;
  dyno_loader_release (source->loader, batch);
  return TRUE;
}

static double
now_s (void)
{
  return (double) g_get_monotonic_time () / 1e6;
}

/* Takes batches for this long; the end by the deadline is no error once there are enough. */
static gboolean
measure_source (Source *source, double seconds, DynoWindows *w, guint64 *n_batches, GError **error)
{
  g_autoptr (GError) problem = NULL;
  double begin_s = now_s ();
  guint32 n;

  w->length_s = MIN (WINDOW_S, seconds / WINDOWS);
  dyno_windows_begin (w, begin_s);
  while (w->n < LEAST_WINDOWS || now_s () - begin_s < seconds)
    {
      if (!take_batch (source, &n, &problem))
        break;
      dyno_windows_add (w, now_s (), n);
      ++*n_batches;
    }
  if (!problem || (w->n >= ENOUGH && g_error_matches (problem, G_IO_ERROR, G_IO_ERROR_TIMED_OUT)))
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&problem));
  return FALSE;
}

static void
set_stages (DynoLoaderStages *stages, const DynoLoaderStats *before, const DynoLoaderStats *after,
            gint64 copy_us)
{
  double n = (double) MAX (after->samples - before->samples, 1);

  stages->read = (double) (after->fetch_us - before->fetch_us) / n;
  stages->resample = (double) (after->resample_us - before->resample_us) / n;
  stages->stage = (double) (after->stage_us - before->stage_us) / n;
  stages->decode = MAX ((double) (after->decode_us - before->decode_us) / n - stages->read
                            - stages->resample - stages->stage,
                        0);
  stages->copy = (double) copy_us / n;
}

/* The first batch is not counted: all queues are empty. */
static gboolean
measure_part (Source *source, double seconds, DynoWindows *w, DynoLoaderCeiling *c, GError **error)
{
  DynoLoaderStats before, after;
  guint64 first_epoch;
  guint32 n;

  if (!take_batch (source, &n, error))
    return FALSE;
  first_epoch = source->epoch;
  dyno_loader_get_stats (source->loader, &before);
  source->copy_us = 0;
  if (!measure_source (source, seconds, w, &c->n_batches, error))
    return FALSE;
  dyno_loader_get_stats (source->loader, &after);
  set_stages (&c->stages, &before, &after, source->copy_us);
  c->n_epochs = (guint) (source->epoch - first_epoch);
  return TRUE;
}

/* --- cache ------------------------------------------------------------------------------------ */

/* Takes this many samples, spread evenly over the part: neighbouring samples on a disk are not
 * typical. */
static GArray *
choose_part (const GArray *indices, guint n)
{
  GArray *part = g_array_sized_new (FALSE, FALSE, sizeof (guint32), n);

  for (guint64 i = 0; i < n; i++)
    g_array_append_val (part, g_array_index (indices, guint32, (guint) (i * indices->len / n)));
  return part;
}

/* Runs one epoch, which fills the cache. */
static gboolean
fill_cache (Source *source, GError **error)
{
  guint32 n;

  while (source->epoch == 0)
    if (!take_batch (source, &n, error))
      return FALSE;
  return TRUE;
}

double
dyno_loader_ceiling_mix (double cached, double uncached, double cached_share)
{
  return 1.0 / (cached_share / cached + (1.0 - cached_share) / uncached);
}

static gboolean
measure_cached (const DynoJob *job, DynoDataset *dataset, const GArray *indices, double seconds,
                DynoDeadline *deadline, DynoLoaderCeiling *c, GError **error)
{
  g_auto (Source) plain = { .deadline = deadline }, cached = { .deadline = deadline };
  g_autoptr (GArray) part = NULL;
  DynoWindows first = { 0 }, later = { 0 };
  guint64 batch = (guint64) job->settings.batch_size, n, unused = 0;
  guint32 n_first;

  if (!open_source (&plain, job, dataset, indices, FALSE, error)
      || !take_batch (&plain, &n_first, error)
      || !measure_source (&plain, seconds / 3, &first, &unused, error))
    return FALSE;
  c->cached_share =
      dyno_sample_cache_get_share (dyno_loader_get_schema (plain.loader), indices->len);
  clear_source (&plain);
  dyno_windows_estimate (&first, &c->rate);
  c->uncached_rate = c->rate.median;
  n = (guint64) MAX (c->uncached_rate * seconds / 3, 0);
  n = MAX ((n + batch - 1) / batch, LEAST_CACHED) * batch;
  part = choose_part (indices, (guint) MIN (n, indices->len));
  if (c->cached_share <= 0)
    return TRUE;
  if (!open_source (&cached, job, dataset, part, TRUE, error) || !fill_cache (&cached, error)
      || !measure_part (&cached, seconds / 3, &later, c, error))
    return FALSE;
  dyno_windows_estimate (&later, &c->rate);
  c->rate.median = dyno_loader_ceiling_mix (c->rate.median, c->uncached_rate, c->cached_share);
  c->rate.low = dyno_loader_ceiling_mix (c->rate.low, c->uncached_rate, c->cached_share);
  c->rate.high = dyno_loader_ceiling_mix (c->rate.high, c->uncached_rate, c->cached_share);
  return TRUE;
}

gboolean
dyno_loader_ceiling_measure (const DynoJob *job, DynoDataset *dataset, const GArray *indices,
                             double seconds, DynoDeadline *deadline, DynoLoaderCeiling *c,
                             GError **error)
{
  g_auto (Source) source = { .deadline = deadline };
  DynoWindows w = { 0 };
  DynoCpuTimes before, after;
  DynoLoaderParams params;

  *c = (DynoLoaderCeiling){ .uncached_rate = (double) NAN };
  if (indices->len == 0)
    {
      g_set_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DATA,
                   _ ("“%s” has no samples to train on"), dyno_dataset_get_info (dataset)->name);
      return FALSE;
    }
  dyno_cpu_times_read (&before);
  if (!dyno_job_get_loader_params (job, dyno_dataset_get_info (dataset), TRUE, &params, error))
    return FALSE;
  if (job->settings.cache && params.crop.area == 0)
    {
      if (!measure_cached (job, dataset, indices, seconds, deadline, c, error))
        return FALSE;
    }
  else
    {
      if (!open_source (&source, job, dataset, indices, FALSE, error)
          || !measure_part (&source, seconds, &w, c, error))
        return FALSE;
      dyno_windows_estimate (&w, &c->rate);
    }
  dyno_cpu_times_read (&after);
  c->outside_cpu = dyno_cpu_times_get_outside (&before, &after);
  return TRUE;
}

GArray *
dyno_loader_list_workers (guint32 cores)
{
  GArray *list = g_array_new (FALSE, FALSE, sizeof (guint32));

  for (guint32 n = 0; n < cores; n = n ? 2 * n : 1)
    g_array_append_val (list, n);
  return g_array_append_val (list, cores);
}
