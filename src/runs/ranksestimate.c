/* SPDX-License-Identifier: MIT */
/* See ranksestimate.h. */
#include "ranksestimate.h"
#include "buckets.h"
#include <math.h>

/* The backward pass's share of a forward and a backward pass, which has two products for each
 * product of the forward pass; the time of the optimizer is left out. */
#define BACKWARD_SHARE 0.6
#define STEP_SUM_BYTES 1024 /* results and decisions of each step */
/* The further time by which an exchange lengthens a step: through the host, the time of the copies
 * to and from it; from device to device, the time of the whole exchange.  Fitted to two H200 with
 * ResNet-18 and -50 at batch 128 with AMP, where the estimates differ from the measurements by at
 * most 1 % (tests/bench/NOTES.md). */
#define HOST_START_S       3.7e-4
#define HOST_BYTES_PER_S   6.3e10
#define DEVICE_START_S     2.1e-4
#define DEVICE_BYTES_PER_S 3.25e11 /* to the other ranks, one after the other */

static gboolean
goes_in_half (const DynoSettings *s)
{
  return s->amp && s->exchange_half;
}

/* The bytes of the last bucket of gradients of size_bytes bytes.  This bucket is exchanged after
 * the end of the backward pass, so that nothing hides it. */
static guint64
find_last_bucket (const DynoSettings *s, guint64 size_bytes)
{
  guint64 wanted = (guint64) s->exchange_bucket;

  if (size_bytes <= (wanted > 0 ? wanted : DYNO_BUCKET_LEAST))
    return size_bytes;
  return wanted > 0 ? wanted : DYNO_BUCKET_LAST;
}

static void
estimate_devices (DynoRanksEstimate *e, double step_seconds)
{
  double bytes = (double) e->exchange_bytes * (e->ranks - 1);

  e->device_step_seconds = e->device_speedup = (double) NAN;
  if (e->hosts > 1 || e->ranks < 2)
    return;
  e->device_step_seconds = step_seconds + DEVICE_START_S + bytes / DEVICE_BYTES_PER_S;
  e->device_speedup = e->ranks * step_seconds / e->device_step_seconds;
}

void
dyno_ranks_estimate (DynoRanksEstimate *e, const DynoJob *job, const DynoJobPlan *plan,
                     gboolean software, guint ranks, guint hosts, double step_seconds)
{
  const DynoSettings *s = &job->settings;
  guint64 last;
  double hidden;

  *e = (DynoRanksEstimate){ .ranks = ranks, .hosts = MIN (hosts, ranks) };
  e->source = dyno_exchange_load (ranks, e->hosts, &e->rate);
  e->global_batch =
      (guint64) dyno_job_get_batch (job, plan->n_train) * (guint64) s->accumulate * ranks;
  e->exchange_bytes = ranks > 1 ? plan->plan.kind_bytes[DYNO_MEMORY_GRADIENTS] : 0;
  last = find_last_bucket (s, e->exchange_bytes);
  e->one_bucket = ranks > 1 && e->exchange_bytes == last;
  if (goes_in_half (s))
    {
      e->exchange_bytes /= 2;
      last /= 2;
    }
  e->exchange_seconds = dyno_exchange_seconds (&e->rate, ranks, e->exchange_bytes);
  e->alone_seconds = step_seconds * (software ? ceil ((double) ranks / (double) e->hosts) : 1);
  hidden = e->alone_seconds / (double) s->accumulate * BACKWARD_SHARE;
  e->exposed_seconds =
      MAX (e->exchange_seconds - hidden, dyno_exchange_seconds (&e->rate, ranks, last));
  e->exposed_seconds += dyno_exchange_seconds (&e->rate, ranks, STEP_SUM_BYTES);
  if (!software && ranks > 1)
    e->exposed_seconds += HOST_START_S + (double) e->exchange_bytes / HOST_BYTES_PER_S;
  if (isnan (step_seconds))
    e->exposed_seconds = (double) NAN;
  e->step_seconds = e->alone_seconds + e->exposed_seconds;
  e->samples_per_s = (double) e->global_batch / e->step_seconds;
  e->speedup = ranks * step_seconds / e->step_seconds;
  estimate_devices (e, step_seconds);
}

void
dyno_run_estimate_ranks (DynoRunEstimate *e, const DynoJob *job, const DynoJobPlan *plan,
                         gboolean software, guint64 n_train, guint64 n_validation,
                         const DynoStoredRate *rate)
{
  gint64 batch = dyno_job_get_batch (job, plan->n_train);
  DynoStoredRate all = *rate;
  DynoRanksEstimate ranks = { .speedup = (double) NAN };

  if (job->ranks > 1 && rate->samples_per_s > 0)
    {
      dyno_ranks_estimate (&ranks, job, plan, software, job->ranks, 1,
                           (double) (batch * job->settings.accumulate) / rate->samples_per_s);
      if (plan->plan.inbox_bytes > 0) /* the cards have a link */
        ranks.speedup = fmax (ranks.speedup, ranks.device_speedup);
      all.samples_per_s *= ranks.speedup;
    }
  dyno_run_estimate (e, job, plan, n_train, n_validation, &all);
  e->speedup = ranks.speedup;
}
