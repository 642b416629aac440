/* SPDX-License-Identifier: MIT */
/* A short message over the window's lower edge that disappears by itself, with at most one button:
 * "Exported", "Show". */
#pragma once
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_TOAST (dyno_toast_get_type ())
G_DECLARE_FINAL_TYPE (DynoToast, dyno_toast, DYNO, TOAST, GtkRevealer)

/* Replaces the present message.  path: the button Show opens its folder; NULL: no button. */
void dyno_toast_show (DynoToast *self, const char *text, const char *path);

G_END_DECLS
