/* SPDX-License-Identifier: MIT */
/* One search, step by step: the job's own settings, trials, the final.  The state follows from the
 * runs; take_run adds each run, whether it was trained now or is known from an earlier search. */
#include "accuracy.h"
#include "accuracyverdict.h"
#include "intl.h"
#include "preset.h"
#include <math.h>

#define FINAL_SHARE 0.5 /* largest share of the time that is kept for the final */
#define LEAST_SHARE 0.5 /* of the time in which a run starts: the least time of the first rung */
#define PACE_MARGIN 1.1 /* a run may take this many times as long as the runs before predict */
#define LEAST_PAIRS 2   /* fewer seeds prove nothing */
#define MOST_FAILED 3   /* in a row, for no reason of their settings: others would fail too */

typedef struct {
  const DynoParamSpace *space;
  const DynoAccuracyParams *params;
  const DynoAccuracyRunner *runner;
  const DynoAccuracyWatch *watch;
  GCancellable *cancellable;
  DynoAccuracyResult *result;
  DynoTpe tpe;
  double begin;
  double pace_seconds, pace_epochs; /* sums over all runs, without the time outside of epochs */
  /* time of the last run outside of epochs: the first run compiles */
  double start_seconds;
  int known_first; /* the rung in which the trials of an earlier search began; -1: it had none */
} Search;

static DynoAccuracyTrial *
get_trial (const Search *s, guint i)
{
  return &g_array_index (s->result->trials, DynoAccuracyTrial, i);
}

static double
to_loss (const Search *s, double value)
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
find_trial (Search *s, guint number, const DynoSettings *settings)
{
  DynoAccuracyTrial trial = { .settings = *settings };

  if (number < s->result->trials->len)
    return get_trial (s, number);
  if (number > s->result->trials->len)
    return NULL;
  dyno_param_space_get_point (s->space, settings, trial.point);
  for (guint i = 0; i < DYNO_HALVING_MOST_RUNGS; i++)
    trial.values[i] = trial.halving.losses[i] = (double) NAN;
  g_array_append_val (s->result->trials, trial);
  return get_trial (s, number);
}

/* The rung that ends at this epoch; -1: none. */
static int
find_rung (const Search *s, guint64 epochs)
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
choose_first_rung (const Search *s)
{
  const DynoAccuracyResult *r = s->result;
  double pace = s->pace_seconds / s->pace_epochs;
  guint first = 0;

  if (s->known_first >= 0)
    return (guint) s->known_first;
  while (s->params->most_trials == 0 && first + 1 < r->n_rungs
         && pace * (double) r->rungs[first] < LEAST_SHARE * s->start_seconds)
    first++;
  return first;
}

/* Removes the first n rungs, which only the job's own settings have finished. */
static void
drop_rungs (Search *s, guint n)
{
  DynoAccuracyResult *r = s->result;
  DynoAccuracyTrial *own = get_trial (s, 0);

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

/* Takes the run, which then belongs to the result.  FALSE: it does not belong to this search. */
static gboolean
take_run (Search *s, DynoAccuracyRun *run)
{
  int rung = find_rung (s, run->epochs);
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
  if (run->seconds > 0 && run->train_seconds >= 0 && run->epochs > run->from_epochs
      && run->outcome == DYNO_TRIAL_OK)
    {
      double in_epochs = CLAMP (run->train_seconds, 0, run->seconds);

      s->pace_seconds += in_epochs;
      s->start_seconds = run->seconds - in_epochs;
      s->pace_epochs += (double) (run->epochs - run->from_epochs);
    }
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

/* The rung in which the trials of the known runs began; -1: there is none besides the job's own
 * settings. */
static int
find_known_first (const Search *s)
{
  for (guint i = 0; s->params->known && i < s->params->known->len; i++)
    {
      const DynoAccuracyRun *run = s->params->known->pdata[i];

      if (run->trial > 0 && !run->final && run->from_epochs == 0)
        return find_rung (s, run->epochs);
    }
  return -1;
}

static void
take_known (Search *s)
{
  for (guint i = 0; s->params->known && i < s->params->known->len; i++)
    {
      g_autoptr (DynoAccuracyRun) run = dyno_accuracy_run_copy (s->params->known->pdata[i]);

      if (take_run (s, run))
        g_steal_pointer (&run);
    }
  s->result->n_known = s->result->runs->len;
}

static double *
copy_points (const Search *s)
{
  guint n = s->result->trials->len, width = s->space->n;
  double *points = g_new (double, (gsize) MAX (n * width, 1));

  for (guint i = 0; i < n; i++)
    for (guint k = 0; k < width; k++)
      points[(gsize) i * width + k] = get_trial (s, i)->point[k];
  return points;
}

/* Uses the values after the first rung, which all trials have: the trials of higher rungs are few
 * and similar. */
static void
fill_importance (Search *s)
{
  guint n = s->result->trials->len;
  g_autofree double *points = copy_points (s), *losses = g_new (double, MAX (n, 1));

  for (guint i = 0; i < n; i++)
    losses[i] = get_trial (s, i)->halving.losses[0];
  dyno_importance (s->space->dimensions, s->space->n, points, losses, n, s->result->importance);
}

/* --- time ------------------------------------------------------------------------------------- */

static double
get_elapsed (const Search *s)
{
  return s->runner->get_time (s->runner->data) - s->begin;
}

/* The expected time of n_runs runs of this many epochs each; 0: not known. */
static double
expect_seconds (const Search *s, guint64 epochs, guint n_runs)
{
  double pace = s->pace_epochs > 0 ? PACE_MARGIN * s->pace_seconds / s->pace_epochs : 0;

  return n_runs * (s->start_seconds + pace * (double) epochs);
}

/* TRUE: the runs end within the first part of the time, that is without the last `kept` seconds. */
static gboolean
has_time (const Search *s, guint64 epochs, guint n_runs, double kept)
{
  return get_elapsed (s) + expect_seconds (s, epochs, n_runs) <= s->params->seconds - kept;
}

static guint
get_most_seeds (const Search *s)
{
  return s->params->most_seeds > 0 ? MIN (s->params->most_seeds, DYNO_ACCURACY_MOST_SEEDS)
                                   : DYNO_ACCURACY_MOST_SEEDS;
}

/* The time that is kept for the final: that of all its runs, unless it is too long. */
static double
get_final_seconds (const Search *s)
{
  guint64 all = s->result->rungs[s->result->n_rungs - 1];
  guint n_runs = (DYNO_ACCURACY_CONTENDERS + 1) * get_most_seeds (s);

  return MIN (expect_seconds (s, all, n_runs), FINAL_SHARE * s->params->seconds);
}

/* --- runs ------------------------------------------------------------------------------------- */

/* FALSE with the error, or without one where the search was stopped. */
static gboolean
train (Search *s, DynoAccuracyRun *order, GError **error)
{
  g_autoptr (DynoAccuracyRun) run = order;
  double begin = s->runner->get_time (s->runner->data);
  g_autoptr (GError) problem = NULL;

  if (g_cancellable_is_cancelled (s->cancellable))
    s->result->stopped = TRUE;
  if (s->result->stopped)
    return FALSE;
  if (s->watch && s->watch->begin)
    s->watch->begin (s->result, run, s->watch->data);
  if (!s->runner->train (run, s->runner->data, s->cancellable, &problem))
    {
      s->result->stopped = g_error_matches (problem, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      if (!s->result->stopped)
        g_propagate_error (error, g_steal_pointer (&problem));
      return FALSE;
    }
  run->seconds = s->runner->get_time (s->runner->data) - begin;
  if (!take_run (s, run))
    g_return_val_if_reached (FALSE);
  if (!run->final)
    fill_importance (s);
  order = g_steal_pointer (&run);
  return !s->watch || !s->watch->end || s->watch->end (s->result, order, s->watch->data, error);
}

/* Trains a trial from the rung that it has finished to the next one. */
static gboolean
train_rung (Search *s, guint number, const DynoSettings *settings, GError **error)
{
  DynoAccuracyRun *run = g_new0 (DynoAccuracyRun, 1);
  guint rung = number < s->result->trials->len ? get_trial (s, number)->halving.n_done : 0;

  *run = (DynoAccuracyRun){ .trial = number,
                            .seed = (guint64) s->space->own.seed,
                            .from_epochs = rung > 0 ? s->result->rungs[rung - 1] : 0,
                            .epochs = s->result->rungs[rung],
                            .value = (double) NAN,
                            .settings = *settings };
  return train (s, run, error);
}

/* --- the search ------------------------------------------------------------------------------- */

/* The job's own settings are trained to the end, unless they fail. */
static gboolean
train_own (Search *s, GError **error)
{
  const DynoAccuracyResult *r = s->result;
  guint64 all = r->rungs[r->n_rungs - 1];

  while (r->trials->len == 0
         || (get_trial (s, 0)->halving.n_done < r->n_rungs && !get_trial (s, 0)->halving.failed))
    {
      guint64 done = r->trials->len > 0 ? r->rungs[get_trial (s, 0)->halving.n_done - 1] : 0;

      if (!has_time (s, all - done, 1, 0))
        {
          g_set_error (error, DYNO_TUNE_ERROR, DYNO_TUNE_ERROR_NOTHING,
                       _ ("The time is too short: your settings need about %.1f min for their "
                          "epochs, and a search some ten times as long; give it more minutes, or "
                          "train fewer epochs"),
                       expect_seconds (s, all, 1) / 60);
          return FALSE;
        }
      if (!train_rung (s, 0, &s->space->own, error))
        return FALSE;
    }
  return TRUE;
}

/* --- ranking for the estimator ---------------------------------------------------------------- */

static DynoHalvingTrial *
copy_halving (const Search *s)
{
  DynoHalvingTrial *trials = g_new (DynoHalvingTrial, MAX (s->result->trials->len, 1));

  for (guint i = 0; i < s->result->trials->len; i++)
    trials[i] = get_trial (s, i)->halving;
  return trials;
}

/* The number of rungs that a trial has finished by its own values: the job's own settings, which
 * train through all rungs, count only the rungs to which they would have been promoted. */
static guint
count_earned (const Search *s, const DynoHalvingTrial *trials, guint i)
{
  guint rung = 0;

  if (i > 0 || trials[i].failed)
    return trials[i].n_done;
  while (rung + 1 < trials[i].n_done
         && dyno_halving_is_best_third (trials, s->result->trials->len, rung, i))
    rung++;
  return rung + 1;
}

/* The number of trials that rank before each trial: trials of a higher rung rank first, and trials
 * of one rung by their values there, since only values of the same rung can be compared; as in
 * Optuna's estimator.  With only the highest rung the estimator would not learn which points are
 * bad, since no bad trial reaches that rung.  INFINITY: the trial failed. */
static void
rank_trials (const Search *s, double *places)
{
  guint n = s->result->trials->len;
  g_autofree DynoHalvingTrial *trials = copy_halving (s);
  g_autofree guint *earned = g_new (guint, MAX (n, 1));

  for (guint i = 0; i < n; i++)
    earned[i] = count_earned (s, trials, i);
  for (guint i = 0; i < n; i++)
    {
      guint better = 0;

      for (guint k = 0; k < n; k++)
        better += !trials[k].failed
                  && (earned[k] > earned[i]
                      || (earned[k] == earned[i]
                          && trials[k].losses[earned[k] - 1] < trials[i].losses[earned[i] - 1]));
      places[i] = trials[i].failed ? INFINITY : better;
    }
}

static gboolean
propose (Search *s, DynoSettings *settings, GError **error)
{
  guint n = s->result->trials->len;
  g_autofree double *points = copy_points (s), *places = g_new (double, MAX (n, 1));
  double point[DYNO_PARAMS_MOST];

  rank_trials (s, places);
  dyno_tpe_propose (&s->tpe, points, places, n, n, point);
  return dyno_param_space_get_settings (s->space, point, settings, error);
}

/* --- trials ----------------------------------------------------------------------------------- */

static gboolean
explore (Search *s, GError **error)
{
  const DynoAccuracyResult *r = s->result;
  guint most = s->params->most_trials > 0 ? s->params->most_trials : G_MAXUINT, n_failed = 0;

  while (n_failed < MOST_FAILED)
    {
      g_autofree DynoHalvingTrial *trials = copy_halving (s);
      DynoHalvingStep step;
      DynoSettings settings;
      guint number = r->trials->len;

      step = dyno_halving_next (trials, r->trials->len, r->n_rungs);
      if ((step.trial < 0 && r->trials->len >= most)
          || !has_time (s, r->rungs[step.rung] - (step.rung > 0 ? r->rungs[step.rung - 1] : 0), 1,
                        get_final_seconds (s)))
        return TRUE;
      if (step.trial >= 0)
        {
          number = (guint) step.trial;
          settings = get_trial (s, number)->settings;
        }
      else if (!propose (s, &settings, error))
        return FALSE;
      if (!train_rung (s, number, &settings, error))
        return FALSE;
      n_failed = get_trial (s, number)->outcome == DYNO_TRIAL_FAILED ? n_failed + 1 : 0;
    }
  return TRUE;
}

/* --- the final -------------------------------------------------------------------------------- */

/* TRUE: the trial is better than the job's own settings were at the same rung. */
static gboolean
is_contender (const Search *s, guint number)
{
  const DynoAccuracyTrial *trial = get_trial (s, number), *own = get_trial (s, 0);
  guint rung = trial->halving.n_done - 1;

  return own->halving.failed || trial->halving.losses[rung] < own->halving.losses[rung];
}

static void
choose_contenders (Search *s, guint n_most)
{
  DynoAccuracyResult *r = s->result;
  g_autofree guint *ranked = g_new (guint, r->trials->len);
  guint n = dyno_accuracy_result_rank (r, ranked, r->trials->len);

  r->n_contenders = 0;
  for (guint i = 0; i < n && r->n_contenders < n_most; i++)
    if (ranked[i] != 0 && is_contender (s, ranked[i]))
      r->contenders[r->n_contenders++].trial = ranked[i];
}

/* The trial's run of the final with the seed of that index; NULL: there is none. */
static const DynoAccuracyRun *
find_final (const Search *s, guint trial, guint index)
{
  const DynoAccuracyResult *r = s->result;

  for (guint i = 0; i < r->runs->len; i++)
    {
      const DynoAccuracyRun *run = r->runs->pdata[i];

      if (run->final && run->trial == trial
          && run->seed == (guint64) s->space->own.seed + 1 + index)
        return run;
    }
  return NULL;
}

static void
fill_contender (const Search *s, DynoAccuracyContender *c)
{
  c->failed = get_trial (s, c->trial)->halving.failed;
  for (guint k = 0; k < DYNO_ACCURACY_MOST_SEEDS; k++)
    {
      const DynoAccuracyRun *run = find_final (s, c->trial, k);

      c->values[k] = run ? run->value : (double) NAN;
      c->failed = c->failed || (run && run->outcome != DYNO_TRIAL_OK);
    }
}

static void
fill_final (Search *s)
{
  DynoAccuracyResult *r = s->result;

  fill_contender (s, &r->own);
  for (guint i = 0; i < r->n_contenders; i++)
    fill_contender (s, &r->contenders[i]);
}

/* The trials that have to train with this seed, the job's own settings first; returns their
 * number. */
static guint
list_round (const Search *s, guint index, guint *trials)
{
  const DynoAccuracyResult *r = s->result;
  guint n = 0;

  for (guint i = 0; i <= r->n_contenders; i++)
    {
      const DynoAccuracyContender *c = i == 0 ? &r->own : &r->contenders[i - 1];

      if (!c->failed && !find_final (s, c->trial, index))
        trials[n++] = c->trial;
    }
  return n;
}

/* The number of runs that a proof still needs, without those that an earlier search measured. */
static guint
count_missing (const Search *s)
{
  guint trials[DYNO_ACCURACY_CONTENDERS + 1], n = 0;

  for (guint index = 0; index < LEAST_PAIRS; index++)
    n += list_round (s, index, trials);
  return n;
}

static gboolean
has_contender (const DynoAccuracyResult *r)
{
  for (guint i = 0; i < r->n_contenders; i++)
    if (!r->contenders[i].failed)
      return TRUE;
  return FALSE;
}

static gboolean
run_final (Search *s, GError **error)
{
  DynoAccuracyResult *r = s->result;
  guint64 all = r->rungs[r->n_rungs - 1];
  guint n_most = DYNO_ACCURACY_CONTENDERS;

  /* One contender on enough seeds is worth more than two on too few. */
  choose_contenders (s, n_most);
  fill_final (s);
  while (n_most > 1 && count_missing (s) > 0 && !has_time (s, all, count_missing (s), 0))
    {
      choose_contenders (s, --n_most);
      fill_final (s);
    }
  for (guint index = 0; index < get_most_seeds (s) && has_contender (r) && !r->own.failed; index++)
    {
      guint trials[DYNO_ACCURACY_CONTENDERS + 1], n = list_round (s, index, trials);

      if (n > 0 && !has_time (s, all, n, 0))
        return TRUE;
      for (guint i = 0; i < n; i++)
        {
          DynoAccuracyRun *run = g_new0 (DynoAccuracyRun, 1);

          *run = (DynoAccuracyRun){ .trial = trials[i],
                                    .final = TRUE,
                                    .seed = (guint64) s->space->own.seed + 1 + index,
                                    .epochs = all,
                                    .value = (double) NAN,
                                    .settings = get_trial (s, trials[i])->settings };
          if (!train (s, run, error))
            return FALSE;
          fill_final (s);
        }
    }
  return TRUE;
}

/* --------------------------------------------------------------------------------------------- */

/* TRUE: the runs of the earlier search are a proof by themselves. */
static gboolean
is_known_proven (Search *s)
{
  gboolean proven;

  if (s->result->n_known == 0)
    return FALSE;
  choose_contenders (s, DYNO_ACCURACY_CONTENDERS);
  fill_final (s);
  dyno_accuracy_judge (s->result);
  proven = s->result->verdict == DYNO_ACCURACY_PROVEN;
  g_clear_pointer (&s->result->text, g_free);
  s->result->n_contenders = 0;
  return proven;
}

DynoAccuracyResult *
dyno_accuracy_search (const DynoParamSpace *space, const DynoMetricInfo *metric,
                      const DynoAccuracyParams *params, const DynoAccuracyRunner *runner,
                      const DynoAccuracyWatch *watch, GCancellable *cancellable, GError **error)
{
  g_autoptr (DynoAccuracyResult) result = g_new0 (DynoAccuracyResult, 1);
  Search s = { .space = space,
               .params = params,
               .runner = runner,
               .watch = watch,
               .cancellable = cancellable,
               .result = result,
               .tpe = dyno_param_space_get_tpe (space),
               .begin = runner->get_time (runner->data) };
  g_autoptr (GError) problem = NULL;

  result->space = *space;
  result->metric = *metric;
  result->trials = g_array_new (FALSE, FALSE, sizeof (DynoAccuracyTrial));
  result->runs = g_ptr_array_new_with_free_func ((GDestroyNotify) dyno_accuracy_run_free);
  result->n_rungs = dyno_halving_list_rungs ((guint64) space->own.epochs, result->rungs);
  s.known_first = find_known_first (&s);
  take_known (&s);
  result->known_proven = is_known_proven (&s);
  if ((!train_own (&s, &problem) || !explore (&s, &problem) || !run_final (&s, &problem))
      && !result->stopped)
    {
      g_propagate_error (error, g_steal_pointer (&problem));
      return NULL;
    }
  if (result->trials->len > 0 && result->n_contenders == 0)
    choose_contenders (&s, DYNO_ACCURACY_CONTENDERS);
  if (result->trials->len > 0)
    fill_final (&s);
  fill_importance (&s);
  dyno_accuracy_judge (result);
  return g_steal_pointer (&result);
}
