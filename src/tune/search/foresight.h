/* SPDX-License-Identifier: MIT */
/* Estimates the time that a search needs before it begins: from the plan, which has the operations
 * of a sample, and the device's operations per second.  It gives the least time for a proof; no
 * device and no clock. */
#pragma once
#include "planjob.h"

G_BEGIN_DECLS

typedef struct {
  const DynoSettings *present;
  guint64 n_train;
  double flops_per_sample; /* 0: not known, so that only the least times count */
  double flops_per_s;      /* operations per second of the device; 0: not measured */
  guint n_cores;           /* of a software device; 0: it is a GPU */
  double minutes;          /* minutes that are requested */
} DynoForesightParams;

typedef struct {
  guint n_fit;    /* number of measurements that fit into the minutes */
  guint n_needed; /* number that a proof needs: a look at three settings, and two turns of each */
  double minutes; /* minutes that the needed measurements take */
} DynoForesight;

void dyno_foresee (const DynoForesightParams *params, DynoForesight *foresight);

/* A sentence where the minutes are too few for a proof; else NULL.  g_free. */
char *dyno_foresight_describe (const DynoForesight *foresight, double minutes);
/* The same for a job on a device of this machine, with the device's measured rates where there are
 * any. */
char *dyno_foresee_job (const DynoJob *job, const DynoDatasetInfo *info,
                        const DynoDeviceInfo *device, double flops_per_sample, double minutes);

G_END_DECLS
