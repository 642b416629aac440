/* SPDX-License-Identifier: MIT */
/* The card claims only what the verdict supports; the sentence comes from the engine. */
#include "accuracycard.h"
#include "accuracywords.h"
#include "format.h"
#include "row.h"
#include "settingtitles.h"
#include <glib/gi18n.h>
#include <math.h>

struct _DynoAccuracyCard {
  GtkBox parent_instance;
  GtkWidget *top, *gain_box, *gain, *gain_of, *best_title, *best_value, *best_settings, *own_box,
      *own_value, *own_settings, *verdict, *buttons, *use;
};

enum { REPORT, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (DynoAccuracyCard, dyno_accuracy_card, GTK_TYPE_BOX)

static void
set_text (GtkWidget *label, char *text)
{
  gtk_label_set_text (GTK_LABEL (label), text);
  g_free (text);
}

gboolean
dyno_accuracy_result_is_usable (const DynoAccuracyResult *result)
{
  return result->text && result->trials->len > 0 && result->verdict != DYNO_ACCURACY_KEEP;
}

/* The gain of the best trial in the final; NULL: it was compared with fewer than two seeds. */
static const DynoPaired *
find_gain (const DynoAccuracyResult *r)
{
  for (guint i = 0; i < r->n_contenders; i++)
    if (r->contenders[i].trial == r->best && r->contenders[i].gain.n >= 2)
      return &r->contenders[i].gain;
  return NULL;
}

static void
show_gain (DynoAccuracyCard *self, const DynoAccuracyResult *r)
{
  const DynoPaired *gain = r->text && r->verdict != DYNO_ACCURACY_KEEP ? find_gain (r) : NULL;
  gboolean keep = r->text && r->verdict == DYNO_ACCURACY_KEEP && r->trials->len > 1;
  gtk_widget_set_visible (self->gain_box, gain || keep);
  if (keep)
    {
      gtk_label_set_text (GTK_LABEL (self->gain), "\342\234\223"); /* check mark */
      gtk_label_set_text (GTK_LABEL (self->gain_of), _ ("nothing is better"));
    }
  if (!gain)
    return;
  gboolean percent = r->metric.format == DYNO_METRIC_FRACTION;
  double unit = percent ? 100 : 1;
  g_autofree char *half = dyno_accuracy_format_difference (&r->metric, gain->half);
  const char *sign = r->metric.higher_is_better ? "+" : "\342\210\222"; /* minus */
  set_text (self->gain, dyno_format_isolate (g_strdup_printf (percent ? "%s%.2f" : "%s%.3g", sign,
                                                              unit * gain->mean)));
  /* Translators: below a mean difference: "± 0.40 points" */
  set_text (self->gain_of, dyno_format_isolate (g_strdup_printf (_ ("± %s"), half)));
}

static const char *
get_title (const DynoAccuracyResult *r)
{
  if (!r->text)
    return _ ("Best so far");
  switch (r->verdict)
    {
    case DYNO_ACCURACY_PROVEN:
      return _ ("Best, proven on further seeds");
    case DYNO_ACCURACY_KEEP:
      return _ ("Your settings stay");
    case DYNO_ACCURACY_NOT_PROVEN:
    case DYNO_ACCURACY_NO_FINAL:
    default:
      return _ ("Best so far, not proven");
    }
}

static char *
describe_value (const DynoAccuracyResult *r, guint trial)
{
  const DynoAccuracyTrial *t = &g_array_index (r->trials, DynoAccuracyTrial, trial);
  guint rung = t->halving.n_done > 0 ? t->halving.n_done - 1 : 0;
  g_autofree char *value = isfinite (t->values[rung])
                               ? dyno_accuracy_format (&r->metric, t->values[rung])
                               : g_strdup ("\342\200\223");
  guint epochs = (guint) r->rungs[rung];
  /* Translators: a value: "92.10 % after 9 epochs" */
  return dyno_format_isolate (g_strdup_printf (
      ngettext ("%s after %u epoch", "%s after %u epochs", epochs), value, epochs));
}

/* The first searched parameters, four at most, with the values of the user's settings. */
static char *
describe_own (const DynoParamSpace *space)
{
  g_autoptr (GString) text = g_string_new (NULL);
  for (guint i = 0; i < MIN (space->n, 4); i++)
    {
      g_autofree char *shown = dyno_accuracy_words_param (space, i, &space->own);
      g_string_append_printf (text, "%s%s\302\240%s", i > 0 ? ", " : "",
                              dyno_accuracy_get_title (&space->params[i]), shown);
    }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

void
dyno_accuracy_card_show (DynoAccuracyCard *self, const DynoParamSpace *space,
                         const DynoAccuracyResult *result, int best)
{
  gboolean usable = dyno_accuracy_result_is_usable (result);
  gtk_widget_set_visible (GTK_WIDGET (self), best >= 0);
  if (best < 0)
    return;
  const DynoAccuracyTrial *t = &g_array_index (result->trials, DynoAccuracyTrial, (guint) best);
  show_gain (self, result);
  gtk_label_set_text (GTK_LABEL (self->best_title), get_title (result));
  set_text (self->best_value, describe_value (result, (guint) best));
  set_text (self->best_settings,
            best == 0 ? describe_own (space) : dyno_accuracy_words_settings (space, &t->settings));
  set_text (self->own_value, describe_value (result, 0));
  set_text (self->own_settings, dyno_accuracy_words_own (space, &t->settings));
  gtk_widget_set_visible (self->own_box, best != 0);
  set_text (self->verdict, dyno_setting_titles_put (result->text ? result->text : ""));
  gtk_widget_set_visible (self->verdict, result->text != NULL);
  gtk_widget_set_visible (self->buttons, result->text != NULL);
  gtk_widget_set_visible (self->use, usable);
  dyno_widget_add_class (self->use, "suggested-action",
                         usable && result->verdict == DYNO_ACCURACY_PROVEN);
}

void
dyno_accuracy_card_set_narrow (DynoAccuracyCard *self, gboolean narrow)
{
  gtk_orientable_set_orientation (GTK_ORIENTABLE (self->top),
                                  narrow ? GTK_ORIENTATION_VERTICAL : GTK_ORIENTATION_HORIZONTAL);
  gtk_box_set_spacing (GTK_BOX (self->top), narrow ? 12 : 30);
}

static void
report_clicked (GtkButton *button, DynoAccuracyCard *self)
{
  g_signal_emit (self, signals[REPORT], 0);
}

static void
dyno_accuracy_card_class_init (DynoAccuracyCardClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  signals[REPORT] = g_signal_new ("report", DYNO_TYPE_ACCURACY_CARD, G_SIGNAL_RUN_LAST, 0, NULL,
                                  NULL, NULL, G_TYPE_NONE, 0);
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/io/github/gpudyno/Dyno/ui/accuracycard.ui");
#define BIND(name) gtk_widget_class_bind_template_child (widget_class, DynoAccuracyCard, name)
  BIND (top);
  BIND (gain_box);
  BIND (gain);
  BIND (gain_of);
  BIND (best_title);
  BIND (best_value);
  BIND (best_settings);
  BIND (own_box);
  BIND (own_value);
  BIND (own_settings);
  BIND (verdict);
  BIND (buttons);
  BIND (use);
#undef BIND
  gtk_widget_class_bind_template_callback (widget_class, report_clicked);
}

static void
dyno_accuracy_card_init (DynoAccuracyCard *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
}
