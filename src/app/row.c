/* SPDX-License-Identifier: MIT */
/* A row of a card.  A plain box and no list row: Tab goes from control to control, which a
 * GtkListBox would not let it. */
#include "row.h"

struct _DynoRow {
  GtkBox parent_instance;
  GtkWidget *box, *title, *subtitle, *end;
  GtkWidget *control;
};

enum { PROP_0, PROP_TITLE, PROP_SUBTITLE, N_PROPS };
static GParamSpec *props[N_PROPS];

G_DEFINE_FINAL_TYPE (DynoRow, dyno_row, GTK_TYPE_BOX)

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

void
dyno_row_set_title (DynoRow *self, const char *title)
{
  gtk_label_set_text_with_mnemonic (GTK_LABEL (self->title), title ? title : "");
}

void
dyno_row_set_name (DynoRow *self, const char *name)
{
  gtk_label_set_text (GTK_LABEL (self->title), name);
}

void
dyno_row_set_subtitle (DynoRow *self, const char *subtitle)
{
  gtk_label_set_text (GTK_LABEL (self->subtitle), subtitle ? subtitle : "");
  gtk_widget_set_visible (self->subtitle, subtitle && *subtitle);
}

void
dyno_row_add_control (DynoRow *self, GtkWidget *control)
{
  gtk_widget_set_valign (control, GTK_ALIGN_CENTER);
  gtk_container_add (GTK_CONTAINER (self->end), control);
  if (!self->control)
    {
      self->control = control;
      gtk_label_set_mnemonic_widget (GTK_LABEL (self->title), control);
      if (!GTK_IS_BUTTON (control) && !GTK_IS_LABEL (control)
          && !atk_object_get_name (gtk_widget_get_accessible (control)))
        dyno_widget_set_accessible_name (control, gtk_label_get_text (GTK_LABEL (self->title)));
    }
  if (GTK_IS_SPIN_BUTTON (control) || GTK_IS_COMBO_BOX (control))
    dyno_widget_leave_wheel (control);
}

void
dyno_row_set_reason (DynoRow *self, const char *reason, const char *help)
{
  if (self->control)
    gtk_widget_set_sensitive (self->control, !reason);
  gtk_widget_set_tooltip_text (GTK_WIDGET (self), reason ? reason : help);
  dyno_widget_add_class (GTK_WIDGET (self), "off", reason != NULL);
}

static void
dyno_row_add (GtkContainer *container, GtkWidget *child)
{
  DynoRow *self = DYNO_ROW (container);
  if (self->end)
    dyno_row_add_control (self, child);
  else
    GTK_CONTAINER_CLASS (dyno_row_parent_class)->add (container, child);
}

static void
dyno_row_set_property (GObject *object, guint id, const GValue *value, GParamSpec *spec)
{
  if (id == PROP_TITLE)
    dyno_row_set_title (DYNO_ROW (object), g_value_get_string (value));
  else
    dyno_row_set_subtitle (DYNO_ROW (object), g_value_get_string (value));
}

static void
dyno_row_get_property (GObject *object, guint id, GValue *value, GParamSpec *spec)
{
  DynoRow *self = DYNO_ROW (object);
  g_value_set_string (
      value, gtk_label_get_label (GTK_LABEL (id == PROP_TITLE ? self->title : self->subtitle)));
}

GtkWidget *
dyno_row_new (const char *title, const char *subtitle)
{
  return g_object_new (DYNO_TYPE_ROW, "title", title, "subtitle", subtitle, "visible", TRUE, NULL);
}

static void
dyno_row_class_init (DynoRowClass *class)
{
  GObjectClass *object_class = G_OBJECT_CLASS (class);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  object_class->set_property = dyno_row_set_property;
  object_class->get_property = dyno_row_get_property;
  GTK_CONTAINER_CLASS (class)->add = dyno_row_add;
  props[PROP_TITLE] =
      g_param_spec_string ("title", "", "", "", G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS);
  props[PROP_SUBTITLE] =
      g_param_spec_string ("subtitle", "", "", "", G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (object_class, N_PROPS, props);
  gtk_widget_class_set_css_name (widget_class, "row");
  gtk_widget_class_set_template_from_resource (widget_class, "/io/github/gpudyno/Dyno/ui/row.ui");
  gtk_widget_class_bind_template_child (widget_class, DynoRow, box);
  gtk_widget_class_bind_template_child (widget_class, DynoRow, title);
  gtk_widget_class_bind_template_child (widget_class, DynoRow, subtitle);
  gtk_widget_class_bind_template_child (widget_class, DynoRow, end);
}

static void
dyno_row_init (DynoRow *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
}
