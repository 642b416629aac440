/* SPDX-License-Identifier: MIT */
/* accuracy.csv has one line for each run of a search for the best validation (accuracy.h), which is
 * on the disk before the next run begins; a search resumes from this file.  The columns are the
 * figures of the run, then every setting of the table, then metric, data, model, device and what
 * is searched.  The seed among the settings is that of the search; the seed of the run is among its figures.  Not
 * thread-safe. */
#pragma once
#include "accuracy.h"

G_BEGIN_DECLS

#define DYNO_ACCURACY_FILE "accuracy.csv"

typedef struct _DynoAccuracyFile DynoAccuracyFile;

/* The file is opened when the first line is written: before that there is nothing to resume from.
 * over: the texts of the chosen space (dyno_param_space_choose), or NULL for the usual one.
 * append: lines are added after the existing ones, and an unfinished line that a killed process
 * left is removed; FALSE: a new file replaces the old one. */
DynoAccuracyFile *dyno_accuracy_file_new (const char *path, const DynoJob *job, const char *metric,
                                          const char *device, const char *const *over,
                                          gboolean append);
/* The line is durable when the function returns.  Errors: DYNO_BASE_ERROR_DISK, _IO. */
gboolean dyno_accuracy_file_add (DynoAccuracyFile *file, const DynoAccuracyRun *run,
                                 GError **error);
void dyno_accuracy_file_free (DynoAccuracyFile *file);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoAccuracyFile, dyno_accuracy_file_free)

/* The search that a file records. */
typedef struct {
  DynoJob *job;    /* data, model, and the settings of trial 0; its other members are not known */
  char *metric;    /* name of the metric */
  GStrv over;      /* texts of the chosen space; NULL: the usual one */
  GPtrArray *runs; /* DynoAccuracyRun, up to the last complete line */
} DynoAccuracyRecord;

void dyno_accuracy_record_free (DynoAccuracyRecord *record);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoAccuracyRecord, dyno_accuracy_record_free)

/* Errors: DYNO_TUNE_ERROR_TRIALS where the file does not record such a search, or has no run of the
 * job's own settings. */
DynoAccuracyRecord *dyno_accuracy_file_read (const char *path, GError **error);

/* TRUE: the job and the metric match the record; a setting that affects the weights may not differ.
 * Errors: DYNO_TUNE_ERROR_TRIALS, which names the first difference. */
gboolean dyno_accuracy_record_check (const DynoAccuracyRecord *record, const DynoJob *job,
                                     const char *metric, const char *path, GError **error);

/* The newest subfolder of a folder whose accuracy.csv records a search with this job, so that the
 * search can be resumed there; NULL: there is none.  *record: the record that its file holds.
 * g_free. */
char *dyno_accuracy_find_folder (const char *place, const DynoJob *job,
                                 DynoAccuracyRecord **record);

G_END_DECLS
