/* SPDX-License-Identifier: MIT */
/* Tests of single parts of the window: a widget is made, is given values, and its labels are read.
 * Each file has a function that adds its tests; parts.c calls all of them. */
#pragma once
#include <gtk/gtk.h>

G_BEGIN_DECLS

/* The texts of all labels in the widget that are not hidden, in their order, with "\n" between
 * them.  A hidden widget hides what it contains.  g_free. */
char *parts_get_texts (GtkWidget *widget);

/* Fails unless the text is, or is not, a whole line of the widget's texts. */
void parts_assert_says (GtkWidget *widget, const char *text);
void parts_assert_says_not (GtkWidget *widget, const char *text);

/* The first widget of this type in the widget, itself included, hidden ones too; NULL: none. */
GtkWidget *parts_find (GtkWidget *widget, GType type);
/* The button with this label, or with this tooltip where it has no label; fails without one. */
GtkWidget *parts_find_button (GtkWidget *widget, const char *text);

/* Runs the main loop until the answer is TRUE. */
void parts_wait (gboolean (*answer) (gpointer data), gpointer data);

/* A window with the widget in it, which is shown and has its size.  gtk_widget_destroy. */
GtkWidget *parts_show (GtkWidget *widget, int width, int height);

/* The strings of a column of a table, in the order in which they are shown, "\n" between them.
 * g_free. */
char *parts_get_column (GtkTreeView *table, int column);

void parts_add_device (void);
void parts_add_plot (void);
void parts_add_setup (void);
void parts_add_widgets (void);

G_END_DECLS
