/* SPDX-License-Identifier: MIT */
/* The bar for errors, parts of the form that fold, rows, and pages that have nothing to show. */
#include "parts.h"
#include "diagnosepage.h"
#include "errorbar.h"
#include "fold.h"
#include "row.h"
#include "weightsrow.h"
#include <handy.h>

/* A warning does not replace an error that is shown, and is shown once it was closed. */
static void
test_warnings_wait_for_errors (void)
{
  GtkWidget *bar = g_object_ref_sink (g_object_new (DYNO_TYPE_ERROR_BAR, NULL));
  DynoErrorBar *self = DYNO_ERROR_BAR (bar);

  gtk_widget_show (bar);
  g_assert_false (dyno_error_bar_has_error (self));
  dyno_error_bar_show_text (self, GTK_MESSAGE_WARNING, "Warm", "It is warm.");
  g_assert_false (dyno_error_bar_has_error (self));
  parts_assert_says (bar, "Warm");
  dyno_error_bar_show_offer (self, "Lost", "It is lost.", "_Find It", "win.find");
  g_assert_true (dyno_error_bar_has_error (self));
  parts_assert_says (bar, "Lost");
  parts_assert_says_not (bar, "Warm");
  g_assert_true (gtk_widget_get_visible (parts_find_button (bar, "_Find It")));
  dyno_error_bar_show_text (self, GTK_MESSAGE_WARNING, "Warm", "It is warm.");
  parts_assert_says (bar, "Lost");
  dyno_error_bar_show_text (self, GTK_MESSAGE_ERROR, "Gone", "It is gone.");
  parts_assert_says (bar, "Gone");
  g_assert_false (gtk_widget_get_visible (parts_find_button (bar, "_Find It")));
  dyno_error_bar_dismiss (self);
  g_assert_false (dyno_error_bar_has_error (self));
  dyno_error_bar_show_text (self, GTK_MESSAGE_WARNING, "Warm", "It is warm.");
  g_assert_false (dyno_error_bar_has_error (self));
  parts_assert_says (bar, "Warm");
  g_object_unref (bar);
}

/* A search of several letters unfolds what it finds, and its end folds it again, twice. */
static void
test_a_search_folds_again (void)
{
  GtkWidget *fold = g_object_ref_sink (dyno_fold_new ("Pipeline"));
  HdyExpanderRow *row = HDY_EXPANDER_ROW (fold);
  GtkWidget *workers = hdy_action_row_new (), *memory = hdy_action_row_new ();

  gtk_widget_show (fold);
  dyno_fold_take (DYNO_FOLD (fold), workers, "workers threads");
  dyno_fold_take (DYNO_FOLD (fold), memory, "memory");
  for (guint i = 0; i < 2; i++)
    {
      gboolean before = i == 1;

      hdy_expander_row_set_expanded (row, before);
      g_assert_cmpuint (dyno_fold_search (DYNO_FOLD (fold), "w"), ==, 1);
      g_assert_true (hdy_expander_row_get_expanded (row));
      g_assert_cmpuint (dyno_fold_search (DYNO_FOLD (fold), "wo"), ==, 1);
      g_assert_true (dyno_fold_get_first (DYNO_FOLD (fold)) == workers);
      g_assert_cmpuint (dyno_fold_search (DYNO_FOLD (fold), "wox"), ==, 0);
      g_assert_false (gtk_widget_get_visible (fold));
      g_assert_cmpuint (dyno_fold_search (DYNO_FOLD (fold), NULL), ==, 2);
      g_assert_true (gtk_widget_get_visible (fold) && gtk_widget_get_visible (memory));
      g_assert_true (hdy_expander_row_get_expanded (row) == before);
      g_assert_cmpstr (atk_object_get_description (gtk_widget_get_accessible (fold)), ==,
                       before ? "Unfolded" : "Folded");
      /* The title stands for all of its rows, whatever its case. */
      g_assert_cmpuint (dyno_fold_search (DYNO_FOLD (fold), "pipe"), ==, 2);
      g_assert_cmpuint (dyno_fold_search (DYNO_FOLD (fold), NULL), ==, 2);
      dyno_fold_set_changed (DYNO_FOLD (fold), 2);
      parts_assert_says (fold, "2 changed");
      dyno_fold_set_changed (DYNO_FOLD (fold), 0);
      parts_assert_says_not (fold, "2 changed");
      parts_assert_says_not (fold, "0 changed");
    }
  g_object_unref (fold);
}

static const char *
get_name (gpointer widget)
{
  return atk_object_get_name (gtk_widget_get_accessible (widget));
}

/* The first control has the row's name and its clicks; a reason makes the row insensitive for as
 * long as it holds. */
static void
test_a_row_names_its_control (void)
{
  GtkWidget *row = g_object_ref_sink (dyno_row_new ("_Size of it", NULL)),
            *spin = gtk_spin_button_new_with_range (0, 9, 1), *other = gtk_switch_new ();
  AtkObject *accessible = gtk_widget_get_accessible (row);

  dyno_row_add_control (DYNO_ROW (row), spin);
  dyno_row_add_control (DYNO_ROW (row), other);
  g_assert_cmpstr (get_name (row), ==, "Size of it");
  g_assert_cmpstr (get_name (spin), ==, "Size of it");
  g_assert_cmpstr (get_name (other), !=, "Size of it");
  g_assert_true (hdy_action_row_get_activatable_widget (HDY_ACTION_ROW (row)) == spin);
  for (guint i = 0; i < 2; i++)
    {
      dyno_row_set_reason (DYNO_ROW (row), "It is too late.", "The size.");
      g_autofree char *reason = gtk_widget_get_tooltip_text (row);
      g_assert_cmpstr (reason, ==, "It is too late.");
      g_assert_false (gtk_widget_get_sensitive (row));
      dyno_row_set_reason (DYNO_ROW (row), NULL, i == 0 ? "The size." : NULL);
      g_autofree char *help = gtk_widget_get_tooltip_text (row);
      g_assert_cmpstr (help, ==, i == 0 ? "The size." : NULL);
      g_assert_true (gtk_widget_get_sensitive (row));
    }
  dyno_row_set_subtitle (DYNO_ROW (row), "in pixels");
  g_assert_cmpstr (atk_object_get_description (accessible), ==, "in pixels");
  dyno_row_set_subtitle (DYNO_ROW (row), NULL);
  g_assert_cmpstr (atk_object_get_description (accessible), ==, "");
  dyno_row_set_name (DYNO_ROW (row), "a_b");
  g_assert_cmpstr (get_name (row), ==, "a_b");
  g_object_unref (row);
}

/* The row shows the weights' file, and a button to remove them while there are any. */
static void
test_start_weights_can_be_removed (void)
{
  DynoSetup *setup = dyno_setup_new ();
  GtkWidget *row = g_object_ref_sink (dyno_weights_row_new (setup)),
            *remove = parts_find_button (row, "Start from random values");

  for (guint i = 0; i < 2; i++)
    {
      g_assert_cmpstr (hdy_action_row_get_subtitle (HDY_ACTION_ROW (row)), ==,
                       "None: random values");
      g_assert_false (gtk_widget_get_visible (remove));
      g_autofree char *none = gtk_widget_get_tooltip_text (row);
      g_assert_cmpstr (none, ==, "A run may start from trained weights");
      dyno_setup_set_weights (setup, "/some/folder/net.pth");
      g_assert_cmpstr (hdy_action_row_get_subtitle (HDY_ACTION_ROW (row)), ==, "net.pth");
      g_autofree char *path = gtk_widget_get_tooltip_text (row);
      g_assert_cmpstr (path, ==, "/some/folder/net.pth");
      g_assert_true (gtk_widget_get_visible (remove));
      gtk_button_clicked (GTK_BUTTON (remove));
      g_assert_null (dyno_setup_get_job (setup)->weights_in);
    }
  g_object_unref (row);
  dyno_setup_shutdown (setup);
  g_object_unref (setup);
}

static gboolean
is_over (gpointer monitor)
{
  dyno_run_monitor_drain (monitor);
  return !dyno_run_monitor_is_active (monitor);
}

static gboolean
wake (gpointer data)
{
  return G_SOURCE_CONTINUE;
}

/* Until there is a diagnosis, the page offers to start a run, or says that it waits for its
 * steps. */
static void
test_the_page_of_the_diagnosis_waits (void)
{
  GtkWidget *page = g_object_ref_sink (g_object_new (DYNO_TYPE_DIAGNOSE_PAGE, NULL)),
            *empty = gtk_stack_get_visible_child (GTK_STACK (page)),
            *start = parts_find_button (empty, "Start Training");
  DynoRunMonitor *monitor = dyno_run_monitor_new ();
  DynoSetup *setup = dyno_setup_new ();
  g_autofree char *runs = g_build_filename (g_get_home_dir (), "runs that wait", NULL);
  g_autoptr (DynoJob) job = dyno_job_new ();

  job->data = g_strdup ("builtin:shapes?size=16&samples=64");
  job->resume = g_strdup ("/nowhere/at/all"); /* it fails at its beginning */
  dyno_run_monitor_set_runs_folder (monitor, runs);
  dyno_diagnose_page_set_run (DYNO_DIAGNOSE_PAGE (page), monitor, setup);
  for (guint i = 0; i < 2; i++)
    {
      g_assert_cmpstr (get_name (empty), ==, "Nothing to Diagnose Yet");
      g_assert_true (gtk_widget_get_visible (start));
      g_assert_true (dyno_run_monitor_start (monitor, job, NULL, NULL));
      g_assert_cmpstr (get_name (empty), ==, "Waiting for the First Steps");
      g_assert_false (gtk_widget_get_visible (start));
      guint idle = g_idle_add (wake, NULL);
      parts_wait (is_over, monitor);
      g_source_remove (idle);
    }
  g_autoptr (GPtrArray) clamps = parts_find_all (page, HDY_TYPE_CLAMP);
  GtkWidget *card = gtk_bin_get_child (GTK_BIN (clamps->pdata[clamps->len - 1]));
  gtk_widget_show (card);
  g_assert_true (gtk_stack_get_visible_child (GTK_STACK (page)) != empty);
  gtk_widget_hide (card);
  g_assert_true (gtk_stack_get_visible_child (GTK_STACK (page)) == empty);
  g_object_unref (page);
  g_object_unref (monitor);
  dyno_setup_shutdown (setup);
  g_object_unref (setup);
}

static gboolean
is_on (gpointer control)
{
  return gtk_switch_get_active (control);
}

/* A click on a row is one on its control, if that can be activated; a row of a text or a bar does
 * nothing. */
static void
test_a_row_activates_its_control (void)
{
  GtkWidget *control = gtk_switch_new (), *box = gtk_list_box_new (),
            *controls[] = { control,
                            gtk_label_new ("80 %"),
                            gtk_progress_bar_new (),
                            gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 0),
                            gtk_combo_box_text_new (),
                            gtk_spin_button_new_with_range (0, 1, 1) };
  GtkWidget *window = parts_show (box, 400, 300);

  for (guint i = 0; i < G_N_ELEMENTS (controls); i++)
    {
      GtkWidget *row = dyno_row_new ("Share", NULL);

      gtk_widget_show (controls[i]);
      dyno_row_add_control (DYNO_ROW (row), controls[i]);
      gtk_container_add (GTK_CONTAINER (box), row);
      g_assert_true (gtk_list_box_row_get_activatable (GTK_LIST_BOX_ROW (row))
                     == (i == 0 || i > 3));
      g_signal_emit_by_name (box, "row-activated", row);
      parts_wait (is_on, control);
    }
  gtk_widget_destroy (window);
}

/* The window of shortcuts fits a screen of 800 pixels, with room for longer words of other
 * languages. */
static void
test_the_shortcuts_fit_a_narrow_screen (void)
{
  g_autoptr (GtkBuilder) builder =
      gtk_builder_new_from_resource ("/io/github/gpudyno/Dyno/gtk/help-overlay.ui");
  GtkWidget *window = GTK_WIDGET (gtk_builder_get_object (builder, "help_overlay"));
  g_autoptr (GPtrArray) shortcuts = parts_find_all (window, GTK_TYPE_SHORTCUTS_SHORTCUT);
  int natural;

  gtk_widget_show (window);
  gtk_widget_get_preferred_width (window, NULL, &natural);
  g_assert_cmpint (natural, <, 600);
  g_assert_cmpuint (shortcuts->len, ==, 2 * 30); /* each also among those that are found */
  gtk_widget_destroy (window);
}

void
parts_add_widgets (void)
{
  g_test_add_func ("/ui/parts/a-row-activates-its-control", test_a_row_activates_its_control);
  g_test_add_func ("/ui/parts/the-shortcuts-fit-a-narrow-screen",
                   test_the_shortcuts_fit_a_narrow_screen);
  g_test_add_func ("/ui/parts/a-row-names-its-control", test_a_row_names_its_control);
  g_test_add_func ("/ui/parts/start-weights-can-be-removed", test_start_weights_can_be_removed);
  g_test_add_func ("/ui/parts/the-page-of-the-diagnosis-waits",
                   test_the_page_of_the_diagnosis_waits);
  g_test_add_func ("/ui/parts/warnings-wait-for-errors", test_warnings_wait_for_errors);
  g_test_add_func ("/ui/parts/a-search-folds-again", test_a_search_folds_again);
}
