/* SPDX-License-Identifier: MIT */
/* A search for the best validation (accuracy.h) in a thread of its own, for a program that must not
 * wait for it: events come out as immutable snapshots.  Its runs, its file and its decisions are
 * those of dyno_accuracy_search.  Threads: all functions from any thread, _free not from its own. */
#pragma once
#include "accuracyfile.h"
#include "accuracyrunner.h"

G_BEGIN_DECLS

typedef enum {
  DYNO_ACCURACY_EVENT_BEGIN,    /* of a run */
  DYNO_ACCURACY_EVENT_PROGRESS, /* the run prepares something, or trains again */
  DYNO_ACCURACY_EVENT_EPOCH,    /* of the run has ended */
  DYNO_ACCURACY_EVENT_END,      /* of a run, whose line is on the disk */
  DYNO_ACCURACY_EVENT_RESULT,   /* the verdict; comes of a search that is stopped too */
  DYNO_ACCURACY_EVENT_WARNING,  /* of a run, each once */
  DYNO_ACCURACY_EVENT_ERROR,    /* the search ends */
  DYNO_ACCURACY_EVENT_DONE,     /* the last event */
} DynoAccuracyEventType;

typedef struct {
  DynoAccuracyEventType type;
  DynoAccuracyRun *run; /* BEGIN, PROGRESS, EPOCH, END: the run; BEGIN to EPOCH without value */
  DynoAccuracyResult *result;     /* BEGIN, END, RESULT: as it is then */
  const char *preparing;          /* PROGRESS: as in DynoEvent, interned; NULL: it trains */
  guint n_prepared, n_to_prepare; /* n_to_prepare 0: not known */
  guint64 epoch;                  /* EPOCH: from 1 */
  double value;                   /* EPOCH: of the metric in validation; NaN: none */
  char *text;                     /* WARNING */
  GError *error;                  /* ERROR */
} DynoAccuracyEvent;

void dyno_accuracy_event_free (DynoAccuracyEvent *event);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoAccuracyEvent, dyno_accuracy_event_free)

typedef struct {
  const DynoJob *job; /* data, model and settings; the settings are trial 0 */
  DynoDataset *dataset;
  const char *metric;            /* its name */
  const char *device;            /* name, for the file; or NULL */
  const char *folder;            /* of the search; it exists */
  double minutes;                /* for all, above 0 */
  guint most_trials, most_seeds; /* 0: as many as there is time for */
  gboolean resume;               /* goes on with the runs of folder/accuracy.csv */
  /* Writes the choice into the folder when the search has ended, stopped or not; or NULL. */
  gboolean (*write_best) (const char *folder, const DynoJob *job, const char *device,
                          const DynoAccuracyResult *result, GError **error);
  const DynoRunWriter *writer;      /* of the other files in a run's folder, or NULL */
  const DynoAccuracyRunner *runner; /* for tests; NULL: the job's device trains.  Copied */
} DynoAccuracyTuneParams;

typedef struct _DynoAccuracyTune DynoAccuracyTune;

DynoAccuracyTune *dyno_accuracy_tune_new (const DynoAccuracyTuneParams *params);
/* The first errors, before any run: those of dyno_accuracy_check, of the file of a search that goes
 * on, of the device. */
void dyno_accuracy_tune_start (DynoAccuracyTune *tune);
/* The present run ends with its step, and its trial goes on from there when the search does. */
void dyno_accuracy_tune_stop (DynoAccuracyTune *tune);
/* Stops and waits. */
void dyno_accuracy_tune_free (DynoAccuracyTune *tune);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoAccuracyTune, dyno_accuracy_tune_free)
DynoAccuracyEvent *dyno_accuracy_tune_try_pop (DynoAccuracyTune *tune);
DynoAccuracyEvent *dyno_accuracy_tune_pop (DynoAccuracyTune *tune, gint64 timeout_us);
/* The space that is searched; constant from the first event with a result on, as long as the tune
 * lives. */
const DynoParamSpace *dyno_accuracy_tune_get_space (DynoAccuracyTune *tune);

G_END_DECLS
