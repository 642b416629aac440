/* SPDX-License-Identifier: MIT */
#include "queuebar.h"
#include "row.h"
#include "words.h"
#include <glib/gi18n.h>

struct _DynoQueueBar {
  GtkInfoBar parent_instance;
  GtkWidget *text;
  DynoJobList *jobs; /* NULL: not set yet */
};

enum { SHOW_RUN, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (DynoQueueBar, dyno_queue_bar, GTK_TYPE_INFO_BAR)

static void
update (DynoQueueBar *self)
{
  const DynoListedJob *job = dyno_job_list_get_running (self->jobs);
  gtk_widget_set_visible (GTK_WIDGET (self), job != NULL);
  if (!job)
    return;
  g_autofree char *model = dyno_words_model (job->queued->job->model),
                  *data = dyno_words_data (job->queued->job->data),
                  *progress = dyno_listed_job_describe (job), *text = NULL;
  /* Translators: model, data set, how far the job is: "Epoch 3 of 10" */
  text = g_strdup_printf (_ ("The queue trains %s on %s: %s"), model, data, progress);
  if (!g_str_equal (gtk_label_get_text (GTK_LABEL (self->text)), text))
    gtk_label_set_text (GTK_LABEL (self->text), text);
}

void
dyno_queue_bar_set_jobs (DynoQueueBar *self, DynoJobList *jobs)
{
  self->jobs = g_object_ref (jobs);
  g_signal_connect_object (jobs, "changed", G_CALLBACK (update), self, G_CONNECT_SWAPPED);
  update (self);
}

static void
dyno_queue_bar_response (GtkInfoBar *bar, int response)
{
  DynoQueueBar *self = DYNO_QUEUE_BAR (bar);
  const DynoListedJob *job = self->jobs ? dyno_job_list_get_running (self->jobs) : NULL;
  if (job && response == GTK_RESPONSE_ACCEPT)
    g_signal_emit (self, signals[SHOW_RUN], 0, job->queued);
}

static void
dyno_queue_bar_finalize (GObject *object)
{
  g_clear_object (&DYNO_QUEUE_BAR (object)->jobs);
  G_OBJECT_CLASS (dyno_queue_bar_parent_class)->finalize (object);
}

static void
dyno_queue_bar_class_init (DynoQueueBarClass *class)
{
  G_OBJECT_CLASS (class)->finalize = dyno_queue_bar_finalize;
  GTK_INFO_BAR_CLASS (class)->response = dyno_queue_bar_response;
  signals[SHOW_RUN] = g_signal_new ("show-run", DYNO_TYPE_QUEUE_BAR, G_SIGNAL_RUN_LAST, 0, NULL,
                                    NULL, NULL, G_TYPE_NONE, 1, G_TYPE_POINTER);
}

static void
dyno_queue_bar_init (DynoQueueBar *self)
{
  GtkInfoBar *bar = GTK_INFO_BAR (self);
  self->text = dyno_text_new ("", "numeric");
  gtk_label_set_width_chars (GTK_LABEL (self->text), 12); /* for a window of 360 pixels */
  gtk_widget_show (self->text);
  gtk_container_add (GTK_CONTAINER (gtk_info_bar_get_content_area (bar)), self->text);
  gtk_info_bar_add_button (bar, _ ("Show Its Curves"), GTK_RESPONSE_ACCEPT);
  gtk_widget_set_no_show_all (GTK_WIDGET (self), TRUE);
}
