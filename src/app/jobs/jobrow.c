/* SPDX-License-Identifier: MIT */
#include "jobrow.h"
#include "row.h"
#include "runlist.h"
#include "words.h"
#include <glib/gi18n.h>

struct _DynoJobRow {
  GtkListBoxRow parent_instance;
  DynoJobList *jobs;
  GtkWidget *title, *state, *settings, *progress, *pause, *resume, *edit, *copy, *retry, *remove;
  DynoJob *job;
  gint64 id;
  gboolean changeable, editable;
};

enum { EDIT, DROP, DROP_AFTER, REMOVE, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (DynoJobRow, dyno_job_row, GTK_TYPE_LIST_BOX_ROW)

/* --- dragging --------------------------------------------------------------------------------- */

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
               guint time, GtkListBoxRow *row)
{
  int at = gtk_list_box_row_get_index (row);
  gtk_selection_data_set (data, gdk_atom_intern_static_string (target.target), 32,
                          (const guchar *) &at, sizeof at);
}

/* A job that is dropped on the lower half of a row is placed after that row. */
static void
drag_data_received (GtkWidget *row, GdkDragContext *context, int x, int y, GtkSelectionData *data,
                    guint info, guint time, gpointer unused)
{
  int from;
  if (gtk_selection_data_get_length (data) != (int) sizeof from)
    return;
  memcpy (&from, gtk_selection_data_get_data (data), sizeof from);
  g_signal_emit (row, signals[y > gtk_widget_get_allocated_height (row) / 2 ? DROP_AFTER : DROP], 0,
                 from);
}

static GtkWidget *
new_handle (DynoJobRow *self)
{
  GtkWidget *handle = gtk_event_box_new ();
  gtk_container_add (GTK_CONTAINER (handle),
                     gtk_image_new_from_icon_name ("open-menu-symbolic", GTK_ICON_SIZE_MENU));
  gtk_widget_set_tooltip_text (handle,
                               _ ("Drag to another place; Alt with up and down moves it, too"));
  gtk_drag_source_set (handle, GDK_BUTTON1_MASK, &target, 1, GDK_ACTION_MOVE);
  g_signal_connect (handle, "drag-begin", G_CALLBACK (drag_begun), self);
  g_signal_connect (handle, "drag-data-get", G_CALLBACK (drag_data_get), self);
  gtk_drag_dest_set (GTK_WIDGET (self), GTK_DEST_DEFAULT_ALL, &target, 1, GDK_ACTION_MOVE);
  g_signal_connect (self, "drag-data-received", G_CALLBACK (drag_data_received), NULL);
  return handle;
}

/* --- the buttons ------------------------------------------------------------------------------ */

static void
edit_clicked (DynoJobRow *self)
{
  g_signal_emit (self, signals[EDIT], 0);
}

/* The copy's folder is beside the job's; the name stays with the job, since it tells jobs apart. */
static void
copy_clicked (DynoJobRow *self)
{
  g_autofree char *runs = g_path_get_dirname (self->job->out_dir);
  g_autoptr (DynoJob) copy = dyno_job_copy (self->job);
  g_clear_pointer (&copy->name, g_free);
  dyno_job_list_add (self->jobs, copy, runs);
}

/* The job is saved, and its process ends. */
static void
pause_clicked (DynoJobRow *self)
{
  gtk_widget_set_sensitive (self->pause, FALSE);
  dyno_job_list_stop (self->jobs);
}

static void
resume_clicked (DynoJobRow *self)
{
  dyno_job_list_resume (self->jobs, self->id);
}

static void
retry_clicked (DynoJobRow *self)
{
  dyno_job_list_retry (self->jobs, self->id);
}

static void
remove_clicked (DynoJobRow *self)
{
  g_signal_emit (self, signals[REMOVE], 0);
}

static GtkWidget *
add_button (DynoJobRow *self, GtkWidget *box, const char *icon, const char *help, GCallback clicked)
{
  GtkWidget *button = gtk_button_new_from_icon_name (icon, GTK_ICON_SIZE_MENU);
  gtk_button_set_relief (GTK_BUTTON (button), GTK_RELIEF_NONE);
  gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
  gtk_widget_set_tooltip_text (button, help);
  gtk_widget_set_no_show_all (button, TRUE);
  dyno_widget_set_accessible_name (button, help);
  g_signal_connect_swapped (button, "clicked", clicked, self);
  gtk_container_add (GTK_CONTAINER (box), button);
  return button;
}

/* --- the row ---------------------------------------------------------------------------------- */

gint64
dyno_job_row_get_id (DynoJobRow *self)
{
  return self->id;
}

void
dyno_job_row_set_editable (DynoJobRow *self, gboolean editable)
{
  self->editable = editable;
  gtk_widget_set_visible (self->edit, self->changeable && editable);
}

static char *
describe_settings (const DynoJob *job)
{
  g_autofree char *settings = dyno_run_list_describe_settings (&job->settings);
  if (job->weights_in)
    {
      g_autofree char *weights = dyno_words_weights (job->weights_in),
                      *before = g_steal_pointer (&settings);
      /* Translators: a file of weights; settings */
      settings = g_strdup_printf (_ ("Start weights %s; %s"), weights, before);
    }
  if (!job->devices)
    return g_steal_pointer (&settings);
  /* Translators: numbers of devices; settings */
  return g_strdup_printf (_ ("Devices %s; %s"), job->devices, settings);
}

void
dyno_job_row_show (DynoJobRow *self, const DynoListedJob *listed)
{
  const DynoQueuedJob *queued = listed->queued;
  gboolean failed = queued->state == DYNO_QUEUED_FAILED,
           runs = queued->state == DYNO_QUEUED_RUNNING,
           started = dyno_job_list_is_started (self->jobs);
  g_autofree char *model = dyno_words_model (queued->job->model),
                  *data = dyno_words_data (queued->job->data),
                  *settings = describe_settings (queued->job),
                  *state = dyno_listed_job_describe (listed), *title = NULL, *name = NULL;
  /* Translators: model, data set */
  g_autofree char *both = g_strdup_printf (_ ("%s on %s"), model, data);
  title = queued->job->name ? g_strdup_printf ("%s: %s", queued->job->name, both)
                            : g_steal_pointer (&both);
  name = g_strdup_printf ("%s, %s", title, dyno_listed_job_get_state (listed));
  dyno_job_unref (self->job);
  self->job = dyno_job_copy (queued->job);
  self->id = queued->id;
  self->changeable = queued->state == DYNO_QUEUED_WAITING || failed;
  gtk_label_set_text (GTK_LABEL (self->title), title);
  gtk_label_set_text (GTK_LABEL (self->state), state);
  gtk_label_set_text (GTK_LABEL (self->settings),
                      failed && listed->error ? listed->error : settings);
  gtk_widget_set_tooltip_text (self->settings, failed ? listed->error : NULL);
  dyno_widget_add_class (self->state, "bad-text", failed);
  gtk_progress_bar_set_fraction (GTK_PROGRESS_BAR (self->progress),
                                 dyno_listed_job_get_fraction (listed));
  gtk_widget_set_visible (self->progress, runs);
  gtk_widget_set_visible (self->retry, failed);
  if (!runs)
    gtk_widget_set_sensitive (self->pause, TRUE); /* of its next attempt */
  gtk_widget_set_visible (self->pause, runs && dyno_job_list_can_stop (self->jobs));
  gtk_widget_set_visible (self->resume, queued->state == DYNO_QUEUED_STOPPED && !started
                                            && !dyno_job_list_is_held (self->jobs)
                                            && !dyno_job_list_get_running (self->jobs));
  gtk_widget_set_sensitive (self->remove, !runs);
  dyno_job_row_set_editable (self, self->editable);
  dyno_widget_set_accessible_name (GTK_WIDGET (self), name);
}

static GtkWidget *
new_label (gboolean caption)
{
  GtkWidget *label = gtk_label_new ("");
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  dyno_widget_add_class (label, "caption", caption);
  return label;
}

static void
dyno_job_row_finalize (GObject *object)
{
  DynoJobRow *self = DYNO_JOB_ROW (object);
  g_clear_object (&self->jobs);
  dyno_job_unref (self->job);
  G_OBJECT_CLASS (dyno_job_row_parent_class)->finalize (object);
}

static void
dyno_job_row_class_init (DynoJobRowClass *class)
{
  GType type = DYNO_TYPE_JOB_ROW;
  G_OBJECT_CLASS (class)->finalize = dyno_job_row_finalize;
  signals[EDIT] =
      g_signal_new ("edit", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  signals[DROP] = g_signal_new ("drop", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE,
                                1, G_TYPE_INT);
  signals[REMOVE] =
      g_signal_new ("take-out", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  signals[DROP_AFTER] = g_signal_new ("drop-after", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                      G_TYPE_NONE, 1, G_TYPE_INT);
}

static void
dyno_job_row_init (DynoJobRow *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 2),
            *texts = gtk_box_new (GTK_ORIENTATION_VERTICAL, 1),
            *line = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8);
  self->title = new_label (FALSE);
  self->state = new_label (TRUE);
  gtk_label_set_ellipsize (GTK_LABEL (self->state), PANGO_ELLIPSIZE_NONE);
  self->settings = new_label (TRUE);
  dyno_widget_add_class (self->settings, "dim-label", TRUE);
  self->progress = gtk_progress_bar_new ();
  dyno_widget_add_class (self->progress, "thin", TRUE);
  dyno_widget_set_accessible_name (self->progress, _ ("How far the run is"));
  gtk_widget_set_no_show_all (self->progress, TRUE);
  gtk_container_add (GTK_CONTAINER (line), self->state);
  gtk_box_pack_start (GTK_BOX (line), self->settings, TRUE, TRUE, 0);
  gtk_container_add (GTK_CONTAINER (texts), self->title);
  gtk_container_add (GTK_CONTAINER (texts), line);
  gtk_container_add (GTK_CONTAINER (texts), self->progress);
  gtk_widget_set_margin_start (texts, 8);
  gtk_container_add (GTK_CONTAINER (box), new_handle (self));
  gtk_box_pack_start (GTK_BOX (box), texts, TRUE, TRUE, 0);
  self->pause =
      add_button (self, box, "media-playback-pause-symbolic",
                  _ ("Save it, free the device, and run no other job"), G_CALLBACK (pause_clicked));
  self->resume = add_button (self, box, "media-playback-start-symbolic",
                             _ ("Continue where it was saved"), G_CALLBACK (resume_clicked));
  self->retry =
      add_button (self, box, "view-refresh-symbolic",
                  _ ("Try again, from the checkpoint if there is one"), G_CALLBACK (retry_clicked));
  self->edit = add_button (self, box, "document-edit-symbolic", _ ("Edit the settings"),
                           G_CALLBACK (edit_clicked));
  self->copy = add_button (self, box, "edit-copy-symbolic", _ ("Add the same job once more"),
                           G_CALLBACK (copy_clicked));
  self->remove = add_button (self, box, "list-remove-symbolic", _ ("Take out of the queue"),
                             G_CALLBACK (remove_clicked));
  g_object_set (box, "margin-start", 10, "margin-end", 6, "margin-top", 5, "margin-bottom", 5,
                NULL);
  gtk_container_add (GTK_CONTAINER (self), box);
  gtk_widget_show_all (GTK_WIDGET (self));
  gtk_widget_show (self->copy);
  gtk_widget_show (self->remove);
}

GtkWidget *
dyno_job_row_new (DynoJobList *jobs, const DynoListedJob *job, gboolean editable)
{
  DynoJobRow *self = g_object_new (DYNO_TYPE_JOB_ROW, NULL);
  self->jobs = g_object_ref (jobs);
  self->editable = editable;
  dyno_job_row_show (self, job);
  return GTK_WIDGET (self);
}
