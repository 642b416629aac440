/* SPDX-License-Identifier: MIT */
/* Computes the gain of each setting: settings are changed one after another from the value of the
 * base line to the value of the best settings; the next one is the setting that fits and gains most
 * at that point.
 *
 * The model was corrected around the best settings, and its prediction for a point on the way may
 * be far off (cores that loader and device share; a batch that was never tried in fp32; AMP where
 * the loader leads).  So the points on the way are measured where there is time; for several
 * settings between two measured points only their joint gain is reported. */
#include "searchstate.h"
#include <math.h>

#define MOST_GAINS 16
#define SHARE      0.12 /* most share of the time for the points on the way */
/* ratio of the highest to the lowest rate of the proof's turns above which the machine is
 * unsteady */
#define UNSTEADY 1.1

/* The rate of a run at this point, and whether it was measured; 0: not known. */
static double
rate_at (DynoSearch *search, const DynoSettings *settings, gboolean *measured)
{
  const DynoArm *arm = dyno_search_find (search, settings);
  DynoEstimate run;
  double rate;

  *measured = arm && !arm->out && !arm->filling && dyno_arm_estimate (arm, &run);
  if (*measured)
    return run.median;
  rate = dyno_rate_model_predict (search->model, settings, NULL);
  return rate > 0 ? dyno_search_run_rate (search, NULL, rate) : 0;
}

/* A large network takes a second to plan: when the time is over, or the search was stopped, only
 * settings that were planned before are ruled out. */
static gboolean
may_fit (DynoSearch *search, const DynoSettings *settings, double end_s)
{
  gboolean over = dyno_search_stopped (search) || dyno_search_elapsed (search) > end_s;

  return (over && !dyno_search_is_planned (search, settings))
         || dyno_search_fits (search, settings);
}

/* The setting whose value in best gains most at these settings; settings that do not fit come
 * last. */
static const DynoSettingInfo *
choose_row (DynoSearch *search, const DynoSettings *at, const DynoSettings *best, double end_s)
{
  const DynoSettingInfo *chosen = NULL;
  gboolean chosen_fits = FALSE;
  double most = 0;

  for (const DynoSettingInfo *row = dyno_space_next (NULL); row; row = dyno_space_next (row))
    {
      double value = dyno_settings_get_number (best, row->key), rate;
      DynoSettings next = *at;
      gboolean fits, measured;

      if (value == dyno_settings_get_number (at, row->key))
        continue;
      dyno_settings_set_number (&next, row->key, value, NULL);
      fits = may_fit (search, &next, end_s);
      rate = rate_at (search, &next, &measured);
      if (!chosen || fits > chosen_fits || (fits == chosen_fits && rate > most))
        {
          chosen = row;
          chosen_fits = fits;
          most = rate;
        }
    }
  return chosen;
}

/* TRUE where the rates of the proof's turns differ by more than UNSTEADY, or there are fewer than
 * two turns. */
static gboolean
is_unsteady (const DynoArm *best)
{
  double low = INFINITY, high = 0;

  for (guint i = 0; i < best->proofs->len; i++)
    {
      double rate = g_array_index (best->proofs, DynoEstimate, i).median;

      low = MIN (low, rate);
      high = MAX (high, rate);
    }
  return best->proofs->len < 2 || high > UNSTEADY * low;
}

/* Measures a trial; NULL: the search was stopped, there was no time for it, or it failed. */
static DynoEstimate *
take_trial (DynoSearch *search, const DynoSettings *settings, double end_s)
{
  double cost_s = dyno_search_cost (search, settings, search->trial_s)
                  + dyno_search_fill_seconds (search, settings);
  DynoArm *arm = dyno_search_find (search, settings);
  guint before = arm ? arm->trials->len : 0;

  if (dyno_search_stopped (search) || search->failures >= DYNO_SEARCH_FAILURES
      || dyno_search_elapsed (search) + cost_s > end_s)
    return NULL;
  arm = dyno_search_try (search, "search", settings, search->trial_s, 0, 0);
  if (!arm || arm->out || arm->trials->len <= before)
    return NULL;
  return &g_array_index (arm->trials, DynoEstimate, arm->trials->len - 1);
}

/* Where the machine is unsteady, the best settings are measured right after the point, and the
 * point's rate is corrected for the load of other programs at this time. */
static void
measure_point (DynoSearch *search, const DynoArm *best, const DynoSettings *settings, double end_s)
{
  DynoEstimate *own, *beside, whole;
  double factor;

  if (dyno_search_find (search, settings) || !may_fit (search, settings, end_s))
    return;
  own = take_trial (search, settings, end_s);
  if (!own || !is_unsteady (best) || !dyno_arm_estimate (best, &whole))
    return;
  beside = take_trial (search, &best->settings, end_s);
  factor = beside ? whole.median / beside->median : 1;
  own->median *= factor;
  own->low *= factor;
  own->high *= factor;
}

/* Adds one gain after the other; *points: the settings after each gain. */
static void
go_the_way (DynoSearch *search, const DynoArm *best, DynoSettings *points)
{
  DynoTuneResult *result = search->result;
  DynoSettings at = search->baseline->settings;
  double end_s = MIN (search->seconds, dyno_search_elapsed (search) + SHARE * search->seconds);

  search->explaining = TRUE;
  while (!dyno_space_same (&at, &best->settings) && result->n_gains < MOST_GAINS)
    {
      const DynoSettingInfo *row = choose_row (search, &at, &best->settings, end_s);
      DynoTuneGain *gain = &result->gains[result->n_gains];

      gain->key = row->key;
      gain->from = dyno_settings_get (&at, row->key);
      gain->to = dyno_settings_get (&best->settings, row->key);
      dyno_settings_set_number (&at, row->key, dyno_settings_get_number (&best->settings, row->key),
                                NULL);
      points[result->n_gains++] = at;
      if (!dyno_space_same (&at, &best->settings))
        measure_point (search, best, &at, end_s);
    }
}

void
dyno_search_split_gain (DynoSearch *search, const DynoArm *best)
{
  DynoTuneResult *result = search->result;
  DynoTuneGain *gains = result->gains = g_new0 (DynoTuneGain, MOST_GAINS);
  DynoSettings points[MOST_GAINS];
  double before = result->baseline.samples_per_s;

  go_the_way (search, best, points);
  for (guint i = 0; i < result->n_gains; i++)
    {
      gboolean measured;
      double rate = rate_at (search, &points[i], &measured);

      gains[i].factor = (double) NAN;
      if (i + 1 == result->n_gains)
        rate = result->best.samples_per_s;
      else if (!measured)
        continue;
      gains[i].factor = before > 0 && rate > 0 ? rate / before : 1;
      before = rate;
    }
}
