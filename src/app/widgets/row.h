/* SPDX-License-Identifier: MIT */
/* A row of a card: title, an optional second line, and a control at its end.  In a .ui file the
 * control is the row's child; the title is its label (mnemonic and accessible name). */
#pragma once
#include <handy.h>

G_BEGIN_DECLS

#define DYNO_TYPE_ROW (dyno_row_get_type ())
G_DECLARE_FINAL_TYPE (DynoRow, dyno_row, DYNO, ROW, HdyActionRow)

GtkWidget *dyno_row_new (const char *title, const char *subtitle);
/* sets a title in which an underscore is no mnemonic */
void dyno_row_set_name (DynoRow *self, const char *name);
void dyno_row_set_subtitle (DynoRow *self, const char *subtitle); /* NULL or "": none */
void dyno_row_add_control (DynoRow *self, GtkWidget *control);
/* Makes the row insensitive and shows the reason as its tooltip; NULL: sensitive again, with help
 * as tooltip. */
void dyno_row_set_reason (DynoRow *self, const char *reason, const char *help);

/* Makes the mouse wheel over a control scroll the panel instead of changing the control's value. */
void dyno_widget_leave_wheel (GtkWidget *widget);
/* Limits the width of a combo to `chars`; longer names are cut short in the button, not in the
 * list. */
void dyno_widget_limit_combo (GtkWidget *combo, int chars);
void dyno_widget_set_accessible_name (GtkWidget *widget, const char *name);
/* A label that begins at the left and wraps.  text, class: NULL: none. */
GtkWidget *dyno_text_new (const char *text, const char *class);
/* Gives screen readers the title and the description of a HdyStatusPage, also when they change. */
void dyno_status_page_announce (GtkWidget *page);
/* The placeholder of a page that has no run to show: icon, title, sentence, and a button that
 * starts a run. */
GtkWidget *dyno_status_page_new (const char *icon_name, const char *title, const char *description);
void dyno_status_page_set_startable (GtkWidget *page, gboolean startable); /* FALSE: no button */
void dyno_widget_clear (GtkWidget *container); /* destroys all children */
void dyno_widget_add_class (GtkWidget *widget, const char *name, gboolean on);
/* Sets the size of a dialog before it is shown, in pixels (-1: the least), at most as wide as its
 * parent. */
void dyno_widget_fit_dialog (GtkWidget *dialog, GtkWindow *parent, int width, int height);

G_END_DECLS
