/* SPDX-License-Identifier: MIT */
/* Rates are compared like with like: the caller gives proofs alone, or trials alone. */
#include "verdict.h"
#include "amount.h"
#include "intl.h"
#include "space.h"
#include <math.h>
#include <string.h>

#define SURE 1.1 /* times a ceiling: above it the ceiling is wrong */

/* TRUE when a is to be preferred at nearly the same rate. */
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

/* The names of outcomes are for files and programs; these are for a sentence. */
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

static void
explain_noise (GPtrArray *reasons, const DynoTuneResult *r)
{
  g_autofree char *low = dyno_amount_rate (r->best.low), *high = dyno_amount_rate (r->best.high),
                  *base_low = dyno_amount_rate (r->baseline.low),
                  *base_high = dyno_amount_rate (r->baseline.high);

  say (reasons,
       _ ("Not proven: this machine is so unsteady that what was found may be no faster (%s to %s "
          "samples/s, the base line %s to %s); search again when it is idle."),
       low, high, base_low, base_high);
}

static void
explain_gain (GPtrArray *reasons, const DynoTuneResult *r)
{
  g_autofree char *base = dyno_trial_describe (&r->baseline.settings),
                  *rate = dyno_amount_rate (r->best.samples_per_s),
                  *base_rate = dyno_amount_rate (r->baseline.samples_per_s);

  if (r->inside_noise)
    explain_noise (reasons, r);
  else if (!r->proven)
    say (reasons, _ ("Not proven: the search ended before the longer runs that prove it."));
  if (r->keep_today && r->proven)
    say (reasons,
         _ ("Your settings are already as fast: nothing that was tried beats them by 3 %%."));
  if (dyno_space_same (&r->baseline.settings, &r->best.settings))
    {
      if (!r->keep_today)
        say (reasons, _ ("The base line (%s) is the fastest that was found. "), base);
    }
  else if (isfinite (r->speedup))
    say (reasons, _ ("%.2f times the base line (%s): %s samples/s after %s."), r->speedup, base,
         rate, base_rate);
  else if (r->baseline.outcome == DYNO_TRIAL_OK)
    say (reasons, _ ("The base line (%s) was not measured, for want of time."), base);
  else
    say (reasons, _ ("The base line (%s) did not work: %s. "), base,
         outcome_in_words (r->baseline.outcome));
  if (!r->keep_today && isfinite (r->gain)
      && !dyno_space_same (&r->job->settings, &r->baseline.settings))
    say (reasons, _ ("%.2f times the present settings."), r->gain);
}

char *
dyno_verdict_explain_gains (const DynoTuneResult *r)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < r->n_gains; i++)
    {
      const DynoTuneGain *gain = &r->gains[i];
      const DynoSettingInfo *info = dyno_setting_find (gain->key);

      g_string_append_printf (text, _ ("%s%s %s to %s: %.2f times"), i > 0 ? "; " : "",
                              info ? _ (info->title) : gain->key, gain->from, gain->to,
                              gain->factor);
    }
  return text->len > 0 ? g_strdup_printf (_ ("What each setting brought: %s."), text->str) : NULL;
}

static void
explain_limit (GPtrArray *reasons, const DynoTuneResult *r)
{
  double loader = r->loader_ceiling, gpu = r->gpu_ceiling;
  const DynoTrial *best = &r->best;
  g_autofree char *loader_rate = dyno_amount_rate (loader), *gpu_rate = dyno_amount_rate (gpu);

  if (best->train_samples_per_s > SURE * MIN (loader, gpu))
    ; /* it has been faster than its ceiling: they were measured while others used the machine */
  else if (isfinite (loader) && isfinite (gpu) && loader < gpu)
    say (reasons,
         _ ("The data pipeline is the limit: alone it delivers %s samples/s, the GPU could take "
            "%s."),
         loader_rate, gpu_rate);
  else if (isfinite (loader) && isfinite (gpu))
    say (reasons,
         _ ("The GPU is the limit: alone it trains %s samples/s, the data pipeline could deliver "
            "%s."),
         gpu_rate, loader_rate);
  if (best->wait_data_ms > 0.1 * best->step_ms)
    say (reasons, _ ("Each step waits %.0f %% of its time for data."),
         100 * best->wait_data_ms / best->step_ms);
}

static void
explain_batch (GPtrArray *reasons, const DynoTuneResult *r)
{
  const DynoTrial *best = &r->best, *fastest = &r->fastest;

  if (r->curve.text)
    say (reasons, _ ("A larger batch: %s."), r->curve.text);
  if (!r->keep_today && fastest->samples_per_s > best->samples_per_s
      && fastest->settings.batch_size > best->settings.batch_size)
    {
      g_autofree char *settings = dyno_trial_describe (&fastest->settings),
                      *rate = dyno_amount_rate (fastest->samples_per_s);

      say (reasons,
           _ ("The fastest is %s: %s samples/s, %.1f %% more; the advised is the "
              "smallest batch within 3 %% of it."),
           settings, rate, 100 * (fastest->samples_per_s / best->samples_per_s - 1));
    }
  if (r->lr_advice)
    say (reasons, "%s", r->lr_advice);
}

static void
explain_run (GPtrArray *reasons, const DynoTuneResult *r)
{
  const DynoTrial *best = &r->best;
  g_autofree char *rate = dyno_amount_rate (best->train_samples_per_s);

  if (best->validation_s + best->epoch_end_s > 0)
    say (reasons,
         _ ("The rate is that of a whole run: of each epoch validation takes %.3g s and its end "
            "%.3g s; training alone runs at %s samples/s."),
         best->validation_s, best->epoch_end_s, rate);
  if (r->margin_bytes > 0)
    {
      g_autofree char *margin = dyno_amount_bytes (r->margin_bytes, " ");

      say (reasons, _ ("It leaves %s of the memory that it may take."), margin);
    }
}

char **
dyno_verdict_explain (const DynoTuneResult *r)
{
  GPtrArray *reasons = g_ptr_array_new ();

  explain_gain (reasons, r);
  explain_limit (reasons, r);
  explain_batch (reasons, r);
  explain_run (reasons, r);
  if (r->amp_text)
    say (reasons, "%s", r->amp_text);
  if (r->preset_text)
    say (reasons, "%s", r->preset_text);
  if (r->outside_cpu > 0.1)
    say (reasons,
         _ ("Other programs took up to %.0f %% of the processor meanwhile: on an idle machine the "
            "rates, and the best number of workers, may be others."),
         100 * r->outside_cpu);
  g_ptr_array_add (reasons, NULL);
  return (char **) g_ptr_array_free (reasons, FALSE);
}
