/* SPDX-License-Identifier: MIT */
/* Tests that need the whole window, or a device: commands that are begun again, a second search. */
#include "parts.h"
#include "errorbar.h"
#include "jobspopover.h"
#include "process.h"
#include "speedpage.h"
#include "stopbar.h"
#include "window-private.h"
#include <glib/gstdio.h>
#include <handy.h>
#include <string.h>

/* Take the place of GTK's functions in the program. */
static guint n_inhibited, n_uninhibited;

guint
gtk_application_inhibit (GtkApplication *application, GtkWindow *window,
                         GtkApplicationInhibitFlags flags, const char *reason)
{
  g_assert_cmpint (flags, ==, GTK_APPLICATION_INHIBIT_SUSPEND);
  return ++n_inhibited;
}

void
gtk_application_uninhibit (GtkApplication *application, guint cookie)
{
  g_assert_cmpuint (cookie, ==, n_inhibited);
  n_uninhibited++;
}

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

/* The question whether to stop goes with its run, and comes again for the next one. */
static void
test_the_stop_question_goes_with_the_run (void)
{
  GtkWidget *widget =
      g_object_ref_sink (dyno_window_new (NULL, NULL, "builtin:shapes?size=16&samples=64"));
  DynoWindow *window = DYNO_WINDOW (widget);
  DynoStopBar *bar = DYNO_STOP_BAR (window->stop_bar);

  parts_wait (is_planned, window->setup);
  for (guint i = 0; i < 2; i++)
    {
      dyno_stop_bar_ask (bar);
      g_assert_true (gtk_widget_get_visible (window->stop_bar));
      dyno_window_update_actions (window); /* no run is active */
      g_assert_false (gtk_widget_get_visible (window->stop_bar));
    }
  gtk_widget_destroy (widget);
  g_object_unref (widget);
}

/* The machine does not suspend during a run, nor during a second one. */
static void
test_each_run_inhibits_suspend (void)
{
  GtkApplication *application = gtk_application_new (NULL, G_APPLICATION_NON_UNIQUE);
  g_assert_true (g_application_register (G_APPLICATION (application), NULL, NULL));
  GtkWidget *widget =
      g_object_ref_sink (dyno_window_new (application, NULL, "builtin:shapes?size=16&samples=64"));
  DynoWindow *window = DYNO_WINDOW (widget);
  g_autofree char *runs = g_build_filename (g_get_home_dir (), "runs", NULL);
  g_autoptr (DynoJob) job = dyno_job_new ();

  n_inhibited = n_uninhibited = 0;
  dyno_window_take_runs_folder (window, runs);
  parts_wait (is_planned, window->setup);
  job->data = g_strdup ("builtin:shapes?size=16&samples=64");
  job->resume = g_strdup ("/nowhere/at/all");
  for (guint i = 0; i < 3; i++)
    {
      g_assert_true (n_inhibited == i && n_uninhibited == i);
      dyno_window_begin_job (window, job);
      g_assert_true (n_inhibited == i + 1 && n_uninhibited == i);
      parts_wait (is_idle, window);
    }
  gtk_widget_destroy (widget);
  g_object_unref (widget);
  g_object_unref (application);
}

/* --- pages ------------------------------------------------------------------------------------ */

typedef struct {
  DynoWindow *window;
  GtkWidget *page, *list;
} Focused;

static GtkWidget *
get_focus (DynoWindow *window)
{
  return gtk_window_get_focus (GTK_WINDOW (window));
}

static gboolean
focus_is_there (gpointer data)
{
  const Focused *f = data;
  GtkWidget *focus = get_focus (f->window);

  return focus && gtk_widget_get_mapped (focus) && gtk_widget_is_ancestor (focus, f->page)
         && (!f->list || focus == f->list);
}

static gboolean
is_mapped (gpointer widget)
{
  return gtk_widget_get_mapped (widget);
}

/* A page that is shown by its key has the focus: from the rail, from another page, and again.  Of
 * the runs it is the list, and not the button that starts the queue, also when the list is read for
 * the first time. */
static void
test_a_visited_page_has_the_focus (void)
{
  static const char *const names[] = { "runs", "data", "train", "tune", "runs", "device", "runs" };
  g_autoptr (DynoStore) store = dyno_store_open (NULL, NULL);
  g_autoptr (DynoStoredRun) run = dyno_stored_run_new ();
  g_autoptr (DynoJob) job = dyno_job_new ();

  run->name = g_strdup ("one");
  run->model = g_strdup ("mlp");
  run->data = g_strdup ("builtin:waves");
  run->state = DYNO_RUN_STATE_FINISHED;
  g_assert_true (dyno_store_put_run (store, run, NULL, 0, NULL));
  job->data = g_strdup ("builtin:waves");
  job->out_dir = g_build_filename (g_get_home_dir (), "visited", NULL);
  gint64 id = dyno_store_add_job (store, job, NULL);
  GtkWidget *widget =
      g_object_ref_sink (dyno_window_new (NULL, NULL, "builtin:shapes?size=16&samples=64"));
  DynoWindow *window = DYNO_WINDOW (widget);
  gtk_widget_show (widget);
  parts_wait (is_planned, window->setup);
  parts_wait (is_mapped, widget);
  gtk_widget_grab_focus (parts_find (window->rail, GTK_TYPE_BUTTON));
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      Focused f = { window, gtk_stack_get_child_by_name (GTK_STACK (window->pages), names[i]),
                    NULL };
      gboolean runs = strcmp (names[i], "runs") == 0;
      if (runs)
        f.list = parts_find (f.page, GTK_TYPE_TREE_VIEW);
      g_action_group_activate_action (G_ACTION_GROUP (window), "visit",
                                      g_variant_new_string (names[i]));
      parts_wait (focus_is_there, &f);
      /* Nor does the same key take the focus from where it is on the page. */
      gtk_widget_child_focus (f.page, GTK_DIR_TAB_FORWARD);
      GtkWidget *moved = get_focus (window);
      g_action_group_activate_action (G_ACTION_GROUP (window), "visit",
                                      g_variant_new_string (names[i]));
      g_assert_true (get_focus (window) == moved);
    }
  gtk_widget_destroy (widget);
  g_object_unref (widget);
  g_assert_true (dyno_store_delete_run (store, run->id, NULL));
  g_assert_true (dyno_store_remove_job (store, id, NULL));
}

/* --- jobs ------------------------------------------------------------------------------------- */

typedef struct {
  DynoWindow *window;
  guint n;
} Jobs;

static gboolean
has_jobs (gpointer data)
{
  const Jobs *jobs = data;

  return dyno_job_list_get (jobs->window->jobs)->len == jobs->n;
}

static void
wait_for_jobs (DynoWindow *window, guint n)
{
  parts_wait (has_jobs, &(Jobs){ window, n });
}

static const DynoQueuedJob *
get_queued (DynoWindow *window, guint i)
{
  return ((const DynoListedJob *) dyno_job_list_get (window->jobs)->pdata[i])->queued;
}

static gboolean
first_has_two_epochs (gpointer window)
{
  return get_queued (window, 0)->job->settings.epochs == 2;
}

static gint64
get_epochs (DynoWindow *window)
{
  return dyno_setup_get_job (window->setup)->settings.epochs;
}

static gboolean
is_not_edited (gpointer window)
{
  return !gtk_widget_get_visible (DYNO_WINDOW (window)->edit_bar);
}

static gboolean
has_error (gpointer window)
{
  return dyno_error_bar_has_error (DYNO_ERROR_BAR (DYNO_WINDOW (window)->error_bar));
}

static gboolean
last_has_data (gpointer window)
{
  return g_str_equal (get_queued (window, 2)->job->data, "builtin:shapes?size=16&samples=32");
}

static gboolean
last_has_failed (gpointer window)
{
  return get_queued (window, 2)->state == DYNO_QUEUED_FAILED;
}

/* A job that waits is edited in the window, which has its own settings back afterwards, whether the
 * job was changed or not, and whatever other job was looked at meanwhile. */
static void
test_a_job_is_edited_in_the_window (void)
{
  GtkWidget *widget =
      g_object_ref_sink (dyno_window_new (NULL, NULL, "builtin:shapes?size=16&samples=64"));
  DynoWindow *window = DYNO_WINDOW (widget);
  g_autofree char *runs = g_build_filename (g_get_home_dir (), "runs", NULL);
  g_autoptr (DynoJob) lost = dyno_job_new ();

  parts_wait (is_planned, window->setup);
  dyno_window_take_runs_folder (window, runs);
  g_assert_true (dyno_setup_set_number (window->setup, "epochs", 5, NULL));
  g_assert_true (dyno_window_queue_job (window, FALSE, NULL));
  g_assert_true (dyno_setup_set_number (window->setup, "epochs", 6, NULL));
  g_assert_true (dyno_window_queue_job (window, FALSE, NULL));
  wait_for_jobs (window, 2);
  gtk_widget_show (widget);
  /* The list of jobs is opened, or the page Runs where there is no room for the pill. */
  for (guint i = 0; i < 3; i++)
    {
      dyno_window_show_page (window, "home");
      gtk_widget_set_visible (window->pill, i != 1);
      g_action_group_activate_action (G_ACTION_GROUP (window), "show-jobs", NULL);
      g_assert_true (gtk_widget_get_visible (window->jobs_popover) == (i != 1));
      g_assert_true (
          g_str_equal (gtk_stack_get_visible_child_name (GTK_STACK (window->pages)), "runs")
          == (i == 1));
      gtk_widget_hide (window->jobs_popover);
    }
  g_assert_true (dyno_setup_set_number (window->setup, "epochs", 9, NULL));
  for (guint i = 0; i < 2; i++)
    {
      g_signal_emit_by_name (window->jobs_popover, "edit", get_queued (window, 1));
      g_assert_cmpint (get_epochs (window), ==, 6);
      g_signal_emit_by_name (window->runs_page, "edit", get_queued (window, 0));
      g_assert_true (gtk_widget_get_visible (window->edit_bar));
      g_assert_cmpint (get_epochs (window), ==, 5);
      g_assert_true (dyno_setup_set_number (window->setup, "epochs", 2, NULL));
      gtk_entry_set_text (GTK_ENTRY (parts_find (window->edit_bar, GTK_TYPE_ENTRY)), "short");
      gtk_info_bar_response (GTK_INFO_BAR (window->edit_bar),
                             i == 0 ? GTK_RESPONSE_CANCEL : GTK_RESPONSE_ACCEPT);
      g_assert_false (gtk_widget_get_visible (window->edit_bar));
      g_assert_cmpint (get_epochs (window), ==, 9);
    }
  parts_wait (first_has_two_epochs, window);
  g_assert_cmpstr (get_queued (window, 0)->job->name, ==, "short");
  g_assert_null (get_queued (window, 1)->job->name);
  g_assert_cmpint (get_queued (window, 1)->job->settings.epochs, ==, 6);
  /* A job whose data set is gone is saved only with another one, but left at any time. */
  lost->data = g_strdup ("/nowhere/at/all");
  lost->settings.epochs = 4;
  dyno_job_list_add (window->jobs, lost, runs);
  wait_for_jobs (window, 3);
  for (guint i = 0; i < 2; i++)
    {
      g_signal_emit_by_name (window->jobs_popover, "edit", get_queued (window, 2));
      g_assert_cmpint (get_epochs (window), ==, 4);
      parts_wait (has_error, window);
      dyno_error_bar_dismiss (DYNO_ERROR_BAR (window->error_bar));
      parts_assert_says (window->edit_bar, "Its data set cannot be opened: open another one, then "
                                           "save the job.");
      GtkWidget *save = parts_find_button (window->edit_bar, "Save the Job");
      g_assert_false (gtk_widget_get_sensitive (save));
      if (i == 1)
        {
          dyno_setup_open_data (window->setup, "builtin:shapes?size=16&samples=32");
          parts_wait (is_planned, window->setup);
          parts_assert_says_not (window->edit_bar,
                                 "Its data set cannot be opened: open another one, "
                                 "then save the job.");
          g_assert_true (gtk_widget_get_sensitive (save));
        }
      gtk_info_bar_response (GTK_INFO_BAR (window->edit_bar),
                             i == 0 ? GTK_RESPONSE_CANCEL : GTK_RESPONSE_ACCEPT);
      g_assert_cmpint (get_epochs (window), ==, 9);
      parts_wait (is_planned, window->setup);
    }
  parts_wait (last_has_data, window);
  /* One that is begun or taken away meanwhile keeps its settings, and the window the user's. */
  g_autoptr (DynoStore) store = dyno_store_open (NULL, NULL);
  g_autofree char *process = dyno_process_describe ();
  for (guint i = 0; i < 2; i++)
    {
      gint64 id = get_queued (window, 2)->id;
      g_signal_emit_by_name (window->jobs_popover, "edit", get_queued (window, 2));
      g_assert_true (dyno_setup_set_number (window->setup, "epochs", 30 + i, NULL));
      g_assert_true (i == 0 ? dyno_store_begin_job (store, id, process, NULL)
                            : dyno_store_remove_job (store, id, NULL));
      dyno_job_list_refresh (window->jobs);
      parts_wait (is_not_edited, window);
      g_assert_cmpint (get_epochs (window), ==, 30 + i);
      parts_assert_says (window->error_bar,
                         i == 0 ? "The edited job has begun with its earlier settings"
                                : "The edited job is no longer in the queue");
      dyno_error_bar_dismiss (DYNO_ERROR_BAR (window->error_bar));
      if (i == 0)
        {
          g_assert_true (dyno_store_end_job (store, id, DYNO_QUEUED_FAILED, 1, NULL));
          dyno_job_list_refresh (window->jobs);
          parts_wait (last_has_failed, window);
        }
    }
  for (guint i = 0; i < 2; i++)
    dyno_job_list_remove (window->jobs, get_queued (window, i)->id);
  wait_for_jobs (window, 0);
  gtk_widget_destroy (widget);
  g_object_unref (widget);
}

static GtkWidget *
find_question (void)
{
  GtkWidget *found = NULL;
  GList *all = gtk_window_list_toplevels ();
  for (GList *l = all; l; l = l->next)
    if (GTK_IS_MESSAGE_DIALOG (l->data) && gtk_widget_get_visible (l->data))
      found = l->data;
  g_list_free (all);
  return found;
}

static gboolean
is_asked (gpointer data)
{
  return find_question () != NULL;
}

static gboolean
is_closed (gpointer closed)
{
  return *(gboolean *) closed;
}

static void
note_closed (GtkWidget *window, gboolean *closed)
{
  *closed = TRUE;
}

static gboolean
lists_epochs (gpointer jobs, guint epochs)
{
  const GPtrArray *all = dyno_job_list_get (jobs);
  return all->len > 0
         && ((const DynoListedJob *) all->pdata[0])->queued->job->settings.epochs == epochs;
}

static gboolean
lists_none (gpointer jobs)
{
  return dyno_job_list_get (jobs)->len == 0;
}

static gboolean
lists_five_epochs (gpointer jobs)
{
  return lists_epochs (jobs, 5);
}

static gboolean
lists_three_epochs (gpointer jobs)
{
  return lists_epochs (jobs, 3);
}

/* Closing the window while a job is edited asks what becomes of the job; the next window has the
 * settings of before in either case, and also where the window is ended by a signal. */
static void
test_closing_asks_about_the_edited_job (void)
{
  g_autoptr (GSettings) state = dyno_state_new ();
  g_autofree char *runs = g_build_filename (g_get_home_dir (), "runs of edited jobs", NULL);
  static const char *const keys[] = {
    "runs-folder", "data", "model", "preset", "level", "settings"
  };
  static const int answers[] = { GTK_RESPONSE_NONE, GTK_RESPONSE_REJECT, GTK_RESPONSE_ACCEPT };

  if (!state) /* the schema is found by the environment of the test */
    {
      g_test_skip ("The schema is not compiled");
      return;
    }
  for (guint i = 0; i < G_N_ELEMENTS (answers); i++)
    {
      GtkWidget *widget =
          g_object_ref_sink (dyno_window_new (NULL, state, "builtin:shapes?size=16&samples=64"));
      DynoWindow *window = DYNO_WINDOW (widget);
      g_autoptr (DynoJobList) jobs = g_object_ref (window->jobs); /* answers after the end, too */
      gboolean closed = FALSE;
      g_signal_connect (widget, "destroy", G_CALLBACK (note_closed), &closed);
      parts_wait (is_planned, window->setup);
      dyno_window_take_runs_folder (window, runs);
      if (i == 0)
        {
          g_assert_true (dyno_setup_set_number (window->setup, "epochs", 5, NULL));
          g_assert_true (dyno_window_queue_job (window, FALSE, NULL));
        }
      wait_for_jobs (window, 1);
      g_assert_true (dyno_setup_set_number (window->setup, "epochs", 9, NULL));
      parts_wait (is_planned, window->setup);
      gtk_widget_show (widget);
      g_signal_emit_by_name (window->jobs_popover, "edit", get_queued (window, 0));
      g_assert_cmpint (get_epochs (window), ==, 5);
      g_assert_true (dyno_setup_set_number (window->setup, "epochs", 3, NULL));
      if (answers[i] == GTK_RESPONSE_NONE)
        dyno_window_stop_and_close (window);
      else
        {
          gtk_window_close (GTK_WINDOW (widget));
          parts_wait (is_asked, NULL);
          gtk_dialog_response (GTK_DIALOG (find_question ()), GTK_RESPONSE_CANCEL);
          g_assert_true (gtk_widget_get_visible (window->edit_bar));
          g_assert_cmpint (get_epochs (window), ==, 3);
          g_assert_null (find_question ());
          gtk_window_close (GTK_WINDOW (widget));
          parts_wait (is_asked, NULL);
          gtk_dialog_response (GTK_DIALOG (find_question ()), answers[i]);
        }
      parts_wait (is_closed, &closed);
      g_object_unref (widget);
      g_auto (GStrv) settings = g_settings_get_strv (state, "settings");
      g_assert_true (g_strv_contains ((const char *const *) settings, "epochs=9"));
      parts_wait (answers[i] == GTK_RESPONSE_ACCEPT ? lists_three_epochs : lists_five_epochs, jobs);
      if (i + 1 < G_N_ELEMENTS (answers))
        continue;
      dyno_job_list_remove (
          jobs, ((const DynoListedJob *) dyno_job_list_get (jobs)->pdata[0])->queued->id);
      parts_wait (lists_none, jobs);
    }
  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    g_settings_reset (state, keys[i]);
}

/* The job that was taken out last can be put back as long as the list of jobs is open, also where no
 * other job keeps its button in the header bar. */
static void
test_the_last_job_can_be_put_back (void)
{
  GtkWidget *widget =
      g_object_ref_sink (dyno_window_new (NULL, NULL, "builtin:shapes?size=16&samples=64"));
  DynoWindow *window = DYNO_WINDOW (widget);
  g_autofree char *runs = g_build_filename (g_get_home_dir (), "runs of one job", NULL);

  parts_wait (is_planned, window->setup);
  dyno_window_take_runs_folder (window, runs);
  gtk_widget_show (widget);
  wait_for_jobs (window, 0);
  GtkWidget *title = gtk_stack_get_visible_child (GTK_STACK (window->pill));
  for (guint i = 0; i < 2; i++)
    {
      g_assert_true (dyno_window_queue_job (window, FALSE, NULL));
      wait_for_jobs (window, 1);
      g_assert_true (gtk_stack_get_visible_child (GTK_STACK (window->pill)) != title);
      g_action_group_activate_action (G_ACTION_GROUP (window), "show-jobs", NULL);
      g_assert_true (gtk_widget_get_visible (window->jobs_popover));
      gtk_button_clicked (
          GTK_BUTTON (parts_find_button (window->jobs_popover, "Take out of the queue")));
      wait_for_jobs (window, 0);
      g_assert_true (gtk_widget_get_visible (window->jobs_popover));
      g_assert_true (gtk_stack_get_visible_child (GTK_STACK (window->pill)) != title);
      gtk_button_clicked (GTK_BUTTON (parts_find_button (window->jobs_popover, "_Undo")));
      wait_for_jobs (window, 1);
      gtk_button_clicked (
          GTK_BUTTON (parts_find_button (window->jobs_popover, "Take out of the queue")));
      wait_for_jobs (window, 0);
      gtk_widget_hide (window->jobs_popover);
      g_assert_true (gtk_stack_get_visible_child (GTK_STACK (window->pill)) == title);
    }
  gtk_widget_destroy (widget);
  g_object_unref (widget);
}

static gboolean
queue_is_started (gpointer window)
{
  return dyno_job_list_is_started (DYNO_WINDOW (window)->jobs);
}

static gboolean
queue_has_ended (gpointer window)
{
  return !queue_is_started (window);
}

static gboolean
queue_runs_a_job (gpointer window)
{
  return dyno_job_list_get_running (DYNO_WINDOW (window)->jobs) != NULL;
}

/* The queue starts when a run of the window has ended, also after a second one, but only where jobs
 * wait and the user wants it; while it runs a job on the device, Start adds to the queue. */
static void
test_the_queue_goes_on_after_a_run (void)
{
  GtkWidget *widget =
      g_object_ref_sink (dyno_window_new (NULL, NULL, "builtin:shapes?size=16&samples=64"));
  DynoWindow *window = DYNO_WINDOW (widget);
  g_autofree char *runs = g_build_filename (g_get_home_dir (), "runs", NULL),
                  *folder = g_build_filename (g_get_home_dir (), "queue programs", NULL),
                  *program = g_build_filename (folder, "dynoctl", NULL),
                  *old = g_strdup (g_getenv ("PATH")),
                  *path = g_strdup_printf ("%s:%s", folder, old),
                  *process = dyno_process_describe ();
  g_autoptr (DynoJob) job = dyno_job_new ();
  g_autoptr (DynoStore) store = NULL;
  GtkToggleButton *choice =
      GTK_TOGGLE_BUTTON (parts_find (window->jobs_popover, GTK_TYPE_CHECK_BUTTON));

  g_assert_cmpint (g_mkdir (folder, 0700), ==, 0);
  g_assert_true (g_file_set_contents (program, "#!/bin/sh\nexec tail -f /dev/null\n", -1, NULL));
  g_assert_cmpint (g_chmod (program, 0700), ==, 0);
  g_setenv ("PATH", path, TRUE);
  parts_wait (is_planned, window->setup);
  dyno_window_take_runs_folder (window, runs);
  job->data = g_strdup ("builtin:shapes?size=16&samples=64");
  job->resume = g_strdup ("/nowhere/at/all"); /* so that the run ends at once */
  dyno_window_begin_job (window, job);
  parts_wait (is_idle, window);
  g_assert_false (queue_is_started (window)); /* no job waits */
  g_assert_true (dyno_window_queue_job (window, FALSE, NULL));
  wait_for_jobs (window, 1);
  for (guint i = 0; i < 3; i++)
    {
      gtk_toggle_button_set_active (choice, i != 1);
      g_assert_false (dyno_job_list_is_held (window->jobs));
      dyno_window_begin_job (window, job);
      g_assert_true (dyno_job_list_is_held (window->jobs));
      parts_wait (is_idle, window);
      g_assert_false (dyno_job_list_is_held (window->jobs));
      g_assert_true (queue_is_started (window) == (i != 1));
      dyno_job_list_stop (window->jobs);
      parts_wait (queue_has_ended, window);
    }
  store = dyno_store_open (NULL, NULL);
  gint64 id = get_queued (window, 0)->id;
  g_assert_true (dyno_store_begin_job (store, id, process, NULL));
  dyno_job_list_refresh (window->jobs);
  parts_wait (queue_runs_a_job, window);
  g_action_group_activate_action (G_ACTION_GROUP (window), "start", NULL);
  g_assert_true (dyno_window_is_idle (window));
  wait_for_jobs (window, 2);
  g_assert_true (dyno_store_end_job (store, id, DYNO_QUEUED_STOPPED, 75, NULL));
  gint64 added = get_queued (window, 1)->id;
  dyno_job_list_remove (window->jobs, id);
  dyno_job_list_remove (window->jobs, added);
  wait_for_jobs (window, 0);
  g_setenv ("PATH", old, TRUE);
  g_unlink (program);
  g_rmdir (folder);
  gtk_widget_destroy (widget);
  g_object_unref (widget);
}

/* --- what is kept ----------------------------------------------------------------------------- */

/* The size of a maximized window is that of the screen, and is not kept. */
static void
test_the_normal_size_is_kept (void)
{
  g_autoptr (GSettings) state = dyno_state_new ();
  int width, height;
  gboolean maximized;

  if (!state) /* the schema is found by the environment of the test */
    {
      g_test_skip ("The schema is not compiled");
      return;
    }
  for (int i = 0; i < 2; i++)
    {
      dyno_state_save_size (state, 1000 + i, 700 + i, FALSE);
      dyno_state_save_size (state, 1920, 1080, TRUE);
      dyno_state_load_size (state, &width, &height, &maximized);
      g_assert_true (width == 1000 + i && height == 700 + i && maximized);
      dyno_state_save_size (state, 0, 0, FALSE); /* it was never shown */
      dyno_state_load_size (state, &width, &height, &maximized);
      g_assert_true (width == 1000 + i && height == 700 + i && !maximized);
    }
  dyno_state_load_size (NULL, &width, &height, &maximized);
  g_assert_true (width > 0 && height > 0 && !maximized);
}

/* The choices of a window are those of the next one, but for a start with the preset. */
static void
test_choices_are_kept (void)
{
  g_autoptr (GSettings) state = dyno_state_new ();
  static const char *const settings[] = { "epochs=10", NULL };

  if (!state)
    {
      g_test_skip ("The schema is not compiled");
      return;
    }
  DynoSetup *first = dyno_setup_new (), *second = dyno_setup_new (), *third = dyno_setup_new ();
  dyno_setup_restore (first, NULL, "mlp", "t4", DYNO_LEVEL_MAX, settings);
  dyno_setup_start (first);
  while (!dyno_setup_get_presets (first))
    g_main_context_iteration (NULL, TRUE);
  dyno_setup_set_number (first, "batch_size", 11, NULL);
  dyno_setup_set_number (first, "epochs", 17, NULL);
  dyno_state_save_setup (state, first);
  dyno_state_load_setup (state, second, "builtin:waves");
  g_assert_cmpstr (dyno_setup_get_job (second)->model, ==, "mlp");
  g_assert_cmpint (dyno_setup_get_job (second)->settings.epochs, ==, 17);
  g_assert_cmpint (dyno_setup_get_job (second)->settings.batch_size, ==, 11);
  g_assert_cmpint (dyno_setup_get_level (second), ==, DYNO_LEVEL_MAX);
  g_assert_cmpstr (dyno_setup_get_opening (second, NULL), ==, "builtin:waves");
  g_settings_set_string (state, "begin-with", "preset");
  dyno_state_load_setup (state, third, NULL);
  g_assert_cmpstr (dyno_setup_get_job (third)->model, ==, "mlp");
  g_assert_cmpint (dyno_setup_get_job (third)->settings.epochs, !=, 17);
  g_assert_cmpint (dyno_setup_get_level (third), ==, DYNO_LEVEL_RECOMMENDED);
  g_settings_reset (state, "begin-with");
  g_assert_null (dyno_state_get_runs_folder (state));
  g_assert_null (dyno_state_get_first_settings (state));
  g_settings_set_string (state, "settings-file", "/a.ini");
  g_assert_null (dyno_state_get_first_settings (state));
  g_settings_set_string (state, "begin-with", "file");
  g_autofree char *file = dyno_state_get_first_settings (state);
  g_assert_cmpstr (file, ==, "/a.ini");
  DynoSetup *setups[] = { first, second, third };
  for (guint i = 0; i < G_N_ELEMENTS (setups); i++)
    {
      dyno_setup_shutdown (setups[i]);
      g_object_unref (setups[i]);
    }
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
  g_test_add_func ("/ui/parts/a-visited-page-has-the-focus", test_a_visited_page_has_the_focus);
  g_test_add_func ("/ui/parts/the-stop-question-goes-with-the-run",
                   test_the_stop_question_goes_with_the_run);
  g_test_add_func ("/ui/parts/another-folder-is-taken-by-a-resumed-run",
                   test_another_folder_is_taken_by_a_resumed_run);
  g_test_add_func ("/ui/parts/each-run-inhibits-suspend", test_each_run_inhibits_suspend);
  g_test_add_func ("/ui/parts/a-job-is-edited-in-the-window", test_a_job_is_edited_in_the_window);
  g_test_add_func ("/ui/parts/closing-asks-about-the-edited-job",
                   test_closing_asks_about_the_edited_job);
  g_test_add_func ("/ui/parts/the-last-job-can-be-put-back", test_the_last_job_can_be_put_back);
  g_test_add_func ("/ui/parts/the-queue-goes-on-after-a-run", test_the_queue_goes_on_after_a_run);
  g_test_add_func ("/ui/parts/the-normal-size-is-kept", test_the_normal_size_is_kept);
  g_test_add_func ("/ui/parts/choices-are-kept", test_choices_are_kept);
  g_test_add_func ("/ui/parts/a-search-begins-without-a-note", test_a_search_begins_without_a_note);
}
