/* SPDX-License-Identifier: MIT */
/* trials.csv: every measurement of a search, a line each, on the disk before the next begins; what
 * a search goes on from.  Columns are what is known of it, then every setting of the table, then
 * data, model and device, and of a search for several ranks how many.  Ceilings have the stages
 * "loader", "gpu" and "exchange".  Not thread-safe. */
#pragma once
#include "tuneresult.h"

G_BEGIN_DECLS

#define DYNO_TRIALS_FILE "trials.csv"

typedef struct _DynoTrialsFile DynoTrialsFile;

/* append: behind what is there, of which a line that a killed process left unfinished is removed;
 * else a new file takes its place.  Errors: DYNO_BASE_ERROR_DISK, _IO. */
DynoTrialsFile *dyno_trials_file_new (const char *path, const DynoJob *job, const char *device,
                                      gboolean append, GError **error);
/* Durable when it returns. */
gboolean dyno_trials_file_add_trial (DynoTrialsFile *file, const DynoTrial *trial, GError **error);
gboolean dyno_trials_file_add_ceiling (DynoTrialsFile *file, const DynoCeiling *ceiling,
                                       GError **error);
void dyno_trials_file_free (DynoTrialsFile *file);

/* What the file holds, as far as its lines are whole.  Errors: DYNO_TUNE_ERROR_TRIALS where the
 * file is none, or of another job (data, model, a setting that is not searched). */
DynoTuneResult *dyno_trials_file_read (const char *path, const DynoJob *job, GError **error);

/* Data, model, ranks and the settings that were the present ones; nothing else of the job is known.
 * Errors as above. */
DynoJob *dyno_trials_file_read_job (const char *path, GError **error);

G_END_DECLS
