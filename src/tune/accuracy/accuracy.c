/* SPDX-License-Identifier: MIT */
/* One search, step by step: the job's own settings, trials, the final. */
#include "accuracy-private.h"
#include "accuracyverdict.h"
#include "intl.h"
#include "preset.h"
#include <math.h>
#include <string.h>

#define MOST_FAILED 3 /* in a row, for no reason of their settings: others would fail too */

/* The rung in which the trials of the known runs began; -1: there is none besides the job's own
 * settings. */
static int
find_known_first (const DynoAccuracySearch *s)
{
  for (guint i = 0; s->params->known && i < s->params->known->len; i++)
    {
      const DynoAccuracyRun *run = s->params->known->pdata[i];

      if (run->trial > 0 && !run->final && run->from_epochs == 0)
        return dyno_accuracy_search_find_rung (s, run->epochs);
    }
  return -1;
}

static void
take_known (DynoAccuracySearch *s)
{
  for (guint i = 0; s->params->known && i < s->params->known->len; i++)
    {
      g_autoptr (DynoAccuracyRun) run = dyno_accuracy_run_copy (s->params->known->pdata[i]);

      if (dyno_accuracy_search_take_run (s, run))
        g_steal_pointer (&run);
    }
  s->result->n_known = s->result->runs->len;
}

/* --- the search ------------------------------------------------------------------------------- */

/* The job's own settings are trained to the end, unless they fail. */
static gboolean
train_own (DynoAccuracySearch *s, GError **error)
{
  const DynoAccuracyResult *r = s->result;
  guint64 all = r->rungs[r->n_rungs - 1];
  g_auto (DynoAccuracyGroup) group = { 0 };

  while (r->trials->len == 0
         || (dyno_accuracy_search_get_trial (s, 0)->halving.n_done < r->n_rungs
             && !dyno_accuracy_search_get_trial (s, 0)->halving.failed))
    {
      guint64 done = r->trials->len > 0
                         ? r->rungs[dyno_accuracy_search_get_trial (s, 0)->halving.n_done - 1]
                         : 0;

      if (!dyno_accuracy_search_has_time (s, all - done, 1, 1, 0))
        {
          g_set_error (error, DYNO_TUNE_ERROR, DYNO_TUNE_ERROR_NOTHING,
                       _ ("The time is too short: your settings need about %.1f min for their "
                          "epochs, and a search some ten times as long; give it more minutes, or "
                          "train fewer epochs"),
                       dyno_accuracy_search_expect (s, all, 1, 1) / 60);
          return FALSE;
        }
      dyno_accuracy_group_add_rung (s, &group, 0, &s->space->own);
      if (!dyno_accuracy_group_train (s, &group, error))
        return FALSE;
    }
  return TRUE;
}

/* --- ranking for the estimator ---------------------------------------------------------------- */

static DynoHalvingTrial *
copy_halving (const DynoAccuracySearch *s)
{
  DynoHalvingTrial *trials = g_new (DynoHalvingTrial, MAX (s->result->trials->len, 1));

  for (guint i = 0; i < s->result->trials->len; i++)
    trials[i] = dyno_accuracy_search_get_trial (s, i)->halving;
  return trials;
}

/* The number of rungs that a trial has finished by its own values: the job's own settings, which
 * train through all rungs, count only the rungs to which they would have been promoted. */
static guint
count_earned (const DynoAccuracySearch *s, const DynoHalvingTrial *trials, guint i)
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
rank_trials (const DynoAccuracySearch *s, double *places)
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
propose (DynoAccuracySearch *s, const DynoAccuracyGroup *group, DynoSettings *settings,
         GError **error)
{
  guint known = s->result->trials->len, n = known + group->n, width = s->space->n;
  g_autofree double *points = g_new (double, (gsize) MAX (n * width, 1)),
                    *places = g_new (double, MAX (n, 1));
  double point[DYNO_PARAMS_MOST];

  dyno_accuracy_search_copy_points (s, points);
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
get_rung_epochs (const DynoAccuracySearch *s, guint rung)
{
  return s->result->rungs[rung] - (rung > 0 ? s->result->rungs[rung - 1] : 0);
}

/* The rung of the next group: the highest one to which as many trials are promoted as are trained
 * at once; else the first, for new trials; else, where these are over or would leave no time to
 * promote the others, the highest one to which any is promoted.  -1: there is none. */
static int
choose_rung (const DynoAccuracySearch *s, const DynoHalvingTrial *trials, guint at_once)
{
  const DynoAccuracyResult *r = s->result;
  guint most = s->params->most_trials > 0 ? s->params->most_trials : G_MAXUINT, n = r->trials->len,
        n_highest = 0;
  int highest = -1;
  double kept = dyno_accuracy_search_get_final_seconds (s);

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
    kept +=
        dyno_accuracy_search_expect (s, get_rung_epochs (s, (guint) highest), n_highest, at_once);
  return n < most
                 && (highest < 0
                     || dyno_accuracy_search_has_time (s, r->rungs[0], at_once, at_once, kept))
             ? 0
             : highest;
}

/* Fills the group with runs of the next rung, as many as are trained at once and as there is time
 * for; none where the trials are over. */
static gboolean
fill_group (DynoAccuracySearch *s, DynoAccuracyGroup *group, GError **error)
{
  const DynoAccuracyResult *r = s->result;
  g_autofree DynoHalvingTrial *trials = copy_halving (s);
  guint n = dyno_accuracy_search_get_at_once (s), known = r->trials->len,
        most = s->params->most_trials > 0 ? s->params->most_trials : G_MAXUINT;
  int rung = choose_rung (s, trials, n);

  while (rung >= 0 && n > 0
         && !dyno_accuracy_search_has_time (s, get_rung_epochs (s, (guint) rung), n, n,
                                            dyno_accuracy_search_get_final_seconds (s)))
    n--;
  while (rung >= 0 && group->n < n)
    {
      int promoted = rung > 0 ? dyno_halving_find_promoted (trials, known, (guint) rung) : -1;
      DynoSettings settings;

      if (rung == 0 && known + group->n < most)
        {
          if (!propose (s, group, &settings, error))
            return FALSE;
          dyno_accuracy_group_add_rung (s, group, known + group->n, &settings);
        }
      else if (promoted >= 0)
        {
          trials[promoted].busy = TRUE;
          dyno_accuracy_group_add_rung (
              s, group, (guint) promoted,
              &dyno_accuracy_search_get_trial (s, (guint) promoted)->settings);
        }
      else
        break;
    }
  return TRUE;
}

static gboolean
explore (DynoAccuracySearch *s, GError **error)
{
  g_auto (DynoAccuracyGroup) group = { 0 };
  guint n_failed = 0;

  while (n_failed < MOST_FAILED)
    {
      guint n_before = s->result->runs->len;

      if (!fill_group (s, &group, error))
        return FALSE;
      if (group.n == 0)
        return TRUE;
      if (!dyno_accuracy_group_train (s, &group, error))
        return FALSE;
      for (guint i = n_before; i < s->result->runs->len; i++)
        {
          const DynoAccuracyRun *run = s->result->runs->pdata[i];

          n_failed = run->outcome == DYNO_TRIAL_FAILED ? n_failed + 1 : 0;
        }
    }
  return TRUE;
}

/* --------------------------------------------------------------------------------------------- */

/* TRUE: the runs of the earlier search are a proof by themselves. */
static gboolean
is_known_proven (DynoAccuracySearch *s)
{
  gboolean proven;

  if (s->result->n_known == 0)
    return FALSE;
  dyno_accuracy_final_choose (s, DYNO_ACCURACY_CONTENDERS);
  dyno_accuracy_final_fill (s);
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
  DynoAccuracySearch s = { .space = space,
                           .params = params,
                           .runner = runner,
                           .watch = watch,
                           .cancellable = cancellable,
                           .result = result,
                           .tpe = dyno_param_space_get_tpe (space),
                           .most_at_once =
                               CLAMP (runner->most_at_once, 1, DYNO_ACCURACY_MOST_AT_ONCE),
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
  if ((!train_own (&s, &problem) || !explore (&s, &problem)
       || !dyno_accuracy_final_run (&s, &problem))
      && !result->stopped)
    {
      g_propagate_error (error, g_steal_pointer (&problem));
      return NULL;
    }
  if (result->trials->len > 0 && result->n_contenders == 0)
    dyno_accuracy_final_choose (&s, DYNO_ACCURACY_CONTENDERS);
  if (result->trials->len > 0)
    dyno_accuracy_final_fill (&s);
  dyno_accuracy_search_fill_importance (&s);
  dyno_accuracy_judge (result);
  return g_steal_pointer (&result);
}
