/* SPDX-License-Identifier: MIT */
/* The tuner, first form: real training steps for candidate settings under the budget; every trial
 * is kept; the best is proven: run once more, for longer, as are the base line (batch 16 where it
 * fits, 0 workers, fp32) and today's settings, which it is compared with.
 *
 * A thread of its own; events as with DynoSession.  Threads: all functions from any thread, _free
 * not from its own. */
#pragma once
#include "preset.h"
#include "trial.h"

G_BEGIN_DECLS

typedef enum {
  DYNO_TUNE_EVENT_PROGRESS,
  DYNO_TUNE_EVENT_CEILING,
  DYNO_TUNE_EVENT_TRIAL,
  DYNO_TUNE_EVENT_BEST,
  DYNO_TUNE_EVENT_ERROR,
  DYNO_TUNE_EVENT_DONE
} DynoTuneEventType;

typedef struct {
  DynoTuneEventType type;
  DynoCeiling ceiling; /* CEILING */
  /* TRIAL; PROGRESS: stage and settings; BEST: the choice, its proof where proven */
  DynoTrial trial;
  DynoTuneResult *result; /* BEST: all that is known */
  DynoTrial baseline;     /* BEST: its proof where there is one; settings as it ran */
  double speedup;         /* BEST: rate over the base line's; NaN: that one did not work */
  double gain;            /* BEST: rate over that of today's settings (the job's); NaN: not known */
  /* BEST: the choice passed its proof; else the search was stopped, or out of time, before */
  gboolean proven;
  /* BEST: nothing is 3 % faster than today's settings, and the choice is they */
  gboolean keep_today;
  char *text;      /* PROGRESS: what runs now; BEST: why, in words */
  double fraction; /* PROGRESS: of the whole, 0..1 */
  GError *error;
} DynoTuneEvent;

void dyno_tune_event_free (DynoTuneEvent *event);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoTuneEvent, dyno_tune_event_free)

typedef struct _DynoTune DynoTune;

/* job->settings is where the search starts and says what is not searched.  minutes: all that it
 * takes, to a step's and a tenth's precision; 0: 3. */
DynoTune *dyno_tune_new (const DynoJob *job, double minutes);
void dyno_tune_set_dataset (DynoTune *tune, DynoDataset *dataset);
void dyno_tune_start (DynoTune *tune);
void dyno_tune_stop (DynoTune *tune); /* what was measured stays; a BEST of it still comes */
void dyno_tune_free (DynoTune *tune);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoTune, dyno_tune_free)
DynoTuneEvent *dyno_tune_try_pop (DynoTune *tune);
DynoTuneEvent *dyno_tune_pop (DynoTune *tune, gint64 timeout_us);

/* What is known by now: a snapshot, the caller's reference.  NULL before the start. */
DynoTuneResult *dyno_tune_get_result (DynoTune *tune);

G_END_DECLS
