/* SPDX-License-Identifier: MIT */
/* The page of runs with its queue, its searches and its exports, on a history of its own. */
#include "parts.h"
#include "file.h"
#include "jobqueue.h"
#include "networkexport.h"
#include "process.h"
#include "queuecard.h"
#include "runhistory.h"
#include "runexport.h"
#include "runlist.h"
#include "runspage.h"
#include "searchcard.h"
#include "undobar.h"
#include <glib/gstdio.h>
#include <handy.h>
#include <math.h>
#include <string.h>

/* The history without any run, search or job. */
static DynoStore *
new_history (void)
{
  g_autoptr (DynoStore) store = dyno_store_open (NULL, NULL);
  g_autoptr (GPtrArray) runs = dyno_store_list_runs (store, NULL, NULL),
                        searches = dyno_store_list_searches (store, 0, NULL),
                        jobs = dyno_store_list_jobs (store, NULL);

  for (guint i = 0; i < runs->len; i++)
    {
      DynoStoredRun *run = runs->pdata[i];
      run->state = DYNO_RUN_STATE_FINISHED; /* a run that goes on is not deleted */
      g_assert_true (dyno_store_put_run (store, run, NULL, 0, NULL)
                     && dyno_store_delete_run (store, run->id, NULL));
    }
  for (guint i = 0; i < searches->len; i++)
    g_assert_true (dyno_store_delete_search (
        store, ((const DynoStoredSearch *) searches->pdata[i])->id, NULL));
  for (guint i = 0; i < jobs->len; i++)
    g_assert_true (
        dyno_store_remove_job (store, ((const DynoQueuedJob *) jobs->pdata[i])->id, NULL));
  return g_steal_pointer (&store);
}

/* --- the queue -------------------------------------------------------------------------------- */

typedef struct {
  GtkWidget *card, *window;
  DynoJobList *jobs;
  DynoStore *store;
  gint64 ids[4];
  GString *failures;
  guint n_changed, n_seen, active;
} Queue;

static void
note_failure (gpointer object, const GError *error, Queue *q)
{
  g_string_append_printf (q->failures, "%s\n", error->message);
}

static void
note_active (DynoJobList *jobs, Queue *q)
{
  q->n_changed++;
  q->active = dyno_job_list_count_open (jobs);
}

static gboolean
queue_has_changed (gpointer data)
{
  const Queue *q = data;

  return q->n_changed > q->n_seen;
}

static void
queue_wait (Queue *q)
{
  parts_wait (queue_has_changed, q);
  q->n_seen = q->n_changed;
}

/* Jobs 0 to n - 1 have batches of 100, 101, … */
static void
queue_init (Queue *q, guint n)
{
  q->store = new_history ();
  q->failures = g_string_new (NULL);
  for (guint i = 0; i < n; i++)
    {
      g_autoptr (DynoJob) job = dyno_job_new ();
      g_free (job->model);
      job->model = g_strdup ("mlp");
      job->data = g_strdup ("builtin:waves");
      job->settings.batch_size = 100 + i;
      job->out_dir = g_strdup_printf ("%s/queued %u", g_get_home_dir (), i);
      q->ids[i] = dyno_store_add_job (q->store, job, NULL);
      g_assert_cmpint (q->ids[i], >, 0);
    }
  q->jobs = dyno_job_list_new ();
  q->card = dyno_queue_card_new (q->jobs);
  g_signal_connect (q->card, "failed", G_CALLBACK (note_failure), q);
  g_signal_connect (q->jobs, "failed", G_CALLBACK (note_failure), q);
  g_signal_connect (q->jobs, "changed", G_CALLBACK (note_active), q);
  q->window = parts_show (q->card, 500, 400);
  dyno_job_list_refresh (q->jobs);
  queue_wait (q);
}

static void
queue_clear (Queue *q)
{
  gtk_widget_destroy (q->window);
  g_signal_handlers_disconnect_by_data (q->jobs, q); /* a reading may outlive the test */
  g_object_unref (q->jobs);
  dyno_store_free (q->store);
  g_string_free (q->failures, TRUE);
  dyno_store_free (new_history ());
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Queue, queue_clear)

static GtkWidget *
queue_row (Queue *q, guint row)
{
  g_autoptr (GPtrArray) rows = parts_find_all (q->card, GTK_TYPE_LIST_BOX_ROW);

  g_assert_cmpuint (row, <, rows->len);
  return rows->pdata[row];
}

/* "0 1 2": the jobs in the order of the rows, which is also that of the history. */
static void
assert_jobs (Queue *q, const char *expected)
{
  g_autoptr (GPtrArray) rows = parts_find_all (q->card, GTK_TYPE_LIST_BOX_ROW),
                        jobs = dyno_store_list_jobs (q->store, NULL);
  g_autoptr (GString) shown = g_string_new (NULL), kept = g_string_new (NULL);

  for (guint i = 0; i < rows->len; i++)
    {
      g_autofree char *texts = parts_get_texts (rows->pdata[i]);
      const char *batch = strstr (texts, "Batch size 10");
      g_assert_nonnull (batch);
      g_string_append_printf (shown, "%s%c", i ? " " : "", batch[strlen ("Batch size 10")]);
    }
  for (guint i = 0; i < jobs->len; i++)
    for (guint k = 0; k < G_N_ELEMENTS (q->ids); k++)
      if (((const DynoQueuedJob *) jobs->pdata[i])->id == q->ids[k])
        g_string_append_printf (kept, "%s%u", kept->len ? " " : "", k);
  g_assert_cmpstr (shown->str, ==, expected);
  g_assert_cmpstr (kept->str, ==, expected);
}

static GtkWidget *
queue_start (Queue *q)
{
  g_autoptr (GPtrArray) buttons = parts_find_all (q->card, GTK_TYPE_BUTTON);

  for (guint i = 0; i < buttons->len; i++)
    if (gtk_button_get_label (buttons->pdata[i]))
      return buttons->pdata[i];
  g_assert_not_reached ();
}

static void
queue_end_job (Queue *q, guint job, DynoQueuedState state)
{
  g_autofree char *process = dyno_process_describe ();

  if (state == DYNO_QUEUED_RUNNING)
    g_assert_true (dyno_store_begin_job (q->store, q->ids[job], process, NULL));
  else
    g_assert_true (dyno_store_end_job (q->store, q->ids[job], state, 0, NULL));
  dyno_job_list_refresh (q->jobs);
  queue_wait (q);
}

/* A job that runs cannot be taken out, nor can a second start be made beside it; what has ended is
 * not listed, what failed is, but is not open any more. */
static void
test_jobs_show_their_states (void)
{
  g_auto (Queue) q = { 0 };

  queue_init (&q, 3);
  GtkWidget *start = queue_start (&q);
  for (guint i = 0; i < 2; i++)
    {
      queue_end_job (&q, 1, DYNO_QUEUED_RUNNING);
      g_assert_cmpuint (q.active, ==, 3);
      GtkWidget *row = queue_row (&q, 1);
      parts_assert_says (row, "Running");
      parts_assert_says (queue_row (&q, 0), "Waiting");
      g_assert_cmpstr (atk_object_get_name (gtk_widget_get_accessible (row)), ==,
                       "MLP on Waves, Running");
      g_assert_false (gtk_widget_get_sensitive (parts_find_button (row, "Take out of the queue")));
      g_assert_true (gtk_widget_get_sensitive (
          parts_find_button (queue_row (&q, 0), "Take out of the queue")));
      g_assert_cmpstr (gtk_button_get_label (GTK_BUTTON (start)), ==, "Stop the _Queue");
      queue_end_job (&q, 1, i == 0 ? DYNO_QUEUED_STOPPED : DYNO_QUEUED_FAILED);
      row = queue_row (&q, 1);
      parts_assert_says (row, i == 0 ? "Stopped" : "Failed");
      g_assert_cmpuint (q.active, ==, i == 0 ? 3 : 2);
      g_assert_cmpstr (gtk_button_get_label (GTK_BUTTON (start)), ==, "Start the _Queue");
      g_assert_true (gtk_widget_get_sensitive (start));
      g_assert_true (gtk_widget_get_sensitive (parts_find_button (row, "Take out of the queue")));
      g_autoptr (GPtrArray) labels = parts_find_all (row, GTK_TYPE_LABEL);
      gboolean bad = FALSE;
      for (guint k = 0; k < labels->len; k++)
        bad |= gtk_style_context_has_class (gtk_widget_get_style_context (labels->pdata[k]),
                                            "bad-text");
      g_assert_true (bad == (i == 1));
    }
  parts_assert_says (q.card, "3 jobs");
  for (guint i = 0; i < 3; i += 2)
    {
      queue_end_job (&q, i, DYNO_QUEUED_RUNNING);
      queue_end_job (&q, i, DYNO_QUEUED_FINISHED);
    }
  parts_assert_says (q.card, "1 job");
  parts_assert_says (q.card, "Failed");
  g_assert_true (gtk_widget_get_visible (q.card) && q.active == 0);
  g_assert_false (gtk_widget_get_sensitive (start));
  g_assert_cmpstr (q.failures->str, ==, "");
}

/* The data that a drag of a row carries, through the clipboard, which has data of the same kind. */
static void
carry (GtkClipboard *clipboard, GtkSelectionData *data, guint info, gpointer row)
{
  GtkWidget *image = parts_find (row, GTK_TYPE_IMAGE);
  GtkWidget *handle = gtk_widget_get_ancestor (image, GTK_TYPE_EVENT_BOX);

  g_signal_emit_by_name (handle, "drag-data-get", NULL, data, 0, 0);
}

static void
drop_nothing (GtkClipboard *clipboard, gpointer row)
{
}

static void
drag (Queue *q, guint from, guint to, gboolean lower)
{
  static const GtkTargetEntry target = { (char *) "dyno-queued-job", 0, 0 };
  GtkClipboard *clipboard = gtk_widget_get_clipboard (q->card, gdk_atom_intern ("DRAGGED", FALSE));
  GtkWidget *onto = queue_row (q, to);
  int height = gtk_widget_get_allocated_height (onto);

  g_assert_cmpint (height, >, 4);
  g_assert_true (gtk_clipboard_set_with_data (clipboard, &target, 1, carry, drop_nothing,
                                              queue_row (q, from)));
  GtkSelectionData *data =
      gtk_clipboard_wait_for_contents (clipboard, gdk_atom_intern (target.target, FALSE));
  g_assert_nonnull (data);
  g_signal_emit_by_name (onto, "drag-data-received", NULL, 3, lower ? height - 1 : 1, data, 0, 0);
  gtk_selection_data_free (data);
  gtk_clipboard_clear (clipboard);
}

static gboolean
rows_have_size (gpointer card)
{
  g_autoptr (GPtrArray) rows = parts_find_all (card, GTK_TYPE_LIST_BOX_ROW);

  for (guint i = 0; i < rows->len; i++)
    if (gtk_widget_get_allocated_height (rows->pdata[i]) <= 4)
      return FALSE;
  return TRUE;
}

/* A job is dropped before the row in whose upper half it is, and after it in the lower half, from
 * above and from below, also at the ends; it stays where it would not move. */
static void
test_jobs_are_dragged_to_their_place (void)
{
  g_auto (Queue) q = { 0 };
  const struct {
    guint from, to;
    gboolean lower;
    const char *order;
  } rows[] = {
    { 0, 1, TRUE, "1 0 2 3" },  { 0, 2, FALSE, "0 1 2 3" }, { 0, 3, TRUE, "1 2 3 0" },
    { 3, 0, FALSE, "0 1 2 3" }, { 3, 1, TRUE, "0 1 3 2" },  { 2, 1, FALSE, "0 3 1 2" },
    { 1, 3, FALSE, "0 1 3 2" }, { 2, 3, TRUE, "0 1 2 3" },
  };

  queue_init (&q, 4);
  assert_jobs (&q, "0 1 2 3");
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      parts_wait (rows_have_size, q.card);
      drag (&q, rows[i].from, rows[i].to, rows[i].lower);
      queue_wait (&q);
      assert_jobs (&q, rows[i].order);
    }
  /* Onto itself, or to the side of a neighbour where it is already. */
  parts_wait (rows_have_size, q.card);
  drag (&q, 1, 1, TRUE);
  drag (&q, 1, 1, FALSE);
  drag (&q, 1, 2, FALSE);
  drag (&q, 1, 0, TRUE);
  drag (&q, 3, 3, TRUE);
  drag (&q, 0, 0, FALSE);
  drag (&q, 3, 0, FALSE); /* only this one moves it */
  queue_wait (&q);
  assert_jobs (&q, "3 0 1 2");
  g_assert_cmpuint (q.n_changed, ==, G_N_ELEMENTS (rows) + 2);
}

static void
press (Queue *q, guint row, guint key, guint state)
{
  GdkEventKey event = { .type = GDK_KEY_PRESS, .keyval = key, .state = state };
  gboolean used = FALSE;

  g_signal_emit_by_name (queue_row (q, row), "key-press-event", &event, &used);
}

static gboolean
has_failed (gpointer data)
{
  return ((Queue *) data)->failures->len > 0;
}

/* The selected job stays selected wherever it moves; a key takes out the job of its own row. */
static void
test_the_moved_job_stays_selected (void)
{
  g_auto (Queue) q = { 0 };

  queue_init (&q, 3);
  GtkListBox *list = GTK_LIST_BOX (parts_find (q.card, GTK_TYPE_LIST_BOX));
  const char *orders[] = { "1 0 2", "1 2 0" };
  for (int i = 0; i < 2; i++)
    {
      gtk_list_box_select_row (list, gtk_list_box_get_row_at_index (list, i));
      press (&q, (guint) i, GDK_KEY_Down, GDK_MOD1_MASK);
      queue_wait (&q);
      assert_jobs (&q, orders[i]);
      g_assert_cmpint (gtk_list_box_row_get_index (gtk_list_box_get_selected_row (list)), ==,
                       i + 1);
    }
  press (&q, 1, GDK_KEY_Up, 0); /* without Alt it only moves the focus */
  press (&q, 1, GDK_KEY_Delete, 0);
  queue_wait (&q);
  assert_jobs (&q, "1 0");
  g_assert_cmpint (gtk_list_box_row_get_index (gtk_list_box_get_selected_row (list)), ==, 1);
  press (&q, 1, GDK_KEY_Delete, 0);
  queue_wait (&q);
  assert_jobs (&q, "1");
  g_assert_null (gtk_list_box_get_selected_row (list));
  /* Nothing is lost where the history refuses. */
  queue_end_job (&q, 1, DYNO_QUEUED_RUNNING);
  press (&q, 0, GDK_KEY_Delete, 0);
  parts_wait (has_failed, &q);
  assert_jobs (&q, "1");
  queue_end_job (&q, 1, DYNO_QUEUED_STOPPED);
}

/* A start that fails can be repeated; the queue that was started is stopped by the same button, and
 * can be started again. */
static void
test_the_queue_is_started_and_stopped (void)
{
  g_auto (Queue) q = { 0 };
  g_autofree char *folder = g_build_filename (g_get_home_dir (), "programs", NULL),
                  *program = g_build_filename (folder, "dynoctl", NULL),
                  *old = g_strdup (g_getenv ("PATH")),
                  *path = g_strdup_printf ("%s:%s", folder, old);

  queue_init (&q, 1);
  GtkButton *start = GTK_BUTTON (queue_start (&q));
  g_setenv ("PATH", "/nowhere", TRUE);
  for (guint i = 0; i < 2; i++)
    {
      g_string_truncate (q.failures, 0);
      gtk_button_clicked (start);
      parts_wait (has_failed, &q);
      g_assert_nonnull (strstr (q.failures->str, "dynoctl"));
      g_assert_cmpstr (gtk_button_get_label (start), ==, "Start the _Queue");
      g_assert_true (gtk_widget_get_sensitive (GTK_WIDGET (start)));
    }
  g_string_truncate (q.failures, 0);
  g_setenv ("PATH", path, TRUE);
  /* It ends when it is stopped, as dynoctl does. */
  g_assert_cmpint (g_mkdir (folder, 0700), ==, 0);
  g_assert_true (g_file_set_contents (program, "#!/bin/sh\nexec tail -f /dev/null\n", -1, NULL));
  g_assert_cmpint (g_chmod (program, 0700), ==, 0);
  for (guint i = 0; i < 2; i++)
    {
      q.n_seen = q.n_changed;
      gtk_button_clicked (start);
      queue_wait (&q);
      g_assert_cmpstr (gtk_button_get_label (start), ==, "Stop the _Queue");
      g_assert_true (gtk_widget_get_sensitive (GTK_WIDGET (start)));
      gtk_button_clicked (start);
      g_assert_false (gtk_widget_get_sensitive (GTK_WIDGET (start)));
      queue_wait (&q);
      g_assert_cmpstr (gtk_button_get_label (start), ==, "Start the _Queue");
      g_assert_true (gtk_widget_get_sensitive (GTK_WIDGET (start)));
    }
  g_assert_cmpstr (q.failures->str, ==, "");
  g_setenv ("PATH", old, TRUE);
  g_unlink (program);
  g_rmdir (folder);
}

static gboolean
shows (GtkWidget *row, const char *button)
{
  return gtk_widget_get_visible (parts_find_button (row, button));
}

static gboolean
is_stopped (gpointer data)
{
  return !dyno_job_list_is_started (((Queue *) data)->jobs);
}

static gboolean
is_started (gpointer data)
{
  return dyno_job_list_is_started (((Queue *) data)->jobs);
}

/* A job is paused and resumed at its row, also the second time; to be resumed it goes before the
 * others.  One that another process of this machine runs can be paused, too. */
static void
test_a_job_is_paused_and_resumed (void)
{
  static const char pause[] = "Save it, free the device, and run no other job",
                    resume[] = "Continue where it was saved";
  g_auto (Queue) q = { 0 };
  g_autofree char *folder = g_build_filename (g_get_home_dir (), "pause programs", NULL),
                  *program = g_build_filename (folder, "dynoctl", NULL),
                  *old = g_strdup (g_getenv ("PATH")),
                  *path = g_strdup_printf ("%s:%s", folder, old);

  g_assert_cmpint (g_mkdir (folder, 0700), ==, 0);
  g_assert_true (g_file_set_contents (program, "#!/bin/sh\nexec tail -f /dev/null\n", -1, NULL));
  g_assert_cmpint (g_chmod (program, 0700), ==, 0);
  g_setenv ("PATH", path, TRUE);
  queue_init (&q, 3);
  queue_end_job (&q, 2, DYNO_QUEUED_RUNNING);
  g_assert_true (shows (queue_row (&q, 2), pause) && !shows (queue_row (&q, 2), resume));
  queue_end_job (&q, 2, DYNO_QUEUED_STOPPED);
  for (guint i = 0; i < 2; i++)
    {
      guint row = i == 0 ? 2 : 0;

      g_assert_true (shows (queue_row (&q, row), resume) && !shows (queue_row (&q, 1), resume));
      gtk_button_clicked (GTK_BUTTON (parts_find_button (queue_row (&q, row), resume)));
      parts_wait (is_started, &q);
      q.n_seen = q.n_changed;
      assert_jobs (&q, "2 0 1");
      g_assert_false (shows (queue_row (&q, 0), resume));
      queue_end_job (&q, 2, DYNO_QUEUED_RUNNING);
      GtkWidget *button = parts_find_button (queue_row (&q, 0), pause);
      g_assert_true (shows (queue_row (&q, 0), pause) && !shows (queue_row (&q, 1), pause));
      g_assert_true (gtk_widget_get_sensitive (button));
      gtk_button_clicked (GTK_BUTTON (button));
      g_assert_false (gtk_widget_get_sensitive (button));
      parts_wait (is_stopped, &q);
      q.n_seen = q.n_changed;
      queue_end_job (&q, 2, DYNO_QUEUED_STOPPED);
      g_assert_false (shows (queue_row (&q, 0), pause));
    }
  /* While the window uses the device, none is begun or resumed. */
  for (guint i = 0; i < 2; i++)
    {
      dyno_job_list_set_held (q.jobs, i == 0);
      g_assert_true (shows (queue_row (&q, 0), resume) == (i == 1));
      g_assert_true (gtk_widget_get_sensitive (queue_start (&q)) == (i == 1));
      g_autofree char *why = gtk_widget_get_tooltip_text (queue_start (&q));
      g_assert_cmpstr (why, ==,
                       i == 0 ? "Not while the run or the measurement of this window uses the "
                                "device."
                              : "One job after another; continues when this window is closed");
    }
  /* While another process runs a job, none is resumed beside it. */
  q.n_seen = q.n_changed;
  queue_end_job (&q, 0, DYNO_QUEUED_RUNNING);
  g_assert_true (!shows (queue_row (&q, 0), resume) && shows (queue_row (&q, 1), pause));
  queue_end_job (&q, 0, DYNO_QUEUED_STOPPED);
  g_assert_cmpstr (q.failures->str, ==, "");
  g_setenv ("PATH", old, TRUE);
  g_unlink (program);
  g_rmdir (folder);
}

static void
note_edited (GtkWidget *card, const DynoQueuedJob *job, gint64 *id)
{
  *id = job->id;
}

/* Each job has the buttons for its state: a job that waits or failed is edited, only one that failed
 * is tried again, and that at its place; a copy comes last, with the same settings. */
static void
test_jobs_are_copied_tried_again_and_edited (void)
{
  static const char edit[] = "Edit the settings", copy[] = "Add the same job once more",
                    again[] = "Try again, from the checkpoint if there is one";
  g_auto (Queue) q = { 0 };
  gint64 edited = 0;

  queue_init (&q, 3);
  g_signal_connect (q.card, "edit", G_CALLBACK (note_edited), &edited);
  g_assert_true (shows (queue_row (&q, 0), edit) && !shows (queue_row (&q, 0), again));
  gtk_button_clicked (GTK_BUTTON (parts_find_button (queue_row (&q, 2), edit)));
  g_assert_cmpint (edited, ==, q.ids[2]);
  for (guint i = 0; i < 2; i++)
    {
      queue_end_job (&q, 1, DYNO_QUEUED_RUNNING);
      g_assert_false (shows (queue_row (&q, 1), edit) || shows (queue_row (&q, 1), again));
      queue_end_job (&q, 1, DYNO_QUEUED_FAILED);
      g_assert_true (shows (queue_row (&q, 1), edit) && shows (queue_row (&q, 1), again));
      g_assert_false (shows (queue_row (&q, 0), again));
      gtk_button_clicked (GTK_BUTTON (parts_find_button (queue_row (&q, 1), again)));
      queue_wait (&q);
      parts_assert_says (queue_row (&q, 1), "Waiting");
      g_assert_true (shows (queue_row (&q, 1), edit));
      assert_jobs (&q, "0 1 2");
    }
  /* A job is called by its name; its copy has none. */
  g_autoptr (GPtrArray) before = dyno_store_list_jobs (q.store, NULL);
  const DynoQueuedJob *unnamed = before->pdata[0];
  g_autoptr (DynoJob) named = dyno_job_copy (unnamed->job);
  named->name = g_strdup ("night");
  dyno_job_list_change (q.jobs, q.ids[0], named);
  queue_wait (&q);
  parts_assert_says (queue_row (&q, 0), "night: MLP on Waves");
  parts_assert_says (queue_row (&q, 1), "MLP on Waves");
  g_free (named->out_dir);
  named->out_dir = g_build_filename (g_get_home_dir (), "of two devices", NULL);
  named->devices = g_strdup ("0,1");
  named->weights_in = g_strdup ("/runs/mlp-3/weights.safetensors");
  gint64 several = dyno_store_add_job (q.store, named, NULL);
  dyno_job_list_refresh (q.jobs);
  queue_wait (&q);
  parts_assert_says (queue_row (&q, 3),
                     "Devices 0,1; Start weights mlp-3/weights.safetensors; Batch size 100");
  dyno_job_list_remove (q.jobs, several);
  queue_wait (&q);
  /* While the window is at work nothing is edited; rows that come then are not editable either. */
  dyno_queue_card_set_editable (DYNO_QUEUE_CARD (q.card), FALSE);
  g_assert_false (shows (queue_row (&q, 0), edit) || shows (queue_row (&q, 2), edit));
  gtk_button_clicked (GTK_BUTTON (parts_find_button (queue_row (&q, 0), copy)));
  queue_wait (&q);
  g_autoptr (GPtrArray) jobs = dyno_store_list_jobs (q.store, NULL);
  g_assert_cmpuint (jobs->len, ==, 4);
  const DynoQueuedJob *first = jobs->pdata[0], *last = jobs->pdata[3];
  g_assert_cmpint (last->job->settings.batch_size, ==, 100);
  g_assert_cmpstr (first->job->name, ==, "night");
  g_assert_null (last->job->name);
  g_assert_cmpstr (last->job->data, ==, first->job->data);
  g_autofree char *folder = g_path_get_dirname (first->job->out_dir),
                  *beside = g_path_get_dirname (last->job->out_dir);
  g_assert_cmpstr (folder, ==, beside);
  g_assert_cmpstr (first->job->out_dir, !=, last->job->out_dir);
  g_assert_false (shows (queue_row (&q, 3), edit));
  dyno_queue_card_set_editable (DYNO_QUEUE_CARD (q.card), TRUE);
  g_assert_true (shows (queue_row (&q, 0), edit) && shows (queue_row (&q, 3), edit));
  g_assert_true (shows (queue_row (&q, 1), edit));
  g_assert_cmpstr (q.failures->str, ==, "");
}

/* A job that was taken out is put back at its place, as it was, until the list is left or another is
 * taken out; one that was begun has its run instead. */
static void
test_jobs_that_were_taken_out_are_put_back (void)
{
  g_auto (Queue) q = { 0 };

  queue_init (&q, 3);
  GtkWidget *undo = parts_find_button (q.card, "_Undo");
  g_assert_false (gtk_widget_get_mapped (undo));
  for (guint i = 0; i < 2; i++)
    {
      guint row = i == 0 ? 1 : 2;
      gtk_list_box_select_row (GTK_LIST_BOX (parts_find (q.card, GTK_TYPE_LIST_BOX)),
                               GTK_LIST_BOX_ROW (queue_row (&q, row)));
      if (i == 0)
        gtk_button_clicked (
            GTK_BUTTON (parts_find_button (queue_row (&q, row), "Take out of the queue")));
      else
        press (&q, row, GDK_KEY_Delete, 0);
      queue_wait (&q);
      assert_jobs (&q, i == 0 ? "0 2" : "0 1");
      parts_assert_says (q.card, "“MLP on Waves” was taken out");
      gtk_button_clicked (GTK_BUTTON (undo));
      queue_wait (&q);
      g_assert_false (gtk_widget_get_mapped (undo));
      g_autoptr (GPtrArray) jobs = dyno_store_list_jobs (q.store, NULL);
      const DynoQueuedJob *back = jobs->pdata[row];
      q.ids[row] = back->id; /* it is a job of its own */
      assert_jobs (&q, "0 1 2");
      g_assert_true (g_str_has_prefix (back->job->out_dir, g_get_home_dir ()));
    }
  /* One that has run is said to have its run, and the list of no job stays until it is left. */
  queue_end_job (&q, 2, DYNO_QUEUED_RUNNING);
  press (&q, 2, GDK_KEY_Delete, 0);
  parts_wait (has_failed, &q); /* it runs */
  g_assert_false (gtk_widget_get_mapped (gtk_widget_get_parent (undo)));
  g_string_truncate (q.failures, 0);
  queue_end_job (&q, 2, DYNO_QUEUED_FAILED);
  for (guint i = 3; i-- > 0;)
    {
      press (&q, i, GDK_KEY_Delete, 0);
      queue_wait (&q);
      parts_assert_says (q.card, i == 2 ? "“MLP on Waves” was taken out; its run stays"
                                        : "“MLP on Waves” was taken out");
      g_assert_true (gtk_widget_get_mapped (undo) == (i != 2));
    }
  g_assert_true (gtk_widget_get_visible (q.card));
  gtk_widget_hide (q.window);
  g_assert_false (gtk_widget_get_visible (gtk_widget_get_parent (undo)));
  g_assert_cmpstr (q.failures->str, ==, "");
}

/* A failed job that is changed waits again in a folder of its own, beside that of its attempts,
 * which is left only where something is in it. */
static void
test_failed_jobs_are_changed (void)
{
  g_auto (Queue) q = { 0 };

  queue_init (&q, 2);
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (GPtrArray) before = dyno_store_list_jobs (q.store, NULL);
      const DynoQueuedJob *old = before->pdata[1];
      g_autoptr (DynoJob) job = dyno_job_copy (old->job);
      g_autofree char *file = g_build_filename (old->job->out_dir, "metrics.csv", NULL),
                      *runs = g_path_get_dirname (old->job->out_dir);

      g_mkdir (old->job->out_dir, 0700);
      if (i == 1)
        g_assert_true (g_file_set_contents (file, "step", -1, NULL));
      queue_end_job (&q, 1, DYNO_QUEUED_RUNNING);
      queue_end_job (&q, 1, DYNO_QUEUED_FAILED);
      job->settings.batch_size = 7 + i;
      g_clear_pointer (&job->out_dir, g_free);
      dyno_job_list_change (q.jobs, q.ids[1], job);
      queue_wait (&q);
      g_assert_cmpstr (q.failures->str, ==, "");
      parts_assert_says (queue_row (&q, 1), "Waiting");
      g_autoptr (GPtrArray) after = dyno_store_list_jobs (q.store, NULL);
      const DynoQueuedJob *changed = after->pdata[1];
      g_autofree char *beside = g_path_get_dirname (changed->job->out_dir);
      g_assert_cmpuint (changed->attempts, ==, 0);
      g_assert_cmpint (changed->job->settings.batch_size, ==, 7 + i);
      g_assert_cmpstr (changed->job->out_dir, !=, old->job->out_dir);
      g_assert_cmpstr (beside, ==, runs);
      g_assert_true (g_file_test (changed->job->out_dir, G_FILE_TEST_IS_DIR));
      g_assert_true (g_file_test (old->job->out_dir, G_FILE_TEST_EXISTS) == (i == 1));
    }
  /* One that was not begun keeps its folder. */
  g_autoptr (GPtrArray) before = dyno_store_list_jobs (q.store, NULL);
  const DynoQueuedJob *first = before->pdata[0];
  g_autoptr (DynoJob) job = dyno_job_copy (first->job);
  g_clear_pointer (&job->out_dir, g_free);
  dyno_job_list_change (q.jobs, q.ids[0], job);
  queue_wait (&q);
  g_autoptr (GPtrArray) after = dyno_store_list_jobs (q.store, NULL);
  g_assert_cmpstr (((DynoQueuedJob *) after->pdata[0])->job->out_dir, ==, first->job->out_dir);
  g_assert_cmpstr (q.failures->str, ==, "");
}

/* A job that runs shows its epochs, as they are in the history, and what has failed shows why. */
static void
test_jobs_show_how_far_they_are (void)
{
  g_auto (Queue) q = { 0 };
  g_autoptr (DynoStoredRun) run = dyno_stored_run_new ();

  queue_init (&q, 2);
  queue_end_job (&q, 1, DYNO_QUEUED_RUNNING);
  GtkWidget *bar = parts_find (queue_row (&q, 1), GTK_TYPE_PROGRESS_BAR);
  parts_assert_says (queue_row (&q, 1), "Running");
  g_assert_true (gtk_widget_get_visible (bar));
  run->uid = 77;
  run->model = g_strdup ("mlp");
  run->data = g_strdup ("builtin:waves");
  run->folder = g_strdup_printf ("%s/queued 1", g_get_home_dir ());
  run->state = DYNO_RUN_STATE_RUNNING;
  run->process = dyno_process_describe ();
  run->begin_us = run->seen_us = 1000;
  for (guint i = 1; i <= 2; i++)
    {
      g_autofree char *text = g_strdup_printf ("Epoch %u of 10", 4 * i + 1);
      run->epochs = 4 * i;
      g_assert_true (dyno_store_put_run (q.store, run, NULL, 0, NULL));
      dyno_job_list_refresh (q.jobs);
      queue_wait (&q);
      parts_assert_says (queue_row (&q, 1), text);
      g_assert_true (bar == (GtkWidget *) parts_find (queue_row (&q, 1), GTK_TYPE_PROGRESS_BAR));
      g_assert_cmpfloat (gtk_progress_bar_get_fraction (GTK_PROGRESS_BAR (bar)), ==, 0.4 * i);
      g_assert_false (
          gtk_widget_get_visible (parts_find (queue_row (&q, 0), GTK_TYPE_PROGRESS_BAR)));
    }
  run->state = DYNO_RUN_STATE_FAILED;
  run->error = g_strdup ("The disk is full");
  g_assert_true (dyno_store_put_run (q.store, run, NULL, 0, NULL));
  queue_end_job (&q, 1, DYNO_QUEUED_FAILED);
  parts_assert_says (queue_row (&q, 1), "The disk is full");
  parts_assert_says_not (queue_row (&q, 1), "Batch size 101");
  g_assert_false (gtk_widget_get_visible (bar));
  g_assert_true (dyno_store_retry_job (q.store, q.ids[1], NULL));
  dyno_job_list_refresh (q.jobs);
  queue_wait (&q);
  parts_assert_says (queue_row (&q, 1), "Batch size 101");
}

/* --- the page --------------------------------------------------------------------------------- */

typedef struct {
  GtkWidget *page, *window;
  DynoSetup *setup;
  DynoJobList *jobs;
  DynoStore *store;
  GString *signals;
  guint n_rows; /* that are waited for */
  int column;   /* whose texts are waited for */
  const char *texts;
} Runs;

/* Returns the id.  A later call puts a run that was begun later.  folder: below the home folder; or
 * NULL. */
static gint64
put_run (Runs *r, const char *name, DynoRunState state, const char *folder, gboolean weights)
{
  static gint64 begun = 1000;
  g_autoptr (DynoStoredRun) run = dyno_stored_run_new ();

  run->name = g_strdup (name);
  run->model = g_strdup ("mlp");
  run->data = g_strdup ("builtin:waves");
  run->state = state;
  run->begin_us = ++begun;
  run->end_us = state == DYNO_RUN_STATE_RUNNING ? 0 : begun + 1;
  run->settings.batch_size = begun;
  if (state == DYNO_RUN_STATE_RUNNING)
    run->process = dyno_process_describe ();
  if (folder)
    {
      run->folder = g_build_filename (g_get_home_dir (), folder, NULL);
      g_assert_cmpint (g_mkdir_with_parents (run->folder, 0700), ==, 0);
      g_autofree char *path = g_build_filename (run->folder, "weights.safetensors", NULL);
      g_assert_true (!weights || g_file_set_contents (path, "x", 1, NULL));
    }
  g_assert_true (dyno_store_put_run (r->store, run, NULL, 0, NULL));
  return run->id;
}

static void
note_start (GtkWidget *page, const DynoJob *job, GString *signals)
{
  g_autofree char *out = g_path_get_basename (job->out_dir),
                  *from = g_path_get_basename (job->resume);

  g_string_append_printf (signals, "start %s %s ", out, from);
}

static void
note_refusal (GtkWidget *page, const GError *error, GString *signals)
{
  g_string_append_printf (signals, "%s ", error->message);
}

static void
note_taken (GString *signals)
{
  g_string_append (signals, "taken ");
}

static GtkTreeView *
runs_list (Runs *r)
{
  return GTK_TREE_VIEW (parts_find (r->page, GTK_TYPE_TREE_VIEW));
}

static gboolean
has_rows (gpointer data)
{
  Runs *r = data;
  GtkTreeModel *model = gtk_tree_view_get_model (runs_list (r));

  return model && gtk_tree_model_iter_n_children (model, NULL) == (int) r->n_rows;
}

static void
runs_wait (Runs *r, guint n)
{
  r->n_rows = n;
  parts_wait (has_rows, r);
}

static gboolean
has_texts (gpointer data)
{
  Runs *r = data;
  g_autofree char *texts = parts_get_column (runs_list (r), r->column);

  return strcmp (texts, r->texts) == 0;
}

static void
runs_wait_for (Runs *r, int column, const char *texts)
{
  r->column = column;
  r->texts = texts;
  parts_wait (has_texts, r);
}

static void
runs_init (Runs *r)
{
  r->store = new_history ();
  r->signals = g_string_new (NULL);
  r->setup = dyno_setup_new ();
  r->page = g_object_new (DYNO_TYPE_RUNS_PAGE, NULL);
  g_signal_connect (r->page, "start", G_CALLBACK (note_start), r->signals);
  g_signal_connect (r->page, "failed", G_CALLBACK (note_refusal), r->signals);
  g_signal_connect_swapped (r->page, "taken", G_CALLBACK (note_taken), r->signals);
  dyno_runs_page_set_setup (DYNO_RUNS_PAGE (r->page), r->setup);
  r->jobs = dyno_job_list_new ();
  dyno_runs_page_set_jobs (DYNO_RUNS_PAGE (r->page), r->jobs);
}

static void
runs_show (Runs *r, guint n)
{
  r->window = parts_show (r->page, 900, 700);
  runs_wait (r, n);
}

static void
runs_clear (Runs *r)
{
  gtk_widget_destroy (r->window);
  dyno_setup_shutdown (r->setup);
  g_object_unref (r->setup);
  g_object_unref (r->jobs);
  dyno_store_free (r->store);
  dyno_store_free (new_history ());
  g_string_free (r->signals, TRUE);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Runs, runs_clear)

/* Selects the rows, and no others; -1: the end. */
static void
select_rows (Runs *r, const int *rows)
{
  GtkTreeSelection *selection = gtk_tree_view_get_selection (runs_list (r));

  gtk_tree_selection_unselect_all (selection);
  for (; *rows >= 0; rows++)
    {
      g_autoptr (GtkTreePath) path = gtk_tree_path_new_from_indices (*rows, -1);
      gtk_tree_selection_select_path (selection, path);
    }
}

/* The buttons that can be used, in their order. */
static void
assert_buttons (Runs *r, const char *expected)
{
  static const char *const labels[] = { "Resu_me",  "Set Up A_gain", "F_ine-Tune", "Open _Folder",
                                        "Re_name…", "_Tags…",        "_Delete" };
  g_autoptr (GString) usable = g_string_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (labels); i++)
    if (gtk_widget_get_sensitive (parts_find_button (r->page, labels[i])))
      g_string_append_printf (usable, "%s%s", usable->len ? " " : "", labels[i]);
  g_string_replace (usable, "_", "", 0);
  g_string_replace (usable, "…", "", 0);
  g_assert_cmpstr (usable->str, ==, expected);
}

static gboolean
has_opened (gpointer setup)
{
  return dyno_setup_get_info (setup) && !dyno_setup_get_opening (setup, NULL);
}

/* The actions of the selected runs: those of one run need one, and each what it works on. */
static void
test_actions_are_of_the_selected_runs (void)
{
  g_auto (Runs) r = { 0 };

  runs_init (&r);
  put_run (&r, "finished", DYNO_RUN_STATE_FINISHED, NULL, FALSE);  /* row 5 */
  put_run (&r, "stopped", DYNO_RUN_STATE_STOPPED, "run s", FALSE); /* row 4 */
  put_run (&r, "failed", DYNO_RUN_STATE_FAILED, NULL, FALSE);      /* row 3 */
  put_run (&r, "killed", DYNO_RUN_STATE_KILLED, "run k", FALSE);   /* row 2 */
  put_run (&r, "trained", DYNO_RUN_STATE_FINISHED, "run t", TRUE); /* row 1 */
  put_run (&r, "running", DYNO_RUN_STATE_RUNNING, "run r", TRUE);  /* row 0 */
  runs_show (&r, 6);
  const struct {
    int rows[4];
    const char *buttons, *during; /* while a run of the window goes on */
  } rows[] = {
    { { -1 }, "", "" },
    { { 5, -1 }, "Set Up Again Rename Tags Delete", "Set Up Again Rename Tags Delete" },
    { { 4, -1 },
      "Resume Set Up Again Open Folder Rename Tags Delete",
      "Set Up Again Open Folder Rename Tags Delete" },
    { { 3, -1 }, "Set Up Again Rename Tags Delete", "Set Up Again Rename Tags Delete" },
    { { 2, -1 },
      "Resume Set Up Again Open Folder Rename Tags Delete",
      "Set Up Again Open Folder Rename Tags Delete" },
    { { 1, -1 },
      "Set Up Again Fine-Tune Open Folder Rename Tags Delete",
      "Set Up Again Fine-Tune Open Folder Rename Tags Delete" },
    { { 0, -1 },
      "Set Up Again Fine-Tune Open Folder Rename Tags",
      "Set Up Again Fine-Tune Open Folder Rename Tags" },
    { { 1, 2, -1 }, "Tags Delete", "Tags Delete" },
    { { 0, 1, 2, -1 }, "Tags", "Tags" },
    { { 3, 4, 5, -1 }, "Tags Delete", "Tags Delete" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      select_rows (&r, rows[i].rows);
      assert_buttons (&r, rows[i].buttons);
      dyno_setup_set_work (r.setup, DYNO_SETUP_TRAINS);
      assert_buttons (&r, rows[i].during);
      dyno_setup_set_work (r.setup, DYNO_SETUP_MEASURES);
      g_assert_false (gtk_widget_get_sensitive (parts_find_button (r.page, "Set Up A_gain")));
      dyno_setup_set_work (r.setup, DYNO_SETUP_IDLE);
      assert_buttons (&r, rows[i].buttons);
    }
  /* Each resumes or sets up its own run. */
  const int resumed[] = { 4, 2 };
  const char *expected[] = { "start run s run s ", "start run k run k " };
  for (guint i = 0; i < 2; i++)
    {
      g_string_truncate (r.signals, 0);
      select_rows (&r, (const int[]){ resumed[i], -1 });
      gtk_button_clicked (GTK_BUTTON (parts_find_button (r.page, "Resu_me")));
      g_assert_cmpstr (r.signals->str, ==, expected[i]);
      gtk_button_clicked (GTK_BUTTON (parts_find_button (r.page, "Set Up A_gain")));
      g_assert_true (g_str_has_suffix (r.signals->str, "taken "));
      const DynoStoredRun *run = dyno_run_list_get (
          DYNO_RUN_LIST (gtk_tree_view_get_model (runs_list (&r))), (guint) resumed[i]);
      g_assert_cmpint (dyno_setup_get_job (r.setup)->settings.batch_size, ==,
                       run->settings.batch_size);
    }
  /* Fine-tuning takes the network with its settings and its weights, but not its data. */
  dyno_setup_open_data (r.setup, "builtin:shapes?size=16&samples=64");
  parts_wait (has_opened, r.setup);
  for (int i = 0; i < 2; i++)
    {
      const DynoStoredRun *run =
          dyno_run_list_get (DYNO_RUN_LIST (gtk_tree_view_get_model (runs_list (&r))), (guint) i);
      g_autofree char *weights = g_build_filename (run->folder, "weights.safetensors", NULL);
      g_string_truncate (r.signals, 0);
      select_rows (&r, (const int[]){ i, -1 });
      gtk_button_clicked (GTK_BUTTON (parts_find_button (r.page, "F_ine-Tune")));
      g_assert_cmpstr (r.signals->str, ==, "taken ");
      g_assert_cmpstr (dyno_setup_get_job (r.setup)->weights_in, ==, weights);
      g_assert_cmpstr (dyno_setup_get_job (r.setup)->model, ==, run->model);
      g_assert_cmpint (dyno_setup_get_job (r.setup)->settings.batch_size, ==,
                       run->settings.batch_size);
      g_assert_cmpstr (dyno_setup_get_job (r.setup)->data, ==, "builtin:shapes?size=16&samples=64");
      g_assert_null (dyno_setup_get_opening (r.setup, NULL));
    }
  /* Images are predicted with one run that has weights. */
  const char *none[] = { NULL };
  select_rows (&r, (const int[]){ 4, -1 });
  g_assert_false (dyno_runs_page_predict (DYNO_RUNS_PAGE (r.page), none));
  select_rows (&r, (const int[]){ 1, 0, -1 });
  g_assert_false (dyno_runs_page_predict (DYNO_RUNS_PAGE (r.page), none));
}

static void
press_key (Runs *r, guint key, guint state)
{
  GdkEventKey event = { .type = GDK_KEY_PRESS, .keyval = key, .state = state };
  gboolean used = FALSE;

  g_signal_emit_by_name (runs_list (r), "key-press-event", &event, &used);
}

static void
assert_titles (Runs *r, const char *expected)
{
  parts_assert_column (runs_list (r), DYNO_RUN_LIST_TITLE, expected);
}

static char *
get_selected_titles (Runs *r)
{
  g_autoptr (GString) titles = g_string_new (NULL);
  GtkTreeModel *model;
  GList *rows =
      gtk_tree_selection_get_selected_rows (gtk_tree_view_get_selection (runs_list (r)), &model);

  for (GList *l = rows; l; l = l->next)
    {
      const DynoStoredRun *run =
          dyno_run_list_get (DYNO_RUN_LIST (model), (guint) gtk_tree_path_get_indices (l->data)[0]);
      g_string_append_printf (titles, "%s ", run->name);
    }
  g_list_free_full (rows, (GDestroyNotify) gtk_tree_path_free);
  return g_string_free (g_steal_pointer (&titles), FALSE);
}

/* The runs that were deleted last come back, once; the key deletes no active run, either. */
static void
test_the_last_deleted_runs_come_back (void)
{
  g_auto (Runs) r = { 0 };

  runs_init (&r);
  for (guint i = 0; i < 4; i++)
    put_run (&r, (const char *const[]){ "a", "b", "c", "d" }[i], DYNO_RUN_STATE_FINISHED, NULL,
             FALSE);
  put_run (&r, "now", DYNO_RUN_STATE_RUNNING, NULL, FALSE);
  runs_show (&r, 5);
  GtkWidget *undo = parts_find (r.page, DYNO_TYPE_UNDO_BAR);
  assert_titles (&r, "now\nd\nc\nb\na");
  select_rows (&r, (const int[]){ 0, 1, -1 });
  press_key (&r, GDK_KEY_Delete, 0);
  select_rows (&r, (const int[]){ 1, 2, -1 });
  press_key (&r, GDK_KEY_Delete, 0);
  runs_wait (&r, 3);
  assert_titles (&r, "now\nb\na");
  parts_assert_says (undo, "2 runs were deleted; their folders stay");
  g_autofree char *none = get_selected_titles (&r);
  g_assert_cmpstr (none, ==, "");
  assert_buttons (&r, "");
  select_rows (&r, (const int[]){ 2, -1 });
  gtk_button_clicked (GTK_BUTTON (parts_find_button (r.page, "_Delete")));
  runs_wait (&r, 2);
  assert_titles (&r, "now\nb");
  select_rows (&r, (const int[]){ 1, -1 });
  press_key (&r, GDK_KEY_z, 0);
  g_assert_true (dyno_undo_bar_has (DYNO_UNDO_BAR (undo)));
  press_key (&r, GDK_KEY_z, GDK_CONTROL_MASK);
  g_assert_false (dyno_undo_bar_has (DYNO_UNDO_BAR (undo)));
  runs_wait (&r, 3);
  assert_titles (&r, "now\nb\na");
  g_autofree char *selected = get_selected_titles (&r);
  g_assert_cmpstr (selected, ==, "b ");
  press_key (&r, GDK_KEY_z, GDK_CONTROL_MASK); /* nothing is left to restore */
  put_run (&r, "e", DYNO_RUN_STATE_FINISHED, NULL, FALSE);
  dyno_runs_page_refresh (DYNO_RUNS_PAGE (r.page));
  runs_wait (&r, 4);
  assert_titles (&r, "e\nnow\nb\na");
  g_autofree char *same = get_selected_titles (&r); /* by the run, not by the row */
  g_assert_cmpstr (same, ==, "b ");
  g_assert_cmpstr (r.signals->str, ==, "");
}

/* The words of the finder restrict the list, also where it is read again, and do not change which
 * runs are selected among those that are left. */
static void
test_found_runs_stay_selected (void)
{
  g_auto (Runs) r = { 0 };

  runs_init (&r);
  runs_show (&r, 0);
  parts_assert_says (r.page, "No Runs Yet");
  parts_assert_says_not (r.page, "No run has all of these words. Escape shows all runs.");
  g_assert_false (dyno_runs_page_find (DYNO_RUNS_PAGE (r.page)));
  g_assert_false (gtk_widget_get_visible (
      gtk_widget_get_ancestor (parts_find_button (r.page, "_Delete"), GTK_TYPE_FLOW_BOX)));
  put_run (&r, "night one", DYNO_RUN_STATE_FINISHED, NULL, FALSE);
  put_run (&r, "day", DYNO_RUN_STATE_FINISHED, NULL, FALSE);
  put_run (&r, "night two", DYNO_RUN_STATE_FINISHED, NULL, FALSE);
  dyno_runs_page_refresh (DYNO_RUNS_PAGE (r.page));
  runs_wait (&r, 3);
  parts_assert_says_not (r.page, "No Runs Yet");
  g_assert_true (dyno_runs_page_find (DYNO_RUNS_PAGE (r.page)));
  GtkEntry *entry = GTK_ENTRY (parts_find (r.page, GTK_TYPE_SEARCH_ENTRY));
  select_rows (&r, (const int[]){ 1, 2, -1 });
  gtk_entry_set_text (entry, "night");
  runs_wait (&r, 2);
  assert_titles (&r, "night two\nnight one");
  parts_assert_says (r.page, "2 of 3 runs");
  g_autofree char *left = get_selected_titles (&r);
  g_assert_cmpstr (left, ==, "night one ");
  assert_buttons (&r, "Set Up Again Rename Tags Delete");
  put_run (&r, "late night", DYNO_RUN_STATE_FINISHED, NULL, FALSE);
  put_run (&r, "noon", DYNO_RUN_STATE_FINISHED, NULL, FALSE);
  dyno_runs_page_refresh (DYNO_RUNS_PAGE (r.page));
  runs_wait (&r, 3);
  parts_assert_says (r.page, "3 of 5 runs");
  gtk_entry_set_text (entry, "nowhere");
  runs_wait (&r, 0);
  parts_assert_says (r.page, "No run has all of these words. Escape shows all runs.");
  parts_assert_says_not (r.page, "No Runs Yet");
  assert_buttons (&r, "");
  gtk_entry_set_text (entry, "");
  runs_wait (&r, 5);
  parts_assert_says_not (r.page, "No run has all of these words. Escape shows all runs.");
  assert_titles (&r, "noon\nlate night\nnight two\nday\nnight one");
}

/* A run that the queue has begun or ended is listed while the page is shown. */
static void
test_runs_of_the_queue_are_listed (void)
{
  g_auto (Runs) r = { 0 };

  runs_init (&r);
  runs_show (&r, 0);
  for (guint i = 1; i <= 2; i++)
    {
      put_run (&r, i == 1 ? "first" : "second", DYNO_RUN_STATE_FINISHED, NULL, FALSE);
      g_signal_emit_by_name (r.jobs, "changed");
      runs_wait (&r, i);
    }
  assert_titles (&r, "second\nfirst");
}

static gboolean
has_two_rows (gpointer list)
{
  return gtk_list_box_get_row_at_index (list, 1) != NULL;
}

/* The run of a job is selected, and no other; also one that is entered into the history only after
 * it was asked for.  A job that was never begun has no run. */
static void
test_the_run_of_a_job_is_selected (void)
{
  g_auto (Runs) r = { 0 };
  gint64 ids[2];

  runs_init (&r);
  put_run (&r, "first", DYNO_RUN_STATE_FINISHED, "queued 0", FALSE);
  put_run (&r, "second", DYNO_RUN_STATE_FINISHED, "other", FALSE);
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (DynoJob) job = dyno_job_new ();
      job->data = g_strdup ("builtin:waves");
      job->out_dir = g_strdup_printf ("%s/queued %u", g_get_home_dir (), i);
      ids[i] = dyno_store_add_job (r.store, job, NULL);
    }
  g_assert_true (dyno_store_begin_job (r.store, ids[0], "1 1 boot 1 here", NULL));
  g_assert_true (dyno_store_end_job (r.store, ids[0], DYNO_QUEUED_STOPPED, 75, NULL));
  runs_show (&r, 2);
  GtkListBox *list = GTK_LIST_BOX (parts_find (r.page, GTK_TYPE_LIST_BOX));
  parts_wait (has_two_rows, list);
  select_rows (&r, (const int[]){ 0, -1 });
  for (int i = 1; i >= 0; i--)
    {
      g_signal_emit_by_name (list, "row-activated", gtk_list_box_get_row_at_index (list, i));
      g_autofree char *titles = get_selected_titles (&r);
      g_assert_cmpstr (titles, ==, i == 1 ? "second " : "first ");
    }
  g_autofree char *later = g_build_filename (g_get_home_dir (), "later", NULL);
  dyno_runs_page_select (DYNO_RUNS_PAGE (r.page), later);
  g_autofree char *before = get_selected_titles (&r);
  g_assert_cmpstr (before, ==, "first ");
  put_run (&r, "third", DYNO_RUN_STATE_FINISHED, "later", FALSE);
  dyno_runs_page_refresh (DYNO_RUNS_PAGE (r.page));
  runs_wait (&r, 3);
  g_autofree char *after = get_selected_titles (&r);
  g_assert_cmpstr (after, ==, "third ");
}

static void
note_name (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GPtrArray) deleted = NULL, runs = dyno_run_history_finish (result, &deleted, NULL);

  g_string_append_printf (g_object_get_data (source, "names"), "%s ",
                          ((const DynoStoredRun *) runs->pdata[0])->name);
}

static gboolean
has_nine_names (gpointer names)
{
  return ((GString *) names)->len == 9 * strlen ("name N ");
}

/* Uses of the history are made and answered in their order; a list that is wanted while others wait
 * is theirs. */
static void
test_uses_of_the_history_keep_their_order (void)
{
  g_auto (Runs) r = { 0 };
  g_autoptr (GObject) source = g_object_new (G_TYPE_OBJECT, NULL);
  g_autoptr (GString) names = g_string_new (NULL);

  runs_init (&r);
  r.window = parts_show (r.page, 900, 700);
  gint64 id = put_run (&r, "name 0", DYNO_RUN_STATE_FINISHED, NULL, FALSE);
  g_object_set_data (source, "names", names);
  dyno_run_history_use (source, DYNO_RUN_HISTORY_LIST, NULL, NULL, NULL, note_name);
  for (guint i = 1; i < 9; i++)
    {
      g_autofree char *name = g_strdup_printf ("name %u", i);
      GArray *ids = g_array_new (FALSE, FALSE, sizeof (gint64));
      g_array_append_val (ids, id);
      dyno_run_history_use (source, DYNO_RUN_HISTORY_RENAME, ids, name, NULL, note_name);
      dyno_run_history_use (source, DYNO_RUN_HISTORY_LIST, NULL, NULL, NULL, note_name);
    }
  parts_wait (has_nine_names, names);
  g_assert_cmpstr (names->str, ==,
                   "name 0 name 1 name 2 name 3 name 4 name 5 name 6 name 7 name 8 ");
}

/* Name and tags are asked for with those of the selected run, and are given to the runs that were
 * selected then. */
static void
test_answers_are_for_the_runs_that_were_asked (void)
{
  g_auto (Runs) r = { 0 };

  runs_init (&r);
  put_run (&r, "first", DYNO_RUN_STATE_FINISHED, NULL, FALSE);
  put_run (&r, "second", DYNO_RUN_STATE_FINISHED, NULL, FALSE);
  put_run (&r, "third", DYNO_RUN_STATE_FINISHED, NULL, FALSE);
  runs_show (&r, 3);
  const char *asked[] = { "second", "third" }, *given[] = { "2nd", "3rd" };
  for (int i = 0; i < 2; i++)
    {
      select_rows (&r, (const int[]){ 1 - i, -1 });
      press_key (&r, GDK_KEY_F2, 0);
      GtkWidget *dialog = parts_find_dialog ("Rename the Run");
      GtkEntry *entry = GTK_ENTRY (parts_find (dialog, GTK_TYPE_ENTRY));
      g_assert_cmpstr (gtk_entry_get_text (entry), ==, asked[i]);
      gtk_entry_set_text (entry, given[i]);
      select_rows (&r, (const int[]){ 2, -1 });
      gtk_dialog_response (GTK_DIALOG (dialog), GTK_RESPONSE_ACCEPT);
      runs_wait_for (&r, DYNO_RUN_LIST_TITLE, i == 0 ? "third\n2nd\nfirst" : "3rd\n2nd\nfirst");
    }
  select_rows (&r, (const int[]){ 0, 2, -1 });
  press_key (&r, GDK_KEY_F2, 0); /* several have no one name */
  gtk_button_clicked (GTK_BUTTON (parts_find_button (r.page, "_Tags…")));
  GtkWidget *dialog = parts_find_dialog ("Tags, with Commas Between");
  gtk_entry_set_text (GTK_ENTRY (parts_find (dialog, GTK_TYPE_ENTRY)), "night, base");
  gtk_dialog_response (GTK_DIALOG (dialog), GTK_RESPONSE_ACCEPT);
  runs_wait_for (&r, DYNO_RUN_LIST_TAGS, "night, base\n\nnight, base");
  select_rows (&r, (const int[]){ 0, -1 });
  gtk_button_clicked (GTK_BUTTON (parts_find_button (r.page, "_Tags…")));
  dialog = parts_find_dialog ("Tags, with Commas Between");
  g_assert_cmpstr (gtk_entry_get_text (GTK_ENTRY (parts_find (dialog, GTK_TYPE_ENTRY))), ==,
                   "night, base");
  gtk_dialog_response (GTK_DIALOG (dialog), GTK_RESPONSE_CANCEL);
}

/* --- exports ---------------------------------------------------------------------------------- */

static void
exported (const char *path, const GError *error, gpointer data)
{
}

static DynoStoredRun *
new_run (const char *name, gint64 batch, double best)
{
  DynoStoredRun *run = dyno_stored_run_new ();

  run->name = g_strdup (name);
  run->model = g_strdup ("mlp");
  run->data = g_strdup ("builtin:waves");
  run->state = DYNO_RUN_STATE_FINISHED;
  run->metric = g_strdup ("accuracy");
  run->best_metric = best;
  run->settings.batch_size = batch;
  return run;
}

/* "settings run network table": the exports that can be chosen. */
static void
assert_exports (GtkWidget *page, const char *expected)
{
  static const char *const names[] = { "settings", "run", "network", "table" };
  GActionGroup *group = gtk_widget_get_action_group (page, "export");
  g_autoptr (GString) usable = g_string_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (g_action_group_get_action_enabled (group, names[i]))
      g_string_append_printf (usable, "%s%s", usable->len ? " " : "", names[i]);
  g_assert_cmpstr (usable->str, ==, expected);
  /* Each form that cannot be used now is hidden. */
  g_autoptr (GPtrArray) groups = parts_find_all (page, HDY_TYPE_PREFERENCES_GROUP);
  guint n_shown = 0;
  for (guint i = 0; i < groups->len; i++)
    n_shown += gtk_widget_get_visible (groups->pdata[i]);
  g_auto (GStrv) parts = g_strsplit (expected, " ", -1);
  g_assert_cmpuint (n_shown, ==, g_strv_length (parts));
}

static void
test_exports_are_of_the_selected_runs (void)
{
  GtkWidget *page = g_object_ref_sink (dyno_run_export_new (exported, NULL));
  DynoStoredRun *runs[] = { new_run ("a", 32, 0.5), new_run ("b, c", 32, (double) NAN),
                            new_run ("d", 64, 0.75) };
  const DynoStoredRun *const *all = (const DynoStoredRun *const *) runs;
  g_autofree char *path = NULL;

  runs[0]->steps = 7;
  runs[1]->folder = g_build_filename (g_get_home_dir (), "exported b", NULL);
  runs[2]->folder = g_build_filename (g_get_home_dir (), "exported d", NULL);
  g_assert_cmpint (g_mkdir (runs[2]->folder, 0700), ==, 0);
  path = g_build_filename (runs[2]->folder, "weights.safetensors", NULL);
  g_assert_true (g_file_set_contents (path, "x", 1, NULL));
  for (guint i = 0; i < 2; i++)
    {
      dyno_run_export_set_runs (page, NULL, 0);
      assert_exports (page, "");
      dyno_run_export_set_runs (page, all + 2, 1);
      assert_exports (page, "settings run network");
      dyno_run_export_set_runs (page, all + 1, 1);
      assert_exports (page, "settings run");
      dyno_run_export_set_runs (page, all, 1);
      assert_exports (page, "settings");
      dyno_run_export_set_runs (page, all, 2);
      assert_exports (page, "table");
    }
  /* Only settings that differ have a column, wherever they differ. */
  g_autofree char *equal = dyno_run_export_make_table (page);
  g_auto (GStrv) lines = g_strsplit (equal, "\n", -1);
  g_assert_cmpuint (g_strv_length (lines), ==, 4);
  g_assert_true (g_str_has_prefix (lines[0], "run,model,data,state,steps,epochs_done,"));
  g_assert_true (g_str_has_suffix (lines[0], ",metric,folder"));
  g_assert_true (g_str_has_prefix (lines[1], "a,mlp,builtin:waves,finished,7,"));
  g_assert_true (g_str_has_prefix (lines[2], "\"b, c\",mlp,"));
  dyno_run_export_set_runs (page, all, 3);
  g_autofree char *table = dyno_run_export_make_table (page);
  g_auto (GStrv) more = g_strsplit (table, "\n", -1);
  g_assert_cmpuint (g_strv_length (more), ==, 5);
  g_assert_true (g_str_has_suffix (more[0], ",metric,folder,batch_size"));
  g_assert_true (g_str_has_suffix (more[1], ",accuracy,,32"));
  g_assert_true (g_str_has_suffix (more[3], "exported d,64"));
  for (guint i = 0; i < 3; i++)
    dyno_stored_run_free (runs[i]);
  g_object_unref (page);
}

void
parts_add_runs_page (void)
{
  g_test_add_func ("/ui/parts/actions-are-of-the-selected-runs",
                   test_actions_are_of_the_selected_runs);
  g_test_add_func ("/ui/parts/the-last-deleted-runs-come-back",
                   test_the_last_deleted_runs_come_back);
  g_test_add_func ("/ui/parts/found-runs-stay-selected", test_found_runs_stay_selected);
  g_test_add_func ("/ui/parts/uses-of-the-history-keep-their-order",
                   test_uses_of_the_history_keep_their_order);
  g_test_add_func ("/ui/parts/the-run-of-a-job-is-selected", test_the_run_of_a_job_is_selected);
  g_test_add_func ("/ui/parts/runs-of-the-queue-are-listed", test_runs_of_the_queue_are_listed);
  g_test_add_func ("/ui/parts/answers-are-for-the-runs-that-were-asked",
                   test_answers_are_for_the_runs_that_were_asked);
  g_test_add_func ("/ui/parts/exports-are-of-the-selected-runs",
                   test_exports_are_of_the_selected_runs);
  g_test_add_func ("/ui/parts/jobs-show-their-states", test_jobs_show_their_states);
  g_test_add_func ("/ui/parts/jobs-are-copied-tried-again-and-edited",
                   test_jobs_are_copied_tried_again_and_edited);
  g_test_add_func ("/ui/parts/queue/jobs-taken-out-are-put-back",
                   test_jobs_that_were_taken_out_are_put_back);
  g_test_add_func ("/ui/parts/queue/failed-jobs-are-changed", test_failed_jobs_are_changed);
  g_test_add_func ("/ui/parts/queue/a-job-is-paused-and-resumed", test_a_job_is_paused_and_resumed);
  g_test_add_func ("/ui/parts/jobs-show-how-far-they-are", test_jobs_show_how_far_they_are);
  g_test_add_func ("/ui/parts/jobs-are-dragged-to-their-place",
                   test_jobs_are_dragged_to_their_place);
  g_test_add_func ("/ui/parts/the-moved-job-stays-selected", test_the_moved_job_stays_selected);
  g_test_add_func ("/ui/parts/the-queue-is-started-and-stopped",
                   test_the_queue_is_started_and_stopped);
}
