/* SPDX-License-Identifier: MIT */
/* The window's parts.  window.c owns them and handles their signals, windowstate.c shows which
 * actions are possible; the window's commands (windowactions.c; windowbegin.c: those that begin
 * something), jobs (windowjobs.c), files (windowfiles.c) and end (windowclose.c) act on the same
 * parts and request the update of their display.  These files call each other only through this
 * header.  Private to the window. */
#pragma once
#include "datainspector.h"
#include "joblist.h"
#include "pathcheck.h"
#include "runmonitor.h"
#include "setup.h"
#include "state.h"
#include "window.h"

G_BEGIN_DECLS

struct _DynoWindow {
  GtkApplicationWindow parent_instance;
  GtkWidget *start_button, *queue_button, *export_button, *pause_button, *pause_image, *pause_label,
      *stop_button, *stop_label, *pill;
  GtkWidget *settings_button, *rail, *bottom_bar, *status_bar, *error_bar, *stop_bar, *edit_bar,
      *queue_bar, *toast, *pages, *jobs_popover;
  GtkWidget *home, *data_page, *strip, *train_flap, *train_stack, *train_empty, *run_page,
      *tune_page, *diagnose_page, *runs_page, *device_page;
  GtkWidget *side, *side_scroll, *settings_panel, *vram_bar;
  DynoState *state;
  DynoSetup *setup;
  DynoDataInspector *inspector;
  DynoPathCheck *paths;
  DynoRunMonitor *monitor;
  DynoJobList *jobs;
  DynoJob *unedited; /* of the setup before a job of the queue was edited in it; or NULL */
  gint64 edited;     /* id of that job */
  guint tick, timer, held;
  gint64 last_drain;
  guint fit, inhibited;
  char *wanted; /* an action to activate when it is enabled */
  /* The command that was not begun, since its results could not be saved: an action, or a job to
   * resume. */
  const char *unkept;
  DynoJob *unkept_job;
  int width; /* width for which the window was last arranged */
  gboolean hidden, closing, ready;
};

/* window.c */
void dyno_window_show_page (DynoWindow *self, const char *name);
/* Ends the run, with or without saving; a question about it is closed. */
void dyno_window_stop_run (DynoWindow *self, gboolean save);
void dyno_window_update_draining (DynoWindow *self);

/* windowstate.c */
/* Whether something uses the device. */
gboolean dyno_window_is_working (DynoWindow *self);
/* Whether nothing is at work, and the window is not closing. */
gboolean dyno_window_is_idle (DynoWindow *self);
/* Whether a stopped search has abandoned a measurement that is still in the driver; when this has
 * ended, the actions are updated. */
gboolean dyno_window_device_is_held (DynoWindow *self);
void dyno_window_update_actions (DynoWindow *self);
/* To be called when a run, a search or other work has begun or ended. */
void dyno_window_work_changed (DynoWindow *self);

/* windowbegin.c */
void dyno_window_add_begin_actions (DynoWindow *self);
/* Begins a run of a job that is not the setup's; the run opens its data set itself. */
void dyno_window_begin_job (DynoWindow *self, const DynoJob *job);
/* Keeps runs in this folder from now on, and repeats the command that had no folder, if any. */
void dyno_window_take_runs_folder (DynoWindow *self, const char *path);

/* windowjobs.c */
void dyno_window_set_up_jobs (DynoWindow *self);
/* Adds the setup's job to the queue; begin: before all that wait, and the queue is started.  FALSE
 * with the error: its run could not be kept. */
gboolean dyno_window_queue_job (DynoWindow *self, gboolean begin, GError **error);
/* Adds a job for each fold of the setup's data; errors as above. */
gboolean dyno_window_queue_folds (DynoWindow *self, GError **error);
/* Opens the list of all jobs or, where the header bar does not have it, the page Runs. */
void dyno_window_show_jobs (DynoWindow *self);
/* Whether the queue runs a job on a device of the setup. */
gboolean dyno_window_queue_holds_device (DynoWindow *self);
/* The setup is used for something else: a job that was edited in it stays as it was. */
void dyno_window_end_editing (DynoWindow *self);
/* To be called when the window's own work has begun or ended. */
void dyno_window_update_jobs (DynoWindow *self);
/* To be called when a run has ended: starts the queue, if jobs wait and the user has not chosen
 * otherwise.  A run that the user stopped starts nothing. */
void dyno_window_go_on_with_queue (DynoWindow *self);

/* windowstrip.c */
void dyno_window_set_up_strip (DynoWindow *self);
/* To be called when the folder of runs or the start weights may have changed. */
void dyno_window_look_at_paths (DynoWindow *self);

/* windowactions.c */
void dyno_window_add_actions (DynoWindow *self);

/* windowfiles.c */
void dyno_window_add_file_actions (DynoWindow *self);
void dyno_window_take_drops (DynoWindow *self);
/* Shows a toast about a file that was written. */
void dyno_window_show_exported (DynoWindow *self, const char *path);
void dyno_window_open_settings (DynoWindow *self, const char *path);
/* Whether a path is a settings file, by its name: a key file or Dyno's JSON. */
gboolean dyno_is_settings_file (const char *path);

/* windowclose.c */
gboolean dyno_window_delete_event (GtkWidget *widget, GdkEventAny *event);
/* Destroys the window, if it was asked to close and nothing is at work. */
void dyno_window_finish_closing (DynoWindow *self);

G_END_DECLS
