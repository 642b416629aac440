/* SPDX-License-Identifier: MIT */
/* The queue of jobs.  Its test is the first one, since it needs a history that does not exist. */
#include "parts.h"
#include "editbar.h"
#include "file.h"
#include "jobspopover.h"
#include "process.h"
#include "queuecard.h"
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>

typedef struct {
  guint n_failed, n_changed, active;
  guint n_seen; /* of both, at the last look */
} Signals;

static void
note_failed (DynoJobList *jobs, const GError *error, Signals *signals)
{
  signals->n_failed++;
}

static void
note_jobs (DynoJobList *jobs, Signals *signals)
{
  signals->n_changed++;
  signals->active = dyno_job_list_count_open (jobs);
}

static gboolean
has_answer (gpointer data)
{
  Signals *signals = data;

  return signals->n_failed + signals->n_changed > signals->n_seen;
}

static void
wait_for_answer (Signals *signals)
{
  parts_wait (has_answer, signals);
  signals->n_seen = signals->n_failed + signals->n_changed;
}

static void
move (GtkWidget *card, guint row, guint key)
{
  g_autoptr (GPtrArray) rows = parts_find_all (card, GTK_TYPE_LIST_BOX_ROW);
  GdkEventKey event = { .type = GDK_KEY_PRESS, .keyval = key, .state = GDK_MOD1_MASK };
  gboolean used = FALSE;

  g_signal_emit_by_name (rows->pdata[row], "key-press-event", &event, &used);
  g_assert_true (used);
}

static void
assert_order (GtkWidget *card, const char *first, const char *second)
{
  g_autoptr (GPtrArray) rows = parts_find_all (card, GTK_TYPE_LIST_BOX_ROW);

  g_assert_cmpuint (rows->len, ==, 2);
  parts_assert_says (rows->pdata[0], first);
  parts_assert_says (rows->pdata[1], second);
}

#define GOES_ON "Start the queue when this run has ended"

/* Whether the popover says that no job waits. */
static gboolean
says_none (GtkWidget *body)
{
  g_autofree char *texts = parts_get_texts (body);

  return strstr (texts, "No job waits.") != NULL;
}

/* The queue is read again after it could not be read once; jobs that are added, moved and removed
 * are shown in their order. */
static void
test_the_queue_is_read_again_after_an_error (void)
{
  g_autoptr (DynoJobList) self = dyno_job_list_new ();
  GtkWidget *card = g_object_ref_sink (dyno_queue_card_new (self));
  g_autofree char *folder = dyno_data_dir (NULL), *runs = g_build_filename (folder, "runs", NULL),
                  *path = g_build_filename (folder, "history.sqlite", NULL);
  g_autoptr (DynoJob) job = dyno_job_new ();
  Signals signals = { 0 };
  GtkWidget *window = gtk_window_new (GTK_WINDOW_TOPLEVEL), *popover = dyno_jobs_popover_new (self),
            *body = gtk_bin_get_child (GTK_BIN (popover));
  DynoJobsPopover *all = DYNO_JOBS_POPOVER (popover);

  gtk_container_add (GTK_CONTAINER (window), gtk_label_new (NULL));
  gtk_popover_set_relative_to (GTK_POPOVER (popover), gtk_bin_get_child (GTK_BIN (window)));
  g_signal_connect (self, "failed", G_CALLBACK (note_failed), &signals);
  g_signal_connect (self, "changed", G_CALLBACK (note_jobs), &signals);
  g_assert_cmpint (g_mkdir_with_parents (path, 0700), ==, 0);
  for (guint i = 1; i < 3; i++)
    {
      dyno_job_list_refresh (self);
      wait_for_answer (&signals);
      g_assert_cmpuint (signals.n_failed, ==, i);
    }
  g_assert_cmpint (g_rmdir (path), ==, 0);
  dyno_job_list_refresh (self);
  wait_for_answer (&signals);
  g_assert_true (signals.n_changed == 1 && signals.active == 0);
  g_assert_false (gtk_widget_get_visible (card));
  g_assert_true (says_none (body));
  dyno_jobs_popover_show_run (all, "MLP on Waves", "43 %", 0.43, TRUE);
  parts_assert_says (body, "43 %");
  parts_assert_says_not (body, GOES_ON); /* there is nothing to start */
  g_free (job->model);
  job->model = g_strdup ("mlp");
  job->data = g_strdup ("builtin:waves");
  dyno_job_list_add (self, job, runs);
  wait_for_answer (&signals);
  g_assert_true (gtk_widget_get_visible (card) && signals.active == 1);
  g_assert_true (gtk_widget_get_visible (parts_find (card, GTK_TYPE_SCROLLED_WINDOW)));
  parts_assert_says (card, "1 job");
  parts_assert_says (card, "MLP on Waves");
  parts_assert_says (card, "Waiting");
  GtkProgressBar *bar = GTK_PROGRESS_BAR (parts_find (body, GTK_TYPE_PROGRESS_BAR));
  for (guint i = 0; i < 2; i++)
    {
      dyno_jobs_popover_show_run (all, "MLP on Shapes", "50 %", 0.5, TRUE);
      parts_assert_says (body, GOES_ON);
      parts_assert_says (body, "50 %");
      g_assert_cmpfloat (gtk_progress_bar_get_fraction (bar), ==, 0.5);
      dyno_jobs_popover_show_run (all, "MLP on Shapes", "100 %", 1, FALSE);
      parts_assert_says_not (body, GOES_ON);
      parts_assert_says (body, "100 %");
      g_assert_cmpfloat (gtk_progress_bar_get_fraction (bar), ==, 1);
      dyno_jobs_popover_show_run (all, NULL, NULL, 0, FALSE);
      parts_assert_says_not (body, "100 %");
      g_assert_false (says_none (body));
    }
  g_free (job->data);
  job->data = g_strdup ("builtin:shapes");
  dyno_job_list_add (self, job, runs);
  wait_for_answer (&signals);
  g_assert_cmpuint (signals.active, ==, 2);
  parts_assert_says (card, "2 jobs");
  g_autoptr (GPtrArray) rows = parts_find_all (card, GTK_TYPE_LIST_BOX_ROW);
  g_assert_cmpuint (rows->len, ==, 2);
  parts_assert_says (rows->pdata[0], "MLP on Waves");
  parts_assert_says (rows->pdata[1], "MLP on Shapes");
  /* Alt with an arrow moves a job, but not beyond the ends. */
  move (card, 0, GDK_KEY_Down);
  wait_for_answer (&signals);
  assert_order (card, "MLP on Shapes", "MLP on Waves");
  move (card, 1, GDK_KEY_Up);
  wait_for_answer (&signals);
  assert_order (card, "MLP on Waves", "MLP on Shapes");
  move (card, 0, GDK_KEY_Up);
  move (card, 1, GDK_KEY_Down);
  move (card, 0, GDK_KEY_Down);
  wait_for_answer (&signals);
  assert_order (card, "MLP on Shapes", "MLP on Waves");
  move (card, 1, GDK_KEY_Up);
  wait_for_answer (&signals);
  g_autoptr (GPtrArray) moved = parts_find_all (card, GTK_TYPE_LIST_BOX_ROW);
  gtk_button_clicked (GTK_BUTTON (parts_find_button (moved->pdata[0], "Take out of the queue")));
  wait_for_answer (&signals);
  parts_assert_says (card, "1 job");
  parts_assert_says (card, "MLP on Shapes");
  parts_assert_says_not (card, "MLP on Waves");
  gtk_button_clicked (GTK_BUTTON (parts_find_button (card, "Take out of the queue")));
  wait_for_answer (&signals);
  g_assert_true (gtk_widget_get_visible (card) && signals.active == 0);
  g_assert_false (gtk_widget_get_visible (parts_find (card, GTK_TYPE_SCROLLED_WINDOW)));
  g_assert_true (says_none (body));
  g_assert_cmpuint (signals.n_failed, ==, 2);
  gtk_widget_destroy (window);
  gtk_widget_destroy (card);
  g_object_unref (card);
  g_signal_handlers_disconnect_by_data (self, &signals);
}

/* A job that failed before its run was in the history says why, also another time; not one that
 * waits again. */
static void
test_a_failed_job_says_why (void)
{
  static const char *const reasons[] = { "Cannot read “/photos”\n", "No device" };
  g_autoptr (DynoJobList) self = dyno_job_list_new ();
  GtkWidget *card = g_object_ref_sink (dyno_queue_card_new (self));
  g_autofree char *folder = dyno_data_dir (NULL), *runs = g_build_filename (folder, "runs", NULL),
                  *queue = dyno_data_dir ("queue"), *process = dyno_process_describe ();
  g_autoptr (DynoStore) store = dyno_store_open (NULL, NULL);
  g_autoptr (DynoJob) job = dyno_job_new ();
  Signals signals = { 0 };

  g_assert_cmpint (g_mkdir_with_parents (queue, 0700), ==, 0);
  g_signal_connect (self, "changed", G_CALLBACK (note_jobs), &signals);
  job->data = g_strdup ("/photos");
  dyno_job_list_add (self, job, runs);
  wait_for_answer (&signals);
  gint64 id = ((const DynoListedJob *) dyno_job_list_get (self)->pdata[0])->queued->id;
  g_autofree char *path = dyno_queued_job_get_error_path (id);
  for (guint i = 0; i < 2; i++)
    {
      g_assert_true (dyno_store_begin_job (store, id, process, NULL));
      g_assert_true (dyno_store_end_job (store, id, DYNO_QUEUED_FAILED, 3, NULL));
      g_assert_true (g_file_set_contents (path, reasons[i], -1, NULL));
      dyno_job_list_refresh (self);
      wait_for_answer (&signals);
      parts_assert_says (card, i == 0 ? "Cannot read “/photos”" : "No device");
      g_assert_true (dyno_store_retry_job (store, id, NULL));
      dyno_job_list_refresh (self);
      wait_for_answer (&signals);
      parts_assert_says_not (card, "No device");
      parts_assert_says_not (card, "Cannot read “/photos”");
    }
  dyno_job_list_remove (self, id);
  wait_for_answer (&signals);
  g_assert_false (g_file_test (path, G_FILE_TEST_EXISTS));
  gtk_widget_destroy (card);
  g_object_unref (card);
  g_signal_handlers_disconnect_by_data (self, &signals);
}

static void
note_ended (DynoJobList *jobs, guint n_failed, GString *ends)
{
  g_string_append_printf (ends, "%u\n", n_failed);
}

static gboolean
has_ended (gpointer ends)
{
  return ((GString *) ends)->len > 0;
}

/* The end of the queue is reported with the jobs that failed meanwhile, but not with those that had
 * failed before. */
static void
test_the_end_of_the_queue_is_reported (void)
{
  g_autoptr (DynoJobList) self = dyno_job_list_new ();
  g_autofree char *folder = g_dir_make_tmp (NULL, NULL), *data = dyno_data_dir (NULL),
                  *runs = g_build_filename (data, "runs", NULL),
                  *program = g_build_filename (folder, "dynoctl", NULL),
                  *old = g_strdup (g_getenv ("PATH")),
                  *path = g_strdup_printf ("%s:%s", folder, old),
                  *process = dyno_process_describe ();
  g_autoptr (DynoStore) store = dyno_store_open (NULL, NULL);
  g_autoptr (DynoJob) job = dyno_job_new ();
  g_autoptr (GString) ends = g_string_new (NULL);
  Signals signals = { 0 };
  gint64 ids[2];

  g_assert_true (g_file_set_contents (program, "#!/bin/sh\nexec tail -f /dev/null\n", -1, NULL));
  g_assert_cmpint (g_chmod (program, 0700), ==, 0);
  g_setenv ("PATH", path, TRUE);
  g_signal_connect (self, "changed", G_CALLBACK (note_jobs), &signals);
  g_signal_connect (self, "ended", G_CALLBACK (note_ended), ends);
  job->data = g_strdup ("/photos");
  for (guint i = 0; i < 2; i++)
    {
      dyno_job_list_add (self, job, runs);
      wait_for_answer (&signals);
      ids[i] = ((const DynoListedJob *) dyno_job_list_get (self)->pdata[i])->queued->id;
    }
  for (guint i = 0; i < 3; i++)
    {
      g_assert_true (dyno_job_list_start (self, NULL));
      if (i < 2)
        {
          g_assert_true (dyno_store_begin_job (store, ids[i], process, NULL));
          g_assert_true (dyno_store_end_job (store, ids[i], DYNO_QUEUED_FAILED, 3, NULL));
        }
      dyno_job_list_stop (self);
      parts_wait (has_ended, ends);
      g_assert_cmpstr (ends->str, ==, i < 2 ? "1\n" : "0\n");
      g_string_set_size (ends, 0);
    }
  for (guint i = 0; i < 2; i++)
    {
      dyno_job_list_remove (self, ids[i]);
      signals.n_seen = signals.n_failed + signals.n_changed;
      wait_for_answer (&signals);
    }
  g_setenv ("PATH", old, TRUE);
  g_unlink (program);
  g_rmdir (folder);
  g_signal_handlers_disconnect_by_data (self, &signals);
  g_signal_handlers_disconnect_by_data (self, ends);
}

static void
note_answer (DynoEditBar *bar, gint64 id, gboolean save, GString *answers)
{
  g_assert_false (gtk_widget_get_visible (GTK_WIDGET (bar)));
  g_string_append_printf (answers, "%d %s\n", (int) id, save ? "saved" : "left");
}

/* Each answer is for the job that is edited, and Escape leaves it as it was. */
static void
test_each_edited_job_has_its_answer (void)
{
  GtkWidget *widget = g_object_ref_sink (g_object_new (DYNO_TYPE_EDIT_BAR, NULL));
  DynoEditBar *bar = DYNO_EDIT_BAR (widget);
  g_autoptr (GString) answers = g_string_new (NULL);
  g_autoptr (DynoJob) job = dyno_job_new ();
  DynoQueuedJob queued = { .id = 3, .job = job };

  g_free (job->model);
  job->model = g_strdup ("mlp");
  job->data = g_strdup ("builtin:waves");
  g_signal_connect (bar, "answered", G_CALLBACK (note_answer), answers);
  dyno_edit_bar_begin (bar, &queued);
  g_assert_true (gtk_widget_get_visible (widget));
  parts_assert_says (widget, "Editing a job that waits: MLP on Waves");
  GtkWidget *save = parts_find_button (widget, "Save the Job"),
            *leave = parts_find_button (widget, "Leave as It Was");
  dyno_edit_bar_set_savable (bar, FALSE);
  g_assert_true (!gtk_widget_get_sensitive (save) && gtk_widget_get_sensitive (leave));
  dyno_edit_bar_set_savable (bar, TRUE);
  g_assert_true (gtk_widget_get_sensitive (save));
  gtk_button_clicked (GTK_BUTTON (save));
  GtkEntry *name = GTK_ENTRY (parts_find (widget, GTK_TYPE_ENTRY));
  g_assert_null (dyno_edit_bar_get_name (bar));
  gtk_entry_set_text (name, "  at night ");
  g_autofree char *given = dyno_edit_bar_get_name (bar);
  g_assert_cmpstr (given, ==, "at night");
  queued.id = 5;
  job->name = g_strdup ("by day");
  g_free (job->data);
  job->data = g_strdup ("builtin:shapes");
  dyno_edit_bar_begin (bar, &queued);
  parts_assert_says (widget, "Editing a job that waits: MLP on Shapes");
  g_autofree char *shown = dyno_edit_bar_get_name (bar);
  g_assert_cmpstr (shown, ==, "by day");
  g_clear_pointer (&job->name, g_free);
  parts_assert_says (widget, "Saving gives the job the data set, model, devices and settings of "
                             "this window; it keeps its place.");
  gtk_button_clicked (GTK_BUTTON (leave));
  queued.attempts = 1;
  dyno_edit_bar_begin (bar, &queued);
  parts_assert_says (widget, "Editing a job that failed: MLP on Shapes");
  parts_assert_says (widget, "Saving gives the job the data set, model, devices and settings of "
                             "this window; it waits at its place again and begins anew.");
  queued.attempts = 0;
  queued.id = 4;
  job->devices = g_strdup ("0,1");
  dyno_edit_bar_begin (bar, &queued);
  dyno_edit_bar_set_savable (bar, FALSE);
  g_signal_emit_by_name (name, "activate");
  g_assert_true (gtk_widget_get_visible (widget));
  dyno_edit_bar_set_savable (bar, TRUE);
  g_assert_null (dyno_edit_bar_get_name (bar));
  g_signal_emit_by_name (bar, "close"); /* Escape */
  dyno_edit_bar_begin (bar, &queued);
  g_signal_emit_by_name (name, "activate");
  dyno_edit_bar_begin (bar, &queued);
  dyno_edit_bar_dismiss (bar);
  g_assert_false (gtk_widget_get_visible (widget));
  g_assert_cmpstr (answers->str, ==, "3 saved\n5 left\n4 left\n4 saved\n");
  gtk_widget_destroy (widget);
  g_object_unref (widget);
}

static volatile sig_atomic_t n_stops;

static void
count_stop (int number)
{
  n_stops++;
}

static gboolean
runs_a_job (gpointer jobs)
{
  return dyno_job_list_get_running (jobs) != NULL;
}

static gboolean
runs_none (gpointer jobs)
{
  return !runs_a_job (jobs);
}

static gboolean
has_no_job (gpointer jobs)
{
  return dyno_job_list_get (jobs)->len == 0;
}

/* A queue that another window or dynoctl has started is stopped, and its job paused, by a signal to
 * that process, which is the test itself here; also the second time. */
static void
test_a_queue_of_another_process_is_stopped (void)
{
  g_autoptr (DynoJobList) jobs = dyno_job_list_new ();
  GtkWidget *card = g_object_ref_sink (dyno_queue_card_new (jobs));
  g_autofree char *runs = g_build_filename (g_get_home_dir (), "runs elsewhere", NULL),
                  *process = dyno_process_describe ();
  g_autoptr (DynoJob) job = dyno_job_new ();
  g_autoptr (DynoStore) store = NULL;
  Signals signals = { 0 };

  g_signal_connect (jobs, "changed", G_CALLBACK (note_jobs), &signals);
  job->data = g_strdup ("builtin:shapes");
  dyno_job_list_add (jobs, job, runs);
  wait_for_answer (&signals);
  store = dyno_store_open (NULL, NULL);
  gint64 id = ((const DynoListedJob *) dyno_job_list_get (jobs)->pdata[0])->queued->id;
  signal (SIGTERM, count_stop);
  n_stops = 0;
  for (int i = 0; i < 2; i++)
    {
      GtkWidget *start = parts_find_button (card, "Start the _Queue");
      g_assert_false (dyno_job_list_can_stop (jobs));
      g_assert_true (dyno_store_begin_job (store, id, process, NULL));
      dyno_job_list_refresh (jobs);
      parts_wait (runs_a_job, jobs);
      g_assert_true (dyno_job_list_can_stop (jobs) && !dyno_job_list_is_started (jobs));
      GtkWidget *pause = parts_find_button (card, "Save it, free the device, and run no other job");
      g_assert_true (gtk_widget_get_visible (pause) && gtk_widget_get_sensitive (pause));
      g_assert_cmpstr (gtk_button_get_label (GTK_BUTTON (start)), ==, "Stop the _Queue");
      g_assert_true (gtk_widget_get_sensitive (start));
      gtk_button_clicked (GTK_BUTTON (i == 0 ? start : pause));
      g_assert_cmpint (n_stops, ==, i + 1);
      g_assert_false (gtk_widget_get_sensitive (i == 0 ? start : pause));
      g_assert_true (dyno_store_end_job (store, id, DYNO_QUEUED_STOPPED, 75, NULL));
      dyno_job_list_refresh (jobs);
      parts_wait (runs_none, jobs);
      g_assert_cmpstr (gtk_button_get_label (GTK_BUTTON (start)), ==, "Start the _Queue");
      g_assert_true (gtk_widget_get_sensitive (start));
    }
  signal (SIGTERM, SIG_DFL);
  dyno_job_list_remove (jobs, id);
  parts_wait (has_no_job, jobs);
  gtk_widget_destroy (card);
  g_object_unref (card);
}

void
parts_add_queue (void)
{
  g_test_add_func ("/ui/parts/the-queue-is-read-again-after-an-error",
                   test_the_queue_is_read_again_after_an_error);
  g_test_add_func ("/ui/parts/a-queue-of-another-process-is-stopped",
                   test_a_queue_of_another_process_is_stopped);
  g_test_add_func ("/ui/parts/the-end-of-the-queue-is-reported",
                   test_the_end_of_the_queue_is_reported);
  g_test_add_func ("/ui/parts/a-failed-job-says-why", test_a_failed_job_says_why);
  g_test_add_func ("/ui/parts/each-edited-job-has-its-answer", test_each_edited_job_has_its_answer);
}
