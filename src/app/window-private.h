/* SPDX-License-Identifier: MIT */
/* The window's parts.  window.c owns them and hears what they tell, windowstate.c shows what may be
 * done; the window's commands (windowactions.c), files (windowfiles.c) and end (windowclose.c) act
 * on the same parts, and have them shown anew: they call each other through this header alone.
 * Private to the window. */
#pragma once
#include "runmonitor.h"
#include "setup.h"
#include "state.h"
#include "window.h"

G_BEGIN_DECLS

struct _DynoWindow {
  GtkApplicationWindow parent_instance;
  GtkWidget *start_button, *queue_button, *pause_button, *pause_image, *pause_label, *stop_button,
      *stop_label, *pill;
  GtkWidget *settings_button, *rail, *bottom_bar, *status_bar, *error_bar, *stop_bar, *toast,
      *pages;
  GtkWidget *home, *data_page, *train_flap, *train_stack, *train_empty, *run_page, *tune_page,
      *diagnose_page, *runs_page;
  GtkWidget *side, *side_scroll, *settings_panel, *vram_bar;
  DynoState *state;
  DynoSetup *setup;
  DynoRunMonitor *monitor;
  guint tick, timer, held;
  gint64 last_drain;
  guint fit, inhibited;
  char *wanted; /* an action to activate once it can be */
  int width;    /* as it was last fitted to */
  gboolean hidden, closing, ready;
};

/* window.c */
void dyno_window_show_page (DynoWindow *self, const char *name);
/* The run ends in this way; a question about it is over. */
void dyno_window_stop_run (DynoWindow *self, gboolean save);
void dyno_window_update_draining (DynoWindow *self);

/* windowstate.c */
/* Something uses the device. */
gboolean dyno_window_is_working (DynoWindow *self);
/* Nothing is at work, and the window stays. */
gboolean dyno_window_is_idle (DynoWindow *self);
/* A search that was stopped may leave a measurement behind, which is in the driver for a while; once
 * it is over, what may be done is shown anew. */
gboolean dyno_window_device_is_held (DynoWindow *self);
void dyno_window_update_actions (DynoWindow *self);
/* A run, the tuner or the window has begun or ended something. */
void dyno_window_work_changed (DynoWindow *self);

/* windowactions.c */
void dyno_window_add_actions (DynoWindow *self);

/* windowfiles.c */
void dyno_window_add_file_actions (DynoWindow *self);
void dyno_window_take_drops (DynoWindow *self);
/* A toast about a file that was written. */
void dyno_window_tell_exported (DynoWindow *self, const char *path);
void dyno_window_open_settings (DynoWindow *self, const char *path);
/* By its name: a key file or Dyno's JSON. */
gboolean dyno_is_settings_file (const char *path);

/* windowclose.c */
gboolean dyno_window_delete_event (GtkWidget *widget, GdkEventAny *event);
/* The window goes, once it was asked to and nothing is at work. */
void dyno_window_finish_closing (DynoWindow *self);

G_END_DECLS
