/* SPDX-License-Identifier: MIT */
/* The application: one window, the menu's commands, shortcuts, theme. */
#pragma once
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_APPLICATION (dyno_application_get_type ())
G_DECLARE_FINAL_TYPE (DynoApplication, dyno_application, DYNO, APPLICATION, GtkApplication)

GApplication *dyno_application_new (void);

G_END_DECLS
