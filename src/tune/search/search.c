/* SPDX-License-Identifier: MIT */
/* The joint search.
 *
 *   existing       base line, present settings and the preset's: a look at each, which also shows
 *                  how much loader and device overlap here
 *   ceilings       loader and device apart (scan.c); the planner has ruled out all that cannot fit
 *   search         the model predicts every point of the space; the most promising point is tried,
 *                  and the model learns, until no point promises more than the noise
 *   proof          the best, the base line and the present settings in turn (proof.c)
 *
 * Time is kept by leaving out measurements that would not end in it, by a reserve that only proofs
 * use, and by a deadline for each measurement. */
#include "intl.h"
#include "preset.h"
#include "searchstate.h"
#include "verdict.h"
#include <math.h>
#include <string.h>

/* share of the time left by the first looks, after which no ceiling is begun */
#define SCAN_SHARE     0.40
#define PROOF_SHARE    0.40 /* most share of the time that is kept for proofs */
#define NUMERICS_SHARE 0.15 /* most share of the time for the comparison of AMP with fp32 */
#define GOAL_SHARE     0.5  /* share of the time for the race to a goal */
#define MOST_TRIALS    60
/* least expected improvement, as a share of the rate, that is worth a trial */
#define LEAST_PROMISE 0.004
#define HOPELESS      0.85 /* share of the best rate: a trial below it ends after a first look */
/* settings that promise this multiple of the best rate so far are tried at once */
#define LEAP          2.0
#define LEAPS         2
#define MEMORY_MARGIN 0.98 /* most memory that the best may use, as a share of the limit */

/* --- time ------------------------------------------------------------------------------------- */

/* The time for two turns of the proof: of the choice, of another arm that is nearly as fast, and of
 * the two settings that they are compared with. */
static double
proof_seconds (DynoSearch *search, const DynoSettings *settings, gboolean measured)
{
  double seconds = 2 * dyno_search_proof_cost (search, settings, measured);

  if (search->today)
    seconds += dyno_search_proof_cost (search, &search->today->settings, measured);
  if (search->baseline && search->baseline != search->today)
    seconds += dyno_search_proof_cost (search, &search->baseline->settings, measured);
  return seconds;
}

/* The time kept for a proof with measured kernels, up to the proof's share of the time. */
static double
reserved_seconds (DynoSearch *search, const DynoSettings *settings)
{
  return MIN (proof_seconds (search, settings, TRUE), PROOF_SHARE * search->seconds);
}

/* The time kept where the settings promise more than measured kernels could gain: the proof may
 * then use the likely kernels, if measuring them would exceed the proof's share of the time. */
static double
least_reserved_seconds (DynoSearch *search, const DynoSettings *settings)
{
  double reserved = reserved_seconds (search, settings);

  return reserved < PROOF_SHARE * search->seconds
             ? reserved
             : MIN (proof_seconds (search, settings, FALSE), reserved);
}

static gboolean
has_time_beside (DynoSearch *search, const DynoSettings *settings, double seconds, double reserve_s)
{
  return dyno_search_elapsed (search) + dyno_search_cost (search, settings, seconds) + reserve_s
         <= search->seconds;
}

static gboolean
has_time (DynoSearch *search, const DynoSettings *settings, double seconds)
{
  return has_time_beside (search, settings, seconds, reserved_seconds (search, settings));
}

/* --- memory ----------------------------------------------------------------------------------- */

typedef struct {
  guint64 bytes;
  gboolean fits;
} Plan;

static char *
plan_key (const DynoSettings *settings)
{
  return g_strdup_printf ("%" G_GINT64_FORMAT " %" G_GINT64_FORMAT " %d %d", settings->batch_size,
                          settings->accumulate, settings->amp, settings->checkpointing);
}

static const Plan *
plan (DynoSearch *search, const DynoSettings *settings)
{
  g_autofree char *key = plan_key (settings);
  Plan *known = g_hash_table_lookup (search->plans, key);

  if (!known)
    {
      static const Plan unknown;
      g_autofree char *advice = NULL;

      if (dyno_search_stopped (search))
        return &unknown; /* planning a large network takes a second */
      known = g_new0 (Plan, 1);
      if (!search->meter->class->plan (search->meter, settings, &known->bytes, &known->fits,
                                       &advice, NULL))
        *known = (Plan){ 0 };
      g_hash_table_insert (search->plans, g_steal_pointer (&key), known);
    }
  return known;
}

guint64
dyno_search_planned (DynoSearch *search, const DynoSettings *settings)
{
  return plan (search, settings)->bytes;
}

gboolean
dyno_search_is_planned (DynoSearch *search, const DynoSettings *settings)
{
  g_autofree char *key = plan_key (settings);

  return g_hash_table_contains (search->plans, key);
}

gboolean
dyno_search_fits (DynoSearch *search, const DynoSettings *settings)
{
  const Plan *p = plan (search, settings);

  return p->fits && p->bytes < search->most_bytes;
}

gboolean
dyno_search_updates (DynoSearch *search, const DynoSettings *s)
{
  const DynoSettings *present = &search->job->settings;
  gint64 each = s->batch_size * s->accumulate;

  return (guint64) each * DYNO_SEARCH_UPDATES <= search->meter->n_train
         || each <= present->batch_size * present->accumulate;
}

/* The largest batch of these settings that fits, up to most; 0: none. */
static gint64
largest_batch (DynoSearch *search, const DynoSettings *settings, gint64 most)
{
  DynoSettings s = *settings;
  gint64 low = 0, high = most + 1;

  s.batch_size = most;
  if (dyno_search_fits (search, &s))
    return most;
  while (high - low > 1)
    {
      s.batch_size = low + (high - low) / 2;
      if (dyno_search_fits (search, &s))
        low = s.batch_size;
      else
        high = s.batch_size;
    }
  return low;
}

/* --- the joint search ------------------------------------------------------------------------- */

/* TRUE: the value of one of the switches failed at least twice and never worked, so it is not tried
 * again. */
static gboolean
is_broken (DynoSearch *search, const DynoSettings *s)
{
  static const char *const switches[] = { "amp", "cache", "checkpointing" };

  for (guint k = 0; k < G_N_ELEMENTS (switches); k++)
    {
      double value = dyno_settings_get_number (s, switches[k]);
      guint failed = 0, worked = 0;

      for (guint i = 0; i < search->arms->len; i++)
        {
          const DynoArm *arm = search->arms->pdata[i];

          if (dyno_settings_get_number (&arm->settings, switches[k]) != value)
            continue;
          worked += arm->outcome == DYNO_TRIAL_OK;
          failed += arm->outcome == DYNO_TRIAL_FAILED || arm->outcome == DYNO_TRIAL_DIVERGED;
        }
      if (failed >= 2 && worked == 0)
        return TRUE;
    }
  return FALSE;
}

/* The arm with the highest utility, and its utility; *rate: the highest rate of any arm. */
static const DynoArm *
find_leader (DynoSearch *search, double *rate, double *utility)
{
  const DynoArm *leader = NULL;

  *rate = 0;
  *utility = -INFINITY;
  for (guint i = 0; i < search->arms->len; i++)
    {
      const DynoArm *arm = search->arms->pdata[i];
      double expected, u, measured;
      DynoEstimate e;

      if (arm->out || !dyno_arm_estimate (arm, &e))
        continue;
      /* The mean with the prediction of the model corrects a measurement that is high by chance. */
      expected = dyno_search_run_rate (
          search, arm, dyno_rate_model_predict (search->model, &arm->settings, NULL));
      measured = sqrt (expected * e.median);
      u = dyno_search_utility (&arm->settings, measured);
      *rate = MAX (*rate, measured);
      if (u > *utility)
        {
          *utility = u;
          leader = arm;
        }
    }
  return leader;
}

/* The expected improvement: the mean amount by which the settings may exceed the leader, in parts
 * of its rate. */
static double
expected_improvement (double mean, double sd, double leader)
{
  double z = (mean - leader - DYNO_SEARCH_NOISE) / MAX (sd, 1e-6);

  return MAX (sd, 1e-6) * (z * 0.5 * erfc (-z / G_SQRT2) + exp (-0.5 * z * z) / sqrt (2 * G_PI));
}

/* The predicted rate of a run, averaged over all its epochs; a cache is filled in the first. */
static double
promised_rate (DynoSearch *search, const DynoSettings *s, double predicted)
{
  double n = (double) MAX (search->meter->n_train, 1),
         epochs = (double) MAX (search->job->settings.epochs, 1), epoch_s;

  predicted = dyno_search_run_rate (search, NULL, predicted);
  epoch_s = n / predicted;
  epoch_s += MAX (dyno_search_fill_seconds (search, s) - epoch_s, 0) / epochs;
  return n / epoch_s;
}

/* The time of a trial, with the time to fill its cache, which has no effect before. */
static double
trial_seconds (DynoSearch *search, const DynoSettings *s)
{
  return search->trial_s + dyno_search_fill_seconds (search, s);
}

/* The untried point with the highest promise; FALSE: no point that there is time for promises more
 * than the noise.  *next_reserved: seconds that its trial leaves to the proof. */
static gboolean
next_point (DynoSearch *search, const GArray *points, DynoSettings *next, double *next_reserved)
{
  double rate, leader, most = 0, expected = 0;
  gboolean found = FALSE, measured = find_leader (search, &rate, &leader) != NULL;

  for (guint i = 0; i < points->len; i++)
    {
      const DynoSettings *s = &g_array_index (points, DynoSettings, i);
      double sd, predicted = dyno_rate_model_predict (search->model, s, &sd), promise, reserved;

      if (!(predicted > 0))
        continue;
      predicted = promised_rate (search, s, predicted);
      expected = MAX (expected, predicted);
      promise = dyno_search_utility (s, predicted);
      promise = measured ? expected_improvement (promise, sd, leader) : exp (promise);
      if (promise <= (measured ? LEAST_PROMISE : 0))
        continue;
      reserved = measured && promise < DYNO_SEARCH_PAYS - 1 ? reserved_seconds (search, s)
                                                            : least_reserved_seconds (search, s);
      /* Of two points with the same promise the one that takes less time to measure is taken. */
      promise *= sqrt (
          (search->again_prepare_s + search->trial_s)
          / (dyno_search_cost (search, s, search->trial_s) + dyno_search_fill_seconds (search, s)));
      if (promise <= most || dyno_search_find (search, s) || !dyno_search_updates (search, s)
          || !dyno_search_fits (search, s) || is_broken (search, s)
          || !has_time_beside (search, s, trial_seconds (search, s), reserved))
        continue;
      most = promise;
      *next = *s;
      *next_reserved = reserved;
      found = TRUE;
    }
  search->expected = expected;
  return found;
}

/* The loader's settings with the highest promise among those that were measured; FALSE: none
 * promises at least `least` and can be tried in the remaining time.  No time is kept for proofs. */
static gboolean
find_leap (DynoSearch *search, const DynoSettings *best, double gpu, double least,
           DynoSettings *next)
{
  gboolean found = FALSE;

  for (guint i = 0; i < search->result->ceilings->len; i++)
    {
      const DynoCeiling *c = search->result->ceilings->pdata[i];
      DynoSettings s = *best;
      double promised;

      s.workers = c->settings.workers;
      s.cache = c->settings.cache;
      if (c->of != DYNO_CEILING_LOADER || c->outcome != DYNO_TRIAL_OK || !(c->samples_per_s > 0))
        continue;
      promised = promised_rate (search, &s, MIN (c->samples_per_s, gpu));
      if (promised < least || dyno_search_find (search, &s) || !dyno_search_updates (search, &s)
          || !dyno_search_fits (search, &s)
          || !has_time_beside (search, &s, trial_seconds (search, &s), 0))
        continue;
      least = promised;
      *next = s;
      found = TRUE;
    }
  return found;
}

/* Slow settings take long to measure: their ceilings and their proof may leave no time for settings
 * that are many times as fast.  A best that is not proven is worth more than a proof of settings
 * that are not the best. */
void
dyno_search_leap (DynoSearch *search, const DynoSettings *best, double gpu)
{
  for (guint n = 0; n < LEAPS && !dyno_search_stopped (search); n++)
    {
      double rate, utility;
      const DynoArm *leader = find_leader (search, &rate, &utility);
      DynoSettings next;

      if (!leader || !(leader->wait_data_ms > 0.5 * leader->step_ms))
        return;
      if (!(gpu > 0)) /* there was no time for that: its rate when it does not wait */
        gpu = rate * leader->step_ms / MAX (leader->step_ms - leader->wait_data_ms, 1e-3);
      if (!find_leap (search, best, gpu, LEAP * rate, &next)
          || !dyno_search_try (search, "search", &next, search->trial_s, 0, 0)
          || search->failures >= DYNO_SEARCH_FAILURES)
        return;
    }
}

/* The prefetch is searched where the loader is the limit, checkpointing and accumulation where
 * memory is. */
static void
open_knobs (DynoSearch *search, const DynoSettings *best)
{
  double loader = dyno_rate_model_loader (search->model, best),
         gpu = dyno_rate_model_gpu (search->model, best);
  const DynoArm *arm = dyno_search_find (search, best);

  search->loader_limits = search->space.loader && loader < 1.15 * gpu;
  search->space.vary_prefetch =
      search->loader_limits || (arm && arm->wait_data_ms > 0.05 * arm->step_ms);
  search->space.vary_checkpointing = search->memory_limits;
  search->space.vary_accumulate = search->memory_limits;
}

/* FALSE: there is no time for it, or the search was stopped. */
static gboolean
try_point (DynoSearch *search, const DynoSettings *s, double reserved, double hopeless_below)
{
  return !dyno_search_stopped (search)
         && has_time_beside (search, s, trial_seconds (search, s), reserved)
         && dyno_search_try (search, "search", s, search->trial_s, reserved, hopeless_below)
         && search->failures < DYNO_SEARCH_FAILURES;
}

/* Tries the smallest batch that should be as fast as the leader, within the gain that justifies a
 * change: that batch is advised. */
static void
search_smaller (DynoSearch *search)
{
  double rate, utility;
  const DynoArm *leader = find_leader (search, &rate, &utility);

  for (guint n = 0; leader && n < 3; n++)
    {
      g_autoptr (GArray) values =
          dyno_space_values (&search->space, dyno_setting_find ("batch_size"), &leader->settings);
      gboolean found = FALSE;

      for (guint i = 0; i < values->len && !found; i++)
        {
          DynoSettings s = leader->settings;
          double expected;

          s.batch_size = (gint64) g_array_index (values, double, i);
          if (s.batch_size >= leader->settings.batch_size)
            return;
          expected = dyno_search_run_rate (search, NULL,
                                           dyno_rate_model_predict (search->model, &s, NULL));
          if (expected * DYNO_SEARCH_PAYS < rate * (1 + DYNO_SEARCH_NOISE)
              || !dyno_search_fits (search, &s))
            continue;
          if (dyno_search_find (search, &s))
            return; /* the batch was measured, and is as fast as expected */
          if (!try_point (search, &s, reserved_seconds (search, &s), 0))
            return;
          found = TRUE;
        }
    }
}

static void
search_jointly (DynoSearch *search)
{
  g_autoptr (GArray) points = NULL;
  guint knobs = G_MAXUINT;

  for (guint n = 0; !dyno_search_stopped (search) && n < MOST_TRIALS; n++)
    {
      double rate, utility, reserved;
      const DynoArm *leader = find_leader (search, &rate, &utility);
      DynoSettings next;
      guint open;

      open_knobs (search, leader ? &leader->settings : &search->job->settings);
      open = search->space.vary_prefetch * 1u + search->space.vary_checkpointing * 2u;
      if (open != knobs)
        {
          g_clear_pointer (&points, g_array_unref);
          points = dyno_space_list (&search->space, &search->job->settings);
          knobs = open;
        }
      if (!next_point (search, points, &next, &reserved)
          || !try_point (search, &next, reserved, HOPELESS * rate))
        break;
    }
  search_smaller (search);
}

/* --- AMP's numbers ---------------------------------------------------------------------------- */

/* Where the choice would use AMP, runs some steps of both precisions from the same weights.  FALSE:
 * fp32 trains here and AMP does not, so that no settings with AMP can be the best. */
static gboolean
check_numerics (DynoSearch *search)
{
  const DynoArm *choice = dyno_search_choose (search);
  DynoTuneResult *result = search->result;
  double left;

  if (!choice || !choice->settings.amp || !search->meter->class->numerics
      || dyno_search_stopped (search))
    return TRUE;
  left =
      search->seconds - dyno_search_elapsed (search) - reserved_seconds (search, &choice->settings);
  left = MIN (left, NUMERICS_SHARE * search->seconds);
  if (left < dyno_search_cost (search, &choice->settings, search->trial_s))
    return TRUE;
  result->numerics = g_new0 (DynoNumerics, 1);
  if (!search->meter->class->numerics (search->meter, &choice->settings,
                                       dyno_search_now_us (search) + (gint64) (left * 1e6),
                                       search->params->cancellable, result->numerics, NULL))
    {
      dyno_numerics_clear (result->numerics);
      g_clear_pointer (&result->numerics, g_free);
      return TRUE;
    }
  if (result->numerics->verdict != DYNO_NUMERICS_BAD)
    return TRUE;
  for (guint i = 0; i < search->arms->len; i++)
    {
      DynoArm *arm = search->arms->pdata[i];

      if (!arm->settings.amp)
        continue;
      arm->out = TRUE;
      arm->outcome = DYNO_TRIAL_DIVERGED;
    }
  return FALSE;
}

/* --- from begin to end ------------------------------------------------------------------------ */

/* Settings that cannot fit are ruled out before anything is tried. */
static void
plan_space (DynoSearch *search)
{
  DynoMeter *meter = search->meter;
  const DynoSettingInfo *batch = dyno_setting_find ("batch_size");
  gint64 most = MAX (
      (gint64) MIN (meter->n_train / DYNO_SEARCH_UPDATES, (guint64) batch->tunable.maximum), 1);
  gint64 largest = 0;

  search->space = (DynoSearchSpace){ .most_workers = meter->n_cores,
                                     .fp16 = meter->has_fp16 && !meter->software,
                                     .loader = !meter->generated,
                                     .can_cache = meter->can_cache };
  for (int amp = 0; amp <= search->space.fp16; amp++)
    for (int checkpointing = 0; checkpointing <= 1; checkpointing++)
      {
        DynoSettings s = search->job->settings;

        s.amp = amp;
        s.checkpointing = checkpointing;
        largest = MAX (largest, largest_batch (search, &s, most));
      }
  search->space.most_batch = largest;
}

/* These settings are tried before any search; measurements of an earlier search are reused. */
static DynoArm *
try_first (DynoSearch *search, const char *stage, const DynoSettings *settings)
{
  DynoArm *arm = dyno_search_find (search, settings);

  if (arm && arm->trials->len + arm->proofs->len > 0)
    return arm;
  if (dyno_search_stopped (search)
      || (search->arms->len > 0 && !has_time (search, settings, search->trial_s / 2)))
    return NULL;
  return dyno_search_try (search, stage, settings, search->trial_s, 0, 0);
}

/* Where the search was stopped nothing more is planned: the base line is that of an earlier search,
 * or its batch is not checked. */
static void
set_baseline (DynoSearch *search, DynoSettings *base)
{
  gint64 most = MAX ((gint64) search->meter->n_train / 2, 1), largest;

  dyno_space_set_baseline (base);
  base->batch_size = MIN (base->batch_size, most);
  largest = MAX (largest_batch (search, base, base->batch_size), 1);
  if (!dyno_search_stopped (search))
    base->batch_size = largest;
  for (guint i = 0; dyno_search_stopped (search) && i < search->arms->len; i++)
    {
      const DynoArm *arm = search->arms->pdata[i];

      if (strcmp (arm->role, "baseline") == 0)
        *base = arm->settings;
    }
}

/* A batch that is larger than the training part has the size of that part: the batch that actually
 * ran is reported. */
static void
keep_to_samples (const DynoMeter *meter, DynoSettings *s)
{
  s->batch_size = MIN (s->batch_size, (gint64) MAX (meter->n_train, 1));
}

static void
try_present_settings (DynoSearch *search)
{
  if (!search->today)
    search->today = try_first (search, "today", &search->job->settings);
}

/* Tries the three settings that exist before any search.  On a CPU a large batch takes many times
 * longer, and AMP is slow and takes long to compile: there the base line comes first, from which
 * the model learns the time of the others, and present settings with AMP come after the search. */
static void
try_what_is_there (DynoSearch *search)
{
  const DynoSettings *settings = &search->job->settings;
  gboolean cheap_first = search->meter->software;
  DynoSettings base = *settings;

  set_baseline (search, &base);
  if (!cheap_first)
    try_present_settings (search);
  search->baseline = try_first (search, "baseline", &base);
  if (cheap_first && !settings->amp)
    try_present_settings (search);
  if (!search->baseline)
    search->baseline = dyno_search_get_arm (search, "baseline", &base);
  if (search->params->preset)
    {
      DynoSettings preset = *search->params->preset;

      keep_to_samples (search->meter, &preset);
      search->preset = try_first (search, "preset", &preset);
    }
}

/* The device has changed since the first looks: repeated measurements replace them. */
static void
look_again (DynoSearch *search)
{
  DynoArm *const arms[] = { search->today, search->baseline, search->preset };

  for (guint i = 0; i < G_N_ELEMENTS (arms); i++)
    {
      guint before = arms[i] && !arms[i]->out ? arms[i]->rates->len : 0;

      if (before == 0 || (i > 0 && arms[i] == search->today) || dyno_search_stopped (search)
          || !has_time (search, &arms[i]->settings, trial_seconds (search, &arms[i]->settings))
          || !dyno_search_try (search, "search", &arms[i]->settings, search->trial_s,
                               reserved_seconds (search, &arms[i]->settings), 0)
          || arms[i]->out || arms[i]->rates->len <= before)
        continue;
      g_array_remove_range (arms[i]->rates, 0, before);
      g_array_remove_range (arms[i]->trials, 0, arms[i]->trials->len - 1);
    }
  dyno_rate_model_forget_trials (search->model);
  for (guint i = 0; i < search->arms->len; i++)
    {
      const DynoArm *arm = search->arms->pdata[i];

      for (guint k = 0; k < arm->rates->len; k++)
        {
          dyno_search_learn_rate (search, arm, &g_array_index (arm->rates, DynoEstimate, k));
        }
    }
}

/* Takes over the measurements of an earlier search: the model learns them, and they are not
 * repeated except for the proof, which compares within a short time. */
static void
take_known (DynoSearch *search)
{
  const DynoTuneResult *known = search->params->known;

  for (guint i = 0; known && i < known->ceilings->len; i++)
    {
      DynoCeiling *copy;

      if (((const DynoCeiling *) known->ceilings->pdata[i])->outcome == DYNO_TRIAL_FAILED)
        continue; /* the settings may work now */
      copy = g_new0 (DynoCeiling, 1);
      dyno_ceiling_copy (known->ceilings->pdata[i], copy);
      g_ptr_array_add (search->result->ceilings, copy);
      dyno_search_learn_ceiling (search, copy);
      dyno_search_learn_refusal (search, copy->outcome, copy->planned_bytes);
    }
  for (guint i = 0; known && i < known->trials->len; i++)
    {
      const DynoTrial *t = known->trials->pdata[i];
      DynoTrial *copy = g_new0 (DynoTrial, 1);
      DynoArm *arm;

      dyno_trial_copy (t, copy);
      copy->number = search->result->trials->len + 1;
      g_ptr_array_add (search->result->trials, copy);
      /* The time had ended, or the device was lost: the settings may work now.  A race is run
       * again. */
      if (t->outcome == DYNO_TRIAL_FAILED || strcmp (t->stage, "goal") == 0)
        continue;
      arm = dyno_search_get_arm (search, t->stage, &t->settings);
      arm->planned_bytes = t->planned_bytes;
      arm->vram_bytes = MAX (arm->vram_bytes, t->vram_bytes);
      if (t->samples_per_s > 0)
        {
          DynoEstimate run = { t->samples_per_s, t->low, t->high, 2, TRUE };
          double share = t->train_samples_per_s / t->samples_per_s;
          DynoEstimate rate = { t->train_samples_per_s, t->low * share, t->high * share, 2, TRUE };

          arm->outcome = DYNO_TRIAL_OK;
          if (t->validation_s > 0)
            arm->validation_rate = (double) search->meter->n_validation / t->validation_s;
          if (t->epoch_end_s > 0)
            arm->epoch_end_s = t->epoch_end_s;
          arm->step_ms = t->step_ms;
          arm->wait_data_ms = t->wait_data_ms;
          if (!dyno_arm_takes (arm, t->outcome == DYNO_TRIAL_OK && t->settings.cache && t->text))
            continue;
          g_array_append_val (arm->trials, run);
          g_array_append_val (arm->rates, rate);
          dyno_search_learn_rate (search, arm, &rate);
        }
      else if (arm->trials->len == 0)
        {
          arm->outcome = t->outcome;
          arm->out = TRUE;
          dyno_search_learn_refusal (search, t->outcome, t->planned_bytes);
        }
    }
  search->result->n_known = search->result->trials->len;
  dyno_search_learn_epoch_end (search);
}

/* The reason why there is no best: not fitting, a failure and a stop are different reasons. */
static gboolean
set_nothing (DynoSearch *search, GError **error)
{
  const GPtrArray *trials = search->result->trials;
  const DynoTrial *last = trials->len > 0 ? trials->pdata[trials->len - 1] : NULL;
  gboolean refused = trials->len > 0;

  for (guint i = 0; i < trials->len; i++)
    {
      DynoTrialOutcome outcome = ((const DynoTrial *) trials->pdata[i])->outcome;
      refused &= outcome == DYNO_TRIAL_DOES_NOT_FIT || outcome == DYNO_TRIAL_OUT_OF_MEMORY;
    }
  if (trials->len == 0 && dyno_search_stopped (search))
    g_set_error_literal (error, DYNO_TUNE_ERROR, DYNO_TUNE_ERROR_STOPPED,
                         _ ("The search was stopped before its first trial had ended, so nothing "
                            "is known yet"));
  else if (dyno_search_stopped (search))
    g_set_error (error, DYNO_TUNE_ERROR, DYNO_TUNE_ERROR_STOPPED,
                 _ ("The search was stopped before a trial had worked; the last said: %s"),
                 last->text ? last->text : _ ("nothing"));
  else if (refused)
    g_set_error (error, DYNO_TUNE_ERROR, DYNO_TUNE_ERROR_DOES_NOT_FIT,
                 _ ("Nothing fits the memory: %s"),
                 last->text ? last->text : _ ("the device refused every trial"));
  else
    g_set_error (error, DYNO_TUNE_ERROR, DYNO_TUNE_ERROR_NOTHING,
                 ngettext ("No trial of %u worked in %.3g minute; the last said: %s",
                           "No trial of %u worked in %.3g minutes; the last said: %s",
                           search->params->minutes == 1 ? 1 : 2),
                 trials->len, search->params->minutes,
                 last && last->text ? last->text : _ ("nothing"));
  return FALSE;
}

static void
search_init (DynoSearch *search, const DynoSearchParams *params, DynoTuneResult *result)
{
  DynoJob *job = dyno_job_copy (params->job);

  keep_to_samples (params->meter, &job->settings);
  *search = (DynoSearch){ .params = params,
                          .job = job,
                          .meter = params->meter,
                          .result = result,
                          .model = dyno_rate_model_new (),
                          .arms = g_ptr_array_new_with_free_func (dyno_arm_free),
                          .plans = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free),
                          .seconds = params->minutes * 60 * (params->goal ? 1 - GOAL_SHARE : 1),
                          .total_s = params->minutes * 60,
                          .most_bytes = G_MAXUINT64,
                          .end_share = (double) NAN };
  search->begin_us = dyno_search_now_us (search);
  search->stage = "today";
  search->measured = job->settings;
  params->meter->preparing = dyno_search_report_preparing;
  params->meter->preparing_user = search;
  search->trial_s = CLAMP (search->seconds / 50, 0.4, 4);
  search->scan_s = CLAMP (search->seconds / 120, 0.25, 1.5);
  search->networks = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  params->meter->tune_kernels = FALSE; /* trials only compare; the proof is measured as a run */
  if (params->limit_bytes > 0)
    search->most_bytes = (guint64) (MEMORY_MARGIN * (double) params->limit_bytes);
}

gboolean
dyno_search_run (const DynoSearchParams *params, DynoTuneResult *result, GError **error)
{
  DynoSearch search;
  gboolean found;

  search_init (&search, params, result);
  if (params->goal)
    result->goal = g_memdup2 (params->goal, sizeof *params->goal);
  plan_space (&search);
  take_known (&search);
  try_what_is_there (&search);
  if (search.space.most_batch > 0)
    {
      search.scan_end_s = dyno_search_elapsed (&search);
      search.scan_end_s += SCAN_SHARE * MAX (search.seconds - search.scan_end_s, 0);
      dyno_search_scan (&search);
      if (result->device_change != 1)
        look_again (&search);
      search_jointly (&search);
      if (!check_numerics (&search))
        {
          search.space.fp16 = FALSE;
          search_jointly (&search);
        }
    }
  try_present_settings (&search);
  dyno_search_prove (&search);
  dyno_search_race (&search);
  dyno_search_prove_winner (&search);
  dyno_search_judge (&search);
  result->seconds = dyno_search_elapsed (&search);
  result->minutes = params->minutes;
  result->n_cores = params->meter->n_cores;
  result->stopped = dyno_search_stopped (&search);
  found = dyno_tune_result_has_best (result) || set_nothing (&search, error);

  params->meter->preparing = NULL;
  dyno_job_unref (search.job);
  g_ptr_array_unref (search.arms);
  g_hash_table_unref (search.plans);
  g_hash_table_unref (search.networks);
  dyno_rate_model_free (search.model);
  return found;
}
