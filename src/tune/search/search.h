/* SPDX-License-Identifier: MIT */
/* The search itself: it decides the order and the length of the meter's measurements, and draws the
 * conclusions.  No thread, no clock and no device of its own, so that it is tested on simulated
 * machines; tune.h runs it on the real one. */
#pragma once
#include "meter.h"
#include "tuneresult.h"

G_BEGIN_DECLS

typedef struct {
  void (*progress) (gpointer user, const char *stage, const DynoSettings *settings,
                    double fraction);
  /* Reports the preparation before that measurement, as the meter reports it; what NULL: the
   * preparation has ended. */
  void (*preparing) (gpointer user, const char *stage, const DynoSettings *settings,
                     double fraction, const char *what, guint done, guint total);
  void (*ceiling) (gpointer user, const DynoCeiling *ceiling);
  void (*trial) (gpointer user, const DynoTrial *trial);
  /* The clock, in µs, which the meter's deadlines use too.  NULL: the monotonic clock. */
  gint64 (*now_us) (gpointer user);
  /* Called before each measurement: returns when the search may go on.  The time in it does not
   * count. */
  void (*wait) (gpointer user);
  gpointer user;
} DynoSearchHooks; /* each hook may be NULL */

typedef struct {
  const DynoJob *job; /* its settings are the present ones */
  DynoMeter *meter;
  double minutes;             /* for the whole search, which may exceed it by a tenth */
  guint64 limit_bytes;        /* of device memory; 0: not known */
  const DynoSettings *preset; /* the settings of the preset, or NULL */
  const char *preset_name;
  const DynoTuneResult *known; /* an earlier result of the same job, to resume from; or NULL */
  /* The goal to be reached first, for which half of the time is kept; NULL: the fastest settings
   * are the best. */
  const DynoLearningGoal *goal;
  GCancellable *cancellable;
  DynoSearchHooks hooks;
} DynoSearchParams;

/* Fills result, which is new, with all measurements, also where there is an error.  Errors:
 * DYNO_TUNE_ERROR_NOTHING, _DOES_NOT_FIT, _STOPPED. */
gboolean dyno_search_run (const DynoSearchParams *params, DynoTuneResult *result, GError **error);

G_END_DECLS
