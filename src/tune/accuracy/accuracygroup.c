/* SPDX-License-Identifier: MIT */
/* Trains the runs of a group, and records those that have ended. */
#include "accuracy-private.h"
#include <math.h>

#define OK_SHARE 0.75 /* of a group's runs, by which its time is a measure of runs at once */

void
dyno_accuracy_group_clear (DynoAccuracyGroup *group)
{
  for (guint i = 0; i < group->n; i++)
    g_clear_pointer (&group->runs[i], dyno_accuracy_run_free);
  group->n = 0;
}

static void
begin_group (DynoAccuracySearch *s, const DynoAccuracyGroup *group)
{
  for (guint i = 0; i < group->n; i++)
    {
      group->runs[i]->at_once = group->n;
      g_ptr_array_add (s->result->running, dyno_accuracy_run_copy (group->runs[i]));
    }
  for (guint i = 0; s->watch && s->watch->begin && i < group->n; i++)
    s->watch->begin (s->result, group->runs[i], s->watch->data);
}

/* Records the run, which then belongs to the result. */
static gboolean
end_run (DynoAccuracySearch *s, DynoAccuracyRun *run, GError **error)
{
  g_ptr_array_remove_index (s->result->running, 0);
  if (!dyno_accuracy_search_take_run (s, run))
    {
      dyno_accuracy_run_free (run);
      g_return_val_if_reached (FALSE);
    }
  if (!run->final)
    dyno_accuracy_search_fill_importance (s);
  return !s->watch || !s->watch->end || s->watch->end (s->result, run, s->watch->data, error);
}

/* TRUE: it found no memory beside others, which says nothing about its settings. */
static gboolean
lacked_memory (const DynoAccuracyRun *run)
{
  return run->has_ended && run->at_once > 1
         && (run->outcome == DYNO_TRIAL_OUT_OF_MEMORY || run->outcome == DYNO_TRIAL_DOES_NOT_FIT);
}

static gboolean
is_result (const DynoAccuracyRun *run)
{
  return run->has_ended && !lacked_memory (run);
}

static gboolean
train_runs (DynoAccuracySearch *s, DynoAccuracyRun *const *runs, guint n, GError **error)
{
  double begin = s->runner->get_time (s->runner->data), seconds;
  gboolean good = s->runner->train (runs, n, s->runner->data, s->cancellable, error);

  seconds = s->runner->get_time (s->runner->data) - begin;
  for (guint i = 0; i < n; i++)
    runs[i]->seconds = seconds;
  return good;
}

/* Trains the runs that found no memory beside the others once more, each alone, and from now on
 * fewer at once. */
static gboolean
train_alone (DynoAccuracySearch *s, const DynoAccuracyGroup *group, GError **error)
{
  for (guint i = 0; i < group->n; i++)
    {
      DynoAccuracyRun *run = group->runs[i];

      if (!lacked_memory (run))
        continue;
      s->most_at_once = MIN (s->most_at_once, MAX (group->n / 2, 1));
      g_clear_pointer (&run->text, g_free);
      run->has_ended = FALSE;
      run->at_once = 1;
      if (!train_runs (s, &group->runs[i], 1, error))
        return FALSE;
    }
  return TRUE;
}

gboolean
dyno_accuracy_group_train (DynoAccuracySearch *s, DynoAccuracyGroup *group, GError **error)
{
  g_autoptr (GError) problem = NULL;
  gboolean good;
  guint n_ok = 0;

  if (g_cancellable_is_cancelled (s->cancellable))
    s->result->stopped = TRUE;
  if (s->result->stopped)
    return FALSE;
  begin_group (s, group);
  good = train_runs (s, group->runs, group->n, &problem);
  for (guint i = 0; i < group->n; i++)
    n_ok += group->runs[i]->has_ended && group->runs[i]->outcome == DYNO_TRIAL_OK;
  /* Runs that diverge leave the device to the others: a group with many of them has no measure. */
  if (good && group->n > 1 && n_ok >= OK_SHARE * group->n)
    dyno_accuracy_pace_add_group (&s->pace, group->n,
                                  group->runs[0]->epochs - group->runs[0]->from_epochs,
                                  group->runs[0]->seconds);
  if (good)
    good = train_alone (s, group, &problem);
  for (guint i = 0; i < group->n && is_result (group->runs[i]); i++)
    if (!end_run (s, g_steal_pointer (&group->runs[i]), good ? &problem : NULL))
      {
        good = FALSE;
        break;
      }
  g_ptr_array_set_size (s->result->running, 0);
  dyno_accuracy_group_clear (group);
  if (good)
    return TRUE;
  s->result->stopped = g_error_matches (problem, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  if (problem && !s->result->stopped)
    g_propagate_error (error, g_steal_pointer (&problem));
  return FALSE;
}

void
dyno_accuracy_group_add_rung (const DynoAccuracySearch *s, DynoAccuracyGroup *group, guint number,
                              const DynoSettings *settings)
{
  DynoAccuracyRun *run = g_new0 (DynoAccuracyRun, 1);
  guint rung = number < s->result->trials->len
                   ? dyno_accuracy_search_get_trial (s, number)->halving.n_done
                   : 0;

  *run = (DynoAccuracyRun){ .trial = number,
                            .seed = (guint64) s->space->own.seed,
                            .from_epochs = rung > 0 ? s->result->rungs[rung - 1] : 0,
                            .epochs = s->result->rungs[rung],
                            .value = (double) NAN,
                            .settings = *settings };
  group->runs[group->n++] = run;
}
