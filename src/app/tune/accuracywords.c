/* SPDX-License-Identifier: MIT */
#include "accuracywords.h"
#include "metrictable.h"
#include "words.h"
#include <glib/gi18n.h>
#include <math.h>

#define NONE "\342\200\223"
#define NBSP "\302\240"

char *
dyno_accuracy_words_choice (const char *value)
{
  char *end;
  double number = g_ascii_strtod (value, &end);
  if (end > value && *end == '\0')
    return g_strdup_printf ("%.6g", number);
  if (g_str_equal (value, "own"))
    return g_strdup (_ ("Yours"));
  if (g_str_equal (value, "mixup"))
    return g_strdup ("MixUp");
  if (g_str_equal (value, "cutmix"))
    return g_strdup ("CutMix");
  return g_strdup (dyno_words_choice (value));
}

const char *
dyno_accuracy_words_state (DynoAccuracyState state)
{
  switch (state)
    {
    case DYNO_ACCURACY_STATE_RUNNING:
      return _ ("Running");
    case DYNO_ACCURACY_STATE_PROMISING:
      return _ ("Among the best third");
    case DYNO_ACCURACY_STATE_HALVED:
      return _ ("Stopped early");
    case DYNO_ACCURACY_STATE_WHOLE:
      return _ ("Trained to the end");
    case DYNO_ACCURACY_STATE_DIVERGED:
      return _ ("Diverged");
    case DYNO_ACCURACY_STATE_FAILED:
      return _ ("Failed");
    case DYNO_ACCURACY_STATE_FINALIST:
      return _ ("Finalist");
    case DYNO_ACCURACY_STATE_CHOSEN:
    default:
      return _ ("Chosen");
    }
}

char *
dyno_accuracy_words_metric (const DynoMetricInfo *metric)
{
  g_autofree char *label = dyno_metric_get_label (metric);
  const char *unit = metric->format == DYNO_METRIC_FRACTION     ? "%"
                     : g_strcmp0 (metric->unit, "degrees") == 0 ? "\302\260"
                     : metric->unit && *metric->unit != '\0'    ? metric->unit
                                                                : NULL;
  return unit ? g_strdup_printf ("%s (%s)", label, unit) : g_steal_pointer (&label);
}

char *
dyno_accuracy_words_param (const DynoParamSpace *space, guint param, const DynoSettings *settings)
{
  g_autofree char *value = dyno_accuracy_describe_param (space, param, settings);
  if (*value == '\0')
    return g_strdup (NONE);
  if (space->params[param].kind == DYNO_PARAM_CHOICE)
    return dyno_accuracy_words_choice (value);
  return g_steal_pointer (&value);
}

/* The parameters that differ between the user's settings and others, with the values of one of the
 * two; "": none differs. */
static char *
list_differences (const DynoParamSpace *space, const DynoSettings *settings,
                  const DynoSettings *side)
{
  g_autoptr (GString) text = g_string_new (NULL);
  for (guint i = 0; i < space->n; i++)
    {
      g_autofree char *own = dyno_accuracy_describe_param (space, i, &space->own),
                      *value = dyno_accuracy_describe_param (space, i, settings),
                      *shown = dyno_accuracy_words_param (space, i, side);
      if (*value == '\0' || g_str_equal (own, value))
        continue;
      g_string_append_printf (text, "%s%s" NBSP "%s", text->len > 0 ? ", " : "",
                              dyno_accuracy_get_title (&space->params[i]), shown);
    }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

char *
dyno_accuracy_words_settings (const DynoParamSpace *space, const DynoSettings *settings)
{
  g_autofree char *text = list_differences (space, settings, settings);
  return *text != '\0' ? g_steal_pointer (&text) : g_strdup (_ ("Your settings"));
}

char *
dyno_accuracy_words_own (const DynoParamSpace *space, const DynoSettings *settings)
{
  return list_differences (space, settings, &space->own);
}

char *
dyno_accuracy_words_row (const DynoParamSpace *space, const DynoMetricInfo *metric,
                         const DynoAccuracyRow *row)
{
  g_autofree char *settings = dyno_accuracy_words_settings (space, row->settings),
                  *value = isfinite (row->value) ? dyno_accuracy_format (metric, row->value)
                                                 : g_strdup (NONE),
                  *epochs =
                      g_strdup_printf (ngettext ("%u epoch", "%u epochs", (gulong) row->epochs),
                                       (guint) row->epochs);
  /* Translators: number, value, "9 epochs", state; then the settings */
  return g_strdup_printf (_ ("Trial %u: %s after %s. %s. %s"), row->trial, value, epochs,
                          dyno_accuracy_words_state (row->state), settings);
}
