/* SPDX-License-Identifier: MIT */
#include "accuracystatus.h"
#include "words.h"
#include <glib/gi18n.h>
#include <math.h>

static char *
describe_run (const DynoAccuracyRun *run)
{
  g_autofree char *seed = g_strdup_printf ("%" G_GUINT64_FORMAT, run->seed);
  if (run->final && run->trial == 0)
    return g_strdup_printf (_ ("Final, your settings with seed %s"), seed);
  if (run->final)
    return g_strdup_printf (_ ("Final, trial %u with seed %s"), run->trial, seed);
  if (run->trial == 0)
    return g_strdup (_ ("Your settings"));
  return g_strdup_printf (_ ("Trial %u"), run->trial);
}

static char *
describe_preparing (const DynoAccuracyEvent *event)
{
  const char *words = dyno_words_progress (event->preparing);
  return event->n_to_prepare > 0
             ? g_strdup_printf (_ ("%s (%u of %u)"), words, event->n_prepared, event->n_to_prepare)
             : g_strdup (words);
}

char *
dyno_accuracy_status_describe (const DynoAccuracyEvent *event)
{
  g_autofree char *run = event->run ? describe_run (event->run) : NULL, *what = NULL;
  if (!run || event->type == DYNO_ACCURACY_EVENT_WARNING || event->type == DYNO_ACCURACY_EVENT_END)
    return NULL;
  if (event->type == DYNO_ACCURACY_EVENT_PROGRESS && event->preparing)
    what = describe_preparing (event);
  else
    {
      guint done = event->type == DYNO_ACCURACY_EVENT_EPOCH ? (guint) event->epoch
                                                            : (guint) event->run->from_epochs;
      /* Translators: "epoch 2 of 9" */
      what = g_strdup_printf (_ ("epoch %u of %u"), MIN (done + 1, (guint) event->run->epochs),
                              (guint) event->run->epochs);
    }
  if (event->run->at_once > 1)
    /* Translators: a trial, the number of trials at once, "epoch 2 of 9" */
    return g_strdup_printf (_ ("%s, one of %u at once: %s"), run, event->run->at_once, what);
  return g_strdup_printf ("%s: %s", run, what);
}

char *
dyno_accuracy_status_describe_warning (const DynoAccuracyEvent *event)
{
  g_autofree char *run = event->run ? describe_run (event->run) : NULL;
  return run ? g_strdup_printf ("%s: %s", run, event->text) : g_strdup (event->text);
}

const char *
dyno_accuracy_status_describe_next (const DynoAccuracyRun *run)
{
  if (run->final)
    return _ ("The finalists are trained with several seeds, one after the other, as long as there "
              "is time.");
  if (run->trial == 0)
    return _ ("After that come others, as long as there is time; the last part of it is for the "
              "comparison.");
  return _ (
      "The best third of each rung, and every fourth trial, is trained longer, several trials "
      "at once where that is faster. In the end the best two are compared with your "
      "settings.");
}

/* --- stages ----------------------------------------------------------------------------------- */

/* The number of seeds in the final so far, for each of which the user's settings are trained
 * first. */
static guint
count_seeds (const DynoAccuracyResult *r)
{
  guint n = 0;
  for (guint i = 0; i < r->runs->len; i++)
    {
      const DynoAccuracyRun *run = r->runs->pdata[i];
      n += run->final && run->trial == 0;
    }
  return n;
}

/* Whether runs of a stage are trained now: all runs at once are of one. */
static gboolean
is_at_work (const DynoAccuracyResult *r, gboolean final, gboolean own)
{
  const DynoAccuracyRun *run = r->running->len > 0 ? r->running->pdata[0] : NULL;
  return run && (final ? run->final : !run->final && (run->trial == 0) == own);
}

static void
show_own (DynoStageCells *cells, const DynoAccuracyResult *r)
{
  const DynoAccuracyTrial *own =
      r->trials->len > 0 ? &g_array_index (r->trials, DynoAccuracyTrial, 0) : NULL;
  guint done = own ? own->halving.n_done : 0;
  DynoCheckState stand = is_at_work (r, FALSE, TRUE)  ? DYNO_STAND_AT_WORK
                         : own && own->halving.failed ? DYNO_STAND_FAILED
                         : done > 0                   ? DYNO_STAND_DONE
                                                      : DYNO_STAND_TO_COME;
  g_autofree char *value = done > 0 && isfinite (own->values[done - 1])
                               ? dyno_accuracy_format (&r->metric, own->values[done - 1])
                               : g_strdup ("\342\200\223");
  dyno_stage_cells_show (cells, 0, stand, _ ("Your settings"));
  dyno_stage_cells_set_value (cells, 0, value);
}

static void
show_trials (DynoStageCells *cells, const DynoAccuracyResult *r)
{
  guint n = r->trials->len > 1 ? r->trials->len - 1 : 0;
  DynoCheckState stand = is_at_work (r, FALSE, FALSE) ? DYNO_STAND_AT_WORK
                         : n > 0                      ? DYNO_STAND_DONE
                                                      : DYNO_STAND_TO_COME;
  g_autofree char *text = n > 0 ? g_strdup_printf (ngettext ("%u trial", "%u trials", n), n)
                                : g_strdup ("\342\200\223");
  dyno_stage_cells_show (cells, 1, stand, _ ("Search"));
  dyno_stage_cells_set_value (cells, 1, text);
}

static void
show_final (DynoStageCells *cells, const DynoAccuracyResult *r)
{
  guint n = count_seeds (r);
  DynoCheckState stand = is_at_work (r, TRUE, FALSE) ? DYNO_STAND_AT_WORK
                         : n > 0                     ? DYNO_STAND_DONE
                                                     : DYNO_STAND_TO_COME;
  g_autofree char *text =
      n > 0 ? g_strdup_printf (ngettext ("%u seed", "%u seeds", n), n) : g_strdup ("\342\200\223");
  dyno_stage_cells_show (cells, 2, stand, _ ("Final"));
  dyno_stage_cells_set_value (cells, 2, text);
}

static void
show_verdict (DynoStageCells *cells, const DynoAccuracyResult *r)
{
  gboolean sure =
      r->text && (r->verdict == DYNO_ACCURACY_PROVEN || r->verdict == DYNO_ACCURACY_KEEP);
  dyno_stage_cells_show (cells, 3, sure ? DYNO_STAND_DONE : DYNO_STAND_TO_COME, _ ("Verdict"));
  dyno_stage_cells_set_value (cells, 3,
                              !r->text                             ? "\342\200\223"
                              : r->verdict == DYNO_ACCURACY_PROVEN ? _ ("proven")
                              : r->verdict == DYNO_ACCURACY_KEEP   ? _ ("your settings stay")
                                                                   : _ ("not proven"));
}

void
dyno_accuracy_status_show_stages (DynoStageCells *cells, const DynoAccuracyResult *result)
{
  show_own (cells, result);
  show_trials (cells, result);
  show_final (cells, result);
  show_verdict (cells, result);
}
