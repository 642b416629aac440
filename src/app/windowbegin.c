/* SPDX-License-Identifier: MIT */
/* The commands that begin something: a run, a job of the queue, a search.  None begins if its
 * folder cannot be written to, since hours of work would be lost.  The user is then offered to
 * choose another folder, with which the command is repeated. */
#include "window-private.h"
#include "errorbar.h"
#include "export-dialog.h"
#include "home.h"
#include "runpage.h"
#include "runresume.h"
#include "tunepage.h"
#include <glib/gi18n.h>

/* Reports that nothing was begun, and stores the action or the job, to be repeated with another
 * folder. */
static void
offer_folder (DynoWindow *self, const char *title, const char *action, const DynoJob *job,
              const GError *error)
{
  self->unkept = action;
  g_clear_pointer (&self->unkept_job, dyno_job_unref);
  self->unkept_job = job ? dyno_job_copy (job) : NULL;
  dyno_error_bar_show_offer (DYNO_ERROR_BAR (self->error_bar), title, error->message,
                             _ ("Choose _Another Folder…"), "win.choose-runs-folder");
  dyno_window_look_at_paths (self);
}

static gboolean
begin_run (DynoWindow *self, const DynoJob *job, DynoDataset *dataset, GError **error)
{
  dyno_error_bar_dismiss (DYNO_ERROR_BAR (self->error_bar));
  dyno_window_show_page (self, "train");
  if (!dyno_run_monitor_start (self->monitor, job, dataset, error))
    return FALSE;
  dyno_window_end_editing (self);
  dyno_window_update_draining (self);
  dyno_window_work_changed (self);
  gtk_widget_grab_focus (self->pause_button);
  return TRUE;
}

static const char *
get_title_of_run (void)
{
  return _ ("The run was not started, since it could not be kept");
}

static void
add_to_queue_activated (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  DynoWindow *self = data;
  g_autoptr (GError) error = NULL;
  if (!dyno_window_queue_job (self, FALSE, &error))
    offer_folder (self, _ ("The job was not queued, since its run could not be kept"),
                  "add-to-queue", NULL, error);
}

/* Each fold validates the run of one job. */
static void
add_folds_to_queue_activated (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  DynoWindow *self = data;
  g_autoptr (GError) error = NULL;
  if (!dyno_window_queue_folds (self, &error))
    offer_folder (self, _ ("The folds were not queued, since their runs could not be kept"),
                  "add-folds-to-queue", NULL, error);
}

/* Several devices have a process each, which the queue starts. */
static void
start_on_several (DynoWindow *self)
{
  g_autoptr (GError) error = NULL;
  dyno_error_bar_dismiss (DYNO_ERROR_BAR (self->error_bar));
  if (dyno_window_queue_job (self, TRUE, &error))
    dyno_state_save_setup (self->state, self->setup);
  else
    offer_folder (self, get_title_of_run (), "start", NULL, error);
}

/* While the queue uses the device, the job waits for it in the queue. */
static void
start_activated (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  DynoWindow *self = data;
  g_autoptr (GError) error = NULL;
  if (dyno_window_queue_holds_device (self))
    {
      add_to_queue_activated (action, parameter, data);
      return;
    }
  if (dyno_setup_get_job (self->setup)->devices)
    {
      start_on_several (self);
      return;
    }
  if (begin_run (self, dyno_setup_get_job (self->setup), dyno_setup_get_dataset (self->setup),
                 &error))
    dyno_state_save_setup (self->state, self->setup);
  else
    offer_folder (self, get_title_of_run (), "start", NULL, error);
}

void
dyno_window_begin_job (DynoWindow *self, const DynoJob *job)
{
  g_autoptr (GError) error = NULL;
  if (!dyno_window_is_idle (self) || dyno_window_device_is_held (self))
    return;
  if (!begin_run (self, job, NULL, &error))
    offer_folder (self, get_title_of_run (), NULL, job, error);
}

static void
resume_interrupted_activated (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  DynoWindow *self = data;
  const DynoStoredRun *run = dyno_home_get_interrupted (DYNO_HOME (self->home));
  g_autoptr (DynoJob) job = run ? dyno_run_get_resuming_job (run) : NULL;
  if (job)
    dyno_window_begin_job (self, job);
}

static void
resume_run_activated (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  DynoWindow *self = data;
  g_autoptr (DynoJob) job = dyno_run_page_get_resuming_job (DYNO_RUN_PAGE (self->run_page));
  if (job)
    dyno_window_begin_job (self, job);
}

static void
begin_search (DynoWindow *self, gboolean go_on)
{
  g_autofree char *runs = dyno_run_monitor_get_runs_folder (self->monitor);
  g_autoptr (GError) error = NULL;
  dyno_error_bar_dismiss (DYNO_ERROR_BAR (self->error_bar));
  dyno_window_show_page (self, "tune");
  if (!dyno_tune_page_start (DYNO_TUNE_PAGE (self->tune_page), runs, go_on, &error))
    offer_folder (self, _ ("The search was not started, since it could not be kept"), "tune", NULL,
                  error);
}

static void
tune_activated (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  begin_search (data, FALSE);
}

static void
tune_go_on_activated (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  begin_search (data, TRUE);
}

/* Repeats the command; a job that was to be resumed in its own folder is resumed in a new one, from
 * the same checkpoint. */
static void
begin_again (DynoWindow *self)
{
  g_autoptr (DynoJob) job = g_steal_pointer (&self->unkept_job);
  const char *action = g_steal_pointer (&self->unkept);
  dyno_error_bar_dismiss (DYNO_ERROR_BAR (self->error_bar));
  if (job)
    {
      g_clear_pointer (&job->out_dir, g_free);
      dyno_window_begin_job (self, job);
    }
  else if (action)
    g_action_group_activate_action (G_ACTION_GROUP (self), action, NULL);
}

/* A path that is not valid UTF-8 cannot be stored in the preferences, and is used until the window
 * closes. */
void
dyno_window_take_runs_folder (DynoWindow *self, const char *path)
{
  if (self->state && g_utf8_validate (path, -1, NULL))
    g_settings_set_string (self->state, "runs-folder", path);
  else
    {
      dyno_run_monitor_set_runs_folder (self->monitor, path);
      dyno_tune_page_set_runs_folder (DYNO_TUNE_PAGE (self->tune_page), path);
      dyno_window_look_at_paths (self);
    }
  begin_again (self);
}

static void
folder_chosen (const char *path, const DynoExporter *exporter, gpointer data)
{
  dyno_window_take_runs_folder (data, path);
}

static void
choose_runs_folder_activated (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  dyno_dialog_open (data, _ ("Choose the folder for runs"), TRUE, NULL, NULL, folder_chosen, data);
}

/* The same, without a command to repeat. */
static void
change_runs_folder_activated (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  DynoWindow *self = data;
  self->unkept = NULL;
  g_clear_pointer (&self->unkept_job, dyno_job_unref);
  choose_runs_folder_activated (action, parameter, data);
}

static const GActionEntry entries[] = {
  { "start", start_activated },
  { "add-to-queue", add_to_queue_activated },
  { "add-folds-to-queue", add_folds_to_queue_activated },
  { "tune", tune_activated },
  { "tune-go-on", tune_go_on_activated },
  { "resume-run", resume_run_activated },
  { "resume-interrupted", resume_interrupted_activated },
  { "choose-runs-folder", choose_runs_folder_activated },
  { "change-runs-folder", change_runs_folder_activated },
};

void
dyno_window_add_begin_actions (DynoWindow *self)
{
  g_action_map_add_action_entries (G_ACTION_MAP (self), entries, G_N_ELEMENTS (entries), self);
}
