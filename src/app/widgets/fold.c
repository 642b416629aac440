/* SPDX-License-Identifier: MIT */
/* A part of the form that folds.  The row itself takes the focus, and not also its title as in
 * libhandy, since screen readers do not announce the title.  A search unfolds the folds in which it
 * finds rows; when it ends, the earlier state is restored. */
#include "fold.h"
#include "row.h"
#include <glib/gi18n.h>
#include <string.h>

typedef struct {
  GPtrArray *rows;
  GtkWidget *changed, *inside;
  gboolean searching, was_open;
} DynoFoldPrivate;

G_DEFINE_TYPE_WITH_PRIVATE (DynoFold, dyno_fold, HDY_TYPE_EXPANDER_ROW)

static DynoFoldPrivate *
get_private (DynoFold *self)
{
  return dyno_fold_get_instance_private (self);
}

static gboolean
contains (const char *words, const char *text)
{
  g_autofree char *folded = g_utf8_casefold (words, -1);
  return strstr (folded, text) != NULL;
}

guint
dyno_fold_search (DynoFold *self, const char *text)
{
  DynoFoldPrivate *p = get_private (self);
  HdyExpanderRow *row = HDY_EXPANDER_ROW (self);
  gboolean all =
      !text || contains (hdy_preferences_row_get_title (HDY_PREFERENCES_ROW (self)), text);
  guint found = 0;
  for (guint i = 0; i < p->rows->len; i++)
    {
      GtkWidget *widget = p->rows->pdata[i];
      gboolean here = all || contains (g_object_get_data (G_OBJECT (widget), "dyno-words"), text);
      gtk_widget_set_visible (widget, here);
      found += here;
    }
  if (text && !p->searching)
    p->was_open = hdy_expander_row_get_expanded (row);
  if (text || p->searching)
    hdy_expander_row_set_expanded (row, text ? found > 0 : p->was_open);
  p->searching = text != NULL;
  gtk_widget_set_visible (GTK_WIDGET (self), found > 0);
  return found;
}

GtkWidget *
dyno_fold_get_first (DynoFold *self)
{
  DynoFoldPrivate *p = get_private (self);
  for (guint i = 0; i < p->rows->len; i++)
    {
      if (gtk_widget_get_visible (p->rows->pdata[i]))
        return p->rows->pdata[i];
    }
  return NULL;
}

void
dyno_fold_take (DynoFold *self, GtkWidget *row, const char *words)
{
  g_object_set_data_full (G_OBJECT (row), "dyno-words", g_strdup (words), g_free);
  g_ptr_array_add (get_private (self)->rows, row);
  if (!gtk_widget_get_parent (row))
    gtk_container_add (GTK_CONTAINER (self), row);
}

void
dyno_fold_set_changed (DynoFold *self, guint n)
{
  DynoFoldPrivate *p = get_private (self);
  /* Translators: number of settings in a group that are not as preset or default say */
  g_autofree char *text = g_strdup_printf (ngettext ("%u changed", "%u changed", n), n);
  gtk_label_set_text (GTK_LABEL (p->changed), text);
  gtk_widget_set_visible (p->changed, n > 0);
}

static void
find_inside (GtkWidget *widget, gpointer found)
{
  if (GTK_IS_REVEALER (widget))
    *(GtkWidget **) found = widget;
  else if (GTK_IS_BOX (widget))
    gtk_container_forall (GTK_CONTAINER (widget), find_inside, found);
}

static gboolean
dyno_fold_focus (GtkWidget *widget, GtkDirectionType direction)
{
  DynoFoldPrivate *p = get_private (DYNO_FOLD (widget));
  gboolean back = direction == GTK_DIR_TAB_BACKWARD || direction == GTK_DIR_UP,
           here = gtk_widget_has_focus (widget),
           within = gtk_container_get_focus_child (GTK_CONTAINER (widget)) != NULL,
           open = hdy_expander_row_get_expanded (HDY_EXPANDER_ROW (widget));
  if (here && back)
    return FALSE;
  if ((here || within || back) && open && gtk_widget_child_focus (p->inside, direction))
    return TRUE;
  if (here || (within && !back))
    return FALSE;
  gtk_widget_grab_focus (widget);
  return TRUE;
}

/* The surrounding list would consume the key without effect, since the fold is not activatable; if
 * it were, a click on a row inside would fold it. */
static gboolean
dyno_fold_key_press (GtkWidget *widget, GdkEventKey *event)
{
  HdyExpanderRow *row = HDY_EXPANDER_ROW (widget);
  gboolean plain = !(event->state & gtk_accelerator_get_default_mod_mask ());
  gboolean ours = event->keyval == GDK_KEY_Return || event->keyval == GDK_KEY_KP_Enter
                  || event->keyval == GDK_KEY_space;
  if (!gtk_widget_has_focus (widget) || !plain || !ours)
    return GTK_WIDGET_CLASS (dyno_fold_parent_class)->key_press_event (widget, event);
  hdy_expander_row_set_expanded (row, !hdy_expander_row_get_expanded (row));
  return GDK_EVENT_STOP;
}

static void
describe (DynoFold *self)
{
  AtkObject *accessible = gtk_widget_get_accessible (GTK_WIDGET (self));
  const char *title = hdy_preferences_row_get_title (HDY_PREFERENCES_ROW (self));
  atk_object_set_name (accessible, title ? title : "");
  atk_object_set_description (accessible, hdy_expander_row_get_expanded (HDY_EXPANDER_ROW (self))
                                              ? _ ("Unfolded")
                                              : _ ("Folded"));
}

/* Shows the rows at once instead of at the first frame of the animation, so that a key press before
 * that frame, on a busy machine, reaches them. */
static void
show_inside (DynoFold *self)
{
  DynoFoldPrivate *p = get_private (self);
  GtkWidget *list = p->inside ? gtk_bin_get_child (GTK_BIN (p->inside)) : NULL;
  if (list && hdy_expander_row_get_expanded (HDY_EXPANDER_ROW (self)))
    gtk_widget_set_child_visible (list, TRUE);
}

GtkWidget *
dyno_fold_new (const char *title)
{
  return g_object_new (DYNO_TYPE_FOLD, "title", title, "visible", TRUE, NULL);
}

static void
dyno_fold_finalize (GObject *object)
{
  g_ptr_array_unref (get_private (DYNO_FOLD (object))->rows);
  G_OBJECT_CLASS (dyno_fold_parent_class)->finalize (object);
}

static void
dyno_fold_class_init (DynoFoldClass *class)
{
  G_OBJECT_CLASS (class)->finalize = dyno_fold_finalize;
  GTK_WIDGET_CLASS (class)->focus = dyno_fold_focus;
  GTK_WIDGET_CLASS (class)->key_press_event = dyno_fold_key_press;
}

static void
dyno_fold_init (DynoFold *self)
{
  DynoFoldPrivate *p = get_private (self);
  p->rows = g_ptr_array_new ();
  p->changed = gtk_label_new (NULL);
  gtk_widget_set_no_show_all (p->changed, TRUE);
  dyno_widget_add_class (p->changed, "changed-count", TRUE);
  gtk_container_forall (GTK_CONTAINER (self), find_inside, &p->inside);
  hdy_expander_row_add_action (HDY_EXPANDER_ROW (self), p->changed);
  g_signal_connect (self, "notify::title", G_CALLBACK (describe), NULL);
  g_signal_connect (self, "notify::expanded", G_CALLBACK (describe), NULL);
  g_signal_connect (self, "notify::expanded", G_CALLBACK (show_inside), NULL);
}
