/* SPDX-License-Identifier: MIT */
/* A short message over the window's lower edge that goes by itself, with a button at most:
 * "Exported", "Show". */
#pragma once
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_TOAST (dyno_toast_get_type ())
G_DECLARE_FINAL_TYPE (DynoToast, dyno_toast, DYNO, TOAST, GtkRevealer)

/* Takes the place of one that is shown.  path: what Show opens the folder of; or NULL: no button. */
void dyno_toast_show (DynoToast *self, const char *text, const char *path);

G_END_DECLS
