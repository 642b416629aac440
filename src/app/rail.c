/* SPDX-License-Identifier: MIT */
/* The action's state determines the pressed button.  The buttons are no radio group: it would
 * release the other buttons, and each release would activate the action again. */
#include "rail.h"
#include "row.h"

#define ICON_PIXELS 20

struct _DynoRail {
  GtkBox parent_instance;
};

G_DEFINE_FINAL_TYPE (DynoRail, dyno_rail, GTK_TYPE_BOX)

/* A click releases the button of the page that is shown already, and the action, whose state stays,
 * does not press it again. */
static void
keep_pressed (GtkToggleButton *button)
{
  GtkActionable *actionable = GTK_ACTIONABLE (button);
  GtkWidget *window = gtk_widget_get_toplevel (GTK_WIDGET (button));
  g_autoptr (GVariant) page =
      G_IS_ACTION_GROUP (window) ? g_action_group_get_action_state (G_ACTION_GROUP (window), "page")
                                 : NULL;
  GVariant *own = gtk_actionable_get_action_target_value (actionable);
  if (page && own && g_variant_equal (page, own) && !gtk_toggle_button_get_active (button))
    gtk_toggle_button_set_active (button, TRUE);
}

static GtkWidget *
new_button (const char *name, const char *title, const char *icon_name)
{
  GtkWidget *button = gtk_toggle_button_new (), *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 3),
            *label = gtk_label_new (title),
            *icon = gtk_image_new_from_icon_name (icon_name, GTK_ICON_SIZE_LARGE_TOOLBAR);
  gtk_image_set_pixel_size (GTK_IMAGE (icon), ICON_PIXELS);
  gtk_container_add (GTK_CONTAINER (box), icon);
  gtk_container_add (GTK_CONTAINER (box), label);
  gtk_container_add (GTK_CONTAINER (button), box);
  gtk_button_set_relief (GTK_BUTTON (button), GTK_RELIEF_NONE);
  gtk_actionable_set_action_target (GTK_ACTIONABLE (button), "s", name);
  gtk_actionable_set_action_name (GTK_ACTIONABLE (button), "win.page");
  g_signal_connect_after (button, "clicked", G_CALLBACK (keep_pressed), NULL);
  dyno_widget_set_accessible_name (button, title);
  atk_object_set_role (gtk_widget_get_accessible (button), ATK_ROLE_RADIO_BUTTON);
  return button;
}

void
dyno_rail_set_stack (DynoRail *self, GtkStack *stack)
{
  g_autoptr (GList) pages = gtk_container_get_children (GTK_CONTAINER (stack));
  for (GList *l = pages; l; l = l->next)
    {
      g_autofree char *name = NULL, *title = NULL, *icon_name = NULL;
      gtk_container_child_get (GTK_CONTAINER (stack), l->data, "name", &name, "title", &title,
                               "icon-name", &icon_name, NULL);
      gtk_container_add (GTK_CONTAINER (self), new_button (name, title, icon_name));
    }
  gtk_widget_show_all (GTK_WIDGET (self));
}

static void
dyno_rail_class_init (DynoRailClass *class)
{
}

static void
dyno_rail_init (DynoRail *self)
{
  gtk_orientable_set_orientation (GTK_ORIENTABLE (self), GTK_ORIENTATION_VERTICAL);
  dyno_widget_add_class (GTK_WIDGET (self), "rail", TRUE);
  atk_object_set_role (gtk_widget_get_accessible (GTK_WIDGET (self)), ATK_ROLE_TOOL_BAR);
  gtk_box_set_spacing (GTK_BOX (self), 2);
}
