/* SPDX-License-Identifier: MIT */
/* The window: header bar, panel of the next run, pages of run and tuner. */
#pragma once
#include "state.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_WINDOW (dyno_window_get_type ())
G_DECLARE_FINAL_TYPE (DynoWindow, dyno_window, DYNO, WINDOW, GtkApplicationWindow)

/* location: a data set or settings file to open, or NULL for the last one. */
GtkWidget *dyno_window_new (GtkApplication *application, DynoState *state, const char *location);
/* path: a network or a settings file by its ending, else a data set. */
void dyno_window_open (DynoWindow *self, const char *path);
/* Activates one of the window's actions without parameter, as soon as it is enabled. */
void dyno_window_activate_action (DynoWindow *self, const char *name);
void dyno_window_stop_and_close (DynoWindow *self); /* without asking; a run is saved first */

G_END_DECLS
