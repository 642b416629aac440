/* SPDX-License-Identifier: MIT */
/* The line above the list of runs: its title, how many runs of the history it shows, and the words
 * that they must have.  Signals: "changed": other words; "left": the keyboard goes to the list. */
#pragma once
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_RUN_FINDER (dyno_run_finder_get_type ())
G_DECLARE_FINAL_TYPE (DynoRunFinder, dyno_run_finder, DYNO, RUN_FINDER, GtkBox)

GtkWidget *dyno_run_finder_new (void);
const char *dyno_run_finder_get_text (DynoRunFinder *self); /* "": all runs are shown */
void dyno_run_finder_set_count (DynoRunFinder *self, guint n_shown, guint n_runs);
/* The keyboard goes to the words. */
void dyno_run_finder_find (DynoRunFinder *self);
/* A key that was pressed in the list: TRUE where it is the beginning of words. */
gboolean dyno_run_finder_take_key (DynoRunFinder *self, GdkEvent *event);

G_END_DECLS
