/* SPDX-License-Identifier: MIT */
/* trials.csv has one line for each measurement of a search, which is on the disk before the next
 * measurement begins; a search resumes from this file.  The columns are the figures of the
 * measurement, then every setting of the table, then data, model and device, and the number of
 * ranks where there are several.  Ceilings have the stages "loader", "gpu" and "exchange".  Not
 * thread-safe. */
#pragma once
#include "tuneresult.h"

G_BEGIN_DECLS

#define DYNO_TRIALS_FILE "trials.csv"

typedef struct _DynoTrialsFile DynoTrialsFile;

/* append: lines are added after the existing ones, and an unfinished line that a killed process
 * left is removed; FALSE: a new file replaces the old one.  Errors: DYNO_BASE_ERROR_DISK, _IO. */
DynoTrialsFile *dyno_trials_file_new (const char *path, const DynoJob *job, const char *device,
                                      gboolean append, GError **error);
/* The line is durable when the function returns. */
gboolean dyno_trials_file_add_trial (DynoTrialsFile *file, const DynoTrial *trial, GError **error);
gboolean dyno_trials_file_add_ceiling (DynoTrialsFile *file, const DynoCeiling *ceiling,
                                       GError **error);
void dyno_trials_file_free (DynoTrialsFile *file);

/* Reads the file up to its last complete line.  Errors: DYNO_TUNE_ERROR_TRIALS where the file is no
 * trials file, or is of another job (data, model, ranks, a setting that is not searched). */
DynoTuneResult *dyno_trials_file_read (const char *path, const DynoJob *job, GError **error);

/* Reads data, model, ranks and the present settings of the search, or the settings of its first
 * trial where the present ones were not tried; the other members of the job are not known.  Errors
 * as above. */
DynoJob *dyno_trials_file_read_job (const char *path, GError **error);

G_END_DECLS
