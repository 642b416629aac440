/* SPDX-License-Identifier: MIT */
/* Trains the trials of a search for the best validation (accuracy.h): each is a run in a folder of
 * its own, trials/NNN below the search's, or trials/NNN-SEED in the final, and has its entry in the
 * history.  It stops when its rung's epochs are done, and a promoted one goes on from its
 * checkpoint: to the same bits as a run that was never stopped.  Device and data set are opened once
 * for all. */
#pragma once
#include "accuracy.h"
#include "session.h"

G_BEGIN_DECLS

typedef struct {
  const DynoJob *job; /* data, model, start weights, device; its files and settings do not count */
  DynoDataset *dataset;
  DynoDevice *device;          /* NULL: the job's is opened */
  const char *folder;          /* of the search; it exists */
  DynoMetricInfo metric;       /* see dyno_accuracy_check */
  const DynoRunWriter *writer; /* of the other files in a run's folder, or NULL */
  gboolean no_history;
  void (*event) (const DynoEvent *event, gpointer data); /* of each session, here; or NULL */
  gpointer data;
} DynoAccuracyRunnerParams;

typedef struct _DynoAccuracyTrainer DynoAccuracyTrainer;

/* Errors: those of dyno_device_open. */
DynoAccuracyTrainer *dyno_accuracy_trainer_new (const DynoAccuracyRunnerParams *params,
                                                GError **error);
void dyno_accuracy_trainer_free (DynoAccuracyTrainer *trainer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoAccuracyTrainer, dyno_accuracy_trainer_free)

/* As long as the trainer lives.  Of train's errors these end the search: CANCELLED, a lost device, a
 * folder that cannot be written; and of the job's own settings any but a divergence. */
DynoAccuracyRunner dyno_accuracy_trainer_get_runner (DynoAccuracyTrainer *trainer);

/* "trials/003", "trials/003-7": of a run, below the folder of its search.  g_free. */
char *dyno_accuracy_run_get_folder (const DynoAccuracyRun *run);

G_END_DECLS
