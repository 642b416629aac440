/* SPDX-License-Identifier: MIT */
#include "runresume.h"
#include "checkpoint.h"

gboolean
dyno_run_is_resumable (const DynoStoredRun *run)
{
  return run->folder
         && (run->state == DYNO_RUN_STATE_STOPPED || run->state == DYNO_RUN_STATE_KILLED
             || run->state == DYNO_RUN_STATE_FAILED);
}

static gboolean
has_checkpoint (const DynoStoredRun *run)
{
  g_autofree char *path = run->folder ? dyno_checkpoint_find (run->folder, NULL) : NULL;
  return path != NULL;
}

const DynoStoredRun *
dyno_run_find_interrupted (const GPtrArray *runs, guint64 dismissed)
{
  for (guint i = 0; i < runs->len; i++)
    {
      const DynoStoredRun *run = runs->pdata[i];
      if (dismissed != 0 && run->uid == dismissed)
        return NULL;
      if (run->state == DYNO_RUN_STATE_KILLED && has_checkpoint (run))
        return run;
    }
  return NULL;
}

DynoJob *
dyno_run_get_resuming_job (const DynoStoredRun *run)
{
  DynoJob *job = dyno_stored_run_get_job (run);
  job->out_dir = g_strdup (run->folder);
  job->resume = g_strdup (run->folder);
  return job;
}
