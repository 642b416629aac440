/* SPDX-License-Identifier: MIT */
/* The bar for errors and warnings: a title, the cause, the next step. */
#pragma once
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_ERROR_BAR (dyno_error_bar_get_type ())
G_DECLARE_FINAL_TYPE (DynoErrorBar, dyno_error_bar, DYNO, ERROR_BAR, GtkBin)

void dyno_error_bar_show_error (DynoErrorBar *self, const char *fallback_title,
                                const GError *error);
void dyno_error_bar_show_text (DynoErrorBar *self, GtkMessageType type, const char *title,
                               const char *text);
/* Shows an error with a button that repairs its cause.  label: of the button, with a mnemonic;
 * action: the action's name. */
void dyno_error_bar_show_offer (DynoErrorBar *self, const char *title, const char *text,
                                const char *label, const char *action);
/* Whether an error, and not a warning, is shown.  Signal "changed": this may have changed. */
gboolean dyno_error_bar_has_error (DynoErrorBar *self);
void dyno_error_bar_dismiss (DynoErrorBar *self);

G_END_DECLS
