/* SPDX-License-Identifier: MIT */
/* An error with several lines is a heading, which the dialog has itself, and a reason on each line
 * after it; any other error is one reason. */
#include "networkrefusal.h"
#include "networklist.h"
#include "row.h"
#include "settingtitles.h"
#include <glib/gi18n.h>
#include <string.h>

#define WIDTH        520
#define HEIGHT       320 /* of the scrolled list */
#define MOST_AT_ONCE 5

/* The reasons of a message, NULL-terminated; g_strfreev. */
static char **
list_reasons (const char *message)
{
  const char *rest = strchr (message, '\n');
  char **lines = g_strsplit (rest ? rest + 1 : message, "\n", -1);
  for (char **line = lines; *line; line++)
    g_strstrip (*line);
  return lines;
}

static GtkWidget *
new_label (const char *text)
{
  GtkWidget *label = gtk_label_new (text);
  g_object_set (label, "wrap", TRUE, "wrap-mode", PANGO_WRAP_WORD_CHAR, "selectable", TRUE,
                "xalign", 0.0, "max-width-chars", 60, NULL);
  return label;
}

static GtkWidget *
new_list (char **reasons)
{
  GtkWidget *list = gtk_list_box_new ();
  gtk_list_box_set_selection_mode (GTK_LIST_BOX (list), GTK_SELECTION_NONE);
  dyno_widget_set_accessible_name (list, _ ("Reasons"));
  for (char **reason = reasons; *reason; reason++)
    {
      GtkWidget *row = gtk_list_box_row_new (), *label = new_label (*reason);
      gtk_list_box_row_set_activatable (GTK_LIST_BOX_ROW (row), FALSE);
      gtk_widget_set_can_focus (row, FALSE); /* its label takes the focus instead */
      dyno_widget_set_accessible_name (row, *reason);
      g_object_set (label, "margin", 8, "margin-start", 12, "margin-end", 12, NULL);
      gtk_container_add (GTK_CONTAINER (row), label);
      gtk_container_add (GTK_CONTAINER (list), row);
    }
  return list;
}

/* A short list has its natural height; a long one scrolls. */
static GtkWidget *
new_card (char **reasons)
{
  gboolean many = g_strv_length (reasons) > MOST_AT_ONCE;
  GtkWidget *card = many ? gtk_scrolled_window_new (NULL, NULL) : gtk_frame_new (NULL);
  if (many)
    g_object_set (card, "hscrollbar-policy", GTK_POLICY_NEVER, "min-content-height", HEIGHT,
                  "vexpand", TRUE, NULL);
  else
    gtk_frame_set_shadow_type (GTK_FRAME (card), GTK_SHADOW_NONE);
  dyno_widget_add_class (card, "card", TRUE);
  dyno_widget_add_class (card, "list-card", TRUE);
  gtk_container_add (GTK_CONTAINER (card), new_list (reasons));
  return card;
}

static void
copy_clicked (GtkWidget *button, gpointer data)
{
  const char *text = g_object_get_data (G_OBJECT (button), "dyno-text");
  gtk_clipboard_set_text (gtk_widget_get_clipboard (button, GDK_SELECTION_CLIPBOARD), text, -1);
}

void
dyno_network_refusal_show (GtkWindow *parent, const char *path, const GError *error)
{
  g_autofree char *name = dyno_network_list_describe_path (path);
  /* Translators: a file's name */
  g_autofree char *title = g_strdup_printf (_ ("“%s” cannot be trained as it is"), name);
  g_autofree char *shown = dyno_setting_titles_put (error->message);
  g_auto (GStrv) reasons = list_reasons (shown);
  g_autofree char *all = g_strjoinv ("\n", reasons);
  GtkWidget *dialog = gtk_dialog_new_with_buttons (
      title, parent, GTK_DIALOG_MODAL | GTK_DIALOG_DESTROY_WITH_PARENT | GTK_DIALOG_USE_HEADER_BAR,
      NULL, NULL);
  GtkWidget *content = gtk_dialog_get_content_area (GTK_DIALOG (dialog)),
            *header = gtk_dialog_get_header_bar (GTK_DIALOG (dialog)), *heading = new_label (title),
            *copy = gtk_button_new_with_mnemonic (_ ("_Copy"));

  gtk_header_bar_set_title (GTK_HEADER_BAR (header), name);
  dyno_widget_set_accessible_name (dialog, title);
  gtk_header_bar_pack_start (GTK_HEADER_BAR (header), copy);
  gtk_widget_set_tooltip_text (copy, _ ("Copy the reasons"));
  g_object_set_data_full (G_OBJECT (copy), "dyno-text", g_strdup_printf ("%s\n%s", title, all),
                          g_free);
  g_signal_connect (copy, "clicked", G_CALLBACK (copy_clicked), NULL);
  dyno_widget_add_class (heading, "run-title", TRUE);
  gtk_label_set_selectable (GTK_LABEL (heading), FALSE);
  gtk_box_set_spacing (GTK_BOX (content), 12);
  gtk_container_set_border_width (GTK_CONTAINER (content), 18);
  gtk_container_add (GTK_CONTAINER (content), heading);
  gtk_container_add (GTK_CONTAINER (content), new_card (reasons));
  dyno_widget_fit_dialog (dialog, parent, WIDTH, -1);
  g_signal_connect (dialog, "response", G_CALLBACK (gtk_widget_destroy), NULL);
  gtk_widget_show_all (dialog);
  gtk_widget_grab_focus (copy); /* a label that gets the focus selects its text */
}
