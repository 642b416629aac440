/* SPDX-License-Identifier: MIT */
/* What needs the whole window, or a device: commands that are begun again, a second search. */
#include "parts.h"
#include "errorbar.h"
#include "speedpage.h"
#include "window-private.h"
#include <handy.h>
#include <string.h>

static gboolean
is_planned (gpointer setup)
{
  return dyno_setup_get_presets (setup) && !dyno_setup_get_opening (setup, NULL)
         && (dyno_setup_get_plan (setup) || dyno_setup_get_advice (setup));
}

static gboolean
is_idle (gpointer window)
{
  return !dyno_window_is_working (window);
}

/* A run that was to be resumed in a folder that cannot be written to is resumed in another one,
 * once that is chosen, and not refused again for its own folder. */
static void
test_another_folder_is_taken_by_a_resumed_run (void)
{
  GtkWidget *widget =
      g_object_ref_sink (dyno_window_new (NULL, NULL, "builtin:shapes?size=16&samples=64"));
  DynoWindow *window = DYNO_WINDOW (widget);
  DynoErrorBar *bar = DYNO_ERROR_BAR (window->error_bar);
  g_autofree char *file = g_build_filename (g_get_home_dir (), "no-folder", NULL),
                  *runs = g_build_filename (g_get_home_dir (), "other runs", NULL);
  g_autoptr (DynoJob) job = dyno_job_new ();

  parts_wait (is_planned, window->setup);
  g_assert_true (g_file_set_contents (file, "x", 1, NULL));
  job->data = g_strdup ("builtin:shapes?size=16&samples=64");
  job->out_dir = g_build_filename (file, "run", NULL);
  job->resume = g_strdup ("/nowhere/at/all");
  dyno_window_begin_job (window, job);
  g_assert_true (dyno_error_bar_has_error (bar) && dyno_window_is_idle (window));
  dyno_window_take_runs_folder (window, file); /* this is none either */
  g_assert_true (dyno_error_bar_has_error (bar) && dyno_window_is_idle (window));
  dyno_window_take_runs_folder (window, runs);
  g_assert_false (dyno_window_is_idle (window));
  g_assert_false (dyno_error_bar_has_error (bar));
  const DynoJob *begun = dyno_run_monitor_get_status (window->monitor)->job;
  g_assert_true (g_str_has_prefix (begun->out_dir, runs));
  g_assert_cmpstr (begun->resume, ==, "/nowhere/at/all");
  parts_wait (is_idle, window); /* there is no checkpoint to resume from */
  g_assert_true (dyno_error_bar_has_error (bar));
  /* Nothing is left to repeat. */
  dyno_window_take_runs_folder (window, runs);
  g_assert_true (dyno_window_is_idle (window));
  gtk_widget_destroy (widget);
  g_object_unref (widget);
}

static gboolean
is_over (gpointer page)
{
  return !dyno_speed_page_is_active (page);
}

/* A search begins without the note of the one before. */
static void
test_a_search_begins_without_a_note (void)
{
  static const char *const settings[] = { "epochs=1", NULL };
  DynoSetup *setup = dyno_setup_new ();
  DynoSpeedPage *page = g_object_ref_sink (g_object_new (DYNO_TYPE_SPEED_PAGE, NULL));
  GtkWidget *note =
      GTK_WIDGET (gtk_widget_get_template_child (GTK_WIDGET (page), DYNO_TYPE_SPEED_PAGE, "note"));

  dyno_speed_page_set_setup (page, setup);
  dyno_setup_restore (setup, "builtin:shapes?size=16&samples=64", "mlp", NULL,
                      DYNO_LEVEL_RECOMMENDED, settings);
  dyno_setup_start (setup);
  parts_wait (is_planned, setup);
  for (guint i = 0; i < 2; i++)
    {
      gtk_label_set_text (GTK_LABEL (note),
                          "The time is short."); /* as an event of a search does */
      gtk_widget_show (note);
      g_assert_true (dyno_speed_page_start (page, NULL, NULL));
      g_assert_true (dyno_speed_page_is_active (page));
      g_assert_false (gtk_widget_get_visible (note));
      dyno_speed_page_stop (page);
      parts_wait (is_over, page);
    }
  gtk_widget_destroy (GTK_WIDGET (page));
  g_object_unref (page);
  dyno_setup_shutdown (setup);
  g_object_unref (setup);
}

void
parts_add_window (void)
{
  g_test_add_func ("/ui/parts/another-folder-is-taken-by-a-resumed-run",
                   test_another_folder_is_taken_by_a_resumed_run);
  g_test_add_func ("/ui/parts/a-search-begins-without-a-note", test_a_search_begins_without_a_note);
}
