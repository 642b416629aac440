/* SPDX-License-Identifier: MIT */
/* Combines the findings of the search: the best and the settings that it is compared with, the
 * curve over the batch size, and the consequences for learning rate and preset. */
#include "amount.h"
#include "claims.h"
#include "curve.h"
#include "intl.h"
#include "searchstate.h"
#include "verdict.h"
#include <math.h>
#include <string.h>

/* factor over the present rate: a larger gain counts even where no ceiling explains it */
#define UNEXPLAINED 1.1

/* Lists the arms that have a rate; proven: only those with proofs.  *owners: the DynoArm of each
 * entry. */
static GArray *
list_entries (DynoSearch *search, gboolean proven, GPtrArray *owners)
{
  GArray *entries = g_array_new (FALSE, TRUE, sizeof (DynoVerdictEntry));

  for (guint i = 0; i < search->arms->len; i++)
    {
      DynoArm *arm = search->arms->pdata[i];
      DynoVerdictEntry entry = { .settings = &arm->settings };

      if (arm->out || (proven && arm->proofs->len == 0) || !dyno_arm_estimate (arm, &entry.rate))
        continue;
      g_array_append_val (entries, entry);
      g_ptr_array_add (owners, arm);
    }
  return entries;
}

static int
index_of (const GPtrArray *owners, const DynoArm *arm)
{
  guint index;

  return arm && g_ptr_array_find ((GPtrArray *) owners, arm, &index) ? (int) index : -1;
}

static gboolean
choose (DynoSearch *search, gboolean proven, DynoArm **best, DynoArm **fastest, gboolean *keep)
{
  g_autoptr (GPtrArray) owners = g_ptr_array_new ();
  g_autoptr (GArray) entries = list_entries (search, proven, owners);
  DynoVerdict verdict;

  if (entries->len == 0)
    return FALSE;
  dyno_verdict_choose ((const DynoVerdictEntry *) (gpointer) entries->data, entries->len,
                       index_of (owners, search->baseline), index_of (owners, search->today),
                       search->expected, &verdict);
  *best = owners->pdata[verdict.best];
  *fastest = owners->pdata[verdict.fastest];
  *keep = verdict.keep_today;
  return TRUE;
}

DynoArm *
dyno_search_choose (DynoSearch *search)
{
  DynoArm *best = NULL, *fastest;
  gboolean keep;

  choose (search, FALSE, &best, &fastest, &keep);
  return best;
}

/* --- certainty -------------------------------------------------------------------------------- */

/* Lowest and highest rate of all measurements of the arm. */
static void
get_range (const DynoArm *arm, double *low, double *high)
{
  const GArray *lists[] = { arm->trials, arm->proofs };

  *low = INFINITY;
  *high = 0;
  for (guint k = 0; k < 2; k++)
    for (guint i = 0; i < lists[k]->len; i++)
      {
        double rate = g_array_index (lists[k], DynoEstimate, i).median;

        *low = MIN (*low, rate);
        *high = MAX (*high, rate);
      }
}

static const DynoEstimate *
proofs_of (const DynoArm *arm, guint *n)
{
  const GArray *list = arm->proofs->len > 0 ? arm->proofs : arm->trials;

  *n = list->len;
  return (const DynoEstimate *) (gpointer) list->data;
}

/* TRUE also where all measurements of a are above all of b, however widely they spread: such an
 * order has a probability of at most one in ten by chance. */
static gboolean
is_likely_faster (const DynoArm *a, const DynoArm *b)
{
  guint n[2] = { a->trials->len + a->proofs->len, b->trials->len + b->proofs->len }, n_a, n_b;
  const DynoEstimate *of_a = proofs_of (a, &n_a), *of_b = proofs_of (b, &n_b);
  double low[2], high[2];

  get_range (a, &low[0], &high[0]);
  get_range (b, &low[1], &high[1]);
  return dyno_claims_is_likely_faster (of_a, n_a, of_b, n_b)
         || (n[0] >= 2 && n[1] >= 2 && n[0] + n[1] >= 5 && low[0] > high[1]);
}

/* Compares only proofs; TRUE where b is NULL, is a itself, or has no proofs. */
static gboolean
beats (const DynoArm *a, const DynoArm *b)
{
  return !b || a == b || b->proofs->len == 0
         || dyno_claims_is_faster (
             (const DynoEstimate *) (gpointer) a->proofs->data, a->proofs->len,
             (const DynoEstimate *) (gpointer) b->proofs->data, b->proofs->len);
}

/* TRUE for a small gain that neither ceiling explains: its cause is other load on the machine. */
static gboolean
is_unexplained (DynoSearch *search, const DynoArm *arm, const DynoArm *today)
{
  const DynoSettings *a = &arm->settings, *b = &today->settings;
  double gpu = dyno_rate_model_gpu (search->model, a) / dyno_rate_model_gpu (search->model, b),
         loader =
             dyno_rate_model_loader (search->model, a) / dyno_rate_model_loader (search->model, b);
  DynoEstimate x, y;

  return gpu * DYNO_SEARCH_PAYS < 1 && !(loader > DYNO_SEARCH_PAYS) && dyno_arm_estimate (arm, &x)
         && dyno_arm_estimate (today, &y) && x.median < UNEXPLAINED * y.median;
}

/* An arm that is not even likely to be faster than the present settings does not replace them. */
static void
keep_what_is_there (DynoSearch *search, DynoArm **best, gboolean *keep)
{
  DynoArm *today = search->today;
  DynoEstimate e;

  if (!today || today->out || *best == today || !dyno_arm_estimate (today, &e)
      || (is_likely_faster (*best, today) && !is_unexplained (search, *best, today)))
    return;
  *best = today;
  *keep = TRUE;
}

gboolean
dyno_search_is_open (DynoSearch *search)
{
  DynoArm *best, *fastest;
  gboolean keep;
  DynoEstimate e;

  if (!choose (search, TRUE, &best, &fastest, &keep))
    return FALSE;
  return !dyno_arm_estimate (best, &e) || !dyno_claims_is_closed (&e)
         || (!keep && !(beats (best, search->baseline) && beats (best, search->today)));
}

static void
fill_trial (DynoSearch *search, const DynoArm *arm, DynoTrial *trial)
{
  DynoEstimate run, rate;

  trial->stage = arm->role;
  trial->settings = arm->settings;
  trial->outcome = arm->outcome;
  trial->predicted = arm->predicted;
  trial->planned_bytes = arm->planned_bytes;
  trial->vram_bytes = arm->vram_bytes;
  trial->outside_cpu = (double) NAN;
  trial->text = g_strdup (arm->text);
  if (!dyno_arm_estimate (arm, &run))
    return;
  dyno_estimate_combine ((const DynoEstimate *) (gpointer) arm->rates->data, arm->rates->len,
                         &rate);
  trial->samples_per_s = run.median;
  trial->low = run.low;
  trial->high = run.high;
  trial->train_samples_per_s = MAX (rate.median, run.median);
  if (arm->validation_rate > 0)
    trial->validation_s = (double) search->meter->n_validation / arm->validation_rate;
  trial->epoch_end_s = isfinite (arm->epoch_end_s) ? arm->epoch_end_s : 0;
  trial->step_ms = arm->step_ms;
  trial->wait_data_ms = arm->wait_data_ms;
  trial->steps = arm->steps;
}

/* --- the curve -------------------------------------------------------------------------------- */

/* The batches that are searched, and the best's own: the present settings' batch may be larger than
 * any of them. */
static GArray *
list_batches (DynoSearch *search, const DynoSettings *best)
{
  GArray *values = dyno_space_values (&search->space, dyno_setting_find ("batch_size"), best);
  double own = (double) best->batch_size;
  guint at = 0;

  while (at < values->len && g_array_index (values, double, at) < own)
    at++;
  if (at == values->len || g_array_index (values, double, at) > own)
    g_array_insert_val (values, at, own);
  return values;
}

static void
draw_curve (DynoSearch *search, const DynoArm *best)
{
  DynoTuneCurve *curve = &search->result->curve;
  g_autoptr (GArray) values = list_batches (search, &best->settings);
  const DynoTrial *fastest = &search->result->fastest;

  curve->points = g_new0 (DynoCurvePoint, values->len);
  for (guint i = 0; i < values->len; i++)
    {
      DynoCurvePoint *p = &curve->points[curve->n];
      DynoSettings s = best->settings;
      const DynoArm *arm;
      DynoEstimate e;

      s.batch_size = (gint64) g_array_index (values, double, i);
      arm = dyno_search_find (search, &s);
      if (!arm && !dyno_search_updates (search, &s))
        continue;
      p->batch_size = s.batch_size;
      p->vram_bytes = dyno_search_planned (search, &s);
      if (!arm && p->vram_bytes == 0 && dyno_search_stopped (search))
        continue;
      if (arm && !arm->out && dyno_arm_estimate (arm, &e))
        {
          p->measured = TRUE;
          p->samples_per_s = e.median;
          p->low = e.low;
          p->high = e.high;
          p->vram_bytes = arm->vram_bytes > 0 ? arm->vram_bytes : p->vram_bytes;
        }
      else if (isfinite (dyno_rate_model_gpu (search->model, &s)) && !(arm && arm->out)
               && dyno_search_fits (search, &s))
        {
          double sd, rate = dyno_rate_model_predict (search->model, &s, &sd);

          rate = dyno_search_run_rate (search, NULL, rate);
          p->samples_per_s = rate;
          p->low = rate * exp (-1.96 * sd);
          p->high = rate * exp (1.96 * sd);
        }
      curve->n++;
    }
  if (fastest->samples_per_s > search->result->best.samples_per_s)
    curve->elsewhere = fastest->samples_per_s;
  dyno_curve_read (curve, best->settings.batch_size);
}

/* --- advice ----------------------------------------------------------------------------------- */

static void
advise_learning_rate (DynoSearch *search)
{
  DynoTuneResult *result = search->result;
  const DynoSettings *from = &search->job->settings, *to = &result->best.settings;

  result->lr = dyno_verdict_learning_rate (from, to);
  if (from->batch_size * from->accumulate == to->batch_size * to->accumulate)
    return;
  result->lr_advice = g_strdup_printf (
      _ ("Learning rate %.3g instead of %.3g: the effective batch goes from %d to %d, and the rate "
         "by the square root of that factor. Scaled by the full factor it would cost accuracy; "
         "compare the accuracy after equal epochs, or try some rates around it."),
      result->lr, from->lr, (int) (from->batch_size * from->accumulate),
      (int) (to->batch_size * to->accumulate));
}

/* The text without its full stop, to be part of a sentence. */
static char *
without_full_stop (const char *text)
{
  gsize length = text ? strlen (text) : 0;

  return g_strndup (text ? text : "", length - (length > 0 && text[length - 1] == '.'));
}

/* Judges the preset by the rate: unused memory has no value in itself. */
static char *
describe_preset (DynoSearch *search, const DynoArm *arm, const char *settings, double rate,
                 DynoPresetVerdict *verdict)
{
  const char *name = search->params->preset_name;
  double share = rate / search->result->best.samples_per_s;
  g_autofree char *taken = dyno_amount_bytes (arm->vram_bytes, " "),
                  *all = dyno_amount_bytes (search->params->limit_bytes, " ");

  *verdict =
      share * DYNO_VERDICT_PAYS < 1 ? DYNO_PRESET_VERDICT_LEAVES_UNUSED : DYNO_PRESET_VERDICT_HOLDS;
  if (*verdict == DYNO_PRESET_VERDICT_HOLDS)
    return g_strdup_printf (
        _ ("The preset “%s” (%s) holds: it is at most 3 %% slower than the best."), name, settings);
  if (search->params->limit_bytes == 0 || arm->vram_bytes == 0)
    return g_strdup_printf (_ ("The preset “%s” (%s) runs at %.0f %% of the best."), name, settings,
                            100 * share);
  return g_strdup_printf (
      _ ("The preset “%s” (%s) runs at %.0f %% of the best, and takes %s of the "
         "%s of memory that it may take."),
      name, settings, 100 * share, taken, all);
}

static void
judge_preset (DynoSearch *search)
{
  DynoTuneResult *result = search->result;
  const DynoArm *arm = search->preset;
  const char *name = search->params->preset_name;
  DynoEstimate e;

  if (!arm)
    return;
  g_autofree char *settings = dyno_trial_describe (&arm->settings),
                  *why = without_full_stop (arm->text);

  if (arm->outcome == DYNO_TRIAL_DOES_NOT_FIT || arm->outcome == DYNO_TRIAL_OUT_OF_MEMORY)
    {
      result->preset_verdict = DYNO_PRESET_VERDICT_TOO_BIG;
      result->preset_text =
          g_strdup_printf (_ ("The preset “%s” (%s) is too big: %s."), name, settings, why);
    }
  else if (arm->out || !dyno_arm_estimate (arm, &e))
    {
      result->preset_verdict = DYNO_PRESET_VERDICT_FAILED;
      result->preset_text =
          g_strdup_printf (_ ("The preset “%s” (%s) failed: %s."), name, settings, why);
    }
  else
    result->preset_text =
        describe_preset (search, arm, settings, e.median, &result->preset_verdict);
}

/* The factor of the device differs from that of the run, which also waits for data: the run's
 * factor is given too where it is known. */
static char *
describe_amp (const DynoTuneResult *result, double ratio, gint64 batch)
{
  g_autofree char *alone = g_strdup_printf (
      _ ("The device by itself computes %.2f times as fast with AMP as with fp32, at batch %d."),
      ratio, (int) batch);

  for (guint i = 0; i < result->n_gains; i++)
    if (strcmp (result->gains[i].key, "amp") == 0 && isfinite (result->gains[i].factor))
      {
        g_autofree char *whole = g_strdup_printf (
            _ ("A whole run became %.2f times as fast by it."), result->gains[i].factor);

        return g_strjoin (" ", alone, whole, NULL);
      }
  if (ratio > 1)
    return g_strjoin (" ", alone, _ ("A run that waits for data gains less."), NULL);
  return g_steal_pointer (&alone);
}

/* The device's factor between the two precisions, at the measured batch that is nearest to the
 * best's. */
static void
compare_precisions (DynoSearch *search)
{
  DynoTuneResult *result = search->result;
  double nearest = INFINITY, ratio = 0;
  gint64 batch = 0;

  for (guint i = 0; i < result->ceilings->len; i++)
    for (guint j = 0; j < result->ceilings->len; j++)
      {
        const DynoCeiling *a = result->ceilings->pdata[i], *b = result->ceilings->pdata[j];
        double distance = fabs (
            log2 ((double) a->settings.batch_size / (double) result->best.settings.batch_size));

        if (a->of != DYNO_CEILING_GPU || b->of != DYNO_CEILING_GPU || !a->settings.amp
            || b->settings.amp || a->settings.batch_size != b->settings.batch_size
            || a->settings.checkpointing != b->settings.checkpointing
            || a->settings.accumulate != b->settings.accumulate || !(a->samples_per_s > 0)
            || !(b->samples_per_s > 0) || distance >= nearest)
          continue;
        nearest = distance;
        batch = a->settings.batch_size;
        ratio = a->samples_per_s / b->samples_per_s;
      }
  if (batch > 0)
    result->amp_text = describe_amp (result, ratio, batch);
  if (result->numerics && result->numerics->text)
    {
      char *both = g_strjoin (" ", result->amp_text ? result->amp_text : result->numerics->text,
                              result->amp_text ? result->numerics->text : NULL, NULL);

      g_free (result->amp_text);
      result->amp_text = both;
    }
}

/* The device's last measured rate at this batch with the present precision; 0: there is none. */
static double
last_ceiling (DynoSearch *search, gint64 batch)
{
  const DynoSettings *present = &search->job->settings;

  for (guint i = search->result->ceilings->len; i-- > 0;)
    {
      const DynoCeiling *c = search->result->ceilings->pdata[i];

      if (c->of == DYNO_CEILING_GPU && c->outcome == DYNO_TRIAL_OK
          && c->settings.batch_size == batch && c->settings.amp == present->amp
          && c->settings.checkpointing == present->checkpointing
          && c->settings.accumulate == present->accumulate)
        return c->samples_per_s;
    }
  return 0;
}

/* TRUE where half of the batch, or less, is as fast on the device: then twice the batch gains even
 * less. */
static gboolean
is_past_the_knee (DynoSearch *search, gint64 batch)
{
  for (guint i = 0; i < search->result->ceilings->len; i++)
    {
      const DynoCeiling *c = search->result->ceilings->pdata[i];

      if (c->settings.batch_size <= batch / 2
          && last_ceiling (search, c->settings.batch_size) * DYNO_SEARCH_PAYS
                 > last_ceiling (search, batch))
        return last_ceiling (search, batch) > 0;
    }
  return FALSE;
}

/* TRUE where the scan had no time for larger batches that may be faster; FALSE where a larger batch
 * was tried end to end. */
static gboolean
are_batches_missing (DynoSearch *search)
{
  gint64 to = search->result->batches_to;

  for (guint i = 0; i < search->arms->len; i++)
    {
      const DynoArm *arm = search->arms->pdata[i];

      if (arm->rates->len > 0 && arm->settings.batch_size > to)
        return FALSE;
    }
  return to > 0 && !is_past_the_knee (search, to);
}

void
dyno_search_judge (DynoSearch *search)
{
  DynoTuneResult *result = search->result;
  DynoArm *best = NULL, *fastest = NULL, *winner;
  guint64 limit = search->params->limit_bytes;

  if (search->baseline)
    fill_trial (search, search->baseline, &result->baseline);
  if (search->today)
    fill_trial (search, search->today, &result->today);
  if (!choose (search, TRUE, &best, &fastest, &result->keep_today)
      && !choose (search, FALSE, &best, &fastest, &result->keep_today))
    return;
  keep_what_is_there (search, &best, &result->keep_today);
  if (!are_batches_missing (search))
    result->batches_to = 0;
  winner = dyno_search_get_winner (search);
  if (winner)
    {
      best = winner;
      result->keep_today = winner == search->today;
    }
  fill_trial (search, best, &result->best);
  fill_trial (search, fastest, &result->fastest);
  if (result->baseline.samples_per_s > 0 && result->baseline.outcome == DYNO_TRIAL_OK)
    result->speedup = result->best.samples_per_s / result->baseline.samples_per_s;
  if (result->today.samples_per_s > 0 && result->today.outcome == DYNO_TRIAL_OK)
    result->gain = result->best.samples_per_s / result->today.samples_per_s;
  if (limit > result->best.vram_bytes)
    result->margin_bytes = limit - result->best.vram_bytes;
  result->loader_ceiling = dyno_rate_model_loader (search->model, &best->settings);
  result->gpu_ceiling = dyno_rate_model_gpu (search->model, &best->settings);
  dyno_search_judge_ranks (search);
  dyno_claims_settle (result);
  if (isfinite (result->speedup) && dyno_tune_result_claims_gain (result))
    dyno_search_split_gain (search, best);
  draw_curve (search, best); /* includes the batches that dyno_search_split_gain () has measured */
  compare_precisions (search);
  judge_preset (search);
  advise_learning_rate (search);
  dyno_search_compare_learning (search);
  result->stopped = dyno_search_stopped (search);
  dyno_claims_settle (result);
  result->reasons = dyno_verdict_explain (result);
  result->best.settings.lr = result->lr; /* these settings are the ones exported */
}
