/* SPDX-License-Identifier: MIT */
/* A cross-validation: one job trained once for each of its folds, which then validates. */
#pragma once
#include "foldtable.h"
#include "job-options.h"

G_BEGIN_DECLS

/* Trains the job and returns the exit code; the result of a run that finished goes into results. */
typedef int (*DynoFoldFunc) (const DynoCliJob *cli_job, DynoFoldTable *results, gpointer data);

/* TRUE: the folder is that of a cross-validation. */
gboolean dyno_folds_are_in (const char *folder);

/* Calls train for each fold in turn, in a folder "fold-N" below that of the job, or in none; a fold
 * that has a checkpoint there goes on with it.  Afterwards mean and deviation of each value of the
 * validation are printed and folds.csv is written.  Returns the exit code: that of the first run
 * which did not finish, or of an error that was printed. */
int dyno_folds_train (const char *command, const DynoCliJob *cli_job, gboolean as_json,
                      gboolean quiet, DynoFoldFunc train, gpointer data);

G_END_DECLS
