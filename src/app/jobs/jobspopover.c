/* SPDX-License-Identifier: MIT */
#include "jobspopover.h"
#include "queuecard.h"
#include "row.h"
#include <glib/gi18n.h>

#define WIDTH 380

struct _DynoJobsPopover {
  GtkPopover parent_instance;
  GtkWidget *body, *run, *what, *progress, *bar, *queue, *none, *goes_on;
  DynoJobList *jobs;
  gboolean active; /* the run of this window has not ended */
};

enum { FAILED, EDIT, SHOW, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (DynoJobsPopover, dyno_jobs_popover, GTK_TYPE_POPOVER)

static void
set_text (GtkWidget *label, const char *text)
{
  if (!g_str_equal (gtk_label_get_text (GTK_LABEL (label)), text))
    gtk_label_set_text (GTK_LABEL (label), text);
}

static void
update (DynoJobsPopover *self)
{
  guint n_open = dyno_job_list_count_open (self->jobs);
  gtk_widget_set_visible (self->none, dyno_job_list_get (self->jobs)->len == 0);
  gtk_widget_set_visible (self->goes_on,
                          self->active && n_open > 0 && !dyno_job_list_get_running (self->jobs));
}

void
dyno_jobs_popover_show_run (DynoJobsPopover *self, const char *what, const char *progress,
                            double fraction, gboolean active)
{
  gtk_widget_set_visible (self->run, what != NULL);
  if (what)
    {
      set_text (self->what, what);
      set_text (self->progress, progress);
      gtk_progress_bar_set_fraction (GTK_PROGRESS_BAR (self->bar), fraction);
    }
  if (active != self->active)
    {
      self->active = active;
      update (self);
    }
}

void
dyno_jobs_popover_set_editable (DynoJobsPopover *self, gboolean editable)
{
  dyno_queue_card_set_editable (DYNO_QUEUE_CARD (self->queue), editable);
}

gboolean
dyno_jobs_popover_goes_on (DynoJobsPopover *self)
{
  return gtk_toggle_button_get_active (GTK_TOGGLE_BUTTON (self->goes_on));
}

void
dyno_jobs_popover_set_state (DynoJobsPopover *self, DynoState *state)
{
  if (state)
    g_settings_bind (state, "queue-goes-on", self->goes_on, "active", G_SETTINGS_BIND_DEFAULT);
}

static void
emit_failed (DynoJobsPopover *self, const GError *error)
{
  gtk_popover_popdown (GTK_POPOVER (self));
  g_signal_emit (self, signals[FAILED], 0, error);
}

static void
emit_edit (DynoJobsPopover *self, gpointer job)
{
  gtk_popover_popdown (GTK_POPOVER (self));
  g_signal_emit (self, signals[EDIT], 0, job);
}

static void
emit_show (DynoJobsPopover *self, gpointer job)
{
  gtk_popover_popdown (GTK_POPOVER (self));
  g_signal_emit (self, signals[SHOW], 0, job);
}

/* The jobs may have been changed by another program since they were read. */
static void
dyno_jobs_popover_map (GtkWidget *widget)
{
  GTK_WIDGET_CLASS (dyno_jobs_popover_parent_class)->map (widget);
  dyno_job_list_refresh (DYNO_JOBS_POPOVER (widget)->jobs);
}

static void
dyno_jobs_popover_dispose (GObject *object)
{
  DynoJobsPopover *self = DYNO_JOBS_POPOVER (object);
  if (self->jobs)
    g_signal_handlers_disconnect_by_data (self->jobs, self);
  G_OBJECT_CLASS (dyno_jobs_popover_parent_class)->dispose (object);
}

static void
dyno_jobs_popover_finalize (GObject *object)
{
  g_clear_object (&DYNO_JOBS_POPOVER (object)->jobs);
  G_OBJECT_CLASS (dyno_jobs_popover_parent_class)->finalize (object);
}

static void
dyno_jobs_popover_class_init (DynoJobsPopoverClass *class)
{
  GType type = DYNO_TYPE_JOBS_POPOVER;
  G_OBJECT_CLASS (class)->dispose = dyno_jobs_popover_dispose;
  G_OBJECT_CLASS (class)->finalize = dyno_jobs_popover_finalize;
  GTK_WIDGET_CLASS (class)->map = dyno_jobs_popover_map;
  signals[FAILED] = g_signal_new ("failed", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                  G_TYPE_NONE, 1, G_TYPE_ERROR);
  signals[EDIT] = g_signal_new ("edit", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE,
                                1, G_TYPE_POINTER);
  signals[SHOW] = g_signal_new ("show-run", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                G_TYPE_NONE, 1, G_TYPE_POINTER);
}

/* A button that shows a page of the window, and closes the popover. */
static GtkWidget *
new_page_button (DynoJobsPopover *self, const char *page, const char *name)
{
  GtkWidget *button = gtk_button_new ();
  gtk_button_set_relief (GTK_BUTTON (button), GTK_RELIEF_NONE);
  gtk_actionable_set_action_name (GTK_ACTIONABLE (button), "win.page");
  gtk_actionable_set_action_target (GTK_ACTIONABLE (button), "s", page);
  dyno_widget_set_accessible_name (button, name);
  g_signal_connect_swapped (button, "clicked", G_CALLBACK (gtk_popover_popdown), self);
  return button;
}

static void
add_run (DynoJobsPopover *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 3),
            *line = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 10);
  self->run = new_page_button (self, "train", _ ("Show the run"));
  gtk_widget_set_tooltip_text (self->run, _ ("Show the run"));
  self->what = gtk_label_new ("");
  self->progress = gtk_label_new ("");
  self->bar = gtk_progress_bar_new ();
  gtk_label_set_ellipsize (GTK_LABEL (self->what), PANGO_ELLIPSIZE_END);
  gtk_label_set_xalign (GTK_LABEL (self->what), 0);
  dyno_widget_add_class (self->progress, "numeric", TRUE);
  dyno_widget_add_class (self->bar, "thin", TRUE);
  dyno_widget_set_accessible_name (self->bar, _ ("How far the run is"));
  gtk_box_pack_start (GTK_BOX (line), self->what, TRUE, TRUE, 0);
  gtk_container_add (GTK_CONTAINER (line), self->progress);
  gtk_container_add (GTK_CONTAINER (box), line);
  gtk_container_add (GTK_CONTAINER (box), self->bar);
  gtk_container_add (GTK_CONTAINER (self->run), box);
  gtk_widget_show_all (box);
  gtk_container_add (GTK_CONTAINER (self->body), self->run);
}

static void
dyno_jobs_popover_init (DynoJobsPopover *self)
{
  self->body = gtk_box_new (GTK_ORIENTATION_VERTICAL, 10);
  g_object_set (self->body, "margin", 10, "width-request", WIDTH, NULL);
  gtk_container_add (GTK_CONTAINER (self), self->body);
  dyno_widget_set_accessible_name (GTK_WIDGET (self), _ ("Jobs"));
  add_run (self);
  self->none = gtk_label_new (_ ("No job waits. The plus in the header bar puts the settings of "
                                 "this window into the queue, to run later as they are now."));
  g_object_set (self->none, "wrap", TRUE, "xalign", 0.0, "max-width-chars", 44, "margin-start", 6,
                NULL);
  dyno_widget_add_class (self->none, "dim-label", TRUE);
  self->goes_on = gtk_check_button_new_with_label (_ ("Start the queue when this run has ended"));
  gtk_toggle_button_set_active (GTK_TOGGLE_BUTTON (self->goes_on), TRUE);
  gtk_widget_set_margin_start (self->goes_on, 6);
  gtk_widget_show (self->body);
}

GtkWidget *
dyno_jobs_popover_new (DynoJobList *jobs)
{
  DynoJobsPopover *self = g_object_new (DYNO_TYPE_JOBS_POPOVER, NULL);
  GtkWidget *all = new_page_button (self, "runs", _ ("All Runs"));
  self->jobs = g_object_ref (jobs);
  self->queue = dyno_queue_card_new (jobs);
  g_signal_connect_object (self->queue, "failed", G_CALLBACK (emit_failed), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->queue, "edit", G_CALLBACK (emit_edit), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (self->queue, "show-run", G_CALLBACK (emit_show), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (jobs, "changed", G_CALLBACK (update), self, G_CONNECT_SWAPPED);
  gtk_button_set_label (GTK_BUTTON (all), _ ("All Runs"));
  gtk_widget_show (all);
  gtk_container_add (GTK_CONTAINER (self->body), self->queue);
  gtk_container_add (GTK_CONTAINER (self->body), self->goes_on);
  gtk_container_add (GTK_CONTAINER (self->body), self->none);
  gtk_container_add (GTK_CONTAINER (self->body), all);
  update (self);
  return GTK_WIDGET (self);
}
