/* SPDX-License-Identifier: MIT */
/* The two ceilings: which points of loader and device are measured apart, in which order.
 *
 * The loader with all workers first, without the cache and with it, which tells how fast the device
 * needs to be known.  The device over batches by doubling until two in turn bring nothing or the
 * loader is far behind, then once more between the points around the knee; each precision where
 * the other does not lead throughout.  Then the loader with fewer workers, as far as they are the
 * limit, and a longer prefetch only where the loader is.  Checkpointing and accumulation only where
 * memory ends the batch before the knee. */
#include "searchstate.h"
#include <math.h>

#define START_BATCH 32
#define PLENTY      1.3 /* times the other ceiling: it is no limit */

static double
gpu_at (DynoSearch *search, DynoSettings s, gint64 batch)
{
  s.batch_size = batch;
  return dyno_search_ceiling (search, DYNO_CEILING_GPU, &s);
}

static double
loader_at (DynoSearch *search, DynoSettings s, gint64 workers)
{
  s.workers = workers;
  s.batch_size = MIN (s.batch_size, START_BATCH); /* it is no limit here, and takes time */
  return dyno_search_ceiling (search, DYNO_CEILING_LOADER, &s);
}

static gboolean
fits_at (DynoSearch *search, DynoSettings s, gint64 batch)
{
  s.batch_size = batch;
  return batch <= search->space.most_batch && dyno_search_updates (search, &s)
         && dyno_search_fits (search, &s);
}

/* The largest batch that fits, in eights where that leaves something. */
static gint64
largest_fitting (DynoSearch *search, const DynoSettings *s)
{
  gint64 low = 0, high = search->space.most_batch + 1;

  while (high - low > 1)
    {
      gint64 middle = low + (high - low) / 2;

      if (fits_at (search, *s, middle))
        low = middle;
      else
        high = middle;
    }
  return low > 8 ? low / 8 * 8 : low;
}

/* Upwards from a batch by doubling until two in turn bring nothing; the last that memory allows is
 * measured too while it still pays.  Returns the best batch. */
static gint64
scan_up (DynoSearch *search, const DynoSettings *s, gint64 batch)
{
  double best = gpu_at (search, *s, batch);
  gint64 best_batch = batch, largest = largest_fitting (search, s);
  guint flat = 0;

  while (best > 0 && batch < largest && flat < 2 && !(best > PLENTY * search->loader_rate))
    {
      double rate;

      batch = MIN (batch * 2, largest);
      rate = gpu_at (search, *s, batch);
      if (!(rate > 0))
        return best_batch;
      flat = rate > best * DYNO_SEARCH_PAYS ? 0 : flat + 1;
      if (rate > best)
        {
          best = rate;
          best_batch = batch;
        }
    }
  /* As largest is rounded. */
  gint64 updates = (gint64) search->meter->n_train / (DYNO_SEARCH_UPDATES * s->accumulate) / 8 * 8;

  search->memory_limits |= flat == 0 && batch >= largest && largest < updates
                           && largest < (gint64) dyno_setting_find ("batch_size")->tunable.maximum;
  return best_batch;
}

/* Downwards while a smaller batch is not out of the question: for the curve, and because a loader
 * may be the limit already there. */
static void
scan_down (DynoSearch *search, const DynoSettings *s, gint64 batch, double best)
{
  double rate = best;

  for (batch /= 2; batch >= 8 && rate > 0.4 * best; batch /= 2)
    {
      rate = gpu_at (search, *s, batch);
      if (!(rate > 0))
        return;
    }
}

/* The knee lies between two of the doubled batches: the one half-way tells where. */
static void
refine_knee (DynoSearch *search, const DynoSettings *s, gint64 best_batch)
{
  double best = gpu_at (search, *s, best_batch);

  for (gint64 batch = best_batch; batch >= 16 && batch % 2 == 0; batch /= 2)
    {
      double here = gpu_at (search, *s, batch), below = gpu_at (search, *s, batch / 2);

      if (!(here > 0) || !(below > 0))
        return;
      if (below * DYNO_SEARCH_PAYS >= best)
        continue;
      gpu_at (search, *s, batch / 4 * 3);
      return;
    }
}

static void
scan_precision (DynoSearch *search, DynoSettings *s, gint64 start)
{
  gint64 best_batch = scan_up (search, s, start);

  scan_down (search, s, start, gpu_at (search, *s, best_batch));
  refine_knee (search, s, best_batch);
  s->batch_size = best_batch;
}

/* Where memory ends the batch: what a second computation of activations buys, and a step that is
 * made of several. */
static void
scan_memory_savers (DynoSearch *search, const DynoSettings *best)
{
  DynoSettings s = *best;
  gint64 largest = largest_fitting (search, best);

  if (largest < 1)
    return;
  s.checkpointing = !best->checkpointing;
  gpu_at (search, s, largest);
  if (s.checkpointing)
    scan_up (search, &s, largest);
  s = *best;
  s.accumulate = best->accumulate * 4;
  s.batch_size = largest;
  if (s.accumulate <= (gint64) dyno_setting_find ("accumulate")->tunable.maximum
      && dyno_search_updates (search, &s))
    gpu_at (search, s, largest);
}

static void
scan_gpu (DynoSearch *search, DynoSettings *best)
{
  DynoSettings fp32 = search->job->settings, amp = fp32;
  double plain, mixed = 0;
  gint64 start;

  fp32.amp = FALSE;
  amp.amp = TRUE;
  start = MIN (START_BATCH, MAX (largest_fitting (search, &fp32), 1));
  plain = gpu_at (search, fp32, start);
  if (search->space.fp16)
    mixed = gpu_at (search, amp, start);
  *best = mixed > plain ? amp : fp32;
  scan_precision (search, best, start);
  if (search->space.fp16)
    {
      /* What is slower at a small batch may lead at a large one, and fit a larger one. */
      DynoSettings other = mixed > plain ? fp32 : amp;
      double lead = gpu_at (search, *best, best->batch_size),
             rate = gpu_at (search, other,
                            MIN (best->batch_size, MAX (largest_fitting (search, &other), 1)));

      if (rate * DYNO_SEARCH_PAYS >= lead)
        {
          scan_precision (search, &other, start);
          if (gpu_at (search, other, other.batch_size) > lead)
            *best = other;
        }
    }
  if (search->memory_limits)
    scan_memory_savers (search, best);
}

/* Fewer workers, as far as they are the limit. */
static void
scan_workers (DynoSearch *search, const DynoSettings *s, double needed)
{
  double before = 0;
  guint flat = 0;

  for (gint64 workers = 0; workers <= search->space.n_cores && flat < 2;
       workers = MAX (workers * 2, 1))
    {
      double rate = loader_at (search, *s, workers);

      if (!(rate > 0))
        return;
      flat = workers > 1 && rate < before * DYNO_SEARCH_PAYS ? flat + 1 : 0;
      before = MAX (before, rate);
      if (workers > 0 && rate > PLENTY * needed)
        return;
    }
}

static void
scan_loader (DynoSearch *search, const DynoSettings *best, double needed)
{
  DynoSettings s = *best;

  s.cache = FALSE;
  scan_workers (search, &s, needed);
  if (search->space.can_cache && !(loader_at (search, s, search->space.n_cores) > PLENTY * needed))
    {
      s.cache = TRUE;
      scan_workers (search, &s, needed);
    }
  if (search->loader_rate < PLENTY * needed)
    {
      s.prefetch = 8;
      loader_at (search, s, search->space.n_cores);
    }
}

/* The most that the loader gives, as far as one look tells. */
static void
look_at_loader (DynoSearch *search)
{
  DynoSettings s = search->job->settings;
  double plain, cached = 0;

  s.cache = FALSE;
  plain = loader_at (search, s, search->space.n_cores);
  if (search->space.can_cache)
    {
      s.cache = TRUE;
      cached = loader_at (search, s, search->space.n_cores);
    }
  /* Fewer workers than cores may be faster by as much. */
  if (plain > 0 && (cached > 0 || !search->space.can_cache))
    search->loader_rate = 1.5 * MAX (plain, cached);
}

void
dyno_search_scan (DynoSearch *search)
{
  DynoSettings best = search->job->settings;

  search->loader_rate = INFINITY;
  if (search->space.loader)
    look_at_loader (search);
  scan_gpu (search, &best);
  if (search->space.loader)
    scan_loader (search, &best, gpu_at (search, best, best.batch_size));
}
