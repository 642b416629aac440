/* SPDX-License-Identifier: MIT */
/* Measures how well and how fast settings learn: it follows a run from the job's seed and start
 * values at the end of each epoch, until its validation has reached a goal, or the time is over. */
#pragma once
#include "job.h"
#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct {
  char metric
      [64];     /* as the loss names it, or "loss"; empty: the metric that selects the best epoch */
  double value; /* to be reached, from whichever side is worse; NaN: none, the best is reported */
  double most_seconds; /* limit of training time; INFINITY: no limit */
  guint64 most_epochs; /* 0: the epochs of the settings */
} DynoLearningGoal;

typedef struct {
  gboolean reached;
  double seconds; /* from the first step's end, with validation; to the goal where it is reached */
  guint64 epochs; /* number of epochs that ended */
  double best;    /* best of the metric over the epochs; NaN: no epoch ended */
  double samples_per_s; /* rate of a run over these epochs; NaN: no epoch ended */
  /* the metric that was followed */
  char name[64];
  const char *title; /* for people, to be translated; NULL: none */
  gboolean higher_is_better, is_fraction;
} DynoLearning;

/* Parses "metric=value".  FALSE: the text has another form, no loss measures the metric, or the
 * metric cannot have the value.  The other members of the goal are set to no limit. */
gboolean dyno_learning_goal_parse (const char *text, DynoLearningGoal *goal, GError **error);
/* "accuracy 90 %", "loss 0.25": a value of the metric, with the translated title where there is
 * one.  g_free. */
char *dyno_learning_describe (const DynoLearning *learning, double value);
/* TRUE: a is better than b; any number is better than NaN. */
gboolean dyno_learning_is_better (const DynoLearning *learning, double a, double b);

/* The settings are taken unchanged, with their own number of epochs and learning rate.  device:
 * NULL, or a device that is open.  FALSE: the run failed or was cancelled, or has nothing to
 * validate on (DATA); a diverging loss and a deadline are results, not errors.  Errors: those of a
 * session; CANCELLED. */
gboolean dyno_learning_measure (const DynoJob *job, const DynoSettings *settings,
                                DynoDataset *dataset, DynoDevice *device,
                                const DynoLearningGoal *goal, gint64 deadline_us,
                                GCancellable *cancellable, DynoLearning *learning, GError **error);

G_END_DECLS
