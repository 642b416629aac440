/* SPDX-License-Identifier: MIT */
/* Runs that can be resumed. */
#pragma once
#include "store.h"

G_BEGIN_DECLS

/* Whether the run ended before its time and its folder is known. */
gboolean dyno_run_is_resumable (const DynoStoredRun *run);
/* The newest run that was interrupted (its process was killed, the power failed) and whose
 * checkpoint exists; NULL: none.  dismissed: the uid of a run which the user dismissed, 0: none;
 * this run and older ones are skipped.  Accesses files: not for the main thread. */
const DynoStoredRun *dyno_run_find_interrupted (const GPtrArray *runs, guint64 dismissed);
/* The job that resumes the run in its own folder; dyno_job_unref. */
DynoJob *dyno_run_get_resuming_job (const DynoStoredRun *run);
/* The job that resumes a run of this job in its folder, NULL where that has no checkpoint;
 * dyno_job_unref. */
DynoJob *dyno_run_resume_folder (const DynoJob *job, const char *folder);

G_END_DECLS
