/* SPDX-License-Identifier: MIT */
/* What the window keeps between sittings: GSettings where the schema is installed, else nothing (a
 * program run from an odd place still works, with defaults, and saves nothing).  Every function
 * takes NULL. */
#pragma once
#include "setup.h"
#include <gio/gio.h>

G_BEGIN_DECLS

typedef GSettings DynoState;

DynoState *dyno_state_new (void); /* NULL: no schema; a warning was logged */
void dyno_state_load_setup (DynoState *state, DynoSetup *setup,
                            const char *location); /* location instead of the last data set */
void dyno_state_save_setup (DynoState *state, DynoSetup *setup);
void dyno_state_load_size (DynoState *state, int *width, int *height, gboolean *maximized);
void dyno_state_save_size (DynoState *state, int width, int height, gboolean maximized);

G_END_DECLS
