/* SPDX-License-Identifier: MIT */
/* The search itself: what the meter measures, in which order, for how long, and what follows from
 * it.  No thread, no clock and no device of its own, so that it is tested on simulated machines;
 * tune.h runs it on the real one. */
#pragma once
#include "meter.h"
#include "tuneresult.h"

G_BEGIN_DECLS

typedef struct {
  void (*progress) (gpointer user, const char *stage, const DynoSettings *settings,
                    double fraction);
  /* What is prepared before that measures, as the meter tells it; what NULL: it measures. */
  void (*preparing) (gpointer user, const char *stage, const DynoSettings *settings,
                     double fraction, const char *what, guint done, guint total);
  void (*ceiling) (gpointer user, const DynoCeiling *ceiling);
  void (*trial) (gpointer user, const DynoTrial *trial);
  /* The clock, in µs; the meter's deadlines are by it.  NULL: the monotonic one. */
  gint64 (*now_us) (gpointer user);
  /* Before each measurement: returns when the search may go on.  Time in it does not count. */
  void (*wait) (gpointer user);
  gpointer user;
} DynoSearchHooks; /* each may be NULL */

typedef struct {
  const DynoJob *job; /* its settings are the present ones */
  DynoMeter *meter;
  double minutes;             /* all that it takes, to a tenth */
  guint64 limit_bytes;        /* of device memory; 0: not known */
  const DynoSettings *preset; /* the preset's own numbers, or NULL */
  const char *preset_name;
  const DynoTuneResult *known; /* of an earlier search of the same job, to go on from; or NULL */
  /* To be reached first, for which half of the time is kept; NULL: the fastest is the best. */
  const DynoLearningGoal *goal;
  GCancellable *cancellable;
  DynoSearchHooks hooks;
} DynoSearchParams;

/* Fills result, which is new: all that was measured, also where there is an error.
 * Errors: DYNO_TUNE_ERROR_NOTHING, _DOES_NOT_FIT, _STOPPED. */
gboolean dyno_search_run (const DynoSearchParams *params, DynoTuneResult *result, GError **error);

G_END_DECLS
