/* SPDX-License-Identifier: MIT */
/* How long a search needs, before it begins: by the plan, which knows what a sample computes, and by
 * what the device computes in a second.  An estimate of the least that a proof takes; no device and
 * no clock. */
#pragma once
#include "planjob.h"

G_BEGIN_DECLS

typedef struct {
  const DynoSettings *present;
  guint64 n_train;
  double flops_per_sample; /* 0: not known, so that only the least of each measurement counts */
  double flops_per_s;      /* of the device; 0: not measured */
  guint n_cores;           /* of a software device; 0: it is a GPU */
  double minutes;          /* that are asked for */
} DynoForesightParams;

typedef struct {
  guint n_fit; /* measurements that the minutes have room for, of those that are needed */
  guint
      n_needed; /* for a proof: looks at base line, present settings and another, two turns of each */
  double minutes; /* that these take */
} DynoForesight;

void dyno_foresee (const DynoForesightParams *params, DynoForesight *foresight);

/* A sentence, where the minutes are too few for a proof; else NULL.  g_free. */
char *dyno_foresight_describe (const DynoForesight *foresight, double minutes);
/* The same of a job on a device of this machine, with its measured rates where there are any. */
char *dyno_foresee_job (const DynoJob *job, const DynoDatasetInfo *info,
                        const DynoDeviceInfo *device, double flops_per_sample, double minutes);

G_END_DECLS
