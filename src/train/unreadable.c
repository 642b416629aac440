/* SPDX-License-Identifier: MIT */
/* Samples that could not be read in a run: the first is reported at once, all are counted, and up
 * to MAX_NAMED are named, at the end.  Invariants: a sample counts once, however often it was due;
 * a lost device loses no count. */
#include "intl.h"
#include "ranks.h"
#include "run.h"

#define MAX_NAMED 100

/* Part 0: the training; 1: the validation, or at the end the test. */
static DynoLoader *
get_loader (DynoRun *run, guint part)
{
  const DynoEngine *engine = run->engine;
  DynoUploader *uploader = !engine                 ? NULL
                           : part == 0             ? engine->training.uploader
                           : engine->test.uploader ? engine->test.uploader
                                                   : engine->validation.uploader;

  return uploader ? dyno_uploader_get_loader (uploader) : NULL;
}

static void
tell (DynoRun *run, const char *name)
{
  run->unreadable.warned = TRUE;
  dyno_run_warn (run,
                 _ ("A sample cannot be read, and another takes its place: %s; all such are "
                    "counted, and past %g %% of the "
                    "samples (data.max_bad) the run stops"),
                 name, run->job->settings.data_max_bad * 100);
}

void
dyno_run_warn_unreadable (DynoRun *run)
{
  for (guint part = 0; part < 2 && !run->unreadable.warned; part++)
    {
      DynoLoader *loader = get_loader (run, part);
      g_auto (GStrv) names = NULL;

      if (!loader || dyno_loader_count_bad (loader) == 0)
        continue;
      names = dyno_loader_list_bad (loader);
      tell (run, names[0]);
    }
}

void
dyno_run_collect_unreadable (DynoRun *run)
{
  guint64 count = 0;

  if (!run->unreadable.names)
    run->unreadable.names = g_ptr_array_new_with_free_func (g_free);
  for (guint part = 0; part < 2; part++)
    {
      DynoLoader *loader = get_loader (run, part);
      g_auto (GStrv) names = loader ? dyno_loader_list_bad (loader) : NULL;

      count += loader ? dyno_loader_count_bad (loader) : 0;
      for (guint i = 0; names && names[i] && run->unreadable.names->len < MAX_NAMED; i++)
        if (!g_ptr_array_find_with_equal_func (run->unreadable.names, names[i], g_str_equal, NULL))
          {
            g_ptr_array_add (run->unreadable.names, g_strdup (names[i]));
            g_info ("Unreadable: %s", names[i]);
          }
    }
  run->unreadable.n = MAX (run->unreadable.n, MAX (count, run->unreadable.names->len));
}

gboolean
dyno_run_share_unreadable (DynoRun *run, GError **error)
{
  if (!run->session->comm)
    return TRUE;
  dyno_run_collect_unreadable (run);
  if (!dyno_ranks_share_unreadable (run->session->comm, run->unreadable.names, MAX_NAMED,
                                    &run->unreadable.n, error))
    return FALSE;
  if (run->unreadable.names->len > 0 && !run->unreadable.warned)
    tell (run, run->unreadable.names->pdata[0]);
  return TRUE;
}

void
dyno_run_end_unreadable (DynoRun *run, DynoEvent *done)
{
  GPtrArray *names = run->unreadable.names;

  done->done.n_unreadable = run->unreadable.n;
  done->done.unreadable = g_new0 (char *, names->len + 1);
  for (guint i = 0; i < names->len; i++)
    done->done.unreadable[i] = g_strdup (names->pdata[i]);
  g_clear_pointer (&run->unreadable.names, g_ptr_array_unref);
}
