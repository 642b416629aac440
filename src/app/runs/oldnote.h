/* SPDX-License-Identifier: MIT */
/* A sentence in a view of results that a run's weights gave: it is shown once the run has gone on. */
#pragma once
#include <gtk/gtk.h>

G_BEGIN_DECLS

GtkWidget *dyno_old_note_new (void);
/* The steps that the run has made by now. */
void dyno_old_note_set_steps (GtkWidget *note, guint64 steps);
/* The results that are shown from now on are of the present weights. */
void dyno_old_note_begin (GtkWidget *note);
/* There are no results, after all. */
void dyno_old_note_clear (GtkWidget *note);

G_END_DECLS
