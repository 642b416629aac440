/* SPDX-License-Identifier: MIT */
/* The mean time of a step as one bar of its phases, with a legend. */
#pragma once
#include "diagnosis.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_PHASE_BAR (dyno_phase_bar_get_type ())
G_DECLARE_FINAL_TYPE (DynoPhaseBar, dyno_phase_bar, DYNO, PHASE_BAR, GtkBox)

GtkWidget *dyno_phase_bar_new (void);
void dyno_phase_bar_show (DynoPhaseBar *self, const DynoPhases *phases);

G_END_DECLS
