/* SPDX-License-Identifier: MIT */
/* The window's commands except for those of files: the implementation of each action. */
#include "window-private.h"
#include "errorbar.h"
#include "help.h"
#include "home.h"
#include "preferences.h"
#include "runpage.h"
#include "runspage.h"
#include "settingspanel.h"
#include "stopbar.h"
#include "tunepage.h"
#include <handy.h>

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
release_activated (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  dyno_run_monitor_release (DYNO_WINDOW (data)->monitor);
}

static void
preferences_activated (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  DynoWindow *self = data;
  dyno_preferences_show (GTK_WINDOW (self), self->state, self->setup, NULL);
}

/* Shows the help of the visible page. */
static void
help_activated (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  DynoWindow *self = data;
  dyno_help_show (GTK_WINDOW (self), gtk_stack_get_visible_child_name (GTK_STACK (self->pages)));
}

static void
stop_activated (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  DynoWindow *self = data;
  g_autofree char *answer =
      self->state ? g_settings_get_string (self->state, "stop") : g_strdup ("ask");
  if (g_str_equal (answer, "ask"))
    {
      /* The tooltip would cover the question, which is below the button. */
      gtk_widget_set_has_tooltip (self->stop_button, FALSE);
      dyno_stop_bar_ask (DYNO_STOP_BAR (self->stop_bar));
    }
  else
    dyno_window_stop_run (self, g_str_equal (answer, "save"));
}

static void
discard_activated (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  dyno_window_stop_run (data, FALSE);
}

static void
quick_test_activated (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  DynoWindow *self = data;
  dyno_error_bar_dismiss (DYNO_ERROR_BAR (self->error_bar));
  dyno_window_show_page (self, "home");
  dyno_home_start_quick_test (DYNO_HOME (self->home));
}

static void
use_data_activated (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  DynoWindow *self = data;
  dyno_window_show_page (self, "train");
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
  dyno_window_show_page (self, "train");
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
  dyno_window_show_page (data, g_variant_get_string (value, NULL));
}

static gboolean
contains_focus (DynoWindow *self, GtkWidget *page)
{
  GtkWidget *focus = gtk_window_get_focus (GTK_WINDOW (self));
  return focus && gtk_widget_is_ancestor (focus, page) && gtk_widget_get_mapped (focus);
}

/* Shows a page by its key, and gives the focus to its first control, or to its list of runs: keys
 * work on the page at once. */
static void
visit_activated (GSimpleAction *action, GVariant *name, gpointer data)
{
  DynoWindow *self = data;
  GtkWidget *page =
      gtk_stack_get_child_by_name (GTK_STACK (self->pages), g_variant_get_string (name, NULL));
  if (!page)
    return;
  gboolean is_there = contains_focus (self, page);
  g_action_group_activate_action (G_ACTION_GROUP (self), "page", name);
  if (is_there)
    return;
  gtk_window_set_focus_visible (GTK_WINDOW (self), TRUE);
  if (page == self->runs_page)
    dyno_runs_page_focus (DYNO_RUNS_PAGE (page));
  else if (!contains_focus (self, page)) /* the stack moves the focus from one page to another */
    gtk_widget_child_focus (page, GTK_DIR_TAB_FORWARD);
}

static void
show_settings_changed (GSimpleAction *action, GVariant *value, gpointer data)
{
  DynoWindow *self = data;
  hdy_flap_set_reveal_flap (HDY_FLAP (self->train_flap), g_variant_get_boolean (value));
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
  const char *page = gtk_stack_get_visible_child_name (GTK_STACK (self->pages));
  if (g_strcmp0 (page, "runs") == 0 && dyno_runs_page_find (DYNO_RUNS_PAGE (self->runs_page)))
    return;
  gtk_stack_set_visible_child_name (GTK_STACK (self->pages), "train");
  hdy_flap_set_reveal_flap (HDY_FLAP (self->train_flap), TRUE);
  dyno_settings_panel_find (DYNO_SETTINGS_PANEL (self->settings_panel));
}

static void
show_jobs_activated (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  dyno_window_show_jobs (data);
}

static const GActionEntry entries[] = {
  { "undo", undo_activated },
  { "redo", redo_activated },
  { "find-setting", find_setting_activated },
  { "show-jobs", show_jobs_activated },
  { "pause", pause_activated },
  { "release", release_activated },
  { "stop", stop_activated },
  { "preferences", preferences_activated },
  { "help", help_activated },
  { "discard", discard_activated },
  { "stop-tune", stop_tune_activated },
  { "use-best", use_best_activated },
  { "page", NULL, "s", "'home'", page_changed },
  { "visit", visit_activated, "s", NULL, NULL },
  { "show-settings", NULL, NULL, "true", show_settings_changed },
  { "quick-test", quick_test_activated },
  { "use-data", use_data_activated },
  { "plot-log", NULL, NULL, "false", plot_log_changed },
  { "plot-hold", NULL, NULL, "false", plot_hold_changed },
};

void
dyno_window_add_actions (DynoWindow *self)
{
  g_action_map_add_action_entries (G_ACTION_MAP (self), entries, G_N_ELEMENTS (entries), self);
  dyno_window_add_begin_actions (self);
}
