/* SPDX-License-Identifier: MIT */
/* The plan of a job where more is known than the data set's facts only.  Private to the layers
 * up to train. */
#pragma once
#include "job.h"
#include "build.h"
#include "parts.h"

G_BEGIN_DECLS

#define DYNO_JOB_SLOTS 2 /* steps in flight */

/* The job as it can run: the batch of dyno_job_get_batch, AMP only where the device has fp16. */
DynoJob *dyno_job_adapt (const DynoJob *job, const DynoDeviceInfo *device, guint64 n_train);

/* Updates an epoch of so many ranks (0: 1): the last one may add up fewer batches. */
guint64 dyno_job_count_steps (const DynoSettings *settings, guint64 n_train, guint ranks);

/* Batch norm: its statistics change with the micro-batch, and of one sample are none. */
gboolean dyno_job_build_has_statistics (DynoBuild *build);

/* Do its gradients travel between ranks in fp16? */
gboolean dyno_job_exchanges_halves (const DynoJob *job);

/* Does this rank read masks of its validation back, where the network makes any? */
gboolean dyno_job_watches_masks (const DynoJob *job);

/* Why it does not fit, without a full stop.  g_free. */
char *dyno_job_plan_excess (const DynoJobPlan *plan);

/* The device has no room for the copy of the state that is saved beside the training. */
void dyno_job_plan_drop_snapshot (DynoJobPlan *plan);

/* As dyno_job_plan, for known parts and measured choices (may be NULL). */
gboolean dyno_job_plan_parts (const DynoJob *job, const DynoDatasetInfo *info,
                              const DynoDeviceInfo *device, DynoChoices *choices, guint64 n_train,
                              guint64 n_validation, DynoJobPlan *plan, GError **error);

G_END_DECLS
