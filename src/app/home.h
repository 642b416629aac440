/* SPDX-License-Identifier: MIT */
/* The page of the first start: three ways to begin, and the latest runs and data sets. */
#pragma once
#include "setup.h"
#include "state.h"
#include "store.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_HOME (dyno_home_get_type ())
G_DECLARE_FINAL_TYPE (DynoHome, dyno_home, DYNO, HOME, GtkBox)

/* Signals: "read": the history was read; "testing-changed"; "failed" (GError): the quick test
 * failed; "interrupted-changed". */
void dyno_home_set_setup (DynoHome *self, DynoSetup *setup);
void dyno_home_set_state (DynoHome *self, DynoState *state); /* may be NULL */
/* The run whose resumption is offered; NULL: none. */
const DynoStoredRun *dyno_home_get_interrupted (DynoHome *self);
/* Reads the history anew in a thread; a call during a reading starts one more reading after it. */
void dyno_home_refresh (DynoHome *self);
/* Arranges cards and lists one below the other instead of side by side. */
void dyno_home_set_narrow (DynoHome *self, gboolean narrow);
/* Starts the quick test; does nothing while it is running. */
void dyno_home_start_quick_test (DynoHome *self);
gboolean dyno_home_is_testing (DynoHome *self);
void dyno_home_stop_testing (DynoHome *self); /* "testing-changed" is emitted when it has stopped */

G_END_DECLS
