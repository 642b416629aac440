/* SPDX-License-Identifier: MIT */
/* The best trials and the job's own settings are trained anew with seeds that the search has not
 * used. */
#include "accuracy-private.h"
#include <math.h>

#define LEAST_PAIRS 2 /* fewer seeds prove nothing */

/* TRUE: the trial is better than the job's own settings were at the same rung. */
static gboolean
is_contender (const DynoAccuracySearch *s, guint number)
{
  const DynoAccuracyTrial *trial = dyno_accuracy_search_get_trial (s, number),
                          *own = dyno_accuracy_search_get_trial (s, 0);
  guint rung = trial->halving.n_done - 1;

  return own->halving.failed || trial->halving.losses[rung] < own->halving.losses[rung];
}

void
dyno_accuracy_final_choose (DynoAccuracySearch *s, guint n_most)
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
find_final (const DynoAccuracySearch *s, guint trial, guint index)
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
fill_contender (const DynoAccuracySearch *s, DynoAccuracyContender *c)
{
  c->failed = dyno_accuracy_search_get_trial (s, c->trial)->halving.failed;
  for (guint k = 0; k < DYNO_ACCURACY_MOST_SEEDS; k++)
    {
      const DynoAccuracyRun *run = find_final (s, c->trial, k);

      c->values[k] = run ? run->value : (double) NAN;
      c->failed = c->failed || (run && run->outcome != DYNO_TRIAL_OK);
    }
}

void
dyno_accuracy_final_fill (DynoAccuracySearch *s)
{
  DynoAccuracyResult *r = s->result;

  fill_contender (s, &r->own);
  for (guint i = 0; i < r->n_contenders; i++)
    fill_contender (s, &r->contenders[i]);
}

/* The trials that have to train with this seed, the job's own settings first; returns their
 * number. */
static guint
list_round (const DynoAccuracySearch *s, guint index, guint *trials)
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
count_missing (const DynoAccuracySearch *s)
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

gboolean
dyno_accuracy_final_run (DynoAccuracySearch *s, GError **error)
{
  DynoAccuracyResult *r = s->result;
  guint64 all = r->rungs[r->n_rungs - 1];
  guint n_most = DYNO_ACCURACY_CONTENDERS;
  g_auto (DynoAccuracyGroup) group = { 0 };

  /* One contender on enough seeds is worth more than two on too few. */
  dyno_accuracy_final_choose (s, n_most);
  dyno_accuracy_final_fill (s);
  while (n_most > 1 && count_missing (s) > 0
         && !dyno_accuracy_search_has_time (s, all, count_missing (s),
                                            dyno_accuracy_search_get_at_once (s), 0))
    {
      dyno_accuracy_final_choose (s, --n_most);
      dyno_accuracy_final_fill (s);
    }
  for (guint index = 0;
       index < dyno_accuracy_search_get_most_seeds (s) && has_contender (r) && !r->own.failed;
       index++)
    {
      guint trials[DYNO_ACCURACY_CONTENDERS + 1], n = list_round (s, index, trials);

      if (n > 0
          && !dyno_accuracy_search_has_time (s, all, n, dyno_accuracy_search_get_at_once (s), 0))
        return TRUE;
      for (guint i = 0; i < n; i++)
        {
          DynoAccuracyRun *run = g_new0 (DynoAccuracyRun, 1);

          *run = (DynoAccuracyRun){ .trial = trials[i],
                                    .final = TRUE,
                                    .seed = (guint64) s->space->own.seed + 1 + index,
                                    .epochs = all,
                                    .value = (double) NAN,
                                    .settings =
                                        dyno_accuracy_search_get_trial (s, trials[i])->settings };
          group.runs[group.n++] = run;
          if (group.n < dyno_accuracy_search_get_at_once (s) && i + 1 < n)
            continue;
          if (!dyno_accuracy_group_train (s, &group, error))
            return FALSE;
          dyno_accuracy_final_fill (s);
        }
    }
  return TRUE;
}
