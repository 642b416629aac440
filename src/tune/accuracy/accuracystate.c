/* SPDX-License-Identifier: MIT */
/* The measurements of a search, and the time that is left.  The state follows from the runs,
 * whether they were trained now or are known from an earlier search. */
#include "accuracy-private.h"
#include "preset.h"
#include <math.h>
#include <string.h>

#define FINAL_SHARE 0.5 /* largest share of the time that is kept for the final */
#define LEAST_SHARE 0.5 /* of the time in which a run starts: the least time of the first rung */

DynoAccuracyTrial *
dyno_accuracy_search_get_trial (const DynoAccuracySearch *s, guint i)
{
  return &g_array_index (s->result->trials, DynoAccuracyTrial, i);
}

static double
to_loss (const DynoAccuracySearch *s, double value)
{
  return s->result->metric.higher_is_better ? -value : value;
}

/* --- what was measured ------------------------------------------------------------------------ */

/* Rounds as accuracy.csv does, so that a resumed search has the same values. */
static double
round_value (double value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  return g_ascii_strtod (g_ascii_formatd (text, sizeof text, "%.9g", value), NULL);
}

/* The trial of that number; a new one with these settings where the number is the next; else
 * NULL. */
static DynoAccuracyTrial *
find_trial (DynoAccuracySearch *s, guint number, const DynoSettings *settings)
{
  DynoAccuracyTrial trial = { .settings = *settings };

  if (number < s->result->trials->len)
    return dyno_accuracy_search_get_trial (s, number);
  if (number > s->result->trials->len)
    return NULL;
  dyno_param_space_get_point (s->space, settings, trial.point);
  for (guint i = 0; i < DYNO_HALVING_MOST_RUNGS; i++)
    trial.values[i] = trial.halving.losses[i] = (double) NAN;
  g_array_append_val (s->result->trials, trial);
  return dyno_accuracy_search_get_trial (s, number);
}

int
dyno_accuracy_search_find_rung (const DynoAccuracySearch *s, guint64 epochs)
{
  for (guint i = 0; i < s->result->n_rungs; i++)
    if (s->result->rungs[i] == epochs)
      return (int) i;
  return -1;
}

/* The rung in which trials begin.  Where a run starts for longer than it trains, stopping early
 * saves nothing: most of the time would go into starts.  Where a number of trials is asked for, no
 * clock decides. */
static guint
choose_first_rung (const DynoAccuracySearch *s)
{
  const DynoAccuracyResult *r = s->result;
  double pace = dyno_accuracy_pace_get_epoch (&s->pace);
  guint first = 0;

  if (s->known_first >= 0)
    return (guint) s->known_first;
  while (s->params->most_trials == 0 && first + 1 < r->n_rungs
         && pace * (double) r->rungs[first] < LEAST_SHARE * s->pace.start_seconds)
    first++;
  return first;
}

/* Removes the first n rungs, which only the job's own settings have finished. */
static void
drop_rungs (DynoAccuracySearch *s, guint n)
{
  DynoAccuracyResult *r = s->result;
  DynoAccuracyTrial *own = dyno_accuracy_search_get_trial (s, 0);

  r->n_rungs -= n;
  own->halving.n_done -= n;
  for (guint i = 0; i < DYNO_HALVING_MOST_RUNGS; i++)
    {
      gboolean is_kept = i < r->n_rungs;

      r->rungs[i] = is_kept ? r->rungs[i + n] : 0;
      own->values[i] = is_kept ? own->values[i + n] : (double) NAN;
      own->halving.losses[i] = is_kept ? own->halving.losses[i + n] : (double) NAN;
    }
}

gboolean
dyno_accuracy_search_take_run (DynoAccuracySearch *s, DynoAccuracyRun *run)
{
  int rung = dyno_accuracy_search_find_rung (s, run->epochs);
  DynoAccuracyTrial *trial;

  run->value = run->outcome == DYNO_TRIAL_OK ? round_value (run->value) : (double) NAN;
  if (run->outcome == DYNO_TRIAL_OK && !isfinite (run->value))
    run->outcome = DYNO_TRIAL_DIVERGED;
  /* A new trial begins with the first rung, and a run of the final trains all epochs. */
  if (rung < 0 || (run->final && (guint) rung != s->result->n_rungs - 1)
      || (run->trial >= s->result->trials->len && (run->final || rung > 0)))
    return FALSE;
  trial = find_trial (s, run->trial, &run->settings);
  if (!trial || !dyno_settings_equal (&trial->settings, &run->settings)
      || (!run->final && run->seed != (guint64) s->space->own.seed)
      || (!run->final && (trial->halving.n_done != (guint) rung || trial->halving.failed)))
    return FALSE;
  if (run->at_once == 1 && run->outcome == DYNO_TRIAL_OK && run->epochs > run->from_epochs)
    dyno_accuracy_pace_add_run (&s->pace, run->epochs - run->from_epochs, run->seconds,
                                run->train_seconds);
  if (!run->final)
    {
      trial->outcome = run->outcome;
      trial->values[rung] = run->value;
      trial->halving.losses[rung] = to_loss (s, run->value);
      trial->halving.failed = run->outcome != DYNO_TRIAL_OK;
      trial->halving.n_done++;
    }
  g_ptr_array_add (s->result->runs, run);
  if (!run->final && run->trial == 0 && !trial->halving.failed
      && trial->halving.n_done == s->result->n_rungs)
    drop_rungs (s, choose_first_rung (s));
  return TRUE;
}

void
dyno_accuracy_search_copy_points (const DynoAccuracySearch *s, double *points)
{
  guint width = s->space->n;

  for (guint i = 0; i < s->result->trials->len; i++)
    memcpy (points + (gsize) i * width, dyno_accuracy_search_get_trial (s, i)->point,
            width * sizeof *points);
}

void
dyno_accuracy_search_fill_importance (DynoAccuracySearch *s)
{
  guint n = s->result->trials->len;
  g_autofree double *points = g_new (double, (gsize) MAX (n * s->space->n, 1)),
                    *losses = g_new (double, MAX (n, 1));

  dyno_accuracy_search_copy_points (s, points);
  for (guint i = 0; i < n; i++)
    losses[i] = dyno_accuracy_search_get_trial (s, i)->halving.losses[0];
  dyno_importance (s->space->dimensions, s->space->n, points, losses, n, s->result->importance);
}

/* --- time ------------------------------------------------------------------------------------- */

static double
get_elapsed (const DynoAccuracySearch *s)
{
  return s->runner->get_time (s->runner->data) - s->begin;
}

guint
dyno_accuracy_search_get_at_once (const DynoAccuracySearch *s)
{
  const DynoAccuracyParams *p = s->params;

  if (p->at_once > 0 || p->most_trials > 0)
    return CLAMP (p->at_once, 1, s->most_at_once);
  return dyno_accuracy_pace_choose (&s->pace, s->most_at_once);
}

double
dyno_accuracy_search_expect (const DynoAccuracySearch *s, guint64 epochs, guint n_runs,
                             guint at_once)
{
  return dyno_accuracy_pace_expect (&s->pace, epochs, n_runs, at_once);
}

gboolean
dyno_accuracy_search_has_time (const DynoAccuracySearch *s, guint64 epochs, guint n_runs,
                               guint at_once, double kept)
{
  return get_elapsed (s) + dyno_accuracy_search_expect (s, epochs, n_runs, at_once)
         <= s->params->seconds - kept;
}

guint
dyno_accuracy_search_get_most_seeds (const DynoAccuracySearch *s)
{
  return s->params->most_seeds > 0 ? MIN (s->params->most_seeds, DYNO_ACCURACY_MOST_SEEDS)
                                   : DYNO_ACCURACY_MOST_SEEDS;
}

double
dyno_accuracy_search_get_final_seconds (const DynoAccuracySearch *s)
{
  guint64 all = s->result->rungs[s->result->n_rungs - 1];
  double round = dyno_accuracy_search_expect (s, all, DYNO_ACCURACY_CONTENDERS + 1,
                                              dyno_accuracy_search_get_at_once (s));

  return MIN (dyno_accuracy_search_get_most_seeds (s) * round, FINAL_SHARE * s->params->seconds);
}
