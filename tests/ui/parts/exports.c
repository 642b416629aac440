/* SPDX-License-Identifier: MIT */
/* Dialogs: the format of exported settings, a question for a text; and the message at the lower
 * edge. */
#include "parts.h"
#include "export-dialog.h"
#include "exportchooser.h"
#include "textdialog.h"
#include "toast.h"
#include <string.h>

static void
assert_exporter (const char *path, const char *chosen, const char *expected)
{
  const DynoExporter *found = dyno_dialog_find_exporter (path, dyno_exporter_find (chosen));

  g_assert_cmpstr (found->id, ==, expected);
}

/* A name decides only between the formats that Dyno can read. */
static void
test_a_name_decides_between_own_formats (void)
{
  assert_exporter ("/a/run.json", "keyfile", "json");
  assert_exporter ("/a/run.JSON", "keyfile", "json");
  assert_exporter ("/a/run.json", "json", "json");
  assert_exporter ("/a/run.ini", "json", "keyfile");
  assert_exporter ("/a/run.dyno", "json", "keyfile");
  assert_exporter ("/a/run", "json", "json");
  assert_exporter ("/a/run.txt", "json", "json");
  g_assert_null (dyno_dialog_find_exporter ("/a/run.json", NULL));
  for (const DynoExporter *const *e = dyno_exporter_list (); *e; e++)
    if (strcmp ((*e)->id, "keyfile") != 0 && strcmp ((*e)->id, "json") != 0)
      {
        assert_exporter ("/a/run.json", (*e)->id, (*e)->id);
        assert_exporter ("/a/run.ini", (*e)->id, (*e)->id);
        assert_exporter ("/a/run.dyno", (*e)->id, (*e)->id);
      }
}

static void
exported (const char *path, const GError *error, gpointer data)
{
}

static char *
get_preview (GtkWidget *dialog)
{
  GtkTextBuffer *buffer =
      gtk_text_view_get_buffer (GTK_TEXT_VIEW (parts_find (dialog, GTK_TYPE_TEXT_VIEW)));
  GtkTextIter begin, end;

  gtk_text_buffer_get_bounds (buffer, &begin, &end);
  return gtk_text_buffer_get_text (buffer, &begin, &end, FALSE);
}

static GtkWidget *
find_label (GtkWidget *widget, const char *text)
{
  g_autoptr (GPtrArray) labels = parts_find_all (widget, GTK_TYPE_LABEL);

  for (guint i = 0; i < labels->len; i++)
    if (strcmp (gtk_label_get_text (labels->pdata[i]), text) == 0)
      return labels->pdata[i];
  g_error ("no label “%s”", text);
}

/* Text and remark are those of the format that is chosen, and nothing is copied of it yet. */
static void
test_the_preview_is_of_the_format (void)
{
  GtkWidget *window = gtk_window_new (GTK_WINDOW_TOPLEVEL);
  g_autoptr (DynoJob) job = dyno_job_new ();
  DynoExportContext context = { .job = job, .device = "A card" };

  job->settings.batch_size = 48;
  dyno_export_chooser_show (GTK_WINDOW (window), &context, NULL, exported, NULL);
  job->settings.batch_size = 7; /* the dialog has its own copy */
  GtkWidget *dialog = parts_find_dialog ("Export Settings");
  GtkListBox *list = GTK_LIST_BOX (parts_find (dialog, GTK_TYPE_LIST_BOX));
  GtkButton *copy = GTK_BUTTON (parts_find_button (dialog, "_Copy"));
  const DynoExporter *const *exporters = dyno_exporter_list ();
  job->settings.batch_size = 48;
  guint n_exporters = 0;
  while (exporters[n_exporters])
    n_exporters++;
  for (guint k = 0; k <= n_exporters; k++)
    {
      guint i = k % n_exporters; /* the first one, which has all settings, once more at the end */
      gtk_list_box_select_row (list, gtk_list_box_get_row_at_index (list, (int) i));
      g_assert_cmpstr (gtk_button_get_label (copy), ==, "_Copy");
      g_autofree char *shown = get_preview (dialog), *expected = exporters[i]->write (&context);
      g_auto (GStrv) left_out = dyno_exporter_list_left_out (exporters[i], &context);
      guint n = g_strv_length (left_out);
      g_autofree char *remark =
          n == 0   ? g_strdup ("Holds every setting")
          : n == 1 ? g_strdup ("1 setting has no counterpart in this format")
                   : g_strdup_printf ("%u settings have no counterpart in this format", n);
      g_assert_cmpstr (shown, ==, expected);
      parts_assert_says (dialog, remark);
      g_autofree char *missing = gtk_widget_get_tooltip_text (find_label (dialog, remark)),
                      *all = n > 0 ? g_strjoinv ("\n", left_out) : NULL;
      g_assert_cmpstr (missing, ==, all);
      gtk_button_clicked (copy);
      g_assert_cmpstr (gtk_button_get_label (copy), ==, "Copied");
      g_autofree char *copied =
          gtk_clipboard_wait_for_text (gtk_widget_get_clipboard (dialog, GDK_SELECTION_CLIPBOARD));
      g_assert_cmpstr (copied, ==, expected);
    }
  gtk_widget_destroy (window);
}

typedef struct {
  GString *answers;
  guint n_freed;
} Asked;

static void
answered (const char *text, gpointer data)
{
  g_string_append_printf (((Asked *) data)->answers, "%s|", text);
}

static void
freed (gpointer data)
{
  ((Asked *) data)->n_freed++;
}

static void
test_a_question_is_answered_once (void)
{
  g_autoptr (GString) answers = g_string_new (NULL);
  Asked asked = { answers, 0 };

  dyno_text_dialog_show (NULL, "Rename", "Name", "_Rename", "old", answered, &asked, freed);
  GtkWidget *dialog = parts_find_dialog ("Rename");
  GtkEntry *entry = GTK_ENTRY (parts_find (dialog, GTK_TYPE_ENTRY));
  g_assert_cmpstr (gtk_entry_get_text (entry), ==, "old");
  gtk_entry_set_text (entry, "new");
  gtk_dialog_response (GTK_DIALOG (dialog), GTK_RESPONSE_ACCEPT);
  g_assert_cmpstr (answers->str, ==, "new|");
  g_assert_cmpuint (asked.n_freed, ==, 1);
  dyno_text_dialog_show (NULL, "Tags", "Tags", "_Set", NULL, answered, &asked, freed);
  dialog = parts_find_dialog ("Tags");
  g_assert_cmpstr (gtk_entry_get_text (GTK_ENTRY (parts_find (dialog, GTK_TYPE_ENTRY))), ==, "");
  gtk_dialog_response (GTK_DIALOG (dialog), GTK_RESPONSE_CANCEL);
  g_assert_cmpstr (answers->str, ==, "new|");
  g_assert_cmpuint (asked.n_freed, ==, 2);
}

/* The button is for the file of this message, not for that of the one before. */
static void
test_a_message_without_a_file_has_no_button (void)
{
  GtkWidget *toast = g_object_ref_sink (g_object_new (DYNO_TYPE_TOAST, NULL));
  DynoToast *self = DYNO_TOAST (toast);

  gtk_widget_show (toast);
  dyno_toast_show (self, "Exported", "/a/file");
  g_assert_true (gtk_revealer_get_reveal_child (GTK_REVEALER (toast)));
  parts_assert_says (toast, "Exported");
  g_assert_true (gtk_widget_get_visible (parts_find_button (toast, "Sho_w")));
  guint first = g_source_get_id (g_main_context_find_source_by_user_data (NULL, toast));
  dyno_toast_show (self, "Queued", NULL);
  GSource *second = g_main_context_find_source_by_user_data (NULL, toast);
  g_assert_cmpuint (g_source_get_id (second), !=, first); /* its own time */
  parts_assert_texts (toast, "Queued");
  g_assert_false (gtk_widget_get_visible (parts_find_button (toast, "Sho_w")));
  gtk_button_clicked (GTK_BUTTON (parts_find_button (toast, "Close message")));
  g_assert_false (gtk_revealer_get_reveal_child (GTK_REVEALER (toast)));
  g_assert_null (g_main_context_find_source_by_user_data (NULL, toast));
  dyno_toast_show (self, "Again", "relative");
  g_assert_true (gtk_revealer_get_reveal_child (GTK_REVEALER (toast)));
  g_assert_false (gtk_widget_get_visible (parts_find_button (toast, "Sho_w")));
  gtk_widget_destroy (toast);
  g_object_unref (toast);
}

void
parts_add_exports (void)
{
  g_test_add_func ("/ui/parts/a-name-decides-between-own-formats",
                   test_a_name_decides_between_own_formats);
  g_test_add_func ("/ui/parts/the-preview-is-of-the-format", test_the_preview_is_of_the_format);
  g_test_add_func ("/ui/parts/a-question-is-answered-once", test_a_question_is_answered_once);
  g_test_add_func ("/ui/parts/a-message-without-a-file-has-no-button",
                   test_a_message_without_a_file_has_no_button);
}
