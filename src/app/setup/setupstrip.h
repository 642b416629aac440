/* SPDX-License-Identifier: MIT */
/* The strip above a run: data, model, start weights, device and preset, output folder, in the order
 * in which they are chosen.  Each is a button that shows, by a sign and in words, whether the step
 * is ready.
 *
 * A click on a step that is ready emits "go" (guint, a DynoSetupStepKind), so that the owner shows
 * the control that chooses it; a click on a step with a warning first shows the reasons, with
 * buttons that remove them.  Signal "changed": a step has changed. */
#pragma once
#include "setupsteps.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_SETUP_STRIP (dyno_setup_strip_get_type ())
G_DECLARE_FINAL_TYPE (DynoSetupStrip, dyno_setup_strip, DYNO, SETUP_STRIP, GtkBox)

/* All arguments must outlive the strip. */
void dyno_setup_strip_set_setup (DynoSetupStrip *self, DynoSetup *setup,
                                 DynoDataInspector *inspector, DynoPathCheck *paths);
const DynoSetupStep *dyno_setup_strip_get_step (DynoSetupStrip *self, DynoSetupStepKind kind);
/* The gravest state of all steps. */
DynoStepState dyno_setup_strip_get_state (DynoSetupStrip *self);

G_END_DECLS
