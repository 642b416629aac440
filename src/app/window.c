/* SPDX-License-Identifier: MIT */
/* The window.  It ties the setup (left), the monitor and the tuner (right) together: every command
 * is an action here, and what may be done follows from their states alone (update_actions, which
 * shows and changes none of them).  While something is at work the setup is locked (work_changed).
 *
 * While a run goes on the monitor is drained once a frame as long as the window is seen, and by a
 * slow timer in any case.  Closing in mid-run asks, then stops, and the window goes once the run is
 * saved and freed. */
#include "window.h"
#include "datapage.h"
#include "diagnosepage.h"
#include "errorbar.h"
#include "export-dialog.h"
#include "exportchooser.h"
#include "home.h"
#include "obstacles.h"
#include "rail.h"
#include "recentdata.h"
#include "row.h"
#include "runmonitor.h"
#include "runpage.h"
#include "runpill.h"
#include "runspage.h"
#include "settingspanel.h"
#include "statusbar.h"
#include "toast.h"
#include "tunepage.h"
#include "vrambar.h"
#include "words.h"
#include <glib/gi18n.h>
#include <handy.h>

#define SLOW_DRAIN_MS 400
#define FRAME_US      30000
/* Below these widths the rail becomes a bar at the bottom, and the settings lie over the run. */
#define NARROW_PIXELS 700
#define FOLD_PIXELS   960

struct _DynoWindow {
  GtkApplicationWindow parent_instance;
  GtkWidget *start_button, *queue_button, *pause_button, *pause_image, *pause_label, *stop_button,
      *pill;
  GtkWidget *settings_button, *rail, *bottom_bar, *status_bar, *error_bar, *toast, *pages;
  GtkWidget *home, *data_page, *train_flap, *train_stack, *train_empty, *run_page, *tune_page,
      *diagnose_page, *runs_page;
  GtkWidget *side, *side_scroll, *settings_panel, *vram_bar;
  DynoState *state;
  DynoSetup *setup;
  DynoRunMonitor *monitor;
  guint tick, timer;
  gint64 last_drain;
  guint fit, inhibited;
  char *wanted; /* an action to activate once it can be */
  int width;    /* as it was last fitted to */
  gboolean hidden, closing, ready;
};

G_DEFINE_FINAL_TYPE (DynoWindow, dyno_window, GTK_TYPE_APPLICATION_WINDOW)

static void
enable (DynoWindow *self, const char *name, gboolean enabled)
{
  g_simple_action_set_enabled (
      G_SIMPLE_ACTION (g_action_map_lookup_action (G_ACTION_MAP (self), name)), enabled);
}

/* Something uses the device. */
static gboolean
is_working (DynoWindow *self)
{
  return dyno_run_monitor_is_active (self->monitor)
         || dyno_tune_page_is_active (DYNO_TUNE_PAGE (self->tune_page))
         || dyno_home_is_testing (DYNO_HOME (self->home));
}

/* Nothing is at work, and the window stays. */
static gboolean
is_idle (DynoWindow *self)
{
  return !self->closing && !is_working (self);
}

static void
show_page (DynoWindow *self, const char *name)
{
  gtk_stack_set_visible_child_name (GTK_STACK (self->pages), name);
}

/* What is said about the run in each frame. */
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

/* In the place of a run that is not there yet: what the next one will train. */
static void
show_next_run (DynoWindow *self, const char *obstacle)
{
  const DynoJob *job = dyno_setup_get_job (self->setup);
  const DynoModel *model = job->model ? dyno_model_find (job->model, NULL) : NULL;
  g_autofree char *data = job->data ? dyno_words_data (job->data) : NULL;
  g_autofree char *what =
      model && data ? g_strdup_printf (_ ("%s on %s"), model->title, data) : g_strdup ("");
  /* A name may have what looks like markup. */
  g_autofree char *text = g_markup_printf_escaped (
      "%s\n%s", what, obstacle ? obstacle : _ ("Everything is ready: press Start."));
  hdy_status_page_set_description (HDY_STATUS_PAGE (self->train_empty), text);
}

static void
update_actions (DynoWindow *self)
{
  const DynoRunStatus *status = dyno_run_monitor_get_status (self->monitor);
  gboolean running = dyno_run_monitor_is_active (self->monitor),
           tuning = dyno_tune_page_is_active (DYNO_TUNE_PAGE (self->tune_page));
  gboolean paused = status->state == DYNO_SESSION_PAUSED;
  gboolean stoppable = running && status->state < DYNO_SESSION_STOPPING;
  g_autofree char *obstacle = dyno_obstacle_to_start (self->setup);
  const DynoJobPlan *plan = dyno_setup_get_plan (self->setup);
  gboolean idle = is_idle (self);
  /* The tuner rules out by itself what does not fit, so it may start where a run may not. */
  gboolean tunable = idle && (!obstacle || (plan && !plan->fits));
  enable (self, "start", idle && !obstacle);
  enable (self, "add-to-queue", !obstacle);
  enable (self, "tune", tunable);
  enable (self, "quick-test", idle && dyno_setup_get_device (self->setup));
  enable (self, "use-data", dyno_setup_get_info (self->setup) != NULL);
  enable (self, "pause", stoppable && (paused || status->state == DYNO_SESSION_RUNNING));
  enable (self, "stop", stoppable);
  enable (self, "discard", stoppable);
  enable (self, "stop-tune", tuning);
  enable (self, "use-best", idle && dyno_tune_page_has_best (DYNO_TUNE_PAGE (self->tune_page)));
  enable (self, "open-data", idle);
  enable (self, "open-folder", idle);
  enable (self, "open-file", idle);
  enable (self, "open-settings", idle);
  enable (self, "export-curves", status->n_steps > 0);
  enable (self, "undo", dyno_setup_can_step (self->setup, TRUE));
  enable (self, "redo", dyno_setup_can_step (self->setup, FALSE));

  gtk_widget_set_visible (self->start_button, !running);
  gtk_widget_set_visible (self->pause_button, running);
  gtk_widget_set_visible (self->stop_button, running);
  gtk_widget_set_tooltip_text (self->start_button, obstacle ? obstacle
                                                   : tuning ? _ ("The tuner is at work.")
                                                            : _ ("Train (F5)"));
  show_next_run (self, obstacle);
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

/* The machine does not go to sleep while something is at work. */
static void
update_inhibition (DynoWindow *self)
{
  GtkApplication *application = gtk_window_get_application (GTK_WINDOW (self));
  gboolean working = is_working (self);
  if (working && self->inhibited == 0 && application)
    self->inhibited =
        gtk_application_inhibit (application, GTK_WINDOW (self), GTK_APPLICATION_INHIBIT_SUSPEND,
                                 _ ("A training or a measurement goes on"));
  else if (!working && self->inhibited != 0 && application)
    gtk_application_uninhibit (application, self->inhibited);
  if (!working)
    self->inhibited = 0;
}

/* A run, the tuner or the window has begun or ended something. */
static void
work_changed (DynoWindow *self)
{
  dyno_setup_set_locked (self->setup, !is_idle (self));
  update_inhibition (self);
  update_actions (self);
}

/* Draining */

static gboolean
drain_in_frame (GtkWidget *widget, GdkFrameClock *clock, gpointer data)
{
  DynoWindow *self = DYNO_WINDOW (widget);
  gint64 now = gdk_frame_clock_get_frame_time (clock);
  if (now - self->last_drain >= FRAME_US)
    {
      self->last_drain = now;
      dyno_run_monitor_drain (self->monitor);
    }
  return G_SOURCE_CONTINUE;
}

static gboolean
drain_slowly (gpointer data)
{
  DynoWindow *self = data;
  dyno_run_monitor_drain (self->monitor);
  return G_SOURCE_CONTINUE;
}

static void
update_draining (DynoWindow *self)
{
  gboolean active = dyno_run_monitor_is_active (self->monitor);
  gboolean seen = active && !self->hidden && gtk_widget_get_mapped (GTK_WIDGET (self));
  if (active && self->timer == 0)
    self->timer = g_timeout_add (SLOW_DRAIN_MS, drain_slowly, self);
  else if (!active)
    g_clear_handle_id (&self->timer, g_source_remove);
  if (seen && self->tick == 0)
    self->tick = gtk_widget_add_tick_callback (GTK_WIDGET (self), drain_in_frame, NULL, NULL);
  else if (!seen && self->tick != 0)
    {
      gtk_widget_remove_tick_callback (GTK_WIDGET (self), self->tick);
      self->tick = 0;
    }
}

/* Run */

static void
start_activated (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  DynoWindow *self = data;
  dyno_error_bar_dismiss (DYNO_ERROR_BAR (self->error_bar));
  show_page (self, "train");
  dyno_run_monitor_start (self->monitor, dyno_setup_get_job (self->setup),
                          dyno_setup_get_dataset (self->setup));
  dyno_state_save_setup (self->state, self->setup);
  update_draining (self);
  work_changed (self);
  gtk_widget_grab_focus (self->pause_button);
}

static void
pause_activated (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  DynoWindow *self = data;
  if (dyno_run_monitor_get_status (self->monitor)->state == DYNO_SESSION_PAUSED)
    dyno_run_monitor_resume (self->monitor);
  else
    dyno_run_monitor_pause (self->monitor);
}

static void
stop_activated (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  dyno_run_monitor_stop (DYNO_WINDOW (data)->monitor);
}

static void
discard_activated (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  dyno_run_monitor_discard (DYNO_WINDOW (data)->monitor);
}

static void
run_failed (DynoRunMonitor *monitor, const GError *error, DynoWindow *self)
{
  dyno_error_bar_show_error (DYNO_ERROR_BAR (self->error_bar), _ ("The run failed"), error);
}

static void
run_warned (DynoRunMonitor *monitor, const char *text, DynoWindow *self)
{
  dyno_error_bar_show_text (DYNO_ERROR_BAR (self->error_bar), GTK_MESSAGE_WARNING,
                            _ ("Please note"), text);
}

static void
finish_closing (DynoWindow *self)
{
  if (self->closing && !is_working (self))
    gtk_widget_destroy (GTK_WIDGET (self));
}

/* For who looks at something else. */
static void
notify_of_run (DynoWindow *self)
{
  const DynoRunStatus *status = dyno_run_monitor_get_status (self->monitor);
  GtkApplication *application = gtk_window_get_application (GTK_WINDOW (self));
  if (!application || self->closing || !status->job || gtk_window_is_active (GTK_WINDOW (self)))
    return;
  g_autofree char *data = dyno_words_data (status->job->data);
  const char *state = dyno_words_session_state (status->state);
  g_autoptr (GNotification) notification = g_notification_new (state);
  const DynoModel *model = dyno_model_find (status->job->model, NULL);
  g_autofree char *body =
      g_strdup_printf (_ ("%s on %s"), model ? model->title : status->job->model, data);
  g_notification_set_body (notification, body);
  g_notification_set_default_action_and_target (notification, "app.show-page", "s", "train");
  g_notification_add_button_with_target (notification, _ ("Open"), "app.show-page", "s", "train");
  g_application_send_notification (G_APPLICATION (application), "run", notification);
}

static void
run_done (DynoRunMonitor *monitor, DynoWindow *self)
{
  gboolean had_focus =
      gtk_widget_has_focus (self->pause_button) || gtk_widget_has_focus (self->stop_button);
  update_draining (self);
  work_changed (self);
  if (had_focus)
    gtk_widget_grab_focus (self->start_button);
  if (gtk_widget_get_mapped (self->runs_page))
    dyno_runs_page_refresh (DYNO_RUNS_PAGE (self->runs_page));
  dyno_home_refresh (DYNO_HOME (self->home));
  notify_of_run (self);
  finish_closing (self);
}

static void
work_began_or_ended (DynoWindow *self)
{
  work_changed (self);
  finish_closing (self);
}

static void
quick_failed (DynoHome *page, const GError *error, DynoWindow *self)
{
  dyno_error_bar_show_error (DYNO_ERROR_BAR (self->error_bar), _ ("The quick test failed"), error);
}

static void
queue_known (DynoHome *page, guint n_waiting, DynoWindow *self)
{
  dyno_status_bar_set_queue (DYNO_STATUS_BAR (self->status_bar), n_waiting);
}

static void
tune_failed (DynoTunePage *page, const GError *error, DynoWindow *self)
{
  dyno_error_bar_show_error (DYNO_ERROR_BAR (self->error_bar), _ ("Tuning failed"), error);
}

static void
report_failed (DynoTunePage *page, const GError *error, DynoWindow *self)
{
  dyno_error_bar_show_error (DYNO_ERROR_BAR (self->error_bar), _ ("The report was not saved"),
                             error);
}

static void
history_failed (DynoRunsPage *page, const GError *error, DynoWindow *self)
{
  dyno_error_bar_show_error (DYNO_ERROR_BAR (self->error_bar), _ ("The history cannot be used"),
                             error);
}

static void
run_taken (DynoRunsPage *page, DynoWindow *self)
{
  show_page (self, "train");
}

static void
run_asked (DynoRunsPage *page, const DynoJob *job, DynoWindow *self)
{
  if (!is_idle (self))
    return;
  dyno_error_bar_dismiss (DYNO_ERROR_BAR (self->error_bar));
  show_page (self, "train");
  dyno_run_monitor_start (self->monitor, job, NULL);
  update_draining (self);
  work_changed (self);
  gtk_widget_grab_focus (self->pause_button);
}

static void
jobs_queued (DynoRunsPage *page, guint n, DynoWindow *self)
{
  dyno_status_bar_set_queue (DYNO_STATUS_BAR (self->status_bar), n);
}

static void
add_to_queue_activated (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  DynoWindow *self = data;
  dyno_runs_page_add_to_queue (DYNO_RUNS_PAGE (self->runs_page), dyno_setup_get_job (self->setup));
}

static void
tune_activated (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  DynoWindow *self = data;
  dyno_error_bar_dismiss (DYNO_ERROR_BAR (self->error_bar));
  show_page (self, "tune");
  dyno_tune_page_start (DYNO_TUNE_PAGE (self->tune_page));
}

static void
quick_test_activated (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  DynoWindow *self = data;
  dyno_error_bar_dismiss (DYNO_ERROR_BAR (self->error_bar));
  show_page (self, "home");
  dyno_home_start_quick_test (DYNO_HOME (self->home));
}

static void
use_data_activated (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  DynoWindow *self = data;
  show_page (self, "train");
  gtk_widget_grab_focus (self->start_button);
}

static void
stop_tune_activated (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  dyno_tune_page_stop (DYNO_TUNE_PAGE (DYNO_WINDOW (data)->tune_page));
}

static void
use_best_activated (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  DynoWindow *self = data;
  dyno_tune_page_use_best (DYNO_TUNE_PAGE (self->tune_page));
  show_page (self, "train");
}

static void
live_change (DynoSettingsPanel *panel, const char *key, DynoWindow *self)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *value = dyno_settings_get (&dyno_setup_get_job (self->setup)->settings, key);
  if (dyno_run_monitor_is_active (self->monitor)
      && !dyno_run_monitor_set (self->monitor, key, value, &error))
    dyno_error_bar_show_error (DYNO_ERROR_BAR (self->error_bar), _ ("The setting was not taken"),
                               error);
}

/* Files */

static void
open_settings (DynoWindow *self, const char *path)
{
  g_autoptr (DynoJob) job = dyno_job_copy (dyno_setup_get_job (self->setup));
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GError) error = NULL;
  if (!dyno_settings_file_read (path, job, warnings, &error))
    {
      dyno_error_bar_show_error (DYNO_ERROR_BAR (self->error_bar),
                                 _ ("The settings file cannot be read"), error);
      return;
    }
  dyno_error_bar_dismiss (DYNO_ERROR_BAR (self->error_bar));
  dyno_setup_set_job (self->setup, job);
  if (warnings->len == 0)
    return;
  g_ptr_array_add (warnings, NULL);
  g_autofree char *text = g_strjoinv ("\n", (char **) warnings->pdata);
  dyno_error_bar_show_text (DYNO_ERROR_BAR (self->error_bar), GTK_MESSAGE_WARNING,
                            _ ("Parts of the settings file were left out"), text);
}

/* By its name: a key file or Dyno's JSON. */
static gboolean
is_settings_file (const char *path)
{
  g_autofree char *lower = g_ascii_strdown (path, -1);
  return g_str_has_suffix (lower, ".dyno") || g_str_has_suffix (lower, ".ini")
         || g_str_has_suffix (lower, ".json");
}

void
dyno_window_open (DynoWindow *self, const char *path)
{
  if (dyno_setup_is_locked (self->setup))
    {
      g_autofree char *name = g_filename_display_basename (path);
      g_autofree char *title = g_strdup_printf (_ ("“%s” was not opened"), name);
      dyno_error_bar_show_text (
          DYNO_ERROR_BAR (self->error_bar), GTK_MESSAGE_INFO, title,
          _ ("A run or the tuner is at work. Stop it first, then open it again."));
      return;
    }
  if (g_str_equal (gtk_stack_get_visible_child_name (GTK_STACK (self->pages)), "home"))
    show_page (self, is_settings_file (path) ? "train" : "data");
  if (is_settings_file (path))
    {
      open_settings (self, path);
      return;
    }
  dyno_error_bar_dismiss (DYNO_ERROR_BAR (self->error_bar));
  dyno_setup_open_data (self->setup, path);
}

static void
path_chosen (const char *path, const DynoExporter *exporter, gpointer data)
{
  dyno_window_open (data, path);
}

static void
settings_chosen (const char *path, const DynoExporter *exporter, gpointer data)
{
  open_settings (data, path);
}

static void
open_data_activated (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  dyno_window_open (data, g_variant_get_string (parameter, NULL));
}

static void
open_folder_activated (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  dyno_dialog_open (data, _ ("Open a Folder of Samples"), TRUE, NULL, NULL, path_chosen, data);
}

static void
open_file_activated (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  dyno_dialog_open (data, _ ("Open a Data File"), FALSE, NULL, NULL, path_chosen, data);
}

static void
open_settings_activated (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  static const char *const patterns[] = { "*.dyno", "*.ini", "*.json", NULL };
  dyno_dialog_open (data, _ ("Open Settings"), FALSE, patterns,
                    _ ("Dyno settings (*.dyno, *.ini, *.json)"), settings_chosen, data);
}

static void
tell_exported (DynoWindow *self, const char *path)
{
  g_autofree char *name = g_filename_display_basename (path);
  /* Translators: a file's name */
  g_autofree char *text = g_strdup_printf (_ ("“%s” exported"), name);
  dyno_toast_show (DYNO_TOAST (self->toast), text, path);
}

static void
export_done (const char *path, const GError *error, gpointer data)
{
  DynoWindow *self = data;
  if (error)
    dyno_error_bar_show_error (DYNO_ERROR_BAR (self->error_bar),
                               _ ("The settings were not exported"), error);
  else
    tell_exported (self, path);
}

static void
export_settings_activated (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  DynoWindow *self = data;
  const DynoRunStatus *status = dyno_run_monitor_get_status (self->monitor);
  const DynoDeviceInfo *device = dyno_setup_get_device (self->setup);
  DynoExportContext context = { .job = dyno_setup_get_job (self->setup),
                                .device = device ? device->name : NULL };
  if (status->job && status->n_steps > 0
      && dyno_settings_equal (&status->job->settings, &context.job->settings))
    {
      context.samples_per_s =
          status->n_epochs > 0 ? status->epoch.samples_per_s : status->step.samples_per_s;
      context.vram_bytes = status->step.vram_bytes;
    }
  dyno_export_chooser_show (GTK_WINDOW (self), &context, dyno_setup_get_dataset (self->setup),
                            export_done, self);
}

static void
export_curves_chosen (const char *path, const DynoExporter *exporter, gpointer data)
{
  DynoWindow *self = data;
  g_autoptr (GError) error = NULL;
  if (dyno_run_page_export (DYNO_RUN_PAGE (self->run_page), path, &error))
    tell_exported (self, path);
  else
    dyno_error_bar_show_error (DYNO_ERROR_BAR (self->error_bar), _ ("The curves were not exported"),
                               error);
}

static void
export_curves_activated (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  dyno_dialog_export_curves (data, g_variant_get_string (parameter, NULL), "dyno-curves",
                             export_curves_chosen, data);
}

static void
plot_log_changed (GSimpleAction *action, GVariant *value, gpointer data)
{
  dyno_run_page_set_log (DYNO_RUN_PAGE (DYNO_WINDOW (data)->run_page),
                         g_variant_get_boolean (value));
  g_simple_action_set_state (action, value);
}

static void
plot_hold_changed (GSimpleAction *action, GVariant *value, gpointer data)
{
  dyno_run_page_set_held (DYNO_RUN_PAGE (DYNO_WINDOW (data)->run_page),
                          g_variant_get_boolean (value));
  g_simple_action_set_state (action, value);
}

/* The action's state follows the stack, which the bar at the bottom changes by itself. */
static void
page_changed (GSimpleAction *action, GVariant *value, gpointer data)
{
  show_page (data, g_variant_get_string (value, NULL));
}

static void
page_shown (DynoWindow *self)
{
  const char *name = gtk_stack_get_visible_child_name (GTK_STACK (self->pages));
  GAction *action = g_action_map_lookup_action (G_ACTION_MAP (self), "page");
  if (!name)
    return;
  g_simple_action_set_state (G_SIMPLE_ACTION (action), g_variant_new_string (name));
  gtk_widget_set_visible (self->settings_button, g_str_equal (name, "train"));
  /* The other pages have a next action of their own. */
  dyno_widget_add_class (self->start_button, "suggested-action", g_str_equal (name, "train"));
  if (self->ready && g_str_equal (name, "home"))
    dyno_home_refresh (DYNO_HOME (self->home));
}

static void
show_settings_changed (GSimpleAction *action, GVariant *value, gpointer data)
{
  DynoWindow *self = data;
  hdy_flap_set_reveal_flap (HDY_FLAP (self->train_flap), g_variant_get_boolean (value));
}

static void
flap_revealed (DynoWindow *self)
{
  GAction *action = g_action_map_lookup_action (G_ACTION_MAP (self), "show-settings");
  gboolean shown = hdy_flap_get_reveal_flap (HDY_FLAP (self->train_flap));
  g_simple_action_set_state (G_SIMPLE_ACTION (action), g_variant_new_boolean (shown));
}

static void
undo_activated (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  dyno_settings_panel_step (DYNO_SETTINGS_PANEL (DYNO_WINDOW (data)->settings_panel), TRUE);
}

static void
redo_activated (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  dyno_settings_panel_step (DYNO_SETTINGS_PANEL (DYNO_WINDOW (data)->settings_panel), FALSE);
}

static void
find_setting_activated (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  DynoWindow *self = data;
  gtk_stack_set_visible_child_name (GTK_STACK (self->pages), "train");
  hdy_flap_set_reveal_flap (HDY_FLAP (self->train_flap), TRUE);
  dyno_settings_panel_find (DYNO_SETTINGS_PANEL (self->settings_panel));
}

static const GActionEntry entries[] = {
  { "undo", undo_activated },
  { "redo", redo_activated },
  { "find-setting", find_setting_activated },
  { "start", start_activated },
  { "pause", pause_activated },
  { "stop", stop_activated },
  { "discard", discard_activated },
  { "add-to-queue", add_to_queue_activated },
  { "tune", tune_activated },
  { "stop-tune", stop_tune_activated },
  { "use-best", use_best_activated },
  { "open-data", open_data_activated, "s" },
  { "open-folder", open_folder_activated },
  { "open-file", open_file_activated },
  { "open-settings", open_settings_activated },
  { "export-settings", export_settings_activated },
  { "export-curves", export_curves_activated, "s" },
  { "page", NULL, "s", "'home'", page_changed },
  { "show-settings", NULL, NULL, "true", show_settings_changed },
  { "quick-test", quick_test_activated },
  { "use-data", use_data_activated },
  { "plot-log", NULL, NULL, "false", plot_log_changed },
  { "plot-hold", NULL, NULL, "false", plot_hold_changed },
};

/* Setup */

static void
setup_changed (DynoSetup *setup, guint flags, DynoWindow *self)
{
  if ((flags & DYNO_SETUP_DATASET) && (flags & DYNO_SETUP_SETTINGS) && dyno_setup_get_info (setup))
    {
      dyno_recent_data_add (dyno_setup_get_info (setup));
      if (self->ready)
        dyno_state_save_setup (self->state, setup);
    }
  update_actions (self);
}

static void
setup_failed (DynoSetup *setup, const GError *error, DynoWindow *self)
{
  dyno_error_bar_show_error (DYNO_ERROR_BAR (self->error_bar), _ ("The data set cannot be opened"),
                             error);
}

/* Drag and drop, closing, visibility */

static gboolean
drag_motion (GtkWidget *widget, GdkDragContext *context, int x, int y, guint time, DynoWindow *self)
{
  gtk_style_context_add_class (gtk_widget_get_style_context (self->pages), "drop");
  return FALSE;
}

static void
drag_leave (GtkWidget *widget, GdkDragContext *context, guint time, DynoWindow *self)
{
  gtk_style_context_remove_class (gtk_widget_get_style_context (self->pages), "drop");
}

static void
drag_received (GtkWidget *widget, GdkDragContext *context, int x, int y,
               GtkSelectionData *selection, guint info, guint time, DynoWindow *self)
{
  g_auto (GStrv) uris = gtk_selection_data_get_uris (selection);
  g_autofree char *path = uris && uris[0] ? g_filename_from_uri (uris[0], NULL, NULL) : NULL;
  if (path)
    dyno_window_open (self, path);
}

void
dyno_window_activate_action (DynoWindow *self, const char *name)
{
  g_free (self->wanted);
  self->wanted = g_strdup (name);
  update_actions (self);
}

void
dyno_window_stop_and_close (DynoWindow *self)
{
  self->closing = TRUE;
  dyno_run_monitor_stop (self->monitor);
  dyno_tune_page_stop (DYNO_TUNE_PAGE (self->tune_page));
  dyno_home_stop_testing (DYNO_HOME (self->home));
  work_changed (self);
  finish_closing (self);
}

static void
close_answered (GtkDialog *dialog, int response, DynoWindow *self)
{
  gtk_widget_destroy (GTK_WIDGET (dialog));
  if (response == GTK_RESPONSE_ACCEPT)
    dyno_window_stop_and_close (self);
}

static void
ask_to_close (DynoWindow *self)
{
  gboolean run = dyno_run_monitor_is_active (self->monitor);
  GtkWidget *dialog = gtk_message_dialog_new (
      GTK_WINDOW (self), GTK_DIALOG_MODAL | GTK_DIALOG_DESTROY_WITH_PARENT, GTK_MESSAGE_QUESTION,
      GTK_BUTTONS_NONE, "%s", run ? _ ("Stop the run and close?") : _ ("Stop tuning and close?"));
  gtk_message_dialog_format_secondary_text (
      GTK_MESSAGE_DIALOG (dialog), "%s",
      run ? _ ("The step in progress is finished and everything so far is kept: weights, metrics "
               "and curves.")
          : _ ("Trials that are not finished are lost."));
  gtk_dialog_add_button (GTK_DIALOG (dialog), _ ("_Cancel"), GTK_RESPONSE_CANCEL);
  GtkWidget *stop = gtk_dialog_add_button (
      GTK_DIALOG (dialog), run ? _ ("_Stop and Keep") : _ ("_Stop"), GTK_RESPONSE_ACCEPT);
  gtk_style_context_add_class (gtk_widget_get_style_context (stop), "destructive-action");
  gtk_dialog_set_default_response (GTK_DIALOG (dialog), GTK_RESPONSE_CANCEL);
  g_signal_connect (dialog, "response", G_CALLBACK (close_answered), self);
  gtk_widget_show (dialog);
}

static gboolean
dyno_window_delete_event (GtkWidget *widget, GdkEventAny *event)
{
  DynoWindow *self = DYNO_WINDOW (widget);
  int width, height;
  gtk_window_get_size (GTK_WINDOW (self), &width, &height);
  dyno_state_save_size (self->state, width, height, gtk_window_is_maximized (GTK_WINDOW (self)));
  dyno_state_save_setup (self->state, self->setup);
  if (!is_working (self))
    return GDK_EVENT_PROPAGATE;
  if (!self->closing && dyno_home_is_testing (DYNO_HOME (self->home)))
    dyno_window_stop_and_close (self);
  else if (!self->closing)
    ask_to_close (self);
  return GDK_EVENT_STOP;
}

static gboolean
dyno_window_state_event (GtkWidget *widget, GdkEventWindowState *event)
{
  DynoWindow *self = DYNO_WINDOW (widget);
  gboolean handled =
      GTK_WIDGET_CLASS (dyno_window_parent_class)->window_state_event (widget, event);
  self->hidden =
      (event->new_window_state & (GDK_WINDOW_STATE_ICONIFIED | GDK_WINDOW_STATE_WITHDRAWN)) != 0;
  update_draining (self);
  return handled;
}

/* What stands beside each other, for the width.  Not while sizes are being given out. */
static gboolean
fit_to_width (gpointer data)
{
  DynoWindow *self = data;
  gboolean narrow = self->width < NARROW_PIXELS, fold = self->width < FOLD_PIXELS;
  HdyFlap *flap = HDY_FLAP (self->train_flap);
  gboolean folded = hdy_flap_get_fold_policy (flap) == HDY_FLAP_FOLD_POLICY_ALWAYS;
  self->fit = 0;
  gtk_widget_set_visible (self->rail, !narrow);
  gtk_widget_set_visible (self->queue_button, !narrow); /* the menu has it */
  dyno_home_set_narrow (DYNO_HOME (self->home), fold);
  hdy_view_switcher_bar_set_reveal (HDY_VIEW_SWITCHER_BAR (self->bottom_bar), narrow);
  if (fold != folded)
    {
      hdy_flap_set_fold_policy (flap,
                                fold ? HDY_FLAP_FOLD_POLICY_ALWAYS : HDY_FLAP_FOLD_POLICY_NEVER);
      hdy_flap_set_reveal_flap (flap, !fold);
    }
  return G_SOURCE_REMOVE;
}

static void
dyno_window_size_allocate (GtkWidget *widget, GtkAllocation *allocation)
{
  DynoWindow *self = DYNO_WINDOW (widget);
  int width, height;
  GTK_WIDGET_CLASS (dyno_window_parent_class)->size_allocate (widget, allocation);
  gtk_window_get_size (GTK_WINDOW (self), &width, &height);
  if (width == self->width)
    return;
  self->width = width;
  if (self->fit == 0)
    self->fit = g_idle_add_full (G_PRIORITY_HIGH_IDLE, fit_to_width, self, NULL);
}

/* TRUE where Space means something to the widget itself: a button, an entry, a list, a text. */
static gboolean
takes_space (GtkWidget *widget)
{
  return widget
         && (GTK_WIDGET_GET_CLASS (widget)->activate_signal != 0 || GTK_IS_TREE_VIEW (widget)
             || GTK_IS_TEXT_VIEW (widget));
}

/* Space pauses where no control takes it for itself.  It is looked at before GtkWindow, whose
 * binding (activate the focused widget) takes every Space. */
static gboolean
dyno_window_key_press (GtkWidget *widget, GdkEventKey *event)
{
  gboolean space =
      event->keyval == GDK_KEY_space && !(event->state & gtk_accelerator_get_default_mod_mask ());
  if (!space || takes_space (gtk_window_get_focus (GTK_WINDOW (widget))))
    return GTK_WIDGET_CLASS (dyno_window_parent_class)->key_press_event (widget, event);
  g_action_group_activate_action (G_ACTION_GROUP (widget), "pause", NULL);
  return GDK_EVENT_STOP;
}

static void
dyno_window_dispose (GObject *object)
{
  DynoWindow *self = DYNO_WINDOW (object);
  if (self->setup)
    dyno_setup_shutdown (self->setup);
  g_clear_handle_id (&self->timer, g_source_remove);
  g_clear_handle_id (&self->fit, g_source_remove);
  g_clear_pointer (&self->wanted, g_free);
  G_OBJECT_CLASS (dyno_window_parent_class)->dispose (object);
  g_clear_object (&self->monitor);
  g_clear_object (&self->setup);
  g_clear_object (&self->state);
}

GtkWidget *
dyno_window_new (GtkApplication *application, DynoState *state, const char *location)
{
  DynoWindow *self = g_object_new (DYNO_TYPE_WINDOW, "application", application, NULL);
  int width, height;
  gboolean maximized;
  gboolean settings_file = location && is_settings_file (location);
  self->state = state ? g_object_ref (state) : NULL;
  dyno_run_page_set_state (DYNO_RUN_PAGE (self->run_page), state);
  dyno_state_load_size (state, &width, &height, &maximized);
  gtk_window_set_default_size (GTK_WINDOW (self), width, height);
  if (maximized)
    gtk_window_maximize (GTK_WINDOW (self));
  dyno_setup_start (self->setup);
  dyno_state_load_setup (state, self->setup, settings_file ? NULL : location);
  self->ready = TRUE;
  if (location)
    show_page (self, settings_file ? "train" : "data");
  if (settings_file)
    open_settings (self, location);
  update_actions (self);
  return GTK_WIDGET (self);
}

static void
dyno_window_class_init (DynoWindowClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  G_OBJECT_CLASS (class)->dispose = dyno_window_dispose;
  widget_class->delete_event = dyno_window_delete_event;
  widget_class->window_state_event = dyno_window_state_event;
  widget_class->key_press_event = dyno_window_key_press;
  widget_class->size_allocate = dyno_window_size_allocate;
  g_type_ensure (DYNO_TYPE_HOME);
  g_type_ensure (DYNO_TYPE_DATA_PAGE);
  g_type_ensure (DYNO_TYPE_DIAGNOSE_PAGE);
  g_type_ensure (DYNO_TYPE_RAIL);
  g_type_ensure (DYNO_TYPE_TOAST);
  g_type_ensure (DYNO_TYPE_RUN_PILL);
  g_type_ensure (DYNO_TYPE_STATUS_BAR);
  g_type_ensure (DYNO_TYPE_SETTINGS_PANEL);
  g_type_ensure (DYNO_TYPE_VRAM_BAR);
  g_type_ensure (DYNO_TYPE_RUN_PAGE);
  g_type_ensure (DYNO_TYPE_TUNE_PAGE);
  g_type_ensure (DYNO_TYPE_RUNS_PAGE);
  g_type_ensure (DYNO_TYPE_ERROR_BAR);
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/io/github/gpudyno/Dyno/ui/window.ui");
#define BIND(name) gtk_widget_class_bind_template_child (widget_class, DynoWindow, name)
  BIND (start_button);
  BIND (queue_button);
  BIND (pause_button);
  BIND (pause_image);
  BIND (pause_label);
  BIND (stop_button);
  BIND (pill);
  BIND (settings_button);
  BIND (rail);
  BIND (bottom_bar);
  BIND (status_bar);
  BIND (error_bar);
  BIND (toast);
  BIND (pages);
  BIND (home);
  BIND (data_page);
  BIND (train_flap);
  BIND (train_stack);
  BIND (train_empty);
  BIND (run_page);
  BIND (tune_page);
  BIND (diagnose_page);
  BIND (runs_page);
  BIND (side);
  BIND (side_scroll);
  BIND (settings_panel);
  BIND (vram_bar);
#undef BIND
}

static void
dyno_window_init (DynoWindow *self)
{
  self->setup = dyno_setup_new ();
  self->monitor = dyno_run_monitor_new ();
  gtk_widget_init_template (GTK_WIDGET (self));
  dyno_widget_set_accessible_name (GTK_WIDGET (self), _ ("Dyno"));
  g_action_map_add_action_entries (G_ACTION_MAP (self), entries, G_N_ELEMENTS (entries), self);
  dyno_rail_set_stack (DYNO_RAIL (self->rail), GTK_STACK (self->pages));
  dyno_home_set_setup (DYNO_HOME (self->home), self->setup);
  dyno_data_page_set_setup (DYNO_DATA_PAGE (self->data_page), self->setup);
  dyno_settings_panel_set_setup (DYNO_SETTINGS_PANEL (self->settings_panel), self->setup);
  dyno_vram_bar_set_setup (DYNO_VRAM_BAR (self->vram_bar), self->setup);
  dyno_run_page_set_run (DYNO_RUN_PAGE (self->run_page), self->monitor, self->setup);
  dyno_diagnose_page_set_run (DYNO_DIAGNOSE_PAGE (self->diagnose_page), self->monitor, self->setup);
  dyno_tune_page_set_setup (DYNO_TUNE_PAGE (self->tune_page), self->setup);
  dyno_runs_page_set_setup (DYNO_RUNS_PAGE (self->runs_page), self->setup);
  g_signal_connect_object (self->setup, "changed", G_CALLBACK (setup_changed), self, 0);
  g_signal_connect_object (self->setup, "failed", G_CALLBACK (setup_failed), self, 0);
  g_signal_connect_object (self->monitor, "changed", G_CALLBACK (work_changed), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->monitor, "failed", G_CALLBACK (run_failed), self, 0);
  g_signal_connect_object (self->monitor, "warning", G_CALLBACK (run_warned), self, 0);
  g_signal_connect_object (self->monitor, "done", G_CALLBACK (run_done), self, 0);
  g_signal_connect (self->settings_panel, "live-change", G_CALLBACK (live_change), self);
  g_signal_connect (self->tune_page, "failed", G_CALLBACK (tune_failed), self);
  g_signal_connect (self->runs_page, "failed", G_CALLBACK (history_failed), self);
  g_signal_connect (self->runs_page, "taken", G_CALLBACK (run_taken), self);
  g_signal_connect (self->runs_page, "start", G_CALLBACK (run_asked), self);
  g_signal_connect (self->runs_page, "queued", G_CALLBACK (jobs_queued), self);
  g_signal_connect (self->tune_page, "report-failed", G_CALLBACK (report_failed), self);
  g_signal_connect_swapped (self->tune_page, "active-changed", G_CALLBACK (work_began_or_ended),
                            self);
  g_signal_connect_swapped (self->home, "testing-changed", G_CALLBACK (work_began_or_ended), self);
  g_signal_connect (self->home, "failed", G_CALLBACK (quick_failed), self);
  g_signal_connect (self->home, "queue", G_CALLBACK (queue_known), self);
  g_signal_connect_swapped (self->pages, "notify::visible-child", G_CALLBACK (page_shown), self);
  g_signal_connect_swapped (self->train_flap, "notify::reveal-flap", G_CALLBACK (flap_revealed),
                            self);
  page_shown (self);
  /* Tab brings what it reaches into view. */
  GtkWidget *panel = gtk_bin_get_child (GTK_BIN (gtk_bin_get_child (GTK_BIN (self->side_scroll))));
  gtk_container_set_focus_vadjustment (
      GTK_CONTAINER (panel),
      gtk_scrolled_window_get_vadjustment (GTK_SCROLLED_WINDOW (self->side_scroll)));
  gtk_drag_dest_set (GTK_WIDGET (self), GTK_DEST_DEFAULT_ALL, NULL, 0, GDK_ACTION_COPY);
  gtk_drag_dest_add_uri_targets (GTK_WIDGET (self));
  g_signal_connect (self, "drag-motion", G_CALLBACK (drag_motion), self);
  g_signal_connect (self, "drag-leave", G_CALLBACK (drag_leave), self);
  g_signal_connect (self, "drag-data-received", G_CALLBACK (drag_received), self);
}
