/* SPDX-License-Identifier: MIT */
/* Rates are compared like with like: proofs with proofs where there are any, since a short trial
 * may have been lucky. */
#include "intl.h"
#include "space.h"
#include "verdict.h"
#include <math.h>
#include <string.h>

#define MOST_CANDIDATES 3 /* that may fail their proof before the search gives up */

static gboolean
is_proof (const DynoTrial *trial)
{
  return strcmp (trial->stage, "proof") == 0;
}

/* The proof of these settings, whether it worked or not; NULL: none ran. */
static const DynoTrial *
find_proof (const GPtrArray *trials, const DynoSettings *settings)
{
  for (guint i = 0; i < trials->len; i++)
    {
      const DynoTrial *t = trials->pdata[i];
      if (is_proof (t) && dyno_settings_equal (&t->settings, settings))
        return t;
    }
  return NULL;
}

/* TRUE when a is to be preferred at nearly the same rate. */
static gboolean
is_smaller (const DynoTrial *a, const DynoTrial *b)
{
  int order = dyno_space_compare (&a->settings, &b->settings);

  return order < 0 || (order == 0 && a->samples_per_s > b->samples_per_s);
}

typedef gboolean (*Counts) (const GPtrArray *trials, const DynoTrial *trial);

static const DynoTrial *
choose_among (const GPtrArray *trials, Counts counts)
{
  const DynoTrial *choice = NULL;
  double fastest = 0.0;

  for (guint i = 0; i < trials->len; i++)
    if (counts (trials, trials->pdata[i]))
      fastest = MAX (fastest, ((const DynoTrial *) trials->pdata[i])->samples_per_s);
  for (guint i = 0; i < trials->len; i++)
    {
      const DynoTrial *t = trials->pdata[i];
      if (counts (trials, t) && t->samples_per_s * DYNO_VERDICT_PAYS >= fastest
          && (!choice || is_smaller (t, choice)))
        choice = t;
    }
  return choice;
}

static gboolean
worked (const GPtrArray *trials, const DynoTrial *trial)
{
  return trial->outcome == DYNO_TRIAL_OK;
}

static gboolean
worked_and_is_unproven (const GPtrArray *trials, const DynoTrial *trial)
{
  return trial->outcome == DYNO_TRIAL_OK && !find_proof (trials, &trial->settings);
}

static gboolean
is_good_proof (const GPtrArray *trials, const DynoTrial *trial)
{
  return trial->outcome == DYNO_TRIAL_OK && is_proof (trial);
}

const DynoTrial *
dyno_verdict_choose (const GPtrArray *trials)
{
  return choose_among (trials, worked);
}

const DynoTrial *
dyno_verdict_next_proof (const GPtrArray *trials, const DynoTrial *baseline, const DynoTrial *today)
{
  const DynoTrial *compared[] = { baseline, today };
  guint failed = 0;

  for (guint i = 0; i < trials->len; i++)
    {
      const DynoTrial *t = trials->pdata[i];
      failed += is_proof (t) && t->outcome != DYNO_TRIAL_OK;
    }
  if (!choose_among (trials, is_good_proof))
    return failed < MOST_CANDIDATES ? choose_among (trials, worked_and_is_unproven) : NULL;
  for (guint i = 0; i < G_N_ELEMENTS (compared); i++)
    if (compared[i] && worked_and_is_unproven (trials, compared[i]))
      return compared[i];
  return NULL;
}

/* What is known best of the settings of a trial: its proof if it worked. */
static const DynoTrial *
figure_of (const GPtrArray *trials, const DynoTrial *trial)
{
  const DynoTrial *proof = trial ? find_proof (trials, &trial->settings) : NULL;

  return proof && proof->outcome == DYNO_TRIAL_OK ? proof : trial;
}

void
dyno_verdict_judge (const GPtrArray *trials, const DynoTrial *baseline, const DynoTrial *today,
                    DynoVerdict *verdict)
{
  const DynoTrial *best = choose_among (trials, is_good_proof);
  DynoVerdict v = { .baseline = figure_of (trials, baseline), .today = figure_of (trials, today) };

  v.proven = best != NULL;
  v.best = best ? best : choose_among (trials, worked_and_is_unproven);
  if (v.today && v.today->outcome != DYNO_TRIAL_OK)
    v.today = NULL;
  if (v.best && v.today && is_proof (v.today) == v.proven
      && v.best->samples_per_s < v.today->samples_per_s * DYNO_VERDICT_PAYS)
    {
      v.best = v.today;
      v.keep_today = TRUE;
    }
  *verdict = v;
}

/* The names of outcomes are for files and programs; these are for a sentence. */
static const char *
outcome_in_words (DynoTrialOutcome outcome)
{
  static const char *const words[] = { N_ ("ok"),     N_ ("does not fit"), N_ ("out of memory"),
                                       N_ ("failed"), N_ ("diverged"),     N_ ("dropped") };

  return (guint) outcome < G_N_ELEMENTS (words) ? _ (words[outcome]) : "";
}

static void
explain_gain (GString *text, const DynoVerdict *v)
{
  g_autofree char *base = dyno_trial_describe (&v->baseline->settings);

  if (!v->proven)
    g_string_append (text,
                     _ ("Not proven: the search ended before the longer run that proves it. "));
  if (v->keep_today)
    g_string_append (
        text,
        _ ("Today's settings are already as fast: nothing that was tried beats them by 3 %. "));
  if (dyno_settings_equal (&v->baseline->settings, &v->best->settings))
    {
      if (!v->keep_today)
        g_string_append_printf (text, _ ("The base line (%s) is the fastest that was found. "),
                                base);
    }
  else if (v->baseline->outcome == DYNO_TRIAL_OK)
    g_string_append_printf (text, _ ("%.2f times the base line (%s). "),
                            v->best->samples_per_s / v->baseline->samples_per_s, base);
  else
    g_string_append_printf (text, _ ("The base line (%s) did not work: %s. "), base,
                            outcome_in_words (v->baseline->outcome));
  if (v->today && !v->keep_today
      && !dyno_settings_equal (&v->today->settings, &v->baseline->settings))
    g_string_append_printf (text, _ ("%.2f times today's settings. "),
                            v->best->samples_per_s / v->today->samples_per_s);
}

char *
dyno_verdict_explain (const DynoVerdict *v, const GPtrArray *trials)
{
  g_autoptr (GString) text = g_string_new (NULL);
  const DynoTrial *best = v->best;
  gboolean larger = FALSE;

  explain_gain (text, v);
  for (guint i = 0; i < trials->len; i++)
    {
      const DynoTrial *t = trials->pdata[i];
      larger |= t->outcome == DYNO_TRIAL_OK && strcmp (t->stage, "batch") == 0
                && t->settings.batch_size > best->settings.batch_size;
    }
  if (larger)
    g_string_append_printf (text, _ ("A batch above %d only adds memory. "),
                            (int) best->settings.batch_size);
  if (best->wait_data_ms > 0.1 * best->step_ms)
    g_string_append_printf (text,
                            _ ("Each step waits %.0f %% of its time for data: more workers, or the "
                               "cache, would help. "),
                            100.0 * best->wait_data_ms / best->step_ms);
  if (!v->keep_today && best->settings.batch_size != v->baseline->settings.batch_size)
    g_string_append_printf (
        text, _ ("If the learning rate was found with batch %d, start from %.3g times it."),
        (int) v->baseline->settings.batch_size,
        (double) best->settings.batch_size / (double) v->baseline->settings.batch_size);
  return g_strchomp (g_string_free (g_steal_pointer (&text), FALSE));
}
