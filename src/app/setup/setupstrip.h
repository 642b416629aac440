/* SPDX-License-Identifier: MIT */
/* The strip above a run: data, model, start weights, device and preset, output folder, in the order
 * in which they are chosen.  Each is a button with a sign and in words whether it is ready.
 *
 * A click on one that is ready goes to the place where it is chosen: signal "go" (guint, a
 * DynoSetupStepKind); on one with a warning it shows the reasons first, with buttons that take them
 * away.  Signal "changed": a step is another one than before. */
#pragma once
#include "setupsteps.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_SETUP_STRIP (dyno_setup_strip_get_type ())
G_DECLARE_FINAL_TYPE (DynoSetupStrip, dyno_setup_strip, DYNO, SETUP_STRIP, GtkBox)

/* All outlive the strip. */
void dyno_setup_strip_set_setup (DynoSetupStrip *self, DynoSetup *setup,
                                 DynoDataInspector *inspector, DynoPathCheck *paths);
const DynoSetupStep *dyno_setup_strip_get_step (DynoSetupStrip *self, DynoSetupStepKind kind);
/* The gravest state of all steps. */
DynoStepState dyno_setup_strip_get_state (DynoSetupStrip *self);

G_END_DECLS
