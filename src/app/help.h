/* SPDX-License-Identifier: MIT */
/* The help: a window with a page for each page of the main window, and for what is common to them. */
#pragma once
#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Shows the topic of a page of the main window; the window that is open already, if there is one.
 * page: the page's name in the stack; one without a topic: the first topic. */
void dyno_help_show (GtkWindow *parent, const char *page);

G_END_DECLS
