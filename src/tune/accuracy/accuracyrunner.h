/* SPDX-License-Identifier: MIT */
/* Trains the trials of a search for the best validation (accuracy.h): each is a run in a folder of
 * its own, trials/NNN below the folder of the search, or trials/NNN-SEED in the final, and has an
 * entry in the history.  It stops when its rung's epochs are done, and a promoted trial resumes
 * from its checkpoint, with bit-identical results to a run that was never stopped.  Device and data
 * set are opened once for all runs. */
#pragma once
#include "accuracy.h"
#include "session.h"

G_BEGIN_DECLS

typedef struct {
  const DynoJob *job; /* data, model, start weights, device; its files and settings are not used */
  DynoDataset *dataset;
  DynoDevice *device;          /* NULL: the runner opens the job's */
  const char *folder;          /* folder of the search, which exists */
  DynoMetricInfo metric;       /* see dyno_accuracy_check */
  const DynoRunWriter *writer; /* writes the other files in a run's folder; or NULL */
  gboolean no_history;
  void (*event) (const DynoEvent *event, gpointer data); /* gets each session's events; or NULL */
  gpointer data;
} DynoAccuracyRunnerParams;

typedef struct _DynoAccuracyTrainer DynoAccuracyTrainer;

/* Errors: those of dyno_device_open. */
DynoAccuracyTrainer *dyno_accuracy_trainer_new (const DynoAccuracyRunnerParams *params,
                                                GError **error);
void dyno_accuracy_trainer_free (DynoAccuracyTrainer *trainer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoAccuracyTrainer, dyno_accuracy_trainer_free)

/* The runner is valid as long as the trainer.  Its function `train` ends the search with these
 * errors: CANCELLED, a lost device, a folder that cannot be written; and for the job's own settings
 * any error but a divergence. */
DynoAccuracyRunner dyno_accuracy_trainer_get_runner (DynoAccuracyTrainer *trainer);

/* The folder of a run below the folder of its search: "trials/003", "trials/003-7".  g_free. */
char *dyno_accuracy_run_get_folder (const DynoAccuracyRun *run);

G_END_DECLS
