/* SPDX-License-Identifier: MIT */
/* A run in one sentence.  Times are rounded coarsely, so that the sentence seldom changes. */
#include "sentence.h"
#include "format.h"
#include "words.h"
#include <glib/gi18n.h>
#include <math.h>

static void G_GNUC_PRINTF (2, 3) add (GString *text, const char *format, ...)
{
  va_list arguments;
  if (text->len > 0)
    /* Translators: between the parts of a sentence, "12 min left, loss falling" */
    g_string_append (text, _ (", "));
  va_start (arguments, format);
  g_string_append_vprintf (text, format, arguments);
  va_end (arguments);
}

static void
add_left (GString *text, double seconds)
{
  guint minutes = (guint) round (seconds / 60), hours = minutes / 60;
  if (seconds < 55)
    add (text, text->len > 0 ? _ ("less than a minute left") : _ ("Less than a minute left"));
  else if (minutes < 100)
    add (text, ngettext ("%u min left", "%u min left", minutes), minutes);
  else if (hours < 48)
    /* Translators: hours, minutes */
    add (text, _ ("%u h %u min left"), hours, minutes % 60);
  else
    add (text, _ ("%u days left"), hours / 24);
}

static void
add_best (GString *text, const DynoRunStatus *s)
{
  guint shown = dyno_words_find_metric (s);
  if (s->metrics.n == 0 || !isfinite (s->best[shown]))
    return;
  g_autofree char *label = dyno_words_metric_within (&s->metrics.infos[shown]);
  g_autofree char *value = dyno_format_metric (&s->metrics.infos[shown], s->best[shown]);
  /* Translators: a metric and its best value: "best accuracy 97.4 %" */
  add (text, _ ("best %s %s"), label, value);
}

static void
add_progress (GString *text, const DynoRunStatus *s)
{
  const char *state = dyno_words_session_state (DYNO_SESSION_PREPARING);
  if (s->progress_left_s < 0)
    add (text, "%s: %s\342\200\246", state, dyno_words_progress (s->progress));
  else
    /* Translators: "Preparing: Compiling kernels…, about 12 s left" */
    add (text, _ ("%s: %s…, about %.0f s left"), state, dyno_words_progress (s->progress),
         s->progress_left_s);
}

char *
dyno_sentence_describe (const DynoRunStatus *s, DynoLossTrend trend, double gpu_busy)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autofree char *span = dyno_format_span (s->seconds);
  gboolean going = s->state == DYNO_SESSION_RUNNING && !s->progress;
  if (s->state == DYNO_SESSION_FINISHED && s->whole_steps > 0)
    {
      g_autofree char *steps = dyno_format_count (s->step.step),
                      *whole = dyno_format_count (s->whole_steps);
      /* Translators: "Stopped after 20 of 2,810 steps as asked, in 0:42" */
      add (text, _ ("Stopped after %s of %s steps as asked, in %s"), steps, whole, span);
    }
  else if (s->state == DYNO_SESSION_FINISHED)
    add (text, _ ("Finished in %s"), span);
  else if (s->state == DYNO_SESSION_STOPPED)
    add (text, _ ("Stopped after %s"), span);
  else if (s->state == DYNO_SESSION_PAUSED)
    add (text, s->released ? _ ("Paused, device memory is free") : _ ("Paused"));
  else if (s->state == DYNO_SESSION_FAILED)
    add (text, _ ("Failed after %s"), span);
  else if (s->progress && s->state < DYNO_SESSION_STOPPING)
    add_progress (text, s);
  else if (!going || s->n_steps == 0)
    add (text, "%s\342\200\246", dyno_words_session_state (s->state));
  if (s->state >= DYNO_SESSION_FINISHED)
    add_best (text, s);
  else if ((going || s->state == DYNO_SESSION_PAUSED) && s->n_steps > 0 && s->eta_s >= 0)
    add_left (text, s->eta_s);
  if (going && trend == DYNO_LOSS_FALLING)
    add (text, _ ("loss falling"));
  else if (going && trend == DYNO_LOSS_STEADY)
    add (text, _ ("loss steady"));
  else if (going && trend == DYNO_LOSS_RISING)
    add (text, _ ("loss rising"));
  if (going && isfinite (gpu_busy))
    {
      g_autofree char *busy = dyno_format_share (gpu_busy / 100);
      /* Translators: a share: "GPU 92 % busy" */
      add (text, _ ("GPU %s busy"), busy);
    }
  if (text->len == 0)
    add (text, "%s", dyno_words_session_state (s->state));
  return g_strdup (text->str);
}
