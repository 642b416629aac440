/* SPDX-License-Identifier: MIT */
/* An estimate, before a run starts, of its training by several ranks: the bytes that they exchange
 * each step, and the time of a step by a model.  The backward pass hides the exchange that goes on
 * at the same time.  The rest of the exchange and the last bucket are added to the step of one
 * rank, and on a card also the time by which copies to and from the host lengthen the step.  Ranks
 * that share a software device share its cores. */
#pragma once
#include "estimate.h"
#include "exchangerate.h"

G_BEGIN_DECLS

typedef struct {
  guint ranks, hosts;
  DynoExchangeRate rate;
  DynoExchangeSource source;
  guint64 global_batch;    /* samples of a step, accumulation included */
  guint64 exchange_bytes;  /* gradients that each rank contributes to each step */
  gboolean one_bucket;     /* too few gradients for the backward pass to hide any of them */
  guint64 steps_per_epoch; /* set, like the next member, by the caller from the plan */
  guint64 staging_bytes;   /* page-locked, of each rank, where gradients go through the host */
  guint64 inbox_bytes;     /* memory of each device, where gradients go between devices; else 0 */
  double exchange_seconds;
  /* NaN: no rate of one rank is known */
  double alone_seconds;   /* a step of one rank, with the same number of ranks on its device */
  double exposed_seconds; /* the part of the exchange that is not hidden */
  double step_seconds, samples_per_s;
  double speedup; /* samples/s over those of a single rank */
  /* The same where cards with a link copy from device to device; NaN: no rate is known, or there
   * are several hosts. */
  double device_step_seconds, device_speedup;
} DynoRanksEstimate;

/* plan: of the job on one rank.  step_seconds: of a single rank; NaN: not known.  hosts: 1 or
 * more. */
void dyno_ranks_estimate (DynoRanksEstimate *estimate, const DynoJob *job, const DynoJobPlan *plan,
                          gboolean software, guint ranks, guint hosts, double step_seconds);

/* dyno_run_estimate of a run on the devices of one host, with job->ranks processes; with at most one
 * it is the same.  plan: of the job with its ranks.  rate: of one process. */
void dyno_run_estimate_ranks (DynoRunEstimate *estimate, const DynoJob *job,
                              const DynoJobPlan *plan, gboolean software, guint64 n_train,
                              guint64 n_validation, const DynoStoredRate *rate);

G_END_DECLS
