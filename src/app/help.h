/* SPDX-License-Identifier: MIT */
/* The help window has a topic for each page of the main window, and topics common to all pages. */
#pragma once
#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Shows the topic of a page of the main window, in the help window that is already open, if any.
 * page: the page's name in the stack; for a page without a topic the first topic is shown. */
void dyno_help_show (GtkWindow *parent, const char *page);

G_END_DECLS
