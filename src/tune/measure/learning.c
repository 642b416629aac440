/* SPDX-License-Identifier: MIT */
/* The clock begins at the end of the first step: the compilation for it is not learning. */
#include "learning.h"
#include "intl.h"
#include "runmeter.h"
#include "session.h"
#include <math.h>
#include <string.h>

gboolean
dyno_learning_goal_parse (const char *text, DynoLearningGoal *goal, GError **error)
{
  g_auto (GStrv) parts = g_strsplit (text, "=", 2);
  DynoMetricInfo info = { .format = DYNO_METRIC_NUMBER };
  char *end = NULL;

  *goal = (DynoLearningGoal){ .most_seconds = INFINITY };
  goal->value = parts[0] && parts[1] ? g_ascii_strtod (parts[1], &end) : (double) NAN;
  if (!end || end == parts[1] || *end != '\0' || !isfinite (goal->value))
    g_set_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_SETTING,
                 _ ("The goal “%s” is not of the form metric=number, such as accuracy=0.9"), text);
  else if (strlen (parts[0]) >= sizeof goal->metric
           || (strcmp (parts[0], "loss") != 0 && !dyno_metric_find (parts[0], &info)))
    g_set_error (
        error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_SETTING,
        _ ("“%s” is not a metric: take accuracy, another metric that training shows, or loss"),
        parts[0]);
  else if (info.format == DYNO_METRIC_FRACTION && (goal->value < 0 || goal->value > 1))
    g_set_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_SETTING,
                 _ ("The goal “%s” cannot be reached: %s is from 0 to 1, 0.9 for 90 %%"), text,
                 parts[0]);
  else
    {
      g_strlcpy (goal->metric, parts[0], sizeof goal->metric);
      return TRUE;
    }
  return FALSE;
}

char *
dyno_learning_describe (const DynoLearning *l, double value)
{
  const char *title = l->title ? _ (l->title) : NULL;
  /* English texts use the names of files and options. */
  const char *name = title != l->title ? title : l->name;

  return l->is_fraction ? g_strdup_printf ("%s %.4g %%", name, 100 * value)
                        : g_strdup_printf ("%s %.4g", name, value);
}

gboolean
dyno_learning_is_better (const DynoLearning *l, double a, double b)
{
  if (isnan (a) || isnan (b))
    return !isnan (a);
  return l->higher_is_better ? a > b : a < b;
}

/* --- following -------------------------------------------------------------------------------- */

typedef struct {
  const DynoLearningGoal *goal;
  DynoLearning *l;
  int index;         /* of the metric among those of the run; -1: the loss */
  gint64 begin_us;   /* 0: no step has ended */
  guint64 samples;   /* samples of all steps after the first */
  guint64 in_epochs; /* samples of the epochs that ended */
  GError *error;
} Follow;

static void
take_table (Follow *f, const DynoMetricTable *table)
{
  const char *name = f->goal->metric;

  f->index = *name ? -1 : dyno_metric_table_find_selecting (table);
  for (guint i = 0; *name && i < table->n; i++)
    if (strcmp (table->infos[i].name, name) == 0)
      f->index = (int) i;
  if (*name && f->index < 0 && strcmp (name, "loss") != 0)
    g_set_error (&f->error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_SETTING,
                 _ ("This run does not measure “%s”: take %s or loss"), name,
                 table->n > 0 ? table->infos[0].name : "loss");
  g_strlcpy (f->l->name, f->index < 0 ? "loss" : table->infos[f->index].name, sizeof f->l->name);
  f->l->title = f->index < 0 ? N_ ("Loss") : table->infos[f->index].title;
  f->l->higher_is_better = f->index >= 0 && table->infos[f->index].higher_is_better;
  f->l->is_fraction = f->index >= 0 && table->infos[f->index].format == DYNO_METRIC_FRACTION;
}

static void
take_epoch (Follow *f, const DynoEvent *event)
{
  double value = f->index < 0 ? event->epoch.val_loss : event->epoch.val_metrics[f->index];
  DynoLearning *l = f->l;

  l->epochs++;
  l->seconds = (double) (event->time_us - f->begin_us) / 1e6;
  f->in_epochs = f->samples;
  if (l->seconds > 0)
    l->samples_per_s = (double) f->in_epochs / l->seconds;
  if (dyno_learning_is_better (l, value, l->best))
    l->best = value;
  l->reached = isfinite (f->goal->value) && !isnan (l->best)
               && !dyno_learning_is_better (l, f->goal->value, l->best);
}

static void
take_event (Follow *f, const DynoEvent *event)
{
  if (event->type == DYNO_EVENT_METRICS)
    take_table (f, &event->metrics);
  else if (event->type == DYNO_EVENT_STEP && f->begin_us == 0)
    f->begin_us = event->time_us;
  else if (event->type == DYNO_EVENT_STEP)
    f->samples += event->step.samples;
  else if (event->type == DYNO_EVENT_EPOCH && f->begin_us > 0)
    take_epoch (f, event);
  else if (event->type == DYNO_EVENT_ERROR && !f->error)
    f->error = g_error_copy (event->error);
}

static gboolean
is_over (const Follow *f, gint64 deadline_us, GCancellable *cancellable)
{
  gint64 now = g_get_monotonic_time ();
  const DynoLearningGoal *goal = f->goal;

  return f->error || f->l->reached || now >= deadline_us || g_cancellable_is_cancelled (cancellable)
         || (goal->most_epochs > 0 && f->l->epochs >= goal->most_epochs)
         || (f->begin_us > 0 && (double) (now - f->begin_us) / 1e6 >= goal->most_seconds);
}

static void
follow (Follow *f, DynoSession *session, DynoEventQueue *events, gint64 deadline_us,
        GCancellable *cancellable)
{
  gboolean stopped = FALSE, done = FALSE;

  while (!done)
    {
      gint64 left_us = deadline_us - g_get_monotonic_time ();
      g_autoptr (DynoEvent) event =
          dyno_event_queue_pop (events, CLAMP (left_us, 1000, G_USEC_PER_SEC / 20));

      done = event && event->type == DYNO_EVENT_DONE;
      if (event && !stopped)
        take_event (f, event);
      if (!stopped && is_over (f, deadline_us, cancellable))
        {
          dyno_session_stop (session, TRUE);
          stopped = TRUE;
        }
    }
  if (!f->l->reached && f->begin_us > 0)
    f->l->seconds = (double) (g_get_monotonic_time () - f->begin_us) / 1e6;
}

gboolean
dyno_learning_measure (const DynoJob *job, const DynoSettings *settings, DynoDataset *dataset,
                       DynoDevice *device, const DynoLearningGoal *goal, gint64 deadline_us,
                       GCancellable *cancellable, DynoLearning *learning, GError **error)
{
  g_autoptr (DynoJob) own = dyno_run_meter_job (job, settings);
  g_autoptr (DynoSession) session = NULL;
  DynoEventQueue *events;
  DynoMetricInfo metric;
  Follow f = { .goal = goal, .l = learning, .index = -1 };

  *learning = (DynoLearning){ .best = (double) NAN, .samples_per_s = (double) NAN };
  own->settings.epochs = settings->epochs; /* schedules end with these epochs */
  if (*goal->metric && dyno_metric_find (goal->metric, &metric) && metric.of_validation)
    own->settings.best_metric = g_quark_from_string (metric.name); /* else it is not measured */
  session = dyno_session_new (own);
  events = dyno_session_add_queue (session, 0, TRUE);
  dyno_session_set_dataset (session, dataset);
  if (device)
    dyno_session_set_device (session, device);
  dyno_session_start (session);
  follow (&f, session, events, deadline_us, cancellable);
  dyno_session_join (session);
  if (g_error_matches (f.error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DIVERGED))
    g_clear_error (&f.error);
  if (f.error)
    g_propagate_error (error, f.error);
  else if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return FALSE;
  else
    return TRUE;
  return FALSE;
}
