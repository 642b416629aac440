/* SPDX-License-Identifier: MIT */
/* A cross-validation: a job is trained once for each of its folds, which is used for the
 * validation. */
#pragma once
#include "foldtable.h"
#include "job-options.h"

G_BEGIN_DECLS

/* Trains the job and returns the exit code; the result of a finished run is added to results. */
typedef int (*DynoFoldFunc) (const DynoCliJob *cli_job, DynoFoldTable *results, gpointer data);

/* Whether the folder is that of a cross-validation. */
gboolean dyno_folds_are_in (const char *folder);

/* Calls train for each fold in turn, with a folder "fold-N" below the job's, or without one if the
 * job has none; a fold with a checkpoint there is resumed.  Afterwards mean and deviation of each
 * validation result are printed and folds.csv is written.  Returns the exit code of the first run
 * which did not finish, or of an error that was printed. */
int dyno_folds_train (const char *command, const DynoCliJob *cli_job, gboolean as_json,
                      gboolean quiet, DynoFoldFunc train, gpointer data);

G_END_DECLS
