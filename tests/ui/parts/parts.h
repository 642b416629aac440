/* SPDX-License-Identifier: MIT */
/* Tests of single parts of the window: a widget is made, is given values, and its labels are read.
 * Each file has a function that adds its tests; parts.c calls all of them. */
#pragma once
#include <gtk/gtk.h>

G_BEGIN_DECLS

/* The texts of all labels in the widget that are not hidden, in their order, with "\n" between
 * them and plain spaces for those that do not break.  A hidden widget hides what it contains.
 * g_free. */
char *parts_get_texts (GtkWidget *widget);
/* Fails unless these are the texts. */
void parts_assert_texts (GtkWidget *widget, const char *expected);

/* Fails unless the text is, or is not, a whole line of the widget's texts. */
void parts_assert_says (GtkWidget *widget, const char *text);
void parts_assert_says_not (GtkWidget *widget, const char *text);

/* The first widget of this type in the widget, itself included, hidden ones too; NULL: none. */
GtkWidget *parts_find (GtkWidget *widget, GType type);
/* All of them in their order, also those in hidden widgets; g_ptr_array_unref. */
GPtrArray *parts_find_all (GtkWidget *widget, GType type);
/* The button with this label, or with this tooltip where it has no label; fails without one. */
GtkWidget *parts_find_button (GtkWidget *widget, const char *text);

/* The dialog with this title; fails without one. */
GtkWidget *parts_find_dialog (const char *title);

/* Runs the main loop until the answer is TRUE; a wait that does not end fails after minutes.  The
 * answer must change in the main loop: another thread does not wake it. */
void parts_wait (gboolean (*answer) (gpointer data), gpointer data);

/* A window with the widget in it, which is shown and has its size.  gtk_widget_destroy. */
GtkWidget *parts_show (GtkWidget *widget, int width, int height);

/* The picture of a widget that has a size, as numbers: equal pictures have equal texts.  g_free. */
char *parts_draw (GtkWidget *widget);

/* The tooltip of a place in a widget that asks "query-tooltip", as text; NULL: there is none.
 * g_free. */
char *parts_get_tooltip (GtkWidget *widget, int x, int y, gboolean keyboard);

/* Deliver a key press, an event of the first mouse button, or a motion of the pointer to a widget
 * with a window, at once.  Return whether it was used. */
gboolean parts_press (GtkWidget *widget, guint key);
gboolean parts_button (GtkWidget *widget, GdkEventType type, double x, double y);
gboolean parts_move (GtkWidget *widget, double x, double y);

/* The values of a column of a table's model, in the order in which they are shown, as text with
 * "\n" between them and plain spaces.  g_free. */
char *parts_get_column (GtkTreeView *table, int column);
/* Fails unless these are the values. */
void parts_assert_column (GtkTreeView *table, int column, const char *expected);

void parts_add_actions (void);
void parts_add_data (void);
void parts_add_datapage (void);
void parts_add_device (void);
void parts_add_devicepage (void);
void parts_add_diagnosis (void);
void parts_add_drawing (void);
void parts_add_evaluate (void);
void parts_add_exports (void);
void parts_add_form (void);
void parts_add_history (void);
void parts_add_inspector (void);
void parts_add_monitor (void);
void parts_add_network (void);
void parts_add_params (void);
void parts_add_pieces (void);
void parts_add_plot (void);
void parts_add_queue (void);
void parts_add_run_curves (void);
void parts_add_run_details (void);
void parts_add_runs (void);
void parts_add_runs_page (void);
void parts_add_samples (void);
void parts_add_settings (void);
void parts_add_setup (void);
void parts_add_several (void);
void parts_add_train (void);
void parts_add_tune (void);
void parts_add_tune_pages (void);
void parts_add_widgets (void);
void parts_add_window (void);
void parts_add_windows (void);

G_END_DECLS
