/* SPDX-License-Identifier: MIT */
/* A run as the window sees it.  At most MAX_ROWS steps are copied in one call, so that a call takes
 * much less than a frame; the rest follows in the next call. */
#include "runmonitor.h"
#include "file.h"
#include "format.h"
#include "heldtask.h"
#include "keepfolder.h"
#include "runrecorder.h"
#include "runwriter.h"
#include <gio/gio.h>
#include <glib/gi18n.h>
#include <math.h>

#define MAX_ROWS  8192
#define MAX_NAMED 5 /* unreadable samples in a message */

struct _DynoRunMonitor {
  GObject parent_instance;
  DynoSession *session;
  DynoEventQueue *events; /* owned by the session */
  DynoRunRecorder *recorder;
  DynoRunView *view;
  gboolean over;            /* the DONE event was received */
  gboolean freeing;         /* the session is being freed in a thread */
  gint64 (*clock) (void);   /* microseconds */
  gint64 begin_us, shown_s; /* start of the run; elapsed seconds at the last "changed" */
  DynoMetrics *log;         /* of the last run; NULL: none yet */
  DynoEvent *masks;         /* the newest MASKS event of the run; NULL: none yet */
  char *runs;               /* the folder that runs are kept in; NULL: Dyno's own */
};

enum { CHANGED, FAILED, WARNING, DONE, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (DynoRunMonitor, dyno_run_monitor, G_TYPE_OBJECT)

/* Returns a folder named by date and time below runs, with a number appended if it exists
 * already. */
static char *
choose_folder (const char *runs)
{
  g_autoptr (GDateTime) now = g_date_time_new_now_local ();
  g_autofree char *stamp = g_date_time_format (now, "%Y-%m-%d_%H-%M-%S");
  char *path = g_build_filename (runs, stamp, NULL);
  for (guint i = 2; g_file_test (path, G_FILE_TEST_EXISTS); i++)
    {
      g_autofree char *name = g_strdup_printf ("%s_%u", stamp, i);
      g_free (path);
      path = g_build_filename (runs, name, NULL);
    }
  return path;
}

/* Passes the session's job, as it is now, to the view. */
static void
follow_job (DynoRunMonitor *self, gboolean begin)
{
  const DynoJob *job = dyno_session_get_job (self->session);
  if (begin)
    dyno_run_view_begin (self->view, job);
  else
    dyno_run_view_set_job (self->view, job);
  dyno_job_unref (job);
}

char *
dyno_run_monitor_get_runs_folder (DynoRunMonitor *self)
{
  return self->runs ? g_strdup (self->runs) : dyno_data_dir ("runs");
}

gboolean
dyno_run_monitor_start (DynoRunMonitor *self, const DynoJob *job, DynoDataset *dataset,
                        GError **error)
{
  g_return_val_if_fail (DYNO_IS_RUN_MONITOR (self) && !dyno_run_monitor_is_active (self), FALSE);
  g_autoptr (DynoJob) kept = dyno_job_copy (job);
  g_autofree char *runs = dyno_run_monitor_get_runs_folder (self);
  if (!dyno_folder_can_keep (kept->out_dir ? kept->out_dir : runs, error))
    return FALSE;
  if (!kept->out_dir)
    kept->out_dir = choose_folder (runs);
  self->over = FALSE;
  self->begin_us = self->clock ();
  self->shown_s = 0;
  kept->watch_masks = TRUE;
  g_clear_pointer (&self->masks, dyno_event_unref);
  self->session = dyno_session_new (kept);
  g_clear_pointer (&self->log, dyno_metrics_unref);
  self->log = dyno_metrics_ref (dyno_session_get_metrics (self->session));
  self->events = dyno_session_add_queue (self->session, 0, FALSE);
  follow_job (self, TRUE);
  if (dataset)
    dyno_session_set_dataset (self->session, dataset);
  dyno_session_set_writer (self->session, &dyno_run_writer);
  self->recorder = dyno_run_recorder_new (NULL, self->session);
  dyno_session_start (self->session);
  g_signal_emit (self, signals[CHANGED], 0);
  return TRUE;
}

void
dyno_run_monitor_set_clock (DynoRunMonitor *self, gint64 (*clock) (void))
{
  self->clock = clock;
}

void
dyno_run_monitor_set_runs_folder (DynoRunMonitor *self, const char *folder)
{
  g_free (self->runs);
  self->runs = g_strdup (folder);
}

void
dyno_run_monitor_release (DynoRunMonitor *self)
{
  if (self->session && !self->freeing)
    dyno_session_release (self->session);
}

void
dyno_run_monitor_pause (DynoRunMonitor *self)
{
  if (self->session && !self->freeing)
    dyno_session_pause (self->session);
}

void
dyno_run_monitor_resume (DynoRunMonitor *self)
{
  if (self->session && !self->freeing)
    dyno_session_resume (self->session);
}

static void
stop (DynoRunMonitor *self, gboolean now)
{
  if (!self->session || self->freeing || self->over)
    return;
  dyno_run_view_set_stopping (self->view);
  dyno_session_stop (self->session, now);
  g_signal_emit (self, signals[CHANGED], 0);
}

void
dyno_run_monitor_stop (DynoRunMonitor *self)
{
  stop (self, FALSE);
}

void
dyno_run_monitor_discard (DynoRunMonitor *self)
{
  stop (self, TRUE);
}

gboolean
dyno_run_monitor_set (DynoRunMonitor *self, const char *key, const char *value, GError **error)
{
  if (!self->session || self->freeing || self->over)
    return TRUE;
  if (!dyno_session_set (self->session, key, value, error))
    return FALSE;
  follow_job (self, FALSE);
  return TRUE;
}

gboolean
dyno_run_monitor_is_active (DynoRunMonitor *self)
{
  return self->session != NULL;
}

double
dyno_run_monitor_get_elapsed (DynoRunMonitor *self)
{
  return self->begin_us == 0 ? -1 : (double) (self->clock () - self->begin_us) / G_USEC_PER_SEC;
}

/* Returns whether the run is prepared, and its elapsed seconds, which are shown then, have
 * changed. */
static gboolean
tick_preparation (DynoRunMonitor *self)
{
  gint64 now_s = (gint64) dyno_run_monitor_get_elapsed (self);
  if (dyno_run_view_get_status (self->view)->n_steps > 0 || now_s == self->shown_s)
    return FALSE;
  self->shown_s = now_s;
  return TRUE;
}

const DynoRunStatus *
dyno_run_monitor_get_status (DynoRunMonitor *self)
{
  return dyno_run_view_get_status (self->view);
}

DynoRunView *
dyno_run_monitor_get_view (DynoRunMonitor *self)
{
  return self->view;
}

const DynoRunSeries *
dyno_run_monitor_get_series (DynoRunMonitor *self)
{
  return dyno_run_view_get_series (self->view);
}

DynoEvent *
dyno_run_monitor_get_masks (DynoRunMonitor *self)
{
  return self->masks;
}

static void
write_csv (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  DynoMetrics *log = g_object_get_data (G_OBJECT (task), "dyno-log");
  GError *error = NULL;
  if (log ? dyno_metrics_write_csv (log, data, &error)
          : dyno_file_write_atomic (data, "", 0, &error))
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, error);
}

void
dyno_run_monitor_write_csv (DynoRunMonitor *self, const char *path, GAsyncReadyCallback written,
                            gpointer data)
{
  g_autoptr (GTask) task = g_task_new (self, NULL, written, data);
  g_task_set_task_data (task, g_strdup (path), g_free);
  if (self->log)
    g_object_set_data_full (G_OBJECT (task), "dyno-log", dyno_metrics_ref (self->log),
                            (GDestroyNotify) dyno_metrics_unref);
  dyno_task_run_held (task, write_csv);
}

gboolean
dyno_run_monitor_write_csv_finish (GAsyncResult *result, const char **path, GError **error)
{
  *path = g_task_get_task_data (G_TASK (result));
  return g_task_propagate_boolean (G_TASK (result), error);
}

static void
show_unreadable (DynoRunMonitor *self, const DynoEvent *event)
{
  g_autoptr (GString) text = NULL;
  guint64 n = event->done.n_unreadable;
  if (n == 0)
    return;
  g_autofree char *count = dyno_format_count (n);
  text = g_string_new (NULL);
  g_string_append_printf (
      text,
      ngettext ("%s sample could not be read, and another took its place:",
                "%s samples could not be read, and others took their place:", (gulong) n),
      count);
  for (guint i = 0; i < MAX_NAMED && event->done.unreadable[i]; i++)
    g_string_append_printf (text, "\n%s", event->done.unreadable[i]);
  if (n > MAX_NAMED)
    g_string_append (text, "\n\342\200\246");
  g_signal_emit (self, signals[WARNING], 0, text->str);
}

void
dyno_run_monitor_take_event (DynoRunMonitor *self, DynoEvent *event)
{
  dyno_run_view_take_event (self->view, event);
  switch (event->type)
    {
    case DYNO_EVENT_MASKS:
      g_clear_pointer (&self->masks, dyno_event_unref);
      self->masks = dyno_event_ref (event);
      break;
    case DYNO_EVENT_WARNING:
      g_signal_emit (self, signals[WARNING], 0, event->text);
      break;
    case DYNO_EVENT_ERROR:
      g_signal_emit (self, signals[FAILED], 0, event->error);
      break;
    case DYNO_EVENT_DONE:
      self->over = TRUE;
      show_unreadable (self, event);
      break;
    default:
      break;
    }
}

static void
free_in_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  DynoRunMonitor *self = source;
  dyno_session_free (data);
  g_clear_pointer (&self->recorder, dyno_run_recorder_free);
  g_task_return_boolean (task, TRUE);
}

static void
free_done (GObject *source, GAsyncResult *result, gpointer data)
{
  DynoRunMonitor *self = DYNO_RUN_MONITOR (source);
  self->session = NULL;
  self->freeing = FALSE;
  g_signal_emit (self, signals[CHANGED], 0);
  g_signal_emit (self, signals[DONE], 0);
}

void
dyno_run_monitor_drain (DynoRunMonitor *self)
{
  if (!self->session || self->freeing)
    return;
  gboolean any = FALSE;
  for (guint i = 0; i < MAX_ROWS; i++)
    {
      g_autoptr (DynoEvent) event = dyno_event_queue_pop (self->events, 0);
      if (!event)
        break;
      dyno_run_monitor_take_event (self, event);
      any = TRUE;
    }
  any |= dyno_run_view_take_log (self->view, dyno_session_get_metrics (self->session),
                                 self->over ? G_MAXUINT64 : MAX_ROWS);
  any |= dyno_run_view_tick (self->view);
  any |= tick_preparation (self);
  if (self->over)
    {
      self->freeing = TRUE;
      g_autoptr (GTask) task = g_task_new (self, NULL, free_done, NULL);
      g_task_set_task_data (task, self->session, NULL);
      g_task_run_in_thread (task, free_in_thread);
    }
  if (any)
    g_signal_emit (self, signals[CHANGED], 0);
}

DynoRunMonitor *
dyno_run_monitor_new (void)
{
  return g_object_new (DYNO_TYPE_RUN_MONITOR, NULL);
}

static void
dyno_run_monitor_finalize (GObject *object)
{
  DynoRunMonitor *self = DYNO_RUN_MONITOR (object);
  g_clear_pointer (&self->session, dyno_session_free);
  g_clear_pointer (&self->recorder, dyno_run_recorder_free);
  dyno_run_view_free (self->view);
  dyno_metrics_unref (self->log);
  dyno_event_unref (self->masks);
  g_free (self->runs);
  G_OBJECT_CLASS (dyno_run_monitor_parent_class)->finalize (object);
}

static void
dyno_run_monitor_class_init (DynoRunMonitorClass *class)
{
  G_OBJECT_CLASS (class)->finalize = dyno_run_monitor_finalize;
  GType type = DYNO_TYPE_RUN_MONITOR;
  signals[CHANGED] =
      g_signal_new ("changed", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  signals[FAILED] = g_signal_new ("failed", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                  G_TYPE_NONE, 1, G_TYPE_ERROR);
  signals[WARNING] = g_signal_new ("warning", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                   G_TYPE_NONE, 1, G_TYPE_STRING);
  signals[DONE] =
      g_signal_new ("done", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
dyno_run_monitor_init (DynoRunMonitor *self)
{
  self->view = dyno_run_view_new (TRUE);
  self->clock = g_get_monotonic_time;
}
