/* SPDX-License-Identifier: MIT */
/* data.normalise=weights: the input is normalised as that of the weights which a run starts from.
 * The numbers are found once, before anything is built; the job holds them from then on, and each
 * checkpoint of the run. */
#pragma once
#include "job.h"

G_BEGIN_DECLS

/* The job asks for it.  checkpoint: what the run goes on from, whose numbers come first, or NULL;
 * else the weights file says them, or what lies beside it.  Errors: SETTING (there are no weights),
 * CHECKPOINT (they say nothing, or cannot be read), DATA (they were made for another kind of
 * input). */
gboolean dyno_job_find_normalisation (const DynoJob *job, const char *checkpoint,
                                      const DynoDatasetInfo *data, DynoNormalisation *normalisation,
                                      GError **error);

G_END_DECLS
