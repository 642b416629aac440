/* SPDX-License-Identifier: MIT */
/* What several ranks make of a run, before its start: bytes that they exchange each step, and the
 * time of a step by a model.  The backward pass hides what is exchanged beside it; what is longer,
 * and the last bucket, is added to the step of one rank, and on a card what the copies to and from
 * the host lengthen it by.  Ranks that share a software device share its cores. */
#pragma once
#include "estimate.h"
#include "exchangerate.h"

G_BEGIN_DECLS

typedef struct {
  guint ranks, hosts;
  DynoExchangeRate rate;
  DynoExchangeSource source;
  guint64 global_batch;    /* samples of a step, accumulation included */
  guint64 exchange_bytes;  /* gradients that each rank gives each step */
  gboolean one_bucket;     /* too few for the backward pass to hide any */
  guint64 steps_per_epoch; /* as the next, filled by who has planned it */
  guint64 staging_bytes;   /* page-locked, of each rank, where gradients go through the host */
  guint64 inbox_bytes;     /* of each device, where they go from device to device; 0: they do not */
  double exchange_seconds;
  /* NaN: no rate of one rank is known */
  double alone_seconds;   /* a step of one rank, among as many on its device */
  double exposed_seconds; /* of the exchange, not hidden */
  double step_seconds, samples_per_s;
  double speedup; /* samples/s over those of one rank alone */
  /* The same where cards with a link copy from device to device; NaN: no rate is known, or there
   * are several hosts. */
  double device_step_seconds, device_speedup;
} DynoRanksEstimate;

/* plan: of the job on one rank.  step_seconds: of one rank alone; NaN: not known.  hosts: 1 or
 * more. */
void dyno_ranks_estimate (DynoRanksEstimate *estimate, const DynoJob *job, const DynoJobPlan *plan,
                          gboolean software, guint ranks, guint hosts, double step_seconds);

G_END_DECLS
