/* SPDX-License-Identifier: MIT */
/* The window's persistent state, in GSettings.  Where the schema is not installed, the state is
 * NULL, which every function accepts: the program then uses default values and saves nothing. */
#pragma once
#include "setup.h"
#include <gio/gio.h>

G_BEGIN_DECLS

typedef GSettings DynoState;

DynoState *dyno_state_new (void); /* NULL: no schema; a warning was logged */
void dyno_state_load_setup (DynoState *state, DynoSetup *setup,
                            const char *location); /* location: replaces the last data set */
void dyno_state_save_setup (DynoState *state, DynoSetup *setup);
/* The settings file that the preferences choose for the start of the program; NULL: none.
 * g_free. */
char *dyno_state_get_first_settings (DynoState *state);
/* The runs folder is where runs are kept, the data folder (below) is where dialogs look for data
 * first; NULL: none was chosen.  g_free. */
char *dyno_state_get_runs_folder (DynoState *state);
/* The uid of the interrupted run whose resumption the user dismissed; 0: none. */
guint64 dyno_state_get_dismissed_run (DynoState *state);
void dyno_state_set_dismissed_run (DynoState *state, guint64 uid);
char *dyno_state_get_data_folder (DynoState *state);
gboolean dyno_state_wants_notifications (DynoState *state);
void dyno_state_load_size (DynoState *state, int *width, int *height, gboolean *maximized);
void dyno_state_save_size (DynoState *state, int width, int height, gboolean maximized);

G_END_DECLS
