/* SPDX-License-Identifier: MIT */
/* The state that the window keeps between sittings: GSettings where the schema is installed, else
 * nothing (a program that is run from an odd place still works, with default values, and saves
 * nothing).  Every function takes NULL. */
#pragma once
#include "setup.h"
#include <gio/gio.h>

G_BEGIN_DECLS

typedef GSettings DynoState;

DynoState *dyno_state_new (void); /* NULL: no schema; a warning was logged */
void dyno_state_load_setup (DynoState *state, DynoSetup *setup,
                            const char *location); /* location instead of the last data set */
void dyno_state_save_setup (DynoState *state, DynoSetup *setup);
/* A settings file that a new session begins with; NULL: none.  g_free. */
char *dyno_state_get_first_settings (DynoState *state);
/* The folder that runs are kept in, and the folder in which dialogs look for data first; NULL: none
 * was chosen.  g_free. */
char *dyno_state_get_runs_folder (DynoState *state);
/* The interrupted run whose resumption is not wanted, by its uid; 0: none. */
guint64 dyno_state_get_dismissed_run (DynoState *state);
void dyno_state_set_dismissed_run (DynoState *state, guint64 uid);
char *dyno_state_get_data_folder (DynoState *state);
gboolean dyno_state_wants_notifications (DynoState *state);
void dyno_state_load_size (DynoState *state, int *width, int *height, gboolean *maximized);
void dyno_state_save_size (DynoState *state, int width, int height, gboolean maximized);

G_END_DECLS
