/* SPDX-License-Identifier: MIT */
/* A row of a card or of a fold: libhandy's row, except that Tab moves directly to its control
 * instead of to the row first. */
#include "row.h"
#include <glib/gi18n.h>

struct _DynoRow {
  HdyActionRow parent_instance;
  GtkWidget *control;
};

G_DEFINE_FINAL_TYPE (DynoRow, dyno_row, HDY_TYPE_ACTION_ROW)

GtkWidget *
dyno_text_new (const char *text, const char *class)
{
  GtkWidget *label = gtk_label_new (text);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_line_wrap (GTK_LABEL (label), TRUE);
  if (class)
    dyno_widget_add_class (label, class, TRUE);
  return label;
}

void
dyno_widget_set_accessible_name (GtkWidget *widget, const char *name)
{
  atk_object_set_name (gtk_widget_get_accessible (widget), name);
}

void
dyno_widget_add_class (GtkWidget *widget, const char *name, gboolean on)
{
  GtkStyleContext *context = gtk_widget_get_style_context (widget);
  if (on)
    gtk_style_context_add_class (context, name);
  else
    gtk_style_context_remove_class (context, name);
}

void
dyno_widget_clear (GtkWidget *container)
{
  g_autoptr (GList) children = gtk_container_get_children (GTK_CONTAINER (container));
  for (GList *l = children; l; l = l->next)
    gtk_widget_destroy (l->data);
}

void
dyno_widget_limit_combo (GtkWidget *combo, int chars)
{
  g_autoptr (GList) cells = gtk_cell_layout_get_cells (GTK_CELL_LAYOUT (combo));
  for (GList *l = cells; l; l = l->next)
    g_object_set (l->data, "ellipsize", PANGO_ELLIPSIZE_END, "max-width-chars", chars, NULL);
  gtk_combo_box_set_popup_fixed_width (GTK_COMBO_BOX (combo), FALSE);
}

void
dyno_widget_fit_dialog (GtkWidget *dialog, GtkWindow *parent, int width, int height)
{
  int most = 0;
  gtk_window_get_size (parent, &most, NULL);
  gtk_window_set_default_size (GTK_WINDOW (dialog), MIN (width, most), height);
}

/* The displayed text of a label with this markup. */
static char *
strip_markup (const char *markup)
{
  char *text = NULL;
  if (!markup)
    return g_strdup ("");
  return pango_parse_markup (markup, -1, 0, NULL, &text, NULL, NULL) ? text : g_strdup (markup);
}

/* libhandy exposes only the page's child to screen readers, so title and description become the
 * page's accessible name and description. */
static void
announce_status (GtkWidget *page)
{
  AtkObject *accessible = gtk_widget_get_accessible (page);
  g_autofree char *title = strip_markup (hdy_status_page_get_title (HDY_STATUS_PAGE (page))),
                  *text = strip_markup (hdy_status_page_get_description (HDY_STATUS_PAGE (page)));
  atk_object_set_name (accessible, title);
  atk_object_set_description (accessible, text);
}

void
dyno_status_page_announce (GtkWidget *page)
{
  g_signal_connect (page, "notify::title", G_CALLBACK (announce_status), NULL);
  g_signal_connect (page, "notify::description", G_CALLBACK (announce_status), NULL);
  announce_status (page);
}

GtkWidget *
dyno_status_page_new (const char *icon_name, const char *title, const char *description)
{
  GtkWidget *page = hdy_status_page_new (),
            *button = gtk_button_new_with_label (_ ("Start Training"));
  gtk_actionable_set_action_name (GTK_ACTIONABLE (button), "win.start");
  dyno_widget_add_class (button, "suggested-action", TRUE);
  dyno_widget_add_class (button, "next-action", TRUE);
  gtk_widget_set_halign (button, GTK_ALIGN_CENTER);
  gtk_container_add (GTK_CONTAINER (page), button);
  dyno_status_page_announce (page);
  g_object_set (page, "icon-name", icon_name, "title", title, "description", description, NULL);
  gtk_widget_show_all (page);
  g_object_set_data (G_OBJECT (page), "dyno-start", button);
  return page;
}

void
dyno_status_page_set_startable (GtkWidget *page, gboolean startable)
{
  gtk_widget_set_visible (g_object_get_data (G_OBJECT (page), "dyno-start"), startable);
}

static gboolean
leave_wheel (GtkWidget *widget, GdkEvent *event, gpointer data)
{
  g_signal_stop_emission_by_name (widget, "scroll-event");
  return GDK_EVENT_PROPAGATE;
}

void
dyno_widget_leave_wheel (GtkWidget *widget)
{
  g_signal_connect (widget, "scroll-event", G_CALLBACK (leave_wheel), NULL);
}

/* The row itself cannot have the focus, which its control gets instead. */
static gboolean
dyno_row_focus (GtkWidget *widget, GtkDirectionType direction)
{
  return GTK_WIDGET_CLASS (g_type_class_peek (GTK_TYPE_BIN))->focus (widget, direction);
}

void
dyno_row_set_name (DynoRow *self, const char *name)
{
  hdy_preferences_row_set_use_underline (HDY_PREFERENCES_ROW (self), FALSE);
  hdy_action_row_set_use_underline (HDY_ACTION_ROW (self), FALSE);
  hdy_preferences_row_set_title (HDY_PREFERENCES_ROW (self), name);
}

void
dyno_row_set_subtitle (DynoRow *self, const char *subtitle)
{
  hdy_action_row_set_subtitle (HDY_ACTION_ROW (self), subtitle ? subtitle : "");
}

/* The title without its mnemonic underscore. */
static char *
get_plain_title (DynoRow *self)
{
  const char *title = hdy_preferences_row_get_title (HDY_PREFERENCES_ROW (self));
  if (!title || !hdy_preferences_row_get_use_underline (HDY_PREFERENCES_ROW (self)))
    return g_strdup (title ? title : "");
  g_auto (GStrv) parts = g_strsplit (title, "_", -1);
  return g_strjoinv ("", parts);
}

/* libhandy exposes only the row's controls to screen readers, so title and subtitle become the
 * row's accessible name and description. */
static void
describe (DynoRow *self)
{
  AtkObject *accessible = gtk_widget_get_accessible (GTK_WIDGET (self));
  const char *subtitle = hdy_action_row_get_subtitle (HDY_ACTION_ROW (self));
  g_autofree char *title = get_plain_title (self);
  atk_object_set_name (accessible, title);
  atk_object_set_description (accessible, subtitle ? subtitle : "");
}

/* Whether a click on the row may be one on its control.  A label would look for a parent that can
 * be activated, find the row, and so on without an end; a bar or a box can do nothing. */
static gboolean
can_be_activated (GtkWidget *control)
{
  const GtkWidgetClass *class = GTK_WIDGET_GET_CLASS (control),
                       *widget = g_type_class_peek (GTK_TYPE_WIDGET);
  return !GTK_IS_LABEL (control)
         && (gtk_widget_get_can_focus (control) || class->activate_signal != 0
             || class->mnemonic_activate != widget->mnemonic_activate);
}

static void
take_control (DynoRow *self, GtkWidget *control)
{
  gtk_widget_set_valign (control, GTK_ALIGN_CENTER);
  if (!self->control)
    {
      self->control = control;
      if (can_be_activated (control))
        hdy_action_row_set_activatable_widget (HDY_ACTION_ROW (self), control);
      if (!GTK_IS_BUTTON (control) && !GTK_IS_LABEL (control)
          && !atk_object_get_name (gtk_widget_get_accessible (control)))
        {
          g_autofree char *name = get_plain_title (self);
          dyno_widget_set_accessible_name (control, name);
        }
    }
  if (GTK_IS_SPIN_BUTTON (control) || GTK_IS_COMBO_BOX (control))
    dyno_widget_leave_wheel (control);
}

void
dyno_row_add_control (DynoRow *self, GtkWidget *control)
{
  gtk_container_add (GTK_CONTAINER (self), control);
}

void
dyno_row_set_reason (DynoRow *self, const char *reason, const char *help)
{
  gtk_widget_set_sensitive (GTK_WIDGET (self), !reason);
  gtk_widget_set_tooltip_text (GTK_WIDGET (self), reason ? reason : help);
}

/* The parent's own template is built first; a child that is added after that is a control. */
static void
dyno_row_add (GtkContainer *container, GtkWidget *child)
{
  gboolean whole = gtk_bin_get_child (GTK_BIN (container)) != NULL;
  GTK_CONTAINER_CLASS (dyno_row_parent_class)->add (container, child);
  if (whole)
    take_control (DYNO_ROW (container), child);
}

GtkWidget *
dyno_row_new (const char *title, const char *subtitle)
{
  return g_object_new (DYNO_TYPE_ROW, "title", title, "subtitle", subtitle ? subtitle : "",
                       "visible", TRUE, NULL);
}

static void
dyno_row_class_init (DynoRowClass *class)
{
  GTK_WIDGET_CLASS (class)->focus = dyno_row_focus;
  GTK_CONTAINER_CLASS (class)->add = dyno_row_add;
}

static void
dyno_row_init (DynoRow *self)
{
  gtk_widget_set_can_focus (GTK_WIDGET (self), FALSE);
  hdy_preferences_row_set_use_underline (HDY_PREFERENCES_ROW (self), TRUE);
  hdy_action_row_set_use_underline (HDY_ACTION_ROW (self), TRUE);
  hdy_action_row_set_title_lines (HDY_ACTION_ROW (self), 0);
  hdy_action_row_set_subtitle_lines (HDY_ACTION_ROW (self), 0);
  g_signal_connect (self, "notify::title", G_CALLBACK (describe), NULL);
  g_signal_connect (self, "notify::subtitle", G_CALLBACK (describe), NULL);
}
