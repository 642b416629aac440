/* SPDX-License-Identifier: MIT */
/* The plan of a job where more is known than the data set's facts.  Private to the layers up to
 * train. */
#pragma once
#include "job.h"
#include "build.h"
#include "parts.h"

G_BEGIN_DECLS

#define DYNO_JOB_SLOTS 2 /* steps in flight */

/* The job as it can run: the batch of dyno_job_get_batch, AMP only where the device has fp16. */
DynoJob *dyno_job_adapt (const DynoJob *job, const DynoDeviceInfo *device, guint64 n_train);

/* Updates in an epoch with this many ranks (0: 1); the last update may add up fewer batches. */
guint64 dyno_job_count_steps (const DynoSettings *settings, guint64 n_train, guint ranks);

/* TRUE: the network has batch norm, whose statistics depend on the micro-batch and do not exist for
 * a single sample. */
gboolean dyno_job_build_has_statistics (DynoBuild *build);

/* TRUE: the job's gradients are sent between ranks in fp16. */
gboolean dyno_job_exchanges_halves (const DynoJob *job);

/* TRUE: this rank reads back masks of its validation, where the network has any. */
gboolean dyno_job_watches_masks (const DynoJob *job);

/* The reason why the plan does not fit, without a full stop.  g_free. */
char *dyno_job_plan_excess (const DynoJobPlan *plan);

/* Removes the snapshot from the plan: the device has no room for the copy of the state from which
 * saves are written in the background. */
void dyno_job_plan_drop_snapshot (DynoJobPlan *plan);

/* As dyno_job_plan, for known parts and measured choices (may be NULL). */
gboolean dyno_job_plan_parts (const DynoJob *job, const DynoDatasetInfo *info,
                              const DynoDeviceInfo *device, DynoChoices *choices,
                              const DynoPartCounts *counts, DynoJobPlan *plan, GError **error);

G_END_DECLS
