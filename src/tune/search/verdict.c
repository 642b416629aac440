/* SPDX-License-Identifier: MIT */
/* Only rates of one kind are compared: the caller gives only proofs, or only trials. */
#include "verdict.h"
#include "amount.h"
#include "claims.h"
#include "intl.h"
#include "space.h"
#include <math.h>
#include <string.h>

#define ADVISED 1.02 /* least gain by a model that is reported */

/* TRUE where a is to be preferred at nearly the same rate. */
static gboolean
is_smaller (const DynoVerdictEntry *a, const DynoVerdictEntry *b)
{
  int order = dyno_space_compare (a->settings, b->settings);

  return order < 0 || (order == 0 && a->rate.median > b->rate.median);
}

void
dyno_verdict_choose (const DynoVerdictEntry *entries, guint n, int baseline, int today,
                     double expected, DynoVerdict *verdict)
{
  int best = -1, fastest = -1;
  double needed = 0;

  for (int i = 0; i < (int) n; i++)
    if (fastest < 0 || entries[i].rate.median > entries[fastest].rate.median)
      fastest = i;
  if (fastest >= 0)
    needed = CLAMP (expected, entries[fastest].rate.median,
                    entries[fastest].rate.median * DYNO_VERDICT_PAYS);
  for (int i = 0; i < (int) n; i++)
    {
      const DynoEstimate *e = &entries[i].rate;

      if (i != fastest && e->low * DYNO_VERDICT_PAYS < needed)
        continue;
      if (best < 0 || is_smaller (&entries[i], &entries[best]))
        best = i;
    }
  *verdict = (DynoVerdict){ best, fastest, FALSE };
  if (best >= 0 && baseline >= 0 && entries[best].rate.median < entries[baseline].rate.median)
    verdict->best = fastest;
  if (best >= 0 && today >= 0
      && entries[fastest].rate.median < entries[today].rate.median * DYNO_VERDICT_PAYS)
    {
      verdict->best = today;
      verdict->keep_today = TRUE;
    }
  else if (best >= 0 && today >= 0
           && entries[verdict->best].rate.median < entries[today].rate.median * DYNO_VERDICT_PAYS)
    verdict->best = fastest;
}

double
dyno_verdict_learning_rate (const DynoSettings *from, const DynoSettings *to)
{
  double larger =
      (double) (to->batch_size * to->accumulate) / (double) (from->batch_size * from->accumulate);

  return from->lr * sqrt (larger);
}

/* --- words ------------------------------------------------------------------------------------ */

/* The names of outcomes are for files and programs; these words are for a sentence. */
static const char *
outcome_in_words (DynoTrialOutcome outcome)
{
  static const char *const words[] = { N_ ("ok"),     N_ ("does not fit"), N_ ("out of memory"),
                                       N_ ("failed"), N_ ("diverged"),     N_ ("dropped") };

  return (guint) outcome < G_N_ELEMENTS (words) ? _ (words[outcome]) : "";
}

static void G_GNUC_PRINTF (2, 3) say (GPtrArray *reasons, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  g_ptr_array_add (reasons, g_strchomp (g_strdup_vprintf (format, arguments)));
  va_end (arguments);
}

/* The range of the trial's rates in the proof: "1,200 to 1,410". */
static char *
describe_range (const DynoTuneResult *r, const DynoTrial *trial)
{
  double low = INFINITY, high = 0;

  for (guint i = r->n_known; i < r->trials->len; i++)
    {
      const DynoTrial *t = r->trials->pdata[i];

      if (strcmp (t->stage, "proof") != 0 || !(t->samples_per_s > 0)
          || !dyno_settings_equal (&t->settings, &trial->settings))
        continue;
      low = MIN (low, t->samples_per_s);
      high = MAX (high, t->samples_per_s);
    }
  g_autofree char *from = dyno_amount_rate (high > 0 ? low : trial->low),
                  *to = dyno_amount_rate (high > 0 ? high : trial->high);
  return g_strdup_printf (_ ("%s to %s"), from, to);
}

/* Compares the choice with other settings: where the present settings stay although others were
 * measured to be faster, with the fastest; where the choice is the base line, with the present
 * settings; else with the base line. */
static void
explain_noise (GPtrArray *reasons, const DynoTuneResult *r)
{
  gboolean is_base = dyno_space_same (&r->baseline.settings, &r->best.settings);
  gboolean is_fastest = r->keep_today && dyno_space_same (&r->fastest.settings, &r->best.settings);
  const DynoTrial *other = r->keep_today && !is_fastest ? &r->fastest
                           : is_base                    ? &r->today
                                                        : &r->baseline;
  g_autofree char *range = describe_range (r, &r->best), *others = describe_range (r, other),
                  *settings = dyno_trial_describe (&other->settings);

  if (is_fastest)
    say (reasons,
         _ ("Not proven: this machine is so unsteady that your settings, the fastest that were "
            "tried, may be no faster than the base line (in the proof they ran at %s samples/s, "
            "the base line at %s); search again when it is idle."),
         range, others);
  else if (r->keep_today)
    say (reasons,
         _ ("Not proven: this machine is so unsteady that nothing which was tried is surely faster "
            "than your settings, so they stay (in the proof they ran at %s samples/s, %s at %s); "
            "search again when it is idle."),
         range, settings, others);
  else
    say (reasons,
         is_base
             ? _ ("Not proven: this machine is so unsteady that what was found may be no faster "
                  "(in the proof it ran at %s samples/s, the present settings at %s); search "
                  "again when it is idle.")
             : _ ("Not proven: this machine is so unsteady that what was found may be no faster "
                  "(in the proof it ran at %s samples/s, the base line at %s); search again "
                  "when it is idle."),
         range, others);
}

/* Names the one of the two compared settings that did not work, so that nothing is proven. */
static const DynoTrial *
find_unproven (const DynoTuneResult *r)
{
  const DynoTrial *const trials[] = { &r->baseline, &r->today };
  static const guint flags[] = { DYNO_PROOF_BASELINE, DYNO_PROOF_TODAY };

  for (guint i = 0; i < G_N_ELEMENTS (trials); i++)
    if ((r->missing & flags[i]) && trials[i]->outcome != DYNO_TRIAL_OK)
      return trials[i];
  return NULL;
}

static void
explain_failed_proof (GPtrArray *reasons, const DynoTuneResult *r)
{
  const DynoTrial *trial = find_unproven (r);
  g_autofree char *settings = dyno_trial_describe (&trial->settings);

  say (
      reasons,
      trial == &r->baseline
          ? _ ("Not proven: the comparison with the base line (%s) is missing, which did not work.")
          : _ ("Not proven: the comparison with your settings (%s) is missing, which did not "
               "work."),
      settings);
}

static void
explain_wide_interval (GPtrArray *reasons, const DynoTuneResult *r)
{
  g_autofree char *low = dyno_amount_rate (r->best.low), *high = dyno_amount_rate (r->best.high);

  say (reasons,
       _ ("Not proven: the rate is known only to be between %s and %s samples/s, and a proof needs "
          "it to ±%.0f %%; give the search more minutes, or an idle machine."),
       low, high, 100 * DYNO_CLAIMS_CLOSED);
}

/* TRUE where no more than one combination of settings worked. */
static gboolean
is_alone (const DynoTuneResult *r)
{
  const DynoTrial *first = NULL;

  for (guint i = 0; i < r->trials->len; i++)
    {
      const DynoTrial *t = r->trials->pdata[i];

      if (!(t->samples_per_s > 0))
        continue;
      if (first && !dyno_settings_equal (&t->settings, &first->settings))
        return FALSE;
      first = t;
    }
  return TRUE;
}

static gboolean
was_in_proof (const DynoTuneResult *r, const DynoTrial *trial)
{
  for (guint i = r->n_known; i < r->trials->len; i++)
    {
      const DynoTrial *t = r->trials->pdata[i];

      if (strcmp (t->stage, "proof") == 0 && t->samples_per_s > 0
          && dyno_settings_equal (&t->settings, &trial->settings))
        return TRUE;
    }
  return FALSE;
}

static void
explain_missing_base_line (GPtrArray *reasons, const DynoTuneResult *r)
{
  g_autofree char *base = dyno_trial_describe (&r->baseline.settings);

  if (r->baseline.outcome != DYNO_TRIAL_OK)
    say (reasons, _ ("The base line (%s) did not work: %s. "), base,
         outcome_in_words (r->baseline.outcome));
  else if (r->stopped)
    say (reasons, _ ("The base line (%s) was not measured before the search was stopped."), base);
  else
    say (reasons, _ ("The base line (%s) was not measured, for want of time."), base);
}

static void
explain_failed_settings (GPtrArray *reasons, const DynoTuneResult *r)
{
  g_autofree char *settings = dyno_trial_describe (&r->today.settings);

  if (*r->today.stage && r->today.outcome != DYNO_TRIAL_OK)
    say (reasons, _ ("Your settings (%s) did not work: %s."), settings,
         outcome_in_words (r->today.outcome));
}

/* Names the first failure, since more minutes do not help with it. */
static void
explain_missing_proof (GPtrArray *reasons, const DynoTuneResult *r)
{
  if (find_unproven (r))
    explain_failed_proof (reasons, r);
  else if (r->stopped)
    say (reasons,
         r->keep_today
             ? _ ("Not proven: the search was stopped before the longer runs that prove it, and "
                  "nothing which was tried is surely faster than your settings, so they stay.")
             : _ ("Not proven: the search was stopped before the longer runs that prove it."));
  else if (r->keep_today && r->batches_to > 0)
    say (reasons,
         _ ("Not proven: there was no time for batches above %d; nothing that was tried beats your "
            "settings by 3 %%, so they stay; give the search more minutes."),
         (int) r->batches_to);
  else if (r->missing == DYNO_PROOF_INTERVAL)
    explain_wide_interval (reasons, r);
  else if (was_in_proof (r, &r->best))
    say (reasons, _ ("Not proven: there was no time for longer runs of all that it is compared "
                     "with; give the search more minutes."));
  else
    say (reasons, r->keep_today
                      ? _ ("Not proven: the search ended before the longer runs that prove it, and "
                           "nothing which was tried is surely faster than your settings, so they "
                           "stay; give it more minutes.")
                      : _ ("Not proven: the search ended before the longer runs that prove it."));
}

static void
explain_gain (GPtrArray *reasons, const DynoTuneResult *r)
{
  g_autofree char *base = dyno_trial_describe (&r->baseline.settings),
                  *rate = dyno_amount_rate (r->best.samples_per_s),
                  *base_rate = dyno_amount_rate (r->baseline.samples_per_s);

  if (r->inside_noise)
    explain_noise (reasons, r);
  else if (r->missing & DYNO_PROOF_RIVAL)
    say (reasons, _ ("Not proven: no other settings had the time to reach it."));
  else if (!r->proven && r->winner < 0 && is_alone (r))
    {
      say (reasons,
           r->stopped
               ? _ ("Not proven: the search was stopped before anything else was measured that it "
                    "could be compared with.")
               : _ ("Not proven: nothing else was measured that it could be compared with; give "
                    "the search more minutes."));
      return;
    }
  else if (!r->proven)
    explain_missing_proof (reasons, r);
  if (r->keep_today && r->proven && r->winner < 0)
    say (reasons,
         _ ("Your settings are already as fast: nothing that was tried beats them by 3 %%."));
  if (dyno_space_same (&r->baseline.settings, &r->best.settings))
    {
      if (!r->keep_today)
        say (reasons, _ ("The base line (%s) is the best that was found. "), base);
    }
  /* No factor is stated for present settings that stay without a proof, not even one below 1. */
  else if (isfinite (r->speedup) && dyno_tune_result_claims_gain (r)
           && (r->proven || r->speedup > 1))
    say (reasons, _ ("%.2f times the base line (%s): %s samples/s after %s."), r->speedup, base,
         rate, base_rate);
  else if (!isfinite (r->speedup))
    explain_missing_base_line (reasons, r);
  if (!r->keep_today && dyno_tune_result_claims_gain (r) && isfinite (r->gain)
      && !dyno_space_same (&r->job->settings, &r->baseline.settings))
    say (reasons, _ ("%.2f times the present settings."), r->gain);
  if ((!r->keep_today || r->stopped) && r->batches_to > 0)
    say (reasons, _ ("Batches above %d were not tried, and may be faster."), (int) r->batches_to);
}

/* The batch that ran instead of a batch that is larger than the training part. */
static void
explain_small_set (GPtrArray *reasons, const DynoTuneResult *r)
{
  if (*r->today.stage && r->today.settings.batch_size < r->job->settings.batch_size)
    say (reasons,
         ngettext ("A batch of %d is larger than the part that trains: each step has %d sample.",
                   "A batch of %d is larger than the part that trains: each step has %d samples.",
                   (gulong) r->today.settings.batch_size),
         (int) r->job->settings.batch_size, (int) r->today.settings.batch_size);
}

char *
dyno_verdict_explain_gains (const DynoTuneResult *r)
{
  g_autoptr (GString) text = g_string_new (NULL);
  gboolean together = FALSE;

  for (guint i = 0; i < r->n_gains; i++)
    {
      const DynoTuneGain *gain = &r->gains[i];
      const DynoSettingInfo *info = dyno_setting_find (gain->key);

      if (i > 0)
        g_string_append (text, together ? ", " : "; ");
      /* Translators: a setting, its values before and after */
      g_string_append_printf (text, _ ("%s %s to %s"), info ? _ (info->title) : gain->key,
                              gain->from, gain->to);
      if (isfinite (gain->factor))
        g_string_append_printf (text, together ? _ (": together %.2f times") : _ (": %.2f times"),
                                gain->factor);
      together = !isfinite (gain->factor);
    }
  return text->len > 0 ? g_strdup_printf (_ ("What each setting brought: %s."), text->str) : NULL;
}

static double
find_exchange_ceiling (const DynoTuneResult *r)
{
  const DynoSettings *s = &r->best.settings;

  return (double) (s->batch_size * s->accumulate) / r->ranks.exchange_seconds;
}

static void
explain_exchange (GPtrArray *reasons, const DynoTuneResult *r)
{
  const DynoRanksEstimate *e = &r->ranks;
  g_autofree char *all = dyno_amount_rate (r->best.samples_per_s * e->ranks),
                  *bytes = dyno_amount_bytes (e->exchange_bytes, " "),
                  *through = dyno_amount_rate (find_exchange_ceiling (r)),
                  *link = dyno_amount_bytes ((guint64) e->rate.bytes_per_s, " ");

  say (reasons,
       _ ("The rates are those of each of %u ranks, %s samples/s in all: measured as one of them, "
          "and the exchange by a model."),
       e->ranks, all);
  if (r->limit == DYNO_TUNE_LIMIT_EXCHANGE)
    say (reasons,
         _ ("The exchange between ranks is the limit: it lets %s samples/s of each through."),
         through);
  say (reasons,
       _ ("Each step exchanges %s in %.3g ms, of which the backward pass does not hide %.3g ms."),
       bytes, 1e3 * e->exchange_seconds, 1e3 * e->exposed_seconds);
  if (e->source == DYNO_EXCHANGE_ASSUMED)
    say (reasons,
         _ ("That a link carries %s/s is assumed: “mpirun -n %u dynoctl bench --exchange” measures "
            "it."),
         link, e->ranks);
  if (r->half_gain >= ADVISED)
    say (reasons, _ ("exchange.half=true, which exchanges half of the bytes, may bring %.0f %%."),
         100 * (r->half_gain - 1));
  if (r->accumulate_gain >= ADVISED)
    say (reasons, _ ("accumulate=%d, which exchanges after twice the samples, may bring %.0f %%."),
         (int) (2 * r->best.settings.accumulate), 100 * (r->accumulate_gain - 1));
}

static void
explain_limit (GPtrArray *reasons, const DynoTuneResult *r)
{
  g_autofree char *loader = dyno_amount_rate (r->loader_ceiling),
                  *gpu = dyno_amount_rate (r->gpu_ceiling);

  if (r->limit == DYNO_TUNE_LIMIT_DATA)
    say (reasons,
         _ ("The data pipeline is the limit: alone it delivers %s samples/s, the device could take "
            "%s."),
         loader, gpu);
  else if (r->limit == DYNO_TUNE_LIMIT_GPU)
    say (
        reasons,
        _ ("The device is the limit: alone it trains %s samples/s, the data pipeline could deliver "
           "%s."),
        gpu, loader);
  else if (r->limit == DYNO_TUNE_LIMIT_BOTH)
    say (
        reasons,
        _ ("Data pipeline and device slow each other down: alone the one delivers %s samples/s and "
           "the other trains %s, and together the device waits for data."),
        loader, gpu);
  if (r->wait_share >= DYNO_CLAIMS_WAITING)
    say (reasons, _ ("Each step waits %.0f %% of its time for data."), 100 * r->wait_share);
}

static void
explain_batch (GPtrArray *reasons, const DynoTuneResult *r)
{
  const DynoTrial *best = &r->best, *fastest = &r->fastest;

  if (r->curve.text)
    say (reasons, _ ("A larger batch: %s."), r->curve.text);
  if (!r->keep_today && r->winner < 0 && fastest->samples_per_s > best->samples_per_s
      && fastest->samples_per_s <= best->samples_per_s * DYNO_VERDICT_PAYS
      && fastest->settings.batch_size > best->settings.batch_size)
    {
      g_autofree char *settings = dyno_trial_describe (&fastest->settings),
                      *rate = dyno_amount_rate (fastest->samples_per_s);

      say (reasons,
           _ ("The fastest is %s: %s samples/s, %.1f %% more; the advised batch is the smallest "
              "one that is surely within 3 %% of it."),
           settings, rate, 100 * (fastest->samples_per_s / best->samples_per_s - 1));
    }
  if (r->lr_advice)
    say (reasons, "%s", r->lr_advice);
}

/* A time below a millisecond is not stated exactly, since it does not matter. */
static char *
describe_end (double seconds)
{
  return seconds < 1e-3     ? g_strdup (_ ("under 1 ms"))
         : seconds < 0.9995 ? g_strdup_printf (_ ("%.3g ms"), 1e3 * seconds)
                            : g_strdup_printf (_ ("%.3g s"), seconds);
}

static void
explain_run (GPtrArray *reasons, const DynoTuneResult *r)
{
  const DynoTrial *best = &r->best;
  g_autofree char *rate = dyno_amount_rate (best->train_samples_per_s),
                  *validation = describe_end (best->validation_s),
                  *end = describe_end (best->epoch_end_s);

  if (best->validation_s + best->epoch_end_s > 0)
    say (reasons,
         _ ("The rate is that of a whole run: of each epoch validation takes %s and its end %s; "
            "training by itself runs at %s samples/s."),
         validation, end, rate);
  if (r->margin_bytes > 0)
    {
      g_autofree char *taken = dyno_amount_bytes (best->vram_bytes, " "),
                      *all = dyno_amount_bytes (best->vram_bytes + r->margin_bytes, " ");

      say (reasons, _ ("It takes %s of the %s of memory that it may take."), taken, all);
    }
}

/* --- learning --------------------------------------------------------------------------------- */

static char *
describe_time (double seconds)
{
  return seconds < 99.5 ? g_strdup_printf (_ ("%.3g s"), seconds) : dyno_amount_duration (seconds);
}

static char *
describe_goal (const DynoTuneResult *r)
{
  DynoLearning l = { 0 };

  for (guint i = 0; i < r->racers->len && !*l.name; i++)
    l = ((const DynoTuneRacer *) r->racers->pdata[i])->learning;
  if (*l.name)
    return dyno_learning_describe (&l, r->goal->value);
  return g_strdup_printf ("%s %.4g", r->goal->metric, r->goal->value);
}

/* "batch 64, fp32, 2 workers: in 12.5 s", or its progress. */
static char *
describe_racer (const DynoTuneRacer *racer)
{
  g_autofree char *settings = dyno_trial_describe (&racer->settings),
                  *time = describe_time (racer->learning.seconds),
                  *best = dyno_learning_describe (&racer->learning, racer->learning.best);

  if (racer->text)
    return g_strdup_printf (_ ("%s: it failed: %s"), settings, racer->text);
  if (racer->learning.reached)
    return g_strdup_printf (_ ("%s: in %s"), settings, time);
  if (isnan (racer->learning.best))
    return g_strdup_printf (_ ("%s: no epoch in %s"), settings, time);
  return g_strdup_printf (_ ("%s: %s after %s"), settings, best, time);
}

/* All racers but the winner. */
static char *
describe_others (const DynoTuneResult *r)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < r->racers->len; i++)
    {
      const DynoTuneRacer *racer = r->racers->pdata[i];
      g_autofree char *words = racer->ran && (int) i != r->winner ? describe_racer (racer) : NULL;

      if (words)
        g_string_append_printf (text, "%s%s", text->len > 0 ? "; " : "", words);
    }
  return g_string_free (text, FALSE);
}

static void
explain_goal (GPtrArray *reasons, const DynoTuneResult *r)
{
  g_autofree char *goal = NULL, *others = NULL;

  if (!r->goal)
    return;
  goal = describe_goal (r);
  others = describe_others (r);
  if (r->winner >= 0)
    {
      const DynoTuneRacer *racer = r->racers->pdata[r->winner];
      g_autofree char *settings = dyno_trial_describe (&racer->settings),
                      *time = describe_time (racer->learning.seconds);

      say (reasons,
           ngettext ("The goal, %s in validation, is reached first by %s: in %s of training, "
                     "after %u epoch.",
                     "The goal, %s in validation, is reached first by %s: in %s of training, "
                     "after %u epochs.",
                     (gulong) racer->learning.epochs),
           goal, settings, time, (guint) racer->learning.epochs);
    }
  else if (r->stopped)
    say (reasons,
         _ ("The goal, %s in validation, was not reached before the search was stopped; the choice "
            "is the fastest so far."),
         goal);
  else
    say (reasons,
         _ ("The goal, %s in validation, was not reached in the time; the choice is the fastest. "
            "Give the search more minutes, or the run more epochs."),
         goal);
  if (*others)
    say (reasons, _ ("From the same start: %s."), others);
}

static void
explain_equal_epochs (GPtrArray *reasons, const DynoTuneResult *r)
{
  g_autofree char *own = NULL, *present = NULL;

  if (r->equal_epochs == 0)
    {
      if (r->equal_wanted)
        say (reasons, r->stopped
                          ? _ ("What the other batch costs in accuracy after equal epochs was not "
                               "measured.")
                          : _ ("What the other batch costs in accuracy after equal epochs was not "
                               "measured: there was no time for an epoch of both."));
      return;
    }
  own = dyno_learning_describe (&r->equal[0], r->equal[0].best);
  present = dyno_learning_describe (&r->equal[1], r->equal[1].best);
  say (reasons,
       ngettext ("After %u epoch from the same start: %s in validation; with the present settings "
                 "%s.",
                 "After %u epochs from the same start: %s in validation; with the present settings "
                 "%s.",
                 (gulong) r->equal_epochs),
       (guint) r->equal_epochs, own, present);
}

char **
dyno_verdict_explain (const DynoTuneResult *r)
{
  GPtrArray *reasons = g_ptr_array_new ();

  explain_goal (reasons, r);
  explain_gain (reasons, r);
  explain_failed_settings (reasons, r);
  explain_small_set (reasons, r);
  explain_limit (reasons, r);
  if (r->ranks.ranks > 1)
    explain_exchange (reasons, r);
  explain_batch (reasons, r);
  explain_run (reasons, r);
  explain_equal_epochs (reasons, r);
  if (r->amp_text)
    say (reasons, "%s", r->amp_text);
  if (r->preset_text)
    say (reasons, "%s", r->preset_text);
  if (r->device_change < 1)
    say (reasons,
         _ ("The device became %.0f %% slower while it was measured (heat, a limit of power, or "
            "another "
            "program), so the first measurements were taken once more."),
         100 * (1 - r->device_change));
  else if (r->device_change > 1)
    say (reasons,
         _ ("The device became %.0f %% faster while it was measured (another program ended, or it "
            "was "
            "saving power), so the first measurements were taken once more."),
         100 * (r->device_change - 1));
  if (r->n_unreadable > 0)
    say (reasons,
         ngettext ("At least %u sample of the data set cannot be read; another took its place.",
                   "At least %u samples of the data set cannot be read; others took their place.",
                   (gulong) r->n_unreadable),
         (guint) r->n_unreadable);
  if (r->outside_cpu > 0.1)
    say (reasons,
         _ ("Other programs took up to %.0f %% of the processor meanwhile: on an idle machine the "
            "rates, and the best number of workers, may be others."),
         100 * r->outside_cpu);
  g_ptr_array_add (reasons, NULL);
  return (char **) g_ptr_array_free (reasons, FALSE);
}

void
dyno_verdict_add_preset (DynoTuneResult *result, const DynoPreset *preset, const DynoPresetUse *use)
{
  double measured[DYNO_PRESET_N_QUANTITIES];
  DynoPresetRange expected[DYNO_PRESET_N_QUANTITIES];
  g_autofree char *text = NULL;
  guint n = result->reasons ? g_strv_length (result->reasons) : 0;

  if (!dyno_tune_result_has_best (result))
    return;
  for (guint i = 0; i < DYNO_PRESET_N_QUANTITIES; i++)
    measured[i] = (double) NAN;
  measured[DYNO_PRESET_SAMPLES_PER_S] = result->best.samples_per_s;
  measured[DYNO_PRESET_VRAM] = (double) result->best.vram_bytes / (double) ((guint64) 1 << 30);
  dyno_preset_list_expected (preset, use, expected);
  text = dyno_preset_compare (expected, measured);
  if (!text)
    return;
  result->reasons = g_renew (char *, result->reasons, n + 2);
  /* Translators: name of a preset; "310 samples/s (expected 300-500)" */
  result->reasons[n] = g_strdup_printf (_ ("Compared with the numbers of the preset “%s”, measured "
                                           "on its guide's network and card: %s."),
                                        preset->name, text);
  result->reasons[n + 1] = NULL;
}
