/* SPDX-License-Identifier: MIT */
#include "undobar.h"
#include "runhistory.h"
#include "words.h"
#include <glib/gi18n.h>

struct _DynoUndoBar {
  GtkBin parent_instance;
  GtkWidget *revealer, *label;
  GPtrArray *deleted; /* or NULL */
};

enum { UNDO, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (DynoUndoBar, dyno_undo_bar, GTK_TYPE_BIN)

GPtrArray *
dyno_undo_bar_take (DynoUndoBar *self)
{
  gtk_revealer_set_reveal_child (GTK_REVEALER (self->revealer), FALSE);
  return g_steal_pointer (&self->deleted);
}

static void
forget (DynoUndoBar *self)
{
  GPtrArray *deleted = dyno_undo_bar_take (self);
  if (deleted)
    g_ptr_array_unref (deleted);
}

gboolean
dyno_undo_bar_has (DynoUndoBar *self)
{
  return self->deleted != NULL;
}

void
dyno_undo_bar_offer (DynoUndoBar *self, GPtrArray *deleted)
{
  g_autofree char *text = NULL;
  forget (self);
  self->deleted = g_ptr_array_ref (deleted);
  if (deleted->len == 1)
    {
      g_autofree char *title = dyno_words_run (((const DynoDeletedRun *) deleted->pdata[0])->run);
      text = g_strdup_printf (_ ("“%s” was deleted; its folder stays"), title);
    }
  else
    text = g_strdup_printf (ngettext ("%u run was deleted; its folder stays",
                                      "%u runs were deleted; their folders stay", deleted->len),
                            deleted->len);
  gtk_label_set_text (GTK_LABEL (self->label), text);
  gtk_revealer_set_reveal_child (GTK_REVEALER (self->revealer), TRUE);
}

static void
clicked (DynoUndoBar *self)
{
  g_signal_emit (self, signals[UNDO], 0);
}

GtkWidget *
dyno_undo_bar_new (void)
{
  return g_object_new (DYNO_TYPE_UNDO_BAR, "visible", TRUE, NULL);
}

static void
dyno_undo_bar_dispose (GObject *object)
{
  DynoUndoBar *self = DYNO_UNDO_BAR (object);
  g_clear_pointer (&self->deleted, g_ptr_array_unref);
  G_OBJECT_CLASS (dyno_undo_bar_parent_class)->dispose (object);
}

static void
dyno_undo_bar_unmap (GtkWidget *widget)
{
  forget (DYNO_UNDO_BAR (widget));
  GTK_WIDGET_CLASS (dyno_undo_bar_parent_class)->unmap (widget);
}

static void
dyno_undo_bar_class_init (DynoUndoBarClass *class)
{
  G_OBJECT_CLASS (class)->dispose = dyno_undo_bar_dispose;
  GTK_WIDGET_CLASS (class)->unmap = dyno_undo_bar_unmap;
  signals[UNDO] = g_signal_new ("undo", DYNO_TYPE_UNDO_BAR, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                G_TYPE_NONE, 0);
}

static void
dyno_undo_bar_init (DynoUndoBar *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12),
            *button = gtk_button_new_with_mnemonic (_ ("_Undo"));
  self->revealer = gtk_revealer_new ();
  self->label = gtk_label_new ("");
  gtk_label_set_ellipsize (GTK_LABEL (self->label), PANGO_ELLIPSIZE_MIDDLE);
  g_signal_connect_swapped (button, "clicked", G_CALLBACK (clicked), self);
  gtk_container_add (GTK_CONTAINER (box), self->label);
  gtk_box_pack_end (GTK_BOX (box), button, FALSE, FALSE, 0);
  gtk_container_add (GTK_CONTAINER (self->revealer), box);
  gtk_container_add (GTK_CONTAINER (self), self->revealer);
  gtk_widget_show_all (self->revealer);
}
