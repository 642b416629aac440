/* SPDX-License-Identifier: MIT */
/* Time is computed from the batches by the rate, plus the time that an epoch takes besides its
 * batches.  Disk space is computed for fp32 tensors; header and batch statistics are left out,
 * which are at most a hundredth of all but the smallest networks. */
#include "estimate.h"
#include <math.h>

#define VALUE_BYTES 4 /* fp32, also with AMP, which has master weights */
/* Forward and backward pass take about three times as long as the forward pass by itself. */
#define FORWARD_SHARE 3

static void
estimate_disk (DynoRunEstimate *e, const DynoJob *job, const DynoJobPlan *plan, gboolean validates)
{
  /* SGD has momentum buffers also where momentum is 0. */
  guint moments = dyno_optimizer_get_info ((DynoOptimizer) job->settings.optimizer)->n_moments;

  e->weights_bytes = plan->n_parameters * VALUE_BYTES;
  e->checkpoint_bytes = e->weights_bytes + moments * plan->n_trained * VALUE_BYTES;
  e->disk_bytes = 3 * e->checkpoint_bytes + (validates ? 2 : 1) * e->weights_bytes;
}

void
dyno_run_estimate (DynoRunEstimate *e, const DynoJob *job, const DynoJobPlan *plan, guint64 n_train,
                   guint64 n_validation, const DynoStoredRate *rate)
{
  const DynoSettings *s = &job->settings;
  guint64 batch = (guint64) dyno_job_get_batch (job, n_train);
  double samples, overhead, epochs;

  *e = (DynoRunEstimate){ .rate = { (double) NAN, (double) NAN, (double) NAN, 0, 0 } };
  e->steps_per_epoch = plan->steps_per_epoch;
  e->steps = plan->steps_per_epoch * (guint64) s->epochs;
  if (job->max_steps > 0) /* whatever the number of epochs */
    e->steps = (guint64) job->max_steps;
  e->step_seconds = e->epoch_seconds = e->total_seconds = (double) NAN;
  e->speedup = (double) NAN;
  e->most_samples_per_s = e->least_seconds = (double) NAN;
  estimate_disk (e, job, plan, n_validation > 0);
  if (!rate || !(rate->samples_per_s > 0) || e->steps_per_epoch == 0)
    return;
  e->rate = *rate;
  samples = (double) (n_train / batch * batch); /* whole batches only */
  overhead = rate->epoch_overhead_seconds;
  if (isnan (overhead))
    {
      e->validation_is_guessed = n_validation > 0;
      overhead = (double) n_validation / rate->samples_per_s / FORWARD_SHARE;
    }
  e->step_seconds = samples / rate->samples_per_s / (double) e->steps_per_epoch;
  e->epoch_seconds = samples / rate->samples_per_s + overhead;
  /* The last epoch is not validated where the step limit ends it early. */
  epochs = floor ((double) e->steps / (double) e->steps_per_epoch);
  e->total_seconds = epochs * e->epoch_seconds
                     + ((double) e->steps - epochs * (double) e->steps_per_epoch) * e->step_seconds
                     + (isnan (rate->preparation_seconds) ? 0 : rate->preparation_seconds);
}

void
dyno_run_estimate_bound (DynoRunEstimate *e, const DynoJob *job, guint64 n_train, double loader,
                         double gpu)
{
  guint64 batch = (guint64) dyno_job_get_batch (job, n_train);
  double most = fmin (loader, gpu), epochs; /* if one rate is NaN, the other rate */

  if (e->rate.samples_per_s > 0 || !(most > 0) || e->steps_per_epoch == 0)
    return;
  epochs = (double) e->steps / (double) e->steps_per_epoch;
  e->most_samples_per_s = most;
  e->least_seconds = epochs * (double) (n_train / batch * batch) / most;
}
