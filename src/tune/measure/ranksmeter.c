/* SPDX-License-Identifier: MIT */
#include "ranksmeter.h"
#include "sample-cache.h"
#include <math.h>

/* Both plans of the settings, as far as they do not depend on the batch: for one rank, and for all
 * ranks. */
typedef struct {
  gboolean known;
  DynoJobPlan one;
  guint64 inbox_bytes;
} Facts;

typedef struct {
  DynoMeter meter;
  DynoMeterClass class; /* without the functions that inner lacks */
  DynoMeter *inner;
  DynoJob *job;
  DynoDataset *dataset;
  DynoDeviceInfo info;
  guint hosts;
  GMutex lock;    /* protects facts, which an abandoned measurement may still read */
  Facts facts[2]; /* for fp32 and AMP */
} RanksMeter;

static DynoJob *
job_of (const RanksMeter *m, const DynoSettings *settings, guint ranks)
{
  DynoJob *job = dyno_job_copy (m->job);

  job->settings = *settings;
  job->ranks = ranks;
  return job;
}

static gboolean
plan_job (const RanksMeter *m, const DynoJob *job, DynoJobPlan *plan, GError **error)
{
  return dyno_job_plan (job, dyno_dataset_get_info (m->dataset), &m->info, plan, error);
}

/* The number of gradients does not depend on the batch.  Where planning fails, the plans are all
 * zero, and no exchange is added. */
static void
find_facts (RanksMeter *m, const DynoSettings *settings, Facts *facts)
{
  Facts *kept = &m->facts[settings->amp != FALSE];

  g_mutex_lock (&m->lock);
  if (!kept->known)
    {
      g_autoptr (DynoJob) one = job_of (m, settings, 1), all = job_of (m, settings, m->job->ranks);
      g_autoptr (GError) problem = NULL;
      DynoJobPlan plan;

      kept->known = plan_job (m, one, &kept->one, &problem) && plan_job (m, all, &plan, &problem);
      if (kept->known)
        kept->inbox_bytes = m->hosts == 1 ? plan.plan.inbox_bytes : 0;
      else
        g_info ("The exchange is not planned: %s", problem->message);
    }
  *facts = *kept;
  g_mutex_unlock (&m->lock);
}

/* This process has its own cores, so other ranks take none from a software device. */
static void
estimate (DynoMeter *meter, const DynoSettings *settings, double step_seconds, DynoRanksEstimate *e)
{
  RanksMeter *m = (RanksMeter *) meter;
  g_autoptr (DynoJob) job = job_of (m, settings, m->job->ranks);
  Facts facts;

  find_facts (m, settings, &facts);
  dyno_ranks_estimate (e, job, &facts.one, FALSE, m->job->ranks, m->hosts, step_seconds);
  e->inbox_bytes = facts.inbox_bytes;
}

/* The time of a step with the exchange, relative to a step without it, of which wait_share waits
 * for data: an exchange that ends before the data are there costs nothing. */
static double
stretch (DynoMeter *meter, const DynoSettings *settings, double rate, double wait_share)
{
  double step_s = (double) (settings->batch_size * settings->accumulate) / rate,
         device_s = step_s * (1 - wait_share);
  DynoRanksEstimate e;

  estimate (meter, settings, device_s, &e);
  return isfinite (e.exposed_seconds) ? MAX (step_s, device_s + e.exposed_seconds) / step_s : 1;
}

static void
stretch_rate (DynoMeter *meter, const DynoSettings *settings, double wait_share, DynoEstimate *e)
{
  double *const rates[] = { &e->median, &e->low, &e->high };

  for (guint i = 0; i < G_N_ELEMENTS (rates); i++)
    if (isfinite (*rates[i]) && *rates[i] > 0)
      *rates[i] /= stretch (meter, settings, *rates[i], wait_share);
}

/* The rate of a rank's share of an epoch, from its parts. */
static void
compose (const DynoMeter *meter, DynoMeasurement *r)
{
  double train_s = (double) meter->n_train / r->rate.median,
         validation_s =
             r->validation_rate > 0 ? (double) meter->n_validation / r->validation_rate : 0,
         end_s = isfinite (r->epoch_overhead_s) ? r->epoch_overhead_s : 0,
         factor = train_s / (train_s + validation_s + end_s);

  r->run_rate = r->rate;
  if (!(train_s > 0) || !(isfinite (r->epoch_overhead_s) || isfinite (r->validation_rate)))
    return;
  r->run_rate.median *= factor;
  r->run_rate.low *= factor;
  r->run_rate.high *= factor;
}

static void
add_exchange (DynoMeter *meter, const DynoSettings *settings, DynoMeasurement *r)
{
  double wait_share = r->step_ms > 0 ? CLAMP (r->wait_data_ms / r->step_ms, 0, 1) : 0,
         alone = r->rate.median, step_ms = r->step_ms;
  Facts facts;

  find_facts ((RanksMeter *) meter, settings, &facts);
  r->vram_bytes += r->vram_bytes > 0 ? facts.inbox_bytes : 0;
  r->planned_bytes += r->planned_bytes > 0 ? facts.inbox_bytes : 0;
  if (!(alone > 0))
    return;
  stretch_rate (meter, settings, wait_share, &r->rate);
  r->step_ms *= alone / r->rate.median;
  /* The exchange takes place during a part of the waiting for data. */
  if (r->wait_data_ms > 0)
    {
      double device_ms = step_ms * (1 - wait_share);
      DynoRanksEstimate e;

      estimate (meter, settings, 1e-3 * device_ms * (double) settings->accumulate, &e);
      r->wait_data_ms -= 1e3 * e.exposed_seconds / (double) settings->accumulate;
      r->wait_data_ms = MAX (r->wait_data_ms, 0);
    }
  compose (meter, r);
}

static DynoMeter *
begin (DynoMeter *meter)
{
  DynoMeter *inner = ((RanksMeter *) meter)->inner;

  dyno_meter_forward (meter, inner);
  inner->preparing = meter->preparing;
  inner->preparing_user = meter->preparing_user;
  return inner;
}

static gboolean
measure_loader (DynoMeter *meter, const DynoSettings *settings, double seconds, gint64 deadline_us,
                GCancellable *cancellable, DynoMeasurement *measurement, GError **error)
{
  DynoMeter *inner = begin (meter);

  return inner->class->loader (inner, settings, seconds, deadline_us, cancellable, measurement,
                               error);
}

static gboolean
measure_gpu (DynoMeter *meter, const DynoSettings *settings, double seconds, gint64 deadline_us,
             GCancellable *cancellable, DynoMeasurement *measurement, GError **error)
{
  DynoMeter *inner = begin (meter);
  gboolean good =
      inner->class->gpu (inner, settings, seconds, deadline_us, cancellable, measurement, error);

  add_exchange (meter, settings, measurement);
  return good;
}

static gboolean
measure_trial (DynoMeter *meter, const DynoSettings *settings, double seconds, gint64 deadline_us,
               GCancellable *cancellable, DynoMeasurement *measurement, GError **error)
{
  DynoMeter *inner = begin (meter);
  gboolean good =
      inner->class->trial (inner, settings, seconds, deadline_us, cancellable, measurement, error);

  add_exchange (meter, settings, measurement);
  return good;
}

static gboolean
plan (DynoMeter *meter, const DynoSettings *settings, guint64 *bytes, gboolean *fits, char **advice,
      GError **error)
{
  RanksMeter *m = (RanksMeter *) meter;
  g_autoptr (DynoJob) job = job_of (m, settings, m->job->ranks);
  DynoJobPlan plan;

  *advice = NULL;
  if (!plan_job (m, job, &plan, error))
    return FALSE;
  *bytes = plan.plan.total_bytes;
  *fits = plan.fits;
  *advice = dyno_job_plan_advice (job, &plan);
  return TRUE;
}

static gboolean
compare_numerics (DynoMeter *meter, const DynoSettings *settings, gint64 deadline_us,
                  GCancellable *cancellable, DynoNumerics *numerics, GError **error)
{
  DynoMeter *inner = begin (meter);

  return inner->class->numerics (inner, settings, deadline_us, cancellable, numerics, error);
}

static void
ranks_free (DynoMeter *meter)
{
  RanksMeter *m = (RanksMeter *) meter;

  dyno_meter_free (m->inner);
  dyno_job_unref (m->job);
  dyno_dataset_unref (m->dataset);
  g_mutex_clear (&m->lock);
  g_free (m);
}

static const DynoMeterClass ranks_class = {
  .loader = measure_loader,
  .gpu = measure_gpu,
  .trial = measure_trial,
  .plan = plan,
  .free = ranks_free,
  .numerics = compare_numerics,
  .ranks = estimate,
};

/* Each rank of a host keeps all samples, since it trains on other samples in each epoch. */
static gboolean
can_cache (const DynoMeter *inner, const DynoJob *job, const DynoDatasetInfo *info, guint hosts)
{
  guint64 sharing = (job->ranks + hosts - 1) / hosts;
  DynoBatchSchema schema;
  guint32 width, height;

  if (!inner->can_cache || !dyno_job_get_size (job, info, &width, &height, NULL))
    return FALSE;
  dyno_dataset_get_schema (info, width, height, &schema);
  return dyno_sample_cache_get_share (&schema, (inner->n_train + inner->n_validation) * sharing)
         >= 1;
}

DynoMeter *
dyno_ranks_meter_new (DynoMeter *inner, const DynoJob *job, DynoDataset *dataset,
                      const DynoDeviceInfo *info, guint hosts)
{
  RanksMeter *m = g_new0 (RanksMeter, 1);

  g_return_val_if_fail (job->ranks > 0 && hosts > 0, NULL);
  m->meter = *inner;
  m->meter.n_train = MAX (inner->n_train / job->ranks, 1);
  m->meter.n_validation = (inner->n_validation + job->ranks - 1) / job->ranks;
  m->meter.can_cache = can_cache (inner, job, dyno_dataset_get_info (dataset), hosts);
  m->class = ranks_class;
  m->class.numerics = inner->class->numerics ? compare_numerics : NULL;
  m->meter.class = &m->class;
  m->inner = inner;
  m->job = dyno_job_copy (job);
  m->dataset = dyno_dataset_ref (dataset);
  m->info = *info;
  m->hosts = hosts;
  g_mutex_init (&m->lock);
  return &m->meter;
}
