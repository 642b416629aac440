/* SPDX-License-Identifier: MIT */
/* A run as the window sees it.  At most MAX_ROWS steps are taken over in one call, so that a call
 * stays well under a frame; what remains comes with the next. */
#include "runmonitor.h"
#include "format.h"
#include "runwriter.h"
#include <gio/gio.h>
#include <glib/gi18n.h>
#include <math.h>

#define CHUNK     256
#define MAX_ROWS  8192
#define MAX_NAMED 5 /* unreadable samples in a message */

struct _DynoRunMonitor {
  GObject parent_instance;
  DynoSession *session;
  DynoEventQueue *events; /* of the session */
  DynoRunStatus status;
  DynoRunSeries series;
  guint64 first_step; /* of the log, and when it ended */
  double first_seconds;
  /* the latter is estimated; 0: not preparing; not known yet */
  gint64 preparing_since_us, preparing_until_us;
  gboolean over;    /* DONE came */
  gboolean freeing; /* the session is being freed in a thread */
  char *csv;        /* of the last run, taken when its session ends */
};

enum { CHANGED, FAILED, WARNING, DONE, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (DynoRunMonitor, dyno_run_monitor, G_TYPE_OBJECT)

/* $XDG_DATA_HOME/dyno/runs/<date-time>, a number behind it when two start within a second. */
static char *
choose_folder (void)
{
  g_autoptr (GDateTime) now = g_date_time_new_now_local ();
  g_autofree char *stamp = g_date_time_format (now, "%Y-%m-%d_%H-%M-%S");
  char *path = g_build_filename (g_get_user_data_dir (), "dyno", "runs", stamp, NULL);
  for (guint i = 2; g_file_test (path, G_FILE_TEST_EXISTS); i++)
    {
      g_autofree char *name = g_strdup_printf ("%s_%u", stamp, i);
      g_free (path);
      path = g_build_filename (g_get_user_data_dir (), "dyno", "runs", name, NULL);
    }
  return path;
}

static void
clear_status (DynoRunMonitor *self)
{
  dyno_job_unref (self->status.job);
  g_free (self->status.device);
  g_free (self->status.out_dir);
  memset (&self->status, 0, sizeof self->status);
  for (guint i = 0; i < DYNO_MAX_METRICS; i++)
    self->status.best[i] = NAN;
  self->status.eta_s = -1;
  self->status.progress_left_s = -1;
  self->preparing_since_us = self->preparing_until_us = 0;
  self->status.memory_unit = 1024.0 * 1024 * 1024;
}

static void
clear_series (DynoRunMonitor *self)
{
  dyno_series_clear (self->series.throughput);
  dyno_series_clear (self->series.loss);
  dyno_series_clear (self->series.val_loss);
  dyno_series_clear (self->series.vram);
  dyno_series_clear (self->series.vram_all);
}

void
dyno_run_monitor_start (DynoRunMonitor *self, const DynoJob *job, DynoDataset *dataset)
{
  g_return_if_fail (DYNO_IS_RUN_MONITOR (self) && !dyno_run_monitor_is_active (self));
  g_autoptr (DynoJob) kept = dyno_job_copy (job);
  if (!kept->out_dir)
    kept->out_dir = choose_folder ();
  clear_status (self);
  clear_series (self);
  g_clear_pointer (&self->csv, g_free);
  self->over = FALSE;
  self->session = dyno_session_new (kept);
  self->events = dyno_session_add_queue (self->session, 0, FALSE);
  self->status.job = dyno_session_get_job (self->session);
  self->status.state = DYNO_SESSION_PREPARING;
  self->status.out_dir = g_strdup (kept->out_dir);
  if (dataset)
    dyno_session_set_dataset (self->session, dataset);
  dyno_session_set_writer (self->session, &dyno_run_writer);
  dyno_session_start (self->session);
  g_signal_emit (self, signals[CHANGED], 0);
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

void
dyno_run_monitor_stop (DynoRunMonitor *self)
{
  if (!self->session || self->freeing || self->over)
    return;
  self->status.state = DYNO_SESSION_STOPPING;
  dyno_session_stop (self->session, FALSE);
  g_signal_emit (self, signals[CHANGED], 0);
}

static void
count_steps (DynoRunMonitor *self)
{
  const DynoJob *job = self->status.job;
  if (job->max_steps > 0)
    self->status.total_steps = (guint64) job->max_steps;
  else if (self->status.has_plan)
    self->status.total_steps = self->status.plan.steps_per_epoch * (guint64) job->settings.epochs;
}

gboolean
dyno_run_monitor_set (DynoRunMonitor *self, const char *key, const char *value, GError **error)
{
  if (!self->session || self->freeing || self->over)
    return TRUE;
  if (!dyno_session_set (self->session, key, value, error))
    return FALSE;
  dyno_job_unref (self->status.job);
  self->status.job = dyno_session_get_job (self->session);
  count_steps (self);
  return TRUE;
}

gboolean
dyno_run_monitor_is_active (DynoRunMonitor *self)
{
  return self->session != NULL;
}

const DynoRunStatus *
dyno_run_monitor_get_status (DynoRunMonitor *self)
{
  return &self->status;
}

const DynoRunSeries *
dyno_run_monitor_get_series (DynoRunMonitor *self)
{
  return &self->series;
}

char *
dyno_run_monitor_to_csv (DynoRunMonitor *self)
{
  if (self->session && !self->freeing)
    return dyno_metrics_to_csv (dyno_session_get_metrics (self->session));
  return g_strdup (self->csv);
}

static gboolean
take_steps (DynoRunMonitor *self, guint limit)
{
  DynoMetrics *metrics = dyno_session_get_metrics (self->session);
  DynoStepMetrics rows[CHUNK];
  guint taken = 0;
  while (taken < limit)
    {
      guint64 n = dyno_metrics_copy_steps (metrics, self->status.n_steps, CHUNK, rows);
      for (guint64 i = 0; i < n; i++)
        {
          const DynoStepMetrics *row = &rows[i];
          double x = (double) row->step, unit = self->status.memory_unit;
          dyno_series_append (self->series.throughput, x,
                              row->samples_per_s > 0 ? row->samples_per_s : NAN);
          dyno_series_append (self->series.loss, x, row->skipped ? NAN : row->loss);
          dyno_series_append (self->series.vram, x, (double) row->vram_bytes / unit);
          if (row->vram_all_bytes > 0)
            dyno_series_append (self->series.vram_all, x, (double) row->vram_all_bytes / unit);
        }
      if (n > 0 && self->status.n_steps == 0)
        {
          self->first_step = rows[0].step;
          self->first_seconds = rows[0].seconds;
        }
      if (n > 0)
        self->status.step = rows[n - 1];
      self->status.n_steps += n;
      taken += (guint) n;
      if (n < CHUNK)
        break;
    }
  return taken > 0;
}

static gboolean
take_epochs (DynoRunMonitor *self)
{
  DynoMetrics *metrics = dyno_session_get_metrics (self->session);
  DynoEpochMetrics row;
  gboolean any = FALSE;
  while (dyno_metrics_copy_epochs (metrics, self->status.n_epochs, 1, &row) == 1)
    {
      any = TRUE;
      self->status.n_epochs++;
      self->status.epoch = row;
      if (isfinite (row.val_loss))
        dyno_series_append (self->series.val_loss, (double) row.step, row.val_loss);
      for (guint i = 0; i < self->status.metrics.n; i++)
        if (dyno_metric_is_better (&self->status.metrics.infos[i], row.val_metrics[i],
                                   self->status.best[i]))
          self->status.best[i] = row.val_metrics[i];
    }
  return any;
}

static void
estimate (DynoRunMonitor *self)
{
  DynoRunStatus *s = &self->status;
  s->eta_s = -1;
  /* From the first step on: what is done once before its end will not come again. */
  if (s->step.step > self->first_step && s->total_steps >= s->step.step)
    s->eta_s = (double) (s->total_steps - s->step.step) * (s->step.seconds - self->first_seconds)
               / (double) (s->step.step - self->first_step);
}

static void
renew_memory_series (DynoRunMonitor *self)
{
  const char *unit = self->status.memory_unit > 1024 * 1024 ? "GiB" : "MiB";
  dyno_series_free (self->series.vram);
  dyno_series_free (self->series.vram_all);
  self->series.vram = dyno_series_new (_ ("Dyno"), unit);
  self->series.vram_all = dyno_series_new (_ ("All programs"), unit);
}

static void
tell_unreadable (DynoRunMonitor *self, const DynoEvent *event)
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

/* What is prepared, in its order and with its usual share of the time: one progress for all of it,
 * up to the end of the first step, in which drivers compile once more. */
static const struct {
  const char *what;
  double begin, end;
} phases[] = { { "scan", 0, 0.05 },
               { "autotune", 0.05, 0.45 },
               { "compile", 0.45, 0.85 },
               { "weights", 0.85, 0.88 },
               { "first-step", 0.88, 1 } };

static void
prepare (DynoRunMonitor *self, const char *what, double fraction)
{
  DynoRunStatus *s = &self->status;
  gint64 now = g_get_monotonic_time (), spent;
  if (self->preparing_since_us == 0)
    self->preparing_since_us = now;
  s->progress = g_intern_string (what);
  for (guint i = 0; i < G_N_ELEMENTS (phases); i++)
    {
      if (g_str_equal (phases[i].what, what))
        s->progress_fraction =
            MAX (s->progress_fraction,
                 phases[i].begin + (phases[i].end - phases[i].begin) * CLAMP (fraction, 0, 1));
    }
  spent = now - self->preparing_since_us;
  if (s->progress_fraction >= 0.1 && spent > G_USEC_PER_SEC / 2)
    self->preparing_until_us =
        now + (gint64) ((double) spent * (1 - s->progress_fraction) / s->progress_fraction);
}

static void
end_preparation (DynoRunMonitor *self)
{
  self->status.progress = NULL;
  self->status.progress_fraction = 0;
  self->status.progress_left_s = -1;
  self->preparing_since_us = self->preparing_until_us = 0;
}

/* TRUE: the seconds that are shown have changed. */
static gboolean
count_down (DynoRunMonitor *self)
{
  double before = self->status.progress_left_s, left;
  if (!self->status.progress || self->preparing_until_us == 0)
    return FALSE;
  left = (double) (self->preparing_until_us - g_get_monotonic_time ()) / G_USEC_PER_SEC;
  self->status.progress_left_s = left > 0 ? ceil (left) : -1;
  return self->status.progress_left_s != before;
}

static void
handle (DynoRunMonitor *self, const DynoEvent *event)
{
  DynoRunStatus *s = &self->status;
  switch (event->type)
    {
    case DYNO_EVENT_STATE:
      /* a Stop that was asked for stays visible although older states are still on their way */
      if (s->state != DYNO_SESSION_STOPPING || event->state > DYNO_SESSION_STOPPING)
        s->state = event->state;
      if (s->state == DYNO_SESSION_RUNNING && s->n_steps == 0)
        prepare (self, "first-step", 0);
      else if (s->state != DYNO_SESSION_PREPARING)
        end_preparation (self);
      break;
    case DYNO_EVENT_PLAN:
      s->has_plan = TRUE;
      s->plan = event->plan.plan;
      g_free (s->device);
      s->device = g_strdup (event->plan.device);
      s->n_train = event->plan.n_train;
      s->n_validation = event->plan.n_validation;
      if (s->plan.plan.total_bytes < (guint64) 1 << 29)
        s->memory_unit = 1024 * 1024;
      renew_memory_series (self);
      count_steps (self);
      break;
    case DYNO_EVENT_METRICS:
      s->metrics = event->metrics;
      break;
    case DYNO_EVENT_PROGRESS:
      prepare (self, event->progress.what,
               event->progress.total > 0 ? (double) event->progress.done / event->progress.total
                                         : 0);
      break;
    case DYNO_EVENT_WARNING:
      g_signal_emit (self, signals[WARNING], 0, event->text);
      break;
    case DYNO_EVENT_ERROR:
      g_signal_emit (self, signals[FAILED], 0, event->error);
      break;
    case DYNO_EVENT_DONE:
      self->over = TRUE;
      tell_unreadable (self, event);
      s->state = event->done.state;
      s->seconds = event->done.seconds;
      s->progress = NULL;
      if (event->done.out_dir)
        {
          g_free (s->out_dir);
          s->out_dir = g_strdup (event->done.out_dir);
        }
      break;
    case DYNO_EVENT_STEP:
    case DYNO_EVENT_EPOCH:
    case DYNO_EVENT_CHECKPOINT:
    default:
      break;
    }
}

static void
free_in_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  DynoRunMonitor *self = source;
  self->csv = dyno_metrics_to_csv (dyno_session_get_metrics (data));
  dyno_session_free (data);
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
      handle (self, event);
      any = TRUE;
    }
  any |= take_steps (self, self->over ? G_MAXUINT : MAX_ROWS);
  any |= take_epochs (self);
  if (self->status.n_steps > 0 && self->status.state == DYNO_SESSION_RUNNING
      && self->status.progress)
    end_preparation (self);
  any |= count_down (self);
  estimate (self);
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
  clear_status (self);
  g_free (self->csv);
  dyno_series_free (self->series.throughput);
  dyno_series_free (self->series.loss);
  dyno_series_free (self->series.val_loss);
  dyno_series_free (self->series.vram);
  dyno_series_free (self->series.vram_all);
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
  self->series.throughput = dyno_series_new (_ ("Training"), _ ("samples/s"));
  self->series.loss = dyno_series_new (_ ("Training"), "");
  self->series.val_loss = dyno_series_new (_ ("Validation"), "");
  clear_status (self);
  renew_memory_series (self);
}
