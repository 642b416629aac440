/* SPDX-License-Identifier: MIT */
#include "oldnote.h"
#include "format.h"
#include "row.h"
#include <glib/gi18n.h>

typedef struct {
  guint64 steps, of_results;
  gboolean begun; /* there are results, or they are being made */
} OldNote;

static OldNote *
get_note (GtkWidget *note)
{
  return g_object_get_data (G_OBJECT (note), "dyno-old-note");
}

static void
update (GtkWidget *note)
{
  const OldNote *self = get_note (note);
  g_autofree char *step = dyno_format_count (self->of_results),
                  *text = g_strdup_printf (_ ("These results are of the weights that the run had "
                                              "at step %s; it has gone on since."),
                                           step);
  gtk_label_set_text (GTK_LABEL (note), text);
  gtk_widget_set_visible (note, self->begun && self->steps != self->of_results);
}

void
dyno_old_note_set_steps (GtkWidget *note, guint64 steps)
{
  get_note (note)->steps = steps;
  update (note);
}

void
dyno_old_note_begin (GtkWidget *note)
{
  OldNote *self = get_note (note);
  self->begun = TRUE;
  self->of_results = self->steps;
  update (note);
}

void
dyno_old_note_clear (GtkWidget *note)
{
  get_note (note)->begun = FALSE;
  update (note);
}

GtkWidget *
dyno_old_note_new (void)
{
  GtkWidget *note = dyno_text_new (NULL, "bad-text");
  gtk_widget_set_no_show_all (note, TRUE);
  g_object_set_data_full (G_OBJECT (note), "dyno-old-note", g_new0 (OldNote, 1), g_free);
  return note;
}
