/* SPDX-License-Identifier: MIT */
/* Measures; keeps the time, the cost of measurements and their records; and updates the arms and
 * the model. */
#include "gpu-error.h"
#include "intl.h"
#include "preset.h"
#include "searchstate.h"
#include <math.h>
#include <string.h>

#define NO_LIMIT     1.3  /* factor above the device's rate: the loader is not the limit */
#define MOST_SHARE   3.0  /* the most time of a trial, relative to its measuring time */
#define FIRST_LONGER 1.05 /* time limit until a trial has worked, relative to the total time */

/* --- time ------------------------------------------------------------------------------------- */

gint64
dyno_search_now_us (DynoSearch *search)
{
  const DynoSearchHooks *hooks = &search->params->hooks;

  return hooks->now_us ? hooks->now_us (hooks->user) : g_get_monotonic_time ();
}

double
dyno_search_elapsed (DynoSearch *search)
{
  return (double) (dyno_search_now_us (search) - search->begin_us) / 1e6 - search->paused_s;
}

gboolean
dyno_search_stopped (DynoSearch *search)
{
  return g_cancellable_is_cancelled (search->params->cancellable);
}

/* The settings on which a network's kernels depend. */
static char *
network_key (const DynoSettings *s)
{
  return g_strdup_printf ("%" G_GINT64_FORMAT " %d %d", s->batch_size, s->amp, s->checkpointing);
}

static gboolean
is_known_network (DynoSearch *search, const DynoSettings *settings)
{
  g_autofree char *key = network_key (settings);

  return g_hash_table_contains (search->networks, key);
}

double
dyno_search_prepare (DynoSearch *search, const DynoSettings *settings)
{
  if (!is_known_network (search, settings))
    return search->new_prepare_s;
  /* To prepare a network again takes a small part of the time of its first preparation. */
  return search->again_prepare_s > 0 ? search->again_prepare_s : search->new_prepare_s / 4;
}

/* The duration of the least number of steps. */
static double
least_seconds (const DynoSettings *settings, double rate)
{
  double samples = (double) (settings->batch_size * settings->accumulate) * DYNO_SEARCH_STEPS;

  return rate > 0 ? samples / rate : 0;
}

/* Seconds of measuring: the requested ones, or those of the least number of steps. */
static double
measuring_steps (DynoSearch *search, const DynoSettings *settings, double seconds)
{
  double rate = dyno_rate_model_predict (search->model, settings, NULL);

  return MAX (seconds, least_seconds (settings, rate));
}

/* The same for a trial that also measures the end of an epoch. */
static double
measuring (DynoSearch *search, const DynoSettings *settings, double seconds)
{
  return measuring_steps (search, settings, seconds) * MAX (search->trial_share, 1);
}

double
dyno_search_gpu_cost (DynoSearch *search, const DynoSettings *settings)
{
  double rate = dyno_rate_model_gpu (search->model, settings);

  return dyno_search_prepare (search, settings)
         + MAX (search->scan_s, least_seconds (settings, rate));
}

double
dyno_search_cost (DynoSearch *search, const DynoSettings *settings, double seconds)
{
  return dyno_search_prepare (search, settings) + measuring (search, settings, seconds);
}

double
dyno_search_fill_seconds (DynoSearch *search, const DynoSettings *settings)
{
  DynoSettings s = *settings;
  double samples = (double) (search->meter->n_train + search->meter->n_validation), loader, gpu;

  s.cache = FALSE;
  loader = settings->cache && search->space.loader ? dyno_rate_model_loader (search->model, &s) : 0;
  gpu = dyno_rate_model_gpu (search->model, &s);
  /* Where the device takes longer than the loader anyway, filling the cache has no effect. */
  if (!(loader > 0) || loader > NO_LIMIT * gpu)
    return 0;
  return samples / MIN (loader, gpu);
}

double
dyno_search_proof_cost (DynoSearch *search, const DynoSettings *settings, gboolean measured)
{
  gboolean is_new = measured && !search->meter->tune_kernels;
  double again = search->again_prepare_s > 0 ? search->again_prepare_s : search->new_prepare_s / 4;

  return (is_new ? search->new_prepare_s : dyno_search_prepare (search, settings))
         + measuring (search, settings, search->trial_s) + again
         + measuring_steps (search, settings, search->trial_s)
         + 2 * dyno_search_fill_seconds (search, settings);
}

/* The first turn of the proof measures the end of an epoch as well; the other turns measure only
 * steps, whose rate differs from turn to turn. */
static gboolean
is_steps_only (const DynoArm *arm)
{
  return arm->proofs->len > 0 && isfinite (arm->epoch_end_s);
}

double
dyno_search_turn_cost (DynoSearch *search, const DynoArm *arm, double seconds)
{
  return dyno_search_prepare (search, &arm->settings)
         + (is_steps_only (arm) ? measuring_steps (search, &arm->settings, seconds)
                                : measuring (search, &arm->settings, seconds));
}

void
dyno_search_tune_kernels (DynoSearch *search)
{
  search->meter->tune_kernels = TRUE;
  if (search->job->settings.autotune)
    g_hash_table_remove_all (search->networks);
}

static void
learn (double *known, double now)
{
  *known = *known > 0 ? (*known + now) / 2 : now;
}

/* --- arms ------------------------------------------------------------------------------------- */

void
dyno_arm_free (gpointer data)
{
  DynoArm *arm = data;

  g_free (arm->text);
  g_array_unref (arm->trials);
  g_array_unref (arm->proofs);
  g_array_unref (arm->rates);
  g_free (arm);
}

DynoArm *
dyno_search_find (DynoSearch *search, const DynoSettings *settings)
{
  for (guint i = 0; i < search->arms->len; i++)
    {
      DynoArm *arm = search->arms->pdata[i];

      if (dyno_settings_equal (&arm->settings, settings))
        return arm;
    }
  return NULL;
}

DynoArm *
dyno_search_get_arm (DynoSearch *search, const char *stage, const DynoSettings *settings)
{
  DynoArm *arm = dyno_search_find (search, settings);

  if (arm)
    return arm;
  arm = g_new0 (DynoArm, 1);
  arm->settings = *settings;
  arm->role = stage;
  arm->trials = g_array_new (FALSE, FALSE, sizeof (DynoEstimate));
  arm->proofs = g_array_new (FALSE, FALSE, sizeof (DynoEstimate));
  arm->rates = g_array_new (FALSE, FALSE, sizeof (DynoEstimate));
  arm->validation_rate = arm->epoch_end_s = (double) NAN;
  g_ptr_array_add (search->arms, arm);
  return arm;
}

gboolean
dyno_arm_estimate (const DynoArm *arm, DynoEstimate *e)
{
  const GArray *rates = arm->proofs->len > 0 ? arm->proofs : arm->trials;

  if (rates->len == 0)
    return FALSE;
  dyno_estimate_combine ((const DynoEstimate *) (gpointer) rates->data, rates->len, e);
  return isfinite (e->median) && e->median > 0;
}

/* Seconds of an epoch besides training: as measured with these settings, else as learned from the
 * other arms. */
static double
end_seconds (DynoSearch *search, const DynoArm *arm, double train_s)
{
  double validation_s = 0;

  if (!arm || !isfinite (arm->epoch_end_s))
    return isfinite (search->end_share) ? search->end_share * train_s : 0;
  if (search->meter->n_validation > 0 && arm->validation_rate > 0)
    validation_s = (double) search->meter->n_validation / arm->validation_rate;
  return validation_s + arm->epoch_end_s;
}

double
dyno_search_run_rate (DynoSearch *search, const DynoArm *arm, double rate)
{
  double samples = (double) MAX (search->meter->n_train, 1);

  return samples / (samples / rate + end_seconds (search, arm, samples / rate));
}

double
dyno_search_utility (const DynoSettings *s, double rate)
{
  return log (rate) - 0.003 * log2 ((double) s->batch_size) - 0.001 * log2 (1 + (double) s->workers)
         - 0.002 * log2 ((double) s->prefetch) - 0.005 * log2 ((double) s->accumulate)
         - 0.005 * s->checkpointing - 0.003 * s->cache;
}

/* --- measuring -------------------------------------------------------------------------------- */

static DynoTrialOutcome
outcome_of (const GError *error)
{
  if (g_error_matches (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DOES_NOT_FIT))
    return DYNO_TRIAL_DOES_NOT_FIT;
  if (g_error_matches (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_OUT_OF_DEVICE_MEMORY)
      || g_error_matches (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_OVER_BUDGET))
    return DYNO_TRIAL_OUT_OF_MEMORY;
  if (g_error_matches (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DIVERGED))
    return DYNO_TRIAL_DIVERGED;
  return DYNO_TRIAL_FAILED;
}

void
dyno_search_wait_for_turn (DynoSearch *search)
{
  const DynoSearchHooks *hooks = &search->params->hooks;
  gint64 begin_us = dyno_search_now_us (search);

  if (hooks->wait)
    hooks->wait (hooks->user);
  search->paused_s += (double) (dyno_search_now_us (search) - begin_us) / 1e6;
}

static void
note_load (DynoSearch *search, double outside_cpu)
{
  if (isfinite (outside_cpu)
      && !(search->result->outside_cpu >= outside_cpu)) /* also where it is NaN */
    search->result->outside_cpu = outside_cpu;
}

typedef gboolean (*Measure) (DynoMeter *, const DynoSettings *, double, gint64, GCancellable *,
                             DynoMeasurement *, GError **);

/* Measures, and updates the known preparation times. */
static gboolean
measure (DynoSearch *search, Measure function, const DynoSettings *settings, double seconds,
         double reserve_s, DynoMeasurement *m, GError **error)
{
  double begin_s, left, took, whole_s, *prepare_s;
  gboolean good;

  dyno_search_wait_for_turn (search);
  begin_s = dyno_search_elapsed (search);
  /* Until a measurement has worked, it may take all the time and slightly more, so that nearly
   * finished compilations are not lost. */
  left = search->worked ? search->seconds - reserve_s : FIRST_LONGER * search->total_s;
  left = MAX (left - begin_s, 0);
  dyno_measurement_init (m);
  good = function (search->meter, settings, MIN (seconds, left),
                   dyno_search_now_us (search) + (gint64) (left * 1e6), search->params->cancellable,
                   m, error)
         && isfinite (m->rate.median) && m->rate.median > 0;
  if (!good && error && !*error && m->steps > 0)
    g_set_error (error, DYNO_TUNE_ERROR, DYNO_TUNE_ERROR_NOTHING,
                 _ ("The device ended %u steps and counted no sample in them, so it computes "
                    "nothing; test it by “dynoctl kernels --self-test”, or update its driver"),
                 (guint) MIN (m->steps, G_MAXUINT));
  else if (!good && error && !*error)
    g_set_error (error, DYNO_TUNE_ERROR, DYNO_TUNE_ERROR_NOTHING,
                 _ ("The measurement ended before a single step was counted"));
  took = dyno_search_elapsed (search) - begin_s;
  note_load (search, m->outside_cpu);
  search->result->n_unreadable = MAX (search->result->n_unreadable, m->n_unreadable);
  if (good)
    {
      took -= m->fill_s;
      whole_s = MAX (seconds, least_seconds (settings, m->rate.median));
      if (isfinite (m->prepare_s) && whole_s > 0)
        {
          if (!search->meter->steps_only)
            learn (&search->trial_share, CLAMP ((took - m->prepare_s) / whole_s, 1, MOST_SHARE));
          took = m->prepare_s;
        }
      else
        took = MAX (took - whole_s, 0);
      prepare_s = function == search->meter->class->loader ? &search->loader_prepare_s
                  : is_known_network (search, settings)    ? &search->again_prepare_s
                                                           : &search->new_prepare_s;
      learn (prepare_s, took);
      if (prepare_s != &search->loader_prepare_s)
        g_hash_table_add (search->networks, network_key (settings));
    }
  return good;
}

double
dyno_search_relative_sd (const DynoEstimate *e)
{
  if (e->n < 2)
    return 0.05;
  return CLAMP ((e->high - e->low) / (3.92 * e->median), DYNO_SEARCH_NOISE, 0.3);
}

/* The last measured ceiling; a failed one only where there is no other. */
static DynoCeiling *
find_ceiling (DynoSearch *search, DynoCeilingOf of, const DynoSettings *s)
{
  DynoCeiling *failed = NULL;

  for (guint i = search->result->ceilings->len; i-- > 0;)
    {
      DynoCeiling *c = search->result->ceilings->pdata[i];
      const DynoSettings *t = &c->settings;

      if (c->of == of
          && (of == DYNO_CEILING_LOADER
                  ? t->workers == s->workers && t->cache == s->cache && t->prefetch == s->prefetch
                  : t->batch_size == s->batch_size && t->amp == s->amp
                        && t->checkpointing == s->checkpointing && t->accumulate == s->accumulate))
        {
          if (c->outcome == DYNO_TRIAL_OK)
            return c;
          failed = failed ? failed : c;
        }
    }
  return failed;
}

void
dyno_search_learn_ceiling (DynoSearch *search, const DynoCeiling *c)
{
  if (c->outcome != DYNO_TRIAL_OK)
    return;
  if (c->of == DYNO_CEILING_LOADER)
    dyno_rate_model_add_loader (search->model, &c->settings, c->samples_per_s);
  else if (c->of == DYNO_CEILING_GPU)
    dyno_rate_model_add_gpu (search->model, &c->settings, c->samples_per_s);
}

/* A refused plan is too large, and so is any larger one. */
void
dyno_search_learn_refusal (DynoSearch *search, DynoTrialOutcome outcome, guint64 planned_bytes)
{
  if (outcome == DYNO_TRIAL_OUT_OF_MEMORY && planned_bytes > 0)
    search->most_bytes = MIN (search->most_bytes, planned_bytes);
}

void
dyno_search_report (DynoSearch *search, const char *stage, const DynoSettings *settings)
{
  const DynoSearchHooks *hooks = &search->params->hooks;

  search->stage = stage;
  search->measured = *settings;
  if (hooks->progress)
    hooks->progress (hooks->user, stage, settings,
                     CLAMP (dyno_search_elapsed (search) / search->total_s, 0, 1));
}

void
dyno_search_report_preparing (const char *what, guint done, guint total, gpointer data)
{
  DynoSearch *search = data;
  const DynoSearchHooks *hooks = &search->params->hooks;

  if (hooks->preparing)
    hooks->preparing (hooks->user, search->stage, &search->measured,
                      CLAMP (dyno_search_elapsed (search) / search->total_s, 0, 1), what, done,
                      total);
}

/* Measures the ceiling.  FALSE: the search was stopped or the time over, so there is no result. */
static gboolean
measure_ceiling (DynoSearch *search, DynoCeiling *c)
{
  const DynoMeterClass *class = search->meter->class;
  gboolean is_gpu = c->of == DYNO_CEILING_GPU;
  g_autoptr (GError) error = NULL;
  DynoMeasurement m;

  dyno_search_report (search, dyno_ceiling_name (c->of), &c->settings);
  if (is_gpu)
    c->planned_bytes = dyno_search_planned (search, &c->settings);
  if (measure (search, is_gpu ? class->gpu : class->loader, &c->settings, search->scan_s,
               (search->seconds - search->scan_end_s) / 2, &m, &error))
    {
      c->samples_per_s = m.rate.median;
      c->low = m.rate.low;
      c->high = m.rate.high;
      c->vram_bytes = m.vram_bytes;
    }
  else
    {
      if (dyno_search_stopped (search) || g_error_matches (error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT))
        return FALSE;
      c->outcome = outcome_of (error);
      c->text = g_strdup (error->message);
    }
  c->outside_cpu = m.outside_cpu;
  dyno_search_learn_ceiling (search, c);
  dyno_search_learn_refusal (search, c->outcome, c->planned_bytes);
  if (search->params->hooks.ceiling)
    search->params->hooks.ceiling (search->params->hooks.user, c);
  return TRUE;
}

static gboolean
has_ceiling_time (DynoSearch *search, DynoCeilingOf of, const DynoSettings *settings)
{
  double cost_s = of == DYNO_CEILING_LOADER ? search->loader_prepare_s + search->scan_s
                                            : dyno_search_gpu_cost (search, settings);

  return !dyno_search_stopped (search) && search->failures < DYNO_SEARCH_FAILURES
         && dyno_search_elapsed (search) + cost_s <= search->scan_end_s;
}

double
dyno_search_ceiling (DynoSearch *search, DynoCeilingOf of, const DynoSettings *settings)
{
  DynoCeiling *c = find_ceiling (search, of, settings);

  if (c)
    return c->samples_per_s;
  if (!has_ceiling_time (search, of, settings))
    return (double) NAN;
  if (of == DYNO_CEILING_GPU && !dyno_search_fits (search, settings))
    return 0;
  c = g_new0 (DynoCeiling, 1);
  c->of = of;
  c->settings = *settings;
  if (!measure_ceiling (search, c))
    {
      g_free (c);
      return (double) NAN;
    }
  g_ptr_array_add (search->result->ceilings, c);
  return c->samples_per_s;
}

double
dyno_search_ceiling_again (DynoSearch *search, DynoCeiling *c)
{
  DynoCeiling *again;

  if (c->outcome != DYNO_TRIAL_OK || !has_ceiling_time (search, c->of, &c->settings))
    return 1;
  again = g_new0 (DynoCeiling, 1);
  again->of = c->of;
  again->settings = c->settings;
  if (!measure_ceiling (search, again))
    {
      g_free (again);
      return 1;
    }
  g_ptr_array_add (search->result->ceilings, again);
  if (again->outcome != DYNO_TRIAL_OK || (again->low <= c->high && again->high >= c->low))
    return 1;
  return again->samples_per_s / c->samples_per_s;
}

/* The time of an epoch's end, relative to its training, from all arms that know it. */
void
dyno_search_learn_epoch_end (DynoSearch *search)
{
  double sum = 0;
  guint n = 0;

  for (guint i = 0; i < search->arms->len; i++)
    {
      const DynoArm *arm = search->arms->pdata[i];

      if (arm->rates->len == 0 || !isfinite (arm->epoch_end_s))
        continue;
      double train_s = (double) MAX (search->meter->n_train, 1)
                       / g_array_index (arm->rates, DynoEstimate, 0).median;

      sum += end_seconds (search, arm, train_s) / train_s;
      n++;
    }
  search->end_share = n > 0 ? sum / n : (double) NAN;
}

gboolean
dyno_arm_takes (DynoArm *arm, gboolean filling)
{
  GArray *const lists[] = { arm->trials, arm->proofs, arm->rates };

  if (filling && arm->rates->len > 0 && !arm->filling)
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (lists) && arm->filling && !filling; i++)
    g_array_set_size (lists[i], 0);
  arm->filling = filling;
  return TRUE;
}

/* TRUE where the arm's cache was not full, and would raise its rate. */
static gboolean
is_filling (DynoSearch *search, const DynoArm *arm, const DynoMeasurement *m)
{
  DynoSettings s = arm->settings;

  s.cache = FALSE;
  return m->filling
         && !(dyno_rate_model_loader (search->model, &s)
              > NO_LIMIT * dyno_rate_model_gpu (search->model, &s));
}

void
dyno_search_learn_rate (DynoSearch *search, const DynoArm *arm, const DynoEstimate *rate)
{
  DynoSettings s = arm->settings;

  s.cache &= !arm->filling;
  dyno_rate_model_add_trial (search->model, &s, rate->median, dyno_search_relative_sd (rate));
}

/* Updates the arm and the model with a successful measurement.  *run: the rate with
 * the end of an epoch included. */
static void
learn_trial (DynoSearch *search, DynoArm *arm, const DynoMeasurement *m, gboolean is_proof,
             DynoEstimate *run)
{
  gboolean counts = dyno_arm_takes (arm, is_filling (search, arm, m));

  if (isfinite (m->validation_rate))
    arm->validation_rate = m->validation_rate;
  if (isfinite (m->epoch_overhead_s))
    arm->epoch_end_s = m->epoch_overhead_s;
  if (counts)
    g_array_append_val (arm->rates, m->rate);
  dyno_search_learn_epoch_end (search);
  if (isfinite (m->epoch_overhead_s) && isfinite (m->run_rate.median))
    *run = m->run_rate;
  else
    {
      double share = dyno_search_run_rate (search, arm, m->rate.median) / m->rate.median;

      *run = m->rate;
      run->median *= share;
      run->low *= share;
      run->high *= share;
    }
  if (counts && is_proof)
    g_array_append_val (arm->proofs, *run);
  else if (counts)
    g_array_append_val (arm->trials, *run);
  search->worked = TRUE;
  arm->outcome = DYNO_TRIAL_OK;
  arm->out = FALSE;
  arm->step_ms = m->step_ms;
  arm->wait_data_ms = m->wait_data_ms;
  arm->vram_bytes = MAX (arm->vram_bytes, m->vram_bytes);
  arm->steps += m->steps;
  if (counts)
    dyno_search_learn_rate (search, arm, &m->rate);
}

static void
keep_trial (DynoSearch *search, const DynoArm *arm, const char *stage, DynoTrialOutcome outcome,
            const DynoMeasurement *m, const DynoEstimate *run, const char *text)
{
  DynoTrial *trial = g_new0 (DynoTrial, 1);

  trial->number = search->result->trials->len + 1;
  trial->stage = stage;
  trial->settings = arm->settings;
  trial->outcome = outcome;
  trial->predicted = arm->predicted;
  /* The plan with the kernels that the trial used, where it ran. */
  trial->planned_bytes = m->planned_bytes > 0 ? m->planned_bytes : arm->planned_bytes;
  trial->outside_cpu = m->outside_cpu;
  trial->vram_bytes = m->vram_bytes;
  trial->text = g_strdup (text);
  if (run)
    {
      double samples = (double) search->meter->n_train;

      trial->samples_per_s = run->median;
      trial->low = run->low;
      trial->high = run->high;
      trial->train_samples_per_s = m->rate.median;
      trial->validation_s = arm->validation_rate > 0
                                ? (double) search->meter->n_validation / arm->validation_rate
                                : 0;
      trial->epoch_end_s =
          MAX (end_seconds (search, arm, samples / m->rate.median) - trial->validation_s, 0);
      trial->step_ms = m->step_ms;
      trial->wait_data_ms = m->wait_data_ms;
      trial->steps = m->steps;
    }
  g_ptr_array_add (search->result->trials, trial);
  if (search->params->hooks.trial)
    search->params->hooks.trial (search->params->hooks.user, trial);
}

/* A first look takes a third of the time; TRUE: the settings are hopeless.  The measurement
 * counts. */
static gboolean
look (DynoSearch *search, DynoArm *arm, double seconds, double reserve_s, double hopeless_below,
      DynoMeasurement *m, GError **error)
{
  DynoEstimate run;

  if (!measure (search, search->meter->class->trial, &arm->settings, seconds, reserve_s, m, error))
    return FALSE;
  learn_trial (search, arm, m, FALSE, &run);
  return run.high < hopeless_below;
}

/* FALSE where only the loader's ceiling is known, which does not give the rate of a run. */
static gboolean
can_predict (DynoSearch *search, const DynoSettings *settings)
{
  return isfinite (dyno_rate_model_gpu (search->model, settings))
         || !isfinite (dyno_rate_model_loader (search->model, settings));
}

DynoArm *
dyno_search_try (DynoSearch *search, const char *stage, const DynoSettings *settings,
                 double seconds, double reserve_s, double hopeless_below)
{
  DynoArm *arm = dyno_search_get_arm (search, stage, settings);
  gboolean is_proof = strcmp (stage, "proof") == 0, dropped = FALSE;
  g_autoptr (GError) error = NULL;
  DynoMeasurement m;
  DynoEstimate run;

  dyno_search_report (search, stage, settings);
  search->meter->fill_s = dyno_search_fill_seconds (search, settings);
  search->meter->steps_only = is_proof && is_steps_only (arm);
  arm->predicted =
      can_predict (search, settings) ? dyno_rate_model_predict (search->model, settings, NULL) : 0;
  arm->predicted = arm->predicted > 0 ? dyno_search_run_rate (search, NULL, arm->predicted) : 0;
  arm->planned_bytes = dyno_search_planned (search, settings);
  if (hopeless_below > 0 && seconds >= 1 && !(search->meter->fill_s > 0)
      && dyno_search_cost (search, settings, seconds / 3)
             < 0.6 * seconds + dyno_search_prepare (search, settings)
      && dyno_search_prepare (search, settings) < seconds)
    dropped = look (search, arm, seconds / 3, reserve_s, hopeless_below, &m, &error);
  if (!error && !dropped
      && measure (search, search->meter->class->trial, settings, seconds, reserve_s, &m, &error))
    learn_trial (search, arm, &m, is_proof, &run);
  if (error)
    {
      if (dyno_search_stopped (search))
        return NULL;
      /* The arm's earlier measurements remain valid. */
      if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT)
          && (arm->rates->len > 0 || search->explaining))
        return arm;
      arm->outcome = outcome_of (error);
      arm->out = TRUE;
      g_free (arm->text);
      arm->text = g_strdup (error->message);
      search->failures++;
      if (arm->planned_bytes == 0)
        arm->planned_bytes = m.planned_bytes;
      dyno_search_learn_refusal (search, arm->outcome, arm->planned_bytes);
      keep_trial (search, arm, stage, arm->outcome, &m, NULL, error->message);
      return arm;
    }
  search->failures = 0;
  if (dropped)
    {
      dyno_arm_estimate (arm, &run);
      keep_trial (search, arm, stage, DYNO_TRIAL_DROPPED, &m, &run,
                  _ ("a first look was enough: it is far below the best"));
    }
  else
    keep_trial (search, arm, stage, DYNO_TRIAL_OK, &m, &run,
                is_filling (search, arm, &m)
                    ? _ ("the cache was still being filled: the rate is that without it")
                    : NULL);
  return arm;
}
