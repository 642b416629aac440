/* SPDX-License-Identifier: MIT */
/* A run as the window sees it: one session at a time, its state and its last numbers, and the
 * series that the plots draw.
 *
 * dyno_run_monitor_drain takes the session's events; the window calls it once per frame while it is
 * visible, and less often otherwise.  The series are filled from the session's log of metrics,
 * which is complete, and not from events, of which some may be dropped.  A session that has ended
 * is freed in a thread.  Signals: "changed" (there is something new to show), "failed" (GError),
 * "warning" (text), "done".  Main thread only. */
#pragma once
#include "runview.h"
#include "session.h"
#include <glib-object.h>

G_BEGIN_DECLS

#define DYNO_TYPE_RUN_MONITOR (dyno_run_monitor_get_type ())
G_DECLARE_FINAL_TYPE (DynoRunMonitor, dyno_run_monitor, DYNO, RUN_MONITOR, GObject)

DynoRunMonitor *dyno_run_monitor_new (void);
/* Sets the clock that elapsed times are taken from, in microseconds; initially the system's. */
void dyno_run_monitor_set_clock (DynoRunMonitor *self, gint64 (*clock) (void));
/* Starts a run of the job on an open data set; an old run's series are cleared.  job->out_dir is
 * kept or, when NULL, chosen.  FALSE: nothing was begun, since the folder cannot be written to.
 * Errors: G_FILE_ERROR. */
gboolean dyno_run_monitor_start (DynoRunMonitor *self, const DynoJob *job, DynoDataset *dataset,
                                 GError **error);
/* Sets the folder of runs that begin from now on; NULL: Dyno's own. */
void dyno_run_monitor_set_runs_folder (DynoRunMonitor *self, const char *folder);
char *dyno_run_monitor_get_runs_folder (DynoRunMonitor *self); /* g_free */
void dyno_run_monitor_pause (DynoRunMonitor *self);
/* Pauses the run, if it is not paused already, and frees the device's memory; _resume continues the
 * run as after any pause. */
void dyno_run_monitor_release (DynoRunMonitor *self);
void dyno_run_monitor_resume (DynoRunMonitor *self);
void dyno_run_monitor_stop (DynoRunMonitor *self);
/* Stops without saving; files that were saved before stay. */
void dyno_run_monitor_discard (DynoRunMonitor *self);
/* Changes a live setting of the current run. */
gboolean dyno_run_monitor_set (DynoRunMonitor *self, const char *key, const char *value,
                               GError **error);
gboolean dyno_run_monitor_is_active (
    DynoRunMonitor *self); /* TRUE from the start until all is saved and freed */
void dyno_run_monitor_drain (DynoRunMonitor *self);
/* Takes an event of the run, as _drain takes those of the session; "changed" is not emitted. */
void dyno_run_monitor_take_event (DynoRunMonitor *self, DynoEvent *event);
/* Seconds since the start; -1: no run yet.  While a run is prepared, "changed" is emitted each
 * second. */
double dyno_run_monitor_get_elapsed (DynoRunMonitor *self);
const DynoRunStatus *dyno_run_monitor_get_status (DynoRunMonitor *self);
DynoRunView *dyno_run_monitor_get_view (DynoRunMonitor *self); /* lives as long as the monitor */
const DynoRunSeries *dyno_run_monitor_get_series (DynoRunMonitor *self);
/* The newest MASKS event of the run; NULL: there was none.  Owned by the monitor. */
DynoEvent *dyno_run_monitor_get_masks (DynoRunMonitor *self);
/* Writes every step so far of the current or last run, in a thread; before the first run, an empty
 * file. */
void dyno_run_monitor_write_csv (DynoRunMonitor *self, const char *path,
                                 GAsyncReadyCallback written, gpointer data);
/* *path is owned by result.  Errors: those of dyno_metrics_write_csv. */
gboolean dyno_run_monitor_write_csv_finish (GAsyncResult *result, const char **path,
                                            GError **error);

G_END_DECLS
