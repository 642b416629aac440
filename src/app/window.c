/* SPDX-License-Identifier: MIT */
/* The window.  It ties the setup, the monitor and the tuner together: every command is an action,
 * and the possible actions follow only from the states of these parts (windowstate.c).  While
 * something is at work the setup is locked (dyno_window_work_changed).
 *
 * During a run the monitor is drained once per frame while the window is visible, and also by a
 * slow timer. */
#include "window-private.h"
#include "datapage.h"
#include "devicepage.h"
#include "diagnosepage.h"
#include "editbar.h"
#include "errorbar.h"
#include "export-dialog.h"
#include "home.h"
#include "jobspopover.h"
#include "networkrefusal.h"
#include "queuebar.h"
#include "rail.h"
#include "recentdata.h"
#include "row.h"
#include "runpage.h"
#include "runpill.h"
#include "runspage.h"
#include "settingtitles.h"
#include "settingspanel.h"
#include "setupstrip.h"
#include "statusbar.h"
#include "stopbar.h"
#include "toast.h"
#include "tunepage.h"
#include "vrambar.h"
#include "words.h"
#include <glib/gi18n.h>
#include <handy.h>

#define SLOW_DRAIN_MS 400
#define FRAME_US      30000
/* Up to this width, for telephones, the header has no pill, and the numbers of a run and the
 * settings get their minimum width. */
#define TIGHT_PIXELS 500
#define SIDE_PIXELS  364 /* width of the settings in wider windows */
/* Below these widths the rail becomes a bar at the bottom, and the settings lie over the run. */
#define NARROW_PIXELS 700
#define FOLD_PIXELS   960

G_DEFINE_FINAL_TYPE (DynoWindow, dyno_window, GTK_TYPE_APPLICATION_WINDOW)

void
dyno_window_show_page (DynoWindow *self, const char *name)
{
  gtk_stack_set_visible_child_name (GTK_STACK (self->pages), name);
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

void
dyno_window_update_draining (DynoWindow *self)
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

/* Signals of the parts */

static void
run_failed (DynoRunMonitor *monitor, const GError *error, DynoWindow *self)
{
  dyno_error_bar_show_error (DYNO_ERROR_BAR (self->error_bar), _ ("The run failed"), error);
}

static void
run_warned (DynoRunMonitor *monitor, const char *text, DynoWindow *self)
{
  g_autofree char *shown = dyno_setting_titles_put (text);
  dyno_error_bar_show_text (DYNO_ERROR_BAR (self->error_bar), GTK_MESSAGE_WARNING,
                            _ ("Please note"), shown);
}

void
dyno_window_stop_run (DynoWindow *self, gboolean save)
{
  dyno_stop_bar_dismiss (DYNO_STOP_BAR (self->stop_bar));
  if (save)
    dyno_run_monitor_stop (self->monitor);
  else
    dyno_run_monitor_discard (self->monitor);
}

static void
stop_bar_hidden (DynoWindow *self)
{
  gtk_widget_set_has_tooltip (self->stop_button, TRUE);
}

static void
stop_answered (DynoStopBar *bar, DynoStopAnswer answer, gboolean always, DynoWindow *self)
{
  gboolean save = answer == DYNO_STOP_ANSWER_SAVE;
  if (answer == DYNO_STOP_ANSWER_KEEP_TRAINING)
    {
      gtk_widget_grab_focus (self->pause_button);
      return;
    }
  if (always && self->state)
    g_settings_set_string (self->state, "stop", save ? "save" : "discard");
  dyno_window_stop_run (self, save);
}

/* Sends a notification if another window is active; without a session bus nothing receives it. */
static void
notify_of_run (DynoWindow *self)
{
  const DynoRunStatus *status = dyno_run_monitor_get_status (self->monitor);
  GtkApplication *application = gtk_window_get_application (GTK_WINDOW (self));
  if (!application || !g_application_get_dbus_connection (G_APPLICATION (application))
      || self->closing || !status->job || !dyno_state_wants_notifications (self->state)
      || gtk_window_is_active (GTK_WINDOW (self)))
    return;
  g_autofree char *data = dyno_words_data (status->job->data);
  const char *state = dyno_words_session_state (status->state);
  g_autoptr (GNotification) notification = g_notification_new (state);
  g_autofree char *model = dyno_words_model (status->job->model),
                  *body = g_strdup_printf (_ ("%s on %s"), model, data);
  g_notification_set_body (notification, body);
  g_notification_set_default_action_and_target (notification, "app.show-page", "s", "train");
  g_notification_add_button_with_target (notification, _ ("Open"), "app.show-page", "s", "train");
  g_application_send_notification (G_APPLICATION (application), "run", notification);
}

static void
refresh_runs (DynoWindow *self)
{
  if (gtk_widget_get_mapped (self->runs_page))
    dyno_runs_page_refresh (DYNO_RUNS_PAGE (self->runs_page));
}

static void
run_done (DynoRunMonitor *monitor, DynoWindow *self)
{
  gboolean had_focus =
      gtk_widget_has_focus (self->pause_button) || gtk_widget_has_focus (self->stop_button);
  dyno_window_update_draining (self);
  dyno_window_work_changed (self);
  if (had_focus)
    gtk_widget_grab_focus (self->start_button);
  dyno_window_look_at_paths (self); /* the run may have filled the disk */
  refresh_runs (self);
  dyno_home_refresh (DYNO_HOME (self->home));
  notify_of_run (self);
  dyno_window_go_on_with_queue (self);
  dyno_window_finish_closing (self);
}

static void
work_began_or_ended (DynoWindow *self)
{
  dyno_window_work_changed (self);
  dyno_window_finish_closing (self);
}

static void
search_began_or_ended (DynoWindow *self)
{
  refresh_runs (self);
  work_began_or_ended (self);
}

static void
quick_failed (DynoHome *page, const GError *error, DynoWindow *self)
{
  dyno_error_bar_show_error (DYNO_ERROR_BAR (self->error_bar), _ ("The quick test failed"), error);
}

static void
tune_failed (DynoTunePage *page, const GError *error, DynoWindow *self)
{
  dyno_error_bar_show_error (DYNO_ERROR_BAR (self->error_bar), _ ("Tuning failed"), error);
}

static void
search_not_kept (DynoTunePage *page, const GError *error, DynoWindow *self)
{
  g_autofree char *text = dyno_setting_titles_put (error->message);
  dyno_error_bar_show_text (DYNO_ERROR_BAR (self->error_bar), GTK_MESSAGE_WARNING,
                            _ ("The search continues, but is not kept"), text);
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
report_not_shown (GtkWidget *page, const GError *error, DynoWindow *self)
{
  dyno_error_bar_show_error (DYNO_ERROR_BAR (self->error_bar), _ ("The report cannot be shown"),
                             error);
}

static void
run_taken (DynoRunsPage *page, DynoWindow *self)
{
  dyno_window_show_page (self, "train");
}

static void
run_asked (DynoRunsPage *page, const DynoJob *job, DynoWindow *self)
{
  dyno_window_begin_job (self, job);
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
    {
      dyno_home_refresh (DYNO_HOME (self->home));
      dyno_job_list_refresh (self->jobs);
    }
}

static void
flap_revealed (DynoWindow *self)
{
  GAction *action = g_action_map_lookup_action (G_ACTION_MAP (self), "show-settings");
  gboolean shown = hdy_flap_get_reveal_flap (HDY_FLAP (self->train_flap));
  g_simple_action_set_state (G_SIMPLE_ACTION (action), g_variant_new_boolean (shown));
}

/* Setup */

static void
setup_changed (DynoSetup *setup, guint flags, DynoWindow *self)
{
  dyno_edit_bar_set_lacks_data (DYNO_EDIT_BAR (self->edit_bar),
                                !dyno_setup_get_info (setup)
                                    && !dyno_setup_get_opening (setup, NULL));
  if ((flags & DYNO_SETUP_DATASET) && (flags & DYNO_SETUP_SETTINGS) && dyno_setup_get_info (setup))
    {
      dyno_recent_data_add (dyno_setup_get_info (setup));
      if (self->ready)
        dyno_state_save_setup (self->state, setup);
    }
  dyno_window_update_actions (self);
}

static void
setup_failed (DynoSetup *setup, const GError *error, DynoWindow *self)
{
  dyno_error_bar_show_error (DYNO_ERROR_BAR (self->error_bar), _ ("The data set cannot be opened"),
                             error);
}

static void
network_refused (DynoSetup *setup, const char *path, const GError *error, DynoWindow *self)
{
  dyno_network_refusal_show (GTK_WINDOW (self), path, error);
}

void
dyno_window_activate_action (DynoWindow *self, const char *name)
{
  g_free (self->wanted);
  self->wanted = g_strdup (name);
  dyno_window_update_actions (self);
}

static gboolean
dyno_window_state_event (GtkWidget *widget, GdkEventWindowState *event)
{
  DynoWindow *self = DYNO_WINDOW (widget);
  gboolean handled =
      GTK_WIDGET_CLASS (dyno_window_parent_class)->window_state_event (widget, event);
  self->hidden =
      (event->new_window_state & (GDK_WINDOW_STATE_ICONIFIED | GDK_WINDOW_STATE_WITHDRAWN)) != 0;
  dyno_window_update_draining (self);
  return handled;
}

/* Arranges the parts for the width.  Must not be called during a size allocation. */
static gboolean
fit_to_width (gpointer data)
{
  DynoWindow *self = data;
  gboolean tight = self->width <= TIGHT_PIXELS, narrow = self->width < NARROW_PIXELS,
           fold = self->width < FOLD_PIXELS;
  HdyFlap *flap = HDY_FLAP (self->train_flap);
  gboolean folded = hdy_flap_get_fold_policy (flap) == HDY_FLAP_FOLD_POLICY_ALWAYS;
  self->fit = 0;
  gtk_widget_set_visible (self->rail, !narrow);
  gtk_widget_set_visible (self->queue_button, !narrow);  /* the menu has the command too */
  gtk_widget_set_visible (self->export_button, !narrow); /* likewise */
  gtk_widget_set_visible (self->pause_label, !narrow);
  gtk_widget_set_visible (self->stop_label, !narrow);
  gtk_widget_set_visible (self->pill, !tight);
  dyno_widget_add_class (self->pages, "tight", tight);
  dyno_widget_add_class (self->bottom_bar, "tight", tight);
  dyno_run_page_set_tight (DYNO_RUN_PAGE (self->run_page), tight);
  dyno_status_bar_set_tight (DYNO_STATUS_BAR (self->status_bar), tight);
  gtk_widget_set_size_request (self->side, tight ? -1 : SIDE_PIXELS, -1);
  dyno_home_set_narrow (DYNO_HOME (self->home), fold);
  dyno_tune_page_set_narrow (DYNO_TUNE_PAGE (self->tune_page), fold);
  dyno_device_page_set_narrow (DYNO_DEVICE_PAGE (self->device_page), fold);
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

/* Whether the widget itself uses Space: a button, an entry, a list, a text. */
static gboolean
takes_space (GtkWidget *widget)
{
  return widget
         && (GTK_WIDGET_GET_CLASS (widget)->activate_signal != 0 || GTK_IS_TREE_VIEW (widget)
             || GTK_IS_TEXT_VIEW (widget));
}

/* Space pauses the run where no control uses it.  It is handled before GtkWindow, whose binding
 * (activate the focused widget) takes every Space. */
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
  if (self->jobs)
    g_signal_handlers_disconnect_by_data (self->jobs, self);
  g_clear_handle_id (&self->timer, g_source_remove);
  g_clear_handle_id (&self->fit, g_source_remove);
  g_clear_handle_id (&self->held, g_source_remove);
  g_clear_pointer (&self->wanted, g_free);
  g_clear_pointer (&self->unkept_job, dyno_job_unref);
  g_clear_pointer (&self->unedited, dyno_job_unref);
  G_OBJECT_CLASS (dyno_window_parent_class)->dispose (object);
  g_clear_object (&self->inspector);
  g_clear_object (&self->paths);
  g_clear_object (&self->monitor);
  g_clear_object (&self->jobs);
  g_clear_object (&self->setup);
  g_clear_object (&self->state);
}

static void
take_folders (DynoWindow *self)
{
  g_autofree char *runs = dyno_state_get_runs_folder (self->state),
                  *data = dyno_state_get_data_folder (self->state);
  dyno_run_monitor_set_runs_folder (self->monitor, runs);
  g_autofree char *kept = dyno_run_monitor_get_runs_folder (self->monitor);
  dyno_tune_page_set_runs_folder (DYNO_TUNE_PAGE (self->tune_page), kept);
  dyno_dialog_set_data_folder (data);
  dyno_window_look_at_paths (self);
}

GtkWidget *
dyno_window_new (GtkApplication *application, DynoState *state, const char *location)
{
  DynoWindow *self = g_object_new (DYNO_TYPE_WINDOW, "application", application, NULL);
  int width, height;
  gboolean maximized;
  g_autofree char *first = dyno_state_get_first_settings (state);
  gboolean settings_file = location && dyno_is_settings_file (location);
  self->state = state ? g_object_ref (state) : NULL;
  dyno_home_set_state (DYNO_HOME (self->home), state);
  dyno_jobs_popover_set_state (DYNO_JOBS_POPOVER (self->jobs_popover), state);
  dyno_run_page_set_state (DYNO_RUN_PAGE (self->run_page), state);
  dyno_settings_panel_set_state (DYNO_SETTINGS_PANEL (self->settings_panel), state);
  take_folders (self);
  if (state)
    {
      g_signal_connect_object (state, "changed::runs-folder", G_CALLBACK (take_folders), self,
                               G_CONNECT_SWAPPED);
      g_signal_connect_object (state, "changed::data-folder", G_CALLBACK (take_folders), self,
                               G_CONNECT_SWAPPED);
    }
  dyno_state_load_size (state, &width, &height, &maximized);
  gtk_window_set_default_size (GTK_WINDOW (self), width, height);
  if (maximized)
    gtk_window_maximize (GTK_WINDOW (self));
  dyno_setup_start (self->setup);
  dyno_state_load_setup (state, self->setup, settings_file ? NULL : location);
  self->ready = TRUE;
  dyno_job_list_refresh (self->jobs);
  if (first && !settings_file)
    dyno_window_open_settings (self, first);
  if (location)
    dyno_window_show_page (self, settings_file ? "train" : "data");
  if (settings_file)
    dyno_window_open_settings (self, location);
  dyno_window_update_actions (self);
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
  g_type_ensure (DYNO_TYPE_SETUP_STRIP);
  g_type_ensure (DYNO_TYPE_VRAM_BAR);
  g_type_ensure (DYNO_TYPE_RUN_PAGE);
  g_type_ensure (DYNO_TYPE_TUNE_PAGE);
  g_type_ensure (DYNO_TYPE_RUNS_PAGE);
  g_type_ensure (DYNO_TYPE_ERROR_BAR);
  g_type_ensure (DYNO_TYPE_STOP_BAR);
  g_type_ensure (DYNO_TYPE_EDIT_BAR);
  g_type_ensure (DYNO_TYPE_QUEUE_BAR);
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/io/github/gpudyno/Dyno/ui/window.ui");
#define BIND(name) gtk_widget_class_bind_template_child (widget_class, DynoWindow, name)
  BIND (start_button);
  BIND (queue_button);
  BIND (export_button);
  BIND (pause_button);
  BIND (pause_image);
  BIND (pause_label);
  BIND (stop_label);
  BIND (stop_button);
  BIND (pill);
  BIND (settings_button);
  BIND (rail);
  BIND (bottom_bar);
  BIND (status_bar);
  BIND (error_bar);
  BIND (stop_bar);
  BIND (edit_bar);
  BIND (queue_bar);
  BIND (toast);
  BIND (pages);
  BIND (home);
  BIND (data_page);
  BIND (strip);
  BIND (train_flap);
  BIND (train_stack);
  BIND (train_empty);
  BIND (run_page);
  BIND (tune_page);
  BIND (diagnose_page);
  BIND (runs_page);
  BIND (device_page);
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
  self->inspector = dyno_data_inspector_new (self->setup);
  self->paths = dyno_path_check_new ();
  self->monitor = dyno_run_monitor_new ();
  gtk_widget_init_template (GTK_WIDGET (self));
  dyno_status_page_announce (self->train_empty);
  dyno_widget_set_accessible_name (GTK_WIDGET (self), _ ("Dyno"));
  dyno_window_add_actions (self);
  dyno_window_add_file_actions (self);
  dyno_rail_set_stack (DYNO_RAIL (self->rail), GTK_STACK (self->pages));
  dyno_home_set_setup (DYNO_HOME (self->home), self->setup);
  dyno_data_page_set_setup (DYNO_DATA_PAGE (self->data_page), self->setup, self->inspector);
  dyno_window_set_up_strip (self);
  dyno_settings_panel_set_setup (DYNO_SETTINGS_PANEL (self->settings_panel), self->setup);
  dyno_vram_bar_set_setup (DYNO_VRAM_BAR (self->vram_bar), self->setup);
  dyno_run_page_set_run (DYNO_RUN_PAGE (self->run_page), self->monitor, self->setup);
  dyno_diagnose_page_set_run (DYNO_DIAGNOSE_PAGE (self->diagnose_page), self->monitor, self->setup);
  dyno_tune_page_set_setup (DYNO_TUNE_PAGE (self->tune_page), self->setup);
  dyno_runs_page_set_setup (DYNO_RUNS_PAGE (self->runs_page), self->setup);
  dyno_device_page_set_setup (DYNO_DEVICE_PAGE (self->device_page), self->setup);
  dyno_window_set_up_jobs (self);
  g_signal_connect_object (self->setup, "changed", G_CALLBACK (setup_changed), self, 0);
  g_signal_connect_object (self->setup, "failed", G_CALLBACK (setup_failed), self, 0);
  g_signal_connect_object (self->setup, "refused", G_CALLBACK (network_refused), self, 0);
  g_signal_connect_object (self->monitor, "changed", G_CALLBACK (dyno_window_work_changed), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->monitor, "failed", G_CALLBACK (run_failed), self, 0);
  g_signal_connect_object (self->monitor, "warning", G_CALLBACK (run_warned), self, 0);
  g_signal_connect_object (self->monitor, "done", G_CALLBACK (run_done), self, 0);
  g_signal_connect_object (self->stop_bar, "hide", G_CALLBACK (stop_bar_hidden), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->error_bar, "changed", G_CALLBACK (dyno_window_update_actions),
                           self, G_CONNECT_SWAPPED);
  g_signal_connect (self->stop_bar, "answered", G_CALLBACK (stop_answered), self);
  g_signal_connect (self->settings_panel, "live-change", G_CALLBACK (live_change), self);
  g_signal_connect (self->tune_page, "failed", G_CALLBACK (tune_failed), self);
  g_signal_connect (self->runs_page, "failed", G_CALLBACK (history_failed), self);
  g_signal_connect (self->runs_page, "report-failed", G_CALLBACK (report_not_shown), self);
  g_signal_connect (self->runs_page, "taken", G_CALLBACK (run_taken), self);
  g_signal_connect (self->runs_page, "start", G_CALLBACK (run_asked), self);
  g_signal_connect_swapped (self->runs_page, "exported", G_CALLBACK (dyno_window_show_exported),
                            self);
  g_signal_connect (self->tune_page, "not-kept", G_CALLBACK (search_not_kept), self);
  g_signal_connect (self->tune_page, "report-failed", G_CALLBACK (report_failed), self);
  g_signal_connect_swapped (self->tune_page, "active-changed", G_CALLBACK (search_began_or_ended),
                            self);
  g_signal_connect (self->tune_page, "not-shown", G_CALLBACK (report_not_shown), self);
  g_signal_connect_swapped (self->tune_page, "ready-changed",
                            G_CALLBACK (dyno_window_update_actions), self);
  g_signal_connect_swapped (self->tune_page, "kept", G_CALLBACK (refresh_runs), self);
  g_signal_connect_swapped (self->home, "testing-changed", G_CALLBACK (work_began_or_ended), self);
  g_signal_connect (self->home, "failed", G_CALLBACK (quick_failed), self);
  g_signal_connect_swapped (self->home, "interrupted-changed",
                            G_CALLBACK (dyno_window_update_actions), self);
  g_signal_connect_swapped (self->pages, "notify::visible-child", G_CALLBACK (page_shown), self);
  g_signal_connect_swapped (self->train_flap, "notify::reveal-flap", G_CALLBACK (flap_revealed),
                            self);
  page_shown (self);
  /* The widget that gets the focus is scrolled into view. */
  GtkWidget *panel = gtk_bin_get_child (GTK_BIN (gtk_bin_get_child (GTK_BIN (self->side_scroll))));
  gtk_container_set_focus_vadjustment (
      GTK_CONTAINER (panel),
      gtk_scrolled_window_get_vadjustment (GTK_SCROLLED_WINDOW (self->side_scroll)));
  dyno_window_take_drops (self);
}
