/* SPDX-License-Identifier: MIT */
/* The bar for errors and warnings.  An error stays until it is closed or a new attempt begins; a
 * warning does not replace an error. */
#include "errorbar.h"
#include "row.h"
#include "settingtitles.h"
#include "words.h"
#include <glib/gi18n.h>

struct _DynoErrorBar {
  GtkBin parent_instance;
  GtkWidget *bar, *icon, *title, *text, *offer;
};

static guint changed_signal;

G_DEFINE_FINAL_TYPE (DynoErrorBar, dyno_error_bar, GTK_TYPE_BIN)

void
dyno_error_bar_show_text (DynoErrorBar *self, GtkMessageType type, const char *title,
                          const char *text)
{
  gboolean revealed = gtk_info_bar_get_revealed (GTK_INFO_BAR (self->bar));
  if (revealed && type != GTK_MESSAGE_ERROR
      && gtk_info_bar_get_message_type (GTK_INFO_BAR (self->bar)) == GTK_MESSAGE_ERROR)
    return;
  gtk_info_bar_set_message_type (GTK_INFO_BAR (self->bar), type);
  gtk_image_set_from_icon_name (GTK_IMAGE (self->icon),
                                type == GTK_MESSAGE_ERROR     ? "dialog-error-symbolic"
                                : type == GTK_MESSAGE_WARNING ? "dialog-warning-symbolic"
                                                              : "dialog-information-symbolic",
                                GTK_ICON_SIZE_BUTTON);
  gtk_label_set_text (GTK_LABEL (self->title), title);
  gtk_label_set_text (GTK_LABEL (self->text), text);
  gtk_widget_hide (self->offer);
  gtk_widget_show (self->bar);
  gtk_info_bar_set_revealed (GTK_INFO_BAR (self->bar), TRUE);
}

void
dyno_error_bar_show_error (DynoErrorBar *self, const char *fallback_title, const GError *error)
{
  const char *title = dyno_words_error_title (error), *step = dyno_words_error_step (error);
  g_autofree char *message = dyno_setting_titles_put (error->message),
                  *text = step ? g_strdup_printf ("%s\n%s", message, step) : g_strdup (message);
  dyno_error_bar_show_text (self, GTK_MESSAGE_ERROR, title ? title : fallback_title, text);
}

void
dyno_error_bar_show_offer (DynoErrorBar *self, const char *title, const char *text,
                           const char *label, const char *action)
{
  dyno_error_bar_show_text (self, GTK_MESSAGE_ERROR, title, text);
  gtk_button_set_label (GTK_BUTTON (self->offer), label);
  gtk_actionable_set_action_name (GTK_ACTIONABLE (self->offer), action);
  gtk_widget_show (self->offer);
}

gboolean
dyno_error_bar_has_error (DynoErrorBar *self)
{
  return gtk_info_bar_get_revealed (GTK_INFO_BAR (self->bar))
         && gtk_info_bar_get_message_type (GTK_INFO_BAR (self->bar)) == GTK_MESSAGE_ERROR;
}

void
dyno_error_bar_dismiss (DynoErrorBar *self)
{
  gtk_info_bar_set_revealed (GTK_INFO_BAR (self->bar), FALSE);
}

static void
emit_changed (DynoErrorBar *self)
{
  g_signal_emit (self, changed_signal, 0);
}

/* The bar's own button has an icon and no name for screen readers. */
static void
name_close_button (GtkWidget *widget, gpointer data)
{
  if (GTK_IS_BUTTON (widget)
      && gtk_style_context_has_class (gtk_widget_get_style_context (widget), "close"))
    {
      dyno_widget_set_accessible_name (widget, _ ("Close message"));
      gtk_widget_set_tooltip_text (widget, _ ("Close message"));
    }
  else if (GTK_IS_CONTAINER (widget))
    gtk_container_forall (GTK_CONTAINER (widget), name_close_button, NULL);
}

static void
answered (GtkInfoBar *bar, int response, DynoErrorBar *self)
{
  dyno_error_bar_dismiss (self);
}

static void
dyno_error_bar_class_init (DynoErrorBarClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  changed_signal = g_signal_new ("changed", DYNO_TYPE_ERROR_BAR, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                 NULL, G_TYPE_NONE, 0);
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/io/github/gpudyno/Dyno/ui/errorbar.ui");
  gtk_widget_class_bind_template_child (widget_class, DynoErrorBar, bar);
  gtk_widget_class_bind_template_child (widget_class, DynoErrorBar, icon);
  gtk_widget_class_bind_template_child (widget_class, DynoErrorBar, title);
  gtk_widget_class_bind_template_child (widget_class, DynoErrorBar, text);
  gtk_widget_class_bind_template_child (widget_class, DynoErrorBar, offer);
  gtk_widget_class_bind_template_callback (widget_class, answered);
}

static void
dyno_error_bar_init (DynoErrorBar *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  name_close_button (self->bar, NULL);
  g_signal_connect_object (self->bar, "notify::revealed", G_CALLBACK (emit_changed), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->bar, "notify::message-type", G_CALLBACK (emit_changed), self,
                           G_CONNECT_SWAPPED);
}
