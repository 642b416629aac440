/* SPDX-License-Identifier: MIT */
/* Trains the trials of a search for the best validation (accuracy.h): each is a run in a folder of
 * its own, trials/NNN below the folder of the search, or trials/NNN-SEED in the final, and has an
 * entry in the history.  It stops when its rung's epochs are done, and a promoted trial resumes
 * from its checkpoint, with bit-identical results to a run that was never stopped.  The data set is
 * opened once for all runs, and a device for each of the runs that train at the same time, since a
 * run accounts for all memory of its device. */
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
  guint at_once; /* most runs at the same time, as far as memory allows; 0: by the cores, too */
  /* gets the events of each session, or NULL: in a thread of the run, and one at a time */
  void (*event) (const DynoEvent *event, const DynoAccuracyRun *run, gpointer data);
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
 * any error but a divergence.  Runs beside the one that failed are stopped and have not ended. */
DynoAccuracyRunner dyno_accuracy_trainer_get_runner (DynoAccuracyTrainer *trainer);

/* The folder of a run below the folder of its search: "trials/003", "trials/003-7".  g_free. */
char *dyno_accuracy_run_get_folder (const DynoAccuracyRun *run);

G_END_DECLS
