/* SPDX-License-Identifier: MIT */
/* A search for the best validation (accuracy.h) in a thread of its own, for a program that must not
 * wait for it: events carry immutable copies of the result.  Its runs, its file and its decisions
 * are those of dyno_accuracy_search.  Threads: all functions may be called from any thread, but
 * _free not from the tuner's own. */
#pragma once
#include "accuracyfile.h"
#include "accuracyrunner.h"

G_BEGIN_DECLS

typedef enum {
  DYNO_ACCURACY_EVENT_BEGIN,    /* a run begins */
  DYNO_ACCURACY_EVENT_PROGRESS, /* the run prepares something, or trains again */
  DYNO_ACCURACY_EVENT_EPOCH,    /* an epoch of the run has ended */
  DYNO_ACCURACY_EVENT_END,      /* a run has ended, and its line is on the disk */
  DYNO_ACCURACY_EVENT_RESULT,   /* the verdict; also of a search that was stopped */
  DYNO_ACCURACY_EVENT_WARNING,  /* a warning of a run, each text once */
  DYNO_ACCURACY_EVENT_ERROR,    /* the search failed */
  DYNO_ACCURACY_EVENT_DONE,     /* the last event */
} DynoAccuracyEventType;

typedef struct {
  DynoAccuracyEventType type;
  DynoAccuracyRun *run; /* BEGIN, PROGRESS, EPOCH, END: the run; BEGIN to EPOCH without value */
  DynoAccuracyResult *result;     /* BEGIN, END, RESULT: a copy at that time */
  const char *preparing;          /* PROGRESS: as in DynoEvent, interned; NULL: it trains */
  guint n_prepared, n_to_prepare; /* n_to_prepare 0: not known */
  guint64 epoch;                  /* EPOCH: from 1 */
  double value;                   /* EPOCH: the metric in validation; NaN: none */
  char *text;                     /* WARNING */
  GError *error;                  /* ERROR */
} DynoAccuracyEvent;

void dyno_accuracy_event_free (DynoAccuracyEvent *event);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoAccuracyEvent, dyno_accuracy_event_free)

typedef struct {
  const DynoJob *job; /* data, model and settings; the settings are trial 0 */
  DynoDataset *dataset;
  const char *metric;            /* name of the metric */
  const char *device;            /* name of the device, for the file; or NULL */
  const char *folder;            /* folder of the search, which exists */
  double minutes;                /* for the whole search, above 0 */
  guint most_trials, most_seeds; /* 0: as many as there is time for */
  guint at_once;                 /* as in DynoAccuracyParams */
  /* The parameters, as texts for dyno_param_space_choose; NULL: the usual ones.  A search that is
   * resumed keeps its own. */
  const char *const *over;
  gboolean resume; /* the search resumes from folder/accuracy.csv */
  /* Writes the choice into the folder when the search has ended, stopped or not; or NULL. */
  gboolean (*write_best) (const char *folder, const DynoJob *job, const char *device,
                          const DynoAccuracyResult *result, GError **error);
  const DynoRunWriter *writer;      /* writes the other files in a run's folder; or NULL */
  const DynoAccuracyRunner *runner; /* for tests; NULL: the job's device trains.  Copied */
} DynoAccuracyTuneParams;

typedef struct _DynoAccuracyTune DynoAccuracyTune;

DynoAccuracyTune *dyno_accuracy_tune_new (const DynoAccuracyTuneParams *params);
/* The errors before the first run are those of dyno_accuracy_check, of the file of a search that is
 * resumed, and of the device. */
void dyno_accuracy_tune_start (DynoAccuracyTune *tune);
/* The present run ends after its step, and its trial continues from there when the search is
 * resumed. */
void dyno_accuracy_tune_stop (DynoAccuracyTune *tune);
/* Stops the search and waits for its thread. */
void dyno_accuracy_tune_free (DynoAccuracyTune *tune);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoAccuracyTune, dyno_accuracy_tune_free)
DynoAccuracyEvent *dyno_accuracy_tune_try_pop (DynoAccuracyTune *tune);
DynoAccuracyEvent *dyno_accuracy_tune_pop (DynoAccuracyTune *tune, gint64 timeout_us);
/* The space that is searched; constant after the first event with a result, and valid as long as
 * the tuner. */
const DynoParamSpace *dyno_accuracy_tune_get_space (DynoAccuracyTune *tune);

G_END_DECLS
