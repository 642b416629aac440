/* SPDX-License-Identifier: MIT */
/* Small pieces that many parts are made of, by their whole state: the theme of plots and their
 * pictures, rows, the table of runs, folders that are tested, tasks that hold the program. */
#include "parts.h"
#include "barlist.h"
#include "findingrow.h"
#include "heldtask.h"
#include "file.h"
#include "keepfolder.h"
#include "networklist.h"
#include "networkopener.h"
#include "onnx-test.h"
#include "plot/plotmenu.h"
#include "plot/theme.h"
#include "runlist.h"
#include "runtable.h"
#include "textdialog.h"
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <utime.h>

/* --- the theme of plots -------------------------------------------------------------------------- */

static void
assert_colour (DynoColour colour, double red, double green, double blue)
{
  g_assert_cmpfloat_with_epsilon (colour.red, red, 1e-3);
  g_assert_cmpfloat_with_epsilon (colour.green, green, 1e-3);
  g_assert_cmpfloat_with_epsilon (colour.blue, blue, 1e-3);
  g_assert_cmpfloat (colour.alpha, ==, 1);
}

static double
mix (double ink, double paper, double share)
{
  return ink * share + paper * (1 - share);
}

/* Colours are those of the widget's theme, lines those of the light or the dark plots, with more
 * contrast where the borders of the theme have it.  A file is light, with the widget's font. */
static void
test_plots_have_the_colours_of_the_widget (void)
{
  static const struct {
    const char *css;
    double paper[3], ink[3], size;
    gboolean dark, contrast;
  } rows[] = {
    { "@define-color theme_base_color rgb(255,204,153); @define-color theme_text_color "
      "rgb(0,51,102); @define-color borders rgb(230,190,140); * { font: 20px Serif; }",
      { 1, 0.8, 0.6 },
      { 0, 0.2, 0.4 },
      17,
      FALSE,
      FALSE },
    { "@define-color theme_base_color rgb(0,51,102); @define-color theme_text_color "
      "rgb(255,204,153); @define-color borders rgb(255,255,255); * { font: 40px Serif; }",
      { 0, 0.2, 0.4 },
      { 1, 0.8, 0.6 },
      34,
      TRUE,
      TRUE },
    { "@define-color theme_base_color rgb(255,255,255); @define-color theme_text_color "
      "rgb(0,0,0); @define-color borders rgb(102,102,102); * { font: 81px Serif; }",
      { 1, 1, 1 },
      { 0, 0, 0 },
      0,
      FALSE,
      TRUE },
    { "@define-color theme_base_color rgb(255,255,255); @define-color theme_text_color "
      "rgb(0,0,0); @define-color borders rgba(102,102,102,0.5); * { font: 5px Serif; }",
      { 1, 1, 1 },
      { 0, 0, 0 },
      0,
      FALSE,
      FALSE },
    { "@define-color theme_base_color rgb(0,0,0); @define-color theme_text_color "
      "rgb(255,255,255); @define-color borders rgb(8,8,8); * { font: 6px Serif; }",
      { 0, 0, 0 },
      { 1, 1, 1 },
      5.1,
      TRUE,
      FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      GtkWidget *label = g_object_ref_sink (gtk_label_new ("x"));
      g_autoptr (GtkCssProvider) css = gtk_css_provider_new ();
      const double *ink = rows[i].ink, *paper = rows[i].paper;
      g_assert_true (gtk_css_provider_load_from_data (css, rows[i].css, -1, NULL));
      gtk_style_context_add_provider (gtk_widget_get_style_context (label),
                                      GTK_STYLE_PROVIDER (css), GTK_STYLE_PROVIDER_PRIORITY_USER);
      DynoPlotTheme theme = *dyno_plot_theme_for_widget (label);
      const DynoPlotTheme *plain = rows[i].dark ? &dyno_plot_theme_dark : &dyno_plot_theme_light;
      double grid = rows[i].contrast ? 0.35 : 0.12, muted = rows[i].contrast ? 1 : 0.66,
             line = rows[i].contrast ? 0.35 : 0;
      assert_colour (theme.background, paper[0], paper[1], paper[2]);
      assert_colour (theme.foreground, ink[0], ink[1], ink[2]);
      assert_colour (theme.muted, mix (ink[0], paper[0], muted), mix (ink[1], paper[1], muted),
                     mix (ink[2], paper[2], muted));
      assert_colour (theme.grid, mix (ink[0], paper[0], grid), mix (ink[1], paper[1], grid),
                     mix (ink[2], paper[2], grid));
      for (guint k = 0; k < G_N_ELEMENTS (theme.lines); k++)
        assert_colour (theme.lines[k], mix (ink[0], plain->lines[k].red, line),
                       mix (ink[1], plain->lines[k].green, line),
                       mix (ink[2], plain->lines[k].blue, line));
      g_assert_cmpfloat (theme.line_width, ==, rows[i].contrast ? 2.5 : plain->line_width);
      g_assert_cmpint (theme.dashed, ==, rows[i].contrast);
      g_assert_cmpstr (theme.font, ==, "Serif");
      g_assert_cmpfloat_with_epsilon (theme.font_size,
                                      rows[i].size > 0 ? rows[i].size : plain->font_size, 1e-6);
      DynoPlotTheme file = *dyno_plot_theme_for_files (label);
      assert_colour (file.background, dyno_plot_theme_light.background.red,
                     dyno_plot_theme_light.background.green, dyno_plot_theme_light.background.blue);
      g_assert_cmpstr (file.font, ==, "Serif");
      g_assert_cmpfloat (file.font_size, ==, dyno_plot_theme_light.font_size);
      g_assert_true (file.text == theme.text);
      g_object_unref (label);
    }
}

/* The width of a text follows its size and weight, whatever was drawn before, and also once more
 * texts were drawn than are kept. */
static void
test_texts_of_plots_have_their_widths (void)
{
  GtkWidget *label = g_object_ref_sink (gtk_label_new ("x"));
  DynoPlotTheme theme = *dyno_plot_theme_for_widget (label);
  cairo_surface_t *surface = cairo_image_surface_create (CAIRO_FORMAT_A8, 8, 8);
  cairo_t *cr = cairo_create (surface);
  double first[4] = { 0 };

  for (guint i = 0; i < 3; i++)
    {
      const double widths[] = { theme.text (cr, &theme, "0.125", 20, FALSE, FALSE),
                                theme.text (cr, &theme, "0.125", 40, FALSE, FALSE),
                                theme.text (cr, &theme, "0.125", 20, TRUE, FALSE),
                                theme.text (cr, &theme, "0.1250.125", 20, FALSE, FALSE) };
      g_assert_cmpfloat (widths[0], >, 20);
      g_assert_cmpfloat (widths[0], <, 100);
      g_assert_cmpfloat_with_epsilon (widths[1], 2 * widths[0], 8);
      g_assert_cmpfloat (widths[2], >=, widths[0]);
      g_assert_cmpfloat_with_epsilon (widths[3], 2 * widths[0], 8);
      if (i == 0)
        memcpy (first, widths, sizeof first);
      g_assert_cmpmem (first, sizeof first, widths, sizeof widths);
      for (guint k = 0; k < 300; k++)
        {
          g_autofree char *text = g_strdup_printf ("%u", 300 * i + k);
          theme.text (cr, &theme, text, 9, FALSE, FALSE);
        }
    }
  cairo_destroy (cr);
  cairo_surface_destroy (surface);
  /* Bold letters have more ink, also where they are as wide. */
  double ink[2] = { 0 };
  for (guint bold = 0; bold < 2; bold++)
    {
      surface = cairo_image_surface_create (CAIRO_FORMAT_A8, 256, 64);
      cr = cairo_create (surface);
      cairo_move_to (cr, 8, 48);
      theme.text (cr, &theme, "Loss", 32, bold == 1, TRUE);
      cairo_destroy (cr);
      cairo_surface_flush (surface);
      for (guint i = 0; i < 256 * 64; i++)
        ink[bold] += cairo_image_surface_get_data (surface)[i];
      cairo_surface_destroy (surface);
    }
  g_assert_cmpfloat (ink[0], >, 0);
  g_assert_cmpfloat (ink[1], >, ink[0]);
  g_object_unref (label);
}

/* --- pictures of plots --------------------------------------------------------------------------- */

static void
open_item (DynoPlotView *view, const char *label)
{
  GtkWidget *widget = GTK_WIDGET (view);
  g_autoptr (GdkEvent) event = gdk_event_new (GDK_BUTTON_PRESS);

  event->button.window = g_object_ref (gtk_widget_get_window (widget));
  event->button.button = GDK_BUTTON_SECONDARY;
  gdk_event_set_device (
      event, gdk_seat_get_pointer (gdk_display_get_default_seat (gtk_widget_get_display (widget))));
  g_assert_true (gtk_widget_event (widget, event));
  GList *menus = gtk_menu_get_for_attach_widget (GTK_WIDGET (view));
  g_autoptr (GPtrArray) items = parts_find_all (menus->data, GTK_TYPE_MENU_ITEM);
  for (guint i = 0; i < items->len; i++)
    if (g_strcmp0 (gtk_menu_item_get_label (items->pdata[i]), label) == 0)
      gtk_menu_item_activate (items->pdata[i]);
  gtk_menu_shell_deactivate (menus->data);
  g_signal_emit_by_name (menus->data, "selection-done");
}

static gboolean
has_no_menu (gpointer view)
{
  return gtk_menu_get_for_attach_widget (view) == NULL;
}

static GdkPixbuf *
copy_picture (DynoPlotView *view)
{
  open_item (view, "_Copy as Picture");
  parts_wait (has_no_menu, view);
  return gtk_clipboard_wait_for_image (
      gtk_widget_get_clipboard (GTK_WIDGET (view), GDK_SELECTION_CLIPBOARD));
}

/* GTK wants an event to be handled while a menu opens. */
static gboolean
open_as_by_a_key (DynoPlotView *view, GdkEvent *event, gboolean *shown)
{
  g_signal_emit_by_name (view, "popup-menu", shown);
  return TRUE;
}

/* Pictures have two pixels for each of the view, and nothing of the pointer. */
static void
test_plots_are_copied_and_saved (void)
{
  DynoPlotView *view = g_object_new (DYNO_TYPE_PLOT_VIEW, NULL);
  GtkWidget *window = parts_show (GTK_WIDGET (view), 300, 200), *dialog;
  DynoSeries *series = dyno_series_new ("Loss", NULL);

  for (guint i = 1; i <= 9; i++)
    dyno_series_append (series, i, 10.0 / i);
  dyno_plot_view_set_lines (view, &(DynoPlotLine){ .series = series }, 1);
  dyno_plot_menu_attach (view);
  g_autoptr (GdkPixbuf) picture = copy_picture (view);
  dyno_plot_view_set_cursor (view, 4);
  g_autoptr (GdkPixbuf) pointed = copy_picture (view);
  g_assert_cmpint (gdk_pixbuf_get_width (picture), ==,
                   2 * gtk_widget_get_allocated_width (GTK_WIDGET (view)));
  g_assert_cmpint (gdk_pixbuf_get_height (picture), ==,
                   2 * gtk_widget_get_allocated_height (GTK_WIDGET (view)));
  g_assert_cmpmem (gdk_pixbuf_read_pixels (picture), gdk_pixbuf_get_byte_length (picture),
                   gdk_pixbuf_read_pixels (pointed), gdk_pixbuf_get_byte_length (pointed));
  dyno_plot_view_set_span (view, (DynoPlotSpan){ 2, 4 });
  g_autoptr (GdkPixbuf) part = copy_picture (view);
  g_assert_cmpint (memcmp (gdk_pixbuf_read_pixels (picture), gdk_pixbuf_read_pixels (part),
                           gdk_pixbuf_get_byte_length (picture)),
                   !=, 0);

  for (guint i = 0; i < 2; i++)
    {
      open_item (view, "_Save as Picture…");
      parts_wait (has_no_menu, view);
      dialog = parts_find_dialog ("Save the Plot as PNG, SVG or PDF");
      g_autofree char *name = gtk_file_chooser_get_current_name (GTK_FILE_CHOOSER (dialog));
      g_assert_cmpstr (name, ==, "dyno-plot.png");
      gtk_widget_destroy (dialog);
    }
  /* The picture is the plot at its size, with two pixels for each. */
  dyno_plot_view_set_span (view, (DynoPlotSpan){ 0, 0 });
  dyno_plot_view_set_cursor (view, (double) NAN);
  cairo_surface_t *surface = cairo_image_surface_create (
      CAIRO_FORMAT_RGB24, gdk_pixbuf_get_width (picture), gdk_pixbuf_get_height (picture));
  cairo_t *cr = cairo_create (surface);
  cairo_scale (cr, 2, 2);
  dyno_plot_draw (cr, dyno_plot_view_get_plot (view),
                  dyno_plot_theme_for_widget (GTK_WIDGET (view)),
                  gdk_pixbuf_get_width (picture) / 2, gdk_pixbuf_get_height (picture) / 2, 2);
  cairo_destroy (cr);
  g_autoptr (GdkPixbuf) drawn = gdk_pixbuf_get_from_surface (
      surface, 0, 0, gdk_pixbuf_get_width (picture), gdk_pixbuf_get_height (picture));
  cairo_surface_destroy (surface);
  g_assert_cmpmem (gdk_pixbuf_read_pixels (picture), gdk_pixbuf_get_byte_length (picture),
                   gdk_pixbuf_read_pixels (drawn), gdk_pixbuf_get_byte_length (drawn));
  /* A key opens the menu too. */
  gboolean shown = FALSE;
  g_autoptr (GdkEvent) press = gdk_event_new (GDK_BUTTON_PRESS);
  press->button.window = g_object_ref (gtk_widget_get_window (GTK_WIDGET (view)));
  press->button.button = GDK_BUTTON_PRIMARY;
  gdk_event_set_device (press, gdk_seat_get_pointer (gdk_display_get_default_seat (
                                   gtk_widget_get_display (GTK_WIDGET (view)))));
  gulong handler =
      g_signal_connect (view, "button-press-event", G_CALLBACK (open_as_by_a_key), &shown);
  gtk_main_do_event (press);
  g_signal_handler_disconnect (view, handler);
  g_assert_true (shown && !has_no_menu (view));
  gtk_widget_destroy (window);
  dyno_series_free (series);
}

/* --- rows ---------------------------------------------------------------------------------------- */

static void
test_a_bar_is_a_share (void)
{
  static const double shares[] = { 0.25, -1, 0, 1, 3 }, lengths[] = { 0.25, 0, 0, 1, 1 };

  for (guint i = 0; i < G_N_ELEMENTS (shares); i++)
    {
      GtkWidget *row = g_object_ref_sink (dyno_bar_row_new ("Compute", "12 ms", shares[i]));
      GtkWidget *bar = parts_find (row, GTK_TYPE_PROGRESS_BAR);
      g_autoptr (GPtrArray) labels = parts_find_all (row, GTK_TYPE_LABEL);
      gtk_widget_show_all (row);
      parts_assert_texts (row, "Compute\n12 ms");
      g_assert_cmpfloat (gtk_progress_bar_get_fraction (GTK_PROGRESS_BAR (bar)), ==, lengths[i]);
      g_assert_cmpstr (atk_object_get_name (gtk_widget_get_accessible (bar)), ==, "Compute");
      g_assert_cmpfloat (gtk_label_get_xalign (labels->pdata[1]), ==, 1);
      g_assert_true (gtk_widget_get_hexpand (labels->pdata[0]));
      g_object_unref (row);
    }
}

static void
test_findings_have_the_colour_of_their_level (void)
{
  static const char *const classes[] = { "sign-good", "sign-note", "sign-warning", "bad-text" };

  for (guint i = 0; i < G_N_ELEMENTS (classes); i++)
    {
      const DynoFinding finding = { .level = (DynoFindingLevel) i,
                                    .text = (char *) "It waits.",
                                    .action = (char *) "Wait." };
      GtkWidget *row = g_object_ref_sink (dyno_finding_row_new (&finding));
      GtkStyleContext *context = gtk_widget_get_style_context (parts_find (row, GTK_TYPE_IMAGE));
      for (guint k = 0; k < G_N_ELEMENTS (classes); k++)
        g_assert_true (gtk_style_context_has_class (context, classes[k]) == (i == k));
      g_assert_cmpstr (atk_object_get_description (gtk_widget_get_accessible (row)), ==, "Wait.");
      g_assert_false (gtk_list_box_row_get_activatable (GTK_LIST_BOX_ROW (row)));
      g_object_unref (row);
    }
}

/* The columns in their order: title, width, alignment, the column that it sorts by, whether it
 * takes more room. */
static void
test_the_table_of_runs_has_these_columns (void)
{
  DynoRunCurves *curves = dyno_run_curves_new ();
  GtkWidget *list = g_object_ref_sink (dyno_run_table_new (curves));
  GString *all = g_string_new (NULL);
  double enlarged = MAX (gdk_screen_get_resolution (gtk_widget_get_screen (list)) / 96, 1);
  static const char *const sorted[] = { "title", "begun", "data", "model", "settings",
                                        "best",  "rate",  "time", "state", "tags" };

  for (guint i = 0; i < gtk_tree_view_get_n_columns (GTK_TREE_VIEW (list)); i++)
    {
      GtkTreeViewColumn *column = gtk_tree_view_get_column (GTK_TREE_VIEW (list), (int) i);
      g_autoptr (GList) cells = gtk_cell_layout_get_cells (GTK_CELL_LAYOUT (column));
      int sort = gtk_tree_view_column_get_sort_column_id (column);
      float xalign;
      g_object_get (cells->data, "xalign", &xalign, NULL);
      g_string_append_printf (
          all, "%s: %.0f %s%s%s%s\n", gtk_tree_view_column_get_title (column),
          gtk_tree_view_column_get_fixed_width (column) / (i == 1 ? 1 : enlarged),
          gtk_tree_view_column_get_alignment (column) > 0.9F ? "right" : "left",
          i != 1 && xalign != gtk_tree_view_column_get_alignment (column) ? " its cells not" : "",
          gtk_tree_view_column_get_expand (column) ? " expands" : "",
          gtk_tree_view_column_get_resizable (column) == (i == 1) ? " other" : "");
      g_string_truncate (all, all->len - 1);
      g_string_append_printf (all, " %s\n", sort < 0 ? "unsorted" : sorted[sort]);
    }
  g_assert_cmpstr (all->str, ==,
                   "Run: 144 left title\n"
                   "Loss: 90 left unsorted\n"
                   "Best: 78 right best\n"
                   "Begun: 130 left begun\n"
                   "Model: 98 left model\n"
                   "Data: 84 left data\n"
                   "Samples/s: 108 right rate\n"
                   "Time: 72 right time\n"
                   "State: 120 left state\n"
                   "Tags: 108 left tags\n"
                   "Settings: 102 left expands unsorted\n");
  g_assert_true (gtk_tree_view_get_fixed_height_mode (GTK_TREE_VIEW (list)));
  g_assert_false (gtk_tree_view_get_enable_search (GTK_TREE_VIEW (list)));
  g_assert_cmpint (gtk_tree_selection_get_mode (gtk_tree_view_get_selection (GTK_TREE_VIEW (list))),
                   ==, GTK_SELECTION_MULTIPLE);
  g_string_free (all, TRUE);
  g_object_unref (list);
  g_object_unref (curves);
}

/* --- questions ----------------------------------------------------------------------------------- */

typedef struct {
  GString *answers;
  guint n_freed;
} Asked;

static gboolean
is_answered (gpointer asked)
{
  return ((Asked *) asked)->n_freed % 2 == 0;
}

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

/* Enter answers; closing the dialog does not. */
static void
test_enter_answers_a_question (void)
{
  g_autoptr (GString) answers = g_string_new (NULL);
  Asked asked = { answers, 0 };

  for (guint i = 0; i < 2; i++)
    {
      dyno_text_dialog_show (NULL, "Rename", "New name", "_Rename", i == 0 ? "old" : "older",
                             answered, &asked, freed);
      GtkWidget *dialog = parts_find_dialog ("Rename");
      GtkWidget *entry = parts_find (dialog, GTK_TYPE_ENTRY);
      g_assert_cmpstr (atk_object_get_name (gtk_widget_get_accessible (entry)), ==, "New name");
      g_assert_true (gtk_window_get_modal (GTK_WINDOW (dialog)));
      g_assert_cmpstr (gtk_button_get_label (GTK_BUTTON (gtk_dialog_get_widget_for_response (
                           GTK_DIALOG (dialog), GTK_RESPONSE_ACCEPT))),
                       ==, "_Rename");
      gtk_dialog_response (GTK_DIALOG (dialog), GTK_RESPONSE_DELETE_EVENT);
      g_assert_cmpuint (asked.n_freed, ==, 2 * i + 1);
      dyno_text_dialog_show (NULL, "Rename", "New name", "_Rename", i == 0 ? "old" : "older",
                             answered, &asked, freed);
      dialog = parts_find_dialog ("Rename");
      gtk_widget_activate (parts_find (dialog, GTK_TYPE_ENTRY));
      parts_wait (is_answered, &asked); /* the button is seen to be pressed */
      g_assert_cmpuint (asked.n_freed, ==, 2 * i + 2);
      g_assert_cmpstr (answers->str, ==, i == 0 ? "old|" : "old|older|");
    }
}

/* --- folders and tasks --------------------------------------------------------------------------- */

/* A folder is made only where it is to be kept; a reason names it. */
static void
test_folders_are_tested (void)
{
  g_autofree char *folder = g_build_filename (g_get_home_dir (), "kept", "runs", NULL),
                  *file = g_build_filename (g_get_home_dir (), "no folder", NULL),
                  *below = g_build_filename (file, "runs", NULL),
                  *expected = g_strdup_printf ("Cannot write into “%s”: Not a directory", below);

  g_assert_true (g_file_set_contents (file, "x", 1, NULL));
  g_assert_true (dyno_folder_may_keep (folder, NULL));
  g_assert_false (g_file_test (folder, G_FILE_TEST_EXISTS));
  g_assert_true (dyno_folder_can_keep (folder, NULL));
  g_assert_true (g_file_test (folder, G_FILE_TEST_IS_DIR));
  g_assert_true (dyno_folder_may_keep (folder, NULL));
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (GError) error = NULL;
      g_assert_false (i == 0 ? dyno_folder_may_keep (below, &error)
                             : dyno_folder_can_keep (below, &error));
      g_assert_error (error, G_FILE_ERROR, G_FILE_ERROR_NOTDIR);
      g_assert_cmpstr (error->message, ==, expected);
    }
  g_unlink (file);
}

/* Take the place of GIO's functions in the program. */
static guint n_held, n_released;

void
g_application_hold (GApplication *application)
{
  n_held++;
}

void
g_application_release (GApplication *application)
{
  n_released++;
}

static void
work (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  g_task_return_boolean (task, TRUE);
}

static void
note_end (GObject *source, GAsyncResult *result, gpointer data)
{
  *(gboolean *) data = g_task_propagate_boolean (G_TASK (result), NULL);
}

static gboolean
has_ended (gpointer ended)
{
  return *(gboolean *) ended;
}

/* The program lives until each of its tasks has ended, and no longer. */
static void
test_a_task_holds_the_program (void)
{
  GApplication *before = g_application_get_default (),
               *application = g_application_new (NULL, G_APPLICATION_NON_UNIQUE);

  for (guint i = 0; i < 3; i++)
    {
      gboolean ended = FALSE;
      GTask *task = g_task_new (NULL, NULL, note_end, &ended);
      g_application_set_default (i == 1 ? NULL : application);
      n_held = n_released = 0;
      dyno_task_run_held (task, work);
      g_assert_true (n_held == (i != 1) && n_released == 0);
      g_object_unref (task);
      parts_wait (has_ended, &ended); /* the end is also notified in that round of the main loop */
      g_assert_true (n_held == (i != 1) && n_released == (i != 1));
    }
  g_application_set_default (before);
  g_object_unref (application);
}

/* --- networks of files --------------------------------------------------------------------------- */

typedef struct {
  GString *said;
  char *name; /* of the last model */
} Opened;

static void
note_network (const DynoOpenedNetwork *opened, gpointer data)
{
  Opened *o = data;

  g_assert_true ((opened->model == NULL) == (opened->error != NULL));
  g_string_printf (o->said, "%s%s", opened->model ? "read" : "refused",
                   opened->has_weights ? ", weights" : "");
  g_free (o->name);
  o->name = opened->model ? g_strdup (opened->model->name) : NULL;
}

static gboolean
is_said (gpointer said)
{
  return ((GString *) said)->len > 0;
}

/* Gives all files of the folder a past time, and those of one network a later one. */
static void
age (const char *folder, const char *newest)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  while (dir && (name = g_dir_read_name (dir)))
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);
      time_t at = 1000000 + (newest && g_str_has_prefix (name, newest));

      g_assert_cmpint (g_utime (path, &(struct utimbuf){ at, at }), ==, 0);
    }
}

/* A network is built for the samples that its file states, as far as it states them; one that can
 * be built is the first of the list, one that cannot is not in it. */
static void
test_networks_are_built_when_they_are_opened (void)
{
  static const struct {
    const char *network, *said;
  } rows[] = {
    { "in x N,3,8,8;out y N,2;w wt 2,192;Flatten - x f;Gemm - f,wt y transB=1", "read, weights" },
    { "in x N,3,8,8;out y N,2;w wt 2,100;Flatten - x f;Gemm - f,wt y transB=1", "refused" },
    { "in x N,3,16,W;out y N,2;w wt 2,10752;Flatten - x f;Gemm - f,wt y transB=1",
      "read, weights" },
    { "in x N,3,H,16;out y N,2;w wt 2,10752;Flatten - x f;Gemm - f,wt y transB=1",
      "read, weights" },
    { "in x N,3,16,W;out y N,2;w wt 2,768;Flatten - x f;Gemm - f,wt y transB=1", "refused" },
    { "in x N,C,8,8;out y N,2;w wt 2,100;Flatten - x f;Gemm - f,wt y transB=1", "read, weights" },
    { "in x N,3,8,8;out y N,2;Unheard - x y", "refused" },
  };
  g_autoptr (GString) said = g_string_new (NULL);
  g_autofree char *folder = dyno_data_dir ("networks"), *before = NULL;
  Opened opened = { said, NULL };
  DynoNetworkOpener *opener = dyno_network_opener_new (note_network, &opened);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *stem = g_strdup_printf ("opened-%u", i),
                      *name = g_strdup_printf ("%s.onnx", stem),
                      *path = g_build_filename (g_get_home_dir (), name, NULL);
      g_autoptr (GByteArray) file = onnx_test_text (rows[i].network);
      g_assert_true (g_file_set_contents (path, (const char *) file->data, file->len, NULL));
      g_string_set_size (said, 0);
      age (folder, before);
      dyno_network_opener_open (opener, path, i % 2 ? "mlp" : NULL); /* no export of that model */
      parts_wait (is_said, said);
      g_assert_cmpstr (said->str, ==, rows[i].said);
      g_autoptr (GPtrArray) listed = dyno_network_list_read (folder, 100);
      if (opened.name)
        {
          g_free (before);
          before = g_strdup (opened.name);
          g_assert_nonnull (strstr (opened.name, stem));
        }
      g_assert_cmpstr (listed->pdata[0], ==, before);
      for (guint k = 0; k < listed->len && !opened.name; k++)
        g_assert_null (strstr (listed->pdata[k], stem));
    }
  /* The first one is the newest again when it is opened again. */
  g_autofree char *again = g_build_filename (g_get_home_dir (), "opened-0.onnx", NULL);
  g_string_set_size (said, 0);
  age (folder, before);
  dyno_network_opener_open (opener, again, NULL);
  parts_wait (is_said, said);
  g_autoptr (GPtrArray) listed = dyno_network_list_read (folder, 100);
  g_assert_cmpstr (listed->pdata[0], ==, opened.name);
  g_assert_nonnull (strstr (opened.name, "opened-0"));
  g_free (opened.name);
  dyno_network_opener_free (opener);
}

void
parts_add_pieces (void)
{
  g_test_add_func ("/ui/parts/plots-have-the-colours-of-the-widget",
                   test_plots_have_the_colours_of_the_widget);
  g_test_add_func ("/ui/parts/texts-of-plots-have-their-widths",
                   test_texts_of_plots_have_their_widths);
  g_test_add_func ("/ui/parts/plots-are-copied-and-saved", test_plots_are_copied_and_saved);
  g_test_add_func ("/ui/parts/a-bar-is-a-share", test_a_bar_is_a_share);
  g_test_add_func ("/ui/parts/findings-have-the-colour-of-their-level",
                   test_findings_have_the_colour_of_their_level);
  g_test_add_func ("/ui/parts/the-table-of-runs-has-these-columns",
                   test_the_table_of_runs_has_these_columns);
  g_test_add_func ("/ui/parts/enter-answers-a-question", test_enter_answers_a_question);
  g_test_add_func ("/ui/parts/networks-are-built-when-they-are-opened",
                   test_networks_are_built_when_they_are_opened);
  g_test_add_func ("/ui/parts/folders-are-tested", test_folders_are_tested);
  g_test_add_func ("/ui/parts/a-task-holds-the-program", test_a_task_holds_the_program);
}
