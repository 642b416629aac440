/* SPDX-License-Identifier: MIT */
/* The strip above a run: the window has the paths of the next run checked whenever they may have
 * changed, and shows the control of a step that was clicked. */
#include "window-private.h"
#include "datapage.h"
#include "preferences.h"
#include "settingspanel.h"
#include "setupstrip.h"
#include <handy.h>

void
dyno_window_look_at_paths (DynoWindow *self)
{
  g_autofree char *runs = dyno_run_monitor_get_runs_folder (self->monitor);
  dyno_path_check_ask (self->paths, runs, dyno_setup_get_job (self->setup)->weights_in);
}

static void
setup_changed (DynoSetup *setup, guint flags, DynoWindow *self)
{
  if (flags & DYNO_SETUP_MODEL)
    dyno_window_look_at_paths (self);
}

/* Another program may have changed a folder meanwhile. */
static void
came_back (DynoWindow *self)
{
  if (gtk_window_is_active (GTK_WINDOW (self)))
    dyno_window_look_at_paths (self);
}

static void
show_setting (DynoWindow *self, DynoSettingsPlace place)
{
  hdy_flap_set_reveal_flap (HDY_FLAP (self->train_flap), TRUE);
  dyno_settings_panel_show_place (DYNO_SETTINGS_PANEL (self->settings_panel), place);
}

static void
go (DynoSetupStrip *strip, guint kind, DynoWindow *self)
{
  switch ((DynoSetupStepKind) kind)
    {
    case DYNO_SETUP_STEP_DATA:
      dyno_window_show_page (self, "data");
      dyno_data_page_focus (DYNO_DATA_PAGE (self->data_page));
      return;
    case DYNO_SETUP_STEP_MODEL:
      show_setting (self, DYNO_SETTINGS_PLACE_MODEL);
      return;
    case DYNO_SETUP_STEP_WEIGHTS:
      show_setting (self, DYNO_SETTINGS_PLACE_WEIGHTS);
      return;
    case DYNO_SETUP_STEP_DEVICE:
      show_setting (self, DYNO_SETTINGS_PLACE_DEVICE);
      return;
    default:
      if (self->state)
        dyno_preferences_show (GTK_WINDOW (self), self->state, self->setup, "runs-folder");
      else
        g_action_group_activate_action (G_ACTION_GROUP (self), "change-runs-folder", NULL);
    }
}

void
dyno_window_set_up_strip (DynoWindow *self)
{
  DynoSetupStrip *strip = DYNO_SETUP_STRIP (self->strip);
  dyno_setup_strip_set_setup (strip, self->setup, self->inspector, self->paths);
  g_signal_connect (strip, "go", G_CALLBACK (go), self);
  g_signal_connect_swapped (strip, "changed", G_CALLBACK (dyno_window_update_actions), self);
  g_signal_connect_object (self->setup, "changed", G_CALLBACK (setup_changed), self, 0);
  g_signal_connect (self, "notify::is-active", G_CALLBACK (came_back), NULL);
}
