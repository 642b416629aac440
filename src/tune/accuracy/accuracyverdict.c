/* SPDX-License-Identifier: MIT */
#include "accuracyverdict.h"
#include "intl.h"
#include "job.h"
#include <math.h>
#include <string.h>

/* Compares on the seeds on which both were measured. */
static void
compare (const DynoAccuracyResult *r, DynoAccuracyContender *c)
{
  gboolean higher = r->metric.higher_is_better;

  dyno_paired_compare (higher ? c->values : r->own.values, higher ? r->own.values : c->values,
                       DYNO_ACCURACY_MOST_SEEDS, r->n_contenders, &c->gain);
}

/* The contender with the largest mean gain, proven ones first; NULL: no contender was measured on
 * two seeds. */
static const DynoAccuracyContender *
find_winner (const DynoAccuracyResult *r)
{
  const DynoAccuracyContender *best = NULL;

  for (guint i = 0; i < r->n_contenders; i++)
    {
      const DynoAccuracyContender *c = &r->contenders[i];

      if (c->failed || c->gain.n < 2)
        continue;
      if (!best || (c->gain.low > 0) > (best->gain.low > 0)
          || ((c->gain.low > 0) == (best->gain.low > 0) && c->gain.mean > best->gain.mean))
        best = c;
    }
  return best;
}

/* The best contender of the search that did not fail in the final. */
static const DynoAccuracyContender *
find_first (const DynoAccuracyResult *r)
{
  for (guint i = 0; i < r->n_contenders; i++)
    if (!r->contenders[i].failed)
      return &r->contenders[i];
  return NULL;
}

static char *
describe_final (const DynoAccuracyResult *r, const DynoAccuracyContender *c)
{
  g_autofree char *mean = dyno_accuracy_format_difference (&r->metric, c->gain.mean),
                  *half = dyno_accuracy_format_difference (&r->metric, c->gain.half),
                  *low = dyno_accuracy_format_difference (&r->metric, c->gain.low),
                  *high = dyno_accuracy_format_difference (&r->metric, c->gain.high);

  if (r->verdict == DYNO_ACCURACY_PROVEN)
    return g_strdup_printf (
        ngettext ("Trial %u is better than your settings by %s (± %s), proven on %u seed",
                  "Trial %u is better than your settings by %s (± %s), proven on %u seeds",
                  c->gain.n),
        c->trial, mean, half, c->gain.n);
  if (r->verdict == DYNO_ACCURACY_NOT_PROVEN && c->gain.low > 0)
    return g_strdup_printf (_ ("Not proven, since the search was stopped: trial %u is better than "
                               "your settings by %s so far; resume the search to find out"),
                            c->trial, mean);
  if (r->verdict == DYNO_ACCURACY_NOT_PROVEN)
    return g_strdup_printf (
        ngettext ("Not proven: on %u seed trial %u is better than your settings by %s, with a 95 "
                  "%% interval from %s to %s; more time gives more seeds",
                  "Not proven: on %u seeds trial %u is better than your settings by %s, with a 95 "
                  "%% interval from %s to %s; more time gives more seeds",
                  c->gain.n),
        c->gain.n, c->trial, mean, low, high);
  return g_strdup_printf (
      ngettext (
          "Your settings stay: on %u seed trial %u, the best of the search, is no better than "
          "they are (a difference of %s, with a 95 %% interval from %s to %s)",
          "Your settings stay: on %u seeds trial %u, the best of the search, is no better than "
          "they are (a difference of %s, with a 95 %% interval from %s to %s)",
          c->gain.n),
      c->gain.n, c->trial, mean, low, high);
}

static char *
describe_search (const DynoAccuracyResult *r, const DynoAccuracyContender *c)
{
  guint n_others = r->trials->len > 0 ? r->trials->len - 1 : 0;

  if (r->own.failed && c)
    return g_strdup_printf (
        _ ("Not proven: your settings do not train to the end, and trial %u does"), c->trial);
  if (r->own.failed)
    return g_strdup (
        _ ("Not proven: neither your settings nor others train to the end; take a lower "
           "lr"));
  if (c)
    return g_strdup_printf (_ ("Not proven: trial %u is the best so far, and was not compared with "
                               "your settings on further seeds; more time does that"),
                            c->trial);
  if (n_others == 0)
    return g_strdup (_ ("Not proven: no trial besides your settings ended; give it more "
                        "minutes"));
  return g_strdup_printf (ngettext ("Your settings stay: %u other trial was no better",
                                    "Your settings stay: none of %u other trials was better",
                                    n_others),
                          n_others);
}

void
dyno_accuracy_judge (DynoAccuracyResult *result)
{
  const DynoAccuracyContender *best;

  for (guint i = 0; i < result->n_contenders; i++)
    compare (result, &result->contenders[i]);
  best = find_winner (result);
  /* A stopped final proves nothing: the user may have stopped it because of the values so far. */
  if (best && best->gain.low > 0 && !result->stopped)
    result->verdict = DYNO_ACCURACY_PROVEN;
  else if (best && best->gain.mean > 0)
    result->verdict = DYNO_ACCURACY_NOT_PROVEN;
  else if (!best && find_first (result))
    result->verdict = DYNO_ACCURACY_NO_FINAL;
  else
    result->verdict = DYNO_ACCURACY_KEEP;
  result->text =
      best ? describe_final (result, best) : describe_search (result, find_first (result));
  if (!best)
    best = find_first (result);
  result->best = result->verdict == DYNO_ACCURACY_KEEP ? 0 : best->trial;
}
