/* SPDX-License-Identifier: MIT */
/* The controls for the metric and the limits of a search for the best model. */
#pragma once
#include "accuracyprobe.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

/* metrics: DynoMetricInfo; NULL makes the combo insensitive.  The chosen metric stays chosen if it
 * is still listed; else the first one is chosen.  The ids of the entries are the metrics' names. */
void dyno_accuracy_form_fill_metrics (GtkComboBoxText *combo, const GArray *metrics);
gboolean dyno_accuracy_form_has_same (const GArray *a, const GArray *b);
/* Makes the spin button show 0 as "any", and accept this word. */
void dyno_accuracy_form_count (GtkSpinButton *spin);
/* Describes the search that can be resumed, in a sentence.  g_free. */
char *dyno_accuracy_form_describe_earlier (const DynoAccuracyProspect *prospect);

G_END_DECLS
