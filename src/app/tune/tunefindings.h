/* SPDX-License-Identifier: MIT */
/* What a search has found, in words and bars: both ceilings beside the rate of a run, what each
 * setting brought, and why. */
#pragma once
#include "tuneresult.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Fills the box anew. */
void dyno_tune_findings_show (GtkWidget *box, const DynoTuneResult *result);

G_END_DECLS
