/* SPDX-License-Identifier: MIT */
/* The folder of a run: metrics.csv and sensors.csv as they grow, the names of its files, its
 * lock, leftovers of an earlier end.  Private to the layers up to train. */
#pragma once
#include "metrics.h"
#include "sensors.h"

G_BEGIN_DECLS

typedef struct _DynoRunFolder DynoRunFolder;

/* Makes the folder where it is missing, locks it against other runs, and tries whether it can be
 * written; nothing in it changes before _begin.  The log is held in memory until then.  A folder
 * that locks nothing (NFS) is used none the less, with a note.  Errors: OUTPUT. */
DynoRunFolder *dyno_run_folder_open (const char *path, GError **error);
/* Also ends the log.  A folder that was made and not begun is removed. */
void dyno_run_folder_free (DynoRunFolder *dir);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoRunFolder, dyno_run_folder_free)

const char *dyno_run_folder_get_checkpoint (DynoRunFolder *dir);
/* the best by validation; the last where there is none */
const char *dyno_run_folder_get_weights (DynoRunFolder *dir);
const char *dyno_run_folder_get_last_weights (DynoRunFolder *dir); /* beside the best */

/* Rows of the metrics.csv in `folder` up to a step go into metrics: a run that is resumed has its
 * whole log.  None is no error. */
void dyno_run_folder_recall (const char *folder, guint64 last_step, DynoMetrics *metrics);

/* Once: removes what a killed run left, sends the log to the file "log" and starts metrics.csv with
 * what metrics holds; rows are then appended, at most a second late.  Errors: DYNO_BASE_ERROR_DISK
 * and _IO, as long as there are rows that were tried and could not be written.  They are kept, and
 * tried again with those that follow. */
gboolean dyno_run_folder_begin (DynoRunFolder *dir, DynoMetrics *metrics, GError **error);
gboolean dyno_run_folder_add_step (DynoRunFolder *dir, const DynoStepMetrics *step, GError **error);
gboolean dyno_run_folder_add_epoch (DynoRunFolder *dir, const DynoEpochMetrics *epoch,
                                    GError **error);

/* A row of sensors.csv, with the last step.  A row that cannot be written is tried again, but
 * for more than some hours of them: no failure.  Any thread. */
void dyno_run_folder_add_sensors (DynoRunFolder *dir, const DynoSensorReading *reading);
/* Before _begin: rows of the sensors.csv in `folder` up to a step come first in this one. */
void dyno_run_folder_recall_sensors (DynoRunFolder *dir, const char *folder, guint64 last_step);

/* metrics.csv whole, anew where that is needed; what is left of sensors.csv.  Errors: as of
 * dyno_metrics_write_csv. */
gboolean dyno_run_folder_finish (DynoRunFolder *dir, DynoMetrics *metrics, GError **error);

G_END_DECLS
