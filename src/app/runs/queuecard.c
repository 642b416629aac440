/* SPDX-License-Identifier: MIT */
/* The queue in the window.  Every use of the history is a task in a thread.  The jobs are run by a
 * separate process, `dynoctl queue start`, which continues when the window is closed. */
#include "queuecard.h"
#include "file.h"
#include "heldtask.h"
#include "jobqueue.h"
#include "row.h"
#include "runlist.h"
#include "words.h"
#include "runwriter.h"
#include <glib/gi18n.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <unistd.h>

#define POLL_S 2 /* interval of reading while the card is visible and a job waits or runs */

struct _DynoQueueCard {
  GtkBox parent_instance;
  GtkWidget *count, *start, *list;
  GPtrArray *jobs;      /* DynoQueuedJob, the jobs that are shown */
  GSubprocess *process; /* started by this window, or NULL */
  guint poll;
  gboolean reading;
};

enum { FAILED, CHANGED, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (DynoQueueCard, dyno_queue_card, GTK_TYPE_BOX)

/* --- the queue, in a thread ------------------------------------------------------------------- */

typedef struct {
  enum { LIST, ADD, MOVE, REMOVE } what;
  gint64 id, before;
  const DynoJob *job;
  char *runs; /* for ADD: the parent of the job's folder */
} Request;

static void
request_free (gpointer data)
{
  Request *self = data;
  dyno_job_unref (self->job);
  g_free (self->runs);
  g_free (self);
}

static gboolean
add_job (DynoStore *store, const DynoJob *job, const char *runs, GError **error)
{
  g_autoptr (DynoJob) own = dyno_job_copy (job);
  g_clear_pointer (&own->out_dir, g_free);
  own->out_dir = dyno_run_writer_claim_folder (runs, own, error);
  if (!own->out_dir)
    return FALSE;
  if (dyno_store_add_job (store, own, error) > 0)
    return TRUE;
  g_rmdir (own->out_dir);
  return FALSE;
}

static gboolean
remove_job (DynoStore *store, gint64 id, GError **error)
{
  g_autoptr (GPtrArray) jobs = dyno_store_list_jobs (store, error);
  if (!jobs || !dyno_store_remove_job (store, id, error))
    return FALSE;
  for (guint i = 0; i < jobs->len; i++)
    {
      const DynoQueuedJob *job = jobs->pdata[i];
      if (job->id == id)
        g_rmdir (job->job->out_dir); /* a claimed folder that was never used */
    }
  return TRUE;
}

static void
use_queue (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  const Request *request = data;
  GError *error = NULL;
  g_autoptr (DynoStore) store = dyno_store_open (NULL, &error);
  GPtrArray *jobs = NULL;
  gboolean done = store != NULL;
  if (done && request->what == ADD)
    done = add_job (store, request->job, request->runs, &error);
  else if (done && request->what == MOVE)
    done = dyno_store_move_job (store, request->id, request->before, &error);
  else if (done && request->what == REMOVE)
    done = remove_job (store, request->id, &error);
  if (done)
    jobs = dyno_store_list_jobs (store, &error);
  if (jobs)
    g_task_return_pointer (task, jobs, (GDestroyNotify) g_ptr_array_unref);
  else
    g_task_return_error (task, error);
}

static void show_jobs (DynoQueueCard *self);

static gboolean
same_jobs (GPtrArray *a, GPtrArray *b)
{
  if (!a || a->len != b->len)
    return FALSE;
  for (guint i = 0; i < a->len; i++)
    {
      const DynoQueuedJob *one = a->pdata[i], *other = b->pdata[i];
      if (one->id != other->id || one->state != other->state)
        return FALSE;
    }
  return TRUE;
}

static void
queue_used (GObject *source, GAsyncResult *result, gpointer data)
{
  DynoQueueCard *self = DYNO_QUEUE_CARD (source);
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) jobs = g_task_propagate_pointer (G_TASK (result), &error);
  self->reading = FALSE;
  if (!self->list)
    return;
  if (!jobs)
    {
      g_signal_emit (self, signals[FAILED], 0, error);
      return;
    }
  for (guint i = jobs->len; i-- > 0;)
    if (((const DynoQueuedJob *) jobs->pdata[i])->state == DYNO_QUEUED_FINISHED)
      g_ptr_array_remove_index (jobs, i);
  if (same_jobs (self->jobs, jobs))
    return;
  g_clear_pointer (&self->jobs, g_ptr_array_unref);
  self->jobs = g_steal_pointer (&jobs);
  show_jobs (self);
}

static void
ask_queue (DynoQueueCard *self, int what, gint64 id, gint64 before, const DynoJob *job,
           const char *runs)
{
  Request *request = g_new0 (Request, 1);
  request->what = what;
  request->id = id;
  request->before = before;
  request->job = job;
  request->runs = g_strdup (runs);
  g_autoptr (GTask) task = g_task_new (self, NULL, queue_used, NULL);
  g_task_set_task_data (task, request, request_free);
  self->reading = TRUE;
  dyno_task_run_held (task, use_queue);
}

void
dyno_queue_card_refresh (DynoQueueCard *self)
{
  if (!self->reading)
    ask_queue (self, LIST, 0, 0, NULL, NULL);
}

void
dyno_queue_card_add (DynoQueueCard *self, const DynoJob *job, const char *runs)
{
  ask_queue (self, ADD, 0, 0, dyno_job_copy (job), runs);
}

/* --- its order -------------------------------------------------------------------------------- */

/* The job of a row; NULL: there is none. */
static const DynoQueuedJob *
get_job (DynoQueueCard *self, int row)
{
  return self->jobs && row >= 0 && row < (int) self->jobs->len ? self->jobs->pdata[row] : NULL;
}

/* Moves the job of row `from`, so that its row is `to` afterwards. */
static void
move_job (DynoQueueCard *self, int from, int to)
{
  const DynoQueuedJob *job = get_job (self, from);
  if (!job || to < 0 || to == from || to >= (int) self->jobs->len)
    return;
  const DynoQueuedJob *before = get_job (self, to > from ? to + 1 : to);
  ask_queue (self, MOVE, job->id, before ? before->id : 0, NULL, NULL);
}

static gboolean
row_key_pressed (GtkWidget *row, GdkEventKey *event, DynoQueueCard *self)
{
  int at = gtk_list_box_row_get_index (GTK_LIST_BOX_ROW (row));
  const DynoQueuedJob *job = get_job (self, at);
  if (event->keyval == GDK_KEY_Delete && job)
    ask_queue (self, REMOVE, job->id, 0, NULL, NULL);
  else if ((event->state & GDK_MOD1_MASK) && event->keyval == GDK_KEY_Up)
    move_job (self, at, at - 1);
  else if ((event->state & GDK_MOD1_MASK) && event->keyval == GDK_KEY_Down)
    move_job (self, at, at + 1);
  else
    return GDK_EVENT_PROPAGATE;
  return GDK_EVENT_STOP;
}

static const GtkTargetEntry target = { (char *) "dyno-queued-job", GTK_TARGET_SAME_APP, 0 };

static void
drag_begun (GtkWidget *handle, GdkDragContext *context, GtkWidget *row)
{
  int width = gtk_widget_get_allocated_width (row), height = gtk_widget_get_allocated_height (row);
  cairo_surface_t *surface = cairo_image_surface_create (CAIRO_FORMAT_ARGB32, width, height);
  cairo_t *cr = cairo_create (surface);
  gtk_widget_draw (row, cr);
  gtk_drag_set_icon_surface (context, surface);
  cairo_destroy (cr);
  cairo_surface_destroy (surface);
}

static void
drag_data_get (GtkWidget *handle, GdkDragContext *context, GtkSelectionData *data, guint info,
               guint time, GtkWidget *row)
{
  int at = gtk_list_box_row_get_index (GTK_LIST_BOX_ROW (row));
  gtk_selection_data_set (data, gdk_atom_intern_static_string (target.target), 32,
                          (const guchar *) &at, sizeof at);
}

/* A job that is dropped on the lower half of a row is placed after that row. */
static void
drag_data_received (GtkWidget *row, GdkDragContext *context, int x, int y, GtkSelectionData *data,
                    guint info, guint time, DynoQueueCard *self)
{
  int from, to = gtk_list_box_row_get_index (GTK_LIST_BOX_ROW (row));
  if (gtk_selection_data_get_length (data) != (int) sizeof from)
    return;
  memcpy (&from, gtk_selection_data_get_data (data), sizeof from);
  if (y > gtk_widget_get_allocated_height (row) / 2)
    to++;
  move_job (self, from, to > from ? to - 1 : to);
}

/* --- its rows --------------------------------------------------------------------------------- */

static void
remove_clicked (GtkWidget *button, DynoQueueCard *self)
{
  GtkWidget *row = gtk_widget_get_ancestor (button, GTK_TYPE_LIST_BOX_ROW);
  const DynoQueuedJob *job = get_job (self, gtk_list_box_row_get_index (GTK_LIST_BOX_ROW (row)));
  if (job)
    ask_queue (self, REMOVE, job->id, 0, NULL, NULL);
}

static char *
describe_job (const DynoJob *job)
{
  g_autofree char *model = dyno_words_model (job->model), *data = dyno_words_data (job->data);
  /* Translators: model, data set */
  return g_strdup_printf (_ ("%s on %s"), model, data);
}

static GtkWidget *
make_handle (GtkWidget *row)
{
  GtkWidget *handle = gtk_event_box_new ();
  gtk_container_add (GTK_CONTAINER (handle),
                     gtk_image_new_from_icon_name ("open-menu-symbolic", GTK_ICON_SIZE_MENU));
  gtk_widget_set_tooltip_text (handle,
                               _ ("Drag to another place; Alt with up and down moves it, too"));
  gtk_drag_source_set (handle, GDK_BUTTON1_MASK, &target, 1, GDK_ACTION_MOVE);
  g_signal_connect (handle, "drag-begin", G_CALLBACK (drag_begun), row);
  g_signal_connect (handle, "drag-data-get", G_CALLBACK (drag_data_get), row);
  return handle;
}

static GtkWidget *
make_row (DynoQueueCard *self, const DynoQueuedJob *job)
{
  static const char *const states[] = { N_ ("Waiting"), N_ ("Running"), N_ ("Finished"),
                                        N_ ("Stopped"), N_ ("Failed") };
  g_autofree char *title = describe_job (job->job),
                  *settings = dyno_run_list_describe_settings (&job->job->settings), *name = NULL;
  GtkWidget *row = gtk_list_box_row_new (), *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 10),
            *texts = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0), *label = gtk_label_new (title),
            *caption = gtk_label_new (settings), *state = gtk_label_new (_ (states[job->state])),
            *remove = gtk_button_new_from_icon_name ("list-remove-symbolic", GTK_ICON_SIZE_MENU);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_xalign (GTK_LABEL (caption), 0);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  gtk_label_set_ellipsize (GTK_LABEL (caption), PANGO_ELLIPSIZE_END);
  dyno_widget_add_class (caption, "caption", TRUE);
  dyno_widget_add_class (state, "bad-text", job->state == DYNO_QUEUED_FAILED);
  gtk_button_set_relief (GTK_BUTTON (remove), GTK_RELIEF_NONE);
  gtk_widget_set_sensitive (remove, job->state != DYNO_QUEUED_RUNNING);
  gtk_widget_set_tooltip_text (remove, _ ("Take out of the queue"));
  dyno_widget_set_accessible_name (remove, _ ("Take out of the queue"));
  g_signal_connect (remove, "clicked", G_CALLBACK (remove_clicked), self);
  gtk_container_add (GTK_CONTAINER (texts), label);
  gtk_container_add (GTK_CONTAINER (texts), caption);
  gtk_container_add (GTK_CONTAINER (box), make_handle (row));
  gtk_box_pack_start (GTK_BOX (box), texts, TRUE, TRUE, 0);
  gtk_container_add (GTK_CONTAINER (box), state);
  gtk_container_add (GTK_CONTAINER (box), remove);
  g_object_set (box, "margin-start", 10, "margin-end", 6, "margin-top", 5, "margin-bottom", 5,
                NULL);
  gtk_container_add (GTK_CONTAINER (row), box);
  name = g_strdup_printf ("%s, %s", title, _ (states[job->state]));
  dyno_widget_set_accessible_name (row, name);
  g_signal_connect (row, "key-press-event", G_CALLBACK (row_key_pressed), self);
  gtk_drag_dest_set (row, GTK_DEST_DEFAULT_ALL, &target, 1, GDK_ACTION_MOVE);
  g_signal_connect (row, "drag-data-received", G_CALLBACK (drag_data_received), self);
  gtk_widget_show_all (row);
  return row;
}

static void
show_jobs (DynoQueueCard *self)
{
  GtkListBoxRow *selected = gtk_list_box_get_selected_row (GTK_LIST_BOX (self->list));
  gboolean focus = selected && gtk_widget_has_focus (GTK_WIDGET (selected));
  gint64 id = selected ? GPOINTER_TO_SIZE (g_object_get_data (G_OBJECT (selected), "dyno-job")) : 0;
  guint active = 0, running = 0;
  dyno_widget_clear (self->list);
  for (guint i = 0; i < self->jobs->len; i++)
    {
      const DynoQueuedJob *job = self->jobs->pdata[i];
      GtkWidget *row = make_row (self, job);
      active += dyno_queued_job_is_open (job);
      running += job->state == DYNO_QUEUED_RUNNING;
      g_object_set_data (G_OBJECT (row), "dyno-job", GSIZE_TO_POINTER ((gsize) job->id));
      gtk_container_add (GTK_CONTAINER (self->list), row);
      if (job->id == id)
        gtk_list_box_select_row (GTK_LIST_BOX (self->list), GTK_LIST_BOX_ROW (row));
      if (job->id == id && focus)
        gtk_widget_grab_focus (row);
    }
  g_autofree char *count =
      g_strdup_printf (ngettext ("%u job", "%u jobs", self->jobs->len), self->jobs->len);
  gtk_label_set_text (GTK_LABEL (self->count), count);
  gtk_button_set_label (GTK_BUTTON (self->start),
                        self->process ? _ ("Stop the _Queue") : _ ("Start the _Queue"));
  gtk_widget_set_sensitive (self->start, self->process || (active > 0 && running == 0));
  gtk_widget_set_visible (GTK_WIDGET (self), self->jobs->len > 0);
  g_signal_emit (self, signals[CHANGED], 0, active);
}

/* --- working it off --------------------------------------------------------------------------- */

/* Finds dynoctl beside this program, in the build folder, or in PATH.  g_free. */
static char *
find_dynoctl (void)
{
  static const char *const places[] = { "dynoctl", "../cli/dynoctl" };
  g_autofree char *own = g_file_read_link ("/proc/self/exe", NULL), *folder = NULL;
  folder = own ? g_path_get_dirname (own) : g_strdup (".");
  for (guint i = 0; i < G_N_ELEMENTS (places); i++)
    {
      g_autofree char *path = g_build_filename (folder, places[i], NULL);
      if (g_file_test (path, G_FILE_TEST_IS_EXECUTABLE))
        return g_steal_pointer (&path);
    }
  return g_find_program_in_path ("dynoctl");
}

static void
process_ended (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (DynoQueueCard) self = data;
  g_subprocess_wait_finish (G_SUBPROCESS (source), result, NULL);
  g_clear_object (&self->process);
  if (!self->list)
    return;
  if (self->jobs)
    show_jobs (self);
  dyno_queue_card_refresh (self);
}

static void
start_clicked (DynoQueueCard *self)
{
  g_autofree char *program = find_dynoctl ();
  const char *arguments[] = { program, "queue", "start", "--quiet", NULL, NULL, NULL };
  g_autoptr (GError) error = NULL;
  if (self->process)
    {
      g_subprocess_send_signal (self->process, SIGTERM);
      gtk_widget_set_sensitive (self->start, FALSE);
      return;
    }
  if (dyno_state_dir_get ())
    {
      arguments[4] = "--state-dir";
      arguments[5] = dyno_state_dir_get ();
    }
  if (program)
    self->process = g_subprocess_newv (arguments, G_SUBPROCESS_FLAGS_NONE, &error);
  else
    g_set_error (&error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND,
                 _ ("dynoctl, which runs the queue, is not installed"));
  if (!self->process)
    {
      g_signal_emit (self, signals[FAILED], 0, error);
      return;
    }
  g_subprocess_wait_async (self->process, NULL, process_ended, g_object_ref (self));
  show_jobs (self);
}

static gboolean
poll_queue (gpointer data)
{
  DynoQueueCard *self = data;
  if (gtk_widget_get_mapped (GTK_WIDGET (self)))
    dyno_queue_card_refresh (self);
  return G_SOURCE_CONTINUE;
}

/* --- the widgets ------------------------------------------------------------------------------ */

static void
dyno_queue_card_dispose (GObject *object)
{
  DynoQueueCard *self = DYNO_QUEUE_CARD (object);
  self->list = NULL;
  g_clear_handle_id (&self->poll, g_source_remove);
  G_OBJECT_CLASS (dyno_queue_card_parent_class)->dispose (object);
}

static void
dyno_queue_card_finalize (GObject *object)
{
  DynoQueueCard *self = DYNO_QUEUE_CARD (object);
  g_clear_pointer (&self->jobs, g_ptr_array_unref);
  g_clear_object (&self->process);
  G_OBJECT_CLASS (dyno_queue_card_parent_class)->finalize (object);
}

static void
dyno_queue_card_class_init (DynoQueueCardClass *class)
{
  G_OBJECT_CLASS (class)->dispose = dyno_queue_card_dispose;
  G_OBJECT_CLASS (class)->finalize = dyno_queue_card_finalize;
  signals[FAILED] = g_signal_new ("failed", DYNO_TYPE_QUEUE_CARD, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                  NULL, G_TYPE_NONE, 1, G_TYPE_ERROR);
  signals[CHANGED] = g_signal_new ("changed", DYNO_TYPE_QUEUE_CARD, G_SIGNAL_RUN_LAST, 0, NULL,
                                   NULL, NULL, G_TYPE_NONE, 1, G_TYPE_UINT);
}

static void
dyno_queue_card_init (DynoQueueCard *self)
{
  GtkWidget *head = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 10),
            *title = gtk_label_new (_ ("Queue")), *scrolled = gtk_scrolled_window_new (NULL, NULL);
  gtk_orientable_set_orientation (GTK_ORIENTABLE (self), GTK_ORIENTATION_VERTICAL);
  gtk_box_set_spacing (GTK_BOX (self), 8);
  dyno_widget_add_class (title, "run-title", TRUE);
  self->count = gtk_label_new ("");
  dyno_widget_add_class (self->count, "caption", TRUE);
  self->start = gtk_button_new_with_mnemonic (_ ("Start the _Queue"));
  gtk_widget_set_tooltip_text (self->start,
                               _ ("One job after another; continues when this window is closed"));
  g_signal_connect_swapped (self->start, "clicked", G_CALLBACK (start_clicked), self);
  gtk_container_add (GTK_CONTAINER (head), title);
  gtk_container_add (GTK_CONTAINER (head), self->count);
  gtk_box_pack_end (GTK_BOX (head), self->start, FALSE, FALSE, 0);
  self->list = gtk_list_box_new ();
  dyno_widget_set_accessible_name (self->list, _ ("Queue"));
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
  gtk_widget_show_all (head);
  gtk_widget_show_all (scrolled);
  self->poll = g_timeout_add_seconds (POLL_S, poll_queue, self);
}

GtkWidget *
dyno_queue_card_new (void)
{
  return g_object_new (DYNO_TYPE_QUEUE_CARD, NULL);
}
