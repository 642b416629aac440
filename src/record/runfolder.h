/* SPDX-License-Identifier: MIT */
/* The folder of a run: metrics.csv and sensors.csv, to which rows are appended, the names of its
 * files, its lock, and files left by a killed run.  Private to the layers up to train. */
#pragma once
#include "metrics.h"
#include "sensors.h"

G_BEGIN_DECLS

typedef struct _DynoRunFolder DynoRunFolder;

/* Makes the folder where it is missing, locks it against other runs, and checks that it can be
 * written; nothing in it changes before _begin.  Until then the program's log is held in memory.  A
 * folder that cannot be locked (NFS) is used all the same, with a note in the log.  Errors:
 * OUTPUT. */
DynoRunFolder *dyno_run_folder_open (const char *path, GError **error);
/* Also ends the program's log.  A folder that was made but not begun is removed. */
void dyno_run_folder_free (DynoRunFolder *dir);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoRunFolder, dyno_run_folder_free)

const char *dyno_run_folder_get_checkpoint (DynoRunFolder *dir);
/* the best weights by validation; the last weights where there are no best ones */
const char *dyno_run_folder_get_weights (DynoRunFolder *dir);
/* the last weights, where there are best ones */
const char *dyno_run_folder_get_last_weights (DynoRunFolder *dir);

/* Reads the rows of the metrics.csv in `folder` up to a step into metrics, so that a resumed run
 * has its whole log.  A missing file is no error. */
void dyno_run_folder_recall (const char *folder, guint64 last_step, DynoMetrics *metrics);

/* To be called once: removes files left by a killed run, sends the program's log to the file "log"
 * and starts metrics.csv with the rows of metrics; later rows are appended within a second.
 * Errors: DYNO_BASE_ERROR_DISK and _IO, as long as there are rows that could not be written.  They
 * are kept, and tried again with later rows. */
gboolean dyno_run_folder_begin (DynoRunFolder *dir, DynoMetrics *metrics, GError **error);
gboolean dyno_run_folder_add_step (DynoRunFolder *dir, const DynoStepMetrics *step, GError **error);
gboolean dyno_run_folder_add_epoch (DynoRunFolder *dir, const DynoEpochMetrics *epoch,
                                    GError **error);

/* Adds a row to sensors.csv, with the last step.  A row that cannot be written is tried again, up
 * to some hours of rows; it is not a failure.  Any thread. */
void dyno_run_folder_add_sensors (DynoRunFolder *dir, const DynoSensorReading *reading);
/* To be called before _begin: copies rows of the sensors.csv in `folder` up to a step to the start
 * of this folder's sensors.csv. */
void dyno_run_folder_recall_sensors (DynoRunFolder *dir, const char *folder, guint64 last_step);

/* Completes metrics.csv, which is written anew where necessary, and writes pending rows of
 * sensors.csv.  Errors: those of dyno_metrics_write_csv. */
gboolean dyno_run_folder_finish (DynoRunFolder *dir, DynoMetrics *metrics, GError **error);

G_END_DECLS
