/* SPDX-License-Identifier: MIT */
/* The line above the list of runs: the list's title, how many runs of the history are shown, and
 * the search words.  Signals: "changed": the words changed; "left": the focus is to move to the
 * list. */
#pragma once
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_RUN_FINDER (dyno_run_finder_get_type ())
G_DECLARE_FINAL_TYPE (DynoRunFinder, dyno_run_finder, DYNO, RUN_FINDER, GtkBox)

GtkWidget *dyno_run_finder_new (void);
const char *dyno_run_finder_get_text (DynoRunFinder *self); /* "": all runs are shown */
void dyno_run_finder_set_count (DynoRunFinder *self, guint n_shown, guint n_runs);
/* Moves the focus to the search words. */
void dyno_run_finder_find (DynoRunFinder *self);
/* Handles a key that was pressed in the list; TRUE where it begins a search. */
gboolean dyno_run_finder_take_key (DynoRunFinder *self, GdkEvent *event);

G_END_DECLS
