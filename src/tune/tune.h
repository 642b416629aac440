/* SPDX-License-Identifier: MIT */
/* The tuner: a search (search.h) on this machine, in a thread of its own, with events as with
 * DynoSession.  Threads: all functions from any thread, _free not from its own. */
#pragma once
#include "meter.h"
#include "preset.h"
#include "store.h"
#include "tuneresult.h"

G_BEGIN_DECLS

typedef enum {
  DYNO_TUNE_EVENT_PROGRESS,
  DYNO_TUNE_EVENT_NOTE, /* before it begins: the time is short */
  DYNO_TUNE_EVENT_CEILING,
  DYNO_TUNE_EVENT_TRIAL,
  DYNO_TUNE_EVENT_BEST,
  DYNO_TUNE_EVENT_WARNING, /* the search goes on, and is not kept */
  DYNO_TUNE_EVENT_ERROR,   /* also what kept trials from being written: the search goes on */
  DYNO_TUNE_EVENT_DONE
} DynoTuneEventType;

typedef struct {
  DynoTuneEventType type;
  DynoCeiling ceiling; /* CEILING */
  /* TRIAL; PROGRESS: stage and settings; BEST: the choice */
  DynoTrial trial;
  DynoTrial baseline;     /* BEST; settings as it ran */
  DynoTuneResult *result; /* BEST: all that is known */
  /* BEST: rate over the base line's, and over that of the present settings (the job's); NaN: not
   * known, or inside the noise */
  double speedup, gain;
  /* BEST: the choice passed its proof; else the search was stopped, or out of time, before */
  gboolean proven;
  /* BEST: nothing is 3 % faster than the present settings, and the choice is they */
  gboolean keep_today;
  char *text; /* PROGRESS: what runs now; NOTE, BEST: in words */
  /* PROGRESS: what is prepared before that, as DynoEvent's, interned; NULL: it measures */
  const char *preparing;
  guint n_prepared, n_to_prepare; /* the latter 0: not known */
  double fraction;                /* PROGRESS: of the whole, 0..1 */
  GError *error;                  /* WARNING, ERROR */
} DynoTuneEvent;

void dyno_tune_event_free (DynoTuneEvent *event);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoTuneEvent, dyno_tune_event_free)

typedef struct _DynoTune DynoTune;

/* job->settings are the present settings: they are compared with, and say what is not searched.
 * minutes: all that it takes, to a tenth; 0: 3. */
DynoTune *dyno_tune_new (const DynoJob *job, double minutes);
/* For tests: measures with the meter, which it takes, and keeps no history. */
DynoTune *dyno_tune_new_with_meter (const DynoJob *job, double minutes, DynoMeter *meter);
void dyno_tune_set_dataset (DynoTune *tune, DynoDataset *dataset);
/* The history that the search is kept in; without a call that of this machine, NULL: in none. */
void dyno_tune_set_store (DynoTune *tune, DynoStore *store);
/* Every measurement is written to folder/trials.csv as it ends; without that there is no search. */
void dyno_tune_set_folder (DynoTune *tune, const char *folder);
/* The same as far as it can be written: what cannot is a WARNING, once. */
void dyno_tune_keep_in (DynoTune *tune, const char *folder);
/* The best is what reaches it first; half of the time is kept for that. */
void dyno_tune_set_goal (DynoTune *tune, const DynoLearningGoal *goal);
/* For so many processes that train together on so many hosts, of which this one is measured as one:
 * it should run on its share of a host's cores.  Nothing is kept in the history, whose rates are of
 * one process. */
void dyno_tune_set_ranks (DynoTune *tune, guint ranks, guint hosts);
/* Before the start: goes on from folder/trials.csv.  Errors: those of trialsfile.h. */
gboolean dyno_tune_resume (DynoTune *tune, const char *folder, GError **error);
void dyno_tune_start (DynoTune *tune);
/* The measurement that runs is ended first; the time until it goes on does not count. */
void dyno_tune_pause (DynoTune *tune, gboolean paused);
void dyno_tune_stop (DynoTune *tune); /* what was measured stays; a BEST of it still comes */
void dyno_tune_free (DynoTune *tune);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoTune, dyno_tune_free)
DynoTuneEvent *dyno_tune_try_pop (DynoTune *tune);
DynoTuneEvent *dyno_tune_pop (DynoTune *tune, gint64 timeout_us);

/* What is known by now: a snapshot, the caller's reference.  Complete once BEST has come. */
DynoTuneResult *dyno_tune_get_result (DynoTune *tune);

G_END_DECLS
