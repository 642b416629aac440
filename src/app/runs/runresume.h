/* SPDX-License-Identifier: MIT */
/* Runs that can go on. */
#pragma once
#include "store.h"

G_BEGIN_DECLS

/* Whether the run ended before its time and its folder is known. */
gboolean dyno_run_is_resumable (const DynoStoredRun *run);
/* The newest run that was interrupted (its process was killed, the power failed) and whose
 * checkpoint is there; NULL: none.  One that was dismissed, and what is older, is not looked at;
 * dismissed: its uid, 0: none.  Looks at files: not for the main thread. */
const DynoStoredRun *dyno_run_find_interrupted (const GPtrArray *runs, guint64 dismissed);
/* The job that goes on in the run's own folder; dyno_job_unref. */
DynoJob *dyno_run_get_resuming_job (const DynoStoredRun *run);

G_END_DECLS
