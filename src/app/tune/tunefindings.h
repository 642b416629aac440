/* SPDX-License-Identifier: MIT */
/* The findings of a search in words and bars: both ceilings (data pipeline, GPU) beside the rate of
 * a run, the gain of each setting, and the reasons. */
#pragma once
#include "tuneresult.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Fills the box anew. */
void dyno_tune_findings_show (GtkWidget *box, const DynoTuneResult *result);

G_END_DECLS
