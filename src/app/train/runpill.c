/* SPDX-License-Identifier: MIT */
/* Texts are set only where they change, since the run's status changes at each frame. */
#include "runpill.h"
#include "row.h"
#include "words.h"
#include <glib/gi18n.h>

struct _DynoRunPill {
  GtkStack parent_instance;
  GtkWidget *title, *button, *what, *percent, *waiting, *progress;
  DynoJobList *jobs;        /* NULL: there is no queue */
  DynoJobsPopover *popover; /* owned by the button */
  gboolean empty;           /* there is no run and no job */
};

G_DEFINE_FINAL_TYPE (DynoRunPill, dyno_run_pill, GTK_TYPE_STACK)

char *
dyno_run_pill_describe (const DynoRunStatus *s)
{
  if (!s->job || s->state == DYNO_SESSION_NEW || s->state >= DYNO_SESSION_FINISHED)
    return NULL;
  g_autofree char *data = dyno_words_data (s->job->data), *progress = dyno_words_run_progress (s);
  /* Translators: the window's title: how far a run is, data set: "43 %, MNIST" */
  return g_strdup_printf (_ ("%s, %s"), progress, data);
}

static void
set_text (GtkWidget *label, const char *text)
{
  if (!g_str_equal (gtk_label_get_text (GTK_LABEL (label)), text))
    gtk_label_set_text (GTK_LABEL (label), text);
}

/* fraction: less than 0: nothing is in progress. */
static void
show (DynoRunPill *self, const char *what, const char *progress, double fraction, gboolean bad)
{
  set_text (self->what, what);
  set_text (self->percent, progress);
  dyno_widget_add_class (self->percent, "bad-text", bad);
  gtk_progress_bar_set_fraction (GTK_PROGRESS_BAR (self->progress), MAX (fraction, 0));
  gtk_widget_set_visible (self->progress, fraction >= 0);
}

/* Shows the job that the queue runs; NULL: only the number of jobs. */
static void
show_job (DynoRunPill *self, const DynoListedJob *job, guint n_open)
{
  g_autofree char *model = job ? dyno_words_model (job->queued->job->model) : NULL,
                  *data = job ? dyno_words_data (job->queued->job->data) : NULL,
                  *progress =
                      job ? dyno_listed_job_describe (job)
                          : g_strdup_printf (ngettext ("%u job", "%u jobs", n_open), n_open);
  /* Translators: model, data set */
  g_autofree char *what = job ? g_strdup_printf (_ ("%s on %s"), model, data) : NULL;
  show (self, what ? what : _ ("Queue"), progress, job ? dyno_listed_job_get_fraction (job) : -1,
        FALSE);
}

/* Shows how many jobs wait beside the run that is shown. */
static void
show_waiting (DynoRunPill *self, guint n)
{
  g_autofree char *text = g_strdup_printf ("+%u", n),
                  *help = g_strdup_printf (ngettext ("%u job waits", "%u jobs wait", n), n);
  gtk_widget_set_visible (self->waiting, n > 0);
  if (n == 0)
    return;
  set_text (self->waiting, text);
  dyno_widget_set_accessible_name (self->waiting, help);
}

/* Shows the jobs that failed, once none is left that the queue would run. */
static void
show_failed (DynoRunPill *self, guint n)
{
  g_autofree char *text = g_strdup_printf (ngettext ("%u job failed", "%u jobs failed", n), n);
  show (self, _ ("Queue"), text, -1, TRUE);
}

static gboolean
is_open (DynoRunPill *self)
{
  return self->popover && gtk_widget_get_visible (GTK_WIDGET (self->popover));
}

static void
popover_closed (DynoRunPill *self)
{
  if (self->empty)
    gtk_stack_set_visible_child (GTK_STACK (self), self->title);
}

void
dyno_run_pill_show (DynoRunPill *self, const DynoRunStatus *s)
{
  const DynoListedJob *queued = self->jobs ? dyno_job_list_get_running (self->jobs) : NULL;
  guint n_open = self->jobs ? dyno_job_list_count_open (self->jobs) : 0;
  guint n_failed = self->jobs && n_open == 0 ? dyno_job_list_count_failed (self->jobs) : 0;
  gboolean going = s->job && s->state < DYNO_SESSION_FINISHED;
  gboolean shows_run = s->job && (going || (!queued && n_failed == 0));
  self->empty = !s->job && n_open == 0 && n_failed == 0;
  /* A job that was taken out last can be put back while the list is open. */
  gtk_stack_set_visible_child (GTK_STACK (self),
                               self->empty && !is_open (self) ? self->title : self->button);
  show_waiting (self, shows_run || queued ? n_open - (!shows_run ? 1 : 0) : 0);
  if (!shows_run && n_open > 0)
    show_job (self, queued, n_open);
  else if (!shows_run && n_failed > 0)
    show_failed (self, n_failed);
  else if (self->empty)
    show_job (self, NULL, 0);
  if (self->popover && !s->job)
    dyno_jobs_popover_show_run (self->popover, NULL, "", 0, FALSE);
  if (!s->job)
    return;
  g_autofree char *model = dyno_words_model (s->job->model), *data = dyno_words_data (s->job->data);
  /* Translators: model, data set */
  g_autofree char *what = g_strdup_printf (_ ("%s on %s"), model, data);
  g_autofree char *percent = dyno_words_run_progress (s);
  double fraction = dyno_words_run_fraction (s);
  if (shows_run)
    show (self, what, percent, fraction, s->state == DYNO_SESSION_FAILED);
  if (self->popover)
    dyno_jobs_popover_show_run (self->popover, what, percent, fraction, going);
}

void
dyno_run_pill_set_jobs (DynoRunPill *self, DynoJobList *jobs, DynoJobsPopover *popover)
{
  self->jobs = g_object_ref (jobs);
  self->popover = popover;
  gtk_menu_button_set_popover (GTK_MENU_BUTTON (self->button), GTK_WIDGET (popover));
  g_signal_connect_object (popover, "closed", G_CALLBACK (popover_closed), self, G_CONNECT_SWAPPED);
}

static void
dyno_run_pill_finalize (GObject *object)
{
  g_clear_object (&DYNO_RUN_PILL (object)->jobs);
  G_OBJECT_CLASS (dyno_run_pill_parent_class)->finalize (object);
}

static void
dyno_run_pill_destroy (GtkWidget *widget)
{
  DYNO_RUN_PILL (widget)->popover = NULL;
  GTK_WIDGET_CLASS (dyno_run_pill_parent_class)->destroy (widget);
}

static void
dyno_run_pill_class_init (DynoRunPillClass *class)
{
  G_OBJECT_CLASS (class)->finalize = dyno_run_pill_finalize;
  GTK_WIDGET_CLASS (class)->destroy = dyno_run_pill_destroy;
}

static void
dyno_run_pill_init (DynoRunPill *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 3),
            *line = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 10);
  self->title = gtk_label_new (_ ("Dyno"));
  dyno_widget_add_class (self->title, "title", TRUE);
  gtk_label_set_ellipsize (GTK_LABEL (self->title), PANGO_ELLIPSIZE_END);
  self->button = gtk_menu_button_new ();
  self->what = gtk_label_new ("");
  self->percent = gtk_label_new ("");
  self->waiting = gtk_label_new ("");
  self->progress = gtk_progress_bar_new ();
  gtk_label_set_ellipsize (GTK_LABEL (self->what), PANGO_ELLIPSIZE_END);
  gtk_label_set_width_chars (GTK_LABEL (self->what), 4); /* for a window of 360 pixels */
  gtk_label_set_max_width_chars (GTK_LABEL (self->what), 34);
  gtk_label_set_xalign (GTK_LABEL (self->what), 0);
  dyno_widget_add_class (self->percent, "numeric", TRUE);
  dyno_widget_add_class (self->progress, "thin", TRUE);
  dyno_widget_add_class (self->button, "run-pill", TRUE);
  gtk_widget_set_valign (self->button, GTK_ALIGN_CENTER);
  gtk_widget_set_halign (self->button, GTK_ALIGN_CENTER);
  dyno_widget_set_accessible_name (self->progress, _ ("How far the run is"));
  gtk_box_pack_start (GTK_BOX (line), self->what, TRUE, TRUE, 0);
  gtk_container_add (GTK_CONTAINER (line), self->percent);
  gtk_widget_set_no_show_all (self->waiting, TRUE);
  dyno_widget_add_class (self->waiting, "numeric", TRUE);
  dyno_widget_add_class (self->waiting, "dim-label", TRUE);
  gtk_container_add (GTK_CONTAINER (line), self->waiting);
  gtk_container_add (GTK_CONTAINER (box), line);
  gtk_container_add (GTK_CONTAINER (box), self->progress);
  gtk_container_remove (GTK_CONTAINER (self->button), gtk_bin_get_child (GTK_BIN (self->button)));
  gtk_widget_set_valign (box, GTK_ALIGN_CENTER);
  gtk_container_add (GTK_CONTAINER (self->button), box);
  gtk_widget_set_tooltip_text (self->button, _ ("Show all jobs (Ctrl+J)"));
  dyno_widget_set_accessible_name (self->button, _ ("Jobs"));
  gtk_container_add (GTK_CONTAINER (self), self->title);
  gtk_container_add (GTK_CONTAINER (self), self->button);
  gtk_stack_set_hhomogeneous (GTK_STACK (self), FALSE);
  gtk_widget_show_all (GTK_WIDGET (self));
}
