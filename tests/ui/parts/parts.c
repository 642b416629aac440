/* SPDX-License-Identifier: MIT */
#include "parts.h"
#include <handy.h>
#include <string.h>

static void
collect_texts (GtkWidget *widget, gpointer data)
{
  GString *texts = data;

  if (!gtk_widget_get_visible (widget))
    return;
  if (GTK_IS_LABEL (widget) && *gtk_label_get_text (GTK_LABEL (widget)))
    g_string_append_printf (texts, "%s%s", texts->len > 0 ? "\n" : "",
                            gtk_label_get_text (GTK_LABEL (widget)));
  else if (GTK_IS_CONTAINER (widget))
    gtk_container_forall (GTK_CONTAINER (widget), collect_texts, texts);
}

char *
parts_get_texts (GtkWidget *widget)
{
  GString *texts = g_string_new (NULL);

  collect_texts (widget, texts);
  return g_string_free (texts, FALSE);
}

static gboolean
says (const char *texts, const char *text)
{
  g_auto (GStrv) lines = g_strsplit (texts, "\n", -1);

  return g_strv_contains ((const char *const *) lines, text);
}

void
parts_assert_says (GtkWidget *widget, const char *text)
{
  g_autofree char *texts = parts_get_texts (widget);

  if (!says (texts, text))
    g_error ("“%s” is not shown, but:\n%s", text, texts);
}

void
parts_assert_says_not (GtkWidget *widget, const char *text)
{
  g_autofree char *texts = parts_get_texts (widget);

  if (says (texts, text))
    g_error ("“%s” is shown:\n%s", text, texts);
}

typedef struct {
  GType type;
  const char *text; /* NULL: any */
  GtkWidget *found;
} Wanted;

static gboolean
has_text (GtkWidget *widget, const char *text)
{
  const char *label = GTK_IS_BUTTON (widget) ? gtk_button_get_label (GTK_BUTTON (widget)) : NULL;
  g_autofree char *tooltip = label ? NULL : gtk_widget_get_tooltip_text (widget);

  return g_strcmp0 (label ? label : tooltip, text) == 0;
}

static void
look (GtkWidget *widget, gpointer data)
{
  Wanted *wanted = data;

  if (wanted->found)
    return;
  if (g_type_is_a (G_OBJECT_TYPE (widget), wanted->type)
      && (!wanted->text || has_text (widget, wanted->text)))
    wanted->found = widget;
  else if (GTK_IS_CONTAINER (widget))
    gtk_container_forall (GTK_CONTAINER (widget), look, wanted);
}

GtkWidget *
parts_find (GtkWidget *widget, GType type)
{
  Wanted wanted = { type, NULL, NULL };

  look (widget, &wanted);
  return wanted.found;
}

GtkWidget *
parts_find_button (GtkWidget *widget, const char *text)
{
  Wanted wanted = { GTK_TYPE_BUTTON, text, NULL };

  look (widget, &wanted);
  if (!wanted.found)
    g_error ("There is no button “%s”", text);
  return wanted.found;
}

void
parts_wait (gboolean (*answer) (gpointer data), gpointer data)
{
  while (!answer (data))
    g_main_context_iteration (NULL, TRUE);
}

static gboolean
has_size (gpointer widget)
{
  return gtk_widget_get_mapped (widget) && gtk_widget_get_allocated_width (widget) > 1;
}

GtkWidget *
parts_show (GtkWidget *widget, int width, int height)
{
  GtkWidget *window = gtk_window_new (GTK_WINDOW_TOPLEVEL);

  gtk_window_set_default_size (GTK_WINDOW (window), width, height);
  gtk_container_add (GTK_CONTAINER (window), widget);
  gtk_widget_show (widget);
  gtk_widget_show (window);
  parts_wait (has_size, widget);
  return window;
}

char *
parts_get_column (GtkTreeView *table, int column)
{
  GtkTreeModel *model = gtk_tree_view_get_model (table);
  GString *texts = g_string_new (NULL);
  GtkTreeIter iter;

  for (gboolean more = gtk_tree_model_get_iter_first (model, &iter); more;
       more = gtk_tree_model_iter_next (model, &iter))
    {
      g_auto (GValue) value = G_VALUE_INIT;

      gtk_tree_model_get_value (model, &iter, column, &value);
      g_string_append_printf (texts, "%s%s", texts->len > 0 ? "\n" : "",
                              g_value_get_string (&value));
    }
  return g_string_free (texts, FALSE);
}

int
main (int argc, char **argv)
{
  gtk_test_init (&argc, &argv, NULL);
  hdy_init ();
  parts_add_device ();
  parts_add_plot ();
  parts_add_setup ();
  parts_add_widgets ();
  return g_test_run ();
}
