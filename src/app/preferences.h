/* SPDX-License-Identifier: MIT */
/* The preferences: start values of new sessions, folders, the action of Stop, notifications.  They
 * take effect at once, except for the start values. */
#pragma once
#include "setup.h"
#include "state.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

/* key: of the path row that gets the focus first, such as "runs-folder"; NULL: none. */
void dyno_preferences_show (GtkWindow *parent, DynoState *state, DynoSetup *setup, const char *key);

G_END_DECLS
