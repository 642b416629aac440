/* SPDX-License-Identifier: MIT */
/* The possible actions of the window.  They follow only from the states of the parts, and showing
 * them changes no state. */
#include "window-private.h"
#include "asyncmeter.h"
#include "editbar.h"
#include "errorbar.h"
#include "home.h"
#include "jobspopover.h"
#include "obstacles.h"
#include "runpill.h"
#include "setupstrip.h"
#include "statusbar.h"
#include "stopbar.h"
#include "tunepage.h"
#include "words.h"
#include <glib/gi18n.h>
#include <handy.h>

#define HELD_MS 250

static void
enable (DynoWindow *self, const char *name, gboolean enabled)
{
  g_simple_action_set_enabled (
      G_SIMPLE_ACTION (g_action_map_lookup_action (G_ACTION_MAP (self), name)), enabled);
}

gboolean
dyno_window_is_working (DynoWindow *self)
{
  return dyno_run_monitor_is_active (self->monitor)
         || dyno_tune_page_is_active (DYNO_TUNE_PAGE (self->tune_page))
         || dyno_home_is_testing (DYNO_HOME (self->home));
}

gboolean
dyno_window_is_idle (DynoWindow *self)
{
  return !self->closing && !dyno_window_is_working (self);
}

/* Shows the state of the run, in each frame. */
static void
show_status (DynoWindow *self)
{
  const DynoRunStatus *status = dyno_run_monitor_get_status (self->monitor);
  g_autofree char *title = dyno_run_pill_describe (status);
  const char *now = gtk_window_get_title (GTK_WINDOW (self));
  dyno_run_pill_show (DYNO_RUN_PILL (self->pill), status);
  dyno_status_bar_show (DYNO_STATUS_BAR (self->status_bar), self->setup, status);
  if (g_strcmp0 (now, title ? title : _ ("Dyno")) != 0)
    gtk_window_set_title (GTK_WINDOW (self), title ? title : _ ("Dyno"));
}

/* Before the first run, shows whether the next run can begin; the strip above shows its choices.
 * obstacle: why it cannot begin; NULL: it can, as far as the setup knows. */
static void
show_next_run (DynoWindow *self, const char *obstacle)
{
  DynoSetupStrip *strip = DYNO_SETUP_STRIP (self->strip);
  const DynoStepReason *no_folder = dyno_setup_step_find (
      dyno_setup_strip_get_step (strip, DYNO_SETUP_STEP_FOLDER), DYNO_STEP_BLOCKED);
  const char *advice = dyno_setup_get_advice (self->setup), *next = obstacle;
  if (!next && dyno_error_bar_has_error (DYNO_ERROR_BAR (self->error_bar)))
    next = "";
  else if (!next && no_folder)
    next = no_folder->text;
  else if (!next && dyno_window_queue_holds_device (self))
    next = _ ("Start puts this run into the queue, which uses the device.");
  else if (!next && advice)
    next = advice;
  else if (!next && dyno_setup_strip_get_state (strip) == DYNO_STEP_WARNING)
    next = _ ("Look at the warnings above, then press Start.");
  else if (!next)
    next = _ ("Everything is ready: press Start.");
  /* A name may contain characters of markup. */
  g_autofree char *text = g_markup_escape_text (next, -1);
  hdy_status_page_set_description (HDY_STATUS_PAGE (self->train_empty), text);
}

static gboolean
look_whether_held (gpointer data)
{
  DynoWindow *self = data;
  if (dyno_async_meter_count_left () > 0)
    return G_SOURCE_CONTINUE;
  self->held = 0;
  dyno_window_update_actions (self);
  return G_SOURCE_REMOVE;
}

gboolean
dyno_window_device_is_held (DynoWindow *self)
{
  if (dyno_async_meter_count_left () == 0)
    return FALSE;
  if (self->held == 0)
    self->held = g_timeout_add (HELD_MS, look_whether_held, self);
  return TRUE;
}

void
dyno_window_update_actions (DynoWindow *self)
{
  const DynoRunStatus *status = dyno_run_monitor_get_status (self->monitor);
  gboolean running = dyno_run_monitor_is_active (self->monitor),
           tuning = dyno_tune_page_is_active (DYNO_TUNE_PAGE (self->tune_page));
  gboolean paused = status->state == DYNO_SESSION_PAUSED;
  gboolean stoppable = running && status->state < DYNO_SESSION_STOPPING;
  g_autofree char *obstacle = dyno_obstacle_to_start (self->setup);
  gboolean idle = dyno_window_is_idle (self);
  gboolean may_open = !self->closing && !dyno_setup_is_locked (self->setup);
  gboolean held = dyno_window_device_is_held (self);
  DynoTunePage *tune_page = DYNO_TUNE_PAGE (self->tune_page);
  enable (self, "start", idle && !held && !obstacle);
  enable (self, "resume-interrupted",
          idle && !held && dyno_home_get_interrupted (DYNO_HOME (self->home)));
  enable (self, "resume-run", idle && !held);
  enable (self, "add-to-queue", !obstacle);
  enable (self, "add-folds-to-queue",
          !obstacle && dyno_setup_get_job (self->setup)->settings.data_folds > 1);
  dyno_edit_bar_set_savable (DYNO_EDIT_BAR (self->edit_bar), !obstacle);
  enable (self, "tune", idle && !held && dyno_tune_page_is_ready (tune_page));
  enable (self, "tune-go-on", idle && !held && dyno_tune_page_can_go_on (tune_page));
  enable (self, "quick-test", idle && !held && dyno_setup_get_device (self->setup));
  enable (self, "use-data", dyno_setup_get_info (self->setup) != NULL);
  enable (self, "pause", stoppable && (paused || status->state == DYNO_SESSION_RUNNING));
  enable (self, "release",
          stoppable && !status->released && (paused || status->state == DYNO_SESSION_RUNNING));
  enable (self, "preferences", self->state != NULL);
  enable (self, "stop", stoppable);
  enable (self, "discard", stoppable);
  enable (self, "stop-tune", tuning);
  enable (self, "use-best", idle && dyno_tune_page_has_best (tune_page));
  enable (self, "open-data", may_open);
  enable (self, "open-folder", may_open);
  enable (self, "open-file", may_open);
  enable (self, "open-settings", may_open);
  enable (self, "export-curves", status->n_steps > 0);
  enable (self, "undo", dyno_setup_can_step (self->setup, TRUE));
  enable (self, "redo", dyno_setup_can_step (self->setup, FALSE));

  if (!stoppable)
    dyno_stop_bar_dismiss (DYNO_STOP_BAR (self->stop_bar));
  gtk_widget_set_visible (self->start_button, !running);
  gtk_widget_set_visible (self->pause_button, running);
  gtk_widget_set_visible (self->stop_button, running);
  const char *reason = obstacle ? obstacle
                       : tuning ? _ ("The tuner is at work.")
                       : held   ? _ ("The measurement that was stopped still holds the device.")
                                : NULL;
  gtk_widget_set_tooltip_text (
      self->start_button, reason ? reason
                          : dyno_window_queue_holds_device (self)
                              ? _ ("Put these settings into the queue, which uses the device (F5)")
                              : _ ("Train (F5)"));
  show_next_run (self, reason);
  gtk_image_set_from_icon_name (GTK_IMAGE (self->pause_image),
                                paused ? "media-playback-start-symbolic"
                                       : "media-playback-pause-symbolic",
                                GTK_ICON_SIZE_BUTTON);
  gtk_label_set_text_with_mnemonic (GTK_LABEL (self->pause_label),
                                    paused ? _ ("_Resume") : _ ("_Pause"));
  if (status->state != DYNO_SESSION_NEW)
    gtk_stack_set_visible_child (GTK_STACK (self->train_stack), self->run_page);
  show_status (self);
  if (self->wanted && g_action_group_get_action_enabled (G_ACTION_GROUP (self), self->wanted))
    {
      g_autofree char *wanted = g_steal_pointer (&self->wanted);
      g_action_group_activate_action (G_ACTION_GROUP (self), wanted, NULL);
    }
}

/* Inhibits suspend while something is at work. */
static void
update_inhibition (DynoWindow *self)
{
  GtkApplication *application = gtk_window_get_application (GTK_WINDOW (self));
  gboolean working = dyno_window_is_working (self);
  if (working && self->inhibited == 0 && application)
    self->inhibited =
        gtk_application_inhibit (application, GTK_WINDOW (self), GTK_APPLICATION_INHIBIT_SUSPEND,
                                 _ ("A training or a measurement is in progress"));
  else if (!working && self->inhibited != 0 && application)
    gtk_application_uninhibit (application, self->inhibited);
  if (!working)
    self->inhibited = 0;
}

void
dyno_window_work_changed (DynoWindow *self)
{
  gboolean trains = dyno_run_monitor_is_active (self->monitor);
  dyno_setup_set_work (self->setup, trains                          ? DYNO_SETUP_TRAINS
                                    : dyno_window_is_working (self) ? DYNO_SETUP_MEASURES
                                                                    : DYNO_SETUP_IDLE);
  dyno_jobs_popover_set_editable (DYNO_JOBS_POPOVER (self->jobs_popover),
                                  !dyno_setup_is_locked (self->setup));
  update_inhibition (self);
  dyno_window_update_jobs (self);
  dyno_window_update_actions (self);
}
