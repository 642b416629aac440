/* SPDX-License-Identifier: MIT */
/* The tuner: a search (search.h) on this machine, in a thread of its own, with events as with
 * DynoSession.  Threads: all functions may be called from any thread, but _free not from the
 * tuner's own. */
#pragma once
#include "meter.h"
#include "preset.h"
#include "store.h"
#include "tuneresult.h"

G_BEGIN_DECLS

typedef enum {
  DYNO_TUNE_EVENT_PROGRESS,
  DYNO_TUNE_EVENT_NOTE, /* before the search begins: the time is short */
  DYNO_TUNE_EVENT_CEILING,
  DYNO_TUNE_EVENT_TRIAL,
  DYNO_TUNE_EVENT_BEST,
  DYNO_TUNE_EVENT_WARNING, /* the search continues, but the history does not record it */
  /* also for trials.csv not written; the search continues */
  DYNO_TUNE_EVENT_ERROR,
  DYNO_TUNE_EVENT_DONE
} DynoTuneEventType;

typedef struct {
  DynoTuneEventType type;
  DynoCeiling ceiling; /* CEILING */
  /* TRIAL; PROGRESS: stage and settings; BEST: the choice */
  DynoTrial trial;
  DynoTrial baseline;     /* BEST; with the settings that ran */
  DynoTuneResult *result; /* BEST: the whole result */
  /* BEST: rate over the base line's rate, and over the rate of the present settings (the job's);
   * NaN: not known, or inside the noise */
  double speedup, gain;
  /* BEST: no part of the choice's proof is missing; FALSE also where the search was stopped or its
   * time ended before the proof */
  gboolean proven;
  /* BEST: nothing is 3 % faster than the present settings, which are the choice */
  gboolean keep_today;
  char *text; /* PROGRESS: the present measurement; NOTE, BEST: in words */
  /* PROGRESS: the preparation that runs before the measurement, named as in DynoEvent, interned;
   * NULL: the measurement itself runs */
  const char *preparing;
  guint n_prepared, n_to_prepare; /* n_to_prepare 0: not known */
  double fraction;                /* PROGRESS: done share of the whole, 0..1 */
  GError *error;                  /* WARNING, ERROR */
} DynoTuneEvent;

void dyno_tune_event_free (DynoTuneEvent *event);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoTuneEvent, dyno_tune_event_free)

typedef struct _DynoTune DynoTune;

/* job->settings are the present settings: the choice is compared with them, and they give the
 * values of the settings that are not searched.  minutes: duration of the whole search, which may
 * exceed it by a tenth; 0: 3. */
DynoTune *dyno_tune_new (const DynoJob *job, double minutes);
/* For tests: measures with the meter, of which it takes ownership, and keeps no history. */
DynoTune *dyno_tune_new_with_meter (const DynoJob *job, double minutes, DynoMeter *meter);
void dyno_tune_set_dataset (DynoTune *tune, DynoDataset *dataset);
/* The history that records the search; default: that of this machine; NULL: none. */
void dyno_tune_set_store (DynoTune *tune, DynoStore *store);
/* Every measurement is written to folder/trials.csv when it ends.  Where the file cannot be created
 * the search ends; where a later write fails, there is one ERROR and the search continues without
 * the file. */
void dyno_tune_set_folder (DynoTune *tune, const char *folder);
/* The same, but the search continues without the file in either case: a failure is one WARNING. */
void dyno_tune_keep_in (DynoTune *tune, const char *folder);
/* The best settings are those that reach the goal first; half of the time is kept for the race. */
void dyno_tune_set_goal (DynoTune *tune, const DynoLearningGoal *goal);
/* For this many processes that train together on this many hosts.  This process measures as one of
 * them: it should run on its share of a host's cores.  The history records nothing, since its rates
 * are those of single processes. */
void dyno_tune_set_ranks (DynoTune *tune, guint ranks, guint hosts);
/* To be called before the start: resumes from folder/trials.csv.  Errors: those of trialsfile.h. */
gboolean dyno_tune_resume (DynoTune *tune, const char *folder, GError **error);
void dyno_tune_start (DynoTune *tune);
/* The present measurement is finished first; the time until the search resumes does not count. */
void dyno_tune_pause (DynoTune *tune, gboolean paused);
void dyno_tune_stop (DynoTune *tune); /* the measurements are kept, and BEST still follows */
void dyno_tune_free (DynoTune *tune);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoTune, dyno_tune_free)
DynoTuneEvent *dyno_tune_try_pop (DynoTune *tune);
DynoTuneEvent *dyno_tune_pop (DynoTune *tune, gint64 timeout_us);

/* A snapshot of the present result; the caller gets a reference.  It is complete once BEST was
 * emitted. */
DynoTuneResult *dyno_tune_get_result (DynoTune *tune);

G_END_DECLS
