/* SPDX-License-Identifier: MIT */
/* data.normalise=weights: the input is normalised as for the weights from which a run starts.  The
 * numbers are determined once, before anything is built; afterwards the job and each checkpoint of
 * the run hold them. */
#pragma once
#include "job.h"

G_BEGIN_DECLS

/* Finds the normalisation of a job with data.normalise=weights.  checkpoint: the checkpoint from
 * which the run resumes, whose numbers take precedence, or NULL; else the weights file has the
 * numbers, or config.json beside it.  Errors: SETTING (there are no weights), CHECKPOINT (they have
 * no normalisation, or cannot be read), DATA (they were made for another kind of input). */
gboolean dyno_job_find_normalisation (const DynoJob *job, const char *checkpoint,
                                      const DynoDatasetInfo *data, DynoNormalisation *normalisation,
                                      GError **error);

G_END_DECLS
