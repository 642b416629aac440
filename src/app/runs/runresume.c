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
has_checkpoint (const char *folder)
{
  g_autofree char *path = folder ? dyno_checkpoint_find (folder, NULL) : NULL;
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
      if (run->state == DYNO_RUN_STATE_KILLED && has_checkpoint (run->folder))
        return run;
    }
  return NULL;
}

static void
resume_in (DynoJob *job, const char *folder)
{
  g_free (job->out_dir);
  job->out_dir = g_strdup (folder);
  g_free (job->resume);
  job->resume = g_strdup (folder);
}

DynoJob *
dyno_run_get_resuming_job (const DynoStoredRun *run)
{
  DynoJob *job = dyno_stored_run_get_job (run);
  resume_in (job, run->folder);
  return job;
}

DynoJob *
dyno_run_resume_folder (const DynoJob *job, const char *folder)
{
  if (!has_checkpoint (folder))
    return NULL;
  DynoJob *own = dyno_job_copy (job);
  resume_in (own, folder);
  return own;
}
