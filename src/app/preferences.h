/* SPDX-License-Identifier: MIT */
/* The preferences: what new sessions begin with, folders, what Stop does, notifications.  They take
 * effect as they are changed, but for what a session begins with. */
#pragma once
#include "setup.h"
#include "state.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

void dyno_preferences_show (GtkWindow *parent, DynoState *state, DynoSetup *setup);

G_END_DECLS
