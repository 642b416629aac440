/* SPDX-License-Identifier: MIT */
/* The metric and the limits that a search for the best model is asked for. */
#pragma once
#include "accuracyprobe.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

/* metrics: DynoMetricInfo, or NULL: the combo is insensitive.  The choice stays where it is still there,
 * else it is the first.  Ids are the names. */
void dyno_accuracy_form_fill_metrics (GtkComboBoxText *combo, const GArray *metrics);
gboolean dyno_accuracy_form_has_same (const GArray *a, const GArray *b);
/* The spin button shows 0 as "any", and reads that. */
void dyno_accuracy_form_count (GtkSpinButton *spin);
/* The search that can go on, in a sentence.  g_free. */
char *dyno_accuracy_form_describe_earlier (const DynoAccuracyProspect *prospect);

G_END_DECLS
