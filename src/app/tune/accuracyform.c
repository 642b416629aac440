/* SPDX-License-Identifier: MIT */
#include "accuracyform.h"
#include "words.h"
#include <glib/gi18n.h>

char *
dyno_accuracy_form_describe_earlier (const DynoAccuracyProspect *prospect)
{
  DynoMetricInfo metric;
  dyno_metric_find (prospect->metric, &metric);
  g_autofree char *label = dyno_words_metric_within (&metric);
  /* Translators: a metric: "Goes on with the search of accuracy, which has 14 trials" */
  return g_strdup_printf (ngettext ("Resumes the search of %s, which has %u trial",
                                    "Resumes the search of %s, which has %u trials",
                                    prospect->n_trials),
                          label, prospect->n_trials);
}

void
dyno_accuracy_form_fill_metrics (GtkComboBoxText *combo, const GArray *metrics)
{
  g_autofree char *chosen = g_strdup (gtk_combo_box_get_active_id (GTK_COMBO_BOX (combo)));
  gtk_combo_box_text_remove_all (combo);
  for (guint i = 0; metrics && i < metrics->len; i++)
    {
      const DynoMetricInfo *metric = &g_array_index (metrics, DynoMetricInfo, i);
      g_autofree char *label = dyno_metric_get_label (metric);
      gtk_combo_box_text_append (combo, metric->name, label);
    }
  if (!chosen || !gtk_combo_box_set_active_id (GTK_COMBO_BOX (combo), chosen))
    gtk_combo_box_set_active (GTK_COMBO_BOX (combo), 0);
  gtk_widget_set_sensitive (GTK_WIDGET (combo), metrics != NULL);
}

gboolean
dyno_accuracy_form_has_same (const GArray *a, const GArray *b)
{
  if (!a || !b || a->len != b->len)
    return a == b;
  for (guint i = 0; i < a->len; i++)
    if (g_array_index (a, DynoMetricInfo, i).name != g_array_index (b, DynoMetricInfo, i).name)
      return FALSE;
  return TRUE;
}

/* 0 means as many as there is time for. */
static gboolean
show_count (GtkSpinButton *spin)
{
  int value = gtk_spin_button_get_value_as_int (spin);
  g_autofree char *text = value > 0 ? g_strdup_printf ("%d", value) : g_strdup (_ ("any"));
  if (!g_str_equal (text, gtk_entry_get_text (GTK_ENTRY (spin))))
    gtk_entry_set_text (GTK_ENTRY (spin), text);
  return TRUE;
}

static int
read_count (GtkSpinButton *spin, double *value)
{
  const char *text = gtk_entry_get_text (GTK_ENTRY (spin));
  if (!g_str_equal (text, _ ("any")) && *text != '\0')
    return FALSE; /* text is a number, which GTK parses */
  *value = 0;
  return TRUE;
}

void
dyno_accuracy_form_count (GtkSpinButton *spin)
{
  g_signal_connect (spin, "output", G_CALLBACK (show_count), NULL);
  g_signal_connect (spin, "input", G_CALLBACK (read_count), NULL);
  show_count (spin);
}
