/* SPDX-License-Identifier: MIT */
/* The page of the first start: three ways to begin, and what was done last. */
#pragma once
#include "setup.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_HOME (dyno_home_get_type ())
G_DECLARE_FINAL_TYPE (DynoHome, dyno_home, DYNO, HOME, GtkBox)

/* Signals: "queue" (guint): so many jobs wait in the queue, as the history says; "testing-changed";
 * "failed" (GError): the quick test did. */
void dyno_home_set_setup (DynoHome *self, DynoSetup *setup);
/* Reads the history anew, in a thread; it is told once more where it is asked again meanwhile. */
void dyno_home_refresh (DynoHome *self);
/* Cards and lists above each other instead of beside each other. */
void dyno_home_set_narrow (DynoHome *self, gboolean narrow);
/* Starts the quick test, or does nothing where it goes on. */
void dyno_home_start_quick_test (DynoHome *self);
gboolean dyno_home_is_testing (DynoHome *self);
void dyno_home_stop_testing (DynoHome *self); /* "testing-changed" says when it has stopped */

G_END_DECLS
