/* SPDX-License-Identifier: MIT */
/* A run as other programs log it: a name, its settings, and rows of named numbers over steps.
 *
 * A column of metrics.csv is the name step/COLUMN or epoch/COLUMN, as in a TensorBoard file; a
 * number that is missing or not finite is left out.  Times are the wall clock's: metrics.csv was
 * last written when its last step ended. */
#pragma once
#include "exporter.h"
#include "metrics.h"
#include "runfacts.h"

G_BEGIN_DECLS

typedef struct {
  char *folder; /* absolute */
  char *name;   /* of the run: the name of its folder */
  DynoMetrics *metrics;
  GPtrArray *columns; /* DynoMetricColumn */
  GPtrArray *names;   /* char *, the name of each column */
  GArray *epochs;     /* DynoEpochMetrics, all */
  double begin;       /* wall time, s */
  double end;         /* of the last step */
  DynoJob *job;
  DynoRunFacts *facts;
} DynoRunLog;

/* metrics: the log of a run that still trains; NULL: the log is read from its folder.  Errors:
 * those of dyno_metrics_read. */
gboolean dyno_run_log_open (DynoRunLog *log, const char *folder, DynoMetrics *metrics,
                            GError **error);
void dyno_run_log_clear (DynoRunLog *log);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (DynoRunLog, dyno_run_log_clear)

/* epoch: the one that ended with this step, or NULL.  FALSE: no further row is passed. */
typedef gboolean (*DynoRunLogFunc) (const DynoRunLog *log, const DynoStepMetrics *step,
                                    const DynoEpochMetrics *epoch, double time, gpointer data);

/* Calls func for the rows after a step (0: all).  FALSE: func returned FALSE for a row. */
gboolean dyno_run_log_each (const DynoRunLog *log, guint64 after_step, DynoRunLogFunc func,
                            gpointer data);

/* The number of column i in a row, NaN where there is none. */
double dyno_run_log_get (const DynoRunLog *log, guint i, const DynoStepMetrics *step,
                         const DynoEpochMetrics *epoch);

/* The treatment of the rows where the place has rows of the run already. */
typedef enum {
  DYNO_LOG_ADD,     /* they are not written: EXISTS */
  DYNO_LOG_REPLACE, /* they replace the existing rows */
  DYNO_LOG_FOLLOW,  /* rows of later steps are appended */
} DynoLogMode;

/* Write to trackio's database at path, and to MLflow's folder of runs at path; both are made where
 * they are missing.  *written (may be NULL): the file, the run's folder; g_free.  Errors: EXISTS;
 * READ (it is not the other program's); base's IO and DISK. */
gboolean dyno_trackio_write (const DynoRunLog *log, const char *path, DynoLogMode mode,
                             char **written, GError **error);
gboolean dyno_mlflow_write (const DynoRunLog *log, const char *path, DynoLogMode mode,
                            char **written, GError **error);
/* The default places of the two programs; g_free. */
char *dyno_trackio_find_place (void);
char *dyno_mlflow_find_place (void);

G_END_DECLS
