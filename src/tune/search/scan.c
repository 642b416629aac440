/* SPDX-License-Identifier: MIT */
/* The scan of the two ceilings chooses the points at which loader and device are measured
 * separately, and their order.
 *
 * First comes the loader with all workers, without and with the cache, whose rate is the highest
 * that the device needs to reach; more workers than cores are tried where workers wait for a disk.
 * Next comes the device.  Its batch is doubled until two doublings in turn gain nothing or the
 * loader is far slower (multiplied by four where the time is too short for all doublings), and one
 * batch between the points around the knee is added.  The other precision is scanned too if it is
 * about as fast at the best batch.  Then come the loader with fewer workers until it is not the
 * limit, and a longer prefetch only where the loader is the limit.  Checkpointing and accumulation
 * are measured only where memory ends the batch before the knee. */
#include "searchstate.h"
#include <math.h>

#define START_BATCH 32
#define PLENTY      1.3  /* factor above the other ceiling: this one is not the limit */
#define PAST_CORES  1.5  /* least factor of twice the workers where workers wait */
#define CHANGED     0.05 /* change of the first point's rate from which the curve is not reliable */
/* share of the time: where preparing one network takes more, points for the curve only are left
 * out */
#define DEAR 0.05

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
  s.batch_size = MIN (s.batch_size, START_BATCH); /* a larger one takes longer and is not faster */
  return dyno_search_ceiling (search, DYNO_CEILING_LOADER, &s);
}

static gboolean
fits_at (DynoSearch *search, DynoSettings s, gint64 batch)
{
  s.batch_size = batch;
  return batch <= search->space.most_batch && dyno_search_updates (search, &s)
         && dyno_search_fits (search, &s);
}

/* The largest batch that fits, rounded down to a multiple of eight unless that is 0. */
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

/* 2, or 4 where the time of the scan ends before doubling comes to the largest batch: interpolation
 * between points is accurate, extrapolation past the last point is not. */
static gint64
find_stride (DynoSearch *search, const DynoSettings *settings, gint64 batch, gint64 largest)
{
  DynoSettings s = *settings;
  double doublings = ceil (log2 ((double) largest / (double) batch)), each_s;

  s.batch_size = MIN (2 * batch, largest);
  each_s = dyno_search_gpu_cost (search, &s);
  return doublings * each_s > search->scan_end_s - dyno_search_elapsed (search) ? 4 : 2;
}

/* Doubles a batch until two doublings in turn gain nothing; the last batch that memory allows is
 * measured too while doubling still pays.  Returns the best batch. */
static gint64
scan_up (DynoSearch *search, const DynoSettings *s, gint64 batch)
{
  double best = gpu_at (search, *s, batch);
  gint64 best_batch = batch, largest = largest_fitting (search, s);
  guint flat = 0;

  if (isnan (best))
    search->result->batches_to = search->job->settings.batch_size;
  while (best > 0 && batch < largest && flat < 2 && !(best > PLENTY * search->loader_rate))
    {
      gint64 stride = find_stride (search, s, batch, largest);
      double rate;

      if (isnan (rate = gpu_at (search, *s, MIN (batch * stride, largest))))
        search->result->batches_to = batch;
      if (!(rate > 0))
        return best_batch;
      batch = MIN (batch * stride, largest);
      flat = rate > best * DYNO_SEARCH_PAYS ? 0 : flat + (stride > 2 ? 2 : 1);
      if (rate > best)
        {
          best = rate;
          best_batch = batch;
        }
    }
  /* Rounded as in largest_fitting (). */
  gint64 updates = (gint64) search->meter->n_train / (DYNO_SEARCH_UPDATES * s->accumulate) / 8 * 8;

  search->memory_limits |= flat == 0 && batch >= largest && largest < updates
                           && largest < (gint64) dyno_setting_find ("batch_size")->tunable.maximum;
  return best_batch;
}

/* Halves the batch while its rate is above 0.4 of the best: for the curve, and because a loader may
 * be the limit already there.  Where the loader is not the limit, and kernels take long to compile,
 * the time is kept for larger batches and the proof. */
static void
scan_down (DynoSearch *search, const DynoSettings *s, gint64 batch, double best)
{
  double rate = best;

  if (search->new_prepare_s > DEAR * search->seconds && search->loader_rate > PLENTY * best)
    return;
  for (batch /= 2; batch >= 8 && rate > 0.4 * best; batch /= 2)
    {
      rate = gpu_at (search, *s, batch);
      if (!(rate > 0))
        return;
    }
}

/* The knee lies between two of the doubled batches: the batch half-way between them is measured. */
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

/* Measures the base line's batch, which takes little time since its kernels exist already: with the
 * first point of the scan it gives the time of a batch as a line through two points. */
static void
scan_base (DynoSearch *search, const DynoSettings *s)
{
  DynoSettings at = *s;

  at.batch_size = search->baseline->settings.batch_size;
  if (!search->baseline->out && dyno_search_prepare (search, &at) < search->new_prepare_s)
    gpu_at (search, *s, at.batch_size);
}

static void
scan_precision (DynoSearch *search, DynoSettings *s, gint64 start)
{
  gint64 best_batch;

  scan_base (search, s);
  best_batch = scan_up (search, s, start);
  scan_down (search, s, start, gpu_at (search, *s, best_batch));
  refine_knee (search, s, best_batch);
  s->batch_size = best_batch;
}

/* Measures checkpointing and accumulation where memory limits the batch. */
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

/* Rates of both precisions at the first batch.  Where AMP is faster than fp32 can be at this batch,
 * fp32's rate is that upper bound: the base line's rate, whose kernels exist, times the ratio of
 * the batches. */
static void
look_at_precisions (DynoSearch *search, const DynoSettings *fp32, const DynoSettings *amp,
                    gint64 start, double *plain, double *mixed)
{
  const DynoSettings *base = &search->baseline->settings;
  double less = NAN;

  *mixed = 0;
  if (search->space.fp16 && base->batch_size < start
      && dyno_search_prepare (search, base) < dyno_search_prepare (search, fp32))
    {
      less = gpu_at (search, *fp32, base->batch_size) * (double) start / (double) base->batch_size;
      *mixed = gpu_at (search, *amp, start);
    }
  *plain = *mixed > less ? less : gpu_at (search, *fp32, start);
  if (search->space.fp16 && !(*mixed > 0))
    *mixed = gpu_at (search, *amp, start);
}

static int
compare_batches (gconstpointer a, gconstpointer b)
{
  const DynoCeiling *x = *(DynoCeiling *const *) a, *y = *(DynoCeiling *const *) b;

  return x->settings.batch_size < y->settings.batch_size ? -1 : 1;
}

/* The device's measured ceilings of these settings with any batch; others: those of all other
 * settings. */
static GPtrArray *
list_curve (DynoSearch *search, const DynoSettings *s, gboolean others)
{
  GPtrArray *curve = g_ptr_array_new ();

  for (guint i = 0; i < search->result->ceilings->len; i++)
    {
      DynoCeiling *c = search->result->ceilings->pdata[i];
      gboolean same = c->settings.amp == s->amp && c->settings.checkpointing == s->checkpointing
                      && c->settings.accumulate == s->accumulate;

      if (c->of == DYNO_CEILING_GPU && same != others)
        g_ptr_array_add (curve, c);
    }
  return curve;
}

/* A device that heats up gets slower from point to point, so that its curve ends too early: where
 * the first point has changed, all points are measured once more, and the batch is doubled
 * again. */
static void
straighten (DynoSearch *search, DynoSettings *best, gint64 start)
{
  g_autoptr (GPtrArray) curve = list_curve (search, best, FALSE),
                        others = list_curve (search, best, TRUE);
  double change;

  if (curve->len < 2 || gpu_at (search, *best, best->batch_size) > PLENTY * search->loader_rate)
    return;
  change = dyno_search_ceiling_again (search, curve->pdata[0]);
  if (fabs (log (change)) < CHANGED)
    return;
  search->result->device_change = change;
  g_ptr_array_remove_index (curve, 0);
  g_ptr_array_sort (curve, compare_batches);
  for (guint i = 0; i < curve->len; i++)
    dyno_search_ceiling_again (search, curve->pdata[i]);
  best->batch_size = scan_up (search, best, start);
  refine_knee (search, best, best->batch_size);
  for (guint i = 0; i < others->len; i++)
    dyno_search_ceiling_again (search, others->pdata[i]);
}

static void
scan_gpu (DynoSearch *search, DynoSettings *best)
{
  DynoSettings fp32 = search->job->settings, amp = fp32;
  double plain, mixed;
  gint64 start;

  fp32.amp = FALSE;
  amp.amp = TRUE;
  start = MIN (START_BATCH, MAX (largest_fitting (search, &fp32), 1));
  look_at_precisions (search, &fp32, &amp, start, &plain, &mixed);
  *best = mixed > plain ? amp : fp32;
  scan_precision (search, best, start);
  if (search->space.fp16)
    {
      /* The precision that is slower at a small batch may be faster at a large one, and may fit a
       * larger batch. */
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
  straighten (search, best, start);
  if (search->memory_limits)
    scan_memory_savers (search, best);
}

/* Measures 0, 1, 2, 4, ... workers until they are not the limit or two doublings in turn gain
 * nothing. */
static void
scan_workers (DynoSearch *search, const DynoSettings *s, double needed)
{
  double before = 0;
  guint flat = 0;

  for (gint64 workers = 0; workers <= search->space.most_workers && flat < 2;
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
  if (search->space.can_cache
      && !(loader_at (search, s, search->space.most_workers) > PLENTY * needed))
    {
      s.cache = TRUE;
      scan_workers (search, &s, needed);
    }
  if (search->loader_rate < PLENTY * needed)
    {
      s.prefetch = 8;
      loader_at (search, s, search->space.most_workers);
    }
}

static gboolean
waits_for_data (const DynoArm *arm)
{
  return arm && arm->wait_data_ms > 0.5 * arm->step_ms;
}

/* A worker that waits for a disk or a server needs no core: more workers than cores are tried while
 * a doubling brings half as much again.  Returns the rate. */
static double
look_past_cores (DynoSearch *search, const DynoSettings *s, double rate)
{
  gint64 most = (gint64) dyno_setting_find ("workers")->tunable.maximum;

  while (search->space.most_workers <= most / 2)
    {
      double twice = loader_at (search, *s, 2 * search->space.most_workers);

      if (!(twice > PAST_CORES * rate))
        break;
      rate = twice;
      search->space.most_workers *= 2;
    }
  return rate;
}

/* Estimates the loader's highest rate from its rate with all workers. */
static void
look_at_loader (DynoSearch *search)
{
  DynoSettings s = search->job->settings;
  double plain, cached = 0;

  s.cache = FALSE;
  plain = loader_at (search, s, search->space.most_workers);
  if (plain > 0 && (waits_for_data (search->today) || waits_for_data (search->baseline)))
    plain = look_past_cores (search, &s, plain);
  if (search->space.can_cache)
    {
      s.cache = TRUE;
      cached = loader_at (search, s, search->space.most_workers);
    }
  /* Fewer workers than cores may be faster by this factor. */
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
    {
      double needed = gpu_at (search, best, best.batch_size);

      dyno_search_leap (search, &best, needed);
      scan_loader (search, &best, needed);
    }
}
