/* SPDX-License-Identifier: MIT */
/* What the right side shows before any run. */
#include "welcome.h"
#include "obstacles.h"
#include "row.h"
#include "words.h"
#include <glib/gi18n.h>

struct _DynoWelcome {
  GtkBox parent_instance;
  GtkWidget *icon, *title, *text, *steps, *cause, *obstacle;
  DynoSetup *setup;
};

G_DEFINE_FINAL_TYPE (DynoWelcome, dyno_welcome, GTK_TYPE_BOX)

static void
show_setup (DynoWelcome *self)
{
  const GError *error = dyno_setup_get_device_error (self->setup);
  gtk_widget_set_visible (self->steps, !error);
  gtk_widget_set_visible (self->cause, error != NULL);
  if (error)
    {
      gtk_image_set_from_icon_name (GTK_IMAGE (self->icon), "dialog-warning-symbolic",
                                    GTK_ICON_SIZE_DIALOG);
      gtk_image_set_pixel_size (GTK_IMAGE (self->icon), 96);
      gtk_label_set_text (GTK_LABEL (self->title), dyno_words_error_title (error));
      gtk_label_set_text (
          GTK_LABEL (self->text),
          _ ("Dyno trains with Vulkan. Install the Vulkan loader and the driver of your graphics "
             "card, then start "
             "Dyno again. Without a card, Mesa's software driver (lavapipe) works too, slowly."));
      gtk_label_set_text (GTK_LABEL (self->cause), error->message);
    }
  g_autofree char *obstacle = error ? NULL : dyno_obstacle_to_start (self->setup);
  gtk_label_set_text (GTK_LABEL (self->obstacle), obstacle ? obstacle
                                                  : error
                                                      ? ""
                                                      : _ ("Everything is ready: press Start."));
}

static void
setup_changed (DynoSetup *setup, guint flags, DynoWelcome *self)
{
  if (flags & (DYNO_SETUP_DEVICES | DYNO_SETUP_DATASET | DYNO_SETUP_PLAN))
    show_setup (self);
}

void
dyno_welcome_set_setup (DynoWelcome *self, DynoSetup *setup)
{
  self->setup = setup;
  g_signal_connect_object (setup, "changed", G_CALLBACK (setup_changed), self, 0);
  show_setup (self);
}

static void
dyno_welcome_class_init (DynoWelcomeClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/io/github/gpudyno/Dyno/ui/welcome.ui");
  gtk_widget_class_bind_template_child (widget_class, DynoWelcome, icon);
  gtk_widget_class_bind_template_child (widget_class, DynoWelcome, title);
  gtk_widget_class_bind_template_child (widget_class, DynoWelcome, text);
  gtk_widget_class_bind_template_child (widget_class, DynoWelcome, steps);
  gtk_widget_class_bind_template_child (widget_class, DynoWelcome, cause);
  gtk_widget_class_bind_template_child (widget_class, DynoWelcome, obstacle);
}

static void
dyno_welcome_init (DynoWelcome *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
}
