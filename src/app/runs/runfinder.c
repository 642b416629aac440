/* SPDX-License-Identifier: MIT */
#include "runfinder.h"
#include "row.h"
#include <glib/gi18n.h>

struct _DynoRunFinder {
  GtkBox parent_instance;
  GtkWidget *count, *entry;
};

enum { CHANGED, LEFT, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (DynoRunFinder, dyno_run_finder, GTK_TYPE_BOX)

const char *
dyno_run_finder_get_text (DynoRunFinder *self)
{
  return gtk_entry_get_text (GTK_ENTRY (self->entry));
}

void
dyno_run_finder_set_count (DynoRunFinder *self, guint n_shown, guint n_runs)
{
  g_autofree char *text =
      g_strdup_printf (ngettext ("%u of %u run", "%u of %u runs", n_runs), n_shown, n_runs);
  gtk_label_set_text (GTK_LABEL (self->count), text);
  gtk_widget_set_visible (self->count, *dyno_run_finder_get_text (self) != '\0');
}

void
dyno_run_finder_find (DynoRunFinder *self)
{
  gtk_widget_grab_focus (self->entry);
}

gboolean
dyno_run_finder_take_key (DynoRunFinder *self, GdkEvent *event)
{
  if (gtk_search_entry_handle_event (GTK_SEARCH_ENTRY (self->entry), event) != GDK_EVENT_STOP)
    return FALSE;
  gtk_entry_grab_focus_without_selecting (GTK_ENTRY (self->entry));
  gtk_editable_set_position (GTK_EDITABLE (self->entry), -1);
  return TRUE;
}

static void
emit_changed (DynoRunFinder *self)
{
  g_signal_emit (self, signals[CHANGED], 0);
}

static void
emit_left (DynoRunFinder *self)
{
  g_signal_emit (self, signals[LEFT], 0);
}

/* The words are applied at once: the entry's "search-changed" is delayed until typing pauses. */
static void
stop (DynoRunFinder *self)
{
  gtk_entry_set_text (GTK_ENTRY (self->entry), "");
  emit_changed (self);
  emit_left (self);
}

static gboolean
entry_key_pressed (GtkWidget *entry, GdkEventKey *event, DynoRunFinder *self)
{
  if (event->keyval != GDK_KEY_Down && event->keyval != GDK_KEY_KP_Down)
    return GDK_EVENT_PROPAGATE;
  emit_left (self);
  return GDK_EVENT_STOP;
}

static void
dyno_run_finder_class_init (DynoRunFinderClass *class)
{
  GType type = DYNO_TYPE_RUN_FINDER;
  signals[CHANGED] =
      g_signal_new ("changed", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  signals[LEFT] =
      g_signal_new ("left", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
dyno_run_finder_init (DynoRunFinder *self)
{
  GtkWidget *title = gtk_label_new (_ ("Runs"));
  self->count = gtk_label_new (NULL);
  self->entry = gtk_search_entry_new ();
  gtk_box_set_spacing (GTK_BOX (self), 12);
  gtk_label_set_xalign (GTK_LABEL (title), 0);
  dyno_widget_add_class (title, "run-title", TRUE);
  dyno_widget_add_class (self->count, "dim-label", TRUE);
  g_object_set (self->entry, "width-chars", 12, "max-width-chars", 28, "hexpand", TRUE, "halign",
                GTK_ALIGN_END, "placeholder-text", _ ("Find runs"), NULL);
  gtk_widget_set_tooltip_text (
      self->entry,
      _ ("Runs that have all of the words in name, model, data, state or tags (Ctrl+F)"));
  dyno_widget_set_accessible_name (self->entry, _ ("Find runs"));
  g_signal_connect_swapped (self->entry, "search-changed", G_CALLBACK (emit_changed), self);
  g_signal_connect_swapped (self->entry, "stop-search", G_CALLBACK (stop), self);
  g_signal_connect_swapped (self->entry, "activate", G_CALLBACK (emit_left), self);
  g_signal_connect (self->entry, "key-press-event", G_CALLBACK (entry_key_pressed), self);
  gtk_container_add (GTK_CONTAINER (self), title);
  gtk_container_add (GTK_CONTAINER (self), self->entry);
  gtk_container_add (GTK_CONTAINER (self), self->count);
  gtk_box_reorder_child (GTK_BOX (self), self->count, 1);
  gtk_widget_show (title);
  gtk_widget_show (self->entry);
}

GtkWidget *
dyno_run_finder_new (void)
{
  return g_object_new (DYNO_TYPE_RUN_FINDER, NULL);
}
