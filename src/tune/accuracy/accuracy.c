/* SPDX-License-Identifier: MIT */
/* One search, step by step: the job's own settings, trials, the final.  The state follows from the
 * runs; take_run adds each run, whether it was trained now or is known from an earlier search. */
#include "accuracy.h"
#include "accuracyverdict.h"
#include "intl.h"
#include "preset.h"
#include <math.h>
#include <string.h>

#define FINAL_SHARE 0.5  /* largest share of the time that is kept for the final */
#define LEAST_SHARE 0.5  /* of the time in which a run starts: the least time of the first rung */
#define LEAST_PAIRS 2    /* fewer seeds prove nothing */
#define OK_SHARE    0.75 /* of a group's runs, by which its time is a measure of runs at once */
#define MOST_FAILED 3    /* in a row, for no reason of their settings: others would fail too */

typedef struct {
  const DynoParamSpace *space;
  const DynoAccuracyParams *params;
  const DynoAccuracyRunner *runner;
  const DynoAccuracyWatch *watch;
  GCancellable *cancellable;
  DynoAccuracyResult *result;
  DynoTpe tpe;
  double begin;
  DynoAccuracyPace pace;
  guint most_at_once;
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

/* Copies the points of all trials. */
static void
copy_points (const Search *s, double *points)
{
  guint width = s->space->n;

  for (guint i = 0; i < s->result->trials->len; i++)
    memcpy (points + (gsize) i * width, get_trial (s, i)->point, width * sizeof *points);
}

/* Uses the values after the first rung, which all trials have: the trials of higher rungs are few
 * and similar. */
static void
fill_importance (Search *s)
{
  guint n = s->result->trials->len;
  g_autofree double *points = g_new (double, (gsize) MAX (n * s->space->n, 1)),
                    *losses = g_new (double, MAX (n, 1));

  copy_points (s, points);
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

/* The number of runs that are trained at the same time, where there are enough. */
static guint
get_at_once (const Search *s)
{
  const DynoAccuracyParams *p = s->params;

  if (p->at_once > 0 || p->most_trials > 0)
    return CLAMP (p->at_once, 1, s->most_at_once);
  return dyno_accuracy_pace_choose (&s->pace, s->most_at_once);
}

/* The expected time of n_runs runs of this many epochs each, at_once at the same time; 0: not
 * known. */
static double
expect_seconds (const Search *s, guint64 epochs, guint n_runs, guint at_once)
{
  return dyno_accuracy_pace_expect (&s->pace, epochs, n_runs, at_once);
}

/* TRUE: the runs end within the first part of the time, that is without the last `kept` seconds. */
static gboolean
has_time (const Search *s, guint64 epochs, guint n_runs, guint at_once, double kept)
{
  return get_elapsed (s) + expect_seconds (s, epochs, n_runs, at_once) <= s->params->seconds - kept;
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
  double round = expect_seconds (s, all, DYNO_ACCURACY_CONTENDERS + 1, get_at_once (s));

  return MIN (get_most_seeds (s) * round, FINAL_SHARE * s->params->seconds);
}

/* --- runs ------------------------------------------------------------------------------------- */

/* A group of runs that are trained at the same time, all with as many epochs to train. */
typedef struct {
  guint n;
  DynoAccuracyRun *runs[DYNO_ACCURACY_MOST_AT_ONCE];
} Group;

static void
group_clear (Group *group)
{
  for (guint i = 0; i < group->n; i++)
    g_clear_pointer (&group->runs[i], dyno_accuracy_run_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Group, group_clear)

static void
begin_group (Search *s, const Group *group)
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
end_run (Search *s, DynoAccuracyRun *run, GError **error)
{
  g_ptr_array_remove_index (s->result->running, 0);
  if (!take_run (s, run))
    {
      dyno_accuracy_run_free (run);
      g_return_val_if_reached (FALSE);
    }
  if (!run->final)
    fill_importance (s);
  return !s->watch || !s->watch->end || s->watch->end (s->result, run, s->watch->data, error);
}

static gboolean
lacked_memory (const DynoAccuracyRun *run)
{
  return run->has_ended
         && (run->outcome == DYNO_TRIAL_OUT_OF_MEMORY || run->outcome == DYNO_TRIAL_DOES_NOT_FIT);
}

static gboolean
train_runs (Search *s, DynoAccuracyRun *const *runs, guint n, GError **error)
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
train_alone (Search *s, const Group *group, GError **error)
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

/* Trains the runs of the group, and records those that have ended, in their order; the group is
 * empty afterwards.  FALSE with the error, or without one where the search was stopped. */
static gboolean
train_group (Search *s, Group *group, GError **error)
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
  if (good && group->n > 1)
    good = train_alone (s, group, &problem);
  for (guint i = 0; i < group->n && group->runs[i]->has_ended; i++)
    if (!end_run (s, g_steal_pointer (&group->runs[i]), good ? &problem : NULL))
      {
        good = FALSE;
        break;
      }
  g_ptr_array_set_size (s->result->running, 0);
  group_clear (group);
  group->n = 0;
  if (good)
    return TRUE;
  s->result->stopped = g_error_matches (problem, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  if (problem && !s->result->stopped)
    g_propagate_error (error, g_steal_pointer (&problem));
  return FALSE;
}

/* Adds the run of a trial from the rung that it has finished to the next one. */
static void
add_rung (const Search *s, Group *group, guint number, const DynoSettings *settings)
{
  DynoAccuracyRun *run = g_new0 (DynoAccuracyRun, 1);
  guint rung = number < s->result->trials->len ? get_trial (s, number)->halving.n_done : 0;

  *run = (DynoAccuracyRun){ .trial = number,
                            .seed = (guint64) s->space->own.seed,
                            .from_epochs = rung > 0 ? s->result->rungs[rung - 1] : 0,
                            .epochs = s->result->rungs[rung],
                            .value = (double) NAN,
                            .settings = *settings };
  group->runs[group->n++] = run;
}

/* --- the search ------------------------------------------------------------------------------- */

/* The job's own settings are trained to the end, unless they fail. */
static gboolean
train_own (Search *s, GError **error)
{
  const DynoAccuracyResult *r = s->result;
  guint64 all = r->rungs[r->n_rungs - 1];
  g_auto (Group) group = { 0 };

  while (r->trials->len == 0
         || (get_trial (s, 0)->halving.n_done < r->n_rungs && !get_trial (s, 0)->halving.failed))
    {
      guint64 done = r->trials->len > 0 ? r->rungs[get_trial (s, 0)->halving.n_done - 1] : 0;

      if (!has_time (s, all - done, 1, 1, 0))
        {
          g_set_error (error, DYNO_TUNE_ERROR, DYNO_TUNE_ERROR_NOTHING,
                       _ ("The time is too short: your settings need about %.1f min for their "
                          "epochs, and a search some ten times as long; give it more minutes, or "
                          "train fewer epochs"),
                       expect_seconds (s, all, 1, 1) / 60);
          return FALSE;
        }
      add_rung (s, &group, 0, &s->space->own);
      if (!train_group (s, &group, error))
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

/* Proposes the settings of a new trial; those of the group count as the worst so far. */
static gboolean
propose (Search *s, const Group *group, DynoSettings *settings, GError **error)
{
  guint known = s->result->trials->len, n = known + group->n, width = s->space->n;
  g_autofree double *points = g_new (double, (gsize) MAX (n * width, 1)),
                    *places = g_new (double, MAX (n, 1));
  double point[DYNO_PARAMS_MOST];

  copy_points (s, points);
  rank_trials (s, places);
  for (guint i = 0; i < group->n; i++)
    {
      dyno_param_space_get_point (s->space, &group->runs[i]->settings, point);
      memcpy (points + (gsize) (known + i) * width, point, width * sizeof *point);
      places[known + i] = known;
    }
  dyno_tpe_propose (&s->tpe, points, places, n, n, point);
  return dyno_param_space_get_settings (s->space, point, settings, error);
}

/* --- trials ----------------------------------------------------------------------------------- */

/* The epochs that a trial trains in a rung. */
static guint64
get_rung_epochs (const Search *s, guint rung)
{
  return s->result->rungs[rung] - (rung > 0 ? s->result->rungs[rung - 1] : 0);
}

/* The rung of the next group: the highest one to which as many trials are promoted as are trained
 * at once; else the first, for new trials; else, where these are over or would leave no time to
 * promote the others, the highest one to which any is promoted.  -1: there is none. */
static int
choose_rung (const Search *s, const DynoHalvingTrial *trials, guint at_once)
{
  const DynoAccuracyResult *r = s->result;
  guint most = s->params->most_trials > 0 ? s->params->most_trials : G_MAXUINT, n = r->trials->len,
        n_highest = 0;
  int highest = -1;
  double kept = get_final_seconds (s);

  for (guint rung = r->n_rungs - 1; rung > 0; rung--)
    {
      guint n_promoted = dyno_halving_count_promoted (trials, n, rung);

      if (n_promoted >= at_once)
        return (int) rung;
      if (n_promoted == 0 || highest >= 0)
        continue;
      highest = (int) rung;
      n_highest = n_promoted;
    }
  if (highest > 0)
    kept += expect_seconds (s, get_rung_epochs (s, (guint) highest), n_highest, at_once);
  return n < most && (highest < 0 || has_time (s, r->rungs[0], at_once, at_once, kept)) ? 0
                                                                                        : highest;
}

/* Fills the group with runs of the next rung, as many as are trained at once and as there is time
 * for; none where the trials are over. */
static gboolean
fill_group (Search *s, Group *group, GError **error)
{
  const DynoAccuracyResult *r = s->result;
  g_autofree DynoHalvingTrial *trials = copy_halving (s);
  guint n = get_at_once (s), known = r->trials->len,
        most = s->params->most_trials > 0 ? s->params->most_trials : G_MAXUINT;
  int rung = choose_rung (s, trials, n);

  while (rung >= 0 && n > 0
         && !has_time (s, get_rung_epochs (s, (guint) rung), n, n, get_final_seconds (s)))
    n--;
  while (rung >= 0 && group->n < n)
    {
      int promoted = rung > 0 ? dyno_halving_find_promoted (trials, known, (guint) rung) : -1;
      DynoSettings settings;

      if (rung == 0 && known + group->n < most)
        {
          if (!propose (s, group, &settings, error))
            return FALSE;
          add_rung (s, group, known + group->n, &settings);
        }
      else if (promoted >= 0)
        {
          trials[promoted].busy = TRUE;
          add_rung (s, group, (guint) promoted, &get_trial (s, (guint) promoted)->settings);
        }
      else
        break;
    }
  return TRUE;
}

static gboolean
explore (Search *s, GError **error)
{
  g_auto (Group) group = { 0 };
  guint n_failed = 0;

  while (n_failed < MOST_FAILED)
    {
      guint n_before = s->result->runs->len;

      if (!fill_group (s, &group, error))
        return FALSE;
      if (group.n == 0)
        return TRUE;
      if (!train_group (s, &group, error))
        return FALSE;
      for (guint i = n_before; i < s->result->runs->len; i++)
        {
          const DynoAccuracyRun *run = s->result->runs->pdata[i];

          n_failed = run->outcome == DYNO_TRIAL_FAILED ? n_failed + 1 : 0;
        }
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
  g_auto (Group) group = { 0 };

  /* One contender on enough seeds is worth more than two on too few. */
  choose_contenders (s, n_most);
  fill_final (s);
  while (n_most > 1 && count_missing (s) > 0
         && !has_time (s, all, count_missing (s), get_at_once (s), 0))
    {
      choose_contenders (s, --n_most);
      fill_final (s);
    }
  for (guint index = 0; index < get_most_seeds (s) && has_contender (r) && !r->own.failed; index++)
    {
      guint trials[DYNO_ACCURACY_CONTENDERS + 1], n = list_round (s, index, trials);

      if (n > 0 && !has_time (s, all, n, get_at_once (s), 0))
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
          group.runs[group.n++] = run;
          if (group.n < get_at_once (s) && i + 1 < n)
            continue;
          if (!train_group (s, &group, error))
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
               .most_at_once = CLAMP (runner->most_at_once, 1, DYNO_ACCURACY_MOST_AT_ONCE),
               .begin = runner->get_time (runner->data) };
  g_autoptr (GError) problem = NULL;

  result->space = *space;
  result->metric = *metric;
  result->trials = g_array_new (FALSE, FALSE, sizeof (DynoAccuracyTrial));
  result->runs = g_ptr_array_new_with_free_func ((GDestroyNotify) dyno_accuracy_run_free);
  result->running = g_ptr_array_new_with_free_func ((GDestroyNotify) dyno_accuracy_run_free);
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
