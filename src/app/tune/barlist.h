/* SPDX-License-Identifier: MIT */
/* Lines of text with a bar each, whose length is a share. */
#pragma once
#include <gtk/gtk.h>

G_BEGIN_DECLS

/* The name, the value at the right end, and the bar below both; share 0 to 1. */
GtkWidget *dyno_bar_row_new (const char *name, const char *value, double share);

G_END_DECLS
