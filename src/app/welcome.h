/* SPDX-License-Identifier: MIT */
/* What the right side shows before any run: what Dyno does and how to begin, or why it cannot. */
#pragma once
#include "setup.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_WELCOME (dyno_welcome_get_type ())
G_DECLARE_FINAL_TYPE (DynoWelcome, dyno_welcome, DYNO, WELCOME, GtkBox)

void dyno_welcome_set_setup (DynoWelcome *self, DynoSetup *setup);

G_END_DECLS
