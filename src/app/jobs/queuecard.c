/* SPDX-License-Identifier: MIT */
/* The rows are kept while the jobs are the same, so that a row keeps the focus while its job makes
 * progress. */
#include "queuecard.h"
#include "jobrow.h"
#include "row.h"
#include "words.h"
#include <glib/gi18n.h>

struct _DynoQueueCard {
  GtkBox parent_instance;
  GtkWidget *count, *start, *list, *removal, *removed_text, *undo;
  DynoJobList *jobs;
  DynoJob *removed;      /* the job that was taken out last, to be put back; or NULL */
  gint64 removed_before; /* the job before which it was; 0: it was the last */
  gboolean editable;
};

enum { FAILED, EDIT, SHOW, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (DynoQueueCard, dyno_queue_card, GTK_TYPE_BOX)

/* --- its order -------------------------------------------------------------------------------- */

/* The job of a row; NULL: there is none. */
static const DynoListedJob *
get_job (DynoQueueCard *self, int row)
{
  const GPtrArray *jobs = dyno_job_list_get (self->jobs);
  return row >= 0 && row < (int) jobs->len ? jobs->pdata[row] : NULL;
}

/* Moves the job of row `from`, so that its row is `to` afterwards. */
static void
move_job (DynoQueueCard *self, int from, int to)
{
  const DynoListedJob *job = get_job (self, from), *before;
  if (!job || to < 0 || to == from || !get_job (self, to))
    return;
  before = get_job (self, to > from ? to + 1 : to);
  dyno_job_list_move (self->jobs, job->queued->id, before ? before->queued->id : 0);
}

static void
row_dropped (GtkListBoxRow *row, int from, DynoQueueCard *self)
{
  int to = gtk_list_box_row_get_index (row);
  move_job (self, from, to > from ? to - 1 : to);
}

static void
row_dropped_after (GtkListBoxRow *row, int from, DynoQueueCard *self)
{
  int to = gtk_list_box_row_get_index (row) + 1;
  move_job (self, from, to > from ? to - 1 : to);
}

static void
forget_removed (DynoQueueCard *self)
{
  gtk_widget_hide (self->removal);
  g_clear_pointer (&self->removed, dyno_job_unref);
}

/* A job that was begun has a run, which stays in the history, and from which it can be resumed. */
static void
take_out (DynoQueueCard *self, int row)
{
  const DynoListedJob *listed = get_job (self, row), *next = get_job (self, row + 1);
  const DynoQueuedJob *job = listed ? listed->queued : NULL;
  if (!job)
    return;
  forget_removed (self);
  dyno_job_list_remove (self->jobs, job->id);
  if (job->state == DYNO_QUEUED_RUNNING) /* this is refused */
    return;
  g_autofree char *model = dyno_words_model (job->job->model),
                  *data = dyno_words_data (job->job->data);
  /* Translators: model, data set */
  g_autofree char *both = g_strdup_printf (_ ("%s on %s"), model, data), *text = NULL;
  const char *name = job->job->name ? job->job->name : both;
  text = g_strdup_printf (job->attempts == 0 ? _ ("“%s” was taken out")
                                             : _ ("“%s” was taken out; its run stays"),
                          name);
  gtk_label_set_text (GTK_LABEL (self->removed_text), text);
  self->removed = job->attempts == 0 ? dyno_job_copy (job->job) : NULL;
  self->removed_before = next ? next->queued->id : 0;
  gtk_widget_set_visible (self->undo, self->removed != NULL);
  gtk_widget_show (self->removal);
}

static void
undo_clicked (DynoQueueCard *self)
{
  g_autofree char *runs = g_path_get_dirname (self->removed->out_dir);
  dyno_job_list_add_before (self->jobs, self->removed, runs, self->removed_before);
  forget_removed (self);
}

static void
row_taken_out (GtkListBoxRow *row, DynoQueueCard *self)
{
  take_out (self, gtk_list_box_row_get_index (row));
}

static gboolean
row_key_pressed (GtkWidget *row, GdkEventKey *event, DynoQueueCard *self)
{
  int at = gtk_list_box_row_get_index (GTK_LIST_BOX_ROW (row));
  if (event->keyval == GDK_KEY_Delete)
    take_out (self, at);
  else if ((event->state & GDK_MOD1_MASK) && event->keyval == GDK_KEY_Up)
    move_job (self, at, at - 1);
  else if ((event->state & GDK_MOD1_MASK) && event->keyval == GDK_KEY_Down)
    move_job (self, at, at + 1);
  else
    return GDK_EVENT_PROPAGATE;
  return GDK_EVENT_STOP;
}

static void
row_edited (DynoJobRow *row, DynoQueueCard *self)
{
  const DynoListedJob *job = get_job (self, gtk_list_box_row_get_index (GTK_LIST_BOX_ROW (row)));
  if (job)
    g_signal_emit (self, signals[EDIT], 0, job->queued);
}

/* A job that was never begun has no run. */
static void
row_activated (GtkListBox *list, GtkListBoxRow *row, DynoQueueCard *self)
{
  const DynoListedJob *job = get_job (self, gtk_list_box_row_get_index (row));
  if (job && job->queued->attempts > 0)
    g_signal_emit (self, signals[SHOW], 0, job->queued);
}

/* --- its rows --------------------------------------------------------------------------------- */

static GtkWidget *
new_row (DynoQueueCard *self, const DynoListedJob *job)
{
  GtkWidget *row = dyno_job_row_new (self->jobs, job, self->editable);
  g_signal_connect (row, "key-press-event", G_CALLBACK (row_key_pressed), self);
  g_signal_connect (row, "edit", G_CALLBACK (row_edited), self);
  g_signal_connect (row, "drop", G_CALLBACK (row_dropped), self);
  g_signal_connect (row, "drop-after", G_CALLBACK (row_dropped_after), self);
  g_signal_connect (row, "take-out", G_CALLBACK (row_taken_out), self);
  gtk_widget_show (row);
  return row;
}

static gboolean
has_rows_of (DynoQueueCard *self, const GPtrArray *jobs)
{
  for (guint i = 0; i < jobs->len; i++)
    {
      GtkListBoxRow *row = gtk_list_box_get_row_at_index (GTK_LIST_BOX (self->list), (int) i);
      const DynoListedJob *job = jobs->pdata[i];
      if (!row || dyno_job_row_get_id (DYNO_JOB_ROW (row)) != job->queued->id)
        return FALSE;
    }
  return !gtk_list_box_get_row_at_index (GTK_LIST_BOX (self->list), (int) jobs->len);
}

/* Makes all rows anew; the job that was selected stays selected, and keeps the focus. */
static void
make_rows (DynoQueueCard *self, const GPtrArray *jobs)
{
  GtkListBoxRow *selected = gtk_list_box_get_selected_row (GTK_LIST_BOX (self->list));
  gboolean focus = selected && gtk_widget_has_focus (GTK_WIDGET (selected));
  gint64 id = selected ? dyno_job_row_get_id (DYNO_JOB_ROW (selected)) : 0;
  dyno_widget_clear (self->list);
  for (guint i = 0; i < jobs->len; i++)
    {
      const DynoListedJob *job = jobs->pdata[i];
      GtkWidget *row = new_row (self, job);
      gtk_container_add (GTK_CONTAINER (self->list), row);
      if (job->queued->id == id)
        gtk_list_box_select_row (GTK_LIST_BOX (self->list), GTK_LIST_BOX_ROW (row));
      if (job->queued->id == id && focus)
        gtk_widget_grab_focus (row);
    }
}

static void
show_jobs (DynoQueueCard *self)
{
  const GPtrArray *jobs = dyno_job_list_get (self->jobs);
  gboolean started = dyno_job_list_can_stop (self->jobs);
  if (has_rows_of (self, jobs))
    for (guint i = 0; i < jobs->len; i++)
      dyno_job_row_show (
          DYNO_JOB_ROW (gtk_list_box_get_row_at_index (GTK_LIST_BOX (self->list), (int) i)),
          jobs->pdata[i]);
  else
    make_rows (self, jobs);
  gtk_widget_set_visible (gtk_widget_get_ancestor (self->list, GTK_TYPE_SCROLLED_WINDOW),
                          jobs->len > 0);
  g_autofree char *count = g_strdup_printf (ngettext ("%u job", "%u jobs", jobs->len), jobs->len);
  gtk_label_set_text (GTK_LABEL (self->count), count);
  gtk_button_set_label (GTK_BUTTON (self->start),
                        started ? _ ("Stop the _Queue") : _ ("Start the _Queue"));
  gboolean held = dyno_job_list_is_held (self->jobs);
  gtk_widget_set_sensitive (self->start, started
                                             || (dyno_job_list_count_open (self->jobs) > 0 && !held
                                                 && !dyno_job_list_get_running (self->jobs)));
  gtk_widget_set_tooltip_text (
      self->start, started ? _ ("The job that runs is saved, and can be resumed; no other begins")
                   : held
                       ? _ ("Not while the run or the measurement of this window uses the device.")
                       : _ ("One job after another; continues when this window is closed"));
  gtk_widget_set_visible (GTK_WIDGET (self),
                          jobs->len > 0 || gtk_widget_get_visible (self->removal));
}

void
dyno_queue_card_set_editable (DynoQueueCard *self, gboolean editable)
{
  const GPtrArray *jobs = dyno_job_list_get (self->jobs);
  if (editable == self->editable)
    return;
  self->editable = editable;
  for (guint i = 0; has_rows_of (self, jobs) && i < jobs->len; i++)
    dyno_job_row_set_editable (
        DYNO_JOB_ROW (gtk_list_box_get_row_at_index (GTK_LIST_BOX (self->list), (int) i)),
        editable);
}

static void
start_clicked (DynoQueueCard *self)
{
  g_autoptr (GError) error = NULL;
  if (dyno_job_list_can_stop (self->jobs))
    {
      dyno_job_list_stop (self->jobs);
      gtk_widget_set_sensitive (self->start, FALSE);
    }
  else if (!dyno_job_list_start (self->jobs, &error))
    g_signal_emit (self, signals[FAILED], 0, error);
}

/* --- the widgets ------------------------------------------------------------------------------ */

static void
dyno_queue_card_dispose (GObject *object)
{
  DynoQueueCard *self = DYNO_QUEUE_CARD (object);
  if (self->jobs)
    g_signal_handlers_disconnect_by_data (self->jobs, self);
  G_OBJECT_CLASS (dyno_queue_card_parent_class)->dispose (object);
}

static void
dyno_queue_card_finalize (GObject *object)
{
  g_clear_pointer (&DYNO_QUEUE_CARD (object)->removed, dyno_job_unref);
  g_clear_object (&DYNO_QUEUE_CARD (object)->jobs);
  G_OBJECT_CLASS (dyno_queue_card_parent_class)->finalize (object);
}

/* As with deleted runs, a job can be put back until the list is left. */
static void
dyno_queue_card_unmap (GtkWidget *widget)
{
  forget_removed (DYNO_QUEUE_CARD (widget));
  GTK_WIDGET_CLASS (dyno_queue_card_parent_class)->unmap (widget);
}

static void
dyno_queue_card_class_init (DynoQueueCardClass *class)
{
  GType type = DYNO_TYPE_QUEUE_CARD;
  G_OBJECT_CLASS (class)->dispose = dyno_queue_card_dispose;
  G_OBJECT_CLASS (class)->finalize = dyno_queue_card_finalize;
  GTK_WIDGET_CLASS (class)->unmap = dyno_queue_card_unmap;
  signals[FAILED] = g_signal_new ("failed", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                  G_TYPE_NONE, 1, G_TYPE_ERROR);
  signals[EDIT] = g_signal_new ("edit", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE,
                                1, G_TYPE_POINTER);
  signals[SHOW] = g_signal_new ("show-run", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                G_TYPE_NONE, 1, G_TYPE_POINTER);
}

static void
dyno_queue_card_init (DynoQueueCard *self)
{
  GtkWidget *head = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 10),
            *title = gtk_label_new (_ ("Queue")), *scrolled = gtk_scrolled_window_new (NULL, NULL);
  self->editable = TRUE;
  gtk_orientable_set_orientation (GTK_ORIENTABLE (self), GTK_ORIENTATION_VERTICAL);
  gtk_box_set_spacing (GTK_BOX (self), 8);
  dyno_widget_add_class (title, "run-title", TRUE);
  self->count = gtk_label_new ("");
  dyno_widget_add_class (self->count, "caption", TRUE);
  self->start = gtk_button_new_with_mnemonic (_ ("Start the _Queue"));
  g_signal_connect_swapped (self->start, "clicked", G_CALLBACK (start_clicked), self);
  gtk_container_add (GTK_CONTAINER (head), title);
  gtk_container_add (GTK_CONTAINER (head), self->count);
  gtk_box_pack_end (GTK_BOX (head), self->start, FALSE, FALSE, 0);
  self->list = gtk_list_box_new ();
  dyno_widget_set_accessible_name (self->list, _ ("Queue"));
  g_signal_connect (self->list, "row-activated", G_CALLBACK (row_activated), self);
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (scrolled), GTK_POLICY_NEVER,
                                  GTK_POLICY_AUTOMATIC);
  dyno_widget_set_accessible_name (scrolled, _ ("Queue"));
  gtk_scrolled_window_set_propagate_natural_height (GTK_SCROLLED_WINDOW (scrolled), TRUE);
  gtk_scrolled_window_set_max_content_height (GTK_SCROLLED_WINDOW (scrolled), 170);
  dyno_widget_add_class (scrolled, "card", TRUE);
  dyno_widget_add_class (scrolled, "list-card", TRUE);
  gtk_container_add (GTK_CONTAINER (scrolled), self->list);
  gtk_container_add (GTK_CONTAINER (self), head);
  gtk_container_add (GTK_CONTAINER (self), scrolled);
  self->removal = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);
  self->removed_text = gtk_label_new ("");
  gtk_label_set_ellipsize (GTK_LABEL (self->removed_text), PANGO_ELLIPSIZE_MIDDLE);
  self->undo = gtk_button_new_with_mnemonic (_ ("_Undo"));
  g_signal_connect_swapped (self->undo, "clicked", G_CALLBACK (undo_clicked), self);
  gtk_container_add (GTK_CONTAINER (self->removal), self->removed_text);
  gtk_box_pack_end (GTK_BOX (self->removal), self->undo, FALSE, FALSE, 0);
  gtk_container_add (GTK_CONTAINER (self), self->removal);
  gtk_widget_show_all (self->removal);
  gtk_widget_hide (self->removal);
  gtk_widget_show_all (head);
  gtk_widget_show_all (scrolled);
}

GtkWidget *
dyno_queue_card_new (DynoJobList *jobs)
{
  DynoQueueCard *self = g_object_new (DYNO_TYPE_QUEUE_CARD, NULL);
  self->jobs = g_object_ref (jobs);
  dyno_job_list_watch (jobs, G_OBJECT (self));
  g_signal_connect_object (jobs, "changed", G_CALLBACK (show_jobs), self, G_CONNECT_SWAPPED);
  show_jobs (self);
  return GTK_WIDGET (self);
}
