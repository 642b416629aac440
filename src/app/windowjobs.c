/* SPDX-License-Identifier: MIT */
/* The jobs of the queue in the window: they are added, edited, and started when the run of the
 * window has ended. */
#include "window-private.h"
#include "editbar.h"
#include "errorbar.h"
#include "jobspopover.h"
#include "keepfolder.h"
#include "queuebar.h"
#include "runpill.h"
#include "runspage.h"
#include "statusbar.h"
#include "toast.h"
#include "words.h"
#include <glib/gi18n.h>

static void
queue_failed (DynoWindow *self, const GError *error)
{
  dyno_error_bar_show_error (DYNO_ERROR_BAR (self->error_bar), _ ("The history cannot be used"),
                             error);
}

/* A job of several devices counts as using all. */
static gboolean
needs_device (const DynoJob *job, int device)
{
  return job->devices || job->device < 0 || device < 0 || job->device == device;
}

/* Whether what this window does uses the device of the next job.  The tuner and the test of the
 * first page use the chosen device. */
static gboolean
holds_device (DynoWindow *self)
{
  const GPtrArray *jobs = dyno_job_list_get (self->jobs);
  const DynoRunStatus *status = dyno_run_monitor_get_status (self->monitor);
  const DynoJob *own = dyno_run_monitor_is_active (self->monitor) && status->job
                           ? status->job
                           : dyno_setup_get_job (self->setup);
  for (guint i = 0; dyno_window_is_working (self) && i < jobs->len; i++)
    {
      const DynoQueuedJob *job = ((const DynoListedJob *) jobs->pdata[i])->queued;
      if (dyno_queued_job_is_open (job) && job->state != DYNO_QUEUED_RUNNING)
        return needs_device (job->job, own->device);
    }
  return FALSE;
}

void
dyno_window_update_jobs (DynoWindow *self)
{
  dyno_job_list_set_held (self->jobs, holds_device (self));
}

/* The edited job; NULL: it is no longer among the jobs. */
static const DynoQueuedJob *
find_edited (DynoWindow *self)
{
  const GPtrArray *jobs = dyno_job_list_get (self->jobs);
  for (guint i = 0; i < jobs->len; i++)
    {
      const DynoQueuedJob *job = ((const DynoListedJob *) jobs->pdata[i])->queued;
      if (job->id == self->edited)
        return job;
    }
  return NULL;
}

/* A job that the queue begins meanwhile keeps the settings that it had; those of the user stay in
 * the window. */
static void
look_at_edited (DynoWindow *self)
{
  const DynoQueuedJob *job = self->unedited ? find_edited (self) : NULL;
  if (!self->unedited
      || (job && (job->state == DYNO_QUEUED_WAITING || job->state == DYNO_QUEUED_FAILED)))
    return;
  dyno_window_end_editing (self);
  dyno_error_bar_show_text (DYNO_ERROR_BAR (self->error_bar), GTK_MESSAGE_INFO,
                            job ? _ ("The edited job has begun with its earlier settings")
                                : _ ("The edited job is no longer in the queue"),
                            _ ("Your changes are still in this window: start them, or put them "
                               "into the queue as another job."));
}

static void
jobs_changed (DynoWindow *self)
{
  dyno_status_bar_set_queue (DYNO_STATUS_BAR (self->status_bar),
                             dyno_job_list_count_open (self->jobs),
                             dyno_job_list_count_failed (self->jobs));
  look_at_edited (self);
  dyno_window_update_jobs (self);
  dyno_window_update_actions (self);
}

static void
queue_ended (DynoWindow *self, guint n_failed)
{
  guint n_open = dyno_job_list_count_open (self->jobs);
  g_autofree char *text =
      n_open > 0 ? g_strdup_printf (ngettext ("The queue was stopped: %u job is left",
                                              "The queue was stopped: %u jobs are left", n_open),
                                    n_open)
      : n_failed == 0
          ? g_strdup (_ ("The queue has ended"))
          : g_strdup_printf (ngettext ("The queue has ended: %u job has failed",
                                       "The queue has ended: %u jobs have failed", n_failed),
                             n_failed);
  dyno_toast_show (DYNO_TOAST (self->toast), text, NULL);
}

/* --- adding ----------------------------------------------------------------------------------- */

gboolean
dyno_window_queue_job (DynoWindow *self, gboolean begin, GError **error)
{
  g_autofree char *runs = dyno_run_monitor_get_runs_folder (self->monitor);
  if (!dyno_folder_can_keep (runs, error))
    return FALSE;
  if (begin)
    dyno_job_list_begin (self->jobs, dyno_setup_get_job (self->setup), runs);
  else
    dyno_job_list_add (self->jobs, dyno_setup_get_job (self->setup), runs);
  gboolean follows = dyno_run_monitor_is_active (self->monitor)
                     && dyno_jobs_popover_goes_on (DYNO_JOBS_POPOVER (self->jobs_popover));
  const DynoJob *job = dyno_setup_get_job (self->setup);
  g_autofree char *model = dyno_words_model (job->model), *data = dyno_words_data (job->data),
                  *text = NULL;
  if (begin && !dyno_job_list_get_running (self->jobs))
    text = g_strdup (_ ("The devices are being started"));
  else if (begin)
    /* Translators: model, data set; also the next three */
    text = g_strdup_printf (_ ("%s on %s was added to the queue, as the next job"), model, data);
  else if (follows)
    text = g_strdup_printf (
        _ ("%s on %s was added to the queue, which starts when this run has ended"), model, data);
  else if (dyno_job_list_get_running (self->jobs) || dyno_job_list_is_started (self->jobs))
    text = g_strdup_printf (_ ("%s on %s was added to the queue"), model, data);
  else
    text = g_strdup_printf (_ ("%s on %s was added to the queue, which is to be started (Ctrl+J)"),
                            model, data);
  dyno_toast_show (DYNO_TOAST (self->toast), text, NULL);
  return TRUE;
}

gboolean
dyno_window_queue_folds (DynoWindow *self, GError **error)
{
  const DynoJob *job = dyno_setup_get_job (self->setup);
  g_autofree char *runs = dyno_run_monitor_get_runs_folder (self->monitor),
                  *model = dyno_words_model (job->model), *data = dyno_words_data (job->data);
  guint n = (guint) job->settings.data_folds;
  if (!dyno_folder_can_keep (runs, error))
    return FALSE;
  for (guint fold = 1; fold <= n; fold++)
    {
      g_autoptr (DynoJob) one = dyno_job_copy (job);
      one->settings.data_fold = fold;
      g_free (one->name);
      /* Translators: the name of a run */
      one->name = g_strdup_printf (_ ("Fold %u of %u"), fold, n);
      dyno_job_list_add (self->jobs, one, runs);
    }
  /* Translators: number of folds, model, data set */
  g_autofree char *text =
      g_strdup_printf (ngettext ("%u fold of %s on %s was added to the queue",
                                 "%u folds of %s on %s were added to the queue", n),
                       n, model, data);
  dyno_toast_show (DYNO_TOAST (self->toast), text, NULL);
  return TRUE;
}

/* Two runs at a time would share the device's memory, and be slower than one after the other.  A
 * job of several devices counts as using all. */
gboolean
dyno_window_queue_holds_device (DynoWindow *self)
{
  const DynoListedJob *running = dyno_job_list_get_running (self->jobs);
  DynoUsedDevices used = dyno_setup_get_used_devices (self->setup);
  return running
         && (running->queued->job->devices || running->queued->job->device < 0
             || dyno_used_devices_have (&used, (guint) running->queued->job->device));
}

static void
show_folder (DynoWindow *self, const char *folder)
{
  dyno_runs_page_select (DYNO_RUNS_PAGE (self->runs_page), folder);
  dyno_window_show_page (self, "runs");
}

static void
show_run (DynoWindow *self, const DynoQueuedJob *job)
{
  show_folder (self, job->job->out_dir);
}

void
dyno_window_show_jobs (DynoWindow *self)
{
  GtkWidget *button = gtk_popover_get_relative_to (GTK_POPOVER (self->jobs_popover));
  if (gtk_widget_get_child_visible (button) && gtk_widget_get_visible (self->pill))
    gtk_toggle_button_set_active (GTK_TOGGLE_BUTTON (button), TRUE);
  else
    dyno_window_show_page (self, "runs");
}

/* --- editing ---------------------------------------------------------------------------------- */

/* A job of one device that names none keeps the device of the window. */
static void
use_devices_of (DynoWindow *self, const DynoJob *job)
{
  g_autofree char *number =
      job->device >= 0 && !job->devices ? g_strdup_printf ("%d", job->device) : NULL;
  dyno_setup_use_list (self->setup, number ? number : job->devices);
}

static void
edit_job (DynoWindow *self, const DynoQueuedJob *job)
{
  if (dyno_setup_is_locked (self->setup))
    return;
  if (!self->unedited)
    {
      dyno_state_save_setup (self->state, self->setup);
      self->unedited = dyno_job_copy (dyno_setup_get_job (self->setup));
    }
  self->edited = job->id;
  dyno_edit_bar_begin (DYNO_EDIT_BAR (self->edit_bar), job);
  dyno_setup_set_job (self->setup, job->job);
  use_devices_of (self, job->job);
  dyno_window_show_page (self, "train");
}

void
dyno_window_end_editing (DynoWindow *self)
{
  dyno_edit_bar_dismiss (DYNO_EDIT_BAR (self->edit_bar));
  g_clear_pointer (&self->unedited, dyno_job_unref);
}

/* Gives the window the settings back that it had before. */
static void
take_back (DynoWindow *self)
{
  g_autoptr (DynoJob) unedited = g_steal_pointer (&self->unedited);
  if (unedited && !dyno_setup_is_locked (self->setup))
    {
      dyno_setup_set_job (self->setup, unedited);
      use_devices_of (self, unedited);
    }
}

static void
edit_answered (DynoEditBar *bar, gint64 id, gboolean save, DynoWindow *self)
{
  if (save)
    {
      g_autoptr (DynoJob) job = dyno_job_copy (dyno_setup_get_job (self->setup));
      g_free (job->name);
      job->name = dyno_edit_bar_get_name (bar);
      dyno_job_list_change (self->jobs, id, job);
    }
  dyno_error_bar_dismiss (DYNO_ERROR_BAR (self->error_bar)); /* it was about the edited job */
  take_back (self);
}

/* --- going on --------------------------------------------------------------------------------- */

void
dyno_window_go_on_with_queue (DynoWindow *self)
{
  DynoSessionState state = dyno_run_monitor_get_status (self->monitor)->state;
  g_autoptr (GError) error = NULL;
  if (self->closing || (state != DYNO_SESSION_FINISHED && state != DYNO_SESSION_FAILED)
      || dyno_job_list_count_open (self->jobs) == 0 || dyno_job_list_get_running (self->jobs)
      || !dyno_jobs_popover_goes_on (DYNO_JOBS_POPOVER (self->jobs_popover)))
    return;
  if (!dyno_job_list_start (self->jobs, &error))
    queue_failed (self, error);
}

void
dyno_window_set_up_jobs (DynoWindow *self)
{
  self->jobs = dyno_job_list_new ();
  self->jobs_popover = dyno_jobs_popover_new (self->jobs);
  dyno_run_pill_set_jobs (DYNO_RUN_PILL (self->pill), self->jobs,
                          DYNO_JOBS_POPOVER (self->jobs_popover));
  dyno_runs_page_set_jobs (DYNO_RUNS_PAGE (self->runs_page), self->jobs);
  dyno_queue_bar_set_jobs (DYNO_QUEUE_BAR (self->queue_bar), self->jobs);
  g_signal_connect_object (self->jobs, "changed", G_CALLBACK (jobs_changed), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->jobs, "ended", G_CALLBACK (queue_ended), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (self->jobs, "begun", G_CALLBACK (show_folder), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (self->jobs, "failed", G_CALLBACK (queue_failed), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->jobs_popover, "failed", G_CALLBACK (queue_failed), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->jobs_popover, "edit", G_CALLBACK (edit_job), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->jobs_popover, "show-run", G_CALLBACK (show_run), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->runs_page, "edit", G_CALLBACK (edit_job), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (self->queue_bar, "show-run", G_CALLBACK (show_run), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect (self->edit_bar, "answered", G_CALLBACK (edit_answered), self);
}
